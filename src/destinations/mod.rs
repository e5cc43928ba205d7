//! Destinations: each adapter is a module that brings a spooled PDF into one kind of system.
//!
//! An adapter decides nothing about retries, states or routes. It answers what happened, in words that may be logged
//! and reported: a reason never contains patient data, so no rendered name, path or value stands in it.

mod blocking;
mod candidate;
mod command;
mod confirm;
#[cfg(test)]
mod contract;
#[cfg(feature = "dicom")]
mod dicom;
mod fault;
#[cfg(feature = "fhir")]
mod fhir;
mod files;
mod filing;
mod folder;
#[cfg(feature = "hl7v2")]
mod hl7v2;
mod holds;
mod http;
mod left_out;
#[cfg(any(feature = "dicom", feature = "hl7v2"))]
mod line;
mod names;
mod numbers;
mod outcome;
#[cfg(any(feature = "hl7v2", feature = "sftp"))]
mod pool;
mod remote;
#[cfg(feature = "s3")]
mod s3;
#[cfg(feature = "sftp")]
mod sftp;
#[cfg(feature = "smtp")]
mod smtp;
mod spooled;
mod vdds;
mod web_client;
mod webdav;
mod wording;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use command::{CommandAdapter, output_file, output_files};
#[cfg(feature = "dicom")]
pub use dicom::{Answers, DicomAdapter, Message};
#[cfg(feature = "fhir")]
pub use fhir::{FhirAdapter, shown_letters};
pub use folder::FolderAdapter;
pub(crate) use folder::open_filed;
#[cfg(windows)]
pub use folder::refused_drive;
#[cfg(feature = "hl7v2")]
pub use hl7v2::{Block, Hl7Adapter, Meaning, NotHl7};
pub use holds::{Holds, Kept};
pub use http::HttpAdapter;
pub use names::{Names, Unrecorded};
pub use numbers::holds_number;
pub use outcome::Outcome;
#[cfg(test)]
pub(crate) use remote::simulated;
#[cfg(feature = "s3")]
pub use s3::S3Adapter;
#[cfg(feature = "sftp")]
pub use sftp::{ServerKey, SftpAdapter, unknown_key};
#[cfg(feature = "smtp")]
pub use smtp::SmtpAdapter;
pub use vdds::{VddsAdapter, exchange, exported_pdf, mmi_file, read_ini, read_ini_bytes};
pub use webdav::WebDavAdapter;

use crate::config::{Config, Destination, DestinationKind};
use crate::domain::document::{DocumentUuid, Metadata, Spooled};
use crate::domain::proof::{Filed, Proof, PutIn, Sight};
use crate::domain::reservation::{Intent, Known, Place, Wanted};
use crate::system::clock::{self, Millis};

/// The longest time for a document, whatever its progress: a large PDF over a slow line takes minutes, and a peer that
/// drips takes for ever.
const DOCUMENT_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How often a letter is sent whose answers are lost, where nobody can look: each copy may lie there.
const MOST_SENT: u32 = 3;
/// The longest time for a check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// One delivery: what an adapter gets.
#[derive(Debug, Clone)]
pub struct Item {
    /// The document.
    pub uuid: DocumentUuid,
    /// The same for every repetition of this delivery, different for every other one
    /// ([`crate::domain::document::Version::delivery_key`]): the peer can recognise what it already has.
    pub key: String,
    /// The key of the version of the document that came there before, or may have: this one replaces it.
    pub replaces: Option<String>,
    /// The PDF.
    pub pdf: Spooled,
    /// What the API said of document, patient and user.
    pub metadata: Arc<Metadata>,
    /// The ledger's word on its names in the destination.
    pub names: Arc<dyn Names>,
    /// Whether an attempt that was cut off, or whose answer was lost, may have delivered it: an adapter that can look
    /// does so before it sends anything.
    pub uncertain: bool,
    /// Whether an attempt before this one may have left something that no intent tells of: one failed, or docsyncd was
    /// started anew since the document was found.
    pub tried: bool,
    /// Whether the ledger was restored from a backup, and may not know of the last attempts: a name may be of an attempt
    /// that was not the last one. Its intents are of attempts since.
    pub restored: bool,
}

impl Item {
    /// Records the intent of a delivery that gets no name, but is known at the destination by its key: awaited right
    /// before the step that cannot be taken back (a PUT, a POST). After a crash, and after [`Outcome::Unconfirmed`],
    /// the next attempt is [`Self::uncertain`]; every other outcome says that this attempt delivered nothing, and takes
    /// the intent back. The time and what the destination calls the patient are kept with it ([`Self::committed`]).
    ///
    /// # Errors
    /// [`Outcome::Unrecorded`]: nothing may be sent then.
    pub(crate) async fn committing_to(&self, patient: Option<&serde_json::Value>) -> Result<(), Outcome> {
        self.commit(|before| Committed { sent: before.sent + 1, ..Committed::now(patient) }).await
    }

    /// Records that the answer to what was sent may still come, or show itself: waits count from now on. `is_taken`:
    /// the destination said that it took it.
    ///
    /// # Errors
    /// [`Outcome::Unrecorded`]
    pub(crate) async fn waiting_since_now(
        &self,
        patient: Option<&serde_json::Value>,
        is_taken: bool,
    ) -> Result<(), Outcome> {
        self.commit(|before| Committed { sent: before.sent, is_taken, ..Committed::now(patient) }).await
    }

    async fn commit(&self, next: impl FnOnce(Committed) -> Committed + Send) -> Result<(), Outcome> {
        let place = Self::identity_of(&self.key);
        let wanted = Wanted { place: place.clone(), family: place.clone() };
        let known = self.names.known().await?;
        let committed = next(self.committed_in(&known).unwrap_or_else(|| Committed::now(None)));
        let committed = serde_json::to_string(&committed).map_err(|_| Outcome::Unrecorded)?;
        let intent = Intent { place, path: format!("{} {committed}", self.key), temporary: self.key.clone() };
        match self.names.reserve(known.version, &wanted, Some(&intent)).await? {
            true => Ok(()),
            // Nobody else has the key; a ledger that says so cannot be believed.
            false => Err(Outcome::Unrecorded),
        }
    }

    /// What is known of an attempt whose intent still stands.
    ///
    /// # Errors
    /// [`Outcome::Unrecorded`]
    pub(crate) async fn committed(&self) -> Result<Option<Committed>, Outcome> {
        Ok(self.committed_in(&self.names.known().await?))
    }

    fn committed_in(&self, known: &Known) -> Option<Committed> {
        serde_json::from_str(known.intent.as_ref()?.path.strip_prefix(&self.key)?).ok()
    }

    /// The outcome where nobody can look whether it arrived: if an answer is lost, a person decides, at once if
    /// `holds`, or when as many copies as [`MOST_SENT`] may be there.
    pub(crate) async fn unseen(&self, outcome: Outcome, holds: bool) -> Outcome {
        let is_lost = matches!(outcome, Outcome::Unconfirmed { .. });
        let is_enough = async || matches!(self.committed().await, Ok(Some(sent)) if sent.sent >= MOST_SENT);
        let holds = is_lost && (holds || is_enough().await);
        outcome.held_if(holds)
    }

    /// The place of a delivery without a name: its key, which no other has.
    pub(crate) fn identity_of(key: &str) -> Place {
        Place::of(&format!("delivery {key}"))
    }
}

/// A step that cannot be taken back, as its intent tells of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Committed {
    /// When it was about to be taken, or its answer was lost.
    pub(crate) at: Millis,
    /// What the destination called the patient, if it was asked.
    pub(crate) patient: Option<serde_json::Value>,
    /// How often it was sent since a person last looked.
    #[serde(default)]
    pub(crate) sent: u32,
    /// Whether the destination said that it took it.
    #[serde(default)]
    pub(crate) is_taken: bool,
}

impl Committed {
    fn now(patient: Option<&serde_json::Value>) -> Self {
        Self { at: clock::now(), patient: patient.cloned(), sent: 0, is_taken: false }
    }
}

/// What a check of a destination that works found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// What to know of it, such as a fingerprint.
    pub notes: Vec<String>,
    /// Promises that are weaker there.
    pub warnings: Vec<String>,
}

/// A letter that was filed, and of which it is not known whether the destination's software took it. Holds patient
/// data, so it has no `Debug`.
#[derive(Clone)]
pub struct Unproved {
    /// The document.
    pub uuid: DocumentUuid,
    /// [`Item::key`] of the delivery.
    pub key: String,
    /// Where it was put.
    pub filed: Filed,
    /// The same as a person is shown it: another one than the destination would show now says that it lies elsewhere.
    pub place: String,
    /// Length in bytes and SHA-256, 64 lower-case hexadecimal digits, of the PDF.
    pub size: u64,
    /// As above.
    pub sha256: String,
    /// What the API said of document, patient and user.
    pub metadata: Arc<Metadata>,
}

/// What is known of other letters of the same destination: no file proves two of them.
#[async_trait]
pub trait Others: Send + Sync {
    /// Whether another letter lies at this path below the destination's folder, or is known to lie at this place as a
    /// person is shown it.
    async fn have(&self, path: &str, place: &str) -> bool;

    /// Whether a letter with this content (SHA-256, 64 lower-case hexadecimal digits) was ever put there.
    async fn sent(&self, sha256: &str) -> bool;
}

/// A destination.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Brings the PDF there. Repeating it under the same key is harmless. It ends in bounded time by itself, also when
    /// the destination hangs.
    async fn deliver(&self, item: &Item) -> Outcome;

    /// What is known of the document is about to be read anew, so the next delivery may lead elsewhere: clears away
    /// what an attempt at this one that was cut off may have left. What cannot be cleared away is left.
    async fn abandon(&self, _item: &Item) {}

    /// Why it cannot be used as it is configured, found out without the network ([`unusable`]).
    fn unusable(&self) -> Option<String> {
        None
    }

    /// What a delivery of this document would do, with what is `known` of its names there. Changes nothing.
    ///
    /// # Errors
    /// Why nothing can be said; without patient data.
    async fn plan(&self, _: &DocumentUuid, _: &Metadata, _: &Known) -> Result<Planned, String> {
        Err("nobody knows before it is sent".to_owned())
    }

    /// Whether the destination works as a whole, tried for real; the error says what is wrong and what to do. It ends
    /// in bounded time by itself, too.
    async fn check(&self) -> Result<Checked, String>;

    /// Whether its folder is there, and is the one in which these letters wait for their proof, looked at while no letter
    /// goes there. It ends in bounded time by itself.
    ///
    /// # Errors
    /// It is not, or does not answer.
    async fn is_there(&self, _waiting: Vec<PutIn>) -> Result<(), Outcome> {
        Ok(())
    }

    /// Whether the PDF must be a file of this machine, because another program is to read it.
    fn needs_file(&self) -> bool {
        false
    }

    /// What shows that a letter is there as soon as it is delivered.
    fn proof(&self) -> Proof {
        Proof::Accepted
    }

    /// Looks which of the letters that were filed the destination's software has taken (`confirm`): one answer for
    /// each, in their order. However many letters lie in one folder, that folder is listed once.
    ///
    /// # Errors
    /// Nothing can be said just now: the share is away, the server does not answer.
    async fn look(&self, _letters: &[Unproved], _others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        Err(Outcome::no_look())
    }

    /// Looks whether letters that were delivered lie where they were put, with their content: one answer for each, in
    /// their order. It only reads.
    ///
    /// # Errors
    /// Nothing can be said just now: the share is away, the server does not answer.
    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        Ok(vec![Holds::Unknown; letters.len()])
    }

    /// Folders of this machine in which something happens when a letter is taken. They are watched where the system
    /// can.
    fn watched(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The most deliveries at a time (`max_connections`); `None`: `sync.max_concurrency`.
    fn max_connections(&self) -> Option<usize> {
        None
    }
}

/// What a delivery would do, as far as it can be known before the document is there. Holds patient data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The file, or the program with its arguments.
    pub place: String,
    /// What it is called where that name is another document's; `None` where names cannot be taken.
    pub otherwise: Option<String>,
    /// Whether something has that name already; not asked for on another machine.
    pub taken: bool,
    /// What is in the way, in words that may be logged.
    pub problem: Option<String>,
}

/// What a delivery of this document would do, with what is `known` of its names there. Changes nothing at the
/// destination.
///
/// # Errors
/// Why nothing can be said; without patient data.
pub async fn plan(
    destination: &Destination,
    uuid: &DocumentUuid,
    metadata: &Metadata,
    known: &Known,
) -> Result<Planned, String> {
    build(destination, Path::new("")).plan(uuid, metadata, known).await
}

/// Why a destination cannot be used as it is configured: a secret whose file is missing, open to others or not what it
/// should be. A matter of configuration, found out without the network.
pub fn unusable(destination: &Destination) -> Option<String> {
    build(destination, Path::new("")).unusable()
}

/// Prepares this process, once: where a destination makes sub-folders that are open to their group, the umask must not
/// take that away.
pub fn prepare(config: &Config) {
    let opens = config.destinations.values().any(|destination| match &destination.kind {
        DestinationKind::Folder(folder) => folder.dir_mode & 0o070 != 0,
        _ => false,
    });
    if opens {
        crate::system::durable::let_groups_in();
    }
}

/// Whether the reader that the destination names can read what is filed there, tried with a file and a sub-folder of
/// its own. Apart from [`Adapter::check`], because a letter that nobody can read yet is filed all the same.
///
/// # Errors
/// Why it cannot, and what to do.
pub async fn readable(destination: &Destination) -> Result<(), String> {
    match &destination.kind {
        DestinationKind::Folder(folder) => folder::readable(folder).await,
        _ => Ok(()),
    }
}

/// Builds the adapter of a configured destination. Opens nothing: a share that is offline is found out by use. What an
/// adapter keeps on this machine lies beside `ledger`.
pub fn build(destination: &Destination, ledger: &Path) -> Box<dyn Adapter> {
    match &destination.kind {
        DestinationKind::Folder(folder) => Box::new(FolderAdapter::new(folder.clone())),
        DestinationKind::Command(command) => Box::new(CommandAdapter::new(command.clone(), ledger)),
        #[cfg(feature = "sftp")]
        DestinationKind::Sftp(sftp) => Box::new(SftpAdapter::new(sftp.clone())),
        DestinationKind::Http(http) => Box::new(HttpAdapter::new((**http).clone())),
        DestinationKind::WebDav(webdav) => Box::new(WebDavAdapter::new((**webdav).clone())),
        #[cfg(feature = "s3")]
        DestinationKind::S3(s3) => Box::new(S3Adapter::new((**s3).clone())),
        #[cfg(feature = "fhir")]
        DestinationKind::Fhir(fhir) => Box::new(FhirAdapter::new((**fhir).clone())),
        #[cfg(feature = "hl7v2")]
        DestinationKind::Hl7v2(hl7) => Box::new(Hl7Adapter::new((**hl7).clone())),
        #[cfg(feature = "dicom")]
        DestinationKind::Dicom(dicom) => Box::new(DicomAdapter::new((**dicom).clone())),
        #[cfg(feature = "smtp")]
        DestinationKind::Smtp(smtp) => Box::new(SmtpAdapter::new((**smtp).clone())),
        DestinationKind::Vdds(vdds) => Box::new(VddsAdapter::new(vdds.clone(), ledger)),
        #[cfg(not(all(
            feature = "sftp",
            feature = "s3",
            feature = "fhir",
            feature = "hl7v2",
            feature = "dicom",
            feature = "smtp"
        )))]
        _ => Box::new(left_out::LeftOut(destination.name.clone())),
    }
}
