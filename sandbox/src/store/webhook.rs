//! Webhooks and their deliveries.

use rusqlite::{OptionalExtension, Row, Transaction};

use crate::error::SandboxError;
use crate::moment::Moment;

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookRow {
    pub id: i64,
    pub uuid: String,
    pub owner_id: i64,
    pub url: String,
    pub events: Vec<String>,
    pub description: Option<String>,
    pub is_active: bool,
    /// The key that signs its deliveries.
    pub secret: String,
    pub created_at: Moment,
    pub updated_at: Moment,
}

const COLUMNS: &str = "id, uuid, owner_id, url, events, description, is_active, secret, created_key, updated_key";

fn webhook_row(row: &Row<'_>) -> rusqlite::Result<WebhookRow> {
    Ok(WebhookRow {
        id: row.get(0)?,
        uuid: row.get(1)?,
        owner_id: row.get(2)?,
        url: row.get(3)?,
        events: serde_json::from_str(&row.get::<_, String>(4)?).unwrap_or_default(),
        description: row.get(5)?,
        is_active: row.get(6)?,
        secret: row.get(7)?,
        created_at: Moment::from_key(row.get(8)?),
        updated_at: Moment::from_key(row.get(9)?),
    })
}

impl WebhookRow {
    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("SELECT {COLUMNS} FROM webhooks WHERE id = ?1"))?
            .query_row([id], webhook_row)?)
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("SELECT {COLUMNS} FROM webhooks WHERE uuid = ?1"))?
            .query_row([uuid], webhook_row)
            .optional()?)
    }

    /// Whether a user has an active webhook.
    pub fn any_active(transaction: &Transaction<'_>, owner_id: i64) -> Result<bool, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM webhooks WHERE owner_id = ?1 AND is_active)")?
            .query_row([owner_id], |row| row.get(0))?)
    }

    /// The active webhooks of a user.
    pub fn active_of(transaction: &Transaction<'_>, owner_id: i64) -> Result<Vec<Self>, SandboxError> {
        let mut statement = transaction.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM webhooks WHERE owner_id = ?1 AND is_active ORDER BY created_key, uuid"
        ))?;
        let rows = statement.query_map([owner_id], webhook_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Inserts it without its id, or replaces everything except the owner of the one with this uuid.
    pub fn put(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        transaction
            .prepare_cached(
                "INSERT INTO webhooks (uuid, owner_id, url, events, description, is_active, secret, created_key,
                    updated_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (uuid) DO UPDATE SET url = ?3, events = ?4, description = ?5, is_active = ?6,
                    updated_key = ?9",
            )?
            .execute((
                &self.uuid,
                self.owner_id,
                &self.url,
                serde_json::to_string(&self.events).unwrap_or_default(),
                &self.description,
                self.is_active,
                &self.secret,
                self.created_at.kept_key(),
                self.updated_at.kept_key(),
            ))?;
        Ok(())
    }

    /// Deletes it with its deliveries.
    pub fn delete(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM webhooks WHERE id = ?1")?.execute([self.id])?;
        Ok(())
    }
}
