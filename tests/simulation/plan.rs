//! What a seed draws: a practice, its documents, and everything that goes wrong and when. Pure data, so that the
//! shortest plan that still fails can be looked for by leaving things out.

use std::time::Duration;

use crate::ledger::Millis;
use crate::pipeline::spool;

/// `sync.poll_interval`
pub(super) const POLL: Duration = Duration::from_secs(30);
/// `sync.reconcile_interval`
pub(super) const RECONCILE: Duration = Duration::from_secs(8 * 60);
/// `sync.give_up_after`
pub(super) const GIVE_UP: Duration = Duration::from_secs(15 * 60);
/// `sync.pdf_grace`
pub(super) const PDF_GRACE: Duration = Duration::from_secs(20);
/// `retry.max`
pub(super) const RETRY_MAX: Duration = Duration::from_secs(60);
/// `sync.max_pdf_bytes`
pub(super) const MAX_PDF: u64 = 10_000;
/// The time in which things go wrong; milliseconds.
pub(super) const TROUBLED: u64 = 20 * 60_000;

/// One simulation.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) accounts: usize,
    pub(super) destinations: usize,
    /// What each of them is; one that is not listed remembers keys.
    pub(super) kinds: Vec<Kind>,
    /// Whether letters count at destinations that remember keys only once an importer has taken them.
    pub(super) has_importers: bool,
    /// Whether letters are sent with the patient's number in the practice's list.
    pub(super) has_list: bool,
    /// For each type of document, its destinations; a type beyond these has no route.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) page_size: usize,
    pub(super) max_concurrency: usize,
    /// Whether reported documents leave the list, by account.
    pub(super) stays_listed: Vec<bool>,
    /// `state.keep_history`; `None`: for ever.
    pub(super) keep_history: Option<Duration>,
    pub(super) documents: Vec<Document>,
    pub(super) events: Vec<Event>,
}

/// What a destination is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It remembers the key of everything that it took.
    Keys,
    Named(Named),
    Service(Service),
}

/// A service: the first four speak HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// A PUT to an address of the document's own, on the condition that nothing lies there.
    Put,
    /// A POST; the service can be asked whether it has a document.
    Post,
    /// A bucket; `keeps_keys`: it keeps what an object says of itself.
    Bucket { keeps_keys: bool },
    /// A FHIR server; `heeds`: it keeps to the condition of a create.
    Fhir { heeds: bool },
    /// A receiver of HL7 v2, which knows a message by its control id.
    Receiver,
    /// A mail server, whose mails are known by their Message-ID.
    Mail,
    /// A DICOM archive; `tells`: it may be asked what it has.
    Archive { tells: bool },
}

/// The server of a destination that files by names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// Its rename replaces what has the name; every document has a name of its own then.
    pub(super) overwrites: bool,
    /// Each patient has a sub-folder.
    pub(super) in_folders: bool,
    /// A sidecar goes before each PDF.
    pub(super) sidecar: bool,
    /// An importer takes what is filed there.
    pub(super) imports: bool,
}

/// A document of the plan.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) account: usize,
    /// Its number within the account: two accounts have documents of the same identifier.
    pub(super) number: usize,
    /// When it comes into the list; milliseconds.
    pub(super) arrives: u64,
    /// Its `createdAt`: seconds from the start.
    pub(super) created: i64,
    /// When its PDF is rendered; milliseconds.
    pub(super) rendered: u64,
    /// Its type, an index of the routes or beyond.
    pub(super) kind: usize,
    pub(super) patient_by_uuid: bool,
    pub(super) shows_size: bool,
    pub(super) trouble: Trouble,
    /// Another account whose list shows it too.
    pub(super) also: Option<usize>,
    /// The one of the two that the API refuses it to: to read it, or to report on it, or both.
    pub(super) refused_to: Option<(usize, [bool; 2])>,
}

impl Document {
    /// Whether this call about it is refused to the account.
    pub(super) fn is_refused_to(&self, account: usize, call: Call) -> bool {
        self.refused_to.is_some_and(|(to, [reads, reports])| {
            to == account && ((call == Call::Document && reads) || (call == Call::Report && reports))
        })
    }

    /// Whether this account's list shows it.
    pub(super) fn is_shown_to(&self, account: usize) -> bool {
        self.account == account || self.also == Some(account)
    }
}

/// What is wrong with a document for as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    None,
    /// Its download is HTML.
    NotAPdf,
    TooLarge,
    /// Its download has not the size that the API says.
    WrongSize,
    /// The API answers this to `GET /documents/{uuid}`.
    Forbidden(u16),
    /// The API answers this to its report.
    ReportRefused(u16),
    /// The last of its destinations never takes it.
    Refused,
}

/// Something that happens at a time, or goes on from then until another.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) what: What,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Calls of an account, or only those for one document, fail so many times in a hundred.
    Api { account: usize, document: Option<usize>, call: Option<Call>, how: How, percent: u64 },
    /// The account cannot be signed in: every call fails in the same way. In the end a person mends it.
    SignIn { account: usize, how: SignIn },
    /// The account's server treats the list in an odd way.
    List { account: usize, quirk: Quirk },
    /// Deliveries to a destination, or only those of one document, go wrong so many times in a hundred.
    Delivery { destination: usize, document: Option<usize>, how: Wrong, percent: u64 },
    /// The whole destination is offline.
    Offline { destination: usize },
    /// The server of such a destination starts anew: what was being put is lost.
    ServerRestart { destination: usize },
    /// Somebody else's files get names there just before, or just after, docsyncd sees that they are free.
    Stranger { destination: usize },
    /// The process is killed at this call of a delivery to a server, the first time that one gets so far; it starts
    /// again at the end.
    KillFiling { destination: usize, call: usize },
    /// The ledger cannot be written.
    LedgerFull,
    /// The spool cannot be written.
    SpoolFull,
    /// Another program takes everything out of the spool.
    SpoolLost,
    /// The process is killed and starts again at the end.
    Crash { power: bool },
    /// A person makes a backup.
    Backup,
    /// The disk is lost, and with it what the ledger learned since the last backup, which a person restores in the end.
    Restore,
    /// A person stops and starts the service.
    Restart,
    /// The wall clock is moved.
    Jump(Millis),
    /// A new version of the document's PDF appears.
    Revise(usize),
    /// The document's patient is corrected, and its PDF stays as it is; `again`: and it is asked for again.
    Correct { document: usize, again: bool },
    /// The document is deleted.
    Withdraw(usize),
    /// A person asks for the document again in the cloud service, if it has left the list.
    AskAgain(usize),
    /// A person runs `docsyncd retry`.
    Retry(usize),
    /// A person asks for a poll now.
    PollNow,
}

/// The calls of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    List,
    Document,
    Download,
    Report,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// The connection is refused.
    Unreachable,
    /// The server does what it was asked to, and the answer is lost.
    AnswerLost,
    /// The answer never comes; `done`: what was asked for is done.
    Hangs { done: bool },
    /// The request arrives late, and so does the answer.
    Slow,
    /// An error, with Retry-After in seconds; `done`: it was done all the same.
    Status { status: u16, retry_after: Option<u64>, done: bool },
    /// HTML with status 200.
    Html,
    /// Another document than the one asked for.
    OtherDocument,
    /// The body breaks off.
    Cut,
    /// The body has bytes missing or too many.
    WrongBytes,
}

/// How an account cannot be signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignIn {
    /// The server answers 401.
    Refused,
    /// The sign-in is lost: nothing is sent at all.
    SignedOut,
    /// The access token has expired and cannot be renewed just now; `hangs`: and each try takes its full time.
    NotRenewed { hangs: bool },
    /// A scope was taken away.
    MissingScope,
}

/// How a server treats the list in an odd way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quirk {
    OrderIgnored,
    OrderRefused,
    UuidsIgnored,
    /// Now and then an element has no identifier.
    Unreadable,
}

/// How a delivery goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Transient,
    Permanent,
    /// The destination has it, and does not say so.
    AnswerLost,
    /// It hangs until its time limit; `done`: and then the destination has it.
    Hangs {
        done: bool,
    },
}

impl Plan {
    /// Bytes of PDFs that may lie in the spool's memory: none, a few, or as many as there are.
    pub(super) fn spool_memory(&self) -> usize {
        match self.seed % 4 {
            0 => 0,
            1 => 1_000,
            _ => spool::MEMORY,
        }
    }

    /// What the destination is.
    pub(super) fn kind(&self, destination: usize) -> Kind {
        self.kinds.get(destination).copied().unwrap_or(Kind::Keys)
    }

    /// Whether a letter counts there only once an importer has taken it.
    pub(super) fn confirms(&self, destination: usize) -> bool {
        self.has_importers && self.kind(destination) == Kind::Keys
    }

    /// The destinations of a document, or `None` where no route takes it.
    pub(super) fn required(&self, document: usize) -> Option<&[usize]> {
        self.routes.get(self.documents[document].kind).map(Vec::as_slice)
    }
}
