//! The practice's list: a byte that says how it is to be read, and the file.

use std::path::PathBuf;

use docsyncd::config::{PatientsConfig, PatientsEncoding};
use docsyncd::patients::{Refused, Unmatched, parse};

const ENCODINGS: [PatientsEncoding; 7] = [
    PatientsEncoding::Auto,
    PatientsEncoding::Utf8,
    PatientsEncoding::Utf16,
    PatientsEncoding::Windows1252,
    PatientsEncoding::Iso8859_15,
    PatientsEncoding::Cp437,
    PatientsEncoding::Cp850,
];
/// A value this long that shows in an error was not there by chance.
const TELLING: usize = 6;
/// Rows whose patients are looked for.
const ASKED: usize = 40;

/// Whatever the file is, it is refused with words that show nobody, or each of its rows is found or is one of several.
pub fn check(input: &[u8]) {
    let Some((choice, file)) = input.split_first() else { return };
    let choice = usize::from(*choice);
    let config = PatientsConfig {
        file: PathBuf::from("patients.csv"),
        number: "PatNum".to_owned(),
        last_name: "LName".to_owned(),
        first_name: "FName".to_owned(),
        date_of_birth: "Birthdate".to_owned(),
        former_name: (choice & 8 != 0).then(|| "BirthName".to_owned()),
        date_format: (choice & 16 != 0).then(|| "%d.%m.%Y".to_owned()),
        encoding: ENCODINGS[(choice & 7) % ENCODINGS.len()],
        delimiter: (choice & 32 != 0).then_some(b';'),
        push: false,
    };
    let list = match parse(file, &config) {
        Ok(list) => list,
        Err(refused) => {
            let message = refused.to_string();
            assert!(message.len() > 20 && message.len() < 10_000 && !message.contains('\n'), "{message}");
            let columns = match refused {
                Refused::NoColumn { known, .. } => known,
                Refused::BrokenText { row: 1, column, .. } => vec![column],
                _ => Vec::new(),
            };
            shows_nobody(file, &message, &columns);
            return;
        }
    };
    assert_eq!(list.rows().count(), list.len());
    assert!(list.patients() <= list.len() && format!("{list:?}").len() < 60);
    for row in list.rows().take(ASKED) {
        assert!(!row.number.trim().is_empty() && !row.number.starts_with(['=', '#']));
        for value in [row.number, row.last_name, row.first_name, row.former_name] {
            assert!(
                !value.contains(['\n', '\r', '\u{fffd}']) && value.trim() == value && value.len() <= 1000,
                "{value:?}"
            );
        }
        assert!(list.row(row.number).is_some_and(|found| found.number == row.number));
        let person = row.person();
        assert_eq!(person.canonical(), row.person().canonical());
        match list.find(&person) {
            Ok(number) => assert!(number == row.number || row.is_shared),
            Err(Unmatched::Several) => {}
            Err(Unmatched::Nobody) => panic!("{row:?} is not found, and it is there"),
            Err(Unmatched::NoDateOfBirth) => assert!(row.born.is_none()),
            Err(Unmatched::NoName) => assert!(!person.has_names()),
            Err(other) => panic!("{other:?} is not said by the list"),
        }
        let near = list.near(&person);
        assert!(near.len() <= 10);
        // The nearest to a row that can be compared is that row, or one that equals it.
        assert!(!person.has_names() || near.first().is_some_and(|near| near.differences.len() <= 2));
    }
}

/// No value of the file stands in a message, but names of columns, which are no dates.
fn shows_nobody(file: &[u8], message: &str, columns: &[String]) {
    for value in String::from_utf8_lossy(file).split(['\n', '\r', ';', ',', '\t', '|', '"']).map(str::trim) {
        let is_telling = value.len() >= TELLING && value.chars().any(|c| c.is_ascii_digit());
        let is_column = columns.iter().any(|column| column.contains(value));
        assert!(!is_telling || is_column || !message.contains(value) || is_ours(value), "{message}");
    }
    let years = |column: &String| column.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 3);
    assert!(!columns.iter().any(years), "{message}");
}

/// Dates and numbers that messages have as examples.
fn is_ours(value: &str) -> bool {
    ["2026-12-31", "1,2E+05", "'0815", "1.471", "2001-05-07T22:00:00Z"].iter().any(|ours| ours.contains(value))
}
