//! `docsyncd api`

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, Options, Route};
use serde_json::Value;

use crate::harness::Practice;

#[tokio::test]
async fn the_answer_is_printed_as_it_came() {
    let practice = Practice::with_documents(1).await;
    for path in ["/me", "me", "documents?synchronized=false&itemsPerPage=5"] {
        let ended = practice.docsyncd(&["api", "get", path]).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{path}: {ended:?}");
        let answer: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(answer.is_object() || answer.is_array(), "{answer}");
    }
    let request = practice.sandbox.requests().pop().unwrap();
    assert_eq!(
        (request.path.as_str(), request.query.as_deref()),
        ("/documents", Some("synchronized=false&itemsPerPage=5"))
    );
    assert!(!practice.ledger().exists(), "it needs no ledger");
}

#[tokio::test]
async fn a_body_is_sent_as_it_is() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let path = format!("/documents/{uuid}/status");
    let ended = practice.docsyncd(&["api", "POST", &path, "--body", r#"{"success": false, "error": "by hand"}"#]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let post = practice.sandbox.status_posts().pop().unwrap();
    assert_eq!((post.document, post.success, post.error.as_deref()), (uuid, Some(false), Some("by hand")));
}

#[tokio::test]
async fn a_body_that_is_no_json_is_wrong_usage_and_never_sent() {
    let practice = Practice::with_documents(0).await;
    let ended = practice.docsyncd(&["api", "POST", "/documents/x/status", "--body", "{success: true}"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("--body is not JSON"), "{ended:?}");
    assert!(practice.sandbox.requests().is_empty());
}

#[tokio::test]
async fn an_error_of_the_api_ends_with_1_and_its_body_is_shown() {
    let practice = Practice::with_documents(0).await;
    let ended = practice.docsyncd(&["api", "GET", "/documents/00000000-0000-0000-0000-000000000000"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap()["status"], 404);
    assert!(ended.stderr.contains("HTTP 404"), "{ended:?}");

    practice.write_secret("api-key", "wrong");
    let ended = practice.docsyncd(&["api", "GET", "/me"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("HTTP 401") && ended.stdout.contains("JWT"), "{ended:?}");
}

#[tokio::test]
async fn a_broken_connection_ends_with_1_and_a_method_that_is_none_is_wrong_usage() {
    let practice = Practice::with_documents(0).await;
    // A request that a connection breaks off under is sent once more.
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::Reset));
    let ended = practice.docsyncd(&["api", "GET", "/me"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("127.0.0.1"), "{ended:?}");
    let ended = practice.docsyncd(&["api", "G T", "/me"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("G T is not an HTTP method"), "{ended:?}");
}

#[tokio::test]
async fn a_proxy_on_this_machine_is_used_and_one_elsewhere_is_not_shown_what_stays_here() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let mut practice = Practice::with_documents(0).await;
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let asked = std::thread::spawn(move || {
        let (mut connection, _) = proxy.accept().unwrap();
        let mut head = BufReader::new(connection.try_clone().unwrap()).lines().map(Result::unwrap);
        let first = head.next().unwrap();
        head.take_while(|line| !line.is_empty()).for_each(drop);
        connection.write_all(b"HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        first
    });
    practice.env.insert("DOCSYNCD__API__PROXY".into(), format!("http://{address}"));
    let ended = practice.docsyncd(&["api", "GET", "/me"]).await;
    assert!(ended.code == 1 && ended.stderr.contains("HTTP 418"), "{ended:?}");
    assert_eq!(asked.join().unwrap(), format!("GET {}/me HTTP/1.1", practice.sandbox.url()));
    assert!(practice.sandbox.requests().is_empty());

    practice.env.insert("DOCSYNCD__API__PROXY".into(), "http://proxy.example.test:3128".into());
    let ended = practice.docsyncd(&["api", "GET", "/me"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
}

#[tokio::test]
async fn the_token_never_goes_to_another_origin() {
    let practice = Practice::with_documents(0).await;
    let elsewhere = Practice::with_documents(0).await;
    for address in [elsewhere.sandbox.url(), practice.sandbox.files_url(), "https://example.test/me".to_owned()] {
        let ended = practice.docsyncd(&["api", "GET", &format!("{address}/me")]).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains("away from api.base_url"), "{ended:?}");
    }
    let own = practice.docsyncd(&["api", "GET", &format!("{}/me", practice.sandbox.url())]).await;
    assert_eq!(own.code, 0, "{own:?}");
    // Not even by a redirect.
    let to = FaultKind::Redirect(format!("{}/me", elsewhere.sandbox.url()));
    practice.sandbox.inject(Fault::once(Route::Any, to));
    practice.docsyncd(&["api", "GET", "/me"]).await;
    assert!(elsewhere.sandbox.requests().iter().all(|request| request.authorization.is_none()));
}

#[tokio::test]
async fn with_several_accounts_one_has_to_be_chosen() {
    let keys = vec![ApiKey::of_user("key-a", "a@practice.test"), ApiKey::of_user("key-b", "b@practice.test")];
    let practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.write_secret("key-b", "key-b");
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    let ended = practice.docsyncd(&["api", "GET", "/me"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("--account") && ended.stderr.contains("main, second"), "{ended:?}");
    let ended = practice.docsyncd(&["api", "GET", "/me", "--account", "third"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("no account third") && ended.stderr.contains("main, second"), "{ended:?}");
    for (account, email) in [("main", "a@practice.test"), ("second", "b@practice.test")] {
        let ended = practice.docsyncd(&["api", "GET", "/me", "--account", account]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap()["email"], email);
    }
}

/// A program gets the answer as it came; a terminal gets nothing that it would obey.
#[cfg(unix)]
#[tokio::test]
async fn a_terminal_obeys_nothing_that_the_api_says() {
    crate::faults::tools::needs!("script");
    let answer = "\u{1b}]0;title\u{7}\u{9b}31m\u{202e}red\n\tnext\n";
    let practice = Practice::with_documents(0).await;
    practice.sandbox.inject(Fault::always(Route::Endpoint("GET /me"), FaultKind::Bytes(answer.into())));
    assert_eq!(practice.docsyncd(&["api", "GET", "/me"]).await.stdout, answer);
    let typed = practice.command(&["api", "GET", "/me"]);
    let typed: Vec<_> = typed.as_std().get_args().map(|argument| format!("'{}'", argument.display())).collect();
    let typed = format!("'{}' {}", crate::harness::program().display(), typed.join(" "));
    let mut command = tokio::process::Command::new("script");
    command.args(["--quiet", "--return", "--command", &typed, "/dev/null"]).env("SHELL", "/bin/sh");
    let shown = crate::harness::Ended::of(command).await;
    assert_eq!(shown.stdout.replace('\r', ""), "]0;title31mred\n\tnext\n", "{shown:?}");
}
