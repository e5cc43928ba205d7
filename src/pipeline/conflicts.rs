//! Documents of which the API shows two PDFs at once: the list, or the answer to a report, another one than the document itself.
//! One of the two lags behind (a replica, a cache), and nobody can tell which. So such a document waits for a while: success
//! told for the older one would take the newer one out of the list.
//!
//! It does not wait for ever: a server may name its PDFs in two ways.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a document waits: longer than caches and replicas lag, and no longer than a person minds.
const LIMIT: Duration = Duration::from_secs(2 * 60);
/// Documents that are remembered; beyond that all are forgotten, and wait once more.
const MOST: usize = 10_000;

/// By the ledger's number of the document: the PDF that is shown of it elsewhere, and since when.
#[derive(Debug, Default)]
pub struct Conflicts(Mutex<HashMap<i64, (String, Instant)>>);

impl Conflicts {
    fn with<T>(&self, look: impl FnOnce(&mut HashMap<i64, (String, Instant)>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The document does not show this PDF, which is shown elsewhere. Returns for how long that has been so, while it is to be waited
    /// for; `None` once that was in vain.
    pub(super) fn waits(&self, document: i64, elsewhere: &str) -> Option<Duration> {
        self.with(|known| {
            if known.len() >= MOST {
                known.clear();
            }
            let (pdf, since) = known.entry(document).or_insert_with(|| (elsewhere.to_owned(), Instant::now()));
            if pdf != elsewhere {
                (*pdf, *since) = (elsewhere.to_owned(), Instant::now());
            }
            Some(since.elapsed()).filter(|waited| *waited < LIMIT)
        })
    }

    /// Whether this PDF of the document was waited for in vain.
    pub(super) fn was_in_vain(&self, document: i64, elsewhere: &str) -> bool {
        self.with(|known| known.get(&document).is_some_and(|(pdf, since)| pdf == elsewhere && since.elapsed() >= LIMIT))
    }

    /// The document shows what is shown elsewhere.
    pub(super) fn settled(&self, document: i64) {
        self.with(|known| known.remove(&document));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pdf_that_is_shown_elsewhere_is_waited_for_and_not_for_ever() {
        let conflicts = Conflicts::default();
        assert_eq!(conflicts.waits(1, "p2"), Some(Duration::ZERO));
        tokio::time::advance(LIMIT / 2).await;
        assert_eq!(conflicts.waits(1, "p2"), Some(LIMIT / 2));
        assert_eq!(conflicts.waits(2, "p2"), Some(Duration::ZERO), "each by itself");
        tokio::time::advance(LIMIT / 2).await;
        assert_eq!((conflicts.waits(1, "p2"), conflicts.was_in_vain(1, "p2")), (None, true));
        assert!(!conflicts.was_in_vain(2, "p2") && !conflicts.was_in_vain(1, "p3"));
        assert_eq!(conflicts.waits(1, "p3"), Some(Duration::ZERO), "another one is waited for anew");
        conflicts.settled(1);
        assert_eq!(conflicts.waits(1, "p2"), Some(Duration::ZERO));
    }
}
