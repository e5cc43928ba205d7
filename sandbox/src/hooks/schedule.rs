//! What follows from an attempt: done, another attempt, given up, or an inactive webhook.

use crate::store::Attempt;

/// The waits between attempts, in microseconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, the first part of the schedule that
/// Standard Webhooks recommends. Then a delivery is given up.
const BACKOFF: [i64; 6] = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The longest wait between two attempts.
pub(super) const LONGEST_BACKOFF: i64 = 10 * HOUR;

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered(u16),
    /// No answer, with the reason.
    Failed(String),
}

/// Judges an attempt that began at `started`, after this many earlier ones. The wait begins with the attempt, so that a
/// test that sees a request can move the clock at once.
pub(super) fn judge(outcome: Outcome, attempts_before: u64, started: i64) -> Attempt {
    let again = usize::try_from(attempts_before)
        .ok()
        .and_then(|before| BACKOFF.get(before))
        .map(|wait| started.saturating_add(*wait));
    let (delivered, deactivate) = match &outcome {
        Outcome::Answered(200..=299) => (true, false),
        Outcome::Answered(410) => (false, true),
        Outcome::Answered(_) | Outcome::Failed(_) => (false, false),
    };
    let due = if delivered || deactivate { None } else { again };
    let (status, error) = match outcome {
        Outcome::Answered(status) if delivered => (Some(status), None),
        Outcome::Answered(410) => (Some(410), Some("the receiver is gone, so its webhook was deactivated".to_owned())),
        Outcome::Answered(status @ 300..=399) => {
            (Some(status), Some(format!("the receiver redirects with {status}, which is not followed")))
        }
        Outcome::Answered(status) => (Some(status), Some(format!("the receiver answered {status}"))),
        Outcome::Failed(reason) => (None, Some(reason)),
    };
    Attempt { delivered, due, status, error, deactivate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_and_gone_end_a_delivery_and_everything_else_is_tried_again() {
        for status in [200, 201, 204, 299] {
            let verdict = judge(Outcome::Answered(status), 0, 0);
            assert_eq!((verdict.delivered, verdict.due, verdict.error), (true, None, None), "{status}");
        }
        for status in [100, 302, 400, 404, 429, 500, 503] {
            let verdict = judge(Outcome::Answered(status), 0, 7);
            assert_eq!((verdict.delivered, verdict.deactivate), (false, false), "{status}");
            assert_eq!((verdict.due, verdict.status), (Some(7 + 5 * SECOND), Some(status)));
        }
        let gone = judge(Outcome::Answered(410), 0, 0);
        assert_eq!((gone.delivered, gone.deactivate, gone.due), (false, true, None));
    }

    #[test]
    fn the_waits_grow_until_a_delivery_is_given_up() {
        let due = |attempts| judge(Outcome::Failed("refused".into()), attempts, 0).due;
        let waits: Vec<Option<i64>> = (0..7).map(due).collect();
        let expected = [5, 300, 1800, 7200, 18_000, 36_000].map(|seconds| Some(seconds * SECOND));
        assert_eq!(waits.first_chunk::<6>(), Some(&expected));
        assert_eq!(waits.last(), Some(&None));
        assert_eq!(BACKOFF.iter().max(), Some(&LONGEST_BACKOFF));
    }
}
