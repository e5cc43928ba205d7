//! A program's output: the one line that it wants to be quoted, and everything else, which stays on this machine.
//!
//! Both are files in a folder beside the ledger, which only docsyncd's own account can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::destinations::Item;
use crate::domain::document::DocumentUuid;
use crate::domain::name;
use crate::system::durable::{hand_over, open_regular, open_with_mode, remove_if_there};
use crate::system::permissions;

/// The variable with the name of the file for the line that is quoted.
pub(super) const REASON_FILE: &str = "DOCSYNCD_REASON_FILE";

/// The longest line that is quoted, in characters.
const MAX_REASON: usize = 200;

/// Outputs that are kept; the oldest are removed. Each is bounded as well (`run::MAX_TAIL`).
const MAX_KEPT: usize = 500;

/// Only for the owner.
const MODE: u32 = 0o600;

/// The file with the output of the last failed run for this document, if there was any.
pub fn output_file(ledger: &Path, destination: &str, uuid: &DocumentUuid) -> PathBuf {
    // Windows does not allow a colon in a name.
    let uuid = uuid.as_str().replace(':', "_");
    ledger.with_file_name("output").join(format!("{destination}-{uuid}.log"))
}

/// All kept output about this document, also of destinations that the configuration had before.
///
/// # Errors
/// Any I/O error, except that the folder does not exist.
pub fn output_files(ledger: &Path, uuid: &DocumentUuid) -> io::Result<Vec<PathBuf>> {
    let of_any = output_file(ledger, "", uuid);
    let end = of_any.file_name().unwrap_or_default().as_encoded_bytes();
    let entries = match fs::read_dir(of_any.with_file_name("")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let is_of_it = |path: &PathBuf| path.as_os_str().as_encoded_bytes().ends_with(end);
    paths.filter(|path| path.as_ref().map_or(true, is_of_it)).collect()
}

/// The files of one run.
pub(super) struct Output {
    reason: PathBuf,
    output: PathBuf,
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = remove_if_there(&self.reason);
    }
}

impl Output {
    /// Creates the file for the reason, empty.
    pub(super) fn new(ledger: &Path, destination: &str, item: &Item) -> io::Result<Self> {
        // A program has a working directory of its own.
        let output = std::path::absolute(output_file(ledger, destination, &item.uuid))?;
        if let Some(folder) = output.parent() {
            permissions::create_folder(folder)?;
        }
        let reason = output.with_file_name(format!("{}.reason", item.key));
        // Closed at once: many Windows programs cannot open a file that another has open for writing.
        create(&reason)?;
        Ok(Self { reason, output })
    }

    pub(super) fn reason_file(&self) -> &Path {
        &self.reason
    }

    /// The line that the program wants to be quoted; empty if it wrote none.
    pub(super) fn reason(&self) -> String {
        let mut bytes = Vec::new();
        let limit = 16 * MAX_REASON as u64;
        // The program may have replaced the file.
        let read = open_regular(self.reason_file()).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        if read.is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let is_shown = |c: &char| !c.is_control() && !name::is_bidirectional(*c);
        let lines = text.lines().map(|line| line.chars().filter(is_shown).collect::<String>());
        let first = lines.map(|line| line.trim().to_owned()).find(|line| !line.is_empty());
        first.unwrap_or_default().chars().take(MAX_REASON).collect()
    }

    /// Keeps the end of the program's output, in place of an earlier run's; without output, removes the earlier one.
    /// Output that cannot be kept is lost: no decision needs it.
    pub(super) fn keep(&self, output: &[u8]) {
        if output.is_empty() {
            let _ = remove_if_there(&self.output);
        } else if let Ok(mut file) = create(&self.output) {
            let folder = self.output.parent().unwrap_or(Path::new("."));
            hand_over(&file, folder);
            let _ = file.write_all(output);
            prune(folder);
        }
    }
}

/// An empty file that replaces one of an earlier run.
fn create(path: &Path) -> io::Result<File> {
    remove_if_there(path)?;
    open_with_mode(OpenOptions::new().write(true).create_new(true), path, MODE)
}

fn prune(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<_> = entries
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "log"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if kept.len() > MAX_KEPT {
        kept.sort();
        for (_, path) in kept.iter().take(kept.len() - MAX_KEPT) {
            let _ = fs::remove_file(path);
        }
    }
}
