//! What attempts left that were cut off, or lost their answer.

use super::super::super::Outcome;
use super::super::super::files::Existing;
use super::super::Found;
use super::{Filing, Folder, SIDECAR, TEMPORARIES};
use crate::reservation::{Intent, Known};

/// What an attempt before this one came to.
pub(super) enum Before {
    /// The file had its name, this one below the destination's folder.
    Filed(String),
    /// It has none; what was sent has the temporary name.
    Waits(Intent),
    Nothing,
}

impl Filing<'_> {
    /// Settles what an attempt at this version was about to do when it was cut off, or lost its answer.
    pub(super) async fn resume(&self, known: &Known) -> Result<Before, Outcome> {
        let Some(intent) = &known.intent else { return Ok(Before::Nothing) };
        if self.place(&intent.path) == intent.place {
            if self.existing(&intent.path, &self.content).await? == Existing::Same {
                let _ = self.abandon_in(&Folder::of(&intent.path)).await;
                return Ok(Before::Filed(intent.path.clone()));
            }
            if !self.waits(intent).await? {
                let _ = self.abandon_in(&Folder::of(&intent.path)).await;
                // It had its name, and was taken from there.
                return Ok(Before::Filed(intent.path.clone()));
            }
        }
        // Only then its temporary file may go: without it, the intent would say that the file had its name.
        self.settle(&intent.place, false).await?;
        Ok(Before::Waits(intent.clone()))
    }

    /// Whether the file still has its temporary name.
    pub(super) async fn waits(&self, intent: &Intent) -> Result<bool, Outcome> {
        Ok(self.remote.stat(&self.temporary_of(intent)).await? != Found::Nothing)
    }

    pub(super) fn temporary_of(&self, intent: &Intent) -> String {
        self.path(&Folder::of(&intent.path).join(&intent.temporary))
    }

    pub(super) fn is_in(&self, folder: &Folder, intent: &Intent) -> bool {
        self.temporary_of(intent) == self.path(&folder.join(&intent.temporary))
    }

    /// Removes what attempts before left, now that the file has its name. What stays hurts nobody.
    pub(super) async fn clear(&self, folder: &Folder, staged: &Option<String>, waited: Option<&Intent>) {
        if let Some(intent) = waited
            && !(self.is_in(folder, intent) && staged.as_ref() == Some(&intent.temporary))
        {
            let _ = self.remote.remove(&self.temporary_of(intent)).await;
        }
        if waited.is_some() || self.item.attempts > 0 || self.desk.count(&self.item.key) > 1 {
            let _ = self.abandon_in(folder).await;
        }
    }

    /// The same where the file has its name already: as far as temporary names are in use.
    pub(super) async fn clear_all(&self, folder: &Folder) {
        for number in 0..TEMPORARIES {
            let path = self.path(&folder.join(&self.temporary_of_pdf(number)));
            match self.remote.stat(&path).await {
                Ok(Found::Nothing) | Err(_) => break,
                Ok(_) => drop(self.remote.remove(&path).await),
            }
        }
        let _ = self.remote.remove(&self.path(&folder.join(&self.temporary(SIDECAR)))).await;
    }

    /// Removes what attempts left under this delivery's temporary names.
    pub(in crate::adapters::remote) async fn abandon(&self) -> Result<(), Outcome> {
        let (folder, _) = self.wanted_name()?;
        self.abandon_in(&folder).await
    }

    pub(super) async fn abandon_in(&self, folder: &Folder) -> Result<(), Outcome> {
        let of_pdf = (0..TEMPORARIES).map(|number| self.temporary_of_pdf(number));
        let mut removed = Ok(());
        for temporary in of_pdf.chain([self.temporary(SIDECAR)]) {
            // One that cannot be removed keeps no other.
            removed = removed.and(self.remote.remove(&self.path(&folder.join(&temporary))).await);
        }
        removed
    }
}
