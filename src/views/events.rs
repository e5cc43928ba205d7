//! Every event of a period, for `docsyncd export`.

use std::ops::ControlFlow;

use rusqlite::{Connection, params};

use super::time;
use crate::ledger::columns::from_row;
use crate::ledger::{Millis, QueryResult};

/// One event.
pub struct EventView {
    /// When it happened.
    pub at: Option<String>,
    /// The document; empty for an administrator's action, as are the account and the state.
    pub uuid: String,
    /// Its account.
    pub account: String,
    /// `document.type`
    pub kind: Option<String>,
    /// What happened.
    pub event: String,
    /// The document's state after it.
    pub state: String,
    /// Failed attempts so far.
    pub attempt: u64,
    /// The destination that it happened at.
    pub destination: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The operating system's user who did it, as far as known.
    pub who: Option<String>,
    /// SHA-256 of the document's current PDF.
    pub sha256: Option<String>,
    /// The proof of a delivery (`proof::Proof`).
    pub proof: Option<String>,
    /// The patient's name, as far as it is kept. Patient data.
    pub name: Option<String>,
    /// Where the document lies at that destination, as far as it is kept. May hold patient data.
    pub place: Option<String>,
}

/// Shows the events from `from` to `to`, both included, in the order in which they were written. Reads no further once
/// `show` breaks.
///
/// # Errors
/// Any SQLite error.
pub fn events(
    db: &Connection,
    from: Millis,
    to: Millis,
    mut show: impl FnMut(EventView) -> ControlFlow<()>,
) -> QueryResult<()> {
    let mut statement = db.prepare(
        "SELECT history.at AS at, coalesce(document.uuid, '') AS uuid, coalesce(document.account, '') AS account,
                document.kind AS kind, history.event AS event, history.state AS state, history.attempt AS attempt,
                history.destination AS destination, history.who AS who,
                -- The number that a person gave stays here, as does a place, and whether the list had it is said.
                CASE WHEN history.event IN ('assigned', 'unassigned', 'filed_for_another') THEN history.code
                     ELSE history.reason END
                    AS reason,
                document.sha256 AS sha256,
                CASE history.event WHEN 'delivered' THEN
                    (SELECT proof FROM delivery WHERE delivery.document = document.id AND delivery.pdf = document.pdf
                        AND delivery.destination = history.destination) END AS proof,
                (SELECT nullif(shown, '') FROM name WHERE name.document = document.id) AS name,
                (SELECT place FROM delivery WHERE delivery.document = document.id AND delivery.pdf = document.pdf
                    AND delivery.destination = history.destination) AS place
         FROM history LEFT JOIN document ON document.id = history.document
         WHERE history.at BETWEEN ?1 AND ?2 ORDER BY history.id",
    )?;
    let mut rows = statement.query(params![from, to])?;
    while let Some(row) = rows.next()? {
        let event = from_row!(row => EventView {
            at: time, uuid, account, kind, event, state, attempt, destination, reason, who, sha256, proof, name, place
        });
        if show(event).is_break() {
            break;
        }
    }
    Ok(())
}
