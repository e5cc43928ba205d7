//! A folder of this machine, or of a share, as a look for proof sees it. Each call runs on a thread that may block.

use std::collections::HashSet;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use super::super::candidate;
use super::super::confirm::{Entry, Shelf};
use super::super::files::Digest;
use super::place::{self, Folder, is_there};
use super::{Code, DOCUMENT_LIMIT, Doing, FolderAdapter, FolderConfig, Outcome, blocking, fault, files};

impl FolderAdapter {
    /// Runs `work` in the folder.
    async fn looked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder<'_>) -> Result<T, Outcome> + Send + 'static,
    ) -> Result<T, Outcome> {
        let adapter = self.clone();
        let work = move || Folder::open(&adapter.config).and_then(|root| work(&root));
        let looked = blocking::run(self.claim("a look"), DOCUMENT_LIMIT, work).await;
        looked.unwrap_or_else(|stuck| Err(Outcome::transient(Code::word("no_answer"), self.stuck(stuck))))
    }
}

/// Splits a path into its sub-folder and its name.
fn split<'a, 'p>(root: &Folder<'a>, path: &'p str) -> Result<(Folder<'a>, &'p str), Outcome> {
    let (within, name) = candidate::split(path);
    Ok((root.find(within)?, name))
}

/// The files in a sub-folder; `None` if there is no such sub-folder.
pub(super) fn listed(root: &Folder<'_>, config: &FolderConfig, folder: &str) -> Result<Option<Vec<Entry>>, Outcome> {
    let entries = match fs::read_dir(root.find(folder)?.path()) {
        Err(error) if files::is_absent(&error) => return Ok(None),
        entries => entries.map_err(|error| fault::outcome(config, Doing::Open, &error))?,
    };
    let mut listed = Vec::new();
    for entry in entries.map_while(Result::ok) {
        // A file that was taken at this moment no longer exists, and docsyncd's names are always text.
        let (Ok(found), Ok(name)) = (entry.metadata(), entry.file_name().into_string()) else { continue };
        if found.is_file() {
            let modified = found.modified().ok().and_then(nanoseconds);
            listed.push(Entry { name, size: Some(found.len()), modified });
        }
    }
    Ok(Some(listed))
}

pub(super) fn nanoseconds(at: SystemTime) -> Option<u64> {
    at.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok())
}

#[async_trait]
impl Shelf for FolderAdapter {
    fn name(&self) -> &str {
        &self.config.name
    }

    async fn find_root(&self) -> Result<(), Outcome> {
        self.looked(|_| Ok(())).await
    }

    async fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        let (path, config) = (folder.to_owned(), self.config.clone());
        self.looked(move |root| listed(root, &config, &path)).await
    }

    async fn identity(&self) -> Option<String> {
        self.looked(|root| Ok(files::identity(root.path()))).await.ok().flatten()
    }

    async fn changed(&self, folder: &str) -> Result<Option<u64>, Outcome> {
        let path = folder.to_owned();
        self.looked(move |root| {
            let changed = fs::metadata(root.find(&path)?.path()).and_then(|found| found.modified()).ok();
            Ok(changed.and_then(nanoseconds))
        })
        .await
    }

    async fn missing(&self, paths: Vec<String>) -> Result<HashSet<String>, Outcome> {
        let is_missing = |root: &Folder<'_>, path: &String| {
            split(root, path).is_ok_and(|(folder, name)| matches!(is_there(&folder.at(name)), Ok(false)))
        };
        self.looked(move |root| Ok(paths.into_iter().filter(|path| is_missing(root, path)).collect())).await
    }

    async fn digest(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
        let path = path.to_owned();
        // An importer may have the file open.
        self.looked(move |root| split(root, &path).map(|(folder, name)| files::hash_file(&folder.at(name), limit).ok()))
            .await
    }

    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome> {
        let path = path.to_owned();
        self.looked(move |root| {
            let (folder, name) = split(root, &path)?;
            let content = files::read_file(&folder.at(name), limit).ok();
            Ok(content.filter(|content| content.len() as u64 <= limit))
        })
        .await
    }

    fn shown(&self, path: &str) -> String {
        place::shown(&self.config, path)
    }
}
