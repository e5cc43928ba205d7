//! Which persons are found, and which are not.

mod cases;
mod damaged;
mod near;
mod random;

use std::path::PathBuf;

use super::*;
use crate::config::{PatientsConfig, PatientsEncoding};

/// The configuration for a list as Open Dental exports it.
pub(super) fn config() -> PatientsConfig {
    PatientsConfig {
        file: PathBuf::from("patients.csv"),
        number: "PatNum".to_owned(),
        last_name: "LName".to_owned(),
        first_name: "FName".to_owned(),
        date_of_birth: "Birthdate".to_owned(),
        former_name: None,
        date_format: None,
        encoding: PatientsEncoding::Auto,
        delimiter: None,
        push: false,
    }
}

/// A list with a column of former names, which a row may leave out. `rows` has no first line.
pub(super) fn list(rows: &[&str]) -> List {
    let whole = |row: &&str| if row.matches(';').count() < 4 { format!("{row};") } else { (*row).to_owned() };
    let rows: Vec<String> = rows.iter().map(whole).collect();
    let text = format!("PatNum;LName;FName;Birthdate;BirthName\n{}\n", rows.join("\n"));
    let config = PatientsConfig { former_name: Some("BirthName".to_owned()), ..config() };
    parse(text.as_bytes(), &config).unwrap_or_else(|error| panic!("{error}"))
}

/// `Müller, Jörg, 1980-02-17`
pub(super) fn person(text: &str) -> Person {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [last, first, born] = parts.as_slice() else { panic!("{text}") };
    let record = serde_json::json!({"lastName": last, "firstName": first, "dateOfBirth": born});
    let patient = record.as_object().cloned().unwrap();
    Person::of(&crate::domain::document::Metadata { patient, ..Default::default() })
}

#[test]
fn a_number_that_a_letter_went_elsewhere_with_counts_until_the_list_gives_it_to_somebody_else() {
    let anne = person("Roy, Anne, 1970-01-25");
    let by_hand = person("Roy, Anna, 1970-01-25");
    let before = list(&["7;Roy;Anne;1970-01-25;", "8;Weiß;Zoé;1999-12-31;"]);
    for (rows, whose_7) in [
        (&["7;Roy;Anne;1970-01-25;"][..], Ok("7")),
        (&["7;Legrand;Anne;1970-01-25;Roy"], Ok("7")),
        // She has a second number, or none any more.
        (&["7;Roy;Anne;1970-01-25;", "9;Roy;Anne;1970-01-25;"], Ok("7")),
        (&["8;Weiß;Zoé;1999-12-31;"], Ok("7")),
        // The number is somebody else's.
        (&["7;Petit;Luc;1950-03-04;"], Err(Unmatched::GivenAway)),
        (&["7;Petit;Luc;1950-03-04;", "9;Roy;Anne;1970-01-25;"], Err(Unmatched::GivenAway)),
        (&["7;Roy;Anne;1970-01-25;", "7;Petit;Luc;1950-03-04;"], Err(Unmatched::GivenAway)),
    ] {
        let list = list(rows);
        let still = whose_still(Some(&list), "p", &anne, None, Some("7"));
        assert_eq!(still, whose_7.map(str::to_owned), "{rows:?}");
        // A person's word on it counts as long as it holds.
        let word = fingerprint("p", "9", &anne, &list);
        let decided = whose_still(Some(&list), "p", &anne, Some(("9", &word)), Some("7"));
        assert_eq!(decided.unwrap(), if whose_7.is_ok() { "7" } else { "9" }, "{rows:?}");
    }
    // A share takes them for one.
    let twin = list(&["A7;Petit;Luc;1950-03-04;"]);
    assert_eq!(whose_still(Some(&twin), "p", &anne, None, Some("a7")), Err(Unmatched::GivenAway));
    let (not_listed, listed) = (list(&["9;Weiß;Zoé;1999-12-31;"]), list(&["a7;Roy;Anna;1970-01-25;"]));
    let both = list(&["a7;Roy;Anna;1970-01-25;", "A7;Petit;Luc;1950-03-04;"]);
    for (then, now) in [(&not_listed, &twin), (&listed, &both)] {
        let word = fingerprint("p", "a7", &anne, then);
        assert_eq!(whose(Some(then), "p", &anne, Some(("a7", &word))).unwrap(), "a7");
        assert!(whose(Some(now), "p", &anne, Some(("a7", &word))).is_err());
    }
    let word = fingerprint("p", "7", &by_hand, &before);
    assert_eq!(whose_still(Some(&before), "p", &by_hand, Some(("7", &word)), Some("7")).unwrap(), "7");
    assert_eq!(whose_still(None, "p", &anne, None, Some("7")), Err(Unmatched::NoList));
}

#[test]
fn numbers_that_many_shares_take_for_one_are_two_persons_under_one_number() {
    for [one, other] in [["a12", "A12"], ["\u{e9}1", "e\u{301}1"]] {
        let two = list(&[
            &format!("{one};Roy;Anne;1970-01-25;"),
            &format!("{other};Petit;Luc;1950-03-04;"),
            "3;Weiß;Zoé;1999-12-31;",
        ]);
        assert_eq!(two.find(&person("Roy, Anne, 1970-01-25")), Err(Unmatched::Several), "{one}");
        assert_eq!(two.find(&person("Petit, Luc, 1950-03-04")), Err(Unmatched::Several), "{one}");
        assert_eq!(two.find(&person("Weiß, Zoé, 1999-12-31")).unwrap(), "3");
        assert_eq!(two.patients(), 3);
    }
}

#[test]
fn a_row_knows_its_line() {
    for end in ["\n", "\r\n", "\r"] {
        let rows = [
            "PatNum;LName;FName;Birthdate",
            "1;A;B;1970-01-25",
            "",
            "2;\"C\nD\";E;1970-01-25",
            ";;;",
            "3;F;G;1970-01-25",
        ];
        let rows: Vec<&str> = rows.into_iter().filter(|row| end != "\r" || !row.contains('\n')).collect();
        let text = format!("{}{end}", rows.join(end));
        let lines: Vec<u32> = parse(text.as_bytes(), &config()).unwrap().rows().map(|row| row.line).collect();
        let expected: &[u32] = if end == "\r" { &[2, 5] } else { &[2, 4, 7] };
        assert_eq!(lines, expected, "{end:?}");
    }
}
