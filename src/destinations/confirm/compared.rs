//! Compares files with the letters that they may be.

use super::super::Outcome;
use super::super::Unproved;
use super::super::files::Digest;
use super::memory::Signature;
use super::{By, Entry, Look, composed, of_one};
use crate::domain::document::PdfHead;
use crate::domain::proof::Seen;

/// Files that one look reads to compare them. The next look compares the rest.
pub(super) const MOST_COMPARED: usize = 100;
/// An importer that changes a letter adds at most this many bytes.
const ADDED: u64 = 16 * 1024 * 1024;

impl Look<'_> {
    /// What shows that this file is the letter; `None` if it is not.
    pub(super) async fn proves(
        &mut self,
        path: &str,
        file: &Entry,
        letter: &Unproved,
        by: By,
    ) -> Result<Option<Seen>, Outcome> {
        let found = if by == By::Name {
            // An importer may change the file that it takes. But a file that it made of another letter contains that
            // letter.
            let is_new = !letter.filed.before.iter().any(|before| composed(before) == composed(path));
            match self.changed_pdf(path, file, letter).await? {
                Some(found) if is_new && !self.others.sent(&found.sha256).await => Some(found),
                _ => None,
            }
        } else if file.size.is_some_and(|size| size != letter.size) {
            None
        } else {
            self.digest(path, file, letter.size).await?.filter(|found| found.sha256 == letter.sha256)
        };
        Ok(found.map(|found| Seen::of(format!("{} {:?}", found.sha256, file.modified))))
    }

    /// The digest of a file, if it is a PDF, and no part of the letter that is still being written.
    async fn changed_pdf(&mut self, path: &str, file: &Entry, letter: &Unproved) -> Result<Option<Digest>, Outcome> {
        let (key, signature) = (format!("{path}\0{}", letter.sha256), Signature::of(file));
        if let Some(known) = self.memory.changed.known(&key, signature) {
            return Ok(known);
        }
        if self.compared == MOST_COMPARED {
            return Ok(None);
        }
        self.compared += 1;
        let limit = letter.size.saturating_add(ADDED);
        let Some(content) = of_one(self.shelf.content(path, limit).await)? else { return Ok(None) };
        // A copy that gets its length first ends in zeros until it is complete.
        let is_whole = PdfHead::is_of_pdf(&content)
            && content.last() != Some(&0)
            && !letter.filed.beginnings.may_have(&content, letter.size);
        let found = is_whole.then(|| Digest::of(&content));
        self.memory.changed.note(&key, signature, found.clone());
        Ok(found)
    }

    /// The digest of a file; `None` if it cannot be read, or not yet.
    async fn digest(&mut self, path: &str, file: &Entry, size: u64) -> Result<Option<Digest>, Outcome> {
        let signature = Signature::of(file);
        let known = self.digests.get(path).cloned().or_else(|| self.memory.digests.known(path, signature));
        if known.is_some() || self.compared == MOST_COMPARED {
            return Ok(known);
        }
        self.compared += 1;
        let limit = file.size.unwrap_or(size).min(size.saturating_add(ADDED));
        let digest = of_one(self.shelf.digest(path, limit).await)?;
        if let Some(digest) = digest.as_ref().filter(|digest| digest.size <= limit) {
            self.memory.digests.note(path, signature, digest.clone());
            self.digests.insert(path.to_owned(), digest.clone());
        }
        Ok(digest)
    }
}
