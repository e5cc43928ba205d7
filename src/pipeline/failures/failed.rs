//! What failed: a piece of work, as data and in the words that people read. And what the log says of something that
//! keeps failing: a line when it begins, one an hour, and one when it is over.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::api::{Api, ApiError, Detail, Meaning, look};
use crate::domain::failure::{Call, Code, Failure, Kind, Scope, Tried};
use crate::ledger::documents::Document;
use crate::ledger::work::{Tries, Work};
use crate::ledger::{Ledger, LedgerError, Millis, listed, now, pauses};
use crate::pipeline::transition_log::TransitionLog;

/// How a piece of work failed, and the reason that people read.
pub(crate) struct Failed {
    /// The part that is compared.
    pub(crate) failure: Failure,
    /// What people read; free of patient data.
    pub(crate) reason: String,
    /// How long the other side asked to be left alone.
    pub(crate) retry_after: Option<Duration>,
    /// The origin of the PDF whose download failed.
    pub(crate) origin: Option<String>,
    /// 401: the account has to sign in, unless the API answers so about this document only.
    pub(crate) needs_login: bool,
}

impl Failed {
    pub(crate) fn new(call: Call, kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            failure: Failure { call, kind },
            reason: reason.into(),
            retry_after: None,
            origin: None,
            needs_login: false,
        }
    }

    /// A failed call to the API; `doing` says what the call was for.
    pub(crate) fn of_call(call: Call, doing: &str, error: &ApiError) -> Self {
        let code = error.status().map_or_else(|| Code::Word(error.class().into()), Code::Status);
        let (meaning, retry_after) = (error.meaning(), error.retry_after());
        let kind = match meaning {
            Meaning::Origin => Kind::Down(code),
            Meaning::Transient | Meaning::NeedsLogin => Kind::Passing(code),
            Meaning::Permanent => Kind::Permanent(code),
        };
        let needs_login = meaning == Meaning::NeedsLogin;
        Self { retry_after, needs_login, ..Self::new(call, kind, format!("{doing}: {error}")) }
    }
}

/// The API answered with another document than the one asked for.
pub(crate) fn other_document() -> Failed {
    Failed::of_call(Call::Read, "reading the document", &ApiError::Another)
}

/// The API names another patient for the document than its list does, or than the one for whom it was filed.
pub(crate) fn other_patient() -> Failed {
    let reason = "reading the document: the API names another patient for it than its list, or than before: look in \
                  the cloud service whose letter it is";
    Failed::new(Call::Read, Kind::Passing(Code::word("other_patient")), reason)
}

/// Whether the answer about the document names another patient than the list does: one of the two is about somebody
/// else. The patient may have been corrected since the list was read, so the list is asked again.
pub(crate) async fn is_of_another_patient(client: &dyn Api, document: &Document, detail: &Detail) -> bool {
    if !detail.is_of_another_patient(document.listed_patient.as_deref()) {
        return false;
    }
    let uuid = &document.version.uuid;
    for synchronized in [false, true] {
        let shown = look(client, std::slice::from_ref(uuid), synchronized).await;
        if let Some(patient) = shown.ok().and_then(|mut shown| shown.items.remove(uuid)?.patient) {
            return detail.is_of_another_patient(Some(&patient));
        }
    }
    true
}

/// The API shows the document itself, so an earlier 404 for reading it is no evidence any more. An earlier 404 for its
/// report still is.
pub(crate) async fn is_there(ledger: &Ledger, document: &Document) -> Result<(), LedgerError> {
    let mut failures = [&document.failure, &document.tries.failure].into_iter().flatten();
    if !failures.any(|failure| failure.call == Call::Read) {
        return Ok(());
    }
    let id = document.id;
    ledger.write(move |db| listed::is_there(db, id)).await
}

/// A call about the document failed. A 404 may come from a proxy and is no proof that the document is gone, so the list
/// is asked for the document (promise 5).
///
/// # Errors
/// Any error of the ledger.
pub(crate) async fn failed_call(
    ledger: &Ledger,
    document: &Document,
    call: Call,
    doing: &str,
    error: &ApiError,
) -> Result<Failed, LedgerError> {
    let Some(status @ (404 | 410)) = error.status() else { return Ok(Failed::of_call(call, doing, error)) };
    let row = document.clone();
    ledger.write(move |db| listed::missing(db, &row, now())).await?;
    Ok(Failed::new(call, Kind::Passing(Code::Status(status)), format!("{doing}: {error}")))
}

/// The reason of a document that was tried for `after` and is given up.
pub(crate) fn gave_up(after: Duration, reason: &str) -> String {
    format!("gave up after {} (sync.give_up_after): {reason}", humantime::format_duration(after))
}

/// What a person reads of a delivery whose answer was lost, and what to do about it.
pub(crate) fn may_have_arrived(reason: &str) -> String {
    format!(
        "may have arrived: {reason}. Look there; if it is missing, `docsyncd retry UUID` sends it again; if it is \
         there, `docsyncd retry --arrived UUID` says so"
    )
}

/// A document that failed, as its scope sees it.
pub(super) struct Subject {
    /// The ledger's number for it.
    pub(super) document: i64,
    /// Whether the document counts among those that fail alike. One that is known to be bad says nothing about the
    /// others.
    pub(super) first: bool,
    /// The moment that a success has to be later than, as in [`crate::domain::failure::Evidence::good_since`].
    pub(super) failed_at: Option<Millis>,
    /// How many permanent failures alike came before this one. Each but the first counts only if something succeeded
    /// since the one before it.
    pub(super) refusals: u32,
    /// How long ago the document was found.
    pub(super) known_for: Duration,
    /// The origin of its PDF, if the download failed.
    pub(super) origin: Option<String>,
}

impl Tries {
    /// Whether the last failure was like this one, even if that one was retracted.
    fn failed_alike(&self, failure: &Failure) -> bool {
        self.failure.as_ref().is_some_and(|last| last == failure || Some(last) == failure.taken_back().as_ref())
    }

    /// As in [`Subject::refusals`].
    fn refusals(&self, failure: &Failure) -> u32 {
        if self.failed_alike(failure) { self.refusals } else { 0 }
    }

    /// The number of refusals, this failure included; `None` if it is no refusal.
    pub(super) fn refused(&self, failure: &Failure, good_since: bool) -> Option<u32> {
        let refusals = match self.refusals(failure) {
            0 => 1,
            before => before + u32::from(good_since),
        };
        failure.is_permanent().then_some(refusals)
    }

    /// The wait before this attempt and the attempt itself (`took`), in milliseconds. The wait counts only up to the
    /// due time: a pause, the time for which the machine was off, and a jump of the clock do not count.
    pub(crate) fn spent(&self, took: Millis, at: Millis) -> Millis {
        let until = self.due_at.map_or(self.changed_at, |due_at| due_at.min(at.saturating_sub(took)));
        let waited = if self.attempts == 0 { 0 } else { until.saturating_sub(self.changed_at).max(0) };
        waited.saturating_add(took)
    }
}

impl Work {
    /// Whether an earlier attempt may have delivered the document.
    pub(super) fn may_have_arrived(&self) -> bool {
        matches!(self, Work::Delivery(delivery) if delivery.is_uncertain())
    }

    pub(super) fn line(&self) -> TransitionLog<'_> {
        match self {
            Work::Document(document) => TransitionLog::of(&document.version),
            Work::Delivery(delivery) => TransitionLog::to(&delivery.document.version, &delivery.destination),
        }
    }

    pub(super) fn tried(&self, spent: Millis) -> Tried {
        let failing_for = self.tries().failing_for.saturating_add(spent);
        Tried {
            attempts: self.tries().attempts,
            doubtful: self.tries().doubtful,
            failing_for: Duration::from_millis(u64::try_from(failing_for).unwrap_or(0)),
            another_may: false,
        }
    }

    pub(super) fn subject(&self, failure: &Failure, origin: Option<String>, at: Millis) -> Subject {
        let (document, tries) = (self.document(), self.tries());
        let alike = tries.failed_alike(failure);
        let is_clear = matches!(failure.kind, Kind::Down(_) | Kind::Permanent(_));
        let known_for = u64::try_from(at.saturating_sub(document.found_at)).unwrap_or(0);
        Subject {
            document: document.id,
            // If the document had this permanent failure before, that one was retracted.
            first: is_clear || !alike,
            failed_at: match failure.kind {
                Kind::Down(_) => alike.then_some(document.found_at),
                Kind::Permanent(_) => alike.then_some(tries.changed_at),
                _ => tries.failing_since,
            },
            refusals: tries.refusals(failure),
            known_for: Duration::from_millis(known_for),
            origin,
        }
    }
}

/// The log line of a pause that begins (an error) or goes on (a warning each hour). It is written once the ledger holds
/// the change, so that whoever reads it finds the pause in the ledger.
#[must_use = "it is to be said once the change is written"]
pub(super) struct Line {
    pub(super) kept: pauses::Pause,
    pub(super) begins: bool,
    /// `Some` if people are to read it, with whether it is the pause's first such line.
    pub(super) tells: Option<bool>,
    pub(super) at: Millis,
}

impl Line {
    /// Writes the line to the log.
    pub(super) fn say(&self) {
        let Self { kept, begins, tells, at } = self;
        let (scope, attempt, probe_in_ms, reason) = (&kept.scope, kept.attempts, kept.probe_at - at, &kept.reason);
        match tells {
            Some(true) => {
                tracing::error!(event = "paused", %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
            }
            Some(false) => {
                let long = for_so_long(between(kept.since, *at));
                let words = format!("{scope} has been paused for {long}: {reason}");
                tracing::warn!(event = "still_paused", %scope, attempt, probe_in_ms, reason, "{words}");
            }
            None => {
                let event = if *begins { "paused" } else { "still_paused" };
                tracing::debug!(event, %scope, attempt, probe_in_ms, reason, "{scope} is paused: {reason}");
            }
        }
    }
}

/// The scope works again after a pause. `is_told`: a person was told of the failure, and is told of its end.
pub(super) fn say_that_it_works(scope: &Scope, since: Millis, is_told: bool) {
    let paused_ms = now().saturating_sub(since);
    let long = for_so_long(between(since, now()));
    if is_told {
        tracing::info!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
    } else {
        tracing::debug!(event = "resumed", %scope, paused_ms, "{scope} works again after {long}");
    }
}

/// The time between two lines about the same outage; milliseconds.
pub(super) const REMIND_MS: Millis = 60 * 60 * 1000;

/// What to log of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tell {
    /// That the outage has just begun, or has another reason than before.
    Begun,
    /// That the outage goes on, and for how long it has.
    GoesOn(Duration),
    /// Nothing: this was logged.
    Nothing,
}

/// The present outages, by the name of what fails.
#[derive(Debug, Default)]
pub struct Outages(Mutex<HashMap<String, Outage>>);

#[derive(Debug)]
struct Outage {
    since: Millis,
    told: Millis,
    reason: String,
}

impl Outages {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Outage>> {
        // Every change is a single assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that `what` failed. Returns what to log.
    pub(crate) fn failed(&self, what: &str, reason: &str, now: Millis) -> Tell {
        let mut outages = self.lock();
        let Some(outage) = outages.get_mut(what) else {
            outages.insert(what.to_owned(), Outage { since: now, told: now, reason: reason.to_owned() });
            return Tell::Begun;
        };
        let tell = match now.saturating_sub(outage.told) {
            _ if outage.reason != reason => Tell::Begun,
            // The clock may have been set back.
            ..0 | REMIND_MS.. => Tell::GoesOn(between(outage.since, now)),
            _ => return Tell::Nothing,
        };
        outage.told = now;
        reason.clone_into(&mut outage.reason);
        tell
    }

    /// When the present outage of `what` began, if there is one.
    pub(crate) fn since(&self, what: &str) -> Option<Millis> {
        self.lock().get(what).map(|outage| outage.since)
    }

    /// Notes that `what` works. Returns how long the outage took, if there was one.
    pub(crate) fn ended(&self, what: &str, now: Millis) -> Option<Duration> {
        self.lock().remove(what).map(|outage| between(outage.since, now))
    }
}

/// Which part of an account tells of a failure, by account and failure. The account's polls, downloads and reports
/// mostly fail alike, and one of them tells for all.
#[derive(Debug, Default)]
pub(crate) struct Speakers(Mutex<HashMap<(String, Kind), String>>);

impl Speakers {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, Kind), String>> {
        // Every change is a single operation.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this part fails so. Returns whether it is the part that tells: no other part that still fails so has
    /// told.
    pub(crate) fn tells(&self, account: &str, part: &str, kind: &Kind) -> bool {
        let mut speakers = self.lock();
        speakers.retain(|(of, other), speaker| of != account || speaker != part || other == kind);
        speakers.entry((account.to_owned(), kind.clone())).or_insert_with(|| part.to_owned()) == part
    }

    /// Notes that this part works.
    pub(crate) fn works(&self, account: &str, part: &str) {
        self.lock().retain(|(of, _), speaker| of != account || speaker != part);
    }
}

/// The time between, in whole seconds; zero if the clock was set back.
pub(super) fn between(since: Millis, now: Millis) -> Duration {
    Duration::from_secs(u64::try_from(now.saturating_sub(since) / 1000).unwrap_or(0))
}

/// The duration in people's words.
pub(crate) fn for_so_long(duration: Duration) -> String {
    if duration.is_zero() { "less than a second".to_owned() } else { humantime::format_duration(duration).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/it/faults/api` tests one status of each row of this table from end to end. `failed_call` handles 404 and
    /// 410 first.
    #[test]
    fn each_status_of_a_call_is_of_its_kind() {
        type Constructor = fn(Code) -> Kind;
        let table: [(Constructor, &[u16]); 3] = [
            (Kind::Permanent, &[400, 403, 409, 413, 415, 422]),
            (Kind::Passing, &[304, 407, 408, 421, 425, 500, 501, 502, 503, 504]),
            (Kind::Down, &[429]),
        ];
        for call in [Call::List, Call::Read, Call::Report] {
            for (kind, status) in table.iter().flat_map(|(kind, of)| of.iter().map(move |status| (kind, *status))) {
                let failed = Failed::of_call(call, "reading", &ApiError::Status { status, retry_after: None });
                assert_eq!(failed.failure, Failure { call, kind: kind(Code::Status(status)) });
                assert!(failed.reason.starts_with(&format!("reading: HTTP {status}")), "{}", failed.reason);
                assert!(!failed.needs_login, "{status}");
            }
            let refused = Failed::of_call(call, "reading", &ApiError::Unauthorized { signed_in: None });
            assert_eq!(refused.failure, Failure { call, kind: Kind::Passing(Code::Status(401)) });
            assert!(refused.needs_login);
        }
    }

    #[test]
    fn a_server_that_says_when_it_is_back_is_away_for_everybody() {
        let retry_after = Some(Duration::from_secs(7));
        let failed = Failed::of_call(Call::Read, "reading", &ApiError::Status { status: 503, retry_after });
        assert_eq!((failed.failure.kind, failed.retry_after), (Kind::Down(Code::Status(503)), retry_after));
    }

    #[test]
    fn one_part_of_an_account_tells_of_what_all_fail_with() {
        let (speakers, down, other) =
            (Speakers::default(), Kind::Down(Code::Status(503)), Kind::Passing(Code::Status(500)));
        assert!(speakers.tells("main", "poll", &down) && speakers.tells("main", "poll", &down));
        assert!(!speakers.tells("main", "fetch:main", &down));
        assert!(speakers.tells("main", "fetch:main", &other), "another failure is another matter");
        assert!(speakers.tells("second", "poll", &down), "so is another account");
        // If another part still fails when the part that told works again, that other part tells.
        speakers.works("main", "poll");
        assert!(speakers.tells("main", "fetch:main", &down));
        assert!(!speakers.tells("main", "poll", &down));
    }

    #[test]
    fn an_outage_is_told_when_it_begins_once_an_hour_and_when_it_is_over() {
        let outages = Outages::default();
        let mut told = Vec::new();
        for minute in 0..150 {
            let at = minute * 60_000;
            match outages.failed("poll:main", "refused", at) {
                Tell::Nothing => {}
                tell => told.push((minute, tell)),
            }
        }
        let hours = |hours: u64| Tell::GoesOn(Duration::from_secs(hours * 3600));
        assert_eq!(told, [(0, Tell::Begun), (60, hours(1)), (120, hours(2))]);
        assert_eq!(outages.failed("poll:main", "another reason", 9_000_001), Tell::Begun);
        assert_eq!(outages.failed("poll:other", "refused", 9_000_001), Tell::Begun);
        assert_eq!((outages.since("poll:main"), outages.since("poll:none")), (Some(0), None));
        let over = outages.ended("poll:main", 10_800_000).unwrap();
        assert_eq!(for_so_long(over), "3h");
        assert_eq!(outages.ended("poll:main", 10_800_000), None);
        assert_eq!(for_so_long(between(0, 999)), "less than a second");
    }
}
