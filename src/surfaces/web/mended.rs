//! "It is mended, try again": ends the wait at once, and sees whether it worked.

use std::time::Duration;

use tokio::time::Instant;

use super::answers::Site;
use super::forms::act;
use super::keys::Session;
use super::notice::Notice;
use crate::domain::health::{Cause, assess};
use crate::ledger::history::Action;
use crate::ledger::{LedgerError, away, now, retry};
use crate::views::facts::{Present, facts};

/// How long to wait for the result after a person pressed the button.
const LIMIT: Duration = Duration::from_secs(10);
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Whether a person may have mended it and a try shows that. Failed letters and decisions have buttons of their own,
/// and a configuration is read by itself.
pub(super) fn has_button(cause: Cause) -> bool {
    cause.stops_all() || matches!(cause, Cause::PatientsFile | Cause::StalledDelivery | Cause::Stalled)
}

/// A problem at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stands {
    /// The accounts or destinations with the problem; `None` if there is none.
    names: Option<Vec<String>>,
    /// For each wait there, values that every try changes.
    tries: Vec<(String, u32, i64)>,
}

/// The result of the try; `None` while it is unknown.
pub(super) fn shown(before: &Stands, now: &Stands) -> Option<Notice> {
    if now.names.is_none() {
        return Some(Notice::Mended);
    }
    let was_tried = |one: &(String, u32, i64)| !before.tries.contains(one);
    (!now.tries.is_empty() && now.tries.iter().all(was_tried)).then_some(Notice::NotMended)
}

impl Site {
    pub(super) async fn mended(&self, word: &str, session: &Session) -> Result<Notice, LedgerError> {
        let Some(cause) = Cause::parse(word).filter(|cause| has_button(*cause)) else { return Ok(Notice::Unknown) };
        let before = self.stands(cause).await?;
        if before.names.is_none() {
            return Ok(Notice::Mended);
        }
        let who = session.who();
        let written = self.context.edges.ledger.write(move |db| {
            act(db, Action::Retry, &format!("what waits ({})", cause.as_str()), &who)?;
            retry::stalled(db, now())
        });
        // The ledger itself may be what was mended.
        if let Err(error) = written.await {
            tracing::debug!(event = "status_page_failed", "{error}");
        }
        self.context.edges.pauses.probe_all_now();
        self.context.signals.nudges.all();
        if let Some(numbers) = &self.context.edges.numbers {
            numbers.patients.look_now();
        }
        let until = Instant::now() + LIMIT;
        while Instant::now() < until {
            tokio::time::sleep(LOOK).await;
            if let Some(notice) = shown(&before, &self.stands(cause).await?) {
                return Ok(notice);
            }
        }
        Ok(Notice::Trying)
    }

    async fn stands(&self, cause: Cause) -> Result<Stands, LedgerError> {
        let (accounts, rules) = (self.setup.accounts.clone(), self.setup.rules.clone());
        let fails_since = self.context.signals.ledger_fails_since();
        let read = self.context.edges.ledger.read(move |db| {
            let mut found = facts(db, &Present::new(true, accounts.into_iter()))?;
            found.ledger_fails_since = fails_since;
            let problems = assess(&found, &rules).problems;
            let names: Vec<String> =
                problems.into_iter().filter(|problem| problem.cause == cause).map(|problem| problem.name).collect();
            let pauses = away::pauses(db)?.into_iter();
            let is_of =
                |scope: &str| scope.split_once(':').is_some_and(|(_, name)| names.iter().any(|one| one == name));
            let mut tries: Vec<_> = pauses
                .filter(|pause| is_of(&pause.scope))
                .map(|pause| (pause.scope, pause.attempts, pause.probe_at))
                .collect();
            let polls = found.accounts.into_iter().filter(|account| names.contains(&account.name));
            let polls = polls.filter(|account| account.poll_failing_since.is_some());
            tries.extend(polls.map(|account| (format!("poll:{}", account.name), 0, account.next_poll_at.unwrap_or(0))));
            Ok(Stands { names: (!names.is_empty()).then_some(names), tries })
        });
        read.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_shows_whether_it_is_mended_once_every_wait_was_tried() {
        let stands = |names: &[&str], tries: &[(&str, u32, i64)]| Stands {
            names: (!names.is_empty()).then(|| names.iter().map(ToString::to_string).collect()),
            tries: tries.iter().map(|(scope, count, at)| ((*scope).to_owned(), *count, *at)).collect(),
        };
        let before = stands(&["a", "b"], &[("destination:a", 1, 10), ("destination:b", 4, 20)]);
        assert_eq!(shown(&before, &before), None, "nothing was tried yet");
        let one = stands(&["a", "b"], &[("destination:a", 2, 30), ("destination:b", 4, 20)]);
        assert_eq!(shown(&before, &one), None, "only one of them was");
        let both = stands(&["a", "b"], &[("destination:a", 2, 30), ("destination:b", 4, 25)]);
        assert_eq!(shown(&before, &both), Some(Notice::NotMended));
        assert_eq!(shown(&before, &stands(&["b"], &[("destination:b", 5, 40)])), Some(Notice::NotMended));
        assert_eq!(shown(&before, &stands(&[], &[])), Some(Notice::Mended));
        // A disk or a list does not show when it was tried.
        assert_eq!(shown(&stands(&[""], &[]), &stands(&[""], &[])), None);
    }
}
