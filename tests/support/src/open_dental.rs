//! A double of Open Dental's API, by its documentation (<https://www.opendental.com/site/apipatients.html>,
//! apidocuments.html, apiimplementation.html): patients are found by parts of their names, lists come in pages, and a
//! document that was uploaded stands whole in the list (`Note`) until somebody opens it.

use serde_json::{Value, json};

use crate::peer::Received;

/// So many entries has a page.
pub const PAGE: usize = 100;

#[derive(Debug, Default)]
pub struct OpenDental {
    pub patients: Vec<Value>,
    /// What was uploaded, as it is listed.
    pub documents: Vec<Value>,
    /// Whether every patient is found, whoever is asked for.
    pub filters_nothing: bool,
    /// What it answers whatever it is asked for.
    pub says_instead: Option<Vec<u8>>,
    /// What its header `Link` holds.
    pub link: Option<String>,
    /// How many more times the list of documents is not there.
    pub lists_refused: usize,
    /// Whether `Offset` means nothing.
    pub repeats_pages: bool,
}

impl OpenDental {
    /// A patient in it.
    #[must_use]
    pub fn patient(mut self, number: u64, last: &str, first: &str, born: &str) -> Self {
        self.patients
            .push(json!({"PatNum": number, "LName": last, "FName": first, "Birthdate": born, "PatStatus": "Patient"}));
        self
    }

    /// Documents that it has of a patient, before any is uploaded.
    #[must_use]
    pub fn with_documents(mut self, patient: u64, count: usize) -> Self {
        let scan = |number: usize| json!({"DocNum": number, "PatNum": patient, "Description": "Scanned image"});
        self.documents.extend((0..count).map(scan));
        self
    }

    /// The descriptions of a patient's documents.
    pub fn descriptions(&self, patient: u64) -> Vec<String> {
        let of_patient = self.documents.iter().filter(|document| document["PatNum"] == patient);
        of_patient.map(|document| document["Description"].as_str().expect("a text").to_owned()).collect()
    }

    pub(crate) fn answer(&mut self, request: &Received) -> (u16, Vec<u8>) {
        let url = url::Url::parse(&format!("http://localhost{}", request.path)).expect("a path");
        if let Some(instead) = self.says_instead.clone().filter(|_| request.method == "GET") {
            return (200, instead);
        }
        let (status, body) = match (request.method.as_str(), url.path()) {
            ("GET", "/api/v1/patients/Simple") => (200, paged(self.found(&url), &url)),
            ("GET", "/api/v1/documents") => self.listed(&url),
            ("POST", "/api/v1/documents/Upload") => match serde_json::from_slice(&request.body) {
                Ok(document) => self.upload(document),
                Err(_) => (400, json!("no JSON")),
            },
            _ => (404, json!("no such resource")),
        };
        (status, body.to_string().into_bytes())
    }

    fn found(&self, url: &url::Url) -> Vec<Value> {
        let is_found = |patient: &&Value| {
            url.query_pairs().all(|(name, wanted)| {
                let value = patient[name.as_ref()].as_str().unwrap_or_default().to_lowercase();
                match name.as_ref() {
                    "LName" | "FName" => value.contains(&wanted.to_lowercase()),
                    "Birthdate" | "PatStatus" => value == wanted.to_lowercase(),
                    _ => true,
                }
            })
        };
        self.patients.iter().filter(|patient| self.filters_nothing || is_found(patient)).cloned().collect()
    }

    fn listed(&mut self, url: &url::Url) -> (u16, Value) {
        if let Some(left) = self.lists_refused.checked_sub(1) {
            self.lists_refused = left;
            return (404, json!("eConnector is not running"));
        }
        let wanted = parameter(url, "PatNum");
        if !self.patients.iter().any(|patient| patient["PatNum"] == wanted) {
            return (404, json!("Patient not found"));
        }
        let documents = self.documents.iter().filter(|document| document["PatNum"] == wanted).cloned().collect();
        if self.repeats_pages { (200, Value::Array(documents)) } else { (200, paged(documents, url)) }
    }

    fn upload(&mut self, document: Value) -> (u16, Value) {
        let patient = &document["PatNum"];
        if !patient.is_u64() || !self.patients.iter().any(|known| known["PatNum"] == *patient) {
            return (404, json!("Patient not found"));
        }
        let (Some(content), Some(extension)) = (document["rawBase64"].as_str(), document["extension"].as_str()) else {
            return (400, json!("rawBase64 and extension are required"));
        };
        let kept = json!({
            "DocNum": self.documents.len() + 1,
            "PatNum": patient,
            "Description": document["Description"],
            "Note": format!("_rawBase64_:{extension}_{content}"),
        });
        self.documents.push(kept.clone());
        (201, kept)
    }
}

fn parameter(url: &url::Url, name: &str) -> u64 {
    url.query_pairs().find(|(found, _)| found == name).and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

fn paged(entries: Vec<Value>, url: &url::Url) -> Value {
    let offset = usize::try_from(parameter(url, "Offset")).expect("small");
    entries.into_iter().skip(offset).take(PAGE).collect()
}
