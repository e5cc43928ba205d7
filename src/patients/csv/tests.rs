use super::super::Person;
use super::*;
use crate::patients::tests::config;

const HEADER: &str = "PatNum;LName;FName;Birthdate";

fn with(rows: &str) -> String {
    format!("{HEADER}\n{rows}")
}

fn refused(text: impl AsRef<[u8]>) -> String {
    parse(text.as_ref(), &config()).expect_err("it is refused").to_string()
}

/// The number of Jörg Müller, born on 17 February 1980.
fn joerg(list: &List) -> Option<String> {
    list.find(&Person::new("Müller", "Jörg", Some(jiff::civil::date(1980, 2, 17)))).ok()
}

#[test]
fn a_list_is_read_in_every_encoding_and_with_every_delimiter() {
    let text = with("1;Durand;Zoé;1951-12-30\r\n0042;Müller;Jörg;1980-02-17\r\n");
    let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let marked = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    let in_1252 = WINDOWS_1252.encode(&text).0.into_owned();
    let in_850 = CP850.encode(&text).unwrap().into_owned();
    for (bytes, encoding, said) in [
        (text.clone().into_bytes(), PatientsEncoding::Auto, "utf-8"),
        (marked(b"\xef\xbb\xbf", text.clone().into_bytes()), PatientsEncoding::Auto, "utf-8"),
        (marked(b"\xef\xbb\xbf", text.clone().into_bytes()), PatientsEncoding::Windows1252, "utf-8"),
        (marked(b"\xff\xfe", utf16(u16::to_le_bytes)), PatientsEncoding::Auto, "utf-16"),
        (marked(b"\xfe\xff", utf16(u16::to_be_bytes)), PatientsEncoding::Utf8, "utf-16"),
        (utf16(u16::to_le_bytes), PatientsEncoding::Utf16, "utf-16"),
        (in_1252.clone(), PatientsEncoding::Auto, "windows-1252"),
        (in_1252.clone(), PatientsEncoding::Windows1252, "windows-1252"),
        (in_1252, PatientsEncoding::Iso8859_15, "iso-8859-15"),
        (CP437.encode(&text).unwrap().into_owned(), PatientsEncoding::Cp437, "cp437"),
        (in_850, PatientsEncoding::Cp850, "cp850"),
    ] {
        let list =
            parse(&bytes, &PatientsConfig { encoding, ..config() }).unwrap_or_else(|error| panic!("{said}: {error}"));
        assert_eq!((joerg(&list).as_deref(), list.facts().encoding), (Some("0042"), said));
        assert_eq!((list.patients(), list.len()), (2, 2));
    }
    for delimiter in [";", ",", "\t", "|"] {
        let text = text.replace(';', delimiter);
        let list = parse(text.as_bytes(), &config()).unwrap();
        assert_eq!((joerg(&list).as_deref(), list.facts().delimiter.to_string().as_str()), (Some("0042"), delimiter));
        let given = PatientsConfig { delimiter: delimiter.bytes().next(), ..config() };
        assert_eq!(joerg(&parse(text.as_bytes(), &given).unwrap()).as_deref(), Some("0042"));
    }
}

#[test]
fn how_it_was_read_is_said_in_a_few_words() {
    for (date, words) in [
        ("1980-02-17", "utf-8, `;`, dates as %Y-%m-%d"),
        ("17.02.1980", "utf-8, `;`, dates as %d.%m.%Y"),
        ("2/17/1980", "utf-8, `;`, dates as %m/%d/%Y"),
        ("19800217", "utf-8, `;`, dates as %Y%m%d"),
        ("", "utf-8, `;`"),
    ] {
        assert_eq!(parse(with(&format!("1;A;B;{date}")).as_bytes(), &config()).unwrap().facts().to_string(), words);
    }
    assert_eq!(parse(HEADER.replace(';', "\t").as_bytes(), &config()).unwrap().facts().to_string(), "utf-8, `\\t`");
}

#[test]
fn values_may_be_quoted_and_have_spaces_around_them_and_columns_may_stand_anywhere() {
    let header = "\"FName\";Notes; Birthdate ;LName;PatNum;";
    for row in [
        "Jörg;\"a;b \"\"c\"\"\nd\";17.02.1980;Müller;0042;",
        "  Jörg\u{a0};; 17.02.1980 ;\tMüller ; 0042 ;",
        "\"Jörg\";;\"17.02.1980\";\"Müller\";\"0042\"",
        "\"Jör\ng\";;17.02.1980;\"\r\nMüller\r\n\";0042",
        "\n\n\nJörg;;17.02.1980;Müller;0042;;;",
    ] {
        let list = parse(format!("{header}\n;;;;;\n{row}\n;;;\n\n").as_bytes(), &config()).unwrap();
        assert_eq!((joerg(&list).as_deref(), list.len()), (Some("0042"), 1), "{row}");
    }
    let list = parse(with("0042;\"van\r\nder Berg\";Jörg;1980-02-17").as_bytes(), &config()).unwrap();
    assert_eq!(list.row("0042").unwrap().last_name, "van der Berg");
}

#[test]
fn a_row_without_a_number_counts_for_nothing_and_one_without_a_date_is_kept_for_people() {
    let list =
        parse(with(";Müller;Jörg;1980-02-17\n7;Müller;Jörg;\n8;Durand;Zoé;1980-02-17").as_bytes(), &config()).unwrap();
    assert_eq!((list.len(), list.facts().without_number, list.facts().without_date), (2, 1, 1));
    assert_eq!(joerg(&list), None);
}

#[test]
fn numbers_are_text() {
    for number in ["00471", "471", "A-12/3", "12E5", "1.234", "1 234", "-", "+49", "0", "471.1", "E+5"] {
        let list = parse(with(&format!("{number};Müller;Jörg;1980-02-17")).as_bytes(), &config()).unwrap();
        assert_eq!(joerg(&list).as_deref(), Some(number));
        assert!(list.row(number).is_some() && list.row("4711").is_none());
    }
}

#[test]
fn all_rows_together_show_whether_the_day_or_the_month_comes_first() {
    let joergs = |rows: &str| joerg(&parse(with(rows).as_bytes(), &config()).unwrap());
    assert_eq!(joergs("1;Müller;Jörg;17/02/1980\n2;A;B;03/04/1980"), Some("1".to_owned()));
    assert_eq!(joergs("1;Müller;Jörg;02/17/1980\n2;A;B;03/04/1980"), Some("1".to_owned()));
    let april = |rows: &str, month, day| {
        let list = parse(with(rows).as_bytes(), &config()).unwrap();
        list.find(&Person::new("A", "B", Some(jiff::civil::date(1980, month, day)))) == Ok("2".to_owned())
    };
    assert!(april("1;Müller;Jörg;17/02/1980\n2;A;B;03/04/1980", 4, 3));
    assert!(april("1;Müller;Jörg;02/17/1980\n2;A;B;03/04/1980", 3, 4));
    assert!(april("2;A;B;04/04/1980", 4, 4), "both orders give the same day");
    assert!(april("1;C;D;1980-01-02\n2;A;B;1980-04-03", 4, 3));
    let given = |format: &str| PatientsConfig { date_format: Some(format.to_owned()), ..config() };
    let list = parse(with("2;A;B;03/04/1980").as_bytes(), &given("%d/%m/%Y")).unwrap();
    assert_eq!(list.row("2").unwrap().born, Some(jiff::civil::date(1980, 4, 3)));
    let list = parse(with("2;A;B;03/04/1980").as_bytes(), &given("%m/%d/%Y")).unwrap();
    assert_eq!(list.row("2").unwrap().born, Some(jiff::civil::date(1980, 3, 4)));
}

/// Each kind has its own message, which says where the mistake is and what to do, and nothing about a patient.
#[test]
fn what_spoils_one_row_refuses_the_file_with_its_row_and_a_remedy() {
    const NUMBER: &str = "in the column of the number (`PatNum`), so other numbers may be spoiled as well: export the list as text, without opening it in a spreadsheet, or give that column the format Text there";
    const BIRTH: &str = "in the column of the date of birth (`Birthdate`)";
    let good = "1;Durand;Zoé;1951-12-30";
    for (row, said) in [
        ("1,2E+05;Canary;Jean;1980-02-17", format!("row 3 has a rounded number (such as 1,2E+05) {NUMBER}")),
        ("1E+05;Canary;Jean;1980-02-17", format!("row 3 has a rounded number (such as 1,2E+05) {NUMBER}")),
        ("####;Canary;Jean;1980-02-17", format!("row 3 has what a spreadsheet shows instead of a value (such as #### or #N/A) {NUMBER}")),
        ("#N/A;Canary;Jean;1980-02-17", format!("row 3 has what a spreadsheet shows instead of a value (such as #### or #N/A) {NUMBER}")),
        ("=A1+1;Canary;Jean;1980-02-17", format!("row 3 has a formula {NUMBER}")),
        ("\"=\"\"00471\"\"\";Canary;Jean;1980-02-17", format!("row 3 has a formula {NUMBER}")),
        ("471.0;Canary;Jean;1980-02-17", format!("row 3 has a number with a decimal zero (such as 471.0) {NUMBER}")),
        ("2;Canary;Jean;17/02/80", format!("row 3 has a year of two digits {BIRTH}: export dates as text with a year of four digits, best as 2026-12-31")),
        ("2;Canary;Jean;29268", format!("row 3 has a plain number, as a spreadsheet keeps dates, {BIRTH}: export dates as text with a year of four digits, best as 2026-12-31")),
        ("2;Canary;Jean;31/02/1980", format!("row 3 has something that is no date {BIRTH}: correct it in the practice's software, or write `patients.date_format` if all dates are written so")),
        ("2;Canary;Jean;13/13/1980", format!("row 3 has something that is no date {BIRTH}: correct it in the practice's software, or write `patients.date_format` if all dates are written so")),
        ("2;Canary;Jean;03/04/1980", "row 3 has a date that can be read in two ways, and no other row shows which is meant: write `patients.date_format` (\"%d/%m/%Y\" where the day comes first, \"%m/%d/%Y\" where the month does)".to_owned()),
        ("2;Canary;Jean;17/04/1980\n3;Canary;Jean;04/17/1980", "row 3 has a date with the day first and row 4 one with the month first: export all dates in one form, best as 2026-12-31, or write `patients.date_format` if one of the two is a mistake".to_owned()),
        ("2;Can\u{fffd}ry;Jean;1980-02-17", "row 3 has broken letters in the column `LName` (as in M\u{fffd}ller): export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`".to_owned()),
        ("2;Canary;JÃ¼rgen;1980-02-17", "row 3 has broken letters in the column `FName` (as in MÃ¼ller): export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`".to_owned()),
        ("2;Can\u{81}ry;Jean;1980-02-17", "row 3 has broken letters in the column `LName` (as in MÃ¼ller): export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`".to_owned()),
        ("2;Canary;Jo‰lle;1980-02-17", "row 3 has broken letters in the column `FName` (as in MÃ¼ller): export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`".to_owned()),
        ("2;Can;ary;Jean;1980-02-17", "row 3 has 5 values and the first line 4: a value that holds the delimiter or a line end has to stand in quotation marks".to_owned()),
        ("2;Canary", "row 3 has 2 values and the first line 4: a value that holds the delimiter or a line end has to stand in quotation marks".to_owned()),
        ("2;\"Canary;Jean;1980-02-17\n3;\"Canary\";Jean;1980-02-17", "row 3 has a quotation mark without its other half, or a value longer than any name: export the list again, or correct that row".to_owned()),
    ] {
        let message = refused(with(&format!("{good}\n{row}")));
        assert_eq!(message, said, "{row}");
        for value in ["Can", "Jean", "Jürgen", "1980", "00471"] {
            assert!(!message.contains(value), "{message}");
        }
    }
    let long = "Canary".repeat(200);
    assert!(refused(with(&format!("2;{long};Jean;1980-02-17"))).starts_with("row 2 has a quotation mark without"));
    let given = PatientsConfig { date_format: Some("%d.%m.%Y".to_owned()), ..config() };
    let message = parse(with("1;A;B;17.02.1980\n2;A;B;02/17/1980").as_bytes(), &given).unwrap_err().to_string();
    assert_eq!(
        message,
        format!(
            "row 3 has something that is no date {BIRTH} as `patients.date_format` says (%d.%m.%Y): correct that row, or the format"
        )
    );
}

#[test]
fn a_file_that_is_no_text_or_of_another_encoding_is_refused_with_the_line() {
    for bytes in [&b""[..], b"\xef\xbb\xbf", b"\r\n \n"] {
        assert!(refused(bytes).starts_with("it is empty"), "{bytes:?}");
    }
    let broken = [with("1;A;B;1980-02-17\n2;Caf").into_bytes(), b"\xe9;B;1980-02-17".to_vec()].concat();
    let given = PatientsConfig { encoding: PatientsEncoding::Utf8, ..config() };
    let message = parse(&broken, &given).unwrap_err().to_string();
    assert!(message.starts_with("row 3 is not text in utf-8: export it as UTF-8"), "{message}");
    assert!(parse(&broken, &config()).is_ok(), "it is windows-1252");
    let of_850 = CP850.encode(&with("1;Durand;Zoé;1951-12-30\n2;Lefèvre;Renée;1980-02-17")).unwrap().into_owned();
    assert!(refused(&of_850).starts_with("row 3 has broken letters in the column `FName`"), "{}", refused(&of_850));
    assert!(parse(with("1;Durand;Marie „Mimi“ Anne;1951-12-30").as_bytes(), &config()).is_ok());
    let wide: Vec<u8> = with("1;A;B;1980-02-17").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(&wide).starts_with("row 1 is not text in utf-8"), "{}", refused(&wide));
    let odd = [b"\xff\xfe", wide.as_slice(), b"x"].concat();
    assert!(refused(&odd).starts_with("row 2 is not text in utf-16"), "{}", refused(&odd));
}

#[test]
fn a_column_that_is_missing_is_named_with_those_that_are_there() {
    assert_eq!(
        refused("PatNo;LName;FName;Birthdate\n1;A;B;1980-02-17"),
        "it has no column `PatNum`, which `patients.number` names (it has `PatNo`, `LName`, `FName`, `Birthdate`; the nearest is \
         `PatNo`): write its name as it stands in the first line"
    );
    assert_eq!(
        refused("PatNum;LName;FName\n1;A;B"),
        "it has no column `Birthdate`, which `patients.date_of_birth` names (it has `PatNum`, `LName`, `FName`): write its name as \
         it stands in the first line"
    );
    assert_eq!(
        refused("PatNum;LName;FName;LName;Birthdate\n1;A;B;C;1980-02-17"),
        "it has several columns `LName`, which `patients.last_name` names: give each a name of its own"
    );
    let former = PatientsConfig { former_name: Some("Né(e)".to_owned()), ..config() };
    assert!(parse(with("").as_bytes(), &former).unwrap_err().to_string().contains("`patients.former_name`"));
    let broken = PatientsConfig { former_name: Some("Né".to_owned()), ..config() };
    let message = parse(format!("{HEADER};NÃ©\n").as_bytes(), &broken).unwrap_err().to_string();
    assert!(message.starts_with("row 1 has broken letters in the column `NÃ©`"), "{message}");
}

/// Otherwise the message would show a patient as names of columns.
#[test]
fn a_file_without_the_names_of_its_columns_shows_nobody() {
    for text in
        ["4711;Canary;Jean;17.02.1980", "4711,Canary,Jean,1980-02-17\n", "Canary\tJean\t17021980", "12;Canary;Jean;"]
    {
        assert_eq!(refused(text), "its first line does not hold the names of columns: export it with them");
    }
}

#[test]
fn rows_are_counted_as_an_editor_counts_lines() {
    for (text, row) in [
        (with("\n\n\n####;A;B;1980-02-17"), 5),
        (with("1;\"A\nB\nC\";D;1980-02-17\n####;A;B;1980-02-17"), 5),
        (with("1;A;B;1980-02-17\n####;A;B;1980-02-17").replace('\n', "\r\n"), 3),
        (with("1;A;B;1980-02-17\n####;A;B;1980-02-17").replace('\n', "\r"), 3),
        (with("\r\n\r\n1;A;B;1980-02-17\r\n\r\n####;A;B;1980-02-17"), 6),
        (format!("\n\n{}", with("####;A;B;1980-02-17")), 4),
    ] {
        let message = refused(&text);
        assert!(message.starts_with(&format!("row {row} ")), "{text:?}: {message}");
    }
}

#[test]
fn nothing_that_is_printed_for_programmers_shows_a_patient() {
    let list = parse(with("4711;Canary;Jean;1980-02-17").as_bytes(), &config()).unwrap();
    let person = Person::new("Canary", "Jean", Some(jiff::civil::date(1980, 2, 17)));
    let row = list.row("4711").unwrap();
    let shown = format!("{list:?} {person:?} {row:?} {:?}", list.near(&person));
    for secret in ["Canary", "Jean", "4711", "1980"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
