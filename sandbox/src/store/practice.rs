//! What a practice shares: patients and contacts. Each is stored as its printed record. SQLite derives the columns for
//! filters and orders from it.

use rusqlite::{OptionalExtension, Row, ToSql, Transaction};
use serde_json::{Map, Value};

use super::people::{UserRow, object, text_member};
use super::text;
use crate::error::SandboxError;
use crate::moment;

/// Patients or contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedTable {
    Patients,
    Contacts,
}

/// A patient or contact.
#[derive(Clone, Debug)]
pub(crate) struct SharedRow {
    pub id: i64,
    pub owner_id: i64,
    pub organization_id: i64,
    /// The record as it is printed.
    pub record: Map<String, Value>,
    /// The members that are accepted but never shown.
    pub unseen: Map<String, Value>,
}

impl SharedTable {
    fn table(self) -> &'static str {
        match self {
            Self::Patients => "patients",
            Self::Contacts => "contacts",
        }
    }

    /// The members that are searched.
    fn searched(self) -> &'static [&'static str] {
        match self {
            Self::Patients => &["firstName", "lastName", "email", "phone", "anonymousCode"],
            Self::Contacts => &[
                "firstName",
                "lastName",
                "legalName",
                "email",
                "phone",
                "specialty",
                "streetAddress",
                "postalCode",
                "city",
                "country",
            ],
        }
    }

    pub fn by_id(self, transaction: &Transaction<'_>, id: i64) -> Result<SharedRow, SandboxError> {
        Ok(transaction.prepare_cached(&self.select("id"))?.query_row([id], shared_row)?)
    }

    pub fn by_uuid(self, transaction: &Transaction<'_>, uuid: &str) -> Result<Option<SharedRow>, SandboxError> {
        Ok(transaction.prepare_cached(&self.select("uuid"))?.query_row([uuid], shared_row).optional()?)
    }

    fn select(self, key: &str) -> String {
        format!("SELECT id, owner_id, organization_id, data, unseen FROM {} WHERE {key} = ?1", self.table())
    }

    /// Inserts a row, or replaces the record of an existing one. Returns the row id. Dates in the record are also
    /// stored as keys.
    pub fn put(
        self,
        transaction: &Transaction<'_>,
        owner: &UserRow,
        record: &Map<String, Value>,
        unseen: &Map<String, Value>,
    ) -> Result<i64, SandboxError> {
        let date = |name: &str| text_member(record, name).and_then(moment::parse);
        let (uuid, owner_uuid) = (text_member(record, "uuid").unwrap_or_default(), owner.uuid());
        let data = Value::Object(record.clone()).to_string();
        let unseen = Value::Object(unseen.clone()).to_string();
        let created = date("createdAt").unwrap_or(i64::MIN);
        let updated = date("updatedAt").unwrap_or(i64::MIN);
        let mut values: Vec<&dyn ToSql> =
            vec![&uuid, &owner.id, &owner.organization_id, &owner_uuid, &data, &unseen, &created, &updated];
        let of_patient = (self == Self::Patients).then(|| (twin(record), date("synchronizedAt")));
        let (more, marks, set) = match self {
            Self::Patients => (", twin, synchronized_key", ", ?9, ?10", ", twin = ?9, synchronized_key = ?10"),
            Self::Contacts => ("", "", ""),
        };
        if let Some((twin, synchronized)) = &of_patient {
            values.extend([twin as &dyn ToSql, synchronized]);
        }
        let id: i64 = transaction
            .prepare_cached(&format!(
                "INSERT INTO {} (uuid, owner_id, organization_id, owner_uuid, data, unseen, created_key, updated_key{more})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8{marks})
                 ON CONFLICT (uuid) DO UPDATE SET data = ?5, unseen = ?6, created_key = ?7, updated_key = ?8{set}
                 RETURNING id",
                self.table()
            ))?
            .query_row(values.as_slice(), |row| row.get(0))?;
        let parts = self.searched().iter().map(|name| text_member(record, name));
        text::put(transaction, &format!("{}_text", self.table()), id, parts)?;
        Ok(id)
    }
}

fn shared_row(row: &Row<'_>) -> rusqlite::Result<SharedRow> {
    Ok(SharedRow {
        id: row.get(0)?,
        owner_id: row.get(1)?,
        organization_id: row.get(2)?,
        record: object(&row.get::<_, String>(3)?),
        unseen: object(&row.get::<_, String>(4)?),
    })
}

impl SharedRow {
    /// Whether this user sees it: everybody in the practice does, unless a colleague keeps it private.
    pub fn is_seen_by(&self, user: &UserRow) -> bool {
        self.owner_id == user.id
            || (self.organization_id == user.organization_id
                && text_member(&self.record, "visibilityOption") != Some("private"))
    }

    /// The patient that an upsert of this record would update, of those that the user sees. If there are several, the
    /// oldest.
    pub fn twin_of(
        transaction: &Transaction<'_>,
        record: &Map<String, Value>,
        user: &UserRow,
    ) -> Result<Option<Self>, SandboxError> {
        let Some(twin) = twin(record) else {
            return Ok(None);
        };
        let mut statement = transaction.prepare_cached(
            "SELECT id, owner_id, organization_id, data, unseen FROM patients
             WHERE organization_id = ?1 AND twin = ?2 ORDER BY created_key, uuid",
        )?;
        let rows = statement.query_map((user.organization_id, twin), shared_row)?;
        for row in rows {
            let row = row?;
            if row.is_seen_by(user) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// What identifies the same person: first name, last name and date of birth, if all are given.
fn twin(record: &Map<String, Value>) -> Option<String> {
    let part =
        |name: &str| text_member(record, name).map(|part| text::fold(part.trim())).filter(|part| !part.is_empty());
    Some(format!("{}\n{}\n{}", part("firstName")?, part("lastName")?, part("dateOfBirth")?))
}
