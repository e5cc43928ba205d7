//! What an open document waits for if its own row does not say: a pause, or one of its destinations.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::failure::Scope;
use crate::language::Reason;
use crate::ledger::pauses::{self, Pause};
use crate::ledger::{Millis, QueryResult};
use crate::state::State;

/// The reason for a letter that is filed, until the destination's software has it.
const NOT_TAKEN: &str = "filed, not yet taken";

/// The pauses of one moment.
pub(super) struct Waits(BTreeMap<String, Pause>);

/// Why a document waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) reason: Reason,
    /// Failed attempts.
    pub(super) attempts: u32,
    /// When it is tried next.
    pub(super) until: Millis,
}

impl Waits {
    pub(super) fn read(db: &Connection) -> QueryResult<Self> {
        Ok(Self(pauses::all(db)?.into_iter().map(|pause| (pause.scope.clone(), pause)).collect()))
    }

    /// The longest of several waits.
    pub(super) fn of(&self, db: &Connection, id: i64, account: &str, state: State) -> QueryResult<Option<Wait>> {
        if state == State::Fetched {
            return self.of_deliveries(db, id);
        }
        let Some(scope) = Scope::of(state, account) else { return Ok(None) };
        let paused = [Scope::Account(account.to_owned()), scope].into_iter().filter_map(|scope| self.pause(&scope));
        Ok(paused.max_by_key(|wait| wait.until))
    }

    fn of_deliveries(&self, db: &Connection, id: i64) -> QueryResult<Option<Wait>> {
        let mut pending = db.prepare_cached(
            "SELECT destination, attempts, due_at, reason, unconfirmed_at IS NOT NULL OR unmatched IS NOT NULL AS needs_person,
                    reason_code, state = 'filed' AS is_filed FROM delivery
             WHERE document = ?1 AND pdf = (SELECT pdf FROM document WHERE id = ?1) AND +state IN ('pending', 'filed')",
        )?;
        let mut rows = pending.query(params![id])?;
        let mut longest: Option<Wait> = None;
        let mut not_taken = None;
        while let Some(row) = rows.next()? {
            let (destination, attempts): (String, u32) = (row.get("destination")?, row.get("attempts")?);
            let (due_at, text): (Option<Millis>, Option<String>) = (row.get("due_at")?, row.get("reason")?);
            let (needs_person, code): (bool, Option<String>) = (row.get("needs_person")?, row.get("reason_code")?);
            if row.get("is_filed")? {
                let (text, code) = (NOT_TAKEN.to_owned(), Some("not_taken".to_owned()));
                let reason = Reason { text, code, name: destination.clone(), ended: false };
                not_taken = Some(Wait { reason, attempts, until: Millis::MAX });
                continue;
            }
            let reason = text.map(|text| Reason { text, code, name: destination.clone(), ended: false });
            if let (Some(reason), true) = (&reason, needs_person) {
                // A person has to look: no other wait takes longer.
                return Ok(Some(Wait { reason: reason.clone(), attempts, until: Millis::MAX }));
            }
            let own = reason.zip(due_at).map(|(reason, until)| Wait { reason, attempts, until });
            let paused = self.pause(&Scope::Destination(destination)).map(|wait| Wait { attempts, ..wait });
            let wait = paused.or(own);
            longest = [longest, wait].into_iter().flatten().max_by_key(|wait| wait.until);
        }
        Ok(longest.or(not_taken))
    }

    fn pause(&self, scope: &Scope) -> Option<Wait> {
        let pause = self.0.get(&scope.to_string())?;
        Some(Wait { reason: pause.told(), attempts: 0, until: pause.probe_at })
    }
}
