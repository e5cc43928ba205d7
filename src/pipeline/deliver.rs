//! deliver: brings a spooled PDF to one destination.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{Mutex, Notify};
use tokio::time::Instant;

use super::Context;
use super::failure::{Failure, Work, book, insist, moved};
use super::gates::{Scope, after};
use super::line::Line;
use super::stage::{Key, Lane, Stage};
use crate::adapters::{Adapter, Item, Outcome};
use crate::document::{Metadata, Spooled};
use crate::filed::{FileDigest, Filed};
use crate::ledger::deliveries::{self, Delivery, Ended};
use crate::ledger::{LedgerError, Millis, QueryResult, documents, filed, now};
use crate::state::State;

/// The stage.
pub struct Deliver {
    lanes: Vec<Lane>,
    destinations: BTreeMap<String, Destination>,
}

struct Destination {
    adapter: Box<dyn Adapter>,
    /// Held during a check: several deliveries that fail at once ask one after the other.
    checking: Mutex<()>,
}

impl Deliver {
    /// To these destinations, by NAME.
    pub fn new(adapters: BTreeMap<String, Box<dyn Adapter>>) -> Self {
        let lanes = adapters.keys().map(|name| Lane {
            name: name.clone(),
            scope: Scope::Destination(name.clone()),
            account: None,
        });
        let lanes = lanes.collect();
        let destinations =
            adapters.into_iter().map(|(name, adapter)| (name, Destination { adapter, checking: Mutex::new(()) }));
        Self { lanes, destinations: destinations.collect() }
    }
}

#[async_trait]
impl Stage for Deliver {
    type Job = Delivery;

    const NAME: &'static str = "deliver";

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn room(&self, context: &Context) -> (usize, usize) {
        // Each destination has room of its own: one that hangs takes nothing from the others.
        let each = context.limits.max_concurrency;
        (each * self.lanes.len(), each)
    }

    fn nudge<'a>(&self, context: &'a Context) -> &'a Notify {
        &context.nudges.deliver
    }

    fn key(job: &Delivery) -> Key {
        (job.document.id, job.destination.clone())
    }

    fn work(job: &Delivery) -> Work<'_> {
        Work::Delivery(job)
    }

    fn due(db: &Connection, lane: &str, now: Millis, limit: usize) -> QueryResult<Vec<Delivery>> {
        deliveries::due(db, lane, now, limit)
    }

    fn probe(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Delivery>> {
        deliveries::probe(db, lane, now)
    }

    fn next_due(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Millis>> {
        deliveries::next_due(db, lane, now)
    }

    async fn run(&self, context: &Context, delivery: Delivery) -> Result<(), LedgerError> {
        let began = Instant::now();
        let Some(destination) = self.destinations.get(&delivery.destination) else { return Ok(()) };
        let Some(mut item) = item(context, &delivery) else { return start_over(context, &delivery).await };
        let scope = Scope::Destination(delivery.destination.clone());
        let failure = loop {
            item.filed = filed(context, &item).await?;
            match destination.adapter.deliver(&item).await {
                Outcome::Delivered { place, file, found } => {
                    // An adapter that finds another document's file again, although it is told, would do so for ever.
                    let found = found && !file.as_ref().is_some_and(|file| item.filed.is_anothers(file));
                    let Some(ended) = record(context, &delivery, &item, &place, file, found).await? else { continue };
                    destination.adapter.recorded(&item);
                    Line::of(&delivery.document.version)
                        .destination(&delivery.destination)
                        .attempt(delivery.attempts + 1)
                        .bytes(item.pdf.size)
                        .since(began)
                        .info("delivered");
                    moved(context, &delivery.document, ended.0, None).await;
                    context.gates.succeeded(&scope).await?;
                    return Ok(());
                }
                Outcome::SpoolDamaged => {
                    destination.adapter.abandon(&item).await;
                    return start_over(context, &delivery).await;
                }
                Outcome::Permanent(reason) => break Failure::Permanent { class: reason.clone(), reason },
                Outcome::Transient(reason) => break whose(destination, reason).await,
                Outcome::NoRoom(reason) => match whose(destination, reason).await {
                    Failure::Transient { reason, .. } => break Failure::NoRoom { reason },
                    shared => break shared,
                },
            }
        };
        book(context, &scope, Work::Delivery(&delivery), failure).await
    }
}

/// The document's new state, if it has one now.
struct Recorded(Option<State>);

async fn filed(context: &Context, item: &Item) -> Result<Filed, LedgerError> {
    let (sha256, uuid) = (item.pdf.sha256.clone(), item.uuid.clone());
    context.ledger.read(move |db| filed::of(db, &sha256, &uuid)).await
}

/// Writes down where the destination has the document; `None` when the file that was found there is another document's. Both
/// in one transaction: of two documents that found the same file one gets it.
async fn record(
    context: &Context,
    delivery: &Delivery,
    item: &Item,
    place: &str,
    file: Option<FileDigest>,
    found: bool,
) -> Result<Option<Recorded>, LedgerError> {
    insist(context, || {
        let (row, place, file) = (delivery.clone(), place.to_owned(), file.clone());
        let (sha256, uuid) = (item.pdf.sha256.clone(), item.uuid.clone());
        move |db| {
            if let Some(file) = &file
                && !filed::claim(db, &sha256, &uuid, file, found)?
            {
                return Ok(None);
            }
            deliveries::end(db, &row, &Ended::Delivered(&place), now()).map(|state| Some(Recorded(state)))
        }
    })
    .await
}

/// A passing failure: the destination's when it does not work at all, else perhaps the document's own.
async fn whose(destination: &Destination, reason: String) -> Failure {
    let _checking = destination.checking.lock().await;
    match destination.adapter.check().await {
        // One class for all: a program may put each document off in other words.
        Ok(()) => Failure::Transient { class: "later".to_owned(), reason, retry_after: None },
        Err(reason) => Failure::Shared { class: "check".to_owned(), reason, retry_after: None },
    }
}

/// What the adapter gets; `None` when the ledger's row is not complete.
fn item(context: &Context, delivery: &Delivery) -> Option<Item> {
    let document = &delivery.document;
    let metadata: Metadata = serde_json::from_str(document.metadata.as_deref()?).ok()?;
    Some(Item {
        uuid: document.version.uuid.clone(),
        key: document.version.delivery_key(&delivery.destination),
        pdf: Spooled {
            path: context.spool.path(document.id, document.round),
            size: document.size?,
            sha256: document.sha256.clone()?,
        },
        metadata,
        filed: Filed::default(),
    })
}

/// The spooled PDF is not what was fetched: fetch it again, later and later when that goes on (an antivirus program that
/// takes it away). What other destinations already have, they keep.
async fn start_over(context: &Context, delivery: &Delivery) -> Result<(), LedgerError> {
    let reason = "the spooled PDF is missing or damaged: it is fetched again";
    let (id, round) = (delivery.document.id, delivery.document.round);
    let delay = context.retry.delay(delivery.document.started_over + 1, None);
    let due_at = after(now(), delay);
    let state = context.ledger.write(move |db| documents::start_over(db, id, round, due_at, now(), reason)).await?;
    Line::of(&delivery.document.version).destination(&delivery.destination).warn("start_over", reason);
    moved(context, &delivery.document, state, Some(reason)).await;
    Ok(())
}
