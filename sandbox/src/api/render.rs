//! Rows as records of the API, in the requested version and in the shape that the quirks determine.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use crate::describe::Version;
use crate::moment::Moment;
use crate::quirks::{DateFormat, ListShape, PdfUrl, Quirks, SingleShape};
use crate::shared::Shared;
use crate::signed::Signer;
use crate::store::{
    AudioRow, DocumentAudio, DocumentRow, FileRow, ImageRow, LastStatus, NoteRow, SharedRow, UserRow, WebhookRow,
};

/// Members of a user record that is embedded in another record ("User", last paragraph but one).
const EMBEDDED_USER: &[&str] =
    &["uuid", "email", "createdAt", "updatedAt", "firstName", "lastName", "gender", "phone", "rpps", "am"];

/// A record in its JSON shape.
pub(super) type Shown = Map<String, Value>;

/// How records are shown to a request.
pub(super) struct Shape {
    quirks: Arc<Quirks>,
    version: Version,
    api_url: String,
    files_url: String,
    files_elsewhere: bool,
    signer: Signer,
    /// Microseconds since 1970.
    now: i64,
}

impl Shape {
    pub fn new(shared: &Shared, quirks: Arc<Quirks>, version: Version) -> Self {
        Self {
            api_url: shared.api_url(),
            files_url: shared.files_url(),
            files_elsewhere: shared.files_elsewhere || quirks.pdf_elsewhere,
            signer: shared.signer.clone(),
            now: shared.clock.key(),
            quirks,
            version,
        }
    }

    fn date(&self, moment: &Moment) -> Value {
        json!(moment.show(self.quirks.date_format))
    }

    fn date_or_null(&self, moment: Option<&Moment>) -> Value {
        moment.map_or(Value::Null, |moment| self.date(moment))
    }

    /// Adds members that the description does not know, if that quirk is on.
    pub fn known_by_all(&self, mut record: Shown) -> Shown {
        if self.quirks.unknown_fields {
            record.insert("futureMember".into(), json!({"uuid": null, "values": [1, "two", {"three": 3.5}]}));
            for (name, value) in [
                ("gender", "unheard_of"),
                ("type", "future_report"),
                ("audioWorkflowStepV3", "polishing"),
                ("visibilityOption", "practice"),
            ] {
                if let Some(known) = record.get_mut(name) {
                    *known = json!(value);
                }
            }
        }
        record
    }

    pub fn user(&self, record: &Shown) -> Shown {
        let member = |name: &&str| ((*name).to_owned(), record.get(*name).cloned().unwrap_or(Value::Null));
        self.known_by_all(EMBEDDED_USER.iter().map(member).collect())
    }

    /// A patient with the owning user.
    pub fn patient(&self, record: &Shown, owner: &Shown) -> Shown {
        let mut shown = record.clone();
        shown.insert("user".into(), Value::Object(self.user(owner)));
        self.known_by_all(shown)
    }

    fn patient_or_null(&self, patient: Option<&(SharedRow, UserRow)>) -> Value {
        patient.map_or(Value::Null, |(row, owner)| Value::Object(self.patient(&row.record, &owner.record)))
    }

    /// A document in a list. `expand_user` is `expand[]=user.read`.
    pub fn document_item(&self, row: &DocumentRow, expand_user: bool) -> Shown {
        let show = self.quirks.lists_show;
        let identifier = |folder: &str, uuid: &str| match show {
            ListShape::Iris => json!(format!("/{folder}/{uuid}")),
            ListShape::Identifiers | ListShape::Objects => json!(uuid),
        };
        let objects = show == ListShape::Objects;
        let user = if objects || expand_user { self.user_of(row) } else { identifier("users", &row.user.uuid) };
        let patient = match &row.patient {
            None => Value::Null,
            Some(_) if objects => self.patient_of(row),
            Some(patient) => identifier("patients", &patient.uuid),
        };
        let pdf = match self.file_of(row) {
            None => Value::Null,
            Some(file) if objects => self.pdf(file, file.declared_size.or(file.size)),
            Some(file) if show == ListShape::Iris => json!(format!("/pdfs/{}", file.uuid)),
            Some(file) => json!(file.uuid),
        };
        self.known_by_all(self.document_members(row, user, patient, pdf))
    }

    /// The single read, also the answer to a status post.
    pub fn document(&self, row: &DocumentRow, size: Option<u64>, last: Option<&LastStatus>) -> Shown {
        let (user, patient) = match self.quirks.single_shows {
            SingleShape::Objects => (self.user_of(row), self.patient_of(row)),
            SingleShape::Identifiers => {
                (json!(row.user.uuid), json!(row.patient.as_ref().map(|patient| &patient.uuid)))
            }
        };
        let pdf = match self.file_of(row) {
            Some(file) => self.pdf(file, size),
            None => Value::Null,
        };
        let mut shown = self.known_by_all(self.document_members(row, user, patient, pdf));
        if self.version == Version::V1_1 {
            let integration = |status: &LastStatus| {
                json!({
                    "success": status.success,
                    "error": status.error,
                    "createdAt": self.date(&status.first_at),
                    "updatedAt": self.date(&status.last_at),
                })
            };
            shown.insert("documentIntegrations".into(), json!(last.map(integration).into_iter().collect::<Vec<_>>()));
        }
        shown
    }

    fn user_of(&self, row: &DocumentRow) -> Value {
        Value::Object(self.user(&row.user.record()))
    }

    fn patient_of(&self, row: &DocumentRow) -> Value {
        match (&row.patient, &row.patient_owner) {
            (Some(patient), Some(owner)) => Value::Object(self.patient(&patient.record(), &owner.record())),
            _ => Value::Null,
        }
    }

    fn document_members(&self, row: &DocumentRow, user: Value, patient: Value, pdf: Value) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("createdAt".into(), self.date(&row.created_at));
        shown.insert("updatedAt".into(), self.date(&row.updated_at));
        shown.insert("encounteredAt".into(), self.date_or_null(row.encountered_at.as_ref()));
        shown.insert("user".into(), user);
        shown.insert("patient".into(), patient);
        let audio = row.audio.as_ref().map_or(Value::Null, |audio| Value::Object(self.document_audio(audio)));
        shown.insert("audio".into(), audio);
        shown.insert("type".into(), json!(row.document_type));
        shown.insert("pdf".into(), pdf);
        shown.insert("isAnonymized".into(), json!(row.is_anonymized));
        if self.version == Version::V1_1 {
            shown.insert("genericContactSpecialty".into(), json!(row.specialty));
        }
        shown
    }

    fn document_audio(&self, audio: &DocumentAudio) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(audio.uuid));
        shown.insert("patient".into(), json!(audio.patient));
        shown.insert("createdAt".into(), self.date(&audio.created_at));
        shown.insert("updatedAt".into(), self.date(&audio.updated_at));
        shown.insert("archivedAt".into(), self.date_or_null(audio.archived_at.as_ref()));
        shown.insert("audioWorkflowStepV3".into(), json!(self.step(&audio.step)));
        self.known_by_all(shown)
    }

    /// The step for this version. 1.0.0 knows neither `transcribed` nor `validated`, so it shows the step before.
    fn step<'a>(&self, step: &'a str) -> &'a str {
        match (self.version, step) {
            (Version::V1_0, "transcribed") => "transcription",
            (Version::V1_0, "validated") => "edition",
            _ => step,
        }
    }

    /// The document's file, if it is shown.
    fn file_of<'a>(&self, row: &'a DocumentRow) -> Option<&'a FileRow> {
        row.file.as_ref().filter(|_| !self.quirks.pdf_not_rendered)
    }

    fn pdf(&self, file: &FileRow, size: Option<u64>) -> Value {
        let at = self.date(&file.created_at);
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(file.uuid));
        shown.insert("name".into(), json!(file.name));
        shown.insert("size".into(), json!(size));
        shown.insert("createdAt".into(), at.clone());
        shown.insert("updatedAt".into(), at);
        shown.insert("url".into(), json!(self.pdf_url(file)));
        shown.insert("fileName".into(), json!(file.file_name));
        Value::Object(self.known_by_all(shown))
    }

    fn pdf_url(&self, file: &FileRow) -> String {
        match (&self.quirks.pdf_url, self.quirks.pdf_url_expires) {
            (PdfUrl::Absolute, Some(lifetime)) => {
                let address = file_address(&self.files_url, "files", &file.uuid, &file.file_name);
                let query = self.signer.query(&file.uuid, &file.file_name, self.now, lifetime);
                format!("{address}?{query}")
            }
            (PdfUrl::Absolute, None) if self.files_elsewhere => {
                file_address(&self.files_url, "files", &file.uuid, &file.file_name)
            }
            (PdfUrl::Absolute, None) => file_address(&self.api_url, "files", &file.uuid, &file.file_name),
            (PdfUrl::Relative, _) => {
                let absolute = file_address(&self.api_url, "files", &file.uuid, &file.file_name);
                absolute.strip_prefix(&self.api_url).unwrap_or(&absolute).to_owned()
            }
            (PdfUrl::Redirect(_), _) => file_address(&self.api_url, "downloads", &file.uuid, &file.file_name),
            (PdfUrl::Verbatim(text), _) => text.clone(),
        }
    }

    /// An audio in a list. `patient` is given if `expand[]` asks for it, and whole for `patient.read`.
    pub fn audio_item(&self, row: &AudioRow, patient: Option<&(SharedRow, UserRow)>, whole: bool) -> Shown {
        let patient = match patient {
            Some(_) if whole => self.patient_or_null(patient),
            Some((row, _)) => Value::Object(self.known_by_all(row.record.clone())),
            None => json!(row.patient_uuid),
        };
        let mut shown = self.audio_head(row, patient);
        shown.insert("audioWorkflowStepV3".into(), json!(self.step(&row.step)));
        self.known_by_all(shown)
    }

    /// The single read, with the documents made from it and its images.
    pub fn audio(
        &self,
        row: &AudioRow,
        patient: Option<&(SharedRow, UserRow)>,
        documents: &[DocumentRow],
        images: &[ImageRow],
    ) -> Shown {
        let mut shown = self.audio_head(row, self.patient_or_null(patient));
        let documents: Vec<Shown> = documents.iter().map(|document| self.document_item(document, false)).collect();
        shown.insert("documents".into(), json!(documents));
        let images: Vec<Shown> = images.iter().map(|image| self.image(image)).collect();
        shown.insert("images".into(), json!(images));
        match self.version {
            Version::V1_0 => shown.insert("summary".into(), json!(row.summary)),
            Version::V1_1 => shown.insert("meeting".into(), json!(row.meeting)),
        };
        shown.insert("languageSpoken".into(), json!(row.language_spoken));
        shown.insert("mediaRecorderType".into(), json!(row.media_recorder_type));
        shown.insert("audioWorkflowStepV3".into(), json!(self.step(&row.step)));
        self.known_by_all(shown)
    }

    fn audio_head(&self, row: &AudioRow, patient: Value) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("patient".into(), patient);
        shown.insert("createdAt".into(), self.date(&row.created_at));
        shown.insert("updatedAt".into(), self.date(&row.updated_at));
        shown.insert("archivedAt".into(), self.date_or_null(row.archived_at.as_ref()));
        shown.insert("user".into(), Value::Object(self.user(&row.user.record)));
        shown
    }

    fn image(&self, row: &ImageRow) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("title".into(), json!(row.title));
        shown.insert("name".into(), json!(row.name));
        shown.insert("size".into(), json!(row.size));
        shown.insert("createdAt".into(), self.date(&row.created_at));
        shown.insert("updatedAt".into(), self.date(&row.updated_at));
        self.known_by_all(shown)
    }

    /// A note in a list: audio and patient as identifiers.
    pub fn note_item(&self, row: &NoteRow) -> Shown {
        self.note_with(row, json!(row.patient_uuid))
    }

    pub fn note(&self, row: &NoteRow, patient: Option<&(SharedRow, UserRow)>) -> Shown {
        self.note_with(row, self.patient_or_null(patient))
    }

    fn note_with(&self, row: &NoteRow, patient: Value) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("content".into(), json!(row.content));
        shown.insert("type".into(), json!(row.kind));
        shown.insert("audio".into(), json!(row.audio_uuid));
        shown.insert("patient".into(), patient);
        shown.insert("user".into(), Value::Object(self.user(&row.user.record)));
        shown.insert("createdAt".into(), self.date(&row.created_at));
        shown.insert("updatedAt".into(), self.date(&row.updated_at));
        self.known_by_all(shown)
    }

    /// A webhook without its secret.
    pub fn webhook(&self, row: &WebhookRow) -> Shown {
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("url".into(), json!(row.url));
        shown.insert("events".into(), json!(row.events));
        shown.insert("description".into(), json!(row.description));
        shown.insert("isActive".into(), json!(row.is_active));
        shown.insert("createdAt".into(), self.date(&row.created_at));
        shown.insert("updatedAt".into(), self.date(&row.updated_at));
        self.known_by_all(shown)
    }
}

/// The present time as stored records print it.
pub(super) fn printed(moment: &Moment) -> Value {
    json!(moment.show(DateFormat::Offset))
}

/// The address of a file on an origin, with the name percent-encoded.
pub(super) fn file_address(origin: &str, folder: &str, uuid: &str, file_name: &str) -> String {
    match Url::parse(origin) {
        Ok(mut address) => {
            if let Ok(mut path) = address.path_segments_mut() {
                path.extend([folder, uuid, file_name]);
            }
            address.to_string()
        }
        Err(_) => format!("{origin}/{folder}/{uuid}/{file_name}"),
    }
}
