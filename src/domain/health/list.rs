//! What is wrong with the practice's list of patients, in a word that has a text in every language: without a value of
//! the file.

use std::fmt;

/// What is wrong, where, and whether letters go on by the list before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListWrong {
    /// The end of the name of its text.
    pub kind: String,
    /// The row, counted from 1; 0: none.
    pub row: u64,
    /// Whether a list that was good before counts still.
    pub goes_on: bool,
}

const GOES_ON: &str = "old";
const STANDS: &str = "none";

impl ListWrong {
    /// Reads it from its words; what is missing in them is not known.
    pub fn parse(words: &str) -> Self {
        let mut words = words.split(' ');
        let kind = words.next().unwrap_or_default().to_owned();
        let row = words.next().and_then(|row| row.parse().ok()).unwrap_or(0);
        Self { kind, row, goes_on: words.next() == Some(GOES_ON) }
    }
}

/// The words in the ledger and in JSON: "number 17 old".
impl fmt::Display for ListWrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind, self.row, if self.goes_on { GOES_ON } else { STANDS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for goes_on in [true, false] {
            let wrong = ListWrong { kind: "number".to_owned(), row: 17, goes_on };
            assert_eq!(ListWrong::parse(&wrong.to_string()), wrong);
        }
        assert_eq!(ListWrong::parse(""), ListWrong::default());
    }
}
