//! What an open document waits for if its own row does not say: a pause, or one of its destinations.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::documents::{DeliveryView, DocumentView};
use crate::domain::failure::Scope;
use crate::domain::state::State;
use crate::formats::language::Reason;
use crate::ledger::pauses::{self, Pause};
use crate::ledger::{Millis, QueryResult};

/// The reason for a letter that is filed, until the destination's software has it.
const NOT_TAKEN: &str = "filed, not yet taken";

/// The pauses of one moment.
pub(super) struct Waits(BTreeMap<String, Pause>);

/// Why a document waits.
pub(super) struct Wait {
    pub(super) reason: Reason,
    /// Failed attempts.
    pub(super) attempts: u32,
    /// When it is tried next; `None` if it waits for a person or for the destination's software.
    pub(super) until: Option<Millis>,
}

impl Waits {
    pub(super) fn read(db: &Connection) -> QueryResult<Self> {
        Ok(Self(pauses::all(db)?.into_iter().map(|pause| (pause.scope.clone(), pause)).collect()))
    }

    /// The longest of several waits.
    pub(super) fn of(&self, document: &DocumentView) -> Option<Wait> {
        if document.state == State::Fetched {
            return self.of_deliveries(document.present());
        }
        let scopes = [Scope::Account(document.account.clone()), Scope::of(document.state, &document.account)?];
        scopes.iter().filter_map(|scope| self.pause(scope)).max_by_key(|wait| wait.until)
    }

    fn of_deliveries<'a>(&self, deliveries: impl Iterator<Item = &'a DeliveryView>) -> Option<Wait> {
        let (mut longest, mut not_taken, mut is_pending) = (None::<Wait>, None, false);
        for DeliveryView { destination, state, attempts, next_attempt, reason, may_have_arrived, unmatched, .. } in
            deliveries
        {
            let attempts = *attempts;
            let wait = match (state.as_str(), reason) {
                ("filed", _) => {
                    let (text, code) = (NOT_TAKEN.to_owned(), Some("not_taken".to_owned()));
                    let reason = Reason { text, code, name: destination.clone(), ended: false };
                    not_taken = Some(Wait { reason, attempts, until: None });
                    continue;
                }
                // A person has to look: no other wait takes longer.
                ("pending", Some(reason)) if *may_have_arrived || unmatched.is_some() => {
                    return Some(Wait { reason: reason.clone(), attempts, until: None });
                }
                ("pending", reason) => {
                    is_pending = true;
                    let own = || Some(Wait { reason: reason.clone()?, attempts, until: Some((*next_attempt)?) });
                    let paused = self.pause(&Scope::Destination(destination.clone()));
                    paused.map(|wait| Wait { attempts, ..wait }).or_else(own)
                }
                _ => continue,
            };
            longest = [longest, wait].into_iter().flatten().max_by_key(|wait| wait.until);
        }
        longest.or(not_taken.filter(|_| !is_pending))
    }

    fn pause(&self, scope: &Scope) -> Option<Wait> {
        let pause = self.0.get(&scope.to_string())?;
        Some(Wait { reason: pause.told(), attempts: 0, until: Some(pause.probe_at) })
    }
}
