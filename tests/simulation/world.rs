//! What is true: the documents as their servers have them, what the destinations hold, and what was answered to whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::calls::Server;
use super::checks::Book;
use super::clock;
use super::disk::Files;
use super::plan::{Call, How, Plan, Quirk, SignIn, Trouble, What, Wrong};
use crate::api::{ApiError, Meaning};
use crate::destinations::Item;

/// The world, shared by the edges of a daemon and by whoever watches.
pub(super) type Shared = Arc<Mutex<World>>;

/// What the API answers to an account that it refuses a document.
pub(super) const REFUSED_TO: u16 = 403;
/// Calls in one minute that no honest daemon of this size makes.
const MAX_CALLS: u64 = 4000;

/// Everything outside the daemon.
pub(super) struct World {
    pub(super) plan: Arc<Plan>,
    pub(super) truths: Vec<Truth>,
    /// By destination, by delivery key: the document and the version.
    pub(super) held: Vec<BTreeMap<String, (usize, usize)>>,
    /// What importers take, by destination and delivery key: when, and whether they refuse it.
    pub(super) taken: BTreeMap<(usize, String), (u64, bool)>,
    /// The last look at a destination that showed nothing of what lies there.
    pub(super) lagged: BTreeMap<usize, u64>,
    /// The numbers that the practice's list ever gave the patient of each document.
    pub(super) numbers: Vec<BTreeSet<String>>,
    /// Since when the list has that patient, if it has; milliseconds.
    pub(super) in_list_since: Vec<Option<u64>>,
    /// By destination: the server of one that files by names.
    pub(super) servers: Vec<Server>,
    /// Deliveries that are under way in this life of the daemon.
    pub(super) under_way: BTreeSet<(usize, String)>,
    pub(super) files: Files,
    pub(super) book: Book,
    /// When each account was last given its list.
    pub(super) listed_at: BTreeMap<usize, u64>,
    /// Accounts whose credentials a person mended and the daemon has not read again.
    pub(super) mended: BTreeSet<usize>,
    /// Accounts, and when they were signed in again.
    signed_in: BTreeSet<(usize, u64)>,
    pub(super) history: Option<Vec<String>>,
    pub(super) violation: Option<String>,
    pub(super) violated: Arc<Notify>,
    /// The process is killed within a delivery.
    pub(super) killed: Arc<Notify>,
    /// The events that did so, by their number in the plan.
    kills: BTreeSet<usize>,
    /// Until when the machine is down then; milliseconds.
    pub(super) down_until: u64,
    /// Steps so far: calls, deliveries, writes.
    pub(super) steps: u64,
    calls: (u64, u64),
}

/// A document as it is.
#[derive(Debug, Default)]
pub(super) struct Truth {
    pub(super) uuid: String,
    pub(super) versions: Vec<Version>,
    pub(super) listed: bool,
    pub(super) withdrawn: bool,
    /// Times somebody asked for it again, as the ledger says.
    pub(super) asked: u32,
    pub(super) blame: Blame,
    /// Whether a report was refused for good.
    pub(super) report_refused: bool,
    /// Whether the API answered 404 or 410 to a read of it.
    pub(super) said_gone: bool,
    /// Whether the API refused to show its patient, who may be shown later.
    pub(super) patient_hidden: bool,
    /// Times a person asked for it again that the daemon has not taken up.
    pub(super) asked_again: u32,
    /// A person asked for it again before the daemon could know that it had left the list.
    pub(super) unnoticed: bool,
    /// The last report that took effect.
    pub(super) told: Option<Told>,
    /// The version that the API showed at the last look that was answered.
    pub(super) looked: usize,
}

/// A version of a document: of its PDF, and for a patient.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) pdf: String,
    pub(super) bytes: Vec<u8>,
    /// How often the patient was corrected before.
    pub(super) patient: usize,
}

/// What justifies that a document fails, since it last started over.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// A clear no of the API to the document.
    pub(super) refused: bool,
    /// Downloads that were no acceptable PDF.
    pub(super) strikes: u32,
    /// Destinations that will never take it.
    pub(super) refused_by: BTreeSet<usize>,
    /// When it failed in a way that may pass; milliseconds.
    pub(super) transient: Vec<u64>,
}

/// A report that took effect.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) success: bool,
    /// The PDF that the API showed when the report was begun: another version is reported anew.
    pub(super) pdf: Option<String>,
    /// Why it may be repeated.
    pub(super) excuse: Option<&'static str>,
    /// Whether its answer showed no PDF, so that the document is looked at afterwards.
    pub(super) silent: bool,
    /// How often somebody had asked for the document again when the report was begun.
    pub(super) asked: u32,
}

impl World {
    pub(super) fn new(plan: Plan, keep_history: bool) -> Self {
        let truths = plan.documents.iter().enumerate().map(|(index, document)| Truth {
            uuid: format!("d-{}-{}", document.account, document.number),
            versions: vec![version(index, 0, document.trouble)],
            listed: true,
            ..Truth::default()
        });
        Self {
            truths: truths.collect(),
            held: vec![BTreeMap::new(); plan.destinations],
            taken: BTreeMap::new(),
            lagged: BTreeMap::new(),
            numbers: vec![BTreeSet::new(); plan.documents.len()],
            in_list_since: vec![None; plan.documents.len()],
            servers: (0..plan.destinations).map(|_| Server::default()).collect(),
            under_way: BTreeSet::new(),
            files: Files::new(),
            book: Book::new(plan.documents.len()),
            listed_at: BTreeMap::new(),
            mended: BTreeSet::new(),
            signed_in: BTreeSet::new(),
            history: keep_history.then(Vec::new),
            violation: None,
            violated: Arc::default(),
            killed: Arc::default(),
            kills: BTreeSet::new(),
            down_until: 0,
            steps: 0,
            calls: (0, 0),
            plan: Arc::new(plan),
        }
    }

    /// Writes a line of history.
    pub(super) fn tell(&mut self, line: impl FnOnce() -> String) {
        self.steps += 1;
        if let Some(history) = &mut self.history {
            let at = clock::passed();
            let mut text = String::new();
            write!(text, "{:>5}.{:03}  {}", at / 1000, at % 1000, line()).unwrap();
            history.push(text);
        }
    }

    /// A promise was broken. The first time counts.
    pub(super) fn violate(&mut self, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            let what = what();
            self.tell(|| format!("BROKEN: {what}"));
            self.violation = Some(what);
            self.violated.notify_one();
        }
    }

    /// Counts a call; too many in a minute are a loop without a pause.
    pub(super) fn count_call(&mut self) {
        let minute = clock::passed() / 60_000;
        self.calls = if self.calls.0 == minute { (minute, self.calls.1 + 1) } else { (minute, 1) };
        if self.calls.1 > MAX_CALLS {
            self.violate(|| format!("more than {MAX_CALLS} calls in a minute"));
        }
    }

    /// What is going on now.
    fn active(&self) -> impl Iterator<Item = &What> {
        let now = clock::passed();
        self.plan.events.iter().filter(move |event| event.from <= now && now < event.until).map(|event| &event.what)
    }

    /// How this call goes wrong, if it does.
    pub(super) fn api_fault(&self, of: usize, of_document: Option<usize>, of_call: Call) -> Option<How> {
        self.active().find_map(|what| match what {
            What::Api { account, document, call, how, percent }
                if *how != How::Slow
                    && *account == of
                    && (document.is_none() || *document == of_document)
                    && call.is_none_or(|call| call == of_call)
                    && clock::percent(*percent) =>
            {
                Some(*how)
            }
            _ => None,
        })
    }

    /// Whether this call takes long, whatever comes of it.
    pub(super) fn is_slow(&self, of: usize, of_document: Option<usize>, of_call: Call) -> bool {
        self.active().any(|what| match what {
            What::Api { account, document, call, how: How::Slow, percent } => {
                *account == of
                    && (document.is_none() || *document == of_document)
                    && call.is_none_or(|call| call == of_call)
                    && clock::percent(*percent)
            }
            _ => false,
        })
    }

    /// How the account cannot be signed in, if it cannot, and for how long the daemon could see that; milliseconds.
    pub(super) fn signed_out(&self, of: usize) -> Option<(SignIn, u64)> {
        let now = clock::passed();
        let begun = || self.plan.events.iter().filter(move |event| event.from <= now);
        let (how, from) = begun().filter(|event| now < event.until).find_map(|event| match event.what {
            What::SignIn { account, how } if account == of => Some((how, event.from)),
            _ => None,
        })?;
        // Not while it was down, could not write, or was told something else.
        let hidden = begun().filter(|event| match event.what {
            What::SignIn { account, .. } => account == of && event.from != from,
            What::Crash { .. } | What::KillFiling { .. } | What::Restart | What::Restore | What::LedgerFull => true,
            _ => false,
        });
        let since = hidden.map(|event| event.until.min(now)).fold(from, u64::max);
        Some((how, now - since))
    }

    /// Whether a person mended the account's sign-in since this was last asked.
    pub(super) fn notice_mended(&mut self, of: usize) -> bool {
        let (now, plan) = (clock::passed(), self.plan.clone());
        for event in plan.events.iter().filter(|event| event.until <= now) {
            if matches!(event.what, What::SignIn { account, .. } if account == of)
                && self.signed_in.insert((of, event.until))
            {
                self.mended.insert(of);
            }
        }
        self.mended.remove(&of)
    }

    /// Whether the account's server has this quirk now.
    pub(super) fn has_quirk(&self, of: usize, wanted: Quirk) -> bool {
        self.active().any(|what| matches!(what, What::List { account, quirk } if *account == of && *quirk == wanted))
    }

    /// How this delivery goes wrong, if it does.
    pub(super) fn delivery_fault(&self, to: usize, of: usize) -> Option<Wrong> {
        self.active().find_map(|what| match what {
            What::Delivery { destination, document, how, percent }
                if *destination == to && document.is_none_or(|document| document == of) && clock::percent(*percent) =>
            {
                Some(*how)
            }
            _ => None,
        })
    }

    pub(super) fn is_offline(&self, of: usize) -> bool {
        self.active().any(|what| matches!(what, What::Offline { destination } if *destination == of))
    }

    /// Whether strangers are about there.
    pub(super) fn has_strangers(&self, of: usize) -> bool {
        self.active().any(|what| matches!(what, What::Stranger { destination } if *destination == of))
    }

    /// Whether the process is killed at this call of a delivery; each event does so once.
    pub(super) fn kills(&mut self, to: usize, at: usize) -> bool {
        let now = clock::passed();
        let mut events = self.plan.events.iter().enumerate();
        let kill = events.find(|(index, event)| {
            let here = matches!(event.what, What::KillFiling { destination, call } if destination == to && call == at);
            here && event.from <= now && now < event.until && !self.kills.contains(index)
        });
        let Some((index, until)) = kill.map(|(index, event)| (index, event.until)) else { return false };
        self.kills.insert(index);
        self.down_until = until;
        self.killed.notify_one();
        true
    }

    pub(super) fn ledger_is_full(&self) -> bool {
        self.active().any(|what| *what == What::LedgerFull)
    }

    pub(super) fn spool_is_full(&self) -> bool {
        self.active().any(|what| *what == What::SpoolFull)
    }

    /// The document of the account with this identifier, if it has come into being.
    pub(super) fn find(&self, account: usize, uuid: &str) -> Option<usize> {
        let now = clock::passed();
        (0..self.truths.len()).find(|index| {
            let document = &self.plan.documents[*index];
            document.is_shown_to(account) && document.arrives <= now && self.truths[*index].uuid == uuid
        })
    }

    pub(super) fn is_rendered(&self, document: usize) -> bool {
        self.plan.documents[document].rendered <= clock::passed()
    }

    /// Whether the destination holds this version.
    pub(super) fn holds(&self, destination: usize, document: usize, version: usize) -> bool {
        self.held[destination].values().any(|held| *held == (document, version))
    }

    /// A call about a document failed: notes what that may justify.
    pub(super) fn blame(&mut self, account: usize, document: usize, call: Call, error: &ApiError) {
        // What is always refused to this account is given to the other, where that one's list shows it: a person may
        // retry what was told as failed before and is in no list any more (seed 3011863).
        let is_given = self.plan.documents[document].is_refused_to(account, call)
            && self.truths[document].listed
            && self.book.was_given_to_another(document, account)
            && !self.plan.events.iter().any(|event| matches!(event.what, What::Jump(by) if by.abs() > 24 * 3_600_000));
        // That it failed is told by the account that has it then, if that may.
        let tells_failure = call == Call::Report && self.book.states[document].as_deref() == Some("failing");
        if is_given && !tells_failure && error.status() == Some(REFUSED_TO) {
            self.truths[document].blame.transient.push(clock::passed());
            return;
        }
        let truth = &mut self.truths[document];
        let gone = matches!(error.status(), Some(404 | 410));
        match (call, error.meaning()) {
            // It is asked for again and again while the list shows it.
            (Call::Document, _) if gone => {
                truth.said_gone = true;
                truth.blame.transient.push(clock::passed());
            }
            // Once the API was told, the list that could show that this is wrong does not show it (seed 502206).
            (Call::Report, _) if gone => {
                truth.said_gone |= truth.told.is_some();
                truth.blame.transient.push(clock::passed());
            }
            (Call::Document, Meaning::Permanent) => truth.blame.refused = true,
            (Call::Download, Meaning::Permanent) => truth.blame.strikes += 1,
            (Call::Report, Meaning::Permanent) => truth.report_refused = true,
            // Out of reach is nobody's own fault, unless it is the download, which may lie elsewhere. What was answered
            // may be answered to this document alone.
            (Call::List, _) => {}
            (Call::Document | Call::Report, Meaning::Origin) if error.status().is_none() => {}
            _ => truth.blame.transient.push(clock::passed()),
        }
    }

    /// A new version appears, and with it the document is listed again.
    pub(super) fn revise(&mut self, document: usize) {
        if self.plan.documents[document].arrives > clock::passed()
            || !self.is_rendered(document)
            || self.truths[document].withdrawn
        {
            return;
        }
        let trouble = self.plan.documents[document].trouble;
        let truth = &mut self.truths[document];
        let patient = truth.versions.last().map_or(0, |last| last.patient);
        truth.versions.push(Version { patient, ..version(document, truth.versions.len(), trouble) });
        // The list shows another PDF, which is noticed whoever asked for the one before (seed 15967).
        (truth.listed, truth.unnoticed) = (true, false);
        if let Some(told) = &mut truth.told {
            told.excuse = Some("a new version");
        }
    }

    /// The service corrects the document's patient; the practice's next list has the new one.
    pub(super) fn correct(&mut self, document: usize) {
        let truth = &mut self.truths[document];
        let last = truth.versions.last().unwrap().clone();
        truth.versions.push(Version { patient: last.patient + 1, ..last });
        self.in_list_since[document] = None;
    }

    /// The version that the API shows of the document. An identifier alone shows no correction.
    pub(super) fn shown(&self, document: usize) -> usize {
        let truth = &self.truths[document];
        let (last, looked) = (truth.versions.len() - 1, &truth.versions[truth.looked]);
        let is_alike = self.plan.documents[document].patient_by_uuid && looked.pdf == truth.versions[last].pdf;
        if is_alike { truth.looked } else { last }
    }

    /// How often the patient had been corrected whom a delivery names: of an identifier alone, as was last shown.
    pub(super) fn patient_in(&self, document: usize, item: &Item) -> usize {
        let truth = &self.truths[document];
        super::server::corrected(&item.metadata.patient).unwrap_or(truth.versions[truth.looked].patient)
    }

    /// How often the document's patient was corrected so far.
    pub(super) fn patient(&self, document: usize) -> usize {
        self.truths[document].versions.last().map_or(0, |last| last.patient)
    }

    /// The name of a document in the history.
    pub(super) fn name(&self, document: usize) -> String {
        format!("{}/{}", self.plan.documents[document].account, self.truths[document].uuid)
    }
}

/// A version's PDF: what it is says whose it is.
fn version(document: usize, number: usize, trouble: Trouble) -> Version {
    let mut bytes = format!("%PDF-1.7 document {document} version {number} ").into_bytes();
    let length = if trouble == Trouble::TooLarge { 10_001 } else { bytes.len() + 7 * document + 100 * number };
    bytes.resize(length, b'.');
    bytes.extend_from_slice(b"\n%%EOF");
    Version { pdf: format!("p-{document}-{number}"), bytes, patient: 0 }
}
