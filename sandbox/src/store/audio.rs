//! Audios with their images: recordings on their way through the workflow.

use rusqlite::{OptionalExtension, Row, Transaction};
use serde_json::{Map, Value};

use super::people::{UserRow, object};
use super::practice::{SharedRow, SharedTable};
use super::text;
use crate::error::SandboxError;
use crate::moment::{Moment, to_the_second};

/// An audio with everything that a response shows, except its documents and images.
#[derive(Clone, Debug)]
pub(crate) struct AudioRow {
    pub id: i64,
    pub uuid: String,
    pub owner_id: i64,
    pub user: UserRow,
    pub patient_id: Option<i64>,
    pub patient_uuid: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub archived_at: Option<Moment>,
    pub meeting: Option<String>,
    pub language_spoken: Option<String>,
    pub summary: Option<String>,
    pub media_recorder_type: Option<String>,
    /// A step of version 1.1.0.
    pub step: String,
    /// When the workflow moves it on, in microseconds since 1970.
    pub step_due: Option<i64>,
}

/// An image of an audio.
#[derive(Clone, Debug)]
pub(crate) struct ImageRow {
    pub uuid: String,
    pub title: Option<String>,
    pub name: String,
    pub size: u64,
    pub created_at: Moment,
    pub updated_at: Moment,
}

const SELECT: &str = "SELECT a.id, a.uuid, a.owner_id, a.patient_id, a.patient_uuid, a.created_key, a.updated_key,
    a.archived_key, a.meeting, a.language_spoken, a.summary, a.media_recorder_type, a.step, a.step_due_key,
    u.id, u.organization_id, u.data
    FROM audios a JOIN users u ON u.id = a.user_id";

fn audio_row(row: &Row<'_>) -> rusqlite::Result<AudioRow> {
    Ok(AudioRow {
        id: row.get(0)?,
        uuid: row.get(1)?,
        owner_id: row.get(2)?,
        patient_id: row.get(3)?,
        patient_uuid: row.get(4)?,
        created_at: Moment::from_key(row.get(5)?),
        updated_at: Moment::from_key(row.get(6)?),
        archived_at: row.get::<_, Option<i64>>(7)?.map(Moment::from_key),
        meeting: row.get(8)?,
        language_spoken: row.get(9)?,
        summary: row.get(10)?,
        media_recorder_type: row.get(11)?,
        step: row.get(12)?,
        step_due: row.get(13)?,
        user: UserRow { id: row.get(14)?, organization_id: row.get(15)?, record: object(&row.get::<_, String>(16)?) },
    })
}

impl AudioRow {
    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Ok(transaction.prepare_cached(&format!("{SELECT} WHERE a.id = ?1"))?.query_row([id], audio_row)?)
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("{SELECT} WHERE a.uuid = ?1"))?
            .query_row([uuid], audio_row)
            .optional()?)
    }

    /// The audios that are due to move on, the longest overdue first.
    pub fn due(transaction: &Transaction<'_>, now: i64, most: u32) -> Result<Vec<Self>, SandboxError> {
        let mut statement = transaction
            .prepare_cached(&format!("{SELECT} WHERE a.step_due_key <= ?1 ORDER BY a.step_due_key, a.id LIMIT ?2"))?;
        let rows = statement.query_map((now, most), audio_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes all audios at these steps due at `latest`, unless they are due earlier.
    pub fn set_off(transaction: &Transaction<'_>, steps: &[&str], latest: i64) -> Result<(), SandboxError> {
        let mut statement = transaction.prepare_cached(
            "UPDATE audios SET step_due_key = ?2 WHERE step = ?1 AND (step_due_key IS NULL OR step_due_key > ?2)",
        )?;
        for step in steps {
            statement.execute((step, latest))?;
        }
        Ok(())
    }

    /// When the next audio is due.
    pub fn next_due(transaction: &Transaction<'_>) -> Result<Option<i64>, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT min(step_due_key) FROM audios WHERE step_due_key IS NOT NULL")?
            .query_row([], |row| row.get(0))?)
    }

    /// Its patient, with the patient's owner.
    pub fn patient(&self, transaction: &Transaction<'_>) -> Result<Option<(SharedRow, UserRow)>, SandboxError> {
        patient_of(transaction, self.patient_id)
    }

    pub fn images(&self, transaction: &Transaction<'_>) -> Result<Vec<ImageRow>, SandboxError> {
        let mut statement = transaction.prepare_cached(
            "SELECT uuid, title, name, size, created_key, updated_key FROM images WHERE audio_id = ?1 ORDER BY id",
        )?;
        let rows = statement.query_map([self.id], |row| {
            Ok(ImageRow {
                uuid: row.get(0)?,
                title: row.get(1)?,
                name: row.get(2)?,
                size: row.get(3)?,
                created_at: Moment::from_key(row.get(4)?),
                updated_at: Moment::from_key(row.get(5)?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The row ids of the documents made from it, oldest first.
    pub fn document_ids(&self, transaction: &Transaction<'_>) -> Result<Vec<i64>, SandboxError> {
        let mut statement =
            transaction.prepare_cached("SELECT id FROM documents WHERE audio_id = ?1 ORDER BY created_key, id")?;
        let rows = statement.query_map([self.id], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Inserts it, without its id. Returns the row id.
    pub fn insert(&self, transaction: &Transaction<'_>) -> Result<i64, SandboxError> {
        let id = transaction
            .prepare_cached(
                "INSERT INTO audios (uuid, owner_id, user_id, user_uuid, patient_id, patient_uuid, created_key,
                    updated_key, archived_key, meeting, language_spoken, summary, media_recorder_type, step,
                    step_due_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) RETURNING id",
            )?
            .query_row(
                (
                    &self.uuid,
                    self.owner_id,
                    self.user.id,
                    self.user.uuid(),
                    self.patient_id,
                    &self.patient_uuid,
                    self.created_at.kept_key(),
                    self.updated_at.kept_key(),
                    self.archived_at.as_ref().map(Moment::kept_key),
                    &self.meeting,
                    &self.language_spoken,
                    &self.summary,
                    &self.media_recorder_type,
                    &self.step,
                    self.step_due,
                ),
                |row| row.get(0),
            )?;
        text::put(transaction, "audios_text", id, [self.summary.as_deref()])?;
        Ok(id)
    }

    /// Moves it to a step.
    pub fn set_step(
        &self,
        transaction: &Transaction<'_>,
        step: &str,
        due: Option<i64>,
        now: i64,
    ) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE audios SET step = ?2, step_due_key = ?3, updated_key = ?4 WHERE id = ?1")?
            .execute((self.id, step, due, to_the_second(now)))?;
        Ok(())
    }

    /// Archives it, or takes it out of the archive.
    pub fn set_archived(&self, transaction: &Transaction<'_>, archived: bool, now: i64) -> Result<(), SandboxError> {
        let now = to_the_second(now);
        transaction
            .prepare_cached("UPDATE audios SET archived_key = ?2, updated_key = ?3 WHERE id = ?1")?
            .execute((self.id, archived.then_some(now), now))?;
        Ok(())
    }

    /// Deletes it with its images; its documents stay.
    pub fn delete(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM audios WHERE id = ?1")?.execute([self.id])?;
        text::forget(transaction, "audios_text", self.id)
    }
}

impl ImageRow {
    pub fn insert(&self, transaction: &Transaction<'_>, audio_id: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached(
                "INSERT INTO images (audio_id, uuid, title, name, size, created_key, updated_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute((
                audio_id,
                &self.uuid,
                &self.title,
                &self.name,
                self.size,
                self.created_at.kept_key(),
                self.updated_at.kept_key(),
            ))?;
        Ok(())
    }
}

/// The patient of an audio, document or note, and the patient's owner.
pub(super) fn patient_of(
    transaction: &Transaction<'_>,
    id: Option<i64>,
) -> Result<Option<(SharedRow, UserRow)>, SandboxError> {
    let Some(id) = id else {
        return Ok(None);
    };
    let patient = SharedTable::Patients.by_id(transaction, id)?;
    let owner = UserRow::by_id(transaction, patient.owner_id)?;
    Ok(Some((patient, owner)))
}

/// The uuid of a printed record.
pub(crate) fn uuid_of(record: &Map<String, Value>) -> &str {
    record.get("uuid").and_then(Value::as_str).unwrap_or_default()
}
