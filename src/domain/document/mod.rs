//! A document as docsyncd knows it: its identity, its record from the API, and the spooled PDF.
//!
//! Pure data. Nothing here reads a file, a socket or a clock.

pub mod edition;
mod identity;
mod pdf_end;
mod pdf_head;
mod type_code;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use identity::RemoteIdentity;
pub use pdf_end::PdfEnd;
pub use pdf_head::{NotPdf, PdfHead};
pub use type_code::{CodeSystem, LOINC, OTHER, TypeCode, TypeMap};

/// A JSON object as the API printed it, with all its fields, known or not.
pub type Record = Map<String, Value>;

/// The identifier of a document (API, "Document", field `uuid`). It comes from outside, so the only assumption about
/// its form is that it fits into a URL path and a log line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentUuid(String);

/// The types of documents that the API describes (API, "Document", field `type`). Others are accepted too.
pub const DOCUMENT_TYPES: [&str; 11] = [
    "operative_report",
    "referral_letter",
    "cone_beam_report",
    "patient_letter",
    "prescription",
    "initial_medical_certificate",
    "attendance_certificate",
    "contraindication_certificate",
    "lab_slip",
    "endo_report",
    "ortho_letter",
];

/// The longest accepted identifier, in bytes; a UUID has 36.
const MAX_UUID_BYTES: usize = 128;

/// The length of a short identifier.
const SHORT: usize = 8;

/// The last eight ASCII letters or digits of an identifier, in lower case.
pub fn short(identifier: &str) -> String {
    let plain: String = identifier.chars().filter(char::is_ascii_alphanumeric).collect();
    plain.get(plain.len().saturating_sub(SHORT)..).unwrap_or_default().to_ascii_lowercase()
}

impl DocumentUuid {
    /// Accepts an identifier. `None` if it is empty or too long, has other characters than ASCII letters, digits, `-`,
    /// `_`, `.` and `:`, or consists of dots only, which mean a folder in a path.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
        let dots = text.bytes().all(|b| b == b'.');
        (!text.is_empty() && !dots && text.len() <= MAX_UUID_BYTES && plain).then(|| Self(text.to_owned()))
    }

    /// The identifier as the API printed it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form for comparisons: a UUID ignores letter case (RFC 9562, section 4); other identifiers may not.
    fn folded(&self) -> Cow<'_, str> {
        without_case(&self.0)
    }

    /// The last eight letters or digits: enough to distinguish two files with one name, and short enough to read. The
    /// end, because a UUID of version 7 begins with the time, which documents of the same moment share (RFC 9562,
    /// section 5.7).
    pub fn short(&self) -> String {
        short(&self.0)
    }
}

/// Whether this has the form of a UUID (RFC 9562, section 4).
pub fn is_uuid(identifier: &str) -> bool {
    let digit =
        |(at, byte): (usize, u8)| if [8, 13, 18, 23].contains(&at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    identifier.len() == 36 && identifier.bytes().enumerate().all(digit)
}

/// Whether two identifiers that the API shows name two different things. A uuid and another form, such as a number, may
/// name the same.
pub fn contradict(one: &str, other: &str) -> bool {
    is_uuid(one) == is_uuid(other) && without_case(one) != without_case(other)
}

/// A UUID in lower case; anything else unchanged.
pub fn without_case(identifier: &str) -> Cow<'_, str> {
    // Without a branch for each byte: this is done at every comparison.
    let has_case = identifier.bytes().fold(false, |has_case, byte| has_case | byte.is_ascii_uppercase());
    if has_case && is_uuid(identifier) {
        Cow::Owned(identifier.to_ascii_lowercase())
    } else {
        Cow::Borrowed(identifier)
    }
}

impl PartialEq for DocumentUuid {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0) && self.folded() == other.folded()
    }
}

impl Eq for DocumentUuid {}

impl Hash for DocumentUuid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl PartialOrd for DocumentUuid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DocumentUuid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.folded().cmp(&other.folded())
    }
}

impl fmt::Display for DocumentUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The records that templates, routes and adapters use. Holds patient data: it is never logged, and `Debug` does not
/// print it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The name of the account in the configuration.
    pub account: String,
    /// The document as `GET /documents/{uuid}` gave it.
    pub document: Record,
    /// The patient; only `{"uuid": …}` if the API gave just an identifier; empty if there is none.
    pub patient: Record,
    /// The user that the document belongs to, in the same forms as `patient`.
    pub user: Record,
    /// The patient's number in the practice's list, once known. It is not stored with the rest.
    #[serde(skip)]
    pub number: Option<String>,
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata").field("account", &self.account).finish_non_exhaustive()
    }
}

impl Metadata {
    /// The data of a letter that remains after everything else about it was erased.
    pub fn of_identity(version: &Version) -> Self {
        let pdf = edition::rendered(&version.pdf);
        let document = serde_json::json!({ "uuid": version.uuid.as_str(), "pdf": { "uuid": pdf } });
        let serde_json::Value::Object(document) = document else { return Self::default() };
        Self { account: version.account.clone(), document, ..Self::default() }
    }

    /// `document.type`; `None` if it is null or missing. Values that the API does not list are passed on.
    pub fn document_type(&self) -> Option<&str> {
        self.document.get("type").and_then(Value::as_str)
    }

    /// `document.isAnonymized`; false if it is missing.
    pub fn is_anonymized(&self) -> bool {
        self.document.get("isAnonymized").and_then(Value::as_bool).unwrap_or(false)
    }

    /// `patient.uuid`
    pub fn patient_uuid(&self) -> Option<&str> {
        self.patient.get("uuid").and_then(Value::as_str).filter(|uuid| !uuid.is_empty())
    }

    /// The key under which a person's decision about the patient is stored: the patient's uuid, or the letter's own if
    /// the API names no patient.
    pub fn patient_key(&self, uuid: &DocumentUuid) -> String {
        self.patient_uuid().map_or_else(|| format!("letter {}", uuid.folded()), str::to_owned)
    }

    /// `patient.visibilityOption` (`shared`, `private`).
    pub fn patient_visibility(&self) -> Option<&str> {
        self.patient.get("visibilityOption").and_then(Value::as_str)
    }

    /// Whether `name` is the user's uuid or e-mail address (letter case does not matter).
    pub fn is_user(&self, name: &str) -> bool {
        ["uuid", "email"]
            .iter()
            .filter_map(|field| self.user.get(*field).and_then(Value::as_str))
            .any(|value| value.eq_ignore_ascii_case(name))
    }
}

/// A complete PDF in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spooled {
    /// The path of its file, even while it has none.
    pub path: PathBuf,
    /// The whole content, while it needs no file.
    pub in_memory: Option<Content>,
    /// Its length in bytes.
    pub size: u64,
    /// SHA-256 of its content, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

/// The bytes of a PDF, shared by their users. `Debug` does not print them.
#[derive(Clone, PartialEq, Eq)]
pub struct Content(Arc<Vec<u8>>);

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// A document as the API's list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// `uuid`
    pub uuid: DocumentUuid,
    /// `createdAt` exactly as printed; empty if it is missing.
    pub created_at: String,
    /// `type`
    pub kind: Option<String>,
    /// The PDF's identifier; `None` while the PDF is not rendered, or if the list does not show it.
    pub pdf: Option<String>,
    /// Whether the list says that the PDF is not rendered: `"pdf": null`.
    pub is_draft: bool,
    /// The patient's identifier, if the list shows it. It is only compared.
    pub patient: Option<String>,
}

/// One version of a document. Promise 3 counts documents with their PDFs, whichever account reads them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// The account that read it.
    pub account: String,
    /// The document.
    pub uuid: DocumentUuid,
    /// The PDF's uuid, which is empty if the API gave none, and the number of a later edition ([`edition`]).
    pub pdf: String,
}

impl Version {
    /// The stable key by which a destination can recognise a repeated delivery: 32 hexadecimal digits of a SHA-256 over
    /// document, PDF and destination.
    pub fn delivery_key(&self, destination: &str) -> String {
        key(&[self.uuid.as_str(), self.pdf.as_str(), destination])
    }
}

fn key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // 64 bits on every machine, since a ledger may move to another one.
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let mut key = hex(&hash.finalize());
    key.truncate(32);
    key
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(value: Value) -> Record {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn identifiers_that_could_leave_a_path_are_refused() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a b", "ü", "a\n", &"x".repeat(200)] {
            assert_eq!(DocumentUuid::parse(bad), None, "{bad:?}");
        }
        let uuid = DocumentUuid::parse("5F0c-11aa.:_x").unwrap();
        assert_eq!((uuid.as_str(), uuid.short().as_str()), ("5F0c-11aa.:_x", "f0c11aax"));
        assert_eq!(short("019aa5c0-7d1e-7000-8000-0123456789AB"), "456789ab");
    }

    #[test]
    fn letter_case_tells_no_two_uuids_apart_but_other_identifiers() {
        let uuid = |text: &str| DocumentUuid::parse(text).unwrap();
        let (upper, lower) =
            (uuid("019AA5C0-7D1E-7000-8000-0123456789AB"), uuid("019aa5c0-7d1e-7000-8000-0123456789ab"));
        assert_eq!(upper, lower);
        assert_eq!(upper.as_str(), "019AA5C0-7D1E-7000-8000-0123456789AB", "it is requested as the API printed it");
        assert_eq!([upper, lower].into_iter().collect::<std::collections::HashSet<_>>().len(), 1);
        for (one, other) in
            [("aB", "Ab"), ("019aa5c07d1e70008000-0123456789ab--aa", "019AA5c07d1e70008000-0123456789ab--aa")]
        {
            assert_ne!(uuid(one), uuid(other));
        }
    }

    #[test]
    fn what_is_printed_of_metadata_names_no_patient() {
        let metadata = Metadata { patient: record(json!({"lastName": "Dupont"})), ..Metadata::default() };
        assert!(!format!("{metadata:?}").contains("Dupont"));
    }

    /// The digest comes from Python's `hashlib.sha256`, each part behind its length in eight bytes. If a new version of
    /// docsyncd changed the keys, every delivery in progress would count as a new one.
    #[test]
    fn a_key_is_the_same_for_ever() {
        let uuid = DocumentUuid::parse("0b5c9e9e-1111-4222-8333-444455556666").unwrap();
        let pdf = "77e1c0de-aaaa-4bbb-8ccc-ddddeeeeffff".to_owned();
        let version = Version { account: "main".to_owned(), uuid, pdf };
        assert_eq!(version.delivery_key("pms"), "608d8484a1fe430efb0921e1b2b0700f");
    }

    #[test]
    fn keys_differ_by_every_part_but_the_account_and_by_where_the_parts_end() {
        let version = |account: &str, pdf: &str| Version {
            account: account.into(),
            uuid: DocumentUuid::parse("d").unwrap(),
            pdf: pdf.into(),
        };
        let keys = [
            version("a", "p").delivery_key("x"),
            version("a", "q").delivery_key("x"),
            version("a", "p").delivery_key("y"),
            version("a", "px").delivery_key(""),
        ];
        assert!(keys.iter().all(|key| key.len() == 32));
        assert_eq!(version("b", "p").delivery_key("x"), keys[0]);
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), keys.len());
    }
}
