//! A small FHIR R4 server (<https://hl7.org/fhir/R4/http.html>): patients are found by their identifier, letters are
//! created, on a condition or not, searched for and read. It can be made to do what real servers do wrong.

use serde_json::{Value, json};

use crate::peer::Received;

/// The system of identifiers that are addresses.
const URI_SYSTEM: &str = "urn:ietf:rfc:3986";

#[derive(Debug)]
pub struct Fhir {
    pub patients: Vec<Value>,
    /// What was created, by its number.
    pub letters: Vec<Value>,
    /// `fhirVersion` of its statement.
    pub version: &'static str,
    /// Whether `If-None-Exist` means nothing.
    pub ignores_condition: bool,
    /// Whether a search shows everything, whatever is asked for.
    pub filters_nothing: bool,
    /// What a search for letters is refused with.
    pub hides: Option<u16>,
    /// What a read of a letter is refused with.
    pub hides_reads: Option<u16>,
    /// Whether letters are kept without their identifiers.
    pub drops_identifiers: bool,
    /// Whether a search shows a part of what it found.
    pub pages: bool,
    /// So many more searches and reads show nothing of what was created: an index that lags behind.
    pub lags: usize,
    /// Whether what is read of a letter has another hash.
    pub shows_other_hash: bool,
    /// Whether the PDF is moved out, and only its address is shown.
    pub moves_out: bool,
    /// Where the address of what was moved out points.
    pub moved_to: String,
    /// Whether the hash and the size are left away.
    pub forgets_hash: bool,
    /// What is shown of a PDF that was moved out is another one.
    pub gives_other_content: bool,
    /// Whether `relatesTo` is not processed, which is told as a warning.
    pub replaces_nothing: bool,
    /// What is answered to a creation, instead of what was created.
    pub answers: Option<Value>,
    pub location: bool,
    /// What every search is answered with, instead of a bundle.
    pub says_instead: Option<Value>,
}

impl Default for Fhir {
    fn default() -> Self {
        Self {
            patients: Vec::new(),
            letters: Vec::new(),
            version: "4.0.1",
            ignores_condition: false,
            filters_nothing: false,
            hides: None,
            hides_reads: None,
            drops_identifiers: false,
            pages: false,
            lags: 0,
            shows_other_hash: false,
            moves_out: false,
            moved_to: String::new(),
            forgets_hash: false,
            gives_other_content: false,
            replaces_nothing: false,
            answers: None,
            location: false,
            says_instead: None,
        }
    }
}

impl Fhir {
    /// A patient with this identifier.
    #[must_use]
    pub fn patient(mut self, id: &str, identifier: &str) -> Self {
        self.patients.push(
            json!({"resourceType": "Patient", "id": id, "identifier": [{"system": "urn:pms", "value": identifier}]}),
        );
        self
    }

    /// The PDFs that it keeps, by the ids of their letters.
    pub fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let content = |(at, letter): (usize, &Value)| {
            let data = letter["content"][0]["attachment"]["data"].as_str().expect("the PDF is in it");
            (id(at), decoded(data))
        };
        self.letters.iter().enumerate().map(content).collect()
    }

    /// The status, the body and the address of what was created.
    pub(crate) fn answer(&mut self, request: &Received) -> (u16, Vec<u8>, Option<String>) {
        let url = url::Url::parse(&format!("http://localhost{}", request.path)).expect("a path");
        let path = url.path().strip_prefix("/fhir/").unwrap_or_default().to_owned();
        let parts: Vec<&str> = path.split('/').collect();
        let (status, body, place) = match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["metadata"]) => (200, self.statement(), None),
            ("GET", ["Patient" | "DocumentReference"]) if self.says_instead.is_some() => {
                (200, self.says_instead.clone().unwrap_or_default(), None)
            }
            ("GET", ["Patient"]) => (200, self.bundle(self.patients_of(&url)), None),
            ("GET", ["DocumentReference"]) => match self.hides {
                Some(status) => (status, outcome("forbidden"), None),
                None => {
                    let found = self.letters_of(&url);
                    (200, self.bundle(found), None)
                }
            },
            ("GET", ["DocumentReference", id]) => match (self.hides.or(self.hides_reads), self.letter(id)) {
                (Some(status), _) => (status, outcome("forbidden"), None),
                (None, Some(letter)) => (200, letter, None),
                (None, None) => (404, outcome("not-found"), None),
            },
            ("GET", ["Binary", id]) => match self.binary(id) {
                Some(content) => return (200, content, None),
                None => (404, outcome("not-found"), None),
            },
            ("POST", ["DocumentReference"]) => self.create(request),
            _ => (404, outcome("not-found"), None),
        };
        (status, body.to_string().into_bytes(), place)
    }

    fn bundle(&self, resources: Vec<Value>) -> Value {
        let entry = |resource| json!({"resource": resource, "search": {"mode": "match"}});
        let total = resources.len() + usize::from(self.pages);
        json!({"resourceType": "Bundle", "type": "searchset", "total": total,
            "entry": resources.into_iter().map(entry).collect::<Vec<_>>()})
    }

    fn statement(&self) -> Value {
        json!({"resourceType": "CapabilityStatement", "fhirVersion": self.version, "rest": [{"mode": "server", "resource": [
            {"type": "DocumentReference", "conditionalCreate": !self.ignores_condition}, {"type": "Patient"}]}]})
    }

    fn patients_of(&self, url: &url::Url) -> Vec<Value> {
        let wanted = parameter(url, "identifier");
        let is_it = |patient: &&Value| {
            let identifier = &patient["identifier"][0];
            let token = |name: &str| identifier[name].as_str().expect("a text").to_owned();
            self.filters_nothing || wanted == format!("{}|{}", token("system"), token("value"))
        };
        self.patients.iter().filter(is_it).cloned().collect()
    }

    fn letters_of(&mut self, url: &url::Url) -> Vec<Value> {
        if let Some(left) = self.lags.checked_sub(1) {
            self.lags = left;
            return Vec::new();
        }
        let wanted = parameter(url, "identifier");
        let found = (0..self.letters.len()).filter(|at| self.filters_nothing || has(&self.letters[*at], &wanted));
        found.filter_map(|at| self.shown(at, false)).collect()
    }

    fn letter(&mut self, id: &str) -> Option<Value> {
        if let Some(left) = self.lags.checked_sub(1) {
            self.lags = left;
            return None;
        }
        self.shown(number(id)?, self.shows_other_hash)
    }

    fn shown(&self, at: usize, other_hash: bool) -> Option<Value> {
        let mut letter = self.letters.get(at)?.clone();
        letter["id"] = id(at).into();
        if self.drops_identifiers {
            letter.as_object_mut()?.retain(|name, _| name != "identifier" && name != "masterIdentifier");
        }
        let attachment = letter["content"][0]["attachment"].as_object_mut()?;
        if self.moves_out {
            attachment.remove("data");
            attachment.insert("url".to_owned(), format!("{}Binary/{}", self.moved_to, id(at)).into());
        }
        if self.forgets_hash {
            attachment.retain(|name, _| name != "hash" && name != "size");
        }
        if other_hash {
            attachment.insert("hash".to_owned(), "AAAAAAAAAAAAAAAAAAAAAAAAAAA=".into());
        }
        Some(letter)
    }

    fn binary(&self, id: &str) -> Option<Vec<u8>> {
        let letter = self.letters.get(number(id)?)?;
        let data = letter["content"][0]["attachment"]["data"].as_str()?;
        // A double: the tests know what they sent.
        Some(if self.gives_other_content { b"%PDF-1.7 other".to_vec() } else { decoded(data) })
    }

    fn create(&mut self, request: &Received) -> (u16, Value, Option<String>) {
        let Ok(letter) = serde_json::from_slice::<Value>(&request.body) else {
            return (400, outcome("structure"), None);
        };
        if let Some(condition) = request.header("if-none-exist").filter(|_| !self.ignores_condition) {
            let wanted = condition.strip_prefix("identifier=").unwrap_or_default();
            let found: Vec<usize> = (0..self.letters.len()).filter(|at| has(&self.letters[*at], wanted)).collect();
            match found.as_slice() {
                [] => {}
                [one] => return (200, self.shown(*one, false).unwrap_or_default(), None),
                _ => return (412, outcome("multiple-matches"), None),
            }
        }
        let replaces = letter.get("relatesTo").is_some();
        self.letters.push(letter);
        let at = self.letters.len() - 1;
        let place = self.location.then(|| format!("http://localhost/fhir/DocumentReference/{}/_history/1", id(at)));
        let body = match &self.answers {
            Some(body) => body.clone(),
            None if replaces && self.replaces_nothing => {
                json!({"resourceType": "OperationOutcome", "issue": [{"severity": "warning",
                "code": "not-supported", "details": {"coding": [{"code": "PartialReplaceContentNotProcessed"}]}}]})
            }
            None => self.shown(at, false).unwrap_or_default(),
        };
        (201, body, place)
    }
}

fn id(at: usize) -> String {
    format!("letter-{at}")
}

fn number(id: &str) -> Option<usize> {
    id.strip_prefix("letter-")?.parse().ok()
}

fn has(letter: &Value, wanted: &str) -> bool {
    let Some((URI_SYSTEM, value)) = wanted.split_once('|') else { return false };
    letter["masterIdentifier"]["value"] == value
}

fn parameter(url: &url::Url, name: &str) -> String {
    url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn outcome(code: &str) -> Value {
    json!({"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": code, "diagnostics": "Canaryworth is refused"}]})
}

fn decoded(data: &str) -> Vec<u8> {
    base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).expect("base64")
}
