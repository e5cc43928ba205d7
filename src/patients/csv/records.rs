//! Splits a text into records, as strictly as RFC 4180 (section 2) describes them. A program that is less strict takes
//! a lone quotation mark for the beginning of a value, and the rows up to the next one for its text.

use std::borrow::Cow;

/// One record.
pub(super) struct Record<'a> {
    /// The byte at which it begins.
    pub(super) at: usize,
    /// As it stands in the text, without its line end.
    pub(super) raw: &'a str,
    /// Its values, without quotation marks.
    pub(super) values: Vec<Cow<'a, str>>,
}

/// The byte of a quotation mark that begins a value and is not closed at the value's end.
pub(super) struct Unclosed(pub(super) usize);

/// The records of a text. Empty lines are none.
pub(super) struct Records<'a> {
    text: &'a str,
    delimiter: u8,
    at: usize,
}

impl<'a> Records<'a> {
    /// Those from this byte on.
    pub(super) fn new(text: &'a str, start: usize, delimiter: u8) -> Self {
        Self { text, delimiter, at: start }
    }

    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn between(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// A value without quotation marks around it. One within it is a character like others.
    fn plain(&mut self) -> Cow<'a, str> {
        let (from, delimiter) = (self.at, self.delimiter);
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let is_end = |byte: &u8| *byte == delimiter || matches!(byte, b'\r' | b'\n');
        self.at = from + rest.iter().position(is_end).unwrap_or(rest.len());
        Cow::Borrowed(self.between(from, self.at))
    }

    fn quoted(&mut self) -> Result<Cow<'a, str>, Unclosed> {
        let opening = self.at;
        let mut has_marks = false;
        loop {
            let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
            self.at += 1 + rest.iter().position(|byte| *byte == b'"').ok_or(Unclosed(opening))?;
            if self.text.as_bytes().get(self.at + 1) != Some(&b'"') {
                break;
            }
            has_marks = true;
            self.at += 1;
        }
        let value = self.between(opening + 1, self.at);
        self.at += 1;
        match self.here() {
            Some(byte) if byte != self.delimiter && !matches!(byte, b'\r' | b'\n') => Err(Unclosed(opening)),
            _ if has_marks => Ok(Cow::Owned(value.replace("\"\"", "\""))),
            _ => Ok(Cow::Borrowed(value)),
        }
    }

    fn record(&mut self) -> Result<Record<'a>, Unclosed> {
        let at = self.at;
        let mut values = Vec::new();
        loop {
            values.push(if self.here() == Some(b'"') { self.quoted()? } else { self.plain() });
            if self.here() != Some(self.delimiter) {
                return Ok(Record { at, raw: self.between(at, self.at), values });
            }
            self.at += 1;
        }
    }
}

/// Ends after the first error, as what follows could be anything.
impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Unclosed>;

    fn next(&mut self) -> Option<Self::Item> {
        while matches!(self.here(), Some(b'\r' | b'\n')) {
            self.at += 1;
        }
        self.here()?;
        let record = self.record();
        if record.is_err() {
            self.at = self.text.len();
        }
        Some(record)
    }
}
