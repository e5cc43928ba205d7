//! Converts the columns of a row to values.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, OptionalExtension as _, Params, Row, ToSql};

use super::QueryResult;
use crate::domain::document::DocumentUuid;
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::domain::state::State;

/// Builds a struct from the row's columns, which have the names of the fields. `field: f` applies `f` to the column.
/// Fields that are no columns follow after a semicolon.
macro_rules! from_row {
    ($row:ident => $type:ident { $($field:ident $(: $of:ident)?),* $(; $($other:ident: $value:expr),*)? }) => {{
        let mut next = 0;
        let mut place = |field| $crate::ledger::columns::place($row, &mut next, field);
        $type { $($field: from_row!(@ $row.get(place(stringify!($field))?)? $(, $of)?),)* $($($other: $value),*)? }
    }};
    (@ $column:expr) => { $column };
    (@ $column:expr, $of:ident) => { $of($column) };
}
pub(crate) use from_row;

/// The number of the column of this name, which is the `next` one if the columns are in the order of the fields. To
/// search each by its name among thirty was a twentieth of a letter's processor time.
pub(crate) fn place(row: &Row<'_>, next: &mut usize, name: &str) -> QueryResult<usize> {
    let columns: &rusqlite::Statement<'_> = row.as_ref();
    let is_next = columns.column_name(*next).is_ok_and(|found| found == name);
    let place = if is_next { *next } else { columns.column_index(name)? };
    *next = place + 1;
    Ok(place)
}

/// A value that is read from a row.
pub(crate) trait FromRow: for<'r> TryFrom<&'r Row<'r>, Error = Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = Error>> FromRow for T {}

/// Runs statements as written. Each is prepared once.
pub(crate) trait Statements {
    /// The connection to run on.
    fn db(&self) -> &Connection;

    /// Runs the statement. Returns how many rows it changed.
    fn change(&self, sql: &str, params: impl Params) -> QueryResult<usize> {
        self.db().prepare_cached(sql)?.execute(params)
    }

    /// Runs the statement, however many rows it changes.
    fn run(&self, sql: &str, params: impl Params) -> QueryResult<()> {
        self.change(sql, params).map(drop)
    }

    /// All rows of the result.
    fn rows<T: FromRow, C: FromIterator<T>>(&self, sql: &str, params: impl Params) -> QueryResult<C> {
        self.db().prepare_cached(sql)?.query_map(params, |row| row.try_into())?.collect()
    }

    /// The only column of each row of the result.
    fn values<T: FromSql, C: FromIterator<T>>(&self, sql: &str, params: impl Params) -> QueryResult<C> {
        self.db().prepare_cached(sql)?.query_map(params, |row| row.get(0))?.collect()
    }

    /// The row of the result, if there is one.
    fn maybe<T: FromRow>(&self, sql: &str, params: impl Params) -> QueryResult<Option<T>> {
        self.db().prepare_cached(sql)?.query_row(params, |row| row.try_into()).optional()
    }

    /// The only column of the row of the result, if there is a row.
    fn perhaps<T: FromSql>(&self, sql: &str, params: impl Params) -> QueryResult<Option<T>> {
        self.db().prepare_cached(sql)?.query_row(params, |row| row.get(0)).optional()
    }
}

impl Statements for Connection {
    fn db(&self) -> &Connection {
        self
    }
}

/// A list as a parameter of `json_each`.
pub(crate) fn as_json<T: Clone + Into<serde_json::Value>>(values: &[T]) -> String {
    serde_json::Value::from(values).to_string()
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for DocumentUuid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl ToSql for Failure {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.to_string().into())
    }
}

/// One that does not parse (another version of docsyncd wrote it) counts as a failure that may pass, and is like no
/// other: it must not hold up the documents that are read with it.
impl FromSql for Failure {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let unknown = || Failure { call: Call::Read, kind: Kind::Passing(Code::Word(text.to_owned().into())) };
        Ok(Self::parse(text).unwrap_or_else(unknown))
    }
}
