//! From the columns of a row to values.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, OptionalExtension as _, Params, Row, ToSql};

use super::QueryResult;
use crate::document::DocumentUuid;
use crate::failure::Failure;
use crate::state::State;

/// A struct of the row's columns, each of the field's name; `field: f` is what `f` makes of the column. What is not a
/// column of its own stands after a semicolon.
macro_rules! from_row {
    ($row:ident => $type:ident { $($field:ident $(: $of:ident)?),* $(; $($other:ident: $value:expr),*)? }) => {
        $type { $($field: from_row!(@ $row.get(stringify!($field))? $(, $of)?),)* $($($other: $value),*)? }
    };
    (@ $column:expr) => { $column };
    (@ $column:expr, $of:ident) => { $of($column) };
}
pub(crate) use from_row;

/// What a row is read into.
pub(crate) trait FromRow: for<'r> TryFrom<&'r Row<'r>, Error = Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = Error>> FromRow for T {}

/// Statements that are run as they are written; each is prepared once.
pub(crate) trait Statements {
    /// Where they are run.
    fn db(&self) -> &Connection;

    /// How many rows it changed.
    fn change(&self, sql: &str, params: impl Params) -> QueryResult<usize> {
        self.db().prepare_cached(sql)?.execute(params)
    }

    /// Whatever it changed.
    fn run(&self, sql: &str, params: impl Params) -> QueryResult<()> {
        self.change(sql, params).map(drop)
    }

    /// All rows that it finds.
    fn rows<T: FromRow, C: FromIterator<T>>(&self, sql: &str, params: impl Params) -> QueryResult<C> {
        self.db().prepare_cached(sql)?.query_map(params, |row| row.try_into())?.collect()
    }

    /// The only column of each row that it finds.
    fn values<T: FromSql, C: FromIterator<T>>(&self, sql: &str, params: impl Params) -> QueryResult<C> {
        self.db().prepare_cached(sql)?.query_map(params, |row| row.get(0))?.collect()
    }

    /// The row that it finds, if there is one.
    fn maybe<T: FromRow>(&self, sql: &str, params: impl Params) -> QueryResult<Option<T>> {
        self.db().prepare_cached(sql)?.query_row(params, |row| row.try_into()).optional()
    }

    /// The only column of the row that it finds, if there is one.
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

impl FromSql for Failure {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}
