//! Values in a CSV sidecar (RFC 4180). A field is quoted if a value in it needs that, with respect to the template's
//! own delimiter. A spreadsheet never takes a value at the start of a field for a formula.
//!
//! The position of a value is known only once the text is complete, so a value is first written between two marks.

use super::{BEGIN, END};

/// Characters at the start of a formula; some spreadsheets accept the wide forms as well.
const FORMULA: &str = "=+-@＝＋－＠";

/// Delimiters, the most likely first.
const DELIMITERS: [char; 4] = [';', '\t', ',', '|'];

/// The final text, with fields quoted where necessary, and what a reader gets instead of values that had to be changed:
/// nothing in place of one that would be a formula.
pub(super) fn settle(marked: &str) -> (String, Vec<(String, String)>) {
    let delimiter = delimiter(marked);
    let mut text = String::with_capacity(marked.len());
    let mut changed = Vec::new();
    let mut field = Field::default();
    let mut is_value = false;
    for c in marked.chars() {
        match c {
            BEGIN => is_value = true,
            END => is_value = false,
            '\r' | '\n' if !is_value && !field.is_open => {
                changed.extend(field.finish(delimiter, &mut text));
                text.push(c);
            }
            c if c == delimiter && !is_value && !field.is_open => {
                changed.extend(field.finish(delimiter, &mut text));
                text.push(c);
            }
            c => field.push(c, is_value),
        }
    }
    changed.extend(field.finish(delimiter, &mut text));
    (text, changed)
}

/// The most frequent delimiter outside of the values.
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
    // `max_by_key` returns the last of equals, so reverse the order.
    let most = DELIMITERS.iter().zip(counts).rev().max_by_key(|(_, count)| *count);
    most.map_or(';', |(delimiter, _)| *delimiter)
}

#[derive(Default)]
struct Field {
    chars: Vec<Char>,
    /// Whether the template has opened a quotation mark and not closed it.
    is_open: bool,
    /// Whether the template has its own quotation marks in this field.
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

    /// Returns the field's value and what became of it, if that is something else.
    fn finish(&mut self, delimiter: char, text: &mut String) -> Option<(String, String)> {
        let Self { chars, has_marks, .. } = std::mem::take(self);
        let breaks = |c: char| c == delimiter || c == '"';
        let quote = !has_marks && chars.iter().any(|char| char.is_value && breaks(char.c));
        let first = chars.iter().position(|char| !(char.c.is_whitespace() || (char.c == '"' && !char.is_value)));
        let value: String = chars.iter().filter(|char| char.is_value).map(|char| char.c).collect();
        let (mut read, mut is_formula) = (String::with_capacity(value.len()), false);
        if quote {
            text.push('"');
        }
        for (index, Char { c, is_value, is_quoted }) in chars.into_iter().enumerate() {
            if is_value && Some(index) == first && FORMULA.contains(c) {
                text.push('\'');
                is_formula = true;
            }
            // Beside a quoted part, so it cannot be quoted.
            let is_lost = is_value && !quote && !is_quoted && breaks(c);
            read.extend(is_value.then_some(if is_lost { ' ' } else { c }));
            match c {
                '"' if quote || (is_value && is_quoted) => text.push_str("\"\""),
                _ if is_lost => text.push(' '),
                c => text.push(c),
            }
        }
        if quote {
            text.push('"');
        }
        let read = if is_formula { String::new() } else { read };
        (read != value).then_some((value, read))
    }
}
