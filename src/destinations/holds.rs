//! Whether delivered letters still lie where they were put (`docsyncd reconcile`; docs/reconcile.md). It only reads.
//!
//! It asks for each letter by name. Listing folders would save nothing, because each letter is read to be compared. It
//! concludes that nothing lies there between two looks at the destination's folder itself, as in [`super::confirm`].

use std::path::MAIN_SEPARATOR_STR;

use super::Outcome;
use super::confirm::{Shelf, of_one};
use crate::domain::document::Version;

/// A delivered letter. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct Kept {
    /// The document and its version.
    pub version: Version,
    /// [`super::Item::key`] of the delivery.
    pub key: String,
    /// Where it was put, in the form that is shown to a person.
    pub place: String,
    /// Length of the PDF in bytes.
    pub size: u64,
    /// SHA-256 of the PDF, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

impl Kept {
    /// Whether `found` is the letter's content.
    pub(super) fn is(&self, found: &super::files::Digest) -> bool {
        found.size == self.size && found.sha256.eq_ignore_ascii_case(&self.sha256)
    }
}

/// What lies where a letter was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The letter.
    Same,
    /// Something else.
    Other,
    /// Nothing.
    Nothing,
    /// Something that cannot be read at the moment.
    Unread,
    /// Nobody can look there: the letter is outside of the configured place, or nothing shows what is there.
    Unknown,
}

/// One answer for each letter, in their order.
///
/// # Errors
/// Nothing can be said about any letter at the moment.
pub(super) async fn in_folder(shelf: &dyn Shelf, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
    shelf.find_root().await?;
    let mut found = Vec::with_capacity(letters.len());
    for letter in letters {
        found.push(match path_of(shelf, &letter.place) {
            Some(path) => held(shelf, path, letter).await?,
            None => Holds::Unknown,
        });
    }
    // If the folder went away meanwhile, the look proves nothing.
    shelf.find_root().await?;
    Ok(found)
}

/// The path below the destination's folder for a place as a person is shown it; `None` if it is not below the folder.
fn path_of(shelf: &dyn Shelf, place: &str) -> Option<String> {
    let one = shelf.shown("x");
    let path = place.strip_prefix(one.strip_suffix('x')?)?.replace(MAIN_SEPARATOR_STR, "/");
    (!path.is_empty() && shelf.shown(&path) == place).then_some(path)
}

async fn held(shelf: &dyn Shelf, path: String, letter: &Kept) -> Result<Holds, Outcome> {
    Ok(match of_one(shelf.digest(&path, letter.size).await)? {
        Some(found) if letter.is(&found) => Holds::Same,
        Some(_) => Holds::Other,
        None => match of_one(shelf.missing(vec![path.clone()]).await.map(Some))? {
            Some(missing) if missing.contains(&path) => Holds::Nothing,
            _ => Holds::Unread,
        },
    })
}
