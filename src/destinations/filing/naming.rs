//! How a PDF gets its name, with its sidecar before or after it.

use super::super::Outcome;
use super::super::files::Existing;
use super::sidecar::Sidecar;
use super::{Filing, NotNamed, Renamed, Storage, Target, split};
use crate::destinations::LostReply;
use crate::domain::failure::Code;
use crate::domain::reservation::{Intent, Known, Wanted};

impl<S: Storage> Filing<'_, S> {
    /// Reserves the name and gives it to the PDF, with its sidecar. Returns false if one of the two names is taken.
    /// `known` is from before this attempt; `is_kept`: the intent from then stands.
    pub(super) async fn give_names(
        &self,
        target: &Target<S::Folder>,
        known: &Known,
        wanted: &Wanted,
        intent: &Intent,
        next: &str,
        is_kept: bool,
    ) -> Result<bool, Outcome> {
        let (_, name) = split(&intent.path);
        if !self.item.names.reserve(known.version, wanted, Some(intent)).await? {
            return Ok(false);
        }
        let mut sidecar = None;
        if let Some(config) = self.storage.options().sidecar {
            let is_ready = if config.is_last {
                self.sidecar_can_follow(&target.folder, config, &intent.path, next).await
            } else {
                let placed =
                    self.place_sidecar(&target.folder, config, &intent.path, next, known.intent.is_some()).await;
                placed.map(|placed| {
                    sidecar = placed;
                    sidecar.is_some()
                })
            };
            if !matches!(is_ready, Ok(true)) {
                // The intent of an earlier attempt says more.
                if !is_kept {
                    self.item.names.settle(&wanted.place, false).await?;
                }
                return is_ready;
            }
        }
        let named = self.give_name(target, intent, name, S::AT_ONCE || known.intent.is_none()).await;
        if let (
            Ok(false) | Err(NotNamed { surely: true, .. } | NotNamed { is_taken: true, .. }),
            Some(Sidecar { name, is_new: true, .. }),
        ) = (&named, &sidecar)
        {
            // An importer could not use a sidecar without its PDF.
            fault_point!("filing.sidecar_remove.before");
            let _ = self.storage.remove(&target.folder, name).await;
            fault_point!("filing.sidecar_remove.after");
        }
        drop(sidecar);
        let is_named = named.map_err(|not_named| not_named.outcome)?;
        if is_named {
            self.put_sidecar_last(&intent.path, known.intent.is_some()).await?;
        }
        Ok(is_named)
    }

    /// Gives the PDF its name and makes that durable. Returns false if other content has the name. `is_first`: no
    /// earlier attempt requested the rename, so none is under way.
    async fn give_name(
        &self,
        target: &Target<S::Folder>,
        intent: &Intent,
        name: &str,
        is_first: bool,
    ) -> Result<bool, NotNamed> {
        let (storage, folder, temporary) = (self.storage, &target.folder, &intent.temporary);
        let (outcome, is_refused, is_missing) = match storage.rename(folder, temporary, name).await {
            Ok(Renamed::Done) => {
                let confirmed = storage.confirm(folder, temporary, name).await;
                if let Err(NotNamed { surely: true, .. }) = &confirmed {
                    self.item
                        .names
                        .settle(&intent.place, false)
                        .await
                        .map_err(|unrecorded| NotNamed::perhaps(unrecorded.into()))?;
                }
                return confirmed.map(|()| true);
            }
            Ok(Renamed::Refused(outcome)) => (outcome, true, false),
            Ok(Renamed::Missing(outcome)) => (outcome, true, true),
            Err(outcome) => (outcome, false, false),
        };
        // If even this gets no answer, the intent stays, and the next attempt looks.
        let Ok(existing) = storage.existing(folder, name, &self.content).await else {
            return Err(NotNamed::perhaps(outcome));
        };
        if existing == Existing::Same {
            storage.secure(folder, self.item, &self.content, name).await.map_err(NotNamed::perhaps)?;
            let _ = storage.remove(folder, temporary).await;
            return Ok(true);
        }
        let waits = storage.waits(folder, temporary).await;
        // The PDF may have got the name nevertheless, an importer may have taken it, and another file may have come
        // since. Only the refusal of the only rename request excludes that.
        if !is_refused || !(is_first || matches!(waits, Ok(true))) {
            return Err(NotNamed::perhaps(outcome));
        }
        // An earlier attempt may have given the PDF its name, and an importer may have taken it: a server that lags
        // behind still shows it under its temporary name.
        if is_missing && !is_first {
            return Err(NotNamed { is_taken: true, ..NotNamed::perhaps(self.unsure()) });
        }
        let is_gone = existing == Existing::Absent && matches!(waits, Ok(false));
        if is_gone && self.on_lost_reply() == Some(LostReply::Hold) {
            let words = "its rename was refused, and nothing of it is seen there";
            return Err(NotNamed::perhaps(Outcome::cut_off(words)));
        }
        if is_gone {
            // If the folder is gone meanwhile, nothing is known.
            storage.find_root().await.map_err(NotNamed::perhaps)?;
        }
        self.item
            .names
            .settle(&intent.place, false)
            .await
            .map_err(|unrecorded| NotNamed::perhaps(unrecorded.into()))?;
        match existing {
            Existing::Absent if is_gone => Err(NotNamed::surely(self.vanished())),
            Existing::Absent => Err(NotNamed::surely(outcome)),
            Existing::Same | Existing::Different => Ok(false),
        }
    }

    fn vanished(&self) -> Outcome {
        let words = "what was written was gone before it got its name, and is written again: does something there clear away files \
                     that begin with `.docsyncd-`?";
        let destination = self.storage.options().destination;
        Outcome::transient(Code::word("vanished"), format!("destination `{destination}`: {words}"))
    }
}
