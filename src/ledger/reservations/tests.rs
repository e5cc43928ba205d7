use super::*;
use crate::ledger::{deliveries, restored, retry, testing};

fn owner(uuid: &str, pdf: &str) -> Owner {
    Owner { document: 1, uuid: DocumentUuid::parse(uuid).unwrap(), pdf: pdf.to_owned(), destination: "pms".to_owned() }
}

fn wanted(name: &str, family: &str) -> Wanted {
    Wanted { place: Place::of(name), family: Place::of(family) }
}

fn intent(name: &str) -> Intent {
    Intent { place: Place::of(name), path: name.to_owned(), temporary: format!(".{name}") }
}

#[test]
fn a_name_is_one_versions_and_its_family_one_documents() {
    let (_folder, db) = testing::empty();
    let (first, second, other) = (owner("a", "1"), owner("a", "2"), owner("b", "3"));
    let reserve =
        |of: &Owner, name: &str, family: &str| reserve(&db, of, 1, &wanted(name, family), Some(&intent(name)));
    assert!(reserve(&first, "Letter.pdf", "Letter.pdf").unwrap());
    assert!(reserve(&first, "Letter.pdf", "Letter.pdf").unwrap(), "it is its own");
    assert!(!reserve(&second, "Letter.pdf", "Letter.pdf").unwrap());
    assert!(!reserve(&other, "LETTER.PDF", "LETTER.PDF").unwrap());
    assert!(reserve(&second, "Letter_v2.pdf", "Letter.pdf").unwrap());
    assert!(!reserve(&other, "Letter_v3.pdf", "Letter.pdf").unwrap());
    assert!(!reserve(&other, "Letter_v2.pdf", "Letter_v2.pdf").unwrap());
    assert!(reserve(&other, "Other.pdf", "Other.pdf").unwrap());
}

/// A document with a delivery of this version in this state, and the owner of its names.
fn letter(db: &rusqlite::Connection, id: i64, state: &str, pdf: &str, delivery: &str) -> Owner {
    let uuid = format!("uuid-{id}");
    db.execute(
        "INSERT INTO document (id, account, uuid, created_at, state, pdf, found_at, changed_at)
         VALUES (?1, 'main', ?2, '2026-11-21', ?3, ?4, 1, 1) ON CONFLICT (id) DO UPDATE SET state = ?3, pdf = ?4",
        rusqlite::params![id, uuid, state, pdf],
    )
    .unwrap();
    db.execute(
        "INSERT INTO delivery (document, pdf, destination, state, changed_at) SELECT ?1, ?2, 'pms', ?3, 1 WHERE ?3 <> ''
         ON CONFLICT DO UPDATE SET state = ?3",
        rusqlite::params![id, pdf, delivery],
    )
    .unwrap();
    owner(&uuid, pdf)
}

#[test]
fn a_sidecars_name_is_a_letters_until_nothing_is_to_be_read_there_any_more() {
    for (state, delivery, is_free) in [
        ("fetched", "pending", false),
        ("fetched", "filed", false),
        // It starts over, for example after a kill.
        ("discovered", "", false),
        ("fetched", "", false),
        ("fetched", "delivered", true),
        ("fetched", "failed", true),
        // Another destination refused it, and this one may still read it.
        ("failed", "filed", false),
        ("failed", "pending", true),
        ("withdrawn", "", true),
        ("reported", "delivered", true),
    ] {
        let (_folder, db) = testing::empty();
        let place = Place::of("/inbox/index.ini");
        let (one, two) = (letter(&db, 1, state, "1", delivery), letter(&db, 2, "fetched", "1", "pending"));
        assert!(reserve_sidecar(&db, &one, &place).unwrap() && reserve_sidecar(&db, &one, &place).unwrap());
        assert!(reserve_sidecar(&db, &two, &Place::of("/inbox/other.ini")).unwrap());
        assert_eq!(reserve_sidecar(&db, &two, &place).unwrap(), is_free, "{state} {delivery}");
        assert_eq!(reserve_sidecar(&db, &one, &place).unwrap(), !is_free, "{state} {delivery}");
    }
}

#[test]
fn a_version_that_is_filed_keeps_its_sidecars_name_and_one_that_never_arrived_does_not() {
    for (before, is_free) in [("filed", false), ("pending", true)] {
        let (_folder, db) = testing::empty();
        let place = Place::of("/inbox/uuid-1.ini");
        let one = letter(&db, 1, "fetched", "1", before);
        assert!(reserve_sidecar(&db, &one, &place).unwrap());
        let two = letter(&db, 1, "fetched", "2", "pending");
        assert_eq!(reserve_sidecar(&db, &two, &place).unwrap(), is_free, "{before}");
        give_back_sidecars(&db, &one).unwrap();
        assert!(reserve_sidecar(&db, &two, &place).unwrap());
    }
}

#[test]
fn a_name_that_no_file_got_is_given_back_with_the_next_one() {
    let (_folder, db) = testing::empty();
    let (one, two) = (owner("a", "1"), owner("b", "1"));
    for (name, filed) in [("taken.pdf", false), ("filed.pdf", true), ("third.pdf", false)] {
        assert!(reserve(&db, &one, 1, &wanted(name, name), Some(&intent(name))).unwrap());
        assert_eq!(known(&db, &one).unwrap().intent, Some(intent(name)));
        settle(&db, &Place::of(name), filed).unwrap();
    }
    assert!(reserve(&db, &two, 1, &wanted("taken.pdf", "taken.pdf"), None).unwrap());
    assert!(!reserve(&db, &two, 1, &wanted("filed.pdf", "filed.pdf"), None).unwrap());
}

#[test]
fn versions_are_counted_by_those_that_got_a_file() {
    let (_folder, db) = testing::empty();
    for (pdf, expected, filed) in [("1", 1, false), ("2", 1, true), ("3", 2, true), ("4", 3, true), ("3", 2, true)] {
        let version = owner("a", pdf);
        let known = known(&db, &version).unwrap();
        assert_eq!(known.version, expected, "{pdf}");
        assert!(known.families.iter().all(|family| *family == Place::of("Letter.pdf")));
        let name = format!("Letter_v{}.pdf", known.version);
        assert!(reserve(&db, &version, known.version, &wanted(&name, "Letter.pdf"), Some(&intent(&name))).unwrap());
        settle(&db, &Place::of(&name), filed).unwrap();
    }
    assert_eq!(known(&db, &owner("b", "1")).unwrap().version, 1);
}

#[test]
fn a_name_whose_file_was_refused_is_known_as_one_until_the_next_file_is_there() {
    let (_folder, db) = testing::empty();
    let one = letter(&db, 1, "fetched", "1", "filed");
    assert!(reserve(&db, &one, 1, &wanted("a.pdf", "a.pdf"), Some(&intent("a.pdf"))).unwrap());
    delivered(&db, &one).unwrap();
    assert!(!known(&db, &one).unwrap().was_refused);
    db.execute_batch("UPDATE delivery SET filed = '{\"pdf\":[1,\"x\"]}'").unwrap();
    let filed = deliveries::unproved(&db, "pms").unwrap();
    assert!(filed[0].refused(&db, "pms", "no", "deliver own refused_there", 5).unwrap().is_some());
    let refused = known(&db, &one).unwrap();
    assert!(refused.was_refused && refused.own.contains(&Place::of("a.pdf")));
    letter(&db, 1, "fetched", "1", "filed");
    delivered(&db, &one).unwrap();
    assert!(!known(&db, &one).unwrap().was_refused);
}

/// A backup says what was about to be done when it was made. Who has a key at a destination can be asked for it.
#[test]
fn what_a_backup_was_about_to_name_is_void_after_a_restore_and_the_name_stays() {
    let (_folder, db) = testing::empty();
    let (one, two) = (letter(&db, 1, "fetched", "1", "pending"), letter(&db, 2, "reported", "1", "delivered"));
    assert!(reserve(&db, &one, 1, &wanted("a.pdf", "a.pdf"), Some(&intent("a.pdf"))).unwrap());
    let keyed = Intent { place: Place::of("key"), path: "key {}".to_owned(), temporary: "key".to_owned() };
    assert!(reserve(&db, &two, 1, &wanted("key", "key"), Some(&keyed)).unwrap());
    for in_doubt in [false, true] {
        restored::begin(&db, restored::Restored { at: 1, in_doubt }, None, 2).unwrap();
        let known_of = known(&db, &one).unwrap();
        assert_eq!(known_of.intent.is_none(), in_doubt, "nothing ran since the backup");
        assert!(known_of.own.contains(&Place::of("a.pdf")));
        assert_eq!(known(&db, &two).unwrap().intent.as_ref(), Some(&keyed));
        // What was reported may have got a new version since.
        let all = "SELECT count(*) FROM document WHERE in_doubt";
        assert_eq!(db.query_row(all, [], |row| row.get::<_, u8>(0)).unwrap(), 2 * u8::from(in_doubt));
    }
    // Whoever asks for it again has looked.
    retry::retry(&db, 2, 3).unwrap();
    assert!(!crate::ledger::documents::by_number(&db, 2).unwrap().unwrap().in_doubt);
}
