//! How to ask a server for many things when it fails at some of them: in parts of ten, and then one by one.

/// How many things are asked for at once after a request for more of them failed.
pub(super) const FEW: usize = 10;
/// If the server has failed at this many single things, each from another part, and has answered nothing yet, the
/// reason is not a single thing.
const SINGLES: usize = 3;
/// The most failures without any status (a connection that is cut, a time-out): each may take long.
const SILENT: usize = 4;

/// The parts that are still to be asked for.
pub(super) struct Parts<T> {
    /// The last part is asked for next.
    parts: Vec<Vec<T>>,
    /// A number that differs from poll to poll, so that what one poll leaves out another asks for.
    chance: usize,
    /// Whether the server has answered for any part.
    pub(super) is_answered: bool,
    /// How many single things the server failed at.
    pub(super) singles: usize,
    silent: usize,
}

impl<T: Clone> Parts<T> {
    /// All of these things, in parts of this size.
    pub(super) fn of(all: &[T], size: usize, chance: i64) -> Self {
        let mut parts: Vec<Vec<T>> = all.chunks(size).map(<[T]>::to_vec).collect();
        // This spreads numbers that follow one another over all bits (Knuth, "The Art of Computer Programming", 6.4).
        let chance = usize::try_from(chance).unwrap_or(0).wrapping_mul(0x9e37_79b9);
        let first = chance % parts.len().max(1);
        parts.rotate_left(first);
        Self { parts, chance, is_answered: false, singles: 0, silent: 0 }
    }

    /// The part to ask for next.
    pub(super) fn next(&mut self) -> Option<Vec<T>> {
        self.parts.pop()
    }

    /// Notes that the server answered.
    pub(super) fn answered(&mut self) {
        (self.is_answered, self.silent) = (true, 0);
    }

    /// Notes that the server failed at this part; `silent`: without a status. A single thing is not asked for again. If
    /// the server fails whatever it is asked for, nothing is asked for any more.
    pub(super) fn failed(&mut self, part: &[T], silent: bool) {
        self.silent += usize::from(silent);
        self.singles += usize::from(part.len() == 1);
        if part.len() > 1 {
            let size = if part.len() > FEW { FEW } else { 1 };
            let mut smaller: Vec<Vec<T>> = part.chunks(size).map(<[T]>::to_vec).collect();
            let first = self.chance % smaller.len();
            smaller.rotate_left(first);
            self.chance = self.chance.rotate_left(7);
            self.parts.extend(smaller);
        } else if !self.is_answered {
            self.parts.sort_by_key(Vec::len);
        }
        if (!self.is_answered && self.singles >= SINGLES) || self.silent >= SILENT {
            self.parts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// How many requests one poll makes to a server that `fails` at some requests for 50 documents, and which documents
    /// the server answers for.
    fn asked(fails: impl Fn(&[usize]) -> bool, silent: bool, chance: i64) -> (usize, BTreeSet<usize>) {
        let all: Vec<usize> = (0..50).collect();
        let (mut parts, mut requests, mut good) = (Parts::of(&all, 50, chance), 0, BTreeSet::new());
        while let Some(part) = parts.next() {
            requests += 1;
            if fails(&part) {
                parts.failed(&part, silent);
            } else {
                parts.answered();
                good.extend(part);
            }
        }
        (requests, good)
    }

    #[test]
    fn each_good_document_is_answered_within_a_few_polls_and_a_server_that_always_fails_is_soon_left_alone() {
        let bad = |is_bad: fn(usize) -> bool| move |part: &[usize]| part.iter().any(|document| is_bad(*document));
        type Fails = Box<dyn Fn(&[usize]) -> bool>;
        // Which requests fail, how many documents are good, and in how many polls all of those are answered.
        let cases: [(Fails, usize, i64); 8] = [
            (Box::new(|_| false), 50, 1),
            (Box::new(bad(|document| document == 17)), 49, 1),
            (Box::new(bad(|document| document < 10)), 40, 2),
            (Box::new(bad(|document| document % 6 == 3)), 42, 2),
            (Box::new(bad(|document| document % 3 == 0)), 33, 4),
            (Box::new(bad(|document| document % 2 == 0)), 25, 4),
            (Box::new(bad(|document| document != 31)), 1, 40),
            (Box::new(|part| part.len() > 5), 50, 1),
        ];
        for (number, (fails, good, polls)) in cases.iter().enumerate() {
            let mut answered = BTreeSet::new();
            for poll in 0..*polls {
                let (requests, now) = asked(fails, false, poll * 60_007 + 1_760_000_000_000);
                assert!(requests <= 56, "{number}: {requests}");
                answered.extend(now);
            }
            assert_eq!(answered.len(), *good, "{number}");
        }
        for chance in 0..100 {
            assert!(asked(|_| true, false, chance).0 <= 7);
            assert_eq!(asked(|_| true, true, chance).0, SILENT);
        }
        let cut: BTreeSet<usize> =
            (0..8).flat_map(|chance| asked(bad(|document| document == 17), true, chance).1).collect();
        assert_eq!(cut.len(), 49);
    }
}
