//! report: tells the API what became of a document. A report that fails never repeats the delivery.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::failures::{
    Failed, Scope, after, begins_anew, believe_refusal, failed_call, moved, record_failure, wait, write_until_durable,
};
use super::latest::{self, Shown};
use super::stage::{self, Lane, Stage};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Limits, Nudges, Signals};
use crate::api::{Api, ApiError, Meaning, ReportAnswer, look};
use crate::domain::document::{Metadata, contradict};
use crate::domain::failure::{Call, HOLD};
use crate::domain::state::{Event, State};
use crate::ledger::documents::{self, Document};
use crate::ledger::history::Because;
use crate::ledger::work::Work;
use crate::ledger::{Ledger, LedgerError, Millis, deliveries, held, history, now};

/// The longest error text that is reported; characters.
const MAX_ERROR_CHARS: usize = 500;

/// The stage that reports.
pub struct Report(pub Vec<Lane>);

#[async_trait]
impl Stage for Report {
    const NAME: &'static str = "report";

    fn lanes(&self) -> &[Lane] {
        &self.0
    }

    fn nudge<'a>(&self, nudges: &'a Nudges) -> &'a Notify {
        &nudges.report
    }

    async fn run(&self, context: &Context, work: Work) -> Result<(), LedgerError> {
        let Context { edges, signals, .. } = context;
        let Work::Document(document) = &work else { return Ok(()) };
        let began = Instant::now();
        let scope = Scope::Report(document.version.account.clone());
        let Some(client) = edges.clients.get(&document.version.account) else { return Ok(()) };
        if believe_refusal(edges, signals, document).await? {
            return Ok(());
        }
        match tell(context, client.as_ref(), document, began).await? {
            Some(failed) => record_failure(context, &scope, &work, failed).await,
            None => Ok(()),
        }
    }
}

/// Whether the document may have been rendered anew or corrected unnoticed since the API last showed it. It may if that
/// is some seconds ago ([`latest::fresh_for`]), if the delivery or the report had to wait, or if the list names another
/// patient now. A document that went through at once is reported without asking again.
async fn has_waited(edges: &Edges, limits: &Limits, document: &Document) -> Result<bool, LedgerError> {
    let poll = limits.poll_interval;
    let (shown_at, fresh_for) = match document.state {
        // Each failure is held for a moment before it is told.
        State::Failing => (Some(document.tries.changed_at), poll.max(HOLD * 2)),
        _ => (document.read_at, latest::fresh_for(limits)),
    };
    let is_fresh = |at: &Millis| *at >= edges.started && *at <= now() && after(*at, fresh_for) >= now();
    let Some(shown_at) = shown_at.filter(is_fresh) else { return Ok(true) };
    let is_anothers = |patient: &String| document.listed_patient.as_ref().is_some_and(|now| contradict(now, patient));
    if document.patient.as_ref().is_some_and(is_anothers) {
        return Ok(true);
    }
    if document.tries.attempts > 0 || document.tries.failure.is_some() || document.delayed {
        return Ok(true);
    }
    let paused = edges.pauses.paused_since(shown_at);
    if paused.is_empty() {
        return Ok(false);
    }
    let account = &document.version.account;
    if [Scope::Account(account.clone()), Scope::Report(account.clone())].iter().any(|scope| paused.contains(scope)) {
        return Ok(true);
    }
    let (id, pdf) = (document.id, document.version.pdf.clone());
    let delivered = edges.ledger.read(move |db| deliveries::delivered_to(db, id, &pdf)).await?;
    Ok(delivered.into_iter().any(|name| paused.contains(&Scope::Destination(name))))
}

/// Reports that every destination holds the document, or why it failed, if the API still shows the version that the
/// report is about. A failure is also reported if the API refuses the document altogether. Returns how the report
/// failed, if it did.
async fn tell(
    context: &Context,
    client: &dyn Api,
    document: &Document,
    began: Instant,
) -> Result<Option<Failed>, LedgerError> {
    let Context { edges, rules, signals } = context;
    let reason = document.reason.as_deref().unwrap_or("the document could not be synchronized");
    let failed = document.state == State::Failing;
    let error = failed.then(|| reason.chars().take(MAX_ERROR_CHARS).collect::<String>());
    if has_waited(edges, &rules.limits, document).await? {
        match latest::look(edges, client, document).await? {
            Shown::Same => {}
            Shown::Refused(_) if failed => {}
            Shown::Another(pdf) => return latest::revise(edges, signals, document, Some(pdf)).await.map(|()| None),
            Shown::Nothing if failed => return latest::revise(edges, signals, document, None).await.map(|()| None),
            Shown::Nothing => return wait_for_rendering(edges, &rules.limits, document).await,
            Shown::Refused(failed) | Shown::Failed(failed) => return Ok(Some(failed)),
        }
    }
    let (id, round) = (document.id, document.round);
    let (mut was_sent, mut failed_at) = (true, None);
    if failed {
        let sending = edges.ledger.write(move |db| Ok((held::sending(db, id, round)?, history::failed_at(db, id)?)));
        let (Some(before), at) = sending.await? else { return Ok(None) };
        (was_sent, failed_at) = (before, at);
        // Other failures were logged when the document failed.
        if !was_sent && document.failure.is_some() {
            let line = TransitionLog::of(&document.version).attempt(document.tries.attempts + 1);
            line.failed_at(failed_at).error("refused", reason);
        }
    }
    signals.reports_begun.fetch_add(1, Ordering::SeqCst);
    let answer = match client.report(&document.version.uuid, error.as_deref()).await {
        Err(refused) if was_sent => unless_accepted_before(&edges.ledger, client, document, refused).await,
        answer => Ok(answer),
    };
    signals.reports_ended.fetch_add(1, Ordering::SeqCst);
    let shown = match answer? {
        Err(refused) => {
            if !was_sent && !refused.may_have_had_effect() {
                let written = write_until_durable(edges, signals, || {
                    let row = document.clone();
                    move |db| held::was_not_sent(db, &row, now())
                });
                let state = written.await?;
                moved(edges, signals, document, state, None).await;
            }
            let doing = if failed { "reporting the error" } else { "reporting success" };
            return failed_call(&edges.ledger, document, Call::Report, doing, &refused).await.map(Some);
        }
        Ok(ReportAnswer { pdf: Some(pdf), patient }) => match Shown::of(document, &pdf) {
            // An answer may show only a part of the patient, so the document itself decides.
            Shown::Same
                if !failed && latest::may_be_anothers(document, &Metadata { patient, ..Metadata::default() }) =>
            {
                latest::look(edges, client, document).await?
            }
            shown => shown,
        },
        // An empty answer shows no version, so docsyncd looks again: after a failure as well, whose report has always
        // waited, if only for its hold.
        Ok(_) => latest::look(edges, client, document).await?,
    };
    let revised = match shown {
        Shown::Same | Shown::Refused(_) => None,
        // The API may have taken the report for a newer version, so that version starts.
        Shown::Another(pdf) => Some(Some(pdf)),
        Shown::Nothing if failed => Some(None),
        Shown::Nothing => return wait_for_rendering(edges, &rules.limits, document).await,
        Shown::Failed(failed) => return Ok(Some(failed)),
    };
    accepted(edges, signals, document, began, error.as_deref().zip(Some(failed_at)), revised).await
}

/// Some servers refuse a report of a document that is synchronized already (409, 422): an earlier report had its
/// effect, and its answer was lost. Both lists are asked before the refusal counts. They do not tell a success from a
/// failure: after a failure that was told, and that a person had tried again, the refusal of a success counts.
///
/// Returns the refusal, if it counts, or the error of the lists, if that may pass.
///
/// # Errors
/// Any error of the ledger.
async fn unless_accepted_before(
    ledger: &Ledger,
    client: &dyn Api,
    document: &Document,
    refused: ApiError,
) -> Result<Result<ReportAnswer, ApiError>, LedgerError> {
    let (id, uuid) = (document.id, &document.version.uuid);
    if !matches!(refused.status(), Some(409 | 422))
        || document.state == State::Delivered && ledger.read(move |db| history::told_as_failed(db, id)).await?
    {
        return Ok(Err(refused));
    }
    let asked = std::slice::from_ref(uuid);
    let looked = async {
        let is_open = !look(client, asked, false).await?.absent.contains(uuid);
        Ok(if is_open { None } else { look(client, asked, true).await?.items.remove(uuid) })
    };
    Ok(match looked.await {
        Ok(Some(listed)) => Ok(listed.into()),
        Err::<_, ApiError>(error) if matches!(error.meaning(), Meaning::Transient | Meaning::Origin) => Err(error),
        _ => Err(refused),
    })
}

/// Waits until the new version is rendered: nothing is reported for a version that the API does not show.
async fn wait_for_rendering(
    edges: &Edges,
    limits: &Limits,
    document: &Document,
) -> Result<Option<Failed>, LedgerError> {
    let due_at = after(now(), limits.poll_interval);
    wait(&edges.ledger, &document.into(), Some(due_at), "the PDF is being rendered anew", "rendered_anew").await?;
    Ok(None)
}

/// The API accepted the report. If it shows another version (`Some(None)`: no PDF), that version starts in the same
/// transaction, or a crash would lose it.
async fn accepted(
    edges: &Edges,
    signals: &Signals,
    document: &Document,
    began: Instant,
    failure: Option<(&str, Option<Millis>)>,
    revised: Option<Option<String>>,
) -> Result<Option<Failed>, LedgerError> {
    let (id, round) = (document.id, document.round);
    let (error, failed_at) = failure.unzip();
    let (state, anew) = write_until_durable(edges, signals, || {
        let (error, revised) = (error.map(str::to_owned), revised.clone());
        let code = document.reason_code.clone();
        move |db| {
            // Both changes have the same time: the list stops showing the new version because of this report, not
            // because it is gone.
            let at = now();
            let because = error.as_deref().map(|error| Because::coded(error, code.as_deref()));
            let state = documents::transition(db, id, round, Event::ReportAccepted, at, because)?;
            let anew = match revised {
                Some(pdf) => documents::revise(db, id, round, pdf.as_deref(), at)?,
                None => None,
            };
            Ok((state, anew))
        }
    })
    .await?;
    let line = || TransitionLog::of(&document.version);
    let told = line().attempt(document.tries.attempts + 1).since(began);
    match error {
        None => told.info("reported"),
        Some(error) => told.failed_at(failed_at.flatten()).warn("failure_reported", error),
    }
    moved(edges, signals, document, state, error).await;
    begins_anew(edges, signals, document, anew).await;
    edges.pauses.succeeded(&Scope::Report(document.version.account.clone()), stage::began()).await?;
    Ok(None)
}
