//! Remembers what earlier looks found in files that have not changed since, so that a look need not read an archive of
//! 100,000 files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::super::Outcome;
use super::super::files::Digest;
use super::Entry;
use crate::domain::proof;

/// The most files of each kind that are remembered.
const MOST: usize = 20_000;
/// A second change within this time may keep the same modification time: file systems count in steps of up to two
/// seconds.
const SETTLED: Duration = Duration::from_secs(5);

/// The files of a folder, with when they were listed and how long that took.
type Listing = (Instant, Duration, Arc<Vec<Entry>>);

/// One per destination.
#[derive(Default)]
pub(in crate::destinations) struct Memory {
    pub(super) digests: Remembered<Digest>,
    /// Files that are known only by a letter's name, and may be the letter after an importer changed it. By path and
    /// letter.
    pub(super) changed: Remembered<Option<Digest>>,
    pub(super) sidecars: Remembered<InSidecar>,
    /// What filings saw in the folders that letters are moved to: when it was listed, and how long that took.
    seen: Mutex<HashMap<String, Listing>>,
}

/// How long a listing is used again, as a multiple of its duration. An archive of 100,000 files must not be listed for
/// each letter.
const USED_AGAIN: u32 = 10;
/// The most folders whose listing is kept.
const MOST_FOLDERS: usize = 8;

impl Memory {
    /// The files in a folder, as `list` sees them now or saw them a moment ago; `None` if it cannot list them.
    pub(in crate::destinations) async fn listed(
        &self,
        folder: &str,
        list: impl AsyncFnOnce() -> Result<Option<Vec<Entry>>, Outcome>,
    ) -> Option<Arc<Vec<Entry>>> {
        let seen = |seen: &mut HashMap<String, _>| {
            seen.retain(|_, (at, took, _): &mut Listing| at.elapsed() < *took * USED_AGAIN);
            seen.get(folder).map(|(_, _, files)| Arc::clone(files))
        };
        let known = seen(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        if known.is_some() {
            return known;
        }
        let at = Instant::now();
        let files = Arc::new(list().await.ok()?.unwrap_or_default());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MOST_FOLDERS {
            seen.insert(folder.to_owned(), (at, at.elapsed(), Arc::clone(&files)));
        }
        Some(files)
    }
}

/// A sidecar's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InSidecar {
    pub(super) said: Said,
    pub(super) seen: proof::Seen,
}

impl InSidecar {
    /// The content of a sidecar that does not exist or cannot be read.
    pub(super) fn nothing() -> Self {
        Self { said: Said::Nothing, seen: proof::Seen::of("") }
    }
}

/// What a sidecar says about its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Taken,
    Refused,
}

/// Size and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature(u64, u64);

impl Signature {
    /// `None` if the folder tells too little.
    pub(super) fn of(file: &Entry) -> Option<Self> {
        Some(Self(file.size?, file.modified?))
    }
}

struct RememberedFile<T> {
    signature: Signature,
    first: Instant,
    read: Instant,
    found: T,
}

/// By path.
pub(super) struct Remembered<T>(Mutex<HashMap<String, RememberedFile<T>>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    /// What was found, if the file had settled when it was read, and is the same now.
    pub(super) fn known(&self, path: &str, signature: Option<Signature>) -> Option<T> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = files.get(path).filter(|seen| Some(seen.signature) == signature)?;
        (seen.read.duration_since(seen.first) >= SETTLED).then(|| seen.found.clone())
    }

    /// Remembers what was found in a file that was just read.
    pub(super) fn note(&self, path: &str, signature: Option<Signature>, found: T) {
        let Some(signature) = signature else { return };
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST && !files.contains_key(path) {
            files.clear();
        }
        let read = Instant::now();
        let first = files.get(path).filter(|seen| seen.signature == signature).map_or(read, |seen| seen.first);
        files.insert(path.to_owned(), RememberedFile { signature, first, read, found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_was_read_when_it_had_settled_is_believed_and_only_of_the_same_file() {
        let remembered = Remembered::default();
        let (one, other) = (Some(Signature(1, 1)), Some(Signature(1, 2)));
        remembered.note("a", one, 1);
        assert_eq!(remembered.known("a", one), None, "it may be changed in the same second");
        tokio::time::advance(SETTLED).await;
        assert_eq!(remembered.known("a", one), None, "it may have been changed");
        remembered.note("a", one, 2);
        assert_eq!(remembered.known("a", one), Some(2));
        assert_eq!((remembered.known("a", other), remembered.known("a", None)), (None, None));
        remembered.note("a", other, 3);
        assert_eq!(remembered.known("a", other), None);
        remembered.note("b", None, 4);
        assert_eq!(remembered.known("b", None), None);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_so_many_are_kept() {
        let remembered = Remembered::default();
        for number in 0..=MOST {
            remembered.note(&number.to_string(), Some(Signature(1, 1)), ());
        }
        assert!(remembered.0.lock().unwrap().len() <= MOST);
    }
}
