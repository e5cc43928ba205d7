//! What a failure costs: the one place that decides between waiting, an attempt, and the end, for documents and
//! deliveries alike.

use std::time::Duration;

use rusqlite::Connection;

use super::gates::{Blame, Scope, Sign, after};
use super::line::Line;
use super::stage::LEDGER_PAUSE;
use super::verdict::{REPORT_REFUSED, convict, hold_reports, report_at, take_back};
use super::{Context, Progress};
use crate::api::{ApiError, ListQuery, Meaning};
use crate::document::Version;
use crate::ledger::deliveries::{self, Delivery, Ended};
use crate::ledger::documents::{self, Document, Postponed};
use crate::ledger::verdicts;
use crate::ledger::{LedgerError, Millis, QueryResult, now};
use crate::state::{Event, State};

/// Downloads that are no acceptable PDF before that counts as permanent (promise 5).
const STRIKES: u32 = 3;
/// Documents in a row that fail in the same passing way before it is taken for the origin's or destination's failure.
const SEVERAL_TRANSIENT: usize = 3;
/// The same for verdicts that end a document: fewer would hold back clear answers, more would spoil many documents.
const SEVERAL_PERMANENT: usize = 5;

/// Attempts before the age of the first failure counts.
const MIN_ATTEMPTS: u32 = 5;
/// The time between two attempts counts for this part of `sync.give_up_after` at most, or for the delay between them where
/// that is longer: a clock that jumps ahead must not end a document.
const MAX_GAP_PART: u32 = 8;

/// How a piece of work failed. Reasons are free of patient data.
pub(super) enum Failure {
    /// It may be the document's own, and it may pass.
    Transient { class: String, reason: String, retry_after: Option<Duration> },
    /// The destination has no room for it, and may have some for smaller ones. However long that lasts, it is no fault of
    /// the document's (promise 5).
    NoRoom { reason: String },
    /// What was downloaded is no acceptable PDF.
    Strike { class: String, reason: String },
    /// It will never work for this document, unless the origin or destination answers this to everything.
    Permanent { class: String, reason: String },
    /// It will never work for this document, and only the document or the configuration is to blame.
    Own { reason: String },
    /// Not the document's own: the whole origin or destination fails.
    Shared { class: String, reason: String, retry_after: Option<Duration> },
    /// 401: the account has to sign in, unless the API says it to this document only.
    Login { class: String, reason: String },
}

impl Failure {
    /// A failed call to the API.
    pub(super) fn of_call(doing: &str, error: &ApiError) -> Self {
        let (reason, class) = (format!("{doing}: {error}"), format!("{doing} {}", error.class()));
        match error.meaning() {
            Meaning::NeedsLogin => Failure::Login { class, reason },
            Meaning::Origin => Failure::Shared { class, reason, retry_after: error.retry_after() },
            Meaning::Transient => Failure::Transient { class, reason, retry_after: error.retry_after() },
            Meaning::Permanent => Failure::Permanent { class, reason },
        }
    }
}

/// What failed.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    Document(&'a Document),
    Delivery(&'a Delivery),
}

impl Work<'_> {
    pub(super) fn document(&self) -> &Document {
        match self {
            Work::Document(document) => document,
            Work::Delivery(delivery) => &delivery.document,
        }
    }

    pub(super) fn attempts(&self) -> u32 {
        match self {
            Work::Document(document) => document.attempts,
            Work::Delivery(delivery) => delivery.attempts,
        }
    }

    fn changed_at(&self) -> Millis {
        match self {
            Work::Document(document) => document.changed_at,
            Work::Delivery(delivery) => delivery.changed_at,
        }
    }

    fn line(&self) -> Line<'_> {
        let line = Line::of(self.version());
        match self {
            Work::Document(_) => line,
            Work::Delivery(delivery) => line.destination(&delivery.destination),
        }
    }

    fn version(&self) -> &Version {
        &self.document().version
    }
}

/// Books a failure: the gate before it, the attempts of the document, the time of the next one, or the end.
pub(super) async fn book(
    context: &Context,
    scope: &Scope,
    work: Work<'_>,
    failure: Failure,
) -> Result<(), LedgerError> {
    let no_room = matches!(failure, Failure::NoRoom { .. });
    let (class, reason, retry_after, several, strike, permanent) = match failure {
        Failure::NoRoom { reason } => ("no room".to_owned(), reason, None, SEVERAL_TRANSIENT, false, false),
        Failure::Own { reason } => return refuse(context, work, &reason).await,
        Failure::Shared { class, reason, retry_after } => {
            context.gates.close(scope, &class, &reason, retry_after).await?;
            return wait(context, work, now(), &reason).await;
        }
        Failure::Login { class, reason } => {
            let name = &work.version().account;
            if refused_everywhere(context, name).await? {
                return wait(context, work, now(), &reason).await;
            }
            (class, reason, None, SEVERAL_TRANSIENT, false, false)
        }
        Failure::Transient { class, reason, retry_after } => {
            (class, reason, retry_after, SEVERAL_TRANSIENT, false, false)
        }
        Failure::Strike { class, reason } => (class, reason, None, SEVERAL_TRANSIENT, true, false),
        Failure::Permanent { class, reason } => (class, reason, None, SEVERAL_PERMANENT, false, true),
    };
    let verdict = permanent || strike;
    let sign = Sign {
        document: work.document().id,
        first: work.attempts() == 0,
        class: &class,
        several,
        reason: &reason,
        retry_after,
        // What may pass is waited for, however long it takes.
        give_up_after: verdict.then_some(context.limits.give_up_after),
    };
    match context.gates.failed(scope, &sign).await? {
        Blame::Gate(_) => wait(context, work, now(), &reason).await,
        Blame::NowGate(before) => {
            if verdict {
                take_back(context, scope, before, &reason).await?;
            }
            wait(context, work, now(), &reason).await
        }
        // One that came in while the outage lasted has not been tried for as long.
        Blame::GivenUp if after(work.document().found_at, context.limits.give_up_after) > now() => {
            wait(context, work, now(), &reason).await
        }
        Blame::GivenUp => refuse(context, work, &gave_up(context, &reason)).await,
        Blame::Document if permanent => convict(context, scope, &class, work, &reason).await,
        Blame::Document if strike && work.document().strikes + 1 >= STRIKES => {
            convict(context, scope, &class, work, &format!("{reason}, {STRIKES} times")).await
        }
        Blame::Document => {
            if strike {
                hold_reports(context, scope, &class, work.document().id).await?;
            }
            charge(context, work, &reason, Charge { strike, no_room, retry_after }).await
        }
    }
}

fn gave_up(context: &Context, reason: &str) -> String {
    let limit = humantime::format_duration(context.limits.give_up_after);
    format!("gave up after {limit} (sync.give_up_after): {reason}")
}

/// Since when the work counts as failing, now that it failed again. Time in which nothing was tried counts little: the
/// machine was off, or the clock was set ahead. A time to come means that it was set back.
///
/// The ledger is asked, since a pause that ended while the work was under way has given time back; it may have been this
/// very work that ended it.
async fn failing_since(context: &Context, work: Work<'_>, at: Millis) -> Result<Millis, LedgerError> {
    let id = work.document().id;
    let delivery = if let Work::Delivery(delivery) = work { Some(delivery.clone()) } else { None };
    let read = context.ledger.read(move |db| match &delivery {
        Some(delivery) => deliveries::failing_since(db, delivery),
        None => documents::failing_since(db, id),
    });
    let Some(since) = read.await?.filter(|since| *since <= at) else { return Ok(at) };
    // What a backoff may take is no jump, however short give_up_after is.
    let max_gap = (context.limits.give_up_after / MAX_GAP_PART).max(context.retry.max);
    let unwatched = at.saturating_sub(after(work.changed_at(), max_gap)).max(0);
    Ok(since.saturating_add(unwatched).min(at))
}

/// Whether the account's credentials are refused for good and all, asked of the list. If so the account is paused, with
/// one alarm; its polls are the probes.
async fn refused_everywhere(context: &Context, account: &str) -> Result<bool, LedgerError> {
    let scope = Scope::Account(account.to_owned());
    if context.gates.closed_until(&scope).is_some() {
        return Ok(true);
    }
    let Some(client) = context.clients.get(account) else { return Ok(false) };
    match client.list(&ListQuery { page: 1, ..ListQuery::default() }).await {
        Err(error) if error.pauses_account() => {
            let reason = format!("reading the list of documents: {error}");
            context.gates.close(&scope, &error.class(), &reason, error.retry_after()).await?;
            context.nudges.reconsider(account);
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Waits without spending an attempt. A closed gate holds the document back by itself, so it stays due: whoever opens
/// the gate need not know whom it held.
pub(super) async fn wait(context: &Context, work: Work<'_>, due_at: Millis, reason: &str) -> Result<(), LedgerError> {
    if work.document().reason.as_deref() != Some(reason) {
        work.line().retry_in(due_at.saturating_sub(now())).warn("waiting", reason);
    }
    // One moment for all of it: a clock that jumps between two of them would not be seen to have done so.
    let at = now();
    let since = failing_since(context, work, at).await?;
    postpone(context, work, since, reason, Postponing { at, due_at, charged: false, strike: false }).await
}

/// What is special about an attempt.
struct Charge {
    strike: bool,
    no_room: bool,
    retry_after: Option<Duration>,
}

/// Spends an attempt, or ends the document when it has failed for too long.
async fn charge(context: &Context, work: Work<'_>, reason: &str, charge: Charge) -> Result<(), LedgerError> {
    let Charge { strike, no_room, retry_after } = charge;
    let (at, limit) = (now(), context.limits.give_up_after);
    if !no_room && work.attempts() >= MIN_ATTEMPTS && after(failing_since(context, work, at).await?, limit) <= at {
        return refuse(context, work, &gave_up(context, reason)).await;
    }
    let attempt = work.attempts() + 1;
    let due_at = after(at, context.retry.delay(attempt, retry_after));
    work.line().attempt(attempt).retry_in(due_at - at).warn("postponed", reason);
    // The time without room does not count either, should it fail in another way afterwards.
    let since = if no_room { at } else { failing_since(context, work, at).await? };
    postpone(context, work, since, reason, Postponing { at, due_at, charged: true, strike }).await
}

struct Postponing {
    at: Millis,
    due_at: Millis,
    charged: bool,
    strike: bool,
}

async fn postpone(
    context: &Context,
    work: Work<'_>,
    failing_since: Millis,
    reason: &str,
    postponing: Postponing,
) -> Result<(), LedgerError> {
    let Postponing { at, due_at, charged, strike } = postponing;
    let reason = reason.to_owned();
    let document = work.document().clone();
    let delivery = if let Work::Delivery(delivery) = work { Some(delivery.clone()) } else { None };
    context
        .ledger
        .write(move |db| {
            let postponed = Postponed { due_at, charged, strike, reason: &reason, failing_since };
            match &delivery {
                Some(delivery) => deliveries::postpone(db, delivery, &postponed, at),
                None => documents::postpone(db, &document, &postponed, at),
            }
        })
        .await
}

/// Ends the document, or one of its deliveries, with an error.
pub(super) async fn refuse(context: &Context, work: Work<'_>, reason: &str) -> Result<(), LedgerError> {
    work.line().attempt(work.attempts() + 1).error("refused", reason);
    let (owned, mut document) = (reason.to_owned(), work.document().clone());
    let until = report_at(context);
    let state = match work {
        Work::Delivery(delivery) => {
            let delivery = delivery.clone();
            let write = context.ledger.write(move |db| {
                let state = deliveries::end(db, &delivery, &Ended::Failed(&owned), now())?;
                verdicts::hold_report(db, delivery.document.id, until)?;
                Ok(state)
            });
            write.await?
        }
        Work::Document(_) => {
            // In `delivered` and `failing` it is the report that is refused, not the document.
            let event = match document.state {
                State::Delivered | State::Failing => Event::ReportRefused,
                _ => Event::Refused,
            };
            let (id, round) = (document.id, document.round);
            // What failed stays the reason, also when the API does not want to hear of it.
            let kept = document.reason.take().filter(|_| document.state == State::Failing);
            let owned = kept.map_or(owned.clone(), |kept| {
                // It may have been refused before.
                let kept = kept.split_once(REPORT_REFUSED).map_or(kept.as_str(), |(kept, _)| kept);
                format!("{kept}{REPORT_REFUSED}{owned})")
            });
            let write = context.ledger.write(move |db| {
                let state = documents::transition(db, id, round, event, now(), Some(&owned))?;
                verdicts::hold_report(db, id, until)?;
                Ok(state)
            });
            write.await?
        }
    };
    moved(context, work.document(), state, Some(reason)).await;
    Ok(())
}

/// Writes what became of a side effect. While the ledger cannot be written (a full disk) it is tried again and again
/// until the daemon stops: giving the row back would repeat the side effect.
pub(super) async fn insist<T, Q, F>(context: &Context, query: F) -> Result<T, LedgerError>
where
    T: Send + 'static,
    Q: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
    F: Fn() -> Q,
{
    loop {
        match context.ledger.write(query()).await {
            Err(error) if error.is_transient() && !context.stop.is_cancelled() => {
                tracing::error!(event = "ledger_failed", "{error}; trying again");
                tokio::select! {
                    biased;
                    () = tokio::time::sleep(LEDGER_PAUSE) => {}
                    () = context.stop.cancelled() => {}
                }
            }
            other => return other,
        }
    }
}

/// Follows a change of state: the spool is cleared, the next stage is woken, and whoever watches is told.
pub(super) async fn moved(context: &Context, document: &Document, state: Option<State>, reason: Option<&str>) {
    let Some(state) = state else { return };
    if document.state == State::Fetched {
        context.spool.remove(document.id, document.round).await;
    }
    context.nudges.after(state);
    context.observe(Progress::Moved {
        uuid: document.version.uuid.clone(),
        account: document.version.account.clone(),
        state,
        reason: reason.map(str::to_owned),
    });
}
