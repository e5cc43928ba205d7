//! What a person can do beside answering: go back, change an answer, add a place; and the keys of a line.

#[cfg(target_os = "linux")]
use std::process::Stdio;

#[cfg(target_os = "linux")]
use tokio::io::AsyncWriteExt as _;

use super::{answers, config, setup_with, written};
#[cfg(target_os = "linux")]
use crate::harness::PATIENCE;
use crate::harness::Practice;

/// A person at a terminal that knows no escape sequences. To each question the first of these answers is typed that was
/// not yet and whose sign it has, or nothing; `=WORDS` is the number of the choice with these words. Returns what was
/// shown, whether it ended well, and how many questions there were.
#[cfg(target_os = "linux")]
pub(super) async fn at_a_terminal(practice: &Practice, answers: &[(&str, &str)]) -> (String, bool, usize) {
    let state = practice.path("ledger.sqlite3").display().to_string();
    let typed =
        format!("DOCSYNCD__STATE__PATH='{state}' '{}' --config new.toml setup", crate::harness::program().display());
    let answers: Vec<_> = answers.iter().copied().chain([("Show in the browser", "n")]).collect();
    typed_at_a_terminal(practice, &typed, &answers).await
}

/// The same of what is configured already.
#[cfg(target_os = "linux")]
pub(super) async fn again_at_a_terminal(practice: &Practice, answers: &[(&str, &str)]) -> (String, bool, usize) {
    let typed = format!("'{}' --config docsyncd.toml setup", crate::harness::program().display());
    typed_at_a_terminal(practice, &typed, answers).await
}

/// The number of the choice with these words.
#[cfg(target_os = "linux")]
fn number_of(words: &str, asked: &str) -> String {
    let numbered = asked.lines().filter_map(|line| line.trim().split_once(") "));
    let (number, _) = numbered
        .filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()))
        .find(|(_, shown)| shown.contains(words))
        .unwrap_or_else(|| panic!("no choice {words}: {asked}"));
    number.to_owned()
}

/// The same of this line of a shell.
#[cfg(target_os = "linux")]
pub(super) async fn typed_at_a_terminal(
    practice: &Practice,
    typed: &str,
    answers: &[(&str, &str)],
) -> (String, bool, usize) {
    let mut script = tokio::process::Command::new("script");
    script.args(["-qec", typed, "/dev/null"]).current_dir(practice.dir.path()).envs(&practice.env).env("TERM", "dumb");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut said, mut answered, mut questions, mut buffer) = (String::new(), 0, 0, [0; 4096]);
    let mut bytes = Vec::new();
    let mut left: Vec<_> = answers.to_vec();
    tokio::time::timeout(PATIENCE, async {
        loop {
            let got = tokio::io::AsyncReadExt::read(&mut stdout, &mut buffer).await.unwrap_or(0);
            // A letter may come in two parts.
            bytes.extend_from_slice(&buffer[..got]);
            said = String::from_utf8_lossy(&bytes).into_owned();
            if got == 0 {
                return;
            }
            let asked = &said[answered..];
            if !(asked.ends_with(": ") || asked.ends_with("] ")) {
                continue;
            }
            let at = left.iter().position(|(sign, _)| asked.contains(sign));
            let answer = at.map_or("", |at| left.remove(at).1);
            let answer = answer.strip_prefix('=').map_or_else(|| answer.to_owned(), |words| number_of(words, asked));
            (answered, questions) = (said.len(), questions + 1);
            stdin.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{said}"));
    assert!(left.is_empty(), "never asked: {left:?} in {said}");
    (said, child.wait().await.unwrap().success(), questions)
}

/// Back to the question before, and an answer changed at the end.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_person_goes_back_and_changes_an_answer_before_anything_is_written() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(1).await;
    let (url, key) = (practice.sandbox.url().to_string(), practice.sandbox.api_key().to_owned());
    std::fs::create_dir(practice.path("other")).unwrap();
    let (first, other) = (practice.inbox().display().to_string(), practice.path("other").display().to_string());
    let answers = [
        ("Address of the cloud service", "<"),
        ("Address of the cloud service", url.as_str()),
        ("docsyncd reads the letters", "<"),
        ("Address of the cloud service", ""),
        ("docsyncd reads the letters", ""),
        ("Go on with the key", "n"),
        ("API key:", "<"),
        ("Go on with the key", "n"),
        ("API key:", &key),
        ("Letters go to", "=a sub-folder for each patient"),
        ("Folder for the letters", "/nowhere"),
        ("Folder for the letters", "<"),
        ("Letters go to", ""),
        ("Folder for the letters", &first),
        ("Who reads the letters", "<"),
        ("Folder for the letters", ""),
        ("Write ", "2"),
        ("What is to be changed?", "=where letters go"),
        ("Letters go to", ""),
        ("Folder for the letters", &other),
        ("What is to be changed?", "=nothing more"),
        ("Write ", ""),
    ];
    let (said, is_good, _) = at_a_terminal(&practice, &answers).await;
    assert!(is_good && said.contains("this is the first question"), "{said}");
    assert!(said.contains(&format!("[{first}] ")), "what was answered before is offered: {said}");
    let after = std::fs::read_to_string(practice.path("new.toml")).unwrap();
    assert!(after.contains(&other), "{after}");
    assert!(!said.contains("`destinations.") && !said.contains("`api."), "no names of settings: {said}");
}

/// The mail server of the practice, as a person gives it: with its port.
#[cfg(target_os = "linux")]
fn of_mail(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// Who leaves one alarm keeps the other, and the one that was left is offered as it was answered.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_group_is_left_alone_and_what_was_set_up_stays() {
    use crate::alerts::receivers::{MailServer, WebServer};
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(1).await;
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let (url, inbox) = (practice.sandbox.url().to_string(), practice.inbox().display().to_string());
    let (hook, host) = (web.url("/hook"), of_mail(mail.port));
    let answers = [
        ("Address of the cloud service", url.as_str()),
        ("Folder for the letters", &inbox),
        ("What else is set up", "=by a webhook"),
        ("Address that messages are posted to", &hook),
        ("What the receiver understands", ""),
        ("What else is set up", "=Alarms by mail"),
        ("Mail server:", &host),
        ("The connection is encrypted by", "<"),
        ("What else is set up", "<"),
        ("Go back, and give up", ""),
        ("What else is set up", "=Alarms by mail"),
        ("Mail server:", ""),
        ("The connection is encrypted by", "=nothing"),
        ("User name there", ""),
        ("Sender of the mails", "d@practice.test"),
        ("Who gets them", "it@practice.test"),
        ("Send a message", "n"),
    ];
    let (said, is_good, _) = at_a_terminal(&practice, &answers).await;
    assert!(is_good && said.contains(&format!("127.0.0.1 with port {} is meant", mail.port)), "{said}");
    let text = std::fs::read_to_string(practice.path("new.toml")).unwrap();
    let port = format!("port = {}", mail.port);
    for line in ["webhook_url_file = \"webhook-url\"", "host = \"127.0.0.1\"", &port, "to = [\"it@practice.test\"]"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
}

/// What is configured is asked for by its parts; what is optional can go again.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_configured_machine_is_asked_what_is_to_be_changed() {
    use crate::alerts::receivers::MailServer;
    use crate::faults::tools::needs;
    needs!("script");
    let mail = MailServer::start().await;
    let practice = Practice::with_documents(1).await;
    practice.write_secret("mail-password", "s3cret");
    practice.configure(&format!(
        "[alerts.mail]\nhost = \"127.0.0.1\"\nport = {}\nencryption = \"none\"\nuser = \"u\"\npassword_file = \"mail-password\"\n\
         from = \"d@practice.test\"\nto = [\"it@practice.test\"]\n",
        mail.port
    ));
    let before = std::fs::read_to_string(practice.config_path()).unwrap();
    let (said, is_good, questions) = again_at_a_terminal(&practice, &[("What is to be changed?", "<")]).await;
    // The mail server of these tests knows no way to sign in, as the check says.
    assert!(!is_good && questions == 2 && said.contains("this is the first question"), "{said}");
    assert_eq!(std::fs::read_to_string(practice.config_path()).unwrap(), before);
    let first = said.find("What is to be changed?").unwrap();
    assert!(!said[..first].contains("Address"), "{said}");
    for part in [
        format!("the address of the cloud service: {}", practice.sandbox.url()),
        "where letters go (pms): inbox".to_owned(),
        "Alarms by mail: it@practice.test".to_owned(),
        "remove the mail alarm".to_owned(),
        "the practice's list of patients: none".to_owned(),
    ] {
        assert!(said.contains(&part), "{part}: {said}");
    }
    // A user and a password go again, the alarm stays.
    let answers = [
        ("What is to be changed?", "=Alarms by mail"),
        // The password goes with it.
        ("User name there", "-"),
        ("What is to be changed?", "=nothing more"),
        ("Send a message", "n"),
    ];
    let (said, is_good, _) = again_at_a_terminal(&practice, &answers).await;
    assert!(is_good, "{said}");
    let text = std::fs::read_to_string(practice.config_path()).unwrap();
    assert!(text.contains("\n#user = \"u\"\n#password_file = \"mail-password\"\n"), "{text}");
    assert!(text.contains("\nto = [\"it@practice.test\"]\n"), "{text}");
    // And the alarm as a whole.
    let (said, is_good, _) =
        again_at_a_terminal(&practice, &[("What is to be changed?", "=remove the mail alarm")]).await;
    assert!(is_good, "{said}");
    let text = std::fs::read_to_string(practice.config_path()).unwrap();
    assert!(text.contains("\n#to = [\"it@practice.test\"]\n") && !text.contains("\nhost = "), "{text}");
}

/// What people give in place of what is asked for is understood there and then.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_share_a_workbook_and_a_taken_port_are_understood_at_the_question() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(1).await;
    let (url, inbox) = (practice.sandbox.url().to_string(), practice.inbox().display().to_string());
    std::fs::write(practice.path("patients.xlsx"), b"PK\x03\x04 and so on").unwrap();
    let (wrong, book) =
        (format!("{}/wrong", url.trim_end_matches('/')), practice.path("patients.xlsx").display().to_string());
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port().to_string();
    let answers = [
        ("Address of the cloud service", wrong.as_str()),
        ("Address of the cloud service", &url),
        ("Folder for the letters", r"\\server\share\letters"),
        ("Folder for the letters", &inbox),
        ("What else is set up", "=own number of each patient"),
        ("List of patients", r"\\server\share\patients.csv"),
        ("List of patients", &book),
        ("List of patients", ""),
    ];
    let (said, is_good, _) = at_a_terminal(&practice, &answers).await;
    assert!(is_good, "{said}");
    // The service refuses whoever has no key at every path; a wrong one has no sign-in either.
    let (before_key, _) = said.split_once("Go on with the key").unwrap();
    assert!(before_key.contains("is api.base_url right, with its path?"), "{said}");
    assert_eq!(said.matches("Mount it first:").count(), 2, "{said}");
    assert!(said.contains("//server/share/letters /mnt/letters"), "{said}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("save it as CSV UTF-8"), "{said}");
    // Of what is configured the page.
    let answers = [
        ("What is to be changed?", "=the page in the browser: none"),
        ("Port of the page", &taken),
        ("Port of the page", ""),
    ];
    let (said, is_good, _) = again_at_a_terminal(&practice, &answers).await;
    assert!(is_good && said.contains(&format!("the port {taken} is taken")), "{said}");
    let text = std::fs::read_to_string(practice.config_path()).unwrap();
    assert!(text.contains("[status_page]\nlisten = \"127.0.0.1:"), "{text}");
}

/// Address, user and password are right if the server lacks the folder alone.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn only_the_folder_is_asked_for_again_if_the_server_lacks_it() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(1).await;
    let peer = crate::peer::Peer::start().await;
    peer.state().folders = Some(["/dav", "/dav/letters"].map(str::to_owned).into());
    let (url, dav) = (practice.sandbox.url().to_string(), peer.url("/dav"));
    let answers = [
        ("Address of the cloud service", url.as_str()),
        ("Letters go to", "=A folder on a WebDAV server"),
        ("Address of the collection", &dav),
        ("Folder below it", "/missing"),
        ("User name there", "u"),
        ("Password there", "s3cret"),
        ("Folder below it", "/letters"),
    ];
    let (said, is_good, _) = at_a_terminal(&practice, &answers).await;
    assert!(is_good && said.contains("is no folder on the server"), "{said}");
    let asked = |sign: &str| said.matches(sign).count();
    let counts = ["Address of the collection:", "Folder below it:", "User name there:", "Password there:"].map(asked);
    assert_eq!(counts, [1, 2, 1, 1], "{said}");
    let text = std::fs::read_to_string(practice.path("new.toml")).unwrap();
    let is_set = |line: &str| text.lines().any(|found| found == line);
    assert!(is_set("path = \"/letters\"") && is_set("user = \"u\""), "{text}");
}

/// Ctrl-U empties the line, as everywhere; a name that is not known is told as that, and Esc goes back.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_line_of_a_terminal_has_the_usual_keys() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(0).await;
    let mut script = tokio::process::Command::new("script");
    let typed =
        format!("stty cols 200 rows 50; exec '{}' --config new.toml setup", crate::harness::program().display());
    script
        .args(["-qec", &typed, "/dev/null"])
        .current_dir(practice.dir.path())
        .envs(&practice.env)
        .env("TERM", "xterm");
    let mut child = script
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut said = String::new();
    let mut shows = async |sign: &str| {
        let mut buffer = [0; 4096];
        while !said.contains(sign) {
            let read = tokio::io::AsyncReadExt::read(&mut stdout, &mut buffer);
            let got = tokio::time::timeout(crate::harness::PATIENCE, read).await.unwrap().unwrap_or(0);
            assert!(got > 0, "{sign}: {said}");
            said.push_str(&String::from_utf8_lossy(&buffer[..got]));
        }
        // What comes after it may be there already.
        said = said.split_off(said.find(sign).unwrap_or(0) + sign.len());
    };
    let url = practice.sandbox.url();
    shows("such as https://api.example.test]").await;
    stdin.write_all(b"docsyncd-test.invalid\r").await.unwrap();
    shows("https://docsyncd-test.invalid is meant").await;
    shows("its name is not known (DNS)").await;
    shows("such as https://api.example.test]").await;
    stdin.write_all(format!("nonsense\u{15}{url}\r").as_bytes()).await.unwrap();
    shows("the service answers").await;
    // Before the terminal is in raw mode, the key would be a signal, which a caller may have had ignored.
    shows("with an API key").await;
    stdin.write_all(b"\x03").await.unwrap();
    assert!(!tokio::time::timeout(crate::harness::PATIENCE, child.wait()).await.unwrap().unwrap().success());
    assert!(!practice.path("new.toml").exists());
}

#[tokio::test]
async fn a_further_place_gets_its_letters_beside_what_is_there() {
    let practice = Practice::with_documents(1).await;
    assert_eq!(setup_with(&practice, &answers(&practice)).await.code, 0);
    let before = written(&practice);
    std::fs::create_dir(practice.path("lab")).unwrap();
    let lab = practice.path("lab").display().to_string();
    let more = format!(
        "add_destination = \"lab\"\nletters = \"also\"\ntypes = \"lab_slip\"\npreset = \"flat-folder\"\npath = '{lab}'\n"
    );
    for (wrong, sign) in
        [(more.replace("\"lab\"", "\"pms\""), "add_destination"), (more.replace("lab_slip", "slip"), "types")]
    {
        let ended = setup_with(&practice, &wrong).await;
        assert!(ended.code == 2 && ended.stderr.contains(&format!("`{sign}`")), "{ended:?}");
        assert_eq!(written(&practice), before);
    }
    let ended = setup_with(&practice, &more).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let now = written(&practice);
    assert!(now.contains("types = [\"lab_slip\"]\nto = [\"pms\", \"lab\"]"), "{now}");
    practice
        .sandbox
        .add(docsyncd_sandbox::NewDocument {
            document_type: Some(Some("lab_slip".into())),
            ..docsyncd_sandbox::NewDocument::default()
        })
        .await
        .unwrap();
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, practice.filed().len()), (0, 2), "{synced:?}");
    assert_eq!(std::fs::read_dir(practice.path("lab")).unwrap().count(), 1, "{synced:?}");
}
