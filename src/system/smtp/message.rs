//! Writes a mail: headers into which no value can add a line, and content in base64, piece by piece (RFC 5322, RFC
//! 2045, RFC 2047).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The longest text that a header has unencoded, on one line.
const PLAIN: usize = 60;
/// The bytes of a text in one encoded word, so that its line has at most 76 characters (RFC 2047, section 2).
const WORD: usize = 39;
/// The bytes in a line of base64, which has 76 characters (RFC 2045, section 6.8).
const LINE: usize = 57;
/// The characters that a parameter has unencoded (RFC 8187, section 3.2.1: fewer than `attr-char`).
const IN_PARAMETER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The headers of a mail, or of a part of one.
#[derive(Debug, Default)]
pub struct Headers(String);

impl Headers {
    /// Adds a header whose value docsyncd made, such as an identifier or an address. Drops all but printable ASCII.
    pub fn put(&mut self, name: &str, value: &str) {
        let value: String = value.chars().filter(|c| matches!(c, ' '..='~')).collect();
        self.0 += &format!("{name}: {value}\r\n");
    }

    /// Adds a header with any text.
    pub fn text(&mut self, name: &str, text: &str) {
        let text = text.replace(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'), " ");
        let text = text.trim();
        if text.len() <= PLAIN && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && !text.contains("=?") {
            return self.put(name, text);
        }
        let mut words = vec![String::new()];
        for letter in text.chars() {
            match words.last_mut() {
                Some(word) if word.len() + letter.len_utf8() <= WORD => word.push(letter),
                _ => words.push(letter.into()),
            }
        }
        let words: Vec<String> = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
        self.0 += &format!("{name}: {}\r\n", words.join("\r\n "));
    }

    /// Adds the time of writing (RFC 5322, section 3.3).
    pub fn date(&mut self, at: Timestamp) {
        self.put("Date", &at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string());
    }

    /// Adds the media type, base64 as the encoding, and the name if the part is a file (RFC 2183, RFC 2231).
    pub fn content(&mut self, media_type: &str, file_name: Option<&str>) {
        self.put("Content-Type", media_type);
        self.put("Content-Transfer-Encoding", "base64");
        let Some(name) = file_name else { return };
        let is_plain = name.len() <= PLAIN && name.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\');
        let name = match is_plain {
            true => format!("filename=\"{name}\""),
            false => format!("filename*=utf-8''{}", utf8_percent_encode(name, IN_PARAMETER)),
        };
        self.0 += &format!("Content-Disposition: attachment;\r\n {name}\r\n");
    }

    /// The headers, with the empty line that ends them.
    pub fn into_text(self) -> String {
        self.0 + "\r\n"
    }
}

/// Encodes content that comes in pieces as lines of base64. No line begins with a dot.
#[derive(Debug, Default)]
pub struct Base64Lines {
    rest: Vec<u8>,
}

impl Base64Lines {
    /// Adds a piece. Returns the lines that are complete now.
    pub fn push(&mut self, piece: &[u8]) -> String {
        self.rest.extend_from_slice(piece);
        let begun = self.rest.split_off(self.rest.len() - self.rest.len() % LINE);
        lines(&std::mem::replace(&mut self.rest, begun))
    }

    /// The last line.
    pub fn end(self) -> String {
        lines(&self.rest)
    }

    /// A whole text in base64.
    pub fn of(text: &str) -> String {
        lines(text.as_bytes())
    }

    /// The length of so many bytes of content when encoded; bytes.
    pub fn length(content: u64) -> u64 {
        content.div_ceil(3) * 4 + content.div_ceil(LINE as u64) * 2
    }
}

fn lines(content: &[u8]) -> String {
    let mut lines = String::with_capacity(content.len() / LINE * 78 + 80);
    for line in content.chunks(LINE) {
        STANDARD.encode_string(line, &mut lines);
        lines.push_str("\r\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, text: &str) -> String {
        let mut headers = Headers::default();
        headers.text(name, text);
        headers.0
    }

    /// Decodes a header as a mail program does (RFC 2047): adjacent words are one text.
    fn read(header: &str) -> String {
        let text = header.strip_prefix("Subject: ").unwrap().trim_end().replace("\r\n ", "");
        if !text.starts_with("=?") {
            return text;
        }
        let words = text.split("=?utf-8?B?").skip(1).map(|word| STANDARD.decode(word.trim_end_matches("?=")).unwrap());
        String::from_utf8(words.flatten().collect()).unwrap()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1000))]
        #[test]
        fn a_number_in_a_subject_is_read_as_it_is(number in crate::formats::template::tests::numbers::odd_numbers()) {
            // A template's result has neither.
            let is_given = !number.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
            if is_given {
                proptest::prop_assert_eq!(read(&text("Subject", &format!("Letter {number}"))), format!("Letter {number}"));
            }
        }
    }

    #[test]
    fn no_text_adds_a_line() {
        assert_eq!(text("Subject", "A\r\nBcc: b@c.test"), "Subject: A  Bcc: b@c.test\r\n");
        assert_eq!(text("Subject", "=?utf-8?B?QQ==?="), "Subject: =?utf-8?B?PT91dGYtOD9CP1FRPT0/PQ==?=\r\n");
        for attack in ["Zoé\r\n\r\nX", "a\u{2028}b", "\u{85}\0\n.\r\n", &"é\n".repeat(400), &"a".repeat(2000)] {
            let header = text("Subject", attack);
            for (number, line) in header.trim_end().split("\r\n").enumerate() {
                assert!(line.len() <= 76 && line.is_ascii() && !line.contains(['\r', '\n']), "{line}");
                assert!(
                    (number == 0) == line.starts_with("Subject: ") && (number == 0) != line.starts_with(" "),
                    "{line}"
                );
            }
        }
        let mut headers = Headers::default();
        headers.put("To", "a@b.test\r\nBcc: é");
        headers.content("application/pdf", Some("a\"\r\nX: é.pdf"));
        let expected = "To: a@b.testBcc: \r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\
                        Content-Disposition: attachment;\r\n filename*=utf-8''a%22%0D%0AX%3A%20%C3%A9.pdf\r\n\r\n";
        assert_eq!(headers.into_text(), expected);
    }

    #[test]
    fn base64_is_the_same_in_any_pieces() {
        for length in [0_usize, 1, 2, 3, 56, 57, 58, 113, 114, 115, 1000] {
            let content: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();
            for size in [1, 2, 57, 100, 2000] {
                let mut lines = Base64Lines::default();
                let mut found: String = content.chunks(size).map(|piece| lines.push(piece)).collect();
                found += &lines.end();
                assert_eq!(found.len() as u64, Base64Lines::length(length as u64), "{length}");
                assert!(found.lines().all(|line| line.len() <= 76));
                assert_eq!(STANDARD.decode(found.replace("\r\n", "")).unwrap(), content);
            }
        }
    }
}
