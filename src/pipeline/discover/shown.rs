//! Records in the ledger what the list shows. Before a document begins anew or is taken over, the list is asked for it.

use super::{PollError, Walker};
use crate::api::LOOK_SIZE;
use crate::domain::document::{DocumentUuid, Version};
use crate::ledger::accounts::{self, Cursor};
use crate::ledger::listed::{self, Listed, Seen};
use crate::ledger::{LedgerError, documents, now};
use crate::pipeline::failures::RENDERED_AGAIN;
use crate::pipeline::transition_log::TransitionLog;
use crate::pipeline::{Progress, Scope, latest};

/// If a document seems to begin anew and the list cannot be asked for it, it is believed after this many polls.
const POLLS_UNASKED: u32 = 2;

impl Walker<'_> {
    /// Records in the ledger what a page shows, and the cursor behind the page in the same transaction. Returns how
    /// many of the documents were new or reopened.
    pub(super) async fn record(&mut self, shown: Vec<Listed>, cursor: Option<Cursor>) -> Result<u64, LedgerError> {
        if shown.is_empty() {
            return Ok(0);
        }
        let reader = self.reader.clone();
        let write = self.context.edges.ledger.write(move |db| {
            accounts::save_poll(db, &reader.account, reader.poll)?;
            let (mut found, mut doubtful, mut unread) = (Vec::new(), Vec::new(), Vec::new());
            for document in shown {
                match listed::see(db, &reader, &document, now())? {
                    Seen::Known => {}
                    Seen::Doubtful => doubtful.push(document),
                    Seen::Unread(id) => unread.push(id),
                    seen => found.push((document.uuid, seen)),
                }
            }
            if cursor.is_some() {
                accounts::save_cursor(db, &reader.account, cursor)?;
            }
            Ok((found, doubtful, unread))
        });
        let (found, doubtful, unread) = write.await?;
        self.unread.extend(unread);
        let count = found.len() as u64;
        self.doubtful.extend(doubtful.into_iter().map(|document| (document.uuid.clone(), document)));
        self.announce(found).await;
        Ok(count)
    }

    /// Asks the list for the documents that would begin anew: the page that shows them may be stale. A list that
    /// ignores the question is believed. If the server fails at the question, a document is believed after several
    /// polls in a row showed it, as no page is stale for so long.
    pub(super) async fn confirm(&mut self) -> Result<(), PollError> {
        let doubtful = std::mem::take(&mut self.doubtful);
        if doubtful.is_empty() {
            return Ok(());
        }
        let uuids: Vec<DocumentUuid> = doubtful.keys().cloned().collect();
        let shown = self.ask(&uuids, false).await?;
        let write = self.context.edges.ledger.write(move |db| {
            let mut believed = Vec::new();
            for document in doubtful.into_values().filter(|document| !shown.says(&document.uuid)) {
                if shown.is_deaf || listed::could_not_ask(db, &document.uuid)? > POLLS_UNASKED {
                    believed.push(document);
                }
            }
            believed.extend(shown.items.into_values());
            Ok(believed)
        });
        let believed = write.await?;
        self.record_confirmed(believed).await?;
        Ok(self.read_corrected().await?)
    }

    /// Reads the documents whose patients the service may have corrected. Those that are too many, or that cannot be
    /// read now, are for the next poll.
    async fn read_corrected(&mut self) -> Result<(), LedgerError> {
        for id in std::mem::take(&mut self.unread).into_iter().take(LOOK_SIZE) {
            self.alive();
            if let Some(document) = self.context.edges.ledger.read(move |db| documents::by_number(db, id)).await? {
                latest::follow(&self.context.edges, &self.context.signals, &document).await?;
            }
        }
        Ok(())
    }

    async fn record_confirmed(&mut self, shown: Vec<Listed>) -> Result<(), LedgerError> {
        self.reader.confirmed = true;
        let recorded = self.record(shown, None).await;
        self.reader.confirmed = false;
        recorded.map(drop)
    }

    /// Takes over documents that wait for an account which is gone from the configuration, if this account sees them in
    /// its list or among the synchronized ones. If the server cannot be asked, nothing changes.
    pub(super) async fn adopt(&mut self) -> Result<(), PollError> {
        let configured: Vec<String> = self.context.edges.clients.keys().cloned().collect();
        let orphans = self.context.edges.ledger.read(move |db| listed::orphans(db, &configured, LOOK_SIZE)).await?;
        let asked: Vec<DocumentUuid> = orphans.iter().map(|(_, uuid)| uuid.clone()).collect();
        let (shown, synchronized) = self.ask_both(&asked).await?;
        self.record_confirmed(shown.items.into_values().collect()).await?;
        if synchronized.items.is_empty() {
            return Ok(());
        }
        let reader = self.reader.clone();
        let write = self.context.edges.ledger.write(move |db| {
            accounts::save_poll(db, &reader.account, reader.poll)?;
            let is_shown = |(_, uuid): &&(i64, DocumentUuid)| synchronized.items.contains_key(uuid);
            orphans.iter().filter(is_shown).try_for_each(|(id, _)| listed::adopt(db, *id, &reader, now()))
        });
        write.await.map_err(PollError::from)
    }

    async fn announce(&mut self, found: Vec<(DocumentUuid, Seen)>) {
        let (count, account) = (found.len() as u64, self.reader.account.clone());
        if count == 0 {
            return;
        }
        for (uuid, seen) in found {
            let mut event = "discovered";
            if let Seen::Reopened { event: begins, id, round, wait } = seen {
                event = begins.as_str();
                // Nobody needs the PDF of the round that has ended.
                self.context.edges.spool.remove(id, round).await;
                if wait > 0 {
                    let version = Version { account: account.clone(), uuid, pdf: String::new() };
                    TransitionLog::of(&version).retry_in(wait).warn(event, RENDERED_AGAIN);
                    continue;
                }
            }
            tracing::info!(event, account, document = %uuid, "{event} document {uuid} of {account}");
        }
        self.found += count;
        // The end of this poll ends the account's pause, and then wakes the stages.
        if self.context.edges.pauses.paused_until(&Scope::Account(account)).is_none() {
            self.context.signals.nudges.fetch.notify_one();
        }
        self.context.signals.observe(Progress::Found(count));
    }
}
