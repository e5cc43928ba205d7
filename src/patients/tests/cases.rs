//! The named cases: one letter's patient and one list each.

use super::*;

/// The name of the case; the patient in the cloud service; the rows; the number, or why there is none.
type Case = (&'static str, &'static str, &'static [&'static str], Result<&'static str, Unmatched>);

const CASES: &[Case] = &[
    ("equal in everything", "Müller, Jörg, 1980-02-17", &["7;Müller;Jörg;17.02.1980"], Ok("7")),
    ("letter case", "MÜLLER, jörg, 1980-02-17", &["7;Müller;Jörg;1980-02-17"], Ok("7")),
    ("accents", "Lefevre, Zoe, 1980-02-17", &["7;Lefèvre;Zoé;1980-02-17"], Ok("7")),
    ("combining accents", "Lefe\u{300}vre, Zoe\u{301}, 1980-02-17", &["7;Lefèvre;Zoé;1980-02-17"], Ok("7")),
    ("ß and ss", "Weiss, Anna, 1980-02-17", &["7;Weiß;Anna;1980-02-17"], Ok("7")),
    ("an umlaut and two letters", "Mueller, Joerg, 1980-02-17", &["7;Müller;Jörg;1980-02-17"], Ok("7")),
    ("an umlaut and one letter", "Muller, Jorg, 1980-02-17", &["7;Müller;Jörg;1980-02-17"], Ok("7")),
    ("two letters are not one", "Mueller, Anna, 1980-02-17", &["7;Muller;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    (
        "two spellings of the umlaut are two patients",
        "Müller, Anna, 1980-02-17",
        &["7;Muller;Anna;1980-02-17", "8;Mueller;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    ("æ, œ, ø, ł", "Kjaer Leboeuf, Soren Pawel, 1980-02-17", &["7;Kjær-Lebœuf;Søren Paweł;1980-02-17"], Ok("7")),
    ("a hyphen", "Martin Durand, Jean Paul, 1980-02-17", &["7;Martin-Durand;Jean-Paul;1980-02-17"], Ok("7")),
    ("an apostrophe", "D’Angelo, Anna, 1980-02-17", &["7;D'Angelo;Anna;1980-02-17"], Ok("7")),
    ("full stops", "St. John, Anna, 1980-02-17", &["7;St John;Anna;1980-02-17"], Ok("7")),
    ("double spaces", "van  der   Berg, Anna, 1980-02-17", &["7;van der Berg;Anna;1980-02-17"], Ok("7")),
    ("spaces of a particle", "VanDerBerg, Anna, 1980-02-17", &["7;van der Berg;Anna;1980-02-17"], Ok("7")),
    (
        "spaces of a particle that two have",
        "VanDerBerg, Anna, 1980-02-17",
        &["7;van der Berg;Anna;1980-02-17", "8;Van Derberg;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    (
        "a space that does not break",
        "van\u{a0}der\u{a0}Berg, Anna, 1980-02-17",
        &["7;van der Berg;Anna;1980-02-17"],
        Ok("7"),
    ),
    ("a joiner without width", "Ber\u{200d}g, Anna, 1980-02-17", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    ("spaces around values", " Berg ,  Anna , 1980-02-17", &[" 7 ; Berg ; Anna ; 1980-02-17 "], Ok("7")),
    ("a missing particle", "Berg, Anna, 1980-02-17", &["7;von Berg;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    ("a title", "Dr. Berg, Anna, 1980-02-17", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    (
        "a suffix, as of father and son",
        "Berg, Hans, 1980-02-17",
        &["7;Berg jun.;Hans;1980-02-17"],
        Err(Unmatched::Nobody),
    ),
    ("more first names", "Berg, Jean, 1980-02-17", &["7;Berg;Jean Paul;1980-02-17"], Err(Unmatched::Nobody)),
    ("a nickname", "Berg, Alex, 1980-02-17", &["7;Berg;Alexander;1980-02-17"], Err(Unmatched::Nobody)),
    ("an initial", "Berg, J., 1980-02-17", &["7;Berg;Jean;1980-02-17"], Err(Unmatched::Nobody)),
    ("a half of a double name", "Berg, Anna, 1980-02-17", &["7;Berg-Thal;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    (
        "a name before a wedding without a column",
        "Thal, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17"],
        Err(Unmatched::Nobody),
    ),
    ("a name before a wedding with a column", "Thal, Anna, 1980-02-17", &["7;Berg;Anna;1980-02-17;Thal"], Ok("7")),
    ("the name after it", "Berg, Anna, 1980-02-17", &["7;Berg;Anna;1980-02-17;Thal"], Ok("7")),
    (
        "a name before a wedding that somebody else has",
        "Thal, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17;Thal", "8;Thal;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    ("swapped names", "Anna, Berg, 1980-02-17", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    ("one digit of the date", "Berg, Anna, 1980-02-18", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    ("day and month swapped", "Berg, Anna, 1980-03-02", &["7;Berg;Anna;1980-02-03"], Err(Unmatched::Nobody)),
    (
        "twins of whom both are there",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "8;Berg;Hanna;1980-02-17"],
        Ok("7"),
    ),
    (
        "twins of whom the other is there",
        "Berg, Anna, 1980-02-17",
        &["8;Berg;Hanna;1980-02-17"],
        Err(Unmatched::Nobody),
    ),
    (
        "one number in two rows",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;BERG;Anna;1980-02-17"],
        Ok("7"),
    ),
    (
        "two numbers",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "8;Berg;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    (
        "a number that differs in its zeros",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "07;Berg;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    (
        "one number with two persons",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;Thal;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    (
        "the other one of them",
        "Thal, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;Thal;Anna;1980-02-17"],
        Err(Unmatched::Several),
    ),
    (
        "a number of two persons and one of her own",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;Thal;Anna;1980-02-17", "8;Berg;Anna;1980-02-17"],
        Ok("8"),
    ),
    (
        "one number with two dates",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;Berg;Anna;1980-02-18"],
        Err(Unmatched::Several),
    ),
    (
        "one number with and without a date",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "7;Berg;Anna;"],
        Err(Unmatched::Several),
    ),
    ("nobody", "Berg, Anna, 1980-02-17", &["7;Thal;Peter;1951-12-30"], Err(Unmatched::Nobody)),
    ("an empty list", "Berg, Anna, 1980-02-17", &[], Err(Unmatched::Nobody)),
    ("no date in the cloud", "Berg, Anna, ", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::NoDateOfBirth)),
    ("no date on either side", "Berg, Anna, ", &["7;Berg;Anna;"], Err(Unmatched::NoDateOfBirth)),
    ("zeros on both sides", "Berg, Anna, 0000-00-00", &["7;Berg;Anna;0000-00-00"], Err(Unmatched::NoDateOfBirth)),
    (
        "the first day of Excel on both sides",
        "Berg, Anna, 1899-12-30",
        &["7;Berg;Anna;1899-12-30"],
        Err(Unmatched::NoDateOfBirth),
    ),
    (
        "the first day of SQL Server on both sides",
        "Berg, Anna, 1900-01-01",
        &["7;Berg;Anna;1900-01-01"],
        Err(Unmatched::NoDateOfBirth),
    ),
    ("no date in the list", "Berg, Anna, 1980-02-17", &["7;Berg;Anna;"], Err(Unmatched::Nobody)),
    (
        "a namesake without a date in the list",
        "Berg, Anna, 1980-02-17",
        &["7;Berg;Anna;1980-02-17", "8;Berg;Anna;"],
        Ok("7"),
    ),
    ("the first of January", "Berg, Anna, 1970-01-01", &["7;Berg;Anna;1970-01-01"], Ok("7")),
    ("no last name", ", Anna, 1980-02-17", &["7;Berg;Anna;1980-02-17"], Err(Unmatched::NoName)),
    ("no last name on either side", ", Anna, 1980-02-17", &["7;;Anna;1980-02-17"], Err(Unmatched::NoName)),
    ("no first name on either side", "Berg, , 1980-02-17", &["7;Berg;;1980-02-17"], Err(Unmatched::NoName)),
    ("hyphens for names", "-, -, 1980-02-17", &["7;-;-;1980-02-17"], Err(Unmatched::NoName)),
    ("the date with a time", "Berg, Anna, 1980-02-17T00:00:00+00:00", &["7;Berg;Anna;17.02.1980 00:00:00"], Ok("7")),
    ("ł and l", "Walesa, Anna, 1980-02-17", &["7;Wałęsa;Anna;1980-02-17"], Ok("7")),
    ("the Turkish ı", "Yildiz, Anna, 1980-02-17", &["7;Yıldız;Anna;1980-02-17"], Err(Unmatched::Nobody)),
    ("another script that is the same", "Иванов, Анна, 1980-02-17", &["7;Иванов;Анна;1980-02-17"], Ok("7")),
    (
        "another script that is written in Latin",
        "Ivanov, Anna, 1980-02-17",
        &["7;Иванов;Анна;1980-02-17"],
        Err(Unmatched::Nobody),
    ),
    ("leading zeros", "Berg, Anna, 1980-02-17", &["00471;Berg;Anna;1980-02-17"], Ok("00471")),
];

#[test]
fn exactly_one_number_or_a_person() {
    assert!(CASES.len() >= 40);
    for (what, patient, rows, expected) in CASES {
        assert_eq!(list(rows).find(&person(patient)).as_deref(), expected.as_ref().copied(), "{what}");
    }
}

#[test]
fn a_person_stays_the_same_as_long_as_nothing_that_counts_changes() {
    let before = person("Müller-Lüdenscheidt, Jörg, 1980-02-17").canonical();
    for same in ["MÜLLER LÜDENSCHEIDT, JÖRG, 1980-02-17T00:00:00Z", " Mu\u{308}llerlüdenscheidt, Jörg., 1980-02-17"]
    {
        assert_eq!(person(same).canonical(), before);
    }
    for other in [
        "Müller-Lüdenscheidt, Jörg, 1980-02-18",
        "Müller-Lüdenscheidt, Jörg, ",
        "Müller, Jörg, 1980-02-17",
        "Müller-Lüdenscheidt, Georg, 1980-02-17",
        "Jörg, Müller-Lüdenscheidt, 1980-02-17",
        "Mueller-Lüdenscheidt, Jörg, 1980-02-17",
    ] {
        assert_ne!(person(other).canonical(), before, "{other}");
    }
    let list = list(&["7;MÜLLER-LÜDENSCHEIDT;Jörg;17.02.1980;Berg"]);
    assert_eq!(list.row("7").unwrap().person().canonical(), before);
    // Values cannot run into each other.
    assert_ne!(Person::new("a\nb", "c", None).canonical(), Person::new("a", "b\nc", None).canonical());
}
