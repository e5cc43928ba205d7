//! `type = "http"`: sends the PDF to a service that takes documents over HTTP, as it is, in a form, or in JSON.
//!
//! Such a service does not name the document as we do. It knows the document by the delivery's key, in
//! `Idempotency-Key` and wherever the templates put it. The intent is recorded before the request. If the answer is
//! lost, docsyncd looks for the document: at `probe_url`, or, for a conditional PUT of the PDF, at its own address. If
//! nobody can look, `on_lost_reply` decides. Only the statuses in `success` say that the service keeps the document.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use serde_json::Value;
use tokio::time::Instant;

use super::web_client::{Answer, Fault, Meaning, WebClient, meaning};
use super::{Adapter, Checked, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned, Unproved, spooled};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::proof::Sight;
use crate::patients::Unmatched;
use crate::system::clock;
use crate::system::http::location;

mod decision;
mod failed;
mod list;
mod look;
mod lookup;
mod page;
mod rendered;
mod settings;
#[cfg(test)]
mod tests;

use decision::{Decision, Facts, decide};
use failed::{Says, failed, is_cut, said, said_in_json};
use look::AtService;
use page::is_web_page;
use rendered::Rendered;
pub use settings::*;

/// How often docsyncd looks for a waiting document whose answer was lost.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Bytes of an answer that suffice to recognise a web page, and to read that the service failed; JSON is read whole.
const BEGINNING: usize = 64 * 1024;

/// An HTTP service.
pub struct HttpAdapter {
    config: HttpConfig,
    client: WebClient,
    /// Whether the service was seen to forbid reading at a document's address.
    hides: AtomicBool,
    /// Whether its `probe_url` was seen to distinguish existing documents from missing ones.
    tells: AtomicBool,
    /// When answers were lost since this start, by the key of the delivery: the wall clock may jump meanwhile.
    lost: Mutex<HashMap<String, Instant>>,
}

/// An answer by which a document is not known to be there.
struct Answered {
    status: u16,
    retry_after: Option<Duration>,
    /// Whether all documents have its address.
    is_base: bool,
    /// Whether a person decides what becomes of the document, as it may be there.
    may_have: bool,
    /// Whether an earlier attempt may have delivered it.
    is_repeated: bool,
}

impl Answered {
    /// For this reason nobody knows whether it is there.
    fn unconfirmed(&self, outcome: &Outcome) -> Outcome {
        Outcome::Unconfirmed { code: Code::Status(self.status), reason: outcome.reason().to_owned() }
    }
}

impl HttpAdapter {
    /// Opens nothing.
    pub fn new(config: HttpConfig) -> Self {
        let client = WebClient::new(config.connection.clone());
        Self { config, client, hides: AtomicBool::new(false), tells: AtomicBool::new(false), lost: Mutex::default() }
    }

    /// Whether a delivery of unknown result is left to a person, instead of being sent again.
    fn holds(&self) -> bool {
        self.config.on_lost_reply == LostReply::Hold && !self.can_look()
    }

    fn web_page(&self) -> Outcome {
        let words = "it answers with a web page instead of taking the document: a sign-in page, or a captive portal? Where it \
                     says so of documents that it keeps, set `html_is_success = true`";
        Outcome::unavailable("web_page", self.client.named(words))
    }

    /// Whether the body of an answer is a page for people, whether it was cut, and what it says.
    async fn read(&self, answer: Answer) -> (bool, bool, Says) {
        let status = answer.status;
        // A 201 may come with a page: Apache's mod_dav answers so.
        let may_be_page = matches!(status, 200 | 202 | 203);
        if !may_be_page && !self.config.success.contains(&status) {
            return (false, false, Says::Nothing);
        }
        let (content, json) = answer.said(BEGINNING).await;
        let is_page = may_be_page && !self.config.html_is_success && is_web_page(&content);
        let is_cut = json.is_none() && (content.is_broken || is_cut(&content.beginning));
        (is_page, is_cut, json.map_or_else(|| said(&content.beginning), |json| said_in_json(&json)))
    }

    async fn judge(&self, answer: Answer, rendered: &Rendered, item: &Item) -> Outcome {
        let (status, retry_after) = (answer.status, answer.retry_after);
        let leads_to = location(&rendered.url, &answer.headers);
        let (is_web_page, is_cut, says) = self.read(answer).await;
        // If the answer names the status of its failure, that one says of what kind it is.
        let status = if let Says::No(Some(named)) = says { named } else { status };
        let facts = Facts {
            success: &self.config.success,
            is_web_page,
            says_error: matches!(says, Says::No(_)),
            is_unclear: says == Says::Doubt,
            is_cut,
            is_conditional: self.config.is_conditional(),
            conflict_is_found: status == 409 && self.conflict_is_found(rendered, item).await,
            leads_back: leads_to.is_some_and(|to| to.origin() == rendered.url.origin()),
        };
        let decision = decide(status, &facts);
        let found = match decision {
            Decision::Delivered => return rendered.delivered(),
            Decision::Refused => AtService::Hidden,
            _ => self.look_for(rendered, item).await,
        };
        if found == AtService::Ours {
            return rendered.delivered();
        }
        if decision == Decision::Taken
            && let AtService::Beginning(tag) = found
        {
            return self.complete(rendered, tag, item).await;
        }
        // If a person decides what is sent again, everything that may have arrived is left to that person.
        let may_have = self.config.on_lost_reply == LostReply::Hold && found != AtService::Nothing;
        let is_repeated = item.uncertain;
        self.not_seen(
            decision,
            &found,
            &Answered { status, retry_after, is_base: !rendered.differs, may_have, is_repeated },
        )
    }

    /// The outcome where nothing shows that the document is there.
    fn not_seen(&self, decision: Decision, found: &AtService, answered: &Answered) -> Outcome {
        let Answered { status, retry_after, may_have, .. } = *answered;
        let as_the_status_says = || self.client.of_status(status, answered.is_base, retry_after);
        let is_unseen = matches!(found, AtService::Unseen(_));
        // It is not about the letter, which `probe_url` does not show.
        let is_of_another = self.config.conflict_is_found && self.config.probe_url.is_some();
        let unconfirmed = |code, words: &str| Outcome::Unconfirmed { code, reason: self.client.named(words) };
        match decision {
            Decision::Delivered | Decision::Refused => as_the_status_says(),
            Decision::WebPage if may_have => answered.unconfirmed(&self.web_page()),
            Decision::WebPage => self.web_page(),
            Decision::SaysError => {
                let words = "it answers with a success, and says in the answer that it failed (`error`, `\"success\": false` \
                             or the like): its own log says why";
                let failed = Outcome::transient(Code::word("says_error"), self.client.named(words));
                if may_have { answered.unconfirmed(&failed) } else { failed }
            }
            Decision::Cut => {
                let words = "the connection broke before its answer was whole: it may have said that it failed";
                unconfirmed(Code::word("broken_off"), words)
            }
            Decision::Unclear => {
                let words =
                    "it answers with a success that sounds like a failure: look there whether it keeps the document";
                // It was answered, and would be answered the same again.
                unconfirmed(Code::word("unclear_answer"), words).held_if(*found == AtService::Hidden)
            }
            Decision::Taken => self.taken(found, answered),
            Decision::Conflict if answered.is_repeated || is_unseen || is_of_another => self.transient(
                answered,
                "a conflict, perhaps with an earlier attempt, and it cannot be seen whether it keeps the document: where it \
                 says so of one that it has already, set `conflict_is_found = true`",
            ),
            Decision::Conflict => {
                let words = format!(
                    "it answers with status {status}: a conflict. Where it says so of a document that it has already, set \
                     `conflict_is_found = true`, and put {{{{ key }}}} into the name that it knows the document by"
                );
                Outcome::Permanent { code: Code::Status(status), reason: self.client.named(&words) }
            }
            Decision::Unpromised => {
                let words = format!(
                    "it answers with status {status}, which is no promise that it keeps the document: if it does, list it in \
                     `success`; else set `probe_url`"
                );
                unconfirmed(Code::Status(status), &words)
            }
            // The service says when it will be back, and no look contradicts that it refused.
            Decision::MayHave if status == 503 && retry_after.is_some() && !is_unseen => as_the_status_says(),
            Decision::Redirects if !may_have => as_the_status_says(),
            Decision::MayHave if matches!(status, 502 | 504) => {
                let words = format!("it answers with status {status}: what lies behind it took too long or broke off");
                unconfirmed(Code::Status(status), &words)
            }
            Decision::MayHave | Decision::Redirects => answered.unconfirmed(&as_the_status_says()),
        }
    }

    /// The outcome where something else lies at the address, or what nobody can see.
    fn taken(&self, found: &AtService, answered: &Answered) -> Outcome {
        if *found != AtService::Other {
            let words = "something lies at the address of this document, and it cannot be seen whether that is the document: \
                         let it be read there, or set `probe_url`";
            let unseen = self.transient(answered, words);
            return if answered.may_have { answered.unconfirmed(&unseen) } else { unseen };
        }
        let words = match self.config.url.is_per_version() {
            true => {
                "what lies at the document's own address is not what was sent, and nothing is overwritten: does the service \
                 change what it keeps? Then set `probe_url`"
            }
            false => {
                "something else lies at the address of this document, and nothing is overwritten: put {{ key }} into `url`, \
                 which is another for each document and for each version of one"
            }
        };
        Outcome::permanent("name_taken", self.client.named(words))
    }

    fn transient(&self, answered: &Answered, words: &str) -> Outcome {
        let Answered { status, retry_after, .. } = *answered;
        let reason = self.client.named(&format!("it answers with status {status}: {words}"));
        Outcome::Transient { code: Code::Status(status), reason, retry_after }
    }

    /// Writes the whole document over the beginning that an interrupted attempt left.
    async fn complete(&self, rendered: &Rendered, tag: Option<HeaderValue>, item: &Item) -> Outcome {
        let mut request = match rendered.request(&self.config, &item.pdf) {
            Ok(request) => request,
            Err(wrong) => return Outcome::unavailable("credentials", self.client.named(&wrong)),
        };
        request.headers.remove(IF_NONE_MATCH);
        request.headers.extend(tag.map(|tag| (IF_MATCH, tag)));
        let answered = self.client.send(request).await;
        match (self.look_for(rendered, item).await, &answered) {
            (AtService::Ours, _) => return rendered.delivered(),
            // The whole document was there, and somebody took it.
            (AtService::Nothing, Ok(answer)) if self.config.success.contains(&answer.status) => {
                return rendered.delivered();
            }
            _ => {}
        }
        let words = "an attempt that was cut off left the beginning of the document, and the whole is not there yet";
        answered.err().map_or_else(|| Outcome::transient(Code::word("cut"), self.client.named(words)), Fault::outcome)
    }

    /// The request, and the destination's identifier of the patient. An `Err` ends the attempt: the document is there
    /// already, or nothing can be sent.
    async fn prepare(&self, item: &Item) -> Result<(Rendered, Option<Value>), Outcome> {
        let mut looked_for = None;
        let mut patient = None;
        let sent = match item.uncertain && self.config.probe_url.is_some() {
            true => item.committed().await?,
            false => None,
        };
        let sent_at = sent.as_ref().map(|sent| sent.at);
        if let Some(lookup) = &self.config.lookup {
            // It was sent for the patient that the service found then. By now it may find another: patients are merged
            // or corrected.
            if let Some(then) = sent.and_then(|sent| sent.patient) {
                let rendered = Rendered::new(&self.config, item, Some(&then))?;
                match self.is_missing(&rendered, item).await {
                    Ok(()) => looked_for = Some(then),
                    // The patient may be gone, and the list with them; a patient who is still found is asked for again.
                    Err(
                        Outcome::Transient { code: Code::Status(404 | 410), .. }
                        | Outcome::Permanent { code: Code::Status(_), .. },
                    ) => {}
                    Err(outcome) => return Err(outcome),
                }
            }
            let found = self.find(lookup, item).await;
            // While the document may still come to be stored, no failure is reported.
            patient = Some(match (found, sent_at.and_then(|at| self.too_early(item, at))) {
                (Err(Outcome::Own { .. }), Some(waits)) => return Err(waits),
                (found, _) => found?,
            });
            let is_other = |found: &Value| {
                let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                item.metadata.number.as_ref().is_some_and(|number| *number != text)
            };
            if patient.as_ref().is_some_and(is_other) {
                return Err(Outcome::NeedsPerson(Unmatched::OtherNumber));
            }
        }
        let rendered = Rendered::new(&self.config, item, patient.as_ref())?;
        // A conditional PUT is refused if the document lies there; any other request would store a second one. If a
        // list tells what is there, it is always read: such a service recognises no repetition.
        let is_due = item.uncertain || !rendered.marks.is_empty();
        if is_due && rendered.probe.is_some() && (patient.is_none() || looked_for != patient) {
            self.is_missing(&rendered, item).await?;
        }
        sent_at.and_then(|at| self.too_early(item, at)).map_or(Ok((rendered, patient)), Err)
    }

    /// A document that was sent at this time, and is not there yet, may still be stored: a gateway gives up while the
    /// server behind it goes on.
    fn too_early(&self, item: &Item, sent_at: clock::Millis) -> Option<Outcome> {
        let seen = self.lost.lock().unwrap_or_else(PoisonError::into_inner).get(&item.key).map(Instant::elapsed);
        // If the answer was lost before this start, only the wall clock counts. If the clock was set back, that time
        // may be in the future; far enough in the future, it no longer delays anything.
        let ago = seen.unwrap_or_else(|| Duration::from_millis(clock::now().abs_diff(sent_at)));
        let left = self.config.resend_after.saturating_sub(ago);
        // With a condition, the service itself prevents a second copy.
        (!left.is_zero() && !self.config.is_conditional()).then(|| {
            let words = format!(
                "the answer to it was lost, and it is not seen there yet: it is looked for, and sent again when it is not there \
                 {} after it was sent (destinations.{}.resend_after)",
                humantime::format_duration(self.config.resend_after),
                self.config.connection.name
            );
            Outcome::Waiting { wait: left.min(LOOK_AGAIN), reason: self.client.named(&words) }
        })
    }

    /// # Errors
    /// The document is there, or nobody can see whether it is.
    async fn is_missing(&self, rendered: &Rendered, item: &Item) -> Result<(), Outcome> {
        match self.look_for(rendered, item).await {
            AtService::Ours => Err(rendered.delivered()),
            AtService::Hidden if self.config.on_lost_reply == LostReply::Hold => Err(cut_off()),
            AtService::Nothing | AtService::Other | AtService::Beginning(_) | AtService::Hidden => Ok(()),
            AtService::Unseen(outcome) => Err(outcome),
        }
    }

    async fn send(&self, rendered: &Rendered, patient: Option<&Value>, item: &Item) -> Outcome {
        let request = match rendered.request(&self.config, &item.pdf) {
            Ok(request) => request,
            Err(wrong) => return Outcome::unavailable("credentials", self.client.named(&wrong)),
        };
        if let Err(outcome) = item.committing_to(patient).await {
            return outcome;
        }
        let answered = self.client.send(request).await;
        let mut is_hidden = false;
        let outcome = match answered {
            Ok(answer) => self.judge(answer, rendered, item).await,
            Err(fault @ Fault::Lost(_)) => match self.look_for(rendered, item).await {
                AtService::Ours => rendered.delivered(),
                found => {
                    is_hidden = found == AtService::Hidden;
                    fault.outcome()
                }
            },
            Err(fault) => fault.outcome(),
        };
        // A status is an answer, whatever it means.
        let is_lost = matches!(outcome, Outcome::Unconfirmed { code: Code::Word(_), .. });
        is_hidden |= !self.can_look();
        let holds = is_hidden && self.config.on_lost_reply == LostReply::Hold;
        let outcome = match is_lost && is_hidden {
            true => item.unseen(outcome, holds).await,
            false => outcome.held_if(holds),
        };
        match outcome {
            // Sending it may have taken long: the wait counts from now on.
            lost @ Outcome::Unconfirmed { .. } => {
                {
                    let mut known = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
                    // A document may have ended otherwise than by a delivery.
                    known.retain(|_, at| at.elapsed() < self.config.resend_after.saturating_mul(2));
                    known.insert(item.key.clone(), Instant::now());
                }
                item.waiting_since_now(patient, false).await.err().unwrap_or(lost)
            }
            outcome => outcome,
        }
    }
}

fn cut_off() -> Outcome {
    Outcome::cut_off("docsyncd ended before its answer came")
}

#[async_trait]
impl Adapter for HttpAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(&self.config.connection.name, item).await {
            return outcome;
        }
        if item.uncertain && self.holds() {
            return cut_off();
        }
        let outcome = match self.prepare(item).await {
            Ok((rendered, patient)) => self.send(&rendered, patient.as_ref(), item).await,
            Err(outcome) => outcome,
        };
        if matches!(outcome, Outcome::Delivered { .. }) {
            self.lost.lock().unwrap_or_else(PoisonError::into_inner).remove(&item.key);
        }
        outcome
    }

    fn unusable(&self) -> Option<String> {
        let mut headers = HeaderMap::new();
        let wrong = self.client.configured().and_then(|()| rendered::add_secret_headers(&self.config, &mut headers));
        wrong.err().map(|wrong| self.client.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        self.config.holds(invented)
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let place = rendered::planned(&self.config, uuid, metadata)?;
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let mut checked = Checked::default();
        match &self.config.check_url {
            // The lookup of a patient tests more.
            None if self.config.lookup.is_some() => {}
            None => {
                self.client.connects().await?;
                checked
                    .notes
                    .push("a connection comes about; set `check_url` to have the credentials tried".to_owned());
            }
            Some(url) => {
                let answer = self.ask(url.clone()).await.map_err(Outcome::into_reason)?;
                let status = answer.status;
                if !(200..300).contains(&status) {
                    let (meaning, words) = meaning(status, true);
                    let words = if meaning == Meaning::Permanent { "it refuses the request" } else { words };
                    let words = self.client.foreign_sign_in(status).unwrap_or_else(|| words.to_owned());
                    return Err(self.client.named(&format!("`check_url` is answered with status {status}: {words}")));
                }
                let content = answer.content(BEGINNING as u64, BEGINNING).await;
                if failed(&content.beginning).is_some() {
                    return Err(self.client.named("`check_url` is answered with a success that says that it failed"));
                }
                if is_web_page(&content) {
                    checked
                        .warnings
                        .push("`check_url` is answered with a web page: is it the service's own?".to_owned());
                }
            }
        }
        if let Some(probe) = rendered::made_up_probe(&self.config) {
            self.knows_nothing_of(probe).await.map_err(Outcome::into_reason)?;
        }
        if let Some(lookup) = &self.config.lookup {
            checked.notes.push(self.try_lookup(lookup).await?);
        }
        if self.config.is_put && !self.config.is_conditional() && !self.config.url.is_per_version() {
            checked.warnings.push(
                "`url` may be the same for several documents, and a PUT writes over what lies there: put {{ key }} into it, or set \
                 headers = { \"If-None-Match\" = \"*\" }"
                    .to_owned(),
            );
        }
        if !self.can_look() {
            let then = if self.holds() { "waits for a person" } else { "is sent again" };
            checked.notes.push(format!(
                "a document whose answer is lost {then}, as nobody can look whether it arrived: set `probe_url` if the service \
                 can tell"
            ));
        }
        Ok(checked)
    }

    async fn look(&self, letters: &[Unproved], _: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        self.sights(letters).await
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        self.look_at_kept(letters).await
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.connection.max_connections)
    }
}
