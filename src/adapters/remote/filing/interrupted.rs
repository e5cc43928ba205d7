//! What attempts left that were cut off, or lost their answer.

use super::super::super::files::Existing;
use super::super::super::{Outcome, candidate};
use super::super::Found;
use super::{Filing, Folder, SIDECAR, TEMPORARIES, answers, temporary_of_pdf};
use crate::config::LostReply;
use crate::failure::Code;
use crate::reservation::{Intent, Known};

/// What an attempt before this one came to.
pub(super) enum Before {
    /// The file had its name, this one below the destination's folder.
    Filed(String),
    /// It has none; what was sent has the temporary name.
    Waits {
        /// As it was recorded.
        intent: Intent,
        /// Whether it can have its name as it is.
        is_whole: bool,
    },
    Nothing,
}

impl Filing<'_> {
    /// Settles what an attempt at this version was about to do when it was cut off, or lost its answer.
    pub(super) async fn resume(&self, known: &Known, folder: &Folder) -> Result<Before, Outcome> {
        let Some(intent) = &known.intent else { return Ok(Before::Nothing) };
        let mut is_whole = false;
        if self.place(&intent.path) == intent.place {
            let mut waits = self.waits(intent).await?;
            if waits {
                is_whole = self.is_in(folder, intent) && self.is_whole(&self.temporary_of(intent)).await?;
                // The server may have carried the rename out in this moment: as long as the intent stands, it tells so.
                waits = is_whole || self.waits(intent).await?;
            }
            if self.existing(&intent.path, &self.content).await? == Existing::Same {
                let _ = self.clear(&Folder::of(&intent.path), &self.item.key).await;
                return Ok(Before::Filed(intent.path.clone()));
            }
            if !waits {
                match self.config.on_lost_reply {
                    None => {}
                    Some(LostReply::Hold) => {
                        return Err(Outcome::cut_off(
                            "the answer to its rename was lost, and nothing of it is seen there",
                        ));
                    }
                    Some(LostReply::Resend) => {
                        self.settle(&intent.place, false).await?;
                        return Ok(Before::Nothing);
                    }
                }
                let _ = self.clear(&Folder::of(&intent.path), &self.item.key).await;
                // It had its name, and was taken from there.
                return Ok(Before::Filed(intent.path.clone()));
            }
        }
        // Only then its temporary file may go: without it, the intent would say that the file had its name.
        self.settle(&intent.place, false).await?;
        Ok(Before::Waits { intent: intent.clone(), is_whole })
    }

    /// Whether the file still has its temporary name. It was read under that before: a look that does not show it may have been
    /// answered by another machine, which lags.
    pub(super) async fn waits(&self, intent: &Intent) -> Result<bool, Outcome> {
        let path = self.temporary_of(intent);
        let is_seen = self.remote.stat(&path).await? != Found::Nothing;
        Ok(is_seen || (self.config.verify_content && self.remote.read(&path, 0).await?.is_some()))
    }

    pub(super) fn temporary_of(&self, intent: &Intent) -> String {
        self.path(&Folder::of(&intent.path).join(&intent.temporary))
    }

    pub(super) fn is_in(&self, folder: &Folder, intent: &Intent) -> bool {
        self.temporary_of(intent) == self.path(&folder.join(&intent.temporary))
    }

    /// Removes what attempts before left, now that the file has its name.
    pub(super) async fn clear_after(
        &self,
        folder: &Folder,
        staged: Option<&str>,
        waited: Option<&Intent>,
    ) -> Result<(), Outcome> {
        if let Some(intent) = waited
            && !(self.is_in(folder, intent) && staged == Some(&intent.temporary))
        {
            self.remove(&self.temporary_of(intent)).await?;
        }
        // Where it had its name already, a ledger that was lost knew of attempts.
        let is_first = staged.is_some() && waited.is_none() && !self.item.tried && self.desk.count(&self.item.key) <= 1;
        if is_first { Ok(()) } else { self.clear(folder, &self.item.key).await }
    }

    /// Removes what attempts left under the temporary names of this delivery.
    pub(in crate::adapters::remote) async fn abandon(&self) -> Result<(), Outcome> {
        let (folder, _) = self.wanted_name()?;
        self.clear(&folder, &self.item.key).await
    }

    /// Removes what lies under the temporary names of this key.
    pub(super) async fn clear(&self, folder: &Folder, key: &str) -> Result<(), Outcome> {
        let of_pdf = (0..TEMPORARIES).map(|number| temporary_of_pdf(key, number));
        for temporary in of_pdf.chain([candidate::temporary(key, SIDECAR)]) {
            self.remove(&self.path(&folder.join(&temporary))).await?;
        }
        Ok(())
    }

    /// Removes a file of ours that is of no use any more. Where the server does not allow that, it stays and hurts nobody.
    pub(super) async fn remove(&self, path: &str) -> Result<(), Outcome> {
        match self.remote.remove(path).await {
            // A status is an answer, whoever it speaks of.
            Err(Outcome::Unavailable { code: Code::Status(_), .. }) => Ok(()),
            Err(outcome) if !answers(&outcome) => Err(outcome),
            _ => Ok(()),
        }
    }
}
