//! A folder on another machine as a look for proof sees it.

use std::collections::HashSet;

use async_trait::async_trait;

use super::super::confirm::{self, Entry, Shelf};
use super::super::files::Digest;
use super::super::{Holds, Kept, Others, Outcome, Unproved, holds};
use super::{AtPath, DOCUMENT_LIMIT, Desk, Remote, below, find_root, shown};
use crate::destinations::RemoteFolder;
use crate::domain::failure::Code;
use crate::domain::proof::Sight;

struct OnServer<'a> {
    remote: &'a dyn Remote,
    config: &'a RemoteFolder,
}

/// Looks which letters the destination's software took.
pub(in crate::destinations) async fn look(
    remote: &dyn Remote,
    config: &RemoteFolder,
    desk: &Desk,
    letters: &[Unproved],
    others: &dyn Others,
) -> Result<Vec<Sight>, Outcome> {
    let Some(confirm) = &config.confirm else { return Err(Outcome::no_look()) };
    let shelf = OnServer { remote, config };
    let looked =
        tokio::time::timeout(DOCUMENT_LIMIT, confirm::look(&shelf, confirm, &desk.memory, letters, others)).await;
    looked.unwrap_or_else(|_| {
        let reason = format!("destination `{}`: it took too long to look what was taken there", config.name);
        Err(Outcome::transient(Code::word("no_answer"), reason))
    })
}

/// Looks whether letters still lie where they were put.
pub(in crate::destinations) async fn in_folder(
    remote: &dyn Remote,
    config: &RemoteFolder,
    letters: &[Kept],
) -> Result<Vec<Holds>, Outcome> {
    holds::in_folder(&OnServer { remote, config }, letters).await
}

/// Warnings about its configuration of `confirm`.
pub(super) async fn doubts(remote: &dyn Remote, config: &RemoteFolder) -> Vec<String> {
    confirm::doubts(&OnServer { remote, config }, config.confirm.as_ref()).await
}

#[async_trait]
impl Shelf for OnServer<'_> {
    fn name(&self) -> &str {
        &self.config.name
    }

    async fn find_root(&self) -> Result<(), Outcome> {
        find_root(self.remote, self.config).await
    }

    async fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        self.remote.list(&below(&self.config.path, folder)).await
    }

    async fn changed(&self, folder: &str) -> Result<Option<u64>, Outcome> {
        self.remote.changed(&below(&self.config.path, folder)).await
    }

    async fn missing(&self, paths: Vec<String>) -> Result<HashSet<String>, Outcome> {
        let mut missing = HashSet::new();
        for path in paths {
            let found = self.remote.stat(&below(&self.config.path, &path)).await;
            if confirm::of_one(found.map(Some))? == Some(AtPath::Nothing) {
                missing.insert(path);
            }
        }
        Ok(missing)
    }

    async fn digest(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
        self.remote.read(&below(&self.config.path, path), limit).await
    }

    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome> {
        self.remote.content(&below(&self.config.path, path), limit).await
    }

    fn shown(&self, path: &str) -> String {
        shown(self.remote, self.config, path)
    }
}
