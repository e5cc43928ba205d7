//! Compares names. Names are equal if they differ only in letter case, accents, hyphens, apostrophes, full stops and
//! spaces, or in ß/ss, æ/ae, œ/oe, ø/o, ł/l. An umlaut equals both the plain letter (ü/u) and the letter with an e
//! (ü/ue). Nothing else is equal: similar sounds or spellings would confuse twins.
//!
//! Each umlaut counts by itself: Müller-Öztürk equals Mueller-Ozturk, as the halves of a double name come from
//! different papers. In other scripts than Latin no mark is dropped: there it makes another letter (й is not и).

use std::fmt;

use caseless::Caseless as _;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A name in the form for comparisons: lower case, umlauts kept. Empty if nothing is left.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Folded(String);

/// Does not print the name, which is a patient's.
impl fmt::Debug for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Folded(…)")
    }
}

/// The combining diaeresis.
const DIAERESIS: char = '\u{308}';

impl Folded {
    /// Folds a name.
    pub fn new(name: &str) -> Self {
        // A shortcut for most names, with the same result as below.
        if name.is_ascii() {
            return Self(name.chars().filter(|c| !is_separator(*c)).map(|c| c.to_ascii_lowercase()).collect());
        }
        // Separators go first, because some decompose: a spacing acute becomes a space with an accent.
        let letters = name.chars().filter(|c| !is_separator(*c)).map(kept_apart).nfkd().default_case_fold().nfkd();
        let mut folded = String::with_capacity(name.len());
        let mut is_latin = false;
        for c in letters.filter(|c| !is_separator(*c)) {
            if !is_combining_mark(c) {
                is_latin = self::is_latin(c);
                match c {
                    'æ' => folded.push_str("ae"),
                    'œ' => folded.push_str("oe"),
                    'ø' => folded.push('o'),
                    'ł' => folded.push('l'),
                    c => folded.push(c),
                }
            } else if !is_latin {
                folded.push(c);
            } else if c == DIAERESIS
                && let Some(umlaut) = folded.chars().next_back().and_then(umlaut)
            {
                folded.pop();
                folded.push(umlaut);
            }
        }
        Self(folded.nfc().collect())
    }

    /// Whether nothing is left of the name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The folded text. It is the same for all names that differ in nothing that counts, except that umlauts keep their
    /// spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the two names are equal. This is not transitive: Müller equals Muller and Mueller, but these two differ.
    pub fn is(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let (ours, theirs) = (self.spellings(), other.spellings());
        let may_be = |(a, b): (&Es, &Es)| a.least <= b.most && b.least <= a.most;
        ours.letters == theirs.letters && ours.es.iter().zip(&theirs.es).all(may_be)
    }

    /// The letters that all names equal to this one share. Other names may have the same.
    pub fn letters(&self) -> String {
        self.spellings().letters
    }

    /// An umlaut may be followed by an e or not. So each run of e's has a least and a greatest length. Names are equal
    /// if all other letters are the same and for each run some length fits both.
    fn spellings(&self) -> Spellings {
        let mut spellings = Spellings { letters: String::with_capacity(self.0.len()), es: vec![Es::default()] };
        for c in self.0.chars() {
            let last = spellings.es.last_mut();
            match (c, last) {
                ('e', Some(es)) => {
                    es.least += 1;
                    es.most += 1;
                }
                _ => {
                    let (letter, most) = match c {
                        'ä' => ('a', 1),
                        'ö' => ('o', 1),
                        'ü' => ('u', 1),
                        c => (c, 0),
                    };
                    spellings.letters.push(letter);
                    spellings.es.push(Es { least: 0, most });
                }
            }
        }
        spellings
    }
}

/// Another character in place of a digit of another form (²), which would decompose into the digit.
fn kept_apart(c: char) -> char {
    const PRIVATE: u32 = 0xf0000;
    if c.is_ascii() || !c.is_numeric() { c } else { char::from_u32(PRIVATE + u32::from(c)).unwrap_or(c) }
}

/// A name, with the places where an e may stand.
struct Spellings {
    /// All letters except e; umlauts without their dots.
    letters: String,
    /// The lengths of the runs of e's: before the first letter, and after each letter.
    es: Vec<Es>,
}

#[derive(Clone, Copy, Default)]
struct Es {
    least: usize,
    most: usize,
}

fn umlaut(base: char) -> Option<char> {
    match base {
        'a' => Some('ä'),
        'o' => Some('ö'),
        'u' => Some('ü'),
        _ => None,
    }
}

/// Spaces, hyphens, apostrophes and full stops, in every form that occurs in names.
pub(super) fn is_separator(c: char) -> bool {
    c.is_whitespace() || is_hyphen(c) || is_apostrophe(c) || matches!(c, '.' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Hyphens, dashes and minus signs.
pub(super) fn is_hyphen(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// Includes characters that people type instead: accents on their own, quotation marks, and similar letters.
fn is_apostrophe(c: char) -> bool {
    let is_letter = |c| matches!(c, '\u{2b9}'..='\u{2bf}' | '\u{2c8}' | '\u{2ca}' | '\u{2cb}' | '\u{a78c}');
    let is_mark = |c| matches!(c, '\u{b4}' | '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2035}');
    is_letter(c) || is_mark(c) || matches!(c, '\'' | '`' | '\u{ff07}' | '\u{ff40}')
}

fn is_latin(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

#[cfg(test)]
mod tests;
