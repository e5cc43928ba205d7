//! What every adapter keeps, whatever it delivers to: one suite, run against each of them.
//!
//! A new adapter adds a [`Place`] for itself and a line in `keeps_the_contract!`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use super::{Adapter, Item, Outcome};
use crate::document::{DocumentUuid, Metadata, Spooled, Version};
use crate::filed::Filed;

/// A patient's name that no reason may contain.
pub(super) const CANARY: &str = "Canaryworth";

/// A destination under test.
pub(super) trait Place {
    /// The adapter, ready for use.
    fn adapter(&self) -> Box<dyn Adapter>;
    /// The contents of the objects that a person or an importer there sees, by name.
    fn objects(&self) -> BTreeMap<String, Vec<u8>>;
    /// Makes the destination unusable as a whole.
    fn break_down(&self);
}

/// A folder that plays the spool, and items in it.
pub(super) struct Spool(TempDir);

impl Spool {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Document number `number` with this content.
    pub(super) fn item(&self, number: u32, content: &[u8]) -> Item {
        let uuid = DocumentUuid::parse(&format!("{number:08x}-0000-4000-8000-000000000000")).unwrap();
        let path = self.0.path().join(format!("{number}.pdf"));
        fs::write(&path, content).unwrap();
        let digest = super::files::Digest::of(content);
        let record = |value: serde_json::Value| value.as_object().cloned().unwrap();
        let version = Version { account: "main".into(), uuid: uuid.clone(), pdf: digest.sha256.clone() };
        Item {
            metadata: Metadata {
                account: "main".into(),
                document: record(
                    json!({"uuid": uuid.as_str(), "type": "lab_slip", "createdAt": "2026-11-21T10:00:00Z",
                    "number": number, "pdf": {"uuid": "p", "size": digest.size, "fileName": format!("{CANARY}.pdf")}}),
                ),
                patient: record(
                    json!({"uuid": "p-1", "lastName": CANARY, "firstName": "Zoé", "dateOfBirth": "1980-03-12",
                    "email": null}),
                ),
                user: record(json!({"uuid": "u-1", "email": "a@practice.test"})),
            },
            key: version.delivery_key("pms"),
            pdf: Spooled { path, size: digest.size, sha256: digest.sha256 },
            uuid,
            filed: Filed::default(),
        }
    }
}

/// The reason of a failed delivery, which tells nothing of the patient.
pub(super) fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Transient(reason) | Outcome::NoRoom(reason) | Outcome::Permanent(reason) => {
            for word in [CANARY, "Zoé", "1980"] {
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
    // A new adapter is what a restart leaves.
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
    assert!(matches!(outcome, Outcome::Transient(_)), "{outcome:?}");
    assert!(reason(&outcome).contains("`pms`"));
}

/// The whole suite for one kind of destination: `$place` makes a fresh one.
macro_rules! keeps_the_contract {
    ($place:expr) => {
        mod contract {
            use super::*;

            #[tokio::test]
            async fn a_repeated_delivery_is_one_object() {
                $crate::adapters::contract::a_repeated_delivery_is_one_object($place).await;
            }
            #[tokio::test]
            async fn documents_are_delivered_at_once_and_each_is_whole() {
                $crate::adapters::contract::documents_are_delivered_at_once_and_each_is_whole($place).await;
            }
            #[tokio::test]
            async fn a_damaged_spool_is_told_and_shows_nothing() {
                $crate::adapters::contract::a_damaged_spool_is_told_and_shows_nothing($place).await;
            }
            #[tokio::test]
            async fn a_check_tells_whether_it_works_and_leaves_nothing() {
                $crate::adapters::contract::a_check_tells_whether_it_works_and_leaves_nothing($place).await;
            }
            #[tokio::test]
            async fn a_destination_that_is_down_is_no_fault_of_the_document() {
                $crate::adapters::contract::a_destination_that_is_down_is_no_fault_of_the_document($place).await;
            }
        }
    };
}
pub(super) use keeps_the_contract;

/// Every file below a folder with its content, by its path with `/`; temporary ones too.
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
