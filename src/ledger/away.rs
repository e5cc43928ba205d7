//! Destinations that were looked at without a letter being due: which of them are away, and when each was last seen to
//! work. Kept as values of `process`.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::columns::Statements as _;
use super::pauses::{self, Pause};
use super::{Millis, QueryResult, process};
use crate::domain::failure::{Failure, Scope};
use crate::domain::proof::PutIn;

const AWAY: &str = "away:";
const WORKED: &str = "worked:";
/// About when the next look comes after one, for people; milliseconds.
const NEXT: Millis = 30_000;

/// Why and since when a destination is away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Away {
    /// Since when.
    pub since: Millis,
    /// The failure, as [`Failure`] writes it.
    pub failure: String,
    /// Why, for people; without patient data.
    pub reason: String,
    /// When it was last looked at.
    #[serde(default)]
    pub looked_at: Millis,
}

/// The destination is away.
pub fn begin(db: &Connection, destination: &str, away: &Away) -> QueryResult<()> {
    process::set(db, &format!("{AWAY}{destination}"), &serde_json::to_string(away).unwrap_or_default())
}

/// The destination is not away.
pub(super) fn forget(db: &Connection, destination: &str) -> QueryResult<()> {
    process::remove(db, &format!("{AWAY}{destination}")).map(drop)
}

/// The destination worked at this time, and is not away.
pub fn worked(db: &Connection, destination: &str, at: Millis) -> QueryResult<()> {
    forget(db, destination)?;
    process::set(db, &format!("{WORKED}{destination}"), &at.to_string())
}

/// Forgets destinations that are not among these. Returns since when the others are away.
pub fn keep(db: &Connection, configured: &[String]) -> QueryResult<BTreeMap<String, Away>> {
    let mut kept = BTreeMap::new();
    for (key, value) in process::all(db)? {
        let Some(name) = key.strip_prefix(AWAY).or_else(|| key.strip_prefix(WORKED)) else { continue };
        if !configured.iter().any(|known| known == name) {
            process::remove(db, &key)?;
        } else if let (true, Ok(away)) = (key.starts_with(AWAY), serde_json::from_str(&value)) {
            kept.insert(name.to_owned(), away);
        }
    }
    Ok(kept)
}

/// Of each folder in which letters of the destination wait for their proof, one of these.
pub fn waiting(db: &Connection, destination: &str) -> QueryResult<Vec<PutIn>> {
    db.rows(
        "SELECT filed ->> '$.root' AS root, filed ->> '$.path', place FROM delivery INDEXED BY delivery_filed
         WHERE state = 'filed' AND destination = ?1 AND root IS NOT NULL AND place IS NOT NULL GROUP BY root",
        [destination],
    )
    .map(|rows: Vec<(String, Option<String>, String)>| {
        let put_in =
            |(root, path, place): (_, Option<String>, _)| PutIn { root, path: path.unwrap_or_default(), place };
        rows.into_iter().map(put_in).collect()
    })
}

/// When each destination was last seen to work.
pub fn last_worked(db: &Connection) -> QueryResult<BTreeMap<String, Millis>> {
    let named = |(key, at): (String, String)| Some((key.strip_prefix(WORKED)?.to_owned(), at.parse().ok()?));
    Ok(process::all(db)?.into_iter().filter_map(named).collect())
}

/// The pauses, and destinations that are away: what people are shown. A destination that is paused is shown once, since
/// the first of both: a letter that becomes due while it is away begins nothing new.
pub fn pauses(db: &Connection) -> QueryResult<Vec<Pause>> {
    let mut shown = pauses::all(db)?;
    for (key, value) in process::all(db)? {
        let Some(name) = key.strip_prefix(AWAY) else { continue };
        let scope = Scope::Destination(name.to_owned()).to_string();
        let Ok(Away { since, failure, reason, looked_at }) = serde_json::from_str(&value) else { continue };
        if let Some(pause) = shown.iter_mut().find(|pause| pause.scope == scope) {
            pause.since = pause.since.min(since);
        } else {
            let failure = Failure::parse(&failure);
            shown.push(Pause {
                scope,
                failure,
                reason,
                since,
                probe_at: looked_at.saturating_add(NEXT),
                ..Pause::default()
            });
        }
    }
    Ok(shown)
}
