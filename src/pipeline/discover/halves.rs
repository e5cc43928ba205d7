//! How a server is asked for many documents when it fails at some of them: in halves, until those are found.

use std::collections::VecDeque;

/// So many failures without one answer (the whole, halves, quarters and eighths) are no matter of single documents.
const HOPELESS: usize = 15;

/// What is still to be asked for. The largest part comes first, so that a few bad ones are soon told from a server that fails always.
pub(super) struct Halves<T> {
    parts: VecDeque<Vec<T>>,
    answered: bool,
    failed: usize,
}

impl<T> Halves<T> {
    /// All of these together.
    pub(super) fn of(all: Vec<T>) -> Self {
        Self { parts: [all].into(), answered: false, failed: 0 }
    }

    /// To be asked for next.
    pub(super) fn next(&mut self) -> Option<Vec<T>> {
        self.parts.pop_front().filter(|part| !part.is_empty())
    }

    /// The server answered.
    pub(super) fn answered(&mut self) {
        self.answered = true;
    }

    /// The server failed at this part. Gives back what is not to be asked for again: a single one, or everything that is left where
    /// nothing was answered at all.
    pub(super) fn failed(&mut self, mut part: Vec<T>) -> Option<Vec<T>> {
        self.failed += 1;
        if self.is_hopeless() {
            part.extend(self.parts.drain(..).flatten());
            return Some(part);
        }
        if part.len() <= 1 {
            return Some(part);
        }
        let half = part.split_off(part.len() / 2);
        self.parts.extend([part, half]);
        None
    }

    /// Whether the server fails whatever it is asked for.
    pub(super) fn is_hopeless(&self) -> bool {
        !self.answered && self.failed >= HOPELESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a server that fails at these of 50 documents is asked, for how many it answers, and which are given back.
    fn asked(is_bad: impl Fn(usize) -> bool) -> (usize, usize, Vec<usize>) {
        let (mut halves, mut requests, mut good, mut bad) = (Halves::of((0..50).collect()), 0, 0, Vec::new());
        while let Some(part) = halves.next() {
            requests += 1;
            if part.iter().any(|document| is_bad(*document)) {
                bad.extend(halves.failed(part).into_iter().flatten());
            } else {
                halves.answered();
                good += part.len();
            }
        }
        bad.sort_unstable();
        (requests, good, bad)
    }

    #[test]
    fn bad_documents_are_found_and_a_server_that_always_fails_is_soon_left_alone() {
        assert_eq!(asked(|_| false), (1, 50, vec![]));
        assert_eq!(asked(|document| document == 17), (13, 49, vec![17]));
        assert_eq!(asked(|document| document < 10), (25, 40, (0..10).collect()));
        assert_eq!(asked(|document| document % 10 == 3).1, 45);
        assert_eq!(asked(|_| true), (HOPELESS, 0, (0..50).collect()));
    }
}
