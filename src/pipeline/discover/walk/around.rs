//! One document at which the server fails must not hide the others of its page: they are read in smaller pages.

use std::collections::BTreeMap;

use super::Walker;
use crate::api::{ApiError, PAGE_SIZE, Page};

/// Items on a page that is read because a larger one failed, before they are read one by one.
const SMALL_PAGE: usize = 10;

/// Single items of a page that failed, as parts of it: when the server fails at each of them, it is the server that fails.
/// They stand on different small pages, and there are few: an outage must not multiply requests.
const SAMPLES: [(usize, usize); 3] = [(0, 1), (13, 20), (6, 25)];

impl Walker<'_> {
    /// Whether the server may fail at a single item of the page, and not at the list. It says so in many ways: a program
    /// that dies in the middle of an answer leaves any of them. Where an order is refused, that is tried first.
    pub(super) fn may_be_an_item(&self, since: Option<&str>, error: &ApiError) -> bool {
        match error {
            ApiError::Status { status: 400 | 422, .. } => since.is_none() && self.unordered,
            ApiError::Status { status: 500.., .. } | ApiError::BrokenOff { .. } | ApiError::Shape(_) => true,
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
        let (mut items, mut unreadable, mut read) = (BTreeMap::new(), 0, 0);
        let mut failed = Vec::new();
        for small in from / SMALL_PAGE..to.div_ceil(SMALL_PAGE) {
            match self.ask(since, small + 1, Some(SMALL_PAGE)).await {
                Ok(page) => {
                    read += 1;
                    let ends = page.is_empty();
                    unreadable += page.unreadable;
                    items.insert(small * SMALL_PAGE, page.items);
                    if ends {
                        break;
                    }
                }
                Err(other) if self.may_be_an_item(since, &other) => failed.push(small * SMALL_PAGE),
                Err(other) => return Err(other),
            }
        }
        let mut skipped = 0;
        'pages: for first in failed {
            let before = skipped;
            for single in first..first + SMALL_PAGE {
                match self.ask(since, single + 1, Some(1)).await {
                    Ok(page) => {
                        read += 1;
                        if page.is_empty() {
                            break 'pages;
                        }
                        unreadable += page.unreadable;
                        items.insert(single, page.items);
                    }
                    Err(other) if self.may_be_an_item(since, &other) => skipped += 1,
                    Err(other) => return Err(other),
                }
            }
            // At so many in a row: the server may have begun to fail at everything meanwhile.
            if skipped - before == SMALL_PAGE && !self.reads_any(since, from, size).await? {
                return Err(error);
            }
        }
        // A list that is too slow for its items is soon at its empty end: that is an outage, and no list of bad documents.
        let nothing = unreadable == 0 && items.values().all(Vec::is_empty);
        if read == 0 || (nothing && error.is_timeout()) {
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
        Ok(Page { items: items.into_values().flatten().collect(), unreadable: unreadable + skipped })
    }

    /// Whether the server can be read at a single item of the page, or behind its end.
    async fn reads_any(&mut self, since: Option<&str>, from: usize, size: usize) -> Result<bool, ApiError> {
        for (part, of) in SAMPLES {
            match self.ask(since, from + size * part / of + 1, Some(1)).await {
                Ok(_) => return Ok(true),
                Err(other) if self.may_be_an_item(since, &other) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(false)
    }
}
