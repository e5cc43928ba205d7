//! Random lists, and patients made from their rows with random changes. They are compared with a second matcher, which
//! writes out every spelling of a name from a table of the spellings of each letter.

use std::collections::BTreeSet;

use fastrand::Rng;

use super::*;

/// The spellings of a letter, in lower case without accents. A letter that is not here has only itself.
const TABLE: &[(char, &[&str])] = &[
    ('ä', &["a", "ae"]),
    ('ö', &["o", "oe"]),
    ('ü', &["u", "ue"]),
    ('ß', &["ss"]),
    ('æ', &["ae"]),
    ('œ', &["oe"]),
    ('ø', &["o"]),
    ('ł', &["l"]),
    ('é', &["e"]),
    ('è', &["e"]),
    ('ë', &["e"]),
    ('ç', &["c"]),
    ('ñ', &["n"]),
    ('ę', &["e"]),
    ('å', &["a"]),
    (' ', &[""]),
    ('-', &[""]),
    ('\'', &[""]),
    ('’', &[""]),
    ('.', &[""]),
    ('\u{a0}', &[""]),
    ('‑', &[""]),
];

/// The spellings of a letter, if it is in the table.
fn ways(letter: char) -> Option<&'static [&'static str]> {
    TABLE.iter().find(|(of, _)| *of == letter).map(|(_, ways)| *ways)
}

/// Every spelling of a name.
fn spellings(name: &str) -> BTreeSet<String> {
    let mut all = vec![String::new()];
    for letter in name.to_lowercase().chars() {
        match ways(letter) {
            None => all.iter_mut().for_each(|name| name.push(letter)),
            Some([way]) => all.iter_mut().for_each(|name| name.push_str(way)),
            Some(ways) => {
                all = all.iter().flat_map(|before| ways.iter().map(move |way| format!("{before}{way}"))).collect();
            }
        }
    }
    all.into_iter().collect()
}

const LAST_NAMES: &[&str] = &[
    "Müller",
    "Mueller",
    "Muller",
    "Müller-Öztürk",
    "Weiß",
    "Weiss",
    "Jäger",
    "Jaeger",
    "Goethe",
    "Göthe",
    "von Berg",
    "Berg",
    "Berg-Thal",
    "Thal",
    "D'Angelo",
    "Angelo",
    "Lefèvre",
    "Lebœuf",
    "Sørensen",
    "Kjær",
    "Wałęsa",
    "Muñoz",
    "Martin",
    "Martin Durand",
    "Durand",
    "Dupont",
    "Dupond",
    "Åberg",
    "Meier",
    "Meyer",
    "Anna",
    "Neuhäuser",
    "van der Heyden",
];
const FIRST_NAMES: &[&str] = &[
    "Anna",
    "Hanna",
    "Jörg",
    "Joerg",
    "Jean",
    "Jean-Paul",
    "Jean Paul",
    "Zoé",
    "Zoë",
    "François",
    "Søren",
    "Paweł",
    "Jürgen",
    "Juergen",
    "Maria",
    "Marie",
    "Berg",
    "Martin",
    "Anne-Sophie",
    "René",
    "Renée",
];

fn pick<'a>(rng: &mut Rng, names: &[&'a str]) -> &'a str {
    rng.choice(names).copied().unwrap()
}

#[derive(Clone)]
struct Who {
    last: String,
    first: String,
    born: (i16, i8, i8),
}

impl Who {
    fn random(rng: &mut Rng) -> Self {
        // Few days, so that many people share one.
        let born = (1980, rng.i8(1..=3), rng.i8(1..=4));
        Self { last: pick(rng, LAST_NAMES).to_owned(), first: pick(rng, FIRST_NAMES).to_owned(), born }
    }

    fn person(&self) -> Person {
        let (year, month, day) = self.born;
        Person::new(&self.last, &self.first, Some(jiff::civil::date(year, month, day)))
    }
}

/// Writes a name in another spelling that counts as the same.
fn allowed(rng: &mut Rng, name: &str) -> String {
    let mut written = String::new();
    for letter in name.chars() {
        match ways(letter) {
            // Another separator, or none.
            Some([""]) => written.push_str(rng.choice(["", " ", "-", "'", "’", ".", "\u{a0}", "‑", "  "]).unwrap()),
            Some(ways) if rng.bool() => written.push_str(rng.choice(ways).unwrap()),
            _ => written.push(letter),
        }
    }
    match rng.u8(0..4) {
        0 => written.to_uppercase(),
        1 => written.to_lowercase(),
        2 => unicode_normalization::UnicodeNormalization::nfd(written.chars()).collect(),
        _ => written,
    }
}

/// Changes something that mostly makes another person.
fn forbidden(rng: &mut Rng, who: &mut Who) {
    let (year, month, day) = who.born;
    match rng.u8(0..9) {
        0 => std::mem::swap(&mut who.last, &mut who.first),
        1 => who.born = (year, day, month),
        2 => who.born = (year, month, day % 28 + 1),
        3 => who.born = (year + 1, month, day),
        4 => who.last = who.last.split([' ', '-']).next_back().unwrap().to_owned(),
        5 => who.first = who.first.chars().next().unwrap().to_string() + ".",
        6 => who.last.push_str(" jun."),
        7 => who.first = pick(rng, FIRST_NAMES).to_owned(),
        _ => {
            let at = rng.usize(0..who.last.chars().count());
            let other = rng.lowercase();
            who.last = who.last.chars().enumerate().map(|(i, c)| if i == at { other } else { c }).collect();
        }
    }
}

/// A row for the second matcher.
struct Known {
    number: String,
    is_shared: bool,
    who: Who,
    last: BTreeSet<String>,
    first: BTreeSet<String>,
}

impl Known {
    fn is(&self, last: &BTreeSet<String>, first: &BTreeSet<String>, born: (i16, i8, i8)) -> bool {
        self.who.born == born && !self.last.is_disjoint(last) && !self.first.is_disjoint(first)
    }
}

/// Whether two rows with this number are different persons.
fn is_shared(known: &[Known], number: &str) -> bool {
    let same = || known.iter().filter(|row| row.number == number);
    same().any(|a| same().any(|b| !a.is(&b.last, &b.first, b.who.born)))
}

/// The result of the second matcher.
fn expected(known: &[Known], who: &Who) -> Result<String, Unmatched> {
    let (last, first) = (spellings(&who.last), spellings(&who.first));
    let meant: Vec<&Known> = known.iter().filter(|row| row.is(&last, &first, who.born)).collect();
    let left: BTreeSet<&str> = meant.iter().filter(|row| !row.is_shared).map(|row| row.number.as_str()).collect();
    match (left.len(), meant.is_empty()) {
        (1, _) => Ok(left.first().unwrap().to_string()),
        (0, true) => Err(Unmatched::Nobody),
        _ => Err(Unmatched::Several),
    }
}

/// `DOCSYNCD_TEST_PATIENTS` says how many thousand patients.
#[test]
fn two_matchers_that_know_nothing_of_one_another_agree_on_a_hundred_thousand_patients() {
    let thousands = std::env::var("DOCSYNCD_TEST_PATIENTS").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    let lists = thousands * 5;
    let mut rng = Rng::with_seed(42);
    let (mut found, mut nobody, mut several, mut allowed_and_found) = (0, 0, 0, 0);
    for _ in 0..lists {
        let mut rows: Vec<Known> = Vec::new();
        for number in 1..=20 {
            let who = Who::random(&mut rng);
            // Some rows get a number that already exists.
            let number = if rng.u8(0..20) == 0 { rng.i32(1..=number) } else { number }.to_string();
            let (last, first) = (spellings(&who.last), spellings(&who.first));
            rows.push(Known { number, is_shared: false, last, first, who });
        }
        let shared: Vec<bool> = rows.iter().map(|row| is_shared(&rows, &row.number)).collect();
        rows.iter_mut().zip(shared).for_each(|(row, is_shared)| row.is_shared = is_shared);
        let lines: Vec<String> = rows
            .iter()
            .map(|Known { number, who: Who { last, first, born: (year, month, day) }, .. }| {
                format!("{number};{last};{first};{year}-{month:02}-{day:02}")
            })
            .collect();
        let list = list(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        for _ in 0..200 {
            let mut who = rng.choice(&rows).unwrap().who.clone();
            let is_changed = rng.bool();
            if is_changed {
                forbidden(&mut rng, &mut who);
            }
            (who.last, who.first) = (allowed(&mut rng, &who.last), allowed(&mut rng, &who.first));
            // The second matcher's table has no combining accents.
            let composed = |name: &str| unicode_normalization::UnicodeNormalization::nfc(name.chars()).collect();
            let plain = Who { last: composed(&who.last), first: composed(&who.first), born: who.born };
            let (is, should) = (list.find(&who.person()), expected(&rows, &plain));
            let shown = || format!("{}, {}, {:?} in {lines:#?}", who.last, who.first, who.born);
            assert!(is == should, "{is:?} and not {should:?}: {}", shown());
            assert!(is_changed || is != Err(Unmatched::Nobody), "it is lost: {}", shown());
            match is {
                Ok(_) if !is_changed => allowed_and_found += 1,
                Ok(_) => found += 1,
                Err(Unmatched::Nobody) => nobody += 1,
                _ => several += 1,
            }
        }
    }
    let all = found + nobody + several + allowed_and_found;
    assert_eq!(all, lists * 200);
    assert!(allowed_and_found * 3 > all && nobody * 5 > all && several * 100 > all && found > 0, "each kind occurred");
}
