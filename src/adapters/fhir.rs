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
use super::{Adapter, Checked, Holds, Item, Kept, Known, Others, Outcome, Planned, Unproved, spooled, wording};
use crate::clock;
use crate::config::{FhirConfig, FhirPatient, FhirProfile, LostReply};
use crate::document::{DocumentUuid, Metadata, Spooled};
use crate::failure::Code;
use crate::patients::Unmatched;
use crate::proof::{Filed, Proof, Sight};
use crate::template::Context;

mod answer;
mod resource;
#[cfg(test)]
mod tests;

pub use answer::shown_letters;

use answer::{Shown, id_of, matches, partial_replace};
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

/// What the server has of a letter.
enum Found {
    /// The letter: its id there, and whether its content was seen.
    Ours { id: String, seen: bool },
    /// The letter, filed for another patient.
    Elsewhere,
    /// Another content under the letter's identifier.
    Other,
    /// Something that is not known by the letter's identifier.
    Stranger,
    /// None.
    Nothing,
    /// Nobody may look.
    Hidden,
    /// It cannot be seen at the moment.
    Unseen(Outcome),
}

/// What is looked for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    key: &'a str,
    pdf: &'a Spooled,
    /// [`Content::hash`], where it is known.
    hash: Option<&'a str>,
    /// The reference of the patient, where the server has one.
    patient: Option<&'a str>,
}

impl FhirAdapter {
    /// Opens nothing.
    pub fn new(config: FhirConfig) -> Self {
        let client = WebClient::new(config.connection.clone());
        Self { config, client, hides: AtomicBool::new(false) }
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

    /// Looks for the letter by its identifier.
    async fn look_for(&self, wanted: Wanted<'_>) -> Found {
        let identity = identifier(wanted.key);
        let token = format!("{URI_SYSTEM}|{identity}");
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
        let Some(ours) = answer::letters(&bundle, &identity) else { return Found::Unseen(self.no_search()) };
        let mut found = Found::Nothing;
        for shown in ours {
            let id = id_of(shown);
            let read = match &id {
                Some(id) => self.read(id, wanted).await,
                None => Found::Hidden,
            };
            match read {
                Found::Hidden => match self.judge(id.unwrap_or_default(), shown, wanted).await {
                    judged @ (Found::Ours { .. } | Found::Unseen(_)) => return judged,
                    judged => found = judged,
                },
                // One that was removed meanwhile.
                Found::Nothing | Found::Stranger => {}
                read @ (Found::Other | Found::Elsewhere) => found = read,
                read @ (Found::Ours { .. } | Found::Unseen(_)) => return read,
            }
        }
        found
    }

    fn no_search(&self) -> Outcome {
        let words = "it does not answer a search for a letter by its identifier: check `base_url`, and whether it can be searched so";
        Outcome::transient(Code::word("not_understood"), self.client.named(words))
    }

    /// What lies under this id.
    async fn read(&self, id: &str, wanted: Wanted<'_>) -> Found {
        match self.get(self.at(&format!("DocumentReference/{id}"), &[])).await {
            Ok(Ok(shown)) => self.judge(id.to_owned(), &shown, wanted).await,
            Ok(Err((404 | 410, _))) => Found::Nothing,
            Ok(Err((403 | 405 | 501, _))) => Found::Hidden,
            Ok(Err((status, wait))) => Found::Unseen(self.of_status(status, wait)),
            Err(outcome) => Found::Unseen(outcome),
        }
    }

    /// Whether a resource is the letter, with its content, and for its patient.
    async fn judge(&self, id: String, shown: &Value, wanted: Wanted<'_>) -> Found {
        if !answer::has_identifier(shown, &identifier(wanted.key)) {
            return Found::Stranger;
        }
        if let (Some(patient), Some(filed)) = (wanted.patient, answer::patient_of(shown))
            && patient != filed
        {
            return Found::Elsewhere;
        }
        match answer::compare(shown, wanted.pdf, wanted.hash) {
            Shown::Same => Found::Ours { id, seen: true },
            Shown::Other => Found::Other,
            Shown::Unsaid => Found::Ours { id, seen: false },
            Shown::LiesAt(url) => match self.lies_at(&url, wanted.pdf).await {
                Ok(Some(true)) => Found::Ours { id, seen: true },
                Ok(Some(false)) => Found::Other,
                Ok(None) => Found::Ours { id, seen: false },
                Err(outcome) => Found::Unseen(outcome),
            },
        }
    }

    /// Whether the PDF lies at the address that the server gives (`attachment.url`); `None` for one of another host, which is not asked.
    async fn lies_at(&self, url: &str, pdf: &Spooled) -> Result<Option<bool>, Outcome> {
        let base = self.at("", &[]);
        let Some(url) = base.join(url).ok().filter(|url| url.origin() == base.origin()) else { return Ok(None) };
        let mut request = Request::new(Method::GET, url);
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/pdf"));
        let answer = self.client.send(request).await.map_err(Fault::outcome)?;
        if answer.status != 200 {
            let words =
                format!("it answers with status {} where it says that the content of this letter lies", answer.status);
            return Err(Outcome::transient(Code::Status(answer.status), self.client.named(&words)));
        }
        let content = answer.content(pdf.size, 0).await;
        if content.is_broken {
            let words = "the connection broke while what it keeps was read back";
            return Err(Outcome::transient(Code::word("broken_off"), self.client.named(words)));
        }
        let is_same =
            |found: super::files::Digest| found.size == pdf.size && found.sha256.eq_ignore_ascii_case(&pdf.sha256);
        Ok(Some(content.digest.is_some_and(is_same)))
    }

    /// Who the patient is there.
    async fn subject(&self, metadata: &Metadata) -> Result<Subject, Outcome> {
        let id = wording::patient_id(self.name(), &self.config.patient_id, metadata)?;
        let FhirPatient::Search(template) = &self.config.patient else { return Ok(Subject::Contained(id)) };
        let context = Context::new(metadata).with_patient_id(&id);
        let query =
            template.render(&context).map_err(|error| wording::not_filled_in(self.name(), "patient", &error))?;
        let found = self.patient(&query).await?.map_err(Outcome::NeedsPerson)?;
        Ok(Subject::Reference(format!("Patient/{found}")))
    }

    /// The id of the one patient that a search finds. A server may ignore what it is asked for (FHIR R4, "Search": unknown parameters), and
    /// show one page of several: only an active patient counts who has what was asked for, and only if all were shown.
    async fn patient(&self, query: &str) -> Result<Result<String, Unmatched>, Outcome> {
        let (path, query) = query.split_once('?').unwrap_or((query, ""));
        let mut url = self.at(path, &[]);
        // Some servers refuse the bar as it is (RFC 3986 has it in no query).
        url.set_query(Some(&query.replace('|', "%7C")));
        let asked: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let bundle = match self.get(url).await? {
            Ok(bundle) => bundle,
            Err((status, wait)) => return Err(self.of_status(status, wait)),
        };
        let Some(found) = matches(&bundle, "Patient") else {
            let words = "it does not answer the search for the patient with a bundle: check `patient`";
            return Err(Outcome::transient(Code::word("not_understood"), self.client.named(words)));
        };
        let meant: Vec<&Value> = found.into_iter().filter(|patient| answer::is_asked_for(patient, &asked)).collect();
        match meant.as_slice() {
            _ if answer::has_more(&bundle) => Ok(Err(Unmatched::SeveralThere)),
            [] => Ok(Err(Unmatched::NotThere)),
            [one] => id_of(one).map(Ok).ok_or_else(|| {
                let words = "it does not tell the id of the patient that it finds";
                Outcome::transient(Code::word("not_understood"), self.client.named(words))
            }),
            _ => Ok(Err(Unmatched::SeveralThere)),
        }
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
        if self.config.profile == FhirProfile::Isik && matches!(replaces, Some(Replaces::Identifier(_))) {
            self.not_replaced(item);
        }
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
        let patient = subject.reference().map(Value::from);
        if let Err(outcome) = item.committing_to(patient.as_ref()).await {
            return outcome;
        }
        let answered = self.client.send(request).await;
        let mut sent = Sent { item, subject, content, id: None, code: Code::word("no_answer") };
        let answer = match answered {
            Ok(answer) => answer,
            Err(Fault::Lost(reason)) => return self.after(sent, reason).await,
            Err(fault) => return fault.outcome(),
        };
        let (status, retry_after) = (answer.status, answer.retry_after);
        sent.code = Code::Status(status);
        let words = match status {
            200 | 201 => {
                let told = answer.headers.get(LOCATION).and_then(|place| place.to_str().ok()).and_then(answer::id_in);
                let body = answer.json().await.unwrap_or_default();
                if replaces.is_some() && partial_replace(&body) {
                    self.not_replaced(item);
                }
                sent.id = answer::created(&body).or(told);
                "it says that it took the letter, and does not show it".to_owned()
            }
            // Several have the identifier, or it is kept already.
            409 | 412 => format!("it answers with status {status}: a conflict, and it does not show the letter"),
            502 | 504 => format!("it answers with status {status}: what lies behind it took too long or broke off"),
            202..=299 | 303 => format!("it answers with status {status}, which is no promise that it keeps the letter"),
            // It may have kept it all the same.
            408 | 500..=599 => {
                return match self.look_for(sent.wanted()).await {
                    Found::Ours { id, seen } => self.there(&id, seen, content),
                    _ => self.of_status(status, retry_after),
                };
            }
            _ => return self.of_status(status, retry_after),
        };
        self.after(sent, self.client.named(&words)).await
    }

    /// The server has the new version beside the old one.
    fn not_replaced(&self, item: &Item) {
        let (destination, document) = (self.name(), item.uuid.as_str());
        tracing::error!(
            event = "not_replaced",
            destination,
            document,
            "the server filed this new version of a letter beside the one that it replaces: remove the old one there"
        );
    }

    /// What became of a letter that the server may have: it is read back, by the id that it told or by its identifier.
    async fn after(&self, sent: Sent<'_>, reason: String) -> Outcome {
        let wanted = sent.wanted();
        let read = match &sent.id {
            Some(id) => self.read(id, wanted).await,
            None => Found::Nothing,
        };
        let found = match read {
            Found::Nothing | Found::Hidden => self.look_for(wanted).await,
            found => found,
        };
        match (found, sent.id) {
            (Found::Ours { id, seen }, _) => self.there(&id, seen, sent.content),
            (Found::Elsewhere, _) => Outcome::NeedsPerson(Unmatched::OtherNumber),
            (Found::Other, _) => self.other(),
            // To send it again would be another one, as nobody can tell it from others.
            (Found::Stranger, _) => {
                let words =
                    "it took the letter, and does not keep its identifier: nothing shows that it is there. Look there";
                Outcome::Held { code: Code::word("not_known_there"), reason: self.client.named(words) }
            }
            // Nobody may look: its word is all that there is.
            (Found::Hidden, Some(id)) => self.there(&id, false, sent.content),
            (Found::Hidden | Found::Nothing | Found::Unseen(_), _) => {
                // From now on it is waited for.
                let patient = sent.subject.reference().map(Value::from);
                match sent.item.committing_to(patient.as_ref()).await {
                    Err(outcome) => outcome,
                    Ok(()) if self.config.on_lost_reply == LostReply::Hold && self.hides.load(Ordering::Relaxed) => {
                        Outcome::Held { code: sent.code, reason }
                    }
                    Ok(()) => Outcome::Unconfirmed { code: sent.code, reason },
                }
            }
        }
    }

    fn other(&self) -> Outcome {
        let words = "it keeps something else under the identifier of this letter: look there, and remove that";
        Outcome::permanent("other_content", self.client.named(words))
    }

    /// It is there. That its content was seen is what `confirm = "query"` asks for.
    fn there(&self, id: &str, seen: bool, content: &Content) -> Outcome {
        let waits = (!seen && self.config.confirm.is_some())
            .then(|| Box::new(Filed { digest: Some(content.hash.clone()), ..Filed::default() }));
        Outcome::Delivered { place: self.place(id), filed: waits }
    }

    fn place(&self, id: &str) -> String {
        self.at(format!("DocumentReference/{id}").trim_end_matches('/'), &[]).to_string()
    }

    /// The version that this one replaces, as the server calls it.
    async fn before(&self, key: &str) -> Result<Replaces, Outcome> {
        let token = format!("{URI_SYSTEM}|{}", identifier(key));
        let bundle = match self.get(self.at("DocumentReference", &[("identifier", &token)])).await? {
            Ok(bundle) => bundle,
            Err((403 | 404 | 405 | 501, _)) => return Ok(Replaces::Identifier(identifier(key))),
            Err((status, wait)) => return Err(self.of_status(status, wait)),
        };
        let found = matches(&bundle, "DocumentReference").ok_or_else(|| self.no_search())?;
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
        let subject = self.subject(&item.metadata).await?;
        let sent = Sent { item, subject: &subject, content: &content, id: None, code: Code::word("no_answer") };
        // Also the first time: the ledger may be new, and not every server heeds the condition.
        match self.look_for(sent.wanted()).await {
            Found::Ours { id, seen } => return Ok(self.there(&id, seen, &content)),
            Found::Elsewhere => return Err(Outcome::NeedsPerson(Unmatched::OtherNumber)),
            Found::Other => return Err(self.other()),
            Found::Hidden if item.uncertain && self.config.on_lost_reply == LostReply::Hold => {
                return Err(Outcome::cut_off("docsyncd ended before its answer came, and nobody may look there"));
            }
            Found::Nothing | Found::Hidden if item.uncertain => self.too_early(item).await?,
            Found::Nothing | Found::Hidden | Found::Stranger => {}
            Found::Unseen(outcome) => return Err(outcome),
        }
        Ok(self.send(item, &subject, &content).await)
    }
}

/// A letter that was sent, and what was said of it.
struct Sent<'a> {
    item: &'a Item,
    subject: &'a Subject,
    content: &'a Content,
    /// What the server says that the letter is called there.
    id: Option<String>,
    code: Code,
}

impl Sent<'_> {
    fn wanted(&self) -> Wanted<'_> {
        let hash = Some(self.content.hash.as_str());
        Wanted { key: &self.item.key, pdf: &self.item.pdf, hash, patient: self.subject.reference() }
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

    fn unusable(&self) -> Option<String> {
        self.client.configured().err().map(|wrong| self.client.named(&wrong))
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let title =
            resource::title(&self.config, metadata, uuid.as_str()).map_err(|error| format!("file_name: {error}"))?;
        let id =
            self.config.patient_id.render(&Context::new(metadata)).map_err(|error| format!("patient_id: {error}"))?;
        let place =
            format!("{}/DocumentReference ({title}, patient {id})", self.config.base.as_str().trim_end_matches('/'));
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
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
            Ok(bundle) if matches(&bundle, "DocumentReference").is_some_and(|found| found.is_empty()) => {}
            Ok(_) => return Err(self.no_search().reason().to_owned()),
            Err((status @ (403 | 404 | 405 | 501), _)) => checked.warnings.push(format!(
                "it cannot be asked for a letter (status {status}): its word alone counts, and one whose answer is lost may be filed twice"
            )),
            Err((status, wait)) => return Err(self.of_status(status, wait).reason().to_owned()),
        }
        if let FhirPatient::Search(template) = &self.config.patient {
            let context = Context::sample("").with_patient_id(NOBODY);
            let query = template.render(&context).map_err(|error| self.client.named(&error.to_string()))?;
            if self.patient(&query).await.map_err(asked)? != Err(Unmatched::NotThere) {
                let words = "it finds patients whom nobody asked for: it does not understand the search in `patient`";
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
            let hash = letter.filed.digest.as_deref();
            sights.push(match self.look_for(Wanted { key: &letter.key, pdf: &pdf, hash, patient: None }).await {
                Found::Ours { id, seen: true } => Sight::Proved { proof: Proof::Query, place: Some(self.place(&id)) },
                Found::Unseen(outcome) => return Err(outcome),
                Found::Hidden => {
                    let words =
                        "nobody may search it, so nothing shows that it keeps the letters: let the token search there";
                    return Err(Outcome::transient(Code::word("no_look"), self.client.named(words)));
                }
                _ => Sight::Waits,
            });
        }
        Ok(sights)
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            let pdf = kept(letter.size, &letter.sha256);
            let wanted = Wanted { key: &letter.key, pdf: &pdf, hash: None, patient: None };
            found.push(match self.look_for(wanted).await {
                Found::Ours { seen: true, .. } => Holds::Same,
                // Nothing that it shows can be compared.
                Found::Ours { seen: false, .. } | Found::Hidden => Holds::Unknown,
                Found::Other | Found::Elsewhere => Holds::Other,
                Found::Nothing | Found::Stranger => Holds::Nothing,
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
