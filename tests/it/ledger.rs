//! The ledger as a file: who can read it, what is refused and left alone, what it keeps and what it forgets.

mod history;
mod pruned;
mod refused;
mod wiped;
mod writer;

#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
use crate::harness::{Held, Practice, Running};

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{path:?}: {error}")).permissions().mode() & 0o7777
}

#[cfg(unix)]
#[tokio::test]
async fn everything_docsyncd_writes_is_for_its_owner_alone() {
    let practice = Practice::with_documents(1).await;
    let held = Held::new(&practice);
    practice.configure(&format!("{}[[routes]]\nto = [\"pms\", \"scan\"]\n", held.destination("scan")));
    // A umask that takes nothing away.
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", "umask 0; exec \"$0\" --config \"$1\" run"]);
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg(practice.config_path()).kill_on_drop(true);
    let mut running = Running::spawn(command);
    held.until_begun().await;
    running.wait_for_log("event=\"delivered\"").await;

    for folder in [practice.path("state"), practice.spool()] {
        assert_eq!(mode(&folder), 0o700, "{folder:?}");
    }
    for end in ["", "-wal", "-shm", ".lock"] {
        assert_eq!(mode(&practice.path(&format!("state/ledger.sqlite3{end}"))), 0o600, "{end}");
    }
    assert_eq!(mode(&practice.path("state/spool.lock")), 0o600);
    let spooled: Vec<_> = std::fs::read_dir(practice.spool()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(spooled.len(), 1);
    assert_eq!(mode(&spooled[0]), 0o600);
    let filed = practice.inbox().join(practice.filed().into_keys().next().unwrap());
    assert_eq!(mode(&filed), 0o600);
    assert_eq!(mode(filed.parent().unwrap()), 0o700);

    held.go_on().await;
    practice.wait_for_posts(1).await;
    assert_eq!(running.stop().await, 0);
    assert_eq!(mode(&practice.ledger()), 0o600);
}

#[cfg(unix)]
#[tokio::test]
async fn a_ledger_that_others_could_read_is_closed_to_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(1).await;
    practice.sync().await;
    std::fs::set_permissions(practice.ledger(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut running = practice.run().await;
    for end in ["", "-wal", "-shm"] {
        assert_eq!(mode(&practice.path(&format!("state/ledger.sqlite3{end}"))), 0o600, "{end}");
    }
    running.kill().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_was_there_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(1).await;
    std::fs::create_dir(practice.path("state")).unwrap();
    std::fs::set_permissions(practice.path("state"), std::fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!((mode(&practice.path("state")), mode(&practice.spool())), (0o750, 0o700));
}
