//! `docsyncd support`: what is in the file, what never is, and that it is made whatever is broken.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Ended, PATIENCE, Practice};
use crate::status_page::{PAGE, Page};

/// Names, numbers, addresses and words of servers that go in wherever one can: in lower case.
const CANARIES: [&str; 20] = [
    "zqxfirst",
    "zqxlast",
    "zqxmail",
    "0699887766",
    "1913-02-03",
    "zqxcode",
    "zqxpdfname",
    "zqxfilename",
    "zqxuser",
    "zqxbody",
    "zqxkey",
    "zqxaccount",
    "zqxdestination",
    "zqxfolder",
    "zqxhost",
    "zqxtype",
    "zqxtemplate",
    "zqxpassword",
    "zqxfield",
    "api-key",
];

/// All the forms in which a text can stand in a file.
fn forms(text: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![text.as_bytes().to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()];
    forms.push(text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes());
    forms.push(text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>().into_bytes());
    forms.push(text.chars().rev().collect::<String>().into_bytes());
    for before in 0..3 {
        // In the middle of other text, where only whole groups of three bytes are the same.
        let encoded = base64::engine::general_purpose::STANDARD.encode("x".repeat(before) + text);
        let from = if before == 0 { 0 } else { 4 };
        forms.push(encoded.trim_end_matches('=')[from..encoded.len() - 4].to_lowercase().into_bytes());
    }
    forms
}

fn assert_clean(what: &str, content: &[u8], canaries: &[&str]) {
    let lower = content.to_ascii_lowercase();
    for canary in canaries {
        for form in forms(&canary.to_lowercase()) {
            let found = form.len() > 5 && lower.windows(form.len()).any(|window| window == form);
            assert!(!found, "{what} has {canary} ({})", String::from_utf8_lossy(&form));
        }
    }
}

/// The files of an archive in which nothing is compressed.
fn unpacked(mut bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |bytes: &[u8], at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let mut files = BTreeMap::new();
    while bytes.starts_with(b"PK\x03\x04") {
        let (size, name) = (number(bytes, 18, 4), number(bytes, 26, 2));
        let content = bytes[30 + name..30 + name + size].to_vec();
        files.insert(String::from_utf8(bytes[30..30 + name].to_vec()).unwrap(), content);
        bytes = &bytes[30 + name + size..];
    }
    assert!(bytes.starts_with(b"PK\x01\x02"), "the directory");
    files
}

fn json_of(files: &BTreeMap<String, Vec<u8>>, name: &str) -> Value {
    serde_json::from_slice(files.get(name).unwrap_or_else(|| panic!("{name} is there: {:?}", files.keys()))).unwrap()
}

async fn made(practice: &Practice, args: &[&str]) -> (Ended, BTreeMap<String, Vec<u8>>) {
    let file = practice.path("bundle.zip");
    let ended = practice.docsyncd(&[&["support", "--out", file.to_str().unwrap()], args].concat()).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    (ended, unpacked(&std::fs::read(file).unwrap()))
}

fn whys(manifest: &Value) -> Vec<String> {
    let missing = manifest["missing"].as_array().unwrap().iter();
    missing.map(|one| format!("{} {}", one["what"].as_str().unwrap(), one["why"].as_str().unwrap())).collect()
}

fn letter(kind: &str) -> NewDocument {
    let user = json!({"firstName": "Zqxuser", "lastName": "Zqxuser", "email": "zqxuser@practice.test"});
    NewDocument {
        document_type: Some(Some(kind.to_owned())),
        patient: Some(json!({
            "firstName": "Zqxfirst", "lastName": "Zqxlast", "email": "zqxmail@mail.test", "phone": "0699887766",
            "dateOfBirth": "1913-02-03", "anonymousCode": "ZQXCODE",
        })),
        user: user.as_object().cloned(),
        pdf: NewPdf::Bytes(format!("%PDF-1.7\n% {kind}\n%%EOF\n").into_bytes()),
        pdf_name: Some("Zqxpdfname.pdf".to_owned()),
        file_name: Some("Zqxfilename.pdf".to_owned()),
        ..NewDocument::default()
    }
}

/// A practice in which every setting that is a text, and everything that the service sends, has a canary.
async fn practice(more: &str) -> Practice {
    let mut practice = Practice::with_documents(0).await;
    std::fs::create_dir(practice.path("zqxfolder")).unwrap();
    practice.write_secret("zqxpassword", "zqxpassword");
    let base = practice.base_config().replace("accounts.main", "accounts.zqxaccount");
    practice.configure_wholly(&format!(
        "{base}\n[destinations.zqxdestination]\ntype = \"folder\"\npath = 'zqxfolder'\n\
         file_name = \"zqxtemplate {{{{ patient.lastName }}}}/{{{{ document.uuid }}}}.pdf\"\n\
         [destinations.away]\ntype = \"http\"\nurl = \"https://zqxhost.invalid/zqxfolder\"\nuser = \"zqxuser\"\n\
         password_file = 'zqxpassword'\nheaders = {{ zqxfield = \"zqxfield\" }}\non_lost_reply = \"hold\"\n\
         [[routes]]\ntypes = [\"zqxtype_away\"]\nto = [\"away\"]\n[[routes]]\nto = [\"zqxdestination\"]\n{more}"
    ));
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "trace".into());
    practice
}

#[tokio::test]
async fn no_canary_is_in_any_file_of_it_in_any_form_and_what_helps_is() {
    let practice = practice(&format!("[log]\nfile = 'zqxfolder/zqxfolder.log'\nformat = \"json\"\n{PAGE}")).await;
    let mut uuids = Vec::new();
    for kind in ["zqxtype_filed", "zqxtype_refused", "zqxtype_away"] {
        uuids.push(practice.sandbox.add(letter(kind)).await.unwrap());
    }
    let body = r#"{"detail": "zqxbody Zqxfirst zqxkey"}"#.to_owned();
    let refused = FaultKind::Status { code: 403, retry_after: None, body: Some(body) };
    practice.sandbox.inject(Fault::always(Route::Document, refused).for_document(&uuids[1]));
    let running = practice.start();
    practice.wait_for_posts(1).await;
    let log = practice.path("zqxfolder/zqxfolder.log");
    let began = std::time::Instant::now();
    while !std::fs::read_to_string(&log).unwrap_or_default().contains("\"paused\"") {
        assert!(began.elapsed() < PATIENCE, "the destination that is away is paused");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    let documents: Vec<&str> = uuids.iter().flat_map(|uuid| ["--document", uuid.as_str()]).collect();
    let (ended, files) = made(&practice, &documents).await;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let all = [
        "check.txt",
        "config.json",
        "history.json",
        "ledger.json",
        "log.txt",
        "manifest.json",
        "metrics.txt",
        "status.json",
    ];
    assert_eq!(names, all, "{ended:?}");
    let here = practice.dir.path().display().to_string();
    let port = practice.sandbox.url().to_string();
    let patients: Vec<String> =
        practice.sandbox.documents().await.unwrap().into_iter().filter_map(|document| document.patient).collect();
    assert_eq!(patients.len(), 3);
    for (name, content) in &files {
        assert_clean(name, content, &CANARIES);
        assert_clean(name, content, &patients.iter().map(String::as_str).collect::<Vec<_>>());
        assert_clean(name, content, &[here.as_str(), port.trim_start_matches("http://").trim_end_matches('/')]);
    }
    assert!(all.iter().all(|name| ended.stdout.contains(name)), "{ended:?}");

    let config = json_of(&files, "config.json");
    let line = |key: &str| config.as_array().unwrap().iter().find(|line| line["key"] == key).unwrap().clone();
    assert_eq!(
        line("sync.poll_interval"),
        json!({"key": "sync.poll_interval", "is": "changed", "value": {"ms": 3_600_000}})
    );
    assert_eq!(line("sync.max_concurrency")["is"], "default");
    let own = |of: &str| {
        config.as_array().unwrap().iter().find_map(|line| {
            let key = line["key"].as_str().unwrap();
            key.strip_suffix(".type").filter(|_| line["value"] == of).map(str::to_owned)
        })
    };
    let (folder, away) = (own("folder").unwrap(), own("http").unwrap());
    assert!(line(&format!("{folder}.path"))["value"].as_str().unwrap().starts_with("path-"));
    // The same name means the same in every file.
    let away = away.trim_start_matches("destinations.");
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    assert!(text("log.txt").contains(&format!("paused scope=destination:{away}")), "{}", text("log.txt"));
    assert!(text("check.txt").contains(&format!("fail  destination {away}\n")), "{}", text("check.txt"));
    assert!(text("check.txt").contains("ok    account account-1\n"), "{}", text("check.txt"));
    assert!(
        text("metrics.txt").contains(&format!("docsyncd_paused{{scope=\"destination\",name=\"{away}\"}} 1")),
        "{}",
        text("metrics.txt")
    );
    assert_eq!(json_of(&files, "ledger.json")["pauses"][0]["scope"], format!("destination:{away}"));
    assert_eq!(json_of(&files, "ledger.json")["quick_check"]["ok"], true);
    assert_eq!(json_of(&files, "status.json")["running"], true);
    let histories = json_of(&files, "history.json");
    for (history, uuid) in histories.as_array().unwrap().iter().zip(&uuids) {
        assert_eq!(&history["document"], uuid);
        assert_eq!(history["events"][0]["event"], "discovered");
    }
    assert!(text("history.json").contains("status_403"), "{}", text("history.json"));
    assert!(text("log.txt").contains(&uuids[0]), "{}", text("log.txt"));
    assert_eq!(whys(&json_of(&files, "manifest.json")), Vec::<String>::new());
    let address = Connection::open(practice.ledger()).unwrap();
    let address: String =
        address.query_row("SELECT value FROM process WHERE key = 'status_page'", [], |row| row.get(0)).unwrap();
    let page = Page { running, address: address.parse().unwrap() };
    the_rest(&practice, page, &documents, &uuids, &text("metrics.txt")).await;
}

/// All metrics are there; uuids can be left out; the page gives the same file behind its key.
async fn the_rest(practice: &Practice, mut served: Page, documents: &[&str], uuids: &[String], metrics: &str) {
    // Nothing is left out of the metrics that the daemon serves.
    let answer = served.get("/metrics").await.body;
    let lines = answer.lines().filter(|line| line.starts_with("docsyncd_")).count();
    assert_eq!(metrics.lines().count(), lines, "{metrics}");

    let (_, hidden) = made(practice, &[documents, &["--no-uuids"]].concat()).await;
    for (name, content) in &hidden {
        assert_clean(name, content, &uuids.iter().map(String::as_str).collect::<Vec<_>>());
        assert_clean(name, content, &CANARIES);
    }
    let key = served.key(practice).await;
    let answer = served.press(&key, "/support", "").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/zip"), "{answer:?}");
    assert!(answer.header("content-disposition").contains("docsyncd-support-"), "{answer:?}");
    assert!(hidden.keys().filter(|name| *name != "history.json").all(|name| answer.body.contains(name)), "{answer:?}");
    assert_clean("the page's", answer.body.as_bytes(), &CANARIES);
    let refused = served.ask("POST", "/support", &[("Origin", &format!("http://{}", served.address))], "token=x").await;
    assert_eq!(refused.status, 403, "without the key");
    assert_eq!(served.running.stop().await, 0);
}

#[tokio::test]
async fn whatever_is_broken_it_is_made_and_says_what_is_missing() {
    let practice = Practice::with_documents(1).await;
    let before = made(&practice, &[]).await.1;
    assert!(whys(&json_of(&before, "manifest.json")).contains(&"ledger.json no-ledger".to_owned()));
    assert_eq!(practice.sync().await.code, 0);
    let (_, files) = made(&practice, &["--document", "00000000-0000-0000-0000-000000000000"]).await;
    let missing = whys(&json_of(&files, "manifest.json"));
    assert!(missing.contains(&"history.json not-known".to_owned()), "{missing:?}");
    assert!(missing.contains(&"metrics.txt not-running".to_owned()), "{missing:?}");
    assert_eq!(json_of(&files, "ledger.json")["documents"]["reported"], 1);

    let whole = std::fs::read(practice.ledger()).unwrap();
    {
        let other = Connection::open(practice.ledger()).unwrap();
        other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
        let (_, files) = made(&practice, &[]).await;
        let missing = whys(&json_of(&files, "manifest.json"));
        assert!(missing.contains(&"status.json locked".to_owned()), "{missing:?}");
        assert!(files.contains_key("config.json") && files.contains_key("check.txt"), "{:?}", files.keys());
    }
    let mut damaged = whole.clone();
    damaged[8192..].fill(0x5a);
    std::fs::write(practice.ledger(), damaged).unwrap();
    let (_, files) = made(&practice, &[]).await;
    let missing = whys(&json_of(&files, "manifest.json"));
    let told = missing.contains(&"status.json damaged".to_owned())
        || json_of(&files, "ledger.json")["quick_check"]["ok"] == false;
    assert!(told, "{missing:?}");
    std::fs::write(practice.ledger(), "Zqxlast, and no database").unwrap();
    let (_, files) = made(&practice, &[]).await;
    assert!(whys(&json_of(&files, "manifest.json")).contains(&"ledger.json damaged".to_owned()));
    files.iter().for_each(|(name, content)| assert_clean(name, content, &CANARIES));

    // The ledger of a configuration with a mistake is found all the same.
    std::fs::write(practice.ledger(), whole).unwrap();
    practice.configure_wholly(&format!("{}\nzqxfield = 'Zqxlast'\n[zqxbody]\n", practice.base_config()));
    let (_, files) = made(&practice, &[]).await;
    let missing = whys(&json_of(&files, "manifest.json"));
    for file in ["config.json", "check.txt", "status.json"] {
        assert!(missing.contains(&format!("{file} configuration")), "{missing:?}");
    }
    assert_eq!(json_of(&files, "ledger.json")["documents"]["reported"], 1);
    files.iter().for_each(|(name, content)| assert_clean(name, content, &CANARIES));
    std::fs::remove_file(practice.config_path()).unwrap();
    let (_, files) = made(&practice, &[]).await;
    assert!(whys(&json_of(&files, "manifest.json")).contains(&"config.json configuration".to_owned()));
}

#[tokio::test]
async fn the_file_is_for_its_owner_alone_and_whole_or_not_there() {
    let practice = Practice::with_documents(1).await;
    let listed = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let before = listed(practice.dir.path());
    let printed = practice.docsyncd(&["support", "--print"]).await;
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{printed:?}");
    for name in ["manifest.json", "config.json", "check.txt"] {
        assert!(printed.stdout.contains(&format!("== {name} ==")), "{printed:?}");
    }
    assert_eq!(listed(practice.dir.path()), before, "no file");
    made(&practice, &[]).await;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(practice.path("bundle.zip")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // A second one takes its place.
    made(&practice, &[]).await;
    assert_eq!(listed(practice.dir.path()), before + 1);
    for place in ["inbox", "none/bundle.zip"] {
        let ended = practice.docsyncd(&["support", "--out", practice.path(place).to_str().unwrap()]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.stderr.contains("cannot be written") && ended.stderr.contains("support --print"), "{ended:?}");
    }
    assert_eq!(listed(practice.dir.path()), before + 1);
    assert_eq!(listed(&practice.inbox()), 0);
    for (language, words) in [("fr", "manque"), ("de", "fehlt")] {
        let said = made(&practice, &["--lang", language]).await.0.stdout;
        assert!(said.contains(words) && !said.contains("missing"), "{said}");
    }
    let unnamed = practice.docsyncd_without_config(&["--config", "docsyncd.toml", "support"]).await;
    assert_eq!(unnamed.code, 0, "{unnamed:?}");
    let name = std::fs::read_dir(practice.dir.path()).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.starts_with("docsyncd-support-").then_some(name)
    });
    assert_eq!(name.unwrap().len(), "docsyncd-support-20261121-2039.zip".len());
}
