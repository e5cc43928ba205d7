//! One log line for each transition, with the same field names everywhere. Documents are named by uuid; no field can
//! hold patient data.

use tokio::time::Instant;

use crate::domain::document::Version;
use crate::ledger::Millis;

/// Writes the line with all fields that are known.
macro_rules! say {
    ($level:ident, $line:ident, $event:expr, $reason:expr) => {{
        let (reason, words) = ($reason, $line.words($event, $reason));
        tracing::$level!(
            event = $event,
            account = %$line.version.account,
            document = %$line.version.uuid,
            destination = $line.destination,
            attempt = $line.attempt,
            bytes = $line.bytes,
            elapsed_ms = $line.elapsed_ms,
            retry_in_ms = $line.retry_in_ms,
            failed_at = $line.failed_at,
            reason,
            "{words}"
        );
    }};
}

/// The fields of a line. Those that do not apply are left out.
pub(super) struct TransitionLog<'a> {
    version: &'a Version,
    destination: Option<&'a str>,
    attempt: Option<u32>,
    bytes: Option<u64>,
    elapsed_ms: Option<u64>,
    retry_in_ms: Option<Millis>,
    failed_at: Option<String>,
}

impl<'a> TransitionLog<'a> {
    pub(super) fn of(version: &'a Version) -> Self {
        Self {
            version,
            destination: None,
            attempt: None,
            bytes: None,
            elapsed_ms: None,
            retry_in_ms: None,
            failed_at: None,
        }
    }

    /// A line about a delivery.
    pub(super) fn to(version: &'a Version, destination: &'a str) -> Self {
        Self { destination: Some(destination), ..Self::of(version) }
    }

    pub(super) fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = Some(attempt);
        self
    }

    pub(super) fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    pub(super) fn since(mut self, began: Instant) -> Self {
        self.elapsed_ms = Some(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
        self
    }

    pub(super) fn retry_in(mut self, ms: Millis) -> Self {
        // Work that is due now does not wait.
        self.retry_in_ms = Some(ms).filter(|ms| *ms > 0);
        self
    }

    /// When it failed, if it is told only later.
    pub(super) fn failed_at(mut self, at: Option<Millis>) -> Self {
        let at = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        self.failed_at = at.map(|at| format!("{at:.3}"));
        self
    }

    /// The message, with the document and the destination: whoever reads only the message (journald, the event log)
    /// sees them too. A failure also has the attempt, and when it happened if that was before.
    fn words(&self, event: &str, reason: Option<&str>) -> String {
        let version = self.version;
        let to = self.destination.map(|name| format!(" to {name}")).unwrap_or_default();
        let what = format!("document {} of {}{to}", version.uuid, version.account);
        let Some(reason) = reason else { return format!("{event} {what}") };
        let attempt = self.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
        let at = self.failed_at.as_ref().map(|at| format!(", failed at {at}")).unwrap_or_default();
        format!("{event}: {reason} ({what}{attempt}{at})")
    }

    /// The work went on.
    pub(super) fn info(self, event: &str) {
        say!(info, self, event, None::<&str>);
    }

    /// Another line tells people of it.
    pub(super) fn debug(self, event: &str, reason: &str) {
        say!(debug, self, event, Some(reason));
    }

    /// The work has to wait, or is to be tried again.
    pub(super) fn warn(self, event: &str, reason: &str) {
        say!(warn, self, event, Some(reason));
    }

    /// A person should know.
    pub(super) fn error(self, event: &str, reason: &str) {
        say!(error, self, event, Some(reason));
    }
}
