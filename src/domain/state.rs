//! The life of a document. [`next`] is the only place where a state changes into another; it is pure and total.
//!
//! ```text
//! discovered ──fetched──▶ fetched ──all delivered──▶ delivered ──report accepted──▶ reported
//!     │                      │                           └──────report refused────▶ unreported
//!     ├──────refused─────────┴─────▶ failing ──report accepted or refused──▶ failed
//!     └──gone──▶ withdrawn (as well from fetched, delivered and failing)
//! ```
//!
//! A failure that may pass changes no state: it only moves the time at which the document is due again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The API lists it; its PDF is to be fetched.
    Discovered,
    /// The PDF lies in the spool; at least one destination still has to take it.
    Fetched,
    /// Every required destination durably holds it; the API is to be told.
    Delivered,
    /// It failed for good; the API is to be told.
    Failing,
    /// It is delivered, and the API accepted the report. The good end.
    Reported,
    /// It failed, and the API was told (or refused to hear it). It stays so until someone retries it.
    Failed,
    /// It is delivered, but the API refused the report for good. It stays so until someone retries it.
    Unreported,
    /// The API, asked twice, does not show the document any more. Nothing is reported.
    Withdrawn,
}

/// Every state, in the order of a document's life.
pub const STATES: [State; 8] = [
    State::Discovered,
    State::Fetched,
    State::Delivered,
    State::Failing,
    State::Reported,
    State::Failed,
    State::Unreported,
    State::Withdrawn,
];

/// What can happen to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Its PDF was checked and lies in the spool.
    Fetched,
    /// The last required destination holds it.
    AllDelivered,
    /// It can never succeed as it is, or has failed for longer than `sync.give_up_after`.
    Refused,
    /// The API accepted the status report.
    ReportAccepted,
    /// The API refused the status report for good.
    ReportRefused,
    /// The API answered 404 for the document, and its list does not show it either.
    Gone,
    /// The spooled PDF is missing or damaged, or the routes changed: the document starts over.
    StartOver,
    /// It had left the list of unsynchronized documents and is listed again: a person asked for it.
    Relisted,
    /// The API shows another PDF than before: a new version.
    Revised,
    /// A person asked to try it again.
    RetryRequested,
    /// The failure was not the document's own: other documents failed alike, or another account may get another answer.
    /// What the API may know of stands (promise 5).
    Retracted,
    /// The ledger was restored from a backup, and the document had left the list by then: what ran after the backup
    /// brought it to its end.
    SettledElsewhere,
}

/// Every event.
pub const EVENTS: [Event; 12] = [
    Event::Fetched,
    Event::AllDelivered,
    Event::Refused,
    Event::ReportAccepted,
    Event::ReportRefused,
    Event::Gone,
    Event::StartOver,
    Event::Relisted,
    Event::Revised,
    Event::RetryRequested,
    Event::Retracted,
    Event::SettledElsewhere,
];

/// The state after `event`; `None` if the event means nothing in this state and is dropped.
pub fn next(state: State, event: Event) -> Option<State> {
    use Event as E;
    use State as S;
    match (state, event) {
        (S::Discovered, E::Fetched) => Some(S::Fetched),
        // All destinations have this version already: the document was asked for again, or only its report was missing.
        (S::Discovered | S::Fetched, E::AllDelivered) => Some(S::Delivered),
        (S::Discovered | S::Fetched, E::Refused) => Some(S::Failing),
        // A letter that waits for a person may be gone before anybody looks (seed 11147).
        (S::Discovered | S::Fetched | S::Delivered | S::Failing, E::Gone) => Some(S::Withdrawn),

        (S::Delivered, E::ReportAccepted) => Some(S::Reported),
        (S::Delivered, E::ReportRefused) => Some(S::Unreported),
        // Telling the API about a failure is a courtesy: if the API refuses to hear, the document has failed all the
        // same.
        (S::Failing, E::ReportAccepted | E::ReportRefused) => Some(S::Failed),

        (S::Fetched, E::StartOver) => Some(S::Discovered),
        // This holds during a fetch as well: that fetch may bring the old version, and is dropped.
        (S::Discovered | S::Fetched | S::Delivered | S::Failing, E::Revised) => Some(S::Discovered),
        (S::Reported | S::Failed | S::Unreported | S::Withdrawn, E::Relisted | E::Revised) => Some(S::Discovered),

        // The document is delivered, so only the report is sent again.
        (S::Unreported, E::RetryRequested) => Some(S::Delivered),
        (S::Failing | S::Failed | S::Reported | S::Withdrawn, E::RetryRequested) => Some(S::Discovered),
        (S::Failing, E::Retracted) => Some(S::Discovered),
        (S::Unreported, E::Retracted) => Some(S::Delivered),

        (S::Discovered | S::Fetched | S::Delivered | S::Failing, E::SettledElsewhere) => Some(S::Reported),

        (S::Discovered | S::Fetched | S::Delivered | S::Reported | S::Withdrawn | S::Failed, E::Retracted)
        | (S::Discovered, E::ReportAccepted | E::ReportRefused | E::StartOver | E::Relisted | E::RetryRequested)
        | (S::Fetched, E::Fetched | E::ReportAccepted | E::ReportRefused | E::Relisted | E::RetryRequested)
        | (S::Delivered, E::Fetched | E::AllDelivered | E::Refused | E::StartOver | E::Relisted | E::RetryRequested)
        | (S::Failing, E::Fetched | E::AllDelivered | E::Refused | E::StartOver | E::Relisted)
        | (
            S::Reported | S::Failed | S::Unreported | S::Withdrawn,
            E::Fetched
            | E::AllDelivered
            | E::Refused
            | E::ReportAccepted
            | E::ReportRefused
            | E::Gone
            | E::StartOver
            | E::SettledElsewhere,
        ) => None,
    }
}

impl State {
    /// The name of the state in the ledger, in `--json` and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Discovered => "discovered",
            State::Fetched => "fetched",
            State::Delivered => "delivered",
            State::Failing => "failing",
            State::Reported => "reported",
            State::Failed => "failed",
            State::Unreported => "unreported",
            State::Withdrawn => "withdrawn",
        }
    }

    /// The state with this name.
    pub fn parse(word: &str) -> Option<Self> {
        STATES.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether docsyncd still has work to do on it.
    pub fn is_open(self) -> bool {
        matches!(self, State::Discovered | State::Fetched | State::Delivered | State::Failing)
    }

    /// Whether a person should look at the document.
    pub fn is_failure(self) -> bool {
        matches!(self, State::Failing | State::Failed | State::Unreported)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Event {
    /// The name of the event in the history and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Event::Fetched => "fetched",
            Event::AllDelivered => "all_delivered",
            Event::Refused => "refused",
            Event::ReportAccepted => "report_accepted",
            Event::ReportRefused => "report_refused",
            Event::Gone => "gone",
            Event::StartOver => "start_over",
            Event::Relisted => "relisted",
            Event::Revised => "revised",
            Event::RetryRequested => "retry_requested",
            Event::Retracted => "retracted",
            Event::SettledElsewhere => "settled_elsewhere",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are states, columns are events in the order of `EVENTS`; `.` is a dropped event. The letters are
    /// D(iscovered) F(etched) V (delivered) X (failing) R(eported) f(ailed) U(nreported) W(ithdrawn).
    const TABLE: [(State, &str); 8] = [
        (State::Discovered, "FVX..W..D..R"),
        (State::Fetched, ".VX..WD.D..R"),
        (State::Delivered, "...RUW..D..R"),
        (State::Failing, "...ffW..DDDR"),
        (State::Reported, ".......DDD.."),
        (State::Failed, ".......DDD.."),
        (State::Unreported, ".......DDVV."),
        (State::Withdrawn, ".......DDD.."),
    ];

    fn letter(state: Option<State>) -> char {
        match state {
            None => '.',
            Some(State::Discovered) => 'D',
            Some(State::Fetched) => 'F',
            Some(State::Delivered) => 'V',
            Some(State::Failing) => 'X',
            Some(State::Reported) => 'R',
            Some(State::Failed) => 'f',
            Some(State::Unreported) => 'U',
            Some(State::Withdrawn) => 'W',
        }
    }

    #[test]
    fn every_pair_of_state_and_event_has_the_state_of_the_table() {
        for (state, row) in TABLE {
            let found: String = EVENTS.iter().map(|event| letter(next(state, *event))).collect();
            assert_eq!(found, row, "{state}");
        }
        assert_eq!(TABLE.map(|(state, _)| state), STATES);
    }

    #[test]
    fn success_is_reported_only_from_delivered_and_delivered_only_by_all_destinations() {
        for state in STATES {
            for event in EVENTS {
                match next(state, event) {
                    Some(State::Reported) if event == Event::SettledElsewhere => assert!(state.is_open()),
                    Some(State::Reported) => assert_eq!((state, event), (State::Delivered, Event::ReportAccepted)),
                    Some(State::Delivered) => {
                        assert!(
                            event == Event::AllDelivered
                                || (state == State::Unreported
                                    && matches!(event, Event::RetryRequested | Event::Retracted))
                        );
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn nothing_but_a_person_or_the_api_reopens_what_has_ended_but_for_a_report_that_another_account_may_tell() {
        for state in STATES.into_iter().filter(|state| !state.is_open()) {
            for event in EVENTS {
                let asked_for = matches!(event, Event::Relisted | Event::Revised | Event::RetryRequested);
                let is_told = (state, event) == (State::Unreported, Event::Retracted);
                assert_eq!(next(state, event).is_some(), asked_for || is_told, "{state} {event:?}");
            }
        }
    }

    #[test]
    fn names_can_be_read_back() {
        assert!(STATES.into_iter().all(|state| State::parse(state.as_str()) == Some(state)));
        assert_eq!(State::parse("unknown"), None);
    }
}
