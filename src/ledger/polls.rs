//! How the polls of each account went. A good poll after a good one changes nothing: it goes into a file that costs the
//! disk nothing, where the service has one, and into the ledger once an hour, before whatever else is told of the
//! account's polls, and at the end.
//!
//! That file is lost with the machine's memory, and nothing else with it: until then it says, to `docsyncd status` too,
//! when the last poll was.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::columns::Statements as _;
use super::open::private_options;
use super::{Millis, QueryResult, process};

/// How old what the ledger itself says of good polls may be while they go on; milliseconds.
const RECORDED_EVERY: Millis = 60 * 60 * 1000;
/// The longest file that is read; bytes. An account takes about a hundred.
const MAX_BYTES: u64 = 1024 * 1024;
/// Where the file is, as the running daemon says it.
const FILE: &str = "polls_file";
/// The name of the file in a folder that is the service's own.
const NAME: &str = "polls.json";

/// What is known of an account's polls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polls {
    /// When one last ended well.
    pub polled_at: Option<Millis>,
    /// When the next one comes.
    pub next_poll_at: Option<Millis>,
    /// When the whole list was last read.
    pub swept_at: Option<Millis>,
}

/// What the file says, by NAME of the account: nothing where there is none that can be read.
#[derive(Debug, Default)]
pub struct Latest(BTreeMap<String, Polls>);

impl Latest {
    /// Reads the file of the daemon that works on this ledger.
    ///
    /// # Errors
    /// Any SQLite error.
    pub fn read(db: &Connection) -> QueryResult<Self> {
        Ok(Self(file(db)?.and_then(|file| content(&file).ok()).unwrap_or_default()))
    }

    /// What is known of the account, `recorded` being what the ledger says.
    pub fn of(&self, account: &str, recorded: Polls) -> Polls {
        match self.0.get(account) {
            // What the ledger was told later holds: it has all that the file had.
            Some(latest) if latest.polled_at > recorded.polled_at => {
                Polls { swept_at: latest.swept_at.max(recorded.swept_at), ..*latest }
            }
            _ => recorded,
        }
    }
}

fn file(db: &Connection) -> QueryResult<Option<PathBuf>> {
    let mut known = db.prepare_cached("SELECT value FROM process WHERE key = ?1")?;
    known.query_row([FILE], |row| row.get::<_, String>(0)).optional().map(|path| path.map(PathBuf::from))
}

fn content(file: &Path) -> io::Result<BTreeMap<String, Polls>> {
    let mut text = Vec::new();
    File::open(file)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// The file that a service on this ledger has: in the folder in memory that systemd made for it (systemd.exec(5),
/// `RuntimeDirectory=`); on Windows one beside the ledger that is not brought to the disk while there is memory.
pub fn of_service(ledger: &Path) -> Option<PathBuf> {
    if cfg!(windows) {
        return Some(ledger.with_file_name(NAME));
    }
    let folders = std::env::var("RUNTIME_DIRECTORY").ok()?;
    let folder = folders.split(':').next().filter(|folder| Path::new(folder).is_absolute())?;
    Some(Path::new(folder).join(NAME))
}

/// A daemon begins, with this file or none. What one that was cut off left is taken over.
///
/// # Errors
/// Any SQLite error.
pub fn begin(db: &Connection, file: Option<&Path>) -> QueryResult<()> {
    end(db)?;
    match file.and_then(Path::to_str) {
        Some(file) => process::set(db, FILE, file),
        None => Ok(()),
    }
}

/// Takes all into the ledger, and the file away.
///
/// # Errors
/// Any SQLite error.
pub fn end(db: &Connection) -> QueryResult<()> {
    let Some(file) = file(db)? else { return Ok(()) };
    for account in Latest::read(db)?.0.keys() {
        record(db, account)?;
    }
    process::remove(db, FILE)?;
    // Should that fail, nobody reads it any more.
    let _ = fs::remove_file(file);
    Ok(())
}

/// Takes what the file says of the account into the ledger.
fn record(db: &Connection, account: &str) -> QueryResult<()> {
    let Some(Polls { polled_at, next_poll_at, swept_at }) = Latest::read(db)?.0.remove(account) else { return Ok(()) };
    db.run("UPDATE account SET polled_at = ?2, next_poll_at = ?3, swept_at = max(coalesce(?4, swept_at), coalesce(swept_at, ?4))
         WHERE name = ?1 AND (polled_at IS NULL OR polled_at < ?2)", params![account, polled_at, next_poll_at, swept_at])
}

/// A poll ended well at `now`; `swept`: it read the whole list. The next one comes at `next`.
///
/// # Errors
/// Any SQLite error.
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

/// Puts it into the file: whole or not at all, for whoever reads it meanwhile.
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

/// A poll failed: why, in words and as data.
///
/// # Errors
/// Any SQLite error.
pub fn failed(db: &Connection, account: &str, error: &str, code: &str, now: Millis) -> QueryResult<()> {
    record(db, account)?;
    db.run(
        "UPDATE account SET poll_failed = poll_failed + 1, poll_error = ?2, poll_code = ?3,
         poll_failing_since = coalesce(poll_failing_since, ?4) WHERE name = ?1",
        params![account, error, code, now],
    )
}

/// The account is polled next at `at`, after a poll that failed.
///
/// # Errors
/// Any SQLite error.
pub fn next(db: &Connection, account: &str, at: Millis) -> QueryResult<()> {
    db.run("UPDATE account SET next_poll_at = ?2 WHERE name = ?1", params![account, at])
}

#[cfg(test)]
mod tests;
