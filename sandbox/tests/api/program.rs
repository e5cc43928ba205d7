//! The program: its first line, its admin surface, its exit codes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_docsyncd-sandbox");

struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// The address in a line such as `listening on http://ADDR`.
    fn address(&mut self, before: &str) -> String {
        let line = self.line();
        line.strip_prefix(before).unwrap_or_else(|| panic!("{line}")).to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

#[tokio::test]
async fn the_first_line_tells_the_address_and_the_admin_surface_works() {
    let mut running = Running::start(&[
        "--listen",
        "127.0.0.1:0",
        "--files-listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--documents",
        "3",
        "--date-filter",
        "refused",
    ]);
    let api = running.address("listening on ");
    running.address("files on ");
    let admin = running.address("admin on ");
    let key = running.address("api key ");
    assert_eq!(running.line(), "documents 3");

    let client = crate::harness::client().build().unwrap();
    let add = client.post(format!("{admin}/admin/documents")).json(&json!({"count": 2}));
    let added: Value = add.send().await.unwrap().json().await.unwrap();
    assert_eq!(added["uuids"].as_array().unwrap().len(), 2);
    let list: Value =
        client.get(format!("{api}/documents")).bearer_auth(&key).send().await.unwrap().json().await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 5);
    let filtered = client.get(format!("{api}/documents?createdAt[gt]=2025-01-01")).bearer_auth(&key).send();
    assert_eq!(filtered.await.unwrap().status(), 400);

    let uuid = list[0]["uuid"].as_str().unwrap();
    let report =
        client.post(format!("{api}/documents/{uuid}/status")).bearer_auth(&key).json(&json!({"success": true}));
    assert_eq!(report.send().await.unwrap().status(), 200);
    let posts: Value = client.get(format!("{admin}/admin/status-posts")).send().await.unwrap().json().await.unwrap();
    assert_eq!((&posts[0]["document"], &posts[0]["success"]), (&json!(uuid), &json!(true)));
    let requests: Value = client.get(format!("{admin}/admin/requests")).send().await.unwrap().json().await.unwrap();
    assert_eq!(requests.as_array().unwrap().len(), 3);
    assert_eq!(requests[0]["authorization"], true);
    assert!(!requests.to_string().contains(&key));
}

#[tokio::test]
async fn an_application_of_ones_own_signs_a_person_of_ones_own_in() {
    let mut running = Running::start(&[
        "--client-id",
        "app",
        "--client-secret",
        "s3cret",
        "--redirect-uri",
        "http://127.0.0.1:1/one",
        "--redirect-uri",
        "http://127.0.0.1:1/two",
        "--user",
        "zoe.martin@autre.example:with:colon",
        "--access-token-lifetime",
        "86400",
        "--consent",
        "approve",
        "--scopes",
        "off",
        "--app-listen",
        "127.0.0.1:0",
    ]);
    let api = running.address("listening on ");
    let app = running.address("app on ");
    assert!(running.line().starts_with("api key "));
    assert_eq!(running.line(), "documents 20");
    assert_eq!(running.line(), "client app");

    let client = crate::harness::client().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let address = format!(
        "{app}/authorize?response_type=code&client_id=app&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Ftwo&scope=profile\
         &state=0123456789abcdef&login_hint=zoe.martin%40autre.example"
    );
    let sent_back = client.get(address).send().await.unwrap();
    let location = sent_back.headers()["location"].to_str().unwrap();
    let code = location.strip_prefix("http://127.0.0.1:1/two?code=").unwrap().split('&').next().unwrap();
    let exchange = json!({
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": "http://127.0.0.1:1/two",
        "client_id": "app",
        "client_secret": "s3cret",
    });
    let tokens = client.post(format!("{api}/oauth2/token")).json(&exchange).send().await.unwrap();
    let tokens: Value = tokens.json().await.unwrap();
    assert_eq!(tokens["expires_in"], 86_400);
    let me = client.get(format!("{api}/me")).bearer_auth(tokens["access_token"].as_str().unwrap());
    let me: Value = me.send().await.unwrap().json().await.unwrap();
    assert_eq!(me["email"], "zoe.martin@autre.example");
}

#[tokio::test]
async fn faults_and_habits_can_be_in_force_from_the_start() {
    let mut running = Running::start(&[
        "--documents",
        "3",
        "--quirk",
        "max_page_size=2",
        "--quirk",
        "date_filter=refused",
        "--fault",
        r#"{"route": "list", "times": 1, "kind": "status", "code": 429, "retry_after": "7"}"#,
    ]);
    let api = running.address("listening on ");
    let client = crate::harness::client().build().unwrap();
    let list = async |query: &str| {
        client.get(format!("{api}/documents{query}")).bearer_auth("sandbox-key").send().await.unwrap()
    };
    let limited = list("").await;
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    let page: Value = list("").await.json().await.unwrap();
    assert_eq!(page.as_array().unwrap().len(), 2);
    assert_eq!(list("?createdAt[gt]=2025-01-01").await.status(), 400);
}

#[tokio::test]
async fn with_a_workflow_step_recordings_become_documents_by_themselves() {
    let mut running = Running::start(&["--admin-listen", "127.0.0.1:0", "--documents", "0", "--workflow-step", "0s"]);
    let api = running.address("listening on ");
    let admin = running.address("admin on ");
    let key = running.address("api key ");
    let client = crate::harness::client().build().unwrap();
    let mut receiver = crate::receiver::Receiver::start().await;
    let wish = json!({"url": receiver.url, "events": ["document.created"]});
    let hooked = client.post(format!("{api}/webhooks")).bearer_auth(&key).json(&wish).send().await.unwrap();
    assert_eq!(hooked.status(), 201);
    let recorded = client.post(format!("{admin}/admin/audios")).json(&json!({"count": 1})).send().await.unwrap();
    let recorded: Value = recorded.json().await.unwrap();
    assert_eq!(receiver.next().await.body["data"]["audio"], recorded["uuids"][0]);
}

#[cfg(unix)]
#[test]
fn signals_end_it_with_0() {
    for signal in ["TERM", "INT"] {
        let mut running = Running::start(&["--documents", "1"]);
        assert!(running.line().starts_with("listening on http://127.0.0.1:"));
        let pid = running.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        assert_eq!(running.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn bad_arguments_end_it_with_2_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    for (arguments, said) in [
        (vec!["--listen", "nowhere"], "--listen"),
        (vec!["--frobnicate"], "--frobnicate"),
        (vec!["--documents", "many"], "documents"),
        (vec!["--pdf-bytes", "6 gallons"], "KiB"),
        (vec!["--api-key", "two words"], "visible"),
        (vec!["--date-filter", "maybe"], "refused"),
        (vec!["--quirk", "humour=dry"], "humour"),
        (vec!["--quirk", "stays_listed"], "NAME=VALUE"),
        (vec!["--fault", r#"{"route": "teeth", "kind": "reset"}"#], "no route"),
        (vec!["--fault", "{"], "--fault"),
        (vec!["--workflow-step", "soon"], "20s"),
        (vec!["--workflow-step=-20s"], "negative"),
        (vec!["--pdf-dir", empty], "no file named *.pdf"),
        (vec!["--pdf-dir", "/no/such/folder"], "/no/such/folder"),
        (vec!["--client-id", "app"], "--client-secret"),
        (vec!["--client-secret", "secret"], "--client-id"),
        (vec!["--redirect-uri", "/callback"], "absolute"),
        (vec!["--user", "nobody"], "email"),
        (vec!["--user", "a@b.example:"], "password"),
        (vec!["--access-token-lifetime", "0"], "1.."),
        (vec!["--consent", "maybe"], "approve"),
        (vec!["--scopes", "some"], "off"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_taken_address_ends_it_with_1() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["--listen", &address]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&address));
}

#[test]
fn an_address_may_be_a_name() {
    let api = Running::start(&["--listen", "localhost:0", "--documents", "0"]).address("listening on ");
    assert!(api.starts_with("http://127.0.0.1:") || api.starts_with("http://[::1]:"), "{api}");
    for wrong in ["localhost", "no such name:0", ":0x"] {
        let ended = run(&["--listen", wrong]);
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("--listen"), "{ended:?}");
    }
}

#[tokio::test]
async fn the_ready_file_tells_where_everything_is_and_what_opens_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ready.json");
    let path = file.to_str().unwrap();
    let mut running =
        Running::start(&["--admin-listen", "127.0.0.1:0", "--documents", "2", "--api-key", "k1", "--ready-file", path]);
    let api = running.address("listening on ");
    let ready: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((&ready["url"], &ready["documents"], &ready["api_keys"]), (&json!(api), &json!(2), &json!(["k1"])));
    let client = crate::harness::client().build().unwrap();
    let get = |address: String| client.get(address).bearer_auth("k1").send();
    let list: Value = get(format!("{}/documents", ready["url"].as_str().unwrap())).await.unwrap().json().await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(get(format!("{}/admin", ready["admin_url"].as_str().unwrap())).await.unwrap().status(), 200);
    assert_eq!(get(ready["docs_url"].as_str().unwrap().to_owned()).await.unwrap().status(), 200);
    assert!(get(api).await.unwrap().text().await.unwrap().contains("/docs"));
    assert_eq!(ready["clients"][0]["client_id"], "sandbox-client");
    assert!(!folder.path().join("ready.json.part").exists());
}
