//! The sidecar of a PDF on another machine: under its own name before the PDF has its.

use super::super::files::Existing;
use super::super::{Outcome, wording};
use super::filing::{Filing, Folder, SIDECAR};
use super::{Renamed, Source};
use crate::config::SidecarConfig;

/// A sidecar that has its name.
pub(super) struct Sidecar {
    pub(super) path: String,
    /// Whether this attempt put it there.
    pub(super) is_new: bool,
}

impl Filing<'_> {
    /// The sidecar under its own name; `None` when other content has that name.
    pub(super) async fn place_sidecar(
        &self,
        folder: &Folder,
        sidecar: &SidecarConfig,
        pdf_name: &str,
        next: &str,
    ) -> Result<Option<Sidecar>, Outcome> {
        let (own_name, text) = wording::sidecar(&self.config.name, sidecar, self.item, pdf_name)?;
        let mut source = Source::of_bytes(text.into_bytes());
        let content = source.digest().clone();
        let path = folder.join(&own_name);
        match self.existing(&path, &content).await? {
            Existing::Same => return Ok(Some(Sidecar { path, is_new: false })),
            Existing::Different => return self.sidecar_is_taken(sidecar, &own_name, next),
            Existing::Absent => {}
        }
        let temporary = self.path(&folder.join(&self.temporary(SIDECAR)));
        self.put_over(&temporary, &mut source).await?;
        if self.remote.read(&temporary, content.size).await?.as_ref() != Some(&content) {
            let _ = self.remote.remove(&temporary).await;
            return Err(self.not_as_sent());
        }
        fault_point!("remote.sidecar.before");
        let renamed = self.rename(&temporary, &self.path(&path)).await;
        fault_point!("remote.sidecar.after");
        let outcome = match renamed {
            Ok(Renamed::Done) => return Ok(Some(Sidecar { path, is_new: true })),
            Ok(Renamed::Refused(outcome)) | Err(outcome) => outcome,
        };
        let standing = self.existing(&path, &content).await;
        let _ = self.remote.remove(&temporary).await;
        match standing? {
            Existing::Same => Ok(Some(Sidecar { path, is_new: true })),
            Existing::Different => self.sidecar_is_taken(sidecar, &own_name, next),
            Existing::Absent => Err(outcome),
        }
    }

    fn sidecar_is_taken(&self, sidecar: &SidecarConfig, own: &str, next: &str) -> Result<Option<Sidecar>, Outcome> {
        wording::sidecar_is_taken(&self.config.name, sidecar, self.item, own, next).map(|()| None)
    }
}
