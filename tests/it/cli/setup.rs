//! `docsyncd setup --answers`: what is asked of a person, answered by a file.

mod again;
#[cfg(target_os = "linux")]
mod captured;
mod dialogue;
mod everywhere;
mod patients;
mod tongues;

#[cfg(target_os = "linux")]
use dialogue::{at_a_terminal, typed_at_a_terminal};

#[cfg(unix)]
use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;

use crate::harness::{Ended, PATIENCE, Practice};

/// Where setup writes in these tests.
fn config(practice: &Practice) -> String {
    practice.path("etc/docsyncd.toml").display().to_string()
}

async fn setup_with(practice: &Practice, answers: &str) -> Ended {
    std::fs::write(practice.path("answers.toml"), answers).unwrap();
    let answers = practice.path("answers.toml").display().to_string();
    practice.docsyncd_without_config(&["--config", &config(practice), "setup", "--answers", &answers]).await
}

fn answers(practice: &Practice) -> String {
    format!(
        "base_url = \"{}\"\napi_key_from = \"api-key\"\npreset = \"watched-folder\"\npath = '{}'\n\
         state_path = \"state/ledger.sqlite3\"\n",
        practice.sandbox.url(),
        practice.inbox().display()
    )
}

fn written(practice: &Practice) -> String {
    std::fs::read_to_string(practice.path("etc/docsyncd.toml")).unwrap()
}

#[tokio::test]
async fn answers_make_a_configuration_that_works_and_the_remarks_stay() {
    let practice = Practice::with_documents(3).await;
    let ended = setup_with(&practice, &answers(&practice)).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    for sign in
        ["the service answers", "3 letters wait", "What waits would be filed as", "ok    destination pms", "sync"]
    {
        assert!(ended.stdout.contains(sign), "{sign}: {ended:?}");
    }
    assert_eq!(ended.stdout.lines().filter(|line| line.ends_with(".pdf")).count(), 3, "{ended:?}");
    assert!(!ended.stdout.contains(practice.sandbox.api_key()), "a key is never shown: {ended:?}");
    assert_eq!(practice.filed().len(), 0, "nothing was filed");
    // Every remark of the commented file is there; only lines with a value changed.
    let text = written(&practice);
    assert_eq!(text.lines().count(), docsyncd::config::template().lines().count());
    for remark in docsyncd::config::template().lines().filter(|line| line.starts_with("# ")) {
        assert!(text.contains(remark), "{remark}");
    }
    let key = practice.path("etc/api-key");
    assert_eq!(std::fs::read_to_string(&key).unwrap().trim(), practice.sandbox.api_key());
    #[cfg(unix)]
    assert_eq!(mode(&key), 0o600);
    let synced = practice.docsyncd_without_config(&["--config", &config(&practice), "sync"]).await;
    assert_eq!((synced.code, practice.filed().len()), (0, 3), "{synced:?}");
    // Nothing waits any more: the letters that the service has are called as before.
    let again = setup_with(&practice, &answers(&practice)).await;
    assert!(again.stdout.contains("\nLetters would be filed as\n"), "{again:?}");
    let named = |ended: &Ended| -> Vec<String> {
        let mut lines: Vec<_> = ended.stdout.lines().filter(|line| line.ends_with(".pdf")).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(named(&again), named(&ended), "{again:?}");
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn run_again_it_changes_what_is_asked_keeps_the_rest_and_what_was_there_before() {
    let practice = Practice::with_documents(1).await;
    assert_eq!(setup_with(&practice, &answers(&practice)).await.code, 0);
    let mine = written(&practice).replace("#level = \"info\"", "level = \"debug\" # mine");
    std::fs::write(practice.path("etc/docsyncd.toml"), &mine).unwrap();
    std::fs::create_dir(practice.path("other")).unwrap();
    let other = practice.path("other").display().to_string();
    // Without a preset and a key what is there stays.
    let ended =
        setup_with(&practice, &format!("path = '{other}'\nfile_name = \"{{{{ document.uuid }}}}.pdf\"\n")).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let now = written(&practice);
    assert!(now.contains("level = \"debug\" # mine") && now.contains(&other), "{now}");
    assert!(now.contains("\nfile_name = \"{{ document.uuid }}.pdf\"\n"), "{now}");
    let differs = now.lines().zip(mine.lines()).filter(|(now, before)| now != before).count();
    assert_eq!((differs, now.lines().count()), (2, mine.lines().count()), "{now}");
    let before = |end: &str| {
        std::fs::read_to_string(practice.path("etc/docsyncd.toml.before-setup").display().to_string() + end)
    };
    assert_eq!(before("").unwrap(), mine);
    // What it was first stays, however often setup is run.
    let ended = setup_with(&practice, &format!("path = '{}'\n", practice.inbox().display())).await;
    assert!(ended.code == 0 && ended.stdout.contains("docsyncd.toml.before-setup-2\n"), "{ended:?}");
    assert_eq!((before("").unwrap(), before("-2").unwrap()), (mine, now));
}

/// A terminal that knows no escape sequences gets plain lines, and the key is not shown there either.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dumb_terminal_is_asked_in_plain_lines() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(2).await;
    let key = practice.sandbox.api_key().to_owned();
    let (url, inbox) = (practice.sandbox.url().to_string(), practice.inbox().display().to_string());
    let answers = [
        ("Address of the cloud service", url.as_str()),
        ("Go on with the key", "n"),
        ("API key:", &key),
        ("Folder for the letters", &inbox),
    ];
    let (said, is_good, questions) = at_a_terminal(&practice, &answers).await;
    assert!(is_good && questions >= 9, "{questions}: {said}");
    assert!(!said.contains('\u{1b}'), "no escape sequence: {said:?}");
    assert!(!said.contains(&key), "the key is not shown: {said}");
    assert!(said.contains("the service answers") && said.contains("ok    destination pms"), "{said}");
}

#[tokio::test]
async fn an_answer_that_fails_names_its_key_and_nothing_is_written() {
    let practice = Practice::with_documents(1).await;
    let good = answers(&practice);
    let url = practice.sandbox.url().to_string();
    let inbox = practice.inbox().display().to_string();
    std::fs::write(practice.path("wrong-key"), "wrong").unwrap();
    std::fs::write(practice.path("quoted-key"), "\"quoted\"").unwrap();
    for (that, this, key, sign) in [
        (url.as_str(), "https://127.0.0.1:1", "base_url", "connection is refused"),
        (url.as_str(), "nonsense at all", "base_url", "api.base_url"),
        (url.as_str(), &*format!("{}/v9", url.trim_end_matches('/')), "base_url", "HTTP 404"),
        ("\"api-key\"", "\"wrong-key\"", "api_key_from", "HTTP 401"),
        ("\"api-key\"", "\"quoted-key\"", "api_key_from", "quotation marks"),
        ("\"api-key\"", "\"nowhere\"", "api_key_from", "cannot be read"),
        ("api_key_from", "client_id", "api_key_from", "a key is needed"),
        ("watched-folder", "wathed-folder", "preset", "\"flat-folder\""),
        (inbox.as_str(), &*format!("{inbox}-nowhere"), "path", "does not exist"),
        ("path =", "program =", "path", "an answer is needed"),
        ("preset", "reader = \"no-such-reader\"\npreset", "reader", "no user and no group"),
        ("preset", "file_name = \"{{ pateint.x }}\"\npreset", "file_name", "did you mean `patient`?"),
        ("preset", "presett = 1\npreset", "presett", "nearest known one is `preset`"),
        ("preset", "auth = \"kerberos\"\npreset", "auth", "\"oauth\""),
    ] {
        if cfg!(windows) && key == "reader" {
            continue;
        }
        assert!(good.contains(that), "{that}");
        let ended = setup_with(&practice, &good.replacen(that, this, 1)).await;
        assert_eq!(ended.code, 2, "{this}: {ended:?}");
        assert!(ended.stderr.contains(&format!("`{key}`")) && ended.stderr.contains(sign), "{this}: {ended:?}");
        assert!(!practice.path("etc").exists(), "{this}");
        assert_eq!(std::fs::read_dir(practice.inbox()).unwrap().count(), 0, "{this}");
    }
}

#[tokio::test]
async fn a_key_can_come_through_a_pipe() {
    let practice = Practice::with_documents(0).await;
    std::fs::write(practice.path("answers.toml"), answers(&practice).replace("\"api-key\"", "\"-\"")).unwrap();
    let mut command = tokio::process::Command::new(crate::harness::program());
    command.args(["--config", &config(&practice), "setup", "--answers"]).arg(practice.path("answers.toml"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{}\r\n", practice.sandbox.api_key()).as_bytes()).await.unwrap();
    drop(input);
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(practice.path("etc/api-key")).unwrap().trim(), practice.sandbox.api_key());
}

#[tokio::test]
async fn a_program_takes_the_place_of_a_folder_and_back() {
    let practice = Practice::with_documents(1).await;
    assert_eq!(setup_with(&practice, &answers(&practice)).await.code, 0);
    let ended = setup_with(&practice, "preset = \"program\"\nprogram = \"hostname\"\n").await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let text = written(&practice);
    assert!(text.contains("args = [\"{{ file }}\"]") && text.contains("type = \"command\""), "{text}");
    assert!(text.lines().any(|line| line.starts_with("#path = ")), "{text}");
    let back = format!("preset = \"flat-folder\"\npath = '{}'\n", practice.inbox().display());
    let ended = setup_with(&practice, &back).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let text = written(&practice);
    assert!(text.lines().any(|line| line.starts_with("#program = \"hostname\"")), "{text}");
}

#[tokio::test]
async fn a_configuration_with_mistakes_is_left_alone() {
    let practice = Practice::with_documents(0).await;
    std::fs::create_dir(practice.path("etc")).unwrap();
    std::fs::write(practice.path("etc/docsyncd.toml"), "[snyc]\n").unwrap();
    let ended = setup_with(&practice, &answers(&practice)).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("unknown section `snyc`") && ended.stderr.contains("mend it"), "{ended:?}");
    assert_eq!(written(&practice), "[snyc]\n");
}

#[tokio::test]
async fn an_account_that_signs_in_gets_its_client_and_the_key_is_put_behind_a_hash() {
    let practice = Practice::with_documents(0).await;
    practice.write_secret("secret", "s3cret-of-the-client");
    let answers = answers(&practice)
        .replace("api_key_from = \"api-key\"", "auth = \"oauth\"\nclient_secret_from = \"secret\"")
        + &format!("app_url = \"{}\"\nclient_id = \"id-1\"\nredirect_port = 8976\n", practice.sandbox.url());
    let ended = setup_with(&practice, &answers).await;
    // Nobody has signed in yet, which `check` says.
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("login --account main"), "{ended:?}");
    let text = written(&practice);
    for line in ["auth = \"oauth\"", "#api_key_file = \"api-key\"", "client_id = \"id-1\"", "redirect_port = 8976"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let secret = std::fs::read_to_string(practice.path("etc/client-secret")).unwrap();
    assert_eq!(secret.trim(), "s3cret-of-the-client");
}

/// Who is not root cannot give a folder to a group.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_reader_gets_group_and_modes_so_that_it_can_read() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let practice = Practice::with_documents(2).await;
    // A temporary folder is closed to others.
    std::fs::set_permissions(practice.dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let is_root = std::fs::metadata(practice.inbox()).unwrap().uid() == 0;
    let ended = setup_with(&practice, &format!("{}reader = \"games\"\n", answers(&practice))).await;
    if !is_root {
        assert!(ended.code == 2 && ended.stderr.contains("run setup with sudo"), "{ended:?}");
        return;
    }
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("works; games can read what is filed"), "{ended:?}");
    let games = std::fs::metadata(practice.inbox()).unwrap().gid();
    assert!(games != 0 && mode(&practice.inbox()) & 0o2050 == 0o2050);
    // The umask that systemd's unit sets must not take the group's rights away.
    let mut command = tokio::process::Command::new("sh");
    let program = crate::harness::program().display().to_string();
    command.args(["-c", "umask 077; exec \"$0\" --config \"$1\" sync", &program, &config(&practice)]);
    let synced = Ended::of(command).await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let mut folders = vec![practice.inbox()];
    let mut letters = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let (path, found) = entry.map(|entry| (entry.path(), entry.metadata().unwrap())).unwrap();
            assert_eq!(found.gid(), games, "{path:?}");
            assert_eq!(mode(&path), if found.is_dir() { 0o2750 } else { 0o640 }, "{path:?}");
            if found.is_dir() { folders.push(path) } else { letters += 1 }
        }
    }
    assert_eq!(letters, 2);
    // Somebody who changes that is told.
    std::fs::set_permissions(practice.inbox(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let checked = practice.docsyncd_without_config(&["--config", &config(&practice), "check"]).await;
    assert!(checked.code == 1 && checked.stdout.contains("games cannot read the letters"), "{checked:?}");
}

/// Whether the page shows what was printed, line by line; `[...]` stands for at least one that it leaves out. The error
/// is the line that differs.
#[cfg(target_os = "linux")]
fn is_shown(page: &[String], printed: &str) -> Result<(), String> {
    let mut printed = printed.lines().map(str::trim_end).filter(|line| !line.is_empty()).peekable();
    let mut leaves_out = false;
    for line in page {
        if line == "[...]" {
            leaves_out = printed.next().is_some();
            if !leaves_out {
                return Err(line.clone());
            }
            continue;
        }
        if leaves_out {
            while printed.next_if(|printed| printed != line).is_some() {}
        }
        leaves_out = false;
        if printed.next() != Some(line) {
            return Err(line.clone());
        }
    }
    match printed.next() {
        Some(more) if !leaves_out => Err(format!("the end; more is printed: {more}")),
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_page_that_leaves_out_a_line_says_so() {
    let page = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = "one\n\n  two  \nthree\nfour\n";
    for good in ["one\n  two\nthree\nfour", "[...]\nfour", "one\n[...]", "one\n[...]\nthree\n[...]"] {
        assert_eq!(is_shown(&page(good), printed), Ok(()), "{good}");
    }
    for bad in
        ["one\nthree\nfour", "one\n  two", "one\n[...]\n  two\nthree\nfour", "[...]\nfive", "one\n[...]\nfour\n[...]"]
    {
        assert!(is_shown(&page(bad), printed).is_err(), "{bad}");
    }
}

/// docs/first-hour.md is what really happens: its answers, its commands and what it says they print.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_first_hour_is_as_it_is_written_down() {
    happens("docs/first-hour.md", include_str!("../../../docs/first-hour.md"), 12).await;
}

/// And so are the pages in French and German.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_first_hour_in_french_and_german_is_as_it_is_written_down() {
    happens("docs/fr/first-hour.md", include_str!("../../../docs/fr/first-hour.md"), 7).await;
    happens("docs/de/first-hour.md", include_str!("../../../docs/de/first-hour.md"), 7).await;
}

/// The answers and at least so many commands of this page.
#[cfg(target_os = "linux")]
async fn happens(name: &str, page: &str, least: usize) {
    let mut practice = Practice::with_documents(5).await;
    std::fs::create_dir(practice.path("etc")).unwrap();
    let url = practice.sandbox.url().trim_end_matches('/').to_owned();
    let (inbox, etc) = (practice.inbox().display().to_string(), practice.path("etc").display().to_string());
    let here = |text: &str| {
        text.replace("http://127.0.0.1:8080", &url)
            .replace("/srv/practice/import", &inbox)
            .replace("/etc/docsyncd", &etc)
    };
    practice.write_secret("etc/the-key", practice.sandbox.api_key());
    let (_, answers) = page.split_once("```toml\n").expect("a file of answers");
    let (answers, _) = answers.split_once("```").unwrap();
    std::fs::write(practice.path("etc/answers.toml"), here(answers)).unwrap();
    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let mut lines = block.split("```").next().unwrap().lines();
        let line = lines.next().and_then(|line| line.strip_prefix("$ sudo ")).expect("a command");
        let (locale, command) = line.split_once("docsyncd ").expect("a command of docsyncd");
        let locale = locale.trim().strip_prefix("LANG=");
        // Above whatever holds for the tests.
        practice.env.insert("LC_ALL".to_owned(), locale.unwrap_or("C").to_owned());
        let words: Vec<String> = here(command).split_whitespace().map(str::to_owned).collect();
        let config = practice.path("etc/docsyncd.toml").display().to_string();
        let mut args = vec!["--config", &config];
        args.extend(words.iter().map(String::as_str));
        let ended = practice.docsyncd_without_config(&args).await;
        assert!([0, 4].contains(&ended.code), "{command}: {ended:?}");
        let said = ended.stdout.replace(&format!("docsyncd --config {config}"), "docsyncd");
        // There the lines have the time.
        let plain = |text: &str| {
            if locale.is_some() || name != "docs/first-hour.md" {
                text.replace(|c: char| c.is_ascii_digit(), "0")
            } else {
                text.to_owned()
            }
        };
        let said = plain(&said);
        let shown: Vec<String> = lines.map(|line| plain(&here(line))).filter(|line| !line.trim().is_empty()).collect();
        if let Err(line) = is_shown(&shown, &said) {
            panic!("{name}, {command}: not what is printed at {line:?}: {said}");
        }
        commands += 1;
    }
    assert!(commands >= least, "{commands}");
    assert_eq!(practice.filed().len(), 5);
}
