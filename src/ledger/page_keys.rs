//! Access to the status page: the links that `docsyncd open` makes, each of which counts once, and the sessions that
//! browsers get for them. Only digests are kept, so that a copy of the ledger opens nothing. `web::keys` makes the
//! secrets and compares them.

use rusqlite::{Connection, Row, params};

use super::columns::{Statements as _, from_row};
use super::{Millis, QueryResult};

/// The most unused links; the oldest is dropped for a new one.
const MAX_LINKS: i64 = 16;
/// The most sessions; the oldest ends when a new one begins.
const MAX_SESSIONS: i64 = 32;

/// A link that is not used yet.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Its digest.
    pub digest: &'a str,
    /// When it ends.
    pub expires_at: Millis,
    /// How long its session counts after it was used; milliseconds.
    pub known_for: Millis,
}

/// A browser that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBrowser {
    /// The digest of its session.
    pub digest: String,
    /// Since when.
    pub since: Millis,
    /// Until when, if it is not used before.
    pub expires_at: Millis,
    /// How long it counts after it was used; milliseconds.
    pub known_for: Millis,
    /// What it is, in two words.
    pub browser: String,
}

impl TryFrom<&Row<'_>> for KnownBrowser {
    type Error = rusqlite::Error;

    fn try_from(row: &Row<'_>) -> QueryResult<Self> {
        Ok(from_row!(row => Self { digest, since, expires_at, known_for, browser }))
    }
}

/// The digests of the links that are valid at `now`.
pub fn links(db: &Connection, now: Millis) -> QueryResult<Vec<String>> {
    db.values("SELECT digest FROM page_link WHERE expires_at > ?1", [now])
}

/// The sessions that are valid at `now`.
pub fn sessions(db: &Connection, now: Millis) -> QueryResult<Vec<KnownBrowser>> {
    db.rows("SELECT digest, since, expires_at, known_for, browser FROM page_session WHERE expires_at > ?1", [now])
}

/// A session is used: it stays valid until `expires_at`. An expired session stays expired.
pub fn renew(db: &Connection, digest: &str, expires_at: Millis, now: Millis) -> QueryResult<()> {
    let values = params![digest, expires_at, now];
    db.run("UPDATE page_session SET expires_at = ?2 WHERE digest = ?1 AND expires_at > ?3", values)
}

/// Keeps a link until it is used, and no longer than it is valid.
pub fn add_link(db: &Connection, link: Link<'_>, now: Millis) -> QueryResult<()> {
    let Link { digest, expires_at, known_for } = link;
    db.run("DELETE FROM page_link WHERE expires_at <= ?1", [now])?;
    // Before it is there: it may be the one that ends first.
    db.run(
        "DELETE FROM page_link WHERE digest NOT IN (SELECT digest FROM page_link ORDER BY expires_at DESC LIMIT ?1)",
        [MAX_LINKS - 1],
    )?;
    let values = params![digest, expires_at, known_for];
    db.run("INSERT INTO page_link (digest, expires_at, known_for) VALUES (?1, ?2, ?3)", values)
}

/// Uses up a link and begins its session, in one step. Returns how long the session counts after it was used; `None` if
/// the link is not valid (any more): then no session begins.
pub fn exchange(db: &Connection, link: &str, session: &str, browser: &str, now: Millis) -> QueryResult<Option<Millis>> {
    let sql = "DELETE FROM page_link WHERE digest = ?1 AND expires_at > ?2 RETURNING known_for";
    let Some(known_for) = db.perhaps(sql, params![link, now])? else { return Ok(None) };
    db.run("DELETE FROM page_session WHERE expires_at <= ?1", [now])?;
    db.run(
        "INSERT INTO page_session (digest, since, expires_at, known_for, browser) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![session, now, now.saturating_add(known_for), known_for, browser],
    )?;
    db.run(
        "DELETE FROM page_session WHERE digest NOT IN (SELECT digest FROM page_session ORDER BY since DESC LIMIT ?1)",
        [MAX_SESSIONS],
    )?;
    Ok(Some(known_for))
}

/// Ends a session. Returns whether there was one.
pub fn end_session(db: &Connection, digest: &str) -> QueryResult<bool> {
    db.change("DELETE FROM page_session WHERE digest = ?1", [digest]).map(|ended| ended > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing;

    fn link(digest: &str, expires_at: Millis) -> Link<'_> {
        Link { digest, expires_at, known_for: 91 }
    }

    fn known(db: &Connection, now: Millis) -> Vec<(String, Millis)> {
        sessions(db, now).unwrap().into_iter().map(|known| (known.digest, known.expires_at)).collect()
    }

    #[test]
    fn a_link_counts_once_and_not_after_its_time() {
        let (_folder, db) = testing::empty();
        add_link(&db, link("a", 10), 0).unwrap();
        add_link(&db, link("b", 10), 0).unwrap();
        assert_eq!(links(&db, 9).unwrap().len(), 2);
        assert_eq!(exchange(&db, "a", "s", "Firefox, Windows", 9).unwrap(), Some(91));
        assert_eq!(exchange(&db, "a", "t", "", 9).unwrap(), None, "a second time");
        assert_eq!(exchange(&db, "b", "t", "", 10).unwrap(), None, "too late");
        assert_eq!(exchange(&db, "c", "t", "", 9).unwrap(), None, "made up");
        assert_eq!(known(&db, 99), [("s".to_owned(), 100)]);
        assert_eq!(sessions(&db, 99).unwrap()[0].browser, "Firefox, Windows");
        renew(&db, "s", 200, 100).unwrap();
        assert!(known(&db, 100).is_empty(), "one that has ended is not renewed");
        renew(&db, "s", 150, 99).unwrap();
        assert_eq!(known(&db, 149), [("s".to_owned(), 150)]);
        assert!(known(&db, 150).is_empty(), "a session ends");
        assert!(end_session(&db, "s").unwrap());
        assert!(!end_session(&db, "s").unwrap() && known(&db, 9).is_empty());
    }

    #[test]
    fn neither_links_nor_sessions_grow_without_end() {
        let (_folder, db) = testing::empty();
        for number in 0..100 {
            add_link(&db, link(&format!("l{number}"), 1000 + number), number).unwrap();
            assert!(exchange(&db, &format!("l{number}"), &format!("s{number}"), "", number).unwrap().is_some());
            add_link(&db, link(&format!("unused{number}"), 1000 + number), number).unwrap();
        }
        assert_eq!(links(&db, 0).unwrap().len(), usize::try_from(MAX_LINKS).unwrap());
        add_link(&db, link("short", 500), 100).unwrap();
        assert!(links(&db, 100).unwrap().contains(&"short".to_owned()), "long ones do not push it out");
        let sessions = known(&db, 0);
        assert_eq!(sessions.len(), usize::try_from(MAX_SESSIONS).unwrap());
        assert!(sessions.iter().any(|(name, _)| name == "s99") && sessions.iter().all(|(name, _)| name != "s0"));
    }
}
