//! What the status page shows of several documents. Everything is bounded, because a person reads the page.

use std::ops::ControlFlow;

use rusqlite::{Connection, params};

use super::documents::{DeliveryView, DocumentView, Order, each};
use crate::domain::health::{Cause, ListWrong};
use crate::domain::state::State;
use crate::ledger::columns::Statements as _;
use crate::ledger::{Millis, QueryResult, now};

/// Some documents, and whether there are more.
#[derive(Clone, Default)]
pub struct Letters {
    /// Up to the requested number.
    pub shown: Vec<DocumentView>,
    /// Whether these are not all.
    pub more: bool,
}

/// Up to `limit` documents in one of these states that changed since `since`.
///
/// # Errors
/// Any SQLite error.
pub fn list(db: &Connection, states: &[State], since: Millis, order: Order, limit: usize) -> QueryResult<Letters> {
    let mut letters = Letters::default();
    each(db, states, since, order, |document| {
        letters.more = letters.shown.len() == limit;
        if letters.more {
            return ControlFlow::Break(());
        }
        letters.shown.push(document);
        ControlFlow::Continue(())
    })?;
    Ok(letters)
}

/// Documents that are to be filed, grouped as a person looks for them.
#[derive(Clone, Default)]
pub struct Waiting {
    /// They may have arrived, and a person has to look.
    pub uncertain: Letters,
    /// They are filed, and their destination's software has not taken them yet.
    pub not_taken: Letters,
    /// All others, except those whose patient a person has to assign.
    pub others: Letters,
}

/// The most documents that [`waiting`] looks through.
const MOST_READ: usize = 2000;

/// Up to `limit` documents of each kind in one of these states, those unchanged for longest first.
///
/// # Errors
/// Any SQLite error.
pub fn waiting(db: &Connection, states: &[State], limit: usize) -> QueryResult<Waiting> {
    let (mut found, mut read) = (Waiting::default(), 0);
    each(db, states, Millis::MIN, Order::Oldest, |document| {
        read += 1;
        let any = |is: fn(&DeliveryView) -> bool| document.state == State::Fetched && document.present().any(is);
        let is_pending = any(|delivery| delivery.state == "pending");
        let letters = if any(|delivery| delivery.may_have_arrived) {
            &mut found.uncertain
        } else if any(|delivery| delivery.unmatched.as_ref().is_some_and(|why| why != "no_list")) {
            return ControlFlow::Continue(());
        } else if any(|delivery| delivery.state == "filed") && !is_pending {
            &mut found.not_taken
        } else {
            &mut found.others
        };
        if letters.shown.len() < limit {
            letters.shown.push(document);
        } else {
            letters.more = true;
        }
        if read < MOST_READ { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// What happened to documents between two moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// Filed, and the service was told.
    pub filed: u64,
    /// Ended by a failure.
    pub failed: u64,
    /// Whether there was an alert, and whether it was red.
    pub alert: Option<bool>,
}

/// The summary of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayOutcome {
    /// Letters were filed, and nothing was wrong.
    Well,
    /// A letter failed, or letters could not be filed.
    Trouble,
    /// Something needed a person.
    Person,
    /// No letter came.
    Silent,
}

impl Day {
    /// The summary of the day.
    pub fn told(self) -> DayOutcome {
        match self {
            Day { failed: 1.., .. } | Day { alert: Some(true), .. } => DayOutcome::Trouble,
            Day { alert: Some(false), .. } => DayOutcome::Person,
            Day { filed: 0, .. } => DayOutcome::Silent,
            _ => DayOutcome::Well,
        }
    }
}

/// Whether letters could not be filed, or failed: while the list of patients before counts still, they are filed.
fn is_red(cause: &str, names: &str) -> bool {
    let names: Vec<String> = serde_json::from_str(names).unwrap_or_default();
    let goes_on = || names.iter().any(|name| ListWrong::parse(name).goes_on);
    match Cause::parse(cause) {
        Some(Cause::PatientsFile) => !goes_on(),
        cause => cause.is_some_and(Cause::is_red),
    }
}

/// What happened to documents from each of these moments to the next. The result has one entry fewer than `moments`.
///
/// # Errors
/// Any SQLite error.
pub fn days(db: &Connection, moments: &[Millis]) -> QueryResult<Vec<Day>> {
    let mut count = db.prepare_cached(
        "SELECT count(*) FROM document WHERE due_at IS NULL AND state = ?1 AND changed_at >= ?2 AND changed_at < ?3",
    )?;
    let alerts: Vec<(Millis, Option<Millis>, String, String)> = match moments.first() {
        Some(first) => db.rows(
            "SELECT opened_at, over_at, cause, names FROM alert WHERE over_at IS NULL OR over_at >= ?1",
            [first],
        )?,
        None => Vec::new(),
    };
    let now = now();
    let mut days = Vec::new();
    for (from, to) in moments.iter().zip(moments.iter().skip(1)) {
        let mut of = |state: State| count.query_row(params![state, from, to], |row| row.get::<_, u64>(0));
        let lasted = |opened: &Millis, over: &Option<Millis>| opened < to && over.unwrap_or(now) >= *from;
        let of_day = alerts.iter().filter(|(opened_at, over_at, ..)| lasted(opened_at, over_at));
        let alert = of_day.map(|(_, _, cause, names)| is_red(cause, names)).max();
        days.push(Day { filed: of(State::Reported)?, failed: of(State::Failed)? + of(State::Unreported)?, alert });
    }
    Ok(days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{alerts, testing};

    #[test]
    fn a_day_of_a_refused_list_is_red_only_where_no_list_counted() {
        for (wrong, told) in
            [("number 17 old", DayOutcome::Person), ("number 17 none", DayOutcome::Trouble), ("", DayOutcome::Trouble)]
        {
            let (_folder, db) = testing::empty();
            let names = Some(wrong.to_owned()).filter(|wrong| !wrong.is_empty()).into_iter().collect();
            let about = alerts::About { names, documents: 0, since: Some(5) };
            alerts::begin(&db, "", Cause::PatientsFile.as_str(), &about, 5).unwrap();
            assert_eq!(days(&db, &[0, 10]).unwrap()[0].told(), told, "{wrong}");
        }
    }
}
