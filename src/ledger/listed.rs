//! What the API's list shows of documents, and what that means for those that are known.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::documents::transition;
use super::{Millis, QueryResult, history};
use crate::document::DocumentUuid;
use crate::state::{Event, State};

/// A document as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its identifier.
    pub uuid: DocumentUuid,
    /// `createdAt` exactly as printed.
    pub created_at: String,
    /// `type`
    pub kind: Option<String>,
    /// The PDF's identifier; `None` while it is not rendered, or when the list does not show it.
    pub pdf: Option<String>,
}

/// What seeing a listed document meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Never seen before: it is now `discovered`.
    New,
    /// Known, nothing to do.
    Known,
    /// It starts over.
    Reopened {
        /// Why.
        event: Event,
        /// The ledger's number for it.
        id: i64,
        /// The round that ended.
        round: i64,
    },
}

/// A document that answered 404 and is listed all the same is asked for again after this time, the next time after twice
/// as long, and so on: a proxy that answered 404 to everything for an hour must not have lost it. At once when the clock
/// was set back meanwhile. How long it is known counts for nothing: a clock that was set ahead would make that a year.
const WITHDRAWN_AGAIN: Millis = 60_000;
/// It is doubled at most so many times: to about four hours.
const MOST_DOUBLINGS: u32 = 8;

/// Records that the list shows a document. `sweep` is the number of the sweep that reads the list.
///
/// # Errors
/// Those of SQLite.
pub fn see(db: &Connection, account: &str, listed: &Listed, sweep: i64, now: Millis) -> QueryResult<Seen> {
    let known: Option<(i64, i64, bool, Option<String>, bool)> = db
        .prepare_cached(
            "SELECT id, round, listed, listed_pdf,
                    state = 'withdrawn' AND (?3 - changed_at >= ?4 << min(round, ?5) OR changed_at > ?3)
             FROM document WHERE account = ?1 AND uuid = ?2",
        )?
        .query_row(params![account, listed.uuid.as_str(), now, WITHDRAWN_AGAIN, MOST_DOUBLINGS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .optional()?;
    let Some((id, round, was_listed, listed_pdf, withdrawn_in_error)) = known else {
        db.prepare_cached(
            "INSERT INTO document (account, uuid, created_at, kind, state, listed_pdf, sweep, due_at, found_at, changed_at)
             VALUES (?1, ?2, ?3, ?4, 'discovered', ?5, ?6, ?7, ?7, ?7)",
        )?
        .execute(params![account, listed.uuid.as_str(), listed.created_at, listed.kind, listed.pdf, sweep, now])?;
        history::append(db, db.last_insert_rowid(), now, "discovered", State::Discovered, 0, None, None)?;
        return Ok(Seen::New);
    };
    db.prepare_cached(
        "UPDATE document SET listed = 1, sweep = max(sweep, ?2), listed_pdf = coalesce(?3, listed_pdf) WHERE id = ?1",
    )?
    .execute(params![id, sweep, listed.pdf])?;
    let event = match (&listed_pdf, &listed.pdf) {
        (Some(before), Some(present)) if before != present => Event::Revised,
        (None, Some(_)) => {
            // Rendered at last: whoever waits for it need not wait any longer.
            db.prepare_cached(
                "UPDATE document SET due_at = ?2 WHERE id = ?1 AND state = 'discovered' AND attempts = 0",
            )?
            .execute(params![id, now])?;
            Event::Relisted
        }
        _ => Event::Relisted,
    };
    if event == Event::Relisted && was_listed && !withdrawn_in_error {
        return Ok(Seen::Known);
    }
    let moved = transition(db, id, round, event, now, None)?;
    Ok(moved.map_or(Seen::Known, |_| Seen::Reopened { event, id, round }))
}

/// After a whole sweep: what it did not see has left the list. Documents that ended after the sweep `began` may have
/// been seen by nobody and still be listed; they are judged by the next one. Returns how many left.
///
/// # Errors
/// Those of SQLite.
pub fn mark_unlisted(db: &Connection, account: &str, sweep: i64, began: Millis) -> QueryResult<usize> {
    db.execute(
        "UPDATE document INDEXED BY document_still_listed SET listed = 0
         WHERE account = ?1 AND listed = 1 AND state IN ('reported', 'failed', 'unreported', 'withdrawn')
           AND sweep < ?2 AND found_at < ?3",
        params![account, sweep, began],
    )
}

/// Documents of the account that ended lately and were still listed then, with numbers above `after`, the lowest first;
/// after three looks they are left to the sweeps.
///
/// # Errors
/// Those of SQLite.
pub fn still_listed(db: &Connection, account: &str, after: i64, limit: usize) -> QueryResult<Vec<(i64, DocumentUuid)>> {
    let ended: Vec<(i64, String)> = db
        .prepare_cached(
            "SELECT id, uuid FROM document WHERE account = ?1 AND listed = 1 AND looked < 3
               AND state IN ('reported', 'failed') AND id > ?2 ORDER BY id LIMIT ?3",
        )?
        .query_map(params![account, after, limit], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<QueryResult<_>>()?;
    Ok(ended.into_iter().filter_map(|(id, uuid)| Some((id, DocumentUuid::parse(&uuid)?))).collect())
}

/// Records whether a document that has ended was listed when it was looked for.
///
/// # Errors
/// Those of SQLite.
pub fn looked(db: &Connection, account: &str, uuid: &DocumentUuid, listed: bool) -> QueryResult<()> {
    db.prepare_cached(
        "UPDATE document SET listed = ?3, looked = looked + 1
         WHERE account = ?1 AND uuid = ?2 AND state IN ('reported', 'failed')",
    )?
    .execute(params![account, uuid.as_str(), listed])
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{documents, open};

    const MINUTE: Millis = 60_000;
    const YEAR: Millis = 365 * 24 * 60 * MINUTE;

    struct Withdrawn {
        _folder: tempfile::TempDir,
        db: Connection,
        shown: Listed,
    }

    impl Withdrawn {
        fn found(at: Millis) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let db = open::open_or_create(&folder.path().join("ledger.sqlite3")).unwrap();
            let uuid = DocumentUuid::parse("a").unwrap();
            let shown = Listed { uuid, created_at: "2026-11-21".to_owned(), kind: None, pdf: None };
            let withdrawn = Self { _folder: folder, db, shown };
            assert_eq!(withdrawn.seen(at), Seen::New);
            withdrawn
        }

        fn seen(&self, at: Millis) -> Seen {
            see(&self.db, "main", &self.shown, 1, at).unwrap()
        }

        fn gone(&self, at: Millis) {
            let found = documents::due(&self.db, State::Discovered, "main", at, 1).unwrap().remove(0);
            transition(&self.db, found.id, found.round, Event::Gone, at, None).unwrap();
        }

        /// Minutes until it is asked for again.
        fn again_after(&self, at: Millis) -> Millis {
            (1..1000).find(|minutes| matches!(self.seen(at + minutes * MINUTE), Seen::Reopened { .. })).unwrap()
        }
    }

    #[test]
    fn a_withdrawn_document_that_stays_listed_is_asked_for_again_also_when_the_clock_was_set_back() {
        let document = Withdrawn::found(6000 * MINUTE);
        document.gone(6000 * MINUTE);
        assert_eq!(document.seen(6000 * MINUTE + 1), Seen::Known, "not at once");
        assert!(matches!(document.seen(60 * MINUTE), Seen::Reopened { .. }));
    }

    #[test]
    fn a_withdrawn_document_that_stays_listed_is_asked_for_again_later_and_later_and_by_no_clock_a_year_later() {
        let document = Withdrawn::found(0);
        let mut at = YEAR;
        let waits = [(); 11].map(|()| {
            document.gone(at);
            let minutes = document.again_after(at);
            at += minutes * MINUTE;
            minutes
        });
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256]);
    }
}
