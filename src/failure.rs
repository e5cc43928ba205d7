//! What a failure means. [`decide`] is the only place where its consequence is decided; it is pure and total.
//!
//! A failure is data: which call failed, and how. Two failures are alike when these are equal; the words that people
//! read decide nothing. What is known of the scope (an account's downloads or reports, a destination) comes as
//! [`Evidence`], what is known of the work as [`Tried`], and what is to be done goes out as a [`Ruling`], which others
//! carry out in one transaction.
//!
//! | Kind | Nothing is paused | Paused, and this was the probe |
//! |---|---|---|
//! | `Down` | pause the scope at once; the work waits. A status that is answered again, to this work alone, while others pass: charge | the pause goes on |
//! | `Passing` | charge; three documents alike: pause | alike: the pause goes on; else it ends, and as without one |
//! | `Doubtful` | as `Passing`; after three tries over `sync.pdf_grace`, with evidence, or over an hour: hold | the same, until the pause is too old |
//! | `Permanent` | hold; five documents alike: pause, and those that were held go back | the same, until the pause is too old |
//! | `Unconfirmed` | ask a person; three documents alike: pause as well | ask; alike: the pause goes on; else it ends |
//! | `Own` | fail | fail |
//!
//! What the API refuses to an account while another one may have the document back is charged instead of held. Work
//! that was under way when a pause began, and fails, waits. To *charge* is to count an attempt and to wait for the
//! backoff. To *ask* is to try nothing until a person has looked. To *hold* is to end the document, but to tell nobody
//! for [`HOLD`]: those that fail alike meanwhile may show that it is none of its own.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::state::State;

/// How long a permanent failure is kept from the API: others that fail alike within this time may show that it is
/// shared. `docsyncd sync` waits for it.
pub const HOLD: Duration = Duration::from_secs(3);
/// Documents in a row that fail alike, in a way that may pass, before that is taken for the failure of the whole scope.
pub const ALIKE_PASSING: usize = 3;
/// The same for failures that end a document: fewer would hold back clear answers, more would spoil many documents.
pub const ALIKE_PERMANENT: usize = 5;
/// Downloads that are no acceptable PDF before that may count as the document's own fault (promise 5); and permanent
/// failures that several documents share.
pub const TRIES: u32 = 3;
/// For so long a doubtful failure must be tried when nothing good came from the same origin meanwhile (promise 5); at
/// least for [`Patience::pdf_grace`] otherwise.
pub const DOUBTFUL_SPAN: Duration = Duration::from_secs(3600);
/// Attempts before `sync.give_up_after` counts, and probes before the age of a pause does.
pub const MIN_ATTEMPTS: u32 = 5;

/// Which call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// The list of documents.
    List,
    /// A document.
    Read,
    /// Its patient or user.
    Record,
    /// The PDF, from its address into the spool.
    Download,
    /// A delivery.
    Deliver,
    /// The report of success or failure.
    Report,
}

/// What the other side said, as a number or a word of ours.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Code {
    /// A program's exit code.
    Exit(i32),
    /// The signal that ended a program.
    Signal(i32),
    /// A status of HTTP, or of another protocol.
    Status(u16),
    /// Anything else.
    Word(Cow<'static, str>),
}

/// The download is too slow.
pub const SLOW: Code = Code::word("slow");
/// Two answers of the API show two PDFs of the document.
pub const TWO_VERSIONS: Code = Code::word("two_versions");

impl Code {
    /// A word of ours.
    pub const fn word(word: &'static str) -> Self {
        Code::Word(Cow::Borrowed(word))
    }
}

/// How it failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The origin or destination as a whole: refused, 429, 503 with Retry-After, offline, no credentials.
    Down(Code),
    /// It may pass: 5xx, 408, a time-out, a 404 of what the list still shows.
    Passing(Code),
    /// The destination has no room for it, and may have some for smaller ones: passing, and however long that lasts it
    /// is no fault of the document's.
    NoRoom,
    /// It looks permanent, and something on the way may be the reason: what was downloaded is no PDF, or its address is
    /// refused.
    Doubtful(Code),
    /// It will never work for this document, unless everything is answered so.
    Permanent(Code),
    /// Everything was sent, the answer was lost, and nobody but a person can look whether it arrived.
    Unconfirmed(Code),
    /// It will never work for this document, and only the document or the configuration is the reason.
    Own(Code),
}

/// A failure as it is compared: equal means alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Failure {
    /// What was tried.
    pub call: Call,
    /// What came of it.
    pub kind: Kind,
}

/// How long what may pass is tried, as `[sync]` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// `sync.give_up_after`: for failures of the document's own.
    pub give_up_after: Duration,
    /// `sync.pdf_grace`: a PDF may appear so long after its letter.
    pub pdf_grace: Duration,
}

/// What is known of the work that failed, before this failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// Failed attempts that counted.
    pub attempts: u32,
    /// Those of them that were [`Kind::Doubtful`].
    pub doubtful: u32,
    /// The time for which it was tried: each attempt with the wait after it. Pauses and a machine that was off are not
    /// in it.
    pub failing_for: Duration,
    /// Whether another account had the document, only could not go on, and may have it back.
    pub another_may: bool,
}

/// What is known of the scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Documents, this one among them, that failed alike with no success in between: for the first time, unless the
    /// failure is a clear answer ([`Kind::Down`], [`Kind::Permanent`]). Not among them is what was refused [`TRIES`]
    /// times alike, with something good before each time but the first: that is its own failure, however many are
    /// refused as well.
    pub alike: usize,
    /// Whether something good came that began after the work first failed: what was under way then only says how it was
    /// before. Of [`Kind::Down`], whose first failure pauses the scope until something good comes, whether it failed
    /// alike before and this process saw something good that began since the document was found; of
    /// [`Kind::Permanent`], since it last failed alike.
    pub good_since: bool,
    /// The pause, if there is one.
    pub pause: Option<Paused>,
}

/// A pause as [`decide`] sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// Whether the work was its probe.
    pub probe: bool,
    /// Whether it began with a failure like this one.
    pub alike: bool,
    /// Whether it lasts, and was probed, for longer than `sync.give_up_after`, and the document was known for as long.
    pub too_old: bool,
}

/// What can be paused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All calls of an account: it has to sign in.
    Account(String),
    /// An account's downloads.
    Fetch(String),
    /// An account's status reports.
    Report(String),
    /// A destination.
    Destination(String),
}

impl Scope {
    /// The scope of an account's documents in this state, besides that of the account; `None` where each destination
    /// has its own, or nothing is left to do.
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

    /// The account that it is of, if it is one's.
    pub fn account(&self) -> Option<&str> {
        match self {
            Scope::Account(name) | Scope::Fetch(name) | Scope::Report(name) => Some(name),
            Scope::Destination(_) => None,
        }
    }

    /// What [`fmt::Display`] wrote.
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
    /// It begins, or goes on and is probed later. Documents that ended by the same failure go back if nobody was told.
    Extend,
    /// It ends: the probe got past what began it.
    End,
}

/// What happens to the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// It stays due and spends nothing.
    Wait,
    /// An attempt counts, and the backoff decides when it is due.
    Charge,
    /// Nothing is tried until a person says so: it may have arrived.
    Ask,
    /// It failed, and nobody is told for [`HOLD`]; a report that was refused is believed only then.
    Hold,
    /// It failed.
    Fail,
    /// It failed for longer than `sync.give_up_after`.
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
        // What was sent was sent, whatever becomes of the scope: to send it again by itself could double it.
        (Kind::Unconfirmed(code), _) => {
            let passing = Failure { call: failure.call, kind: Kind::Passing(code.clone()) };
            Ruling { work: Consequence::Ask, ..decide(&passing, tried, evidence, patience) }
        }
        // One failure, one alarm: others that were under way fail as well.
        (_, Some(Paused { probe: false, .. })) => ruling(Pause::Leave, Consequence::Wait),
        // What is answered again to this work alone, while others pass, is about this work.
        (Kind::Down(Code::Status(_)), None) if evidence.good_since && evidence.alike <= 1 => {
            ruling(Pause::Leave, alone(failure, tried, evidence, patience))
        }
        (Kind::Down(_), _) => ruling(Pause::Extend, Consequence::Wait),
        // Several bad documents and no good one look like an outage, and nothing that ever happens may show that it is
        // none.
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

/// What the failure means for the work when it is its own.
fn alone(failure: &Failure, tried: &Tried, evidence: &Evidence, patience: Patience) -> Consequence {
    let given_up = tried.attempts >= MIN_ATTEMPTS && tried.failing_for >= patience.give_up_after;
    let least = if evidence.good_since { patience.pdf_grace } else { DOUBTFUL_SPAN };
    match failure.kind {
        // What is refused to this account may be given to that one: nobody is told yet.
        _ if tried.another_may && failure.is_refusal() => Consequence::Charge,
        Kind::Permanent(_) => Consequence::Hold,
        Kind::Unconfirmed(_) => Consequence::Ask,
        Kind::Doubtful(_) if tried.doubtful + 1 >= TRIES && tried.failing_for >= least => Consequence::Hold,
        Kind::NoRoom => Consequence::Charge,
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

/// Calls and kinds by the words with which the ledger keeps them.
const CALLS: [(Call, &str); 6] = [
    (Call::List, "list"),
    (Call::Read, "read"),
    (Call::Record, "record"),
    (Call::Download, "download"),
    (Call::Deliver, "deliver"),
    (Call::Report, "report"),
];

impl fmt::Display for Failure {
    /// As the ledger keeps it: `download doubtful not_a_pdf`.
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
    /// Whether it ends the work, unless others share it.
    pub fn is_permanent(&self) -> bool {
        matches!(self.kind, Kind::Permanent(_))
    }

    /// Whether it is the document's alone, however many others fail alike. A server that sends slowly, or whose caches
    /// lag behind, is no outage: it answers, and trying the next document costs nothing.
    pub fn is_alone(&self) -> bool {
        self.kind == Kind::Passing(SLOW) || self.is_two_versions()
    }

    /// Whether two answers show two PDFs.
    pub fn is_two_versions(&self) -> bool {
        self.kind == Kind::Passing(TWO_VERSIONS)
    }

    /// Whether the API said no to the account, of whatever it was asked, also where that may pass.
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

    /// Whether it said so for good, as far as that account is concerned: not "sign in", nor "there is none".
    pub fn is_refusal(&self) -> bool {
        self.is_no() && !matches!(self.kind, Kind::Passing(Code::Status(401 | 404 | 410)))
    }

    /// Whether another account may be answered otherwise.
    pub fn is_of_account(&self) -> bool {
        match self.call {
            Call::Read | Call::Record | Call::Report => !matches!(self.kind, Kind::Own(_)),
            _ => self.is_no(),
        }
    }

    /// The same of work that is tried again because others share it: no end any more. `None` for what is none anyway.
    pub fn taken_back(&self) -> Option<Self> {
        match &self.kind {
            Kind::Permanent(code) => Some(Failure { call: self.call, kind: Kind::Passing(code.clone()) }),
            _ => None,
        }
    }

    /// The same of a delivery that may have arrived, however it ended.
    pub fn unconfirmed(&self) -> Option<Self> {
        match &self.kind {
            Kind::Passing(code) | Kind::Down(code) => {
                Some(Failure { call: self.call, kind: Kind::Unconfirmed(code.clone()) })
            }
            _ => None,
        }
    }

    /// What [`fmt::Display`] wrote; `None` for anything else.
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
