//! `docsyncd check`: a line for everything, and for each thing that is wrong a line of its own.

use docsyncd_sandbox::{Fault, FaultKind, Route};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{Ended, PATIENCE, Practice, unused_address};

/// The line about `what`.
fn line<'a>(ended: &'a Ended, what: &str) -> &'a str {
    let found = ended.stdout.lines().find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(what)));
    found.unwrap_or_else(|| panic!("no line about {what}: {ended:?}"))
}

/// One thing is wrong and only that: its line says `signs`, every other line is good.
fn assert_only(ended: &Ended, code: i32, what: &str, signs: &[&str]) {
    assert_eq!(ended.code, code, "{ended:?}");
    let bad: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert_eq!(bad, [line(ended, what)], "{ended:?}");
    assert!(signs.iter().all(|sign| bad[0].contains(sign)), "{signs:?}: {ended:?}");
}

#[tokio::test]
async fn all_is_well_a_line_each_and_nothing_is_left_behind() {
    let practice = Practice::with_documents(3).await;
    std::fs::create_dir(practice.path("second")).unwrap();
    practice.configure(
        "[destinations.second]\ntype = \"folder\"\npath = 'second'\n\
         [destinations.program]\ntype = \"command\"\nprogram = \"hostname\"\n\
         [[routes]]\nto = [\"pms\", \"second\", \"program\"]",
    );
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    for what in ["config", "account main", "destination pms", "destination second", "destination program", "ledger"] {
        assert!(line(&ended, what).starts_with("ok "), "{ended:?}");
    }
    assert_eq!(ended.stdout.lines().count(), 6, "{ended:?}");
    assert!(line(&ended, "account main").contains("3 documents are not synchronized yet; as "), "{ended:?}");
    assert!(line(&ended, "account main").contains(", practice "), "{ended:?}");
    assert!(line(&ended, "ledger").contains("will be created"), "{ended:?}");
    for folder in [practice.inbox(), practice.path("second")] {
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{folder:?}");
    }
    assert!(!practice.path("state").exists(), "check makes no ledger");
    for request in practice.sandbox.requests() {
        let read = request.path == "/me" || request.path == "/documents" || request.path.starts_with("/documents/");
        assert!(request.method == "GET" && read && !request.path.contains("pdf"), "nothing was fetched: {request:?}");
    }
    assert_eq!(practice.sandbox.status_posts().len(), 0);
}

/// Not even root may create a file there.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_ledger_that_cannot_be_created_is_said_before_the_first_run() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__STATE__PATH".into(), "/proc/docsyncd/ledger.sqlite3".into());
    assert_only(&practice.docsyncd(&["check"]).await, 1, "ledger", &["cannot be created"]);
}

#[tokio::test]
async fn accounts_are_asked_side_by_side_and_shown_in_their_order() {
    const ACCOUNTS: usize = 5;
    let practice = Practice::with_documents(0).await;
    let more: String =
        (0..ACCOUNTS).rev().map(|number| format!("[accounts.dr-{number}]\napi_key_file = 'api-key'\n")).collect();
    practice.configure(&more);
    let ended = practice.docsyncd(&["check"]).await;
    let accounts = ended.stdout.lines().filter_map(|line| line.strip_prefix("ok    account "));
    let shown: Vec<&str> = accounts.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!((ended.code, &shown[..ACCOUNTS]), (0, &["dr-0", "dr-1", "dr-2", "dr-3", "dr-4"][..]), "{ended:?}");
    // None of them gets an answer, and all have asked.
    practice.sandbox.forget_requests();
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::Stall));
    let mut command = practice.command(&["check"]);
    let mut hanging = command.env("DOCSYNCD__API__TIMEOUT", "1h").spawn().unwrap();
    let all = |view: &docsyncd_sandbox::View| view.requests().count() > ACCOUNTS;
    practice.sandbox.wait_for(all, PATIENCE).await.expect("all ask at once");
    hanging.kill().await.unwrap();
}

#[tokio::test]
async fn the_ledger_s_line_says_whether_the_daemon_runs() {
    let practice = Practice::with_documents(0).await;
    practice.sync().await;
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(line(&ended, "ledger").contains("does not run"), "{ended:?}");
    let mut running = practice.run().await;
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(line(&ended, "ledger").contains("the daemon runs"), "{ended:?}");
    running.kill().await;
}

#[tokio::test]
async fn an_api_that_is_not_there_is_told_from_one_that_refuses_the_key() {
    let mut practice = Practice::with_documents(0).await;
    let nobody = unused_address();
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{}", nobody.address));
    let ended = practice.docsyncd(&["check"]).await;
    assert_only(&ended, 1, "account main", &["cannot be reached", &nobody.address.to_string()]);

    practice.env.clear();
    practice.write_secret("api-key", "wrong");
    let ended = practice.docsyncd(&["check"]).await;
    assert_only(&ended, 1, "account main", &["refuses the credentials", "401", "check the account's key"]);

    practice.write_secret("api-key", practice.sandbox.api_key());
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::status(403)));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["403"]);
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Html200));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["HTML"]);
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Stall));
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "100ms".into());
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["api.timeout"]);
}

#[tokio::test]
async fn an_address_that_is_not_the_api_s_is_told_by_what_answers_there() {
    let mut practice = Practice::with_documents(0).await;
    let url = practice.sandbox.url().to_string();
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("{}/v9", url.trim_end_matches('/')));
    let asked = format!("GET {}/v9/documents was answered with: HTTP 404", url.trim_end_matches('/'));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &[&asked, "Is api.base_url right"]);

    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), url.clone());
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Html200));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["/documents was answered with: it is HTML"]);
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Bytes(b"hello".to_vec())));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["it is not JSON", "Is api.base_url right"]);
    // Who answers in JSON is an API, and most probably the right one.
    for other in ["{\"hello\": 1}", "{\"documents\": [{\"uuid\": \"5f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11\"}]}", "1"] {
        practice.sandbox.inject(Fault::once(Route::List, FaultKind::Bytes(other.into())));
        let checked = practice.docsyncd(&["check"]).await;
        assert_only(&checked, 1, "account main", &["a list was expected", "ask the service's operator"]);
        assert!(!checked.stdout.contains("base_url"), "{checked:?}");
    }

    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), url.replace("http://", "https://"));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &["it speaks http, not https"]);

    let ssh = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("https://{}", ssh.local_addr().unwrap()));
    let served = tokio::spawn(async move {
        while let Ok((mut stream, _)) = ssh.accept().await {
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_10.0\r\n").await;
            let _ = stream.read(&mut [0; 1024]).await;
        }
    });
    let what = "it answers, but not with TLS or HTTP";
    assert_only(&practice.docsyncd(&["check"]).await, 1, "account main", &[what]);
    served.abort();
}

#[tokio::test]
async fn a_key_file_that_is_missing_or_empty_or_no_key_is_a_matter_of_configuration() {
    let practice = Practice::with_documents(0).await;
    let file = practice.path("api-key").display().to_string();
    std::fs::remove_file(practice.path("api-key")).unwrap();
    assert_only(&practice.docsyncd(&["check"]).await, 2, "account main", &["cannot be read", &file]);
    for (content, sign) in [
        ("", "is empty"),
        (" \r\n", "is empty"),
        ("two\nlines", "does not hold a key"),
        ("\"a-key\"", "quotation marks"),
        ("Bearer a-key", "the word Bearer"),
    ] {
        practice.write_secret("api-key", content);
        assert_only(&practice.docsyncd(&["check"]).await, 2, "account main", &[sign, &file]);
    }
    assert!(practice.sandbox.requests().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(0).await;
    std::fs::set_permissions(practice.path("api-key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let command = format!("run chmod 600 '{}'", practice.path("api-key").display());
    assert_only(&practice.docsyncd(&["check"]).await, 2, "account main", &["open to others (mode 0644)", &command]);
    for args in [["sync"], ["run"], ["preview"]] {
        let ended = practice.docsyncd(&args).await;
        assert!(ended.code == 2 && ended.stderr.contains(&command), "{ended:?}");
    }
    // The same of those who are to be told.
    practice.write_secret("api-key", "a key");
    for option in ["webhook_url_file", "heartbeat_url_file"] {
        practice.configure(&format!("[alerts]\n{option} = 'address'"));
        std::fs::write(practice.path("address"), "https://127.0.0.1:1/").unwrap();
        std::fs::set_permissions(practice.path("address"), std::fs::Permissions::from_mode(0o644)).unwrap();
        for args in [["check"].as_slice(), &["alerts", "test"]] {
            let ended = practice.docsyncd(args).await;
            assert!(ended.code == 2 && ended.stdout.contains("open to others"), "{ended:?}");
        }
    }
    assert!(practice.sandbox.requests().is_empty());
}

#[tokio::test]
async fn a_folder_that_is_missing_or_none_is_never_created() {
    let practice = Practice::with_documents(0).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    let path = practice.inbox().display().to_string();
    let ended = practice.docsyncd(&["check"]).await;
    assert_only(&ended, 1, "destination pms", &["does not exist", &path, "mounted"]);
    assert!(!practice.inbox().exists());
    std::fs::write(practice.inbox(), "").unwrap();
    assert_only(&practice.docsyncd(&["check"]).await, 1, "destination pms", &["is not a folder", &path]);
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let practice = Practice::with_documents(0).await;
    practice.configure_wholly(&format!(
        "{}\n[destinations.scan]\ntype = \"command\"\nprogram = \"no-such-program-here\"\n",
        practice.base_config()
    ));
    assert_only(&practice.docsyncd(&["check"]).await, 1, "destination scan", &["no-such-program-here"]);
}

#[tokio::test]
async fn a_wrong_ca_file_is_a_matter_of_configuration() {
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__API__CA_FILE".into(), practice.path("ca.pem").display().to_string());
    let path = practice.path("ca.pem").display().to_string();
    assert_only(&practice.docsyncd(&["check"]).await, 2, "api", &["api.ca_file", &path, "cannot be read"]);
    for content in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        std::fs::write(practice.path("ca.pem"), content).unwrap();
        let ended = practice.docsyncd(&["check"]).await;
        assert_only(&ended, 2, "api", &["api.ca_file"]);
        let run = practice.docsyncd(&["sync"]).await;
        assert_eq!(run.code, 2, "{run:?}");
    }
}

#[tokio::test]
async fn several_things_that_are_wrong_are_all_shown() {
    let practice = Practice::with_documents(0).await;
    practice.write_secret("api-key", "wrong");
    std::fs::remove_dir(practice.inbox()).unwrap();
    std::fs::create_dir(practice.path("state")).unwrap();
    std::fs::write(practice.ledger(), "no database").unwrap();
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    for what in ["account main", "destination pms", "ledger"] {
        assert!(line(&ended, what).starts_with("FAIL"), "{ended:?}");
    }
}

#[tokio::test]
async fn a_configuration_with_mistakes_ends_with_2_and_names_them() {
    let practice = Practice::with_documents(0).await;
    practice.configure("[sync]\npoll_intervall = \"1s\"");
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stdout.starts_with("FAIL  config"), "{ended:?}");
    assert!(ended.stderr.contains("docsyncd.toml"), "{ended:?}");
}

const LIST: &str = "[patients]\nfile = 'patients.csv'\nnumber = \"PatNum\"\nlast_name = \"LName\"\nfirst_name = \"FName\"\ndate_of_birth = \"Birthdate\"";

#[tokio::test]
async fn the_list_of_patients_is_read_and_what_is_wrong_with_it_ends_with_2() {
    let practice = Practice::with_documents(0).await;
    practice.configure(LIST);
    let file = practice.path("patients.csv");
    let write = |text: &str| {
        std::fs::write(&file, format!("PatNum;LName;FName;Birthdate\n{text}")).unwrap();
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
    };
    assert_only(&practice.docsyncd(&["check"]).await, 2, "patients", &["patients.csv", "it is not there"]);
    write("1;Canary;Jean;17.02.1980\n2;Canary;Zoé;\n;Canary;Anna;17.02.1980\n");
    let ended = practice.docsyncd(&["check"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let said = line(&ended, "patients");
    assert!(said.contains(" 2 patients in ") && said.contains("(utf-8, `;`, dates as %d.%m.%Y)"), "{said}");
    assert!(said.contains("; 1 without a number") && said.contains("; 1 without a date of birth"), "{said}");
    write("1;Canary;Jean;17.02.1980\n1,2E+05;Canary;Zoé;17.02.1980\n");
    let ended = practice.docsyncd(&["check"]).await;
    assert_only(&ended, 2, "patients", &["row 3 has a rounded number", "export the list as text"]);
    assert!(!ended.stdout.contains("Canary"), "{ended:?}");
    // A command cannot wait until it is known whether the last row is whole.
    std::fs::write(&file, "PatNum;LName;FName;Birthdate\n1;Canary;Jean;17.02.1980\n2;Canary;Zoé;17.02.198").unwrap();
    assert_only(&practice.docsyncd(&["check"]).await, 2, "patients", &["row 3 has something that is no date"]);
    std::fs::write(&file, "PatNum;LName;FName;Birthdate\n1;Canary;Jean;17.02.1980\n2;Canary;Zoé;17.02.1980").unwrap();
    assert_only(&practice.docsyncd(&["check"]).await, 2, "patients", &["its last row has no line end"]);
    write("");
    assert_only(&practice.docsyncd(&["check"]).await, 2, "patients", &["holds no patients"]);
    let json: serde_json::Value = serde_json::from_str(&practice.docsyncd(&["check", "--json"]).await.stdout).unwrap();
    assert_eq!(json["ok"], false);
}

#[tokio::test]
async fn a_template_that_needs_a_number_without_a_list_ends_with_2() {
    let mut practice = Practice::with_documents(0).await;
    practice
        .env
        .insert("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME".into(), "{{ patient.number }}/{{ document.uuid }}.pdf".into());
    for command in ["check", "sync", "preview"] {
        let ended = practice.docsyncd(&[command]).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(
            ended.stderr.contains("DOCSYNCD__DESTINATIONS__PMS__FILE_NAME") && ended.stderr.contains("[patients]"),
            "{ended:?}"
        );
    }
}

#[cfg(feature = "sftp")]
#[tokio::test]
async fn a_warning_does_not_recommend_the_command_that_prints_it() {
    let practice = Practice::with_documents(0).await;
    practice.write_secret("password", "secret-1");
    practice.configure(
        "[destinations.lab]\ntype = \"sftp\"\nhost = \"127.0.0.1\"\nport = 1\nuser = \"u\"\npassword_file = 'password'\n\
         path = \"/in\"\n\
         [[routes]]\nto = [\"pms\", \"lab\"]",
    );
    let ended = practice.docsyncd(&["check"]).await;
    assert!(ended.stdout.contains("so nothing is sent: this check shows the server's fingerprint"), "{ended:?}");
    assert!(!ended.stdout.contains(" check` shows"), "{ended:?}");
}
