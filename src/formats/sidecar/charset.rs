//! The encodings of sidecars and of HL7 v2, and their characters.

use encoding_rs::{ISO_8859_2, ISO_8859_15, WINDOWS_1252};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use yore::code_pages::{CP437, CP850};

use crate::domain::name::{is_bidirectional, is_invisible};

/// An encoding: those of `sidecar_encoding`, and some more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// Without a byte order mark.
    #[default]
    Utf8,
    /// With a byte order mark, by which Windows programs recognise it.
    Utf8Bom,
    /// Western Windows, "ANSI".
    Windows1252,
    /// The first 256 code points of Unicode.
    Iso8859_1,
    /// Central Europe; not for sidecars.
    Iso8859_2,
    /// As [`Self::Iso8859_1`], but with the euro sign.
    Iso8859_15,
    /// Only ASCII; not for sidecars.
    Ascii,
    /// DOS in the United States; "IBM" in GDT.
    Cp437,
    /// DOS in Western Europe.
    Cp850,
}

/// The encodings of sidecars, with their names in the configuration.
const WORDS: [(&str, Charset); 7] = [
    ("utf-8", Charset::Utf8),
    ("utf-8-bom", Charset::Utf8Bom),
    ("windows-1252", Charset::Windows1252),
    ("iso-8859-1", Charset::Iso8859_1),
    ("iso-8859-15", Charset::Iso8859_15),
    ("cp437", Charset::Cp437),
    ("cp850", Charset::Cp850),
];

/// The encodings of HL7 v2, with their names in MSH-18 (HL7 table 0211).
const HL7: [(&str, Charset); 5] = [
    ("UNICODE UTF-8", Charset::Utf8),
    ("8859/1", Charset::Iso8859_1),
    ("8859/2", Charset::Iso8859_2),
    ("8859/15", Charset::Iso8859_15),
    ("ASCII", Charset::Ascii),
];

impl Charset {
    /// The name in the configuration.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(_, charset)| *charset == self).map_or("", |(word, _)| word)
    }

    /// The encoding with this name in the configuration.
    pub fn of_word(word: &str) -> Option<Self> {
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, charset)| *charset)
    }

    /// The encoding with this name in HL7 v2.
    pub fn in_hl7(word: &str) -> Option<Self> {
        HL7.iter().find(|(known, _)| *known == word).map(|(_, charset)| *charset)
    }

    /// The name in HL7 v2.
    pub fn hl7_word(self) -> &'static str {
        HL7.iter().find(|(_, charset)| *charset == self).map_or("", |(word, _)| word)
    }

    /// Whether it has all characters.
    pub fn is_unicode(self) -> bool {
        matches!(self, Self::Utf8 | Self::Utf8Bom)
    }

    /// The number in GDT 2.1 (field 9206), which only some encodings have.
    pub fn in_gdt(self) -> Option<&'static str> {
        match self {
            Self::Cp437 => Some("2"),
            Self::Windows1252 | Self::Iso8859_1 => Some("3"),
            Self::Utf8 | Self::Utf8Bom | Self::Iso8859_2 | Self::Iso8859_15 | Self::Ascii | Self::Cp850 => None,
        }
    }

    /// Whether it has every character of the text. Letters are composed first.
    pub fn has(self, text: &str) -> bool {
        self.is_unicode() || text.nfc().all(|c| self.byte(c).is_some())
    }

    /// Whether a reader gets exactly this text: it has every character, and none has to be composed.
    pub fn keeps(self, text: &str) -> bool {
        self.is_unicode() || self.encode(text).is_some_and(|bytes| self.decode(&bytes) == text)
    }

    /// The bytes of the text, with letters composed; `None` if a character is missing.
    pub(super) fn encode(self, text: &str) -> Option<Vec<u8>> {
        if self.is_unicode() { Some(text.as_bytes().to_vec()) } else { text.nfc().map(|c| self.byte(c)).collect() }
    }

    /// Decodes a file's content from a program.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Utf8 | Self::Utf8Bom | Self::Ascii => String::from_utf8_lossy(bytes).into_owned(),
            Self::Windows1252 => WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
            Self::Iso8859_1 => bytes.iter().copied().map(char::from).collect(),
            Self::Iso8859_2 => ISO_8859_2.decode_without_bom_handling(bytes).0.into_owned(),
            Self::Iso8859_15 => ISO_8859_15.decode_without_bom_handling(bytes).0.into_owned(),
            Self::Cp437 => CP437.decode(bytes).into_owned(),
            Self::Cp850 => CP850.decode(bytes).into_owned(),
        }
    }

    /// The replacement of a character that the encoding lacks: the letter with fewer marks, or a transliteration into
    /// Latin letters. `None` if there is none.
    pub(crate) fn instead_of(self, c: char) -> Option<String> {
        // Invisible characters come along when a name is copied from elsewhere.
        if is_combining_mark(c) || is_invisible(c) || is_bidirectional(c) {
            return Some(String::new());
        }
        let parts: Vec<char> = c.nfd().collect();
        let fewer = (1..parts.len()).rev().map(|count| parts.iter().take(count).copied().nfc().collect::<String>());
        if let Some(letter) = fewer.into_iter().find(|letter| self.has(letter)) {
            return Some(letter);
        }
        let latin = any_ascii::any_ascii_char(c);
        // For pictures it gives their name between colons, which nobody wrote.
        let is_picture = latin.len() > 1 && latin.starts_with(':');
        // Only a question mark may become a question mark.
        let is_doubtful = latin.contains('?') && !c.nfkd().any(|part| part == '?');
        let is_text = !latin.is_empty() && !latin.contains(|c: char| c.is_ascii_control());
        (is_text && !is_picture && !is_doubtful).then(|| latin.to_owned())
    }

    /// The byte of a character; `None` if it has no single byte. The Unicode encodings have one for ASCII only.
    pub(crate) fn byte(self, c: char) -> Option<u8> {
        if c.is_ascii() {
            return u8::try_from(c).ok();
        }
        let of = |encoding: &'static encoding_rs::Encoding| {
            let (text, mut buffer) = (c.to_string(), [0; 1]);
            let mut encoder = encoding.new_encoder();
            let (result, _, written) = encoder.encode_from_utf8_without_replacement(&text, &mut buffer, true);
            (result == encoding_rs::EncoderResult::InputEmpty && written == 1).then(|| buffer[0])
        };
        let byte = match self {
            Self::Utf8 | Self::Utf8Bom | Self::Ascii => None,
            Self::Windows1252 => of(WINDOWS_1252),
            Self::Iso8859_1 => u8::try_from(u32::from(c)).ok(),
            Self::Iso8859_2 => of(ISO_8859_2),
            Self::Iso8859_15 => of(ISO_8859_15),
            Self::Cp437 => CP437.encode_char(c),
            Self::Cp850 => CP850.encode_char(c),
        };
        // The DOS code pages have pictures in place of control characters.
        byte.filter(|byte| !byte.is_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_A_BYTE: [Charset; 7] = [
        Charset::Windows1252,
        Charset::Iso8859_1,
        Charset::Iso8859_2,
        Charset::Iso8859_15,
        Charset::Ascii,
        Charset::Cp437,
        Charset::Cp850,
    ];

    #[test]
    fn letters_have_the_bytes_that_other_programs_give_them() {
        // The bytes come from Python's codecs.
        for (charset, bytes) in [
            (Charset::Windows1252, &b"\xfc\xdf\xe9\x80\x84"[..]),
            (Charset::Cp437, b"\x81\xe1\x82"),
            (Charset::Cp850, b"\x81\xe1\x82"),
            (Charset::Iso8859_1, b"\xfc\xdf\xe9"),
            (Charset::Iso8859_15, b"\xfc\xdf\xe9\xa4"),
        ] {
            let text: String = "üßé€„".chars().take(bytes.len()).collect();
            assert_eq!(charset.encode(&text).as_deref(), Some(bytes), "{charset:?}");
            assert_eq!(charset.decode(bytes), text, "{charset:?}");
            assert_eq!(charset.encode("u\u{308}").as_deref(), bytes.get(..1), "letters are composed");
        }
        assert_eq!(Charset::Iso8859_1.encode("€"), None);
        assert_eq!(Charset::Utf8.encode("u\u{308}").as_deref(), Some("u\u{308}".as_bytes()), "UTF-8 keeps the text");
    }

    #[test]
    fn no_character_but_their_own_gives_a_control_or_a_letter_of_ascii() {
        for charset in OF_A_BYTE {
            for c in ('\u{80}'..=char::MAX).filter(|c| charset.byte(*c).is_some()) {
                assert!(charset.byte(c) >= Some(0x80), "{charset:?} {c:?}");
            }
            for byte in 0x80..=u8::MAX {
                let text = charset.decode(&[byte]);
                let encoded = charset.encode(&text);
                assert!(encoded.is_none_or(|encoded| encoded == [byte]), "{charset:?} {byte:x}");
            }
        }
    }

    #[test]
    fn what_a_charset_lacks_is_written_without_its_marks_or_in_latin_letters_or_not_at_all() {
        for (c, expected) in [
            ('ł', Some("l")),
            ('ő', Some("o")),
            ('Ş', Some("S")),
            // A mark that the encoding has stays.
            ('ễ', Some("ê")),
            ('ǘ', Some("ü")),
            ('ı', Some("i")),
            ('đ', Some("d")),
            ('Ж', Some("Zh")),
            ('ﬁ', Some("fi")),
            ('\u{30c}', Some("")),
            ('\u{200b}', Some("")),
            ('\u{202e}', Some("")),
            ('\u{1f600}', None),
            ('\u{fffd}', None),
        ] {
            assert_eq!(Charset::Windows1252.instead_of(c).as_deref(), expected, "{c}");
        }
        for (c, expected) in [('„', "\""), ('’', "'"), ('–', "-"), ('…', "..."), ('€', "EUR"), ('œ', "oe")] {
            assert_eq!(Charset::Iso8859_1.instead_of(c).as_deref(), Some(expected), "{c}");
        }
        for charset in OF_A_BYTE {
            for c in ('\u{80}'..=char::MAX).filter(|c| charset.byte(*c).is_none()) {
                let instead = charset.instead_of(c).unwrap_or_default();
                assert!(!instead.contains(|c: char| c.is_control()), "{c:?}");
                assert!(charset.has(&instead), "{charset:?} {c:?} {instead:?}");
                assert!(!instead.contains('?') || c.nfkd().any(|part| part == '?'), "{c:?} {instead:?}");
            }
        }
    }
}
