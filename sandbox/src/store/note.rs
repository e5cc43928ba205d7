//! Notes: summaries written from recordings.

use rusqlite::{OptionalExtension, Row, Transaction};

use super::audio::patient_of;
use super::people::{UserRow, object};
use super::practice::SharedRow;
use super::text;
use crate::error::SandboxError;
use crate::moment::Moment;

/// A note with everything that a response shows.
#[derive(Clone, Debug)]
pub(crate) struct NoteRow {
    pub uuid: String,
    pub owner_id: i64,
    pub user: UserRow,
    pub patient_id: Option<i64>,
    pub patient_uuid: Option<String>,
    pub audio_id: Option<i64>,
    pub audio_uuid: Option<String>,
    pub kind: String,
    pub content: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

const SELECT: &str = "SELECT n.uuid, n.owner_id, n.patient_id, n.patient_uuid, n.audio_id, n.audio_uuid, n.type,
    n.content, n.created_key, n.updated_key, u.id, u.organization_id, u.data
    FROM notes n JOIN users u ON u.id = n.user_id";

fn note_row(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    Ok(NoteRow {
        uuid: row.get(0)?,
        owner_id: row.get(1)?,
        patient_id: row.get(2)?,
        patient_uuid: row.get(3)?,
        audio_id: row.get(4)?,
        audio_uuid: row.get(5)?,
        kind: row.get(6)?,
        content: row.get(7)?,
        created_at: Moment::from_key(row.get(8)?),
        updated_at: Moment::from_key(row.get(9)?),
        user: UserRow { id: row.get(10)?, organization_id: row.get(11)?, record: object(&row.get::<_, String>(12)?) },
    })
}

impl NoteRow {
    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Ok(transaction.prepare_cached(&format!("{SELECT} WHERE n.id = ?1"))?.query_row([id], note_row)?)
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("{SELECT} WHERE n.uuid = ?1"))?
            .query_row([uuid], note_row)
            .optional()?)
    }

    /// Its patient, with the patient's owner.
    pub fn patient(&self, transaction: &Transaction<'_>) -> Result<Option<(SharedRow, UserRow)>, SandboxError> {
        patient_of(transaction, self.patient_id)
    }

    pub fn insert(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        let id = transaction
            .prepare_cached(
                "INSERT INTO notes (uuid, owner_id, user_id, user_uuid, patient_id, patient_uuid, audio_id, audio_uuid,
                    type, content, created_key, updated_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) RETURNING id",
            )?
            .query_row(
                (
                    &self.uuid,
                    self.owner_id,
                    self.user.id,
                    self.user.uuid(),
                    self.patient_id,
                    &self.patient_uuid,
                    self.audio_id,
                    &self.audio_uuid,
                    &self.kind,
                    &self.content,
                    self.created_at.kept_key(),
                    self.updated_at.kept_key(),
                ),
                |row| row.get(0),
            )?;
        text::put(transaction, "notes_text", id, [self.content.as_deref()])
    }
}
