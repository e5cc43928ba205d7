//! The filter `date`.

use jiff::fmt::strtime;
use jiff::fmt::temporal::Pieces;
use minijinja::{Error, ErrorKind, Value};

const ISO_DATE: &str = "%Y-%m-%d";

/// `{{ document.createdAt | date }}` prints `2026-11-21`, `{{ … | date("%d.%m.%Y") }}` prints it as a strftime format
/// says. Takes an ISO 8601 date or date-time; the date is the printed one, it is never moved to another time zone,
/// because a letter of the 21st stays one of the 21st wherever the daemon runs. What is no date counts as missing.
pub(super) fn date(value: &Value, format: Option<String>) -> Result<Value, Error> {
    let format = format.as_deref().unwrap_or(ISO_DATE);
    // Tried first on a date that is one: a bad format is the template's fault and shows when it is compiled.
    strtime::format(format, jiff::civil::date(2000, 1, 31).at(0, 0, 0, 0)).map_err(|_| {
        let detail = format!("`{format}` is not a date format: write for example %d.%m.%Y");
        Error::new(ErrorKind::InvalidOperation, detail).with_source(BadFormat)
    })?;
    let pieces = value.as_str().and_then(|text| Pieces::parse(text.trim()).ok());
    let formatted = pieces.and_then(|pieces| {
        let time = pieces.time().unwrap_or(jiff::civil::Time::midnight());
        strtime::format(format, pieces.date().to_datetime(time)).ok()
    });
    Ok(formatted.map_or(Value::UNDEFINED, Value::from))
}

/// Whether `date` was given a format that is none.
pub(super) fn is_bad_format(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<BadFormat>())
}

#[derive(Debug, thiserror::Error)]
#[error("not a date format")]
struct BadFormat;
