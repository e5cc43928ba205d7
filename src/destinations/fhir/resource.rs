//! The resource for one document: a `DocumentReference` (FHIR R4) with the PDF in it, as a profile requires.
//!
//! Pure. Every identifier comes from the delivery's key and the API's data, so all attempts send the same.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::web_client::Piece;
use crate::destinations::{FhirConfig, FhirProfile};
use crate::domain::document::{CodeSystem, Metadata, RemoteIdentity, TypeCode};
use crate::patients::Person;

/// The system of identifiers that are URIs (FHIR R4, "Identifier Registry").
pub(super) const URI_SYSTEM: &str = "urn:ietf:rfc:3986";
/// The id of the contained patient resource.
const PATIENT: &str = "patient";
/// The code of the German list of document types (KDL) for types without one of their own.
const KDL_OTHER: (&str, &str) = ("AM190199", "Sonstiger Schriftverkehr");
/// The API's types in the German list of document types (KDL), with code and display name; a type without one is
/// [`KDL_OTHER`].
const KDL: [(&str, &str, &str); 10] = [
    ("operative_report", "OP150103", "OP-Bericht"),
    ("referral_letter", "AU050199", "Sonstiges Einweisungs-/Überweisungsdokument"),
    ("cone_beam_report", "DG020103", "CT-Befund"),
    ("patient_letter", "AM190199", "Sonstiger Schriftverkehr"),
    ("prescription", "TH130108", "Rezept"),
    ("initial_medical_certificate", "AD020104", "Ärztliche Bescheinigung"),
    ("attendance_certificate", "AD020199", "Sonstige Bescheinigung"),
    ("contraindication_certificate", "AD020104", "Ärztliche Bescheinigung"),
    ("endo_report", "AD010199", "Sonstiger Arztbericht"),
    ("ortho_letter", "AD060104", "Konsilbericht extern"),
];

/// The letter's patient, in the form that the server gets.
pub(super) enum Subject {
    /// A resource of the server: `Patient/7`.
    Reference(String),
    /// The known data of the patient, contained in the resource itself, under this identifier.
    Contained(String),
}

impl Subject {
    /// The server's reference for the patient.
    pub(super) fn reference(&self) -> Option<&str> {
        match self {
            Self::Reference(reference) => Some(reference),
            Self::Contained(_) => None,
        }
    }
}

/// What a letter replaces.
pub(super) enum Replaces {
    /// A resource of the server: `DocumentReference/7`.
    Reference(String),
    /// A resource that the server does not show, by its identifier.
    Identifier(String),
}

/// The content, in the terms of FHIR R4 ("Attachment").
pub(super) struct Attached {
    /// `Attachment.hash`: SHA-1 in base64.
    pub(super) hash: String,
    /// `Attachment.size`: bytes.
    pub(super) size: u64,
}

/// The identifier of a version of a document: the same in every attempt.
pub(super) fn identifier(key: &str) -> String {
    format!("urn:uuid:{}", RemoteIdentity::of_key(key).uuid())
}

/// What the resource of a letter is made of.
pub(super) struct Resource<'a> {
    pub(super) config: &'a FhirConfig,
    /// The key of the delivery.
    pub(super) key: &'a str,
    pub(super) metadata: &'a Metadata,
    pub(super) title: &'a str,
    pub(super) content: &'a Attached,
    pub(super) subject: &'a Subject,
    pub(super) replaces: Option<&'a Replaces>,
}

impl Resource<'_> {
    /// The body, with a place for the PDF.
    pub(super) fn pieces(&self) -> Option<Vec<Piece>> {
        let place = format!("docsyncd {}", self.key);
        let text = self.json(&place).to_string();
        // No other value can have a quotation mark right before the place.
        let (before, after) = text.split_once(&format!("\"data\":\"{place}\""))?;
        let (before, after) = (format!("{before}\"data\":\""), format!("\"{after}"));
        Some(vec![Piece::Bytes(before.into_bytes()), Piece::PdfInBase64, Piece::Bytes(after.into_bytes())])
    }

    fn json(&self, data: &str) -> Value {
        let Self { config, key, metadata, subject, .. } = *self;
        let mut document = Map::new();
        let mut put = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
        put("resourceType", "DocumentReference".into());
        if let Some(url) = canonical(config.profile) {
            put("meta", json!({"profile": [url]}));
        }
        if let Subject::Contained(id) = subject {
            put("contained", json!([patient(id, metadata)]));
        }
        put("masterIdentifier", json!({"system": URI_SYSTEM, "value": identifier(key)}));
        // A server may search only this field.
        put("identifier", json!([{"use": "official", "system": URI_SYSTEM, "value": identifier(key)}]));
        put("status", "current".into());
        put("type", json!({"coding": codings(config, metadata)}));
        let reference = subject.reference().map_or_else(|| format!("#{PATIENT}"), str::to_owned);
        put("subject", json!({"reference": reference}));
        if let Some(at) = created(metadata) {
            put("date", at.into());
        }
        if let Some(author) = &config.author {
            put("author", json!([{"display": author}]));
            if config.profile == FhirProfile::Pdsm {
                put("custodian", json!({"display": author}));
            }
        }
        if let Some(target) = self.replaced() {
            put("relatesTo", json!([{"code": "replaces", "target": target}]));
        }
        let mut part = Map::from_iter([("attachment".to_owned(), self.attachment(data))]);
        if config.profile == FhirProfile::Isik {
            let format = json!({
                "system": "http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode",
                "code": "urn:ihe:iti:xds:2017:mimeTypeSufficient",
            });
            part.insert("format".to_owned(), format);
            put(
                "securityLabel",
                json!([{"coding": [{
                    "system": "http://terminology.hl7.org/CodeSystem/v3-Confidentiality", "code": "N",
                }]}]),
            );
            put(
                "context",
                json!({
                    "facilityType": {"coding": [{
                        "system": "http://ihe-d.de/CodeSystems/PatientBezogenenGesundheitsversorgung",
                        "code": "KHS", "display": "Krankenhaus",
                    }]},
                    "practiceSetting": {"coding": [{
                        "system": "http://ihe-d.de/CodeSystems/AerztlicheFachrichtungen", "code": "MZKH",
                    }]},
                }),
            );
        }
        put("content", json!([part]));
        let mut document = Value::Object(document);
        clean(&mut document);
        document
    }

    /// The letter that this one replaces. ISiK knows it only by a reference.
    fn replaced(&self) -> Option<Value> {
        match self.replaces? {
            Replaces::Reference(before) => Some(json!({"reference": before})),
            Replaces::Identifier(_) if self.config.profile == FhirProfile::Isik => None,
            Replaces::Identifier(before) => {
                Some(json!({"type": "DocumentReference", "identifier": {"system": URI_SYSTEM, "value": before}}))
            }
        }
    }

    fn attachment(&self, data: &str) -> Value {
        let mut attachment = json!({
            "contentType": "application/pdf",
            "data": data,
            "size": self.content.size,
            "hash": self.content.hash,
            "title": self.title,
        });
        let language = match self.config.profile {
            FhirProfile::Pdsm => Some("fr-FR"),
            FhirProfile::Isik => Some("de"),
            FhirProfile::Mhd | FhirProfile::Plain => None,
        };
        if let Some(all) = attachment.as_object_mut() {
            all.extend(created(self.metadata).map(|at| ("creation".to_owned(), at.into())));
            all.extend(language.map(|language| ("language".to_owned(), language.into())));
        }
        attachment
    }
}

/// Makes spaces of characters that no text of FHIR has (FHIR R4, "string": `[ \r\n\t\S]+`). Identifiers have none.
fn clean(value: &mut Value) {
    let is_other = |c: char| (c.is_control() || c.is_whitespace()) && !matches!(c, ' ' | '\r' | '\n' | '\t');
    match value {
        Value::String(text) if text.contains(is_other) => *text = text.replace(is_other, " "),
        Value::Array(all) => all.iter_mut().for_each(clean),
        Value::Object(all) => all.values_mut().for_each(clean),
        _ => {}
    }
}

/// The profile's canonical URL (IHE MHD 4.2, "Simplified Publish"; ANS PDSm 3.1; gematik ISiK).
fn canonical(profile: FhirProfile) -> Option<&'static str> {
    match profile {
        FhirProfile::Mhd => {
            Some("https://profiles.ihe.net/ITI/MHD/StructureDefinition/IHE.MHD.SimplifiedPublish.DocumentReference")
        }
        FhirProfile::Pdsm => {
            Some("https://interop.esante.gouv.fr/ig/fhir/pdsm/StructureDefinition/pdsm-simplified-publish")
        }
        FhirProfile::Isik => Some("https://gematik.de/fhir/isik/StructureDefinition/ISiKDokumentenMetadaten"),
        FhirProfile::Plain => None,
    }
}

/// The document's type: the code of `type_map`, and for ISiK also one of the German list.
fn codings(config: &FhirConfig, metadata: &Metadata) -> Vec<Value> {
    let kind = metadata.document_type();
    let TypeCode { system, code } = config.type_map.code(kind);
    let mut codings = Vec::new();
    if config.profile == FhirProfile::Isik {
        let listed = KDL.iter().find(|(name, ..)| Some(*name) == kind).map(|(_, code, display)| (*code, *display));
        let (code, display) = match system {
            CodeSystem::Kdl => {
                (code.as_str(), KDL.iter().find(|(_, kdl, _)| kdl == code).map_or("", |(.., display)| *display))
            }
            _ => listed.unwrap_or(KDL_OTHER),
        };
        let display = if display.is_empty() { code } else { display };
        codings.push(json!({"system": "http://dvmd.de/fhir/CodeSystem/kdl", "code": code, "display": display}));
    }
    match system {
        CodeSystem::Loinc => codings.push(json!({"system": "http://loinc.org", "code": code})),
        CodeSystem::Named(system) => {
            let is_oid = system.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let system = if is_oid { format!("urn:oid:{system}") } else { system.clone() };
            codings.push(json!({"system": system, "code": code}));
        }
        CodeSystem::Kdl if config.profile == FhirProfile::Isik => {}
        CodeSystem::Kdl => codings.push(json!({"system": "http://dvmd.de/fhir/CodeSystem/kdl", "code": code})),
    }
    codings
}

/// The patient by the cloud service's data.
fn patient(id: &str, metadata: &Metadata) -> Value {
    let person = Person::of(metadata);
    let mut patient = json!({"resourceType": "Patient", "id": PATIENT, "identifier": [{"value": id}]});
    let mut called = Map::new();
    if !person.last_name().is_empty() {
        called.insert("family".to_owned(), person.last_name().into());
    }
    if !person.first_name().is_empty() {
        called.insert("given".to_owned(), json!([person.first_name()]));
    }
    if let Some(all) = patient.as_object_mut() {
        if !called.is_empty() {
            all.insert("name".to_owned(), json!([called]));
        }
        // FHIR R4, "AdministrativeGender".
        let gender = metadata.patient.get("gender").and_then(Value::as_str);
        all.extend(
            gender
                .filter(|gender| matches!(*gender, "female" | "male" | "other" | "unknown"))
                .map(|gender| ("gender".to_owned(), gender.into())),
        );
        all.extend(person.born().map(|born| ("birthDate".to_owned(), born.to_string().into())));
    }
    patient
}

/// When the document was made, as an instant; `None` if the API does not tell it in that form.
fn created(metadata: &Metadata) -> Option<String> {
    let text = metadata.document.get("createdAt")?.as_str()?;
    Some(text.parse::<Timestamp>().ok()?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
