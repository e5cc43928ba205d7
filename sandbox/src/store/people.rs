//! Users, their keys, and their practices.

use rusqlite::{OptionalExtension, Row, Transaction};
use serde_json::{Map, Value};

use super::text;
use crate::error::SandboxError;

/// A user, with the printed record.
#[derive(Clone, Debug)]
pub(crate) struct UserRow {
    pub id: i64,
    pub organization_id: i64,
    pub record: Map<String, Value>,
}

/// A JSON object from a column. The sandbox wrote it, so anything else is a damaged store, and reads as empty.
pub(super) fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// A record inside another one, parsed only if it is shown whole: lists mostly show only its uuid.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    pub uuid: String,
    data: String,
}

impl Printed {
    /// Reads two columns, uuid and record; `None` if a join found nothing.
    pub(super) fn read(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Self>> {
        let uuid: Option<String> = row.get(index)?;
        match uuid {
            Some(uuid) => Ok(Some(Self { uuid, data: row.get(index + 1)? })),
            None => Ok(None),
        }
    }

    pub fn record(&self) -> Map<String, Value> {
        object(&self.data)
    }
}

/// A string member of a record.
pub(super) fn text_member<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str)
}

/// The columns of a [`UserRow`], of a table named `u`.
pub(super) const COLUMNS: &str = "u.id, u.organization_id, u.data";

/// The [`COLUMNS`] in front of a row.
pub(super) fn user_row(row: &Row<'_>) -> rusqlite::Result<UserRow> {
    Ok(UserRow { id: row.get(0)?, organization_id: row.get(1)?, record: object(&row.get::<_, String>(2)?) })
}

impl UserRow {
    /// Inserts a user, or replaces the record of an existing one. The practice is the first of `organizations`.
    pub fn put(transaction: &Transaction<'_>, record: Map<String, Value>) -> Result<Self, SandboxError> {
        let nothing = Map::new();
        let practice = record.get("organizations").and_then(|all| all.get(0)).and_then(Value::as_object);
        let organization_id = OrganizationRow::put(transaction, practice.unwrap_or(&nothing))?;
        let id = transaction
            .prepare_cached(
                "INSERT INTO users (uuid, email, organization_id, data) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (uuid) DO UPDATE SET email = ?2, organization_id = ?3, data = ?4 RETURNING id",
            )?
            .query_row(
                (
                    text_member(&record, "uuid").unwrap_or_default(),
                    text_member(&record, "email").unwrap_or_default(),
                    organization_id,
                    Value::Object(record.clone()).to_string(),
                ),
                |row| row.get(0),
            )?;
        let parts = ["firstName", "lastName", "email"].map(|name| text_member(&record, name));
        text::put(transaction, "users_text", id, parts)?;
        Ok(Self { id, organization_id, record })
    }

    pub fn uuid(&self) -> &str {
        text_member(&self.record, "uuid").unwrap_or_default()
    }

    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("SELECT {COLUMNS} FROM users u WHERE u.id = ?1"))?
            .query_row([id], user_row)?)
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("SELECT {COLUMNS} FROM users u WHERE u.uuid = ?1"))?
            .query_row([uuid], user_row)
            .optional()?)
    }

    /// The user with this email address, without regard to case.
    pub fn by_email(transaction: &Transaction<'_>, email: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM users u WHERE u.email = ?1 COLLATE NOCASE ORDER BY u.id LIMIT 1"
            ))?
            .query_row([email], user_row)
            .optional()?)
    }

    /// First and last name; without them, the email address.
    pub fn name(&self) -> String {
        let names = ["firstName", "lastName"].iter().filter_map(|name| text_member(&self.record, name));
        let name = names.collect::<Vec<_>>().join(" ");
        if name.is_empty() { self.email().to_owned() } else { name }
    }

    pub fn email(&self) -> &str {
        text_member(&self.record, "email").unwrap_or_default()
    }

    /// The user of this key.
    pub fn by_key(transaction: &Transaction<'_>, key: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.key = ?1"
            ))?
            .query_row([key], user_row)
            .optional()?)
    }

    /// The user's role in the practice.
    pub fn role(&self, transaction: &Transaction<'_>) -> Result<Option<String>, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT role FROM users WHERE id = ?1")?
            .query_row([self.id], |row| row.get(0))?)
    }

    pub fn give_role(&self, transaction: &Transaction<'_>, role: &str) -> Result<(), SandboxError> {
        transaction.prepare_cached("UPDATE users SET role = ?2 WHERE id = ?1")?.execute((self.id, role))?;
        Ok(())
    }

    pub fn give_key(&self, transaction: &Transaction<'_>, key: &str) -> Result<(), SandboxError> {
        transaction
            .prepare_cached(
                "INSERT INTO api_keys (key, user_id) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET user_id = ?2",
            )?
            .execute((key, self.id))?;
        Ok(())
    }
}

/// Removes every key, so that only those of this start are valid.
pub(crate) fn forget_keys(transaction: &Transaction<'_>) -> Result<(), SandboxError> {
    transaction.execute("DELETE FROM api_keys", [])?;
    Ok(())
}

/// A practice, with the printed record.
pub(crate) struct OrganizationRow {
    pub id: i64,
    pub record: Map<String, Value>,
}

impl OrganizationRow {
    /// Inserts a practice, or replaces the record of an existing one. Returns the row id.
    pub fn put(transaction: &Transaction<'_>, record: &Map<String, Value>) -> Result<i64, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "INSERT INTO organizations (uuid, data) VALUES (?1, ?2)
                 ON CONFLICT (uuid) DO UPDATE SET data = ?2 RETURNING id",
            )?
            .query_row(
                (text_member(record, "uuid").unwrap_or_default(), Value::Object(record.clone()).to_string()),
                |row| row.get(0),
            )?)
    }

    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Self::one(transaction, "id = ?1", id).map(|found| found.unwrap_or(Self { id, record: Map::new() }))
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Self::one(transaction, "uuid = ?1", uuid)
    }

    fn one(
        transaction: &Transaction<'_>,
        condition: &str,
        key: impl rusqlite::ToSql,
    ) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("SELECT id, data FROM organizations WHERE {condition}"))?
            .query_row([key], |row| Ok(Self { id: row.get(0)?, record: object(&row.get::<_, String>(1)?) }))
            .optional()?)
    }

    /// The uuids of its users.
    pub fn users(&self, transaction: &Transaction<'_>) -> Result<Vec<String>, SandboxError> {
        let mut statement =
            transaction.prepare_cached("SELECT uuid FROM users WHERE organization_id = ?1 ORDER BY id")?;
        let rows = statement.query_map([self.id], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
