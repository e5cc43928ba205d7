//! fetch: reads a document and its PDF, checks the PDF, and puts it into the spool.

mod download;

use std::time::Duration;

use async_trait::async_trait;
use hyper::body::Bytes;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::failures::{
    Failed, Scope, after, another_may, failed_call, is_of_another_patient, is_there, moved, other_document,
    other_patient, record_failure, wait,
};
use super::marks::Marks;
use super::spool::Announced;
use super::stage::{self, Lane, Stage};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Limits, Nudges, Pauses, Rules, patients};
use crate::api::{Api, ApiError, Detail, ListQuery, Meaning, Pdf, is_about};
use crate::domain::document::{DOCUMENT_TYPES, DocumentUuid, Metadata, Record, edition};
use crate::domain::failure::{Call, Code, Kind, TWO_VERSIONS};
use crate::domain::retry;
use crate::domain::route::{self, Route};
use crate::ledger::documents::{self, Document, Fetched};
use crate::ledger::listed::NOT_RENDERED;
use crate::ledger::work::Work;
use crate::ledger::{LedgerError, Millis, deliveries, failures, names, now, process};
use crate::patients::whom;

use download::{Downloaded, download};

/// Why a document that is not fetched waits.
const SPOOL_FULL: &str =
    "a destination is paused, and as much is downloaded for it as may be (state.spool_limit): it is fetched later";
/// The assumed size of a PDF if the API does not show it; bytes.
const USUAL_SIZE: u64 = 128 * 1024;
/// The shortest wait for room in the spool.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// How long a document is tried that shows another PDF than the list or the answer to a report. One of the two lags
/// behind, and nobody can tell which. This is longer than caches and replicas lag, and no longer than a person minds;
/// milliseconds.
const LAG_LIMIT: Millis = 2 * 60 * 1000;
/// If the account may not read the patient, the document waits this long for another account that was not refused.
/// After that it is filed without the patient's name.
const PATIENT_FOR: Duration = Duration::from_secs(60 * 60);
/// What is said of a letter that was decided for another patient before.
const CORRECTED: &str = "it is another patient's letter now than before, and is filed anew: docsyncd show UUID says \
                         what of it lies with the patient before, from where a person removes it";
/// What the first call of a fetch does, as the reasons of failures name it.
const READING: &str = "reading the document";

/// How long somebody waits who only looks at a PDF.
const LOOK_LIMIT: Duration = Duration::from_secs(25);

/// The stage that fetches.
pub struct Fetch {
    /// One for each account.
    pub lanes: Vec<Lane>,
    /// The documents that are marked in the ledger before they are read.
    pub marks: Marks,
}

#[async_trait]
impl Stage for Fetch {
    const NAME: &'static str = "fetch";

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn nudge<'a>(&self, nudges: &'a Nudges) -> &'a Notify {
        &nudges.fetch
    }

    async fn run(&self, context: &Context, work: Work) -> Result<(), LedgerError> {
        let Work::Document(document) = work else { return Ok(()) };
        let id = document.id;
        let marked = self.marks.set(&context.edges.ledger, &document).await?;
        let result = read(context, *document).await;
        if marked {
            context.edges.ledger.write(move |db| process::unmark(db, id)).await?;
        }
        result
    }
}

/// The PDF that the service has of this document now, for somebody who looks at it: nothing is kept or recorded. `None`
/// if the service does not give it within some seconds, or wants to be left alone.
pub async fn look(context: &Context, account: &str, uuid: &DocumentUuid) -> Option<Bytes> {
    let Context { edges, rules, .. } = context;
    let scopes = [Scope::Account(account.to_owned()), Scope::Fetch(account.to_owned())];
    if scopes.iter().any(|scope| edges.pauses.paused_until(scope).is_some()) {
        return None;
    }
    let client = edges.clients.get(account)?.as_ref();
    let read = async {
        let detail = client.document(uuid).await.ok().filter(|detail| detail.is_of(uuid))?;
        download::only_look(&rules.limits, client, &detail.pdf?).await
    };
    tokio::time::timeout(LOOK_LIMIT, read).await.ok().flatten()
}

/// Reads the document and its PDF, and records the result.
async fn read(context: &Context, mut document: Document) -> Result<(), LedgerError> {
    let Context { edges, rules, signals } = context;
    let began = Instant::now();
    let scope = Scope::Fetch(document.version.account.clone());
    let Some(client) = edges.clients.get(&document.version.account) else { return Ok(()) };
    // If a person started the document over in another process, nobody has removed its former PDF.
    if edges.spool.holds(document.id, document.round - 1) {
        edges.spool.remove(document.id, document.round - 1).await;
    }
    let mut names = None;
    let result = fetch(edges, rules, client.as_ref(), &mut document, &mut names).await?;
    // People search by name for letters that wait or fail, too. A fetched letter brings all its names itself.
    if !matches!(result, Ok(FetchOutcome::Pdf { .. }))
        && let Some(names) = names
    {
        let id = document.id;
        edges.ledger.write(move |db| names::keep_first(db, id, &names, now())).await?;
    }
    match result {
        Ok(FetchOutcome::Pdf { fetched, destinations, names, lacks_patient }) => {
            let bytes = fetched.spooled.as_ref().map(|(_, size)| *size);
            let version = document.version_for(&fetched.pdf, &fetched.whom, fetched.has_number);
            let is_corrected = edition::edition(&version) > edition::edition(&document.version.pdf);
            let row = document.clone();
            let write = edges.ledger.write(move |db| {
                // Another account took the document over, and may be allowed to read the patient: that account asks for
                // itself.
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
                // A new version or another account took the document over meanwhile, or the ledger cannot be written.
                // Nobody needs this download.
                edges.spool.remove(document.id, document.round).await;
            }
            let Some(state) = written? else { return Ok(()) };
            if is_corrected {
                TransitionLog::of(&document.version).warn("corrected", CORRECTED);
            }
            let line = TransitionLog::of(&document.version).attempt(document.tries.attempts + 1).since(began);
            match bytes {
                Some(bytes) => {
                    signals.counters.downloaded.inc_by(bytes);
                    line.bytes(bytes).info("fetched");
                }
                None => line.info("already_delivered"),
            }
            moved(edges, signals, &document, Some(state), None).await;
            // If nothing was downloaded, that says nothing about downloads.
            match bytes {
                Some(_) => edges.pauses.succeeded(&scope, stage::began()).await,
                None => edges.pauses.was_read(&scope).await,
            }
        }
        Ok(FetchOutcome::Waits { pause, reason, code }) => {
            edges.pauses.was_read(&scope).await?;
            let due_at = after(now(), retry::spread(pause));
            wait(&edges.ledger, &(&document).into(), Some(due_at), reason, code).await
        }
        Err(failed) => record_failure(context, &scope, &(&document).into(), failed).await,
    }
}

/// The next pause of a document that waits: twice the last one, so that a long wait is looked at ever more rarely.
fn rarer(document: &Document, shortest: Duration, longest: Duration) -> Duration {
    let last = document.tries.due_at.map_or(0, |due_at| due_at.saturating_sub(document.tries.changed_at));
    (Duration::from_millis(u64::try_from(last).unwrap_or(0)) * 2).min(longest).max(shortest)
}

/// Whether this download would fill the spool beyond its limit while one of these destinations is paused: more
/// documents for a paused destination would only fill the disk. Documents for other destinations are fetched, however
/// full it is.
fn is_held_up(pauses: &Pauses, limits: &Limits, destinations: &[&String], announced: &Announced) -> bool {
    let is_paused = |name: &&String| pauses.paused_until(&Scope::Destination((*name).clone())).is_some();
    announced.exceeds(limits.spool_limit) && destinations.iter().any(is_paused)
}

/// Whether the PDF can pass through memory: none of these destinations needs a file, and none is known to keep it
/// waiting.
fn goes_through(edges: &Edges, destinations: &[&String]) -> bool {
    destinations.iter().all(|name| {
        let scope = Scope::Destination((*name).clone());
        !edges.need_files.contains(*name) && edges.pauses.paused_until(&scope).is_none()
    })
}

/// How a fetch ended that did not fail.
enum FetchOutcome {
    /// Everything that the next stage needs: the names of the destinations, the names that the document is found by (if
    /// they are kept), and whether the account was not given the patient.
    Pdf { fetched: Fetched, destinations: Vec<String>, names: Option<names::Kept>, lacks_patient: bool },
    /// The document is looked at again after about this pause.
    Waits { pause: Duration, reason: &'static str, code: &'static str },
}

async fn fetch(
    edges: &Edges,
    rules: &Rules,
    client: &dyn Api,
    document: &mut Document,
    names: &mut Option<names::Kept>,
) -> Result<Result<FetchOutcome, Failed>, LedgerError> {
    let read_at = now();
    let mut detail = match client.document(&document.version.uuid).await {
        Ok(detail) => detail,
        Err(error) => return Ok(Err(failed_call(&edges.ledger, document, Call::Read, READING, &error).await?)),
    };
    if !detail.is_of(&document.version.uuid) {
        return Ok(Err(other_document()));
    }
    if is_of_another_patient(client, document, &detail).await {
        return Ok(Err(other_patient()));
    }
    if !rules.limits.keep_names.is_zero() {
        *names = Some(names::Kept::of(&document.version.uuid, &detail.document, &detail.patient));
    }
    is_there(&edges.ledger, document).await?;
    let Some(pdf) = detail.pdf.take() else {
        // When the list shows a PDF, the document becomes due at once. A server whose list shows none is asked ever
        // more rarely.
        let limits = &rules.limits;
        let pause = rarer(document, limits.poll_interval, limits.reconcile_interval);
        let (reason, code) = NOT_RENDERED;
        return Ok(Ok(FetchOutcome::Waits { pause, reason, code }));
    };
    let (id, shown) = (document.id, pdf.uuid.clone());
    if edges.ledger.read(move |db| Ok(documents::unless_anothers(db, id, Some(&shown))?.is_none())).await? {
        return Ok(Err(other_document()));
    }
    // Before a failure is told, docsyncd asks whether the API still shows this version.
    document.tried_pdf = Some(pdf.uuid.clone());
    if let Some(elsewhere) = shown_elsewhere(client, document, &pdf).await {
        let tries = &document.tries;
        let tried = tries.failing_for.saturating_add(tries.spent(after(0, stage::took()), now()));
        let before = document.disagreed_after.unwrap_or(tried);
        if tried.saturating_sub(before) < LAG_LIMIT {
            edges.ledger.write(move |db| documents::disagree(db, id, Some(before))).await?;
            let reason = "the API's list shows another PDF than the document itself: it is looked at again";
            return Ok(Err(Failed::new(Call::Read, Kind::Passing(TWO_VERSIONS), reason)));
        }
        document.accepted_pdf = Some(elsewhere.clone());
        edges.ledger.write(move |db| documents::accept(db, id, &elsewhere)).await?;
    } else if document.disagreed_after.is_some() {
        edges.ledger.write(move |db| documents::disagree(db, id, None)).await?;
    }
    take(edges, rules, client, document, detail, &pdf, read_at).await
}

/// The newer PDF that the list or the answer to a report shows, if it is to be waited for: success told for the older
/// one would take the newer one out of the list. A version that was worked on before is the older one; but if the
/// document still shows that version, the list may lag behind as well. The document may have been rendered anew since
/// the list was read, so the list is asked again.
async fn shown_elsewhere(client: &dyn Api, document: &Document, pdf: &Pdf) -> Option<String> {
    let version = &document.version;
    let is_before = |shown: &str| shown.eq_ignore_ascii_case(edition::rendered(&version.pdf));
    let is_newer = |shown: &str| !shown.eq_ignore_ascii_case(&pdf.uuid) && !is_before(shown);
    let known = document.listed_pdf.clone().filter(|listed| !pdf.uuid.is_empty() && is_newer(listed))?;
    if document.has_accepted(&known) {
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
    (!document.has_accepted(&elsewhere)).then_some(elsewhere)
}

/// Fetches what the API showed at `read_at`.
async fn take(
    edges: &Edges,
    rules: &Rules,
    client: &dyn Api,
    document: &Document,
    detail: Detail,
    pdf: &Pdf,
    read_at: Millis,
) -> Result<Result<FetchOutcome, Failed>, LedgerError> {
    let metadata = match metadata(client, &document.version.account, detail).await {
        Ok(metadata) => metadata,
        Err((doing, error)) => return Ok(Err(Failed::of_call(Call::Record, doing, &error))),
    };
    let lacks_patient = reference(&metadata.patient).is_some();
    if lacks_patient && another_may(edges, document, PATIENT_FOR).await? {
        let words = "the account may not read the patient, and another one, which had the document before, may";
        return Ok(Err(Failed::new(Call::Record, Kind::Permanent(Code::Status(403)), words)));
    }
    if pdf.url.is_some() {
        // A pause of reads ends before a download, which may take long.
        edges.pauses.was_read(&Scope::Fetch(document.version.account.clone())).await?;
    }
    // Letters of a practice stay with it, whichever account may read them. An account that is gone has no routes.
    let first = document.first_account.as_ref().filter(|first| edges.clients.contains_key(*first));
    let account = first.unwrap_or(&document.version.account);
    let Some(destinations) = route::destinations(&rules.routes, account, &metadata).map(<[String]>::to_vec) else {
        return Ok(Err(no_route(&rules.routes, &metadata)));
    };
    let whom = whom(&metadata, &document.version.uuid);
    let has_number = match document.may_be_anothers(&whom) {
        true => patients::has_number_of(edges, document, &metadata).await?,
        false => None,
    };
    let (id, version) = (document.id, document.version_for(&pdf.uuid, &whom, has_number));
    let delivered = if document.planned {
        edges.ledger.read(move |db| deliveries::delivered_to(db, id, &version)).await?
    } else {
        Vec::new()
    };
    let missing: Vec<&String> = destinations.iter().filter(|name| !delivered.contains(name)).collect();
    let spooled = if missing.is_empty() {
        None
    } else {
        let announced = edges.spool.announce(pdf.size.unwrap_or(USUAL_SIZE));
        if is_held_up(&edges.pauses, &rules.limits, &missing, &announced) {
            let pause = rarer(document, SHORTEST_WAIT, rules.retry.max);
            return Ok(Ok(FetchOutcome::Waits { pause, reason: SPOOL_FULL, code: "spool_full" }));
        }
        let origin = pdf.origin();
        match download(&edges.spool, &rules.limits, client, document, pdf, goes_through(edges, &missing)).await {
            Ok(Downloaded::Pdf(spooled, asked_at)) => {
                edges.pauses.good_pdf(&Scope::Fetch(document.version.account.clone()), origin, asked_at);
                Some((spooled.sha256, spooled.size))
            }
            Ok(Downloaded::Nothing) => {
                let (pause, (reason, code)) = (rarer(document, SHORTEST_WAIT, rules.retry.max), failures::NO_CONTENT);
                return Ok(Ok(FetchOutcome::Waits { pause, reason, code }));
            }
            Err(failed) => return Ok(Err(Failed { origin: Some(origin), ..failed })),
        }
    };
    let kind = metadata.document_type().map(str::to_owned);
    let keep_names = !rules.limits.keep_names.is_zero();
    let names = keep_names.then(|| names::Kept::of(&document.version.uuid, &metadata.document, &metadata.patient));
    let patient = Some(metadata.patient_key(&document.version.uuid));
    let metadata = serde_json::to_string(&metadata).unwrap_or_default();
    let fetched = Fetched { pdf: pdf.uuid.clone(), whom, has_number, read_at, kind, patient, metadata, spooled };
    Ok(Ok(FetchOutcome::Pdf { fetched, destinations, names, lacks_patient }))
}

/// A type is named only if it is one of the API's or of the configuration's own words: any other text of a server may
/// hold a person's name. `docsyncd show` shows the type.
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

/// The records that templates and routes need. If the document shows only the identifier of a patient or user, this
/// reads the rest.
///
/// # Errors
/// The record that could not be read, with the API's error.
pub async fn metadata(client: &dyn Api, account: &str, detail: Detail) -> Result<Metadata, (&'static str, ApiError)> {
    let Detail { document, patient, user, .. } = detail;
    let patient = whole(client, account, "patient", patient).await.map_err(|error| ("reading the patient", error))?;
    let user = whole(client, account, "user", user).await.map_err(|error| ("reading the user", error))?;
    Ok(Metadata { account: account.to_owned(), document, patient, user, number: None })
}

/// The identifier of a `user` or `patient` if the document shows nothing else of the record.
fn reference(record: &Record) -> Option<&str> {
    (record.len() == 1).then(|| record.get("uuid").and_then(Value::as_str)).flatten()
}

/// The whole `user` or `patient`, or the identifier if the account may not see more. After a refusal this asks once
/// more: one refusal may be a slip, and the letter would be filed without its names.
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
                "the API does not give the {what} of a document, asked twice: names and other values of the {what} \
                 are unknown"
            );
            Ok(record)
        }
        Err(ApiError::MissingScope { .. }) => Ok(record),
        Ok(other) if !is_about(&other, uuid) => Err(ApiError::Another),
        answer => answer,
    }
}
