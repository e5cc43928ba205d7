//! The first whole reading of an account's list after the ledger was restored: what left the list since the backup was
//! brought to its end by what ran in between.

use super::{PollError, Walker};
use crate::api::LOOK_SIZE;
use crate::domain::document::DocumentUuid;
use crate::domain::state::State;
use crate::ledger::listed::Read;
use crate::ledger::restored::{self, Unread};
use crate::ledger::{Millis, now};
use crate::pipeline::Progress;
use crate::pipeline::transition_log::TransitionLog;

impl Walker<'_> {
    /// Ends the open documents that are not in the list, and lets the account go on. An empty list counts when it was
    /// so twice, a poll apart, or if other lists show that the documents have left it. Where the server failed at a
    /// part of the list, a document ends only if the list was asked for it, too.
    ///
    /// # Errors
    /// Any error of the API or of the ledger. The account does not go on then.
    pub(super) async fn catch_up(&mut self, read: Read, unread: Unread) -> Result<(), PollError> {
        let Read::Whole(poll) = read else { return Ok(()) };
        let apart =
            Millis::try_from(self.context.rules.limits.poll_interval.as_millis()).unwrap_or(Millis::MAX) / 4 * 3;
        let believes = self.any || unread.was_empty(apart, now());
        let (mut after, mut is_decided) = (0, true);
        loop {
            let name = self.reader.account.clone();
            let missed =
                self.context.edges.ledger.read(move |db| restored::not_shown(db, &name, poll, after, 8 * LOOK_SIZE));
            let missed = missed.await?;
            let Some((last, _)) = missed.last() else { break };
            after = *last;
            let uuids: Vec<DocumentUuid> = missed.iter().map(|(_, uuid)| uuid.clone()).collect();
            let (shown, synchronized) = self.ask_both(&uuids).await?;
            let is_partial = self.is_partial;
            let is_absent = move |uuid: &DocumentUuid| {
                shown.absent.contains(uuid) || !is_partial && !shown.items.contains_key(uuid)
            };
            let (absent, _): (Vec<_>, Vec<_>) = missed.into_iter().partition(|(_, uuid)| is_absent(uuid));
            let (sure, unsure): (Vec<_>, Vec<_>) =
                absent.into_iter().partition(|(_, uuid)| believes || synchronized.items.contains_key(uuid));
            is_decided &= unsure.is_empty();
            self.settle(sure).await?;
        }
        let name = self.reader.account.clone();
        let write = self.context.edges.ledger.write(move |db| match is_decided {
            true => restored::was_read(db, &name, &unread),
            false => restored::was_empty(db, &name, &unread, now()),
        });
        Ok(write.await?)
    }

    async fn settle(&self, documents: Vec<(i64, DocumentUuid)>) -> Result<(), PollError> {
        let write = self.context.edges.ledger.write(move |db| {
            let settled = documents.into_iter().map(|(id, _)| restored::settle(db, id, now()));
            settled.collect::<Result<Vec<_>, _>>()
        });
        for document in write.await?.into_iter().flatten() {
            self.context.edges.spool.remove(document.id, document.round).await;
            TransitionLog::of(&document.version).info("settled_elsewhere");
            let (uuid, account) = (document.version.uuid, document.version.account);
            self.context.signals.observe(Progress::Moved { uuid, account, state: State::Reported, reason: None });
        }
        Ok(())
    }
}
