//! The text of a file: its encoding, and the marks of programs before and behind the rows.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_8859_15, UTF_16LE, WINDOWS_1252};
use yore::code_pages::{CP437, CP850};

use super::super::refused::Refused;
use super::row_of;
use crate::config::PatientsEncoding;

/// The text of a file.
pub(super) struct Text<'a> {
    /// All of it, so that rows are counted as an editor counts lines; without the mark of DOS for the end of a file.
    pub(super) all: Cow<'a, str>,
    /// The name of its encoding, as in the setting.
    pub(super) encoding: &'static str,
    /// The byte at which the rows begin: behind the line `sep=;`, which tells Excel the delimiter.
    pub(super) start: usize,
    /// The delimiter that this line names.
    pub(super) delimiter: Option<u8>,
    /// Whether nothing shows that the file ends here: its last row has no line end.
    pub(super) is_open: bool,
}

/// The mark of DOS for the end of a file.
const END: char = '\u{1a}';

impl<'a> Text<'a> {
    /// Decodes these bytes.
    pub(super) fn of(bytes: &'a [u8], wanted: PatientsEncoding) -> Result<Self, Refused> {
        // A ZIP archive (xlsx, ods), or the older form of a compound file (xls).
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(Refused::Workbook);
        }
        let (all, encoding) = decode(bytes, wanted)?;
        let has_mark = all.trim_end().ends_with(END);
        let length = if has_mark { all.trim_end().trim_end_matches(END).len() } else { all.len() };
        let all = match all {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(..length).unwrap_or(text)),
            Cow::Owned(mut text) => {
                text.truncate(length);
                Cow::Owned(text)
            }
        };
        if all.trim().is_empty() {
            return Err(Refused::Empty);
        }
        let is_open = !has_mark && !all.trim_end_matches([' ', '\t']).ends_with(['\r', '\n']);
        let (start, delimiter) = separator(&all).unzip();
        Ok(Self { start: start.unwrap_or(0), delimiter, encoding, is_open, all })
    }
}

/// The length of the line `sep=;` at the beginning, and the delimiter that it names. A spreadsheet that saves it once
/// more puts it in quotation marks, or delimiters behind it.
fn separator(text: &str) -> Option<(usize, u8)> {
    let line = text.split(['\r', '\n']).next().unwrap_or_default();
    let plain = line.replace('"', "");
    let (mark, named) = plain.split_at_checked(4)?;
    let delimiter = named.bytes().next().filter(|byte| byte.is_ascii_punctuation() || *byte == b'\t')?;
    let is_mark = mark.eq_ignore_ascii_case("sep=") && named.bytes().all(|byte| byte == delimiter);
    is_mark.then_some((line.len(), delimiter))
}

/// The text, and the name of its encoding. A byte order mark takes precedence.
fn decode(bytes: &[u8], wanted: PatientsEncoding) -> Result<(Cow<'_, str>, &'static str), Refused> {
    let marked = Encoding::for_bom(bytes);
    let (encoding, rest) = match marked {
        Some((encoding, mark)) => (Ok(encoding), bytes.get(mark..).unwrap_or_default()),
        None => (Err(wanted), bytes),
    };
    if rest.iter().all(u8::is_ascii_whitespace) {
        return Err(Refused::Empty);
    }
    // Text in one of these encodings is valid UTF-8 only by chance, unless it is ASCII.
    let is_of_a_byte_each = matches!(
        encoding,
        Err(PatientsEncoding::Windows1252
            | PatientsEncoding::Iso8859_15
            | PatientsEncoding::Cp437
            | PatientsEncoding::Cp850)
    );
    if is_of_a_byte_each
        && !rest.is_ascii()
        && let Ok(text) = std::str::from_utf8(rest)
    {
        let at = text.find(|letter: char| !letter.is_ascii()).unwrap_or_default();
        return Err(Refused::NotInEncoding { row: row_of(text, at), encoding: in_words(wanted) });
    }
    let (text, name) = match encoding {
        Ok(encoding) => strict(rest, encoding)?,
        Err(PatientsEncoding::Utf8) => strict(rest, encoding_rs::UTF_8)?,
        Err(PatientsEncoding::Utf16) => strict(rest, UTF_16LE)?,
        Err(PatientsEncoding::Windows1252) => strict(rest, WINDOWS_1252)?,
        Err(PatientsEncoding::Iso8859_15) => strict(rest, ISO_8859_15)?,
        Err(PatientsEncoding::Cp437) => (CP437.decode(rest), "cp437"),
        Err(PatientsEncoding::Cp850) => (CP850.decode(rest), "cp850"),
        Err(PatientsEncoding::Auto) if std::str::from_utf8(rest).is_ok() => strict(rest, encoding_rs::UTF_8)?,
        Err(PatientsEncoding::Auto) => strict(rest, WINDOWS_1252)?,
    };
    match text.find('\0') {
        // NUL is half of a letter of a two-byte encoding.
        Some(at) => Err(Refused::NotInEncoding { row: row_of(&text, at), encoding: name }),
        None => Ok((text, name)),
    }
}

fn in_words(encoding: PatientsEncoding) -> &'static str {
    match encoding {
        PatientsEncoding::Auto | PatientsEncoding::Utf8 => "utf-8",
        PatientsEncoding::Utf16 => "utf-16",
        PatientsEncoding::Windows1252 => "windows-1252",
        PatientsEncoding::Iso8859_15 => "iso-8859-15",
        PatientsEncoding::Cp437 => "cp437",
        PatientsEncoding::Cp850 => "cp850",
    }
}

fn strict<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Result<(Cow<'a, str>, &'static str), Refused> {
    let name = match encoding.name() {
        "UTF-8" => "utf-8",
        "UTF-16LE" | "UTF-16BE" => "utf-16",
        "ISO-8859-15" => "iso-8859-15",
        _ => "windows-1252",
    };
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => Ok((text, name)),
        None => {
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            let at = text.find(char::REPLACEMENT_CHARACTER).unwrap_or_default();
            Err(Refused::NotInEncoding { row: row_of(&text, at), encoding: name })
        }
    }
}
