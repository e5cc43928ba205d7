//! Documents that the list does not show although it should: the list is asked for them by their identifiers. That they
//! have left it takes two such looks, a poll apart.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;

use super::halves::Halves;
use super::{PollError, alive};
use crate::api::{Api, ApiError, ListQuery, Listed, Meaning};
use crate::document::{DocumentUuid, Version};
use crate::ledger::listed::{self, Absence, Left, Read, WITHDRAWN};
use crate::ledger::{Millis, now};
use crate::pipeline::failure::begins_anew;
use crate::pipeline::transition_log::TransitionLog;
use crate::pipeline::{Context, Progress};
use crate::state::State;

/// Documents that are asked for at once: their identifiers, in one address, must not be longer than servers take.
pub const LOOK_SIZE: usize = 50;
/// So many such questions are under way at a time, and no more than `sync.max_concurrency`.
const LOOKS_AT_ONCE: usize = 8;

/// What the list shows of the documents that it was asked for.
#[derive(Default)]
pub struct Shown {
    pub(super) items: Vec<Listed>,
    /// Which those are.
    has: HashSet<DocumentUuid>,
    /// Whether those that it does not show are not in it.
    pub all: bool,
    /// It shows others than those asked for: it ignores what it is asked for.
    pub(super) others: bool,
}

impl Shown {
    /// Whether it shows this one.
    pub fn has(&self, uuid: &DocumentUuid) -> bool {
        self.has.contains(uuid)
    }

    /// The PDF that it shows of this document.
    fn pdf(&self, uuid: &DocumentUuid) -> Option<&str> {
        self.items.iter().find(|item| item.uuid == *uuid)?.pdf.as_deref()
    }
}

/// Looks for the documents that the list, as far as it was `read`, did not show. `others`: it showed some documents.
///
/// # Errors
/// Any error of the API or of the ledger.
pub async fn look_for_absent(
    context: &Context,
    client: &dyn Api,
    account: &str,
    read: Read,
    others: bool,
) -> Result<(), PollError> {
    let (mut after, mut answered, mut hopeless) = (0, false, 0);
    loop {
        let name = account.to_owned();
        let limit = LOOK_SIZE * LOOKS_AT_ONCE.min(context.limits.max_concurrency);
        let missed = context.ledger.read(move |db| listed::not_shown(db, &name, read, after, limit)).await?;
        let Some((last, _)) = missed.last() else { return Ok(()) };
        after = *last;
        let parts = missed.chunks(LOOK_SIZE).map(<[_]>::to_vec);
        let looks = parts.map(|part| look_for(context, client, account, part, others));
        // Each goes on to its end, whatever becomes of the others: what it learned is written, and told.
        for looked in join_all(looks).await {
            match looked? {
                Looked::Answered => answered = true,
                Looked::Hopeless => hopeless += 1,
                Looked::Ignored => return Ok(()),
            }
        }
        if !answered && hopeless >= LOOKS_AT_ONCE {
            return Ok(());
        }
    }
}

/// How the server answers when it is asked for documents.
enum Looked {
    /// For some of them at least.
    Answered,
    /// It failed, whatever it was asked for.
    Hopeless,
    /// It ignores what it is asked for: nothing can be known.
    Ignored,
}

/// What is said of the account or the whole API, and not of what the list was asked for.
pub(super) fn ends_the_poll(error: &ApiError) -> bool {
    matches!(error.meaning(), Meaning::NeedsLogin | Meaning::Origin)
}

/// Looks for these, in halves where the server fails at one of them.
async fn look_for(
    context: &Context,
    client: &dyn Api,
    account: &str,
    missed: Vec<(i64, DocumentUuid)>,
    others: bool,
) -> Result<Looked, PollError> {
    let mut parts = Halves::of(missed, now());
    while let Some(part) = parts.next() {
        let asked: Vec<DocumentUuid> = part.iter().map(|(_, uuid)| uuid.clone()).collect();
        alive(context, account, Duration::ZERO);
        let shown = match look(client, &asked, false).await {
            Ok(shown) => shown,
            Err(error) if ends_the_poll(&error) => return Err(error.into()),
            Err(error) => {
                parts.failed(part, error.status().is_none());
                if parts.is_hopeless() {
                    return Ok(Looked::Hopeless);
                }
                continue;
            }
        };
        if !shown.all && shown.others {
            return Ok(Looked::Ignored);
        }
        parts.answered();
        let absent: Vec<DocumentUuid> = asked.into_iter().filter(|uuid| shown.all && !shown.has(uuid)).collect();
        let synchronized = match absent.as_slice() {
            [] => Shown::default(),
            // It is a help: where the API fails at it, others in the list may prove the same.
            absent => look(client, absent, true).await.unwrap_or_default(),
        };
        let apart = Millis::try_from(context.limits.poll_interval.as_millis()).unwrap_or(Millis::MAX);
        // Polls are spread a little around their interval.
        let apart = apart / 4 * 3;
        let others = others || !shown.items.is_empty();
        let write = context.ledger.write(move |db| {
            let (mut withdrawn, mut doubtful, mut anew) = (Vec::new(), Vec::new(), Vec::new());
            for (id, uuid) in part {
                if shown.has(&uuid) {
                    listed::present(db, id)?;
                } else if shown.all {
                    let absence = Absence { synchronized: synchronized.has(&uuid), others, apart };
                    match listed::absent(db, id, absence, now())? {
                        Left::Withdrawn => withdrawn.push(uuid),
                        Left::Doubtful => doubtful.push((id, uuid)),
                        Left::Undecided | Left::Ended => {
                            if let Some(pdf) = synchronized.pdf(&uuid) {
                                anew.extend(listed::ended_with_another(db, id, pdf, now())?);
                            }
                        }
                    }
                }
            }
            Ok((withdrawn, doubtful, anew))
        });
        let (withdrawn, doubtful, anew) = write.await?;
        withdrawn.into_iter().for_each(|uuid| say_withdrawn(context, account, uuid));
        for (document, state, wait) in anew {
            begins_anew(context, &document, Some((state, wait))).await;
        }
        for (id, uuid) in doubtful {
            alive(context, account, Duration::ZERO);
            if is_gone(context, client, id, &uuid).await? {
                say_withdrawn(context, account, uuid);
            }
        }
    }
    Ok(Looked::Answered)
}

fn say_withdrawn(context: &Context, account: &str, uuid: DocumentUuid) {
    let version = Version { account: account.to_owned(), uuid: uuid.clone(), pdf: String::new() };
    TransitionLog::of(&version).warn("withdrawn", WITHDRAWN);
    context.observe(Progress::Moved {
        uuid,
        account: account.to_owned(),
        state: State::Withdrawn,
        reason: Some(WITHDRAWN.to_owned()),
    });
}

/// Whether the API does not know the document, which is withdrawn then.
async fn is_gone(context: &Context, client: &dyn Api, id: i64, uuid: &DocumentUuid) -> Result<bool, PollError> {
    let left = match client.document(uuid).await {
        Ok(detail) if detail.is_of(uuid) => {
            context.ledger.write(move |db| listed::is_there(db, id)).await?;
            Left::Undecided
        }
        Err(error) if matches!(error.status(), Some(404 | 410)) => {
            context.ledger.write(move |db| listed::is_gone(db, id, now())).await?
        }
        Err(error) if ends_the_poll(&error) => return Err(error.into()),
        Ok(_) | Err(_) => Left::Undecided,
    };
    Ok(left == Left::Withdrawn)
}

/// Asks the list for these documents.
///
/// # Errors
/// [`ApiError`]
pub async fn look(client: &dyn Api, asked: &[DocumentUuid], synchronized: bool) -> Result<Shown, ApiError> {
    let mut shown = Shown::default();
    let wanted: HashSet<&DocumentUuid> = asked.iter().collect();
    // Each page but the last shows at least one more of them.
    for page in 1..=asked.len() + 1 {
        let query = ListQuery { page, uuids: asked.to_vec(), synchronized, ..ListQuery::default() };
        let found = client.list(&query).await?;
        if found.is_empty() {
            shown.all = true;
            break;
        }
        let before = shown.items.len();
        shown.others = found.unreadable > 0 || found.items.iter().any(|item| !wanted.contains(&item.uuid));
        for item in found.items.into_iter().filter(|item| wanted.contains(&item.uuid)) {
            if shown.has.insert(item.uuid.clone()) {
                shown.items.push(item);
            }
        }
        shown.all = shown.items.len() == wanted.len();
        // Nothing more than before: it ignores page numbers.
        if shown.all || shown.others || shown.items.len() == before {
            break;
        }
    }
    Ok(shown)
}
