//! Asks the list for documents by their identifiers: for documents that it should show and does not, and for documents
//! that would begin anew, as a page may be stale. Only two such looks, a poll apart, show that a document has left the
//! list.

use futures_util::future::join_all;
use rusqlite::Connection;

use super::parts::Parts;
use super::{PollError, Walker};
use crate::api::{ApiError, LOOK_SIZE, Meaning, Shown, look};
use crate::domain::document::DocumentUuid;
use crate::domain::state::State;
use crate::ledger::documents::{self, Document};
use crate::ledger::listed::{self, Absence, Left, Read, WITHDRAWN};
use crate::ledger::{Millis, now};
use crate::pipeline::Context;
use crate::pipeline::failures::{begins_anew, moved};
use crate::pipeline::transition_log::TransitionLog;

/// Whether the error is about the account or the whole API, and not about what the list was asked for.
pub(super) fn ends_the_poll(error: &ApiError) -> bool {
    matches!(error.meaning(), Meaning::NeedsLogin | Meaning::Origin)
}

impl Walker<'_> {
    /// Asks the list for these documents, however many, and steps over those at which the server fails.
    ///
    /// # Errors
    /// An [`ApiError`] that ends the poll.
    pub(super) async fn ask(&self, uuids: &[DocumentUuid], synchronized: bool) -> Result<Shown, ApiError> {
        let (mut parts, mut all) = (Parts::of(uuids, LOOK_SIZE, now()), Shown::default());
        // Side by side once the server has answered, and one after the other again once it fails.
        let mut at_once = 1;
        while !all.is_deaf {
            let together: Vec<_> = std::iter::from_fn(|| parts.next()).take(at_once).collect();
            if together.is_empty() {
                break;
            }
            self.alive();
            let answers = join_all(together.iter().map(|part| look(self.client, part, synchronized))).await;
            for (part, answer) in together.iter().zip(answers) {
                match answer {
                    Ok(shown) => {
                        parts.answered();
                        at_once = self.context.rules.limits.max_concurrency;
                        all.add(shown);
                    }
                    Err(error) if ends_the_poll(&error) => return Err(error),
                    Err(error) => {
                        tracing::debug!(event = "look_failed", account = self.reader.account, "{error}");
                        parts.failed(part, error.status().is_none());
                        at_once = 1;
                    }
                }
            }
        }
        Ok(all)
    }

    /// Asks both lists for these documents. The list of synchronized documents only helps: if the API fails at it, it
    /// counts as empty.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(super) async fn ask_both(&self, uuids: &[DocumentUuid]) -> Result<(Shown, Shown), ApiError> {
        let shown = self.ask(uuids, false).await?;
        let absent: Vec<DocumentUuid> = shown.absent.iter().cloned().collect();
        let synchronized = self.ask(&absent, true).await.unwrap_or_default();
        Ok((shown, synchronized))
    }

    /// Looks for the documents that the list did not show, as far as it was `read`.
    ///
    /// # Errors
    /// Any error of the API or of the ledger.
    pub(super) async fn look_for_absent(&self, read: Read) -> Result<(), PollError> {
        let Context { edges, rules, signals } = self.context;
        // Polls vary a little around their interval.
        let apart = Millis::try_from(rules.limits.poll_interval.as_millis()).unwrap_or(Millis::MAX) / 4 * 3;
        let mut after = 0;
        loop {
            let name = self.reader.account.clone();
            let missed = edges.ledger.read(move |db| listed::not_shown(db, &name, read, after, 8 * LOOK_SIZE)).await?;
            let Some((last, _)) = missed.last() else { return Ok(()) };
            after = *last;
            let uuids: Vec<DocumentUuid> = missed.iter().map(|(_, uuid)| uuid.clone()).collect();
            let (shown, synchronized) = self.ask_both(&uuids).await?;
            if shown.is_deaf || !uuids.iter().any(|uuid| shown.says(uuid)) {
                return Ok(());
            }
            let others = self.any || !shown.items.is_empty();
            let write = edges.ledger.write(move |db| {
                let (mut withdrawn, mut doubtful, mut anew) = (Vec::new(), Vec::new(), Vec::new());
                for (id, uuid) in missed {
                    if shown.items.contains_key(&uuid) {
                        listed::present(db, id)?;
                    }
                    if !shown.absent.contains(&uuid) {
                        continue;
                    }
                    let reported = synchronized.items.get(&uuid);
                    let absence = Absence { synchronized: reported.is_some(), others, apart };
                    match listed::absent(db, id, absence, now())? {
                        Left::Withdrawn => withdrawn.extend(documents::by_number(db, id)?),
                        Left::Doubtful => doubtful.push((id, uuid)),
                        Left::Undecided | Left::Ended => {
                            if let Some(pdf) = reported.and_then(|item| item.pdf.as_deref()) {
                                anew.extend(listed::ended_with_another(db, id, pdf, now())?);
                            }
                        }
                    }
                }
                Ok((withdrawn, doubtful, anew))
            });
            let (withdrawn, doubtful, anew) = write.await?;
            for document in withdrawn {
                self.withdrew(&document).await;
            }
            for (document, state, wait) in anew {
                begins_anew(edges, signals, &document, Some((state, wait))).await;
            }
            for (id, uuid) in doubtful {
                self.alive();
                if let Some(document) = self.gone(id, &uuid).await? {
                    self.withdrew(&document).await;
                }
            }
        }
    }

    /// Follows the withdrawal of the document.
    async fn withdrew(&self, document: &Document) {
        let Context { edges, signals, .. } = self.context;
        TransitionLog::of(&document.version).warn("withdrawn", WITHDRAWN);
        moved(edges, signals, document, Some(State::Withdrawn), Some(WITHDRAWN)).await;
    }

    /// Reads the document. If the API does not know it, the document is withdrawn and returned.
    async fn gone(&self, id: i64, uuid: &DocumentUuid) -> Result<Option<Document>, PollError> {
        let ledger = &self.context.edges.ledger;
        match self.client.document(uuid).await {
            Ok(detail) if detail.is_of(uuid) => ledger.write(move |db| listed::is_there(db, id)).await?,
            Err(error) if matches!(error.status(), Some(404 | 410)) => {
                let write = move |db: &Connection| match listed::is_gone(db, id, now())? {
                    Left::Withdrawn => documents::by_number(db, id),
                    Left::Undecided | Left::Ended | Left::Doubtful => Ok(None),
                };
                return Ok(ledger.write(write).await?);
            }
            Err(error) if ends_the_poll(&error) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        Ok(None)
    }
}
