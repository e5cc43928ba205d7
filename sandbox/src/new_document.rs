//! Documents that a test dictates, and documents that it sees.

use serde::Serialize;
use serde_json::{Map, Value};

/// A document to add. Whatever is left at its default is invented.
///
/// ```
/// use docsyncd_sandbox::{NewDocument, NewPdf};
/// let letter = NewDocument {
///     document_type: Some(Some("referral_letter".into())),
///     pdf: NewPdf::None,
///     ..NewDocument::default()
/// };
/// # let _ = letter;
/// ```
#[derive(Clone, Debug, Default)]
pub struct NewDocument {
    /// The uuid. Any text is taken: a test may want a malformed one.
    pub uuid: Option<String>,
    /// The API key whose user may see the document; the first key by default.
    pub owner: Option<String>,
    /// `createdAt`, printed exactly as given.
    pub created_at: Option<String>,
    /// `updatedAt`, printed exactly as given; otherwise it equals `createdAt`.
    pub updated_at: Option<String>,
    /// `encounteredAt`, printed exactly as given.
    pub encountered_at: Option<String>,
    /// `type`: `Some(None)` is null, any text is taken.
    pub document_type: Option<Option<String>>,
    /// The patient. `Some(Value::Null)` is none. The members of an object replace those of an invented patient.
    pub patient: Option<Value>,
    /// Members that replace those of the owner's user record. The document then shows this other user; the owner stays
    /// the same.
    pub user: Option<Map<String, Value>>,
    /// `isAnonymized`.
    pub is_anonymized: bool,
    /// `genericContactSpecialty`.
    pub generic_contact_specialty: Option<String>,
    /// The file.
    pub pdf: NewPdf,
    /// The PDF's uuid.
    pub pdf_uuid: Option<String>,
    /// `pdf.name`.
    pub pdf_name: Option<String>,
    /// `pdf.fileName`, also the last part of `pdf.url`.
    pub file_name: Option<String>,
    /// `pdf.size` as declared, whatever the file's real size.
    pub declared_size: Option<u64>,
    /// The document starts out synchronized, so it is not in `synchronized=false`.
    pub synchronized: bool,
}

/// The file of a [`NewDocument`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NewPdf {
    /// A letter is made up for the document's type and patient.
    #[default]
    Generated,
    /// `pdf` is null: not rendered yet.
    None,
    /// Exactly these bytes, PDF or not.
    Bytes(Vec<u8>),
}

/// A document as the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSummary {
    /// Its uuid.
    pub uuid: String,
    /// `createdAt` as printed.
    pub created_at: String,
    /// `type`.
    #[serde(rename = "type")]
    pub document_type: Option<String>,
    /// The patient's uuid.
    pub patient: Option<String>,
    /// The patient's `firstName`.
    pub patient_first_name: Option<String>,
    /// The patient's `lastName`.
    pub patient_last_name: Option<String>,
    /// The PDF's uuid.
    pub pdf: Option<String>,
    /// Whether the document is out of `synchronized=false`.
    pub synchronized: bool,
}
