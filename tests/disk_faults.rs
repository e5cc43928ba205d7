//! Every operation on a file that a delivery makes, answered with an error of the disk: once, and always. What is
//! met once is tried again from the start; what is met always pauses the whole destination, or all downloads.
//! Nothing is reported as failed, nothing half-written stays, and in the end everything is filed and reported, once.
//! `cargo test --features failpoints --test disk_faults`
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test a panic is the report, also in the helpers that clippy.toml does not know as tests"
)]
// The errors' numbers are those of Linux.
#![cfg(target_os = "linux")]

use docsyncd_test_support::dictated::{self, assert_each_reported_once, paused, practice_with_small};
use docsyncd_test_support::harness::Practice;

/// Numbers of errors (errno(3)).
const EIO: i32 = 5;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// What is paused while the error goes on.
const PMS: &str = "destination:pms";
const FETCH: &str = "fetch:main";

fn break_at(practice: &mut Practice, point: &str, errno: i32, times: &str) {
    // The spool has files where it has no room in memory.
    let in_files = if point.contains("spool") { ";spool.memory=return(12)" } else { "" };
    practice.env.insert("FAILPOINTS".into(), format!("{point}={times}return({errno}){in_files}"));
}

/// Nothing but PDFs lies in the inbox, and no hidden file.
fn assert_nothing_half_written(practice: &Practice) {
    let names: Vec<String> = practice.filed().into_keys().collect();
    assert!(
        names.iter().all(|name| name.ends_with(".pdf") && !name.contains("/.") && !name.starts_with('.')),
        "{names:?}"
    );
}

async fn cell(point: &str, errno: i32, scope: &str, words: &str) {
    // Once: the document is tried again from the start.
    let (mut practice, uuids) = practice_with_small(3).await;
    break_at(&mut practice, point, errno, "1*");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert!(synced.stderr.contains(words), "{words}: {synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
    assert!(paused(&practice).await.is_empty());

    // Always: it is paused as a whole, and costs no document anything but its first attempts.
    let (mut practice, uuids) = practice_with_small(5).await;
    practice.without_patience();
    break_at(&mut practice, point, errno, "");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(paused(&practice).await, [scope]);
    assert!(synced.stderr.contains(words), "{words}: {synced:?}");
    assert_eq!(synced.stderr.matches("ERROR").count(), 1, "one alarm: {synced:?}");
    assert_eq!(practice.sandbox.status_posts(), []);
    assert_nothing_half_written(&practice);
    practice.env.remove("FAILPOINTS");
    practice.env.retain(|name, _| !name.starts_with("DOCSYNCD__RETRY__"));
    for uuid in &uuids {
        practice.docsyncd(&["retry", "--yes", uuid]).await;
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

/// What a crash left under its own name is brought to the disk by the next attempt. Where that fails it is written
/// anew, since the system tells of such an error once.
async fn found_again(point: &str) {
    let (mut practice, uuids) = practice_with_small(1).await;
    practice.configure("file_name = \"letter.pdf\"");
    let letter = practice.inbox().join("letter.pdf");
    std::fs::write(&letter, practice.sandbox.pdf_bytes(&uuids[0]).await.unwrap()).unwrap();
    let changed = || std::fs::metadata(&letter).unwrap().modified().unwrap();
    let before = changed();
    break_at(&mut practice, point, EIO, "1*");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert!(synced.stderr.contains("cannot bring a file to the disk"), "{synced:?}");
    assert_ne!(changed(), before, "it was written anew");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_file_that_is_found_and_whose_fsync_fails_is_written_anew() {
    found_again("files.sync_existing").await;
}

#[tokio::test]
async fn a_file_that_is_found_and_whose_folders_fsync_fails_is_written_anew() {
    found_again("durable.sync_folder").await;
}

/// Each name is a test; what follows is the fault point, the error, what is paused and the words.
macro_rules! cells {
    ($($name:ident: $point:literal, $errno:expr => $scope:expr, $words:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            cell($point, $errno, $scope, $words).await;
        }
    )*};
}

cells! {
    no_space_when_a_file_is_created: "durable.create", ENOSPC => PMS, "free space on the disk that holds";
    no_permission_when_a_file_is_created: "durable.create", EACCES => PMS, "grant the service's user write access";
    a_read_only_file_system_when_a_file_is_created: "durable.create", EROFS => PMS, "mounted read-only";
    no_space_when_a_file_is_written: "durable.write", ENOSPC => PMS, "cannot write a file";
    an_error_of_the_disk_when_a_file_is_written: "durable.write", EIO => PMS, "the disk or the share reports a fault";
    no_space_when_a_file_is_forced_to_the_disk: "durable.sync_file", ENOSPC => PMS, "cannot bring a file to the disk";
    an_error_of_the_disk_when_a_file_is_forced_to_the_disk:
        "durable.sync_file", EIO => PMS, "cannot bring a file to the disk";
    an_error_of_the_disk_when_a_folder_is_forced_to_the_disk:
        "durable.sync_folder", EIO => PMS, "cannot bring a file to the disk";
    no_space_when_a_sub_folder_is_created: "durable.create_folder", ENOSPC => PMS, "cannot open or create a sub-folder";
    no_permission_when_a_sub_folder_is_created:
        "durable.create_folder", EACCES => PMS, "grant the service's user write access";
    an_error_of_the_disk_when_a_file_gets_its_name:
        "files.rename_exclusively", EIO => PMS, "cannot give a file its name";
    no_permission_when_a_file_gets_its_name:
        "files.rename_exclusively", EACCES => PMS, "grant the service's user write access";
    an_error_of_the_disk_when_the_spool_is_read: "folder.read_spool", EIO => PMS, "the spool cannot be read";
    no_space_when_a_spool_file_is_created: "spool.create", ENOSPC => FETCH, "the spool cannot be written";
    no_space_when_a_spool_file_is_written: "spool.write", ENOSPC => FETCH, "Free space on the disk that holds";
    an_error_of_the_disk_when_a_spool_file_is_flushed: "spool.flush", EIO => FETCH, "the spool cannot be written";
    a_read_only_file_system_when_a_spool_file_is_created: "spool.create", EROFS => FETCH, "the spool cannot be written";
}

/// The first of two documents with one content and name was filed and taken away. The second one's file lies there when
/// the process dies before it says so, or when the disk cannot say that it has the name.
#[tokio::test]
async fn a_file_under_a_name_that_another_document_had_is_found_after_a_fault() {
    for fault in [
        "folder.rename.after=return",
        "durable.sync_folder=2*off->1*return(5);files.rename_exclusively=2*off->1*return(5)",
    ] {
        let (mut practice, uuids) = practice_with_small(1).await;
        practice.configure("file_name = \"letter.pdf\"\nsidecar = \"{{ document.uuid }}\"");
        assert_eq!(practice.sync().await.code, 0);
        for file in ["letter.pdf", "letter.txt"] {
            std::fs::remove_file(practice.inbox().join(file)).unwrap();
        }
        let again = dictated::small("letter 0");
        assert_eq!(practice.sandbox.pdf_bytes(&uuids[0]).await.unwrap(), dictated::pdf("letter 0"));
        let two = practice.sandbox.add(again).await.unwrap();
        practice.env.insert("FAILPOINTS".into(), fault.into());
        practice.sync().await;
        practice.env.remove("FAILPOINTS");
        assert_eq!(practice.sync().await.code, 0);
        let names: Vec<String> = practice.filed().into_keys().collect();
        assert_eq!(names.len(), 2, "{fault}: {names:?}");
        let sidecar = names.iter().find(|name| name.ends_with(".txt")).unwrap();
        assert_eq!(std::fs::read_to_string(practice.inbox().join(sidecar)).unwrap(), two);
    }
}

/// The practice's importer takes away what is complete, the PDFs with their sidecars, while docsyncd is dead.
#[tokio::test]
async fn with_an_importer_that_empties_the_folder_nothing_is_filed_twice_after_a_kill() {
    for point in ["folder.sidecar.after", "folder.rename.before", "folder.rename.after", "ledger.commit.before"] {
        let (mut practice, uuids) = practice_with_small(4).await;
        practice.configure("file_name = \"{{ document.type }}/letter.pdf\"\nsidecar = \"{{ document.uuid }}\"");
        let mut taken = Vec::new();
        for times in 0..12 {
            practice.env.insert("FAILPOINTS".into(), format!("{point}={times}*off->return"));
            practice.sync().await;
            take_what_is_complete(&practice, &mut taken);
        }
        practice.env.remove("FAILPOINTS");
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        take_what_is_complete(&practice, &mut taken);
        taken.sort();
        let mut expected = uuids.clone();
        expected.sort();
        assert_eq!(taken, expected, "{point}");
        assert!(practice.filed().is_empty(), "{point}: {:?}", practice.filed());
    }
}

/// Takes each PDF away with its sidecar, whose words are noted.
fn take_what_is_complete(practice: &Practice, taken: &mut Vec<String>) {
    for name in practice.filed().into_keys().filter(|name| name.ends_with(".pdf")) {
        let pdf = practice.inbox().join(name);
        let sidecar = pdf.with_extension("txt");
        taken.push(std::fs::read_to_string(&sidecar).unwrap());
        std::fs::remove_file(pdf).unwrap();
        std::fs::remove_file(sidecar).unwrap();
    }
}

/// Of documents with one content and name some are filed when the process dies between a rename and the ledger.
#[tokio::test]
async fn after_a_kill_each_document_has_a_file_and_a_sidecar_of_its_own() {
    for sidecar_name in ["", "sidecar_name = \"{{ document.uuid }}.txt\"\n"] {
        let mut practice = Practice::with_documents(0).await;
        practice.configure(&format!(
            "file_name = \"letter.pdf\"\n{sidecar_name}sidecar = \"{{{{ document.uuid }}}} {{{{ file_name }}}}\"\n"
        ));
        let mut uuids = Vec::new();
        for _ in 0..6 {
            uuids.push(practice.sandbox.add(dictated::small("the same letter")).await.unwrap());
        }
        practice.env.insert("FAILPOINTS".into(), "folder.rename.after=return".into());
        practice.sync().await;
        practice.env.remove("FAILPOINTS");
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        let names: Vec<String> = practice.filed().into_keys().collect();
        let sidecars = names.iter().filter(|name| name.ends_with(".txt"));
        let told: Vec<String> =
            sidecars.map(|name| std::fs::read_to_string(practice.inbox().join(name)).unwrap()).collect();
        let part = |index: usize| -> Vec<String> {
            let mut parts: Vec<String> =
                told.iter().map(|text| text.split(' ').nth(index).unwrap().to_owned()).collect();
            parts.sort();
            parts
        };
        uuids.sort();
        assert_eq!((part(0), names.len()), (uuids, 12), "{sidecar_name}: {names:?}");
        assert_eq!(part(1), names.iter().filter(|name| name.ends_with(".pdf")).cloned().collect::<Vec<_>>());
    }
}
