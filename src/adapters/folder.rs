//! `type = "folder"`: files the PDF, and an optional sidecar before it, below a folder that a practice system watches.
//!
//! A name appears only when its content is complete and on the disk, and never replaces another. Every step may be the
//! last one before a power cut; doing the whole delivery again under the same key finds what the step before left:
//! a temporary file is replaced, a sidecar with the same content is used, a PDF with the same content is the delivery.
//!
//! One case is out of reach: the process dies after the rename and before the ledger has it, and an importer takes the PDF
//! away before the next attempt, which then files it again. That the temporary file is gone as well would be no proof of
//! delivery: people, virus scanners and a disk that is not mounted take files away, too. Taken for one, it would lose a
//! document where now one comes twice.
//!
//! Two documents may have the same content and want the same name: each gets a file. Where another one was ever filed is known
//! from the ledger ([`Item::filed`]), and of what the ledger does not have yet from [`owners`]. After a crash between the
//! rename and the ledger the sidecar tells whose a file is; without one either may have it, as they are the same.
//!
//! It is not a mirror: nothing that was filed is looked at again, so an importer may take the files away.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_trait::async_trait;

use super::blocking::{self, Stuck};
use super::fault::{self, Doing};
use super::{Adapter, Item, Outcome, files};
use crate::config::FolderConfig;

mod delivery;
mod doubtful;
#[cfg(windows)]
mod drive;
mod leftovers;
mod owners;
mod place;
mod probe;
mod sidecar;
#[cfg(test)]
mod tests;

use delivery::Delivery;
#[cfg(windows)]
pub use drive::refused_drive;

/// The longest wait for a delivery: a large PDF over a slow line takes minutes, a share that hangs takes for ever.
const DELIVERY_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The longest wait for a check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// Called with a PDF's final path when everything but its rename is done; for tests of what a fault there leaves.
#[cfg(test)]
type Hook = Arc<dyn Fn(&std::path::Path) -> std::io::Result<()> + Send + Sync>;

/// A folder, local or on a share.
#[derive(Clone)]
pub struct FolderAdapter {
    config: FolderConfig,
    /// Whether what died before this process was looked for; shared by clones.
    swept: Arc<AtomicBool>,
    #[cfg(test)]
    before_rename: Option<Hook>,
}

impl FolderAdapter {
    /// Opens nothing.
    pub fn new(config: FolderConfig) -> Self {
        Self {
            config,
            swept: Arc::default(),
            #[cfg(test)]
            before_rename: None,
        }
    }

    fn claim(&self, key: &str) -> String {
        format!("{}\0{}\0{key}", self.config.name, self.config.path.display())
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
        let work = move || match Delivery::new(&adapter, &copy).run() {
            Ok(lies) => {
                Outcome::Delivered { place: lies.place.display().to_string(), file: Some(lies.file), found: lies.found }
            }
            Err(outcome) => outcome,
        };
        let result = blocking::run(self.claim(&item.key), DELIVERY_LIMIT, work).await;
        result.unwrap_or_else(|stuck| Outcome::Transient(self.stuck(stuck)))
    }

    fn recorded(&self, item: &Item) {
        owners::forget(&item.key);
    }

    async fn abandon(&self, item: &Item) {
        let (adapter, copy) = (self.clone(), item.clone());
        let work = move || Delivery::new(&adapter, &copy).abandon();
        // An attempt that still hangs will look after itself.
        let _ = blocking::run(self.claim(&item.key), CHECK_LIMIT, work).await;
    }

    async fn check(&self) -> Result<(), String> {
        let adapter = self.clone();
        let work = move || probe::check(&adapter.config);
        blocking::run(self.claim("check"), CHECK_LIMIT, work).await.unwrap_or_else(|stuck| Err(self.stuck(stuck)))
    }
}
