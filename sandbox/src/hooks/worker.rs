//! The task that sends due deliveries.
//!
//! Each webhook gets one delivery at a time, the oldest first, so that a receiver that hangs delays only itself. A
//! delivery that was sent but not recorded when the process dies is sent again, with the same `webhook-id`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::post::Sender;
use super::schedule::{LONGEST_BACKOFF, judge};
use crate::error::SandboxError;
use crate::shared::Shared;
use crate::store::{DeliveryRow, Waiting};

/// The most deliveries in progress, each to another webhook.
const UNDER_WAY: usize = 64;

/// The pause after the store failed, so that the loop does not spin.
const PAUSE: Duration = Duration::from_secs(1);

/// Sends deliveries until the sandbox stops.
pub(crate) async fn deliver(shared: Arc<Shared>) {
    // Nothing waits longer than the longest backoff, even if the clock was ahead when the sandbox stopped.
    let now = shared.clock.key();
    let latest = now.saturating_add(LONGEST_BACKOFF);
    let _ = shared.store.run(move |transaction| DeliveryRow::bring_forward(transaction, latest, now)).await;
    let sender = Sender::new();
    let mut under_way = JoinSet::new();
    let mut busy = HashSet::new();
    loop {
        let next = match due(&shared, &busy).await {
            Ok(waiting) => {
                for delivery in waiting.due {
                    busy.insert(delivery.webhook_id);
                    under_way.spawn(attempt(Arc::clone(&shared), sender.clone(), delivery));
                }
                waiting.next
            }
            Err(_) => Some(shared.clock.key().saturating_add(i64::try_from(PAUSE.as_micros()).unwrap_or(0))),
        };
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = shared.deliveries.notified() => {}
            () = shared.clock.until(next.unwrap_or(i64::MAX)), if next.is_some() => {}
            Some(ended) = under_way.join_next() => {
                if let Ok(webhook_id) = ended {
                    busy.remove(&webhook_id);
                }
            }
        }
    }
}

async fn due(shared: &Shared, busy: &HashSet<i64>) -> Result<Waiting, SandboxError> {
    let room = UNDER_WAY.saturating_sub(busy.len());
    let busy = busy.clone();
    let now = shared.clock.key();
    shared.store.run(move |transaction| DeliveryRow::waiting(transaction, now, &busy, room)).await
}

/// Posts a delivery and records the result. Returns the webhook's row id.
async fn attempt(shared: Arc<Shared>, sender: Sender, delivery: DeliveryRow) -> i64 {
    let started = shared.clock.key();
    let outcome = sender.post(&delivery, started).await;
    let attempt = judge(outcome, delivery.attempts, started);
    let webhook_id = delivery.webhook_id;
    let now = shared.clock.key();
    let written = shared.store.run(move |transaction| delivery.record(transaction, &attempt, now)).await;
    if written.is_err() {
        // It is still due and will be sent again. Not at once, because the store may have a problem.
        tokio::time::sleep(PAUSE).await;
    }
    shared.journal.ring();
    webhook_id
}
