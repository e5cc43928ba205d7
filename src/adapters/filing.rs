//! How a PDF gets its name in a folder, on this machine or on another: one way, whatever the folder is (ENGINE.md, "A
//! name in a destination").
//!
//! A folder brings the calls of [`Storage`]; [`Filing`] does the rest, step by step. It settles what attempts before it
//! were about to do, puts the PDF under a temporary name, complete and durable, reserves a name with the intent, puts
//! the sidecar and then the PDF under its name without overwriting, makes that durable, and looks where it is not known
//! what came of a step. After a crash the reserved name and the temporary file tell what was done: the content under
//! the name is the delivery; the temporary file was not put there; neither, and it was put there and an importer took
//! it. With `sidecar_after` the sidecar gets its name last.

use std::collections::HashSet;
use std::sync::Mutex;

use async_trait::async_trait;

use super::candidate::{self, Candidate, MAX_NAMES};
use super::files::{Digest, Existing};
use super::{Item, Outcome, wording};
use crate::config::{Confirm, LostReply, SidecarConfig};
use crate::name;
use crate::reservation::{Intent, Known, Place, Wanted};
use crate::template::{Context, Template};

use self::interrupted::Before;

mod filed;
mod interrupted;
mod naming;
mod sidecar;

#[cfg(test)]
pub(super) use self::interrupted::key_of;

/// What the configuration says of names there.
pub(super) struct Options<'a> {
    /// NAME of the destination.
    pub(super) destination: &'a str,
    pub(super) file_name: &'a Template,
    pub(super) sidecar: Option<&'a SidecarConfig>,
    pub(super) on_lost_reply: Option<LostReply>,
    pub(super) confirm: Option<&'a Confirm>,
}

/// What came of a rename that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Renamed {
    /// It has the new name.
    Done,
    /// It was refused, perhaps because something has the name: whoever asked looks. Where nothing has it, this is what
    /// became of the delivery.
    Refused(Outcome),
    /// The same, because it sees no file of that name. A look that sees one contradicts it.
    Missing(Outcome),
}

/// Why a PDF has not got its name.
pub(super) struct NotNamed {
    pub(super) outcome: Outcome,
    /// Whether that is sure: else the intent stays, and the next attempt looks.
    pub(super) surely: bool,
    /// Whether an attempt before may have named it, and an importer taken it with its sidecar.
    pub(super) is_taken: bool,
}

impl NotNamed {
    pub(super) fn perhaps(outcome: Outcome) -> Self {
        Self { outcome, surely: false, is_taken: false }
    }

    pub(super) fn surely(outcome: Outcome) -> Self {
        Self { outcome, surely: true, is_taken: false }
    }
}

/// What became of a sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// It has its name now, durably.
    New,
    /// It had it already.
    Same,
    /// Something else has the name.
    Taken,
}

/// A destination's folder. Names are those of files in one of its sub-folders. An `Err` is what becomes of the
/// delivery.
#[async_trait]
pub(super) trait Storage: Send + Sync {
    /// A sub-folder, or the folder itself.
    type Folder: Send + Sync;
    /// The right to give sidecars this name.
    type Turn: Send;
    /// Whether what was refused, was refused: no request that was given up can still be carried out.
    const AT_ONCE: bool;

    fn options(&self) -> Options<'_>;

    /// Whether the folder itself is there: where it is not, nothing that is missing in it says anything.
    async fn find_root(&self) -> Result<(), Outcome>;

    /// A sub-folder, whether or not it is there.
    async fn find(&self, parts: &[&str]) -> Result<Self::Folder, Outcome>;

    /// A sub-folder for a file of this name, made where it is missing. The folder itself is never made.
    async fn make(&self, parts: &[&str], file: &str) -> Result<Self::Folder, Outcome>;

    /// The name as the folder can keep it; `key` of the delivery.
    async fn fit(&self, _folder: &Self::Folder, _key: &str, name: String) -> Result<String, Outcome> {
        Ok(name)
    }

    /// By which a name there is known in the ledger.
    fn place(&self, folder: &Self::Folder, name: &str) -> Place;

    /// A path below the folder, for the person who asks where a letter lies.
    fn shown(&self, path: &str) -> String;

    /// Compares what has the name with `content`.
    async fn existing(&self, folder: &Self::Folder, name: &str, content: &Digest) -> Result<Existing, Outcome>;

    /// The PDF under a temporary name: complete, compared, and durable. `staged` is the name as soon as something may
    /// have it. No intent may be in the ledger meanwhile.
    async fn stage(
        &self,
        folder: &Self::Folder,
        item: &Item,
        content: &Digest,
        staged: &mut Option<String>,
    ) -> Result<String, Outcome>;

    /// Whether a temporary file that an attempt before left is the whole PDF, and can be used; what cannot is
    /// `Different`.
    async fn left(&self, folder: &Self::Folder, temporary: &str, content: &Digest) -> Result<Existing, Outcome>;

    /// Whether a file still has its temporary name, and never had its own.
    async fn waits(&self, folder: &Self::Folder, temporary: &str) -> Result<bool, Outcome>;

    /// Gives a file another name, over nothing. An `Err` says that it is not known whether that happened.
    async fn rename(&self, folder: &Self::Folder, from: &str, to: &str) -> Result<Renamed, Outcome>;

    /// Makes a rename durable that was done, or sees it.
    async fn confirm(&self, folder: &Self::Folder, temporary: &str, name: &str) -> Result<(), NotNamed>;

    /// Whether a file that was renamed, and is not seen under its name, can only have been taken from there.
    async fn keeps(&self, _folder: &Self::Folder, _temporary: &str, _name: &str) -> Result<bool, Outcome> {
        Ok(true)
    }

    /// Makes a file durable that was found under its name: an attempt that was cut off may have put it there.
    async fn secure(&self, folder: &Self::Folder, item: &Item, content: &Digest, name: &str) -> Result<(), Outcome>;

    /// The names of the files in the folder, as many as can be listed within bounds.
    async fn names(&self, folder: &Self::Folder) -> Result<HashSet<String>, Outcome>;

    /// Waits until no other document can be about to give a sidecar this name.
    async fn turn(&self, folder: &Self::Folder, name: &str) -> Self::Turn;

    /// Puts a sidecar under its name, over nothing.
    async fn put_sidecar(&self, folder: &Self::Folder, item: &Item, name: &str, text: Vec<u8>) -> Result<Put, Outcome>;

    /// Removes a file of ours that is of no use any more. Where that is not allowed it stays, and hurts nobody.
    async fn remove(&self, folder: &Self::Folder, name: &str) -> Result<(), Outcome>;

    /// The temporary names that attempts at a delivery of this key may have left.
    fn temporaries(&self, key: &str) -> Vec<String>;

    /// Whether an attempt before this one may have left another of them.
    fn is_first(&self, item: &Item) -> bool;

    /// Whether what became of a delivery says that the folder answers at all: what hangs would remove later what is
    /// sent next.
    fn answers(&self, outcome: &Outcome) -> bool;

    /// The delivery of this key has come to its end.
    fn ended(&self, key: &str);
}

/// One delivery. `Err` is what became of it when the document is not there.
pub(super) struct Filing<'a, S: Storage> {
    storage: &'a S,
    item: &'a Item,
    content: Digest,
    /// The name that the sidecar got.
    placed: Mutex<Option<String>>,
}

/// Where a document goes.
struct Target<F> {
    folder: F,
    /// The folder's path below the destination's.
    within: String,
    /// The wanted name.
    file: String,
}

impl<F> Target<F> {
    /// The path of a file in it, below the destination's folder.
    fn path(&self, name: &str) -> String {
        if self.within.is_empty() { name.to_owned() } else { format!("{}/{name}", self.within) }
    }
}

/// The folders of a path below the destination's, and the name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn parts(within: &str) -> Vec<&str> {
    within.split('/').filter(|part| !part.is_empty()).collect()
}

impl<'a, S: Storage> Filing<'a, S> {
    pub(super) fn new(storage: &'a S, item: &'a Item) -> Self {
        let content = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        Self { storage, item, content, placed: Mutex::default() }
    }

    /// The document, delivered; an error is what became of it otherwise.
    pub(super) async fn run(&self) -> Result<Outcome, Outcome> {
        let (path, before) = self.file().await?;
        let place = self.storage.shown(&path);
        let filed = match self.storage.options().confirm {
            Some(_) => Some(Box::new(self.filed(path, before).await?)),
            None => None,
        };
        self.storage.ended(&self.item.key);
        Ok(Outcome::Delivered { place, filed, beside: false })
    }

    /// The path of the document then, below the destination's folder, and [`crate::proof::Filed::before`].
    async fn file(&self) -> Result<(String, Vec<String>), Outcome> {
        let (within, file) = self.wanted_name()?;
        let mut known = self.item.names.known().await?;
        if known.intent.is_some() || !known.others.is_empty() {
            self.storage.find_root().await?;
        }
        if !known.others.is_empty() {
            self.settle_others(&known.others).await?;
            known = self.item.names.known().await?;
        }
        let (waiting, mut staged) = match self.resume(&known, &within).await? {
            Before::Filed { path, is_there: true } => {
                self.put_sidecar_last(&path, true).await?;
                let before = self.namesakes(&path).await;
                return Ok((path, before));
            }
            // What was moved there meanwhile is the document.
            Before::Filed { path, is_there: false } => return Ok((path, Vec::new())),
            // A rename that is carried out only now moves a whole file: it is not written anew.
            Before::Waits { intent, is_whole } => {
                let staged = is_whole.then(|| intent.temporary.clone());
                (Some(intent), staged)
            }
            Before::Nothing => (None, None),
        };
        let folder = self.storage.make(&parts(&within), &file).await?;
        let file = self.storage.fit(&folder, &self.item.key, file).await?;
        let target = Target { folder, within, file };
        // Its intent stands as long as it is not known that it was not renamed.
        let kept = waiting.as_ref().filter(|_| !S::AT_ONCE && staged.is_some());
        let outcome = match self.find_place(&target, &known, kept, &mut staged).await {
            Ok(filed) => {
                // Where the folder does not answer, the next attempt clears away once more. It finds the file by the
                // intent, or an importer took it: not where there is none, nor where it would be sent again then, or a
                // person asked.
                if let Err(unanswered) = self.clear_after(&target, staged.as_deref(), waiting.as_ref()).await
                    && (S::AT_ONCE
                        || self.storage.options().on_lost_reply.is_none()
                            && matches!(self.item.names.known().await, Ok(Known { intent: Some(_), .. })))
                {
                    return Err(unanswered);
                }
                return Ok(filed);
            }
            Err(outcome) => outcome,
        };
        // Where the intent stands, or may come to stand, the temporary file is evidence.
        if outcome != Outcome::Unrecorded
            && self.storage.answers(&outcome)
            && matches!(self.item.names.known().await, Ok(Known { intent: None, .. }))
        {
            match staged {
                // What attempts left may be what takes the room.
                _ if matches!(outcome, Outcome::NoRoom(_)) => drop(self.clear(&target.folder, &self.item.key).await),
                Some(temporary) => drop(self.storage.remove(&target.folder, &temporary).await),
                None => {}
            }
        }
        Err(outcome)
    }

    /// Removes what attempts at this delivery left under its temporary names; nothing is made.
    pub(super) async fn abandon(&self) -> Result<(), Outcome> {
        let (within, _) = self.wanted_name()?;
        let folder = self.storage.find(&parts(&within)).await?;
        // One that is not answered may be carried out late: the fewer, the better.
        for temporary in self.storage.temporaries(&self.item.key) {
            self.storage.remove(&folder, &temporary).await?;
        }
        Ok(())
    }

    /// The path of the sub-folder, and the name.
    fn wanted_name(&self) -> Result<(String, String), Outcome> {
        let Options { destination, file_name, sidecar, .. } = self.storage.options();
        let metadata = wording::for_name(sidecar, &self.item.metadata);
        let context = Context::new(&metadata).with_identity(&self.item.key);
        let rendered =
            file_name.render(&context).map_err(|error| wording::not_filled_in(destination, "file_name", &error))?;
        let mut parts = name::relative_path(&rendered);
        let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
        Ok((parts.join("/"), file))
    }

    /// Tries one name after the other. Returns the path of the one that the document has now, as [`Self::file`].
    async fn find_place(
        &self,
        target: &Target<S::Folder>,
        known: &Known,
        mut kept: Option<&Intent>,
        staged: &mut Option<String>,
    ) -> Result<(String, Vec<String>), Outcome> {
        let folder = &target.folder;
        let first = self.first_to_try(target, known).await?;
        for index in first.into_iter().chain(0..MAX_NAMES) {
            let candidate = self.candidate(target, known, index);
            let name = &candidate.name;
            let wanted = Wanted {
                place: self.storage.place(folder, name),
                family: self.storage.place(folder, &candidate.family),
            };
            if let Some(before) = kept.take_if(|before| before.place != wanted.place) {
                self.item.names.settle(&before.place, false).await?;
            }
            match self.storage.existing(folder, name, &self.content).await? {
                Existing::Different => {}
                // Nobody's name, so it is the work of this delivery, of which a ledger that was lost knew.
                Existing::Same => {
                    if self.item.names.reserve(known.version, &wanted, None).await? {
                        self.storage.secure(folder, self.item, &self.content, name).await?;
                        // What was written for a name that was taken is cleared away with the rest.
                        *staged = None;
                        let path = target.path(name);
                        let before = self.namesakes(&path).await;
                        return Ok((path, before));
                    }
                }
                Existing::Absent => {
                    let temporary = match staged {
                        Some(temporary) => temporary.clone(),
                        None => self.storage.stage(folder, self.item, &self.content, staged).await?,
                    };
                    let intent = Intent { place: wanted.place.clone(), path: target.path(name), temporary };
                    let next = self.candidate(target, known, index + 1);
                    let is_kept = kept.is_some();
                    let before = self.namesakes(&intent.path).await;
                    if self.give_names(target, known, &wanted, &intent, &next.name, is_kept).await? {
                        return Ok((intent.path, before));
                    }
                }
            }
        }
        Err(wording::no_name_left(self.storage.options().destination))
    }

    fn candidate(&self, target: &Target<S::Folder>, known: &Known, index: usize) -> Candidate {
        Candidate::of(&self.item.uuid, &target.file, known.version, index)
    }

    /// The name that is the document's already, if there is one, or the one that is like its earlier version's. Where
    /// the ledger was lost: the one that is its alone, if it lies there; the plain one may be that of another document
    /// with the same content.
    async fn first_to_try(&self, target: &Target<S::Folder>, known: &Known) -> Result<Option<usize>, Outcome> {
        if known.own.is_empty() && known.families.is_empty() {
            let alone = self.candidate(target, known, 1).name;
            let existing = self.storage.existing(&target.folder, &alone, &self.content).await?;
            return Ok((existing == Existing::Same).then_some(1));
        }
        let place = |name: &str| self.storage.place(&target.folder, name);
        Ok(candidate::known_before(known, |index| self.candidate(target, known, index), place))
    }
}
