//! Tells people, without the outbox, that the ledger itself cannot be used.

use std::time::Duration;

use tokio::time::Instant;

use super::super::Undelivered;
use super::super::decide::AlertKind;
use super::super::message::{Content, Message, new_id};
use super::{SIGN_OF_LIFE, Watch};
use crate::domain::health::Cause;
use crate::formats::language::Group;
use crate::ledger::{LedgerError, Millis, now};

/// How many times [`super::GATHER`] the ledger has to be unusable before that is told: a backup may lock it for a
/// moment.
const TROUBLE_LASTS: u32 = 2;

/// A ledger that cannot be read or written. It cannot record who was told, either.
pub(super) struct Trouble {
    since: Millis,
    message: String,
    told: Vec<String>,
    tried: Option<Instant>,
}

impl Watch {
    /// The ledger cannot be used, so there is no outbox: everybody is told from memory. Whoever is not reached is tried
    /// again.
    pub(super) async fn troubled(&mut self, error: &LedgerError, began: Millis) {
        let at = now();
        self.watched.condition.send_if_modified(|condition| !std::mem::replace(&mut condition.bad, true));
        let trouble = self.trouble.get_or_insert_with(|| {
            tracing::error!(event = "ledger_trouble", "{error}");
            Trouble { since: began, message: new_id(), told: Vec::new(), tried: None }
        });
        let lasted = u64::try_from(at.saturating_sub(trouble.since)).unwrap_or(0);
        if self.disk_is_known {
            return;
        }
        let too_soon = trouble.tried.is_some_and(|tried| tried.elapsed() < SIGN_OF_LIFE);
        if Duration::from_millis(lasted) < self.times.gather.saturating_mul(TROUBLE_LASTS) || too_soon {
            return;
        }
        trouble.tried = Some(Instant::now());
        let (since, id) = (trouble.since, trouble.message.clone());
        let known = trouble.told.clone();
        let told = self.tell(AlertKind::Problem, since, &id, |name| !known.iter().any(|known| known == name)).await;
        if let Some(trouble) = &mut self.trouble {
            trouble.told.extend(told);
        }
    }

    /// The ledger can be used again. Tells whoever was told of the trouble.
    pub(super) async fn recovered(&mut self) {
        if let Some(Trouble { since, told, .. }) = self.trouble.take() {
            tracing::info!(event = "ledger_well", "the ledger can be read and written again");
            let _ = self.tell(AlertKind::Over, since, &new_id(), |name| told.iter().any(|told| told == name)).await;
        }
    }

    /// Tells everybody of the ledger, which belongs to no account. Returns who was reached.
    async fn tell(&self, kind: AlertKind, since: Millis, id: &str, whom: impl Fn(&str) -> bool) -> Vec<String> {
        let group = Group { cause: Cause::Ledger, names: Vec::new(), count: 0, since: Some(since) };
        let content = Content::new(kind, &group, now());
        let message = Message::new(id.to_owned(), &content, &self.watched.letterhead);
        let channels = self.watched.channels.iter().map(|(channel, _)| channel);
        let channels = channels.filter(|channel| channel.audience.is_empty() && whom(channel.name()));
        let sent = channels.map(|channel| async {
            let sent = channel.send(&message).await;
            match &sent {
                Ok(taken) => taken.warn_of_refused(channel.name()),
                Err(Undelivered { what, .. }) => {
                    tracing::warn!(event = "alert_not_sent", channel = channel.name(), "{}: {what}", channel.name());
                }
            }
            // A message that may have arrived is not repeated.
            match sent {
                Ok(_) | Err(Undelivered { may_have_arrived: true, .. }) => Some(channel.name().to_owned()),
                Err(_) => None,
            }
        });
        futures_util::future::join_all(sent).await.into_iter().flatten().collect()
    }
}
