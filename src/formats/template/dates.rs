//! The filter `date`.

use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;
use minijinja::{Error, ErrorKind, Value};

const ISO_DATE: &str = "%Y-%m-%d";

/// `{{ document.createdAt | date }}` prints `2026-11-21`; `{{ … | date("%d.%m.%Y") }}` uses a strftime format. Takes an
/// ISO 8601 date or date-time. The printed date counts and is never moved to another time zone, so that a letter of the
/// 21st stays one wherever the daemon runs. Anything that is no date counts as missing.
pub(super) fn date(value: &Value, format: Option<String>) -> Result<Value, Error> {
    let format = format.as_deref().unwrap_or(ISO_DATE);
    // Tried on a valid date first: a bad format is the template's fault and must be found on compilation.
    let sample = strtime::format(format, jiff::civil::date(2000, 1, 31).at(0, 0, 0, 0)).ok();
    // A format without any field of the date: `DD.MM.YYYY`.
    if sample.is_none_or(|sample| sample == format) {
        let detail = format!("`{format}` is not a date format: write for example {}", in_strftime(format));
        return Err(Error::new(ErrorKind::InvalidOperation, detail).with_source(BadFormat));
    }
    let pieces = value.as_str().and_then(|text| Pieces::parse(text.trim()).ok());
    let formatted = pieces.and_then(|pieces| {
        let time = pieces.time().unwrap_or(jiff::civil::Time::midnight());
        strtime::format(format, pieces.date().to_datetime(time)).ok()
    });
    Ok(formatted.map_or(Value::UNDEFINED, Value::from))
}

/// The strftime format for a format in a spreadsheet's notation.
fn in_strftime(format: &str) -> String {
    let words = [
        ("YYYY", "%Y"),
        ("yyyy", "%Y"),
        ("JJJJ", "%Y"),
        ("YY", "%y"),
        ("yy", "%y"),
        ("MM", "%m"),
        ("DD", "%d"),
        ("dd", "%d"),
        ("TT", "%d"),
    ];
    let meant = words.iter().fold(format.to_owned(), |format, (word, meant)| format.replace(word, meant));
    let is_whole = strtime::format(&meant, jiff::civil::date(2000, 1, 31))
        .is_ok_and(|sample| !sample.contains(char::is_alphabetic));
    if meant != format && is_whole { meant } else { "%d.%m.%Y".to_owned() }
}

/// Whether the error is a bad format for `date`.
pub(super) fn is_bad_format(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<BadFormat>())
}

#[derive(Debug, thiserror::Error)]
#[error("not a date format")]
struct BadFormat;
