//! Parses the bytes of a file into the list. Pure: opens no file.

use std::borrow::Cow;
use std::{fmt, iter};

use encoding_rs::WINDOWS_1252;
use sha2::{Digest as _, Sha256};

use super::date::NoDate;
use super::list::{Builder, List, MAX_VALUE_BYTES};
use super::refused::{NoNumber, Refused};
use crate::config::PatientsConfig;
use crate::domain::document::hex;

use self::dates::{Dates, Read};
use self::decode::Text;
use self::numbers::{Days, Groups, is_missing, no_number};
use self::records::{Record, Records, Unclosed};

mod dates;
mod decode;
mod numbers;
mod records;

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
    /// Whether the last row has no line end, so that more may follow.
    pub is_open: bool,
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
    let text = Text::of(bytes, config.encoding)?;
    let Header { delimiter, raw, names } = Header::of(&text, config)?;
    let columns = Columns::find(&names, config)?;
    let mut rows = Rows { text: &text.all, delimiter, expected: names.len(), width: None, columns, config };
    if rows.holds_another_row(raw, &[]) {
        return Err(Refused::Quote { row: row_of(&text.all, text.start) });
    }
    let mut builder = Builder::default();
    let mut dates = Dates::new(config.date_format.as_deref());
    let (mut groups, mut days) = (Groups::default(), Days::default());
    let mut facts =
        Facts { encoding: text.encoding, delimiter: char::from(delimiter), is_open: text.is_open, ..Facts::default() };
    let all: &str = &text.all;
    let mut lines = LineCounter { text: all, end: if all.contains('\n') { b'\n' } else { b'\r' }, counted: 0, line: 1 };
    for record in Records::new(&text.all, text.start, delimiter).skip(1) {
        let record = record.map_err(|unclosed| unclosed.in_rows(&text.all))?;
        let at = record.at;
        let Some(Values { number, last_name, first_name, former_name, born }) = rows.values(&record)? else {
            continue;
        };
        if is_missing(&number) {
            facts.without_number += 1;
            continue;
        }
        groups.take(&number, at);
        days.take(&number, at);
        dates.take(&born).map_err(|kind| rows.date(at, kind))?;
        dates.places.push(u32::try_from(at).unwrap_or(u32::MAX));
        builder.add([&number, &last_name, &first_name, &former_name], lines.of(at));
    }
    if let Some(at) = groups.found() {
        return Err(rows.number(at, NoNumber::Grouped));
    }
    if let Some(at) = days.found() {
        return Err(rows.number(at, NoNumber::Day));
    }
    let order = dates.order().map_err(|refused| refused.in_rows(&text.all))?;
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
    let mut list = builder.finish(facts, hex(&Sha256::digest(bytes)));
    let compared: Vec<String> = self::columns(config).map(|(_, column)| column.trim().to_owned()).collect();
    let further = |at: u32| {
        let at = usize::try_from(at).ok()?;
        let values = Records::new(&text.all, at, delimiter).next()?.ok()?.values;
        let named = names.iter().zip(&values).filter(|(name, _)| !name.is_empty() && !compared.contains(name));
        Some(named.map(|(name, value)| (shown(name), shown(&cleaned(value)))).collect::<Vec<_>>())
    };
    let alike = list.alike().into_iter();
    let all = alike.filter_map(|(row, line)| Some((line, further(*dates.places.get(row)?)?))).collect();
    list.set_further(all);
    Ok(list)
}

/// The names of the columns, for a person to choose from. The columns of the configuration need not be among them.
///
/// # Errors
/// The first reason why they are no names of columns.
pub fn header(bytes: &[u8], config: &PatientsConfig) -> Result<Vec<String>, Refused> {
    let text = Text::of(bytes, config.encoding)?;
    let Header { names, .. } = Header::of(&text, config)?;
    if names.iter().any(|name| may_be_a_value(name)) {
        return Err(Refused::NoHeader);
    }
    if let Some(name) = names.iter().find(|name| is_broken(name)) {
        return Err(Refused::BrokenText { row: 1, column: shown(name), example: MOJIBAKE });
    }
    Ok(names)
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
struct LineCounter<'a> {
    text: &'a str,
    end: u8,
    /// The bytes whose line ends are counted.
    counted: usize,
    line: u32,
}

impl LineCounter<'_> {
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

impl Unclosed {
    fn in_rows(self, text: &str) -> Refused {
        Refused::Quote { row: row_of(text, self.0) }
    }
}

/// The first record.
struct Header<'a> {
    delimiter: u8,
    raw: &'a str,
    /// The names of the columns. Delimiters behind the last name make no columns.
    names: Vec<String>,
}

impl<'a> Header<'a> {
    fn of(text: &'a Text<'_>, config: &PatientsConfig) -> Result<Self, Refused> {
        let read = |delimiter: u8| -> Result<Self, Refused> {
            let first = Records::new(&text.all, text.start, delimiter).next().ok_or(Refused::Empty)?;
            let Record { raw, values, .. } = first.map_err(|unclosed| unclosed.in_rows(&text.all))?;
            let mut names: Vec<String> = values.iter().map(|name| cleaned(name).into_owned()).collect();
            while names.pop_if(|last| last.is_empty()).is_some() {}
            Ok(Self { delimiter, raw, names })
        };
        let given = config.delimiter.or(text.delimiter);
        let candidates: Vec<u8> = given.map_or_else(|| DELIMITERS.to_vec(), |delimiter| vec![delimiter]);
        // Picks the first of the best delimiters. If none finds a column of the configuration, the one with the most
        // values wins.
        let rank = |header: &Self| {
            let is_there = |column: &str| position(&header.names, column).next().is_some();
            (columns(config).filter(|(_, column)| is_there(column)).count(), header.names.len())
        };
        let best = candidates.into_iter().map(read).reduce(|best, next| match (&best, &next) {
            (Ok(known), Ok(other)) if rank(other) > rank(known) => next,
            (Err(_), Ok(_)) => next,
            _ => best,
        });
        best.unwrap_or(Err(Refused::Empty))
    }
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

/// How é, â, ä, à, å, ç, ê, ë, ï, ô and ö of the code pages 437 and 850, and ß, ô, ï, ò and õ of Mac Roman, look when
/// they are read as windows-1252. In names these signs never stand between two letters.
const SIGNS: [char; 16] = ['‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', '‹', '“', '”', '§', '™', '•', '˜', '›'];

/// How é, ä and ü of Mac Roman look so. Names have these capitals at the beginning of a word, or among capitals.
const CAPITALS: [char; 3] = ['Ž', 'Š', 'Ÿ'];

/// Whether letters were lost, or were read in another encoding than they were written in.
fn is_broken(value: &str) -> bool {
    if value.is_ascii() {
        return value.bytes().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\n'));
    }
    let is_odd = |c: char| c == char::REPLACEMENT_CHARACTER || (c.is_control() && !matches!(c, '\t' | '\r' | '\n'));
    let (bytes, _, is_unmappable) = WINDOWS_1252.encode(value);
    let (befores, afters) = (iter::once(' ').chain(value.chars()), value.chars().skip(1).chain(iter::once(' ')));
    let is_of_another = befores.zip(value.chars()).zip(afters).any(|((before, c), after)| {
        let is_small = before.is_lowercase() || after.is_lowercase();
        before.is_alphabetic() && (SIGNS.contains(&c) && after.is_alphabetic() || CAPITALS.contains(&c) && is_small)
    });
    value.chars().any(is_odd) || is_of_another || (!is_unmappable && std::str::from_utf8(&bytes).is_ok())
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
    /// How many columns have a name.
    expected: usize,
    /// How many values each row has, once the first one is known: some programs write a delimiter behind the last one.
    width: Option<usize>,
    columns: Columns,
    config: &'a PatientsConfig,
}

impl Rows<'_> {
    /// The values of a record; `None` if all are empty.
    fn values<'r>(&mut self, Record { at, raw, values }: &'r Record<'_>) -> Result<Option<Values<'r>>, Refused> {
        if values.iter().all(|value| value.trim().is_empty()) {
            return Ok(None);
        }
        let is_beyond = values.iter().skip(self.expected).any(|value| !value.trim().is_empty());
        let (found, width) = (values.len(), *self.width.get_or_insert(values.len()));
        if is_beyond || found < self.expected || found != width {
            let expected = if found == self.expected { width } else { self.expected };
            return Err(Refused::Uneven { row: row_of(self.text, *at), found, expected });
        }
        if raw.contains(['\r', '\n']) && self.holds_another_row(raw, values) {
            return Err(Refused::Quote { row: row_of(self.text, *at) });
        }
        let needed = |index: usize, column: &str| {
            let value = values.get(index).map(Cow::as_ref).unwrap_or_default();
            self.value(value, column, *at)
        };
        let config = self.config;
        let number = needed(self.columns.number, &config.number)?;
        if let Some(kind) = no_number(&number) {
            return Err(self.number(*at, kind));
        }
        let former_name = match self.columns.former_name {
            Some(index) => needed(index, config.former_name.as_deref().unwrap_or_default())?,
            None => Cow::default(),
        };
        Ok(Some(Values {
            number,
            last_name: needed(self.columns.last_name, &config.last_name)?,
            first_name: needed(self.columns.first_name, &config.first_name)?,
            former_name,
            born: needed(self.columns.born, &config.date_of_birth)?,
        }))
    }

    /// Whether lines of a record would be rows of their own without the record's quotation marks: with all columns, a
    /// number with a digit, names, and a date of birth or none. With a date, the number may have no digit where the
    /// record's own has none. A lone quotation mark that finds another one in a later row makes one record of
    /// several rows. The lines of a remark are no rows; one of them may be the record's own, or by chance have as many
    /// commas, but then it has no other number and no other date. Nor have all of them exactly the values of a row and
    /// somebody's names, with a date of birth or none where that stands.
    fn holds_another_row(&self, raw: &str, own: &[Cow<'_, str>]) -> bool {
        let Columns { number, last_name, first_name, born, .. } = self.columns;
        let plain = |value: &str| value.replace('"', "").trim().to_owned();
        let width = self.width.unwrap_or(self.expected);
        let (mut rows, mut lines, mut whole) = (0, 0, 0);
        for line in raw.split(['\r', '\n']).filter(|line| !line.trim().is_empty()) {
            let values: Vec<&str> = line.split(char::from(self.delimiter)).collect();
            let [number, last_name, first_name, date] = [number, last_name, first_name, born]
                .map(|column| values.get(column).map_or_else(String::new, |value| plain(value)));
            let has_digit = |number: &str| number.contains(|c: char| c.is_ascii_digit());
            let own_number = own.get(self.columns.number).map(|own| plain(own)).unwrap_or_default();
            let has_person = !(last_name.is_empty() || first_name.is_empty())
                && dates::is_date(&date, self.config.date_format.as_deref());
            let is_row = values.len() >= self.expected
                && (has_digit(&number) || !(date.is_empty() || number.is_empty() || has_digit(&own_number)))
                && has_person;
            let is_other = |column: usize, value: &str| own.get(column).is_none_or(|own| plain(own) != value);
            if is_row && (is_other(self.columns.number, &number) || !date.is_empty() && is_other(born, &date)) {
                return true;
            }
            rows += usize::from(is_row);
            lines += 1;
            whole += usize::from(has_person && values.len() == width);
        }
        rows > 1 || lines > 1 && whole == lines
    }

    fn number(&self, at: usize, kind: NoNumber) -> Refused {
        Refused::Number { row: row_of(self.text, at), column: self.config.number.clone(), kind }
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

#[cfg(test)]
mod tests;
