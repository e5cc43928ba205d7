//! Hands on the spooled PDF: exactly what was fetched (promise 4 holds for every destination).

use std::io::ErrorKind::{NotFound, OutOfMemory, PermissionDenied, TimedOut};
use std::path::PathBuf;
use std::time::Duration;

use super::files::{self, Digest, Hashing, PIECE};
use super::remote::Source;
use super::{Item, Outcome, blocking, fault};
use crate::domain::document::Spooled;
use crate::domain::failure::Code;
use crate::domain::proof::{Beginnings, Reading};

/// The longest wait for the spool, which is on a local disk.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Reads the whole PDF and compares it with what was fetched.
pub(super) async fn verify(destination: &str, item: &Item) -> Result<(), Outcome> {
    if item.pdf.in_memory.is_some() {
        return Ok(());
    }
    let expected = Digest::of_pdf(&item.pdf);
    let (path, size) = (item.pdf.path.clone(), item.pdf.size);
    let claim = format!("{destination}\0{}", path.display());
    match blocking::run(claim, LIMIT, move || files::hash_file(&path, size)).await {
        Ok(Ok(found)) if found == expected => Ok(()),
        Ok(Err(error)) if is_momentary(&error) => Err(unreadable_by(&error)),
        Ok(_) => Err(Outcome::SpoolDamaged),
        Err(_) => Err(unreadable("the spool does not answer".to_owned())),
    }
}

/// A PDF that is not at hand.
pub(super) fn away(size: u64, sha256: &str) -> Spooled {
    Spooled { path: PathBuf::new(), in_memory: None, size, sha256: sha256.to_owned() }
}

/// Whether the PDF is longer than this part, and begins with it.
pub(super) async fn begins_with(pdf: &Spooled, part: &Digest) -> bool {
    let Ok(mut source) = Source::of_spool(pdf).await else { return false };
    let mut read = Hashing::default();
    while let left @ 1.. = part.size.saturating_sub(read.size()) {
        match source.next(usize::try_from(left).map_or(PIECE, |left| left.min(PIECE))).await {
            Ok(Some(piece)) => read.update(&piece),
            _ => return false,
        }
    }
    part.size < pdf.size && read.finish() == *part
}

/// What distinguishes a part of the PDF from another file; nothing if the spool cannot be read, which fails no
/// delivery.
pub(super) async fn beginnings(pdf: &Spooled) -> Beginnings {
    let Ok(mut source) = Source::of_spool(pdf).await else { return Beginnings::default() };
    let mut reading = Reading::default();
    while let Ok(Some(piece)) = source.next(PIECE).await {
        reading.take(&piece);
    }
    reading.end()
}

/// The spool cannot be used at the moment; the destination is not at fault.
pub(super) fn unreadable(reason: String) -> Outcome {
    Outcome::transient(Code::word("spool_unreadable"), reason)
}

/// The outcome of a delivery whose PDF could not be opened.
pub(super) fn unopened(error: &std::io::Error) -> Outcome {
    if error.kind() == NotFound { Outcome::SpoolDamaged } else { unreadable_by(error) }
}

fn unreadable_by(error: &std::io::Error) -> Outcome {
    unreadable(format!("the spool cannot be read ({})", fault::system_text(error)))
}

/// Errors that say nothing about the file: without permission or descriptors, every file fails like that.
fn is_momentary(error: &std::io::Error) -> bool {
    // 23 and 24 are ENFILE and EMFILE on every Unix, too many open files.
    matches!(error.kind(), PermissionDenied | OutOfMemory | TimedOut)
        || (cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24)))
}
