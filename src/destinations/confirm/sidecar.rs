//! What the destination's software wrote into the letters' sidecars.

use std::time::Duration;

use super::super::Outcome;
use super::super::candidate::below;
use super::super::files::Digest;
use super::memory::{InSidecar, Said, Signature};
use super::{Look, composed, of_one};
use crate::config::Evidence;
use crate::domain::proof::Seen;

/// The longest sidecar that is read, in bytes.
const LONGEST: u64 = 64 * 1024;
/// How long a sidecar has to be the same if its last line has no end: more of the line may come.
const UNENDED: Duration = Duration::from_secs(10);

impl Look<'_> {
    /// What the letters' sidecars say.
    pub(super) async fn said(&mut self) -> Result<Vec<InSidecar>, Outcome> {
        let letters = self.letters;
        let mut said = Vec::new();
        for letter in letters {
            said.push(match &letter.filed.sidecar {
                Some(name) if self.is_here(letter) => self.said_by(letter.filed.folder(), name).await?,
                _ => InSidecar::nothing(),
            });
        }
        Ok(said)
    }

    async fn said_by(&mut self, within: &str, name: &str) -> Result<InSidecar, Outcome> {
        let (memory, path) = (self.memory, below(within, name));
        let Some(file) = self.list(within).await?.files.get(&composed(name)).cloned() else {
            return Ok(InSidecar::nothing());
        };
        let signature = Signature::of(&file);
        if let Some(answer) = memory.sidecars.known(&path, signature) {
            return Ok(answer);
        }
        let Some(content) = of_one(self.shelf.content(&path, LONGEST).await)? else { return Ok(InSidecar::nothing()) };
        let text = self.confirm.charset.decode(&content);
        let holds =
            |evidence: Option<&Evidence>| matches!(evidence, Some(Evidence::Sidecar(line)) if line.holds_in(&text));
        let said = if holds(self.confirm.failed.as_ref()) {
            Said::Refused
        } else if holds(Some(&self.confirm.success)) {
            Said::Taken
        } else {
            Said::Nothing
        };
        // One that says something else in between was written anew.
        let mut seen = Seen::of(format!("{} {:?}", Digest::of(&content).sha256, file.modified));
        if !content.ends_with(b"\n") && !content.ends_with(b"\r") {
            seen.rest = UNENDED;
        }
        let answer = InSidecar { said, seen };
        memory.sidecars.note(&path, signature, answer.clone());
        Ok(answer)
    }
}
