//! Destinations: each adapter is one file that brings a spooled PDF into one kind of system.
//!
//! An adapter decides nothing about retries, states or routes. It answers what happened, in words that may be logged
//! and reported: a reason never contains patient data, so no rendered name, path or value stands in it.

mod blocking;
mod command;
#[cfg(test)]
mod contract;
mod fault;
mod files;
mod folder;

use async_trait::async_trait;

pub use command::CommandAdapter;
pub use folder::FolderAdapter;
#[cfg(windows)]
pub use folder::refused_drive;

use crate::config::{Destination, DestinationKind};
use crate::document::{DocumentUuid, Metadata, Spooled};
use crate::filed::{FileDigest, Filed};

/// One delivery: what an adapter gets.
#[derive(Debug, Clone)]
pub struct Item {
    /// The document.
    pub uuid: DocumentUuid,
    /// The same for every repetition of this delivery, different for every other one
    /// ([`crate::document::Version::delivery_key`]): the peer can recognise what it already has.
    pub key: String,
    /// The PDF.
    pub pdf: Spooled,
    /// What the API said of document, patient and user.
    pub metadata: Metadata,
    /// Where documents with this content were filed.
    pub filed: Filed,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The destination durably holds the document.
    Delivered {
        /// Where it lies, for the person who asks (`docsyncd show`). It may contain patient data and is never logged.
        place: String,
        /// The file that holds it, links followed, where there is one.
        file: Option<FileDigest>,
        /// It was there before this attempt: an earlier one's, or that of another document with the same content.
        found: bool,
    },
    /// It may work later: the document stays due.
    Transient(String),
    /// As [`Self::Transient`]: it had no room for this document, whether or not it has some for others.
    NoRoom(String),
    /// It will never work for this document as it is.
    Permanent(String),
    /// The spooled file is missing or is not what was fetched: it must be fetched anew.
    SpoolDamaged,
}

/// A destination.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Brings the PDF there. Repeating it under the same key is harmless. It ends in bounded time by itself, also when
    /// the destination hangs.
    async fn deliver(&self, item: &Item) -> Outcome;

    /// The ledger has the delivery now, so the adapter need not remember it any more.
    fn recorded(&self, _item: &Item) {}

    /// What is known of the document is about to be read anew, so the next delivery may lead elsewhere: clears away what an
    /// attempt at this one that was cut off may have left. What cannot be cleared away is left.
    async fn abandon(&self, _item: &Item) {}

    /// Whether the destination works as a whole, tried for real; the error says what is wrong and what to do. It ends in
    /// bounded time by itself, too.
    async fn check(&self) -> Result<(), String>;
}

/// Builds the adapter of a configured destination. Opens nothing: a share that is offline is found out by use.
pub fn build(destination: &Destination) -> Box<dyn Adapter> {
    match &destination.kind {
        DestinationKind::Folder(folder) => Box::new(FolderAdapter::new(folder.clone())),
        DestinationKind::Command(command) => Box::new(CommandAdapter::new(command.clone())),
    }
}
