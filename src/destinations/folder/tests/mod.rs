use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use tempfile::TempDir;

use super::*;
use crate::config::Confirm;
use crate::destinations::SidecarConfig;
use crate::destinations::contract::{
    CANARY, NamedPlace, Place, Spool, assert_delivered, files_below, keeps_the_confirm_contract, keeps_the_contract,
    keeps_the_sidecar_contract, reason,
};
use crate::formats::template::{Template, TemplateKind, TextFormat};

mod confirm;
mod interrupted;
mod names;
mod sidecars;
#[cfg(unix)]
mod unix;

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
        let sidecar = sidecar.map(|(name, content)| {
            SidecarConfig::new(
                compile(TemplateKind::Text(TextFormat::of_name(name)), content),
                compile(TemplateKind::SidecarName, name),
            )
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
            on_lost_reply: crate::destinations::LostReply::Resend,
            confirm: None,
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
        fs::remove_dir_all(&self.path).unwrap();
    }
}

impl NamedPlace for Inbox {
    fn configure(&mut self, file_name: &str, sidecar: Option<SidecarConfig>, confirm: Confirm) {
        let file_name = Arc::new(Template::compile(TemplateKind::FileName, file_name).unwrap());
        self.config = FolderConfig { file_name, sidecar, confirm: Some(confirm), ..self.config.clone() };
    }

    fn write(&self, path: &str, content: Option<&[u8]>) {
        match content {
            Some(content) => self.put(path, content),
            None => fs::remove_file(self.path.join(path)).unwrap(),
        }
    }

    fn go_away(&self) {
        fs::remove_dir_all(&self.path).unwrap();
    }
}

keeps_the_contract!(Inbox::new(NAME, None));
#[tokio::test]
async fn letters_are_seen_where_they_were_put() {
    crate::destinations::contract::kept::letters_are_seen_where_they_were_put(Inbox::new(NAME, None)).await;
}
keeps_the_confirm_contract!(Inbox::new(NAME, None));
keeps_the_sidecar_contract!(Inbox::new(NAME, None));

#[tokio::test]
async fn the_place_of_a_delivery_is_its_full_path() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(PathBuf::from(place), inbox.path.join(FILED));
    assert_eq!(inbox.names(), [FILED]);
}

#[tokio::test]
async fn where_the_marker_is_missing_nothing_is_written() {
    let (mut inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    inbox.config.marker = Some(".docsyncd".into());
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("mounted?"), "{outcome:?}");
    let complaint = inbox.adapter().check().await.unwrap_err();
    assert!(complaint.contains("`.docsyncd`") && complaint.contains("create an empty file"), "{complaint}");
    assert!(inbox.adapter().is_there(Vec::new()).await.is_err(), "it is away, also when no letter is due");
    assert_eq!(fs::read_dir(&inbox.path).unwrap().count(), 0);
    inbox.put(".docsyncd", b"");
    assert!(inbox.adapter().is_there(Vec::new()).await.is_ok());
    inbox.adapter().check().await.unwrap();
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [".docsyncd", FILED]);
}

/// The mount point of a share that went away, or a folder that was made anew.
#[tokio::test]
async fn another_folder_than_the_one_in_which_letters_wait_is_no_place_for_them() {
    let mut inbox = Inbox::new(NAME, None);
    let is_there = async |inbox: &Inbox, root: &str, place: &Path| {
        let place = FILED.split('/').fold(place.to_owned(), |place, part| place.join(part)).display().to_string();
        inbox.adapter().is_there(vec![PutIn { root: root.to_owned(), path: FILED.to_owned(), place }]).await
    };
    let here = files::identity(&inbox.path).unwrap();
    assert!(is_there(&inbox, &here, &inbox.path).await.is_ok());
    let outcome = is_there(&inbox, "another", &inbox.path).await.unwrap_err();
    assert!(reason(&outcome).contains("not the one in which letters wait"), "{outcome:?}");
    assert!(is_there(&inbox, "another", Path::new("/srv/before")).await.is_ok(), "`path` was changed since");
    inbox.config.path = inbox.path.join("gone");
    assert!(is_there(&inbox, &here, &inbox.path).await.is_err());
}

/// Whoever is root may write everywhere.
#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_written_is_no_place_and_nothing_is_left_by_the_look() {
    use std::os::unix::fs::PermissionsExt as _;
    let inbox = Inbox::new(NAME, None);
    for (mode, works) in [(0o700, true), (0o500, rustix::process::geteuid().is_root()), (0o700, true)] {
        fs::set_permissions(&inbox.path, fs::Permissions::from_mode(mode)).unwrap();
        let (found, delivered) = (inbox.adapter().is_there(Vec::new()).await, inbox.adapter().check().await);
        assert_eq!((found.is_ok(), delivered.is_ok()), (works, works), "{mode:o} {found:?}");
        assert_eq!(fs::read_dir(&inbox.path).unwrap().count(), 0);
    }
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
async fn a_template_that_fails_for_a_document_is_permanent_and_tells_no_value() {
    let (inbox, spool) = (Inbox::new("{{ patient.lastName / 2 }}.pdf", None), Spool::new());
    let outcome = inbox.adapter().deliver(&spool.item(1, PDF)).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("`file_name`"), "{outcome:?}");
    assert!(format!("{:?}", spool.item(1, PDF).metadata.patient).contains(CANARY), "the canary is in the item");
}
