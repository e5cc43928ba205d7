//! A ledger that was restored from a backup does not know what was done after that backup, and catches up.
//!
//! Nothing is done for an account's documents until its whole list has been read. A document that was under way in the
//! backup and is not in that list was brought to its end by what ran after the backup. All others are in doubt: they
//! may have been delivered, so each destination is looked at before anything is sent there. The same holds for a ledger
//! that moved to another machine and is taken back.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::columns::{Statements as _, as_json};
use super::history::Action;
use super::{Millis, QueryResult, documents, history, process, reservations};
use crate::domain::document::DocumentUuid;
use crate::domain::state::Event;

/// The key in `process` of [`Restored`].
const RESTORED: &str = "restored";
/// The prefix of the keys of accounts whose list was read since; the value is [`READ`], or the time of an empty list.
const REREAD: &str = "reread:";
/// The value for an account whose whole list was read.
const READ: &str = "read";
/// The key in `process` of the time at which the ledger moved to another machine.
const MOVED: &str = "moved";

/// Adds to the condition on a document that, if the ledger was restored, its account's list was read since.
macro_rules! if_read {
    ($condition:literal) => {
        concat!(
            $condition,
            " AND (NOT EXISTS (SELECT 1 FROM process WHERE key = 'restored')
               OR EXISTS (SELECT 1 FROM process WHERE key = 'reread:' || document.account AND value = 'read'))"
        )
    };
}
pub(super) use if_read;

/// What is known of the restored backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// When the backup was made.
    pub at: Millis,
    /// Whether something may have been delivered after it.
    pub in_doubt: bool,
}

/// An account of a restored ledger whose list has not been read since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    in_doubt: bool,
    /// When its list was first read and empty.
    empty_at: Option<Millis>,
}

impl Unread {
    /// Whether the list was empty at least `apart` milliseconds ago as well: it is so, and not for a moment only.
    pub fn was_empty(&self, apart: Millis, now: Millis) -> bool {
        self.empty_at.is_some_and(|at| now.saturating_sub(at) >= apart)
    }
}

/// Marks the ledger as restored, and no longer as moved. `who` did it.
pub fn begin(db: &Connection, restored: Restored, who: Option<&str>, now: Millis) -> QueryResult<()> {
    db.run("DELETE FROM process WHERE substr(key, 1, length(?1)) = ?1", [REREAD])?;
    process::remove(db, MOVED)?;
    process::set(db, RESTORED, &serde_json::to_string(&restored).unwrap_or_default())?;
    if restored.in_doubt {
        // What failed may have been retried since, and a new version of what was reported may have been delivered.
        db.run("UPDATE document SET in_doubt = 1 WHERE NOT in_doubt", [])?;
        reservations::restored(db)?;
    }
    let at = jiff::Timestamp::from_millisecond(restored.at).unwrap_or_default();
    let doubt = if restored.in_doubt { "" } else { ", after which nothing ran" };
    history::act(db, now, Action::Restored, &format!("as it was at {at:.0}{doubt}"), who)
}

/// Whether the ledger was restored, and this account's list has not been read since.
pub fn unread(db: &Connection, account: &str) -> QueryResult<Option<Unread>> {
    let all = process::all(db)?;
    let Some(restored) = all.get(RESTORED) else { return Ok(None) };
    let read = all.get(&format!("{REREAD}{account}"));
    if read.is_some_and(|read| read == READ) {
        return Ok(None);
    }
    let in_doubt = serde_json::from_str::<Restored>(restored).map_or(true, |restored| restored.in_doubt);
    Ok(Some(Unread { in_doubt, empty_at: read.and_then(|at| at.parse().ok()) }))
}

/// Open documents of the account that the poll of this number did not show, with numbers above `after`, the lowest
/// first.
pub fn not_shown(
    db: &Connection,
    account: &str,
    poll: i64,
    after: i64,
    limit: usize,
) -> QueryResult<Vec<(i64, DocumentUuid)>> {
    db.rows(
        "SELECT id, uuid FROM document INDEXED BY document_open
         WHERE state IN ('discovered', 'fetched', 'delivered', 'failing') AND due_at IS NOT NULL AND account = ?1
           AND sweep < ?2 AND id > ?3
         ORDER BY id LIMIT ?4",
        params![account, poll, after, limit],
    )
}

/// The document left the list between the backup and the restore: it has ended. It stays in doubt, in case that it is
/// listed again. Returns it as it was; `None` if it is not open.
pub fn settle(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<documents::Document>> {
    let Some(document) = documents::by_number(db, id)? else { return Ok(None) };
    if documents::transition(db, id, document.round, Event::SettledElsewhere, now, None)?.is_none() {
        return Ok(None);
    }
    db.run("UPDATE document SET listed = 0 WHERE id = ?1", [id])?;
    // Nobody has to look at its deliveries. What waits for its proof goes on: it may have been refused.
    db.run("UPDATE delivery SET unconfirmed_at = NULL WHERE document = ?1 AND unconfirmed_at IS NOT NULL", [id])?;
    Ok(Some(document))
}

/// The account's whole list was read: its documents go on. All that is open by now is in doubt, as it may have been
/// delivered after the backup without having left the list.
pub fn was_read(db: &Connection, account: &str, unread: &Unread) -> QueryResult<()> {
    if unread.in_doubt {
        db.run(
            "UPDATE document INDEXED BY document_open SET in_doubt = 1
             WHERE state IN ('discovered', 'fetched', 'delivered', 'failing') AND due_at IS NOT NULL AND account = ?1
               AND NOT in_doubt",
            [account],
        )?;
    }
    process::set(db, &format!("{REREAD}{account}"), READ)
}

/// The account's list was read and is empty, and nothing else shows where its documents are: this is believed when it
/// is so again.
pub fn was_empty(db: &Connection, account: &str, unread: &Unread, now: Millis) -> QueryResult<()> {
    match unread.empty_at {
        // A time in the future means that the clock was set back.
        Some(at) if at <= now => Ok(()),
        _ => process::set(db, &format!("{REREAD}{account}"), &now.to_string()),
    }
}

/// The open documents that may be sent a second time, or that a person has to look at: those for destinations in which
/// nobody can see what arrived. Documents that are not fetched yet count if there is any such destination.
pub fn unseen(db: &Connection, destinations: &[String]) -> QueryResult<u64> {
    db.prepare_cached(
        "SELECT count(*) FROM document WHERE due_at IS NOT NULL AND (state = 'discovered' AND ?2
            OR state = 'fetched' AND EXISTS (
                SELECT 1 FROM delivery WHERE document = document.id AND delivery.pdf = document.pdf
                   AND +delivery.state = 'pending' AND destination IN (SELECT value FROM json_each(?1))))",
    )?
    .query_row(params![as_json(destinations), !destinations.is_empty()], |row| row.get(0))
}

/// Records that the ledger moved to another machine. `who` did it.
pub fn set_moved(db: &Connection, who: Option<&str>, now: Millis) -> QueryResult<()> {
    process::set(db, MOVED, &now.to_string())?;
    history::act(db, now, Action::Moved, "to another machine", who)
}

/// When the ledger moved to another machine, if it did.
pub fn moved_at(db: &Connection) -> QueryResult<Option<Millis>> {
    Ok(moved_of(&process::all(db)?))
}

/// The same, from the values of `process`.
pub fn moved_of(all: &BTreeMap<String, String>) -> Option<Millis> {
    all.get(MOVED).and_then(|at| at.parse().ok())
}
