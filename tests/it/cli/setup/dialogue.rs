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
/// not yet and whose sign it has, or nothing. Returns what was shown, whether it ended well, and how many questions
/// there were.
#[cfg(target_os = "linux")]
pub(super) async fn at_a_terminal(practice: &Practice, answers: &[(&str, &str)]) -> (String, bool, usize) {
    let typed = format!("'{}' --config docsyncd.toml setup", crate::harness::program().display());
    typed_at_a_terminal(practice, &typed, answers).await
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
    let before = std::fs::read_to_string(practice.config_path()).unwrap();
    let answers = [
        ("Address of the cloud service", "<"),
        ("Address of the cloud service", url.as_str()),
        ("docsyncd reads the letters", "<"),
        ("Address of the cloud service", ""),
        ("docsyncd reads the letters", ""),
        ("Go on with the key", "n"),
        ("API key:", "<"),
        ("docsyncd reads the letters", ""),
        ("Go on with the key", "n"),
        ("API key:", &key),
        ("Folder for the letters", &first),
        ("Write ", "2"),
        ("What is to be changed", "3"),
        ("Folder for the letters", &other),
        ("Write ", ""),
    ];
    let (said, is_good, _) = at_a_terminal(&practice, &answers).await;
    assert!(is_good && said.contains("this is the first question"), "{said}");
    let after = std::fs::read_to_string(practice.config_path()).unwrap();
    assert!(after != before && after.contains(&other), "{after}");
    assert!(!said.contains("`destinations.") && !said.contains("`api."), "no names of settings: {said}");
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
