//! What the system does not allow is told with the path, and with the user that was refused. Unix: on Windows an access
//! list may refuse root's likes, and files hand it down.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tokio::process::Command;

use crate::faults::disk::is_root;
use crate::faults::tools::{namespaces, needs};
use crate::harness::{Ended, Practice, program};

/// The program, for which permissions count also where the tests are root's.
async fn docsyncd(practice: &Practice, args: &[&str]) -> Ended {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    }
    command.arg(program()).args(args).envs(&practice.env).current_dir(practice.dir.path());
    Ended::of(command).await
}

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A practice with a file or folder that nobody may use.
struct Closed {
    /// What is closed.
    what: &'static str,
    /// What is typed.
    typed: &'static [&'static str],
    /// The path that is named.
    named: &'static str,
}

#[tokio::test]
async fn what_is_not_allowed_is_told_with_the_path_and_the_user() {
    needs!("setpriv");
    let me = std::process::Command::new("id").arg("-un").output().unwrap();
    let me = format!(" as {}", String::from_utf8(me.stdout).unwrap().trim());
    let mut misses = Vec::new();
    let of = |what, typed, named| Closed { what, typed, named };
    for closed in [
        of("docsyncd.toml", &["check"], "docsyncd.toml"),
        of("docsyncd.toml", &["sync"], "docsyncd.toml"),
        of("state", &["check"], "state/ledger.sqlite3"),
        of("state", &["sync"], "state/ledger.sqlite3"),
        of("state/ledger.sqlite3", &["sync"], "state/ledger.sqlite3"),
        of("state/ledger.sqlite3", &["status"], "state/ledger.sqlite3"),
        of("state/ledger.sqlite3", &["check"], "state/ledger.sqlite3"),
        of("state/spool", &["sync"], "state/spool"),
        of("api-key", &["check"], "api-key"),
        of("api-key", &["sync"], "api-key"),
        of("logs", &["check"], "logs/log"),
        of("logs", &["run"], "logs/log"),
        of("program", &["check"], "program"),
        of("etc", &["--config", "etc/docsyncd.toml", "config", "init"], "etc/docsyncd.toml"),
        of("etc", &["--config", "etc/new/docsyncd.toml", "config", "init"], "etc/new"),
        of("etc", &["--config", "etc/docsyncd.toml", "setup", "--answers", "answers.toml"], "etc"),
        of("answers.toml", &["--config", "new/docsyncd.toml", "setup", "--answers", "answers.toml"], "answers.toml"),
        of("inbox", &["check"], "inbox"),
    ] {
        let mut practice = Practice::with_documents(1).await;
        practice
            .configure("[destinations.program]\ntype = \"command\"\nprogram = './program'\n[[routes]]\nto = [\"pms\"]");
        for folder in ["state/spool", "etc", "logs"] {
            std::fs::create_dir_all(practice.path(folder)).unwrap();
        }
        std::fs::write(practice.path("program"), "#!/bin/sh\n").unwrap();
        set(&practice.path("program"), 0o755);
        std::fs::write(practice.path("answers.toml"), "").unwrap();
        if closed.what == "logs" {
            practice.env.insert("DOCSYNCD__LOG__FILE".into(), practice.path("logs/log").display().to_string());
        }
        if closed.what == "state/ledger.sqlite3" {
            assert_eq!(practice.sync().await.code, 0);
        }
        set(&practice.path(closed.what), 0o000);
        let config = practice.config_path().display().to_string();
        let typed = if closed.typed[0] == "--config" { &[][..] } else { &["--config", &*config] };
        let ended = docsyncd(&practice, &[typed, closed.typed].concat()).await;
        set(&practice.path(closed.what), 0o755);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        let is_told = |line: &str| line.contains(closed.named) && line.contains(&me);
        if ended.code == 0 || !said.lines().any(is_told) {
            misses.push(format!(
                "{} {:?}: no line with {}{me}: {}: {said}",
                closed.what, closed.typed, closed.named, ended.code
            ));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// A disk that is full takes no line: what is there, or can be created, is not all that counts.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_log_file_on_a_full_disk_is_found_before_the_first_run() {
    if !namespaces() {
        return;
    }
    for there in [false, true] {
        let mut practice = Practice::with_documents(0).await;
        std::fs::create_dir(practice.path("logs")).unwrap();
        practice.env.insert("DOCSYNCD__LOG__FILE".into(), practice.path("logs/log").display().to_string());
        let logs = practice.path("logs").display().to_string();
        let first = if there { format!("echo line > '{logs}/log'; ") } else { String::new() };
        let script = format!(
            "mount -t tmpfs -o size=64k none '{logs}'; {first}head -c 60k /dev/zero > '{logs}/full'; \
             cat /dev/zero > '{logs}/rest' 2> /dev/null || true; exec \"$0\" --config \"$1\" check"
        );
        let mut command = Command::new("unshare");
        command.arg("--mount");
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["sh", "-ec", &script]).arg(program()).arg(practice.config_path()).envs(&practice.env);
        let ended = Ended::of(command).await;
        let line = ended.stdout.lines().find(|line| line.contains("logs/log")).unwrap_or_default();
        assert!(ended.code == 1 && line.starts_with("FAIL  log") && line.contains("No space"), "{there}: {ended:?}");
    }
}

/// What a device takes is somebody else's to see, or lost; and to rotate the log would rename it.
#[tokio::test]
async fn a_device_is_no_file_for_the_log() {
    for device in ["/dev/full", "/dev/null"] {
        let mut practice = Practice::with_documents(0).await;
        practice.env.insert("DOCSYNCD__LOG__FILE".into(), device.into());
        let checked = practice.docsyncd(&["check"]).await;
        let line = checked.stdout.lines().find(|line| line.contains(device)).unwrap_or_default();
        assert!(checked.code == 1 && line.starts_with("FAIL  log"), "{checked:?}");
        let ran = practice.docsyncd(&["run"]).await;
        assert!(ran.code != 0 && ran.stderr.contains(&format!("log.file {device} cannot be written")), "{ran:?}");
        assert!(ran.stderr.contains("no regular file"), "{ran:?}");
    }
}

/// It is tried at once, for the user that will write there, and not only by `check` at the end.
#[tokio::test]
async fn setup_tells_at_its_answer_that_the_ledger_cannot_be_written() {
    needs!("setpriv");
    let me = std::process::Command::new("id").arg("-un").output().unwrap();
    let me = String::from_utf8(me.stdout).unwrap().trim().to_owned();
    for (closed, service) in [("state", None), ("state/ledger.sqlite3", None), ("state", Some("nobody"))] {
        if service.is_some() && !is_root() {
            continue;
        }
        let practice = Practice::with_documents(0).await;
        set(practice.dir.path(), 0o755);
        std::fs::create_dir(practice.path("state")).unwrap();
        if closed != "state" {
            assert_eq!(practice.sync().await.code, 0);
        }
        // Root may write there, and the service may not.
        set(&practice.path(closed), if service.is_some() { 0o755 } else { 0o555 });
        let user = service.map(|user| format!("service_user = \"{user}\"\n")).unwrap_or_default();
        let answers = format!(
            "base_url = \"{}\"\napi_key_from = \"api-key\"\npreset = \"watched-folder\"\npath = '{}'\ngive_folder = true\n\
             state_path = '{}'\n{user}",
            practice.sandbox.url(),
            practice.inbox().display(),
            practice.ledger().display()
        );
        std::fs::write(practice.path("answers.toml"), answers).unwrap();
        let typed = ["--config", "etc/docsyncd.toml", "setup", "--answers", "answers.toml"];
        let ended = docsyncd(&practice, &typed).await;
        set(&practice.path(closed), 0o755);
        assert_eq!(ended.code, 2, "{closed} {service:?}: {ended:?}");
        for sign in ["`state_path`", "state", service.unwrap_or(&me)] {
            assert!(ended.stderr.contains(sign), "{closed} {service:?}: {ended:?}");
        }
        assert!(!practice.path("etc").exists(), "{closed} {service:?}: nothing was written");
    }
}
