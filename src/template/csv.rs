//! Values in a CSV sidecar (RFC 4180): a field is quoted where a value in it needs that, by the template's own
//! delimiter, and a value at its start is never taken for a formula by a spreadsheet.
//!
//! Where a value stands is known only when the whole text is, so a value is first printed between two marks.

use super::{BEGIN, END};

/// What a spreadsheet takes for the start of a formula; some take the wide forms as well.
const FORMULA: &str = "=+-@＝＋－＠";

/// Delimiters, the likeliest first.
const DELIMITERS: [char; 4] = [';', '\t', ',', '|'];

/// The text with every field as it has to be.
pub(super) fn settle(marked: &str) -> String {
    let delimiter = delimiter(marked);
    let mut text = String::with_capacity(marked.len());
    let mut field = Field::default();
    let mut is_value = false;
    for c in marked.chars() {
        match c {
            BEGIN => is_value = true,
            END => is_value = false,
            '\r' | '\n' if !is_value && !field.is_open => {
                field.finish(delimiter, &mut text);
                text.push(c);
            }
            c if c == delimiter && !is_value && !field.is_open => {
                field.finish(delimiter, &mut text);
                text.push(c);
            }
            c => field.push(c, is_value),
        }
    }
    field.finish(delimiter, &mut text);
    text
}

/// The delimiter that stands most often outside of the values.
fn delimiter(marked: &str) -> char {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut is_value = false;
    for c in marked.chars() {
        match c {
            BEGIN => is_value = true,
            END => is_value = false,
            c if !is_value => {
                let found = DELIMITERS.iter().zip(&mut counts).filter(|(delimiter, _)| **delimiter == c);
                found.for_each(|(_, count)| *count += 1);
            }
            _ => {}
        }
    }
    // Of equals the last would win.
    let most = DELIMITERS.iter().zip(counts).rev().max_by_key(|(_, count)| *count);
    most.map_or(';', |(delimiter, _)| *delimiter)
}

#[derive(Default)]
struct Field {
    chars: Vec<Char>,
    /// The template has opened a quotation mark and not closed it.
    is_open: bool,
    /// The template has quotation marks of its own in this field.
    has_marks: bool,
}

struct Char {
    c: char,
    is_value: bool,
    is_quoted: bool,
}

impl Field {
    fn push(&mut self, c: char, is_value: bool) {
        self.chars.push(Char { c, is_value, is_quoted: self.is_open });
        if c == '"' && !is_value {
            self.is_open = !self.is_open;
            self.has_marks = true;
        }
    }

    fn finish(&mut self, delimiter: char, text: &mut String) {
        let Self { chars, has_marks, .. } = std::mem::take(self);
        let breaks = |c: char| c == delimiter || c == '"';
        let quote = !has_marks && chars.iter().any(|char| char.is_value && breaks(char.c));
        let first = chars.iter().position(|char| !(char.c.is_whitespace() || (char.c == '"' && !char.is_value)));
        if quote {
            text.push('"');
        }
        for (index, Char { c, is_value, is_quoted }) in chars.into_iter().enumerate() {
            if is_value && Some(index) == first && FORMULA.contains(c) {
                text.push('\'');
            }
            match c {
                '"' if quote || (is_value && is_quoted) => text.push_str("\"\""),
                // Beside a quoted part, which cannot be quoted again.
                c if is_value && !quote && !is_quoted && breaks(c) => text.push(' '),
                c => text.push(c),
            }
        }
        if quote {
            text.push('"');
        }
    }
}
