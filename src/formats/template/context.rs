//! The values that templates see.

use std::collections::BTreeMap;

use minijinja::Value;

use super::identifier::{self, Changed, Identifier};
use super::{fields, json, values};
use crate::domain::document::{Metadata, Record, RemoteIdentity, Spooled};

/// The field of a patient that comes from the practice's list.
const NUMBER: &str = "number";

/// The values that templates see: `document`, `patient`, `user`, `account`, and what the adapter adds.
#[derive(Clone)]
pub struct Context {
    root: BTreeMap<&'static str, Value>,
    identifiers: Vec<Identifier>,
}

impl Context {
    /// The records of a document. A null field counts as missing, so `default` works for both.
    pub fn new(metadata: &Metadata) -> Self {
        let section = |record: &Record| values::from_record(record);
        let mut patient = metadata.patient.clone();
        // The number comes only from the practice's list, never from the cloud service.
        patient.remove(NUMBER);
        patient.extend(metadata.number.as_ref().map(|number| (NUMBER.to_owned(), number.as_str().into())));
        let root = BTreeMap::from([
            ("document", section(&metadata.document)),
            ("patient", section(&patient)),
            ("user", section(&metadata.user)),
            ("account", Value::from(metadata.account.as_str())),
        ]);
        let uuid = |record: &Record| record.get("uuid").and_then(|uuid| uuid.as_str()).map(Identifier::other);
        let pdf = metadata.document.get("pdf").and_then(|pdf| pdf.as_object());
        let number = metadata.number.as_deref().map(Identifier::number);
        let uuids = [Some(&metadata.document), Some(&patient), pdf].into_iter().flatten().filter_map(uuid);
        Self { root, identifiers: number.into_iter().chain(uuids).collect() }
    }

    /// A document that has every field of the API, with a PDF of this name.
    pub fn sample(pdf_name: &str) -> Self {
        fields::sample(pdf_name, "uuid", "number")
    }

    /// The same, of a patient with this number.
    pub fn sample_for(number: &str) -> Self {
        fields::sample("file_name.pdf", "uuid", number)
    }

    /// The same, with `identity` as its uuid, its PDF's uuid, and its key.
    pub fn sample_of(pdf_name: &str, identity: &str) -> Self {
        fields::sample(pdf_name, identity, "number").with_identity(identity)
    }

    /// Adds `file`, which an argument shows unchanged.
    pub fn with_file(mut self, path: &str) -> Self {
        self.root.insert("file", Value::from_safe_string(path.to_owned()));
        self
    }

    /// Adds the identity of a delivery, by which another machine recognises its repetition: `key` and `uuid`.
    pub fn with_identity(mut self, key: &str) -> Self {
        self.root.insert("key", Value::from(key));
        self.root.insert("uuid", Value::from(RemoteIdentity::of_key(key).uuid()));
        self
    }

    /// Adds the data of the PDF for a sidecar: `file_name` and `file_stem` (its final name), `size`, `sha256`, `key`,
    /// `uuid`.
    pub fn with_pdf(mut self, file_name: &str, pdf: &Spooled, key: &str) -> Self {
        self.root.insert("file_name", Value::from(file_name));
        self.root.insert("file_stem", Value::from(crate::domain::name::stem(file_name)));
        self.root.insert("size", Value::from(pdf.size));
        self.root.insert("sha256", Value::from(pdf.sha256.as_str()));
        self.with_identity(key)
    }

    /// Adds `visible_file`: the path of the PDF on the practice's computers.
    pub fn with_visible_file(mut self, path: &str) -> Self {
        self.root.insert("visible_file", Value::from(path));
        self
    }

    /// Adds `number3`: a number of three digits that distinguishes names.
    pub fn with_number3(mut self, number: u16) -> Self {
        self.root.insert("number3", Value::from(format!("{number:03}")));
        self
    }

    /// Adds `lookup`: the destination's identifier of the patient.
    pub fn with_lookup(mut self, found: &serde_json::Value) -> Self {
        self.identifiers.extend(found.as_str().map(Identifier::other));
        self.root.insert("lookup", values::from_json(found));
        self
    }

    /// Adds `patient_id`: the identifier by which the destination knows the patient.
    pub fn with_patient_id(mut self, id: &str) -> Self {
        self.root.insert("patient_id", Value::from(id));
        self
    }

    /// Adds `offset`: the number of earlier entries of a list.
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.root.insert("offset", Value::from(offset));
        self
    }

    /// Adds `file_base64`, which marks a place for [`super::Template::render_around_pdf`].
    pub fn with_pdf_in_base64(mut self) -> Self {
        self.root.insert("file_base64", json::pdf_in_base64());
        self
    }

    /// Compares a text with what becomes of it on its way to a destination. Identifiers arrive unchanged or not at all;
    /// words may be cleaned, transliterated and cut.
    ///
    /// # Errors
    /// The text has an identifier that `after` lacks.
    pub fn unchanged(&self, before: &str, after: &str) -> Result<(), Changed> {
        identifier::unchanged(&self.identifiers, before, after)
    }

    /// Asks of each identifier in a text whether its place can hold it.
    ///
    /// # Errors
    /// The text has an identifier that the place cannot hold.
    pub fn held(&self, text: &str, holds: impl Fn(&str) -> bool) -> Result<(), Changed> {
        identifier::held(&self.identifiers, text, holds)
    }

    pub(super) fn identifiers(&self) -> &[Identifier] {
        &self.identifiers
    }

    pub(super) fn value(&self) -> Value {
        Value::from_pairs(self.root.iter().map(|(name, value)| (*name, value.clone())))
    }
}
