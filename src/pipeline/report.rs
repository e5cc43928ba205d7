//! report: tells the API what became of a document. The delivery is never repeated for it.

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Context;
use super::failure::{Failure, Work, book, insist, moved};
use super::gates::Scope;
use super::line::Line;
use super::stage::{self, Key, Lane, Stage};
use super::verdict::REPORT_REFUSED;
use crate::ledger::documents::{self, Document};
use crate::ledger::{LedgerError, Millis, QueryResult, now, process, verdicts};
use crate::state::{Event, State};

/// Why a verdict is taken back only now.
const SHARED: &str = "others share the failure, and the API took no notice of it";
/// The longest error text that is reported; characters.
const MAX_ERROR_CHARS: usize = 500;
/// The states in which there is something to report.
const STATES: [State; 2] = [State::Delivered, State::Failing];

/// The stage.
pub struct Report {
    lanes: Vec<Lane>,
}

impl Report {
    /// For these accounts.
    pub fn new<'a>(accounts: impl Iterator<Item = &'a String>) -> Self {
        Self { lanes: Lane::of_accounts(accounts, Scope::Report) }
    }
}

#[async_trait]
impl Stage for Report {
    type Job = Document;

    const NAME: &'static str = "report";

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn room(&self, context: &Context) -> (usize, usize) {
        stage::shared_room(context, &self.lanes)
    }

    fn nudge<'a>(&self, context: &'a Context) -> &'a Notify {
        &context.nudges.report
    }

    fn key(job: &Document) -> Key {
        (job.id, String::new())
    }

    fn work(job: &Document) -> Work<'_> {
        Work::Document(job)
    }

    fn due(db: &Connection, lane: &str, now: Millis, limit: usize) -> QueryResult<Vec<Document>> {
        let mut due = Vec::new();
        for state in STATES {
            due.extend(documents::due(db, state, lane, now, limit)?);
        }
        Ok(due)
    }

    fn probe(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Document>> {
        for state in STATES {
            if let Some(document) = documents::probe(db, state, lane, now)? {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    fn next_due(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Millis>> {
        let mut earliest: Option<Millis> = None;
        for state in STATES {
            earliest = [earliest, documents::next_due(db, state, lane, now)?].into_iter().flatten().min();
        }
        Ok(earliest)
    }

    async fn run(&self, context: &Context, document: Document) -> Result<(), LedgerError> {
        let began = Instant::now();
        let scope = Scope::Report(document.version.account.clone());
        let Some(client) = context.clients.get(&document.version.account) else { return Ok(()) };
        let error = (document.state == State::Failing).then(|| {
            let reason = document.reason.as_deref().unwrap_or("the document could not be synchronized");
            // What became of an earlier report is nothing to tell.
            let reason = reason.split_once(REPORT_REFUSED).map_or(reason, |(reason, _)| reason);
            reason.chars().take(MAX_ERROR_CHARS).collect::<String>()
        });
        let (id, round) = (document.id, document.round);
        let mut sent_before = true;
        if error.is_some() {
            match context.ledger.write(move |db| verdicts::sending(db, id, round)).await? {
                Some(before) => sent_before = before,
                None => return Ok(()),
            }
        }
        context.reports.begin();
        let answer = client.report(&document.version.uuid, error.as_deref()).await;
        context.reports.end();
        if !sent_before && answer.as_ref().is_err_and(|failure| !failure.may_have_had_effect()) {
            let back = insist(context, || move |db| verdicts::not_taken(db, id, round, SHARED, now())).await?;
            if back.is_some() {
                moved(context, &document, back, None).await;
                return Ok(());
            }
        }
        let doing = if error.is_some() { "reporting the error" } else { "reporting success" };
        let (event, reason) = match answer {
            Ok(()) => (Event::ReportAccepted, error.clone()),
            Err(failure) if matches!(failure.status(), Some(404 | 410)) => {
                // The API lists no 404 for reports: only the document's own 404 means that it was withdrawn.
                match client.document(&document.version.uuid).await {
                    // One that the API may know as failed is not taken up again because a proxy says so for a while.
                    Err(gone) if matches!(gone.status(), Some(404 | 410)) && !(error.is_some() && sent_before) => {
                        (Event::Gone, Some("withdrawn before the report (HTTP 404)".to_owned()))
                    }
                    _ => {
                        let (class, reason) = (format!("{doing} {}", failure.class()), format!("{doing}: {failure}"));
                        let failure = Failure::Transient { class, reason, retry_after: None };
                        return book(context, &scope, Work::Document(&document), failure).await;
                    }
                }
            }
            Err(failure) => {
                return book(context, &scope, Work::Document(&document), Failure::of_call(doing, &failure)).await;
            }
        };
        let succeeded = event == Event::ReportAccepted && error.is_none();
        let state = insist(context, || {
            let reason = reason.clone();
            move |db| {
                if succeeded {
                    process::set(db, "last_success", &now().to_string())?;
                }
                documents::transition(db, id, round, event, now(), reason.as_deref())
            }
        })
        .await?;
        let line = Line::of(&document.version).attempt(document.attempts + 1).since(began);
        match (event, &error) {
            (Event::Gone, _) => line.warn("withdrawn", "the API no longer knows the document (HTTP 404)"),
            (_, None) => line.info("reported"),
            (_, Some(error)) => line.warn("failure_reported", error),
        }
        moved(context, &document, state, reason.as_deref()).await;
        context.gates.succeeded(&scope).await?;
        Ok(())
    }
}
