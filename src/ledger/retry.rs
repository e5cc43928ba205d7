//! Retries that a person asks for.

use rusqlite::{Connection, params};

use super::columns::Statements as _;
use super::documents::{Document, transition};
use super::listed::taking::ask_again;
use super::tries::{self, Key};
use super::{Ledger, LedgerError, Millis, QueryResult, deliveries, documents, history, now};
use crate::domain::state::{Event, State};

/// Failed documents that are retried in one transaction.
const AT_ONCE: usize = 500;

/// The effect of a person's retry on a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retried {
    /// The document continues in this state.
    Moved(State),
    /// The document was waiting for its next attempt, and is due now.
    DueNow(State),
}

/// Retries one document because a person asked. Returns `None` if there is no such document.
pub fn retry(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Retried>> {
    let Some(Document { round, state, .. }) = documents::by_number(db, id)? else { return Ok(None) };
    ask_again(db, id)?;
    if let Some(after) = transition(db, id, round, Event::RetryRequested, now, None)? {
        return Ok(Some(Retried::Moved(after)));
    }
    if state == State::Fetched && deliveries::needs_person(db, id)? {
        // The patient may have been corrected in the service: the document is read anew.
        let reason = "a person asks to look again whose it is";
        if let Some(after) = transition(db, id, round, Event::StartOver, now, Some(reason.into()))? {
            return Ok(Some(Retried::Moved(after)));
        }
    }
    // What was already due keeps its due time: it waited until then, even if the clock jumped since. A refusal of the
    // report that is not believed yet is void: the report is sent once more.
    db.run("UPDATE document SET due_at = min(due_at, ?2) WHERE id = ?1 AND due_at IS NOT NULL", params![id, now])?;
    tries::forget_refusals(db, id)?;
    tries::change(db, Key::report(id), |row| row.failure = row.failure.take().filter(|last| !last.is_permanent()))?;
    // The patient may have been corrected while the document waited: it is read once more.
    db.run("UPDATE document SET read_at = NULL WHERE id = ?1 AND state = 'fetched'", [id])?;
    deliveries::due_now(db, id, now)?;
    history::append(db, (id, None), now, Event::RetryRequested.as_str(), state, 0, None)?;
    Ok(Some(Retried::DueNow(state)))
}

/// Like [`retry`], for a document that a person named. If a failed delivery may have arrived, the person has looked,
/// and it is sent again.
pub fn named(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Retried>> {
    deliveries::forget_intents(db, id)?;
    retry(db, id, now)
}

/// Reports a reported document again because a person asked, and files it again at these `destinations`; the other
/// destinations keep theirs. Returns whether it was done: not if the document has moved on meanwhile.
pub fn repeat(db: &Connection, id: i64, destinations: &[String], now: Millis) -> QueryResult<bool> {
    let Some(Document { round, state: State::Reported, .. }) = documents::by_number(db, id)? else { return Ok(false) };
    deliveries::forget_at(db, id, destinations)?;
    ask_again(db, id)?;
    Ok(transition(db, id, round, Event::Relisted, now, None)?.is_some())
}

/// The numbers of up to `limit` failed documents above `after`, the lowest first. Includes those whose failure is being
/// reported.
pub fn failed(db: &Connection, after: i64, limit: usize) -> QueryResult<Vec<i64>> {
    db.values(
        "SELECT id FROM document INDEXED BY document_open WHERE state = 'failing' AND due_at IS NOT NULL AND id > ?1
         UNION ALL SELECT id FROM document WHERE state IN ('failed', 'unreported') AND due_at IS NULL AND id > ?1
         ORDER BY id LIMIT ?2",
        params![after, limit],
    )
}

/// A person mended what documents of their own wait for: those that failed in a way that may pass are due now.
pub fn stalled(db: &Connection, now: Millis) -> QueryResult<()> {
    let failing = "retry_state INDEXED BY retry_state_failing WHERE failing_since IS NOT NULL";
    db.run(
        &format!(
            "UPDATE document SET due_at = min(due_at, ?1) WHERE due_at IS NOT NULL
               AND id IN (SELECT document FROM {failing} AND work IN ('fetch:', 'report:'))"
        ),
        [now],
    )?;
    db.run(
        &format!(
            "UPDATE delivery SET due_at = min(due_at, ?1) WHERE +state = 'pending' AND due_at IS NOT NULL
               AND (document, pdf, destination) IN (SELECT document, pdf, work FROM {failing})"
        ),
        [now],
    )
}

/// Like [`named`] if the document has failed; otherwise nothing is done.
pub fn if_failed(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Retried>> {
    let state = documents::state(db, id)?;
    if state.is_some_and(State::is_failure) { named(db, id, now) } else { Ok(None) }
}

impl Ledger {
    /// Retries every failed document, in batches, since others write into the same ledger. Returns how many. `who`
    /// asked.
    ///
    /// # Errors
    /// Those of [`Self::write`]. The batches before it stay retried.
    pub async fn retry_failed(&self, who: Option<&str>) -> Result<usize, LedgerError> {
        let mut retried = 0;
        let mut after = Some(0);
        while let Some(above) = after {
            let who = who.map(str::to_owned);
            let batch = self.write(move |db| {
                let ids = failed(db, above, AT_ONCE)?;
                let mut retried = 0;
                for id in &ids {
                    let done = history::signed(who.as_deref(), || retry(db, *id, now()))?;
                    retried += usize::from(done.is_some());
                }
                Ok((retried, ids.last().copied()))
            });
            let (count, last) = batch.await?;
            retried += count;
            after = last;
        }
        Ok(retried)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{accounts, documents, listed, reservations, testing};
    use super::*;
    use crate::domain::document::DocumentUuid;
    use crate::domain::reservation::{Intent, Place, Wanted};
    use crate::domain::state::STATES;

    #[test]
    fn what_is_repeated_goes_to_the_named_destinations_alone_and_only_when_it_was_reported() {
        let (_folder, db) = testing::empty();
        db.execute_batch(
            "INSERT INTO document (account, uuid, pdf, created_at, state, found_at, changed_at)
             VALUES ('main', 'a', 'q', '', 'delivered', 0, 0);
             INSERT INTO delivery (document, pdf, destination, state, changed_at)
             VALUES (1, 'p', 'pms', 'delivered', 0), (1, 'q', 'pms', 'delivered', 0), (1, 'q', 'scan', 'delivered', 0)",
        )
        .unwrap();
        let left = || deliveries::delivered_to(&db, 1, "q").unwrap();
        let pms = ["pms".to_owned()];
        assert!(!repeat(&db, 1, &pms, 5).unwrap());
        assert_eq!(left(), ["pms", "scan"], "its report is still to come");
        db.execute("UPDATE document SET state = 'reported'", []).unwrap();
        assert!(repeat(&db, 1, &pms, 5).unwrap());
        assert_eq!((left(), deliveries::delivered_to(&db, 1, "p").unwrap()), (vec!["scan".to_owned()], pms.to_vec()));
        assert_eq!(documents::state(&db, 1).unwrap(), Some(State::Discovered));
        db.execute("UPDATE document SET state = 'reported'", []).unwrap();
        assert!(repeat(&db, 1, &[], 5).unwrap());
        assert_eq!(left(), ["scan"], "only its report is repeated");
    }

    #[test]
    fn what_was_due_stays_due_from_then_and_what_was_not_is_due_now() {
        let (_folder, db) = testing::empty();
        accounts::progress(&db, "main").unwrap();
        listed::see(&db, &testing::reader("main"), &testing::shown("a", Some("p")), 10).unwrap();
        for (due_at, now, expected) in [(60, 3_600, 60), (9_000, 3_600, 3_600)] {
            testing::set(&db, 1, &format!("due_at = {due_at}, refusals = 2"));
            assert_eq!(retry(&db, 1, now).unwrap(), Some(Retried::DueNow(State::Discovered)));
            let retried = documents::by_number(&db, 1).unwrap().unwrap();
            assert_eq!((retried.tries.due_at, retried.tries.refusals), (Some(expected), 0), "at {now}");
        }
    }

    #[test]
    fn all_that_failed_is_also_what_the_api_is_being_told_of() {
        let (_folder, db) = testing::empty();
        for (number, state) in STATES.into_iter().enumerate() {
            db.execute(
                "INSERT INTO document (account, uuid, created_at, state, due_at, found_at, changed_at)
                 VALUES ('main', ?1, '', ?2, ?3, 0, 0)",
                params![number, state.as_str(), state.is_open().then_some(0)],
            )
            .unwrap();
        }
        let of =
            |ids: Vec<i64>| ids.into_iter().filter_map(|id| documents::state(&db, id).unwrap()).collect::<Vec<_>>();
        let found = of(failed(&db, 0, 100).unwrap());
        assert_eq!(found, STATES.into_iter().filter(|state| state.is_failure()).collect::<Vec<_>>());
    }

    #[test]
    fn a_pdf_that_was_waited_for_in_vain_is_waited_for_again_by_what_a_person_retries() {
        let (_folder, db) = testing::empty();
        db.execute("INSERT INTO document (account, uuid, created_at, state, found_at, changed_at) VALUES ('main', 'a', '', 'failed', 0, 0)", [])
            .unwrap();
        documents::accept(&db, 1, "p").unwrap();
        let accepted = || documents::by_number(&db, 1).unwrap().unwrap().accepted_pdf;
        assert_eq!(accepted().as_deref(), Some("p"));
        retry(&db, 1, 10).unwrap();
        assert_eq!(accepted(), None);
    }

    #[test]
    fn what_was_given_up_and_may_have_arrived_is_sent_anew_by_who_names_it_and_looked_at_by_who_does_not() {
        for (is_named, stands) in [(true, false), (false, true)] {
            let (_folder, db) = testing::empty();
            db.execute_batch(
                "INSERT INTO document (account, uuid, pdf, created_at, state, found_at, changed_at)
                 VALUES ('main', 'a', 'p', '', 'failed', 0, 0);
                 INSERT INTO delivery (document, pdf, destination, state, changed_at)
                 VALUES (1, 'p', 'pms', 'failed', 0)",
            )
            .unwrap();
            testing::set_delivery(&db, 1, "pms", "reason_code = 'deliver unconfirmed refused'");
            let uuid = DocumentUuid::parse("a").unwrap();
            let (pdf, destination) = ("p".to_owned(), "pms".to_owned());
            let owner = reservations::Owner { document: 1, uuid, pdf, destination };
            let (place, path, temporary) = (Place::of("a.pdf"), "a.pdf".to_owned(), ".a".to_owned());
            let wanted = Wanted { place: place.clone(), family: place.clone() };
            let intent = Intent { place, path, temporary };
            assert!(reservations::reserve(&db, &owner, 1, &wanted, Some(&intent)).unwrap());
            let retried = if is_named { named(&db, 1, 5) } else { retry(&db, 1, 5) };
            assert_eq!(retried.unwrap(), Some(Retried::Moved(State::Discovered)));
            assert_eq!(reservations::known(&db, &owner).unwrap().intent.is_some(), stands, "named: {is_named}");
        }
    }
}
