//! Why a file is not believed: what is wrong, in which row, and what to do. Nothing of a patient is in it.

use std::fmt;

use super::date::NoDate;

/// Why a file is no list. It counts whole or not at all: what spoils one row has mostly spoiled others without a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is larger than any list.
    #[error("it has more than {limit} MiB, so it is no list of patients: name the right file in `patients.file`")]
    TooLarge {
        /// The most that is read; MiB.
        limit: u64,
    },
    /// There is no first line.
    #[error("it is empty: export the list again, with the names of the columns in the first line")]
    Empty,
    /// Bytes that are no text.
    #[error(
        "row {row} is not text in {encoding}: export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`"
    )]
    NotInEncoding {
        /// The line, counted from 1.
        row: usize,
        /// What it was read as.
        encoding: &'static str,
    },
    /// Text that was read in the wrong encoding when the file was made.
    #[error(
        "row {row} has broken letters in the column `{column}` (as in {example}): export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`"
    )]
    BrokenText {
        /// The line, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// How such letters look.
        example: &'static str,
    },
    /// A column is not there.
    #[error("it has no column `{column}`, which `patients.{key}` names{}: write its name as it stands in the first line", Known { known, nearest: nearest.as_deref() })]
    NoColumn {
        /// The setting.
        key: &'static str,
        /// What it says.
        column: String,
        /// The columns that are there; empty where the first line may be a patient's.
        known: Vec<String>,
        /// The one that is probably meant.
        nearest: Option<String>,
    },
    /// The first line holds values.
    #[error("its first line does not hold the names of columns: export it with them")]
    NoHeader,
    /// Two columns have the name.
    #[error("it has several columns `{column}`, which `patients.{key}` names: give each a name of its own")]
    ColumnTwice {
        /// The setting.
        key: &'static str,
        /// What it says.
        column: String,
    },
    /// A row has values that belong to no column, or lacks some.
    #[error(
        "row {row} has {found} values and the first line {expected}: a value that holds the delimiter or a line end has to stand in quotation marks"
    )]
    Uneven {
        /// The line, counted from 1.
        row: usize,
        /// How many values it has.
        found: usize,
        /// How many the first line has.
        expected: usize,
    },
    /// A value goes on into the next row, or without end.
    #[error(
        "row {row} has a quotation mark without its other half, or a value longer than any name: export the list again, or correct that row"
    )]
    Quote {
        /// The line, counted from 1.
        row: usize,
    },
    /// What a spreadsheet made of a number.
    #[error(
        "row {row} has {kind} in the column of the number (`{column}`), so other numbers may be spoiled as well: export the list as text, without opening it in a spreadsheet, or give that column the format Text there"
    )]
    Number {
        /// The line, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// What stands there.
        kind: NoNumber,
    },
    /// No date of birth.
    #[error("row {row} has {} in the column of the date of birth (`{column}`){}", Wrong(*kind), Remedy(*kind, format.as_deref()))]
    Date {
        /// The line, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// What stands there.
        kind: NoDate,
        /// `patients.date_format`, where there is one.
        format: Option<String>,
    },
    /// No row shows whether the day or the month comes first.
    #[error(
        "row {row} has a date that can be read in two ways, and no other row shows which is meant: write `patients.date_format` (\"%d/%m/%Y\" where the day comes first, \"%m/%d/%Y\" where the month does)"
    )]
    Ambiguous {
        /// The line of the first such date, counted from 1.
        row: usize,
    },
    /// In some rows the day comes first and in others the month.
    #[error(
        "row {day_first} has a date with the day first and row {month_first} one with the month first: export all dates in one form, best as 2026-12-31, or write `patients.date_format` if one of the two is a mistake"
    )]
    TwoOrders {
        /// A line, counted from 1.
        day_first: usize,
        /// A line, counted from 1.
        month_first: usize,
    },
}

/// What stands where a patient's number belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoNumber {
    /// `=…`
    #[error("a formula")]
    Formula,
    /// `####`, `#N/A`
    #[error("what a spreadsheet shows instead of a value (such as #### or #N/A)")]
    Placeholder,
    /// `1,2E+05`
    #[error("a rounded number (such as 1,2E+05)")]
    Rounded,
    /// A character that is not seen.
    #[error("a character that is not seen (such as a mark of direction)")]
    Unseen,
    /// `471.0`
    #[error("a number with a decimal zero (such as 471.0)")]
    Decimal,
}

struct Known<'a> {
    known: &'a [String],
    nearest: Option<&'a str>,
}

/// More names than these are not read by anybody.
const SHOWN: usize = 40;

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.known.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        let more = if self.known.len() > SHOWN { " …" } else { "" };
        write!(f, " (it has {}{more}", names.join(", "))?;
        self.nearest.map_or(Ok(()), |nearest| write!(f, "; the nearest is `{nearest}`"))?;
        f.write_str(")")
    }
}

struct Wrong(NoDate);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            NoDate::TwoDigitYear => "a year of two digits",
            NoDate::Serial => "a plain number, as a spreadsheet keeps dates,",
            NoDate::Unknown => "something that is no date",
        })
    }
}

struct Remedy<'a>(NoDate, Option<&'a str>);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(NoDate::TwoDigitYear | NoDate::Serial, _) => {
                f.write_str(": export dates as text with a year of four digits, best as 2026-12-31")
            }
            Self(NoDate::Unknown, Some(format)) => {
                write!(f, " as `patients.date_format` says ({format}): correct that row, or the format")
            }
            Self(NoDate::Unknown, None) => f.write_str(
                ": correct it in the practice's software, or write `patients.date_format` if all dates are written so",
            ),
        }
    }
}
