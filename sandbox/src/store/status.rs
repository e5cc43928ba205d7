//! The reports of integrations.

use rusqlite::{OptionalExtension, Transaction};

use super::document::DocumentRow;
use crate::error::SandboxError;
use crate::journal::StatusPost;
use crate::moment::Moment;
use crate::quirks::DateFormat;

/// The result of all reports on a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastStatus {
    pub success: Option<bool>,
    pub error: Option<String>,
    pub first_at: Moment,
    pub last_at: Moment,
}

impl DocumentRow {
    /// Appends a report to the history.
    pub fn record_status(
        &self,
        transaction: &Transaction<'_>,
        user_id: i64,
        success: Option<bool>,
        error: Option<&str>,
        at: i64,
    ) -> Result<StatusPost, SandboxError> {
        transaction
            .prepare_cached(
                "INSERT INTO status_posts (document_uuid, user_id, success, error, at_key) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((&self.uuid, user_id, success, error, at))?;
        Ok(StatusPost {
            document: self.uuid.clone(),
            success,
            error: error.map(str::to_owned),
            at: Moment::from_key(at).show(DateFormat::ZuluMillis),
        })
    }

    pub fn last_status(&self, transaction: &Transaction<'_>) -> Result<Option<LastStatus>, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "SELECT success, error, at_key,
                    (SELECT min(at_key) FROM status_posts WHERE document_uuid = ?1)
                 FROM status_posts WHERE document_uuid = ?1 ORDER BY id DESC LIMIT 1",
            )?
            .query_row([&self.uuid], |row| {
                Ok(LastStatus {
                    success: row.get(0)?,
                    error: row.get(1)?,
                    last_at: Moment::from_key(row.get(2)?),
                    first_at: Moment::from_key(row.get(3)?),
                })
            })
            .optional()?)
    }
}

impl StatusPost {
    /// The whole history, oldest first.
    pub(crate) fn all(transaction: &Transaction<'_>) -> Result<Vec<Self>, SandboxError> {
        let mut statement =
            transaction.prepare_cached("SELECT document_uuid, success, error, at_key FROM status_posts ORDER BY id")?;
        let rows = statement.query_map([], |row| {
            Ok(Self {
                document: row.get(0)?,
                success: row.get(1)?,
                error: row.get(2)?,
                at: Moment::from_key(row.get(3)?).show(DateFormat::ZuluMillis),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
