//! A letter's PDF, from a folder of this computer or from the spool, and from nowhere else.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use http_body_util::{BodyExt as _, Either, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::{StatusCode, header};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tokio_util::io::ReaderStream;

use super::answers::{Answer, add, with_headers};
use crate::destinations::open_filed;
use crate::pipeline::Shared;
use crate::views::{DeliveryView, DocumentView};

/// The browser may only show it.
const PDF_POLICY: &str = "sandbox; default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
/// How long reading a folder may take: a share that hangs takes for ever.
const LIMIT: Duration = Duration::from_secs(20);
/// How many bytes of a file are in memory while a browser reads it.
const CHUNK: usize = 64 * 1024;

/// A letter's PDF, as the ledger knows it.
pub(super) enum PdfSource {
    /// It is in memory.
    Content(Bytes),
    /// It is a file of this size.
    File(File, u64),
}

/// Why there is no PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// Something else lies where it was filed.
    Changed,
    /// It lies neither in a folder of this computer nor in the spool.
    Gone,
    /// Its folder does not answer now.
    Unknown,
}

/// The PDF, if it is the one that the ledger knows. `folders` are those of destinations on this computer. `reading`
/// gives the turn to compare one.
pub(super) async fn read(
    context: &Shared,
    folders: &BTreeMap<String, String>,
    letter: DocumentView,
    reading: &Arc<Semaphore>,
) -> Result<PdfSource, Kept> {
    let DocumentView { id, round, size: Some(size), sha256: Some(sha256), deliveries, .. } = letter else {
        return Err(Kept::Gone);
    };
    let spooled = context.edges.spool.pdf(id, round, size, sha256.clone());
    if let Some(content) = spooled.in_memory {
        return Ok(PdfSource::Content(Bytes::copy_from_slice(content.as_ref())));
    }
    let present = deliveries.into_iter().filter(|delivery| delivery.is_present);
    let place = |delivery: DeliveryView| Some((folders.get(&delivery.destination)?.into(), delivery.place?.into()));
    let mut lies: Vec<(PathBuf, PathBuf)> = present.filter_map(place).collect();
    lies.push((context.edges.spool.folder().to_owned(), spooled.path));
    let Ok(Ok(turn)) = tokio::time::timeout(LIMIT, Arc::clone(reading).acquire_owned()).await else {
        return Err(Kept::Unknown);
    };
    let work = move || {
        // The next PDF waits for this read, even if a share hangs.
        let _turn = turn;
        first(&lies, size, &sha256)
    };
    match tokio::time::timeout(LIMIT, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(found)) => found.map(|file| PdfSource::File(file, size)),
        _ => Err(Kept::Unknown),
    }
}

fn first(lies: &[(PathBuf, PathBuf)], size: u64, sha256: &str) -> Result<File, Kept> {
    let mut why = Kept::Gone;
    for (root, place) in lies {
        match open_filed(root, Path::new(place), size, sha256) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => why = Kept::Changed,
            Err(_) => {}
        }
    }
    Err(why)
}

/// A letter's PDF as an answer. Its author is unknown, so it may do nothing that a page can do. A file is read as fast
/// as the browser takes it.
pub(super) fn answer(pdf: PdfSource, short: &str) -> Answer {
    let answer_with = |content| with_headers(StatusCode::OK, "application/pdf", PDF_POLICY, content);
    let mut answer = match pdf {
        PdfSource::Content(content) => answer_with(content),
        PdfSource::File(file, size) => {
            let mut answer = answer_with(Bytes::new());
            let blocks = ReaderStream::with_capacity(tokio::fs::File::from_std(file).take(size), CHUNK);
            *answer.body_mut() = Either::Right(StreamBody::new(blocks.map_ok(Frame::data)).boxed_unsync());
            add(answer.headers_mut(), header::CONTENT_LENGTH, &size.to_string());
            answer
        }
    };
    add(answer.headers_mut(), header::CONTENT_DISPOSITION, &format!("inline; filename=\"{short}.pdf\""));
    answer
}
