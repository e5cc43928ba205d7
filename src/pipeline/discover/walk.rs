//! Reads the pages of an account's list into the ledger.
//!
//! While the list is read, documents are reported and leave it, so a document of page 3 may be on page 2 when page 3 is
//! read. If a report was under way, the pages are read once more, from the last to the first: a document only ever
//! moves towards the first page, so none slips through that way.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::parts::{FEW, Parts};
use super::{FEW_PAGES, PollError};
use crate::api::{Api, ApiError, ListQuery, Listed, Order, PAGE_SIZE, Page};
use crate::domain::document::DocumentUuid;
use crate::domain::failure::Scope;
use crate::ledger::listed::Reader;
use crate::ledger::now;
use crate::pipeline::{Context, Progress, after};

/// The most pages that one reading takes: ten million documents. A server that shows ever new documents must not keep
/// docsyncd reading for ever.
const MAX_PAGES: usize = 100_000;

/// Why a listed document cannot be told from others.
const UNREADABLE: &str = "without an identifier that can be used";

/// Which list is read, and for what.
pub(super) struct Walker<'a> {
    pub(super) context: &'a Context,
    pub(super) client: &'a dyn Api,
    pub(super) reader: Reader,
    /// The length of the longest page so far.
    page_size: usize,
    /// How many documents were new or reopened so far.
    pub(super) found: u64,
    /// Whether the list showed any document.
    pub(super) any: bool,
    /// Documents that have ended, and that would begin anew by what the list shows, or have to be read.
    pub(super) doubtful: BTreeMap<DocumentUuid, Listed>,
    /// The numbers of the documents that have to be read.
    pub(super) unread: Vec<i64>,
    /// Whether the server refuses ordered lists.
    pub(super) is_unordered: bool,
    /// Whether the list may hold documents that it did not show.
    pub(super) is_partial: bool,
}

impl<'a> Walker<'a> {
    pub(super) fn new(context: &'a Context, client: &'a dyn Api, account: &str, poll: i64) -> Self {
        let is_open = |scope| context.edges.pauses.paused_until(&scope).is_none();
        let works = |name: &&String| is_open(Scope::Account((*name).clone()));
        let scopes = |name: &String| [Scope::Account, Scope::Fetch, Scope::Report].map(|of| of(name.clone()));
        let working: Vec<String> = context.edges.clients.keys().filter(works).cloned().collect();
        let paused = context.edges.clients.keys().flat_map(scopes).filter(|scope| !is_open(scope.clone())).collect();
        let draft_wait = after(0, context.rules.limits.reconcile_interval);
        let account = account.to_owned();
        let reader = Reader { account, working, paused, poll, confirmed: false, draft_wait };
        Self {
            context,
            client,
            reader,
            page_size: 0,
            found: 0,
            any: false,
            doubtful: BTreeMap::new(),
            unread: Vec::new(),
            is_unordered: false,
            is_partial: false,
        }
    }

    /// Tells the heartbeats that the poll goes on.
    pub(super) fn alive(&self) {
        self.context.signals.heartbeats.poll(&self.reader.account, Duration::ZERO);
    }

    /// Reads at least `least` further pages after `first`, and more while they bring something new. `since` is the poll
    /// at which the cursor set out; with it, the cursor moves along with the pages. Returns whether the end of the list
    /// was reached.
    pub(super) async fn pages(
        &mut self,
        order: Order,
        first: usize,
        least: usize,
        since: Option<i64>,
    ) -> Result<bool, PollError> {
        let reports_ended = self.context.signals.reports_ended.load(Ordering::SeqCst);
        // Only the previous page is remembered: a list may be larger than memory.
        let (mut before, mut repeated, mut number) = (HashSet::new(), 0, first);
        let is_end = loop {
            if number - first > MAX_PAGES {
                return Err(ApiError::Shape(format!("the list has no end after {MAX_PAGES} pages")).into());
            }
            let Page { items, unreadable } = self.page(order, number).await?;
            let shown: HashSet<DocumentUuid> = items.iter().map(|item| item.uuid.clone()).collect();
            // If no document is new against the previous page, then so many came in between that they moved that page
            // here, or the documents cannot be told apart. If that happens twice, the server ignores page numbers. A
            // page without any document is the end.
            repeated = if shown.is_subset(&before) { repeated + 1 } else { 0 };
            let is_end = items.is_empty() && unreadable == 0 || repeated > 1;
            before = shown;
            let cursor = since.filter(|_| number > FEW_PAGES).map(|since| (number + 1, since));
            if is_end || self.record(items, cursor).await? == 0 && number - first >= least {
                break is_end;
            }
            number += 1;
        };
        if self.context.signals.reports_begun.load(Ordering::SeqCst) != reports_ended {
            for number in (first..number).rev() {
                let items = self.page(order, number).await?.items;
                self.record(items, None).await?;
            }
        }
        Ok(is_end)
    }

    async fn page(&mut self, order: Order, number: usize) -> Result<Page, ApiError> {
        let page = match self.request(order, number, None).await {
            Err(error) if self.may_be_an_item(&error) => self.around(order, number, error).await?,
            page => {
                let page = page?;
                self.page_size = self.page_size.max(page.len());
                page
            }
        };
        self.any |= !page.items.is_empty();
        Ok(page)
    }

    async fn request(&mut self, order: Order, page: usize, size: Option<usize>) -> Result<Page, ApiError> {
        self.alive();
        let order = if self.is_unordered { Order::Unordered } else { order };
        let page = self.client.list(&ListQuery { page, size, order, ..ListQuery::default() }).await?;
        self.is_partial |= page.unreadable > 0;
        if page.unreadable > 0 {
            let (account, unreadable) = (self.reader.account.as_str(), page.unreadable);
            tracing::warn!(event = "unreadable", account, unreadable, "the list shows documents {UNREADABLE}");
            self.context.signals.observe(Progress::Unreadable(unreadable));
        }
        Ok(page)
    }

    /// Whether the server may fail at a single item of the page, and not at the list. It says so in many ways, as a
    /// program that dies in the middle of an answer may leave any of them. A refused order is tried without an order
    /// first.
    fn may_be_an_item(&self, error: &ApiError) -> bool {
        use ApiError::{BrokenOff, NotJson, Shape, Status};
        let is_refused = matches!(error, Status { status: 400 | 422, .. });
        // A server that asks for time means the whole list.
        let is_broken = matches!(error, Status { status: 500.., retry_after: None });
        is_broken || is_refused && self.is_unordered || matches!(error, BrokenOff { .. } | Shape(_) | NotJson(_))
    }

    /// Reads a page at which the server fails in smaller pages, down to single items, and steps over the items at which
    /// it fails.
    async fn around(&mut self, order: Order, number: usize, error: ApiError) -> Result<Page, ApiError> {
        self.is_partial = true;
        let size = if number > 1 && self.page_size > 0 { self.page_size } else { PAGE_SIZE };
        let items: Vec<usize> = ((number - 1) * size / FEW * FEW..number * size).collect();
        let (mut parts, mut read) = (Parts::of(&[], FEW, now()), BTreeMap::new());
        parts.failed(&items, error.status().is_none());
        while let Some(part) = parts.next() {
            let (first, size) = (part.iter().copied().min().unwrap_or(0), if part.len() > 1 { FEW } else { 1 });
            match self.request(order, first / size + 1, Some(size)).await {
                Ok(page) => {
                    // A list that is too slow for its items still answers fast at its empty end. That is an outage, not
                    // a list with bad documents.
                    if !page.is_empty() || !error.is_timeout() {
                        parts.answered();
                    }
                    read.insert(first, page);
                }
                Err(other) if self.may_be_an_item(&other) => parts.failed(&part, other.status().is_none()),
                Err(other) => return Err(other),
            }
        }
        if !parts.is_answered {
            return Err(error);
        }
        if parts.singles > 0 {
            let (account, skipped) = (self.reader.account.as_str(), parts.singles);
            tracing::warn!(event = "items_skipped", account, skipped, "the API fails at {skipped} listed documents");
        }
        let unreadable = parts.singles + read.values().map(|page| page.unreadable).sum::<usize>();
        Ok(Page { items: read.into_values().flat_map(|page| page.items).collect(), unreadable })
    }
}
