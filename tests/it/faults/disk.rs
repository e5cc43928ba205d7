//! Faults of the disk that a destination or the spool lies on, brought about for real: small and read-only file systems
//! in a mount namespace of the daemon's own, folders without permission (for root, too), names that are too long, names
//! that are taken. What only a broken disk does (EIO) is in the tests of `failpoints` and under strace.

use std::path::{Path, PathBuf};

use docsyncd_sandbox::NewDocument;
use serde_json::{Value, json};
use tokio::process::Command;

use super::tools::{namespaces, needs};
use crate::dictated::*;
use crate::harness::{PATIENCE, Practice, Running, sha256};

/// Documents whose PDFs have this many bytes.
async fn add_large(practice: &Practice, count: usize, bytes: usize) -> Vec<String> {
    add_small(practice, count, |number, _| small(&format!("{number} {}", "x".repeat(bytes)))).await
}

pub fn quick(practice: &mut Practice) {
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
}

/// The daemon in a mount namespace of its own, in which `prepare` has been done.
pub fn in_namespace(practice: &Practice, prepare: &str) -> Running {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["sh", "-ec", &format!("{prepare}\nexec \"$0\" --config \"$1\" run")]);
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg(practice.config_path());
    command.envs(&practice.env).stdin(std::process::Stdio::null()).kill_on_drop(true);
    Running::spawn(command)
}

/// Whether the tests are run by root.
pub fn is_root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output().unwrap();
    id.stdout.trim_ascii() == b"0"
}

/// Does this in the daemon's mount namespace.
pub fn within(running: &Running, script: &str) {
    assert!(within_command(running, script).status().unwrap().success(), "{script}");
}

pub fn within_command(running: &Running, script: &str) -> std::process::Command {
    let mut command = std::process::Command::new("nsenter");
    command.arg("--target").arg(running.id().to_string()).arg("--mount");
    if !is_root() {
        command.args(["--user", "--preserve-credentials"]);
    }
    command.args(["sh", "-ec", script]);
    command
}

/// The path as the daemon sees it.
fn seen_by(running: &Running, path: &Path) -> PathBuf {
    Path::new(&format!("/proc/{}/root", running.id())).join(path.strip_prefix("/").unwrap())
}

/// Digests of the PDFs in a folder and those below it, sorted; nothing else lies there.
fn filed_in(folder: &Path) -> Vec<String> {
    let mut digests = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            digests.extend(filed_in(&path));
        } else {
            assert_eq!(path.extension().and_then(|end| end.to_str()), Some("pdf"), "{path:?}");
            digests.push(sha256(&std::fs::read(&path).unwrap()));
        }
    }
    digests.sort();
    digests
}

async fn expected(practice: &Practice) -> Vec<String> {
    let mut digests = Vec::new();
    for document in practice.sandbox.documents().await.unwrap() {
        digests.push(sha256(&practice.sandbox.pdf_bytes(&document.uuid).await.unwrap()));
    }
    digests.sort();
    digests
}

/// The reason of what is paused as a whole. The log says it a moment before the ledger has it.
async fn reason_of_pause(practice: &Practice, scope: &str) -> String {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let status = status(practice).await;
        let mut pauses = status["pauses"].as_array().unwrap().iter();
        if let Some(pause) = pauses.find(|pause| pause["scope"] == scope) {
            return pause["reason"].as_str().unwrap().to_owned();
        }
        assert!(std::time::Instant::now() < deadline, "{scope} is not paused: {status}");
    }
}

/// No document has spent an attempt at its delivery.
async fn assert_nothing_spent(practice: &Practice, uuids: &[String]) {
    for uuid in uuids {
        let shown = practice.show(uuid).await;
        assert_eq!((&shown["state"], &shown["deliveries"][0]["attempts"]), (&json!("fetched"), &json!(0)), "{shown}");
    }
}

/// Every document is reported, once, and the daemon ends well.
async fn ends_well(practice: &Practice, running: &mut Running, uuids: &[String]) {
    practice.wait_for_posts(uuids.len()).await;
    running.wait_for_logs("event=\"reported\"", uuids.len()).await;
    assert_each_reported_once(practice, uuids);
}

#[tokio::test]
async fn a_full_disk_pauses_the_destination_until_there_is_space() {
    if !namespaces() {
        return;
    }
    let (practice, uuids) = practice_with_small(5).await;
    practice.configure("file_name = \"{{ document.uuid }}.pdf\"");
    let inbox = practice.inbox();
    let path = inbox.display();
    let full =
        format!("mount -t tmpfs -o size=64k none '{path}'; cat /dev/zero > '{path}/filler' 2> /dev/null || true");
    let mut running = in_namespace(&practice, &full);
    running.wait_for_log("destination:pms is paused").await;
    let reason = reason_of_pause(&practice, "destination:pms").await;
    assert!(reason.contains("destination `pms`") && reason.contains("free space on the disk that holds "), "{reason}");
    assert_nothing_spent(&practice, &uuids).await;
    assert_eq!(practice.sandbox.status_posts(), []);
    let left: Vec<_> = std::fs::read_dir(seen_by(&running, &inbox)).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["filler"], "nothing half-written stays");

    within(&running, &format!("rm '{path}/filler'"));
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(filed_in(&seen_by(&running, &inbox)), expected(&practice).await);
    assert_eq!(running.stop().await, 0);
    practice.assert_spool_empty();
}

/// The disk is not full for the others, so it is this document that waits, alone.
#[tokio::test]
async fn a_document_that_the_disk_has_no_space_for_waits_alone() {
    if !namespaces() {
        return;
    }
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "1s".into());
    let large = add_large(&practice, 1, 200_000).await;
    let others = add_small(&practice, 4, |number, _| small(&format!("other {number}"))).await;
    let inbox = practice.inbox();
    let mut running = in_namespace(&practice, &format!("mount -t tmpfs -o size=128k none '{}'", inbox.display()));
    practice.wait_for_posts(4).await;
    // However long that lasts: no room is no fault of the document's.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    running.wait_for_logs("event=\"postponed\"", 9).await;
    let shown = practice.show(&large[0]).await;
    let delivery = &shown["deliveries"][0];
    assert!(delivery["attempts"].as_u64() >= Some(2) && shown["state"] == "fetched", "{shown}");
    assert!(delivery["reason"].as_str().unwrap().contains("free space on the disk that holds "), "{shown}");
    assert!(paused(&practice).await.is_empty());
    within(&running, &format!("mount -o remount,size=1m '{}'", inbox.display()));
    ends_well(&practice, &mut running, &[large, others].concat()).await;
    assert_eq!(filed_in(&seen_by(&running, &inbox)), expected(&practice).await);
    assert_eq!(running.stop().await, 0);
}

#[tokio::test]
async fn a_full_disk_below_the_spool_pauses_downloads_and_fails_nothing() {
    if !namespaces() {
        return;
    }
    let mut practice = Practice::with_documents(0).await;
    quick(&mut practice);
    let uuids = add_large(&practice, 3, 3_000_000).await;
    let spool = practice.spool();
    std::fs::create_dir_all(&spool).unwrap();
    let mut running = in_namespace(&practice, &format!("mount -t tmpfs -o size=1m none '{}'", spool.display()));
    running.wait_for_log("fetch:main is paused").await;
    let reason = reason_of_pause(&practice, "fetch:main").await;
    assert!(reason.contains("the spool cannot be written") && reason.contains("on the disk that holds "), "{reason}");
    assert!(reason.contains(&practice.spool().display().to_string()), "{reason}");
    assert_eq!(practice.sandbox.status_posts(), []);
    for uuid in &uuids {
        let shown = practice.show(uuid).await;
        assert_eq!(shown["state"], json!("discovered"), "{shown}");
    }
    within(&running, &format!("mount -o remount,size=100m '{}'", spool.display()));
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn one_pdf_that_has_no_room_in_the_spool_holds_up_no_other() {
    if !namespaces() {
        return;
    }
    let mut practice = Practice::with_documents(0).await;
    quick(&mut practice);
    let large = add_large(&practice, 1, 3_000_000).await;
    let spool = practice.spool();
    std::fs::create_dir_all(&spool).unwrap();
    let mut running = in_namespace(&practice, &format!("mount -t tmpfs -o size=1m none '{}'", spool.display()));
    running.wait_for_log("the spool cannot be written").await;
    let others = add_small(&practice, 4, |number, _| small(&format!("other {number}"))).await;
    practice.wait_for_posts(4).await;
    assert!(paused(&practice).await.is_empty());
    let shown = practice.show(&large[0]).await;
    assert!(shown["reason"].as_str().unwrap().contains("on the disk that holds "), "{shown}");
    within(&running, &format!("mount -o remount,size=100m '{}'", spool.display()));
    ends_well(&practice, &mut running, &[large, others].concat()).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_read_only_file_system_pauses_the_destination() {
    if !namespaces() {
        return;
    }
    let (practice, uuids) = practice_with_small(5).await;
    let path = practice.inbox().display().to_string();
    let mut running =
        in_namespace(&practice, &format!("mount --bind '{path}' '{path}'; mount -o remount,bind,ro '{path}'"));
    running.wait_for_log("destination:pms is paused").await;
    let reason = reason_of_pause(&practice, "destination:pms").await;
    assert!(reason.contains("mounted read-only (this ran"), "{reason}");
    assert_nothing_spent(&practice, &uuids).await;
    within(&running, &format!("umount '{path}'"));
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

/// Also where the daemon is root's: without the right to pass over permissions, that is what a container's root has.
#[tokio::test]
async fn a_folder_without_write_permission_pauses_the_destination() {
    use std::os::unix::fs::PermissionsExt as _;
    needs!("setpriv");
    let (practice, uuids) = practice_with_small(5).await;
    let set = |mode| std::fs::set_permissions(practice.inbox(), std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    }
    command.arg(env!("CARGO_BIN_EXE_docsyncd")).arg("--config").arg(practice.config_path()).arg("run");
    command.envs(&practice.env).kill_on_drop(true);
    let mut running = Running::spawn(command);
    running.wait_for_log("destination:pms is paused").await;
    let reason = reason_of_pause(&practice, "destination:pms").await;
    assert!(reason.contains("grant the service's user write access to the folder"), "{reason}");
    assert_nothing_spent(&practice, &uuids).await;
    set(0o755);
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

/// Every part of a name is short enough, but all of them together make a path that no system call takes.
#[tokio::test]
async fn a_path_that_is_too_long_fails_its_document_alone_with_words() {
    let mut practice = Practice::with_documents(0).await;
    let root = (0..6).fold(practice.inbox(), |folder, _| folder.join("deep".repeat(50)));
    std::fs::create_dir_all(&root).unwrap();
    practice.env.insert("DOCSYNCD__DESTINATIONS__PMS__PATH".into(), root.display().to_string());
    let below = format!("file_name = \"{}letter.pdf\"", "{{ patient.lastName }}/".repeat(15));
    practice.configure(&below);
    let named = |name: &str| Some(json!({"lastName": name}));
    let with = |number: usize, document| NewDocument {
        patient: named(&if number == 1 { "long".repeat(50) } else { format!("n{number}") }),
        ..document
    };
    let uuids = add_small(&practice, 4, with).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let posts = posts_of(&practice.sandbox, &uuids[1]);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(
        error.contains("refuses the document's name") && error.contains("shorten or simplify `file_name`"),
        "{error}"
    );
    assert!(!error.contains("longlong"), "no patient data: {error}");
    assert_eq!(practice.filed().len(), 3);

    practice.configure("file_name = \"{{ document.uuid }}.pdf\"");
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

/// On Unix a file that is open or read-only keeps nobody from its folder; what must not happen is that it is replaced.
#[tokio::test]
async fn a_name_that_a_read_only_or_open_file_has_is_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = \"{{ document.type }}/letter.pdf\"");
    let kinds = ["lab_slip", "prescription", "patient_letter"];
    let with =
        |number: usize, document| NewDocument { document_type: Some(Some(kinds[number].to_owned())), ..document };
    let uuids = add_small(&practice, 3, with).await;
    let taken = |kind: &str| practice.inbox().join(kind).join("letter.pdf");
    for kind in kinds {
        std::fs::create_dir(practice.inbox().join(kind)).unwrap();
    }
    std::fs::write(taken(kinds[0]), "another letter").unwrap();
    std::fs::set_permissions(taken(kinds[0]), std::fs::Permissions::from_mode(0o400)).unwrap();
    std::fs::write(taken(kinds[1]), "a third letter").unwrap();
    let open = std::fs::OpenOptions::new().write(true).open(taken(kinds[1])).unwrap();
    open.lock().unwrap();
    std::fs::create_dir(taken(kinds[2])).unwrap();

    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(std::fs::read_to_string(taken(kinds[0])).unwrap(), "another letter");
    assert_eq!(std::fs::read_to_string(taken(kinds[1])).unwrap(), "a third letter");
    assert!(taken(kinds[2]).is_dir());
    for (uuid, kind) in uuids.iter().zip(kinds) {
        let own = practice.inbox().join(kind).join(format!("letter_{}.pdf", short(uuid)));
        assert!(own.exists(), "{:?}", practice.filed());
    }
}

#[tokio::test]
async fn a_folder_that_goes_and_comes_back_is_waited_for() {
    let (mut practice, uuids) = practice_with_small(3).await;
    quick(&mut practice);
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    let away = practice.path("away");
    std::fs::rename(practice.inbox(), &away).unwrap();
    let late = add_small(&practice, 4, |number, _| small(&format!("late {number}"))).await;
    running.wait_for_log("destination:pms is paused").await;
    let reason = reason_of_pause(&practice, "destination:pms").await;
    assert!(reason.contains("does not exist") && reason.contains("is the share mounted?"), "{reason}");
    running.wait_for_log("event=\"fetched\"").await;
    assert!(!practice.inbox().exists(), "it is not created");
    std::fs::rename(&away, practice.inbox()).unwrap();
    ends_well(&practice, &mut running, &[uuids, late].concat()).await;
    assert!(running.log().contains("destination:pms works again"));
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
}

/// A rename works within one file system only, so the temporary file has to lie where the document will.
#[tokio::test]
async fn a_sub_folder_on_another_file_system_is_filed_into() {
    if !namespaces() {
        return;
    }
    let (practice, uuids) = practice_with_small(4).await;
    practice.configure("file_name = \"scans/{{ document.uuid }}.pdf\"");
    let (inbox, scans) = (practice.inbox(), practice.inbox().join("scans"));
    std::fs::create_dir(&scans).unwrap();
    let mut running = in_namespace(&practice, &format!("mount -t tmpfs none '{}'", scans.display()));
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(filed_in(&seen_by(&running, &inbox)), expected(&practice).await);
    assert_eq!(filed_in(&scans), Vec::<String>::new(), "all of it lies on the other one");
    assert_eq!(running.stop().await, 0);
}

#[tokio::test]
async fn a_sub_folder_that_is_a_link_out_of_the_destination_waits_with_words() {
    let (practice, uuids) = practice_with_small(2).await;
    practice.configure("file_name = \"scans/{{ document.uuid }}.pdf\"");
    std::fs::create_dir(practice.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(practice.path("elsewhere"), practice.inbox().join("scans")).unwrap();
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"postponed\"", 4).await;
    let shown = practice.show(&uuids[0]).await;
    let reason: &Value = &shown["deliveries"][0]["reason"];
    assert!(reason.as_str().is_some_and(|reason| reason.contains("is a link that leads out of its folder")), "{shown}");
    assert_eq!(practice.sandbox.status_posts(), []);
    std::fs::remove_file(practice.inbox().join("scans")).unwrap();
    ends_well(&practice, &mut running, &uuids).await;
    assert_eq!(running.stop().await, 0);
    practice.assert_all_filed().await;
    assert!(filed_in(&practice.path("elsewhere")).is_empty());
}
