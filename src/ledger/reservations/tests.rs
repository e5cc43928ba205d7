use super::*;
use crate::ledger::testing;

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
