//! What has names on another machine: one way of filing into a folder there, whatever the protocol.
//!
//! A protocol brings the calls of [`Remote`]; [`super::filing`] does the rest, as in a folder of this machine: what is
//! sent is read back, and where an answer was lost it is looked for.

mod keeping;
mod overwriting;
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
    pub(crate) use super::{Desk, Found, Remote, Renamed, Source, abandon, deliver};
}

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::confirm::Entry;
use super::files::Digest;
use super::filing::Filing;
use super::{Item, Outcome, Planned, candidate, wording};
use crate::config::RemoteFolder;
use crate::document::{DocumentUuid, Metadata};
use crate::failure::Code;
use crate::name;
use crate::reservation::{Known, Place};
use crate::template::Context;

pub(crate) use super::filing::Renamed;
pub(super) use keeping::keeps_names;
pub(super) use overwriting::{overwrites, unfit};
pub(super) use shelf::{doubts, in_folder, look};
pub(super) use source::Hashing;
pub(crate) use source::Source;
use storage::Distant;

/// The longest wait for a delivery: a large PDF over a slow line takes minutes, a server that drips takes for ever.
const DELIVERY_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How long a file may take to be seen that was accepted: a cluster shows it a moment later.
const UNSEEN_WAITS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1500)];

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// A file of so many bytes.
    File(u64),
    /// A file whose length is not told.
    Unsized,
    /// A folder.
    Folder,
    /// Something else.
    #[cfg_attr(not(feature = "sftp"), expect(dead_code, reason = "only SFTP has such"))]
    Other,
}

/// A folder on another machine. Paths have `/`. An `Err` is what becomes of the delivery: [`Outcome::Unavailable`]
/// where the server as a whole does not work, [`Outcome::NoRoom`], else mostly a transient one; its reason names the
/// destination, and never a path, nor the server's words. Every call ends in bounded time.
#[async_trait]
pub(crate) trait Remote: Send + Sync {
    /// The server and the user, such as `sftp://user@host:22`: the same for all destinations that share names.
    fn address(&self) -> String;

    /// What stands there.
    async fn stat(&self, path: &str) -> Result<Found, Outcome>;

    /// The digest of the file, read to its end, and of one that is longer than `limit` that of any more bytes; `None`
    /// where there is nothing.
    async fn read(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome>;

    /// The content of a file; `None` where there is nothing, and of one that is longer than `limit`.
    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome>;

    /// The files in a folder, as many as can be read within bounds; `None` where there is no folder.
    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome>;

    /// Writes the file, so durably as the server can. What is cut off may stay. False where something has the name
    /// already and the server can tell: then nothing is written.
    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome>;

    /// Gives a file another name, over nothing. An `Err` says that the answer is not known: it may have happened.
    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome>;

    /// A name as the server can keep it; `temporary` is a path beside it that is the delivery's own.
    async fn fit(&self, _temporary: &str, name: String) -> Result<String, Outcome> {
        Ok(name)
    }

    /// Whether `path` is where a file is put that is told to have this name: asked of one that was renamed from
    /// `temporary` and is not seen there, which an importer may have taken. Only in an address can a name mean
    /// something else.
    async fn keeps(&self, _temporary: &str, _path: &str) -> Result<bool, Outcome> {
        Ok(true)
    }

    /// Removes a file; none is no error.
    async fn remove(&self, path: &str) -> Result<(), Outcome>;

    /// Creates a folder whose parent is there; one that is there is no error.
    async fn mkdir(&self, path: &str) -> Result<(), Outcome>;
}

/// What the deliveries of a destination share.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// Keeps two documents from sharing a sidecar.
    sidecars: Arc<Mutex<()>>,
    /// How many temporary names of the PDF attempts of this process took, by the key of the delivery, until it ends: a
    /// server, or what lies before it, may still write to one that was given up.
    taken: std::sync::Mutex<HashMap<String, usize>>,
}

impl Desk {
    /// The number of the next temporary name.
    fn next(&self, key: &str) -> usize {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// How many were taken.
    fn count(&self, key: &str) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied().unwrap_or(0)
    }

    /// The delivery has come to its end.
    fn ended(&self, key: &str) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Files the document.
pub(crate) async fn deliver(remote: &dyn Remote, config: &RemoteFolder, item: &Item, desk: &Desk) -> Outcome {
    let storage = Distant { remote, config, desk };
    match tokio::time::timeout(DELIVERY_LIMIT, Filing::new(&storage, item).run()).await {
        Ok(filed) => filed.unwrap_or_else(|outcome| outcome),
        Err(_) => {
            let minutes = DELIVERY_LIMIT.as_secs() / 60;
            let reason = format!("destination `{}`: it took longer than {minutes} minutes to send it", config.name);
            Outcome::transient(Code::word("no_answer"), reason)
        }
    }
}

/// Removes what attempts at this delivery left under its temporary names, as far as that works.
pub(crate) async fn abandon(remote: &dyn Remote, config: &RemoteFolder, item: &Item) {
    let storage = Distant { remote, config, desk: &Desk::default() };
    let _ = tokio::time::timeout(DELIVERY_LIMIT, Filing::new(&storage, item).abandon()).await;
}

/// What lies there, of a file that was just written: where it is not seen yet, it is looked for again, for a moment.
///
/// # Errors
/// As of [`Remote::read`].
pub(super) async fn read_back(remote: &dyn Remote, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
    for wait in UNSEEN_WAITS {
        if let Some(found) = remote.read(path, limit).await? {
            return Ok(Some(found));
        }
        tokio::time::sleep(wait).await;
    }
    remote.read(path, limit).await
}

/// Whether the destination's own folder is there, with its marker. That it is missing means that another server
/// answers, another account, or that the storage behind it is away.
pub(super) async fn find_root(remote: &dyn Remote, config: &RemoteFolder) -> Result<(), Outcome> {
    let root = if config.path.is_empty() { "." } else { config.path.as_str() };
    let name = &config.name;
    let words = match &config.marker {
        _ if remote.stat(root).await? != Found::Folder => {
            "its `path` is no folder on the server: create it there, or correct `path`".to_owned()
        }
        Some(marker)
            if !matches!(remote.stat(&below(&config.path, marker)).await?, Found::File(_) | Found::Unsized) =>
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

/// A path below the destination's folder.
pub(super) fn below(root: &str, path: &str) -> String {
    match root {
        "" => path.to_owned(),
        "/" => format!("/{path}"),
        root => format!("{root}/{path}"),
    }
}

/// What a delivery would be called, as far as this machine knows.
pub(super) fn plan(
    config: &RemoteFolder,
    address: &str,
    uuid: &DocumentUuid,
    metadata: &Metadata,
    known: &Known,
) -> Result<Planned, String> {
    // The PDF, of which the key is made, is not known yet.
    let metadata = wording::for_name(config.sidecar.as_ref(), metadata);
    let context = Context::new(&metadata).with_identity("KEY");
    let rendered = config.file_name.render(&context).map_err(|error| format!("file_name: {error}"))?;
    let mut parts = name::relative_path(&rendered);
    let file = parts.pop().unwrap_or_else(|| name::UNKNOWN.to_owned());
    let shown = |file: &str| {
        let path = parts.iter().map(String::as_str).chain([file]).collect::<Vec<_>>().join("/");
        format!("{address}/{}", below(&config.path, &path).trim_start_matches('/'))
    };
    let (wanted, otherwise) = candidate::planned(uuid, &file, known, |name| Place::of(&shown(name)));
    Ok(Planned { place: shown(&wanted), otherwise: Some(shown(&otherwise)), taken: false, problem: None })
}
