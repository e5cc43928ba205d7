//! Documents of which the API shows two PDFs at once: the list, or the answer to a report, another one than the document itself.
//! One of the two lags behind (a replica, a cache), and nobody can tell which. So such a document waits for a while. It does not wait
//! for ever: a server may name its PDFs in two ways.

use crate::ledger::documents::{CONFLICT_LIMIT, Document};
use crate::ledger::{Millis, now};

/// Since when the document waits because another PDF is shown elsewhere, whichever that was each time; `None`: it does not.
pub fn waits_since(document: &Document) -> Option<Millis> {
    let (_, since) = document.conflict.as_ref()?;
    lasts(*since, document.read_at).then(|| (*since).min(now()))
}

/// Whether a wait that began then goes on: what was fetched ended it.
fn lasts(since: Millis, read_at: Option<Millis>) -> bool {
    read_at.is_none_or(|read_at| read_at < since)
}

/// Whether a wait that began then has lasted long enough.
pub fn is_over(since: Millis, now: Millis) -> bool {
    since.saturating_add(CONFLICT_LIMIT) <= now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_goes_on_whichever_pdf_is_shown_until_one_was_fetched() {
        let lasting = [None, Some(999), Some(1000), Some(1001)].map(|read_at| lasts(1000, read_at));
        assert_eq!(lasting, [true, true, false, false]);
    }

    #[test]
    fn a_pdf_that_is_shown_elsewhere_is_waited_for_and_not_for_ever() {
        let limit = CONFLICT_LIMIT;
        // The last is of a clock that was set back.
        for (now, known) in [(1000, false), (1000 + limit - 1, false), (1000 + limit, true), (10, false)] {
            assert_eq!(is_over(1000, now), known, "{now}");
        }
    }
}
