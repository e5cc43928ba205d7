//! Walks over an account's list: by key where the server filters and orders by date, by page numbers where it does not.
//!
//! Documents leave the list while it is read, since they are reported meanwhile, so what was on page 3 may be on page 2
//! when page 3 is read. Where page numbers have to be used, and a report was under way, the pages are read once more
//! from the last to the first: a document only ever moves towards the first, so none can slip through that way.

mod around;
mod shown;

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use super::PollError;
use super::dates::{is_after, unsuitable};
use crate::api::{Api, ApiError, ListQuery, Listed, Page};
use crate::document::DocumentUuid;
use crate::failure::Scope;
use crate::ledger::accounts::{self, Walk};
use crate::ledger::listed::Reader;
use crate::ledger::{LedgerError, now};
use crate::pipeline::{Context, Progress, ReportMark, after};

/// Requests of one walk at most: ten million documents. A server that shows ever new ones must not keep us for ever.
const MAX_REQUESTS: usize = 100_000;

/// Pages without any readable document that are read in one pass: a server that ignores page numbers shows the same one
/// for ever.
const MAX_BLIND_PAGES: usize = 100;

/// Which list, read for what.
pub(super) struct Walker<'a> {
    context: &'a Context,
    client: &'a dyn Api,
    reader: Reader,
    requests: usize,
    /// The length of the longest page so far.
    page_size: usize,
    /// Documents that came in so far.
    pub(super) found: u64,
    /// Whether the list showed any document.
    pub(super) any: bool,
    /// Whether the whole list was read as it should be.
    pub(super) swept: bool,
    /// Documents that have ended, and would begin anew by what the list shows.
    doubtful: Vec<Listed>,
    known_doubtful: HashSet<DocumentUuid>,
    unordered: bool,
}

/// How a walk by key ended.
pub(super) enum Walked {
    /// The end of the list was reached; `proven`: and the server was seen to leave out what is older.
    Whole { proven: bool },
    /// So many pages were read as were wanted; the next one begins here.
    Stopped(String),
    /// The server does not filter or order by date as the walk needs it.
    Impossible(&'static str),
}

impl<'a> Walker<'a> {
    pub(super) fn new(context: &'a Context, client: &'a dyn Api, account: &str, poll: i64) -> Self {
        let is_open = |scope| context.pauses.paused_until(&scope).is_none();
        let works = |name: &&String| is_open(Scope::Account((*name).clone()));
        let scopes = |name: &String| [Scope::Account, Scope::Fetch, Scope::Report].map(|of| of(name.clone()));
        let working: Vec<String> = context.clients.keys().filter(works).cloned().collect();
        let paused = context.clients.keys().flat_map(scopes).filter(|scope| !is_open(scope.clone())).collect();
        let draft_wait = after(0, context.limits.reconcile_interval);
        let reader = Reader { account: account.to_owned(), working, paused, poll, confirmed: false, draft_wait };
        Self {
            context,
            client,
            reader,
            requests: 0,
            page_size: 0,
            found: 0,
            any: false,
            swept: false,
            doubtful: Vec::new(),
            known_doubtful: HashSet::new(),
            unordered: false,
        }
    }

    async fn list(&mut self, since: Option<&str>, page: usize) -> Result<Page, ApiError> {
        let page = match self.ask(since, page, None).await {
            Err(error) if self.may_be_an_item(since, &error) => self.around(since, page, error).await?,
            answer => {
                let page = answer?;
                self.page_size = self.page_size.max(page.len());
                page
            }
        };
        self.any |= !page.items.is_empty();
        Ok(page)
    }

    async fn ask(&mut self, since: Option<&str>, page: usize, size: Option<usize>) -> Result<Page, ApiError> {
        self.requests += 1;
        super::alive(self.context, &self.reader.account, Duration::ZERO);
        if self.requests > MAX_REQUESTS {
            return Err(ApiError::Shape(format!("the list has no end after {MAX_REQUESTS} pages")));
        }
        let since = since.map(str::to_owned);
        let query = ListQuery { since, page, size, unordered: self.unordered, ..ListQuery::default() };
        let page = self.client.list(&query).await?;
        if page.unreadable > 0 {
            let (account, unreadable) = (self.reader.account.as_str(), page.unreadable);
            tracing::warn!(
                event = "unreadable",
                account,
                unreadable,
                "the list shows documents without an identifier that can be used"
            );
            self.context.observe(Progress::Unreadable(unreadable));
        }
        Ok(page)
    }

    /// Walks from `since`, or from the beginning, over at most so many pages.
    pub(super) async fn by_key(&mut self, since: Option<String>, most: usize) -> Result<Walked, PollError> {
        match self.walk(since, most).await {
            Err(PollError::Api(ApiError::Status { status: 400 | 422, .. })) => {
                Ok(Walked::Impossible("the API refuses the date filter or the order"))
            }
            walked => walked,
        }
    }

    async fn walk(&mut self, mut since: Option<String>, most: usize) -> Result<Walked, PollError> {
        let began = self.context.reports.mark();
        let (mut older_shown, mut proven) = (false, false);
        for read in 0.. {
            if let Some(next) = since.as_ref().filter(|_| read >= most) {
                return Ok(Walked::Stopped(next.clone()));
            }
            let mark = self.context.reports.mark();
            let page = self.list(since.as_deref(), 1).await?;
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
                [] => break,
                [first, ..] => (first.created_at.clone(), page.items.last().map_or("", |item| &item.created_at)),
            };
            // There are older documents, none of them has left, and none was shown: the filter is what kept them back.
            proven |= older_shown && self.context.reports.none_since(began);
            older_shown |= first != last;
            // A date in the future must not hide what is created until then.
            let past = |item: &&Listed| {
                !is_after(&item.created_at, Timestamp::from_millisecond(now()).unwrap_or(Timestamp::MAX))
            };
            let covered = page.items.iter().rev().find(past).map(|item| item.created_at.as_str());
            self.record(&page.items, covered).await?;
            let last = last.to_owned();
            if since.as_ref() == Some(&last) {
                since = self.until_nothing_new(Some(&last), Some(page.items), mark, usize::MAX).await?.next;
                if since.is_none() {
                    break;
                }
            } else {
                since = Some(last);
            }
        }
        Ok(Walked::Whole { proven })
    }

    /// Reads the list by page numbers until a pass finds nothing new, unless it has more pages than `most`.
    pub(super) async fn by_pages(&mut self, most: usize) -> Result<Climbed, PollError> {
        let mark = self.context.reports.mark();
        self.until_nothing_new(None, None, mark, most).await
    }

    /// Reads pages as [`Self::climb`], again and again until a pass finds nothing new; the first pass after `mark`. Returns the last pass.
    async fn until_nothing_new(
        &mut self,
        key: Option<&str>,
        mut first: Option<Vec<Listed>>,
        mut mark: ReportMark,
        most: usize,
    ) -> Result<Climbed, PollError> {
        loop {
            let was_unordered = self.unordered;
            let mut climbed = self.climb(key, first.take(), most).await?;
            climbed.quiet = self.context.reports.none_since(mark);
            // Or the first page shows the next timestamp, or nothing: no later page was read from which one could slip.
            if climbed.more || climbed.pages == 0 {
                return Ok(climbed);
            }
            let new = climbed.new + if climbed.quiet { 0 } else { self.descend(key, climbed.pages).await? };
            // Where the order was given up on the way, the pages before and after are of two different lists.
            let is_all = new == 0 && self.unordered == was_unordered;
            if is_all || (key.is_some() && climbed.quiet && climbed.pages == 1) {
                return Ok(climbed);
            }
            mark = self.context.reports.mark();
        }
    }

    /// Reads pages from the first on: those of one timestamp, or of the whole list. `first` is the first page, where it
    /// was read already. It stops when there are more pages than `most`.
    async fn climb(
        &mut self,
        key: Option<&str>,
        mut first: Option<Vec<Listed>>,
        most: usize,
    ) -> Result<Climbed, PollError> {
        // Only the page before is remembered: a list may be longer than memory is large.
        let (mut before, mut blind, mut repeated) = (HashSet::new(), 0, 0);
        let mut climbed = Climbed::default();
        loop {
            let Page { items, unreadable } = match first.take() {
                Some(items) => Page { items, unreadable: 0 },
                None => self.page(key, climbed.pages + 1).await?,
            };
            // Nothing to be told apart, and not the end: what can be read may stand on the next page.
            if items.is_empty() && unreadable > 0 && blind < MAX_BLIND_PAGES {
                (climbed.pages, blind) = (climbed.pages + 1, blind + 1);
                continue;
            }
            let shown: HashSet<DocumentUuid> = items.iter().map(|item| item.uuid.clone()).collect();
            // Nothing that was not on the page before: so many documents came in between that they moved that page here,
            // or, when it is so once more, the server ignores page numbers. Nothing at all: the end.
            let repeats = shown.is_subset(&before);
            repeated = if repeats { repeated + 1 } else { 0 };
            if items.is_empty() || repeated > 1 {
                return Ok(Climbed { next: None, ..climbed });
            }
            let last = items.last().map(|item| item.created_at.clone());
            if key.is_none() && !repeats {
                let follows = items.first().is_none_or(|item| before.contains(&item.uuid));
                let since = climbed.next.as_deref().filter(|_| !follows);
                let found = unsuitable(since, &items).map(|_| "the API ignores the order");
                climbed.unsuitable = climbed.unsuitable.or(found);
            }
            before = shown;
            // No cursor: it would cover documents that slipped from a page to the one before it.
            climbed.new += self.record(&items, None).await?;
            if key.is_some() && last.as_deref() != key {
                return Ok(Climbed { next: last, ..climbed });
            }
            if climbed.pages >= most && !repeats {
                return Ok(Climbed { more: true, ..climbed });
            }
            climbed.next = last;
            climbed.pages += 1;
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

    /// The next rereading of a list that is too long for one poll begins at its start.
    pub(super) async fn read_from_start(&self) -> Result<(), LedgerError> {
        let account = self.reader.account.clone();
        self.context.ledger.write(move |db| accounts::save_reread(db, &account, None, 0)).await
    }

    /// Remembers whether the walk by key works, and says so once when that changes. A list that is short enough to be
    /// read without the filter says nothing about it.
    pub(super) async fn remember(&self, walked: &Walked) -> Result<(), LedgerError> {
        let why = match walked {
            Walked::Whole { proven: false } | Walked::Stopped(_) => return Ok(()),
            Walked::Whole { proven: true } => None,
            Walked::Impossible(why) => Some(*why),
        };
        let (name, walk) = (self.reader.account.clone(), if why.is_some() { Walk::Pages } else { Walk::Key });
        if self.context.ledger.write(move |db| accounts::save_walk(db, &name, walk)).await? {
            let account = self.reader.account.as_str();
            match why {
                None => tracing::info!(event = "walk_by_key", account, "the date filter of the API works again"),
                Some(reason) => {
                    tracing::warn!(
                        event = "walk_by_pages",
                        account,
                        reason,
                        "{reason}: each poll reads the whole list"
                    );
                }
            }
        }
        Ok(())
    }
}

/// What reading pages upwards found.
#[derive(Default)]
pub(super) struct Climbed {
    /// Documents that were new or reopened.
    new: u64,
    /// Pages that hold nothing but the timestamp that was asked for.
    pages: usize,
    /// The next timestamp, unless the end of the list came first; of the whole list that of the last document.
    pub(super) next: Option<String>,
    /// There are more pages than were wanted.
    pub(super) more: bool,
    /// Why the list cannot be ordered by date.
    pub(super) unsuitable: Option<&'static str>,
    /// Whether nothing was reported meanwhile.
    pub(super) quiet: bool,
}
