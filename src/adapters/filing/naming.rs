//! How a PDF gets its name, its sidecar before it.

use super::super::files::Existing;
use super::super::{Outcome, wording};
use super::{Filing, NotNamed, Put, Renamed, Storage, Target, split};
use crate::config::{LostReply, SidecarConfig};
use crate::failure::Code;
use crate::reservation::{Intent, Known, Wanted};

impl<S: Storage> Filing<'_, S> {
    /// Reserves the name and gives it to the PDF, its sidecar before it; false when one of the two is taken. `known` before this attempt;
    /// `is_kept`: its intent stands.
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
            match self.place_sidecar(target, config, name, next).await {
                Ok(Some(placed)) => sidecar = Some(placed),
                not_placed => {
                    // The intent of an attempt before says more.
                    if !is_kept {
                        self.item.names.settle(&wanted.place, false).await?;
                    }
                    return not_placed.map(|_| false);
                }
            }
        }
        let named = self.give_name(target, intent, name, S::AT_ONCE || known.intent.is_none()).await;
        if let (
            Ok(false) | Err(NotNamed { surely: true, .. } | NotNamed { is_taken: true, .. }),
            Some(Sidecar { name, is_new: true, .. }),
        ) = (&named, &sidecar)
        {
            // Without its PDF an importer could not do anything with it.
            fault_point!("filing.sidecar_remove.before");
            let _ = self.storage.remove(&target.folder, name).await;
            fault_point!("filing.sidecar_remove.after");
        }
        named.map_err(|not_named| not_named.outcome)
    }

    /// The sidecar under its own name and durable; `None` when other content has that name.
    async fn place_sidecar(
        &self,
        target: &Target<S::Folder>,
        config: &SidecarConfig,
        pdf_name: &str,
        next: &str,
    ) -> Result<Option<Sidecar<S::Turn>>, Outcome> {
        let destination = self.storage.options().destination;
        let (wanted, text) = wording::sidecar(destination, config, self.item, pdf_name)?;
        let name = self.storage.fit(&target.folder, &self.item.key, wanted.clone()).await?;
        let turn = self.storage.turn(&target.folder, &name).await;
        let put = self.storage.put_sidecar(&target.folder, self.item, &name, text.into_bytes()).await?;
        if put == Put::Taken {
            return wording::sidecar_is_taken(destination, config, self.item, &wanted, next).map(|()| None);
        }
        Ok(Some(Sidecar { name, is_new: put == Put::New, _turn: turn }))
    }

    /// Gives the PDF its name and makes that durable; false when other content has it. `is_first`: no attempt before asked for the PDF
    /// to be named, so that nothing is under way.
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
        // Where even that is not answered, the intent stays, and the next attempt looks.
        let Ok(existing) = storage.existing(folder, name, &self.content).await else {
            return Err(NotNamed::perhaps(outcome));
        };
        if existing == Existing::Same {
            storage.secure(folder, self.item, &self.content, name).await.map_err(NotNamed::perhaps)?;
            let _ = storage.remove(folder, temporary).await;
            return Ok(true);
        }
        let waits = storage.waits(folder, temporary).await;
        // It may have had the name all the same, an importer may have taken it, and another file may have come since. The only request
        // to name it, refused, did not.
        if !is_refused || !(is_first || matches!(waits, Ok(true))) {
            return Err(NotNamed::perhaps(outcome));
        }
        // An attempt before may have given it the name, and an importer took it: a look that lags behind still shows it where it was.
        if is_missing && !is_first {
            return Err(NotNamed { is_taken: true, ..NotNamed::perhaps(self.unsure()) });
        }
        let is_gone = existing == Existing::Absent && matches!(waits, Ok(false));
        if is_gone && storage.options().on_lost_reply == Some(LostReply::Hold) {
            let words = "its rename was refused, and nothing of it is seen there";
            return Err(NotNamed::perhaps(Outcome::cut_off(words)));
        }
        if is_gone {
            // Of a folder that went away meanwhile nothing is known.
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

/// A sidecar that has its name.
struct Sidecar<T> {
    name: String,
    /// Whether this attempt put it there.
    is_new: bool,
    /// Until the PDF has its name, so that nobody finds a sidecar that is taken away again: one name may be that of all.
    _turn: T,
}
