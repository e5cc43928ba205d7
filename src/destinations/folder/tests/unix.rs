//! Permissions and links in the form that only Unix has.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn files_and_folders_get_their_modes_whatever_the_umask_takes_away() {
    let (mut inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip.xml";
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    let modes = |inbox: &Inbox| ["Canaryworth_Zoé", FILED, sidecar].map(|name| mode(&inbox.path.join(name)));
    assert_eq!(modes(&inbox), [0o700, 0o600, 0o600]);

    inbox = Inbox::with_sidecar();
    inbox.config.file_mode = 0o666;
    inbox.config.dir_mode = 0o777;
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(modes(&inbox), [0o777, 0o666, 0o666]);
}

#[tokio::test]
async fn a_link_out_of_the_folder_is_not_followed_and_one_inside_is() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let outside = tempfile::tempdir().unwrap();
    let link = inbox.path.join("Canaryworth_Zoé");
    for target in [outside.path(), Path::new("/nowhere/at/all"), Path::new("..")] {
        symlink(target, &link).unwrap();
        let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
        assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("link"), "{outcome:?}");
        fs::remove_file(&link).unwrap();
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    fs::create_dir(inbox.path.join("patients")).unwrap();
    symlink("patients", &link).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), ["patients/2026-11-21_lab_slip.pdf"]);
}

/// If the file system has no exclusive rename, a hard link gives the name. The process may end between the two steps,
/// and an importer may take the file before the next start.
#[tokio::test]
async fn what_was_given_its_name_by_a_link_and_imported_is_not_filed_again() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let item = spool.item(1, PDF);
    let temporary = inbox.path.join(format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key));
    let place = assert_delivered(&inbox.adapter().deliver(&item).await);
    fs::rename(inbox.path.join(FILED), inbox.path.join("imported.pdf")).unwrap();
    fs::hard_link(inbox.path.join("imported.pdf"), &temporary).unwrap();
    assert_eq!(assert_delivered(&inbox.adapter().deliver(&item).await), place);
    assert_eq!(inbox.names(), ["imported.pdf"]);
}

/// A user with write access to the inbox moves a sub-folder away during a delivery, and puts a link in its place.
#[tokio::test]
async fn a_folder_that_is_replaced_by_a_link_meanwhile_leads_nothing_out() {
    for sidecar in [None, Some(("{{ file_stem }}.xml", "<n/>\n"))] {
        let (inbox, spool) = (Inbox::new(NAME, sidecar), Spool::new());
        let outside = tempfile::tempdir().unwrap();
        let (folder, moved) = (inbox.path.join("Canaryworth_Zoé"), inbox.path.join("moved"));
        let target = outside.path().to_path_buf();
        let (from, to) = (folder.clone(), moved.clone());
        let adapter = inbox.adapter_with(move |_| {
            fs::rename(&from, &to)?;
            symlink(&target, &from)
        });
        let outcome = adapter.deliver(&spool.item(1, PDF)).await;
        assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("moved"), "{outcome:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 0, "{:?}", inbox.names());
        fs::remove_file(&folder).unwrap();
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names().iter().filter(|name| name.ends_with(".pdf")).collect::<Vec<_>>(), [FILED]);
    }
}

#[tokio::test]
async fn a_link_under_the_temporary_or_the_final_name_is_not_written_through() {
    let (inbox, spool) = (Inbox::new("a.pdf", None), Spool::new());
    let item = spool.item(1, PDF);
    let victim = inbox.path.join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, inbox.path.join(format!(".docsyncd-{}.part", item.key))).unwrap();
    symlink(&victim, inbox.path.join("a.pdf")).unwrap();
    let place = assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(PathBuf::from(place), inbox.path.join("a_00000001.pdf"));
    assert_eq!(inbox.read("victim"), "precious");
}

#[tokio::test]
async fn a_second_delivery_leaves_the_very_file_alone() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    let inode = || fs::metadata(inbox.path.join(FILED)).unwrap().ino();
    let before = inode();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inode(), before);
}
