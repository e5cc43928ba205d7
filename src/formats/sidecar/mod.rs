//! Encodes sidecars for practice software (docs/templates.md): turns the text into the bytes that such software
//! reads.
//!
//! Pure. Characters that the encoding lacks are replaced in the values, before a template inserts them, because the
//! template can then escape the replacement (`"` for `„`). A text that still has such characters cannot be written.

mod charset;
mod gdt;

use std::borrow::Cow;

use serde_json::Value;

pub use self::charset::Charset;
pub use self::gdt::{field_of, lines};
use crate::domain::document::{Metadata, Record};

/// `sidecar_encoding`, `sidecar_newline`, `sidecar_unmappable`, `sidecar_format = "gdt"`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The encoding.
    pub charset: Charset,
    /// Whether lines end with CR LF; otherwise with LF.
    pub crlf: bool,
    /// Whether characters that the encoding lacks are replaced.
    pub transliterates: bool,
    /// Whether its lines are GDT fields.
    pub is_gdt: bool,
}

impl Default for Form {
    fn default() -> Self {
        Self { charset: Charset::Utf8, crlf: false, transliterates: true, is_gdt: false }
    }
}

/// Why a text cannot be written. Quotes nothing of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The encoding lacks a character.
    #[error("line {line}{} holds a character that the encoding lacks", of_field(field.as_ref()))]
    Lacks {
        /// The line, counted from 1.
        line: usize,
        /// The field, in GDT.
        field: Option<String>,
    },
    /// A value is too long for a GDT line.
    #[error("field {field} is longer than {most} bytes")]
    ValueTooLong {
        /// The GDT field.
        field: String,
        /// The most bytes that fit.
        most: usize,
    },
    /// The file is too long for GDT.
    #[error("all fields together are longer than {most} bytes")]
    FileTooLong {
        /// The most bytes that fit.
        most: usize,
    },
    /// A GDT line does not begin with a field.
    #[error("line {line} does not begin with the four digits of a field")]
    NoField {
        /// The line, counted from 1.
        line: usize,
    },
}

fn of_field(field: Option<&String>) -> String {
    field.map(|field| format!(" (field {field})")).unwrap_or_default()
}

impl Form {
    /// The bytes of the file with this text.
    ///
    /// # Errors
    /// [`Fault`] if the text cannot be written.
    pub fn bytes(&self, text: &str) -> Result<Vec<u8>, Fault> {
        if self.is_gdt {
            return gdt::write(text, self.charset);
        }
        // A configuration that was saved on Windows has CR LF in the template itself.
        let lines = text.replace("\r\n", "\n");
        let text = if self.crlf { lines.replace('\n', "\r\n") } else { lines };
        let Some(mut bytes) = self.charset.encode(&text) else {
            let line = text.lines().position(|line| !self.charset.has(line)).unwrap_or(0) + 1;
            return Err(Fault::Lacks { line, field: None });
        };
        if self.charset == Charset::Utf8Bom && !text.starts_with(MARK) {
            bytes.splice(0..0, MARK.to_string().into_bytes());
        }
        Ok(bytes)
    }

    /// The document's data, with replacements for characters that the encoding lacks, as far as there are any.
    pub fn adapted<'m>(&self, metadata: &'m Metadata) -> Cow<'m, Metadata> {
        if self.charset.is_unicode() || !self.transliterates {
            return Cow::Borrowed(metadata);
        }
        let record = |record: &Record| self.adapted_record(record);
        Cow::Owned(Metadata {
            account: self.adapted_text(&metadata.account),
            document: record(&metadata.document),
            patient: record(&metadata.patient),
            user: record(&metadata.user),
            // An identifier is never changed.
            number: metadata.number.clone(),
        })
    }

    fn adapted_record(&self, record: &Record) -> Record {
        let adapted = |(field, value): (&String, &Value)| {
            let value = if field == "uuid" { value.clone() } else { self.adapted_value(value) };
            (field.clone(), value)
        };
        record.iter().map(adapted).collect()
    }

    fn adapted_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.adapted_text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.adapted_value(item)).collect(),
            Value::Object(record) => Value::Object(self.adapted_record(record)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn adapted_text(&self, text: &str) -> String {
        use unicode_normalization::UnicodeNormalization as _;
        let mut adapted = String::with_capacity(text.len());
        for c in text.nfc() {
            match if self.charset.has(c.encode_utf8(&mut [0; 4])) { None } else { self.charset.instead_of(c) } {
                Some(instead) => adapted.push_str(&instead),
                None => adapted.push(c),
            }
        }
        adapted
    }
}

/// The byte order mark.
const MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WINDOWS: Form = Form { charset: Charset::Windows1252, crlf: true, transliterates: true, is_gdt: false };

    fn named(name: &str) -> Metadata {
        let patient = json!({"lastName": name, "tags": [name, {"of": name}], "age": 7}).as_object().cloned().unwrap();
        Metadata { account: name.to_owned(), patient, number: Some(name.to_owned()), ..Metadata::default() }
    }

    #[test]
    fn lines_end_as_they_are_to_and_no_line_is_added() {
        assert_eq!(WINDOWS.bytes("a\nb\r\n\nc").unwrap(), b"a\r\nb\r\n\r\nc");
        assert_eq!(Form { crlf: false, ..WINDOWS }.bytes("a\nb\r\n").unwrap(), b"a\nb\n");
        let marked = Form { charset: Charset::Utf8Bom, ..WINDOWS };
        assert_eq!(marked.bytes("é\n").unwrap(), b"\xef\xbb\xbf\xc3\xa9\r\n");
        assert_eq!(marked.bytes("\u{feff}é\n").unwrap(), b"\xef\xbb\xbf\xc3\xa9\r\n");
        assert_eq!(Form::default().bytes("ł\n").unwrap(), "ł\n".as_bytes());
    }

    #[test]
    fn values_are_told_in_letters_that_the_encoding_has_wherever_they_stand() {
        let adapted = WINDOWS.adapted(&named("Łukasz Erdo\u{30b}s „Jo\u{308}rg“ \u{1f600}")).into_owned();
        let expected = "Lukasz Erdos „Jörg“ \u{1f600}";
        let patient = json!({"lastName": expected, "tags": [expected, {"of": expected}], "age": 7});
        assert_eq!(Value::Object(adapted.patient), patient);
        assert_eq!(adapted.account, expected);
        for form in [Form { transliterates: false, ..WINDOWS }, Form { charset: Charset::Utf8, ..WINDOWS }] {
            assert!(matches!(form.adapted(&named("Łukasz")), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn identifiers_stay_as_they_are() {
        let patient = json!({"uuid": "ł", "user": {"uuid": "ł"}}).as_object().cloned().unwrap();
        let metadata = Metadata { patient, number: Some("Ł12".to_owned()), ..Metadata::default() };
        let adapted = WINDOWS.adapted(&metadata).into_owned();
        assert_eq!((&adapted.patient, &adapted.number), (&metadata.patient, &metadata.number));
    }

    #[test]
    fn what_the_encoding_lacks_is_told_by_its_line_and_never_shown() {
        let fault = WINDOWS.bytes("one\ntwo\nthree ł").unwrap_err();
        assert_eq!(fault.to_string(), "line 3 holds a character that the encoding lacks");
    }
}
