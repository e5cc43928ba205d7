//! `type = "fhir"`: files the PDF in a FHIR R4 server, as a `DocumentReference` with the PDF in it (IHE ITI-105).
//!
//! The resource is known by the delivery's key (`masterIdentifier`), and created on the condition that none has it
//! (`If-None-Exist`). Some servers ignore that, and every conditional create races with itself: so whatever may have arrived is
//! searched for before it is sent again, and not before the server has had its time. What was created is read back, and compared
//! by its hash: only then it counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use ring::digest;
use serde_json::Value;
use url::Url;

use super::remote::Source;
use super::web_client::{Fault, Request, Upload, WebClient, outcome_of_status};
use super::{Adapter, Checked, Holds, Item, Kept, Others, Outcome, Planned, Unproved, spooled};
use crate::clock;
use crate::config::{FhirConfig, FhirPatient, LostReply};
use crate::document::{DocumentUuid, Metadata, Spooled};
use crate::failure::Code;
use crate::patients::Unmatched;
use crate::proof::{Filed, Proof, Sight};
use crate::template::Context;

mod answer;
mod resource;
#[cfg(test)]
mod tests;

use answer::{Shown, contradicts, id_of, matches, partial_replace};
use resource::{Content, Replaces, Subject, URI_SYSTEM, identifier};

/// Media type of FHIR resources (FHIR R4, "RESTful API", 3.1.0.1.9).
const FHIR_JSON: HeaderValue = HeaderValue::from_static("application/fhir+json");
/// FHIR R4, "Conditional create".
const IF_NONE_EXIST: HeaderName = HeaderName::from_static("if-none-exist");
/// A patient of this identifier is asked for by `check`.
const NOBODY: &str = "docsyncd-check";

/// A FHIR server.
pub struct FhirAdapter {
    config: FhirConfig,
    client: WebClient,
    /// Whether it was seen to let nobody read or search what it keeps.
    hides: AtomicBool,
}

/// What the server has under the letter's identifier.
enum Found {
    /// The letter: the resource's id.
    Ours(String),
    /// A resource with another content.
    Other,
    /// None.
    Nothing,
    /// Nobody may look.
    Hidden,
    /// It cannot be seen at the moment.
    Unseen(Outcome),
}

impl FhirAdapter {
    /// Opens nothing.
    pub fn new(config: FhirConfig) -> Self {
        let client = WebClient::new(config.connection.clone());
        Self { config, client, hides: AtomicBool::new(false) }
    }

    /// What is wrong with the files that the configuration names.
    pub(super) fn unusable(&self) -> Option<String> {
        self.client.configured().err().map(|wrong| self.client.named(&wrong))
    }

    fn name(&self) -> &str {
        &self.config.connection.name
    }

    /// An address below `base_url`; `query` is encoded.
    fn at(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.config.base.clone();
        let path = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Asks for JSON. `Ok(Err(status))`: it answers otherwise than with 200.
    async fn get(&self, url: Url) -> Result<Result<Value, (u16, Option<Duration>)>, Outcome> {
        let mut request = Request::new(Method::GET, url);
        request.headers.insert(ACCEPT, FHIR_JSON);
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        if answer.status != 200 {
            return Ok(Err((answer.status, answer.retry_after)));
        }
        answer.json().await.map(Ok).map_err(|is_broken| {
            let (code, words) = match is_broken {
                true => ("broken_off", "the connection broke while it answered"),
                false => ("not_understood", "it does not answer with FHIR's JSON: check `base_url`"),
            };
            Outcome::transient(Code::word(code), self.client.named(words))
        })
    }

    fn of_status(&self, status: u16, retry_after: Option<Duration>) -> Outcome {
        outcome_of_status(self.name(), status, true, retry_after)
    }

    /// Looks for the letter by its identifier. `expected`: what its content is, where that is known.
    async fn look_for(&self, key: &str, pdf: &Spooled, expected: Option<&Content>) -> Found {
        let token = format!("{URI_SYSTEM}|{}", identifier(key));
        let bundle = match self.get(self.at("DocumentReference", &[("identifier", &token)])).await {
            Ok(Ok(bundle)) => bundle,
            Ok(Err((403 | 404 | 405 | 501, _))) => {
                self.hides.store(true, Ordering::Relaxed);
                return Found::Hidden;
            }
            Ok(Err((status, wait))) => return Found::Unseen(self.of_status(status, wait)),
            Err(outcome) => return Found::Unseen(outcome),
        };
        self.hides.store(false, Ordering::Relaxed);
        let Some(found) = matches(&bundle, "DocumentReference") else {
            let words = "it does not answer a search with a bundle: check `base_url`";
            return Found::Unseen(Outcome::transient(Code::word("not_understood"), self.client.named(words)));
        };
        // A server that ignores what it is asked for shows others.
        let is_ours = |shown: &&Value| answer::has_identifier(shown, &identifier(key));
        let ids: Vec<String> = found.into_iter().filter(is_ours).filter_map(id_of).collect();
        let mut found = Found::Nothing;
        for id in ids {
            match self.read(&id, key, pdf, expected).await {
                // One that was removed meanwhile, or is another's.
                Found::Nothing => {}
                Found::Other => found = Found::Other,
                ours_or_unknown => return ours_or_unknown,
            }
        }
        found
    }

    /// Whether the letter is what lies under this id.
    async fn read(&self, id: &str, key: &str, pdf: &Spooled, expected: Option<&Content>) -> Found {
        let shown = match self.get(self.at(&format!("DocumentReference/{id}"), &[])).await {
            Ok(Ok(shown)) => shown,
            Ok(Err((404 | 410, _))) => return Found::Nothing,
            Ok(Err((403 | 405 | 501, _))) => {
                self.hides.store(true, Ordering::Relaxed);
                return Found::Hidden;
            }
            Ok(Err((status, wait))) => return Found::Unseen(self.of_status(status, wait)),
            Err(outcome) => return Found::Unseen(outcome),
        };
        if !answer::has_identifier(&shown, &identifier(key)) {
            return Found::Nothing;
        }
        match self.is_letter(&shown, pdf, expected).await {
            Ok(true) => Found::Ours(id.to_owned()),
            Ok(false) => Found::Other,
            Err(outcome) => Found::Unseen(outcome),
        }
    }

    /// Whether a resource with the letter's identifier has its content: by hash and length, or, where the server moved the content out, by
    /// what lies there.
    async fn is_letter(&self, shown: &Value, pdf: &Spooled, expected: Option<&Content>) -> Result<bool, Outcome> {
        match contradicts(shown, pdf.size, expected) {
            Shown::Same => Ok(true),
            Shown::Other => Ok(false),
            // The identifier is the content's own: nothing contradicts it.
            Shown::Unsaid(None) => Ok(true),
            Shown::Unsaid(Some(url)) => self.lies_at(&url, pdf).await,
        }
    }

    /// Whether the PDF lies at the address that the server gives (`attachment.url`); one of another host is not asked.
    async fn lies_at(&self, url: &str, pdf: &Spooled) -> Result<bool, Outcome> {
        let base = self.at("", &[]);
        let Some(url) = base.join(url).ok().filter(|url| url.origin() == base.origin()) else { return Ok(true) };
        let mut request = Request::new(Method::GET, url);
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/pdf"));
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        if answer.status != 200 {
            return Err(self.of_status(answer.status, answer.retry_after));
        }
        let content = answer.content(pdf.size, 0).await;
        if content.is_broken {
            let words = "the connection broke while what it keeps was read back";
            return Err(Outcome::transient(Code::word("broken_off"), self.client.named(words)));
        }
        let is_same =
            |found: super::files::Digest| found.size == pdf.size && found.sha256.eq_ignore_ascii_case(&pdf.sha256);
        Ok(content.digest.is_some_and(is_same))
    }

    /// Who the patient is there.
    async fn subject(&self, metadata: &Metadata) -> Result<Subject, Outcome> {
        let not_filled_in = |option: &str, error: String| {
            let words = format!("`{option}` cannot be filled in for this document: {error}");
            Outcome::permanent("not_filled_in", self.client.named(&words))
        };
        let id = self.config.patient_id.render(&Context::new(metadata));
        let id = id.map_err(|error| not_filled_in("patient_id", error.to_string()))?.trim().to_owned();
        if id.is_empty() {
            let words = "the letter tells no number of its patient (`patient_id`): complete the patient's record, then run \
                         `docsyncd retry`";
            return Err(Outcome::Own { code: Code::word("patient_unknown"), reason: self.client.named(words) });
        }
        let FhirPatient::Search(template) = &self.config.patient else { return Ok(Subject::Contained(id)) };
        let context = Context::new(metadata).with_patient_id(&id);
        let query = template.render(&context).map_err(|error| not_filled_in("patient", error.to_string()))?;
        let by_id = template.source().contains("patient_id").then_some(id.as_str());
        match self.patients(&query, by_id).await?.as_slice() {
            [one] => Ok(Subject::Reference(format!("Patient/{one}"))),
            [] => Err(Outcome::NeedsPerson(Unmatched::NotThere)),
            _ => Err(Outcome::NeedsPerson(Unmatched::SeveralThere)),
        }
    }

    /// The ids of the patients that a search finds. A server may ignore what it is asked for (FHIR R4, "Handling Errors" of searches): only
    /// those count that have `by_id`.
    async fn patients(&self, query: &str, by_id: Option<&str>) -> Result<Vec<String>, Outcome> {
        let (path, query) = query.split_once('?').unwrap_or((query, ""));
        let mut url = self.at(path, &[]);
        // Some servers refuse the bar as it is (RFC 3986 has it in no query).
        url.set_query(Some(&query.replace('|', "%7C")));
        let bundle = match self.get(url).await? {
            Ok(bundle) => bundle,
            Err((status, wait)) => return Err(self.of_status(status, wait)),
        };
        let Some(found) = matches(&bundle, "Patient") else {
            let words = "it does not answer the search for the patient with a bundle: check `patient`";
            return Err(Outcome::transient(Code::word("not_understood"), self.client.named(words)));
        };
        let is_meant = |patient: &&Value| by_id.is_none_or(|id| answer::is_known_by(patient, id));
        Ok(found.into_iter().filter(is_meant).filter_map(id_of).collect())
    }

    /// Sends the letter, and reads it back.
    async fn send(&self, item: &Item, subject: &Subject, content: &Content) -> Outcome {
        let replaces = match &item.replaces {
            None => None,
            Some(before) => match self.before(before).await {
                Ok(replaces) => Some(replaces),
                Err(outcome) => return outcome,
            },
        };
        let title = match resource::title(&self.config, &item.metadata, &item.key) {
            Ok(title) => title,
            Err(error) => {
                let words = format!("`file_name` cannot be filled in for this document: {error}");
                return Outcome::permanent("not_filled_in", self.client.named(&words));
            }
        };
        let pieces =
            resource::pieces(&self.config, &item.key, &item.metadata, &title, content, subject, replaces.as_ref());
        let Some(pieces) = pieces else {
            return Outcome::permanent("not_filled_in", self.client.named("no letter can be made"));
        };
        let mut request = Request::new(Method::POST, self.at("DocumentReference", &[]));
        request.headers.insert(CONTENT_TYPE, FHIR_JSON);
        request.headers.insert(ACCEPT, FHIR_JSON);
        let condition = format!("identifier={URI_SYSTEM}|{}", identifier(&item.key));
        if let Ok(condition) = HeaderValue::from_str(&condition) {
            request.headers.insert(IF_NONE_EXIST, condition);
        }
        request.body = Some(Upload::of_pdf(pieces, &item.pdf));
        let patient = match subject {
            Subject::Reference(reference) => Some(Value::from(reference.as_str())),
            Subject::Contained(_) => None,
        };
        if let Err(outcome) = item.committing_to(patient.as_ref()).await {
            return outcome;
        }
        fault_point!("fhir.commit.before");
        let answered = self.client.send(request).await;
        fault_point!("fhir.commit.after");
        let answer = match answered {
            Ok(answer) => answer,
            Err(Fault::Lost(reason)) => return self.after(item, content, None, Code::word("no_answer"), reason).await,
            Err(fault) => return fault.outcome(),
        };
        let (status, retry_after) = (answer.status, answer.retry_after);
        match status {
            200 | 201 => {
                let told = answer.headers.get(LOCATION).and_then(|place| place.to_str().ok()).and_then(answer::id_in);
                let body = answer.json().await.unwrap_or_default();
                if partial_replace(&body) {
                    let (destination, document) = (self.name(), item.uuid.as_str());
                    tracing::error!(
                        event = "not_replaced",
                        destination,
                        document,
                        "the server filed this new version of a letter beside the one that it replaces: remove the old one there"
                    );
                }
                let id = answer::created(&body).or(told);
                let words = "it says that it took the letter, and does not show it";
                self.after(item, content, id, Code::Status(status), self.client.named(words)).await
            }
            // Several have the identifier, or it is kept already.
            409 | 412 => {
                let words = format!("it answers with status {status}: a conflict, and it does not show the letter");
                self.after(item, content, None, Code::Status(status), self.client.named(&words)).await
            }
            502 | 504 => {
                let words = format!("it answers with status {status}: what lies behind it took too long or broke off");
                self.after(item, content, None, Code::Status(status), self.client.named(&words)).await
            }
            202 => {
                let words = "it answers with status 202, which is no promise that it keeps the letter";
                self.after(item, content, None, Code::Status(status), self.client.named(words)).await
            }
            _ => self.of_status(status, retry_after),
        }
    }

    /// What became of a letter that the server may have: it is read back, by the id that it told or by its identifier.
    async fn after(&self, item: &Item, content: &Content, id: Option<String>, code: Code, reason: String) -> Outcome {
        // That several have the identifier (412) says that it was taken before.
        let said_yes = matches!(code, Code::Status(200 | 201 | 412));
        let read = match &id {
            Some(id) => self.read(id, &item.key, &item.pdf, Some(content)).await,
            None => Found::Nothing,
        };
        let found = match read {
            Found::Nothing => self.look_for(&item.key, &item.pdf, Some(content)).await,
            found => found,
        };
        match found {
            Found::Ours(id) => self.delivered(&id),
            Found::Other => self.other(),
            // Nobody may look: its word is all that there is.
            Found::Hidden if said_yes => self.accepted(&id.unwrap_or_default(), content),
            Found::Hidden | Found::Nothing | Found::Unseen(_) => self.lost(code, reason),
        }
    }

    fn lost(&self, code: Code, reason: String) -> Outcome {
        match self.config.on_lost_reply == LostReply::Hold && self.hides.load(Ordering::Relaxed) {
            true => Outcome::Held { code, reason },
            false => Outcome::Unconfirmed { code, reason },
        }
    }

    fn other(&self) -> Outcome {
        let words = "it keeps something else under the identifier of this letter: look there, and remove that";
        Outcome::permanent("other_content", self.client.named(words))
    }

    /// It was seen there with our content: that is what `confirm = "query"` asks for.
    fn delivered(&self, id: &str) -> Outcome {
        Outcome::Delivered { place: self.place(id), filed: None }
    }

    /// Its word is all that there is.
    fn accepted(&self, id: &str, content: &Content) -> Outcome {
        let filed = Filed { digest: Some(content.hash.clone()), ..Filed::default() };
        Outcome::Delivered { place: self.place(id), filed: self.config.confirm.is_some().then(|| Box::new(filed)) }
    }

    fn place(&self, id: &str) -> String {
        self.at(format!("DocumentReference/{id}").trim_end_matches('/'), &[]).to_string()
    }

    /// The version that this one replaces, as the server calls it.
    async fn before(&self, key: &str) -> Result<Replaces, Outcome> {
        let token = format!("{URI_SYSTEM}|{}", identifier(key));
        let bundle = match self.get(self.at("DocumentReference", &[("identifier", &token)])).await? {
            Ok(bundle) => bundle,
            Err(_) => return Ok(Replaces::Identifier(identifier(key))),
        };
        let found = matches(&bundle, "DocumentReference").unwrap_or_default();
        let is_before = |shown: &&Value| answer::has_identifier(shown, &identifier(key));
        let id = found.into_iter().find(is_before).and_then(id_of);
        Ok(id.map_or_else(
            || Replaces::Identifier(identifier(key)),
            |id| Replaces::Reference(format!("DocumentReference/{id}")),
        ))
    }

    /// How long a letter whose answer was lost still has to be waited for: the server may be storing it.
    async fn too_early(&self, item: &Item) -> Result<(), Outcome> {
        let Some(sent) = item.committed().await? else { return Ok(()) };
        let ago = Duration::from_millis(clock::now().abs_diff(sent.at));
        let left = self.config.resend_after.saturating_sub(ago);
        if left.is_zero() {
            return Ok(());
        }
        let words =
            "the answer to it was lost, and it is not seen there yet: it is looked for again before it is sent again";
        Err(Outcome::Waiting { wait: left, reason: self.client.named(words) })
    }

    async fn bring(&self, item: &Item) -> Result<Outcome, Outcome> {
        let content = content_of(&item.pdf).await?;
        // Also the first time: the ledger may be new, and not every server heeds the condition.
        match self.look_for(&item.key, &item.pdf, Some(&content)).await {
            Found::Ours(id) => return Ok(self.delivered(&id)),
            Found::Other => return Err(self.other()),
            Found::Hidden if item.uncertain && self.config.on_lost_reply == LostReply::Hold => {
                return Err(Outcome::cut_off("docsyncd ended before its answer came, and nobody may look there"));
            }
            Found::Nothing | Found::Hidden if item.uncertain => self.too_early(item).await?,
            Found::Nothing | Found::Hidden => {}
            Found::Unseen(outcome) => return Err(outcome),
        }
        let subject = self.subject(&item.metadata).await?;
        Ok(self.send(item, &subject, &content).await)
    }
}

/// What is sent, by what FHIR R4 compares it.
async fn content_of(pdf: &Spooled) -> Result<Content, Outcome> {
    const PIECE: usize = 64 * 1024;
    let mut source = Source::of_spool(pdf).await?;
    // FHIR R4, "Attachment": "The calculated hash of the data using SHA-1".
    let mut hash = digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
    while let Some(piece) = source.next(PIECE).await? {
        hash.update(&piece);
    }
    Ok(Content { hash: STANDARD.encode(hash.finish()), size: pdf.size })
}

#[async_trait]
impl Adapter for FhirAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(self.name(), item).await {
            return outcome;
        }
        self.bring(item).await.unwrap_or_else(|outcome| outcome)
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let mut checked = Checked::default();
        let asked = |outcome: Outcome| outcome.reason().to_owned();
        let statement = match self.get(self.at("metadata", &[])).await.map_err(asked)? {
            Ok(statement) => statement,
            Err((status, wait)) => return Err(self.of_status(status, wait).reason().to_owned()),
        };
        let version = statement.get("fhirVersion").and_then(Value::as_str).unwrap_or_default();
        if statement.get("resourceType").and_then(Value::as_str) != Some("CapabilityStatement") {
            return Err(self.client.named("its /metadata is no CapabilityStatement of FHIR: check `base_url`"));
        }
        if !version.starts_with("4.") {
            let words = "it does not say that it is a FHIR R4 server (`fhirVersion`), and letters are sent as R4";
            return Err(self.client.named(words));
        }
        if !answer::creates_on_condition(&statement) {
            checked.notes.push(
                "it does not create on a condition (`conditionalCreate`): letters are searched for instead".to_owned(),
            );
        }
        // With a made-up letter: the credentials are tried as well.
        let nobody = format!("{URI_SYSTEM}|urn:uuid:00000000-0000-0000-0000-000000000000");
        match self.get(self.at("DocumentReference", &[("identifier", &nobody)])).await.map_err(asked)? {
            Ok(_) => {}
            Err((status @ (404 | 405 | 501), _)) => checked.warnings.push(format!(
                "it cannot be asked for a letter (status {status}): one whose answer is lost may be filed twice"
            )),
            Err((status, wait)) => return Err(self.of_status(status, wait).reason().to_owned()),
        }
        if let FhirPatient::Search(template) = &self.config.patient {
            let context = Context::sample("").with_patient_id(NOBODY);
            let query = template.render(&context).map_err(|error| self.client.named(&error.to_string()))?;
            if !self.patients(&query, None).await.map_err(asked)?.is_empty() {
                let words = "it finds a patient whom nobody has: it does not understand the search in `patient`";
                return Err(self.client.named(words));
            }
            checked.notes.push("it answers when it is asked for a patient (`patient`)".to_owned());
        }
        Ok(checked)
    }

    fn proof(&self) -> Proof {
        match (self.hides.load(Ordering::Relaxed), &self.config.confirm) {
            (true, _) => Proof::Accepted,
            (false, Some(_)) => Proof::Query,
            (false, None) => Proof::ReadBack,
        }
    }

    async fn look(&self, letters: &[Unproved], _: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        let mut sights = Vec::with_capacity(letters.len());
        for letter in letters {
            let pdf = kept(letter.size, &letter.sha256);
            let digest = letter.filed.digest.clone();
            let content = digest.map(|hash| Content { hash, size: letter.size });
            sights.push(match self.look_for(&letter.key, &pdf, content.as_ref()).await {
                Found::Ours(id) => {
                    let place = Some(self.place(&id));
                    Sight::Proved { proof: Proof::Query, place }
                }
                Found::Unseen(outcome) => return Err(outcome),
                Found::Hidden => return Err(Outcome::no_look()),
                Found::Other | Found::Nothing => Sight::Waits,
            });
        }
        Ok(sights)
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            let pdf = kept(letter.size, &letter.sha256);
            found.push(match self.look_for(&letter.key, &pdf, None).await {
                Found::Ours(_) => Holds::Same,
                Found::Other => Holds::Other,
                Found::Nothing => Holds::Nothing,
                Found::Hidden => Holds::Unknown,
                Found::Unseen(outcome) => return Err(outcome),
            });
        }
        Ok(found)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.connection.max_connections)
    }
}

/// A PDF that is not at hand.
fn kept(size: u64, sha256: &str) -> Spooled {
    Spooled { path: "".into(), in_memory: None, size, sha256: sha256.to_owned() }
}

/// Where the document would be filed.
pub(super) fn plan(config: &FhirConfig, uuid: &DocumentUuid, metadata: &Metadata) -> Result<Planned, String> {
    let title = resource::title(config, metadata, uuid.as_str()).map_err(|error| format!("file_name: {error}"))?;
    let id = config.patient_id.render(&Context::new(metadata)).map_err(|error| format!("patient_id: {error}"))?;
    let place = format!("{}/DocumentReference ({title}, patient {id})", config.base.as_str().trim_end_matches('/'));
    Ok(Planned { place, otherwise: None, taken: false, problem: None })
}
