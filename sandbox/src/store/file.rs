//! PDF files: what a response shows, and where the bytes come from.
//!
//! An invented letter is stored as its recipe, a few hundred bytes instead of thirty thousand. So a sandbox with many
//! thousand documents starts fast and stays small. The same recipe gives the same bytes.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Transaction};

use crate::error::SandboxError;
use crate::moment::Moment;

/// What a response shows of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileRow {
    pub uuid: String,
    pub name: String,
    pub file_name: String,
    pub created_at: Moment,
    /// Dictated by a test, and shown instead of the real size.
    pub declared_size: Option<u64>,
    /// Unknown until the letter is written once.
    pub size: Option<u64>,
}

/// Where a file's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    /// A [`crate::letters::Brief`] as JSON.
    Recipe(String),
    Path(PathBuf),
}

/// A file to attach to a document.
pub(crate) struct NewFile {
    pub uuid: String,
    pub name: String,
    pub file_name: String,
    pub created_at: i64,
    pub declared_size: Option<u64>,
    pub content: Content,
}

impl NewFile {
    /// Makes this the document's only file. The address of an earlier one answers 404.
    pub fn attach(self, transaction: &Transaction<'_>, document_id: i64) -> Result<(), SandboxError> {
        let (size, bytes, recipe, path) = match self.content {
            Content::Bytes(bytes) => (Some(bytes.len() as u64), Some(bytes), None, None),
            Content::Recipe(recipe) => (None, None, Some(recipe), None),
            Content::Path(path) => (None, None, None, Some(path.to_string_lossy().into_owned())),
        };
        transaction.prepare_cached("DELETE FROM pdfs WHERE document_id = ?1")?.execute([document_id])?;
        transaction
            .prepare_cached(
                "INSERT INTO pdfs (uuid, document_id, name, file_name, created_key, declared_size, size, bytes, recipe, path)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute((
                &self.uuid,
                document_id,
                self.name,
                &self.file_name,
                self.created_at,
                self.declared_size,
                size,
                bytes,
                recipe,
                path,
            ))?;
        transaction
            .prepare_cached("UPDATE documents SET pdf_uuid = ?2 WHERE id = ?1")?
            .execute((document_id, &self.uuid))?;
        Ok(())
    }
}

/// A file's document, with its owner and the file's name.
pub(crate) struct FileOwner {
    pub document: String,
    pub owner_id: i64,
    pub file_name: String,
}

impl FileRow {
    /// The owner of this file.
    pub fn owner(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<FileOwner>, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "SELECT d.uuid, d.owner_id, f.file_name FROM pdfs f JOIN documents d ON d.id = f.document_id
                 WHERE f.uuid = ?1",
            )?
            .query_row([uuid], |row| {
                Ok(FileOwner { document: row.get(0)?, owner_id: row.get(1)?, file_name: row.get(2)? })
            })
            .optional()?)
    }

    /// Where the file's bytes come from.
    pub fn content(transaction: &Transaction<'_>, uuid: &str) -> Result<Option<Content>, SandboxError> {
        let found = transaction
            .prepare_cached("SELECT bytes, recipe, path FROM pdfs WHERE uuid = ?1")?
            .query_row([uuid], |row| {
                Ok((
                    row.get::<_, Option<Vec<u8>>>(0)?,
                    row.get::<_, Option<String>>(1)?,
                    row.get::<_, Option<String>>(2)?,
                ))
            })
            .optional()?;
        Ok(match found {
            Some((Some(bytes), _, _)) => Some(Content::Bytes(bytes)),
            Some((_, Some(recipe), _)) => Some(Content::Recipe(recipe)),
            Some((_, _, Some(path))) => Some(Content::Path(path.into())),
            Some((None, None, None)) | None => None,
        })
    }

    /// Whether a document has this file of `--pdf-dir`.
    pub fn path_known(transaction: &Transaction<'_>, path: &Path) -> Result<bool, SandboxError> {
        Ok(transaction
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM pdfs WHERE path = ?1)")?
            .query_row([path.to_string_lossy()], |row| row.get(0))?)
    }

    /// Stores the real size of the file.
    pub fn set_size(transaction: &Transaction<'_>, uuid: &str, size: u64) -> Result<(), SandboxError> {
        transaction.prepare_cached("UPDATE pdfs SET size = ?2 WHERE uuid = ?1")?.execute((uuid, size))?;
        Ok(())
    }
}
