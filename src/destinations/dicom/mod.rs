//! `type = "dicom"`: stores the PDF in an archive, as a DICOM object (Encapsulated PDF), by C-STORE or STOW-RS.
//!
//! All identifiers of a letter come from the delivery. The instance comes from the key, so a repetition is the same
//! object. Study and series come from the document and its patient, so a new version goes into the same series. Success
//! proves the content only because the instance is bound to it: archives keep the first of two objects and answer
//! "success" to both. Some are damaged by a repetition, and many refuse queries and end the association with them. So
//! after a lost answer docsyncd first queries the archive, on an association of its own; if the archive does not tell,
//! it sends the same object again. The answer is classified by its codes.

use async_trait::async_trait;
use serde_json::Value;

use super::confirm::Sights;
use super::web_client::WebClient;
use super::{
    Adapter, Checked, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned, Unproved, spooled, wording,
};
use crate::destinations::LostReply;
use crate::domain::document::{DocumentUuid, Metadata, RemoteIdentity};
use crate::domain::failure::Code;
use crate::domain::proof::{Filed, Proof, Sight};
use crate::formats::template::Context;
use crate::patients::Unmatched;
use crate::system::tls::Tls;

mod association;
mod dimse;
mod element;
mod object;
mod settings;
#[cfg(test)]
mod tests;
mod web;

pub use association::{Answers, Message};
use dimse::Dimse;
use object::Uids;
use object::holds;
pub use settings::*;
use web::Web;

/// Duplicate SOP Instance (DICOM PS3.7, annex C).
const DUPLICATE: u16 = 0x0111;

/// Encapsulated PDF Storage (PS3.4, annex B).
const PDF_STORAGE: &str = "1.2.840.10008.5.1.4.1.1.104.1";
/// Explicit and Implicit VR Little Endian (PS3.5, annex A).
const EXPLICIT: &str = "1.2.840.10008.1.2.1";
const IMPLICIT: &str = "1.2.840.10008.1.2";

/// What the archive has for a letter.
enum InArchive {
    Ours,
    /// Another content with the letter's identifiers.
    Other,
    Nothing,
    /// The archive refuses queries, or its response is no answer.
    Hidden,
    /// Nobody can query at the moment.
    Unseen(Outcome),
}

/// Whether a length from the archive is that of the PDF, or of the PDF padded to an even length.
fn length_is(told: u64, size: u64) -> bool {
    told == size || told == size.next_multiple_of(2)
}

/// The archive's names for messages.
struct Archive {
    name: String,
    /// As in `dicom://pacs.practice.test:104/PACS`; for DICOMweb its URL.
    address: String,
}

enum Way {
    Host(Box<Dimse>),
    Web(Box<Web>),
}

/// A DICOM archive.
pub struct DicomAdapter {
    config: DicomConfig,
    archive: Archive,
    way: Way,
}

impl Archive {
    fn named(&self, words: &str) -> String {
        format!("destination `{}`: {words}", self.name)
    }

    /// A message about the archive.
    fn said(&self, words: &str) -> String {
        self.named(&format!("{}: {words}", self.address))
    }

    /// The outcome for a letter with this status (PS3.4, B.2.3; PS3.7, annex C).
    fn of_status(&self, status: u16) -> Result<(), Outcome> {
        let code = Code::Word(format!("dicom_{status:04x}").into());
        let said = |words: &str| self.said(&format!("it answers with status {status:04X}: {words}"));
        Err(match status {
            // Success, and the class of warnings: the letter was stored.
            0x0000 | 0x0001 | 0x0107 | 0x0116 | 0xb000..=0xbfff => return Ok(()),
            // The archive has it: no other object has its identifier.
            DUPLICATE => return Ok(()),
            0xa700..=0xa7ff => Outcome::NoRoom(said("it has no room left")),
            0x0122 | 0x0124 => Outcome::Unavailable {
                code,
                reason: said("it does not let docsyncd store documents: check its rights for `calling_ae_title`"),
                retry_after: None,
            },
            0x0105 | 0x0106 | 0x0115 | 0x0117 | 0x0119..=0x0121 | 0xa900..=0xa9ff | 0xc000..=0xcfff => {
                Outcome::Permanent { code, reason: said("it refuses the letter because of its content") }
            }
            _ => Outcome::transient(code, said("it cannot take the letter at the moment")),
        })
    }
}

impl DicomAdapter {
    /// Opens nothing.
    pub fn new(config: DicomConfig) -> Self {
        let way = match &config.archive {
            DicomArchive::Host(host) => {
                let tls = host.tls.clone().map(Tls::new);
                Way::Host(Box::new(Dimse { host: (**host).clone(), tls }))
            }
            DicomArchive::Web { connection, base } => {
                Way::Web(Box::new(Web { client: WebClient::new((**connection).clone()), base: base.clone() }))
            }
        };
        let archive = Archive { name: config.name.clone(), address: address(&config.archive) };
        Self { config, archive, way }
    }

    /// The patient's identifier in the archive.
    fn patient_id(&self, metadata: &Metadata) -> Result<String, Outcome> {
        let id = wording::patient_id(&self.config.name, &self.config.patient_id, metadata)?;
        // A changed identifier would be another patient's.
        if holds(&id) { Ok(id) } else { Err(wording::not_said(&self.config.name, metadata)) }
    }

    async fn find(&self, uids: &Uids, size: u64) -> InArchive {
        match &self.way {
            Way::Host(host) => host.find(&self.archive, uids, size).await,
            Way::Web(web) => web.find(uids, size).await,
        }
    }

    async fn store(&self, item: &Item, uids: &Uids, patient_id: &str) -> Result<(), Outcome> {
        let context = Context::new(&item.metadata);
        let not_filled_in = |error| wording::not_filled_in(&self.config.name, "title", &error);
        let title = self.config.title.render(&context).map_err(not_filled_in)?;
        let kept = context.unchanged(&title, &object::line(&title, object::TITLE));
        kept.map_err(|changed| not_filled_in(changed.into()))?;
        let letter = |is_explicit| {
            object::letter(&self.config, item, (uids, patient_id, &title), is_explicit).ok_or_else(|| {
                Outcome::permanent("too_large", self.archive.named("the PDF is larger than an object of DICOM can be"))
            })
        };
        let patient = Value::from(patient_id);
        match &self.way {
            Way::Web(web) => {
                let waits = self.config.confirm.is_some();
                web.store(&self.archive, (item, uids), letter(true)?, &patient, waits).await
            }
            Way::Host(host) => host.store(&self.archive, (item, uids), letter, &patient).await,
        }
    }

    async fn bring(&self, item: &Item) -> Result<Outcome, Outcome> {
        let patient_id = self.patient_id(&item.metadata)?;
        let uids = Uids::of(&self.config.name, item, &patient_id);
        if item.uncertain
            && let Some(outcome) = self.looked_for(item, &uids).await?
        {
            return Ok(outcome);
        }
        let is_asked = self.config.verifies || self.config.confirm.is_some();
        let lost = match self.store(item, &uids, &patient_id).await {
            Ok(()) if !is_asked => return Ok(self.there(&uids, false)),
            Ok(()) => None,
            Err(outcome @ Outcome::Unconfirmed { .. }) => Some(outcome),
            Err(outcome) => return Err(outcome),
        };
        let not_shown = |words| Outcome::Unconfirmed { code: Code::word("not_seen"), reason: self.archive.said(words) };
        match (self.find(&uids, item.pdf.size).await, lost) {
            (InArchive::Ours, _) => Ok(self.there(&uids, true)),
            (InArchive::Other, _) => Err(self.other()),
            (InArchive::Hidden, Some(lost)) => Err(item.unseen(lost, self.holds()).await),
            (InArchive::Nothing | InArchive::Unseen(_), Some(lost)) => Err(lost),
            // A look for a proof queries the archive later.
            (_, None) if !self.config.verifies || self.config.confirm.is_some() => Ok(self.there(&uids, false)),
            (InArchive::Hidden, None) => Err(item.unseen(not_shown(NO_QUERIES), self.holds()).await),
            (InArchive::Nothing | InArchive::Unseen(_), None) => {
                Err(not_shown("it says that it keeps the letter, and does not show it"))
            }
        }
    }

    /// Whether the archive has a letter that may have arrived; `None`: it is to be sent.
    async fn looked_for(&self, item: &Item, uids: &Uids) -> Result<Option<Outcome>, Outcome> {
        // It was sent for the patient of that time, who may be another now.
        let then = item.committed().await?.and_then(|committed| Some(committed.patient?.as_str()?.to_owned()));
        let then = then.map(|patient_id| Uids::of(&self.config.name, item, &patient_id)).filter(|then| then != uids);
        match (self.find(then.as_ref().unwrap_or(uids), item.pdf.size).await, then) {
            (InArchive::Ours, None) => Ok(Some(self.there(uids, true))),
            (InArchive::Other, _) => Err(self.other()),
            (InArchive::Unseen(outcome), _) => Err(outcome),
            (InArchive::Hidden, _) if self.holds() => {
                Err(Outcome::cut_off("docsyncd ended before its answer came, and it allows no query"))
            }
            (InArchive::Ours | InArchive::Hidden, Some(_)) => Err(Outcome::NeedsPerson(Unmatched::OtherNumber)),
            (InArchive::Hidden, None) | (InArchive::Nothing, _) => Ok(None),
        }
    }

    fn holds(&self) -> bool {
        self.config.on_lost_reply == LostReply::Hold
    }

    fn other(&self) -> Outcome {
        let words = "it keeps another content under this letter's identifiers: look there, and remove it";
        Outcome::permanent("other_content", self.archive.said(words))
    }

    /// The letter is there. `confirm = "query"` asks whether it was seen.
    fn there(&self, uids: &Uids, seen: bool) -> Outcome {
        let waits = (!seen && self.config.confirm.is_some()).then(|| Box::new(Filed::default()));
        Outcome::Delivered { place: uids.place(&self.archive.address), filed: waits, proof: None, beside: false }
    }

    /// Whether the archive answers queries, tested with a made-up letter.
    async fn rehearse(&self) -> Result<InArchive, Outcome> {
        let uids = ["check", "check study", "check series"].map(|of| RemoteIdentity::of_key(of).oid());
        let [instance, study, series] = uids;
        let nobody = Uids { instance, study, series };
        match &self.way {
            Way::Web(web) => {
                if let Err((status @ (400 | 401 | 404 | 407), wait)) = web.ask(&nobody).await? {
                    return Err(web.client.of_status(status, true, wait));
                }
            }
            Way::Host(host) => host.echo(&self.archive).await?,
        }
        Ok(self.find(&nobody, 0).await)
    }
}

const NO_QUERIES: &str = "it may not be asked for a letter (C-FIND, QIDO-RS): have that allowed there";

#[async_trait]
impl Adapter for DicomAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = spooled::verify(&self.config.name, item).await {
            return outcome;
        }
        self.bring(item).await.unwrap_or_else(|outcome| outcome)
    }

    fn unusable(&self) -> Option<String> {
        let set_up = match &self.way {
            Way::Host(host) => host.tls.as_ref().map_or(Ok(()), |tls| tls.set_up().map(|_| ())),
            Way::Web(web) => web.client.configured(),
        };
        set_up.err().map(|wrong| self.archive.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        let is_held = |id: String| holds(id.trim());
        invented.holds(&[&self.config.title]) && invented.text(&self.config.patient_id).is_some_and(is_held)
    }

    async fn plan(&self, _: &DocumentUuid, metadata: &Metadata, _: &Known) -> Result<Planned, String> {
        let context = Context::new(metadata);
        let id = self.config.patient_id.render(&context).map_err(|error| format!("patient_id: {error}"))?;
        let title = self.config.title.render(&context).map_err(|error| format!("title: {error}"))?;
        let place = format!("{} ({title}, patient {})", self.archive.address, id.trim());
        Ok(Planned { place, otherwise: None, taken: false, problem: None })
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        let needs_queries = self.config.verifies || self.config.confirm.is_some();
        let mut checked = Checked::default();
        match self.rehearse().await.map_err(Outcome::into_reason)? {
            InArchive::Nothing => checked.notes.push("it answers when it is asked for a letter".to_owned()),
            InArchive::Unseen(outcome) => return Err(outcome.into_reason()),
            _ if needs_queries => return Err(self.archive.said(NO_QUERIES)),
            _ => {
                let then = if self.holds() { "waits for a person" } else { "is sent again as the same object" };
                checked.warnings.push(format!("{NO_QUERIES}; a letter whose answer is lost {then}"));
            }
        }
        Ok(checked)
    }

    fn proof(&self) -> Proof {
        if self.config.verifies || self.config.confirm.is_some() { Proof::Query } else { Proof::Accepted }
    }

    async fn look(&self, letters: &[Unproved], _: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        let mut sights = Sights::default();
        for letter in letters {
            let Some(uids) = Uids::of_place(&self.archive.address, &letter.place, &letter.key) else {
                sights.add(Ok(Sight::Waits))?;
                continue;
            };
            sights.add(match self.find(&uids, letter.size).await {
                InArchive::Ours => Ok(Sight::Proved { proof: Proof::Query, place: None, seen: None }),
                InArchive::Other | InArchive::Nothing => Ok(Sight::Waits),
                InArchive::Hidden => {
                    return Err(Outcome::transient(Code::word("no_look"), self.archive.said(NO_QUERIES)));
                }
                InArchive::Unseen(outcome) => Err(outcome),
            })?;
        }
        sights.all()
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            let Some(uids) = Uids::of_place(&self.archive.address, &letter.place, &letter.key) else {
                found.push(Holds::Unknown);
                continue;
            };
            found.push(match self.find(&uids, letter.size).await {
                InArchive::Ours => Holds::Same,
                InArchive::Other => Holds::Other,
                InArchive::Nothing => Holds::Nothing,
                InArchive::Hidden => Holds::Unknown,
                InArchive::Unseen(outcome) => return Err(outcome),
            });
        }
        Ok(found)
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.max_connections)
    }
}

/// The archive, as in `dicom://pacs.practice.test:104/PACS`; for DICOMweb its URL.
fn address(archive: &DicomArchive) -> String {
    match archive {
        DicomArchive::Web { base, .. } => base.as_str().trim_end_matches('/').to_owned(),
        DicomArchive::Host(host) => {
            let (scheme, name, port) = (if host.tls.is_some() { "dicoms" } else { "dicom" }, &host.host, host.port);
            let name = if name.contains(':') { format!("[{name}]") } else { name.clone() };
            format!("{scheme}://{name}:{port}/{}", host.called)
        }
    }
}
