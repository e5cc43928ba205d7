//! Documents as rows: read with everything shown, insert, withdraw.

use rusqlite::{OptionalExtension, Row, Transaction};

use super::file::FileRow;
use super::people::{Printed, UserRow};
use super::text;
use crate::error::SandboxError;
use crate::moment::{Moment, to_the_second};

/// A document with everything that a response shows.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRow {
    pub id: i64,
    pub uuid: String,
    pub owner_id: i64,
    pub user: Printed,
    pub patient: Option<Printed>,
    pub patient_owner: Option<Printed>,
    pub audio: Option<DocumentAudio>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub encountered_at: Option<Moment>,
    pub document_type: Option<String>,
    pub is_anonymized: bool,
    pub specialty: String,
    pub synchronized: bool,
    pub file: Option<FileRow>,
}

/// What a document shows of its audio.
#[derive(Clone, Debug)]
pub(crate) struct DocumentAudio {
    pub uuid: String,
    pub patient: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub archived_at: Option<Moment>,
    /// A step of version 1.1.0.
    pub step: String,
}

const SELECT: &str = "SELECT d.id, d.uuid, d.owner_id, u.uuid, u.data, p.uuid, p.data, po.uuid, po.data,
    d.created_key, d.created_text, d.updated_key, d.updated_text, d.encountered_key, d.encountered_text,
    d.type, d.is_anonymized, d.specialty, d.synchronized,
    f.uuid, f.name, f.file_name, f.created_key, f.declared_size, f.size,
    a.uuid, a.patient_uuid, a.created_key, a.updated_key, a.archived_key, a.step
    FROM documents d
    JOIN users u ON u.id = d.user_id
    LEFT JOIN patients p ON p.id = d.patient_id
    LEFT JOIN users po ON po.id = p.owner_id
    LEFT JOIN pdfs f ON f.uuid = d.pdf_uuid
    LEFT JOIN audios a ON a.id = d.audio_id";

fn moment(row: &Row<'_>, key: usize) -> rusqlite::Result<Moment> {
    Ok(Moment { key: row.get(key)?, verbatim: row.get(key + 1)? })
}

fn document_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let encountered: Option<i64> = row.get(13)?;
    let pdf: Option<String> = row.get(19)?;
    let audio: Option<String> = row.get(25)?;
    Ok(DocumentRow {
        id: row.get(0)?,
        uuid: row.get(1)?,
        owner_id: row.get(2)?,
        user: Printed::read(row, 3)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
        patient: Printed::read(row, 5)?,
        patient_owner: Printed::read(row, 7)?,
        created_at: moment(row, 9)?,
        updated_at: moment(row, 11)?,
        encountered_at: match encountered {
            Some(_) => Some(moment(row, 13)?),
            None => None,
        },
        document_type: row.get(15)?,
        is_anonymized: row.get(16)?,
        specialty: row.get(17)?,
        synchronized: row.get(18)?,
        file: match pdf {
            Some(uuid) => Some(FileRow {
                uuid,
                name: row.get(20)?,
                file_name: row.get(21)?,
                created_at: Moment::from_key(row.get(22)?),
                declared_size: row.get(23)?,
                size: row.get(24)?,
            }),
            None => None,
        },
        audio: match audio {
            Some(uuid) => Some(DocumentAudio {
                uuid,
                patient: row.get(26)?,
                created_at: Moment::from_key(row.get(27)?),
                updated_at: Moment::from_key(row.get(28)?),
                archived_at: row.get::<_, Option<i64>>(29)?.map(Moment::from_key),
                step: row.get(30)?,
            }),
            None => None,
        },
    })
}

impl DocumentRow {
    pub fn by_id(transaction: &Transaction<'_>, id: i64) -> Result<Self, SandboxError> {
        Ok(transaction.prepare_cached(&format!("{SELECT} WHERE d.id = ?1"))?.query_row([id], document_row)?)
    }

    pub fn by_uuid(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(&format!("{SELECT} WHERE d.uuid = ?1"))?
            .query_row([uuid], document_row)
            .optional()?)
    }

    /// All documents of all users, oldest first.
    pub fn all(transaction: &Transaction<'_>) -> Result<Vec<Self>, SandboxError> {
        let mut statement = transaction.prepare_cached(&format!("{SELECT} ORDER BY d.created_key, d.uuid"))?;
        let rows = statement.query_map([], document_row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn count(transaction: &Transaction<'_>) -> Result<u64, SandboxError> {
        Ok(transaction.query_row("SELECT count(*) FROM documents", [], |row| row.get(0))?)
    }

    /// Makes the document appear in `synchronized=false`, or disappear from there.
    pub fn set_synchronized(&self, transaction: &Transaction<'_>, synchronized: bool) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE documents SET synchronized = ?2 WHERE id = ?1")?
            .execute((self.id, synchronized))?;
        Ok(())
    }

    /// The document is about the patient of another one.
    pub fn set_patient_of(&self, transaction: &Transaction<'_>, other: &Self) -> Result<(), SandboxError> {
        transaction
            .prepare_cached(
                "UPDATE documents SET (patient_id, patient_uuid) = (SELECT patient_id, patient_uuid FROM documents WHERE id = ?2)
                 WHERE id = ?1",
            )?
            .execute((self.id, other.id))?;
        Ok(())
    }

    pub fn touch(&self, transaction: &Transaction<'_>, at: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE documents SET updated_key = ?2, updated_text = NULL WHERE id = ?1")?
            .execute((self.id, to_the_second(at)))?;
        Ok(())
    }

    /// Withdraws the document: it answers 404 from now on. Its status history stays.
    pub fn delete(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([self.id])?;
        text::forget(transaction, "documents_text", self.id)
    }
}

/// A document to insert, without its file.
pub(crate) struct NewDocumentRow {
    pub uuid: String,
    pub owner_id: i64,
    pub user: UserRow,
    /// Row id and uuid.
    pub patient: Option<(i64, String)>,
    pub audio_id: Option<i64>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub encountered_at: Option<Moment>,
    pub document_type: Option<String>,
    pub is_anonymized: bool,
    pub specialty: String,
    pub synchronized: bool,
}

impl NewDocumentRow {
    /// Inserts it and returns its row id.
    pub fn insert(self, transaction: &Transaction<'_>) -> Result<i64, SandboxError> {
        let (encountered_key, encountered_text) = match self.encountered_at {
            Some(moment) => (Some(moment.kept_key()), moment.verbatim),
            None => (None, None),
        };
        let (patient_id, patient_uuid) = self.patient.unzip();
        let searched = [self.document_type.clone(), Some(self.specialty.clone())];
        let mut statement = transaction.prepare_cached(
            "INSERT INTO documents (uuid, owner_id, user_id, user_uuid, patient_id, patient_uuid, audio_id, created_key,
                created_text, updated_key, updated_text, encountered_key, encountered_text, type, is_anonymized,
                specialty, synchronized)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) RETURNING id",
        )?;
        let id = statement.query_row(
            rusqlite::params![
                self.uuid,
                self.owner_id,
                self.user.id,
                self.user.uuid(),
                patient_id,
                patient_uuid,
                self.audio_id,
                self.created_at.kept_key(),
                self.created_at.verbatim,
                self.updated_at.kept_key(),
                self.updated_at.verbatim,
                encountered_key,
                encountered_text,
                self.document_type,
                self.is_anonymized,
                self.specialty,
                self.synchronized,
            ],
            |row| row.get(0),
        )?;
        text::put(transaction, "documents_text", id, searched.iter().map(Option::as_deref))?;
        Ok(id)
    }
}
