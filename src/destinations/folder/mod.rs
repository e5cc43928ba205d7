//! `type = "folder"`: files the PDF, and an optional sidecar before it, below a folder that a practice system watches.
//!
//! A name appears only when its content is complete and durable, and never replaces another ([`super::filing`]).
//!
//! The folder is not a mirror: docsyncd looks at no filed document again unless a person asks, so an importer may take
//! the files away.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::blocking::{self, Stuck};
use super::confirm::{self, Memory};
use super::fault::{self, Doing};
use super::filing::Filing;
use super::{
    Adapter, CHECK_LIMIT, Checked, DOCUMENT_LIMIT, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned,
    Unproved, files, holds,
};
use crate::config::Evidence;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::proof::{Proof, PutIn, Sight};

#[cfg(windows)]
mod drive;
mod opened;
mod place;
mod plan;
mod probe;
mod reader;
mod settings;
mod shelf;
mod storage;
#[cfg(test)]
mod tests;
mod unsynced;

#[cfg(windows)]
pub use drive::refused_drive;
pub(crate) use opened::open_filed;
pub(super) use reader::readable;
pub use settings::FolderConfig;
pub(super) use settings::KIND;
use storage::Local;

/// Called with a PDF's final path right before its rename, for tests of what a fault there leaves.
#[cfg(test)]
type Hook = Arc<dyn Fn(&std::path::Path) -> std::io::Result<()> + Send + Sync>;

/// A folder, local or on a share.
#[derive(Clone)]
pub struct FolderAdapter {
    config: Arc<FolderConfig>,
    /// What looks for proof have found so far.
    memory: Arc<Memory>,
    #[cfg(test)]
    before_rename: Option<Hook>,
}

impl FolderAdapter {
    /// Creates the adapter. Opens nothing.
    pub fn new(config: FolderConfig) -> Self {
        Self {
            config: Arc::new(config),
            memory: Arc::default(),
            #[cfg(test)]
            before_rename: None,
        }
    }

    fn local(&self) -> Result<Local<'_>, Outcome> {
        let root = place::Folder::open(&self.config)?;
        Ok(Local { adapter: self, config: &self.config, root })
    }

    fn claim(&self, key: &str) -> String {
        format!("{}\0{}\0{key}", self.config.name, self.config.path.display())
    }

    /// Whether the folder answers at all; asked for a document that takes long.
    async fn answers(&self, uuid: &DocumentUuid) -> bool {
        let config = Arc::clone(&self.config);
        let look = move || drop(place::Folder::open(&config));
        blocking::run(self.claim(&format!("look for {uuid}")), CHECK_LIMIT, look).await.is_ok()
    }

    fn stuck(&self, stuck: Stuck) -> String {
        let name = &self.config.name;
        match stuck {
            Stuck::Now => {
                format!("destination `{name}`: its folder does not answer: is the server of the share reachable?")
            }
            Stuck::Before => format!("destination `{name}`: an earlier attempt still waits for its folder to answer"),
            Stuck::Broken => format!("destination `{name}`: an internal fault: please report it"),
        }
    }
}

#[async_trait]
impl Adapter for FolderAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        let (adapter, copy) = (self.clone(), item.clone());
        let work = move || {
            let filed = adapter.local().and_then(|local| Handle::current().block_on(Filing::new(&local, &copy).run()));
            filed.unwrap_or_else(|outcome| outcome)
        };
        // One attempt per document at a time, whichever account listed it.
        let filing = blocking::run(self.claim(item.uuid.as_str()), DOCUMENT_LIMIT, work);
        let result = blocking::while_answered(filing, CHECK_LIMIT, || self.answers(&item.uuid)).await;
        result.unwrap_or_else(|stuck| Outcome::transient(Code::word("no_answer"), self.stuck(stuck)))
    }

    async fn abandon(&self, item: &Item) {
        let (adapter, copy) = (self.clone(), item.clone());
        let work =
            move || adapter.local().and_then(|local| Handle::current().block_on(Filing::new(&local, &copy).abandon()));
        // An attempt that still hangs clears up after itself.
        let _ = blocking::run(self.claim(item.uuid.as_str()), CHECK_LIMIT, work).await;
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.holds(&[&self.config.file_name]) && invented.sidecar(self.config.sidecar.as_ref())
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, known: &Known) -> Result<Planned, String> {
        plan::plan(self, uuid, metadata, known).await
    }

    async fn check(&self) -> Result<Checked, String> {
        let adapter = self.clone();
        let work = move || probe::check(&adapter.config);
        blocking::run(self.claim("a check"), CHECK_LIMIT, work).await.unwrap_or_else(|stuck| Err(self.stuck(stuck)))?;
        let mut warnings = confirm::doubts(self, self.config.confirm.as_ref()).await;
        let is_taken = self.config.confirm.as_ref().is_some_and(|confirm| confirm.success == Evidence::Taken);
        if is_taken && self.config.marker.is_none() && files::is_mount_point(&self.config.path) {
            warnings.push(
                "its folder is where a share or a disk is mounted, and looks empty when that is not: set `marker`, so that \
                 no letter is put there then, and none counts as taken"
                    .to_owned(),
            );
        }
        Ok(Checked { warnings, ..Checked::default() })
    }

    async fn is_there(&self, waiting: Vec<PutIn>) -> Result<(), Outcome> {
        let adapter = self.clone();
        let work = move || {
            let folder = place::Folder::open(&adapter.config)?;
            folder.can_be_written()?;
            folder.is_that_of(&waiting)
        };
        let found = blocking::run(self.claim("whether it is there"), CHECK_LIMIT, work).await;
        found.unwrap_or_else(|stuck| Err(Outcome::transient(Code::word("no_answer"), self.stuck(stuck))))
    }

    fn proof(&self) -> Proof {
        Proof::Durable
    }

    async fn look(&self, letters: &[Unproved], others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        match &self.config.confirm {
            Some(confirm) => confirm::look(self, confirm, &self.memory, letters, others).await,
            None => Err(Outcome::no_look()),
        }
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        holds::in_folder(self, letters).await
    }

    fn watched(&self) -> Vec<PathBuf> {
        let Some(confirm) = &self.config.confirm else { return Vec::new() };
        let root = &self.config.path;
        let own = (!matches!(confirm.success, Evidence::Moved(_))).then(|| root.clone());
        own.into_iter().chain(confirm.folders().map(|folder| root.join(folder))).collect()
    }
}
