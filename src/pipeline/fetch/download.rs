//! Downloads a PDF: how slow a download may be, and when it is no acceptable PDF.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::time::Instant;

use super::super::failures::Failed;
use super::super::spool::Incoming;
use super::super::{Limits, Spool};
use crate::api::{Api, ApiError, Download, Meaning, Pdf};
use crate::domain::document::{NotPdf, PdfEnd, PdfHead, Spooled};
use crate::domain::failure::{Call, Code, Kind, SLOW};
use crate::formats::language::ON_DISK;
use crate::ledger::documents::Document;
use crate::ledger::{Millis, now};
use crate::system::readers::as_whom;

/// The longest wait for the next bytes of a download; `api.timeout` if that is shorter.
const STALL_LIMIT: Duration = Duration::from_secs(30);
/// What a download must bring in each [`PACE_WINDOW`]: 4 KiB a second. A line of 0.5 Mbit/s carries sixteen downloads
/// at once at this pace. Slower ones must not hold up a good one for a minute.
const PACE_BYTES: u64 = 4 * 1024 * PACE_WINDOW.as_secs();
const PACE_WINDOW: Duration = Duration::from_secs(40);

/// The largest PDF that is only looked at; bytes, which are in memory meanwhile.
const MOST_SHOWN: u64 = 32 * 1024 * 1024;

/// What a download brought.
pub(super) enum Downloaded {
    /// A PDF, and when it was asked for.
    Pdf(Spooled, Millis),
    /// Nothing: the server says that it has no PDF yet (202, 204), or sends no byte.
    Nothing,
}

/// Downloads the PDF into the spool, and checks that it is a PDF.
pub(super) async fn download(
    spool: &Spool,
    limits: &Limits,
    client: &dyn Api,
    document: &Document,
    pdf: &Pdf,
    without_file: bool,
) -> Result<Downloaded, Failed> {
    let Some(address) = &pdf.url else {
        let reason = "the API shows no address for the PDF";
        return Err(Failed::new(Call::Read, Kind::Passing(Code::word("no_url")), reason));
    };
    if let Some(size) = pdf.size {
        within_limit(limits, size)?;
    }
    let asked_at = now();
    let mut download = match client.download(address).await {
        Err(ApiError::Status { status: 202 | 204, .. }) => return Ok(Downloaded::Nothing),
        download => download.map_err(|error| of_download(&error))?,
    };
    if let Some(size) = download.declared_length() {
        within_limit(limits, size)?;
    }
    let expected = download.declared_length().or(pdf.size);
    let mut incoming = spool.begin(document.id, document.round, expected, without_file).await;
    let received = receive(spool, limits, &mut download, &mut incoming, expected.is_some()).await;
    let size = incoming.size();
    match received.and_then(|()| if size == 0 { Ok(()) } else { check_size(size, pdf.size) }) {
        Ok(()) if size == 0 => {
            incoming.discard().await;
            Ok(Downloaded::Nothing)
        }
        Ok(()) => {
            let finished = incoming.finish().await;
            let spooled = finished.map_err(|error| of_spool(spool.folder(), &error))?;
            Ok(Downloaded::Pdf(spooled, asked_at))
        }
        Err(failure) => {
            incoming.discard().await;
            Err(failure)
        }
    }
}

/// The PDF for somebody who looks at it now: nothing of it is kept.
pub(super) async fn only_look(limits: &Limits, client: &dyn Api, pdf: &Pdf) -> Option<Bytes> {
    let mut download = client.download(pdf.url.as_deref()?).await.ok()?;
    let most = limits.max_pdf_bytes.min(MOST_SHOWN);
    let (mut head, mut pace, mut content) = (PdfHead::default(), Pace::new(), Vec::new());
    while let Some(chunk) = pace.next(&mut download).await.ok()? {
        head.take(&chunk).ok()?;
        content.extend_from_slice(&chunk);
        if content.len() as u64 > most {
            return None;
        }
    }
    head.end().ok()?;
    check_size(content.len() as u64, pdf.size).ok()?;
    Some(content.into())
}

/// `is_measured`: its length is known. Otherwise a connection that ends early looks like the end of the PDF.
async fn receive(
    spool: &Spool,
    limits: &Limits,
    download: &mut Download,
    incoming: &mut Incoming,
    is_measured: bool,
) -> Result<(), Failed> {
    let (mut head, mut end) = (PdfHead::default(), PdfEnd::default());
    let mut pace = Pace::new();
    while let Some(chunk) = pace.next(download).await? {
        head.take(&chunk).map_err(not_a_pdf)?;
        end.take(&chunk);
        within_limit(limits, incoming.size() + chunk.len() as u64)?;
        incoming.write(&chunk).await.map_err(|error| of_spool(spool.folder(), &error))?;
    }
    if incoming.size() == 0 {
        return Ok(());
    }
    head.end().map_err(not_a_pdf)?;
    is_whole(is_measured, &end, incoming.size())
}

fn is_whole(is_measured: bool, end: &PdfEnd, size: u64) -> Result<(), Failed> {
    if is_measured || end.is_there() {
        return Ok(());
    }
    let reason = format!(
        "the download ended after {size} bytes without the end of a PDF (%%EOF), and nobody says how long it is: it is \
         perhaps a part"
    );
    Err(Failed::new(Call::Download, Kind::Doubtful(Code::word("no_end")), reason))
}

/// Checks that a download brings [`PACE_BYTES`] in each window.
struct Pace {
    window_ends: Instant,
    bytes: u64,
}

impl Pace {
    fn new() -> Self {
        Self { window_ends: Instant::now() + PACE_WINDOW, bytes: 0 }
    }

    /// The next bytes; `None` at the end of the download.
    async fn next(&mut self, download: &mut Download) -> Result<Option<Bytes>, Failed> {
        let stalls_at = Instant::now() + STALL_LIMIT;
        loop {
            let until = self.window_ends.min(stalls_at);
            if let Ok(chunk) = tokio::time::timeout_at(until, download.chunk()).await {
                let chunk = chunk.map_err(|error| of_download(&error))?;
                self.bytes += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
                return Ok(chunk);
            }
            let now = Instant::now();
            if now >= stalls_at {
                let what = format!("nothing came for {} s", STALL_LIMIT.as_secs());
                let host = "its server".to_owned();
                return Err(of_download(&ApiError::BrokenOff { host, what, timed_out: true }));
            }
            if self.bytes < PACE_BYTES {
                return Err(too_slow());
            }
            *self = Self::new();
        }
    }
}

fn too_slow() -> Failed {
    let reason = format!("the download is too slow: less than {PACE_BYTES} bytes in {} s", PACE_WINDOW.as_secs());
    Failed::new(Call::Download, Kind::Passing(SLOW), reason)
}

fn not_a_pdf(what: NotPdf) -> Failed {
    Failed::new(Call::Download, Kind::Doubtful(Code::word("not_a_pdf")), what.to_string())
}

fn check_size(received: u64, expected: Option<u64>) -> Result<(), Failed> {
    match expected {
        Some(expected) if expected != received => {
            let reason = format!("the download has {received} bytes where the API says {expected} (pdf.size)");
            Err(Failed::new(Call::Download, Kind::Doubtful(Code::word("wrong_size")), reason))
        }
        _ => Ok(()),
    }
}

fn within_limit(limits: &Limits, size: u64) -> Result<(), Failed> {
    let limit = limits.max_pdf_bytes;
    if size <= limit {
        return Ok(());
    }
    let reason = format!("the PDF is larger than the limit of {limit} bytes (sync.max_pdf_bytes)");
    Err(Failed::new(Call::Download, Kind::Own(Code::word("too_large")), reason))
}

/// The address of a PDF may be signed and expire. So a refusal is not final: the next attempt reads a new address.
fn of_download(error: &ApiError) -> Failed {
    match error {
        ApiError::Status { status, .. } if error.meaning() == Meaning::Permanent => {
            let kind = Kind::Doubtful(Code::Status(*status));
            Failed::new(Call::Download, kind, format!("the PDF cannot be downloaded: {error}"))
        }
        // docsyncd refuses such an address without a try, so that the server does not learn whether anybody listens
        // there. A captive portal redirects so, too.
        ApiError::RefusedAddress(_) | ApiError::Insecure(_) => {
            let kind = Kind::Doubtful(Code::Word(error.class().into()));
            Failed::new(Call::Download, kind, format!("the PDF is not downloaded: {error}"))
        }
        // The API answered just before, and this PDF may be on another server.
        ApiError::Unreachable { .. } => {
            let kind = Kind::Passing(Code::word("unreachable"));
            Failed::new(Call::Download, kind, format!("downloading the PDF: {error}"))
        }
        _ => Failed::of_call(Call::Download, "downloading the PDF", error),
    }
}

/// What a person can do. The caller appends the folder.
fn advice(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "Give the service's user the folder ".to_owned(),
        ErrorKind::StorageFull => format!("Free space {ON_DISK}"),
        ErrorKind::QuotaExceeded => format!("Raise that user's quota, or free space {ON_DISK}"),
        _ => "Is its disk mounted, and does it work? It is the folder ".to_owned(),
    }
}

/// The spool's disk is full or broken. No document is at fault, unless its size is the reason.
fn of_spool(folder: &Path, error: &std::io::Error) -> Failed {
    if error.kind() == std::io::ErrorKind::FileTooLarge {
        let advice = "raise the limit on the size of files (ulimit -f, LimitFSIZE=) or lower sync.max_pdf_bytes";
        let reason = format!("the PDF is too large for the spool ({error}): {advice}");
        return Failed::new(Call::Download, Kind::Passing(Code::word("spool_file_limit")), reason);
    }
    let folder = folder.display();
    let reason = format!("the spool cannot be written{}: {error}. {}{folder}", as_whom(), advice(error));
    // A smaller PDF may have room, or need none: it stays in memory.
    let kind = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Kind::NoRoom,
        _ => Kind::Down(Code::word("spool")),
    };
    Failed::new(Call::Download, kind, reason)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use futures_util::stream;

    use super::*;
    use crate::domain::failure::Failure;

    /// The result of a download that brings `bytes` at a time, and how long it takes.
    async fn paced(times: usize, bytes: usize, every: Duration) -> (Result<u64, String>, Duration) {
        let parts = stream::iter(0..times).then(move |_| async move {
            tokio::time::sleep(every).await;
            Ok(Bytes::from(vec![b'x'; bytes]))
        });
        let (mut download, mut pace) = (Download::of(None, parts.boxed()), Pace::new());
        let (began, mut received) = (Instant::now(), 0);
        let ended = loop {
            match pace.next(&mut download).await {
                Ok(Some(chunk)) => received += chunk.len() as u64,
                Ok(None) => break Ok(received),
                Err(failed) => break Err(failed.failure.to_string()),
            }
        };
        (ended, began.elapsed())
    }

    /// `tests/it/faults/api/download.rs` tests one status of each row of this table from end to end.
    #[test]
    fn each_status_of_a_download_is_of_its_kind() {
        type Constructor = fn(Code) -> Kind;
        let table: [(Constructor, &[u16]); 3] = [
            (Kind::Doubtful, &[400, 403, 404, 409, 410, 413, 415, 422]),
            (Kind::Passing, &[304, 407, 408, 421, 425, 500, 501, 502, 503, 504]),
            (Kind::Down, &[429]),
        ];
        for (kind, status) in table.iter().flat_map(|(kind, of)| of.iter().map(move |status| (kind, *status))) {
            let failed = of_download(&ApiError::Status { status, retry_after: None });
            assert_eq!(failed.failure, Failure { call: Call::Download, kind: kind(Code::Status(status)) });
            assert!(failed.reason.contains(&format!(": HTTP {status}")), "{}", failed.reason);
        }
    }

    #[test]
    fn a_spool_that_cannot_be_written_is_told_with_its_path_and_the_user() {
        for (kind, sign) in
            [(ErrorKind::StorageFull, "Free space on the disk that holds "), (ErrorKind::PermissionDenied, "Give")]
        {
            let failed = of_spool(Path::new("/srv/spool"), &kind.into());
            let is_full = matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
            assert_eq!(failed.failure.kind == Kind::NoRoom, is_full, "what needs less room is fetched all the same");
            let said = failed.reason;
            assert!(
                said.starts_with(&format!("the spool cannot be written{}: ", as_whom()))
                    && said.ends_with("/srv/spool")
                    && said.contains(sign),
                "{said}"
            );
        }
    }

    /// A connection that ends early looks like the end of the PDF.
    #[test]
    fn half_a_pdf_of_unknown_length_is_fetched_again() {
        for (is_measured, content, is_good) in [
            (true, &b"%PDF-1.7 of an odd program"[..], true),
            (false, b"%PDF-1.7 half", false),
            (false, b"%PDF-1.7 whole\n%%EOF\n", true),
        ] {
            let mut end = PdfEnd::default();
            end.take(content);
            let failed = is_whole(is_measured, &end, 7).err().map(|failed| failed.failure.kind);
            assert_eq!(failed, (!is_good).then_some(Kind::Doubtful(Code::word("no_end"))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_download_may_take_hours_and_must_not_drip() {
        // A sixteenth of 4 Mbit/s.
        let (ended, took) = paced(1600, 31_250, Duration::from_secs(1)).await;
        assert!(ended == Ok(50_000_000) && took > Duration::from_secs(15 * 60), "{ended:?} {took:?}");
        // In bursts, with pauses that are just short enough.
        let (ended, _) = paced(20, 400_000, Duration::from_secs(29)).await;
        assert_eq!(ended, Ok(8_000_000));
        for (times, bytes, every) in
            [(10_000, 1, 1), (1000, 500, 1), (10_000, 4000, 1), (3, 1_000_000, 31), (2, 1, 600)]
        {
            let (ended, took) = paced(times, bytes, Duration::from_secs(every)).await;
            assert!(ended.is_err() && took <= PACE_WINDOW, "{bytes} bytes every {every} s: {ended:?} {took:?}");
        }
    }
}
