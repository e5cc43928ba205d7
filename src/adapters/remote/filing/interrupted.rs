//! What attempts left that were cut off, or lost their answer.

use super::super::super::Outcome;
use super::super::super::files::Existing;
use super::super::Found;
use super::{Filing, Folder, PDF, SIDECAR};
use crate::reservation::{Intent, Known};

/// What an attempt before this one came to.
pub(super) enum Before {
    /// The file had its name, this one below the destination's folder.
    Filed(String),
    /// It has none; what was sent is at this path.
    Waits(String),
    Nothing,
}

impl Filing<'_> {
    /// Settles what an attempt at this version was about to do when it was cut off, or lost its answer.
    pub(super) async fn resume(&self, known: &Known) -> Result<Before, Outcome> {
        let Some(intent) = &known.intent else { return Ok(Before::Nothing) };
        if self.place(&intent.path) == intent.place {
            if self.existing(&intent.path, &self.content).await? == Existing::Same {
                self.remote.remove(&self.temporary_of(intent)).await?;
                return Ok(Before::Filed(intent.path.clone()));
            }
            if !self.waits(intent).await? {
                // It had its name, and was taken from there.
                return Ok(Before::Filed(intent.path.clone()));
            }
        }
        // Only then its temporary file may go: without it, the intent would say that the file had its name.
        self.settle(&intent.place, false).await?;
        Ok(Before::Waits(self.temporary_of(intent)))
    }

    /// Whether the file still has its temporary name.
    pub(super) async fn waits(&self, intent: &Intent) -> Result<bool, Outcome> {
        Ok(self.remote.stat(&self.temporary_of(intent)).await? != Found::Nothing)
    }

    pub(super) fn temporary_of(&self, intent: &Intent) -> String {
        let folder = intent.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let below_root =
            if folder.is_empty() { intent.temporary.clone() } else { format!("{folder}/{}", intent.temporary) };
        self.path(&below_root)
    }

    /// Removes what attempts left under this delivery's temporary names.
    pub(in crate::adapters::remote) async fn abandon(&self) -> Result<(), Outcome> {
        let (folder, _) = self.wanted_name()?;
        self.abandon_in(&folder).await
    }

    pub(super) async fn abandon_in(&self, folder: &Folder) -> Result<(), Outcome> {
        for end in [PDF, SIDECAR] {
            self.remote.remove(&self.path(&folder.join(&self.temporary(end)))).await?;
        }
        Ok(())
    }
}
