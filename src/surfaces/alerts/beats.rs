//! When the heart beats.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Undelivered;
use super::heartbeat::{Beat, Heartbeat};
use crate::ledger::{Millis, now};

/// Two beats that say the same are at least so far apart.
const LEAST_APART: Duration = Duration::from_secs(20);

/// What the heart beats for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// When a poll last ended well.
    pub(super) polled_at: Option<Millis>,
    /// Whether a person is needed.
    pub(super) bad: bool,
}

/// Beats: at the start, after each good poll while nobody is needed, and when somebody is. What was not heard is said
/// again at the next poll.
pub(super) async fn beat(heartbeat: Heartbeat, mut felt: watch::Receiver<Condition>, stop: CancellationToken) {
    let mut said: Option<(Beat, Instant)> = None;
    // Polls before this start were another process's.
    let (mut polled, started) = (None, Some(now()));
    let mut failing = false;
    say(&heartbeat, Beat::Start, &mut failing, &stop).await;
    loop {
        let wait = said.map_or(Duration::ZERO, |(_, at)| LEAST_APART.saturating_sub(at.elapsed()));
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            changed = felt.changed() => if changed.is_err() { return },
            // What was felt while the last beat was too near.
            () = tokio::time::sleep(wait), if wait > Duration::ZERO => {}
        }
        let condition = *felt.borrow();
        let beat = if condition.bad { Beat::Bad } else { Beat::Good };
        let news = said.is_none_or(|(last, _)| last != beat);
        let is_near = said.is_some_and(|(_, at)| at.elapsed() < LEAST_APART);
        let polled_since = condition.polled_at != polled && condition.polled_at >= started;
        // That all is well is said by a good poll alone.
        let wanted = match beat {
            Beat::Bad => news || polled_since,
            Beat::Good | Beat::Start => polled_since,
        };
        if wanted && ((news && !failing) || !is_near) {
            let heard = say(&heartbeat, beat, &mut failing, &stop).await;
            if heard {
                polled = condition.polled_at;
            }
            said = Some((if heard { beat } else { Beat::Start }, Instant::now()));
        }
    }
}

/// Beats once. Returns whether it was heard.
async fn say(heartbeat: &Heartbeat, beat: Beat, failing: &mut bool, stop: &CancellationToken) -> bool {
    let beaten = tokio::select! {
        biased;
        beaten = heartbeat.beat(beat) => beaten,
        () = stop.cancelled() => return false,
    };
    match beaten {
        Ok(_) => {
            *failing = false;
            true
        }
        Err(Undelivered { what, .. }) => {
            // Once, and not at every poll.
            if !std::mem::replace(failing, true) {
                tracing::warn!(event = "heartbeat_failed", "heartbeat: {what}");
            }
            false
        }
    }
}
