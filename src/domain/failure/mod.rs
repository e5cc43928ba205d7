//! What a failure means. [`decide`] is the only place where the consequence of a failure is decided; it is pure and
//! total.
//!
//! A failure is data: which call failed, and how. Two failures are alike when these are equal; the words that people
//! read decide nothing. The inputs are what is known of the scope ([`Evidence`]; a scope is an account's downloads or
//! reports, or a destination) and of the work ([`Tried`]). The output is a [`Ruling`], which other modules carry out in
//! one transaction.
//!
//! | Kind | Nothing is paused | Paused, and this was the probe |
//! |---|---|---|
//! | `Down` | pause the scope at once; the work waits. If only this work gets the same status again, while others pass: charge | the pause goes on |
//! | `Passing` | charge; three documents alike: pause | alike: the pause goes on; else it ends, and the work is treated as without a pause |
//! | `Doubtful` | as `Passing`; hold after three tries, over `sync.pdf_grace` if something good came meanwhile, over an hour if not | the same, until the pause is too old |
//! | `Permanent` | hold; five documents alike: pause, and held documents are retracted | the same, until the pause is too old |
//! | `Unconfirmed` | ask a person; three documents alike: pause as well | ask; alike: the pause goes on; else it ends |
//! | `Own` | fail | fail |
//!
//! If the API refuses a document to one account while another account may get it back, the work is charged, not held.
//! Work that was under way when a pause began, and fails, waits. To *charge* is to count an attempt and to wait for the
//! backoff. To *ask* is to try nothing until a person has looked. To *hold* is to end the document, but to tell nobody
//! for [`HOLD`]: if other documents fail alike meanwhile, the failure may not be the document's own.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::domain::state::State;

/// How long a permanent failure is kept from the API: if other documents fail alike within this time, the scope may be
/// the reason. `docsyncd sync` waits for it.
pub const HOLD: Duration = Duration::from_secs(3);

/// What the reason says of a refused account that signs in; one with a key has another reason.
pub const SIGN_IN: &str = "run docsyncd login --account ";
/// How many documents in a row have to fail alike, in a way that may pass, before the whole scope counts as failing.
pub const ALIKE_PASSING: usize = 3;
/// The same for failures that end a document. A lower number would hold back clear answers; a higher one would spoil
/// many documents.
pub const ALIKE_PERMANENT: usize = 5;
/// How many downloads have to be no acceptable PDF before that may be the document's own fault (promise 5). After as
/// many permanent failures alike, with successes in between, a document's failure is its own.
pub const TRIES: u32 = 3;
/// How long a doubtful failure must be tried if nothing good came from the same origin meanwhile (promise 5). Otherwise
/// [`Patience::pdf_grace`] is enough.
pub const DOUBTFUL_SPAN: Duration = Duration::from_secs(3600);
/// The longest wait before the next try after a doubtful failure, unless the server asks for more: such a failure is
/// decided within a minute of the time from which it may be, however long the backoff has become.
pub const DOUBTFUL_WAIT: Duration = Duration::from_secs(45);
/// How many attempts there have to be before `sync.give_up_after` counts, and how many probes before a pause can be too
/// old.
pub const MIN_ATTEMPTS: u32 = 5;

/// Which call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// Read the list of documents.
    List,
    /// Read a document.
    Read,
    /// Read its patient or user.
    Record,
    /// Download the PDF from its address into the spool.
    Download,
    /// Deliver to a destination.
    Deliver,
    /// Report success or failure to the API.
    Report,
}

/// What the other side said: a number, or a word that docsyncd chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Code {
    /// A program's exit code.
    Exit(i32),
    /// The signal that ended a program.
    Signal(i32),
    /// A status code of HTTP, or of another protocol.
    Status(u16),
    /// Anything else.
    Word(Cow<'static, str>),
}

/// The download is too slow.
pub const SLOW: Code = Code::word("slow");
/// Two answers of the API show two different PDFs of the document.
pub const TWO_VERSIONS: Code = Code::word("two_versions");

impl Code {
    /// A word that docsyncd chose.
    pub const fn word(word: &'static str) -> Self {
        Code::Word(Cow::Borrowed(word))
    }
}

/// How a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The origin or destination does not work as a whole: connection refused, 429, 503 with Retry-After, offline, no
    /// credentials.
    Down(Code),
    /// The failure may pass: 5xx, 408, a time-out, a 404 for a document that the list still shows.
    Passing(Code),
    /// The destination has no room for this document, and may have room for smaller ones. The failure may pass, and is
    /// never the document's fault, however long it lasts.
    NoRoom,
    /// The failure looks permanent, but something on the way may be the reason: the download is no PDF, or its address
    /// is refused.
    Doubtful(Code),
    /// The call will never work for this document, unless the server answers every document so.
    Permanent(Code),
    /// Everything was sent and the answer was lost. Only a person can look whether the document arrived.
    Unconfirmed(Code),
    /// The call will never work for this document, and the reason is the document itself or the configuration.
    Own(Code),
}

/// A failure as it is compared: equal failures are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Which call failed.
    pub call: Call,
    /// How it failed.
    pub kind: Kind,
}

/// How long a failure that may pass is tried again; the settings of `[sync]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// `sync.give_up_after`: for failures that are the document's own.
    pub give_up_after: Duration,
    /// `sync.pdf_grace`: how long after its letter a PDF may appear.
    pub pdf_grace: Duration,
}

/// What is known of the work before this failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// Failed attempts that counted.
    pub attempts: u32,
    /// How many of the attempts failed as [`Kind::Doubtful`].
    pub doubtful: u32,
    /// How long the work was tried: the sum of the attempts and of the waits after them. Pauses do not count, nor does
    /// the time for which the machine was off.
    pub failing_for: Duration,
    /// Whether another account had the document, was not refused it, and may get it back.
    pub another_may: bool,
}

/// What is known of the scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How many documents failed alike with no success in between. A document counts when it fails so for the first
    /// time; if the failure is a clear answer ([`Kind::Down`], [`Kind::Permanent`]), each time. It does not count if
    /// [`Failure::is_alone`] holds, or if it was refused [`TRIES`] times alike, with a success before each time but the
    /// first: that failure is its own, however many others are refused.
    pub alike: usize,
    /// Whether a success began after the work first failed. One that was already under way says only how it was before.
    /// For [`Kind::Down`], whose first failure pauses the scope until something succeeds: whether the work failed alike
    /// before, and this process saw a success that began after the document was found. For [`Kind::Permanent`]: whether
    /// a success began after the work last failed alike.
    pub good_since: bool,
    /// The pause, if there is one.
    pub pause: Option<Paused>,
}

/// A pause, as [`decide`] sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// Whether the failed work was the probe of the pause.
    pub probe: bool,
    /// Whether the last failure that began or extended the pause is like this one.
    pub alike: bool,
    /// Whether the pause has lasted, and was probed, for longer than `sync.give_up_after`, and the document has been
    /// known for as long.
    pub too_old: bool,
}

/// What can be paused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All calls of an account. It has to sign in, or the API refuses it everything.
    Account(String),
    /// An account's downloads.
    Fetch(String),
    /// An account's status reports.
    Report(String),
    /// A destination.
    Destination(String),
}

impl Scope {
    /// The scope of an account's documents in this state, besides [`Scope::Account`]. `None` if each destination has a
    /// scope of its own, or if nothing is left to do.
    pub fn of(state: State, account: &str) -> Option<Self> {
        match state {
            State::Discovered => Some(Scope::Fetch(account.to_owned())),
            State::Delivered | State::Failing => Some(Scope::Report(account.to_owned())),
            State::Fetched | State::Reported | State::Failed | State::Unreported | State::Withdrawn => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Account(name) => write!(f, "account:{name}"),
            Scope::Fetch(name) => write!(f, "fetch:{name}"),
            Scope::Report(name) => write!(f, "report:{name}"),
            Scope::Destination(name) => write!(f, "destination:{name}"),
        }
    }
}

impl Scope {
    /// NAME of the account or destination.
    pub fn name(&self) -> &str {
        match self {
            Scope::Account(name) | Scope::Fetch(name) | Scope::Report(name) | Scope::Destination(name) => name,
        }
    }

    /// The account of the scope; `None` for a destination.
    pub fn account(&self) -> Option<&str> {
        match self {
            Scope::Account(name) | Scope::Fetch(name) | Scope::Report(name) => Some(name),
            Scope::Destination(_) => None,
        }
    }

    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let (what, name) = text.split_once(':')?;
        let scope = match what {
            "account" => Scope::Account,
            "fetch" => Scope::Fetch,
            "report" => Scope::Report,
            "destination" => Scope::Destination,
            _ => return None,
        };
        Some(scope(name.to_owned()))
    }
}

/// What happens to the pause of the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Nothing.
    Leave,
    /// The pause begins, or goes on and is probed later. Documents that ended by the same failure are tried again if
    /// nobody was told.
    Extend,
    /// The pause ends: the probe got past the failure that it is for.
    End,
}

/// What happens to the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// The work stays due, and no attempt counts.
    Wait,
    /// An attempt counts, and the backoff decides when it is due.
    Charge,
    /// Nothing is tried until a person says so: the document may have arrived.
    Ask,
    /// The work failed, and nobody is told for [`HOLD`]. A refused report is believed only after [`HOLD`].
    Hold,
    /// The work failed.
    Fail,
    /// The work failed for longer than `sync.give_up_after`.
    GiveUp,
}

/// What a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// For the scope.
    pub pause: Pause,
    /// For the work.
    pub work: Consequence,
}

/// Decides what a failure means, by the table above.
pub fn decide(failure: &Failure, tried: &Tried, evidence: &Evidence, patience: Patience) -> Ruling {
    let ruling = |pause, work| Ruling { pause, work };
    match (&failure.kind, &evidence.pause) {
        (Kind::Own(_), _) => ruling(Pause::Leave, Consequence::Fail),
        // The document was sent, whatever becomes of the scope: sending it again unasked could file it twice.
        (Kind::Unconfirmed(code), _) => {
            let passing = Failure { call: failure.call, kind: Kind::Passing(code.clone()) };
            Ruling { work: Consequence::Ask, ..decide(&passing, tried, evidence, patience) }
        }
        // One failure, one alarm: other work that was under way fails as well.
        (_, Some(Paused { probe: false, .. })) => ruling(Pause::Leave, Consequence::Wait),
        // Only this work gets the status again, while others pass: the failure is its own.
        (Kind::Down(Code::Status(_)), None) if evidence.good_since && evidence.alike <= 1 => {
            ruling(Pause::Leave, alone(failure, tried, evidence, patience))
        }
        (Kind::Down(_), _) => ruling(Pause::Extend, Consequence::Wait),
        // Several bad documents and no good one look like an outage. Perhaps nothing will ever show that it is none.
        (Kind::Doubtful(_) | Kind::Permanent(_), Some(Paused { alike: true, too_old: true, .. })) => {
            ruling(Pause::Extend, Consequence::GiveUp)
        }
        (_, Some(Paused { alike: true, .. })) => ruling(Pause::Extend, Consequence::Wait),
        (_, paused) => {
            let shared = evidence.alike >= needed(&failure.kind);
            if shared && paused.is_none() {
                return ruling(Pause::Extend, Consequence::Wait);
            }
            let pause = if paused.is_some() { Pause::End } else { Pause::Leave };
            ruling(pause, alone(failure, tried, evidence, patience))
        }
    }
}

/// How many documents have to fail alike before the scope is paused.
fn needed(kind: &Kind) -> usize {
    if matches!(kind, Kind::Permanent(_)) { ALIKE_PERMANENT } else { ALIKE_PASSING }
}

/// What the failure means for the work if the scope is not the reason.
fn alone(failure: &Failure, tried: &Tried, evidence: &Evidence, patience: Patience) -> Consequence {
    let given_up = tried.attempts >= MIN_ATTEMPTS && tried.failing_for >= patience.give_up_after;
    let least = if evidence.good_since { patience.pdf_grace } else { DOUBTFUL_SPAN };
    match failure.kind {
        // The API may give another account what it refuses to this one, so nobody is told yet.
        _ if tried.another_may && failure.is_refusal() => Consequence::Charge,
        Kind::Permanent(_) => Consequence::Hold,
        Kind::Unconfirmed(_) => Consequence::Ask,
        Kind::Doubtful(_) if tried.doubtful + 1 >= TRIES && tried.failing_for >= least => Consequence::Hold,
        Kind::NoRoom => Consequence::Charge,
        // That wait has a limit of its own, and ends with the version that is there.
        _ if failure.is_two_versions() => Consequence::Charge,
        Kind::Down(_) | Kind::Passing(_) | Kind::Doubtful(_) | Kind::Own(_) => {
            if given_up {
                Consequence::GiveUp
            } else {
                Consequence::Charge
            }
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::Exit(code) => write!(f, "exit_{code}"),
            Code::Signal(number) => write!(f, "signal_{number}"),
            Code::Status(status) => write!(f, "status_{status}"),
            Code::Word(word) => f.write_str(word),
        }
    }
}

impl Code {
    fn parse(text: &str) -> Self {
        let number = |prefix: &str| text.strip_prefix(prefix).and_then(|digits| digits.parse::<i32>().ok());
        let status = number("status_").and_then(|status| u16::try_from(status).ok());
        number("exit_")
            .map(Code::Exit)
            .or_else(|| number("signal_").map(Code::Signal))
            .or_else(|| status.map(Code::Status))
            .unwrap_or_else(|| Code::Word(Cow::Owned(text.to_owned())))
    }
}

/// The words that stand for the calls in the ledger.
const CALLS: [(Call, &str); 6] = [
    (Call::List, "list"),
    (Call::Read, "read"),
    (Call::Record, "record"),
    (Call::Download, "download"),
    (Call::Deliver, "deliver"),
    (Call::Report, "report"),
];

impl fmt::Display for Failure {
    /// The form in the ledger: `download doubtful not_a_pdf`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = CALLS.iter().find(|(call, _)| *call == self.call).map_or("", |(_, word)| word);
        match &self.kind {
            Kind::Down(code) => write!(f, "{call} down {code}"),
            Kind::Passing(code) => write!(f, "{call} passing {code}"),
            Kind::NoRoom => write!(f, "{call} no_room"),
            Kind::Doubtful(code) => write!(f, "{call} doubtful {code}"),
            Kind::Permanent(code) => write!(f, "{call} permanent {code}"),
            Kind::Unconfirmed(code) => write!(f, "{call} unconfirmed {code}"),
            Kind::Own(code) => write!(f, "{call} own {code}"),
        }
    }
}

impl Failure {
    /// The code, if its kind has one.
    pub fn code(&self) -> Option<&Code> {
        match &self.kind {
            Kind::NoRoom => None,
            Kind::Down(code)
            | Kind::Passing(code)
            | Kind::Doubtful(code)
            | Kind::Permanent(code)
            | Kind::Unconfirmed(code)
            | Kind::Own(code) => Some(code),
        }
    }

    /// Whether the failure ends the work, unless other documents share it.
    pub fn is_permanent(&self) -> bool {
        matches!(self.kind, Kind::Permanent(_))
    }

    /// Whether the failure is the document's alone, however many others fail alike. A server that sends slowly, or
    /// whose caches lag behind, is not down: it answers, and trying the next document costs nothing.
    pub fn is_alone(&self) -> bool {
        self.kind == Kind::Passing(SLOW) || self.is_two_versions()
    }

    /// Whether two answers of the API show two different PDFs.
    pub fn is_two_versions(&self) -> bool {
        self.kind == Kind::Passing(TWO_VERSIONS)
    }

    /// Whether the API answered the account with a refusal (4xx), to whatever call, even if the refusal may pass.
    pub fn is_no(&self) -> bool {
        self.call != Call::Deliver
            && match &self.kind {
                Kind::Passing(Code::Status(status)) | Kind::Doubtful(Code::Status(status)) => {
                    (400..500).contains(status) && ![408, 429].contains(status)
                }
                Kind::Permanent(_) => true,
                _ => false,
            }
    }

    /// Whether the refusal is final for this account: not "sign in" (401) or "there is none" (404, 410) that may
    /// pass.
    pub fn is_refusal(&self) -> bool {
        self.is_no() && !matches!(self.kind, Kind::Passing(Code::Status(401 | 404 | 410)))
    }

    /// Whether another account may get another answer.
    pub fn is_of_account(&self) -> bool {
        match self.call {
            Call::Read | Call::Record | Call::Report => !matches!(self.kind, Kind::Own(_)),
            _ => self.is_no(),
        }
    }

    /// The failure of work that is tried again because others share it: a permanent one becomes a passing one. `None`
    /// for any other.
    pub fn taken_back(&self) -> Option<Self> {
        match &self.kind {
            Kind::Permanent(code) => Some(Failure { call: self.call, kind: Kind::Passing(code.clone()) }),
            _ => None,
        }
    }

    /// The failure of a delivery that may have arrived although it failed so. `None` if the failure does not become
    /// [`Kind::Unconfirmed`].
    pub fn unconfirmed(&self) -> Option<Self> {
        match &self.kind {
            Kind::Passing(code) | Kind::Down(code) => {
                Some(Failure { call: self.call, kind: Kind::Unconfirmed(code.clone()) })
            }
            _ => None,
        }
    }

    /// Reads what [`fmt::Display`] wrote; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (call, rest) = text.split_once(' ')?;
        let call = CALLS.iter().find(|(_, word)| *word == call).map(|(call, _)| *call)?;
        let kind = match rest.split_once(' ') {
            Some(("down", code)) => Kind::Down(Code::parse(code)),
            Some(("passing", code)) => Kind::Passing(Code::parse(code)),
            Some(("doubtful", code)) => Kind::Doubtful(Code::parse(code)),
            Some(("permanent", code)) => Kind::Permanent(Code::parse(code)),
            Some(("unconfirmed", code)) => Kind::Unconfirmed(Code::parse(code)),
            None if rest == "no_room" => Kind::NoRoom,
            Some(("own", code)) => Kind::Own(Code::parse(code)),
            _ => return None,
        };
        Some(Failure { call, kind })
    }
}

#[cfg(test)]
mod tests;
