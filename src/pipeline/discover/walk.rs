//! Walks over an account's list: by key where the server filters and orders by date, by page numbers where it does not.
//!
//! Documents leave the list while it is read, since they are reported meanwhile, so what was on page 3 may be on page 2
//! when page 3 is read. Where page numbers have to be used, and a report was under way, the pages are read once more
//! from the last to the first: a document only ever moves towards the first, so none can slip through that way.

use std::cmp::Ordering as Order;
use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use super::PollError;
use super::dates::{compare, is_after, unsuitable};
use crate::api::{Api, ApiError, ListItem, ListQuery, Page};
use crate::document::DocumentUuid;
use crate::ledger::accounts::{self, Walk};
use crate::ledger::listed::{self, Listed, Seen};
use crate::ledger::{LedgerError, Millis, now};
use crate::pipeline::{Context, Progress, ReportMark};

/// Requests of one walk at most: ten million documents. A server that shows ever new ones must not keep us for ever.
const MAX_REQUESTS: usize = 100_000;

/// Pages without any readable document that are read in one pass: a server that ignores page numbers shows the same one
/// for ever.
const MAX_BLIND_PAGES: usize = 100;

/// Which list, read for what.
pub(super) struct Walker<'a> {
    context: &'a Context,
    client: &'a dyn Api,
    account: &'a str,
    /// The number of the sweep that this walk belongs to.
    pub(super) sweep: i64,
    requests: usize,
    /// Whether elements were shown that nobody can tell apart: then absence says nothing.
    unreadable: bool,
    /// Documents that came in so far.
    pub(super) found: u64,
    unordered: bool,
}

/// How a walk by key ended.
pub(super) enum Walked {
    /// The end of the list was reached; `proven`: and the server was seen to leave out what is older.
    Whole { proven: bool },
    /// The server does not filter or order by date as the walk needs it.
    Impossible(&'static str),
}

impl<'a> Walker<'a> {
    pub(super) fn new(context: &'a Context, client: &'a dyn Api, account: &'a str, sweep: i64) -> Self {
        Self { context, client, account, sweep, requests: 0, unreadable: false, found: 0, unordered: false }
    }

    async fn list(&mut self, since: Option<&str>, page: usize) -> Result<Page, ApiError> {
        self.requests += 1;
        super::alive(self.context, self.account, Duration::ZERO);
        if self.requests > MAX_REQUESTS {
            return Err(ApiError::Shape(format!("the list has no end after {MAX_REQUESTS} pages")));
        }
        let query =
            ListQuery { since: since.map(str::to_owned), page, unordered: self.unordered, ..ListQuery::default() };
        let page = self.client.list(&query).await?;
        if page.unreadable > 0 {
            self.unreadable = true;
            let (account, unreadable) = (self.account, page.unreadable);
            tracing::warn!(
                event = "unreadable",
                account,
                unreadable,
                "the list shows documents without an identifier that can be used"
            );
        }
        Ok(page)
    }

    /// Writes a page to the ledger, with the cursor that it brings in the same transaction. Returns how many of its
    /// documents were new or reopened.
    async fn record(&mut self, items: &[ListItem], cursor: Option<&str>) -> Result<u64, LedgerError> {
        if items.is_empty() {
            return Ok(0);
        }
        let shown: Vec<Listed> = items
            .iter()
            .map(|item| Listed {
                uuid: item.uuid.clone(),
                created_at: item.created_at.clone(),
                kind: item.kind.clone(),
                pdf: item.pdf.clone(),
            })
            .collect();
        let (account, sweep, cursor) = (self.account.to_owned(), self.sweep, cursor.map(str::to_owned));
        let write = self.context.ledger.write(move |db| {
            let mut found = Vec::new();
            for document in &shown {
                let seen = listed::see(db, &account, document, sweep, now())?;
                if seen != Seen::Known {
                    found.push((document.uuid.clone(), seen));
                }
            }
            if let Some(cursor) = cursor {
                let stored = accounts::progress(db, &account)?.cursor;
                // A sweep begins at the start of the list: it must not draw the cursor back.
                let back = |stored| matches!(compare(stored, &cursor), Some(Order::Equal | Order::Greater));
                if !stored.as_deref().is_some_and(back) {
                    accounts::save_cursor(db, &account, &cursor)?;
                }
            }
            Ok(found)
        });
        let found = write.await?;
        let count = found.len() as u64;
        self.announce(found).await;
        Ok(count)
    }

    async fn announce(&mut self, found: Vec<(DocumentUuid, Seen)>) {
        let count = found.len() as u64;
        if count == 0 {
            return;
        }
        for (uuid, seen) in found {
            let event = match seen {
                Seen::Reopened { event, id, round } => {
                    // What was fetched for the round that ended is nobody's any more.
                    self.context.spool.remove(id, round).await;
                    event.as_str()
                }
                Seen::New | Seen::Known => "discovered",
            };
            let account = self.account;
            tracing::info!(event, account, document = %uuid, "{event} document {uuid} of {account}");
        }
        self.found += count;
        self.context.nudges.fetch.notify_one();
        self.context.observe(Progress::Found(count));
    }

    /// Walks from `since`, or from the beginning.
    pub(super) async fn by_key(&mut self, mut since: Option<String>) -> Result<Walked, PollError> {
        let began = self.context.reports.mark();
        let (mut older_shown, mut proven) = (false, false);
        loop {
            let mark = self.context.reports.mark();
            let page = match self.list(since.as_deref(), 1).await {
                Ok(page) => page,
                Err(ApiError::Status { status: 400 | 422, .. }) => {
                    return Ok(Walked::Impossible("the API refuses the date filter or the order"));
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(why) = unsuitable(since.as_deref(), &page.items) {
                self.record(&page.items, None).await?;
                return Ok(Walked::Impossible(why));
            }
            if page.items.is_empty() && page.unreadable > 0 {
                return Ok(Walked::Impossible(
                    "the list shows a page of documents without an identifier that can be used",
                ));
            }
            let (first, last) = match page.items.as_slice() {
                [] => return Ok(Walked::Whole { proven }),
                [first, ..] => (first.created_at.clone(), page.items.last().map_or("", |item| &item.created_at)),
            };
            // There are older documents, none of them has left, and none was shown: the filter is what kept them back.
            proven |= older_shown && self.context.reports.none_since(began);
            older_shown |= first != last;
            // A date in the future must not hide what is created until then.
            let past = |item: &&ListItem| {
                !is_after(&item.created_at, Timestamp::from_millisecond(now()).unwrap_or(Timestamp::MAX))
            };
            let covered = page.items.iter().rev().find(past).map(|item| item.created_at.as_str());
            self.record(&page.items, covered).await?;
            let last = last.to_owned();
            if since.as_ref() == Some(&last) {
                match self.within(&last, page.items, mark).await? {
                    None => return Ok(Walked::Whole { proven }),
                    next => since = next,
                }
            } else {
                since = Some(last);
            }
        }
    }

    /// Reads the further pages of one timestamp, `first` being the first, read after `mark`. Returns the next timestamp,
    /// or `None` at the end of the list.
    async fn within(
        &mut self,
        key: &str,
        first: Vec<ListItem>,
        mut mark: ReportMark,
    ) -> Result<Option<String>, PollError> {
        let mut first = Some(first);
        loop {
            let climbed = self.climb(Some(key), first.take()).await?;
            let quiet = self.context.reports.none_since(mark);
            // The first page shows the next timestamp, or nothing: no later page was read from which one could slip.
            if climbed.pages == 0 {
                return Ok(climbed.next);
            }
            let mut new = climbed.new;
            if !quiet {
                new += self.descend(Some(key), climbed.pages).await?;
            }
            if new == 0 || (quiet && climbed.pages == 1) {
                return Ok(climbed.next);
            }
            mark = self.context.reports.mark();
        }
    }

    /// Reads the whole list by page numbers until a pass finds nothing new. Returns whether no report was under way
    /// during the last one, so that what it did not show is not listed.
    pub(super) async fn by_pages(&mut self) -> Result<bool, PollError> {
        loop {
            let mark = self.context.reports.mark();
            let climbed = self.climb(None, None).await?;
            let quiet = self.context.reports.none_since(mark);
            let mut new = climbed.new;
            if !quiet {
                new += self.descend(None, climbed.pages).await?;
            }
            if new == 0 {
                return Ok(quiet);
            }
        }
    }

    /// Reads pages from the first on: those of one timestamp, or of the whole list. `first` is the first page, where it
    /// was read already.
    async fn climb(&mut self, key: Option<&str>, mut first: Option<Vec<ListItem>>) -> Result<Climbed, PollError> {
        // Only the page before is remembered: a list may be longer than memory is large.
        let (mut before, mut new, mut pages, mut blind) = (HashSet::new(), 0, 0, 0);
        loop {
            let Page { items, unreadable } = match first.take() {
                Some(items) => Page { items, unreadable: 0 },
                None => self.page(key, pages + 1).await?,
            };
            // Nothing to be told apart, and not the end: what can be read may stand on the next page.
            if items.is_empty() && unreadable > 0 && blind < MAX_BLIND_PAGES {
                (pages, blind) = (pages + 1, blind + 1);
                continue;
            }
            let shown: HashSet<DocumentUuid> = items.iter().map(|item| item.uuid.clone()).collect();
            // Empty: the end. The page before once more: the server ignores page numbers, or has no more of them.
            if shown.is_subset(&before) {
                return Ok(Climbed { new, pages, next: None });
            }
            before = shown;
            // No cursor: it would cover documents that slipped from a page to the one before it.
            new += self.record(&items, None).await?;
            let last = items.last().map(|item| item.created_at.clone());
            if key.is_some() && last.as_deref() != key {
                return Ok(Climbed { new, pages, next: last });
            }
            pages += 1;
        }
    }

    /// Reads the pages once more, from this one to the first. Returns how many of their documents were new.
    async fn descend(&mut self, key: Option<&str>, from: usize) -> Result<u64, PollError> {
        let mut new = 0;
        for page in (1..=from).rev() {
            let items = self.page(key, page).await?.items;
            new += self.record(&items, None).await?;
        }
        Ok(new)
    }

    async fn page(&mut self, since: Option<&str>, number: usize) -> Result<Page, ApiError> {
        match self.list(since, number).await {
            Err(ApiError::Status { status: 400 | 422, .. }) if since.is_none() && !self.unordered => {
                self.unordered = true;
                self.list(since, number).await
            }
            other => other,
        }
    }

    /// Remembers whether the walk by key works, and says so once when that changes. A list that is short enough to be
    /// read without the filter says nothing about it.
    pub(super) async fn remember(&self, walked: &Walked) -> Result<(), LedgerError> {
        let (account, walk) = match walked {
            Walked::Whole { proven: false } => return Ok(()),
            Walked::Whole { proven: true } => (self.account.to_owned(), Walk::Key),
            Walked::Impossible(_) => (self.account.to_owned(), Walk::Pages),
        };
        if self.context.ledger.write(move |db| accounts::save_walk(db, &account, walk)).await? {
            let account = self.account;
            match walked {
                Walked::Whole { .. } => {
                    tracing::info!(event = "walk_by_key", account, "the date filter of the API works again");
                }
                Walked::Impossible(why) => {
                    tracing::warn!(
                        event = "walk_by_pages",
                        account,
                        reason = why,
                        "{why}: each poll reads the whole list"
                    );
                }
            }
        }
        Ok(())
    }

    /// Books a sweep that came to its end. Absence from it is believed only when no page can have shifted.
    pub(super) async fn end_sweep(&self, began: Millis, quiet: bool, regular: bool) -> Result<(), LedgerError> {
        let (account, sweep) = (self.account.to_owned(), self.sweep);
        let believed = quiet && !self.unreadable;
        self.context
            .ledger
            .write(move |db| {
                if believed {
                    listed::mark_unlisted(db, &account, sweep, began)?;
                }
                if regular { accounts::end_sweep(db, &account, now()) } else { Ok(()) }
            })
            .await
    }
}

/// What reading pages upwards found.
struct Climbed {
    /// Documents that were new or reopened.
    new: u64,
    /// Pages that hold nothing but the timestamp that was asked for.
    pages: usize,
    /// The next timestamp, unless the end of the list came first.
    next: Option<String>,
}
