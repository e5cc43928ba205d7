//! JSON from a stream, without texts that are too long to be looked at: a list of documents may contain the documents.
//! If such a text is base64 (RFC 4648, section 4), the digest of the decoded bytes replaces it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::domain::document::hex;

/// The start of a digest that replaces a long text: SHA-256, 64 hexadecimal digits. No base64 begins so.
pub(in crate::destinations) const DIGEST: &str = "sha256:";
/// The longest text that is kept, in encoded bytes.
const LONGEST: usize = 4 * 1024;
/// The most that is kept in total, in bytes: more than a hundred entries with fifty fields each.
const MOST: usize = 512 * 1024;

/// The kept JSON, in which texts that are too long are empty, or the digest of what they encode.
#[derive(Debug, Default)]
pub(in crate::destinations) struct Shortened {
    kept: Vec<u8>,
    /// Where the text that is being read begins.
    text: Option<usize>,
    /// The decoded content of a text that is too long, as long as it is base64.
    dropped: Option<Decoded>,
    is_escaped: bool,
    is_too_much: bool,
    /// What replaces a text that is too long, if its digest does not.
    instead: Option<&'static str>,
}

impl Shortened {
    /// In which `instead` replaces a text that is too long.
    pub(super) fn with(instead: &'static str) -> Self {
        Self { instead: Some(instead), ..Self::default() }
    }

    /// Takes the next bytes.
    pub(in crate::destinations) fn push(&mut self, chunk: &[u8]) {
        chunk.iter().for_each(|byte| self.take(*byte));
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.is_too_much
    }

    /// The parsed JSON; `None` if it is no JSON, or too much.
    pub(in crate::destinations) fn value(&self) -> Option<Value> {
        let text = self.text()?;
        serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).ok()
    }

    fn text(&self) -> Option<&[u8]> {
        (!self.is_too_much).then_some(&self.kept)
    }

    fn take(&mut self, byte: u8) {
        self.is_too_much = self.is_too_much || self.kept.len() >= MOST;
        if self.is_too_much {
            return;
        }
        match self.text {
            Some(begin) if byte == b'"' && !self.is_escaped => {
                if let Some(dropped) = self.dropped.take() {
                    self.kept.truncate(begin);
                    let instead = self.instead.map_or_else(|| dropped.digest(), str::to_owned);
                    self.kept.extend(instead.into_bytes());
                }
                self.text = None;
            }
            Some(begin) => {
                self.is_escaped = byte == b'\\' && !self.is_escaped;
                match &mut self.dropped {
                    Some(dropped) => return dropped.take(byte),
                    None if self.kept.len() - begin >= LONGEST => {
                        let mut dropped = Decoded::default();
                        self.kept.get(begin..).unwrap_or_default().iter().for_each(|byte| dropped.take(*byte));
                        dropped.take(byte);
                        self.dropped = Some(dropped);
                        return;
                    }
                    None => {}
                }
            }
            None if byte == b'"' => self.text = Some(self.kept.len() + 1),
            None => {}
        }
        self.kept.push(byte);
    }
}

/// The digest of a text's decoded base64.
#[derive(Debug, Default)]
struct Decoded {
    hash: Sha256,
    /// Bytes that are not decoded yet.
    rest: Vec<u8>,
    is_other: bool,
}

impl Decoded {
    fn take(&mut self, byte: u8) {
        // JSON may write a slash as \/.
        if byte != b'\\' {
            self.rest.push(byte);
        }
        if self.rest.len() == LONGEST {
            self.decode();
        }
    }

    fn decode(&mut self) {
        match STANDARD.decode(&self.rest) {
            Ok(content) => self.hash.update(content),
            Err(_) => self.is_other = true,
        }
        self.rest.clear();
    }

    /// Empty if the text is no base64.
    fn digest(mut self) -> String {
        self.decode();
        if self.is_other { String::new() } else { format!("{DIGEST}{}", hex(&self.hash.finalize())) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn of_a_long_text_in_base64_the_digest_of_what_it_says_is_kept() {
        for length in [LONGEST, 10 * LONGEST + 1, 3 * LONGEST, 4 * LONGEST + 2] {
            let content: Vec<u8> = (0..length).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
            let data = STANDARD.encode(&content);
            let digest = format!("{DIGEST}{}", hex(&Sha256::digest(&content)));
            for text in [data.clone(), data.replace('/', "\\/")] {
                assert_eq!(read(&format!("{{\"data\": \"{text}\"}}"), 1000), Some(json!({"data": digest})));
            }
            assert_eq!(read(&format!("[\"{data}-\"]"), 1000), Some(json!([""])));
        }
    }

    #[test]
    fn no_more_than_so_much_is_kept() {
        assert_eq!(read(&format!("[{}1]", "1,".repeat(MOST)), 1000), None);
        let mut shortened = Shortened::default();
        (0..1000).for_each(|_| shortened.push(&[b'[', b'"', b'x'].repeat(MOST / 100)));
        assert!(shortened.kept.capacity() <= 2 * MOST);
    }
}
