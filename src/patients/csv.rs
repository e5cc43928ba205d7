//! Parses the bytes of a file into the list. Pure: opens no file.

use std::borrow::Cow;
use std::fmt;

use csv::{ReaderBuilder, StringRecord};
use encoding_rs::{Encoding, ISO_8859_15, UTF_16LE, WINDOWS_1252};
use sha2::{Digest as _, Sha256};
use yore::code_pages::{CP437, CP850};

use super::date::NoDate;
use super::list::{Builder, List, MAX_VALUE_BYTES};
use super::refused::{NoNumber, Refused};
use crate::config::{PatientsConfig, PatientsEncoding};
use crate::document::hex;
use crate::name::{is_bidirectional, is_invisible};

use self::dates::{Dates, Read};

mod dates;

/// How a file was read, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The name of the encoding, as in the setting.
    pub encoding: &'static str,
    /// The character between values.
    pub delimiter: char,
    /// The strftime format of the dates; empty if there are none.
    pub dates: String,
    /// The number of rows without a patient's number. They are ignored.
    pub without_number: usize,
    /// The number of rows without a date of birth. No letter is filed to them automatically.
    pub without_date: usize,
}

/// As `check` shows it: `windows-1252, `;`, dates as %d/%m/%Y`.
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, `{}`", self.encoding, self.delimiter.escape_default())?;
        if !self.dates.is_empty() {
            write!(f, ", dates as {}", self.dates)?;
        }
        Ok(())
    }
}

/// The characters that may stand between values.
const DELIMITERS: [u8; 4] = [b';', b',', b'\t', b'|'];

/// Parses these bytes.
///
/// # Errors
/// The first reason why they are no list.
pub fn parse(bytes: &[u8], config: &PatientsConfig) -> Result<List, Refused> {
    let (text, encoding) = decode(bytes, config.encoding)?;
    let (delimiter, header) = first_line(&text, config)?;
    let columns = Columns::find(&header, config)?;
    let mut rows = Rows { text: &text, delimiter, expected: header.len(), columns, config };
    let mut builder = Builder::default();
    let mut dates = Dates::new(config.date_format.as_deref());
    let mut facts = Facts { encoding, delimiter: char::from(delimiter), ..Facts::default() };
    let mut reader = reader(&text, delimiter);
    let mut record = StringRecord::new();
    let mut lines = Lines { text: &text, end: if text.contains('\n') { b'\n' } else { b'\r' }, counted: 0, line: 1 };
    let mut is_header = true;
    // Reading UTF-8 from memory cannot fail.
    while reader.read_record(&mut record).unwrap_or(false) {
        if std::mem::take(&mut is_header) {
            continue;
        }
        let at = record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(usize::MAX));
        let Some(Values { number, last_name, first_name, former_name, born }) = rows.values(&record, at)? else {
            continue;
        };
        // Databases write a missing value like this.
        if number.is_empty() || number.eq_ignore_ascii_case("null") || number == "\\N" {
            facts.without_number += 1;
            continue;
        }
        dates.take(&born).map_err(|kind| rows.date(at, kind))?;
        dates.places.push(u32::try_from(at).unwrap_or(u32::MAX));
        builder.add([&number, &last_name, &first_name, &former_name], lines.of(at));
    }
    let order = dates.order().map_err(|refused| refused.in_rows(&text))?;
    for (row, (written, place)) in dates.written.iter().zip(&dates.places).enumerate() {
        let born = match written {
            Read::Born(born) => *born,
            Read::Written(written) => {
                let at = usize::try_from(*place).unwrap_or(usize::MAX);
                written.day(order).map_err(|kind| rows.date(at, kind))?
            }
        };
        facts.without_date += usize::from(born.is_none());
        builder.set_born(row, born);
    }
    facts.dates = dates.in_words(order);
    Ok(builder.finish(facts, hex(&Sha256::digest(bytes))))
}

/// The names of the columns, for a person to choose from. The columns of the configuration need not be among them.
///
/// # Errors
/// The first reason why they are no names of columns.
pub fn header(bytes: &[u8], config: &PatientsConfig) -> Result<Vec<String>, Refused> {
    let (text, _) = decode(bytes, config.encoding)?;
    let (_, names) = first_line(&text, config)?;
    if names.iter().any(|name| may_be_a_value(name)) {
        return Err(Refused::NoHeader);
    }
    if let Some(name) = names.iter().find(|name| is_broken(name)) {
        return Err(Refused::BrokenText { row: 1, column: shown(name), example: MOJIBAKE });
    }
    Ok(names)
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
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

/// The line, counted from 1, of the record that begins at this byte. Skips empty lines before it.
fn row_of(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let blank = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let before = bytes.get(..at.saturating_add(blank)).unwrap_or(bytes);
    let ends = before.iter().zip(before.iter().skip(1).chain([&0])).filter(|(byte, next)| match byte {
        b'\n' => true,
        b'\r' => **next != b'\n',
        _ => false,
    });
    ends.count() + 1
}

/// [`row_of`] of one record after another.
struct Lines<'a> {
    text: &'a str,
    end: u8,
    /// The bytes whose line ends are counted.
    counted: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> u32 {
        let rest = self.text.as_bytes().get(self.counted..).unwrap_or_default();
        let to_record = at.saturating_sub(self.counted);
        let blank = rest.iter().skip(to_record).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let ends = rest.iter().take(to_record + blank).filter(|byte| **byte == self.end).count();
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        self.counted += to_record + blank;
        self.line
    }
}

/// The delimiter, and the names of the columns.
fn first_line(text: &str, config: &PatientsConfig) -> Result<(u8, Vec<String>), Refused> {
    let read = |delimiter: u8| {
        let mut record = StringRecord::new();
        let _ = reader(text, delimiter).read_record(&mut record);
        let names: Vec<String> = record.iter().map(|name| cleaned(name).into_owned()).collect();
        (delimiter, names)
    };
    let found =
        |names: &[String]| columns(config).filter(|(_, column)| position(names, column).next().is_some()).count();
    let candidates: Vec<u8> = config.delimiter.map_or_else(|| DELIMITERS.to_vec(), |delimiter| vec![delimiter]);
    // Picks the first of the best delimiters. If none finds a column of the configuration, the one with the most values
    // wins.
    let best = candidates.into_iter().map(read).reduce(|best, next| {
        let rank = |names: &[String]| (found(names), names.len());
        if rank(&next.1) > rank(&best.1) { next } else { best }
    });
    best.ok_or(Refused::Empty)
}

/// The settings that name a column, with their values.
fn columns(config: &PatientsConfig) -> impl Iterator<Item = (&'static str, &str)> {
    let former = config.former_name.as_deref().map(|name| ("former_name", name));
    [
        ("number", config.number.as_str()),
        ("last_name", config.last_name.as_str()),
        ("first_name", config.first_name.as_str()),
        ("date_of_birth", config.date_of_birth.as_str()),
    ]
    .into_iter()
    .chain(former)
}

/// The indexes of the columns with this name.
fn position<'a>(names: &'a [String], column: &'a str) -> impl Iterator<Item = usize> + 'a {
    names.iter().enumerate().filter(|(_, name)| *name == column.trim()).map(|(index, _)| index)
}

/// The indexes of the columns.
struct Columns {
    number: usize,
    last_name: usize,
    first_name: usize,
    born: usize,
    former_name: Option<usize>,
}

impl Columns {
    fn find(names: &[String], config: &PatientsConfig) -> Result<Self, Refused> {
        let mut found = Vec::new();
        for (key, column) in columns(config) {
            let mut places = position(names, column);
            match (places.next(), places.next()) {
                (Some(at), None) => found.push(at),
                (Some(_), Some(_)) => return Err(Refused::ColumnTwice { key, column: column.to_owned() }),
                (None, _) => return Err(no_column(key, column, names)),
            }
        }
        match *found.as_slice() {
            [number, last_name, first_name, born, ref former @ ..] => {
                Ok(Self { number, last_name, first_name, born, former_name: former.first().copied() })
            }
            _ => Err(Refused::NoHeader),
        }
    }
}

fn no_column(key: &'static str, column: &str, names: &[String]) -> Refused {
    let is_known = |name: &String| {
        let name = name.to_lowercase();
        column.to_lowercase() == name || OF_COLUMNS.iter().any(|word| name.contains(word))
    };
    if names.iter().any(|name| may_be_a_value(name)) || !names.iter().any(is_known) {
        return Refused::NoHeader;
    }
    if let Some(name) = names.iter().find(|name| is_broken(name)) {
        return Refused::BrokenText { row: 1, column: name.clone(), example: MOJIBAKE };
    }
    let likeness = |name: &String| strsim::jaro_winkler(&name.to_lowercase(), &column.to_lowercase());
    let known: Vec<String> = names.iter().filter(|name| !name.is_empty()).map(|name| shown(name)).collect();
    let nearest = known.iter().map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness > 0.6);
    let nearest = nearest.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.clone());
    Refused::NoColumn { key, column: column.to_owned(), known, nearest }
}

/// Parts of usual column names, in lower case. A first line without any of them may be a patient's, so it is not shown.
const OF_COLUMNS: [&str; 12] =
    ["num", "nom", "name", "prénom", "prenom", "geb", "birth", "naiss", "patient", "dob", "datum", "date"];

/// Whether this may be a value: a patient's row has a date of birth and a number, and no column name looks like those.
fn may_be_a_value(name: &str) -> bool {
    let digits = name.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or_default();
    let is_number = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
    digits >= 4 || is_number
}

/// The name of a column, short and on one line.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

/// How UTF-8 looks when it is read as windows-1252.
const MOJIBAKE: &str = "MÃ¼ller";

/// How é, â, ä, à, å, ç, ê, ë, ï, ô and ö of the code pages 437 and 850 look when they are read as windows-1252. In
/// names these signs never stand between two letters.
const CODE_PAGE_850: [char; 11] = ['‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', '‹', '“', '”'];

/// Whether letters were lost, or were read in another encoding than they were written in.
fn is_broken(value: &str) -> bool {
    if value.is_ascii() {
        return value.bytes().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\n'));
    }
    let is_odd = |c: char| c == char::REPLACEMENT_CHARACTER || (c.is_control() && !matches!(c, '\t' | '\r' | '\n'));
    let (bytes, _, is_unmappable) = WINDOWS_1252.encode(value);
    let parts: Vec<&str> = value.split(CODE_PAGE_850).collect();
    let is_inside =
        |before: &str, after: &str| before.ends_with(char::is_alphabetic) && after.starts_with(char::is_alphabetic);
    let is_of_850 = parts.windows(2).any(|two| matches!(two, [before, after] if is_inside(before, after)));
    value.chars().any(is_odd) || is_of_850 || (!is_unmappable && std::str::from_utf8(&bytes).is_ok())
}

/// A value without the white space around it, and with spaces for its line ends.
fn cleaned(value: &str) -> Cow<'_, str> {
    let value = value.trim();
    if !value.contains(['\r', '\n']) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
}

/// The values of one row that are needed.
struct Values<'a> {
    number: Cow<'a, str>,
    last_name: Cow<'a, str>,
    first_name: Cow<'a, str>,
    former_name: Cow<'a, str>,
    born: Cow<'a, str>,
}

/// Checks rows.
struct Rows<'a> {
    text: &'a str,
    delimiter: u8,
    expected: usize,
    columns: Columns,
    config: &'a PatientsConfig,
}

impl Rows<'_> {
    /// The values of a record; `None` if all are empty.
    fn values<'r>(&mut self, record: &'r StringRecord, at: usize) -> Result<Option<Values<'r>>, Refused> {
        if record.iter().all(|value| value.trim().is_empty()) {
            return Ok(None);
        }
        // Empty values at the end do not count: Excel leaves them out in some rows.
        let is_beyond = record.iter().skip(self.expected).any(|value| !value.trim().is_empty());
        let uneven = || Refused::Uneven { row: row_of(self.text, at), found: record.len(), expected: self.expected };
        if is_beyond {
            return Err(uneven());
        }
        let needed = |index: usize, column: &str| match record.get(index) {
            Some(value) => self.value(value, column, at),
            None => Err(uneven()),
        };
        let config = self.config;
        let number = needed(self.columns.number, &config.number)?;
        if let Some(kind) = no_number(&number) {
            return Err(Refused::Number { row: row_of(self.text, at), column: config.number.clone(), kind });
        }
        let former_name = self.columns.former_name.and_then(|index| record.get(index)).unwrap_or_default();
        Ok(Some(Values {
            number,
            last_name: needed(self.columns.last_name, &config.last_name)?,
            first_name: needed(self.columns.first_name, &config.first_name)?,
            former_name: self.value(former_name, config.former_name.as_deref().unwrap_or_default(), at)?,
            born: needed(self.columns.born, &config.date_of_birth)?,
        }))
    }

    fn value<'r>(&self, value: &'r str, column: &str, at: usize) -> Result<Cow<'r, str>, Refused> {
        let delimiter = char::from(self.delimiter);
        if value.len() > MAX_VALUE_BYTES || (value.contains(['\r', '\n']) && value.contains(delimiter)) {
            return Err(Refused::Quote { row: row_of(self.text, at) });
        }
        if is_broken(value) {
            let example = if value.contains(char::REPLACEMENT_CHARACTER) { "M\u{fffd}ller" } else { MOJIBAKE };
            return Err(Refused::BrokenText { row: row_of(self.text, at), column: column.to_owned(), example });
        }
        Ok(cleaned(value))
    }

    fn date(&self, at: usize, kind: NoDate) -> Refused {
        let (column, format) = (self.config.date_of_birth.clone(), self.config.date_format.clone());
        Refused::Date { row: row_of(self.text, at), column, kind, format }
    }
}

/// Whether a spreadsheet or a statistics program has spoiled this number.
fn no_number(number: &str) -> Option<NoNumber> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal =
        |text: &str| digits(text) || text.split_once([',', '.']).is_some_and(|(a, b)| digits(a) && digits(b));
    if number.starts_with('=') {
        return Some(NoNumber::Formula);
    }
    if number.starts_with('#') {
        return Some(NoNumber::Placeholder);
    }
    // Two numbers that look the same may differ in characters that are invisible or change the direction of text.
    if number.chars().any(|letter| letter.is_control() || is_bidirectional(letter) || is_invisible(letter)) {
        return Some(NoNumber::Unseen);
    }
    if let Some((mantissa, exponent)) = number.split_once(['E', 'e'])
        && is_decimal(mantissa)
        && exponent.strip_prefix(['+', '-']).is_some_and(digits)
    {
        return Some(NoNumber::Rounded);
    }
    match number.split_once(['.', ',']) {
        Some((whole, zeros)) if digits(whole) && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
            Some(NoNumber::Decimal)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
