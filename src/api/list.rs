//! What the list of documents is asked for, and how it is asked for certain ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{Api, ApiError, Listed};
use crate::document::DocumentUuid;

/// The largest page the API gives (API, "Collection query parameters").
pub const PAGE_SIZE: usize = 100;

/// How the list is ordered: by `createdAt`. Not every server does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// `asc`
    #[default]
    OldestFirst,
    /// `desc`
    NewestFirst,
    /// As the server likes: for one that refuses an order.
    Unordered,
}

/// Which part of the list of unsynchronized documents to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Page number, from 1.
    pub page: usize,
    /// Only these documents: `uuid[]`.
    pub uuids: Vec<DocumentUuid>,
    /// By what the server is asked to order it.
    pub order: Order,
    /// Of the synchronized documents instead.
    pub synchronized: bool,
    /// Documents on a page; [`PAGE_SIZE`] where it says nothing.
    pub size: Option<usize>,
}

/// Documents that are asked for at once: their identifiers, in one address, must not be longer than servers take.
pub const LOOK_SIZE: usize = 50;

/// What the list shows of the documents that it was asked for.
#[derive(Default)]
pub struct Shown {
    /// Those that are in the list.
    pub items: BTreeMap<DocumentUuid, Listed>,
    /// Those that are not in the list. Where the server failed at a document, it is in neither.
    pub absent: BTreeSet<DocumentUuid>,
    /// The list ignores what it is asked for.
    pub is_deaf: bool,
}

impl Shown {
    /// What it shows of others.
    pub fn add(&mut self, others: Self) {
        self.items.extend(others.items);
        self.absent.extend(others.absent);
        self.is_deaf = others.is_deaf;
    }

    /// Whether it says of this one that it is in the list, or that it is not.
    pub fn says(&self, uuid: &DocumentUuid) -> bool {
        self.items.contains_key(uuid) || self.absent.contains(uuid)
    }
}

/// Asks the list for these documents, at most [`LOOK_SIZE`].
///
/// # Errors
/// [`ApiError`]
pub async fn look(client: &dyn Api, asked: &[DocumentUuid], synchronized: bool) -> Result<Shown, ApiError> {
    let mut shown = Shown { absent: asked.iter().cloned().collect(), ..Shown::default() };
    // Each page but the last shows at least one more of them.
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
        // Nothing more than before: it ignores page numbers.
        if others || shown.absent.len() == before {
            shown.is_deaf = others;
            break;
        }
    }
    shown.absent.clear();
    Ok(shown)
}
