//! What the list shows goes into the ledger, and what it would begin anew or take over is asked for first.

use std::cmp::Ordering as Order;
use std::time::Duration;

use super::Walker;
use crate::api::Meaning;
use crate::document::{DocumentUuid, Version};
use crate::ledger::listed::{self, Listed, Seen};
use crate::ledger::{LedgerError, accounts, now};
use crate::pipeline::discover::absence::{LOOK_SIZE, ends_the_poll, look};
use crate::pipeline::discover::dates::compare;
use crate::pipeline::discover::halves::Halves;
use crate::pipeline::discover::{PollError, alive};
use crate::pipeline::failure::RENDERED_AGAIN;
use crate::pipeline::transition_log::TransitionLog;
use crate::pipeline::{Progress, Scope};

/// Polls that showed another PDF of a document and could not ask for it, after which that is believed.
const POLLS_UNASKED: u32 = 2;

impl Walker<'_> {
    /// Writes a page to the ledger, with the cursor that it brings in the same transaction. Returns how many of its
    /// documents were new or reopened.
    pub(super) async fn record(&mut self, shown: &[Listed], cursor: Option<&str>) -> Result<u64, LedgerError> {
        if shown.is_empty() {
            return Ok(0);
        }
        let (reader, shown, cursor) = (self.reader.clone(), shown.to_vec(), cursor.map(str::to_owned));
        let write = self.context.ledger.write(move |db| {
            accounts::save_poll(db, &reader.account, reader.poll)?;
            let (mut found, mut doubtful) = (Vec::new(), Vec::new());
            for document in shown {
                match listed::see(db, &reader, &document, now())? {
                    Seen::Known => {}
                    Seen::Doubtful => doubtful.push(document),
                    seen => found.push((document.uuid, seen)),
                }
            }
            if let Some(cursor) = cursor {
                let stored = accounts::progress(db, &reader.account)?.cursor;
                // A reading that begins at the start of the list must not draw the cursor back.
                let back = |stored| matches!(compare(stored, &cursor), Some(Order::Equal | Order::Greater));
                if !stored.as_deref().is_some_and(back) {
                    accounts::save_cursor(db, &reader.account, &cursor)?;
                }
            }
            Ok((found, doubtful))
        });
        let (found, doubtful) = write.await?;
        let count = found.len() as u64;
        let known = &mut self.known_doubtful;
        self.doubtful.extend(doubtful.into_iter().filter(|document| known.insert(document.uuid.clone())));
        self.announce(found).await;
        Ok(count)
    }

    /// Asks the list for the documents that would begin anew: the page that shows them may be a stale one. A server that
    /// cannot be asked is believed.
    pub(in crate::pipeline::discover) async fn confirm(&mut self) -> Result<(), PollError> {
        let doubtful = std::mem::take(&mut self.doubtful);
        self.known_doubtful.clear();
        self.reader.confirmed = true;
        for part in doubtful.chunks(LOOK_SIZE) {
            self.confirm_these(Halves::of(part.to_vec(), now())).await?;
        }
        self.reader.confirmed = false;
        Ok(())
    }

    async fn confirm_these(&mut self, mut parts: Halves<Listed>) -> Result<(), PollError> {
        let mut is_refused = true;
        while let Some(part) = parts.next() {
            let asked: Vec<DocumentUuid> = part.iter().map(|document| document.uuid.clone()).collect();
            alive(self.context, &self.reader.account, Duration::ZERO);
            let error = match look(self.client, &asked, false).await {
                Ok(shown) => {
                    parts.answered();
                    let by_page = shown.others && !shown.all;
                    self.record(if by_page { &part } else { &shown.items }, None).await?;
                    continue;
                }
                Err(error) if ends_the_poll(&error) => return Err(error.into()),
                Err(error) => error,
            };
            tracing::debug!(event = "look_failed", account = self.reader.account.as_str(), "{error}");
            let refused = error.status() == Some(403) || error.meaning() == Meaning::Permanent;
            is_refused &= refused;
            let Some(part) = parts.failed(part, error.status().is_none()) else { continue };
            // It answers the list, and does not know how to be asked.
            if refused && (is_refused || part.len() == 1) {
                self.record(&part, None).await?;
            } else {
                self.not_asked(part).await?;
            }
        }
        Ok(())
    }

    /// The list cannot be asked for these: the next poll tries again. That one is rendered anew is believed when several
    /// polls in a row showed it, as no page is stale for so long.
    async fn not_asked(&mut self, part: Vec<Listed>) -> Result<u64, LedgerError> {
        let write = self.context.ledger.write(move |db| {
            let mut believed = Vec::new();
            for document in part {
                if listed::could_not_ask(db, &document)? > POLLS_UNASKED {
                    believed.push(document);
                }
            }
            Ok(believed)
        });
        let believed = write.await?;
        self.record(&believed, None).await
    }

    /// Takes over documents that wait for an account that is gone from the configuration, where this one can see them: in
    /// the list as in any other reading, or among the synchronized ones. A server that cannot be asked changes nothing.
    pub(in crate::pipeline::discover) async fn adopt(&mut self) -> Result<(), PollError> {
        let configured: Vec<String> = self.context.clients.keys().cloned().collect();
        let orphans = self.context.ledger.read(move |db| listed::orphans(db, &configured, LOOK_SIZE)).await?;
        if orphans.is_empty() {
            return Ok(());
        }
        let asked: Vec<DocumentUuid> = orphans.iter().map(|(_, uuid)| uuid.clone()).collect();
        let shown = look(self.client, &asked, false).await?;
        self.reader.confirmed = true;
        let recorded = self.record(&shown.items, None).await;
        self.reader.confirmed = false;
        recorded?;
        let rest: Vec<DocumentUuid> = asked.into_iter().filter(|uuid| shown.all && !shown.has(uuid)).collect();
        if rest.is_empty() {
            return Ok(());
        }
        let synchronized = look(self.client, &rest, true).await?;
        let reader = self.reader.clone();
        let write = self.context.ledger.write(move |db| {
            accounts::save_poll(db, &reader.account, reader.poll)?;
            for (id, uuid) in orphans {
                if rest.contains(&uuid) && synchronized.has(&uuid) {
                    listed::adopt(db, id, &reader, now())?;
                }
            }
            Ok(())
        });
        write.await.map_err(PollError::from)
    }

    async fn announce(&mut self, found: Vec<(DocumentUuid, Seen)>) {
        let count = found.len() as u64;
        if count == 0 {
            return;
        }
        for (uuid, seen) in found {
            let event = match seen {
                Seen::Reopened { event, id, round, wait } => {
                    // What was fetched for the round that ended is nobody's any more.
                    self.context.spool.remove(id, round).await;
                    if wait > 0 {
                        let version =
                            Version { account: self.reader.account.clone(), uuid: uuid.clone(), pdf: String::new() };
                        TransitionLog::of(&version).retry_in(wait).warn(event.as_str(), RENDERED_AGAIN);
                        continue;
                    }
                    event.as_str()
                }
                Seen::New | Seen::Known | Seen::Doubtful => "discovered",
            };
            let account = self.reader.account.as_str();
            tracing::info!(event, account, document = %uuid, "{event} document {uuid} of {account}");
        }
        self.found += count;
        // A paused account is opened by the end of this poll, which then wakes the stages.
        if self.context.pauses.paused_until(&Scope::Account(self.reader.account.clone())).is_none() {
            self.context.nudges.fetch.notify_one();
        }
        self.context.observe(Progress::Found(count));
    }
}
