//! One delivery into a folder on another machine, step by step.

use super::super::candidate::{self, Candidate, MAX_NAMES};
use super::super::files::{Digest, Existing};
use super::super::{Item, Outcome, Unrecorded, wording};
use super::{Desk, Found, Remote, Source, below};
use crate::config::RemoteFolder;
use crate::failure::Code;
use crate::name;
use crate::reservation::{Intent, Known, Place, Wanted};
use crate::template::Context;

use self::interrupted::Before;

mod interrupted;
mod naming;

/// How temporary names end. Not `.part`: ownCloud and Nextcloud refuse that.
const PDF: &str = ".tmp";
/// Temporary names of a PDF. An attempt that was cut off leaves one.
const TEMPORARIES: usize = 6;
pub(super) const SIDECAR: &str = ".sidecar.tmp";

/// One delivery. `Err` is what became of it when the document is not there.
pub(super) struct Filing<'a> {
    pub(super) remote: &'a dyn Remote,
    pub(super) config: &'a RemoteFolder,
    pub(super) item: &'a Item,
    desk: &'a Desk,
    content: Digest,
}

/// Where a document goes.
pub(super) struct Folder {
    /// Below the destination's folder; empty for that itself.
    parts: Vec<String>,
}

impl Folder {
    /// The one that the file of this path is in.
    fn of(path: &str) -> Self {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self { parts: folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect() }
    }

    /// The path of a file in it, below the destination's folder.
    pub(super) fn join(&self, name: &str) -> String {
        self.parts.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/")
    }
}

impl<'a> Filing<'a> {
    pub(super) fn new(remote: &'a dyn Remote, config: &'a RemoteFolder, item: &'a Item, desk: &'a Desk) -> Self {
        let content = Digest { size: item.pdf.size, sha256: item.pdf.sha256.to_ascii_lowercase() };
        Self { remote, config, item, desk, content }
    }

    /// Where the document lies then, for the person who asks.
    pub(super) async fn run(&self) -> Result<String, Outcome> {
        let (folder, file) = self.wanted_name()?;
        let mut known = self.ask(self.item.names.known().await)?;
        if known.intent.is_some() || !known.others.is_empty() {
            // Where the folder itself is not there, nothing that is missing in it says anything.
            self.find_root().await?;
        }
        if !known.others.is_empty() {
            for intent in &known.others {
                let waits = self.waits(intent).await?;
                self.settle(&intent.place, !waits).await?;
                self.remove(&self.temporary_of(intent)).await?;
                self.clear(&Folder::of(&intent.path), key_of(&intent.temporary)).await?;
            }
            known = self.ask(self.item.names.known().await)?;
        }
        // A rename that the server carries out only now moves a whole file: it is not written anew.
        let (waiting, mut staged) = match self.resume(&known, &folder).await? {
            Before::Filed(path) => {
                self.desk.ended(&self.item.key);
                return Ok(self.shown(&path));
            }
            Before::Waits { intent, is_whole } => {
                let staged = is_whole.then(|| intent.temporary.clone());
                (Some(intent), staged)
            }
            Before::Nothing => (None, None),
        };
        self.enter(&folder).await?;
        let filed = self.find_place(&folder, &file, &known, &mut staged).await;
        let outcome = match filed {
            Ok(path) => {
                let cleared = self.clear_after(&folder, staged.as_deref(), waiting.as_ref()).await;
                // Where the server does not answer, the next attempt clears away once more. It finds the file by the intent, or an importer
                // took it: not where there is none, nor where it would be sent again then, or a person asked.
                if self.config.on_lost_reply.is_none()
                    && matches!(self.item.names.known().await, Ok(Known { intent: Some(_), .. }))
                {
                    cleared?;
                }
                self.desk.ended(&self.item.key);
                return Ok(self.shown(&path));
            }
            Err(outcome) => outcome,
        };
        // Where the intent stands, the temporary file is evidence. A server that hangs would remove later what is sent next.
        if answers(&outcome) && matches!(self.item.names.known().await, Ok(Known { intent: None, .. })) {
            match staged {
                // What attempts left may be what takes the room.
                _ if matches!(outcome, Outcome::NoRoom(_)) => drop(self.clear(&folder, &self.item.key).await),
                Some(temporary) => drop(self.remote.remove(&self.path(&folder.join(&temporary))).await),
                None => {}
            }
        }
        Err(outcome)
    }

    fn wanted_name(&self) -> Result<(Folder, String), Outcome> {
        let context = Context::new(&self.item.metadata).with_identity(&self.item.key);
        let rendered = self
            .config
            .file_name
            .render(&context)
            .map_err(|error| wording::not_filled_in(&self.config.name, "file_name", &error))?;
        let mut parts = name::relative_path(&rendered);
        let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
        Ok((Folder { parts }, file))
    }

    /// Tries one name after the other. Returns the path of the one that the document has now, below the destination's folder.
    async fn find_place(
        &self,
        folder: &Folder,
        file: &str,
        known: &Known,
        staged: &mut Option<String>,
    ) -> Result<String, Outcome> {
        let first = self.first_to_try(folder, file, known).await?;
        for index in first.into_iter().chain(0..MAX_NAMES) {
            let candidate = self.candidate(file, known.version, index);
            let path = folder.join(&candidate.name);
            let wanted = Wanted {
                place: self.place(&path),
                family: self.place(&folder.join(&candidate.family)),
                of_layout_5: None,
            };
            match self.existing(&path, &self.content).await? {
                Existing::Different => {}
                // Nobody's name, so it is the work of this delivery, of which a ledger that was lost knew.
                Existing::Same => {
                    if self.ask(self.item.names.reserve(known.version, &wanted, None).await)? {
                        return Ok(path);
                    }
                }
                Existing::Absent => {
                    let temporary = match staged {
                        Some(temporary) => temporary.clone(),
                        None => self.stage(folder, staged).await?,
                    };
                    let intent = Intent { place: wanted.place.clone(), path: path.clone(), temporary };
                    let next = self.candidate(file, known.version, index + 1);
                    if self.give_names(folder, known, &candidate.name, &wanted, &intent, &next.name).await? {
                        return Ok(path);
                    }
                }
            }
        }
        Err(wording::no_name_left(&self.config.name))
    }

    fn candidate(&self, file: &str, version: u32, index: usize) -> Candidate {
        Candidate::of(&self.item.uuid, file, version, index)
    }

    /// As in a folder of this machine: where the ledger was lost, the name that is the document's alone, if it lies there.
    async fn first_to_try(&self, folder: &Folder, file: &str, known: &Known) -> Result<Option<usize>, Outcome> {
        if known.own.is_empty() && known.families.is_empty() {
            let alone = folder.join(&self.candidate(file, known.version, 1).name);
            return Ok((self.existing(&alone, &self.content).await? == Existing::Same).then_some(1));
        }
        let place = |name: &str| self.place(&folder.join(name));
        Ok(candidate::known_before(known, |index| self.candidate(file, known.version, index), place))
    }

    /// Makes the sub-folders. The destination's own folder is never made: that it is missing means that another server answers,
    /// or another account.
    async fn enter(&self, folder: &Folder) -> Result<(), Outcome> {
        let deepest = self.path(&folder.parts.join("/"));
        if !folder.parts.is_empty() && self.remote.stat(&deepest).await? == Found::Folder {
            return Ok(());
        }
        self.find_root().await?;
        for depth in 1..=folder.parts.len() {
            let path = self.path(&folder.parts.iter().take(depth).map(String::as_str).collect::<Vec<_>>().join("/"));
            match self.remote.stat(&path).await? {
                Found::Folder => {}
                Found::Nothing => self.remote.mkdir(&path).await?,
                Found::File(_) | Found::Other => {
                    let reason = format!(
                        "destination `{}`: a file stands where a folder is needed: move it away",
                        self.config.name
                    );
                    return Err(Outcome::transient(Code::word("in_the_way"), reason));
                }
            }
        }
        Ok(())
    }

    async fn find_root(&self) -> Result<(), Outcome> {
        let root = if self.config.path.is_empty() { "." } else { self.config.path.as_str() };
        if self.remote.stat(root).await? == Found::Folder {
            return Ok(());
        }
        let name = &self.config.name;
        let reason =
            format!("destination `{name}`: its `path` is no folder on the server: create it there, or correct `path`");
        Err(Outcome::unavailable("no_folder", reason))
    }

    /// The PDF under a temporary name that nothing has, and no attempt of this process had before: complete, and read back. No intent
    /// may be in the ledger meanwhile. What an attempt left stays until this one has its name: a server that hung would carry out a
    /// removal when it names another file, and write over this one what was given up.
    async fn stage(&self, folder: &Folder, staged: &mut Option<String>) -> Result<String, Outcome> {
        for _ in 0..TEMPORARIES {
            let temporary = temporary_of_pdf(&self.item.key, self.desk.next(&self.item.key));
            let path = self.path(&folder.join(&temporary));
            let mut source = Source::of_spool(&self.item.pdf).await?;
            fault_point!("remote.put.before");
            *staged = Some(temporary.clone());
            let is_put = self.remote.put(&path, &mut source).await?;
            fault_point!("remote.put.after");
            if is_put {
                return if self.is_whole(&path).await? { Ok(temporary) } else { Err(self.not_as_sent()) };
            }
        }
        *staged = None;
        self.clear(folder, &self.item.key).await?;
        Err(self.in_the_way())
    }

    /// Writes a file of ours over what an attempt left.
    pub(super) async fn put_over(&self, path: &str, source: &mut Source) -> Result<(), Outcome> {
        if !self.remote.put(path, source).await? {
            self.remote.remove(path).await?;
            if !self.remote.put(path, source).await? {
                return Err(self.in_the_way());
            }
        }
        Ok(())
    }

    fn in_the_way(&self) -> Outcome {
        let reason =
            format!("destination `{}`: what attempts before left is in the way: it is removed first", self.config.name);
        Outcome::transient(Code::word("in_the_way"), reason)
    }

    /// Whether what was sent is there.
    async fn is_whole(&self, path: &str) -> Result<bool, Outcome> {
        Ok(match self.config.verify_content {
            true => self.remote.read(path, self.content.size).await?.as_ref() == Some(&self.content),
            false => self.remote.stat(path).await? == Found::File(self.content.size),
        })
    }

    pub(super) fn not_as_sent(&self) -> Outcome {
        let reason = format!("destination `{}`: the server holds something else than what was sent", self.config.name);
        Outcome::transient(Code::word("not_as_sent"), reason)
    }

    /// Compares what stands there with `content`; reads it only when the length is the same.
    pub(super) async fn existing(&self, path: &str, content: &Digest) -> Result<Existing, Outcome> {
        let path = self.path(path);
        match self.remote.stat(&path).await? {
            Found::Nothing => Ok(Existing::Absent),
            Found::File(size) if size == content.size => match self.remote.read(&path, content.size).await? {
                Some(found) if found == *content => Ok(Existing::Same),
                Some(_) => Ok(Existing::Different),
                // An importer took it in this moment.
                None => Ok(Existing::Absent),
            },
            Found::File(_) | Found::Folder | Found::Other => Ok(Existing::Different),
        }
    }

    pub(super) fn temporary(&self, end: &str) -> String {
        candidate::temporary(&self.item.key, end)
    }

    /// A path below the destination's folder, as the server takes it.
    pub(super) fn path(&self, path: &str) -> String {
        below(&self.config.path, path)
    }

    fn shown(&self, path: &str) -> String {
        format!("{}/{}", self.remote.address(), self.path(path).trim_start_matches('/'))
    }

    fn place(&self, path: &str) -> Place {
        Place::of(&self.shown(path))
    }

    async fn settle(&self, place: &Place, filed: bool) -> Result<(), Outcome> {
        self.ask(self.item.names.settle(place, filed).await)
    }

    fn ask<T>(&self, answer: Result<T, Unrecorded>) -> Result<T, Outcome> {
        answer.map_err(|Unrecorded| Outcome::Unrecorded)
    }
}

/// A temporary name of the PDF. After the last one it is the first's turn again.
fn temporary_of_pdf(key: &str, number: usize) -> String {
    match number % TEMPORARIES {
        0 => candidate::temporary(key, PDF),
        number => candidate::temporary(key, &format!("-{number}{PDF}")),
    }
}

/// The key, as it stands in a temporary name.
fn key_of(temporary: &str) -> &str {
    let name = temporary.strip_prefix(candidate::TEMPORARY).unwrap_or(temporary);
    name.split(['-', '.']).next().unwrap_or(name)
}

/// Whether the server answered, whatever it said.
fn answers(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Unavailable { .. } => false,
        Outcome::Transient { code: Code::Word(word), .. } => {
            !["no_answer", "cut", "not_understood", "broken_off"].contains(&word.as_ref())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_tells_the_key_that_it_was_made_of() {
        for key in ["5578c9763ea60bc095419d440d0a96a3", &"1".repeat(32), "a key / of another kind"] {
            let names = (0..3).map(|number| temporary_of_pdf(key, number)).chain([candidate::temporary(key, SIDECAR)]);
            for name in names {
                assert_eq!(candidate::temporary(key_of(&name), PDF), candidate::temporary(key, PDF), "{name}");
            }
        }
        assert_eq!(temporary_of_pdf("k", TEMPORARIES), temporary_of_pdf("k", 0));
    }
}
