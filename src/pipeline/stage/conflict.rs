//! Documents of which the API shows two PDFs at once: the list, or the answer to a report, another one than the document itself.
//! One of the two lags behind (a replica, a cache), and nobody can tell which. So such a document waits for a while. It does not wait
//! for ever: a server may name its PDFs in two ways.

use std::time::Duration;

use crate::ledger::documents::Document;
use crate::ledger::{Millis, now};
use crate::pipeline::after;

/// How long a document waits: longer than caches and replicas lag, and no longer than a person minds.
const LIMIT: Duration = Duration::from_secs(2 * 60);

/// What is known of a PDF that is shown elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// It has been waited for since then.
    Since(Millis),
    /// It was waited for in vain.
    InVain,
}

impl Conflict {
    /// `None`: it is new.
    pub fn of(document: &Document, elsewhere: &str) -> Option<Self> {
        let (_, since) = document.conflict.as_ref().filter(|(pdf, _)| pdf.eq_ignore_ascii_case(elsewhere))?;
        Some(Self::since(*since, now()))
    }

    fn since(since: Millis, now: Millis) -> Self {
        match since {
            _ if after(since, LIMIT) <= now => Self::InVain,
            // Else the clock was set back.
            since => Self::Since(since.min(now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdf_that_is_shown_elsewhere_is_waited_for_and_not_for_ever() {
        let limit = after(0, LIMIT);
        for (now, known) in [
            (1000, Conflict::Since(1000)),
            (1000 + limit - 1, Conflict::Since(1000)),
            (1000 + limit, Conflict::InVain),
            (10, Conflict::Since(10)),
        ] {
            assert_eq!(Conflict::since(1000, now), known, "{now}");
        }
    }
}
