//! The typeface: Noto Sans (SIL Open Font License), for its Latin, Greek and Cyrillic letters.
//!
//! Text is set one character after the other at its own width. That is right for these scripts but for kerning, and it
//! is the reason that no shaping library is needed.

use std::sync::LazyLock;

use krilla::text::{Font, GlyphId, KrillaGlyph};
use ttf_parser::Face;

/// Upright, bold or italic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Regular,
    Bold,
    Italic,
}

struct Typeface {
    font: Font,
    face: Face<'static>,
}

/// `None` would mean that the fonts compiled into the program are damaged.
static REGULAR: LazyLock<Option<Typeface>> = LazyLock::new(|| load(notosans::REGULAR_TTF));
static BOLD: LazyLock<Option<Typeface>> = LazyLock::new(|| load(notosans::BOLD_TTF));
static ITALIC: LazyLock<Option<Typeface>> = LazyLock::new(|| load(notosans::ITALIC_TTF));

fn load(data: &'static [u8]) -> Option<Typeface> {
    Some(Typeface { font: Font::new(data.to_vec().into(), 0)?, face: Face::parse(data, 0).ok()? })
}

fn typeface(style: Style) -> Option<&'static Typeface> {
    match style {
        Style::Regular => REGULAR.as_ref(),
        Style::Bold => BOLD.as_ref(),
        Style::Italic => ITALIC.as_ref(),
    }
}

/// A character's glyph and its width in ems; one the font lacks shows as an empty box.
fn glyph(face: &Face<'_>, letter: char) -> (u16, f32) {
    let id = face.glyph_index(letter).unwrap_or_default();
    let advance = face.glyph_hor_advance(id).unwrap_or_default();
    (id.0, f32::from(advance) / f32::from(face.units_per_em()))
}

/// The width of a line of text in points.
pub(super) fn width(text: &str, style: Style, size: f32) -> f32 {
    typeface(style).map_or(0.0, |typeface| text.chars().map(|letter| glyph(&typeface.face, letter).1 * size).sum())
}

/// A line of text as glyphs, for krilla to draw.
pub(super) fn glyphs(text: &str, style: Style) -> Option<(Font, Vec<KrillaGlyph>)> {
    let typeface = typeface(style)?;
    let glyphs = text
        .char_indices()
        .map(|(at, letter)| {
            let (id, x_advance) = glyph(&typeface.face, letter);
            KrillaGlyph {
                glyph_id: GlyphId::new(u32::from(id)),
                text_range: at..at + letter.len_utf8(),
                x_advance,
                x_offset: 0.0,
                y_offset: 0.0,
                y_advance: 0.0,
                location: None,
            }
        })
        .collect();
    Some((typeface.font.clone(), glyphs))
}

/// Breaks a text into lines that fit. A word that is too long for a line is broken where it has to be.
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
}
