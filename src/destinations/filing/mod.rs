//! How a PDF gets its name in a folder, on this machine or on another: in the same way, whatever the folder is.
//!
//! A folder implements [`Storage`]; [`Filing`] does the rest, step by step. It settles the intents of earlier attempts.
//! It puts the PDF under a temporary name, complete and durable. It reserves a name and records the intent. It puts the
//! sidecar and then the PDF under its name without overwriting, makes that durable, and looks if the result of a step
//! is unknown. After a crash, the reserved name and the temporary file tell what was done. If the content has the name,
//! it is delivered. If the temporary file is there, the content never got the name. If neither is there, the content
//! got the name and an importer took it. With `sidecar_after` the sidecar gets its name last.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::candidate::{self, Candidate, MAX_NAMES, below, split};
use super::confirm::Entry;
use super::files::{Digest, Existing};
use super::{Item, Outcome, wording};
use crate::config::Confirm;
use crate::destinations::{LostReply, SidecarConfig};
use crate::domain::reservation::{Intent, Known, Place, Wanted};
use crate::formats::template::{Context, Template};

use self::filed::Was;
use self::interrupted::Before;

mod filed;
mod interrupted;
mod naming;
mod sidecar;

#[cfg(test)]
pub(super) use self::interrupted::key_of;

/// The configuration of names in the folder.
pub(super) struct Options<'a> {
    /// NAME of the destination.
    pub(super) destination: &'a str,
    pub(super) file_name: &'a Template,
    pub(super) sidecar: Option<&'a SidecarConfig>,
    /// A rename in a folder of this machine is always answered. There it matters only after a restore.
    pub(super) on_lost_reply: Option<LostReply>,
    pub(super) confirm: Option<&'a Confirm>,
}

/// The answer to a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Renamed {
    /// The file has the new name.
    Done,
    /// The rename was refused, perhaps because something has the name: the caller looks. If nothing has the name, this
    /// is the outcome of the delivery.
    Refused(Outcome),
    /// The same, because the folder shows no file to rename. A look that shows one contradicts it.
    Missing(Outcome),
}

/// Why a PDF did not get its name.
pub(super) struct NotNamed {
    pub(super) outcome: Outcome,
    /// Whether that is certain. Otherwise the intent stays, and the next attempt looks.
    pub(super) surely: bool,
    /// Whether an earlier attempt may have named the PDF, and an importer may have taken it with its sidecar.
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

/// The result of putting a sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// The sidecar has its name now, durably.
    New,
    /// The sidecar already had its name.
    Same,
    /// Something else has the name.
    Taken,
}

/// A destination's folder. Names are names of files in one of its sub-folders. An `Err` is the outcome of the delivery.
#[async_trait]
pub(super) trait Storage: Send + Sync {
    /// A sub-folder, or the folder itself.
    type Folder: Send + Sync;
    /// The exclusive right to give sidecars a name.
    type Turn: Send;
    /// Whether a refusal is final: no request that was given up can still be carried out later.
    const AT_ONCE: bool;

    fn options(&self) -> Options<'_>;

    /// Checks that the folder itself is there: otherwise a missing file in it proves nothing.
    async fn find_root(&self) -> Result<(), Outcome>;

    /// A sub-folder, which need not exist. Its path is below the folder.
    async fn find(&self, within: &str) -> Result<Self::Folder, Outcome>;

    /// A sub-folder for a file of this name, created if it is missing. The folder itself is never created.
    async fn make(&self, within: &str, file: &str) -> Result<Self::Folder, Outcome>;

    /// The name in a form that the folder can keep; `key` is the delivery's.
    async fn fit(&self, _folder: &Self::Folder, _key: &str, name: String) -> Result<String, Outcome> {
        Ok(name)
    }

    /// The ledger's identifier for a name in the folder.
    fn place(&self, folder: &Self::Folder, name: &str) -> Place;

    /// A path below the folder, for the person who asks where a letter lies.
    fn shown(&self, path: &str) -> String;

    /// Compares the file of this name with `content`.
    async fn existing(&self, folder: &Self::Folder, name: &str, content: &Digest) -> Result<Existing, Outcome>;

    /// Puts the PDF under a temporary name: complete, compared, and durable. `staged` is set to the name as soon as a
    /// file may have it. The ledger must hold no intent meanwhile.
    async fn stage(
        &self,
        folder: &Self::Folder,
        item: &Item,
        content: &Digest,
        staged: &mut Option<String>,
    ) -> Result<String, Outcome>;

    /// Whether a temporary file that an earlier attempt left is the whole PDF, and can be used. An unusable file is
    /// `Different`.
    async fn left(&self, folder: &Self::Folder, temporary: &str, content: &Digest) -> Result<Existing, Outcome>;

    /// Whether a file still has its temporary name, and never got its final one.
    async fn waits(&self, folder: &Self::Folder, temporary: &str) -> Result<bool, Outcome>;

    /// Renames a file without overwriting. An `Err` means that the result is unknown.
    async fn rename(&self, folder: &Self::Folder, from: &str, to: &str) -> Result<Renamed, Outcome>;

    /// When the file was last written, by the folder's own clock, if it tells; in the unit of its listings.
    async fn written(&self, folder: &Self::Folder, name: &str) -> Option<u64>;

    /// The files in a sub-folder, as they were a moment ago, up to a bound; `None` if that cannot be seen now. Without
    /// the sub-folder there are none.
    async fn listed(&self, folder: &str) -> Option<Arc<Vec<Entry>>>;

    /// Distinguishes the folder from another one at its path, if the machine can: see
    /// [`crate::domain::proof::Filed::root`].
    async fn identity(&self) -> Option<String> {
        None
    }

    /// Makes a successful rename durable, or checks that it happened.
    async fn confirm(&self, folder: &Self::Folder, temporary: &str, name: &str) -> Result<(), NotNamed>;

    /// Whether a renamed file that is not seen under its name can only have been taken from there.
    async fn keeps(&self, _folder: &Self::Folder, _temporary: &str, _name: &str) -> Result<bool, Outcome> {
        Ok(true)
    }

    /// Makes a file durable that was found under its name: a killed attempt may have put it there.
    async fn secure(&self, folder: &Self::Folder, item: &Item, content: &Digest, name: &str) -> Result<(), Outcome>;

    /// The names of the files in the folder, up to a bound.
    async fn names(&self, folder: &Self::Folder) -> Result<HashSet<String>, Outcome>;

    /// Waits until no other document is about to give a sidecar this name.
    async fn turn(&self, folder: &Self::Folder, name: &str) -> Self::Turn;

    /// Puts a sidecar under its name without overwriting.
    async fn put_sidecar(&self, folder: &Self::Folder, item: &Item, name: &str, text: Vec<u8>) -> Result<Put, Outcome>;

    /// Removes a file of docsyncd's that is no longer needed. If that is not allowed the file stays, and does no harm.
    async fn remove(&self, folder: &Self::Folder, name: &str) -> Result<(), Outcome>;

    /// The temporary names that attempts at a delivery of this key may have left.
    fn temporaries(&self, key: &str) -> Vec<String>;

    /// Whether no earlier attempt can have left another temporary file.
    fn is_first(&self, item: &Item) -> bool;

    /// Whether the outcome of a delivery shows that the folder answers at all: a remove request that hangs could later
    /// remove what the next attempt sends.
    fn answers(&self, outcome: &Outcome) -> bool;

    /// The delivery of this key has ended.
    fn ended(&self, key: &str);
}

/// One delivery. An `Err` is its outcome if the document is not there.
pub(super) struct Filing<'a, S: Storage> {
    storage: &'a S,
    item: &'a Item,
    content: Digest,
    /// The name that the sidecar got.
    placed: Mutex<Option<String>>,
}

/// The place that a document goes to.
struct Target<F> {
    folder: F,
    /// The folder's path below the destination's.
    within: String,
    /// The wanted name.
    file: String,
    /// The index of the name under which the document lies there already, as a look has shown.
    there: Option<usize>,
}

impl<'a, S: Storage> Filing<'a, S> {
    pub(super) fn new(storage: &'a S, item: &'a Item) -> Self {
        Self { storage, item, content: Digest::of_pdf(&item.pdf), placed: Mutex::default() }
    }

    /// Delivers the document. An error is its outcome otherwise.
    pub(super) async fn run(&self) -> Result<Outcome, Outcome> {
        let was = self.file().await?;
        let place = self.storage.shown(&was.path);
        let filed = match self.storage.options().confirm {
            Some(_) => Some(Box::new(self.filed(was).await?)),
            None => None,
        };
        self.storage.ended(&self.item.key);
        Ok(Outcome::Delivered { place, filed, proof: None, beside: false })
    }

    /// Files the document.
    async fn file(&self) -> Result<Was, Outcome> {
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
                let (lies_within, name) = split(&path);
                let folder = self.storage.find(lies_within).await?;
                return Ok(self.was(&folder, name, path.clone()).await);
            }
            // A file that was moved there meanwhile is the document itself.
            Before::Filed { path, is_there: false } => return Ok(Was { path, ..Was::default() }),
            // A late rename moves the whole file: it is not written again.
            Before::Waits { intent, is_whole } => {
                let staged = is_whole.then(|| intent.temporary.clone());
                (Some(intent), staged)
            }
            Before::Nothing => (None, None),
        };
        let folder = self.storage.make(&within, &file).await?;
        let file = self.fit(&folder, file).await?;
        let mut target = Target { folder, within, file, there: None };
        if let Some((version, index)) = self.forgotten(&target, &known).await? {
            (known.version, target.there) = (version, Some(index));
        } else if let Some(path) = self.moved_before(&target, &known).await? {
            self.clear_if_it_can(&target.folder).await?;
            return Ok(Was { path, ..Was::default() });
        } else if self.item.restored && self.storage.options().on_lost_reply == Some(LostReply::Hold) {
            return Err(Outcome::cut_off("the ledger was restored, and nothing of it is seen there"));
        }
        // The intent stays until it is certain that the file was not renamed.
        let kept = waiting.as_ref().filter(|_| !S::AT_ONCE && staged.is_some());
        let outcome = match self.find_place(&target, &known, kept, &mut staged).await {
            Ok(filed) => {
                // If the folder does not answer, the next attempt clears up. It finds the file by the intent, or an
                // importer took the file. An error only where the next attempt could not find the file: without an
                // intent, if the file would be sent again, or if a person was asked.
                if let Err(unanswered) = self.clear_after(&target, staged.as_deref(), waiting.as_ref()).await
                    && (S::AT_ONCE
                        || self.on_lost_reply().is_none()
                            && matches!(self.item.names.known().await, Ok(Known { intent: Some(_), .. })))
                {
                    return Err(unanswered);
                }
                return Ok(filed);
            }
            Err(outcome) => outcome,
        };
        // While an intent stands, or may stand, the temporary file is evidence.
        if outcome != Outcome::Unrecorded
            && self.storage.answers(&outcome)
            && matches!(self.item.names.known().await, Ok(Known { intent: None, .. }))
        {
            match staged {
                // The leftovers of attempts may fill the disk.
                _ if matches!(outcome, Outcome::NoRoom(_)) => drop(self.clear(&target.folder, &self.item.key).await),
                Some(temporary) => drop(self.storage.remove(&target.folder, &temporary).await),
                None => {}
            }
        }
        Err(outcome)
    }

    /// Removes what attempts at this delivery left under its temporary names. Creates nothing.
    pub(super) async fn abandon(&self) -> Result<(), Outcome> {
        let (within, _) = self.wanted_name()?;
        let folder = self.storage.find(&within).await?;
        // An unanswered request may be carried out late, so stop at the first: the fewer, the better.
        for temporary in self.storage.temporaries(&self.item.key) {
            self.storage.remove(&folder, &temporary).await?;
        }
        Ok(())
    }

    /// The name in a form that the folder can keep, with every identifier as it is.
    async fn fit(&self, folder: &S::Folder, name: String) -> Result<String, Outcome> {
        let fitted = self.storage.fit(folder, &self.item.key, name.clone()).await?;
        let kept = match fitted == name {
            true => Ok(()),
            false => Context::new(&self.item.metadata).unchanged(&name, &fitted),
        };
        let destination = self.storage.options().destination;
        kept.map_err(|changed| wording::not_filled_in(destination, "file_name", &changed.into()))?;
        Ok(fitted)
    }

    /// The path of the sub-folder, and the file name.
    fn wanted_name(&self) -> Result<(String, String), Outcome> {
        let Options { destination, file_name, sidecar, .. } = self.storage.options();
        let metadata = wording::for_name(sidecar, &self.item.metadata);
        candidate::wanted(file_name, &metadata, &self.item.key)
            .map_err(|error| wording::not_filled_in(destination, "file_name", &error))
    }

    /// Tries one name after another.
    async fn find_place(
        &self,
        target: &Target<S::Folder>,
        known: &Known,
        mut kept: Option<&Intent>,
        staged: &mut Option<String>,
    ) -> Result<Was, Outcome> {
        let folder = &target.folder;
        let first = self.first_to_try(target, known).await?;
        for index in first.into_iter().chain(0..MAX_NAMES) {
            let candidate = self.candidate(target, known, index);
            let name = &candidate.name;
            let wanted = self.reserved_by(folder, &candidate);
            if let Some(before) = kept.take_if(|before| before.place != wanted.place) {
                self.item.names.settle(&before.place, false).await?;
            }
            match self.storage.existing(folder, name, &self.content).await? {
                Existing::Different => {}
                // The name is nobody's, so the file is the work of this delivery, which a lost ledger recorded.
                Existing::Same => {
                    let path = below(&target.within, name);
                    if self.item.names.reserve(known.version, &wanted, None).await?
                        && self.can_be_answered(target, known, &path, index).await?
                    {
                        self.storage.secure(folder, self.item, &self.content, name).await?;
                        // The file written for a taken name is removed with the rest.
                        *staged = None;
                        return Ok(self.was(folder, name, path).await);
                    }
                }
                Existing::Absent => {
                    let temporary = match staged {
                        Some(temporary) => temporary.clone(),
                        None => self.storage.stage(folder, self.item, &self.content, staged).await?,
                    };
                    let intent = Intent { place: wanted.place.clone(), path: below(&target.within, name), temporary };
                    let next = self.candidate(target, known, index + 1);
                    let is_kept = kept.is_some();
                    let was = self.was(folder, &intent.temporary, intent.path.clone()).await;
                    if self.give_names(target, known, &wanted, &intent, &next.name, is_kept).await? {
                        return Ok(was);
                    }
                }
            }
        }
        Err(wording::no_name_left(self.storage.options().destination))
    }

    /// Whether the software can answer about the file that lies there already: if it refused it in a sidecar that is
    /// still there, it would be refused again, so it is filed under another name.
    async fn can_be_answered(
        &self,
        target: &Target<S::Folder>,
        known: &Known,
        path: &str,
        index: usize,
    ) -> Result<bool, Outcome> {
        let sidecar = self.storage.options().sidecar.filter(|_| known.was_refused && self.is_answered_in_sidecars());
        let Some(config) = sidecar else { return Ok(true) };
        let next = self.candidate(target, known, index + 1).name;
        self.place_sidecar(&target.folder, config, path, &next, false).await.map(|placed| placed.is_some())
    }

    fn candidate(&self, target: &Target<S::Folder>, known: &Known, index: usize) -> Candidate {
        Candidate::of(&self.item.uuid, &target.file, known.version, index)
    }

    fn reserved_by(&self, folder: &S::Folder, candidate: &Candidate) -> Wanted {
        Wanted {
            place: self.storage.place(folder, &candidate.name),
            family: self.storage.place(folder, &candidate.family),
        }
    }

    /// What to do with a document whose intent stands and of which nothing is seen; `None`: an importer took it. A
    /// restored ledger lacks earlier intents.
    fn on_lost_reply(&self) -> Option<LostReply> {
        self.storage.options().on_lost_reply.filter(|_| !S::AT_ONCE)
    }

    /// The path of a document that the software has moved, if a restored ledger has forgotten it. Its content shows
    /// that. If another file with its name is there, a person has to say whether it is the document after a change by
    /// the software.
    async fn moved_before(&self, target: &Target<S::Folder>, known: &Known) -> Result<Option<String>, Outcome> {
        let mut is_unsure = false;
        for (version, index) in candidate::forgotten(self.item, known) {
            let candidate = Candidate::of(&self.item.uuid, &target.file, version, index);
            let path = below(&target.within, &candidate.name);
            let wanted = self.reserved_by(&target.folder, &candidate);
            let moved = self.was_moved(&path).await?;
            if moved == Existing::Same && self.item.names.reserve(version, &wanted, None).await? {
                return Ok(Some(path));
            }
            is_unsure |= moved == Existing::Different;
        }
        let first = self.candidate(target, known, 0);
        let (path, wanted) = (below(&target.within, &first.name), self.reserved_by(&target.folder, &first));
        if self.item.restored
            && self.has_another_name(&path).await?
            && self.item.names.reserve(known.version, &wanted, None).await?
        {
            return Ok(Some(path));
        }
        let words = "the ledger was restored, and a file with its name lies where letters are moved to";
        if is_unsure { Err(Outcome::cut_off(words)) } else { Ok(None) }
    }

    /// Under which name the document lies there already, if the ledger was restored and has forgotten it.
    async fn forgotten(&self, target: &Target<S::Folder>, known: &Known) -> Result<Option<(u32, usize)>, Outcome> {
        for (version, index) in candidate::forgotten(self.item, known) {
            let name = Candidate::of(&self.item.uuid, &target.file, version, index).name;
            if self.storage.existing(&target.folder, &name, &self.content).await? == Existing::Same {
                return Ok(Some((version, index)));
            }
        }
        Ok(None)
    }

    /// The name that the document already has, or the one that matches its earlier version's. If the ledger was lost,
    /// this is the name with the short uuid, if the document lies there; the plain name may belong to another document
    /// with the same content.
    async fn first_to_try(&self, target: &Target<S::Folder>, known: &Known) -> Result<Option<usize>, Outcome> {
        if target.there.is_some() {
            return Ok(target.there);
        }
        if known.own.is_empty() && known.families.is_empty() {
            let alone = self.candidate(target, known, 1).name;
            let existing = self.storage.existing(&target.folder, &alone, &self.content).await?;
            return Ok((existing == Existing::Same).then_some(1));
        }
        let place = |name: &str| self.storage.place(&target.folder, name);
        // It was filed anew under another name because something had its first one: it may lie under either.
        if known.own.len() > 1 {
            for index in 0..MAX_NAMES {
                let name = self.candidate(target, known, index).name;
                if known.own.contains(&place(&name))
                    && self.storage.existing(&target.folder, &name, &self.content).await? == Existing::Same
                {
                    return Ok(Some(index));
                }
            }
        }
        Ok(candidate::known_before(known, |index| self.candidate(target, known, index), place))
    }
}
