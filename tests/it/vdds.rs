//! The archive of a practice software (VDDS-media, stage 6), with the real program on both sides: docsyncd starts the
//! archive's program, which starts docsyncd back.

use std::fs;
use std::time::Duration;

use crate::dictated::*;
use crate::harness::{Ended, Practice};
use crate::vdds_archive::{Archive, SECTION, WORDS, play};

/// Called by the archive's script; else there is nothing to do.
#[test]
fn plays_the_archive() {
    play();
}

/// The documents of a practice go to an archive that knows docsyncd.
async fn practice_of(archive: &Archive, documents: usize, more: &str) -> (Practice, Vec<String>) {
    let (mut practice, uuids) = practice_with_small(documents).await;
    practice.env.insert("WINDIR".into(), archive.windows());
    configure(&practice, &format!("archive = \"{SECTION}\"\n{more}"));
    let installed = practice.docsyncd(&["vdds", "install"]).await;
    assert_eq!(installed.code, 0, "{installed:?}");
    (practice, uuids)
}

fn configure(practice: &Practice, settings: &str) {
    let base = practice.base_config();
    practice
        .configure_wholly(&format!("{base}[destinations.z1]\ntype = \"vdds\"\npatient_id = \"4711\"\n{settings}\n"));
}

fn archive() -> Archive {
    Archive::new("vdds::plays_the_archive")
}

fn assert_no_words(ended: &Ended) {
    for words in ["Canaryworth", WORDS] {
        assert!(!ended.stdout.contains(words) && !ended.stderr.contains(words), "{ended:?}");
    }
}

#[tokio::test]
async fn whatever_the_archive_does_each_letter_is_there_once_and_reported_once() {
    let archive = archive();
    for fault in ["silent", "crash", "crash-late", "other", "garbage", "half", "lock", "twice", "behind"] {
        archive.inject(fault);
    }
    let timeout = if cfg!(windows) { 30 } else { 4 };
    let (practice, uuids) = practice_of(&archive, 10, &format!("timeout = \"{timeout}s\"")).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_no_words(&synced);
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(sorted(archive.objects()), small_pdfs(10));
    let shown = practice.show(&uuids[0]).await;
    assert_eq!(shown["deliveries"][0]["proof"], "accepted", "{shown}");
    let place = shown["deliveries"][0]["place"].as_str().unwrap();
    assert!(archive.objects().keys().any(|id| place.contains(id.as_str())), "{place}");
}

#[tokio::test]
async fn a_letter_that_the_archive_refuses_is_told_by_its_level_and_holds_up_no_other() {
    let archive = archive();
    archive.inject("refuse 3");
    let (practice, uuids) = practice_of(&archive, 3, "").await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_no_words(&synced);
    let error = only_failure(&practice);
    assert!(error.contains("ERRORLEVEL 3") && !error.contains(WORDS), "{error}");
    assert_eq!((practice.sandbox.status_posts().len(), archive.objects().len()), (3, 2));
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!((sorted(archive.objects()), uuids.len()), (small_pdfs(3), 3));
}

#[tokio::test]
async fn a_letter_that_may_have_arrived_waits_for_a_person_where_that_is_wanted() {
    let archive = archive();
    archive.inject("crash-late");
    let (practice, uuids) = practice_of(&archive, 1, "on_lost_reply = \"hold\"").await;
    assert_eq!(practice.sync().await.code, 3);
    let shown = practice.docsyncd(&["show", &uuids[0]]).await;
    assert!(shown.stdout.contains("may have arrived"), "{shown:?}");
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(archive.calls().into_values().sum::<usize>(), 1, "nothing more is started");
    assert_eq!(practice.sandbox.status_posts().len(), 0);
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuids[0]]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_each_reported_once(&practice, &uuids);
    assert_eq!((archive.calls().into_values().sum::<usize>(), sorted(archive.objects())), (1, small_pdfs(1)));
}

/// docsyncd dies again and again while the archive works, which goes on with it; what it answers then counts.
#[tokio::test]
async fn ten_kills_in_the_middle_double_nothing_and_lose_nothing() {
    const DOCUMENTS: usize = if cfg!(windows) { 12 } else { 20 };
    let archive = archive();
    (0..10).for_each(|_| archive.inject("slow"));
    let (practice, uuids) = practice_of(&archive, DOCUMENTS, "").await;
    for _ in 0..10 {
        let before = archive.calls().len();
        let mut running = practice.run().await;
        let is_called = async {
            while archive.calls().len() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(crate::harness::PATIENCE, is_called).await.expect("the archive is called");
        running.kill().await;
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(sorted(archive.objects()), small_pdfs(DOCUMENTS));
    // A report that was under way may be repeated.
    let is_told = |uuid: &String| posts_of(&practice.sandbox, uuid).iter().all(|post| *post == (Some(true), None));
    assert!(uuids.iter().all(|uuid| !posts_of(&practice.sandbox, uuid).is_empty() && is_told(uuid)));
    assert!(archive.calls().values().all(|calls| *calls == 1), "{:?}", archive.calls());
}

/// The archive dies again and again, and docsyncd with it or not: before it has the letter, with it, or when it answered.
#[cfg(unix)]
#[tokio::test]
async fn ten_kills_of_the_archive_double_nothing_and_lose_nothing() {
    const DOCUMENTS: usize = 20;
    let archive = archive();
    (0..10).for_each(|_| archive.inject("slow"));
    let (practice, uuids) = practice_of(&archive, DOCUMENTS, "timeout = \"4s\"").await;
    let mut running = practice.run().await;
    for kill in 0..10 {
        let calls = || archive.calls().into_values().sum::<usize>();
        let before = calls();
        let is_called = async {
            while calls() == before {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(crate::harness::PATIENCE, is_called).await.expect("the archive is called");
        // It takes a second until it has the letter.
        tokio::time::sleep(Duration::from_millis(kill * 130)).await;
        archive.kill();
        if kill % 3 == 2 {
            running.kill().await;
            running = practice.run().await;
        }
    }
    running.kill().await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_eq!(sorted(archive.objects()), small_pdfs(DOCUMENTS));
    let is_told = |uuid: &String| posts_of(&practice.sandbox, uuid).iter().all(|post| *post == (Some(true), None));
    assert!(uuids.iter().all(|uuid| !posts_of(&practice.sandbox, uuid).is_empty() && is_told(uuid)));
}

#[tokio::test]
async fn docsyncd_is_entered_in_the_file_of_the_archives_and_taken_out_without_a_trace() {
    let archive = archive();
    let before = fs::read(archive.mmi()).unwrap();
    let (practice, _) = practice_of(&archive, 0, "").await;
    let entered = fs::read(archive.mmi()).unwrap();
    let text = String::from_utf8_lossy(&entered).into_owned();
    assert!(entered.starts_with(&before[..before.len() - 30]) && text.contains("NAME2=DOCSYNCD\r\n"), "{text}");
    assert!(text.contains("vdds-export") && text.contains("STAGES=4\r\n"), "{text}");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && !checked.stdout.contains("vdds install"), "{checked:?}");
    assert_eq!(practice.docsyncd(&["vdds", "install"]).await.code, 0);
    assert_eq!(fs::read(archive.mmi()).unwrap(), entered);
    let removed = practice.docsyncd(&["vdds", "uninstall"]).await;
    assert_eq!((removed.code, fs::read(archive.mmi()).unwrap()), (0, before), "{removed:?}");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("vdds install`"), "{checked:?}");

    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let inode = fs::metadata(archive.mmi()).unwrap().ino();
        fs::set_permissions(archive.mmi(), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(practice.docsyncd(&["vdds", "install"]).await.code, 0);
        let now = fs::metadata(archive.mmi()).unwrap();
        assert_eq!((now.ino(), now.mode() & 0o777), (inode, 0o666), "the practice software may still write it");
    }
    fs::write(archive.mmi(), b"\xef\xbb\xbf[BVS]\r\n").unwrap();
    assert_eq!(practice.docsyncd(&["vdds", "install"]).await.code, 1);
    fs::write(archive.mmi(), [0xff, 0xfe, b'[', 0]).unwrap();
    let refused = practice.docsyncd(&["vdds", "install"]).await;
    assert!(refused.code == 1 && refused.stderr.contains("UTF-16"), "{refused:?}");
    fs::remove_file(archive.mmi()).unwrap();
    let refused = practice.docsyncd(&["vdds", "install"]).await;
    assert!(refused.code == 1 && refused.stderr.contains("is the archive installed"), "{refused:?}");
    #[cfg(unix)]
    {
        assert!(std::process::Command::new("mkfifo").arg(archive.mmi()).status().unwrap().success());
        let refused = practice.docsyncd(&["vdds", "install"]).await;
        assert!(refused.code == 1 && refused.stderr.contains("no file"), "{refused:?}");
        assert_eq!(practice.docsyncd(&["check"]).await.code, 1);
    }
}

#[tokio::test]
async fn an_archive_that_asks_for_what_is_not_there_is_told_so_and_no_other_file_is_changed() {
    let archive = archive();
    let (practice, _) = practice_of(&archive, 0, "").await;
    let file = practice.path("MME1.tmp");
    fs::write(&file, "[MMOIDS]\r\nCOUNT=1\r\nMMOID1=..\\..\\secret\r\nREADY=0\r\n").unwrap();
    let asked = practice.docsyncd(&["vdds-export", file.to_str().unwrap()]).await;
    let answer = fs::read_to_string(&file).unwrap();
    assert!(
        asked.code == 1 && answer.contains("ERRORLEVEL=1\r\n") && answer.contains("READY=1\r\n"),
        "{asked:?}: {answer}"
    );
    fs::write(&file, "[PATID]\r\nPATID=4711\r\n").unwrap();
    let asked = practice.docsyncd(&["vdds-export", file.to_str().unwrap()]).await;
    assert!(asked.code == 1 && asked.stderr.contains("no section [MMOIDS]"), "{asked:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "[PATID]\r\nPATID=4711\r\n");
}

#[tokio::test]
async fn check_finds_the_program_and_starts_nothing_and_each_fault_has_its_message() {
    let archive = archive();
    let (practice, _) = practice_of(&archive, 1, "").await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 0 && checked.stdout.contains("is not started to try more"), "{checked:?}");
    configure(&practice, &format!("program = '{}'", archive.program().display()));
    assert_eq!(practice.docsyncd(&["check"]).await.code, 0);
    assert!(archive.calls().is_empty());
    for (settings, sign) in [
        ("archive = \"CONVIS\"", "has no MMOINFIMPORT in a section [CONVIS], only PVS_ARCHIV has"),
        ("program = 'nowhere/at/all'", "does not exist"),
    ] {
        configure(&practice, settings);
        let checked = practice.docsyncd(&["check"]).await;
        assert!(checked.code == 1 && checked.stdout.contains(sign), "{settings}: {checked:?}");
    }
    for (settings, sign) in [
        ("", "`destinations.z1.archive` is missing, and so is `program`"),
        ("archive = \"A\"\nprogram = 'p'", "stands beside `program`"),
        ("archive = \"A\"\ntimeout = \"0s\"", "`destinations.z1.timeout`"),
        ("archive = \"A\"\non_lost_reply = \"drop\"", "`destinations.z1.on_lost_reply`"),
        ("archive = \"A\"\nargs = [\"x\"]", "belongs to type"),
        ("archive = \"A\"\nconfirm = \"taken\"", "belongs to type"),
    ] {
        configure(&practice, settings);
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert!(shown.code == 2 && shown.stderr.contains(sign), "{settings}: {sign}: {shown:?}");
    }
    practice
        .configure_wholly(&format!("{}[destinations.z1]\ntype = \"vdds\"\narchive = \"A\"\n", practice.base_config()));
    let shown = practice.docsyncd(&["config", "show"]).await;
    assert!(shown.code == 0 && shown.stderr.contains("which no archive knows"), "{shown:?}");
}
