//! Documents as rows: reading one with everything it shows, inserting, withdrawing.

use rusqlite::{OptionalExtension, Row, Transaction};
use serde_json::{Map, Value};

use super::file::FileRow;
use super::people::object;
use crate::error::SandboxError;
use crate::moment::Moment;

/// A document with everything that a response can show of it.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRow {
    pub id: i64,
    pub uuid: String,
    pub owner_id: i64,
    pub user: Map<String, Value>,
    pub patient: Option<Map<String, Value>>,
    pub patient_owner: Option<Map<String, Value>>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub encountered_at: Option<Moment>,
    pub document_type: Option<String>,
    pub audio: Option<Map<String, Value>>,
    pub is_anonymized: bool,
    pub specialty: String,
    pub synchronized: bool,
    pub file: Option<FileRow>,
}

/// The columns and joins of a [`DocumentRow`]; `listing` appends its own conditions.
pub(super) const SELECT: &str = "SELECT d.id, d.uuid, d.owner_id, u.data, p.data, po.data,
    d.created_key, d.created_text, d.updated_key, d.updated_text, d.encountered_key, d.encountered_text,
    d.type, d.audio, d.is_anonymized, d.specialty, d.synchronized,
    f.uuid, f.name, f.file_name, f.created_key, f.declared_size, f.size
    FROM documents d
    JOIN users u ON u.id = d.user_id
    LEFT JOIN patients p ON p.id = d.patient_id
    LEFT JOIN users po ON po.id = p.owner_id
    LEFT JOIN pdfs f ON f.uuid = d.pdf_uuid";

fn moment(row: &Row<'_>, key: usize) -> rusqlite::Result<Moment> {
    Ok(Moment { key: row.get(key)?, verbatim: row.get(key + 1)? })
}

pub(super) fn document_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let encountered: Option<i64> = row.get(10)?;
    let pdf: Option<String> = row.get(17)?;
    let json = |index: usize| -> rusqlite::Result<Option<Map<String, Value>>> {
        Ok(row.get::<_, Option<String>>(index)?.as_deref().map(object))
    };
    Ok(DocumentRow {
        id: row.get(0)?,
        uuid: row.get(1)?,
        owner_id: row.get(2)?,
        user: object(&row.get::<_, String>(3)?),
        patient: json(4)?,
        patient_owner: json(5)?,
        created_at: moment(row, 6)?,
        updated_at: moment(row, 8)?,
        encountered_at: match encountered {
            Some(_) => Some(moment(row, 10)?),
            None => None,
        },
        document_type: row.get(12)?,
        audio: json(13)?,
        is_anonymized: row.get(14)?,
        specialty: row.get(15)?,
        synchronized: row.get(16)?,
        file: match pdf {
            Some(uuid) => Some(FileRow {
                uuid,
                name: row.get(18)?,
                file_name: row.get(19)?,
                created_at: Moment::from_key(row.get(20)?),
                declared_size: row.get(21)?,
                size: row.get(22)?,
            }),
            None => None,
        },
    })
}

impl DocumentRow {
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

    /// Makes the document appear in `synchronized=false` or leave it.
    pub fn set_synchronized(&self, transaction: &Transaction<'_>, synchronized: bool) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE documents SET synchronized = ?2 WHERE id = ?1")?
            .execute((self.id, synchronized))?;
        Ok(())
    }

    pub fn touch(&self, transaction: &Transaction<'_>, at: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE documents SET updated_key = ?2, updated_text = NULL WHERE id = ?1")?
            .execute((self.id, at))?;
        Ok(())
    }

    /// Withdraws the document: from now on it is 404. Its status history stays.
    pub fn delete(&self, transaction: &Transaction<'_>) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([self.id])?;
        Ok(())
    }
}

/// A document to insert, without its file.
pub(crate) struct NewDocumentRow {
    pub uuid: String,
    pub owner_id: i64,
    pub user_id: i64,
    pub patient_id: Option<i64>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub encountered_at: Option<Moment>,
    pub document_type: Option<String>,
    pub audio: Option<Map<String, Value>>,
    pub is_anonymized: bool,
    pub specialty: String,
    pub synchronized: bool,
}

impl NewDocumentRow {
    /// Inserts it and returns its row id.
    pub fn insert(self, transaction: &Transaction<'_>) -> Result<i64, SandboxError> {
        let (encountered_key, encountered_text) = match self.encountered_at {
            Some(moment) => (Some(moment.key), moment.verbatim),
            None => (None, None),
        };
        Ok(transaction
            .prepare_cached(
                "INSERT INTO documents (uuid, owner_id, user_id, patient_id, created_key, created_text, updated_key,
                    updated_text, encountered_key, encountered_text, type, audio, is_anonymized, specialty, synchronized)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) RETURNING id",
            )?
            .query_row(
                (
                    self.uuid,
                    self.owner_id,
                    self.user_id,
                    self.patient_id,
                    self.created_at.key,
                    self.created_at.verbatim,
                    self.updated_at.key,
                    self.updated_at.verbatim,
                    encountered_key,
                    encountered_text,
                    self.document_type,
                    self.audio.map(|audio| Value::Object(audio).to_string()),
                    self.is_anonymized,
                    self.specialty,
                    self.synchronized,
                ),
                |row| row.get(0),
            )?)
    }
}
