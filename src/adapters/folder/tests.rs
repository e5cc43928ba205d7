use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use tempfile::TempDir;

use super::*;
use crate::adapters::contract::{CANARY, Place, Spool, assert_delivered, files_below, keeps_the_contract, reason};
use crate::config::SidecarConfig;
use crate::template::{Template, TemplateKind, TextFormat};

const NAME: &str =
    "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";
const FILED: &str = "Canaryworth_Zoé/2026-11-21_lab_slip.pdf";
const SUFFIXED: &str = "Canaryworth_Zoé/2026-11-21_lab_slip_00000001.pdf";
const PDF: &[u8] = b"%PDF-1.7 letter";

/// A folder with an adapter for it.
struct Inbox {
    _parent: TempDir,
    path: PathBuf,
    config: FolderConfig,
}

impl Inbox {
    fn new(file_name: &str, sidecar: Option<(&str, &str)>) -> Self {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("inbox");
        fs::create_dir(&path).unwrap();
        let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
        let sidecar = sidecar.map(|(name, content)| SidecarConfig {
            content: compile(TemplateKind::Text(TextFormat::of_name(name)), content),
            name: compile(TemplateKind::SidecarName, name),
        });
        let config = FolderConfig {
            name: "pms".into(),
            path: path.clone(),
            file_name: compile(TemplateKind::FileName, file_name),
            marker: None,
            sidecar,
            file_mode: 0o600,
            dir_mode: 0o700,
            reader: None,
        };
        Self { _parent: parent, path, config }
    }

    fn with_sidecar() -> Self {
        Self::new(NAME, Some(("{{ file_stem }}.xml", "<n>{{ patient.lastName }}</n><f>{{ file_name }}</f>\n")))
    }

    fn adapter(&self) -> FolderAdapter {
        FolderAdapter::new(self.config.clone())
    }

    fn adapter_with(&self, hook: impl Fn(&Path) -> io::Result<()> + Send + Sync + 'static) -> FolderAdapter {
        FolderAdapter { before_rename: Some(Arc::new(hook)), ..self.adapter() }
    }

    fn put(&self, name: &str, content: &[u8]) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn names(&self) -> Vec<String> {
        files_below(&self.path).into_keys().collect()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }
}

impl Place for Inbox {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(self.adapter())
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.path)
    }

    fn break_down(&self) {
        fs::remove_dir(&self.path).unwrap();
    }
}

keeps_the_contract!(Inbox::new(NAME, None));

#[tokio::test]
async fn the_place_of_a_delivery_is_its_full_path() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(PathBuf::from(place), inbox.path.join(FILED));
    assert_eq!(inbox.names(), [FILED]);
}

#[tokio::test]
async fn a_name_taken_by_other_content_gets_the_short_uuid_and_then_numbers() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.put(FILED, b"somebody else's");
    let numbered = "Canaryworth_Zoé/2026-11-21_lab_slip_00000001_2.pdf";
    for name in [SUFFIXED, numbered] {
        for _again in 0..2 {
            let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
            assert_eq!(PathBuf::from(place), inbox.path.join(name));
        }
        inbox.put(name, b"somebody else's, too");
        spool.forget();
    }
    assert_eq!((inbox.names().len(), inbox.read(FILED)), (3, "somebody else's".to_owned()));
}

#[tokio::test]
async fn a_new_version_gets_its_number_beside_the_one_before_it() {
    for (taken, names) in [
        (false, [FILED.to_owned(), FILED.replace(".pdf", "_v2.pdf"), FILED.replace(".pdf", "_v3.pdf")]),
        (true, [SUFFIXED.to_owned(), SUFFIXED.replace(".pdf", "_v2.pdf"), SUFFIXED.replace(".pdf", "_v3.pdf")]),
    ] {
        let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
        if taken {
            assert_delivered(&inbox.adapter().deliver(&spool.item(2, PDF)).await);
        }
        for (content, name) in ["v1", "v2", "v3"].into_iter().zip(&names) {
            for _again in 0..2 {
                let item = spool.item(1, content.as_bytes());
                let place = assert_delivered(&inbox.adapter().deliver(&item).await);
                assert_eq!(PathBuf::from(place), inbox.path.join(name));
                spool.record(&item);
            }
        }
        assert_eq!(inbox.names().len(), 3 + usize::from(taken));
    }
}

#[tokio::test]
async fn a_version_that_never_got_a_file_does_not_count() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let adapter = inbox.adapter_with(|_| Err(io::ErrorKind::StorageFull.into()));
    assert!(matches!(adapter.deliver(&spool.item(1, b"v1")).await, Outcome::NoRoom(_)));
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, b"v2")).await);
    assert_eq!(inbox.names(), [FILED]);
}

/// What a crash leaves between the intent and the name: the temporary file, and the intent in the ledger.
async fn cut_off(inbox: &Inbox, spool: &Spool, item: &Item) {
    let adapter = {
        // The ledger is gone with the process, so nothing is taken back.
        let spool = spool.clone();
        inbox.adapter_with(move |_| {
            spool.answer(Some(0));
            Err(io::ErrorKind::Other.into())
        })
    };
    assert_eq!(adapter.deliver(item).await, Outcome::Unrecorded);
    spool.answer(None);
    assert_eq!(inbox.names(), [format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key)]);
}

#[tokio::test]
async fn a_file_that_had_not_got_its_name_when_the_process_died_gets_it() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, PDF)).await;
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!((inbox.names(), inbox.read(FILED).as_bytes()), (vec![FILED.to_owned()], PDF));
}

#[tokio::test]
async fn a_file_whose_name_was_taken_while_the_process_was_dead_gets_the_next_one() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, PDF)).await;
    inbox.put(FILED, b"somebody else's");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, SUFFIXED]);
}

#[tokio::test]
async fn what_an_importer_took_before_it_was_recorded_is_not_filed_again() {
    for (importer_leaves_the_folder, another_came) in [(true, false), (true, true), (false, false)] {
        let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
        let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        fs::remove_file(inbox.path.join(FILED)).unwrap();
        if !importer_leaves_the_folder {
            fs::remove_dir(inbox.path.join(FILED).parent().unwrap()).unwrap();
        }
        if another_came {
            inbox.put(FILED, b"somebody else's");
        }
        for _again in 0..2 {
            assert_eq!(assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await), place);
        }
        assert_eq!(inbox.names().len(), usize::from(another_came));
        // Asked for again, it is filed again.
        spool.record(&spool.item(1, PDF));
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names().len(), 1 + usize::from(another_came));
    }
}

#[tokio::test]
async fn a_temporary_file_that_a_scanner_takes_away_is_written_again() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let item = spool.item(1, PDF);
    let temporary = inbox.path.join(format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key));
    let adapter = inbox.adapter_with(move |_| fs::remove_file(&temporary));
    assert!(matches!(adapter.deliver(&item).await, Outcome::Transient { .. }));
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names(), [FILED]);
}

#[tokio::test]
async fn a_new_version_settles_what_was_left_of_the_one_before_it() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, b"v1")).await;
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, b"v2")).await);
    assert_eq!((inbox.names(), inbox.read(FILED)), (vec![FILED.to_owned()], "v2".to_owned()));
}

#[tokio::test]
async fn whenever_the_ledger_has_no_answer_there_is_one_file_in_the_end() {
    for questions in 0..10 {
        let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
        spool.answer(Some(questions));
        let outcome = inbox.adapter_with(|_| Err(io::ErrorKind::Other.into())).deliver(&spool.item(1, PDF)).await;
        assert!(matches!(outcome, Outcome::Unrecorded | Outcome::Transient { .. }), "{outcome:?}");
        spool.answer(Some(questions));
        inbox.adapter().deliver(&spool.item(1, PDF)).await;
        spool.answer(None);
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
    }
}

#[tokio::test]
async fn old_temporary_files_are_removed_unless_the_ledger_waits_for_them() {
    let (inbox, spool) = (Inbox::new("{{ document.type }}.pdf", None), Spool::new());
    let (item, other) = (spool.item(1, PDF), spool.item(2, PDF));
    let hook = spool.clone();
    let adapter = inbox.adapter_with(move |_| {
        hook.answer(Some(0));
        Err(io::ErrorKind::Other.into())
    });
    adapter.deliver(&item).await;
    spool.answer(None);
    inbox.put(".docsyncd-abandoned.part", b"half");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 60 * 60);
    for name in inbox.names() {
        let file = fs::File::options().write(true).open(inbox.path.join(name)).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(long_ago)).unwrap();
    }
    inbox.adapter().check().await.unwrap();
    assert_delivered(&inbox.adapter().deliver(&other).await);
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names(), ["lab_slip.pdf", "lab_slip_00000002.pdf"]);
}

#[tokio::test]
async fn where_the_marker_is_missing_nothing_is_written() {
    let (mut inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.config.marker = Some(".docsyncd".into());
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("mounted?"), "{outcome:?}");
    let complaint = inbox.adapter().check().await.unwrap_err();
    assert!(complaint.contains("`.docsyncd`") && complaint.contains("create an empty file"), "{complaint}");
    assert_eq!(fs::read_dir(&inbox.path).unwrap().count(), 0);
    inbox.put(".docsyncd", b"");
    inbox.adapter().check().await.unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [".docsyncd", FILED]);
}

#[tokio::test]
async fn a_delivery_under_its_second_name_is_found_again_when_the_first_became_free() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.put(FILED, b"other");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [SUFFIXED]);
}

#[tokio::test]
async fn another_document_with_the_same_content_and_name_gets_a_file_of_its_own() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let items = [1, 2, 3].map(|number| spool.item(number, PDF));
    let names = [FILED.to_owned(), FILED.replace(".pdf", "_00000002.pdf"), FILED.replace(".pdf", "_00000003.pdf")];
    for round in 0..3 {
        for (item, name) in items.iter().zip(&names) {
            let place = assert_delivered(&inbox.adapter().deliver(item).await);
            assert_eq!(PathBuf::from(place), inbox.path.join(name));
        }
        if round == 0 {
            items.iter().for_each(|item| spool.record(item));
        } else {
            // Their order decides who gets the plain name; two of them are found.
            spool.forget();
        }
    }
    assert_eq!(inbox.names().len(), 3);
}

#[tokio::test]
async fn a_folder_that_has_the_name_counts_as_other_content() {
    let (inbox, spool) = (Inbox::new("{{ document.type }}", None), Spool::new());
    fs::create_dir(inbox.path.join("lab_slip")).unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), ["lab_slip_00000001"]);
}

/// Several rounds, as the order in which the threads come differs.
#[tokio::test]
async fn documents_that_want_one_name_at_once_each_get_a_file_and_its_sidecar() {
    for _round in 0..20 {
        let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
        let adapter = inbox.adapter();
        let items = [1, 2, 3, 4].map(|number| spool.item(number, format!("content {number}").as_bytes()));
        let [one, two, three, four] = &items;
        let (one, two, three, four) =
            tokio::join!(adapter.deliver(one), adapter.deliver(two), adapter.deliver(three), adapter.deliver(four));
        for (outcome, number) in [one, two, three, four].iter().zip(1..) {
            let place = PathBuf::from(assert_delivered(outcome));
            assert_eq!(fs::read_to_string(&place).unwrap(), format!("content {number}"));
            let sidecar = fs::read_to_string(place.with_extension("xml")).unwrap();
            assert!(sidecar.contains(place.file_name().unwrap().to_str().unwrap()), "{sidecar}");
        }
        assert_eq!(inbox.names().len(), 8);
    }
}

#[tokio::test]
async fn a_sidecar_never_stands_beside_another_documents_pdf() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let tried = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (log, second) = (Arc::clone(&tried), inbox.path.join(SUFFIXED));
    // While the first name is being given, another program takes it and the next one.
    let adapter = inbox.adapter_with(move |pdf| {
        log.lock().unwrap().push(pdf.file_name().unwrap().to_string_lossy().into_owned());
        fs::write(&second, "another's")?;
        if pdf.ends_with("2026-11-21_lab_slip.pdf") { fs::write(pdf, "another's") } else { Ok(()) }
    });
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    // For the second name not even the sidecar was written.
    assert_eq!(*tried.lock().unwrap(), ["2026-11-21_lab_slip.pdf", "2026-11-21_lab_slip_00000001_2.pdf"]);
    assert_eq!(inbox.names().iter().filter(|name| name.ends_with("xml")).count(), 1);
}

#[tokio::test]
async fn the_sidecar_is_complete_before_the_pdf_appears() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let adapter = inbox.adapter_with(move |pdf| {
        log.lock().unwrap().push((pdf.exists(), fs::read_to_string(pdf.with_extension("xml")).unwrap()));
        Ok(())
    });
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    let sidecar = "<n>Canaryworth</n><f>2026-11-21_lab_slip.pdf</f>\n".to_owned();
    assert_eq!(*seen.lock().unwrap(), [(false, sidecar)]);
    assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
}

#[tokio::test]
async fn a_fault_before_the_pdf_appears_takes_the_sidecar_away_again() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|_| Err(io::ErrorKind::StorageFull.into()));
    let outcome = adapter.deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::NoRoom(_)) && reason(&outcome).contains("free space"), "{outcome:?}");
    assert_eq!(inbox.names(), Vec::<String>::new(), "neither sidecar nor temporary file is left");
}

#[tokio::test]
async fn a_name_that_is_taken_in_the_last_moment_is_not_overwritten() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|pdf| match pdf.to_string_lossy().contains("00000001") {
        true => Ok(()),
        false => fs::write(pdf, "the other was quicker"),
    });
    let place = assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    assert_eq!(PathBuf::from(place), inbox.path.join(SUFFIXED));
    assert_eq!(inbox.read(FILED), "the other was quicker");
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip_00000001.xml";
    assert_eq!(inbox.names(), [FILED, SUFFIXED, sidecar], "the sidecar of the lost name is gone");
    assert!(inbox.read(sidecar).contains("<f>2026-11-21_lab_slip_00000001.pdf</f>"));
}

#[tokio::test]
async fn the_same_content_that_appears_in_the_last_moment_is_the_delivery() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let adapter = inbox.adapter_with(|pdf| fs::write(pdf, PDF));
    assert_delivered(&adapter.deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
}

#[tokio::test]
async fn a_sidecar_that_a_crash_left_is_used_and_one_with_other_content_is_not_touched() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let sidecar = "Canaryworth_Zoé/2026-11-21_lab_slip.xml";
    inbox.put(sidecar, b"<n>Canaryworth</n><f>2026-11-21_lab_slip.pdf</f>\n");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, sidecar]);

    let inbox = Inbox::with_sidecar();
    inbox.put(sidecar, b"another's");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [sidecar, SUFFIXED, "Canaryworth_Zoé/2026-11-21_lab_slip_00000001.xml"]);
    assert_eq!(inbox.read(sidecar), "another's");
}

#[tokio::test]
async fn a_sidecar_with_one_name_for_all_waits_until_it_was_imported() {
    let (inbox, spool) = (Inbox::new(NAME, Some(("import.ini", "[x]\n"))), Spool::new());
    let sidecar = "Canaryworth_Zoé/import.ini";
    inbox.put(sidecar, b"another's");
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("file_stem"), "{outcome:?}");
    assert_eq!(inbox.names(), [sidecar]);

    let inbox = Inbox::new(NAME, Some(("{{ file_stem }}.PDF", "x")));
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("sidecar_name"), "{outcome:?}");
}

#[tokio::test]
async fn a_missing_folder_is_never_created() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    fs::remove_dir(&inbox.path).unwrap();
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(reason(&outcome).contains("does not exist") && reason(&outcome).contains("mounted?"));
    assert!(inbox.adapter().check().await.unwrap_err().contains("mounted?"));
    assert!(!inbox.path.exists());
    fs::write(&inbox.path, "a file").unwrap();
    assert!(inbox.adapter().check().await.unwrap_err().contains("not a folder"));
}

#[tokio::test]
async fn a_file_where_a_sub_folder_belongs_is_told_without_its_name() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.put("Canaryworth_Zoé", b"a file");
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("move it away"), "{outcome:?}");
}

#[tokio::test]
async fn what_an_attempt_left_that_was_cut_off_is_replaced_and_removed() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let item = spool.item(1, PDF);
    let leave = || {
        for end in ["part", "sidecar.part"] {
            inbox.put(&format!("Canaryworth_Zoé/.docsyncd-{}.{end}", item.key), b"%PDF-1.7 let");
        }
    };
    leave();
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!((inbox.names().len(), inbox.read(FILED).as_bytes()), (2, PDF));
    // The crash may also have come after the rename.
    leave();
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names().len(), 2);
}

#[tokio::test]
async fn a_delivery_that_may_go_elsewhere_next_time_leaves_nothing_where_it_was_going() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let item = spool.item(1, PDF);
    let folder = Path::new(FILED).parent().unwrap().to_str().unwrap();
    inbox.adapter().abandon(&item).await;
    assert!(fs::read_dir(&inbox.path).unwrap().next().is_none(), "no folder is created for it");
    for end in ["part", "sidecar.part"] {
        inbox.put(&format!("{folder}/.docsyncd-{}.{end}", item.key), b"half");
    }
    inbox.put(&format!("{folder}/.docsyncd-another.part"), b"half");
    inbox.adapter().abandon(&item).await;
    assert_eq!(inbox.names(), [format!("{folder}/.docsyncd-another.part")]);
}

#[tokio::test]
async fn a_template_that_fails_for_a_document_is_permanent_and_tells_no_value() {
    let (inbox, spool) = (Inbox::new("{{ patient.lastName / 2 }}.pdf", None), Spool::new());
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("`file_name`"), "{outcome:?}");
    assert!(format!("{:?}", spool.item(1, PDF).metadata.patient).contains(CANARY), "the canary is in the item");
}

#[cfg(unix)]
mod unix {
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

    /// Where the file system knows no exclusive rename, a hard link gives the name: the process may end between the two steps,
    /// and an importer take the file before the next start.
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

    /// Whoever may write the inbox moves a sub-folder away in the middle of a delivery, and puts a link in its place.
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
}
