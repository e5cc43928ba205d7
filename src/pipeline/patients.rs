//! patients: the number of a letter's patient in the practice's list (docs/patients.md).
//!
//! A delivery that needs the number asks for it right before it is made. If the number is not known, the delivery is
//! left until the list or a person tells it. The loop here looks at all such deliveries whenever the list changed, or
//! somebody may have decided. A second loop tells the service the numbers that were found
//! (`patients.push`).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::failures::after;
use super::stage::{self, LEDGER_PAUSE};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Shared, Signals};
use super::{assign, latest};
use crate::api::Meaning;
use crate::domain::document::Metadata;
use crate::domain::retry::RetryPolicy;
use crate::ledger::deliveries::{self, Delivery, Waiting};
use crate::ledger::documents::{self, Document};
use crate::ledger::history::{self, Action};
use crate::ledger::patients::{self as kept, Assigned, Push};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, now, process};
use crate::patients::{Before, Earlier, List, Patients, Person, Snapshot, Unmatched, Used, whose, whose_still};

/// If the service does not take a number, it is told again this much later.
const PUSH_AGAIN: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the first delivery waits for the list to be read for the first time.
const FIRST_LIST: Duration = Duration::from_secs(25);
/// How many times a number is told in vain before docsyncd gives up.
const MOST_PUSHES: u32 = 30;

/// What the daemon knows of patients.
pub struct Numbers {
    /// The practice's list.
    pub patients: Patients,
    /// The destinations that need the number, by NAME.
    pub needed_by: std::collections::BTreeSet<String>,
    /// `patients.push`
    pub push: bool,
    /// Wakes the loop for a change of something else than the list.
    pub(super) nudge: Notify,
    /// Whether a person asked to look at the service now.
    look_again: AtomicBool,
    /// Whether the waiting deliveries were matched with the list as it was first read, or the list cannot be read.
    has_matched: AtomicBool,
    /// Wakes the loop that tells numbers to the service.
    pub(super) pushes: Notify,
}

impl Numbers {
    /// For a list that somebody keeps up to date.
    pub fn new(patients: Patients, needed_by: std::collections::BTreeSet<String>, push: bool) -> Self {
        Self {
            patients,
            needed_by,
            push,
            nudge: Notify::new(),
            look_again: AtomicBool::new(false),
            has_matched: AtomicBool::new(false),
            pushes: Notify::new(),
        }
    }

    /// Whether waiting letters may become due within seconds, because the list is not read yet.
    pub fn is_busy(&self) -> bool {
        !self.has_matched.load(Ordering::Relaxed)
    }

    /// A person asks to look at the service now: names and dates of birth may have been corrected there.
    pub fn look_again(&self) {
        self.look_again.store(true, Ordering::Relaxed);
        self.nudge.notify_one();
    }

    /// Another process wrote into the ledger, or somebody at the status page decided something.
    pub fn changed(&self) {
        self.nudge.notify_one();
    }
}

/// The list that counted last, as the ledger knows it.
///
/// # Errors
/// Any error of the ledger.
pub async fn before(ledger: &Ledger) -> Result<Before, LedgerError> {
    let json = ledger.read(|db| Ok(process::all(db)?.remove(process::PATIENTS_BEFORE))).await?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// What is known when a command that runs once reads the list. Without a ledger, nothing counted and nothing was filed.
pub async fn known(ledger: Option<&Ledger>) -> Earlier {
    let Some(ledger) = ledger else { return Earlier { used: Some(HashMap::new()), ..Earlier::default() } };
    let used = ledger.read(kept::used).await.ok();
    Earlier { before: before(ledger).await.unwrap_or_default(), used }
}

/// Reads the numbers that letters were filed with, for whoever keeps the list on threads of its own.
pub fn used(ledger: Ledger) -> Used {
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move || runtime.block_on(ledger.read(kept::used)).ok())
}

/// Why a delivery has no number, and is not made now.
pub(super) enum NoNumber {
    /// The list or a person has to say it.
    Unmatched(Unmatched),
    /// A person may take it back until then.
    NotYet(Millis),
}

/// Why a letter waits whose number may still be taken back; in words, and as a code.
pub(super) const MAY_BE_UNDONE: (&str, &str) =
    ("somebody at the status page may still take back whose it is: it is filed a few seconds later", "may_be_undone");

/// The number that the delivery is made with, recorded before the delivery; `Ok(None)` if the destination needs none. A
/// version that was delivered with a number keeps it, unless the list has given that number to somebody else.
///
/// # Errors
/// Any error of the ledger.
pub(super) async fn number_for(
    edges: &Edges,
    delivery: &Delivery,
    metadata: &Metadata,
) -> Result<Result<Option<String>, NoNumber>, LedgerError> {
    let Some(numbers) = edges.numbers.as_ref().filter(|numbers| numbers.needed_by.contains(&delivery.destination))
    else {
        return Ok(Ok(None));
    };
    let patient = metadata.patient_key(&delivery.document.version.uuid);
    let list = first_list(numbers).await;
    // A person may take a decision back until the number is recorded: then it is looked for anew.
    loop {
        let asked = patient.clone();
        let assigned = edges.ledger.read(move |db| kept::assigned(db, &asked)).await?;
        let decided = assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
        let frozen = delivery.frozen.as_deref();
        let number = match whose_still(list.as_deref(), &patient, &Person::of(metadata), decided, frozen) {
            Ok(number) => number,
            Err(why) => return Ok(Err(NoNumber::Unmatched(why))),
        };
        if delivery.number.as_ref() == Some(&number) {
            return Ok(Ok(Some(number)));
        }
        let until = assigned.as_ref().map_or(0, |assigned| assigned.waits_until(now()));
        if until > now() {
            return Ok(Err(NoNumber::NotYet(until)));
        }
        let (row, asked) = (delivery.clone(), patient.clone());
        let sent = edges.ledger.write(move |db| match kept::assigned(db, &asked)? == assigned {
            true => deliveries::send_with(db, &row, &number).map(Some),
            false => Ok(None),
        });
        if let Some(number) = sent.await? {
            return Ok(Ok(Some(number)));
        }
    }
}

/// Whether the list or a person gives this patient the number by which the letter lies there; `None` if there is none,
/// or the patient's is not known. Of several in the list who are alike, only a person knows, so it counts as another's.
///
/// # Errors
/// Any error of the ledger.
pub(super) async fn has_number_of(
    edges: &Edges,
    document: &Document,
    metadata: &Metadata,
) -> Result<Option<bool>, LedgerError> {
    let (Some(numbers), Some(filed_by)) = (&edges.numbers, &document.filed_by) else { return Ok(None) };
    let (list, patient) = (first_list(numbers).await, metadata.patient_key(&document.version.uuid));
    let asked = patient.clone();
    let assigned = edges.ledger.read(move |db| kept::assigned(db, &asked)).await?;
    let decided = assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
    Ok(match whose(list.as_deref(), &patient, &Person::of(metadata), decided) {
        Ok(number) => Some(number == *filed_by),
        Err(Unmatched::Several) => Some(false),
        Err(_) => None,
    })
}

/// The list. In a daemon that has just started, this waits until the list's file was read.
async fn first_list(numbers: &Numbers) -> Option<Arc<List>> {
    let mut changes = numbers.patients.changes();
    let is_known = |snapshot: &Snapshot| snapshot.list.is_some() || snapshot.problem.is_some();
    // Waiting fails if nobody keeps the list any more, because the daemon ends.
    let _ = tokio::time::timeout(FIRST_LIST, changes.wait_for(is_known)).await;
    numbers.patients.current().list
}

/// A patient's number that the service is to be told.
#[derive(Clone)]
pub(super) struct ToPush {
    patient: String,
    account: String,
    number: String,
}

impl ToPush {
    /// Keeps it until the service has it.
    ///
    /// # Errors
    /// Any SQLite error.
    pub(super) fn write(&self, db: &Connection, at: Millis) -> QueryResult<()> {
        kept::push(db, &self.patient, &self.account, &self.number, at)
    }
}

/// What the service is to be told of a letter that was delivered with this number, if `patients.push` says so.
pub(super) fn to_push(edges: &Edges, metadata: &Metadata, delivery: &Delivery, number: String) -> Option<ToPush> {
    edges.numbers.as_ref().filter(|numbers| numbers.push)?;
    let patient = metadata.patient_uuid()?.to_owned();
    Some(ToPush { patient, account: delivery.document.version.account.clone(), number })
}

/// Leaves the delivery until the list or a person says whose letter it is.
///
/// # Errors
/// Any error of the ledger.
pub(super) async fn leave(edges: &Edges, delivery: &Delivery, why: Unmatched) -> Result<(), LedgerError> {
    edges.spool.write_all().await;
    let (row, reason) = (delivery.clone(), why.to_string());
    TransitionLog::to(&delivery.document.version, &delivery.destination).warn("needs_person", &reason);
    edges.ledger.write(move |db| deliveries::leave_unmatched(db, &row, why.as_str(), &reason, now())).await?;
    // The list may have changed since it was asked for the number.
    if let Some(numbers) = &edges.numbers {
        numbers.nudge.notify_one();
    }
    Ok(())
}

/// Matches waiting letters with the list until the daemon stops.
pub async fn run(context: Shared) {
    let Context { edges, rules, signals } = &*context;
    let Some(numbers) = &edges.numbers else { return };
    let mut changes = numbers.patients.changes();
    let (mut told, mut read_at, mut of_list) = (None, Instant::now(), 0);
    while !signals.stop.is_cancelled() {
        changes.mark_unchanged();
        let generation = numbers.patients.current().generation;
        let is_new = std::mem::replace(&mut of_list, generation) != generation && generation > 1;
        let is_due = is_new || read_at.elapsed() >= rules.limits.reconcile_interval;
        let reads = numbers.look_again.swap(false, Ordering::Relaxed) || is_due;
        let done = async {
            tell_of_file(&edges.ledger, numbers, &mut told).await?;
            let snapshot = numbers.patients.current();
            let of_refiling = refile(edges, signals).await?;
            let mut next = match_again(edges, signals, numbers).await?.into_iter().chain(of_refiling).min();
            if snapshot.list.is_some() || snapshot.problem.is_some() {
                numbers.has_matched.store(true, Ordering::Relaxed);
            }
            if !reads {
                return Ok(next);
            }
            read_at = Instant::now();
            // The service may take its time. A new export of the list interrupts this, and the service is then asked
            // again.
            tokio::select! {
                biased;
                () = signals.stop.cancelled() => {}
                Ok(()) = changes.changed() => changes.mark_changed(),
                read = read_patients(edges, signals) => {
                    read?;
                    next = match_again(edges, signals, numbers).await?.into_iter().chain(of_refiling).min();
                }
            }
            Ok(next)
        };
        let next = match done.await {
            Ok(next) => next.map(|at| Duration::from_millis(at.saturating_sub(now()).max(0).unsigned_abs())),
            Err(error) => {
                stage::ledger_failed(signals, "patients", &error);
                signals.stop.run_until_cancelled(tokio::time::sleep(LEDGER_PAUSE)).await;
                continue;
            }
        };
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => break,
            changed = changes.changed() => if changed.is_err() { break },
            () = numbers.nudge.notified() => {}
            () = tokio::time::sleep(next.unwrap_or(Duration::MAX)) => {}
            () = tokio::time::sleep_until(read_at + rules.limits.reconcile_interval) => {}
        }
    }
}

/// Reads again the letters that wait for a person: the service may have corrected their patients. If one cannot be
/// read, the next time may read it.
async fn read_patients(edges: &Edges, signals: &Signals) -> Result<(), LedgerError> {
    let mut waiting = edges.ledger.read(deliveries::unmatched).await?;
    waiting.dedup_by_key(|waiting| waiting.document);
    for Waiting { document, .. } in waiting {
        if let Some(row) = edges.ledger.read(move |db| documents::by_number(db, document)).await? {
            latest::follow(edges, signals, &row).await?;
        }
    }
    Ok(())
}

/// Records whether the list can be used, for whoever reads the ledger. Also takes note if a person has looked at a list
/// that became short, which then counts.
async fn tell_of_file(
    ledger: &Ledger,
    numbers: &Numbers,
    told: &mut Option<(Option<String>, Option<Before>)>,
) -> Result<(), LedgerError> {
    let Snapshot { list, problem, .. } = numbers.patients.current();
    let wrong = problem.map(|problem| problem.why.word(list.is_some()).to_string());
    let believed = ledger.read(|db| Ok(process::all(db)?.remove(process::PATIENTS_BELIEVED))).await?;
    if let Some(sha256) = believed {
        numbers.patients.believe(&sha256);
    }
    let now_told = Some((wrong.clone(), list.as_deref().map(List::as_before)));
    if *told == now_told {
        return Ok(());
    }
    let is_known = told.as_ref().is_some_and(|(wrong, _)| wrong.is_some());
    let before = list.map(|list| serde_json::to_string(&list.as_before()).unwrap_or_default());
    ledger
        .write(move |db| {
            if let Some(before) = before {
                process::set(db, process::PATIENTS_BEFORE, &before)?;
            }
            let Some(wrong) = wrong else {
                process::remove(db, process::PATIENTS_WRONG)?;
                return process::remove(db, process::PATIENTS_FILE).map(drop);
            };
            process::set(db, process::PATIENTS_WRONG, &wrong)?;
            // Another thing that is wrong with it begins nothing new.
            if is_known { Ok(()) } else { process::set(db, process::PATIENTS_FILE, &now().to_string()) }
        })
        .await?;
    *told = now_told;
    Ok(())
}

/// Files letters anew that were filed by another number than a person said since, once nobody can take that back. Returns
/// when to look again.
async fn refile(edges: &Edges, signals: &Signals) -> Result<Option<Millis>, LedgerError> {
    let assigned = edges.ledger.read(kept::to_refile).await?;
    let (due, later): (Vec<_>, Vec<_>) =
        assigned.into_iter().partition(|assigned| assigned.waits_until(now()) <= now());
    for assigned in due {
        let refile = move |db: &Connection| match kept::assigned(db, &assigned.patient)? == Some(assigned.clone()) {
            true => assign::refile(db, &assigned),
            false => Ok(()),
        };
        edges.ledger.write(refile).await?;
        signals.nudges.stages();
    }
    Ok(later.iter().map(|assigned| assigned.waits_until(now())).min())
}

/// Looks at every delivery that waits for a number. Those whose match has changed become due. Returns when to look again,
/// because somebody may still take an assignment back.
async fn match_again(edges: &Edges, signals: &Signals, numbers: &Numbers) -> Result<Option<Millis>, LedgerError> {
    // Without a list, nothing new is known of any patient.
    let Some(list) = numbers.patients.current().list else { return Ok(None) };
    let (gone, others, next) = edges
        .ledger
        .read(move |db| {
            let is_gone = |assigned: &Assigned| assigned.listed && list.row(&assigned.number).is_none();
            let (mut others, mut next) = (Vec::new(), None);
            for waiting in deliveries::unmatched(db)? {
                match changed(db, &waiting, &list)? {
                    Some(at) if at > now() => next = Some(next.map_or(at, |next: Millis| next.min(at))),
                    Some(_) => others.push((waiting.document, waiting.destination)),
                    None => {}
                }
            }
            let gone = kept::all(db)?.into_iter().filter(is_gone).map(|assigned| assigned.patient);
            Ok((gone.collect::<Vec<_>>(), others, next))
        })
        .await?;
    if !gone.is_empty() {
        // If a patient left the list, the person's assignment is forgotten, even if the patient comes back.
        let forget = move |db: &Connection| {
            gone.iter().try_for_each(|patient| {
                kept::remove(db, patient)?;
                history::act(db, now(), Action::Unassign, "a patient who left the practice's list", None)
            })
        };
        edges.ledger.write(forget).await?;
    }
    if !others.is_empty() {
        edges.ledger.write(move |db| deliveries::matched(db, &others, now())).await?;
        signals.nudges.deliver.notify_one();
    }
    Ok(next)
}

/// When a waiting delivery becomes due, if its match has changed.
fn changed(db: &Connection, waiting: &Waiting, list: &List) -> rusqlite::Result<Option<Millis>> {
    let Ok(metadata) = serde_json::from_str::<Metadata>(&waiting.metadata) else { return Ok(None) };
    let patient = metadata.patient_key(&waiting.uuid);
    let assigned = kept::assigned(db, &patient)?;
    let at = assigned.as_ref().map_or(0, |assigned| assigned.waits_until(now()));
    let assigned = assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
    let found = whose_still(Some(list), &patient, &Person::of(&metadata), assigned, waiting.frozen.as_deref());
    let is_other = match found {
        // If the destination does not take this number, it is asked again once the list gives another one.
        Ok(number) => !Unmatched::is_of_destination(&waiting.why) || waiting.number.as_ref() != Some(&number),
        Err(why) => why.as_str() != waiting.why,
    };
    Ok(is_other.then_some(at))
}

/// Tells the service the numbers of patients whose letters were delivered, each once, until the daemon stops.
pub async fn push(context: Shared) {
    let Context { edges, rules, signals } = &*context;
    let Some(numbers) = edges.numbers.as_ref().filter(|numbers| numbers.push) else { return };
    while !signals.stop.is_cancelled() {
        let next = match push_one(edges, &rules.retry).await {
            Ok(next) => next,
            Err(error) => {
                stage::ledger_failed(signals, "patients", &error);
                Some(after(now(), LEDGER_PAUSE))
            }
        };
        let wait = next.map_or(PUSH_AGAIN, |at| Duration::from_millis(u64::try_from(at - now()).unwrap_or(0)));
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => break,
            () = numbers.pushes.notified() => {}
            () = tokio::time::sleep(wait.min(PUSH_AGAIN)) => {}
        }
    }
}

/// Tells one number that is due. Returns when the next one is due.
async fn push_one(edges: &Edges, retry: &RetryPolicy) -> Result<Option<Millis>, LedgerError> {
    let (due, next) = edges.ledger.read(|db| kept::due_push(db, now())).await?;
    let Some(push) = due else { return Ok(next) };
    let again_at = match edges.clients.get(&push.account) {
        None => Some(after(now(), PUSH_AGAIN)),
        Some(client) => match client.tell_number(&push.patient, &push.number).await {
            Ok(()) => None,
            Err(error) => {
                let is_over = push.attempts + 1 >= MOST_PUSHES;
                let passes = matches!(error.meaning(), Meaning::Transient | Meaning::Origin) && !error.pauses_account();
                let wait = if passes { retry.delay(push.attempts + 1, error.retry_after()) } else { PUSH_AGAIN };
                let Push { account, patient, .. } = &push;
                tracing::warn!(
                    event = "push_failed",
                    account,
                    patient,
                    "the service does not take a patient's number: {error}"
                );
                (!is_over).then(|| after(now(), wait))
            }
        },
    };
    edges.ledger.write(move |db| kept::pushed(db, &push, again_at)).await?;
    Ok(Some(now()))
}
