//! The audiences of alerts: everybody, and the receivers of each `[alerts.NAME]`, who hear of some accounts alone, so
//! that no practice reads of another.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::decide::Before;
use crate::config::Receivers;
use crate::domain::failure::Scope;
use crate::domain::health::{Cause, Ended, Facts, Health};
use crate::ledger::{Millis, QueryResult, alerts};
use crate::views::facts::{Present, facts};

/// One audience.
#[derive(Debug, Clone, Default)]
pub(super) struct Audience {
    /// NAME of `[alerts.NAME]`; empty for everybody.
    pub(super) name: String,
    /// What concerns this audience; `None`: everything.
    concerns: Option<Concerns>,
    /// When each open cause disappeared.
    gone: BTreeMap<Cause, Millis>,
}

/// The accounts of an audience, and the destinations of their letters.
#[derive(Debug, Clone, Default)]
struct Concerns {
    accounts: Vec<String>,
    destinations: Vec<String>,
}

impl Audience {
    /// The audience of everybody, then the audiences of `[alerts.NAME]`.
    pub(super) fn all(receivers: &[Receivers]) -> Vec<Self> {
        let some = receivers.iter().map(|Receivers { name, accounts, destinations, .. }| Self {
            name: name.clone(),
            concerns: Some(Concerns { accounts: accounts.clone(), destinations: destinations.clone() }),
            gone: BTreeMap::new(),
        });
        std::iter::once(Self::default()).chain(some).collect()
    }

    /// What this audience was told before.
    pub(super) fn before(&self, db: &Connection, since: Millis) -> QueryResult<Before> {
        let mut before = Before { open: alerts::open(db, &self.name)?, ..Before::default() };
        for (cause, told, often) in alerts::last_told(db, &self.name, since)? {
            if let Some(cause) = Cause::parse(&cause) {
                before.told.insert(cause, told);
                before.often.insert(cause, often);
            }
        }
        Ok(before)
    }

    /// The facts that concern this audience.
    pub(super) fn facts(&self, db: &Connection, present: &Present) -> QueryResult<Facts> {
        let Some(concerns) = &self.concerns else { return facts(db, present) };
        let own = Present { only: Some(concerns.accounts.clone()), ..present.clone() };
        Ok(self.narrowed(facts(db, &own)?))
    }

    /// Takes out what belongs to no account, and the destinations that get no letters of these accounts.
    pub(super) fn narrowed(&self, mut facts: Facts) -> Facts {
        let Some(Concerns { destinations, .. }) = &self.concerns else { return facts };
        let is_own = |scope: &Scope| match scope {
            Scope::Destination(name) => destinations.contains(name),
            Scope::Account(_) | Scope::Fetch(_) | Scope::Report(_) => true,
        };
        facts.pauses.retain(|pause| is_own(&pause.scope));
        facts.stalled.retain(|stalled| is_own(&stalled.scope));
        facts.not_taken.retain(|(name, _)| destinations.contains(name));
        Facts {
            strangers: Ended::default(),
            not_agreeing: Ended::default(),
            refused: None,
            clock_since: None,
            patients_file_since: None,
            certificate_since: None,
            ledger_fails_since: None,
            no_room: false,
            slept_since: None,
            ..facts
        }
    }

    /// Records when each open cause disappeared, and returns it.
    pub(super) fn note_gone(&mut self, health: &Health, at: Millis) -> BTreeMap<Cause, Millis> {
        for cause in crate::domain::health::CAUSES {
            if health.problems.iter().any(|problem| problem.cause == cause) {
                self.gone.remove(&cause);
            } else {
                self.gone.entry(cause).or_insert(at);
            }
        }
        self.gone.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::health::{PauseFacts, Rules, assess};

    #[test]
    fn who_is_told_of_some_accounts_reads_of_no_other_destination_and_of_nothing_that_belongs_to_none() {
        let one = || Ended { count: 1, first: Some(0), last: Some(0) };
        let pause = |name: &str| {
            let scope = Scope::Destination(name.to_owned());
            PauseFacts { scope, failure: None, since: 0, probe_at: 0, count: 1 }
        };
        let facts = Facts {
            running: true,
            pauses: vec![pause("north"), pause("south"), pause("lab")],
            not_taken: vec![("north".to_owned(), one()), ("south".to_owned(), one())],
            failed: one(),
            strangers: Ended { count: 99, ..one() },
            not_agreeing: one(),
            refused: Some((Some(0), "south.toml".to_owned())),
            clock_since: Some(0),
            patients_file_since: Some(0),
            certificate_since: Some(0),
            ledger_fails_since: Some(0),
            no_room: true,
            ..Facts::default()
        };
        let concerns =
            Concerns { accounts: vec!["north".to_owned()], destinations: vec!["north".into(), "lab".into()] };
        let some = Audience { name: "team".to_owned(), concerns: Some(concerns), ..Audience::default() };
        let told = |audience: &Audience| {
            let problems = assess(&audience.narrowed(facts.clone()), &Rules::default()).problems;
            let mut told: Vec<String> =
                problems.iter().map(|problem| format!("{} {}", problem.cause.as_str(), problem.name)).collect();
            told.sort();
            told
        };
        assert_eq!(told(&some), ["destination lab", "destination north", "failed ", "not-taken north"]);
        assert_eq!(told(&Audience::default()).len(), 13, "{:?}", told(&Audience::default()));
    }
}
