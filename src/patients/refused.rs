//! Why a file is refused: what is wrong, in which row, and what to do. Contains nothing of a patient.

use std::fmt;

use super::date::NoDate;

/// Why a file is no list. One bad row refuses the whole file, since its cause has mostly spoiled other rows unnoticed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The file is larger than any list.
    #[error("it has more than {limit} MiB, so it is no list of patients: name the right file in `patients.file`")]
    TooLarge {
        /// The largest size that is read; MiB.
        limit: u64,
    },
    /// The file of a spreadsheet program itself.
    #[error(
        "it is a workbook of a spreadsheet program such as Excel: save it as CSV UTF-8 there, and name that file in `patients.file`"
    )]
    Workbook,
    /// The file has no first line.
    #[error("it is empty: export the list again, with the names of the columns in the first line")]
    Empty,
    /// Bytes that are no text in the encoding.
    #[error(
        "row {row} is not text in {encoding}: export it as UTF-8 (in Excel \"CSV UTF-8\"), or write the right one into `patients.encoding`"
    )]
    NotInEncoding {
        /// The line, counted from 1.
        row: usize,
        /// The encoding that was tried.
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
        /// An example of such letters.
        example: &'static str,
    },
    /// A column of the configuration is missing.
    #[error("it has no column `{column}`, which `patients.{key}` names{}: write its name as it stands in the first line", KnownColumns { known, nearest: nearest.as_deref() })]
    NoColumn {
        /// The setting.
        key: &'static str,
        /// The value of the setting.
        column: String,
        /// The existing columns; empty if the first line may be a patient's.
        known: Vec<String>,
        /// The existing column that is probably meant.
        nearest: Option<String>,
    },
    /// The first line holds values.
    #[error("its first line does not hold the names of columns: export it with them")]
    NoHeader,
    /// Two columns have the same name.
    #[error("it has several columns `{column}`, which `patients.{key}` names: give each a name of its own")]
    ColumnTwice {
        /// The setting.
        key: &'static str,
        /// The value of the setting.
        column: String,
    },
    /// A row has values that belong to no column, or lacks some.
    #[error(
        "row {row} has {found} values and the first line {expected}: a value that holds the delimiter or a line end has to stand in quotation marks, and an empty value keeps its delimiter"
    )]
    Uneven {
        /// The line, counted from 1.
        row: usize,
        /// How many values it has.
        found: usize,
        /// How many the first line has.
        expected: usize,
    },
    /// A value continues into the next row, or does not end.
    #[error(
        "row {row} has a quotation mark without its other half, or a value longer than any name: export the list again, or correct that row"
    )]
    Quote {
        /// The line, counted from 1.
        row: usize,
    },
    /// A spreadsheet has spoiled a number.
    #[error(
        "row {row} has {kind} in the column of the number (`{column}`), so other numbers may be spoiled as well: export the list as text, without opening it in a spreadsheet, or give that column the format Text there"
    )]
    Number {
        /// The line, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// What is wrong.
        kind: NoNumber,
    },
    /// A value is no date of birth.
    #[error("row {row} has {} in the column of the date of birth (`{column}`){}", Wrong(*kind), Remedy(*kind, format.as_deref()))]
    Date {
        /// The line, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// What is wrong.
        kind: NoDate,
        /// `patients.date_format`, if set.
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
    /// In some rows the day comes first, and in others the month.
    #[error(
        "row {day_first} has a date with the day first and row {month_first} one with the month first: export all dates in one form, best as 2026-12-31, or write `patients.date_format` if one of the two is a mistake"
    )]
    TwoOrders {
        /// A line with the day first, counted from 1.
        day_first: usize,
        /// A line with the month first, counted from 1.
        month_first: usize,
    },
}

impl Refused {
    /// What is wrong in a word (`health::ListWrong`), and the row; 0: none.
    pub(super) fn word(&self) -> (&'static str, usize) {
        match self {
            Self::TooLarge { .. } => ("content", 0),
            Self::Empty => ("short", 0),
            Self::Workbook => ("workbook", 0),
            Self::NotInEncoding { row, .. } | Self::BrokenText { row, .. } => ("letters", *row),
            Self::NoColumn { .. } | Self::NoHeader | Self::ColumnTwice { .. } => ("columns", 0),
            Self::Uneven { row, .. } | Self::Quote { row } => ("row", *row),
            Self::Number { row, .. } => ("number", *row),
            Self::Date { row, .. } => ("date", *row),
            Self::Ambiguous { row } | Self::TwoOrders { day_first: row, .. } => ("two-ways", *row),
        }
    }
}

/// What stands in place of a patient's number.
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
    /// An invisible character.
    #[error("a character that is not seen (such as a mark of direction)")]
    Unseen,
    /// `471.0`
    #[error("a number with a decimal zero (such as 471.0)")]
    Decimal,
    /// `12−3`
    #[error("a dash or a minus sign that is no hyphen (such as − in 12−3)")]
    Dash,
    /// `12-Mrz`
    #[error("a day (such as 12-Mar for 12-3)")]
    Day,
    /// `'0815`
    #[error("an apostrophe or a quotation mark (as in '0815)")]
    Quoted,
    /// `1.471`
    #[error("a number in groups of thousands (such as 1.471)")]
    Grouped,
}

struct KnownColumns<'a> {
    known: &'a [String],
    nearest: Option<&'a str>,
}

/// How many names of columns are shown.
const SHOWN: usize = 40;

impl fmt::Display for KnownColumns<'_> {
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
            NoDate::EveningBefore => "an evening (such as 2001-05-07T22:00:00Z), which means the day after,",
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
            Self(NoDate::EveningBefore, _) => f.write_str(": export dates without a time of day, best as 2026-12-31"),
            Self(NoDate::Unknown, Some(format)) => {
                write!(f, " as `patients.date_format` says ({format}): correct that row, or the format")
            }
            Self(NoDate::Unknown, None) => f.write_str(
                ": correct it in the practice's software, or write `patients.date_format` if all dates are written so",
            ),
        }
    }
}
