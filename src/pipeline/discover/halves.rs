//! How a server is asked for many documents when it fails at some of them: in halves, until those are found.

/// So many single documents, each from another part, at which it fails without one answer are no matter of single documents.
const SINGLES: usize = 3;

/// Failures without any status (a connection that is cut, a time-out) may take long: no more of them without one answer.
const SILENT: usize = 4;

/// What is still to be asked for. It is halved down to a single document first, so that a few bad ones, or a server that answers for a
/// few at a time only, are soon told from one that fails always. Which half comes first is left to chance, so that what one poll leaves
/// out another asks for.
pub(super) struct Halves<T> {
    /// The next one is the last.
    parts: Vec<Vec<T>>,
    chance: u64,
    answered: bool,
    singles: usize,
    silent: usize,
}

impl<T> Halves<T> {
    /// All of these together; `chance` is another number at each poll.
    pub(super) fn of(all: Vec<T>, chance: i64) -> Self {
        // Numbers that follow one another differ in their highest bits then (Knuth, "The Art of Computer Programming", 6.4).
        let chance = chance.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { parts: vec![all], chance, answered: false, singles: 0, silent: 0 }
    }

    /// To be asked for next.
    pub(super) fn next(&mut self) -> Option<Vec<T>> {
        self.parts.pop().filter(|part| !part.is_empty())
    }

    /// The server answered.
    pub(super) fn answered(&mut self) {
        self.answered = true;
    }

    /// The server failed at this part; `silent`: without a status. Gives back what is not to be asked for again: a single one, or
    /// everything that is left where nothing was answered at all.
    pub(super) fn failed(&mut self, mut part: Vec<T>, silent: bool) -> Option<Vec<T>> {
        self.silent += usize::from(silent);
        self.singles += usize::from(part.len() <= 1);
        if self.is_hopeless() {
            part.extend(self.parts.drain(..).flatten());
            return Some(part);
        }
        if part.len() <= 1 {
            if !self.answered {
                self.parts.sort_by_key(Vec::len);
            }
            return Some(part);
        }
        let half = part.split_off(part.len() / 2);
        self.chance = self.chance.rotate_left(1);
        self.parts.extend(if self.chance & 1 == 0 { [part, half] } else { [half, part] });
        None
    }

    /// Whether the server fails whatever it is asked for.
    pub(super) fn is_hopeless(&self) -> bool {
        !self.answered && (self.singles >= SINGLES || self.silent >= SILENT)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// How often a server that fails at these questions for some of 50 documents is asked in one poll, and for which it answers.
    fn asked(fails: impl Fn(&[usize]) -> bool, silent: bool, chance: i64) -> (usize, BTreeSet<usize>) {
        let (mut halves, mut requests) = (Halves::of((0..50).collect(), chance), 0);
        let (mut good, mut given_up) = (BTreeSet::new(), 0);
        while let Some(part) = halves.next() {
            requests += 1;
            if fails(&part) {
                given_up += halves.failed(part, silent).map_or(0, |part| part.len());
            } else {
                halves.answered();
                good.extend(part);
            }
        }
        assert_eq!(good.len() + given_up, 50, "each is answered or given back, once");
        (requests, good)
    }

    #[test]
    fn each_good_document_is_answered_within_a_few_polls_and_a_server_that_always_fails_is_soon_left_alone() {
        let bad = |is_bad: fn(usize) -> bool| move |part: &[usize]| part.iter().any(|document| is_bad(*document));
        type Fails = Box<dyn Fn(&[usize]) -> bool>;
        // What it fails at, and in how many polls all good ones were answered.
        let cases: [(Fails, usize, usize); 8] = [
            (Box::new(|_| false), 50, 1),
            (Box::new(bad(|document| document == 17)), 49, 1),
            (Box::new(bad(|document| document < 10)), 40, 2),
            (Box::new(bad(|document| document % 6 == 3)), 42, 2),
            (Box::new(bad(|document| document % 3 == 0)), 33, 3),
            (Box::new(bad(|document| document % 2 == 0)), 25, 4),
            (Box::new(bad(|document| document != 31)), 1, 40),
            (Box::new(|part| part.len() > 5), 50, 1),
        ];
        for (number, (fails, good, polls)) in cases.iter().enumerate() {
            let mut answered = BTreeSet::new();
            for chance in 0..*polls {
                let (requests, now) = asked(fails, false, i64::try_from(chance).unwrap() * 60_007 + 1_760_000_000_000);
                assert!(requests <= 99, "{number}: {requests}");
                answered.extend(now);
            }
            assert_eq!(answered.len(), *good, "{number}");
        }
        for chance in 0..100 {
            assert!(asked(|_| true, false, chance).0 <= 18);
            assert_eq!(asked(|_| true, true, chance).0, SILENT);
        }
        let cut: BTreeSet<usize> =
            (0..8).flat_map(|chance| asked(bad(|document| document == 17), true, chance).1).collect();
        assert_eq!(cut.len(), 49);
    }
}
