//! Looks which filed letters the destination's software took (`confirm`; docs/destinations.md), in the same way
//! whatever the folder is.
//!
//! A folder implements [`Shelf`]; [`look`] does the rest. It concludes that a letter is gone from a look at the
//! letter's own name, between two looks at the destination's folder itself. A listing only saves that look if the
//! letter still lies there. One file proves one letter. Whoever asks compares what was seen ([`Seen`]) with the
//! next look, since nothing counts that is still being written.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use unicode_normalization::UnicodeNormalization as _;

use super::candidate::{self, below};
use super::files::Digest;
use super::{Others, Outcome, Unproved};
use crate::config::{Confirm, Evidence};
use crate::domain::failure::Code;
use crate::domain::proof::{Proof, Seen, Sight};

pub(super) use memory::Memory;
use memory::{InSidecar, Said};
pub(super) use sights::Sights;

mod compared;
mod memory;
mod sidecar;
mod sights;
#[cfg(test)]
mod tests;

/// A file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// In bytes, if the folder tells it.
    pub(crate) size: Option<u64>,
    /// The time of the last change, by the folder's own clock.
    pub(crate) modified: Option<u64>,
}

/// A destination's folder, as a look needs it. Paths are below the folder, with `/`.
#[async_trait]
pub(super) trait Shelf: Send + Sync {
    /// NAME of the destination.
    fn name(&self) -> &str;

    /// Checks that the folder itself is there: otherwise a missing file in it proves nothing.
    async fn find_root(&self) -> Result<(), Outcome>;

    /// The files in a sub-folder, up to a bound; `None` if there is no such sub-folder.
    async fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, Outcome>;

    /// When a sub-folder was last changed, in any unit, if the folder tells it: whenever a name in it comes or goes.
    async fn changed(&self, folder: &str) -> Result<Option<u64>, Outcome>;

    /// The paths without a file. A path that cannot be looked at is not among them.
    async fn missing(&self, paths: Vec<String>) -> Result<HashSet<String>, Outcome>;

    /// The digest of a file; if the file is longer than `limit`, that of any part longer than `limit`. `None` if it
    /// cannot be read.
    async fn digest(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome>;

    /// The content of a file; `None` if it is longer than `limit`, or cannot be read.
    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome>;

    /// Distinguishes the folder from another one at its path, if the machine can: see
    /// [`crate::domain::proof::Filed::root`].
    async fn identity(&self) -> Option<String> {
        None
    }

    /// The path in the form that is shown to a person who asks where a letter lies.
    fn shown(&self, path: &str) -> String;
}

/// One answer for each letter, in their order.
///
/// # Errors
/// Nothing can be said about any letter at the moment.
pub(super) async fn look(
    shelf: &dyn Shelf,
    confirm: &Confirm,
    memory: &Memory,
    letters: &[Unproved],
    others: &dyn Others,
) -> Result<Vec<Sight>, Outcome> {
    shelf.find_root().await?;
    let own = letters.iter().map(|letter| letter.filed.path.as_str()).collect();
    let (folders, digests) = (HashMap::new(), HashMap::new());
    let mut look =
        Look { shelf, confirm, memory, letters, others, own, folders, digests, used: BTreeSet::new(), compared: 0 };
    let sights = look.sights().await?;
    // If the folder went away meanwhile, the look proves nothing.
    shelf.find_root().await?;
    Ok(sights)
}

/// Warnings about the folders that letters are moved to.
pub(super) async fn doubts(shelf: &dyn Shelf, confirm: Option<&Confirm>) -> Vec<String> {
    let mut doubts = Vec::new();
    for folder in confirm.into_iter().flat_map(Confirm::folders) {
        match shelf.list(folder).await {
            Ok(Some(_)) => {}
            Ok(None) => doubts.push(format!(
                "its folder `{folder}`, to which letters are moved, is not there yet: until the software makes it, none of them counts as \
                 taken or refused by it"
            )),
            Err(outcome) => doubts.push(format!("its folder `{folder}`, to which letters are moved, cannot be read: {}", outcome.reason())),
        }
    }
    doubts
}

/// The paths that a file may have after it was moved into this folder.
pub(super) fn elsewhere(folder: &str, path: &str) -> Vec<String> {
    let name = path.rsplit_once('/').map(|(_, name)| format!("{folder}/{name}"));
    [format!("{folder}/{path}")].into_iter().chain(name).collect()
}

/// The sub-folders in which the proof of a letter in `within` may appear: below the folder that letters are moved to,
/// or where it is.
fn places(moved: Option<&str>, within: &str) -> Vec<String> {
    match moved {
        Some(folder) if within.is_empty() => vec![folder.to_owned()],
        Some(folder) => vec![format!("{folder}/{within}"), folder.to_owned()],
        None => vec![within.to_owned()],
    }
}

/// [`places`], for every evidence that is another file than the letter's own.
pub(super) fn places_of(confirm: &Confirm, within: &str) -> BTreeSet<String> {
    let moved = confirm.folders().flat_map(|folder| places(Some(folder), within));
    let own = (confirm.success == Evidence::Renamed).then(|| places(None, within));
    moved.chain(own.into_iter().flatten()).collect()
}

/// A listed sub-folder.
#[derive(Default)]
struct Folder {
    /// By name in a normal form: some file systems return another form than was asked for.
    files: HashMap<String, Entry>,
    /// The names by size.
    sizes: HashMap<Option<u64>, Vec<String>>,
}

/// The property that matches a file to a letter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    NameAndContent,
    Name,
    Content,
}

struct Look<'a> {
    shelf: &'a dyn Shelf,
    confirm: &'a Confirm,
    memory: &'a Memory,
    letters: &'a [Unproved],
    others: &'a dyn Others,
    /// The paths where the letters were put.
    own: HashSet<&'a str>,
    folders: HashMap<String, Folder>,
    /// The digests of files that were read in this look.
    digests: HashMap<String, Digest>,
    /// Files that already prove a letter.
    used: BTreeSet<String>,
    compared: usize,
}

/// The letters that some evidence covers, by their index in the list, with the path of the file that shows it.
type Held = BTreeMap<usize, (Option<String>, Seen)>;
/// The letters that are gone, by their index in the list, each with the last change of its folder.
type Gone = BTreeMap<usize, Option<u64>>;

impl Look<'_> {
    async fn sights(&mut self) -> Result<Vec<Sight>, Outcome> {
        let Confirm { success, failed, .. } = self.confirm;
        let both = [Some(success), failed.as_ref()];
        let (by_sidecar, by_place) =
            both.into_iter().flatten().partition::<Vec<_>, _>(|of| matches!(of, Evidence::Sidecar(_)));
        let gone = if by_place.is_empty() { Gone::new() } else { self.gone().await? };
        let said = if by_sidecar.is_empty() { Vec::new() } else { self.said().await? };
        let refused = match failed {
            Some(failed) => self.held(failed, &gone, &said, Said::Refused).await?,
            None => Held::new(),
        };
        let taken = self.held(success, &gone, &said, Said::Taken).await?;
        let sight = |index| match (refused.get(&index), taken.get(&index), success) {
            (Some((_, seen)), ..) => self.refused(seen.clone()),
            (None, None, _) | (None, Some(_), Evidence::Probe | Evidence::Query) => Sight::Waits,
            (None, Some((_, seen)), Evidence::Taken) => Sight::Gone(seen.clone()),
            (None, Some((path, seen)), Evidence::Moved(_) | Evidence::Renamed) => {
                let place = path.as_deref().map(|path| self.shelf.shown(path));
                Sight::Proved { proof: Proof::Moved, place, seen: Some(seen.clone()) }
            }
            (None, Some((_, seen)), Evidence::Sidecar(_)) => {
                Sight::Proved { proof: Proof::Sidecar, place: None, seen: Some(seen.clone()) }
            }
        };
        Ok((0..self.letters.len()).map(sight).collect())
    }

    fn refused(&self, seen: Seen) -> Sight {
        let what = match self.confirm.failed {
            Some(Evidence::Sidecar(_)) => "wrote into the sidecar that it refuses it",
            _ => "moved it to its folder of refused files",
        };
        Sight::Refused { reason: format!("destination `{}`: the practice's software {what}", self.shelf.name()), seen }
    }

    async fn held(
        &mut self,
        evidence: &Evidence,
        gone: &Gone,
        said: &[InSidecar],
        wanted: Said,
    ) -> Result<Held, Outcome> {
        match evidence {
            // A file that came back and went again has changed its folder. In another folder than that in which the
            // letter was put, such as the mount point of a share that went away, its absence says nothing.
            Evidence::Taken => {
                let here = self.shelf.identity().await;
                let letter = |index: &usize| self.letters.get(*index);
                let is_here =
                    |index: &usize| letter(index).is_some_and(|of| of.filed.root.is_none() || of.filed.root == here);
                let gone = gone.iter().filter(|(index, _)| is_here(index));
                Ok(gone.map(|(index, changed)| (*index, (None, Seen::of(format!("{changed:?}"))))).collect())
            }
            Evidence::Moved(folder) => self.came_to(Some(folder), gone).await,
            Evidence::Renamed => self.came_to(None, gone).await,
            Evidence::Sidecar(_) => {
                let of_it = said.iter().enumerate().filter(|(_, answer)| answer.said == wanted);
                Ok(of_it.map(|(index, answer)| (index, (None, answer.seen.clone()))).collect())
            }
            Evidence::Probe | Evidence::Query => Ok(Held::new()),
        }
    }

    /// Whether the letter was put below the folder that is configured now: a look sees nothing of another folder.
    fn is_here(&self, letter: &Unproved) -> bool {
        self.shelf.shown(&letter.filed.path) == letter.place
    }

    /// The letters that no longer lie where they were put.
    async fn gone(&mut self) -> Result<Gone, Outcome> {
        let letters = self.letters;
        let (mut unseen, mut changed) = (Vec::new(), HashMap::new());
        for letter in letters {
            let filed = &letter.filed;
            if self.is_here(letter) && !self.list(filed.folder()).await?.files.contains_key(&composed(filed.name())) {
                unseen.push(filed.path.clone());
                // Before the look at the letter, so that it cannot come and go in between unnoticed.
                if self.confirm.success == Evidence::Taken && !changed.contains_key(filed.folder()) {
                    changed.insert(filed.folder(), of_one(self.shelf.changed(filed.folder()).await)?);
                }
            }
        }
        let missing = if unseen.is_empty() { HashSet::new() } else { self.shelf.missing(unseen).await? };
        let gone = |(index, letter): (usize, &Unproved)| {
            let changed = || changed.get(letter.filed.folder()).copied().flatten();
            missing.contains(&letter.filed.path).then(|| (index, changed()))
        };
        Ok(letters.iter().enumerate().filter_map(gone).collect())
    }

    /// A sub-folder, listed once.
    async fn list(&mut self, path: &str) -> Result<&Folder, Outcome> {
        if !self.folders.contains_key(path) {
            let listed = match self.shelf.list(path).await {
                Ok(listed) => listed.unwrap_or_default(),
                Err(outcome) if is_of_all(&outcome) => return Err(outcome),
                Err(_) => Vec::new(),
            };
            let mut folder = Folder::default();
            for file in listed {
                let name = composed(&file.name);
                folder.sizes.entry(file.size).or_default().push(name.clone());
                folder.files.insert(name, file);
            }
            self.folders.insert(path.to_owned(), folder);
        }
        Ok(self.folders.entry(path.to_owned()).or_default())
    }

    /// Of the letters that are gone, those that came into a folder, or got another name in their own. Where a copy for
    /// another patient may be about, it is the letter's own name that shows which one came.
    async fn came_to(&mut self, folder: Option<&str>, gone: &Gone) -> Result<Held, Outcome> {
        let letters = self.letters;
        let ways: &[By] = match folder {
            Some(_) => &[By::NameAndContent, By::Content, By::Name],
            None => &[By::Content],
        };
        let mut held = Held::new();
        for by in ways {
            for index in gone.keys() {
                let is_told = |letter: &&Unproved| *by != By::Content || !letter.has_editions || letter.is_first;
                let letter = letters.get(*index).filter(|_| !held.contains_key(index)).filter(is_told);
                let Some(letter) = letter else { continue };
                if let Some((path, seen)) = self.file_of(letter, folder, *by).await? {
                    self.used.insert(path.clone());
                    held.insert(*index, (Some(path), seen));
                }
            }
        }
        Ok(held)
    }

    /// The path of a file that belongs to this letter and to no other.
    async fn file_of(
        &mut self,
        letter: &Unproved,
        folder: Option<&str>,
        by: By,
    ) -> Result<Option<(String, Seen)>, Outcome> {
        let (within, name) = (letter.filed.folder(), composed(letter.filed.name()));
        for place in places(folder, within) {
            let listed = self.list(&place).await?;
            let files: Vec<Entry> = match by {
                By::Content => {
                    let of_size =
                        [Some(letter.size), None].into_iter().filter_map(|size| listed.sizes.get(&size)).flatten();
                    of_size.filter(|found| **found != name).filter_map(|name| listed.files.get(name)).cloned().collect()
                }
                By::NameAndContent | By::Name => listed.files.get(&name).cloned().into_iter().collect(),
            };
            for file in files.into_iter().filter(|file| !file.name.starts_with(candidate::TEMPORARY)) {
                let path = below(&place, &file.name);
                if !was_there(&path, &file, letter)
                    && self.is_free(&path).await
                    // A file with the name of another letter belongs to that letter.
                    && (by != By::Content
                        || !self.is_of_another(&file, letter) && self.is_free(&below(within, &file.name)).await)
                    && let Some(seen) = self.proves(&path, &file, letter, by).await?
                {
                    return Ok(Some((path, seen)));
                }
            }
        }
        Ok(None)
    }

    /// Whether another letter of the same content was written at the same moment as the file. Then the file is the
    /// other letter's, because that one may have seen this letter's file before its own filing.
    fn is_of_another(&self, file: &Entry, letter: &Unproved) -> bool {
        let is_of = |other: &Unproved| other.filed.written == file.modified && other.sha256 == letter.sha256;
        file.modified.is_some() && !is_of(letter) && self.letters.iter().any(is_of)
    }

    async fn is_free(&self, path: &str) -> bool {
        !self.used.contains(path) && !self.own.contains(path) && !self.others.have(path, &self.shelf.shown(path)).await
    }
}

/// Whether the file was there before the letter. Then it says nothing about this filing. What was seen before the
/// filing decides, because a copy may have any time: cut to two seconds, or that of the original. If that is unknown,
/// only the time decides.
fn was_there(path: &str, file: &Entry, letter: &Unproved) -> bool {
    let filed = &letter.filed;
    let is_newer = file.modified.zip(filed.written).map(|(found, written)| found >= written);
    match filed.is_listed && file.size.is_some() {
        true => is_newer != Some(true) && filed.before.iter().any(|before| composed(before) == composed(path)),
        false => is_newer == Some(false),
    }
}

/// A name in its normal form (NFC).
fn composed(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { name.nfc().collect() }
}

/// A file that cannot be read says nothing about its letter, or about others.
pub(super) fn of_one<T>(read: Result<Option<T>, Outcome>) -> Result<Option<T>, Outcome> {
    match read {
        Err(outcome) if !is_of_all(&outcome) => Ok(None),
        read => read,
    }
}

/// Whether the failure concerns the destination, and not only one file there.
pub(super) fn is_of_all(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Unavailable { code, .. } => *code != Code::Status(403),
        // A look changes nothing, so a lost reply loses only the answer.
        Outcome::Unconfirmed { .. } => true,
        Outcome::Transient { code, .. } => outcome.is_unanswered() || *code == Code::word("folder_unusable"),
        _ => false,
    }
}
