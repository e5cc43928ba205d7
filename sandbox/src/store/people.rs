//! Users, their keys, and patients.

use rusqlite::{OptionalExtension, Row, Transaction};
use serde_json::{Map, Value};

use crate::error::SandboxError;

/// A user and the record as it is printed.
#[derive(Clone, Debug)]
pub(crate) struct UserRow {
    pub id: i64,
    pub record: Map<String, Value>,
}

/// A JSON object out of a column. The sandbox wrote it, so anything else would be a damaged store: it reads as empty.
pub(super) fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

fn user_row(row: &Row<'_>) -> rusqlite::Result<UserRow> {
    Ok(UserRow { id: row.get(0)?, record: object(&row.get::<_, String>(1)?) })
}

fn text_member<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    record.get(name).and_then(Value::as_str)
}

impl UserRow {
    /// Inserts a user, or replaces the record of the one with this uuid.
    pub fn put(transaction: &Transaction<'_>, record: Map<String, Value>) -> Result<Self, SandboxError> {
        let id = transaction
            .prepare_cached(
                "INSERT INTO users (uuid, email, data) VALUES (?1, ?2, ?3)
                 ON CONFLICT (uuid) DO UPDATE SET email = ?2, data = ?3 RETURNING id",
            )?
            .query_row(
                (
                    text_member(&record, "uuid").unwrap_or_default(),
                    text_member(&record, "email").unwrap_or_default(),
                    Value::Object(record.clone()).to_string(),
                ),
                |row| row.get(0),
            )?;
        Ok(Self { id, record })
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT id, data FROM users WHERE uuid = ?1")?
            .query_row([uuid], user_row)
            .optional()?)
    }

    /// The user who signs in with this key.
    pub fn by_key(transaction: &Transaction<'_>, key: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT u.id, u.data FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.key = ?1")?
            .query_row([key], user_row)
            .optional()?)
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

/// Forgets every key, so that only those of this start open the API.
pub(crate) fn forget_keys(transaction: &Transaction<'_>) -> Result<(), SandboxError> {
    transaction.execute("DELETE FROM api_keys", [])?;
    Ok(())
}

/// Inserts a patient, or replaces the record of the one with this uuid; returns the row id.
pub(crate) fn put_patient(
    transaction: &Transaction<'_>,
    owner: i64,
    record: &Map<String, Value>,
) -> Result<i64, SandboxError> {
    Ok(transaction
        .prepare_cached(
            "INSERT INTO patients (uuid, owner_id, email, data) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (uuid) DO UPDATE SET email = ?3, data = ?4 RETURNING id",
        )?
        .query_row(
            (
                text_member(record, "uuid").unwrap_or_default(),
                owner,
                text_member(record, "email"),
                Value::Object(record.clone()).to_string(),
            ),
            |row| row.get(0),
        )?)
}

/// A patient and the owning user.
pub(crate) struct PatientRow {
    pub owner: UserRow,
    pub record: Map<String, Value>,
}

impl PatientRow {
    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "SELECT u.id, u.data, p.data FROM patients p JOIN users u ON u.id = p.owner_id WHERE p.uuid = ?1",
            )?
            .query_row([uuid], |row| Ok(Self { owner: user_row(row)?, record: object(&row.get::<_, String>(2)?) }))
            .optional()?)
    }
}
