//! From the columns of a row to values.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

use crate::document::DocumentUuid;
use crate::state::State;

/// A struct of the row's columns, in the order of the fields here; `field: f` is what `f` makes of the column. What is not a column
/// of its own stands after a semicolon.
macro_rules! from_row {
    ($row:ident => $type:ident { $($field:ident $(: $of:ident)?),* $(; $($other:ident: $value:expr),*)? }) => {{
        let mut columns = 0..;
        let mut next = || columns.next().unwrap_or(usize::MAX);
        $type { $($field: from_row!(@ $row.get(next())? $(, $of)?),)* $($($other: $value),*)? }
    }};
    (@ $column:expr) => { $column };
    (@ $column:expr, $of:ident) => { $of($column) };
}
pub(super) use from_row;

/// A list as a parameter of `json_each`.
pub(super) fn as_json<T: Clone + Into<serde_json::Value>>(values: &[T]) -> String {
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
