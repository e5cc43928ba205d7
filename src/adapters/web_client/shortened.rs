//! JSON as it comes, without what is too long to be looked at: a list of documents may hold the documents themselves.

/// The longest text that is kept, in bytes as it came.
const LONGEST: usize = 4 * 1024;
/// The most that is kept of all of it, bytes: a hundred entries with fifty fields each, and more.
const MOST: usize = 512 * 1024;

/// What is kept of it: JSON again, in which texts that are too long are empty.
#[derive(Debug, Default)]
pub(super) struct Shortened {
    kept: Vec<u8>,
    /// Where the text begins that is being read.
    text: Option<usize>,
    is_dropped: bool,
    is_escaped: bool,
    is_too_much: bool,
}

impl Shortened {
    /// Takes what came next.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        chunk.iter().for_each(|byte| self.take(*byte));
    }

    /// All of it; `None` when it is too much.
    pub(super) fn text(&self) -> Option<&[u8]> {
        (!self.is_too_much).then_some(&self.kept)
    }

    fn take(&mut self, byte: u8) {
        self.is_too_much = self.is_too_much || self.kept.len() >= MOST;
        if self.is_too_much {
            return;
        }
        match self.text {
            Some(begin) if byte == b'"' && !self.is_escaped => {
                if self.is_dropped {
                    self.kept.truncate(begin);
                }
                self.text = None;
            }
            Some(begin) => {
                self.is_escaped = byte == b'\\' && !self.is_escaped;
                self.is_dropped = self.is_dropped || self.kept.len() - begin >= LONGEST;
            }
            None if byte == b'"' => (self.text, self.is_dropped) = (Some(self.kept.len() + 1), false),
            None => {}
        }
        if self.text.is_none() || !self.is_dropped {
            self.kept.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str, piece: usize) -> Option<Value> {
        let mut shortened = Shortened::default();
        text.as_bytes().chunks(piece).for_each(|chunk| shortened.push(chunk));
        shortened.text().map(|kept| serde_json::from_slice(kept).unwrap())
    }

    #[test]
    fn a_text_that_is_too_long_is_empty_and_everything_else_is_as_it_was() {
        let long = "é\\\"\\\\\\ud83d\\ude00".repeat(LONGEST);
        let text = format!("[{{\"a\": \"x\\\"y\\\\\", \"Note\": \"{long}\", \"b\": [1, \"ü\"]}}, {{\"Note\": \"\"}}]");
        assert!(serde_json::from_str::<Value>(&text).is_ok());
        for piece in [1, 7, 4096, usize::MAX] {
            let expected = json!([{"a": "x\"y\\", "Note": "", "b": [1, "ü"]}, {"Note": ""}]);
            assert_eq!(read(&text, piece), Some(expected));
        }
        let kept = format!("[\"{}\"]", "x".repeat(LONGEST));
        assert_eq!(read(&kept, 100), serde_json::from_str(&kept).ok());
    }

    #[test]
    fn no_more_than_so_much_is_kept() {
        assert_eq!(read(&format!("[{}1]", "1,".repeat(MOST)), 1000), None);
        let mut shortened = Shortened::default();
        (0..1000).for_each(|_| shortened.push(&[b'[', b'"', b'x'].repeat(MOST / 100)));
        assert!(shortened.kept.capacity() <= 2 * MOST);
    }
}
