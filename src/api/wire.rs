//! The API's records as they come over the wire, read with tolerance: unknown fields and values are passed on, and an
//! object is accepted where an identifier is shown, and the reverse (API, "Resources and their fields").

use serde_json::Value;

use super::ApiError;
use crate::document::{DocumentUuid, Record};

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// `uuid`
    pub uuid: DocumentUuid,
    /// `createdAt` exactly as printed; empty when it is missing.
    pub created_at: String,
    /// `type`
    pub kind: Option<String>,
    /// The identifier of the PDF; `None` when it is null or not shown.
    pub pdf: Option<String>,
}

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// What could be read.
    pub items: Vec<ListItem>,
    /// Elements without a usable identifier.
    pub unreadable: usize,
}

impl Page {
    /// All elements, readable or not.
    pub fn len(&self) -> usize {
        self.items.len() + self.unreadable
    }

    /// Whether the server showed nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a JSON array, or the collection object that JSON-LD and Hydra put around one.
    ///
    /// # Errors
    /// [`ApiError::Shape`]: it is no list.
    pub fn read(body: &Value) -> Result<Self, ApiError> {
        let elements = body
            .as_array()
            .or_else(|| ["member", "hydra:member"].iter().find_map(|key| body.get(key)?.as_array()))
            .ok_or_else(|| ApiError::Shape("a list was expected".to_owned()))?;
        let mut page = Page::default();
        for element in elements {
            match list_item(element) {
                Some(item) => page.items.push(item),
                None => page.unreadable += 1,
            }
        }
        Ok(page)
    }
}

fn list_item(element: &Value) -> Option<ListItem> {
    Some(ListItem {
        uuid: DocumentUuid::parse(&text(element, "uuid").or_else(|| identifier(element))?)?,
        created_at: text(element, "createdAt").unwrap_or_default(),
        kind: text(element, "type"),
        pdf: element.get("pdf").and_then(identifier),
    })
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

/// Where a document's PDF is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdf {
    /// `pdf.uuid`, or empty: the identity of the version.
    pub uuid: String,
    /// `pdf.size` in bytes, when it is given and possible.
    pub size: Option<u64>,
    /// `pdf.url`: absolute or relative to the API.
    pub url: Option<String>,
}

/// A document as the single read gives it. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct Detail {
    /// All fields.
    pub document: Record,
    /// `None`: the PDF is not rendered yet.
    pub pdf: Option<Pdf>,
    /// The patient; only `{"uuid": …}` when the API shows an identifier; empty when there is none.
    pub patient: Record,
    /// The user; as for the patient.
    pub user: Record,
}

impl Detail {
    /// Reads a document, whatever stands for its relations.
    ///
    /// # Errors
    /// [`ApiError::Shape`]: it is no object.
    pub fn read(body: Value) -> Result<Self, ApiError> {
        let Value::Object(document) = body else {
            return Err(ApiError::Shape("a document was expected".to_owned()));
        };
        let pdf = document.get("pdf").filter(|pdf| !pdf.is_null()).map(|pdf| Pdf {
            uuid: identifier(pdf).unwrap_or_default(),
            size: pdf.get("size").and_then(size),
            url: text(pdf, "url").filter(|url| !url.is_empty()),
        });
        let (patient, user) = (related(document.get("patient")), related(document.get("user")));
        Ok(Self { document, pdf, patient, user })
    }
}

/// Zero is no size a PDF can have, so it is taken as not given.
fn size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|size| *size > 0)
}

/// Whether an object says nothing of a resource but which one it is, as JSON-LD writes it (JSON-LD 1.1, section 3.3).
fn is_reference(record: &Record) -> bool {
    record.keys().all(|key| ["uuid", "@id", "@type", "@context"].contains(&key.as_str()))
}

/// The record of a related resource, or what can be known of it from its identifier.
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
        let page = Page::read(&elements).unwrap();
        assert_eq!((page.items.len(), page.unreadable, page.len()), (1, 3, 4));
        let first = page.items.first().unwrap();
        assert_eq!((first.created_at.as_str(), first.kind.as_deref()), ("2026", Some("of the future")));
        for around in ["member", "hydra:member"] {
            assert_eq!(Page::read(&json!({around: elements})).unwrap(), page);
        }
        assert!(matches!(Page::read(&json!({"error": 1})), Err(ApiError::Shape(_))));
    }

    #[test]
    fn a_document_is_read_whatever_stands_for_its_relations() {
        let whole = json!({"pdf": {"uuid": "p", "size": "12", "url": "/f"}, "patient": {"uuid": "x", "firstName": "A"},
                           "user": "/users/u-1"});
        let detail = Detail::read(whole).ok().unwrap();
        assert_eq!(detail.pdf, Some(Pdf { uuid: "p".into(), size: Some(12), url: Some("/f".into()) }));
        assert_eq!(detail.patient.get("firstName"), Some(&json!("A")));
        assert_eq!(detail.user.get("uuid"), Some(&json!("u-1")));
        let reference = json!({"patient": {"@id": "/patients/p-1", "@type": "Patient"},
                               "user": {"@id": "/users/u-1", "uuid": "u-1", "@context": "/c"}});
        let detail = Detail::read(reference).ok().unwrap();
        for (record, uuid) in [(&detail.patient, "p-1"), (&detail.user, "u-1")] {
            assert_eq!((record.len(), record.get("uuid")), (1, Some(&json!(uuid))), "to be looked up");
        }
        let bare = Detail::read(json!({"pdf": null, "patient": null})).ok().unwrap();
        assert!(bare.pdf.is_none() && bare.patient.is_empty() && bare.user.is_empty());
        let odd = Detail::read(json!({"pdf": {"size": -1, "url": ""}})).ok().unwrap();
        assert_eq!(odd.pdf, Some(Pdf { uuid: String::new(), size: None, url: None }));
        assert!(Detail::read(json!([])).is_err());
    }
}
