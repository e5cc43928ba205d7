//! The outbox of one channel: sends its messages in order, each until it is taken.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::message::{Content, Letterhead, Message};
use super::{Channel, Undelivered};
use crate::domain::retry::RetryPolicy;
use crate::ledger::{Ledger, LedgerError, Millis, alerts, now};

/// A message that nobody takes for so long is given up; milliseconds.
const GIVE_UP_AFTER: Millis = 7 * 24 * 60 * 60 * 1000;
/// How often a message may be sent that may have arrived. A receiver that takes it and answers too late would get it
/// for a week. While the trouble lasts, the next reminder is another try.
const MOST_DOUBTFUL: u32 = 6;
/// From this doubtful try on, the wait is the longest of the schedule: in an hour somebody may have mended what hangs.
const SOON_DOUBTFUL: u32 = 3;
/// How often the outbox is read when nothing says that there is a new message.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// One channel with its outbox.
pub(super) struct Post {
    pub(super) ledger: Ledger,
    pub(super) channel: Channel,
    pub(super) letterhead: Letterhead,
    /// The schedule of another try.
    pub(super) retry: RetryPolicy,
    /// Notified when there is a new message.
    pub(super) posted: Arc<Notify>,
    /// The message that is being tried, and how often it may have arrived since this start.
    pub(super) doubtful: (i64, u32),
}

impl Post {
    /// Sends what is in the outbox until it is told to stop. Then finishes the message that is being sent.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.send_next().await {
                Ok(None) => continue,
                Ok(Some(wait)) => wait.min(LOOK_INTERVAL),
                Err(error) => {
                    tracing::debug!(event = "outbox_failed", "{error}");
                    LOOK_INTERVAL
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.posted.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Tries the oldest message. Returns how long there is nothing to do; `None` to look again at once.
    async fn send_next(&mut self) -> Result<Option<Duration>, LedgerError> {
        let (name, channel) = (self.channel.name().to_owned(), self.channel.name().to_owned());
        let name = name.as_str();
        let Some(waiting) = self.ledger.read(move |db| alerts::waiting(db, &channel)).await? else {
            return Ok(Some(LOOK_INTERVAL));
        };
        let (id, at) = (waiting.id, now());
        if at.saturating_sub(waiting.created_at) >= GIVE_UP_AFTER {
            tracing::error!(
                event = "alert_given_up",
                channel = name,
                alert = waiting.message,
                "nobody took a message for a week"
            );
            self.ledger.write(move |db| alerts::give_up(db, id)).await?;
            return Ok(None);
        }
        let longest = Millis::try_from(self.retry.max.as_millis()).unwrap_or(Millis::MAX);
        let wait = waiting.due_at.saturating_sub(at);
        // A longer wait means that the clock was set back.
        if wait > 0 && wait <= longest.saturating_mul(2) {
            return Ok(Some(Duration::from_millis(wait.unsigned_abs())));
        }
        let Ok(content) = serde_json::from_str::<Content>(&waiting.content) else {
            // A later version of docsyncd wrote it.
            self.ledger.write(move |db| alerts::give_up(db, id)).await?;
            return Ok(None);
        };
        if !self.ledger.write(move |db| alerts::sending(db, id)).await? {
            return Ok(None);
        }
        let message = Message::new(waiting.message.clone(), &content, &self.letterhead);
        let sent = self.channel.send(&message).await;
        let attempt = waiting.attempts.saturating_add(1);
        match sent {
            Ok(taken) => {
                let code = taken.code;
                taken.warn_of_refused(name);
                self.ledger.write(move |db| alerts::sent(db, id, now())).await?;
                tracing::info!(
                    event = "alert_sent",
                    channel = name,
                    alert = waiting.message,
                    code,
                    attempt,
                    "a person was told"
                );
            }
            Err(undelivered) => self.not_sent(&waiting, attempt, undelivered).await?,
        }
        Ok(None)
    }

    /// It is sent again later, unless it may have arrived too often.
    async fn not_sent(
        &mut self,
        waiting: &alerts::Waiting,
        attempt: u32,
        Undelivered { what, may_have_arrived, .. }: Undelivered,
    ) -> Result<(), LedgerError> {
        let (id, name) = (waiting.id, self.channel.name().to_owned());
        let doubts = self.doubts(id, may_have_arrived);
        if doubts >= MOST_DOUBTFUL {
            tracing::warn!(
                event = "alert_doubtful",
                channel = name,
                alert = waiting.message,
                attempt,
                "{name}: {what}; it may have arrived {doubts} times, and is not sent again"
            );
            return self.ledger.write(move |db| alerts::sent(db, id, now())).await;
        }
        let late = may_have_arrived && doubts >= SOON_DOUBTFUL;
        let delay = if late { self.retry.max } else { self.retry.delay(attempt, None) };
        let retry_in_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(
            event = "alert_not_sent",
            channel = name,
            alert = waiting.message,
            attempt,
            retry_in_ms,
            "{name}: {what}"
        );
        let due_at = now().saturating_add(Millis::try_from(delay.as_millis()).unwrap_or(Millis::MAX));
        self.ledger.write(move |db| alerts::not_sent(db, id, may_have_arrived, due_at)).await
    }

    /// How often this message may have arrived, counting this try.
    fn doubts(&mut self, id: i64, may_have_arrived: bool) -> u32 {
        let before = if self.doubtful.0 == id { self.doubtful.1 } else { 0 };
        self.doubtful = (id, before.saturating_add(may_have_arrived.into()));
        self.doubtful.1
    }
}
