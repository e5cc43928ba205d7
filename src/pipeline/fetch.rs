//! fetch: reads a document and its PDF, checks it, and puts it into the spool.

use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Context;
use super::failure::{Failure, Work, book, moved, wait};
use super::gates::{Scope, after};
use super::line::Line;
use super::spool::Incoming;
use super::stage::{self, Key, Lane, Stage};
use crate::api::{Api, ApiError, Detail, Download, Meaning, Pdf};
use crate::document::{Metadata, Record, Spooled};
use crate::ledger::documents::{self, Document, Fetched};
use crate::ledger::{LedgerError, Millis, QueryResult, deliveries, now};
use crate::route;
use crate::state::{Event, State};

/// How every PDF begins (ISO 32000-1, section 7.5.2).
const PDF_MAGIC: &[u8] = b"%PDF-";
/// What the first call of a fetch does, as failures say it.
const READING: &str = "reading the document";
/// The longest a download may take, however slowly it drips.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The stage.
pub struct Fetch {
    lanes: Vec<Lane>,
}

impl Fetch {
    /// For these accounts.
    pub fn new<'a>(accounts: impl Iterator<Item = &'a String>) -> Self {
        Self { lanes: Lane::of_accounts(accounts, Scope::Fetch) }
    }
}

#[async_trait]
impl Stage for Fetch {
    type Job = Document;

    const NAME: &'static str = "fetch";

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn room(&self, context: &Context) -> (usize, usize) {
        stage::shared_room(context, &self.lanes)
    }

    fn nudge<'a>(&self, context: &'a Context) -> &'a Notify {
        &context.nudges.fetch
    }

    fn key(job: &Document) -> Key {
        (job.id, String::new())
    }

    fn work(job: &Document) -> Work<'_> {
        Work::Document(job)
    }

    fn due(db: &Connection, lane: &str, now: Millis, limit: usize) -> QueryResult<Vec<Document>> {
        documents::due(db, State::Discovered, lane, now, limit)
    }

    fn probe(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Document>> {
        documents::probe(db, State::Discovered, lane, now)
    }

    fn next_due(db: &Connection, lane: &str, now: Millis) -> QueryResult<Option<Millis>> {
        documents::next_due(db, State::Discovered, lane, now)
    }

    async fn run(&self, context: &Context, document: Document) -> Result<(), LedgerError> {
        let began = Instant::now();
        let scope = Scope::Fetch(document.version.account.clone());
        let Some(client) = context.clients.get(&document.version.account) else { return Ok(()) };
        match fetch(context, client.as_ref(), &document).await? {
            Ok(Got::Pdf(fetched, destinations)) => {
                let bytes = fetched.spooled.as_ref().map(|(_, size)| *size);
                let row = document.clone();
                let state = context
                    .ledger
                    .write(move |db| documents::fetched(db, &row, &fetched, &destinations, now()))
                    .await?;
                if state.is_none() {
                    // A new version appeared meanwhile: this download is nobody's.
                    context.spool.remove(document.id, document.round).await;
                    return Ok(());
                }
                let line = Line::of(&document.version).attempt(document.attempts + 1).since(began);
                match bytes {
                    Some(bytes) => line.bytes(bytes).info("fetched"),
                    None => line.info("already_delivered"),
                }
                moved(context, &document, state, None).await;
                context.gates.succeeded(&scope).await
            }
            Ok(Got::NotRendered) => {
                // Looked for at every poll; the list makes it due at once when it shows a PDF.
                let due_at = after(now(), context.limits.poll_interval);
                wait(context, Work::Document(&document), due_at, "the PDF is not rendered yet").await
            }
            Ok(Got::Withdrawn) => {
                let (id, round, reason) =
                    (document.id, document.round, "the API no longer knows the document (HTTP 404)");
                let state = context
                    .ledger
                    .write(move |db| documents::transition(db, id, round, Event::Gone, now(), Some(reason)))
                    .await?;
                Line::of(&document.version).warn("withdrawn", reason);
                moved(context, &document, state, Some(reason)).await;
                Ok(())
            }
            Err(failure) => book(context, &scope, Work::Document(&document), failure).await,
        }
    }
}

/// How a fetch ended well.
enum Got {
    /// With everything the next stage needs, and the names of the destinations.
    Pdf(Fetched, Vec<String>),
    /// `pdf` is null.
    NotRendered,
    /// 404 on the document.
    Withdrawn,
}

async fn fetch(context: &Context, client: &dyn Api, document: &Document) -> Result<Result<Got, Failure>, LedgerError> {
    let mut detail = match client.document(&document.version.uuid).await {
        Ok(detail) => detail,
        Err(error) if matches!(error.status(), Some(404 | 410)) => return Ok(Ok(Got::Withdrawn)),
        Err(error) => return Ok(Err(Failure::of_call(READING, &error))),
    };
    context.gates.answered(&Scope::Fetch(document.version.account.clone()), READING).await?;
    if let Some(other) = detail.document.get("uuid").and_then(Value::as_str)
        && !other.eq_ignore_ascii_case(document.version.uuid.as_str())
    {
        // Filing one patient's letter as another's would be the worst of all mistakes.
        let reason = "the API answered with another document than the one asked for".to_owned();
        return Ok(Err(Failure::Transient { class: "other_document".to_owned(), reason, retry_after: None }));
    }
    let Some(pdf) = detail.pdf.take() else { return Ok(Ok(Got::NotRendered)) };
    let metadata = match metadata(client, document, detail).await {
        Ok(metadata) => metadata,
        Err(failure) => return Ok(Err(failure)),
    };
    let Some(destinations) = route::destinations(&context.routes, &metadata).map(<[String]>::to_vec) else {
        return Ok(Err(no_route(&metadata)));
    };
    let (id, version) = (document.id, pdf.uuid.clone());
    let delivered = context.ledger.read(move |db| deliveries::delivered_to(db, id, &version)).await?;
    let spooled = if destinations.iter().all(|name| delivered.contains(name)) {
        None
    } else {
        match download(context, client, document, &pdf).await {
            Ok(spooled) => Some((spooled.sha256, spooled.size)),
            Err(failure) => return Ok(Err(failure)),
        }
    };
    let kind = metadata.document_type().map(str::to_owned);
    let metadata = serde_json::to_string(&metadata).unwrap_or_default();
    Ok(Ok(Got::Pdf(Fetched { pdf: pdf.uuid, kind, metadata, spooled }, destinations)))
}

fn no_route(metadata: &Metadata) -> Failure {
    let kind = metadata.document_type().unwrap_or("none");
    Failure::Own {
        reason: format!(
            "no route takes this document (type {}): add one to [[routes]], then run docsyncd retry",
            kind.escape_default()
        ),
    }
}

/// The records that templates and routes need. A patient or user that the document shows as an identifier only is read.
async fn metadata(client: &dyn Api, document: &Document, detail: Detail) -> Result<Metadata, Failure> {
    let Detail { document: record, patient, user, .. } = detail;
    let patient = match uuid_only(&patient) {
        None => patient,
        Some(uuid) => known(client.patient(uuid).await, &patient, "reading the patient")?,
    };
    let user = match uuid_only(&user) {
        None => user,
        Some(uuid) => known(client.user(uuid).await, &user, "reading the user")?,
    };
    Ok(Metadata { account: document.version.account.clone(), document: record, patient, user })
}

fn uuid_only(record: &Record) -> Option<&str> {
    (record.len() == 1).then(|| record.get("uuid").and_then(Value::as_str)).flatten()
}

/// The whole record, or the identifier where the account may not see more.
fn known(read: Result<Record, ApiError>, identifier: &Record, doing: &str) -> Result<Record, Failure> {
    match read {
        Err(error) if error.meaning() == Meaning::Permanent || matches!(error, ApiError::MissingScope { .. }) => {
            Ok(identifier.clone())
        }
        read => read.map_err(|error| Failure::of_call(doing, &error)),
    }
}

async fn download(context: &Context, client: &dyn Api, document: &Document, pdf: &Pdf) -> Result<Spooled, Failure> {
    let Some(address) = &pdf.url else {
        return Err(Failure::Transient {
            class: "no_url".to_owned(),
            reason: "the API shows no address for the PDF".to_owned(),
            retry_after: None,
        });
    };
    if let Some(size) = pdf.size {
        within_limit(context, size)?;
    }
    let mut download = client.download(address).await.map_err(|error| of_download(&error))?;
    if let Some(size) = download.declared_length() {
        within_limit(context, size)?;
    }
    let mut incoming = context.spool.begin(document.id, document.round).await.map_err(|error| of_spool(&error))?;
    let received = tokio::time::timeout(DOWNLOAD_LIMIT, receive(context, &mut download, &mut incoming)).await;
    let checked = received
        .unwrap_or_else(|_| {
            Err(Failure::Transient {
                class: "slow".to_owned(),
                reason: format!("the download took more than {} minutes", DOWNLOAD_LIMIT.as_secs() / 60),
                retry_after: None,
            })
        })
        .and_then(|()| check_size(incoming.size(), pdf.size));
    match checked {
        Ok(()) => incoming.finish().await.map_err(|error| of_spool(&error)),
        Err(failure) => {
            incoming.discard().await;
            Err(failure)
        }
    }
}

async fn receive(context: &Context, download: &mut Download, incoming: &mut Incoming) -> Result<(), Failure> {
    let mut start: Vec<u8> = Vec::with_capacity(PDF_MAGIC.len());
    while let Some(chunk) = download.chunk().await.map_err(|error| of_download(&error))? {
        if start.len() < PDF_MAGIC.len() {
            start.extend(chunk.iter().take(PDF_MAGIC.len() - start.len()));
            if !PDF_MAGIC.starts_with(&start) {
                return Err(not_a_pdf(&start));
            }
        }
        within_limit(context, incoming.size() + chunk.len() as u64)?;
        incoming.write(&chunk).await.map_err(|error| of_spool(&error))?;
    }
    if start.len() < PDF_MAGIC.len() { Err(not_a_pdf(&start)) } else { Ok(()) }
}

fn not_a_pdf(start: &[u8]) -> Failure {
    let what = match start.trim_ascii_start().first() {
        None => "the download is empty",
        Some(b'<') => "the download is not a PDF but HTML or XML (a proxy's or login page?)",
        Some(b'{') => "the download is not a PDF but JSON (an error message?)",
        Some(_) => "the download is not a PDF: it does not begin with %PDF-",
    };
    Failure::Strike { class: "not_a_pdf".to_owned(), reason: what.to_owned() }
}

fn check_size(received: u64, expected: Option<u64>) -> Result<(), Failure> {
    match expected {
        Some(expected) if expected != received => Err(Failure::Strike {
            class: "wrong_size".to_owned(),
            reason: format!("the download has {received} bytes where the API says {expected} (pdf.size)"),
        }),
        _ => Ok(()),
    }
}

fn within_limit(context: &Context, size: u64) -> Result<(), Failure> {
    let limit = context.limits.max_pdf_bytes;
    if size <= limit {
        return Ok(());
    }
    Err(Failure::Own { reason: format!("the PDF is larger than the limit of {limit} bytes (sync.max_pdf_bytes)") })
}

/// An address of a PDF may be signed and expire, so a refusal of it is no last word: the next attempt reads a new one.
fn of_download(error: &ApiError) -> Failure {
    match error {
        ApiError::Status { status, .. } if error.meaning() == Meaning::Permanent => Failure::Strike {
            class: format!("download http_{status}"),
            reason: format!("the PDF cannot be downloaded: {error}"),
        },
        // The API answered just before. This PDF may lie on a server of its own.
        ApiError::Unreachable { .. } => Failure::Transient {
            class: "download unreachable".to_owned(),
            reason: format!("downloading the PDF: {error}"),
            retry_after: None,
        },
        _ => Failure::of_call("downloading the PDF", error),
    }
}

/// The spool's disk is full or broken: that is nobody's document's fault, unless its size is.
fn of_spool(error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::FileTooLarge {
        let advice = "raise the limit on the size of files (ulimit -f, LimitFSIZE=) or lower sync.max_pdf_bytes";
        let reason = format!("the PDF is too large for the spool ({error}): {advice}");
        return Failure::Transient { class: "spool too large".to_owned(), reason, retry_after: None };
    }
    let reason = format!("the spool cannot be written: {error}. Free space on the disk that holds state.path");
    Failure::Shared { class: "spool".to_owned(), reason, retry_after: None }
}
