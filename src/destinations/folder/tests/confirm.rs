//! Looks for letters that were taken (`confirm`), in a real folder. What holds for every such destination is in the
//! contract tests.

use super::*;
use crate::config::Evidence;
use crate::destinations::contract::confirm::{Known, confirm, filed, moved, said};
use crate::destinations::{Item, LostReply};

fn inbox(success: Evidence, failed: Option<Evidence>) -> Inbox {
    let mut inbox = Inbox::new(NAME, None);
    inbox.config.confirm = Some(confirm(success, failed));
    inbox
}

#[tokio::test]
async fn what_an_importer_took_before_it_was_recorded_can_be_proved() {
    for (success, to) in [(Evidence::Taken, None), (moved("done"), Some("done/lab_slip.pdf"))] {
        let (inbox, spool) = (inbox(success, None), Spool::new());
        let adapter = inbox.adapter();
        let item = spool.item(1, PDF);
        assert_delivered(&adapter.deliver(&item).await);
        fs::remove_file(inbox.path.join(FILED)).unwrap();
        if let Some(to) = to {
            inbox.put(to, PDF);
        }
        // The process died before it could record the delivery.
        let letter = filed(&inbox.adapter(), &spool, 1, PDF).await;
        assert_eq!(letter.filed.path, FILED);
        let sights = adapter.look(&[letter], &Known::default()).await.ok().unwrap();
        assert_eq!(said(&sights), [if to.is_some() { "moved" } else { "gone" }]);
    }
}

#[tokio::test]
async fn after_a_restore_a_letter_that_is_not_seen_is_filed_again_or_held_as_configured() {
    for (lost, is_held) in [(LostReply::Resend, false), (LostReply::Hold, true)] {
        let (mut inbox, spool) = (inbox(moved("done"), None), Spool::new());
        inbox.config.on_lost_reply = lost;
        let adapter = inbox.adapter();
        let item = Item { restored: true, uncertain: true, ..spool.item(1, PDF) };
        let outcome = adapter.deliver(&item).await;
        assert_eq!(matches!(outcome, Outcome::Held { .. }), is_held, "{outcome:?}");
        assert_eq!(inbox.names().is_empty(), is_held);
        // Without a restore there is no doubt: an importer took what had its name.
        let item = spool.item(2, PDF);
        assert_delivered(&adapter.deliver(&item).await);
        for name in inbox.names() {
            fs::remove_file(inbox.path.join(name)).unwrap();
        }
        assert_delivered(&adapter.deliver(&item).await);
        assert!(inbox.names().is_empty());
    }
}

#[tokio::test]
async fn a_folder_tells_that_a_letter_came_back_between_two_looks() {
    let (inbox, spool) = (inbox(Evidence::Taken, None), Spool::new());
    let adapter = inbox.adapter();
    let letters = [filed(&adapter, &spool, 1, PDF).await];
    let look = async || adapter.look(&letters, &Known::default()).await.unwrap().remove(0);
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    let gone = look().await;
    // File systems count in steps of some milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(matches!(gone, Sight::Gone(_)) && gone == look().await);
    inbox.put(FILED, PDF);
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    assert!(gone != look().await);
}

#[tokio::test]
async fn without_the_marker_nothing_is_concluded() {
    let (mut inbox, spool) = (inbox(Evidence::Taken, None), Spool::new());
    inbox.config.marker = Some(".docsyncd".into());
    inbox.put(".docsyncd", b"");
    let adapter = inbox.adapter();
    let letters = [filed(&adapter, &spool, 1, PDF).await];
    fs::remove_file(inbox.path.join(".docsyncd")).unwrap();
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    let outcome = adapter.look(&letters, &Known::default()).await.unwrap_err();
    assert!(reason(&outcome).contains("mounted?"), "{outcome:?}");
    inbox.put(".docsyncd", b"");
    assert_eq!(said(&adapter.look(&letters, &Known::default()).await.ok().unwrap()), ["gone"]);
}

/// The importer copies, and gives its copy the time of the letter, cut as NTFS, FAT and Samba cut it, or another date.
#[tokio::test]
async fn a_copy_proves_its_letter_whatever_time_it_has_and_one_from_before_does_not() {
    for evidence in [moved("done"), Evidence::Renamed] {
        let folder = if evidence == Evidence::Renamed { "Canaryworth_Zoé" } else { "done" };
        for cut in [100, 1000, 1_000_000, 2_000_000_000, 90_000_000_000_000] {
            let (inbox, spool) = (inbox(evidence.clone(), None), Spool::new());
            let letter_at = |name: &str| inbox.path.join(folder).join(name);
            inbox.put(&format!("{folder}/old.pdf"), PDF);
            let dated = |path: &Path, nanos: u64| {
                let at = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanos);
                fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
            };
            dated(&letter_at("old.pdf"), 1_700_000_000_000_000_000);
            let letters = [filed(&inbox.adapter(), &spool, 1, PDF).await];
            let written = letters[0].filed.written.unwrap();
            fs::remove_file(inbox.path.join(FILED)).unwrap();
            let look = async || said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap());
            assert_eq!(look().await, ["waits"], "it lay there before");
            inbox.put(&format!("{folder}/new.pdf"), PDF);
            dated(&letter_at("new.pdf"), written / cut * cut);
            assert_eq!(look().await, ["moved"], "{cut}");
        }
    }
}

/// A share that is unmounted leaves its empty mount point.
#[tokio::test]
async fn in_another_folder_than_its_own_a_letters_absence_says_nothing() {
    let (inbox, spool) = (inbox(Evidence::Taken, None), Spool::new());
    let letters = [filed(&inbox.adapter(), &spool, 1, PDF).await];
    let look = async || said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap());
    let mounted = inbox.path.with_file_name("mounted");
    fs::rename(&inbox.path, &mounted).unwrap();
    fs::create_dir(&inbox.path).unwrap();
    assert_eq!(look().await, ["waits"]);
    fs::remove_dir(&inbox.path).unwrap();
    fs::rename(&mounted, &inbox.path).unwrap();
    assert_eq!(look().await, ["waits"], "it lies there");
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    assert_eq!(look().await, ["gone"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn check_wants_a_marker_where_something_is_mounted() {
    assert!(files::is_mount_point(Path::new("/proc")) && !files::is_mount_point(&inbox(Evidence::Taken, None).path));
}

/// What an importer moved or renamed, and what it stamped, after the backup that was restored.
#[tokio::test]
async fn after_a_restore_what_the_software_took_is_not_filed_again() {
    for (evidence, there, content, expected) in [
        (Evidence::Renamed, "Canaryworth_Zoé/X00001.pdf", PDF, "delivered"),
        (moved("done"), "done/X00001.pdf", PDF, "delivered"),
        (moved("done"), "done/Canaryworth_Zoé/2026-11-21_lab_slip.pdf", PDF, "delivered"),
        (moved("done"), "done/2026-11-21_lab_slip.pdf", b"%PDF-1.7 stamped", "held"),
        (moved("done"), "done/other.pdf", b"%PDF-1.7 stamped", "filed"),
        (Evidence::Renamed, "Canaryworth_Zoé/other.pdf", b"%PDF-1.7 stamped", "filed"),
    ] {
        let (inbox, spool) = (inbox(evidence, None), Spool::new());
        inbox.put(there, content);
        let item = Item { restored: true, uncertain: true, ..spool.item(1, PDF) };
        let outcome = inbox.adapter().deliver(&item).await;
        let said = match (&outcome, inbox.path.join(FILED).exists()) {
            (Outcome::Held { .. }, false) => "held",
            (Outcome::Delivered { .. }, false) => "delivered",
            (Outcome::Delivered { .. }, true) => "filed",
            _ => panic!("{outcome:?}"),
        };
        assert_eq!(said, expected, "{there}");
    }
}

#[tokio::test]
async fn a_sub_folder_that_the_importer_removes_with_its_letter_is_gone() {
    let (inbox, spool) = (inbox(Evidence::Taken, None), Spool::new());
    let letters = [filed(&inbox.adapter(), &spool, 1, PDF).await];
    fs::remove_dir_all(inbox.path.join(letters[0].filed.folder())).unwrap();
    assert_eq!(said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap()), ["gone"]);
}

#[tokio::test]
async fn a_destination_that_proves_nothing_says_so() {
    let spool = Spool::new();
    let letters = [filed(&inbox(Evidence::Taken, None).adapter(), &spool, 1, PDF).await];
    let plain = Inbox::new(NAME, None);
    assert!(matches!(plain.adapter().deliver(&spool.item(2, PDF)).await, Outcome::Delivered { filed: None, .. }));
    let outcome = plain.adapter().look(&letters, &Known::default()).await.unwrap_err();
    assert!(outcome.reason().contains("`confirm`"), "{outcome:?}");
    assert!(plain.adapter().watched().is_empty());
}

#[test]
fn what_is_watched_is_where_something_happens() {
    for (success, failed, expected) in [
        (Evidence::Taken, None, &[""][..]),
        (Evidence::Renamed, Some(moved("refused")), &["", "refused"]),
        (moved("done/pms"), Some(moved("refused")), &["done/pms", "refused"]),
    ] {
        let inbox = inbox(success, failed);
        let expected: Vec<PathBuf> = expected.iter().map(|folder| inbox.path.join(folder)).collect();
        assert_eq!(inbox.adapter().watched(), expected);
    }
}

#[cfg(windows)]
mod on_windows {
    use std::os::windows::fs::OpenOptionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_file_that_the_importer_has_open_keeps_its_letter_waiting() {
        let (inbox, spool) = (inbox(moved("done"), None), Spool::new());
        let letters = [filed(&inbox.adapter(), &spool, 1, PDF).await];
        inbox.put("done/1.pdf", PDF);
        fs::remove_file(inbox.path.join(FILED)).unwrap();
        let held = fs::OpenOptions::new().read(true).share_mode(0).open(inbox.path.join("done/1.pdf")).unwrap();
        assert_eq!(said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap()), ["waits"]);
        drop(held);
        assert_eq!(said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap()), ["moved"]);
    }

    #[tokio::test]
    async fn a_letter_whose_name_got_other_letters_case_still_lies_there() {
        let (inbox, spool) = (inbox(Evidence::Taken, None), Spool::new());
        let letters = [filed(&inbox.adapter(), &spool, 1, PDF).await];
        let path = inbox.path.join(FILED);
        fs::rename(&path, path.with_file_name("2026-11-21_LAB_SLIP.PDF")).unwrap();
        assert_eq!(said(&inbox.adapter().look(&letters, &Known::default()).await.ok().unwrap()), ["waits"]);
    }
}
