//! Rows as the JSON of the API, in the shape that the quirks ask for.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use url::Url;

use crate::quirks::{DateFormat, ListShape, PdfUrl, Quirks, SingleShape};
use crate::shared::Shared;
use crate::store::{DocumentRow, FileRow, LastStatus};

/// Members of a user record that is embedded in another record ("User", last paragraph but one).
const EMBEDDED_USER: &[&str] =
    &["uuid", "email", "createdAt", "updatedAt", "firstName", "lastName", "gender", "phone", "rpps", "am"];

/// 200 with JSON.
pub(super) fn answer(body: Value) -> Response {
    answer_with(StatusCode::OK, body)
}

pub(super) fn answer_with(status: StatusCode, body: Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (status, headers, body.to_string()).into_response()
}

/// How records are shown at the moment.
pub(super) struct Shape {
    quirks: Quirks,
    api_url: String,
    files_url: String,
    files_elsewhere: bool,
}

impl Shape {
    pub fn of(shared: &Shared) -> Self {
        Self {
            quirks: shared.quirks(),
            api_url: shared.api_url(),
            files_url: shared.files_url(),
            files_elsewhere: shared.files_elsewhere,
        }
    }

    pub fn quirks(&self) -> &Quirks {
        &self.quirks
    }

    fn format(&self) -> DateFormat {
        self.quirks.date_format
    }

    /// Adds what the description does not know, when that quirk is on.
    pub fn known_by_all(&self, mut record: Map<String, Value>) -> Map<String, Value> {
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

    pub fn user(&self, record: &Map<String, Value>) -> Map<String, Value> {
        let mut shown = Map::new();
        for name in EMBEDDED_USER {
            shown.insert((*name).to_owned(), record.get(*name).cloned().unwrap_or(Value::Null));
        }
        self.known_by_all(shown)
    }

    pub fn patient(&self, record: &Map<String, Value>, owner: &Map<String, Value>) -> Map<String, Value> {
        let mut shown = record.clone();
        shown.insert("user".into(), Value::Object(self.user(owner)));
        self.known_by_all(shown)
    }

    /// A document in a list. `expand_user` is `expand[]=user.read`.
    pub fn list_item(&self, row: &DocumentRow, expand_user: bool) -> Value {
        let show = self.quirks.lists_show;
        let identifier = |folder: &str, record: &Map<String, Value>| {
            let uuid = uuid_of(record);
            match show {
                ListShape::Iris => json!(format!("/{folder}/{uuid}")),
                ListShape::Identifiers | ListShape::Objects => json!(uuid),
            }
        };
        let objects = show == ListShape::Objects;
        let user =
            if objects || expand_user { Value::Object(self.user(&row.user)) } else { identifier("users", &row.user) };
        let patient = match &row.patient {
            None => Value::Null,
            Some(_) if objects => self.patient_of(row),
            Some(record) => identifier("patients", record),
        };
        let pdf = match &row.file {
            None => Value::Null,
            Some(file) if objects => self.pdf(file, file.declared_size.or(file.size)),
            Some(file) if show == ListShape::Iris => json!(format!("/pdfs/{}", file.uuid)),
            Some(file) => json!(file.uuid),
        };
        Value::Object(self.document(row, user, patient, pdf))
    }

    /// The single read, also the answer to a status post.
    pub fn full(&self, row: &DocumentRow, size: Option<u64>, last: Option<&LastStatus>) -> Value {
        let (user, patient) = match self.quirks.single_shows {
            SingleShape::Objects => (Value::Object(self.user(&row.user)), self.patient_of(row)),
            SingleShape::Identifiers => {
                (json!(uuid_of(&row.user)), row.patient.as_ref().map_or(Value::Null, |record| json!(uuid_of(record))))
            }
        };
        let pdf = match &row.file {
            Some(file) => self.pdf(file, size),
            None => Value::Null,
        };
        let mut shown = self.document(row, user, patient, pdf);
        let integrations: Vec<Value> = last
            .map(|status| {
                json!({
                    "success": status.success,
                    "error": status.error,
                    "createdAt": status.first_at.show(self.format()),
                    "updatedAt": status.last_at.show(self.format()),
                })
            })
            .into_iter()
            .collect();
        shown.insert("documentIntegrations".into(), json!(integrations));
        Value::Object(shown)
    }

    fn patient_of(&self, row: &DocumentRow) -> Value {
        match (&row.patient, &row.patient_owner) {
            (Some(record), Some(owner)) => Value::Object(self.patient(record, owner)),
            _ => Value::Null,
        }
    }

    fn document(&self, row: &DocumentRow, user: Value, patient: Value, pdf: Value) -> Map<String, Value> {
        let audio = row.audio.as_ref().map_or(Value::Null, |audio| {
            let mut shown = Map::new();
            for (name, value) in audio {
                shown.insert(name.clone(), value.clone());
                if name == "uuid" {
                    let of = row.patient.as_ref().map_or(Value::Null, |record| json!(uuid_of(record)));
                    shown.insert("patient".into(), of);
                }
            }
            Value::Object(self.known_by_all(shown))
        });
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(row.uuid));
        shown.insert("createdAt".into(), json!(row.created_at.show(self.format())));
        shown.insert("updatedAt".into(), json!(row.updated_at.show(self.format())));
        shown.insert(
            "encounteredAt".into(),
            json!(row.encountered_at.as_ref().map(|moment| moment.show(self.format()))),
        );
        shown.insert("user".into(), user);
        shown.insert("patient".into(), patient);
        shown.insert("audio".into(), audio);
        shown.insert("type".into(), json!(row.document_type));
        shown.insert("pdf".into(), pdf);
        shown.insert("isAnonymized".into(), json!(row.is_anonymized));
        shown.insert("genericContactSpecialty".into(), json!(row.specialty));
        self.known_by_all(shown)
    }

    fn pdf(&self, file: &FileRow, size: Option<u64>) -> Value {
        let at = file.created_at.show(self.format());
        let mut shown = Map::new();
        shown.insert("uuid".into(), json!(file.uuid));
        shown.insert("name".into(), json!(file.name));
        shown.insert("size".into(), json!(size));
        shown.insert("createdAt".into(), json!(at));
        shown.insert("updatedAt".into(), json!(at));
        shown.insert("url".into(), json!(self.pdf_url(file)));
        shown.insert("fileName".into(), json!(file.file_name));
        Value::Object(self.known_by_all(shown))
    }

    fn pdf_url(&self, file: &FileRow) -> String {
        match &self.quirks.pdf_url {
            PdfUrl::Absolute if self.files_elsewhere => {
                file_address(&self.files_url, "files", &file.uuid, &file.file_name)
            }
            PdfUrl::Absolute => file_address(&self.api_url, "files", &file.uuid, &file.file_name),
            PdfUrl::Relative => {
                let absolute = file_address(&self.api_url, "files", &file.uuid, &file.file_name);
                absolute.strip_prefix(&self.api_url).unwrap_or(&absolute).to_owned()
            }
            PdfUrl::Redirect(_) => file_address(&self.api_url, "downloads", &file.uuid, &file.file_name),
            PdfUrl::Verbatim(text) => text.clone(),
        }
    }
}

fn uuid_of(record: &Map<String, Value>) -> &str {
    record.get("uuid").and_then(Value::as_str).unwrap_or_default()
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
