//! `GET /documents` as SQL: filters, order and page become one statement.

use rusqlite::types::Value as Sql;
use rusqlite::{Transaction, params_from_iter};

use super::document::{DocumentRow, SELECT, document_row};
use crate::error::SandboxError;

/// One page of one user's documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub owner_id: i64,
    pub filters: Vec<Filter>,
    pub order: Vec<(SortColumn, Direction)>,
    pub limit: u32,
    pub offset: u64,
}

/// A condition; all of them must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Exact(ExactColumn, Vec<String>),
    Synchronized(bool),
    Anonymized(bool),
    Encountered(bool),
    Date(DateColumn, Comparison, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExactColumn {
    Uuid,
    Type,
    Pdf,
    Specialty,
    UserEmail,
    UserUuid,
    PatientEmail,
    PatientUuid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateColumn {
    Created,
    Updated,
    Encountered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortColumn {
    Uuid,
    Created,
    Updated,
    User,
    Patient,
    /// `verifiedAt` and `sentAt`: the description orders by them but no document shows them, so all are equal.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

impl ExactColumn {
    fn sql(self) -> &'static str {
        match self {
            Self::Uuid => "d.uuid",
            Self::Type => "d.type",
            Self::Pdf => "d.pdf_uuid",
            Self::Specialty => "d.specialty",
            Self::UserEmail => "u.email",
            Self::UserUuid => "u.uuid",
            Self::PatientEmail => "p.email",
            Self::PatientUuid => "p.uuid",
        }
    }
}

impl DateColumn {
    fn sql(self) -> &'static str {
        match self {
            Self::Created => "d.created_key",
            Self::Updated => "d.updated_key",
            Self::Encountered => "d.encountered_key",
        }
    }
}

impl Comparison {
    fn sql(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        }
    }
}

impl SortColumn {
    fn sql(self) -> Option<&'static str> {
        match self {
            Self::Uuid => Some("d.uuid"),
            Self::Created => Some("d.created_key"),
            Self::Updated => Some("d.updated_key"),
            Self::User => Some("u.uuid"),
            Self::Patient => Some("p.uuid"),
            Self::Unknown => None,
        }
    }
}

impl Direction {
    fn sql(self) -> &'static str {
        match self {
            Self::Ascending => "ASC",
            Self::Descending => "DESC",
        }
    }
}

impl Filter {
    fn push(&self, sql: &mut String, values: &mut Vec<Sql>) {
        match self {
            Self::Exact(column, wanted) => {
                let marks = vec!["?"; wanted.len()].join(", ");
                sql.push_str(&format!(" AND {} IN ({marks})", column.sql()));
                values.extend(wanted.iter().cloned().map(Sql::Text));
            }
            Self::Synchronized(wanted) => {
                sql.push_str(" AND d.synchronized = ?");
                values.push(Sql::Integer(i64::from(*wanted)));
            }
            Self::Anonymized(wanted) => {
                sql.push_str(" AND d.is_anonymized = ?");
                values.push(Sql::Integer(i64::from(*wanted)));
            }
            Self::Encountered(true) => sql.push_str(" AND d.encountered_key IS NOT NULL"),
            Self::Encountered(false) => sql.push_str(" AND d.encountered_key IS NULL"),
            Self::Date(column, comparison, key) => {
                sql.push_str(&format!(" AND {} {} ?", column.sql(), comparison.sql()));
                values.push(Sql::Integer(*key));
            }
        }
    }
}

impl Listing {
    /// The page's documents. Whatever the order, ties fall by creation and uuid, so that pages never overlap by chance.
    pub fn rows(&self, transaction: &Transaction<'_>) -> Result<Vec<DocumentRow>, SandboxError> {
        let (sql, values) = self.statement();
        let mut statement = transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), document_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn statement(&self) -> (String, Vec<Sql>) {
        let mut sql = format!("{SELECT} WHERE d.owner_id = ?");
        let mut values = vec![Sql::Integer(self.owner_id)];
        for filter in &self.filters {
            filter.push(&mut sql, &mut values);
        }
        let mut terms: Vec<String> = Vec::new();
        let mut last = Direction::Ascending;
        for (column, direction) in &self.order {
            if let Some(column) = column.sql() {
                terms.push(format!("{column} {}", direction.sql()));
            }
            last = *direction;
        }
        for column in ["d.created_key", "d.uuid"] {
            if !terms.iter().any(|term| term.starts_with(column)) {
                terms.push(format!("{column} {}", last.sql()));
            }
        }
        sql.push_str(&format!(" ORDER BY {} LIMIT ? OFFSET ?", terms.join(", ")));
        values.push(Sql::Integer(i64::from(self.limit)));
        values.push(Sql::Integer(i64::try_from(self.offset).unwrap_or(i64::MAX)));
        (sql, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn the_walk_through_unsynchronized_documents_uses_an_index() {
        let store = Store::open(None).unwrap();
        let plan = store
            .run(|transaction| {
                let listing = Listing {
                    owner_id: 1,
                    filters: vec![
                        Filter::Synchronized(false),
                        Filter::Date(DateColumn::Created, Comparison::GreaterOrEqual, 5),
                    ],
                    order: vec![(SortColumn::Created, Direction::Ascending)],
                    limit: 100,
                    offset: 0,
                };
                let (sql, values) = listing.statement();
                let mut statement = transaction.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let lines = statement
                    .query_map(params_from_iter(values), |row| row.get::<_, String>(3))?
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(lines.join("\n"))
            })
            .await
            .unwrap();
        assert!(plan.contains("USING INDEX documents_waiting"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}
