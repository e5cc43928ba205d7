//! How a PDF gets its name, its sidecar before it.

use super::super::super::Outcome;
use super::super::super::files::Existing;
use super::super::sidecar::Sidecar;
use super::super::{Found, Renamed};
use super::{Filing, Folder};
use crate::failure::Code;
use crate::reservation::{Intent, Known, Wanted};

impl Filing<'_> {
    /// Reserves the name and gives it to the PDF, its sidecar before it; false when one of the two is taken. `known` before this attempt.
    pub(super) async fn give_names(
        &self,
        folder: &Folder,
        known: &Known,
        name: &str,
        wanted: &Wanted,
        intent: &Intent,
        next: &str,
    ) -> Result<bool, Outcome> {
        if !self.ask(self.item.names.reserve(known.version, wanted, Some(intent)).await)? {
            return Ok(false);
        }
        let _turn = match &self.config.sidecar {
            Some(_) => Some(self.desk.sidecars.lock().await),
            None => None,
        };
        let sidecar = match &self.config.sidecar {
            None => None,
            Some(sidecar) => match self.place_sidecar(folder, sidecar, name, next).await {
                Ok(Some(placed)) => Some(placed),
                not_placed => {
                    self.settle(&wanted.place, false).await?;
                    return not_placed.map(|_| false);
                }
            },
        };
        let named = self.give_name(folder, intent, known.intent.is_none()).await;
        if let (Ok(false) | Err(NotNamed { surely: true, .. }), Some(Sidecar { path, is_new: true })) =
            (&named, &sidecar)
        {
            // Without its PDF an importer could not do anything with it.
            let _ = self.remote.remove(&self.path(path)).await;
        }
        named.map_err(|not_named| not_named.outcome)
    }

    /// Gives the PDF its name; false when other content has it. `is_first`: no attempt before asked for the PDF to be named, so that
    /// nothing is under way.
    async fn give_name(&self, folder: &Folder, intent: &Intent, is_first: bool) -> Result<bool, NotNamed> {
        let temporary = self.path(&folder.join(&intent.temporary));
        fault_point!("remote.rename.before");
        let renamed = self.rename(&temporary, &self.path(&intent.path)).await;
        fault_point!("remote.rename.after");
        let (outcome, is_refused) = match renamed {
            Ok(Renamed::Done) => return Ok(true),
            Ok(Renamed::Refused(outcome)) => (outcome, true),
            Err(outcome) => (outcome, false),
        };
        // Where even that is not answered, the intent stays, and the next attempt looks.
        let Ok(existing) = self.existing(&intent.path, &self.content).await else {
            return Err(NotNamed::perhaps(outcome));
        };
        if existing == Existing::Same {
            let _ = self.remote.remove(&temporary).await;
            return Ok(true);
        }
        let waits = self.waits(intent).await;
        // It may have had the name all the same, an importer may have taken it, and another file may have come since. The only request
        // to name it, refused, did not.
        if !is_refused || !(is_first || matches!(waits, Ok(true))) {
            return Err(NotNamed::perhaps(outcome));
        }
        self.settle(&intent.place, false).await.map_err(NotNamed::perhaps)?;
        match (existing, waits) {
            (Existing::Absent, Ok(false)) => Err(NotNamed { outcome: self.vanished(), surely: true }),
            (Existing::Absent, _) => Err(NotNamed { outcome, surely: true }),
            (Existing::Same | Existing::Different, _) => Ok(false),
        }
    }

    fn vanished(&self) -> Outcome {
        let words = "what was sent was gone before it got its name, and is sent again: does something on the server clear \
                     away files that begin with `.docsyncd-`?";
        Outcome::transient(Code::word("vanished"), format!("destination `{}`: {words}", self.config.name))
    }

    /// [`Remote::rename_new`]; that it is done counts only when nothing has the temporary name any more.
    pub(in crate::adapters::remote) async fn rename(&self, from: &str, to: &str) -> Result<Renamed, Outcome> {
        let renamed = self.remote.rename_new(from, to).await?;
        if renamed == Renamed::Done && self.remote.stat(from).await? != Found::Nothing {
            let name = &self.config.name;
            let reason =
                format!("destination `{name}`: it says that a file has its name, and the file still has another");
            return Err(Outcome::transient(Code::word("not_renamed"), reason));
        }
        Ok(renamed)
    }
}

/// Why a PDF has not got its name.
struct NotNamed {
    outcome: Outcome,
    /// Whether that is sure: else the intent stays, and the next attempt looks.
    surely: bool,
}

impl NotNamed {
    fn perhaps(outcome: Outcome) -> Self {
        Self { outcome, surely: false }
    }
}
