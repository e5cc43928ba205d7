//! Whether letters that were delivered still lie where they were put (`docsyncd reconcile`; RECORD.md, section 5). It
//! only reads.
//!
//! A letter is asked for by its own name: to list folders saves nothing, as each letter is read to be compared. That
//! nothing lies there is concluded between two looks at the destination's folder itself, as in [`super::confirm`].

use std::path::MAIN_SEPARATOR_STR;

use super::Outcome;
use super::confirm::{Shelf, of_one};
use crate::document::Version;

/// A letter that was delivered. Holds patient data, so it has no `Debug`.
#[derive(Clone)]
pub struct Kept {
    /// Whose letter, and which version of it.
    pub version: Version,
    /// [`super::Item::key`] of the delivery.
    pub key: String,
    /// Where it was put, as a person is shown it.
    pub place: String,
    /// Length in bytes and SHA-256, 64 lower-case hexadecimal digits, of the PDF.
    pub size: u64,
    /// As above.
    pub sha256: String,
}

impl Kept {
    /// Whether this is its content.
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
    /// Nobody can look there: it was put elsewhere than the configuration leads to now, or nothing shows what is there.
    Unknown,
}

/// One answer for each letter, in their order.
///
/// # Errors
/// Nothing can be said just now.
pub(super) async fn in_folder(shelf: &dyn Shelf, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
    shelf.find_root().await?;
    let mut found = Vec::with_capacity(letters.len());
    for letter in letters {
        found.push(match path_of(shelf, &letter.place) {
            Some(path) => held(shelf, path, letter).await?,
            None => Holds::Unknown,
        });
    }
    // Of a folder that went away meanwhile nothing is known.
    shelf.find_root().await?;
    Ok(found)
}

/// The path below the destination's folder of what a person is shown as this place; `None` where it is not below it.
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
