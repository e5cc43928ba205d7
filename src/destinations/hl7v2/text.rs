//! Values in the syntax of HL7 v2: separators are escaped (HL7 v2.5.1, section 2.7), and characters that the set lacks
//! are replaced by others.

use unicode_normalization::UnicodeNormalization as _;

use crate::domain::name;
use crate::formats::sidecar::Charset;

/// A value without separators of fields, segments or messages. Letters are composed (NFC).
pub(super) fn escaped(value: &str) -> String {
    escape(value.trim())
}

/// Whether a receiver reads exactly this value.
pub(super) fn holds(value: &str, charset: Charset) -> bool {
    let is_written = |c: char| {
        !c.is_control()
            && !name::is_bidirectional(c)
            && !matches!(c, '\u{2028}' | '\u{2029}')
            && (charset.is_unicode() || charset.byte(c).is_some())
    };
    value.trim() == value && value.nfc().eq(value.chars()) && value.chars().all(is_written)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfc().filter(|c| !name::is_bidirectional(*c)) {
        match c {
            '|' => out.push_str("\\F\\"),
            '^' => out.push_str("\\S\\"),
            '~' => out.push_str("\\R\\"),
            '\\' => out.push_str("\\E\\"),
            '&' => out.push_str("\\T\\"),
            // Some programs take the last two for line breaks.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A message in its bytes.
///
/// # Errors
/// The position in `message` of a character that cannot be encoded at all.
pub(super) fn encoded(message: &str, charset: Charset) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(message.len());
    for (at, c) in message.char_indices() {
        if charset.is_unicode() {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else if let Some(byte) = charset.byte(c) {
            bytes.push(byte);
        } else {
            // The replacement may contain a separator: a wide bar becomes one.
            let instead = escape(&charset.instead_of(c).ok_or(at)?);
            bytes.extend(instead.chars().filter_map(|c| charset.byte(c)));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_separates_anything() {
        assert_eq!(escaped("a|b^c~d\\e&f"), "a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f");
        assert_eq!(escaped(" x\rOBX|1\u{b}\u{1c}\r\n\u{85}\u{2028}\u{202e}y "), "x OBX\\F\\1      y");
        assert_eq!(escaped("u\u{308}"), "ü");
    }

    /// From Python's codecs.
    #[test]
    fn letters_have_the_bytes_of_their_set_or_are_written_in_those_that_it_has() {
        for (charset, text, bytes) in [
            (Charset::Utf8, "é€ł😀", "é€ł😀".as_bytes()),
            (Charset::Iso8859_1, "Zoé ł ő € œ", b"Zo\xe9 l o EUR oe"),
            (Charset::Iso8859_15, "Zoé ł €œ", b"Zo\xe9 l \xa4\xbd"),
            (Charset::Iso8859_2, "łőé", b"\xb3\xf5\xe9"),
            (Charset::Ascii, "Zoé ß ễ ’ Ж", b"Zoe ss e ' Zh"),
            // Wide characters are replaced by separators, which are then escaped.
            (Charset::Iso8859_1, "a\u{ff5c}b\u{ff3e}", b"a\\F\\b\\S\\"),
        ] {
            assert_eq!(encoded(text, charset).unwrap(), bytes, "{charset:?} {text}");
        }
        assert_eq!(encoded("aé😀", Charset::Iso8859_1), Err(3));
    }

    #[test]
    fn no_letter_becomes_a_sign_that_separates_or_a_question_mark() {
        for charset in [Charset::Iso8859_1, Charset::Iso8859_2, Charset::Iso8859_15, Charset::Ascii] {
            for c in ('\u{a0}'..='\u{ffff}').filter(|c| !c.is_control()) {
                let Ok(bytes) = encoded(&c.to_string(), charset) else { continue };
                let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
                let plain = ["\\F\\", "\\S\\", "\\R\\", "\\E\\", "\\T\\"]
                    .iter()
                    .fold(text, |text, escape| text.replace(escape, ""));
                assert!(
                    !plain.contains(['|', '^', '~', '\\', '&']) && !plain.contains(char::is_control),
                    "{c:?} {plain:?}"
                );
                assert!(!plain.contains('?') || c.nfkd().any(|part| part == '?'), "{c:?} {plain:?}");
            }
        }
    }
}
