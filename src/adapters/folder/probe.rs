//! Tests a folder for real: everything that a delivery does there, with a file of its own.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use super::leftovers::{CHECK, sweep};
use super::place::open_root;
use super::{Doing, FolderConfig, fault, files};

/// The number of probes of this process: distinguishes the files of concurrent checks.
static PROBES: AtomicU64 = AtomicU64::new(0);

/// Writes, syncs, renames and deletes a file. The error says which step failed and what to do.
pub(super) fn check(config: &FolderConfig) -> Result<(), String> {
    let root = open_root(config)?;
    // A check cannot ask the ledger.
    sweep(&root, |name| !name.starts_with(CHECK));
    let failed = |doing| move |error: std::io::Error| fault::reason(config, doing, &error);
    // The daemon and the command `check` may do this at the same time, and two destinations may share a folder.
    let id = format!("{}-{}", std::process::id(), PROBES.fetch_add(1, Ordering::Relaxed));
    let target = root.join(format!("{CHECK}{id}.renamed.part"));
    files::remove_if_there(&target).map_err(failed(Doing::Remove))?;

    let temporary = root.join(format!("{CHECK}{id}.part"));
    let mut probe = files::Temporary::create(temporary, config.file_mode).map_err(failed(Doing::Create))?;
    probe.writer().write_all(b"docsyncd check\n").map_err(failed(Doing::Write))?;
    probe.sync().map_err(failed(Doing::Sync))?;
    files::rename_new(probe.path(), &target).map_err(failed(Doing::Rename))?;
    let synced = files::sync_folder(&root).map_err(failed(Doing::Sync));
    files::remove_if_there(&target).map_err(failed(Doing::Remove))?;
    synced
}
