//! The API's records on the wire, read with tolerance. Unknown fields and values are passed on. An object is accepted
//! in place of an identifier, and the reverse (API, "Resources and their fields").

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::ApiError;
use super::json::{self, List};
use crate::domain::document::{DocumentUuid, Listed, Record, contradict, hex, without_case};

/// The most documents that are taken from one page: a server that ignores the page size shows more than 100.
const MAX_ITEMS: usize = 20_000;
/// The longest identifier, moment or type that is kept unchanged: bytes, or characters of a type.
const MAX_PRINTED: usize = 100;

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The readable elements.
    pub items: Vec<Listed>,
    /// The number of elements without a usable identifier, or beyond the limit.
    pub unreadable: usize,
}

impl Page {
    /// The number of all elements, readable or not.
    pub fn len(&self) -> usize {
        self.items.len() + self.unreadable
    }

    /// Whether the page has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a list in any of its forms. An unreadable element costs only itself.
    ///
    /// # Errors
    /// [`ApiError::NotJson`] if it is no JSON; [`ApiError::Shape`] if it is no list.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        Self::read_list(body).map(|list| list.read)
    }

    /// As [`Self::read`], with the form of the list.
    pub(super) fn read_list(body: &[u8]) -> Result<List<Self>, ApiError> {
        json::elements(body, &|page: &mut Page, element| {
            let item = json::fields(element.as_bytes(), &["uuid", "@id", "createdAt", "type", "pdf", "patient"]);
            match item.ok().as_ref().and_then(list_item) {
                Some(item) if page.items.len() < MAX_ITEMS => page.items.push(item),
                _ => page.unreadable += 1,
            }
        })
    }
}

fn list_item(element: &Value) -> Option<Listed> {
    Some(Listed {
        uuid: DocumentUuid::parse(&text(element, "uuid").or_else(|| identifier(element))?)?,
        created_at: text(element, "createdAt").filter(|printed| is_short(printed)).unwrap_or_default(),
        kind: text(element, "type").map(|kind| shown(&kind)),
        pdf: element.get("pdf").and_then(identifier).map(version),
        is_draft: element.get("pdf").is_some_and(Value::is_null),
        patient: element.get("patient").and_then(identifier).filter(|patient| is_short(patient)),
    })
}

/// Whether the text can be an identifier or a moment. These are stored and compared unchanged.
fn is_short(text: &str) -> bool {
    text.len() <= MAX_PRINTED && !text.chars().any(char::is_control)
}

/// Stands for a version of a PDF: its identifier, or a digest if it cannot be an identifier. It is only compared.
fn version(identifier: String) -> String {
    if is_short(&identifier) { without_case(&identifier).into_owned() } else { hex(&Sha256::digest(identifier)) }
}

/// Makes a text of the server safe to show: of bounded length, and without characters that a terminal obeys.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !is_control(*c)).take(MAX_PRINTED).collect()
}

/// Control characters, and characters that change the direction of text or are invisible (Unicode, Bidi_Control and
/// others).
fn is_control(c: char) -> bool {
    let is_hidden = |c| matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}');
    c.is_control() || is_hidden(c) || matches!(c, '\u{2060}'..='\u{206f}')
}

fn text(object: &Value, field: &str) -> Option<String> {
    object.get(field).and_then(Value::as_str).map(str::to_owned)
}

/// The identifier in an object (`uuid`, else the last part of `@id`), a plain string, or an IRI.
fn identifier(value: &Value) -> Option<String> {
    let whole = match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => text(value, "uuid").or_else(|| text(value, "@id")),
        _ => None,
    }?;
    let last = whole.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    (!last.is_empty()).then(|| last.to_owned())
}

/// Whether a record is the requested one, by its `uuid` or `@id`. A record with neither is not: filing one patient's
/// letter as another's would be the worst mistake.
pub fn is_about(record: &Record, asked: &str) -> bool {
    let mut named = ["uuid", "@id"].into_iter().filter_map(|field| identifier(record.get(field)?));
    named.any(|named| without_case(&named) == without_case(asked))
}

/// A document's PDF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdf {
    /// `pdf.uuid`, or empty. Identifies the version.
    pub uuid: String,
    /// `pdf.size` in bytes, if it is given and plausible.
    pub size: Option<u64>,
    /// `pdf.url`: absolute or relative to the API.
    pub url: Option<String>,
}

impl Pdf {
    /// Scheme, host and port of the address; empty where it is relative to the API.
    pub fn origin(&self) -> String {
        let address = self.url.as_deref().and_then(|address| url::Url::parse(address).ok());
        address.map(|address| address.origin().ascii_serialization()).unwrap_or_default()
    }
}

/// A document from `GET /documents/{uuid}`. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct Detail {
    /// All fields.
    pub document: Record,
    /// `None`: the PDF is not rendered yet.
    pub pdf: Option<Pdf>,
    /// The patient; only `{"uuid": …}` if the API shows an identifier; empty if there is none.
    pub patient: Record,
    /// The user, in the same forms as the patient.
    pub user: Record,
}

impl Detail {
    /// Whether the record is of this document.
    pub fn is_of(&self, uuid: &DocumentUuid) -> bool {
        is_about(&self.document, uuid.as_str())
    }

    /// Whether the document's patient differs from `patient`, the identifier in another answer about the document. An
    /// answer without a patient contradicts none.
    pub fn is_of_another_patient(&self, patient: Option<&str>) -> bool {
        let named = ["uuid", "@id"].into_iter().filter_map(|field| identifier(self.patient.get(field)?));
        let named: Vec<String> = named.collect();
        patient.is_some_and(|patient| {
            !is_about(&self.patient, patient) && named.iter().any(|named| contradict(named, patient))
        })
    }

    /// Reads a document, in whichever form its relations are.
    ///
    /// # Errors
    /// [`ApiError::NotJson`] or [`ApiError::Shape`] if it is no object; [`ApiError::TooMuch`] if it has too many
    /// values.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        let Value::Object(mut document) = json::parse(body)? else {
            return Err(ApiError::Shape("a document was expected".to_owned()));
        };
        if let Some(Value::String(kind)) = document.get_mut("type") {
            *kind = shown(kind);
        }
        let pdf = document.get("pdf").filter(|pdf| !pdf.is_null()).map(|pdf| Pdf {
            uuid: identifier(pdf).map(version).unwrap_or_default(),
            size: pdf.get("size").and_then(size),
            url: text(pdf, "url").filter(|url| !url.is_empty()),
        });
        let (patient, user) = (related(document.get("patient")), related(document.get("user")));
        Ok(Self { document, pdf, patient, user })
    }
}

/// The API's answer to a report that it accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportAnswer {
    /// The identifier of the document's current PDF; `None` if the answer shows none.
    pub pdf: Option<String>,
    /// The patient, in the forms of [`Detail::patient`].
    pub patient: Record,
}

impl From<Listed> for ReportAnswer {
    /// The list of synchronized documents shows that a report was accepted.
    fn from(listed: Listed) -> Self {
        Self { pdf: listed.pdf, patient: related(listed.patient.map(Value::String).as_ref()) }
    }
}

impl ReportAnswer {
    /// Reads the body of a success. It is the document (API, "Document"), or empty. Any other body comes from something
    /// in front of the API (a captive portal, a maintenance page), so the API did not get the report. It is repeated,
    /// which does no harm.
    ///
    /// # Errors
    /// [`ApiError::NotJson`] or [`ApiError::Shape`] if the body is neither.
    pub fn read(uuid: &DocumentUuid, body: &[u8]) -> Result<Self, ApiError> {
        if json::without_bom(body).trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        let answer = json::fields(body, &["uuid", "@id", "pdf", "patient"])?;
        let shown = answer.as_object().and_then(|_| identifier(&answer));
        if !shown.is_some_and(|shown| shown.eq_ignore_ascii_case(uuid.as_str())) {
            return Err(ApiError::Shape("the reported document was expected, and it is something else".to_owned()));
        }
        Ok(Self { pdf: answer.get("pdf").and_then(identifier).map(version), patient: related(answer.get("patient")) })
    }
}

/// A PDF cannot have the size zero, so zero counts as not given.
fn size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|size| *size > 0)
}

/// Whether an object only identifies a resource, as JSON-LD writes references (JSON-LD 1.1, section 3.3).
fn is_reference(record: &Record) -> bool {
    record.keys().all(|key| ["uuid", "@id", "@type", "@context"].contains(&key.as_str()))
}

/// The record of a related resource, or only its identifier.
fn related(value: Option<&Value>) -> Record {
    match value {
        Some(Value::Object(record)) if !is_reference(record) => record.clone(),
        Some(other) => {
            identifier(other).map(|id| Record::from_iter([("uuid".to_owned(), Value::String(id))])).unwrap_or_default()
        }
        None => Record::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn identifiers_are_read_from_strings_iris_and_objects() {
        let shapes = [json!("p-1"), json!("/pdfs/p-1"), json!({"uuid": "p-1"}), json!({"@id": "/pdfs/p-1/"})];
        for shape in shapes {
            assert_eq!(identifier(&shape).as_deref(), Some("p-1"), "{shape}");
        }
        for nothing in [json!(null), json!(7), json!(""), json!({"name": "x"}), json!(["p-1"])] {
            assert_eq!(identifier(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_list_is_an_array_or_a_collection_and_bad_elements_do_not_spoil_it() {
        let elements = json!([{"uuid": "d-1", "createdAt": "2026", "type": "of the future", "pdf": {"uuid": "p"}, "x": [1]},
                              {"createdAt": "2026"}, 7, {"uuid": "../d"}]);
        let read = |value: &Value| Page::read(value.to_string().as_bytes());
        let page = read(&elements).unwrap();
        assert_eq!((page.items.len(), page.unreadable, page.len()), (1, 3, 4));
        let first = page.items.first().unwrap();
        assert_eq!((first.created_at.as_str(), first.kind.as_deref()), ("2026", Some("of the future")));
        for around in ["member", "hydra:member"] {
            assert_eq!(read(&json!({"x": [1], around: elements})).unwrap(), page);
        }
        let named = |patient: Value| {
            let page = read(&json!([{"uuid": "d", "patient": patient}])).unwrap();
            page.items.into_iter().next().unwrap().patient
        };
        for patient in [json!("p-1"), json!("/patients/p-1"), json!({"uuid": "p-1", "lastName": "x"})] {
            assert_eq!(named(patient.clone()).as_deref(), Some("p-1"), "{patient}");
        }
        assert_eq!(named(json!(null)), None);
        for other in [json!({"error": 1}), json!({"member": 7}), json!({"member": {"member": []}}), json!(null)] {
            assert_eq!(read(&other), Err(ApiError::Shape("a list was expected".to_owned())), "{other}");
        }
    }

    /// PHP's `json_encode` of an array with gaps, and of an empty one.
    #[test]
    fn a_list_as_php_writes_it_is_a_list() {
        for (written, found, is_numbered) in [
            (json!({"0": {"uuid": "a"}, "2": {"uuid": "b"}, "10": 7}), &["a", "b"][..], true),
            (json!({}), &[], true),
            (json!({"member": {"0": {"uuid": "a"}}, "x": 1}), &["a"], true),
            (json!({"hydra:member": {}}), &[], true),
            (json!([{"uuid": "a"}]), &["a"], false),
            (json!([]), &[], false),
        ] {
            let list = Page::read_list(written.to_string().as_bytes()).unwrap();
            let uuids: Vec<_> = list.read.items.iter().map(|item| item.uuid.as_str()).collect();
            assert_eq!((uuids.as_slice(), list.is_numbered), (found, is_numbered), "{written}");
        }
        for other in [json!({"0": {"uuid": "a"}, "error": 1}), json!({"error": 1, "0": {"uuid": "a"}}), json!({"": []})]
        {
            assert!(Page::read(other.to_string().as_bytes()).is_err(), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_read_in_an_element_costs_only_that_element() {
        let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
        let body = format!(
            r#"[{{"uuid": "a"}}, {{"uuid": 1e400}}, {{"uuid": "b", "x": 1e400}}, {{"uuid": "c", "pdf": 1e400}},
                {{"uuid": "d", "x": {deep}}}, {{"uuid": {deep}}}, {deep}, {{"uuid": "e", "type": "\ud800"}}]"#
        );
        let page = Page::read(body.as_bytes()).unwrap();
        let found: Vec<_> = page.items.iter().map(|item| item.uuid.as_str()).collect();
        assert_eq!((found.as_slice(), page.unreadable), (&["a", "b", "c", "d", "e"][..], 3));
    }

    #[test]
    fn what_is_kept_of_a_server_is_short_and_obeyed_by_no_terminal() {
        let kind = format!("\u{1b}[31mlab\u{202e}\n{}", "x".repeat(3_000_000));
        let item = json!({"uuid": "d", "type": kind, "createdAt": "9".repeat(5000), "pdf": "p".repeat(5000)});
        let page = Page::read(json!([item]).to_string().as_bytes()).unwrap();
        let first = page.items.first().unwrap();
        let shown = first.kind.clone().unwrap();
        assert!(shown.starts_with("[31mlabxx") && shown.len() == MAX_PRINTED, "{shown}");
        assert_eq!((first.created_at.as_str(), first.pdf.as_deref().map(str::len)), ("", Some(64)));
        let detail = Detail::read(item.to_string().as_bytes()).ok().unwrap();
        assert_eq!(detail.document.get("type"), Some(&json!(shown)));
        assert_eq!(detail.pdf.unwrap().uuid, first.pdf.clone().unwrap(), "the same version");
    }

    #[test]
    fn a_report_is_accepted_by_the_document_itself_or_by_silence() {
        let uuid = DocumentUuid::parse("0c1f-Ab").unwrap();
        let accepted = |body: &str| ReportAnswer::read(&uuid, body.as_bytes());
        for (body, pdf) in [
            ("", None),
            (" \r\n", None),
            (r#"{"uuid": "0C1F-aB"}"#, None),
            (r#"{"@id": "/documents/0c1f-ab", "pdf": null}"#, None),
            (r#"{"uuid": "0c1f-ab", "pdf": {"uuid": "p-1"}}"#, Some("p-1")),
            (r#"{"uuid": "0c1f-ab", "pdf": "/pdfs/p-1"}"#, Some("p-1")),
        ] {
            assert_eq!(accepted(body).unwrap().pdf.as_deref(), pdf, "{body}");
        }
        for (body, patient) in [
            (r#"{"uuid": "0c1f-ab", "patient": "/patients/q-1"}"#, json!({"uuid": "q-1"})),
            (
                r#"{"uuid": "0c1f-ab", "patient": {"uuid": "q-1", "lastName": "Roy"}}"#,
                json!({"uuid": "q-1", "lastName": "Roy"}),
            ),
            (r#"{"uuid": "0c1f-ab", "patient": null}"#, json!({})),
            ("", json!({})),
        ] {
            assert_eq!(Value::Object(accepted(body).unwrap().patient), patient, "{body}");
        }
        for other in [
            "OK",
            "<html>",
            "null",
            "[]",
            "\"0c1f-ab\"",
            r#"[{"uuid": "0c1f-ab"}]"#,
            r#"{"status": "maintenance"}"#,
            r#"{"uuid": "another"}"#,
            r#"{"uuid": 7, "@type": "Document"}"#,
        ] {
            let Err(error) = accepted(other) else { panic!("{other}") };
            assert_eq!(error.meaning(), crate::api::Meaning::Transient, "{other}");
        }
    }

    #[test]
    fn a_record_is_about_what_it_names_itself() {
        let id = "0c1f4a52-00aa-7000-8000-00000000000b";
        let about = |record: Value, asked: &str| is_about(record.as_object().unwrap(), asked);
        for same in [json!({"uuid": id}), json!({"uuid": id.to_uppercase()}), json!({"@id": format!("/patients/{id}")})]
        {
            assert!(about(same.clone(), id), "{same}");
        }
        assert!(about(json!({"uuid": id, "@id": "/patients/17"}), "17"), "asked for by the letter's own reference");
        for other in
            [json!({"uuid": "0c1f"}), json!({}), json!({"lastName": id}), json!({"uuid": null}), json!({"uuid": 7})]
        {
            assert!(!about(other.clone(), id), "{other}");
        }
        assert!(!about(json!({"uuid": "aB"}), "Ab"), "only a UUID has no case");
    }

    #[test]
    fn two_answers_that_name_two_patients_contradict_each_other_and_others_do_not() {
        let [one, other] = ["0c1f4a52-00aa-7000-8000-00000000000b", "0c1f4a52-00aa-7000-8000-00000000000c"];
        let contradicts = |patient: Value, listed: Option<&str>| {
            let detail = Detail::read(json!({"uuid": "d", "patient": patient}).to_string().as_bytes()).ok().unwrap();
            detail.is_of_another_patient(listed)
        };
        for shown in [
            json!({"uuid": one, "lastName": "x"}),
            json!({"@id": format!("/patients/{one}"), "lastName": "x"}),
            json!({"@id": format!("/patients/{one}")}),
            json!(one),
            json!(format!("/patients/{one}")),
        ] {
            assert!(contradicts(shown.clone(), Some(other)), "{shown}");
            for same in [Some(one), Some(one.to_uppercase().as_str()), None, Some("17")] {
                assert!(!contradicts(shown.clone(), same), "{shown} {same:?}");
            }
        }
        assert!(contradicts(json!("18"), Some("17")) && !contradicts(json!("17"), Some("17")));
        assert!(!contradicts(json!({"uuid": one, "@id": "/patients/17", "lastName": "x"}), Some("17")));
        for nobody in [json!(null), json!({}), json!({"lastName": "x"}), json!(7)] {
            assert!(!contradicts(nobody.clone(), Some(one)), "{nobody}");
        }
    }

    #[test]
    fn a_document_is_read_whatever_stands_for_its_relations() {
        let whole = json!({"pdf": {"uuid": "p", "size": "12", "url": "/f"}, "patient": {"uuid": "x", "firstName": "A"},
                           "user": "/users/u-1"});
        let read = |value: Value| Detail::read(value.to_string().as_bytes());
        let detail = read(whole).ok().unwrap();
        assert_eq!(detail.pdf, Some(Pdf { uuid: "p".into(), size: Some(12), url: Some("/f".into()) }));
        assert_eq!(detail.patient.get("firstName"), Some(&json!("A")));
        assert_eq!(detail.user.get("uuid"), Some(&json!("u-1")));
        let reference = json!({"patient": {"@id": "/patients/p-1", "@type": "Patient"},
                               "user": {"@id": "/users/u-1", "uuid": "u-1", "@context": "/c"}});
        let detail = read(reference).ok().unwrap();
        for (record, uuid) in [(&detail.patient, "p-1"), (&detail.user, "u-1")] {
            assert_eq!((record.len(), record.get("uuid")), (1, Some(&json!(uuid))), "to be looked up");
        }
        let bare = read(json!({"pdf": null, "patient": null})).ok().unwrap();
        assert!(bare.pdf.is_none() && bare.patient.is_empty() && bare.user.is_empty());
        let odd = read(json!({"pdf": {"size": -1, "url": ""}})).ok().unwrap();
        assert_eq!(odd.pdf, Some(Pdf { uuid: String::new(), size: None, url: None }));
        assert!(read(json!([])).is_err());
    }
}
