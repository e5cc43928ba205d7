//! Queries of the list of documents, also for certain documents only.

use std::collections::{BTreeMap, BTreeSet};

use super::{Api, ApiError, Listed};
use crate::domain::document::DocumentUuid;

/// The largest page the API gives (API, "Collection query parameters").
pub const PAGE_SIZE: usize = 100;

/// The order of the list by `createdAt`. Not every server obeys it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// `asc`
    #[default]
    OldestFirst,
    /// `desc`
    NewestFirst,
    /// The server's own order, for a server that refuses the parameter.
    Unordered,
}

/// Which part of the list of documents to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Page number, from 1.
    pub page: usize,
    /// Only these documents (`uuid[]`), if there are any.
    pub uuids: Vec<DocumentUuid>,
    /// The order that the server is asked for.
    pub order: Order,
    /// Reads the synchronized documents instead of the unsynchronized ones.
    pub synchronized: bool,
    /// Documents on a page; [`PAGE_SIZE`] if `None`.
    pub size: Option<usize>,
}

/// The most documents in one query: their identifiers must fit into an address that servers accept.
pub const LOOK_SIZE: usize = 50;

/// What the list shows of the requested documents.
#[derive(Default)]
pub struct Shown {
    /// The documents in the list.
    pub items: BTreeMap<DocumentUuid, Listed>,
    /// The documents that are not in the list. If the server failed at a document, it is in neither.
    pub absent: BTreeSet<DocumentUuid>,
    /// Whether the list ignores `uuid[]`.
    pub is_deaf: bool,
}

impl Shown {
    /// Adds the result of another query.
    pub fn add(&mut self, others: Self) {
        self.items.extend(others.items);
        self.absent.extend(others.absent);
        self.is_deaf |= others.is_deaf;
    }

    /// Whether it is known if this document is in the list.
    pub fn says(&self, uuid: &DocumentUuid) -> bool {
        self.items.contains_key(uuid) || self.absent.contains(uuid)
    }
}

/// Asks the list for these documents, at most [`LOOK_SIZE`].
///
/// # Errors
/// [`ApiError`] of any page.
pub async fn look(client: &dyn Api, asked: &[DocumentUuid], synchronized: bool) -> Result<Shown, ApiError> {
    let mut shown = Shown { absent: asked.iter().cloned().collect(), ..Shown::default() };
    // Each page but the last shows at least one more of the documents.
    for page in 1..=asked.len() + 1 {
        let query = ListQuery { page, uuids: asked.to_vec(), synchronized, ..ListQuery::default() };
        let found = client.list(&query).await?;
        let (is_end, before) = (found.is_empty(), shown.absent.len());
        let others = found.unreadable > 0 || found.items.iter().any(|item| !asked.contains(&item.uuid));
        let asked_for = found.items.into_iter().filter(|item| shown.absent.remove(&item.uuid));
        shown.items.extend(asked_for.map(|item| (item.uuid.clone(), item)));
        if is_end || shown.absent.is_empty() {
            return Ok(shown);
        }
        // Nothing new on this page: the server ignores page numbers.
        if others || shown.absent.len() == before {
            shown.is_deaf = others;
            break;
        }
    }
    shown.absent.clear();
    Ok(shown)
}
