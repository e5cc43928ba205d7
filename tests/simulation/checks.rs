//! The promises, checked at every step: at each delivery, each report and each write of the ledger.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::clock;
use super::plan::{GIVE_UP, Kind, Named, Trouble, What};
use super::world::{Blame, Told, Version, World};
use crate::destinations::Item;
use crate::domain::document::edition::rendered;
use crate::ledger::now;

/// A pause that is younger does not yet hold back what was under way; milliseconds.
const PAUSE_SETTLES: u64 = 5_000;
/// The longest that what was under way may go on calling an account that is paused; milliseconds. Four calls that hang.
const CALLS_END: u64 = 150_000;
/// Times that accounts take a document over from each other, at most.
const MOST_TAKEN_OVER: u32 = 16;
/// From the beginning of an attempt to when its call is heard, also where calls are slow; milliseconds.
const BEFORE_THE_CALL: u64 = 20_000;

/// What the ledger has said so far.
pub(super) struct Book {
    last_row: i64,
    /// State of each document.
    pub(super) states: Vec<Option<String>>,
    /// How often an account took each document over.
    taken_over: Vec<u32>,
    /// The accounts that each document was of.
    had: Vec<BTreeSet<usize>>,
    /// The version that each document was last fetched in.
    pdfs: Vec<Option<String>>,
    /// When each pause began; milliseconds.
    pauses: BTreeMap<String, u64>,
    /// The documents whose history is removed, by the ledger's number.
    forgotten: BTreeSet<i64>,
    /// How many there were, each time.
    pruned: u64,
    /// Documents that left the list between a backup and its restore.
    pub(super) settled: BTreeSet<usize>,
    /// Whether the ledger was restored: what it learned is forgotten, also of what went wrong.
    pub(super) is_restored: bool,
    /// Whether the spool was ever damaged from outside.
    pub(super) spool_harmed: bool,
    /// Documents whose PDF lay in memory only when the process was killed, since they were fetched.
    pub(super) lost_from_memory: BTreeSet<usize>,
}

/// A row of the ledger's history.
struct Row {
    id: i64,
    event: String,
    state: String,
    destination: Option<String>,
    account: String,
    uuid: String,
    pdf: String,
    reason: String,
}

impl Book {
    pub(super) fn new(documents: usize) -> Self {
        Self {
            last_row: 0,
            states: vec![None; documents],
            taken_over: vec![0; documents],
            had: vec![BTreeSet::new(); documents],
            pdfs: vec![None; documents],
            pauses: BTreeMap::new(),
            forgotten: BTreeSet::new(),
            pruned: 0,
            settled: BTreeSet::new(),
            is_restored: false,
            spool_harmed: false,
            lost_from_memory: BTreeSet::new(),
        }
    }

    /// The version that a report which begins now is about.
    pub(super) fn begin_report(&self, document: usize) -> Option<String> {
        self.pdfs[document].clone()
    }

    /// Whether another account than this one had the document.
    pub(super) fn was_given_to_another(&self, document: usize, account: usize) -> bool {
        self.had[document].iter().any(|had| *had != account)
    }

    /// Documents whose history was removed, each time it was.
    pub(super) fn pruned(&self) -> u64 {
        self.pruned
    }

    fn is_open(&self, document: usize) -> bool {
        matches!(self.states[document].as_deref(), None | Some("discovered" | "fetched" | "delivered" | "failing"))
    }

    fn rows(&self, db: &Connection) -> Vec<Row> {
        let mut query = db
            .prepare_cached(
                "SELECT history.id, event, history.state, destination, account, uuid, pdf, coalesce(history.reason, '')
                 FROM history JOIN document ON document.id = history.document WHERE history.id > ?1 ORDER BY history.id",
            )
            .unwrap();
        let rows = query.query_map([self.last_row], |row| {
            Ok(Row {
                id: row.get(0)?,
                event: row.get(1)?,
                state: row.get(2)?,
                destination: row.get(3)?,
                account: row.get(4)?,
                uuid: row.get(5)?,
                pdf: row.get(6)?,
                reason: row.get(7)?,
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }
}

/// The number in a name such as `destination2`.
pub(super) fn number(name: &str) -> usize {
    name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap()
}

impl World {
    /// Whose document this delivery is: its bytes, its metadata and its key must all say the same (promise 3).
    pub(super) fn whose(&mut self, destination: usize, item: &Item, bytes: &[u8]) -> Option<usize> {
        let account = number(&item.metadata.account);
        let Some(document) = self.find(account, item.uuid.as_str()) else {
            self.violate(|| format!("{} is nobody's document", item.uuid));
            return None;
        };
        let name = self.name(document);
        if !self.plan.required(document).is_some_and(|required| required.contains(&destination)) {
            self.violate(|| format!("{name} went to destination {destination}, where no route sends it"));
        }
        if self.patient_in(document, item) > self.patient(document) {
            self.violate(|| format!("{name} was delivered for a patient whom nobody named"));
        }
        let pdf = item.metadata.document.get("pdf").and_then(|pdf| pdf.get("uuid")).and_then(|pdf| pdf.as_str());
        let version = self.truths[document].versions.iter().find(|version| Some(version.pdf.as_str()) == pdf);
        if version.is_none_or(|version| version.bytes != bytes) {
            self.violate(|| format!("{name} was delivered with other bytes than those of its version {pdf:?}"));
        }
        Some(document)
    }

    /// The destination takes it, unless it has it already under this key.
    pub(super) fn hold(&mut self, destination: usize, document: usize, item: &Item) {
        let pdf = item.metadata.document.get("pdf").and_then(|pdf| pdf.get("uuid")).and_then(|pdf| pdf.as_str());
        let patient = self.patient_in(document, item);
        let is_this = |version: &Version| Some(version.pdf.as_str()) == pdf && version.patient == patient;
        let Some(number) = self.truths[document].versions.iter().position(is_this) else { return };
        // A restored ledger may know of no correction, and calls what it files by another key. What a program took there
        // nobody can see.
        let is_unseen = self.book.is_restored && self.is_taken(destination, document, number);
        let is_new = !self.held[destination].contains_key(&item.key) && !is_unseen;
        if is_new && self.holds(destination, document, number) {
            let name = self.name(document);
            self.violate(|| format!("destination {destination} has version {number} of {name} twice"));
        }
        if self.plan.confirms(destination) && !self.held[destination].contains_key(&item.key) {
            let taken_at = clock::passed() + clock::below(10 * 60_000);
            self.taken.insert((destination, item.key.clone()), (taken_at, clock::percent(5)));
        }
        if self.plan.has_list {
            let number = item.metadata.number.clone().unwrap_or_default();
            if !self.numbers[document].contains(&number) || !number.starts_with(&format!("{document}-{patient}-")) {
                let name = self.name(document);
                self.violate(|| format!("{name} was delivered with a number that the list never gave"));
            }
        }
        self.held[destination].insert(item.key.clone(), (document, number));
    }

    /// Whether an importer took it.
    fn is_taken(&self, destination: usize, document: usize, number: usize) -> bool {
        let now = clock::passed();
        self.held[destination].iter().any(|(key, held)| {
            let taken = self.taken.get(&(destination, key.clone()));
            *held == (document, number) && taken.is_some_and(|(at, is_refused)| *at <= now && !is_refused)
        })
    }

    /// Whether an importer took it, where that is waited for.
    fn is_proved(&self, destination: usize, document: usize, number: usize) -> bool {
        !self.plan.confirms(destination) || self.is_taken(destination, document, number)
    }

    /// A report takes effect, which was begun when the document had this version, had been asked for so often, and was
    /// shown so at the last look. One that was overtaken in the meantime is about what was then.
    pub(super) fn told(
        &mut self,
        document: usize,
        error: Option<&str>,
        (pdf, asked, looked): (Option<String>, u32, usize),
    ) {
        let name = self.name(document);
        let overtaken = self.truths[document].asked != asked;
        let silent = !self.is_rendered(document);
        match error {
            None => {
                let shown = |version: &usize| {
                    Some(self.truths[document].versions[*version].pdf.as_str()) == pdf.as_deref().map(rendered)
                };
                // A restored ledger finds a file by its name and content, which may be the same for both patients.
                let versions = 0..self.truths[document].versions.len();
                let numbers: Vec<usize> =
                    versions.filter(|number| *number == looked || self.book.is_restored).filter(shown).collect();
                let held = !numbers.is_empty()
                    && self.plan.required(document).unwrap_or_default().iter().all(|destination| {
                        numbers.iter().any(|number| {
                            self.holds(*destination, document, *number)
                                && self.is_proved(*destination, document, *number)
                        })
                    });
                if !held {
                    self.violate(|| {
                        format!("success of {name} was reported before every destination had {pdf:?}, version {looked}")
                    });
                }
            }
            Some(error) if !overtaken => self.justify(document, error),
            Some(_) => {}
        }
        if self.truths[document].told.as_ref().is_some_and(|told| told.excuse.is_none() && told.pdf == pdf) {
            self.violate(|| format!("{name} was reported twice for no reason"));
        }
        // Whatever became of the answer: promise 5 knows no excuse for this one.
        let failed = self.truths[document].told.as_ref().is_some_and(|told| !told.success && told.asked == asked);
        if failed && error.is_none() {
            self.violate(|| format!("{name} was reported as failed and then as synchronized, and nobody asked for it"));
        }
        let stays = self.plan.stays_listed[self.plan.documents[document].account];
        let truth = &mut self.truths[document];
        let excuse = overtaken.then_some("it was asked for again");
        truth.told = Some(Told { success: error.is_none(), pdf, excuse, asked, silent });
        truth.listed = stays;
    }

    /// A document failed: the world must have given a reason (promise 5).
    fn justify(&mut self, document: usize, error: &str) {
        let required = self.plan.required(document);
        let Blame { refused, strikes, refused_by, transient } = &self.truths[document].blame;
        let given_up = transient.first().is_some_and(|first| self.is_long_enough(clock::passed() - first));
        let justified = required.is_none_or(|required| required.iter().any(|one| refused_by.contains(one)))
            || self.plan.documents[document].trouble == Trouble::TooLarge
            || *refused
            || *strikes >= 3
            || self.book.is_restored
            || given_up;
        if !justified {
            let (name, blame) = (self.name(document), format!("{:?}", self.truths[document].blame));
            self.violate(|| format!("{name} failed without a reason: {error} ({blame})"));
        }
    }

    /// Whether a failure lasted for long enough to give up; milliseconds. A clock that is set ahead may shorten that a
    /// little, and no more; and an attempt begins a moment before the call that is blamed.
    fn is_long_enough(&self, failed_for: u64) -> bool {
        let jumps =
            self.plan.events.iter().filter(|event| matches!(event.what, What::Jump(by) if by > 0)).count() as u64;
        let limit = GIVE_UP.as_secs() * 1000;
        failed_for + BEFORE_THE_CALL + jumps * limit / 8 >= limit
    }

    /// The ledger is as it was once: what it does over again is no fault, as long as nothing is lost or doubled.
    pub(super) fn restored(&mut self, db: &Connection) {
        for document in 0..self.truths.len() {
            let known: Option<(String, String, bool)> = db
                .query_row(
                    "SELECT state, pdf, listed FROM document WHERE uuid = ?1",
                    [&self.truths[document].uuid],
                    |row| row.try_into(),
                )
                .ok();
            let (state, pdf) = known.clone().map(|(state, pdf, _)| (state, pdf)).unzip();
            let truth = &mut self.truths[document];
            // It has not seen that it left the list, if it did.
            let shows = |pdf: &str| truth.versions.last().is_some_and(|last| last.pdf == rendered(pdf));
            let is_as_known = known.is_some_and(|(state, pdf, listed)| state == "reported" && listed && shows(&pdf));
            truth.unnoticed |= truth.listed && is_as_known;
            truth.asked += 1;
            truth.asked_again += 1;
            if let Some(told) = &mut truth.told {
                told.excuse = Some("the ledger was restored");
            }
            (self.book.states[document], self.book.pdfs[document]) = (state, pdf);
        }
        for index in 0..self.plan.destinations {
            if matches!(self.plan.kind(index), Kind::Named(Named { imports: true, .. })) {
                (0..self.truths.len()).for_each(|document| self.servers[index].asked_again(document));
            }
        }
        self.book.pauses.clear();
        self.book.forgotten.clear();
        (self.book.is_restored, self.book.spool_harmed) = (true, true);
        self.look_at_pruning(db);
    }

    /// Everything that the ledger has written since the last look.
    pub(super) fn look(&mut self, db: &Connection) {
        // A pause that ended with what these rows say did not hold it back.
        self.look_at_pauses(db);
        let mut query =
            db.prepare_cached("SELECT uuid FROM document WHERE (lane IS NULL) <> (due_at IS NULL)").unwrap();
        if let Ok(uuid) = query.query_row([], |row| row.get::<_, String>(0)) {
            self.violate(|| format!("{uuid} is open and never due, or has ended and is"));
        }
        for row in self.book.rows(db) {
            self.book.last_row = row.id;
            self.tell(|| {
                let Row { event, state, account, uuid, destination, reason, .. } = &row;
                let to = destination.as_ref().map_or(String::new(), |name| format!(" {name}"));
                format!("ledger: {account} {uuid}: {event}{to}, now {state} {reason}")
            });
            let account = number(&row.account);
            let Some(document) = self.find(account, &row.uuid) else {
                self.violate(|| format!("{} of {} came out of nothing", row.uuid, row.account));
                return;
            };
            self.book.had[document].insert(account);
            self.check_row(document, &row);
            self.book.states[document] = Some(row.state);
        }
        self.look_at_pruning(db);
    }

    fn look_at_pauses(&mut self, db: &Connection) {
        let now = clock::passed();
        let mut query = db.prepare_cached("SELECT scope FROM pause").unwrap();
        let present: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        self.book.pauses.retain(|scope, _| present.contains(scope));
        for scope in present {
            self.book.pauses.entry(scope).or_insert(now);
        }
    }

    /// Pruning takes the history of what ended well and long ago, and nothing else. What it took, the checks know
    /// already: they read each row when it is written.
    fn look_at_pruning(&mut self, db: &Connection) {
        // The numbers of removed rows may be given again.
        let mut last = db.prepare_cached("SELECT coalesce(max(id), 0) FROM history").unwrap();
        self.book.last_row = last.query_row([], |row| row.get(0)).unwrap();
        let mut query = db.prepare_cached("SELECT id FROM document WHERE history_removed = 1").unwrap();
        let forgotten: BTreeSet<i64> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        if forgotten == self.book.forgotten {
            return;
        }
        let before = std::mem::replace(&mut self.book.forgotten, forgotten.clone());
        for id in forgotten.difference(&before) {
            let row =
                db.query_row("SELECT account, uuid, changed_at, state FROM document WHERE id = ?1", [id], |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        row.get::<_, String>(1)?,
                        row.get::<_, i64>(2)?,
                        row.get::<_, String>(3)?,
                    ))
                });
            let (account, uuid, changed_at, state) = row.unwrap();
            let keep = self.plan.keep_history.map_or(i64::MAX, |keep| i64::try_from(keep.as_millis()).unwrap());
            self.book.pruned += 1;
            self.tell(|| format!("ledger: the history of {account} {uuid} is removed"));
            let jumps = self.plan.events.iter().any(|event| matches!(event.what, What::Jump(_)));
            let early = !jumps && !self.book.is_restored && now() - changed_at < keep;
            if early || !matches!(state.as_str(), "reported" | "withdrawn") {
                self.violate(|| format!("the history of {uuid}, which is {state}, was removed too early"));
            }
        }
    }

    fn check_row(&mut self, document: usize, row: &Row) {
        let name = self.name(document);
        let truth = &mut self.truths[document];
        // What was refused to one account is asked for by another; one that is looked for because a 404 may have been
        // wrong, by nobody.
        let is_shared = self.plan.documents[document].also.is_some();
        let by_nobody = row.event == "relisted" && truth.asked_again == 0 && truth.versions.len() == 1 && !is_shared;
        let wrong = match row.event.as_str() {
            "fetched" => {
                // Its API can give an acceptable PDF: what comes later is counted anew.
                truth.blame.strikes = 0;
                self.book.lost_from_memory.remove(&document);
                self.book.pdfs[document] = Some(row.pdf.clone());
                None
            }
            "delivered" => {
                let destination = number(row.destination.as_deref().unwrap());
                let numbered = truth.versions.iter().enumerate();
                let of_pdf = numbered.filter(|(_, version)| version.pdf == rendered(&row.pdf));
                let numbers: Vec<usize> = of_pdf.map(|(number, _)| number).collect();
                let held = numbers.into_iter().any(|number| self.holds(destination, document, number));
                (!held).then_some("is said to be delivered and is not")
            }
            "all_delivered" => {
                self.book.pdfs[document] = Some(row.pdf.clone());
                None
            }
            "refused" | "delivery_failed" => {
                self.justify(document, &row.reason);
                None
            }
            "report_accepted" => {
                let success = row.state == "reported";
                // A server may refuse to be told of a success twice: it knows of the first one (seed 3731).
                let is_known = success && truth.report_refused && !truth.listed;
                let told = truth.told.as_ref().filter(|told| told.success == success);
                let told = told.filter(|told| is_known || told.asked == truth.asked);
                let told = told.is_some_and(|told| !success || told.pdf.as_deref() == Some(row.pdf.as_str()));
                (!told).then_some("is said to be reported in this version and is not")
            }
            "report_refused" if row.state == "unreported" => {
                let justified = truth.report_refused || !truth.blame.transient.is_empty();
                (!justified).then_some("counts as unreported, and no report was refused")
            }
            "settled_elsewhere" => {
                self.book.settled.insert(document);
                let is_lost = truth.told.is_none() && !truth.withdrawn;
                is_lost.then_some("counts as settled elsewhere, and nobody was told of it")
            }
            // Nobody but docsyncd takes a document off the list here.
            "gone" => (!truth.withdrawn && !truth.said_gone).then_some("counts as withdrawn, and is not"),
            "taken_over" => {
                self.book.taken_over[document] += 1;
                (self.book.taken_over[document] > MOST_TAKEN_OVER).then_some("is passed round")
            }
            "start_over" => {
                let harmed = row.reason.starts_with("a person asks")
                    || row.reason.starts_with("the service may have corrected it")
                    || self.book.spool_harmed
                    || self.book.lost_from_memory.contains(&document);
                (!harmed).then_some("started over, and its spooled PDF was not harmed")
            }
            "relisted" => {
                let has_failed = matches!(self.book.states[document].as_deref(), Some("failed" | "unreported"));
                let asked = truth.asked_again > 0 || truth.versions.len() > 1 || is_shared && has_failed;
                truth.asked_again = 0;
                (!asked).then_some("was taken up again, and nobody asked for it")
            }
            // One that was shown without a PDF after its failure was told waits for one, be it its first. One whose
            // patient was not shown is read again once that is, and nothing else is done (seed 3170).
            "revised" => {
                let is_first = truth.versions.len() < 2;
                let rendered = self.plan.documents[document].rendered + CALLS_END <= clock::passed();
                (is_first && rendered && !truth.patient_hidden).then_some("counts as revised and is not")
            }
            // That docsyncd was cut off with it is found at a start, whatever is paused then.
            "postponed" if row.reason.starts_with("docsyncd was cut off") => None,
            "postponed" => self.while_paused(row).then_some("spent an attempt while it was paused"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.violate(|| format!("{name} {wrong}"));
        }
        if matches!(row.event.as_str(), "relisted" | "revised" | "retry_requested") {
            let truth = &mut self.truths[document];
            // One that is only due at once is told no second time, and keeps what it failed of.
            if self.book.states[document].as_deref() != Some(row.state.as_str()) {
                // That one account is refused still holds when another asks.
                let refused = truth.blame.refused && is_shared && row.event == "relisted";
                truth.blame = Blame { refused, ..Blame::default() };
                truth.asked += u32::from(!by_nobody);
            }
            truth.unnoticed = false;
            if let Some(told) = &mut truth.told {
                told.excuse = Some("it was asked for again");
            }
        }
    }

    /// What is not asked of an account that is paused: its polls are the probes.
    pub(super) fn is_paused(&self, account: usize) -> bool {
        let since = self.book.pauses.get(&format!("account:account{account}"));
        // A list that was given ends it before the ledger is told so.
        let may_be_over = |since: &u64| self.listed_at.get(&account).is_some_and(|at| at > since);
        since.is_some_and(|since| clock::passed() - since > CALLS_END && !may_be_over(since))
    }

    /// Whether the attempt that this row counts was spent while it was paused.
    fn while_paused(&self, row: &Row) -> bool {
        let scope = match (&row.destination, row.state.as_str()) {
            (Some(destination), _) => format!("destination:{destination}"),
            (None, "discovered") => format!("fetch:{}", row.account),
            (None, _) => format!("report:{}", row.account),
        };
        let since = self.book.pauses.get(&scope);
        since.is_some_and(|since| clock::passed() - since > PAUSE_SETTLES)
    }

    /// The daemon was cut off, or could not write down what it did: reports may be repeated.
    pub(super) fn excuse(&mut self, why: &'static str) {
        for document in 0..self.truths.len() {
            let open = self.book.is_open(document);
            if let Some(told) = self.truths[document].told.as_mut().filter(|_| open) {
                told.excuse = Some(why);
            }
        }
    }
}
