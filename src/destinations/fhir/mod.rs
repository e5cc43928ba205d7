//! `type = "fhir"`: files the PDF in a FHIR R4 server, as a `DocumentReference` with the PDF in it (IHE ITI-105).
//!
//! The delivery's key identifies the resource (`masterIdentifier`), which is created on the condition that none has it
//! (`If-None-Exist`). Some servers ignore the condition, and every conditional create races with itself. So docsyncd
//! searches for a letter that may have arrived before it sends it again, and only after the server has had its time. It
//! reads a created resource back and compares its hash: only then the letter counts.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use serde_json::Value;
use url::Url;

use super::confirm::Sights;
use super::web_client::{self, Fault, Piece, Request, Upload, WebClient};
use super::{
    Adapter, Checked, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned, Unproved, candidate, spooled,
    wording,
};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::proof::{Filed, Proof, Sight};
use crate::formats::template::Context;
use crate::patients::Unmatched;
use crate::system::clock;

mod answer;
mod look;
mod patient;
mod resource;
mod settings;
#[cfg(test)]
mod tests;

pub use answer::shown_letters;

use answer::{matches, partial_replace};
use look::{AtServer, LookedFor, content_of};
use resource::{Attached, Replaces, Resource, Subject, URI_SYSTEM, identifier};
pub use settings::*;

/// Media type of FHIR resources (FHIR R4, "RESTful API", 3.1.0.1.9).
const FHIR_JSON: HeaderValue = HeaderValue::from_static("application/fhir+json");
/// FHIR R4, "Conditional create".
const IF_NONE_EXIST: HeaderName = HeaderName::from_static("if-none-exist");
/// How long a server may take to show a letter that it took. After that a person looks.
const SHOWN_WITHIN: Duration = Duration::from_secs(3600);
/// The least wait before the next look for such a letter, and the longest.
const LOOK_AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];
/// The identifier of the patient that `check` asks for.
const NOBODY: &str = "docsyncd-check";

/// A FHIR server.
pub struct FhirAdapter {
    config: FhirConfig,
    client: WebClient,
}

impl FhirAdapter {
    /// Opens nothing.
    pub fn new(config: FhirConfig) -> Self {
        let client = WebClient::new(config.connection.clone());
        Self { config, client }
    }

    fn name(&self) -> &str {
        &self.config.connection.name
    }

    /// A URL below `base_url`; `query` is encoded.
    fn at(&self, path: &str, query: &[(&str, &str)]) -> Url {
        web_client::below(&self.config.base, path, query)
    }

    /// Asks for JSON. `Ok(Err(status))`: the answer is not 200.
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

    /// The request that creates the letter, if there is none of its identifier.
    fn creation(&self, item: &Item, pieces: Vec<Piece>) -> Request {
        let mut request = Request::new(Method::POST, self.at("DocumentReference", &[]));
        request.headers.insert(CONTENT_TYPE, FHIR_JSON);
        request.headers.insert(ACCEPT, FHIR_JSON);
        let condition = format!("identifier={URI_SYSTEM}|{}", identifier(&item.key));
        if let Ok(condition) = HeaderValue::from_str(&condition) {
            request.headers.insert(IF_NONE_EXIST, condition);
        }
        request.body = Some(Upload::of_pdf(pieces, &item.pdf));
        request
    }

    /// Sends the letter, and reads it back.
    async fn send(&self, item: &Item, subject: &Subject, content: &Attached) -> Outcome {
        let replaces = match &item.replaces {
            None => None,
            Some(before) => match self.before(before).await {
                Ok(replaces) => Some(replaces),
                Err(outcome) => return outcome,
            },
        };
        let (_, title) = match candidate::wanted(&self.config.file_name, &item.metadata, &item.key) {
            Ok(wanted) => wanted,
            Err(error) => return wording::not_filled_in(self.name(), "file_name", &error),
        };
        let (config, key, metadata, replaced) = (&self.config, &item.key, &item.metadata, replaces.as_ref());
        let resource = Resource { config, key, metadata, title: &title, content, subject, replaces: replaced };
        let Some(pieces) = resource.pieces() else {
            return Outcome::permanent("not_filled_in", self.client.named("no letter can be made"));
        };
        let request = self.creation(item, pieces);
        let patient = subject.reference().map(Value::from);
        if let Err(outcome) = item.committing_to(patient.as_ref()).await {
            return outcome;
        }
        let answered = self.client.send(request).await;
        let mut sent = Sent::of(item, subject, content);
        // ISiK replaces only a resource that it can refer to.
        sent.beside = self.config.profile == FhirProfile::Isik && matches!(replaces, Some(Replaces::Identifier(_)));
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
                sent.beside |= replaces.is_some() && partial_replace(&body);
                sent.id = answer::created(&body).or(told);
                "it says that it took the letter, and does not show it".to_owned()
            }
            // Several have the identifier, or the letter is there already.
            409 | 412 => format!("it answers with status {status}: a conflict, and it does not show the letter"),
            502 | 504 => format!("it answers with status {status}: what lies behind it took too long or broke off"),
            202..=299 | 303 => format!("it answers with status {status}, which is no promise that it keeps the letter"),
            // The server may have kept it all the same.
            408 | 500..=599 => {
                return match self.look_for(sent.wanted()).await {
                    AtServer::Ours { id, seen } => self.there(&id, seen, &sent),
                    _ => self.client.of_status(status, true, retry_after),
                };
            }
            _ => return self.client.of_status(status, true, retry_after),
        };
        let (code, document) = (sent.code.clone(), sent.item.uuid.clone());
        let outcome = self.after(sent, self.client.named(&words)).await;
        if code == Code::Status(412) && matches!(outcome, Outcome::Delivered { .. }) {
            let destination = &self.client.connection().name;
            tracing::warn!(
                event = "several_there",
                destination,
                document = %document,
                "{destination}: the server says that it has this letter several times (412). Look there"
            );
        }
        outcome
    }

    /// The outcome for a letter that the server may have: reads it back, by the server's id or by its identifier.
    async fn after(&self, sent: Sent<'_>, reason: String) -> Outcome {
        let wanted = sent.wanted();
        let read = match &sent.id {
            Some(id) => self.read(id, wanted).await,
            None => AtServer::Nothing,
        };
        let found = match read {
            AtServer::Nothing | AtServer::Hidden => self.look_for(wanted).await,
            found => found,
        };
        match (found, &sent.id) {
            (AtServer::Ours { id, seen }, _) => self.there(&id, seen, &sent),
            (AtServer::Elsewhere, _) => Outcome::NeedsPerson(Unmatched::OtherNumber),
            (AtServer::Other, _) => self.other(),
            // Sending it again would create another one, because nobody can tell them apart.
            (AtServer::Stranger, _) => {
                let words =
                    "it took the letter, and does not keep its identifier: nothing shows that it is there. Look there";
                Outcome::Held { code: Code::word("not_known_there"), reason: self.client.named(words) }
            }
            // Nobody may look, so the server's word is the only evidence.
            (AtServer::Hidden, Some(id)) => self.there(id, false, &sent),
            // The server took the letter. Its index may lag behind, so a look for a proof queries it later.
            (AtServer::Nothing | AtServer::Hidden | AtServer::Unseen(_), id)
                if self.config.confirm.is_some() && sent.is_taken() =>
            {
                self.there(id.as_deref().unwrap_or_default(), false, &sent)
            }
            // Several have its identifier, which belongs to this delivery only (FHIR R4, "Conditional create").
            (AtServer::Hidden, None) if sent.code == Code::Status(412) => self.there("", false, &sent),
            (found @ (AtServer::Hidden | AtServer::Nothing | AtServer::Unseen(_)), _) => {
                let (is_hidden, patient) =
                    (matches!(found, AtServer::Hidden), sent.subject.reference().map(Value::from));
                let is_taken = !is_hidden && sent.is_taken();
                let lost = Outcome::Unconfirmed { code: sent.code, reason };
                match sent.item.waiting_since_now(patient.as_ref(), is_taken).await {
                    Err(outcome) => outcome,
                    Ok(()) if is_taken => self.not_shown(Duration::ZERO),
                    Ok(()) if is_hidden => sent.item.unseen(lost, self.config.on_lost_reply == LostReply::Hold).await,
                    Ok(()) => lost,
                }
            }
        }
    }

    /// The server said long ago that it took the letter, but does not show it. The letter is not sent again, because
    /// the index may lag behind. In the end a person looks.
    fn not_shown(&self, ago: Duration) -> Outcome {
        let words = "it says that it took the letter, and does not show it";
        if ago >= SHOWN_WITHIN {
            let reason = self.client.named(&format!("{words}: look there"));
            return Outcome::Held { code: Code::word("not_seen"), reason };
        }
        let reason = self.client.named(&format!("{words} yet: it is looked for again, and not sent again"));
        let [least, longest] = LOOK_AGAIN;
        Outcome::Waiting { wait: (ago / 4).clamp(least, longest), reason }
    }

    fn other(&self) -> Outcome {
        let words = "it keeps another content under this letter's identifier: look there, and remove it";
        Outcome::permanent("other_content", self.client.named(words))
    }

    /// The letter is there. `confirm = "query"` asks whether its content was seen.
    fn there(&self, id: &str, seen: bool, sent: &Sent<'_>) -> Outcome {
        let waits = (!seen && self.config.confirm.is_some())
            .then(|| Box::new(Filed { digest: Some(sent.content.hash.clone()), ..Filed::default() }));
        let proof = match (seen, &self.config.confirm) {
            (false, _) => Proof::Accepted,
            (true, Some(_)) => Proof::Query,
            (true, None) => Proof::ReadBack,
        };
        Outcome::Delivered { place: self.place(id), filed: waits, proof: Some(proof), beside: sent.beside }
    }

    fn place(&self, id: &str) -> String {
        self.at(format!("DocumentReference/{id}").trim_end_matches('/'), &[]).to_string()
    }

    /// How long a letter whose answer was lost must still wait: the server may be storing it.
    async fn too_early(&self, item: &Item) -> Result<(), Outcome> {
        let Some(sent) = item.committed().await? else { return Ok(()) };
        let ago = Duration::from_millis(clock::now().abs_diff(sent.at));
        if sent.is_taken {
            return Err(self.not_shown(ago));
        }
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
        let sent = Sent::of(item, &subject, &content);
        // Done at the first attempt, too: the ledger may be new, and not every server obeys the condition.
        match self.look_for(sent.wanted()).await {
            AtServer::Ours { id, seen } => return Ok(self.there(&id, seen, &sent)),
            AtServer::Elsewhere => return Err(Outcome::NeedsPerson(Unmatched::OtherNumber)),
            AtServer::Other => return Err(self.other()),
            AtServer::Hidden if item.uncertain && self.config.on_lost_reply == LostReply::Hold => {
                return Err(Outcome::cut_off("docsyncd ended before its answer came, and it allows no search"));
            }
            AtServer::Nothing | AtServer::Hidden if item.uncertain => self.too_early(item).await?,
            AtServer::Nothing | AtServer::Hidden | AtServer::Stranger => {}
            AtServer::Unseen(outcome) => return Err(outcome),
        }
        Ok(self.send(item, &subject, &content).await)
    }
}

/// A letter that was sent, and the server's answer.
struct Sent<'a> {
    item: &'a Item,
    subject: &'a Subject,
    content: &'a Attached,
    /// The server's id for the letter.
    id: Option<String>,
    code: Code,
    /// Whether the replaced version is still there as well.
    beside: bool,
}

impl<'a> Sent<'a> {
    fn of(item: &'a Item, subject: &'a Subject, content: &'a Attached) -> Self {
        Self { item, subject, content, id: None, code: Code::word("no_answer"), beside: false }
    }

    /// Whether the server said that it created the letter. A page with status 200 does not say so.
    fn is_taken(&self) -> bool {
        self.id.is_some() || self.code == Code::Status(201)
    }

    fn wanted(&self) -> LookedFor<'_> {
        let hash = Some(self.content.hash.as_str());
        LookedFor { key: &self.item.key, pdf: &self.item.pdf, hash, patient: self.subject.reference() }
    }
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

    fn holds_number(&self, invented: &Invented) -> bool {
        let FhirConfig { patient_id, file_name, patient, .. } = &self.config;
        let search = match patient {
            FhirPatient::Search(template) => Some(template),
            FhirPatient::Contained => None,
        };
        // The search is by this identifier.
        invented.holds(&[patient_id, file_name]) && search.is_none_or(|search| invented.text(search).is_some())
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let wanted = candidate::wanted(&self.config.file_name, metadata, uuid.as_str());
        let (_, title) = wanted.map_err(|error| format!("file_name: {error}"))?;
        let id =
            self.config.patient_id.render(&Context::new(metadata)).map_err(|error| format!("patient_id: {error}"))?;
        let place =
            format!("{}/DocumentReference ({title}, patient {id})", self.config.base.as_str().trim_end_matches('/'));
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let mut checked = Checked::default();
        let statement = match self.get(self.at("metadata", &[])).await.map_err(Outcome::into_reason)? {
            Ok(statement) => statement,
            Err((status, wait)) => return Err(self.client.of_status(status, true, wait).into_reason()),
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
        // Searches for an invented letter, which also tests the credentials.
        let nobody = format!("{URI_SYSTEM}|urn:uuid:00000000-0000-0000-0000-000000000000");
        match self.get(self.at("DocumentReference", &[("identifier", &nobody)])).await.map_err(Outcome::into_reason)? {
            Ok(bundle) if matches(&bundle, "DocumentReference").is_some_and(|found| found.is_empty()) => {}
            Ok(_) => return Err(self.no_search().into_reason()),
            Err((status @ (403 | 404 | 405 | 501), _)) => checked.warnings.push(format!(
                "it cannot be asked for a letter (status {status}): only its own answer counts, and a letter whose answer is lost may be filed twice"
            )),
            Err((status, wait)) => return Err(self.client.of_status(status, true, wait).into_reason()),
        }
        if let FhirPatient::Search(template) = &self.config.patient {
            let context = Context::sample("").with_patient_id(NOBODY);
            let query = template.render(&context).map_err(|error| self.client.named(&error.to_string()))?;
            if self.patient(&query).await.map_err(Outcome::into_reason)? != Err(Unmatched::NotThere) {
                let words = "it finds patients whom nobody asked for: it does not understand the search in `patient`";
                return Err(self.client.named(words));
            }
            checked.notes.push("it answers when it is asked for a patient (`patient`)".to_owned());
        }
        Ok(checked)
    }

    async fn look(&self, letters: &[Unproved], _: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        let mut sights = Sights::default();
        for letter in letters {
            let pdf = spooled::away(letter.size, &letter.sha256);
            let hash = letter.filed.digest.as_deref();
            sights.add(match self.look_for(LookedFor { key: &letter.key, pdf: &pdf, hash, patient: None }).await {
                AtServer::Ours { id, seen: true } => {
                    Ok(Sight::Proved { proof: Proof::Query, place: Some(self.place(&id)), seen: None })
                }
                AtServer::Unseen(outcome) => Err(outcome),
                AtServer::Hidden => {
                    let words =
                        "nobody may search it, so nothing shows that it keeps the letters: let the token search there";
                    return Err(Outcome::transient(Code::word("no_look"), self.client.named(words)));
                }
                _ => Ok(Sight::Waits),
            })?;
        }
        sights.all()
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            let pdf = spooled::away(letter.size, &letter.sha256);
            let wanted = LookedFor { key: &letter.key, pdf: &pdf, hash: None, patient: None };
            found.push(match self.look_for(wanted).await {
                AtServer::Ours { seen: true, .. } => Holds::Same,
                // What the server shows cannot be compared.
                AtServer::Ours { seen: false, .. } | AtServer::Hidden => Holds::Unknown,
                AtServer::Other | AtServer::Elsewhere => Holds::Other,
                AtServer::Nothing | AtServer::Stranger => Holds::Nothing,
                AtServer::Unseen(outcome) => return Err(outcome),
            });
        }
        Ok(found)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.connection.max_connections)
    }
}
