//! Destinations that keep files by name on another machine: one way of filing into a folder there, whatever the
//! protocol.
//!
//! A protocol implements [`Remote`]; [`super::filing`] does the rest, as in a folder of this machine. It reads back
//! what it sent, and looks for the file if an answer was lost.

mod keeping;
mod probe;
mod shelf;
mod source;
mod storage;
#[cfg(test)]
mod tests;
/// What the simulation (tests/simulation) models: a server, and the way of filing there.
#[cfg(test)]
pub(crate) mod simulated {
    pub(crate) use super::super::confirm::Entry;
    pub(crate) use super::super::files::Digest;
    pub(crate) use super::{AtPath, Desk, Remote, Renamed, Source, abandon, deliver};
}

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, OnceCell};

use super::confirm::{Entry, Memory};
use super::files::Digest;
use super::filing::Filing;
use super::{DOCUMENT_LIMIT, Item, Outcome, Planned, candidate, wording};
use crate::destinations::RemoteFolder;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::reservation::{Known, Place};

pub(super) use super::candidate::below;
pub(crate) use super::filing::Renamed;
pub(super) use keeping::keeps_names;
pub(super) use probe::check;
use shelf::doubts;
pub(super) use shelf::{in_folder, look};
pub(crate) use source::Source;
use storage::Distant;

/// The waits for an accepted file to be seen: a cluster may show it a moment later.
const UNSEEN_WAITS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1500)];

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtPath {
    /// Nothing.
    Nothing,
    /// A file of this many bytes.
    File(u64),
    /// A file of unknown length.
    Unsized,
    /// A folder.
    Folder,
    /// Something else.
    #[cfg_attr(not(feature = "sftp"), expect(dead_code, reason = "only SFTP has such files"))]
    Other,
}

/// A folder on another machine. Paths have `/`. An `Err` is the outcome of the delivery: [`Outcome::Unavailable`] if
/// the server as a whole does not work, [`Outcome::NoRoom`], otherwise mostly a transient one. Its reason names the
/// destination, and never a path or the server's words. Every call ends in bounded time.
#[async_trait]
pub(crate) trait Remote: Send + Sync {
    /// The server and the user, such as `sftp://user@host:22`: the same for all destinations that share names.
    fn address(&self) -> String;

    /// What has this path.
    async fn stat(&self, path: &str) -> Result<AtPath, Outcome>;

    /// The digest of the whole file; if it is longer than `limit`, that of any part longer than `limit`. `None` if
    /// there is nothing.
    async fn read(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome>;

    /// The content of a file; `None` if there is nothing, or the file is longer than `limit`.
    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome>;

    /// The files in a folder, up to a bound; `None` if there is no folder.
    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome>;

    /// When a folder was last changed, in any unit, if the server tells it.
    async fn changed(&self, _path: &str) -> Result<Option<u64>, Outcome> {
        Ok(None)
    }

    /// When a file was last written, in the unit of [`Self::list`], if the server tells it.
    async fn written(&self, _path: &str) -> Result<Option<u64>, Outcome> {
        Ok(None)
    }

    /// Writes the file, as durably as the server can. An interrupted upload may leave a part. False if something
    /// already has the name and the server can tell: then nothing is written.
    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome>;

    /// Renames a file without overwriting. An `Err` means that the answer is unknown: the rename may have happened.
    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome>;

    /// The name in a form that the server can keep; `temporary` is a path beside it that belongs to the delivery.
    async fn fit(&self, _temporary: &str, name: String) -> Result<String, Outcome> {
        Ok(name)
    }

    /// Whether a file that is told to have this name really gets `path`. Asked for a file that was renamed from
    /// `temporary` and is not seen there, and which an importer may have taken. Only in a URL can a name mean something
    /// else.
    async fn keeps(&self, _temporary: &str, _path: &str) -> Result<bool, Outcome> {
        Ok(true)
    }

    /// Removes a file; a missing file is no error.
    async fn remove(&self, path: &str) -> Result<(), Outcome>;

    /// Creates a folder whose parent exists; an existing folder is no error.
    async fn mkdir(&self, path: &str) -> Result<(), Outcome>;
}

/// What the deliveries of a destination share.
#[derive(Default)]
pub(crate) struct Desk {
    /// Keeps two documents from sharing a sidecar.
    sidecars: Arc<Mutex<()>>,
    /// How many temporary names of the PDF the attempts of this process took, by the key of the delivery, until it
    /// ends. The server, or a proxy before it, may still write to a name after its attempt gave up.
    taken: std::sync::Mutex<HashMap<String, usize>>,
    /// What looks for proof have found so far.
    memory: Memory,
    /// Whether the server overwrites; tested once, and only if it matters.
    pub(super) overwrites: OnceCell<bool>,
}

impl Desk {
    /// The number of the next temporary name.
    fn next(&self, key: &str) -> usize {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// How many names were taken.
    fn count(&self, key: &str) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied().unwrap_or(0)
    }

    /// The delivery ended: forgets its count.
    fn ended(&self, key: &str) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Files the document.
pub(crate) async fn deliver(remote: &dyn Remote, config: &RemoteFolder, item: &Item, desk: &Desk) -> Outcome {
    let storage = Distant { remote, config, desk };
    match tokio::time::timeout(DOCUMENT_LIMIT, Filing::new(&storage, item).run()).await {
        Ok(filed) => filed.unwrap_or_else(|outcome| outcome),
        Err(_) => {
            let minutes = DOCUMENT_LIMIT.as_secs() / 60;
            let reason = format!("destination `{}`: it took longer than {minutes} minutes to send it", config.name);
            Outcome::transient(Code::word("no_answer"), reason)
        }
    }
}

/// Removes what attempts at this delivery left under its temporary names, as far as that works.
pub(crate) async fn abandon(remote: &dyn Remote, config: &RemoteFolder, item: &Item) {
    let storage = Distant { remote, config, desk: &Desk::default() };
    let _ = tokio::time::timeout(DOCUMENT_LIMIT, Filing::new(&storage, item).abandon()).await;
}

/// Reads a file that was just written. If it is not seen yet, looks again for a moment.
///
/// # Errors
/// Those of [`Remote::read`].
pub(super) async fn read_back(remote: &dyn Remote, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
    for wait in UNSEEN_WAITS {
        if let Some(found) = remote.read(path, limit).await? {
            return Ok(Some(found));
        }
        tokio::time::sleep(wait).await;
    }
    remote.read(path, limit).await
}

/// Checks that the destination's own folder is there, with its marker. If it is missing, another server or account
/// answers, or the storage behind it is away.
pub(super) async fn find_root(remote: &dyn Remote, config: &RemoteFolder) -> Result<(), Outcome> {
    let root = if config.path.is_empty() { "." } else { config.path.as_str() };
    let name = &config.name;
    let words = match &config.marker {
        _ if remote.stat(root).await? != AtPath::Folder => {
            "its `path` is no folder on the server: create it there, or correct `path`".to_owned()
        }
        Some(marker)
            if !matches!(remote.stat(&below(&config.path, marker)).await?, AtPath::File(_) | AtPath::Unsized) =>
        {
            format!(
                "its `path` has no file `{marker}` (its `marker`): is the right storage behind it? When it is, create an empty file of that \
             name there, once"
            )
        }
        _ => return Ok(()),
    };
    Err(Outcome::unavailable("no_folder", format!("destination `{name}`: {words}")))
}

/// A path below the destination's folder, for the person who asks where a letter lies.
fn shown(remote: &dyn Remote, config: &RemoteFolder, path: &str) -> String {
    format!("{}/{}", remote.address(), below(&config.path, path).trim_start_matches('/'))
}

/// The names that a delivery would get, as far as this machine knows.
pub(super) fn plan(
    config: &RemoteFolder,
    address: &str,
    uuid: &DocumentUuid,
    metadata: &Metadata,
    known: &Known,
) -> Result<Planned, String> {
    // The key is made from the PDF, which is not known yet.
    let metadata = wording::for_name(config.sidecar.as_ref(), metadata);
    let wanted = candidate::wanted(&config.file_name, &metadata, "KEY");
    let (within, file) = wanted.map_err(|error| format!("file_name: {error}"))?;
    let shown =
        |file: &str| format!("{address}/{}", below(&config.path, &below(&within, file)).trim_start_matches('/'));
    let (wanted, otherwise) = candidate::planned(uuid, &file, known, |name| Place::of(&shown(name)));
    Ok(Planned { place: shown(&wanted), otherwise: Some(shown(&otherwise)), taken: false, problem: None })
}
