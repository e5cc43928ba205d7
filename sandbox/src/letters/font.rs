//! The typeface: Helvetica, one of the fourteen fonts of every PDF reader, so that the file contains none.
//!
//! It has the letters of Western Europe (WinAnsiEncoding). Other letters are written with those: Ольга is Ol'ga.

use any_ascii::any_ascii_char;
use unicode_normalization::UnicodeNormalization as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Regular,
    Bold,
}

impl Style {
    pub const ALL: [Self; 2] = [Self::Regular, Self::Bold];

    /// The font's name in a PDF.
    pub fn font(self) -> &'static str {
        match self {
            Self::Regular => "Helvetica",
            Self::Bold => "Helvetica-Bold",
        }
    }
}

/// The characters of WinAnsiEncoding from 0x80 to 0x9f; a space for a missing one.
const BEYOND_LATIN_1: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// A text in WinAnsiEncoding.
pub(super) fn encoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.nfc().filter(|letter| !letter.is_control()) {
        match u8::try_from(u32::from(letter)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => match (0x80..).zip(BEYOND_LATIN_1.chars()).find(|(_, known)| *known == letter) {
                Some((byte, _)) => bytes.push(byte),
                None => bytes.extend(any_ascii_char(letter).bytes()),
            },
        }
    }
    bytes
}

/// Widths from space to tilde, in thousandths of the size.
#[rustfmt::skip]
const REGULAR: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
    556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
#[rustfmt::skip]
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611,
    611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
];
/// A width for other characters, such as a dash.
const OTHER: u16 = 556;

/// The width of a line of text in points.
pub(super) fn width(text: &str, style: Style, size: f32) -> f32 {
    let widths = if style == Style::Bold { &BOLD } else { &REGULAR };
    let of = |byte: u8| {
        // Latin-1 is the beginning of Unicode. An accent does not make a letter wider.
        let base = std::iter::once(char::from(byte)).nfd().next().unwrap_or_default();
        let place = usize::try_from(u32::from(base)).unwrap_or_default().checked_sub(32);
        f32::from(place.and_then(|place| widths.get(place)).copied().unwrap_or(OTHER))
    };
    encoded(text).into_iter().map(of).sum::<f32>() * size / 1000.0
}

/// Breaks a text into lines that fit. A word that is longer than a line is broken, too.
pub(super) fn lines(text: &str, style: Style, size: f32, room: f32) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    let space = width(" ", style, size);
    for word in text.split_whitespace() {
        let mut long = width(word, style, size);
        if !line.is_empty() {
            if used + space + long <= room {
                line.push(' ');
                line.push_str(word);
                used += space + long;
                continue;
            }
            lines.push(std::mem::take(&mut line));
        }
        used = 0.0;
        for letter in word.chars() {
            let step = width(letter.encode_utf8(&mut [0; 4]), style, size);
            if long > room && used + step > room {
                lines.push(std::mem::take(&mut line));
                long -= used;
                used = 0.0;
            }
            line.push(letter);
            used += step;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_its_room_and_nothing_gets_lost() {
        let text = "Müller-Lüdenscheidt Donaudampfschifffahrtsgesellschaftskapitänswitwe a b c";
        let lines = lines(text, Style::Regular, 10.0, 80.0);
        assert!(lines.len() > 3);
        for line in &lines {
            assert!(width(line, Style::Regular, 10.0) <= 80.0, "{line}");
        }
        let without_spaces = |text: &str| text.replace(' ', "");
        assert_eq!(without_spaces(&lines.concat()), without_spaces(text));
    }

    #[test]
    fn letters_that_the_font_lacks_are_written_with_those_it_has() {
        assert_eq!(encoded("Seán (Be\u{301}) œ –"), b"Se\xe1n (B\xe9) \x9c \x96");
        assert_eq!(encoded("Nguyễn Żółkiewski"), b"Nguyen Z\xf3lkiewski");
        assert_eq!(encoded("Соколова Παπαδόπουλος\n"), b"Sokolova Papadopoylos");
    }
}
