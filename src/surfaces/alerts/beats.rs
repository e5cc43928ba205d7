//! Decides when to send a heartbeat.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Undelivered;
use super::heartbeat::{Beat, Heartbeat};
use crate::ledger::{Millis, now};

/// The least time between two equal beats.
const LEAST_APART: Duration = Duration::from_secs(20);

/// What decides about a beat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// When a poll last ended well.
    pub(super) polled_at: Option<Millis>,
    /// Whether a person is needed.
    pub(super) bad: bool,
}

/// Beats at the start, after each good poll while no person is needed, and as soon as a person is needed. A beat that
/// was not heard is repeated at the next poll.
pub(super) async fn beat(heartbeat: Heartbeat, mut felt: watch::Receiver<Condition>, stop: CancellationToken) {
    let mut said: Option<(Beat, Instant)> = None;
    // An earlier poll belongs to another process.
    let (mut polled, started) = (None, Some(now()));
    let mut failing = false;
    say(&heartbeat, Beat::Start, &mut failing, &stop).await;
    loop {
        let wait = said.map_or(Duration::ZERO, |(_, at)| LEAST_APART.saturating_sub(at.elapsed()));
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            changed = felt.changed() => if changed.is_err() { return },
            // A change that came too soon after the last beat.
            () = tokio::time::sleep(wait), if wait > Duration::ZERO => {}
        }
        let condition = *felt.borrow();
        let beat = if condition.bad { Beat::Bad } else { Beat::Good };
        let news = said.is_none_or(|(last, _)| last != beat);
        let is_near = said.is_some_and(|(_, at)| at.elapsed() < LEAST_APART);
        let polled_since = condition.polled_at != polled && condition.polled_at >= started;
        // Only a good poll shows that all is well.
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

/// Sends one beat. Returns whether the monitor accepted it.
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
            // Logged once, not at every poll.
            if !std::mem::replace(failing, true) {
                tracing::warn!(event = "heartbeat_failed", "heartbeat: {what}");
            }
            false
        }
    }
}
