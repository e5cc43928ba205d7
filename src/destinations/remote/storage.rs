//! A folder on another machine as filing sees it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OwnedMutexGuard;

use super::super::candidate;
use super::super::confirm::Entry;
use super::super::files::{Digest, Existing};
use super::super::filing::{NotNamed, Options, Put, Renamed, Storage};
use super::super::{Item, Outcome, wording};
use super::{AtPath, Desk, Remote, Source, UNSEEN_WAITS, below, read_back};
use crate::destinations::RemoteFolder;
use crate::domain::failure::Code;
use crate::domain::reservation::Place;

/// The end of temporary names. Not `.part`: ownCloud and Nextcloud refuse that.
const PDF: &str = ".tmp";
const SIDECAR: &str = ".sidecar.tmp";
/// Temporary names of a PDF. Each interrupted attempt leaves one.
pub(super) const TEMPORARIES: usize = 6;

/// The wait before a second try to remove a file.
const REMOVED_AGAIN_AFTER: Duration = Duration::from_millis(300);

/// The folder of a destination, for one delivery. A sub-folder is its path below that.
pub(super) struct Distant<'a> {
    pub(super) remote: &'a dyn Remote,
    pub(super) config: &'a RemoteFolder,
    pub(super) desk: &'a Desk,
}

#[async_trait]
impl Storage for Distant<'_> {
    type Folder = String;
    type Turn = OwnedMutexGuard<()>;
    const AT_ONCE: bool = false;

    fn options(&self) -> Options<'_> {
        Options {
            destination: &self.config.name,
            file_name: &self.config.file_name,
            sidecar: self.config.sidecar.as_ref(),
            on_lost_reply: self.config.on_lost_reply,
            confirm: self.config.confirm.as_ref(),
        }
    }

    async fn find_root(&self) -> Result<(), Outcome> {
        super::find_root(self.remote, self.config).await
    }

    async fn find(&self, within: &str) -> Result<String, Outcome> {
        Ok(within.to_owned())
    }

    async fn make(&self, within: &str, _: &str) -> Result<String, Outcome> {
        if self.config.marker.is_none()
            && !within.is_empty()
            && self.remote.stat(&self.path(within)).await? == AtPath::Folder
        {
            return Ok(within.to_owned());
        }
        self.find_root().await?;
        let mut folder = String::new();
        for part in candidate::parts(within) {
            folder = below(&folder, part);
            let path = self.path(&folder);
            match self.remote.stat(&path).await? {
                AtPath::Folder => {}
                AtPath::Nothing => self.remote.mkdir(&path).await?,
                AtPath::File(_) | AtPath::Unsized | AtPath::Other => {
                    let words = "a file stands where a folder is needed: move it away";
                    return Err(self.transient("in_the_way", words));
                }
            }
        }
        Ok(folder)
    }

    async fn fit(&self, folder: &String, key: &str, name: String) -> Result<String, Outcome> {
        self.remote.fit(&self.at(folder, &candidate::temporary(key, PDF)), name).await
    }

    fn place(&self, folder: &String, name: &str) -> Place {
        Place::of(&self.shown(&below(folder, name)))
    }

    fn shown(&self, path: &str) -> String {
        super::shown(self.remote, self.config, path)
    }

    /// Reads the file only if its length matches, or is unknown.
    async fn existing(&self, folder: &String, name: &str, content: &Digest) -> Result<Existing, Outcome> {
        let path = self.at(folder, name);
        match self.remote.stat(&path).await? {
            AtPath::Nothing => Ok(Existing::Absent),
            AtPath::File(size) if size != content.size => Ok(Existing::Different),
            // If the read finds nothing, an importer took the file in this moment.
            AtPath::File(_) | AtPath::Unsized => {
                Ok(content.compared(self.remote.read(&path, content.size).await?.as_ref()))
            }
            AtPath::Folder | AtPath::Other => Ok(Existing::Different),
        }
    }

    /// Writes under a temporary name that no file has, and no attempt of this process had before. What earlier attempts
    /// left stays until this file has its name: a server that hung may carry out an old removal when the name belongs
    /// to another file, or write an abandoned upload over this one.
    async fn stage(
        &self,
        folder: &String,
        item: &Item,
        content: &Digest,
        staged: &mut Option<String>,
    ) -> Result<String, Outcome> {
        for _ in 0..TEMPORARIES {
            let temporary = temporary_of_pdf(&item.key, self.desk.next(&item.key));
            let mut source = Source::of_spool(&item.pdf).await?;
            fault_point!("remote.put.before");
            *staged = Some(temporary.clone());
            let is_put = self.remote.put(&self.at(folder, &temporary), &mut source).await?;
            fault_point!("remote.put.after");
            if is_put {
                let mut found = self.left(folder, &temporary, content).await?;
                for wait in UNSEEN_WAITS {
                    if found != Existing::Absent {
                        break;
                    }
                    tokio::time::sleep(wait).await;
                    found = self.left(folder, &temporary, content).await?;
                }
                return match found {
                    Existing::Same => Ok(temporary),
                    Existing::Different => Err(self.not_as_sent()),
                    Existing::Absent => Err(self.not_seen()),
                };
            }
        }
        *staged = None;
        for temporary in self.temporaries(&item.key) {
            self.remove(folder, &temporary).await?;
        }
        Err(self.in_the_way())
    }

    async fn left(&self, folder: &String, temporary: &str, content: &Digest) -> Result<Existing, Outcome> {
        let path = self.at(folder, temporary);
        if !self.config.verify_content {
            match self.remote.stat(&path).await? {
                AtPath::File(size) if size == content.size => return Ok(Existing::Same),
                AtPath::Nothing => return Ok(Existing::Absent),
                AtPath::Unsized => {}
                _ => return Ok(Existing::Different),
            }
        }
        Ok(content.compared(self.remote.read(&path, content.size).await?.as_ref()))
    }

    /// The file was read under that name before: a look that does not show it may come from another machine, which
    /// lags.
    async fn waits(&self, folder: &String, temporary: &str) -> Result<bool, Outcome> {
        let path = self.at(folder, temporary);
        let is_seen = self.remote.stat(&path).await? != AtPath::Nothing;
        Ok(is_seen || (self.config.verify_content && self.remote.read(&path, 0).await?.is_some()))
    }

    /// A rename counts as done only if nothing has the temporary name any more.
    async fn rename(&self, folder: &String, from: &str, to: &str) -> Result<Renamed, Outcome> {
        let from = self.at(folder, from);
        fault_point!("remote.rename.before");
        let renamed = self.remote.rename_new(&from, &self.at(folder, to)).await;
        fault_point!("remote.rename.after");
        if renamed == Ok(Renamed::Done) && self.remote.stat(&from).await? != AtPath::Nothing {
            return Err(
                self.transient("not_renamed", "it says that a file has its name, and the file still has another")
            );
        }
        renamed
    }

    async fn written(&self, folder: &String, name: &str) -> Option<u64> {
        self.remote.written(&self.at(folder, name)).await.ok().flatten()
    }

    async fn listed(&self, folder: &str) -> Option<Arc<Vec<Entry>>> {
        let list = async || self.remote.list(&below(&self.config.path, folder)).await;
        self.desk.memory.listed(folder, list).await
    }

    /// A rename counts as done only if the name is seen, or an importer is known to have been quicker.
    async fn confirm(&self, folder: &String, temporary: &str, name: &str) -> Result<(), NotNamed> {
        match self.came_there(folder, temporary, name).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(NotNamed::surely(wording::put_elsewhere(&self.config.name))),
            Err(outcome) => Err(NotNamed::perhaps(outcome)),
        }
    }

    async fn keeps(&self, folder: &String, temporary: &str, name: &str) -> Result<bool, Outcome> {
        self.remote.keeps(&self.at(folder, temporary), &self.at(folder, name)).await
    }

    async fn secure(&self, _: &String, _: &Item, _: &Digest, _: &str) -> Result<(), Outcome> {
        Ok(())
    }

    async fn names(&self, folder: &String) -> Result<HashSet<String>, Outcome> {
        let listed = self.remote.list(&self.path(folder)).await?;
        Ok(listed.unwrap_or_default().into_iter().map(|entry| entry.name).collect())
    }

    async fn turn(&self, _: &String, _: &str) -> OwnedMutexGuard<()> {
        Arc::clone(&self.desk.sidecars).lock_owned().await
    }

    async fn put_sidecar(&self, folder: &String, item: &Item, name: &str, text: Vec<u8>) -> Result<Put, Outcome> {
        let mut source = Source::of_bytes(text);
        let content = source.digest().clone();
        match self.existing(folder, name, &content).await? {
            Existing::Same => return Ok(Put::Same),
            Existing::Different => return Ok(Put::Taken),
            Existing::Absent => {}
        }
        let temporary = candidate::temporary(&item.key, SIDECAR);
        let path = self.at(folder, &temporary);
        // Replaces what an earlier attempt left.
        if !self.remote.put(&path, &mut source).await? {
            self.remote.remove(&path).await?;
            if !self.remote.put(&path, &mut source).await? {
                return Err(self.in_the_way());
            }
        }
        let found = content.compared(read_back(self.remote, &path, content.size).await?.as_ref());
        if found != Existing::Same {
            let _ = self.remote.remove(&path).await;
            return Err(if found == Existing::Absent { self.not_seen() } else { self.not_as_sent() });
        }
        fault_point!("remote.sidecar.before");
        let renamed = self.rename(folder, &temporary, name).await;
        fault_point!("remote.sidecar.after");
        let outcome = match renamed {
            Ok(Renamed::Done) if self.came_there(folder, &temporary, name).await? => return Ok(Put::New),
            Ok(Renamed::Done) => wording::put_elsewhere(&self.config.name),
            Ok(Renamed::Refused(outcome) | Renamed::Missing(outcome)) | Err(outcome) => outcome,
        };
        let standing = self.existing(folder, name, &content).await;
        let _ = self.remote.remove(&path).await;
        match standing? {
            Existing::Same => Ok(Put::New),
            Existing::Different => Ok(Put::Taken),
            Existing::Absent => Err(outcome),
        }
    }

    /// Tries twice if the server is busy: no later attempt returns to the file.
    async fn remove(&self, folder: &String, name: &str) -> Result<(), Outcome> {
        let path = self.at(folder, name);
        let mut removed = self.remote.remove(&path).await;
        if let Err(
            Outcome::Transient { code: Code::Status(423 | 429 | 500..), .. }
            | Outcome::Unavailable { code: Code::Status(_), .. },
        ) = removed
        {
            tokio::time::sleep(REMOVED_AGAIN_AFTER).await;
            removed = self.remote.remove(&path).await;
        }
        match removed {
            // A status is an answer, whatever it is about.
            Err(Outcome::Unavailable { code: Code::Status(_), .. }) => Ok(()),
            Err(outcome) if !self.answers(&outcome) => Err(outcome),
            _ => Ok(()),
        }
    }

    fn temporaries(&self, key: &str) -> Vec<String> {
        let of_pdf = (0..TEMPORARIES).map(|number| temporary_of_pdf(key, number));
        of_pdf.chain([candidate::temporary(key, SIDECAR)]).collect()
    }

    fn is_first(&self, item: &Item) -> bool {
        !item.tried && self.desk.count(&item.key) <= 1
    }

    fn answers(&self, outcome: &Outcome) -> bool {
        !matches!(outcome, Outcome::Unavailable { .. }) && !outcome.is_unanswered()
    }

    fn ended(&self, key: &str) {
        self.desk.ended(key);
    }
}

impl Distant<'_> {
    /// A path below the destination's folder, as the server takes it.
    fn path(&self, path: &str) -> String {
        below(&self.config.path, path)
    }

    fn at(&self, folder: &str, name: &str) -> String {
        self.path(&below(folder, name))
    }

    /// Whether a renamed file has that name, or had it until an importer took it.
    async fn came_there(&self, folder: &String, temporary: &str, name: &str) -> Result<bool, Outcome> {
        let is_seen = self.remote.stat(&self.at(folder, name)).await? != AtPath::Nothing;
        Ok(is_seen || self.keeps(folder, temporary, name).await?)
    }

    fn in_the_way(&self) -> Outcome {
        self.transient("in_the_way", "leftovers of earlier attempts are in the way: they are removed first")
    }

    fn not_seen(&self) -> Outcome {
        self.transient("not_seen", "what was sent, and accepted, is not seen there: it is sent again")
    }

    fn not_as_sent(&self) -> Outcome {
        self.transient("not_as_sent", "the server holds something else than what was sent")
    }

    fn transient(&self, code: &'static str, words: &str) -> Outcome {
        Outcome::transient(Code::word(code), format!("destination `{}`: {words}", self.config.name))
    }
}

/// A temporary name of the PDF. After the last number, the first one is used again.
fn temporary_of_pdf(key: &str, number: usize) -> String {
    match number % TEMPORARIES {
        0 => candidate::temporary(key, PDF),
        number => candidate::temporary(key, &format!("-{number}{PDF}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::filing::key_of;
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
