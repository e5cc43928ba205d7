//! A person works as root for a service that is another user. Unix, since Windows hands a folder's access list down.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use docsyncd_sandbox::Options;
use tokio::process::Command;

use crate::harness::{Ended, Practice};
use crate::signed_in::{self, make_due};

/// Nobody's number on any usual system.
const SERVICE: u32 = 54_321;

/// Only root can work for another user.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tried")]
fn am_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("not tried: this needs root");
    }
    root
}

fn all_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all_below(&path, found);
        }
        found.push(path);
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    all_below(folder, &mut found);
    found
}

/// Gives the practice to the service, with a program that it may start.
fn give_to_service(practice: &Practice) {
    std::fs::copy(env!("CARGO_BIN_EXE_docsyncd"), practice.path("program")).unwrap();
    std::fs::set_permissions(practice.path("program"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for path in below(practice.dir.path()).into_iter().chain([practice.dir.path().to_path_buf()]) {
        chown(path, Some(SERVICE), Some(SERVICE)).unwrap();
    }
}

fn of_service(practice: &Practice, args: &[&str]) -> Command {
    let mut command = Command::new(practice.path("program"));
    command.arg("--config").arg(practice.config_path()).args(args).envs(&practice.env);
    command.uid(SERVICE).gid(SERVICE).kill_on_drop(true);
    command
}

/// A backup or a restore by a user who may not says so in a sentence, and leaves nothing.
#[tokio::test]
async fn a_backup_by_the_wrong_user_says_so_and_leaves_nothing() {
    if !am_root() {
        return;
    }
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.sync().await.code, 0);
    give_to_service(&practice);
    let closed = practice.path("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = closed.join("all.backup");
    let before = below(practice.dir.path());
    let made = Ended::of(of_service(&practice, &["backup", file.to_str().unwrap()])).await;
    assert!(made.code == 1 && made.stderr.contains("cannot be written, and nothing is left of it"), "{made:?}");
    let file = practice.path("all.backup");
    assert_eq!(Ended::of(of_service(&practice, &["backup", file.to_str().unwrap()])).await.code, 0);
    std::fs::rename(&file, closed.join("made")).unwrap();
    // What belongs to root alone.
    chown(practice.ledger(), Some(0), Some(0)).unwrap();
    let made = Ended::of(of_service(&practice, &["backup", file.to_str().unwrap()])).await;
    assert!(made.code == 1 && made.stderr.contains("cannot be opened"), "{made:?}");
    chown(closed.join("made"), Some(0), Some(0)).unwrap();
    let args = ["restore", "--force", closed.join("made").to_str().unwrap()].map(str::to_owned);
    let restored = Ended::of(of_service(&practice, &args.each_ref().map(String::as_str))).await;
    assert!(restored.code == 1 && restored.stderr.contains("cannot be read, and nothing was changed"), "{restored:?}");
    std::fs::remove_file(closed.join("made")).unwrap();
    assert_eq!(below(practice.dir.path()), before);
}

#[tokio::test]
async fn what_root_leaves_behind_the_service_can_go_on_with() {
    if !am_root() {
        return;
    }
    let mut practice = signed_in::practice(Options { documents: 3, ..Options::default() }).await;
    practice.without_patience();
    std::fs::remove_dir_all(practice.path("state")).unwrap();
    std::fs::create_dir(practice.path("state")).unwrap();
    practice.env.insert("DOCSYNCD__LOG__FILE".into(), practice.path("logs/log").display().to_string());
    std::fs::create_dir(practice.path("logs")).unwrap();
    give_to_service(&practice);
    signed_in::sign_in(&practice, "main", signed_in::CLAIRE, &signed_in::SCOPES).await;
    make_due(&practice, "main");
    // Fetched, not delivered: the spool keeps the PDFs.
    std::fs::rename(practice.inbox(), practice.path("away")).unwrap();
    let by_root = practice.sync().await;
    assert_eq!(by_root.code, 3, "{by_root:?}");
    assert!(!by_root.stderr.contains("belongs to root"), "{by_root:?}");
    let left: Vec<PathBuf> = ["state", "logs"].iter().flat_map(|folder| below(&practice.path(folder))).collect();
    let spooled = left.iter().filter(|path| path.extension().is_some_and(|end| end == "pdf")).count();
    assert!(left.len() >= 9 && spooled == 3, "{left:?}");
    for path in left {
        assert_eq!(std::fs::symlink_metadata(&path).unwrap().uid(), SERVICE, "{path:?}");
    }
    std::fs::rename(practice.path("away"), practice.inbox()).unwrap();
    make_due(&practice, "main");
    let by_service = Ended::of(of_service(&practice, &["sync"])).await;
    assert_eq!(by_service.code, 0, "{by_service:?}");
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_state_folder_that_root_creates_is_warned_of() {
    if !am_root() {
        return;
    }
    // The port is taken, so the sign-in ends when it has just begun.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let setup = async || {
        let mut practice = signed_in::practice(Options::default()).await;
        std::fs::remove_dir_all(practice.path("state")).unwrap();
        practice.env.insert("DOCSYNCD__API__APP_URL".into(), practice.sandbox.url().to_string());
        practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__REDIRECT_PORT".into(), port.clone());
        practice
    };
    let args = ["login", "--no-browser"];
    let practice = setup().await;
    let first = practice.docsyncd(&args).await;
    let advice = format!("chown -R USER {}", practice.path("state").display());
    assert!(first.code == 1 && first.stderr.contains(&advice) && first.stderr.contains(&port), "{first:?}");
    let second = practice.docsyncd(&args).await;
    assert!(second.stderr.contains(&port) && !second.stderr.contains("chown"), "{second:?}");
    // Whom the warning does not concern does not get it.
    let practice = setup().await;
    give_to_service(&practice);
    let by_service = Ended::of(of_service(&practice, &args)).await;
    assert!(practice.path("state").exists() && by_service.stderr.contains(&port), "{by_service:?}");
    assert!(!by_service.stderr.contains("chown"), "{by_service:?}");
}

/// A service that was broken into must not be able to have root give it other files.
#[tokio::test]
async fn root_hands_over_nothing_through_a_link() {
    if !am_root() {
        return;
    }
    let practice = Practice::with_documents(1).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    std::fs::create_dir(practice.path("roots")).unwrap();
    give_to_service(&practice);
    for name in ["ledger.sqlite3.lock", "spool.lock", "spool"] {
        let roots = practice.path("roots").join(name);
        if name == "spool" {
            std::fs::create_dir(&roots).unwrap();
        } else {
            std::fs::write(&roots, "").unwrap();
        }
        chown(&roots, Some(0), Some(0)).unwrap();
        std::os::unix::fs::symlink(&roots, practice.path("state").join(name)).unwrap();
    }
    practice.sync().await;
    for path in below(&practice.path("roots")) {
        assert_eq!(std::fs::metadata(&path).unwrap().uid(), 0, "{path:?}");
    }
}
