//! What every adapter must keep, whatever its destination: one suite, run against each of them.
//!
//! A new adapter adds a [`Place`] for itself and a line of `keeps_the_contract!`. For a destination on another machine
//! it also adds a [`remote::RemotePlace`] and a line of `keeps_the_remote_contract!`.

pub(super) mod confirm;
pub(super) mod kept;
pub(super) mod remote;
pub(super) mod sidecar;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;

pub(super) use confirm::{NamedPlace, keeps_the_confirm_contract};
pub(super) use remote::{RemotePlace, keeps_the_remote_contract};
pub(super) use sidecar::keeps_the_sidecar_contract;

use super::{Adapter, Item, Names, Outcome, Unrecorded};
use crate::destinations::{RemoteFolder, WebConnection, WebSignIn};
use crate::domain::document::{DocumentUuid, Metadata, Spooled, Version};
use crate::domain::reservation::{Intent, Known, Place as Reserved, Wanted};
use crate::formats::template::{Template, TemplateKind};
use crate::system::tls::TlsFiles;

/// A patient's name that no reason may contain.
pub(super) const CANARY: &str = "Canaryworth";

/// A password that no reason may contain.
pub(super) const SECRET: &str = "Hush-hush-7";

/// The connection to a server in this process.
pub(super) fn connection(origin: &str, sign_in: WebSignIn) -> WebConnection {
    WebConnection {
        name: "pms".to_owned(),
        origin: origin.parse().unwrap(),
        sign_in,
        tls: TlsFiles::default(),
        proxy: None,
        timeout: Duration::from_secs(20),
        max_connections: 4,
    }
}

/// The destination's folder.
pub(super) fn remote_folder(file_name: &str) -> RemoteFolder {
    RemoteFolder {
        marker: None,
        on_lost_reply: None,
        confirm: None,
        name: "pms".to_owned(),
        path: "/inbox".to_owned(),
        file_name: Arc::new(Template::compile(TemplateKind::RemoteName, file_name).unwrap()),
        sidecar: None,
        verify_content: true,
        max_connections: 4,
    }
}

/// A destination under test.
pub(super) trait Place {
    /// The adapter, ready for use.
    fn adapter(&self) -> Box<dyn Adapter>;
    /// The contents of the objects that a person or an importer sees there, by name.
    fn objects(&self) -> BTreeMap<String, Vec<u8>>;
    /// Makes the destination unusable as a whole.
    fn break_down(&self);
}

/// A reserved name.
#[derive(Debug, Clone)]
struct Row {
    family: Reserved,
    owner: (DocumentUuid, String),
    version: u32,
    filed: bool,
    was_refused: bool,
    intent: Option<Intent>,
}

/// The names of all documents, as the ledger keeps them.
#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<Reserved, Row>,
    /// The names of sidecars. Each belongs to a document until the document is proved.
    sidecars: BTreeMap<Reserved, (DocumentUuid, String)>,
    /// How many more questions the ledger answers.
    answers: Option<usize>,
}

/// Plays the ledger, for one version of a document.
#[derive(Debug)]
struct TableNames {
    table: Arc<Mutex<Table>>,
    owner: (DocumentUuid, String),
}

impl TableNames {
    fn ask<T>(&self, question: impl FnOnce(&mut BTreeMap<Reserved, Row>) -> T) -> Result<T, Unrecorded> {
        let mut table = self.table.lock().unwrap();
        if let Some(answers) = &mut table.answers {
            *answers = answers.checked_sub(1).ok_or(Unrecorded)?;
        }
        Ok(question(&mut table.rows))
    }
}

#[async_trait]
impl Names for TableNames {
    async fn known(&self) -> Result<Known, Unrecorded> {
        self.ask(|rows| {
            let of_document = || rows.iter().filter(|(_, row)| row.owner.0 == self.owner.0);
            let own = || of_document().filter(|(_, row)| row.owner == self.owner);
            let others =
                || of_document().filter(|(_, row)| row.owner != self.owner && (row.filed || row.intent.is_some()));
            Known {
                version: own()
                    .map(|(_, row)| row.version)
                    .next()
                    .unwrap_or_else(|| others().map(|(_, row)| row.version).max().unwrap_or(0) + 1),
                own: own().map(|(place, _)| place.clone()).collect(),
                was_refused: own().any(|(_, row)| row.was_refused),
                intent: own().find_map(|(_, row)| row.intent.clone()),
                families: others().map(|(_, row)| row.family.clone()).collect(),
                others: others().filter_map(|(_, row)| row.intent.clone()).collect(),
            }
        })
    }

    async fn reserve(&self, version: u32, wanted: &Wanted, intent: Option<&Intent>) -> Result<bool, Unrecorded> {
        self.ask(|rows| {
            rows.retain(|place, row| {
                let is_wanted = *place == wanted.place && row.owner == self.owner;
                row.owner.0 != self.owner.0 || is_wanted || row.filed || row.intent.is_some()
            });
            let is_anothers = rows.values().any(|row| row.family == wanted.family && row.owner.0 != self.owner.0);
            if !is_anothers {
                let (family, owner) = (wanted.family.clone(), self.owner.clone());
                let row = Row { family, owner, version, filed: false, was_refused: false, intent: None };
                rows.entry(wanted.place.clone()).or_insert(row);
            }
            let own = rows.get_mut(&wanted.place).filter(|row| row.owner == self.owner);
            own.map(|row| row.intent = intent.cloned().or(row.intent.take())).is_some()
        })
    }

    async fn reserve_sidecar(&self, place: &Reserved) -> Result<bool, Unrecorded> {
        self.ask(|_| ())?;
        let mut table = self.table.lock().unwrap();
        Ok(table.sidecars.entry(place.clone()).or_insert_with(|| self.owner.clone()) == &self.owner)
    }

    async fn settle(&self, place: &Reserved, filed: bool) -> Result<(), Unrecorded> {
        self.ask(|rows| {
            let row = rows.get_mut(place).unwrap();
            (row.filed, row.intent) = (row.filed || filed, None);
        })
    }
}

/// A folder that plays the spool, with items in it, and a table that plays the ledger.
#[derive(Clone)]
pub(super) struct Spool(Arc<TempDir>, Arc<Mutex<Table>>);

impl Spool {
    pub(super) fn new() -> Self {
        Self(Arc::new(tempfile::tempdir().unwrap()), Arc::default())
    }

    /// Records the deliveries of the item.
    pub(super) fn record(&self, item: &Item) {
        for row in self.1.lock().unwrap().rows.values_mut().filter(|row| row.owner.0 == item.uuid) {
            (row.filed, row.intent) = (true, None);
        }
    }

    /// Records that the item was refused.
    pub(super) fn refuse(&self, uuid: &DocumentUuid) {
        self.prove(uuid);
        for row in self.1.lock().unwrap().rows.values_mut().filter(|row| row.owner.0 == *uuid) {
            row.was_refused = true;
        }
    }

    /// Records that the item was proved.
    pub(super) fn prove(&self, uuid: &DocumentUuid) {
        self.1.lock().unwrap().sidecars.retain(|_, owner| owner.0 != *uuid);
    }

    /// Loses the ledger.
    pub(super) fn forget(&self) {
        *self.1.lock().unwrap() = Table::default();
    }

    /// The ledger answers this many more questions and then none; `None` lifts the limit.
    pub(super) fn answer(&self, questions: Option<usize>) {
        self.1.lock().unwrap().answers = questions;
    }

    /// Document number `number` with this content, which determines the version.
    pub(super) fn item(&self, number: u32, content: &[u8]) -> Item {
        let uuid = DocumentUuid::parse(&format!("00000000-0000-4000-8000-0000{number:08x}")).unwrap();
        let path = self.0.path().join(format!("{number}.pdf"));
        fs::write(&path, content).unwrap();
        let digest = super::files::Digest::of(content);
        let record = |value: serde_json::Value| value.as_object().cloned().unwrap();
        let version = Version { account: "main".into(), uuid: uuid.clone(), pdf: digest.sha256.clone() };
        Item {
            metadata: Arc::new(Metadata {
                number: None,
                account: "main".into(),
                document: record(
                    json!({"uuid": uuid.as_str(), "type": "lab_slip", "createdAt": "2026-11-21T10:00:00Z",
                    "audio": number, "pdf": {"uuid": "p", "size": digest.size, "fileName": format!("{CANARY}.pdf")}}),
                ),
                patient: record(
                    json!({"uuid": "p-1", "lastName": CANARY, "firstName": "Zoé", "dateOfBirth": "1980-03-12",
                    "email": null}),
                ),
                user: record(json!({"uuid": "u-1", "email": "a@practice.test"})),
            }),
            key: version.delivery_key("pms"),
            replaces: None,
            has_editions: false,
            pdf: Spooled { path, in_memory: None, size: digest.size, sha256: digest.sha256 },
            names: Arc::new(TableNames { table: self.1.clone(), owner: (uuid.clone(), version.pdf) }),
            uncertain: false,
            restored: false,
            tried: false,
            uuid,
        }
    }
}

/// A file that only its owner can read.
pub(super) fn write_secret(path: &std::path::Path, text: &str) {
    #[cfg(windows)]
    if !path.exists() {
        crate::system::permissions::effective_acl::create_file_with(
            path,
            &crate::system::permissions::access_list(false),
        );
    }
    std::fs::write(path, text).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// The reason of a failed delivery; checks that it reveals nothing about the patient.
pub(super) fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Transient { reason, .. }
        | Outcome::Unavailable { reason, .. }
        | Outcome::Unconfirmed { reason, .. }
        | Outcome::NoRoom(reason)
        | Outcome::Waiting { reason, .. }
        | Outcome::Own { reason, .. }
        | Outcome::Permanent { reason, .. } => {
            for word in [CANARY, "Zoé", "1980", SECRET] {
                assert!(!reason.to_lowercase().contains(&word.to_lowercase()), "{reason}");
            }
            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
            reason
        }
        other => panic!("{other:?}"),
    }
}

pub(super) fn assert_delivered(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Delivered { place, .. } if !place.is_empty() => place.clone(),
        other => panic!("{other:?}"),
    }
}

pub(super) async fn a_repeated_delivery_is_one_object(place: impl Place) {
    let spool = Spool::new();
    let item = spool.item(1, b"%PDF-1.7 letter");
    let first = assert_delivered(&place.adapter().deliver(&item).await);
    // A new adapter is the state after a restart.
    let second = assert_delivered(&place.adapter().deliver(&item).await);
    assert_eq!(first, second);
    assert_eq!(place.objects().into_values().collect::<Vec<_>>(), [b"%PDF-1.7 letter"]);
}

pub(super) async fn documents_are_delivered_at_once_and_each_is_whole(place: impl Place) {
    let spool = Spool::new();
    let adapter = place.adapter();
    let content = |number: u32| format!("%PDF-1.7 {number} ").repeat(9000 + number as usize).into_bytes();
    let items: Vec<Item> = (0..8).map(|number| spool.item(number, &content(number))).collect();
    let [a, b, c, d, e, f, g, h] = items.as_slice() else { panic!() };
    let outcomes = tokio::join!(
        adapter.deliver(a),
        adapter.deliver(b),
        adapter.deliver(c),
        adapter.deliver(d),
        adapter.deliver(e),
        adapter.deliver(f),
        adapter.deliver(g),
        adapter.deliver(h),
    );
    for outcome in [outcomes.0, outcomes.1, outcomes.2, outcomes.3, outcomes.4, outcomes.5, outcomes.6, outcomes.7] {
        assert_delivered(&outcome);
    }
    let mut found: Vec<Vec<u8>> = place.objects().into_values().collect();
    let mut expected: Vec<Vec<u8>> = (0..8).map(content).collect();
    found.sort();
    expected.sort();
    assert!(found == expected, "{} objects", found.len());
}

pub(super) async fn a_damaged_spool_is_told_and_shows_nothing(place: impl Place) {
    let spool = Spool::new();
    let item = spool.item(1, b"%PDF-1.7 letter");
    for damage in [Some(&b"%PDF-1.7 lettex"[..]), Some(b"%PDF-1.7"), Some(b"%PDF-1.7 letter and more"), Some(b""), None]
    {
        match damage {
            Some(content) => fs::write(&item.pdf.path, content).unwrap(),
            None => fs::remove_file(&item.pdf.path).unwrap(),
        }
        assert_eq!(place.adapter().deliver(&item).await, Outcome::SpoolDamaged, "{damage:?}");
        assert!(place.objects().is_empty());
    }
}

pub(super) async fn a_check_tells_whether_it_works_and_leaves_nothing(place: impl Place) {
    let adapter = place.adapter();
    adapter.check().await.unwrap();
    assert!(place.objects().is_empty());
    place.break_down();
    let complaint = adapter.check().await.unwrap_err();
    assert!(complaint.contains("`pms`"), "{complaint}");
}

pub(super) async fn a_destination_that_is_down_is_no_fault_of_the_document(place: impl Place) {
    let spool = Spool::new();
    place.break_down();
    let outcome = place.adapter().deliver(&spool.item(1, b"%PDF-1.7 letter")).await;
    let is_no_fault =
        matches!(outcome, Outcome::Transient { .. } | Outcome::Unavailable { .. } | Outcome::Unconfirmed { .. });
    assert!(is_no_fault, "{outcome:?}");
    assert!(reason(&outcome).contains("`pms`"));
}

/// The whole suite for one type of destination: `$place` makes a fresh one.
macro_rules! keeps_the_contract {
    ($place:expr) => {
        $crate::destinations::contract::keeps_the_contract! { $place;
            a_repeated_delivery_is_one_object
            documents_are_delivered_at_once_and_each_is_whole
            a_damaged_spool_is_told_and_shows_nothing
            a_check_tells_whether_it_works_and_leaves_nothing
            a_destination_that_is_down_is_no_fault_of_the_document
        }
    };
    ($place:expr; $($test:ident)*) => {
        mod contract {
            use super::*;
            $(
                #[tokio::test]
                async fn $test() {
                    $crate::destinations::contract::$test($place).await;
                }
            )*
        }
    };
}
pub(super) use keeps_the_contract;

/// Every file below a folder with its content, by its path with `/`. Includes temporary files.
pub(super) fn files_below(folder: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}
