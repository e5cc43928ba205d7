//! Alarms against real receivers: a web server and a mail server in the test, with the program as a process.

mod lasting;
pub mod receivers;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Options, Route};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::cli::json::assert_as_documented;
use crate::harness::{PATIENCE, Practice};
use receivers::{Answer, MailServer, WebServer};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A practice that tells a webhook what lasts for longer than a moment.
async fn practice(documents: usize, web: &WebServer) -> Practice {
    let practice = Practice::with_documents(documents).await;
    practice.write_secret("webhook", &web.url("/hook"));
    practice.write_secret("webhook-secret", SECRET);
    configure(&practice, "");
    practice
}

fn configure(practice: &Practice, more: &str) {
    practice.configure(&format!(
        "[alerts]\nlanguage = \"en\"\nafter = \"200ms\"\nwebhook_url_file = 'webhook'\nwebhook_secret_file = 'webhook-secret'\n{more}"
    ));
}

fn with_mail(port: u16) -> String {
    format!(
        "[alerts.mail]\nhost = \"127.0.0.1\"\nport = {port}\nencryption = \"none\"\nfrom = \"docsyncd@practice.test\"\n\
         to = [\"it@practice.test\", \"boss@practice.test\"]\n"
    )
}

fn of(messages: &[Value], field: &str) -> Vec<String> {
    messages.iter().map(|message| message[field].as_str().unwrap_or_default().to_owned()).collect()
}

/// Waits until the ledger answers so.
async fn wait_for_ledger(practice: &Practice, question: &str) {
    let ledger = Connection::open(practice.ledger()).unwrap();
    let is_so = async {
        while !ledger.query_row(question, [], |row| row.get::<_, bool>(0)).unwrap_or(false) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, is_so).await.unwrap_or_else(|_| panic!("{question}"));
}

#[tokio::test]
async fn a_channel_that_is_added_while_something_lasts_is_told_of_it_once() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(1, &web).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    web.wait_for(1).await;
    running.wait_for_log("event=\"alert_sent\"").await;
    running.end().await;
    configure(&practice, &with_mail(mail.port));
    for _ in 0..2 {
        let mut running = practice.run().await;
        mail.wait_for(1).await;
        wait_for_ledger(&practice, "SELECT count(*) = 2 FROM outbox WHERE sent_at IS NOT NULL").await;
        running.end().await;
    }
    let mut running = practice.run().await;
    std::fs::create_dir(practice.inbox()).unwrap();
    web.wait_for(2).await;
    mail.wait_for(2).await;
    running.end().await;
    assert_eq!(of(&web.messages(), "kind"), ["problem", "over"]);
    let mails = mail.mails();
    assert_eq!(mails.len(), 2);
    assert!(
        mails[0].data.contains("cannot be reached.") && mails[1].data.contains("can be reached again"),
        "{mails:#?}"
    );
}

/// Two practices in one daemon: whoever is told of one reads nothing of the other, and nothing that belongs to neither.
#[tokio::test]
async fn receivers_of_some_accounts_read_of_no_other_practice() {
    let (all, north, mail) = (WebServer::start().await, WebServer::start().await, MailServer::start().await);
    let practice = Practice::with_documents(2).await;
    practice.write_secret("webhook", &all.url("/all"));
    practice.write_secret("webhook-north", &north.url("/north"));
    let folders = ["north", "south"].map(|name| {
        let folder = practice.path(name);
        std::fs::create_dir(&folder).unwrap();
        format!("[destinations.{name}]\ntype = \"folder\"\npath = '{}'\n", folder.display())
    });
    let routes =
        "[[routes]]\naccounts = [\"main\"]\nto = [\"north\"]\n[[routes]]\naccounts = [\"other\"]\nto = [\"south\"]\n";
    let receivers = "[alerts.team]\naccounts = [\"main\"]\nwebhook_url_file = 'webhook-north'\nto = [\"n@north.test\"]\n\
                     [alerts.others]\naccounts = [\"other\"]\nto = [\"s@south.test\"]\n";
    practice.configure_wholly(&format!(
        "{}{}[accounts.other]\napi_key_file = 'api-key'\n{routes}[alerts]\nlanguage = \"en\"\nafter = \"200ms\"\n\
         webhook_url_file = 'webhook'\n{}{receivers}",
        practice.base_config(),
        folders.concat(),
        with_mail(mail.port)
    ));
    for folder in ["north", "south"] {
        std::fs::remove_dir(practice.path(folder)).unwrap();
    }
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.stdout.contains("alerts webhook of team") && checked.stdout.contains("alerts mail of others"));
    let mut running = practice.run().await;
    // The first request is that of `check`.
    all.wait_for(2).await;
    north.wait_for(2).await;
    mail.wait_for(3).await;
    running.end().await;
    let told = north.messages();
    assert!(told.iter().all(|message| !message.to_string().contains("south")), "{told:#?}");
    assert!(told.iter().any(|message| message["names"] == json!(["north"])), "{told:#?}");
    let mails = mail.mails();
    let to =
        |address: &str| mails.iter().filter(|mail| mail.to.iter().any(|to| to.contains(address))).collect::<Vec<_>>();
    assert!(!to("n@north.test").is_empty() && !to("it@practice.test").is_empty(), "{mails:#?}");
    assert!(to("n@north.test").iter().all(|mail| !mail.data.contains("south")), "{mails:#?}");
    assert!(to("s@south.test").iter().all(|mail| !mail.data.contains("north")), "{mails:#?}");
}

/// Readers get on beside a lock, so a ledger that is locked shows itself only to who writes.
#[tokio::test]
async fn a_ledger_that_another_program_locks_is_told_once() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let ledger = Connection::open(practice.ledger()).unwrap();
    ledger.busy_timeout(PATIENCE).unwrap();
    ledger.execute_batch("BEGIN IMMEDIATE").unwrap();
    web.wait_for(1).await;
    ledger.execute_batch("ROLLBACK").unwrap();
    web.wait_for(2).await;
    running.end().await;
    let messages = web.messages();
    assert_eq!(of(&messages, "kind"), ["problem", "over"], "{messages:#?}");
    assert_eq!(of(&messages, "cause"), ["ledger", "ledger"]);
}

#[tokio::test]
async fn an_outage_with_50_documents_is_two_messages_a_channel_also_with_a_kill_in_between() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let mut practice = practice(50, &web).await;
    // Longer than a single document waits for its next try on a slow machine: that would be a trouble of its own.
    practice.env.insert("DOCSYNCD__ALERTS__AFTER".into(), "2s".into());
    configure(&practice, &with_mail(mail.port));
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    web.wait_for(1).await;
    mail.wait_for(1).await;
    // That they were taken is in the ledger.
    running.wait_for_logs("event=\"alert_sent\"", 2).await;
    running.kill().await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "debug".into());
    let mut running = practice.run().await;
    running.wait_for_log("event=\"still_paused\"").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    practice.wait_for_posts(50).await;
    web.wait_for(2).await;
    mail.wait_for(2).await;
    running.end().await;

    let messages = web.messages();
    assert_eq!(of(&messages, "kind"), ["problem", "over"], "{messages:#?}");
    assert_eq!(of(&messages, "cause"), ["destination", "destination"]);
    assert!(
        messages[0]["text"].as_str().unwrap().ends_with(": the destination pms cannot be reached."),
        "{messages:#?}"
    );
    assert!(
        messages[1]["text"].as_str().unwrap().starts_with("The destination pms can be reached again. It began at ")
    );
    assert_ne!(messages[0]["id"], messages[1]["id"]);
    messages.iter().for_each(|message| assert_as_documented("What a webhook gets", message));
    let verifier = standardwebhooks::Webhook::new(SECRET).unwrap();
    for request in web.requests() {
        verifier.verify(request.body.as_bytes(), &request.header_map()).expect("its own library takes the signature");
    }
    let mails = mail.mails();
    assert_eq!(mails.len(), 2, "{mails:#?}");
    for (mail, message) in mails.iter().zip(&messages) {
        assert_eq!(mail.to, ["it@practice.test", "boss@practice.test"]);
        assert!(mail.data.contains(&format!("Message-ID: <{}@", message["id"].as_str().unwrap())), "{}", mail.data);
        assert!(mail.data.contains("Auto-Submitted: auto-generated"), "{}", mail.data);
    }
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_with_the_process_comes_again_under_the_same_identifier() {
    let web = WebServer::start().await;
    let practice = practice(2, &web).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    web.answer(Answer::Never);
    let mut running = practice.run().await;
    web.wait_for(1).await;
    running.kill().await;
    web.answer(Answer::Status(200));
    let mut running = practice.run().await;
    web.wait_for(2).await;
    std::fs::create_dir(practice.inbox()).unwrap();
    web.wait_for(3).await;
    running.end().await;
    let messages = web.messages();
    assert_eq!(of(&messages, "kind"), ["problem", "problem", "over"], "{messages:#?}");
    assert_eq!(messages[0], messages[1], "word for word");
}

#[tokio::test]
async fn a_receiver_that_is_in_trouble_is_tried_again_with_the_same_message() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    web.answer(Answer::Status(503));
    let mut running = practice.run().await;
    web.wait_for(3).await;
    assert!(running.log().contains("webhook: HTTP 503: it has a fault of its own"), "{}", running.log());
    assert!(!running.log().contains(&web.url("")), "its address is a secret: {}", running.log());
    web.answer(Answer::Status(202));
    running.wait_for_log("event=\"alert_sent\"").await;
    running.end().await;
    let mut ids = of(&web.messages(), "id");
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[tokio::test]
async fn what_was_over_before_anybody_heard_of_it_is_told_to_nobody() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    web.answer(Answer::Status(404));
    let mut running = practice.run().await;
    running.wait_for_log("nobody is there").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    running.wait_for_log("event=\"alert_over\"").await;
    // A try may have been on its way.
    wait_for_ledger(&practice, "SELECT count(*) = 0 FROM outbox WHERE sent_at IS NULL").await;
    web.answer(Answer::Status(200));
    running.end().await;
    assert!(of(&web.messages(), "kind").iter().all(|kind| kind == "problem"), "{:#?}", web.messages());
}

#[tokio::test]
async fn a_trouble_that_was_over_while_the_mail_server_was_away_is_mailed_to_nobody() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    let nobody = crate::harness::unused_address();
    configure(&practice, &with_mail(nobody.address.port()).replace("127.0.0.1", &nobody.address.ip().to_string()));
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("mail: the mail server cannot be reached").await;
    std::fs::create_dir(practice.inbox()).unwrap();
    web.wait_for(2).await;
    assert_eq!(of(&web.messages(), "kind"), ["problem", "over"]);
    wait_for_ledger(&practice, "SELECT count(*) = 0 FROM outbox WHERE channel = 'mail'").await;
    running.end().await;
}

#[tokio::test]
async fn a_recipient_who_is_gone_keeps_nobody_else_from_being_told() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(1, &web).await;
    configure(&practice, &with_mail(mail.port).replace("boss@", "gone@"));
    let test = practice.docsyncd(&["alerts", "test"]).await;
    assert_eq!((test.code, mail.mails().len()), (1, 1), "{test:?}");
    assert_eq!(mail.mails()[0].to, ["it@practice.test"]);
    let lines: Vec<&str> = test.stdout.lines().filter(|line| line.contains("mail ")).collect();
    assert!(lines[0].starts_with("ok    mail"), "{test:?}");
    assert!(lines[1].starts_with("FAIL  mail") && lines[1].contains("gone@practice.test"), "{test:?}");

    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    mail.wait_for(2).await;
    running.wait_for_log("mail: 1 of the recipients are refused").await;
    assert!(!running.log().contains("gone@"), "{}", running.log());
    running.end().await;

    configure(&practice, &with_mail(mail.port).replace("boss@", "gone@").replace("\"it@practice.test\", ", ""));
    let test = practice.docsyncd(&["alerts", "test"]).await;
    assert!(test.code == 1 && !test.stdout.contains("ok    mail"), "{test:?}");
    assert!(test.stdout.contains("refuses the sender or a recipient (code 550)"), "{test:?}");
}

#[tokio::test]
async fn thirty_accounts_with_one_trouble_are_one_message() {
    let web = WebServer::start().await;
    let mut practice = practice(0, &web).await;
    // What breaks within this time is told together.
    practice.env.insert("DOCSYNCD__ALERTS__AFTER".into(), "5s".into());
    let accounts: String = (0..29).map(|n| format!("[accounts.a{n}]\napi_key_file = 'wrong-key'\n")).collect();
    practice.write_secret("wrong-key", "k-wrong");
    configure(&practice, &accounts);
    let mut running = practice.run().await;
    web.wait_for(1).await;
    running.wait_for_logs("event=\"paused\"", 29).await;
    running.wait_for_log("event=\"alert_sent\"").await;
    running.end().await;
    let messages = web.messages();
    assert_eq!(
        (of(&messages, "kind"), of(&messages, "cause")),
        (vec!["problem".to_owned()], vec!["api-key".to_owned()]),
        "{messages:#?}"
    );
}

#[tokio::test]
async fn the_heart_beats_by_the_conventions_of_healthchecks() {
    let web = WebServer::start().await;
    let mut practice = practice(1, &web).await;
    practice.write_secret("heartbeat", &web.url("/ping/uuid"));
    practice.env.insert("DOCSYNCD__ALERTS__HEARTBEAT_URL_FILE".into(), "heartbeat".into());
    practice.env.insert("DOCSYNCD__ALERTS__WEBHOOK_URL_FILE".into(), String::new());
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut running = practice.run().await;
    web.wait_for(2).await;
    assert_eq!(web.paths(), ["GET /ping/uuid/start", "GET /ping/uuid"]);
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(401)));
    web.wait_for(3).await;
    assert_eq!(web.paths()[2], "GET /ping/uuid/fail");
    practice.sandbox.clear_faults();
    web.wait_for(4).await;
    assert_eq!(web.paths()[3], "GET /ping/uuid", "and well again");
    running.end().await;
}

#[tokio::test]
async fn no_message_names_a_patient_a_file_or_a_document() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(0, &web).await;
    configure(&practice, &with_mail(mail.port));
    let canary = |what: &str| format!("Zqx{what}");
    for pdf in [NewPdf::Bytes(b"no pdf Zqxbody".to_vec()), NewPdf::Bytes(b"%PDF-1.7\n% a letter\n%%EOF\n".to_vec())] {
        let document = NewDocument {
            document_type: Some(Some(canary("type"))),
            patient: Some(
                json!({"firstName": canary("first"), "lastName": canary("last"), "dateOfBirth": "1913-02-03"}),
            ),
            pdf,
            pdf_name: Some(canary("pdf.pdf")),
            file_name: Some(canary("file.pdf")),
            ..NewDocument::default()
        };
        practice.sandbox.add(document).await.unwrap();
    }
    std::fs::remove_dir(practice.inbox()).unwrap();
    let body = Some(format!(r#"{{"detail": "{}"}}"#, canary("error")));
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Status { code: 422, retry_after: None, body }));
    let mut running = practice.run().await;
    web.wait_for(1).await;
    std::fs::create_dir(practice.inbox()).unwrap();
    let told = |cause: &str| of(&web.messages(), "cause").iter().any(|told| told == cause);
    while !told("unreported") {
        web.wait_for(web.requests().len() + 1).await;
    }
    mail.wait_for(2).await;
    running.end().await;
    let uuids: Vec<String> = practice.sandbox.documents().await.unwrap().into_iter().map(|one| one.uuid).collect();
    let requests = web.requests();
    let everything =
        requests.iter().map(|request| request.body.clone()).chain(mail.mails().into_iter().map(|mail| mail.data));
    for text in everything {
        assert!(!text.to_lowercase().contains("zqx") && !text.contains("1913"), "{text}");
        assert!(uuids.iter().all(|uuid| !text.contains(uuid.as_str())), "{text}");
    }
}

#[tokio::test]
async fn a_test_tells_everybody_and_says_what_each_answered() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(0, &web).await;
    practice.write_secret("heartbeat", &web.url("/api/push/token"));
    configure(&practice, &format!("heartbeat_url_file = 'heartbeat'\n{}", with_mail(mail.port)));
    let check = practice.docsyncd(&["check"]).await;
    assert_eq!((check.code, web.messages().len(), mail.mails().len()), (0, 0, 0), "nobody is told: {check:?}");
    for name in ["heartbeat", "webhook", "mail"] {
        assert!(check.stdout.contains(&format!("ok    alerts {name}")), "{check:?}");
    }
    assert!(web.paths().iter().all(|path| !path.starts_with("GET") && !path.starts_with("POST")), "{:?}", web.paths());

    let test = practice.docsyncd(&["alerts", "test"]).await;
    assert_eq!(test.code, 0, "{test:?}");
    assert_eq!(test.stdout.lines().count(), 3, "{test:?}");
    assert!(web.paths().iter().any(|path| path == "GET /api/push/token?status=up&msg=OK"), "{:?}", web.paths());
    let messages = web.messages();
    assert_eq!((of(&messages, "kind"), &messages[0]["cause"]), (vec!["test".to_owned()], &Value::Null));
    assert_eq!(mail.mails().len(), 1);

    // A web page in the way, and nobody at all: each has its line, and the others are told all the same.
    web.answer(Answer::Page);
    let port = mail.port;
    drop(mail);
    for command in [&["alerts", "test"][..], &["check"]] {
        let ended = practice.docsyncd(command).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        let line = |name: &str| {
            ended
                .stdout
                .lines()
                .find(|line| line.starts_with("FAIL") && line.contains(name))
                .unwrap_or_else(|| panic!("{name}: {ended:?}"))
                .to_owned()
        };
        assert!(line("webhook").contains("a web page"), "{ended:?}");
        assert!(line("mail").contains("mail server cannot be reached"), "{port}: {ended:?}");
    }
    practice.configure("");
    let nobody = practice.docsyncd(&["alerts", "test"]).await;
    assert!(nobody.code == 2 && nobody.stderr.contains("nobody is told anything"), "{nobody:?}");
}

#[tokio::test]
async fn what_cannot_be_meant_of_the_alerts_ends_with_2() {
    let practice = Practice::with_options(Options::default()).await;
    let mail = |more: &str| format!("[alerts.mail]\nhost = \"smtp.test\"\n{more}\n");
    let sound = "from = \"a@b.test\"\nto = [\"c@d.test\"]";
    for (more, sign) in [
        ("[alerts]\nlanguage = \"it\"".to_owned(), "alerts.language"),
        ("[alerts]\nafter = 15".to_owned(), "after = \"15s\""),
        ("[alerts]\nheartbeat_url = \"x\"".to_owned(), "`alerts.heartbeat_url_file`"),
        (mail("to = [\"c@d.test\"]"), "`alerts.mail.from` must be a mail address"),
        (mail("from = \"a@b.test\""), "`alerts.mail.to` must be a list of mail addresses"),
        (mail(&format!("{sound}\nencryption = \"none\"")), "unencrypted"),
        (mail(&format!("{sound}\nuser = \"a\"")), "`alerts.mail.password_file`"),
        (mail(&format!("{sound}\nprot = 25")), "`alerts.mail.port`"),
        ("[alerts]\nmail = 3".to_owned(), "[alerts.mail]"),
    ] {
        practice.configure(&more);
        let ended = practice.docsyncd(&["check"]).await;
        assert!(ended.code == 2 && ended.stderr.contains(sign), "{more}: {ended:?}");
    }
}
