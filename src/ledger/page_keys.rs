//! Access to the status page: the links that `docsyncd open` makes, each of which counts once, and the sessions that
//! browsers get for them. Only digests are kept, so that a copy of the ledger opens nothing. `web::keys` makes the
//! secrets and compares them.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::{Millis, QueryResult};

/// The most unused links; the oldest is dropped for a new one.
const MAX_LINKS: i64 = 16;
/// The most sessions; the oldest ends when a new one begins.
const MAX_SESSIONS: i64 = 32;

/// The digests of the links that are valid at `now`.
pub fn links(db: &Connection, now: Millis) -> QueryResult<Vec<String>> {
    db.values("SELECT digest FROM page_link WHERE expires_at > ?1", [now])
}

/// The digests of the sessions that are valid at `now`, and when each expires.
pub fn sessions(db: &Connection, now: Millis) -> QueryResult<Vec<(String, Millis)>> {
    db.rows("SELECT digest, expires_at FROM page_session WHERE expires_at > ?1", [now])
}

/// A session is used: it stays valid until `expires_at`. An expired session stays expired.
pub fn renew(db: &Connection, digest: &str, expires_at: Millis, now: Millis) -> QueryResult<()> {
    let values = params![digest, expires_at, now];
    db.run("UPDATE page_session SET expires_at = ?2 WHERE digest = ?1 AND expires_at > ?3", values)
}

/// Keeps a link until it is used, and no longer than `expires_at`.
pub fn add_link(db: &Connection, digest: &str, expires_at: Millis, now: Millis) -> QueryResult<()> {
    db.run("DELETE FROM page_link WHERE expires_at <= ?1", [now])?;
    db.run("INSERT INTO page_link (digest, expires_at) VALUES (?1, ?2)", params![digest, expires_at])?;
    db.run(
        "DELETE FROM page_link WHERE digest NOT IN (SELECT digest FROM page_link ORDER BY expires_at DESC LIMIT ?1)",
        [MAX_LINKS],
    )
}

/// Uses up a link and begins its session, in one step. Returns false if the link is not valid (any more); then no
/// session begins.
pub fn exchange(db: &Connection, link: &str, session: &str, expires_at: Millis, now: Millis) -> QueryResult<bool> {
    let used = db.change("DELETE FROM page_link WHERE digest = ?1 AND expires_at > ?2", params![link, now])?;
    if used == 0 {
        return Ok(false);
    }
    db.run("DELETE FROM page_session WHERE expires_at <= ?1", [now])?;
    db.run(
        "INSERT INTO page_session (digest, since, expires_at) VALUES (?1, ?2, ?3)",
        params![session, now, expires_at],
    )?;
    db.run(
        "DELETE FROM page_session WHERE digest NOT IN (SELECT digest FROM page_session ORDER BY since DESC LIMIT ?1)",
        [MAX_SESSIONS],
    )?;
    Ok(true)
}

/// Ends a session.
pub fn end_session(db: &Connection, digest: &str) -> QueryResult<()> {
    db.run("DELETE FROM page_session WHERE digest = ?1", [digest])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing;

    #[test]
    fn a_link_counts_once_and_not_after_its_time() {
        let (_folder, db) = testing::empty();
        add_link(&db, "a", 10, 0).unwrap();
        add_link(&db, "b", 10, 0).unwrap();
        assert_eq!(links(&db, 9).unwrap().len(), 2);
        assert!(exchange(&db, "a", "s", 100, 9).unwrap());
        assert!(!exchange(&db, "a", "t", 100, 9).unwrap(), "a second time");
        assert!(!exchange(&db, "b", "t", 100, 10).unwrap(), "too late");
        assert!(!exchange(&db, "c", "t", 100, 9).unwrap(), "made up");
        assert_eq!(sessions(&db, 99).unwrap(), [("s".to_owned(), 100)]);
        renew(&db, "s", 200, 100).unwrap();
        assert!(sessions(&db, 100).unwrap().is_empty(), "one that has ended is not renewed");
        renew(&db, "s", 150, 99).unwrap();
        assert_eq!(sessions(&db, 149).unwrap(), [("s".to_owned(), 150)]);
        assert!(sessions(&db, 150).unwrap().is_empty(), "a session ends");
        end_session(&db, "s").unwrap();
        assert!(sessions(&db, 9).unwrap().is_empty());
    }

    #[test]
    fn neither_links_nor_sessions_grow_without_end() {
        let (_folder, db) = testing::empty();
        for number in 0..100 {
            add_link(&db, &format!("l{number}"), 1000 + number, number).unwrap();
            assert!(exchange(&db, &format!("l{number}"), &format!("s{number}"), 1000, number).unwrap());
            add_link(&db, &format!("unused{number}"), 1000 + number, number).unwrap();
        }
        assert_eq!(links(&db, 0).unwrap().len(), usize::try_from(MAX_LINKS).unwrap());
        let sessions = sessions(&db, 0).unwrap();
        assert_eq!(sessions.len(), usize::try_from(MAX_SESSIONS).unwrap());
        assert!(sessions.iter().any(|(name, _)| name == "s99") && sessions.iter().all(|(name, _)| name != "s0"));
    }
}
