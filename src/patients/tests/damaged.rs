//! Lists that an export cut short, or into which somebody typed a lone quotation mark: they give nobody another's number,
//! and lose nobody in silence.

use std::collections::BTreeSet;

use fastrand::Rng;

use super::*;

/// The values that count, in the order of the columns of [`config`].
type Values = [String; 4];

/// A list of this many rows, and its columns in some order.
fn random_list(rng: &mut Rng, count: usize) -> (String, BTreeSet<Values>) {
    let mut columns = vec!["PatNum", "LName", "FName", "Birthdate", "Remark", "Phone"];
    rng.shuffle(&mut columns);
    let line_end = *rng.choice(&["\n", "\r\n"]).unwrap();
    let delimiter = *rng.choice(&[";", ","]).unwrap();
    let mut text = columns.join(delimiter) + line_end;
    let mut rows = BTreeSet::new();
    for row in 0..count {
        // One number is often the beginning of another.
        let number = rng.u32(1..20_000).to_string();
        let born = format!("{}-{:02}-{:02}", rng.i16(1920..2020), rng.i8(1..=12), rng.i8(1..=28));
        let (last, first) = (format!("Name{}", rng.u8(..)), format!("Anna{row}"));
        let remark = *rng
            .choice(&[
                "",
                "",
                "Rosi",
                "\"Rosi\"",
                "12\" tall",
                "\"said \"\"no\"\"\"",
                "\"\"",
                "\"calls, often;\nin the morning,\nand; late\"",
                "\"first\r\nsecond\"",
            ])
            .unwrap();
        let values = columns.iter().map(|column| match *column {
            "PatNum" => number.as_str(),
            "LName" => last.as_str(),
            "FName" => first.as_str(),
            "Birthdate" => born.as_str(),
            "Remark" => remark,
            _ => "0123",
        });
        text += &values.collect::<Vec<_>>().join(delimiter);
        text += line_end;
        rows.insert([number, last, first, born]);
    }
    (text, rows)
}

fn rows_of(list: &List) -> BTreeSet<Values> {
    let born = |row: &Row<'_>| row.born.map(|born| born.to_string()).unwrap_or_default();
    list.rows()
        .map(|row| [row.number.to_owned(), row.last_name.to_owned(), row.first_name.to_owned(), born(&row)])
        .collect()
}

#[test]
fn a_list_that_was_cut_anywhere_is_refused_or_may_not_be_whole_or_has_its_whole_rows() {
    let mut rng = Rng::with_seed(7);
    let (mut refused, mut open, mut shorter) = (0, 0, 0);
    for _ in 0..1000 {
        let (text, rows) = random_list(&mut rng, 12);
        let whole = parse(text.as_bytes(), &config()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(rows_of(&whole), rows, "{text}");
        let known = Earlier { before: whole.as_before(), used: Some(Default::default()) };
        let cut = rng.usize(1..text.len());
        match parse(text.as_bytes().get(..cut).unwrap(), &config()) {
            Err(_) => refused += 1,
            Ok(list) => match known.doubt(&list, None) {
                Some(Doubt::Open) => open += 1,
                Some(Doubt::Shorter { .. }) => {
                    assert!(rows_of(&list).is_subset(&rows), "{text}");
                    shorter += 1;
                }
                other => assert_eq!((rows_of(&list), other), (rows, None), "cut at {cut}: {text}"),
            },
        }
    }
    assert!(refused > 300 && open > 50 && shorter > 5, "each kind occurred: {refused}, {open}, {shorter}");
}

#[test]
fn a_lone_quotation_mark_anywhere_refuses_the_list_or_leaves_every_row_with_its_own_number() {
    let mut rng = Rng::with_seed(11);
    let (mut refused, mut read) = (0, 0);
    for _ in 0..10_000 {
        let (mut text, rows) = random_list(&mut rng, 12);
        let header = text.find('\n').unwrap();
        // Mostly where a value begins or ends, as everywhere else it is a character like others.
        let is_edge = |at: &usize| {
            let bytes = text.as_bytes();
            [at - 1, *at].iter().any(|at| matches!(bytes[*at], b';' | b',' | b'\r' | b'\n'))
        };
        let edges: Vec<usize> = (header + 1..text.len()).filter(is_edge).collect();
        let at = if rng.u8(..) < 200 { *rng.choice(&edges).unwrap() } else { rng.usize(header + 1..text.len()) };
        text.insert(at, '"');
        let Ok(list) = parse(text.as_bytes(), &config()) else {
            refused += 1;
            continue;
        };
        read += 1;
        // A mark within a name changes that name, and neither loses its row nor gives it to somebody else.
        let plain = |rows: BTreeSet<Values>| -> BTreeSet<Values> {
            rows.into_iter().map(|row| row.map(|value| value.replace('"', ""))).collect()
        };
        assert_eq!(plain(rows_of(&list)), plain(rows), "{text}");
    }
    assert!(refused > 2000 && read > 1000, "each kind occurred: {refused}, {read}");
}

/// Two marks make one row of two, of which the first has no number.
#[test]
fn two_lone_quotation_marks_give_nobody_anothers_number_and_lose_nobody() {
    let mut rng = Rng::with_seed(13);
    for _ in 0..10_000 {
        let mut columns = vec!["PatNum", "LName", "FName", "Birthdate", "Remark", "Phone"];
        rng.shuffle(&mut columns);
        let born = format!("1980-02-{:02}", rng.i8(1..=28));
        let first_number = *rng.choice(&["", "", "1", "ANNA"]).unwrap();
        let second_number = *rng.choice(&["2", "", "PAUL"]).unwrap();
        let row = |number: &str, first: &str, remark: &str| {
            let value = |column: &&str| match *column {
                "PatNum" => number.to_owned(),
                "LName" => "Durand".to_owned(),
                "FName" => first.to_owned(),
                "Birthdate" => born.clone(),
                "Remark" => remark.to_owned(),
                _ => "0123".to_owned(),
            };
            columns.iter().map(value).collect::<Vec<_>>().join(";") + "\n"
        };
        let between = if rng.bool() { row("7", "Jean", "") } else { String::new() };
        let rows = [row(first_number, "Anna", "\"twin"), between, row(second_number, "Paul", "\"")];
        let text = format!("{}\n{}", columns.join(";"), rows.concat());
        assert!(parse(text.as_bytes(), &config()).is_err(), "{text}");
    }
}

#[test]
fn a_remark_of_several_lines_with_delimiters_in_it_is_a_remark() {
    let mut rng = Rng::with_seed(17);
    for _ in 0..10_000 {
        let delimiter = *rng.choice(&[";", ","]).unwrap();
        let mut columns = vec!["PatNum", "LName", "FName", "Birthdate", "Remark", "Phone"];
        columns.truncate(rng.usize(5..7));
        rng.shuffle(&mut columns);
        let word = |rng: &mut Rng| {
            let words = ["calls", "in", "the morning", "Anna", "Dr. Roy", "x", "\"\"no\"\""];
            let between = [" ", delimiter, delimiter, "\n", ". ", "\r\n\r\n"];
            format!("{}{}", rng.choice(&words).unwrap(), rng.choice(&between).unwrap())
        };
        let remark: String = (0..rng.usize(2..16)).map(|_| word(&mut rng)).collect();
        let value = |column: &&str| match *column {
            "PatNum" => "471".to_owned(),
            "LName" => "Durand".to_owned(),
            "FName" => "Zoé".to_owned(),
            "Birthdate" => "1980-02-17".to_owned(),
            "Remark" => format!("\"{remark}end\""),
            _ => "0123".to_owned(),
        };
        let row = columns.iter().map(value).collect::<Vec<_>>().join(delimiter);
        let text = format!("{}\n{row}\n", columns.join(delimiter));
        let list = parse(text.as_bytes(), &config()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(list.len(), 1, "{text}");
    }
}

/// A practice exports one row for each visit, and each clerk wrote the name of birth in another way.
#[test]
fn rows_of_one_number_are_compared_in_a_time_that_grows_with_their_count() {
    let many = |count: usize, row: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..count).map(row).collect();
        list(&rows.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let anna = person("Berg, Anna, 1980-02-17");
    let same = many(60_000, &|_| "471;Berg;Anna;1980-02-17".to_owned());
    assert_eq!(same.find(&anna).as_deref(), Ok("471"));
    let other = many(60_000, &|row| format!("471;Berg;Anna;1980-02-17;Name {row}"));
    assert_eq!(other.find(&anna), Err(Unmatched::Several), "nobody has so many names");
    let few = many(60_000, &|row| format!("471;Berg;Anna;1980-02-17;Name {}", row % 16));
    assert_eq!(few.find(&anna).as_deref(), Ok("471"));
}
