//! What an adapter asks of the ledger about names (ENGINE.md, "A name in a destination"). Whoever delivers hands it in
//! with the [`super::Item`], for one version of a document in one destination, so that adapters need not know the
//! ledger.
//!
//! An adapter that gives files names goes about it so:
//! 1. It settles the intents that [`Names::known`] tells of: the name and the temporary file say what came of them.
//! 2. It writes the file under a temporary name and makes that durable.
//! 3. It reserves a name, with the intent, and gives it to the file without overwriting. A name that is somebody else's
//!    is left, and the next one is reserved.
//! 4. It makes the name durable and answers that the document is delivered, with which the intent is settled.

use std::fmt;

use async_trait::async_trait;

use super::Outcome;
use crate::reservation::{Intent, Known, Place, Wanted};

/// The ledger cannot answer; why is said elsewhere. What was asked for may have been done or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unrecorded;

impl From<Unrecorded> for Outcome {
    fn from(Unrecorded: Unrecorded) -> Self {
        Outcome::Unrecorded
    }
}

/// The names of one version of a document in one destination.
#[async_trait]
pub trait Names: fmt::Debug + Send + Sync {
    /// What the ledger knows of them.
    ///
    /// # Errors
    /// [`Unrecorded`], as of every method here.
    async fn known(&self) -> Result<Known, Unrecorded>;

    /// Reserves the name for this version, with the intent to give it to a file; false when it is another document's or
    /// another version's. What is reserved already can be reserved again.
    async fn reserve(&self, version: u32, wanted: &Wanted, intent: Option<&Intent>) -> Result<bool, Unrecorded>;

    /// Takes the intent back, or, with `filed`, notes that the file got its name. The name stays reserved.
    async fn settle(&self, place: &Place, filed: bool) -> Result<(), Unrecorded>;

    /// Whether a file with this temporary name waits for its own, for whichever document.
    async fn is_intended(&self, temporary: &str) -> Result<bool, Unrecorded>;
}
