//! deliver: brings a spooled PDF to one destination.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{self, Notify};
use tokio::time::{Instant, timeout};

use super::failures::{
    Failed, Scope, after, gave_up, may_have_arrived, moved, record_failure, wait, write_until_durable,
};
use super::patients::{MAY_BE_UNDONE, NoNumber, ToPush};
use super::stage::{self, Lane, Stage};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Limits, Nudges, Signals, confirm, latest, patients};
use crate::destinations::{Adapter, Item, Names, Outcome, Unrecorded};
use crate::domain::document::{Metadata, edition};
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::domain::proof::{Filed, Proof};
use crate::domain::reservation::{Intent, Known, Place, Wanted};
use crate::domain::state::State;
use crate::ledger::deliveries::{self, Delivery, Ended};
use crate::ledger::reservations::{self, Owner};
use crate::ledger::work::Work;
use crate::ledger::{Ledger, LedgerError, Millis, documents, names, now};

/// The longest time for a check of a destination. Other deliveries that failed wait for the check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// The stage that delivers.
pub struct Deliver {
    lanes: Vec<Lane>,
    destinations: BTreeMap<String, Destination>,
}

struct Destination {
    adapter: Arc<dyn Adapter>,
    /// Held during a check, so that deliveries that fail at once check one after the other.
    checking: sync::Mutex<()>,
}

impl Deliver {
    /// Delivers to these destinations, by NAME.
    pub fn new(adapters: BTreeMap<String, Arc<dyn Adapter>>) -> Self {
        let lanes = adapters
            .iter()
            .map(|(name, adapter)| Lane { scope: Scope::Destination(name.clone()), limit: adapter.max_connections() });
        let lanes = lanes.collect();
        let destinations =
            adapters.into_iter().map(|(name, adapter)| (name, Destination { adapter, checking: sync::Mutex::new(()) }));
        Self { lanes, destinations: destinations.collect() }
    }
}

#[async_trait]
impl Stage for Deliver {
    const NAME: &'static str = "deliver";

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn room(&self, limits: &Limits) -> usize {
        // Each destination has room of its own: one that hangs takes nothing from the others.
        limits.max_concurrency
    }

    fn nudge<'a>(&self, nudges: &'a Nudges) -> &'a Notify {
        &nudges.deliver
    }

    async fn run(&self, context: &Context, work: Work) -> Result<(), LedgerError> {
        let (Context { edges, signals, .. }, began) = (context, Instant::now());
        let Work::Delivery(mut delivery) = work else { return Ok(()) };
        let Some(destination) = self.destinations.get(&delivery.destination) else { return Ok(()) };
        if !latest::is_same(context, &delivery).await? {
            return Ok(());
        }
        let names = Arc::new(LedgerNames::of(&edges.ledger, &delivery));
        let Some(mut item) = item(edges, &delivery, &names) else { return start_over(context, &delivery).await };
        let number = match patients::number_for(edges, &delivery, &item.metadata).await? {
            Ok(number) => number,
            Err(NoNumber::Unmatched(why)) => return patients::leave(edges, &delivery, why).await,
            Err(NoNumber::NotYet(until)) => return looks_later(edges, delivery, until, MAY_BE_UNDONE).await,
        };
        if number.is_some() {
            Arc::make_mut(&mut item.metadata).number.clone_from(&number);
            delivery.number.clone_from(&number);
        }
        let scope = Scope::Destination(delivery.destination.clone());
        let outcome = destination.adapter.deliver(&item).await;
        // Whatever the answer to this attempt, an earlier attempt may still have delivered the document.
        if outcome.is_refusal() && !item.uncertain && names.settle(&names.identity, false).await.is_err() {
            return names.said();
        }
        if number.is_some() && outcome.is_refusal() && !item.uncertain {
            let row = delivery.clone();
            edges.ledger.write(move |db| deliveries::sent_nothing(db, &row)).await?;
        }
        let failed = match outcome {
            Outcome::Delivered { place, filed, proof, beside } => {
                let proof = proof.unwrap_or_else(|| destination.adapter.proof());
                let push = number.and_then(|number| patients::to_push(edges, &item.metadata, &delivery, number));
                let state = record(context, &delivery, &place, filed.as_deref(), proof, beside, push).await?;
                let line = || TransitionLog::to(&delivery.document.version, &delivery.destination);
                let there = line().attempt(delivery.tries.attempts + 1).bytes(item.pdf.size).since(began);
                there.info(if filed.is_some() { "filed" } else { "delivered" });
                if beside {
                    line().error("not_replaced", deliveries::NOT_REPLACED);
                }
                signals.counters.delivered(&delivery.destination, item.pdf.size);
                moved(edges, signals, &delivery.document, state, None).await;
                let ended = it_works(edges, signals, &scope, filed.is_some()).await;
                clear_replaced(destination, &delivery, item).await;
                return ended;
            }
            Outcome::SpoolDamaged => {
                destination.adapter.abandon(&item).await;
                return start_over(context, &delivery).await;
            }
            Outcome::Unrecorded => return names.said(),
            Outcome::NeedsPerson(why) => return patients::leave(edges, &delivery, why).await,
            Outcome::Waiting { wait: left, reason } => return not_answered(edges, delivery, left, &reason).await,
            Outcome::Permanent { code, reason } => Failed::new(Call::Deliver, Kind::Permanent(code), reason),
            Outcome::Own { code, reason } => Failed::new(Call::Deliver, Kind::Own(code), reason),
            Outcome::Transient { code, reason, retry_after } => {
                Failed { retry_after, ..classify(destination, Kind::Passing(code), reason).await }
            }
            Outcome::Unavailable { code, reason, retry_after } => {
                Failed { retry_after, ..Failed::new(Call::Deliver, Kind::Down(code), reason) }
            }
            // An earlier attempt was cut off. That says nothing about the destination.
            Outcome::Held { reason, .. } if item.uncertain => {
                edges.spool.write_all().await;
                return ask(&edges.ledger, &delivery, &may_have_arrived(&reason)).await;
            }
            Outcome::Held { code, reason } => Failed::new(Call::Deliver, Kind::Unconfirmed(code), reason),
            Outcome::Unconfirmed { code, reason } => classify(destination, Kind::Passing(code), reason).await,
            Outcome::NoRoom(reason) => classify(destination, Kind::NoRoom, reason).await,
        };
        // The spooled PDFs that are in memory for this destination will wait as well, so they go to the disk.
        edges.spool.write_all().await;
        record_failure(context, &scope, &Work::Delivery(delivery), failed).await
    }
}

/// The destination has not answered. It is looked there later.
async fn not_answered(edges: &Edges, delivery: Box<Delivery>, left: Duration, reason: &str) -> Result<(), LedgerError> {
    let code = Failure { call: Call::Deliver, kind: Kind::Passing(Code::word("no_answer")) }.to_string();
    looks_later(edges, delivery, after(now(), left), (reason, &code)).await
}

/// It is looked at again at `due_at`, without an attempt. Why, in words and as a code.
async fn looks_later(
    edges: &Edges,
    delivery: Box<Delivery>,
    due_at: Millis,
    (reason, code): (&str, &str),
) -> Result<(), LedgerError> {
    edges.spool.write_all().await;
    wait(&edges.ledger, &Work::Delivery(delivery), Some(due_at), reason, code).await
}

/// The destination took a letter, and perhaps keeps it until its software has it (`is_filed`).
async fn it_works(edges: &Edges, signals: &Signals, scope: &Scope, is_filed: bool) -> Result<(), LedgerError> {
    if let Scope::Destination(name) = scope
        && is_filed
        && let Some(confirming) = signals.nudges.confirm.get(name)
    {
        confirming.filed.notify_one();
    }
    let was_paused = edges.pauses.paused_until(scope).is_some();
    let ended = edges.pauses.succeeded(scope, stage::began()).await;
    if was_paused {
        signals.nudges.stages();
    }
    ended
}

/// How long the lane may wait while useless leftovers are removed.
const CLEARING_LIMIT: Duration = Duration::from_secs(10);

/// Answers an adapter's questions about the names of one delivery, from the ledger.
struct LedgerNames {
    ledger: Ledger,
    owner: Owner,
    /// What the ledger knew when the delivery was read, until the adapter asks for it. Nobody else changes it
    /// meanwhile.
    known: Mutex<Option<Known>>,
    /// The place that stands for the delivery itself, if it has no name.
    identity: Place,
    delivery: Arc<Delivery>,
    /// Why there was no answer.
    failed: Mutex<Option<NoAnswer>>,
}

impl fmt::Debug for LedgerNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LedgerNames").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Why an adapter has no answer about a name.
enum NoAnswer {
    Ledger(LedgerError),
    /// The document has moved on since the delivery began: what was decided about it holds no more, and nothing is sent.
    Overtaken,
}

impl LedgerNames {
    fn of(ledger: &Ledger, delivery: &Delivery) -> Self {
        let identity = Item::identity_of(&delivery.document.version.delivery_key(&delivery.destination));
        Self {
            ledger: ledger.clone(),
            owner: delivery.owner(),
            known: Mutex::new(Some(delivery.known.clone())),
            identity,
            delivery: Arc::new(delivery.clone()),
            failed: Mutex::new(None),
        }
    }

    fn without(&self, answer: NoAnswer) -> Unrecorded {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Unrecorded
    }

    fn answer<T>(&self, answer: Result<T, LedgerError>) -> Result<T, Unrecorded> {
        answer.map_err(|error| self.without(NoAnswer::Ledger(error)))
    }

    /// Why there was no answer.
    fn said(&self) -> Result<(), LedgerError> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(NoAnswer::Overtaken) => Ok(()),
            Some(NoAnswer::Ledger(error)) => Err(error),
            None => Err(LedgerError::Sqlite("the name of a document cannot be kept".to_owned())),
        }
    }
}

#[async_trait]
impl Names for LedgerNames {
    async fn known(&self) -> Result<Known, Unrecorded> {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(known);
        }
        let owner = self.owner.clone();
        self.answer(self.ledger.read(move |db| reservations::known(db, &owner)).await)
    }

    async fn reserve(&self, version: u32, wanted: &Wanted, intent: Option<&Intent>) -> Result<bool, Unrecorded> {
        let (owner, wanted, intent) = (self.owner.clone(), wanted.clone(), intent.cloned());
        let delivery = self.delivery.clone();
        let reserve = move |db: &Connection| {
            // An intent is what follows at once.
            if intent.is_some() && !deliveries::is_pending(db, &delivery)? {
                return Ok(None);
            }
            reservations::reserve(db, &owner, version, &wanted, intent.as_ref()).map(Some)
        };
        let reserved = self.answer(self.ledger.write(reserve).await)?;
        reserved.ok_or_else(|| self.without(NoAnswer::Overtaken))
    }

    async fn reserve_sidecar(&self, place: &Place) -> Result<bool, Unrecorded> {
        let (owner, place) = (self.owner.clone(), place.clone());
        self.answer(self.ledger.write(move |db| reservations::reserve_sidecar(db, &owner, &place)).await)
    }

    async fn settle(&self, place: &Place, filed: bool) -> Result<(), Unrecorded> {
        let place = place.clone();
        self.answer(self.ledger.write(move |db| reservations::settle(db, &place, filed)).await)
    }
}

/// Removes what attempts at earlier versions left in the destination, now that this version replaced them: nothing else
/// would remove it. Everything is recorded by then. If a removal does not end in time, the rest stays.
async fn clear_replaced(destination: &Destination, delivery: &Delivery, item: Item) {
    let clear = async {
        for key in &delivery.replaced {
            destination.adapter.abandon(&Item { key: key.clone(), ..item.clone() }).await;
        }
    };
    let _ = timeout(CLEARING_LIMIT, clear).await;
}

/// Records where the destination has the document, that the intent is carried out, and which number the service is to
/// be told, in one transaction: nothing would repeat a part of it. Returns the document's new state, if it changed.
async fn record(
    context: &Context,
    delivery: &Delivery,
    place: &str,
    filed: Option<&Filed>,
    proof: Proof,
    beside: bool,
    push: Option<ToPush>,
) -> Result<Option<State>, LedgerError> {
    let Context { edges, rules, signals } = context;
    let told_at = confirm::told_at(rules, &delivery.destination);
    let (state, is_over) = write_until_durable(edges, signals, || {
        let (row, place, filed, push) = (delivery.clone(), place.to_owned(), filed.cloned(), push.clone());
        move |db| {
            let ended = match &filed {
                Some(filed) => Ended::Filed { place: &place, filed, told_at },
                None => Ended::Delivered { place: &place, proof },
            };
            let state = deliveries::end(db, &row, &ended, now())?;
            if beside {
                deliveries::not_replaced(db, &row, now())?;
            }
            reservations::delivered(db, &row.owner())?;
            names::filed_at(db, row.document.id, &place)?;
            push.map_or(Ok(()), |push| push.write(db, now()))?;
            Ok((state, filed.is_some() && !deliveries::any_pending(db, row.document.id, &row.document.version.pdf)?))
        }
    })
    .await?;
    if let (Some(_), Some(numbers)) = (&push, &edges.numbers) {
        numbers.pushes.notify_one();
    }
    // A delivery that waits for its proof needs no PDF any more.
    if is_over {
        edges.spool.remove(delivery.document.id, delivery.document.round).await;
    }
    Ok(state)
}

/// Classifies a passing failure: if the check fails as well, the destination is down; if not, the failure may be the
/// document's own.
async fn classify(destination: &Destination, kind: Kind, reason: String) -> Failed {
    let _checking = destination.checking.lock().await;
    match timeout(CHECK_LIMIT, destination.adapter.check()).await {
        Ok(Ok(_)) => Failed::new(Call::Deliver, kind, reason),
        // There is no room for a check either. The delivery's reason is kept: it names the place to free.
        Ok(Err(_)) if kind == Kind::NoRoom => Failed::new(Call::Deliver, Kind::Down(Code::word("full")), reason),
        Ok(Err(reason)) => Failed::new(Call::Deliver, Kind::Down(down_by(kind)), reason),
        Err(_) => {
            let reason = format!("{reason}; and a check of it does not end within {} s", CHECK_LIMIT.as_secs());
            Failed::new(Call::Deliver, Kind::Down(Code::word("check")), reason)
        }
    }
}

/// Why a destination is down. If its program cannot be used, or nothing may be written there, the delivery knows the
/// reason better than the check.
fn down_by(kind: Kind) -> Code {
    let known = ["program_unusable", "not_started", "read_only", "not_allowed"].map(Code::word);
    match kind {
        Kind::Passing(code) if known.contains(&code) => code,
        _ => Code::word("check"),
    }
}

/// What the adapter gets; `None` if the ledger's row is not complete.
fn item(edges: &Edges, delivery: &Delivery, names: &Arc<LedgerNames>) -> Option<Item> {
    let document = &delivery.document;
    let metadata: Metadata = serde_json::from_str(delivery.metadata.as_deref()?).ok()?;
    Some(Item {
        uuid: document.version.uuid.clone(),
        key: document.version.delivery_key(&delivery.destination),
        replaces: delivery.arrived_before.clone(),
        has_editions: edition::edition(&document.version.pdf) > 0,
        pdf: edges.spool.pdf(document.id, document.round, document.size?, document.sha256.clone()?),
        metadata: Arc::new(metadata),
        names: names.clone(),
        uncertain: delivery.is_uncertain(),
        tried: delivery.tries.attempts > 0 || document.found_at < edges.started || document.in_doubt,
        restored: document.in_doubt,
    })
}

/// An attempt was cut off after its intent was recorded: leaves the delivery to a person, who can look what it did.
async fn ask(ledger: &Ledger, delivery: &Delivery, reason: &str) -> Result<(), LedgerError> {
    TransitionLog::to(&delivery.document.version, &delivery.destination).error("unconfirmed", reason);
    let (row, reason) = (delivery.clone(), reason.to_owned());
    ledger.write(move |db| deliveries::leave_unconfirmed(db, &row, &reason, None, now())).await
}

/// The spooled PDF is not what was fetched, so it is fetched again. If that goes on (an antivirus program that removes
/// the file), the waits grow. Other destinations keep what they have. If the PDF is missing because the previous
/// process was killed, nothing is at fault.
async fn start_over(context: &Context, delivery: &Delivery) -> Result<(), LedgerError> {
    let Context { edges, rules, signals } = context;
    let document = &delivery.document;
    let was_killed = document.started_over == 0 && document.tries.changed_at < edges.started;
    let reason = match was_killed {
        true => "docsyncd ended before it was delivered: it is fetched again",
        false => "the spooled PDF is missing or damaged: it is fetched again",
    };
    let give_up_after = rules.limits.patience.give_up_after;
    // On average, the waits so far took half of their upper bound.
    if !was_killed && rules.retry.total_bound(document.started_over) / 2 >= give_up_after {
        let words =
            format!("{reason} again and again: does an antivirus program remove files from docsyncd's own folder?");
        let code = Code::word("spool_damaged");
        let failed = Failed::new(Call::Download, Kind::Own(code), gave_up(give_up_after, &words));
        let scope = Scope::Destination(delivery.destination.clone());
        return record_failure(context, &scope, &delivery.into(), failed).await;
    }
    let (id, round) = (document.id, document.round);
    let delay = if was_killed { Duration::ZERO } else { rules.retry.delay(document.started_over + 1, None) };
    let due_at = after(now(), delay);
    let state = edges.ledger.write(move |db| documents::start_over(db, id, round, due_at, now(), reason)).await?;
    let line = TransitionLog::to(&document.version, &delivery.destination);
    if was_killed {
        line.info("start_over")
    } else {
        line.warn("start_over", reason)
    }
    moved(edges, signals, document, state, Some(reason)).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{listed, testing};

    /// An adapter whose check never ends, or finds no room.
    enum Broken {
        Hangs,
        Full,
    }

    #[async_trait]
    impl Adapter for Broken {
        async fn deliver(&self, _: &Item) -> Outcome {
            std::future::pending().await
        }

        async fn check(&self) -> Result<crate::destinations::Checked, String> {
            match self {
                Self::Hangs => std::future::pending().await,
                Self::Full => Err("no space left".to_owned()),
            }
        }
    }

    /// Between the last look at a letter and its delivery lie waits: for the list of patients, for a lookup, for a connection.
    #[tokio::test]
    async fn nothing_is_sent_of_a_letter_that_moved_on_since() {
        let (folder, db) = testing::empty();
        let path = folder.path().join("ledger.sqlite3");
        listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 1).unwrap();
        let to = ["pms".to_owned()];
        documents::fetched(&db, &documents::by_number(&db, 1).unwrap().unwrap(), &testing::fetched("p"), &to, 2)
            .unwrap();
        let delivery = deliveries::pending(&db, "pms", 1).unwrap().unwrap();
        drop(db);
        let (ledger, _lock) = Ledger::open_exclusive(&path).unwrap();
        let names = LedgerNames::of(&ledger, &delivery);
        let intent = Intent { place: names.identity.clone(), path: "k {}".into(), temporary: "k".into() };
        let wanted = Wanted { place: names.identity.clone(), family: names.identity.clone() };
        assert!(names.reserve(1, &wanted, Some(&intent)).await.unwrap());
        ledger.write(|db| documents::numbered_wrongly(db, 1, 3)).await.unwrap();
        assert!(names.reserve(1, &wanted, None).await.unwrap(), "a name alone");
        assert!(names.reserve(1, &wanted, Some(&intent)).await.is_err());
        assert!(names.said().is_ok(), "that is no error of the ledger");
    }

    #[tokio::test]
    async fn a_program_that_is_missing_is_what_the_destination_is_paused_for() {
        for (word, told) in [
            ("program_unusable", "program_unusable"),
            ("not_started", "not_started"),
            ("read_only", "read_only"),
            ("cut", "check"),
        ] {
            let destination = Destination { adapter: Arc::new(Broken::Full), checking: sync::Mutex::new(()) };
            let failed = classify(&destination, Kind::Passing(Code::word(word)), "it fails".to_owned()).await;
            assert_eq!(failed.failure.kind, Kind::Down(Code::word(told)), "{word}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_does_not_end_is_the_destinations_failure() {
        let destination = Destination { adapter: Arc::new(Broken::Hangs), checking: sync::Mutex::new(()) };
        let failed = classify(&destination, Kind::Passing(Code::Status(500)), "it fails".to_owned()).await;
        assert_eq!(failed.failure.kind, Kind::Down(Code::word("check")));
    }
    #[tokio::test]
    async fn a_destination_without_room_for_a_check_is_full() {
        let destination = Destination { adapter: Arc::new(Broken::Full), checking: sync::Mutex::new(()) };
        let failed = classify(&destination, Kind::NoRoom, "free space there".to_owned()).await;
        assert_eq!((failed.failure.kind, &*failed.reason), (Kind::Down(Code::word("full")), "free space there"));
    }
}
