//! `type = "hl7v2"`: sends the PDF to a hospital's system or an integration engine, in an HL7 v2 message over MLLP.
//!
//! The receiver cannot be queried: a letter is delivered if its own acknowledgment says so, and no other answer counts.
//! The intent is recorded before the end of the message is sent, because a receiver ignores a message without its end.
//! The answer is classified by its codes, because its words name patients.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::line::{Line, Lost};
use super::pool::Pool;
use super::remote::Source;
use super::{Adapter, Checked, Invented, Item, Known, Outcome, Planned, spooled, wording};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata, RemoteIdentity};
use crate::domain::failure::Code;
use crate::formats::template::Context;
use crate::system::tls::Tls;

mod answer;
mod connection;
mod message;
mod settings;
#[cfg(test)]
mod tests;
mod text;

pub use answer::{Block, Meaning, NotHl7};
use connection::{answer, is_ended_at_once, is_quiet};
pub use settings::Hl7v2Config;
pub(super) use settings::KIND;
use text::holds;

/// Bytes of the PDF sent at a time: a multiple of base64's groups of three.
const CHUNK: usize = 24 * 1024;

/// A receiver of HL7 v2.
pub struct Hl7Adapter {
    config: Hl7v2Config,
    /// `None`: not encrypted.
    tls: Option<Tls>,
    pool: Pool<Line>,
}

impl Hl7Adapter {
    /// Opens nothing.
    pub fn new(config: Hl7v2Config) -> Self {
        let tls = config.tls.clone().map(Tls::new);
        Self { config, tls, pool: Pool::default() }
    }

    fn named(&self, words: &str) -> String {
        format!("destination `{}`: {words}", self.config.name)
    }

    /// A message about the receiver.
    fn said(&self, words: &str) -> String {
        self.named(&format!("{}: {words}", address(&self.config)))
    }

    async fn open(&self) -> Result<Line, Outcome> {
        let receiver = (self.config.host.as_str(), self.config.port);
        let opened = Line::open(&self.config.name, receiver, self.tls.as_ref(), self.config.response_timeout).await;
        opened.map_err(|(code, words)| Outcome::unavailable(code, self.said(&words)))
    }

    async fn send(&self, item: &Item) -> Result<Outcome, Outcome> {
        let patient_id = wording::patient_id(&self.config.name, &self.config.patient_id, &item.metadata)?;
        if !holds(&patient_id, self.config.charset) {
            return Err(wording::not_said(&self.config.name, &item.metadata));
        }
        let identity = (item.key.as_str(), item.replaces.as_deref());
        let message = message::message(&self.config, identity, &item.metadata, &patient_id).map_err(|field| {
            let words = format!(
                "{field} would have a character that `charset` {} can neither encode nor replace",
                self.config.charset.hl7_word()
            );
            Outcome::Own { code: Code::word("not_filled_in"), reason: self.named(&words) }
        })?;
        let mut line = match self.pool.take(is_quiet) {
            Some(line) => line,
            None => self.open().await?,
        };
        line.begin();
        let unsent = |lost| {
            let words = match lost {
                Lost::Silent => "it took no more of the message, and did not go on in time",
                Lost::Cut | Lost::Foreign => "the connection broke before the message was sent",
            };
            Outcome::transient(Code::word("broken_off"), self.said(words))
        };
        line.write(&message.head).await.map_err(unsent)?;
        let mut source = Source::of_spool(&item.pdf).await?;
        while let Some(piece) = source.next(CHUNK).await? {
            line.write(STANDARD.encode(piece).as_bytes()).await.map_err(unsent)?;
        }
        if !is_quiet(&mut line) {
            let words = "it answered before the message was complete";
            return Err(Outcome::transient(Code::word("not_understood"), self.said(words)));
        }
        item.committing_to(None).await?;
        fault_point!("hl7v2.commit.before");
        // From here on, the receiver may have the message.
        let answered = match line.write(&message.tail).await {
            Ok(()) => answer(&mut line).await,
            Err(lost) => Err(lost),
        };
        fault_point!("hl7v2.commit.after");
        let block = answered.map_err(|lost| self.lost(lost))?;
        let meaning = block.meaning(&message::control_id(&item.key)).ok_or_else(|| self.unmatched())?;
        if meaning == (Meaning::Taken { again: true }) && self.config.keeps_open && !block.is_followed() {
            self.pool.give_back(line);
        }
        Ok(self.outcome(meaning, item))
    }

    /// The receiver answers, but not to this message.
    fn unmatched(&self) -> Outcome {
        let words = "it answers with something else than an acknowledgment of the message that it was sent";
        Outcome::Unconfirmed { code: Code::word("not_understood"), reason: self.said(words) }
    }

    fn lost(&self, lost: Lost) -> Outcome {
        let (code, words) = match lost {
            Lost::Cut => ("broken_off", "the connection ended before its acknowledgment".to_owned()),
            Lost::Silent => {
                ("no_answer", format!("no acknowledgment in time (destinations.{}.response_timeout)", self.config.name))
            }
            Lost::Foreign => ("not_understood", "it does not answer in HL7: check `host`, `port` and `tls`".to_owned()),
        };
        Outcome::Unconfirmed { code: Code::word(code), reason: self.said(&words) }
    }

    fn outcome(&self, meaning: Meaning, item: &Item) -> Outcome {
        let transient = |code, words: &str| Outcome::transient(code, self.said(words));
        let permanent = |code, words: &str| Outcome::Permanent { code, reason: self.said(words) };
        let own = |code, words: &str| Outcome::Own { code: Code::Status(code), reason: self.said(words) };
        let is_repeated = item.uncertain || item.tried;
        match meaning {
            Meaning::Taken { .. } => Outcome::delivered(self.place(&item.key)),
            Meaning::Known if is_repeated => Outcome::delivered(self.place(&item.key)),
            Meaning::Known => permanent(
                Code::Status(205),
                "it says that it already has this message (error 205), although none was sent: look there for the letter",
            ),
            Meaning::Patient(code) => {
                let words = format!(
                    "it does not know the patient by the identifiers that it was sent (error {code}): correct the patient's record, \
                                     then run `docsyncd retry`"
                );
                own(code, &words)
            }
            Meaning::Message(code) => {
                permanent(Code::Status(code), &format!("it refuses the message because of its content (error {code})"))
            }
            Meaning::Kind(code) if item.replaces.is_some() && !self.config.is_oru => own(
                code,
                &format!(
                    "it takes no message that replaces another, MDM^T10 (error {code}): file this letter there by hand"
                ),
            ),
            Meaning::Kind(code) => Outcome::Unavailable {
                code: Code::Status(code),
                reason: self.said(&format!(
                    "it takes no such messages (error {code}): check `message`, `version` and `message_structure`"
                )),
                retry_after: None,
            },
            Meaning::Passing(code) => {
                transient(Code::Status(code), &format!("it cannot take the message at the moment (error {code})"))
            }
            Meaning::Error if self.config.retries_errors => {
                transient(Code::word("refused_there"), "it answers with an error (AE) without saying which")
            }
            Meaning::Error => {
                let words = "it answers with an error (AE) without saying which: where that may pass, set ack_error = \"retry\"";
                permanent(Code::word("refused_there"), words)
            }
            Meaning::Rejected => {
                transient(Code::word("refused_there"), "it rejects the message (AR), and does not say why")
            }
        }
    }

    /// How a person finds the letter there.
    fn place(&self, key: &str) -> String {
        let (id, document) = (message::control_id(key), RemoteIdentity::of_key(key).uuid());
        format!("{}, message {id}, document {document}", address(&self.config))
    }

    fn holds(&self) -> bool {
        self.config.on_lost_reply == LostReply::Hold
    }
}

#[async_trait]
impl Adapter for Hl7Adapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(&self.config.name, item).await {
            return outcome;
        }
        if item.uncertain && self.holds() {
            return Outcome::cut_off("docsyncd ended before its acknowledgment came");
        }
        item.unseen(self.send(item).await.unwrap_or_else(|outcome| outcome), self.holds()).await
    }

    fn unusable(&self) -> Option<String> {
        self.tls.as_ref()?.set_up().err().map(|wrong| self.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.text(&self.config.patient_id).is_some_and(|id| holds(id.trim(), self.config.charset))
    }

    async fn plan(&self, _: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let id =
            self.config.patient_id.render(&Context::new(metadata)).map_err(|error| format!("patient_id: {error}"))?;
        let kind = if self.config.is_oru { "ORU" } else { "MDM" };
        let place =
            format!("{}, {kind}^{}, patient {}", address(&self.config), message::event(&self.config, false), id.trim());
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let mut line = self.open().await.map_err(Outcome::into_reason)?;
        if is_ended_at_once(&mut line).await {
            let words =
                "it ends the connection at once: it may want a certificate (`client_cert_file`), or know this computer";
            return Err(self.said(words));
        }
        let then = if self.holds() { "waits for a person" } else { "is sent again, with the same identifiers" };
        let notes = vec![
            "it accepts a connection; no message is sent to try more".to_owned(),
            format!("a letter whose acknowledgment is lost {then}, as nobody can look whether it arrived"),
        ];
        Ok(Checked { notes, warnings: Vec::new() })
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.max_connections)
    }
}

/// The receiver, as in `mllp://engine.practice.test:2575`.
fn address(config: &Hl7v2Config) -> String {
    let (scheme, host, port) = (if config.tls.is_some() { "mllps" } else { "mllp" }, &config.host, config.port);
    if host.contains(':') { format!("{scheme}://[{host}]:{port}") } else { format!("{scheme}://{host}:{port}") }
}
