//! One document at which the server fails must not hide the others of its page: they are read in smaller pages.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Walker;
use crate::api::{ApiError, PAGE_SIZE, Page};
use crate::ledger::now;

/// Items on a page that is read because a larger one failed, before they are read one by one.
const SMALL_PAGE: usize = 10;

/// Single items of a page that failed, as parts of it: when the server fails at each of them, it is the server that fails.
/// They stand on different small pages, elsewhere each time, and there are few: an outage must not multiply requests.
const SAMPLES: [(usize, usize); 3] = [(0, 1), (13, 20), (6, 25)];

impl Walker<'_> {
    /// Whether the server may fail at a single item of the page, and not at the list. It says so in many ways: a program
    /// that dies in the middle of an answer leaves any of them. Where an order is refused, that is tried first.
    pub(super) fn may_be_an_item(&self, since: Option<&str>, error: &ApiError) -> bool {
        match error {
            ApiError::Status { status: 400 | 422, .. } => since.is_none() && self.unordered,
            // One that asks for time means the list.
            ApiError::Status { status: 500.., retry_after: None }
            | ApiError::BrokenOff { .. }
            | ApiError::Shape(_)
            | ApiError::NotJson(_) => true,
            _ => false,
        }
    }

    /// Reads a page at which the server fails in smaller ones, down to single items, and steps over those at which it
    /// fails.
    pub(super) async fn around(&mut self, since: Option<&str>, page: usize, error: ApiError) -> Result<Page, ApiError> {
        let size = if page > 1 && self.page_size > 0 { self.page_size } else { PAGE_SIZE };
        let (from, to) = ((page - 1) * size, page * size);
        if !self.reads_any(since, from, size).await? {
            return Err(error);
        }
        let mut read = BTreeMap::new();
        let mut skipped = 0;
        for first in self.in_pages(since, from / SMALL_PAGE * SMALL_PAGE..to, SMALL_PAGE, &mut read).await? {
            let singles = first..first + SMALL_PAGE;
            let failed = self.in_pages(since, singles.clone(), 1, &mut read).await?.len();
            skipped += failed;
            if read.range(singles).any(|(_, page)| page.is_empty()) {
                break;
            }
            // At so many in a row: the server may have begun to fail at everything meanwhile.
            if failed == SMALL_PAGE && !self.reads_any(since, from, size).await? {
                return Err(error);
            }
        }
        // A list that is too slow for its items is soon at its empty end: that is an outage, and no list of bad documents.
        if read.is_empty() || (error.is_timeout() && read.values().all(Page::is_empty)) {
            return Err(error);
        }
        if skipped > 0 {
            let account = self.reader.account.as_str();
            tracing::warn!(
                event = "items_skipped",
                account,
                skipped,
                "the API fails at {skipped} documents of the list: the others are read"
            );
        }
        let unreadable = skipped + read.values().map(|page| page.unreadable).sum::<usize>();
        Ok(Page { items: read.into_values().flat_map(|page| page.items).collect(), unreadable })
    }

    /// Reads these items in pages of so many, up to an empty one. Returns where the pages begin at which the server fails.
    async fn in_pages(
        &mut self,
        since: Option<&str>,
        items: Range<usize>,
        size: usize,
        read: &mut BTreeMap<usize, Page>,
    ) -> Result<Vec<usize>, ApiError> {
        let mut failed = Vec::new();
        for first in items.step_by(size) {
            match self.ask(since, first / size + 1, Some(size)).await {
                Ok(page) => {
                    let ends = page.is_empty();
                    read.insert(first, page);
                    if ends {
                        break;
                    }
                }
                Err(other) if self.may_be_an_item(since, &other) => failed.push(first),
                Err(other) => return Err(other),
            }
        }
        Ok(failed)
    }

    /// Whether the server can be read at a single item of the page, or behind its end.
    async fn reads_any(&mut self, since: Option<&str>, from: usize, size: usize) -> Result<bool, ApiError> {
        let chance = usize::try_from(now()).unwrap_or(0);
        for (part, of) in SAMPLES {
            match self.ask(since, from + (size * part / of + chance) % size + 1, Some(1)).await {
                Ok(_) => return Ok(true),
                Err(other) if self.may_be_an_item(since, &other) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(false)
    }
}
