//! How the polls of each account went. A good poll after a good one changes nothing. It is recorded in a file that
//! costs no disk writes, if the service has one. The ledger gets it once an hour, before any other record of the
//! account's polls, and at the end.
//!
//! The file is lost with the machine's memory, but holds only the times of the last polls. `docsyncd status` reads it
//! too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::columns::Statements as _;
use super::open::private_options;
use super::{Millis, QueryResult, process};

/// How old the ledger's own record of good polls may get while they continue; milliseconds.
const RECORDED_EVERY: Millis = 60 * 60 * 1000;
/// The longest file that is read; bytes. An account takes about a hundred.
const MAX_BYTES: u64 = 1024 * 1024;
/// The key in `process` under which the running daemon publishes the file's path.
const FILE: &str = "polls_file";
/// The name of the file in the service's own folder.
const NAME: &str = "polls.json";

/// The times of an account's polls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polls {
    /// When a poll last succeeded.
    pub polled_at: Option<Millis>,
    /// When the next poll is due.
    pub next_poll_at: Option<Millis>,
    /// When the whole list was last read.
    pub swept_at: Option<Millis>,
}

/// The content of the file, by NAME of the account; empty if no file can be read.
#[derive(Debug, Default)]
pub struct Latest(BTreeMap<String, Polls>);

impl Latest {
    /// Reads the file of the daemon that works on this ledger.
    pub fn read(db: &Connection) -> QueryResult<Self> {
        Ok(Self(file(db)?.and_then(|file| content(&file).ok()).unwrap_or_default()))
    }

    /// The account's polls. `recorded` is what the ledger says.
    pub fn of(&self, account: &str, recorded: Polls) -> Polls {
        match self.0.get(account) {
            // If the ledger's record is newer it counts: it includes all that the file had.
            Some(latest) if latest.polled_at > recorded.polled_at => {
                Polls { swept_at: latest.swept_at.max(recorded.swept_at), ..*latest }
            }
            _ => recorded,
        }
    }
}

fn file(db: &Connection) -> QueryResult<Option<PathBuf>> {
    Ok(db.perhaps::<String>("SELECT value FROM process WHERE key = ?1", [FILE])?.map(PathBuf::from))
}

fn content(file: &Path) -> io::Result<BTreeMap<String, Polls>> {
    let mut text = Vec::new();
    File::open(file)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// The file that a service on this ledger uses. On Unix it is in the folder in memory that systemd made for the service
/// (systemd.exec(5), `RuntimeDirectory=`). On Windows it is beside the ledger, and the system does not write it to the
/// disk while there is memory.
pub fn of_service(ledger: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(ledger.with_file_name(NAME));
    }
    let folders = std::env::var("RUNTIME_DIRECTORY").ok()?;
    let folder = folders.split(':').next().filter(|folder| Path::new(folder).is_absolute())?;
    Some(Path::new(folder).join(NAME))
}

/// Starts a daemon with this file, or none. A file that a killed daemon left is recorded in the ledger first.
pub fn begin(db: &Connection, file: Option<&Path>) -> QueryResult<()> {
    end(db)?;
    match file.and_then(Path::to_str) {
        Some(file) => process::set(db, FILE, file),
        None => Ok(()),
    }
}

/// Records the whole file in the ledger, and removes the file.
pub fn end(db: &Connection) -> QueryResult<()> {
    let Some(file) = file(db)? else { return Ok(()) };
    for account in Latest::read(db)?.0.keys() {
        record(db, account)?;
    }
    process::remove(db, FILE)?;
    // If this fails, nobody reads the file any more.
    let _ = fs::remove_file(file);
    Ok(())
}

/// Records in the ledger what the file says about the account.
fn record(db: &Connection, account: &str) -> QueryResult<()> {
    let Some(Polls { polled_at, next_poll_at, swept_at }) = Latest::read(db)?.0.remove(account) else { return Ok(()) };
    db.run(
        "UPDATE account SET polled_at = ?2, next_poll_at = ?3,
                swept_at = max(coalesce(?4, swept_at), coalesce(swept_at, ?4))
         WHERE name = ?1 AND (polled_at IS NULL OR polled_at < ?2)",
        params![account, polled_at, next_poll_at, swept_at],
    )
}

/// A poll succeeded at `now`; `swept`: it read the whole list. The next one is due at `next`.
pub fn succeeded(db: &Connection, account: &str, swept: bool, next: Millis, now: Millis) -> QueryResult<()> {
    let is_recorded = db
        .prepare_cached(
            "SELECT 1 FROM account WHERE name = ?1 AND poll_failed = 0 AND poll_error IS NULL
               AND polled_at BETWEEN ?2 AND ?3 AND (NOT ?4 OR swept_at BETWEEN ?2 AND ?3)",
        )?
        .exists(params![account, now - RECORDED_EVERY, now, swept])?;
    let polls = Polls { polled_at: Some(now), next_poll_at: Some(next), swept_at: swept.then_some(now) };
    if is_recorded
        && let Some(file) = file(db)?
        && keep(&file, account, polls).is_ok()
    {
        return Ok(());
    }
    record(db, account)?;
    db.run(
        "UPDATE account SET polled_at = ?2, next_poll_at = ?3, swept_at = coalesce(?4, swept_at),
         poll_failed = 0, poll_error = NULL, poll_code = NULL, poll_failing_since = NULL WHERE name = ?1",
        params![account, polls.polled_at, polls.next_poll_at, polls.swept_at],
    )
}

/// Writes the polls into the file. A concurrent reader sees the whole content, old or new.
fn keep(file: &Path, account: &str, polls: Polls) -> io::Result<()> {
    let mut all = content(file).unwrap_or_default();
    let before = all.get(account).and_then(|before| before.swept_at);
    all.insert(account.to_owned(), Polls { swept_at: polls.swept_at.or(before), ..polls });
    let anew = file.with_extension("new");
    let mut options = private_options();
    // FILE_ATTRIBUTE_TEMPORARY (Microsoft, "CreateFileW")
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::attributes(&mut options, 0x100);
    options.truncate(true).open(&anew)?.write_all(&serde_json::to_vec(&all)?)?;
    fs::rename(anew, file)
}

/// A poll that began at `began` failed: why, in words and as a code. A service that hangs fails long after it began to.
pub fn failed(db: &Connection, account: &str, error: &str, code: &str, began: Millis) -> QueryResult<()> {
    record(db, account)?;
    db.run(
        "UPDATE account SET poll_failed = poll_failed + 1, poll_error = ?2, poll_code = ?3,
         poll_failing_since = coalesce(poll_failing_since, ?4) WHERE name = ?1",
        params![account, error, code, began],
    )
}

/// After a failed poll, the next one is due at `at`.
pub fn next(db: &Connection, account: &str, at: Millis) -> QueryResult<()> {
    db.run("UPDATE account SET next_poll_at = ?2 WHERE name = ?1", params![account, at])
}

#[cfg(test)]
mod tests;
