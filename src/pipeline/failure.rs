//! Carries out what [`crate::failure::decide`] rules: what a failure changes is written in one transaction.

use std::time::Duration;

use rusqlite::Connection;

use super::pauses::{Change, Ends, HeldLine, Line, Scope, Subject, after};
use super::stage::{LEDGER_PAUSE, took};
use super::transition_log::TransitionLog;
use super::{Context, Progress};
use crate::api::{ApiError, ListQuery, Meaning};
use crate::document::Version;
use crate::failure::{Call, Code, Consequence, Failure, HOLD, Kind, Pause, TRIES, Tried, decide};
use crate::ledger::deliveries::{self, Delivery, Ended};
use crate::ledger::documents::Document;
use crate::ledger::failures::{self, Charge, Postponed};
use crate::ledger::{LedgerError, Millis, QueryResult, held, listed, now};
use crate::state::State;

/// How a piece of work failed, and what people are told of it.
pub(super) struct Failed {
    /// What is compared.
    pub(super) failure: Failure,
    /// Free of patient data.
    pub(super) reason: String,
    /// What the other side asked for.
    pub(super) retry_after: Option<Duration>,
    /// Where the PDF lies that could not be downloaded.
    origin: Option<String>,
    /// 401: the account has to sign in, unless the API says it to this document only.
    needs_login: bool,
}

impl Failed {
    pub(super) fn new(call: Call, kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            failure: Failure { call, kind },
            reason: reason.into(),
            retry_after: None,
            origin: None,
            needs_login: false,
        }
    }

    /// The same; the other side asked to be left alone for so long.
    pub(super) fn retry_after(self, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..self }
    }

    /// The same, of a PDF that lies there.
    pub(super) fn at_origin(self, origin: String) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// A failed call to the API; `doing` is what it was for.
    pub(super) fn of_call(call: Call, doing: &str, error: &ApiError) -> Self {
        let code = error.status().map_or_else(|| Code::Word(error.class().into()), Code::Status);
        let (meaning, retry_after) = (error.meaning(), error.retry_after());
        let kind = match meaning {
            Meaning::Origin => Kind::Down(code),
            // A server that says when it will be back is away for everybody.
            Meaning::Transient if retry_after.is_some() && error.status() == Some(503) => Kind::Down(code),
            Meaning::Transient | Meaning::NeedsLogin => Kind::Passing(code),
            Meaning::Permanent => Kind::Permanent(code),
        };
        let needs_login = meaning == Meaning::NeedsLogin;
        Self { retry_after, needs_login, ..Self::new(call, kind, format!("{doing}: {error}")) }
    }
}

/// A call about the document failed. A 404 may come from a proxy: it is no proof that the document is gone, and the list is
/// asked for it (promise 5).
///
/// # Errors
/// Any error of the ledger.
pub(super) async fn failed_call(
    context: &Context,
    document: &Document,
    call: Call,
    doing: &str,
    error: &ApiError,
) -> Result<Failed, LedgerError> {
    let Some(status @ (404 | 410)) = error.status() else { return Ok(Failed::of_call(call, doing, error)) };
    let (id, round) = (document.id, document.round);
    context.ledger.write(move |db| listed::missing(db, id, round, now())).await?;
    Ok(Failed::new(call, Kind::Passing(Code::Status(status)), format!("{doing}: {error}")))
}

/// The answer is about another document than the one that was asked for: something on the way mixes them up.
pub(super) fn other_document() -> Failed {
    let reason = "the API answered with another document than the one asked for";
    Failed::new(Call::Read, Kind::Passing(Code::word("other_document")), reason)
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

    fn line(&self) -> TransitionLog<'_> {
        let line = TransitionLog::of(self.version());
        match self.destination() {
            Some(name) => line.destination(name),
            None => line,
        }
    }

    fn destination(&self) -> Option<&str> {
        match self {
            Work::Document(_) => None,
            Work::Delivery(delivery) => Some(&delivery.destination),
        }
    }

    fn version(&self) -> &Version {
        &self.document().version
    }

    /// The failure before this one.
    fn last_failure(&self) -> Option<&str> {
        match self {
            Work::Delivery(delivery) => delivery.failure.as_deref(),
            Work::Document(document) if document.state == State::Discovered => document.failure.as_deref(),
            Work::Document(document) => document.report_failure.as_deref(),
        }
    }

    /// The wait before this attempt, which took so long, and the attempt itself; milliseconds. No more than was to be waited
    /// for counts: not a pause, not the time for which the machine was off, nor what a clock jumped.
    pub(super) fn spent(&self, took: Millis, at: Millis) -> Millis {
        let (changed_at, due_at) = match self {
            Work::Document(document) => (document.changed_at, document.due_at),
            Work::Delivery(delivery) => (delivery.changed_at, delivery.due_at),
        };
        let until = due_at.map_or(changed_at, |due_at| due_at.min(at.saturating_sub(took)));
        let waited = if self.attempts() == 0 { 0 } else { until.saturating_sub(changed_at).max(0) };
        waited.saturating_add(took)
    }

    fn tried(&self, spent: Millis) -> Tried {
        let before = match self {
            Work::Document(document) => document.failing_for,
            Work::Delivery(delivery) => delivery.failing_for,
        };
        let failing_for = before.saturating_add(spent);
        Tried {
            attempts: self.attempts(),
            doubtful: self.document().strikes,
            failing_for: Duration::from_millis(u64::try_from(failing_for).unwrap_or(0)),
        }
    }

    fn subject(&self, failure: &Failure, name: &str, origin: Option<String>, at: Millis) -> Subject {
        let alike = self.last_failure() == Some(name);
        let failing_since = match self {
            Work::Document(document) => document.failing_since,
            Work::Delivery(delivery) => delivery.failing_since,
        };
        let is_down = matches!(failure.kind, Kind::Down(_));
        let known_for = u64::try_from(at.saturating_sub(self.document().found_at)).unwrap_or(0);
        Subject {
            document: self.document().id,
            // A permanent failure that it had before was taken back.
            first: is_down || matches!(failure.kind, Kind::Permanent(_)) || !alike,
            failed_at: if is_down { alike.then_some(self.document().found_at) } else { failing_since },
            known_for: Duration::from_millis(known_for),
            origin,
        }
    }

    fn owned(&self) -> Owned {
        match self {
            Work::Document(document) => Owned::Document(Box::new((*document).clone())),
            Work::Delivery(delivery) => Owned::Delivery(Box::new((*delivery).clone())),
        }
    }
}

/// The work, as a query takes it along.
enum Owned {
    Document(Box<Document>),
    Delivery(Box<Delivery>),
}

impl Owned {
    fn postpone(&self, db: &Connection, postponed: &Postponed<'_>, at: Millis) -> QueryResult<()> {
        match self {
            Owned::Document(document) => failures::postpone(db, document, postponed, at),
            Owned::Delivery(delivery) => deliveries::postpone(db, delivery, postponed, at),
        }
    }

    /// Leaves it to a person; only a delivery can be left so.
    fn leave_unconfirmed(&self, db: &Connection, reason: &str, failure: &str, at: Millis) -> QueryResult<()> {
        match self {
            Owned::Document(_) => Ok(()),
            Owned::Delivery(delivery) => deliveries::leave_unconfirmed(db, delivery, reason, Some(failure), at),
        }
    }

    /// Ends it; a failure that others may share is told at `told_at`, and so are those that failed alike before.
    fn fail(
        &self,
        db: &Connection,
        reason: &str,
        code: &str,
        failure: Option<&str>,
        told_at: Millis,
        at: Millis,
    ) -> QueryResult<Option<State>> {
        let (state, document) = match self {
            Owned::Document(document) => {
                (failures::fail(db, document, reason, code, failure, told_at, at)?, &**document)
            }
            Owned::Delivery(delivery) => {
                let document = &delivery.document;
                let state = deliveries::end(db, delivery, &Ended::Failed { reason, code, failure }, at)?;
                if state == Some(State::Failing) {
                    failures::may_be_shared(db, document.id, failure, told_at)?;
                }
                (state, document)
            }
        };
        if let Some(failure) = failure {
            held::hold(db, &document.version.account, failure, told_at)?;
        }
        Ok(state)
    }
}

/// Why it ended, of what was tried for so long.
pub(super) fn gave_up(after: Duration, reason: &str) -> String {
    format!("gave up after {} (sync.give_up_after): {reason}", humantime::format_duration(after))
}

/// Decides what a failure means, and writes that down.
///
/// # Errors
/// Any error of the ledger; then nothing but a pause is decided.
pub(super) async fn record_failure(
    context: &Context,
    scope: &Scope,
    work: Work<'_>,
    failed: Failed,
) -> Result<(), LedgerError> {
    let Failed { mut failure, reason, retry_after, origin, needs_login } = failed;
    let refused = match (&failure.call, &failure.kind) {
        (Call::Read | Call::Report, Kind::Permanent(Code::Status(status))) => Some(*status),
        _ => None,
    };
    if needs_login || refused.is_some() {
        match ask_list(context, &work.version().account, refused).await? {
            Everywhere::Paused => return wait(context, work, None, &reason, &failure.to_string()).await,
            // What is said to everything is said of no document.
            Everywhere::Refused(status) => failure.kind = Kind::Down(Code::Status(status)),
            Everywhere::No => {}
        }
    }
    let deciding = context.pauses.decide_next().await;
    let (at, name, give_up_after) = (now(), failure.to_string(), context.limits.give_up_after);
    let subject = work.subject(&failure, &name, origin, at);
    let may_be_shared = subject.first;
    let evidence = context.pauses.evidence(scope, &failure, subject, give_up_after);
    let took = after(0, took());
    // However long there is no room, or others are to wait, it is not the document that fails.
    let spent = if matches!(failure.kind, Kind::NoRoom | Kind::Down(_)) { 0 } else { work.spent(took, at) };
    let ruling = decide(&failure, &work.tried(spent), &evidence, give_up_after);
    let retracts = matches!(ruling.pause, Pause::Extend);
    let (change, line) = match ruling.pause {
        Pause::Leave => (Change::None, Line::None),
        Pause::End => context.pauses.end(scope, Ends::Untold),
        Pause::Extend => context.pauses.extend(scope, &failure, &reason, retry_after),
    };
    let attempt = work.attempts() + 1;
    let reason = match ruling.work {
        Consequence::Hold if matches!(failure.kind, Kind::Doubtful(_)) => format!("{reason}, {TRIES} times"),
        Consequence::GiveUp => gave_up(give_up_after, &reason),
        Consequence::Ask => may_have_arrived(&reason),
        _ => reason,
    };
    let delay = match ruling.work {
        Consequence::Charge => context.retry.delay(attempt, retry_after),
        Consequence::Hold => HOLD,
        _ => Duration::ZERO,
    };
    let due_at = after(at, delay);
    let (event, retry_at) = match ruling.work {
        Consequence::Charge => ("postponed", Some(due_at)),
        Consequence::Wait => ("waiting", None),
        Consequence::Hold if failure.call == Call::Report => ("waiting", Some(due_at)),
        Consequence::Ask => ("unconfirmed", None),
        Consequence::Hold | Consequence::Fail | Consequence::GiveUp => ("refused", None),
    };
    let of_document = HeldLine {
        document: work.document().id,
        failure: failure.clone(),
        version: work.version().clone(),
        destination: work.destination().map(str::to_owned),
        event,
        attempt,
        began: at.saturating_sub(took),
        failed_at: at,
        retry_at,
        reason: reason.clone(),
        until: after(at, HOLD),
    };
    let doubtful = matches!(failure.kind, Kind::Doubtful(_));
    let refused_report = failure.call == Call::Report && matches!(failure.kind, Kind::Permanent(_));
    let shared = failure.taken_back().map(|failure| failure.to_string());
    let (row, of_scope, text) = (work.owned(), scope.clone(), reason.clone());
    let write = context.ledger.write(move |db| {
        change.write(db, at)?;
        let retracted = if retracts { held::retract(db, &of_scope, &name, &text, at)? } else { Vec::new() };
        let taken_back = shared.filter(|_| ruling.work == Consequence::Wait && refused_report);
        let kept = taken_back.as_deref().unwrap_or(&name);
        let postponed =
            |due_at, charge| Postponed { due_at, reason: &text, code: Some(kept), failure: Some(kept), charge };
        let state = match ruling.work {
            Consequence::Wait => row.postpone(db, &postponed(None, None), at).map(|()| None),
            // One that others turn out to share is sent again, and else it is believed when it is due.
            Consequence::Hold if refused_report => row.postpone(db, &postponed(Some(due_at), None), at).map(|()| None),
            Consequence::Charge => {
                let charge = Charge { doubtful, failing_for: spent, began: at.saturating_sub(took) };
                row.postpone(db, &postponed(Some(due_at), Some(charge)), at).map(|()| None)
            }
            Consequence::Ask => row.leave_unconfirmed(db, &text, &name, at).map(|()| None),
            Consequence::Hold => row.fail(db, &text, &name, Some(&name), due_at, at),
            Consequence::Fail | Consequence::GiveUp => row.fail(db, &text, &name, None, at, at),
        }?;
        Ok((state, retracted))
    });
    let written = write.await;
    // A pause holds even where it could not be written.
    line.say();
    let (state, retracted) = written?;
    match ruling.work {
        Consequence::Wait => say_that_it_waits(work, None, &reason),
        Consequence::Hold => context.pauses.hold_line(scope, of_document),
        Consequence::Charge if may_be_shared => context.pauses.hold_line(scope, of_document),
        _ => context.pauses.say_line(scope, &of_document),
    }
    drop(deciding);
    let count = line.told_of(retracted.len());
    if count > 0 {
        let failures = if count == 1 { "failure is" } else { "failures are" };
        tracing::warn!(event = "retracted", count, reason, "{count} {failures} taken back, as others share them");
    }
    retracted.into_iter().for_each(|state| context.nudges.after(state));
    if matches!(ruling.pause, Pause::End) {
        context.nudges.stages();
    }
    moved(context, work.document(), state, Some(&reason)).await;
    Ok(())
}

/// What a person reads of a delivery whose answer was lost, and has to do.
pub(super) fn may_have_arrived(reason: &str) -> String {
    format!("may have arrived: {reason}. Look there; if it is missing, `docsyncd retry UUID` sends it again")
}

/// Whether the API refused the report of the document, and none that was refused alike showed since that this means nothing:
/// then it counts.
pub(super) async fn believe_refusal(context: &Context, document: &Document) -> Result<bool, LedgerError> {
    let refused = document.report_failure.as_deref().and_then(Failure::parse);
    if !refused.is_some_and(|failure| matches!(failure.kind, Kind::Permanent(_))) {
        return Ok(false);
    }
    let _deciding = context.pauses.decide_next().await;
    let row = document.clone();
    let write = context.ledger.write(move |db| failures::believe_refusal(db, &row, now()));
    let Some((state, reason)) = write.await? else { return Ok(true) };
    TransitionLog::of(&document.version).attempt(document.attempts + 1).error("refused", &reason);
    moved(context, document, Some(state), Some(&reason)).await;
    Ok(true)
}

/// Whether the list is refused like a document.
enum Everywhere {
    /// No, or nobody knows.
    No,
    /// Yes, with this status.
    Refused(u16),
    /// The account is paused.
    Paused,
}

/// Asks the list whether what was said to a call about a document, with this status, is said to everything. If the
/// account's credentials are refused for good and all it is paused, with one alarm; its polls are the probes.
async fn ask_list(context: &Context, account: &str, refused: Option<u16>) -> Result<Everywhere, LedgerError> {
    let scope = Scope::Account(account.to_owned());
    if context.pauses.paused_until(&scope).is_some() {
        return Ok(Everywhere::Paused);
    }
    let Some(client) = context.clients.get(account) else { return Ok(Everywhere::No) };
    // The simplest question, which nothing but a refusal of everything can answer so.
    let query = ListQuery { page: 1, size: Some(1), unordered: true, ..ListQuery::default() };
    match client.list(&query).await {
        Err(error) if error.pauses_account() => {
            let failed = Failed::of_call(Call::List, "reading the list of documents", &error);
            context.pauses.close(&scope, &failed.failure, &failed.reason, error.retry_after()).await?;
            context.nudges.reconsider(account);
            Ok(Everywhere::Paused)
        }
        // However the list says it: there 404, 405 and 410 are `ApiError::NotHere`.
        Err(error) => match error.status() {
            Some(status) if Some(status) == refused => Ok(Everywhere::Refused(status)),
            _ => Ok(Everywhere::No),
        },
        Ok(_) => Ok(Everywhere::No),
    }
}

/// Where a pause holds it back, that pause is what a person is told of.
fn say_that_it_waits(work: Work<'_>, due_at: Option<Millis>, reason: &str) {
    if work.document().reason.as_deref() == Some(reason) {
        return;
    }
    match due_at {
        Some(at) => work.line().retry_in(at.saturating_sub(now())).warn("waiting", reason),
        None => work.line().debug("waiting", reason),
    }
}

/// Waits without spending an attempt, until `due_at`; `code` is the reason as data. `None`: a pause holds it back, and it stays due, so that whoever ends
/// the pause need not know whom it held.
pub(super) async fn wait(
    context: &Context,
    work: Work<'_>,
    due_at: Option<Millis>,
    reason: &str,
    code: &str,
) -> Result<(), LedgerError> {
    say_that_it_waits(work, due_at, reason);
    let (row, reason, code) = (work.owned(), reason.to_owned(), code.to_owned());
    let write = context.ledger.write(move |db| {
        let code = Some(code.as_str());
        row.postpone(db, &Postponed { due_at, reason: &reason, code, failure: None, charge: None }, now())
    });
    write.await
}

/// Writes what became of a side effect. While the ledger cannot be written (a full disk) it is tried again and again
/// until the daemon stops: giving the row back would repeat the side effect.
pub(super) async fn write_until_durable<T, Q, F>(context: &Context, query: F) -> Result<T, LedgerError>
where
    T: Send + 'static,
    Q: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
    F: Fn() -> Q,
{
    loop {
        match context.ledger.write(query()).await {
            Ok(written) => {
                context.ledger_works();
                return Ok(written);
            }
            Err(error) if error.is_transient() && !context.stop.is_cancelled() => {
                context.ledger_error(None, &error);
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
