//! What is left of attempts that were cut off, or whose last step has an unknown result.

use super::super::files::Existing;
use super::super::{Outcome, wording};
use super::{Filing, Storage, Target, split};
use crate::destinations::LostReply;
use crate::domain::failure::Code;
use crate::domain::reservation::{Intent, Known};

/// The result of an earlier attempt.
pub(super) enum Before {
    /// The file got its name.
    Filed {
        /// Below the destination's folder.
        path: String,
        /// Whether the file still has it.
        is_there: bool,
    },
    /// The file has no name yet, only its temporary name.
    Waits {
        /// The recorded intent.
        intent: Intent,
        /// Whether the temporary file is complete, and can be renamed as it is.
        is_whole: bool,
    },
    Nothing,
}

impl<S: Storage> Filing<'_, S> {
    /// Settles the intents of interrupted attempts at other versions: no later attempt returns to them.
    pub(super) async fn settle_others(&self, intents: &[Intent]) -> Result<(), Outcome> {
        for intent in intents {
            let folder = self.folder_of(intent).await?;
            let waits = self.storage.waits(&folder, &intent.temporary).await?;
            if !waits {
                self.storage.find_root().await?;
            }
            // A rename that was given up may be carried out late, and would then take the name from a later owner. So
            // the name counts as used.
            self.item.names.settle(&intent.place, !(waits && S::AT_ONCE)).await?;
            self.storage.remove(&folder, &intent.temporary).await?;
            self.clear(&folder, key_of(&intent.temporary)).await?;
        }
        Ok(())
    }

    /// Settles the intent of an attempt at this version that was cut off, or got no answer.
    pub(super) async fn resume(&self, known: &Known, within: &str) -> Result<Before, Outcome> {
        let Some(intent) = &known.intent else { return Ok(Before::Nothing) };
        let (storage, temporary, folder) = (self.storage, &intent.temporary, self.folder_of(intent).await?);
        let (lies_within, name) = split(&intent.path);
        let mut is_whole = false;
        if storage.place(&folder, name) == intent.place {
            let mut waits = storage.waits(&folder, temporary).await?;
            let mut left = Existing::Different;
            if waits {
                if lies_within == within {
                    left = storage.left(&folder, temporary, &self.content).await?;
                }
                is_whole = left == Existing::Same;
                // The rename may have happened just now: while the intent stands, it shows that.
                waits = is_whole || storage.waits(&folder, temporary).await?;
            }
            if storage.existing(&folder, name, &self.content).await? == Existing::Same {
                self.clear_if_it_can(&folder).await?;
                storage.secure(&folder, self.item, &self.content, name).await?;
                return Ok(Before::Filed { path: intent.path.clone(), is_there: true });
            }
            if waits && left == Existing::Absent {
                return Err(self.unsure());
            }
            if !waits {
                // If the folder is gone meanwhile, nothing is known.
                storage.find_root().await?;
                match self.on_lost_reply() {
                    None => {}
                    Some(LostReply::Hold) => {
                        return Err(Outcome::cut_off(
                            "the answer to its rename was lost, and nothing of it is seen there",
                        ));
                    }
                    Some(LostReply::Resend) => {
                        self.item.names.settle(&intent.place, false).await?;
                        return Ok(Before::Nothing);
                    }
                }
                self.clear_if_it_can(&folder).await?;
                if !storage.keeps(&folder, temporary, name).await? {
                    self.item.names.settle(&intent.place, false).await?;
                    return Err(wording::put_elsewhere(storage.options().destination));
                }
                // The file had its name, and was taken from there.
                return Ok(Before::Filed { path: intent.path.clone(), is_there: false });
            }
        }
        // The intent goes before the temporary file: without the file, the intent would say that the file had its name.
        // A complete file stays with its intent until it is renamed again, or another name is tried.
        if S::AT_ONCE || !is_whole {
            self.item.names.settle(&intent.place, false).await?;
        }
        if S::AT_ONCE && !is_whole {
            storage.remove(&folder, temporary).await?;
        }
        Ok(Before::Waits { intent: intent.clone(), is_whole })
    }

    /// One look shows a file and another does not: the server may consist of two machines, of which one lags behind.
    pub(super) fn unsure(&self) -> Outcome {
        let destination = self.storage.options().destination;
        let words = "it shows a file, and says that there is none: it is looked at again";
        Outcome::transient(Code::word("unsure"), format!("destination `{destination}`: {words}"))
    }

    /// The folder in which the file of the intent was about to get its name.
    async fn folder_of(&self, intent: &Intent) -> Result<S::Folder, Outcome> {
        self.storage.find(split(&intent.path).0).await
    }

    /// Removes what earlier attempts left, now that the file has its name.
    pub(super) async fn clear_after(
        &self,
        target: &Target<S::Folder>,
        staged: Option<&str>,
        waited: Option<&Intent>,
    ) -> Result<(), Outcome> {
        if let Some(intent) = waited
            && !(split(&intent.path).0 == target.within && staged == Some(&intent.temporary))
        {
            self.storage.remove(&self.folder_of(intent).await?, &intent.temporary).await?;
        }
        // If the file already had its name, a lost ledger may have known of earlier attempts.
        let is_first = staged.is_some() && waited.is_none() && self.storage.is_first(self.item);
        if is_first { Ok(()) } else { self.clear(&target.folder, &self.item.key).await }
    }

    /// Clears up after the file was found: a request that hangs must not keep the delivery from being recorded.
    pub(super) async fn clear_if_it_can(&self, folder: &S::Folder) -> Result<(), Outcome> {
        let cleared = self.clear(folder, &self.item.key).await;
        if S::AT_ONCE { cleared } else { Ok(()) }
    }

    /// Removes the files with the temporary names of this key, as many as possible. An `Err` means that something may
    /// be left.
    pub(super) async fn clear(&self, folder: &S::Folder, key: &str) -> Result<(), Outcome> {
        let mut cleared = Ok(());
        for temporary in self.storage.temporaries(key) {
            cleared = cleared.and(self.storage.remove(folder, &temporary).await);
        }
        cleared
    }
}

/// The key in a temporary name.
pub(in crate::destinations) fn key_of(temporary: &str) -> &str {
    let name = temporary.strip_prefix(super::candidate::TEMPORARY).unwrap_or(temporary);
    name.split(['-', '.']).next().unwrap_or(name)
}
