//! Destinations: each adapter is a module that brings a spooled PDF into one kind of system.
//!
//! An adapter decides nothing about retries, states or routes. It reports what happened, in words that may be logged
//! and reported. A reason never contains patient data, and so no rendered name, path or value.

mod blocking;
mod candidate;
mod command;
mod confirm;
#[cfg(test)]
mod contract;
// A kind that is left out is its settings alone, so that its configuration is checked all the same.
#[cfg_attr(not(feature = "dicom"), path = "dicom/settings.rs")]
mod dicom;
mod fault;
#[cfg_attr(not(feature = "fhir"), path = "fhir/settings.rs")]
mod fhir;
mod files;
mod filing;
mod folder;
#[cfg_attr(not(feature = "hl7v2"), path = "hl7v2/settings.rs")]
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
#[cfg_attr(not(feature = "s3"), path = "s3/settings.rs")]
mod s3;
pub(crate) mod settings;
#[cfg_attr(not(feature = "sftp"), path = "sftp/settings.rs")]
mod sftp;
#[cfg_attr(not(feature = "smtp"), path = "smtp/settings.rs")]
mod smtp;
mod spooled;
mod vdds;
mod web_client;
mod webdav;
mod wording;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use command::{CommandAdapter, CommandConfig, output_file, output_files};
#[cfg(feature = "dicom")]
pub use dicom::{Answers, DicomAdapter, Message};
pub use dicom::{DicomArchive, DicomConfig, DicomHost};
#[cfg(feature = "fhir")]
pub use fhir::{FhirAdapter, shown_letters};
pub use fhir::{FhirConfig, FhirPatient, FhirProfile};
pub(crate) use folder::open_filed;
#[cfg(windows)]
pub use folder::refused_drive;
pub use folder::{FolderAdapter, FolderConfig};
pub use hl7v2::Hl7v2Config;
#[cfg(feature = "hl7v2")]
pub use hl7v2::{Block, Hl7Adapter, Meaning, NotHl7};
pub use holds::{Holds, Kept};
pub use http::{HttpAdapter, HttpBody, HttpConfig, Lookup};
pub use names::{Names, Unrecorded};
pub use numbers::{Invented, holds_number};
pub use outcome::Outcome;
#[cfg(test)]
pub(crate) use remote::simulated;
#[cfg(feature = "s3")]
pub use s3::S3Adapter;
pub use s3::S3Config;
pub use settings::keys::LostReply;
pub(crate) use settings::presets;
pub use settings::remote::RemoteFolder;
pub use settings::sidecar::SidecarConfig;
pub use settings::web::{WebConnection, WebSignIn};
#[cfg(feature = "sftp")]
pub use sftp::{ServerKey, SftpAdapter, unknown_key};
pub use sftp::{SftpConfig, SshHostKey, SshSignIn};
#[cfg(feature = "smtp")]
pub use smtp::SmtpAdapter;
pub use smtp::{Attach, SmtpConfig, XdmConfig};
pub use vdds::{VddsAdapter, VddsConfig, VddsProgram, exchange, exported_pdf, mmi_file, read_ini, read_ini_bytes};
pub use webdav::{WebDavAdapter, WebDavConfig};

use crate::config::{Config, Destination, DestinationKind, Schema};
use crate::domain::document::{DocumentUuid, Metadata, Spooled};
use crate::domain::proof::{Filed, Proof, PutIn, Sight};
use crate::domain::reservation::{Intent, Known, Place, Wanted};
use crate::system::clock::{self, Millis};

/// Builds the adapter of a destination, if it is of this kind. What it keeps on this machine lies beside the ledger.
type Build = fn(&Destination, &Path) -> Option<Box<dyn Adapter>>;

/// A kind of destination with its adapter.
struct Registered {
    kind: &'static DestinationKind,
    /// The feature of Cargo.toml without which it is left out.
    feature: Option<&'static str>,
    /// `None`: it is left out of this program.
    build: Option<Build>,
}

/// The kinds by their modules, each with the feature that it needs, its settings, and what makes an adapter of them.
macro_rules! kinds {
    (@build $kind:ident $Settings:ident $make:expr) => {
        Some(|destination, ledger| {
            let make = $make;
            Some(Box::new(make(destination.of::<$Settings>()?.clone(), ledger)))
        })
    };
    (@build $kind:ident $feature:literal $Settings:ident $make:expr) => {{
        #[cfg(feature = $feature)]
        let build: Option<Build> = kinds!(@build $kind $Settings $make);
        #[cfg(not(feature = $feature))]
        let build: Option<Build> = None;
        build
    }};
    (@feature) => { None };
    (@feature $feature:literal) => { Some($feature) };
    ($($kind:ident $($feature:literal)?: $Settings:ident, $make:expr;)*) => {
        &[$(Registered {
            kind: &$kind::KIND,
            feature: kinds!(@feature $($feature)?),
            build: kinds!(@build $kind $($feature)? $Settings $make),
        }),*]
    };
}

/// All kinds of destinations, in the order in which people read of them. The configuration, `setup` and everything else
/// know them from this table.
static KINDS: &[Registered] = kinds! {
    folder: FolderConfig, |config, _: &Path| FolderAdapter::new(config);
    command: CommandConfig, CommandAdapter::new;
    sftp "sftp": SftpConfig, |config, _: &Path| SftpAdapter::new(config);
    http: HttpConfig, |config, _: &Path| HttpAdapter::new(config);
    webdav: WebDavConfig, |config, _: &Path| WebDavAdapter::new(config);
    s3 "s3": S3Config, |config, _: &Path| S3Adapter::new(config);
    fhir "fhir": FhirConfig, |config, _: &Path| FhirAdapter::new(config);
    hl7v2 "hl7v2": Hl7v2Config, |config, _: &Path| Hl7Adapter::new(config);
    dicom "dicom": DicomConfig, |config, _: &Path| DicomAdapter::new(config);
    smtp "smtp": SmtpConfig, |config, _: &Path| SmtpAdapter::new(config);
    vdds: VddsConfig, VddsAdapter::new;
};

/// Every setting of a configuration, with those of all kinds of destinations.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of(kinds().collect()));

/// The kinds of destinations.
pub fn kinds() -> impl Iterator<Item = &'static DestinationKind> {
    KINDS.iter().map(|registered| registered.kind)
}

/// The features that add kinds of destinations to this program, by their names.
pub fn features() -> Vec<&'static str> {
    let is_in = |registered: &&Registered| registered.build.is_some();
    let mut features: Vec<_> = KINDS.iter().filter(is_in).filter_map(|registered| registered.feature).collect();
    features.sort_unstable();
    features
}

/// The longest time for a document, whatever its progress. A large PDF over a slow line takes minutes, but a peer that
/// drips takes for ever.
const DOCUMENT_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How often a letter is sent whose answers are lost, if nobody can look. Each copy may be there.
const MOST_SENT: u32 = 3;
/// The longest time for a check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// One delivery, as an adapter gets it.
#[derive(Debug, Clone)]
pub struct Item {
    /// The document.
    pub uuid: DocumentUuid,
    /// The same for every repetition of this delivery, and different for every other one
    /// ([`crate::domain::document::Version::delivery_key`]), so that the peer can recognise a repetition.
    pub key: String,
    /// The key of the document's version that is there, or may be. This version replaces it.
    pub replaces: Option<String>,
    /// Whether the same PDF was another patient's before, so that a copy with the same content may be there.
    pub has_editions: bool,
    /// The PDF.
    pub pdf: Spooled,
    /// What the API said of document, patient and user.
    pub metadata: Arc<Metadata>,
    /// The names of the document in the destination, by the ledger.
    pub names: Arc<dyn Names>,
    /// Whether an interrupted attempt, or one whose answer was lost, may have delivered it. An adapter that can look
    /// does so before it sends anything.
    pub uncertain: bool,
    /// Whether an earlier attempt may have left something without an intent: an attempt failed, or docsyncd was
    /// restarted since the document was found.
    pub tried: bool,
    /// Whether the ledger was restored from a backup and may lack the last attempts. Then a name may be that of an
    /// older attempt. Intents are of attempts since the restore.
    pub restored: bool,
}

impl Item {
    /// Records the intent of a delivery without a name, which the destination knows by its key. Awaited right before
    /// the irreversible step (a PUT, a POST). After a crash, and after [`Outcome::Unconfirmed`], the next attempt is
    /// [`Self::uncertain`]. Every other outcome says that this attempt delivered nothing, and withdraws the intent. The
    /// time and the destination's reference for the patient are recorded with it ([`Self::committed`]).
    ///
    /// # Errors
    /// [`Outcome::Unrecorded`]: nothing may be sent then.
    pub(crate) async fn committing_to(&self, patient: Option<&serde_json::Value>) -> Result<(), Outcome> {
        self.commit(|before| Committed { sent: before.sent + 1, ..Committed::now(patient) }).await
    }

    /// Records that the answer may still come, or that the letter may still appear: waits count from now on.
    /// `is_taken`: the destination said that it took the letter.
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
            // Nobody else has the key, so a ledger that says so is wrong.
            false => Err(Outcome::Unrecorded),
        }
    }

    /// The recorded intent, if it still stands.
    ///
    /// # Errors
    /// [`Outcome::Unrecorded`]
    pub(crate) async fn committed(&self) -> Result<Option<Committed>, Outcome> {
        Ok(self.committed_in(&self.names.known().await?))
    }

    fn committed_in(&self, known: &Known) -> Option<Committed> {
        serde_json::from_str(known.intent.as_ref()?.path.strip_prefix(&self.key)?).ok()
    }

    /// The outcome if nobody can look whether the letter arrived. If an answer is lost, a person decides: at once if
    /// `holds`, otherwise when [`MOST_SENT`] copies may be there.
    pub(crate) async fn unseen(&self, outcome: Outcome, holds: bool) -> Outcome {
        let is_lost = matches!(outcome, Outcome::Unconfirmed { .. });
        let is_enough = async || matches!(self.committed().await, Ok(Some(sent)) if sent.sent >= MOST_SENT);
        let holds = is_lost && (holds || is_enough().await);
        outcome.held_if(holds)
    }

    /// The place of a delivery without a name: its unique key.
    pub(crate) fn identity_of(key: &str) -> Place {
        Place::of(&format!("delivery {key}"))
    }
}

/// The record of an irreversible step, as its intent keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Committed {
    /// When the step was about to be taken, or when its answer was lost.
    pub(crate) at: Millis,
    /// The destination's reference for the patient, if it was asked.
    pub(crate) patient: Option<serde_json::Value>,
    /// How often the letter was sent since a person last looked.
    #[serde(default)]
    pub(crate) sent: u32,
    /// Whether the destination said that it took the letter.
    #[serde(default)]
    pub(crate) is_taken: bool,
}

impl Committed {
    fn now(patient: Option<&serde_json::Value>) -> Self {
        Self { at: clock::now(), patient: patient.cloned(), sent: 0, is_taken: false }
    }
}

/// The result of a check that succeeded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Facts about the destination, such as a fingerprint.
    pub notes: Vec<String>,
    /// The promises that are weaker there.
    pub warnings: Vec<String>,
}

/// A filed letter without a proof. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct Unproved {
    /// The document.
    pub uuid: DocumentUuid,
    /// [`Item::key`] of the delivery.
    pub key: String,
    /// Whether a copy for another patient was put there, or may have been: its content is the same.
    pub has_editions: bool,
    /// Whether no other version of the document, and no copy for another patient, was sent there.
    pub is_first: bool,
    /// Where it was put.
    pub filed: Filed,
    /// The place as a person sees it. If it differs from what the destination would show now, the letter lies
    /// elsewhere.
    pub place: String,
    /// Length in bytes and SHA-256, 64 lower-case hexadecimal digits, of the PDF.
    pub size: u64,
    /// As above.
    pub sha256: String,
    /// What the API said of document, patient and user.
    pub metadata: Arc<Metadata>,
}

/// What is known of other letters of the same destination. A file proves only one letter.
#[async_trait]
pub trait Others: Send + Sync {
    /// Whether another letter lies at this path below the destination's folder, or is known to lie at this place, as a
    /// person sees it.
    async fn have(&self, path: &str, place: &str) -> bool;

    /// Whether a letter with this content (SHA-256, 64 lower-case hexadecimal digits) was ever put there.
    async fn sent(&self, sha256: &str) -> bool;
}

/// A destination.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Delivers the PDF. A repetition under the same key is harmless. Ends in bounded time by itself, even if the
    /// destination hangs.
    async fn deliver(&self, item: &Item) -> Outcome;

    /// Removes what an interrupted attempt may have left, because the document will be read again and may then go
    /// elsewhere. What cannot be removed stays.
    async fn abandon(&self, _item: &Item) {}

    /// Why the destination cannot be used as configured, found out without the network ([`unusable`]).
    fn unusable(&self) -> Option<String> {
        None
    }

    /// Whether a letter with an invented patient's number can go there. True if it needs no number.
    fn holds_number(&self, _: &Invented) -> bool {
        true
    }

    /// What a delivery of this document would do, by what is `known` of its names there. Changes nothing.
    ///
    /// # Errors
    /// Why nothing can be said; without patient data.
    async fn plan(&self, _: &DocumentUuid, _: &Metadata, _: &Known) -> Result<Planned, String> {
        Err("nobody knows before it is sent".to_owned())
    }

    /// Tests for real whether the destination as a whole works. The error says what is wrong and what to do. Ends in
    /// bounded time by itself.
    async fn check(&self) -> Result<Checked, String>;

    /// Tests whether its folder is there, and is the one in which these letters wait for their proof, while no letter
    /// goes there. Ends in bounded time by itself.
    ///
    /// # Errors
    /// The folder is not there, or does not answer.
    async fn is_there(&self, _waiting: Vec<PutIn>) -> Result<(), Outcome> {
        Ok(())
    }

    /// Whether the PDF must be a file of this machine, because another program is to read it.
    fn needs_file(&self) -> bool {
        false
    }

    /// The proof of a letter as soon as it is delivered.
    fn proof(&self) -> Proof {
        Proof::Accepted
    }

    /// Looks which of these filed letters the destination's software has taken (`confirm`). One answer for each, in
    /// their order. A folder is listed once, however many letters are in it.
    ///
    /// # Errors
    /// Nothing can be said at the moment: the share is away, or the server does not answer.
    async fn look(&self, _letters: &[Unproved], _others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        Err(Outcome::no_look())
    }

    /// Looks whether delivered letters still lie where they were put, with their content. One answer for each, in their
    /// order. Only reads.
    ///
    /// # Errors
    /// Nothing can be said at the moment: the share is away, or the server does not answer.
    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        Ok(vec![Holds::Unknown; letters.len()])
    }

    /// Folders of this machine that change when a letter is taken. They are watched if the system can.
    fn watched(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The most deliveries at a time (`max_connections`); `None`: `sync.max_concurrency`.
    fn max_connections(&self) -> Option<usize> {
        None
    }
}

/// What a delivery would do, as far as known before the document is there. Holds patient data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The file, or the program with its arguments.
    pub place: String,
    /// The next name, if another document has this one; `None` if names cannot be taken.
    pub otherwise: Option<String>,
    /// Whether the name is taken. Not asked for on another machine.
    pub taken: bool,
    /// What prevents the delivery, in words that may be logged.
    pub problem: Option<String>,
}

/// What a delivery of this document would do, by what is `known` of its names there. Changes nothing at the
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

/// Why a destination cannot be used as configured: the file of a secret is missing, open to others, or has invalid
/// content. Found out without the network.
pub fn unusable(destination: &Destination) -> Option<String> {
    build(destination, Path::new("")).unusable()
}

/// Prepares this process, once: if a destination creates sub-folders that are open to their group, the umask must not
/// prevent that.
pub fn prepare(config: &Config) {
    let folders = || config.destinations.values().filter_map(Destination::of::<FolderConfig>);
    let opens = folders().any(|folder| folder.dir_mode & 0o070 != 0);
    if opens {
        crate::system::durable::let_groups_in();
    }
}

/// Tests with a file and a sub-folder of its own whether the destination's reader can read what is filed there.
/// Separate from [`Adapter::check`], because a letter is filed even if nobody can read it yet.
///
/// # Errors
/// Why it cannot, and what to do.
pub async fn readable(destination: &Destination) -> Result<(), String> {
    match destination.of::<FolderConfig>() {
        Some(folder) => folder::readable(folder).await,
        None => Ok(()),
    }
}

/// Builds the adapter of a configured destination. Opens nothing, because use shows whether a share is offline. What an
/// adapter keeps on this machine is beside `ledger`.
pub fn build(destination: &Destination, ledger: &Path) -> Box<dyn Adapter> {
    built(KINDS, destination, ledger)
}

fn built(kinds: &[Registered], destination: &Destination, ledger: &Path) -> Box<dyn Adapter> {
    let registered = kinds.iter().find(|registered| registered.kind.word == destination.kind);
    let adapter = registered.and_then(|registered| registered.build?(destination, ledger));
    adapter.unwrap_or_else(|| Box::new(left_out::LeftOut(destination.name.clone())))
}

#[cfg(test)]
mod tests;
