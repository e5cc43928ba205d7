//! fetch: reads a document and its PDF, checks it, and puts it into the spool.

mod download;

use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Context;
use super::failure::{Failed, Work, another_may, failed_call, is_there, moved, other_document, record_failure, wait};
use super::pauses::{ProbeChoice, Scope, after};
use super::spool::Announced;
use super::stage::{self, Lane, Stage};
use super::transition_log::TransitionLog;
use crate::api::{Api, ApiError, Detail, ListQuery, Meaning, Pdf};
use crate::document::{DOCUMENT_TYPES, Metadata, Record};
use crate::failure::{Call, Code, Kind};
use crate::ledger::documents::{self, Document, Fetched};
use crate::ledger::listed::NOT_RENDERED;
use crate::ledger::{LedgerError, Millis, QueryResult, deliveries, failures, names, now, process};
use crate::retry;
use crate::route::{self, Route};
use crate::state::State;

use download::{Downloaded, download};

/// Why a document waits that is not fetched.
const SPOOL_FULL: &str =
    "a destination is paused, and as much is downloaded for it as may be (state.spool_limit): it is fetched later";
/// Why a document waits of which the API shows two PDFs.
const TWO_VERSIONS: (&str, &str) =
    ("the API's list shows another PDF than the document itself: it is looked at again", "two_versions");
/// Of a PDF whose size the API does not show; bytes.
const USUAL_SIZE: u64 = 128 * 1024;
/// The shortest wait for room in the spool, and for one of two answers to change.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait for one of two answers to change.
const LONGEST_CONFLICT_WAIT: Duration = Duration::from_secs(30);
/// For how long a document whose patient is not given to the account that has it waits for one that could only not go on, before it is
/// filed without the patient's name.
const PATIENT_FOR: Duration = Duration::from_secs(60 * 60);
/// What the first call of a fetch does, as failures say it.
const READING: &str = "reading the document";

/// The stage.
pub struct Fetch(pub Vec<Lane>);

#[async_trait]
impl Stage for Fetch {
    type Job = Document;

    const NAME: &'static str = "fetch";

    fn lanes(&self) -> &[Lane] {
        &self.0
    }

    fn nudge<'a>(&self, context: &'a Context) -> &'a Notify {
        &context.nudges.fetch
    }

    fn work(job: &Document) -> Work<'_> {
        Work::Document(job)
    }

    fn due(db: &Connection, lane: &str, now: Millis, limit: usize) -> QueryResult<Vec<(i64, bool)>> {
        documents::due(db, State::Discovered, lane, now, limit)
    }

    fn row(db: &Connection, _: &str, document: i64) -> QueryResult<Option<Document>> {
        documents::by_number(db, document)
    }

    fn probe(db: &Connection, lane: &str, now: Millis, by: ProbeChoice, but: &[i64]) -> QueryResult<Option<Document>> {
        documents::probe(db, [State::Discovered; 2], lane, now, by, but)
    }

    fn next_due(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Millis>> {
        documents::next_due(db, State::Discovered, lane, now)
    }

    async fn run(&self, context: &Context, document: Document) -> Result<(), LedgerError> {
        let id = document.id;
        let marked = context.marks.set(&context.ledger, &document).await?;
        let result = read(context, document).await;
        if marked {
            context.ledger.write(move |db| process::unmark(db, id)).await?;
        }
        result
    }
}

/// Reads the document and its PDF, and writes down what came of it.
async fn read(context: &Context, mut document: Document) -> Result<(), LedgerError> {
    let began = Instant::now();
    let scope = Scope::Fetch(document.version.account.clone());
    let Some(client) = context.clients.get(&document.version.account) else { return Ok(()) };
    let mut names = None;
    let result = fetch(context, client.as_ref(), &mut document, &mut names).await?;
    // A letter that waits or fails is looked for by its name as well; one that is fetched brings all of it.
    if !matches!(result, Ok(FetchOutcome::Pdf { .. }))
        && let Some(names) = names
    {
        let id = document.id;
        context.ledger.write(move |db| names::keep_first(db, id, &names, now())).await?;
    }
    match result {
        Ok(FetchOutcome::Pdf { fetched, destinations, names, lacks_patient }) => {
            let bytes = fetched.spooled.as_ref().map(|(_, size)| *size);
            let row = document.clone();
            let write = context.ledger.write(move |db| {
                // Another account has it by now, and may be given the patient: it asks for itself.
                if lacks_patient && failures::is_anothers(db, &row)? {
                    return Ok(None);
                }
                let state = documents::fetched(db, &row, &fetched, &destinations, now())?;
                if let Some(names) = names.filter(|_| state.is_some()) {
                    names::keep(db, row.id, &names, now())?;
                }
                Ok(state)
            });
            let written = write.await;
            if !matches!(written, Ok(Some(_))) {
                // A new version or another account has come meanwhile, or nothing can be written: this download is nobody's.
                context.spool.remove(document.id, document.round).await;
            }
            let Some(state) = written? else { return Ok(()) };
            let line = TransitionLog::of(&document.version).attempt(document.attempts + 1).since(began);
            match bytes {
                Some(bytes) => {
                    context.counters.downloaded.inc_by(bytes);
                    line.bytes(bytes).info("fetched");
                }
                None => line.info("already_delivered"),
            }
            moved(context, &document, Some(state), None).await;
            // Nothing was downloaded: that says nothing about the way of the PDFs.
            if bytes.is_some() { context.pauses.succeeded(&scope, stage::began()).await } else { Ok(()) }
        }
        Ok(FetchOutcome::Waits { pause, reason, code }) => {
            let due_at = after(now(), retry::spread(pause));
            wait(context, Work::Document(&document), Some(due_at), reason, code).await
        }
        Err(failed) => record_failure(context, &scope, Work::Document(&document), failed).await,
    }
}

/// Since then.
fn elapsed(since: Millis) -> Duration {
    Duration::from_millis(u64::try_from(now().saturating_sub(since)).unwrap_or(0))
}

/// What waits long is looked at ever more rarely: the next pause, twice as long as the last one.
fn rarer(document: &Document, shortest: Duration, longest: Duration) -> Duration {
    let last = document.due_at.map_or(0, |due_at| due_at.saturating_sub(document.changed_at));
    (Duration::from_millis(u64::try_from(last).unwrap_or(0)) * 2).min(longest).max(shortest)
}

/// Whether with this download the spool would hold more than it may, and one of these destinations is paused: what else is fetched for it would only
/// fill the disk. What waits for others is fetched, however full it is.
fn is_held_up(context: &Context, destinations: &[&String], announced: &Announced) -> bool {
    let is_paused = |name: &&String| context.pauses.paused_until(&Scope::Destination((*name).clone())).is_some();
    announced.exceeds(context.limits.spool_limit) && destinations.iter().any(is_paused)
}

/// Whether nothing is known that would keep a PDF waiting for one of these destinations, none of which needs a file.
fn goes_through(context: &Context, destinations: &[&String]) -> bool {
    destinations.iter().all(|name| {
        let scope = Scope::Destination((*name).clone());
        !context.need_files.contains(*name) && context.pauses.paused_until(&scope).is_none()
    })
}

/// How a fetch ended well.
enum FetchOutcome {
    /// With everything the next stage needs, the names of the destinations, those by which it is found, if they are kept, and whether
    /// the account was not given the patient.
    Pdf { fetched: Fetched, destinations: Vec<String>, names: Option<names::Kept>, lacks_patient: bool },
    /// It is looked at again after about this pause.
    Waits { pause: Duration, reason: &'static str, code: &'static str },
}

async fn fetch(
    context: &Context,
    client: &dyn Api,
    document: &mut Document,
    names: &mut Option<names::Kept>,
) -> Result<Result<FetchOutcome, Failed>, LedgerError> {
    let read_at = now();
    let mut detail = match client.document(&document.version.uuid).await {
        Ok(detail) => detail,
        Err(error) => return Ok(Err(failed_call(context, document, Call::Read, READING, &error).await?)),
    };
    if !detail.is_of(&document.version.uuid) {
        return Ok(Err(other_document()));
    }
    if !context.limits.keep_names.is_zero() {
        *names = Some(names::Kept::of(&document.version.uuid, &detail.document, &detail.patient));
    }
    is_there(context, document).await?;
    leave_out_of_the_wait(context, document).await?;
    let Some(pdf) = detail.pdf.take() else {
        // The list makes it due at once when it shows a PDF. A server whose list shows none is asked ever more rarely.
        let limits = &context.limits;
        let pause = rarer(document, limits.poll_interval, limits.reconcile_interval);
        were_answered(context, document, &[Call::Read]).await?;
        let (reason, code) = NOT_RENDERED;
        return Ok(Ok(FetchOutcome::Waits { pause, reason, code }));
    };
    // Before a failure is told, it is asked whether this version is still the one that the API shows.
    document.tried_pdf = Some(pdf.uuid.clone());
    if let Some((elsewhere, since)) = shown_elsewhere(client, document, &pdf).await {
        let id = document.id;
        context.ledger.write(move |db| documents::in_conflict(db, id, &elsewhere, since)).await?;
        let pause = elapsed(since).clamp(SHORTEST_WAIT, LONGEST_CONFLICT_WAIT);
        were_answered(context, document, &[Call::Read]).await?;
        let (reason, code) = TWO_VERSIONS;
        return Ok(Ok(FetchOutcome::Waits { pause, reason, code }));
    }
    take(context, client, document, detail, &pdf, read_at).await
}

/// The wait for one of two answers to change is for a server that answers, look by look: what a look came late (a pause, a clock that
/// jumped, a machine that slept), and the time since one that failed, is no part of it. So it begins that much later.
async fn leave_out_of_the_wait(context: &Context, document: &mut Document) -> Result<(), LedgerError> {
    let at = now();
    let (Some(since), Some((pdf, _))) = (document.waits_since(at), document.conflict.clone()) else { return Ok(()) };
    let waits = document.reason_code.as_deref() == Some(TWO_VERSIONS.1);
    let from = if waits { document.due_at.unwrap_or(at) } else { document.changed_at };
    if from >= at {
        return Ok(());
    }
    let (id, since) = (document.id, since.saturating_add(at.saturating_sub(from)).min(at));
    document.conflict = Some((pdf.clone(), since));
    context.ledger.write(move |db| documents::in_conflict(db, id, &pdf, since)).await
}

/// Whether the list, or the answer to a report, shows a newer PDF than the document itself, and that is to be waited for: success told
/// for the older one would take the newer one out of the list. A version that was worked on before is the older one; where the document
/// still shows that, the list may lag behind as well. The document may have been rendered anew since the list was read, so it is asked.
async fn shown_elsewhere(client: &dyn Api, document: &Document, pdf: &Pdf) -> Option<(String, Millis)> {
    let version = &document.version;
    let is_before = |shown: &str| shown.eq_ignore_ascii_case(&version.pdf);
    let is_newer = |shown: &str| !shown.eq_ignore_ascii_case(&pdf.uuid) && !is_before(shown);
    let known = document.listed_pdf.clone().filter(|listed| !pdf.uuid.is_empty() && is_newer(listed))?;
    if document.waited_in_vain_for(&known, now()) || document.has_waited(now()) {
        return None;
    }
    let query = ListQuery { page: 1, uuids: vec![version.uuid.clone()], ..ListQuery::default() };
    let listed = client.list(&query).await.map(|page| page.items.into_iter().find(|item| item.uuid == version.uuid));
    let elsewhere = match listed {
        Ok(item) => {
            let shown = item.and_then(|item| item.pdf).filter(|shown| is_newer(shown));
            shown.or_else(|| is_before(&pdf.uuid).then_some(known))?
        }
        Err(_) => known,
    };
    (!document.waited_in_vain_for(&elsewhere, now()))
        .then(|| (elsewhere, document.waits_since(now()).unwrap_or_else(now)))
}

/// These calls were answered: what still may fail is none of them, for which downloads may be paused.
async fn were_answered(context: &Context, document: &Document, calls: &[Call]) -> Result<(), LedgerError> {
    context.pauses.answered(&Scope::Fetch(document.version.account.clone()), calls).await
}

/// Takes what the API showed at `read_at`.
async fn take(
    context: &Context,
    client: &dyn Api,
    document: &Document,
    detail: Detail,
    pdf: &Pdf,
    read_at: Millis,
) -> Result<Result<FetchOutcome, Failed>, LedgerError> {
    let records = [&detail.patient, &detail.user];
    // A document without a patient says nothing of whether patients are given.
    let reads_records =
        records.iter().all(|record| !record.is_empty()) && records.iter().any(|record| reference(record).is_some());
    let metadata = match metadata(client, &document.version.account, detail).await {
        Ok(metadata) => metadata,
        Err((doing, error)) => return Ok(Err(Failed::of_call(Call::Record, doing, &error))),
    };
    let lacks_patient = reference(&metadata.patient).is_some();
    if lacks_patient && another_may(context, document, PATIENT_FOR).await? {
        let words = "the account may not read the patient, and another one, which had the document before, may";
        return Ok(Err(Failed::new(Call::Record, Kind::Permanent(Code::Status(403)), words)));
    }
    if pdf.url.is_some() {
        let calls: &[Call] = if reads_records { &[Call::Read, Call::Record] } else { &[Call::Read] };
        were_answered(context, document, calls).await?;
    }
    let Some(destinations) = route::destinations(&context.routes, &metadata).map(<[String]>::to_vec) else {
        return Ok(Err(no_route(&context.routes, &metadata)));
    };
    let (id, version) = (document.id, pdf.uuid.clone());
    let delivered = if document.planned {
        context.ledger.read(move |db| deliveries::delivered_to(db, id, &version)).await?
    } else {
        Vec::new()
    };
    let missing: Vec<&String> = destinations.iter().filter(|name| !delivered.contains(name)).collect();
    let spooled = if missing.is_empty() {
        None
    } else {
        let announced = context.spool.announce(pdf.size.unwrap_or(USUAL_SIZE));
        if is_held_up(context, &missing, &announced) {
            let pause = rarer(document, SHORTEST_WAIT, context.retry.max);
            return Ok(Ok(FetchOutcome::Waits { pause, reason: SPOOL_FULL, code: "spool_full" }));
        }
        let origin = pdf.origin();
        match download(context, client, document, pdf, goes_through(context, &missing)).await {
            Ok(Downloaded::Pdf(spooled, asked_at)) => {
                context.pauses.good_pdf(&Scope::Fetch(document.version.account.clone()), origin, asked_at);
                Some((spooled.sha256, spooled.size))
            }
            Ok(Downloaded::Nothing) => {
                let (pause, (reason, code)) = (rarer(document, SHORTEST_WAIT, context.retry.max), failures::NO_CONTENT);
                return Ok(Ok(FetchOutcome::Waits { pause, reason, code }));
            }
            Err(failed) => return Ok(Err(Failed { origin: Some(origin), ..failed })),
        }
    };
    let kind = metadata.document_type().map(str::to_owned);
    let keep_names = !context.limits.keep_names.is_zero();
    let names = keep_names.then(|| names::Kept::of(&document.version.uuid, &metadata.document, &metadata.patient));
    let patient = Some(metadata.patient_key(&document.version.uuid));
    let metadata = serde_json::to_string(&metadata).unwrap_or_default();
    let fetched = Fetched { pdf: pdf.uuid.clone(), read_at, kind, patient, metadata, spooled };
    Ok(Ok(FetchOutcome::Pdf { fetched, destinations, names, lacks_patient }))
}

/// A type is named only when it is one of the API's or of the configuration's own words: any other text of a server's may
/// hold a name. `docsyncd show` shows it.
fn no_route(routes: &[Route], metadata: &Metadata) -> Failed {
    let is_ours = |kind: &str| {
        DOCUMENT_TYPES.contains(&kind) || routes.iter().any(|route| route.types.iter().any(|named| named == kind))
    };
    let kind = match metadata.document_type() {
        None => "no type".to_owned(),
        Some(kind) if is_ours(kind) => format!("type {kind}"),
        Some(_) => "an unknown type".to_owned(),
    };
    let reason =
        format!("no route takes this document ({kind}): add one to [[routes]], then run docsyncd retry --failed");
    Failed::new(Call::Read, Kind::Own(Code::word("no_route")), reason)
}

/// The records that templates and routes need. A patient or user that the document shows as an identifier only is read.
///
/// # Errors
/// What could not be read, with what the API answered.
pub async fn metadata(client: &dyn Api, account: &str, detail: Detail) -> Result<Metadata, (&'static str, ApiError)> {
    let Detail { document, patient, user, .. } = detail;
    let patient = whole(client, account, "patient", patient).await.map_err(|error| ("reading the patient", error))?;
    let user = whole(client, account, "user", user).await.map_err(|error| ("reading the user", error))?;
    Ok(Metadata { account: account.to_owned(), document, patient, user, number: None })
}

/// The identifier of a `user` or `patient` of whom the document shows nothing else.
fn reference(record: &Record) -> Option<&str> {
    (record.len() == 1).then(|| record.get("uuid").and_then(Value::as_str)).flatten()
}

/// The whole `user` or `patient`, or the identifier where the account may not see more. What is refused is asked for once more: one
/// refusal may be a slip, and the letter would be filed without its names.
async fn whole(client: &dyn Api, account: &str, what: &str, record: Record) -> Result<Record, ApiError> {
    let Some(uuid) = reference(&record) else { return Ok(record) };
    let read = || if what == "user" { client.user(uuid) } else { client.patient(uuid) };
    let is_refused = |error: &ApiError| error.meaning() == Meaning::Permanent && error.status().is_some();
    let mut answer = read().await;
    if answer.as_ref().is_err_and(is_refused) {
        tokio::time::sleep(SHORTEST_WAIT).await;
        answer = read().await;
    }
    match answer {
        Err(error) if is_refused(&error) => {
            let status = error.status();
            tracing::warn!(
                event = "not_shown",
                account,
                what,
                status,
                "the API does not give the {what} of a document, asked twice: names and other values of the {what} are unknown"
            );
            Ok(record)
        }
        Err(ApiError::MissingScope { .. }) => Ok(record),
        answer => answer,
    }
}
