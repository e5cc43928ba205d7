//! What is recorded: carries out the ruling of [`decide`]. All changes that a failure brings are one transaction.

use std::time::Duration;

use rusqlite::Connection;

use super::failed::{Failed, Line, gave_up, may_have_arrived};
use super::scope::{Change, Ends, Pauses, Scope, after};
use crate::api::{ListQuery, Order};
use crate::domain::failure::{
    Call, Code, Consequence, DOUBTFUL_WAIT, Failure, HOLD, Kind, Pause, Ruling, Tried, decide,
};
use crate::domain::retry::RetryPolicy;
use crate::domain::state::State;
use crate::ledger::deliveries::{self, Ended};
use crate::ledger::documents::Document;
use crate::ledger::failures::{self, Charge, Postponed};
use crate::ledger::work::Work;
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, held, listed, now};
use crate::pipeline::stage::{LEDGER_PAUSE, took};
use crate::pipeline::transition_log::TransitionLog;
use crate::pipeline::{Context, Edges, Progress, Rules, Signals};

/// The reason of a document that began anew so often that it has to wait before the next time.
pub(crate) const RENDERED_AGAIN: &str =
    "the API shows another PDF again and again: is it rendered anew at each report?";

/// What happens to work that failed.
enum Fate {
    /// The work is tried again at `due_at`; `None`: when the pause that holds it back ends.
    Waits { due_at: Option<Millis>, charge: Option<Charge> },
    /// A person has to say whether the delivery arrived.
    Unconfirmed,
    /// The work failed, and the API is told at `told_at`. If `may_be_shared`, the failure is retracted when other
    /// documents turn out to share it before then.
    Fails { told_at: Millis, may_be_shared: bool },
}

impl Fate {
    /// Writes the fate to the ledger. `kept` is the failure that the ledger keeps.
    fn write(
        self,
        db: &Connection,
        row: &Work,
        reason: &str,
        kept: &Failure,
        at: Millis,
    ) -> QueryResult<Option<State>> {
        let name = kept.to_string();
        match self {
            Fate::Waits { due_at, charge } => {
                let postponed = Postponed { due_at, reason, code: Some(&name), failure: Some(kept), charge };
                row.postpone(db, &postponed, at).map(|()| None)
            }
            Fate::Unconfirmed => match row {
                Work::Delivery(row) => deliveries::leave_unconfirmed(db, row, reason, Some(kept), at).map(|()| None),
                // Only a delivery can be unconfirmed.
                Work::Document(_) => Ok(None),
            },
            Fate::Fails { told_at, may_be_shared } => {
                let failure = may_be_shared.then_some(kept);
                let (state, account) = match row {
                    Work::Document(row) => {
                        let state = failures::fail(db, row, reason, &name, failure, told_at, at)?;
                        (state, Some(row.version.account.as_str()))
                    }
                    Work::Delivery(row) => {
                        let ended = Ended::Failed { reason, code: &name, failure };
                        (deliveries::end(db, row, &ended, at)?, None)
                    }
                };
                // Documents that failed alike before are held as long as this one.
                if let Some(failure) = failure {
                    held::hold(db, account, failure, told_at)?;
                }
                Ok(state)
            }
        }
    }
}

/// Decides what a failure means, and writes that down.
///
/// # Errors
/// Any error of the ledger. Then a pause may have begun or gone on in memory, and nothing else is changed.
pub(crate) async fn record_failure(
    context: &Context,
    scope: &Scope,
    work: &Work,
    failed: Failed,
) -> Result<(), LedgerError> {
    let Context { edges, rules, signals } = context;
    let Some(failed) = unless_account_is_paused(edges, signals, work, failed).await? else { return Ok(()) };
    let another_may = failed.failure.is_refusal() && another_may(edges, work.document(), REFUSED_FOR).await?;
    let deciding = edges.pauses.decide_next(scope).await;
    let Decided { ruling, change, line, fate, failure, kept, refusals, reason, retry_at, at } =
        decided(&edges.pauses, rules, scope, work, failed, another_may);
    let retracts = matches!(ruling.pause, Pause::Extend);
    let (row, of_scope, text, code) = (work.clone(), scope.clone(), reason.clone(), kept.to_string());
    let write = edges.ledger.write(move |db| {
        change.write(db, at)?;
        let retracted = if retracts { held::retract(db, &of_scope, &failure, &text, at)? } else { Vec::new() };
        if row.is_anothers(db)? {
            return Ok((None, retracted));
        }
        refusals.map_or(Ok(()), |refusals| row.refused(db, refusals))?;
        Ok((Some(fate.write(db, &row, &text, &kept, at)?), retracted))
    });
    let written = write.await;
    // A pause holds even if it could not be written. Its end has to be written first.
    line.iter().for_each(Line::say);
    let (written, retracted) = written?;
    if matches!(ruling.pause, Pause::End) {
        edges.pauses.end(scope, Ends::Untold);
        signals.nudges.stages();
    }
    let told = || work.line().attempt(work.tries().attempts + 1);
    match ruling.work {
        _ if written.is_none() => {}
        Consequence::Wait => say_that_it_waits(work, None, &reason, &code),
        Consequence::Charge => told().retry_in(retry_at.unwrap_or(at) - at).warn("postponed", &reason),
        // Others may turn out to share the failure. If they do not, it is logged when the API is told.
        Consequence::Hold => told().warn("held", &reason),
        Consequence::Ask => told().error("unconfirmed", &reason),
        Consequence::Fail | Consequence::GiveUp => told().error("refused", &reason),
    }
    drop(deciding);
    if !retracted.is_empty() {
        let count = retracted.len();
        tracing::info!(event = "retracted", count, reason, "failures that others share are taken back: {count}");
    }
    retracted.into_iter().for_each(|state| signals.nudges.after(state));
    moved(edges, signals, work.document(), written.flatten(), Some(&reason)).await;
    Ok(())
}

/// What was decided about a failure, to be written and told.
struct Decided {
    ruling: Ruling,
    /// The change of the pause, and its log line.
    change: Change,
    line: Option<Line>,
    /// What happens to the work.
    fate: Fate,
    /// How it failed.
    failure: Failure,
    /// The failure that the ledger keeps.
    kept: Failure,
    /// How many times the work was refused alike, this time included; `None` if this failure is no refusal.
    refusals: Option<u32>,
    /// What people are told of the work.
    reason: String,
    /// When the work is tried again; `None` if it waits for a pause or is not tried again.
    retry_at: Option<Millis>,
    /// When it failed.
    at: Millis,
}

/// Decides what a failure means. The pauses in memory change at once; nothing is written yet.
fn decided(pauses: &Pauses, rules: &Rules, scope: &Scope, work: &Work, failed: Failed, another_may: bool) -> Decided {
    let Failed { failure, reason, retry_after, origin, .. } = failed;
    let (at, took, patience) = (now(), after(0, took()), rules.limits.patience);
    let subject = work.subject(&failure, origin, at);
    let evidence = pauses.evidence(scope, &failure, subject, patience.give_up_after);
    let refusals = work.tries().refused(&failure, evidence.good_since);
    // The document does not fail while a destination has no room, however long that lasts.
    let spent = match failure.kind {
        Kind::NoRoom => 0,
        _ => work.tries().spent(took, at),
    };
    let tried = Tried { another_may, ..work.tried(spent) };
    let ruling = decide(&failure, &tried, &evidence, patience);
    let (change, line) = match ruling.pause {
        Pause::Leave => (Change::None, None),
        Pause::End => (pauses.ending(scope, Ends::Untold), None),
        Pause::Extend => {
            let (change, line) = pauses.extend(scope, &failure, &reason, retry_after);
            (change, Some(line))
        }
    };
    let (attempt, began) = (work.tries().attempts + 1, at.saturating_sub(took));
    let doubtful = matches!(failure.kind, Kind::Doubtful(_));
    let refused_report = failure.call == Call::Report && failure.is_permanent();
    let reason = match ruling.work {
        Consequence::Hold if doubtful => format!("{reason}, {} times", tried.doubtful + 1),
        Consequence::GiveUp if work.may_have_arrived() => {
            let words =
                "It may have arrived all the same: look there; if it is missing, `docsyncd retry UUID` sends it again";
            format!("{}. {words}", gave_up(patience.give_up_after, &reason))
        }
        Consequence::GiveUp => gave_up(patience.give_up_after, &reason),
        Consequence::Ask => may_have_arrived(&reason),
        _ => reason,
    };
    let held_until = after(at, HOLD);
    let (retry_at, fate) = match ruling.work {
        Consequence::Wait => (None, Fate::Waits { due_at: None, charge: None }),
        // If others turn out to share the refusal, the report is sent again. If not, the refusal is believed when the
        // row is due.
        Consequence::Hold if refused_report => (None, Fate::Waits { due_at: Some(held_until), charge: None }),
        Consequence::Charge => {
            let due_at = Some(after(at, delay(&rules.retry, attempt, doubtful, retry_after)));
            (due_at, Fate::Waits { due_at, charge: Some(Charge { doubtful, failing_for: spent, began }) })
        }
        Consequence::Ask => (None, Fate::Unconfirmed),
        Consequence::Hold => (None, Fate::Fails { told_at: held_until, may_be_shared: true }),
        Consequence::Fail | Consequence::GiveUp => (None, Fate::Fails { told_at: at, may_be_shared: false }),
    };
    let kept = match ruling.work {
        Consequence::Wait if refused_report => failure.taken_back(),
        Consequence::GiveUp if work.may_have_arrived() => failure.unconfirmed(),
        _ => None,
    };
    let kept = kept.unwrap_or_else(|| failure.clone());
    Decided { ruling, change, line, fate, failure, kept, refusals, reason, retry_at, at }
}

/// How long charged work waits.
fn delay(retry: &RetryPolicy, attempt: u32, doubtful: bool, retry_after: Option<Duration>) -> Duration {
    let delay = retry.delay(attempt, retry_after);
    if doubtful { delay.min(DOUBTFUL_WAIT).max(retry_after.unwrap_or_default().min(delay)) } else { delay }
}

/// Believes the API's refusal of the document's report, unless reports that were refused alike have shown that the
/// account is the reason. Returns whether the report is not to be sent now.
pub(crate) async fn believe_refusal(
    edges: &Edges,
    signals: &Signals,
    document: &Document,
) -> Result<bool, LedgerError> {
    if !document.tries.failure.as_ref().is_some_and(Failure::is_permanent)
        || another_may(edges, document, REFUSED_FOR).await?
    {
        return Ok(false);
    }
    let _deciding = edges.pauses.decide_next(&Scope::Report(document.version.account.clone())).await;
    let row = document.clone();
    let write = edges.ledger.write(move |db| failures::believe_refusal(db, &row, now()));
    let Some((state, reason)) = write.await? else { return Ok(true) };
    TransitionLog::of(&document.version).attempt(document.tries.attempts + 1).error("refused", &reason);
    moved(edges, signals, document, Some(state), Some(&reason)).await;
    Ok(true)
}

/// If the API refuses everything, a refusal says nothing about the document: so the list is asked first. Returns `None`
/// if the account is paused; then the work waits for that pause.
async fn unless_account_is_paused(
    edges: &Edges,
    signals: &Signals,
    work: &Work,
    mut failed: Failed,
) -> Result<Option<Failed>, LedgerError> {
    let failure = &mut failed.failure;
    let refused = match (&failure.call, &failure.kind) {
        (Call::Read | Call::Report, Kind::Permanent(Code::Status(status))) => Some(*status),
        _ => None,
    };
    if !failed.needs_login && refused.is_none() {
        return Ok(Some(failed));
    }
    // An account whose credentials are refused for good is paused as a whole, with one alarm. Its polls are the probes.
    let account = &work.version().account;
    let scope = Scope::Account(account.clone());
    let mut is_paused = edges.pauses.paused_until(&scope).is_some();
    if !is_paused && let Some(client) = edges.clients.get(account) {
        // The simplest question: the API refuses it only to an account that it refuses everything.
        let query = ListQuery { page: 1, size: Some(1), order: Order::Unordered, ..ListQuery::default() };
        match client.list(&query).await {
            Err(error) if error.pauses_account() => {
                let of_list = Failed::of_call(Call::List, "reading the list of documents", &error);
                edges.pauses.close(&scope, &of_list.failure, &of_list.reason, error.retry_after()).await?;
                signals.nudges.reconsider(account);
                is_paused = true;
            }
            // However the list call names its error: for the list, 404, 405 and 410 are `ApiError::NotHere`.
            Err(error) => {
                if let Some(status) = refused.filter(|status| error.status() == Some(*status)) {
                    failure.kind = Kind::Down(Code::Status(status));
                }
            }
            Ok(_) => {}
        }
    }
    if is_paused {
        // This is no answer about the document: if another account takes it over, it must not count as refused.
        if let Kind::Permanent(code) = &failure.kind {
            failure.kind = Kind::Down(code.clone());
        }
        let kept = failure.to_string();
        wait(&edges.ledger, work, None, &failed.reason, &kept).await?;
        return Ok(None);
    }
    Ok(Some(failed))
}

/// How long a refusal to one account is not told while another account, which had the document and was not refused, is
/// away.
const REFUSED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether another configured account had the document, was not refused, and may get it back. This is waited for no
/// longer than `longest` after the present account first failed.
pub(crate) async fn another_may(edges: &Edges, document: &Document, longest: Duration) -> Result<bool, LedgerError> {
    let waited = document.tries.failing_since.map_or(0, |since| now().abs_diff(since));
    if Duration::from_millis(waited) >= longest {
        return Ok(false);
    }
    let (id, account) = (document.id, document.version.account.clone());
    let configured: Vec<String> = edges.clients.keys().cloned().collect();
    edges.ledger.read(move |db| listed::another_may(db, id, &account, &configured)).await
}

/// Logs that the work waits. If a pause holds it back, people are told of the pause instead.
fn say_that_it_waits(work: &Work, due_at: Option<Millis>, reason: &str, code: &str) {
    if work.document().reason_code.as_deref() == Some(code) {
        return;
    }
    match due_at {
        Some(at) => work.line().retry_in(at.saturating_sub(now())).warn("waiting", reason),
        None => work.line().debug("waiting", reason),
    }
}

/// Makes the work wait until `due_at`, without spending an attempt; `code` is the reason as data. If `due_at` is
/// `None`, a pause holds the work back. The work then stays due, so that whoever ends the pause need not know which
/// work it held.
pub(crate) async fn wait(
    ledger: &Ledger,
    work: &Work,
    due_at: Option<Millis>,
    reason: &str,
    code: &str,
) -> Result<(), LedgerError> {
    say_that_it_waits(work, due_at, reason, code);
    let (row, reason, code) = (work.clone(), reason.to_owned(), code.to_owned());
    let write = ledger.write(move |db| {
        if row.is_anothers(db)? {
            return Ok(());
        }
        let code = Some(code.as_str());
        row.postpone(db, &Postponed { due_at, reason: &reason, code, failure: None, charge: None }, now())
    });
    write.await
}

/// Records the result of a side effect. While the ledger cannot be written (a full disk), this tries again until the
/// daemon stops: if the row were given back, the side effect would be repeated.
pub(crate) async fn write_until_durable<T, Q, F>(edges: &Edges, signals: &Signals, query: F) -> Result<T, LedgerError>
where
    T: Send + 'static,
    Q: FnOnce(&Connection) -> QueryResult<T> + Send + 'static,
    F: Fn() -> Q,
{
    loop {
        match edges.ledger.write(query()).await {
            Ok(written) => {
                signals.ledger_works();
                return Ok(written);
            }
            Err(error) if error.is_transient() && !signals.stop.is_cancelled() => {
                signals.ledger_error(None, &error);
                signals.stop.run_until_cancelled(tokio::time::sleep(LEDGER_PAUSE)).await;
            }
            other => return other,
        }
    }
}

/// If a new version starts, logs that and wakes the stage that fetches it.
pub(crate) async fn begins_anew(edges: &Edges, signals: &Signals, document: &Document, anew: Option<(State, Millis)>) {
    let Some((state, wait)) = anew else { return };
    let line = TransitionLog::of(&document.version).retry_in(wait);
    match wait {
        0 => line.info("revised"),
        _ => line.warn("revised", RENDERED_AGAIN),
    }
    moved(edges, signals, document, Some(state), None).await;
}

/// Follows a change of state: clears the spool, wakes the next stage, and tells the observer.
pub(crate) async fn moved(
    edges: &Edges,
    signals: &Signals,
    document: &Document,
    state: Option<State>,
    reason: Option<&str>,
) {
    let Some(state) = state else { return };
    // A person may have said, in another process, that the document arrived.
    let is_left = state != State::Fetched && edges.spool.holds(document.id, document.round);
    if document.state == State::Fetched || is_left {
        edges.spool.remove(document.id, document.round).await;
    }
    signals.nudges.after(state);
    signals.observe(Progress::Moved {
        uuid: document.version.uuid.clone(),
        account: document.version.account.clone(),
        state,
        reason: reason.map(str::to_owned),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::failure::{Evidence, Patience};

    /// The backoff alone grew beyond the grace: the tenth wait was of minutes.
    #[test]
    fn a_download_that_is_no_pdf_is_decided_within_its_grace_and_a_minute() {
        let retry = RetryPolicy { initial: Duration::from_secs(1), max: Duration::from_secs(900) };
        let patience =
            Patience { give_up_after: Duration::from_secs(7 * 24 * 3600), pdf_grace: Duration::from_secs(120) };
        let failure = Failure { call: Call::Download, kind: Kind::Doubtful(Code::word("not_a_pdf")) };
        let evidence = Evidence { alike: 1, good_since: true, pause: None };
        // So many attempts failed in another way before.
        for before in [0, 3, 9] {
            for _ in 0..200 {
                let (mut failing_for, mut attempts) = (Duration::ZERO, before);
                loop {
                    let tried = Tried { attempts, doubtful: attempts - before, failing_for, another_may: false };
                    if decide(&failure, &tried, &evidence, patience).work == Consequence::Hold {
                        break;
                    }
                    attempts += 1;
                    failing_for += delay(&retry, attempts, true, None);
                }
                assert!(failing_for < patience.pdf_grace + Duration::from_secs(60), "{failing_for:?}");
            }
        }
        let hour = Duration::from_secs(3600);
        assert_eq!(delay(&retry, 1, true, Some(hour)), hour, "the server asks for it");
    }
}
