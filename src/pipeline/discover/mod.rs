//! discover: reads an account's list of unsynchronized documents into the ledger.
//!
//! Reported documents leave that list, so it is short, and every poll reads all of it, by page numbers, oldest first.
//! Of a list of more than five pages each poll reads the oldest five pages, the new documents at the newest end, and
//! five more pages at the cursor. The cursor goes round through the whole list, and is kept in the ledger. A document
//! that slips from one page to another meanwhile drifts to the oldest end, and is found there. The reading goes on
//! while pages bring something new, so that a backlog is known at once.
//!
//! Reading only adds documents. If the list should show a document and does not, it is asked for that document: twice,
//! a poll apart. The list is also asked before a document that has ended begins anew.

mod looks;
mod parts;
mod restored;
mod shown;
mod walk;

use super::Context;
use crate::api::{Api, ApiError, Order};
use crate::ledger::LedgerError;
use crate::ledger::accounts::{self, Cursor};
use crate::ledger::listed::Read;
use crate::ledger::restored::unread;
use walk::Walker;

/// Every poll reads a list of up to this many pages whole. Of a longer list it reads this many of the oldest pages, and
/// as many at the cursor.
const FEW_PAGES: usize = 5;

/// Why a poll ended early.
#[derive(Debug, thiserror::Error)]
pub enum PollError {
    /// The API failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// What a poll found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Polled {
    /// How many documents were new or reopened.
    pub found: u64,
    /// Whether the whole list has been read, in this poll or over several.
    pub swept: bool,
}

/// Reads the account's list: all of it if it is short or `whole` is set, otherwise its two ends and a part of the rest.
/// Then asks for the documents that the list did not show. A poll that finds nothing new writes nothing.
///
/// # Errors
/// Any error of the API or of the ledger.
pub async fn poll(context: &Context, account: &str, whole: bool) -> Result<Polled, PollError> {
    let Some(client) = context.edges.clients.get(account) else { return Ok(Polled::default()) };
    let name = account.to_owned();
    let progress = context.edges.ledger.write(move |db| Ok((accounts::progress(db, &name)?, unread(db, &name)?)));
    let (progress, unread) = progress.await?;
    let whole = whole || unread.is_some();
    let mut walker = Walker::new(context, client.as_ref(), account, progress.poll + 1);
    let mut read = read_list(&mut walker, progress.cursor, whole).await;
    if let Err(PollError::Api(ApiError::Status { status: 400 | 422, .. })) = &read
        && !walker.is_unordered
    {
        // Ordered and unordered pages are pages of two different lists, so the reading begins again.
        walker.is_unordered = true;
        read = read_list(&mut walker, progress.cursor, whole).await;
    }
    let read = read?;
    let swept = matches!(read, Read::Whole(_));
    if swept {
        let name = account.to_owned();
        context.edges.ledger.write(move |db| accounts::save_cursor(db, &name, None)).await?;
    }
    walker.confirm().await?;
    if let Some(unread) = unread {
        walker.catch_up(read, unread).await?;
    }
    // These looks only help: if the API fails at one, the poll is good all the same.
    for looked in [walker.look_for_absent(read).await, walker.adopt().await] {
        match looked {
            Err(PollError::Api(error)) => tracing::debug!(event = "look_failed", account, "{error}"),
            looked => looked?,
        }
    }
    Ok(Polled { found: walker.found, swept })
}

async fn read_list(walker: &mut Walker<'_>, cursor: Option<Cursor>, whole: bool) -> Result<Read, PollError> {
    let number = walker.reader.poll;
    // Without a cursor, the cursor sets out in this poll.
    let since = cursor.is_none().then_some(number);
    if walker.pages(Order::OldestFirst, 1, if whole { usize::MAX } else { FEW_PAGES }, since).await? {
        return Ok(Read::Whole(number));
    }
    walker.pages(Order::NewestFirst, 1, 0, None).await?;
    let Some((page, since)) = cursor else { return Ok(Read::Part(number)) };
    let is_end = walker.pages(Order::OldestFirst, page, FEW_PAGES - 1, Some(since)).await?;
    Ok(if is_end { Read::Whole(since) } else { Read::Part(number) })
}

/// Looks once whether reported documents have left the list.
///
/// # Errors
/// Any error of the API or of the ledger.
pub async fn look_for_ended(context: &Context, client: &dyn Api, account: &str) -> Result<(), PollError> {
    Walker::new(context, client, account, 0).look_for_absent(Read::Part(i64::MAX)).await
}
