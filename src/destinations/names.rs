//! What an adapter asks the ledger about names. The delivery stage passes it along with the [`super::Item`], for one
//! version of a document in one destination, so that adapters need not know the ledger.
//!
//! An adapter that names files takes these steps:
//! 1. It settles the intents that [`Names::known`] reports: the name and the temporary file show what happened to them.
//! 2. It writes the file under a temporary name and makes it durable.
//! 3. It reserves a name, with the intent, and gives it to the file without overwriting. If somebody else has the name,
//!    the adapter leaves it and reserves the next one.
//! 4. It makes the name durable and answers that the document is delivered, which settles the intent.

use std::fmt;

use async_trait::async_trait;

use super::Outcome;
use crate::domain::reservation::{Intent, Known, Place, Wanted};

/// The ledger cannot answer, and logs the reason. The request may have been carried out or not.
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
    /// What the ledger knows about these names.
    ///
    /// # Errors
    /// [`Unrecorded`], as in every method here.
    async fn known(&self) -> Result<Known, Unrecorded>;

    /// Reserves the name for this version, with the intent to give it to a file; false if another document or another
    /// version has it. A name can be reserved again by the version that has it.
    async fn reserve(&self, version: u32, wanted: &Wanted, intent: Option<&Intent>) -> Result<bool, Unrecorded>;

    /// Reserves the name of a sidecar in which this version's proof will be read. False while another unproved letter
    /// has the name.
    async fn reserve_sidecar(&self, place: &Place) -> Result<bool, Unrecorded>;

    /// Takes the intent back, or, if `filed`, notes that the file got its name. The name stays reserved.
    async fn settle(&self, place: &Place, filed: bool) -> Result<(), Unrecorded>;
}
