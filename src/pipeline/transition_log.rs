//! One log line for each transition, with the same field names everywhere. Documents are named by uuid; no field can
//! hold patient data.

use tokio::time::Instant;

use crate::document::Version;
use crate::ledger::Millis;

/// What a line says. Fields that do not apply are left out.
pub(super) struct TransitionLog<'a> {
    version: &'a Version,
    destination: Option<&'a str>,
    attempt: Option<u32>,
    bytes: Option<u64>,
    elapsed_ms: Option<u64>,
    retry_in_ms: Option<Millis>,
}

impl<'a> TransitionLog<'a> {
    pub(super) fn of(version: &'a Version) -> Self {
        Self { version, destination: None, attempt: None, bytes: None, elapsed_ms: None, retry_in_ms: None }
    }

    pub(super) fn destination(mut self, name: &'a str) -> Self {
        self.destination = Some(name);
        self
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
        // What is due now is not waited for.
        self.retry_in_ms = Some(ms).filter(|ms| *ms > 0);
        self
    }

    /// Which document, and where to: whoever reads only the message (journald, the event log) sees it too.
    fn what(&self) -> String {
        let version = self.version;
        let to = self.destination.map(|name| format!(" to {name}")).unwrap_or_default();
        format!("document {} of {}{to}", version.uuid, version.account)
    }

    /// Something went well.
    pub(super) fn info(self, event: &str) {
        let what = self.what();
        tracing::info!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            bytes = self.bytes,
            elapsed_ms = self.elapsed_ms,
            "{event} {what}"
        );
    }

    /// Something that only a search for a cause needs.
    pub(super) fn debug(self, event: &str, reason: &str) {
        let what = self.what();
        let (account, document) = (&self.version.account, &self.version.uuid);
        let destination = self.destination;
        tracing::debug!(event, %account, %document, destination, reason, "{event}: {reason} ({what})");
    }

    /// Something has to wait or to be tried again.
    pub(super) fn warn(self, event: &str, reason: &str) {
        let what = self.what();
        tracing::warn!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            elapsed_ms = self.elapsed_ms,
            retry_in_ms = self.retry_in_ms,
            reason,
            "{event}: {reason} ({what})"
        );
    }

    /// Something failed for good.
    pub(super) fn error(self, event: &str, reason: &str) {
        let what = self.what();
        tracing::error!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            elapsed_ms = self.elapsed_ms,
            reason,
            "{event}: {reason} ({what})"
        );
    }
}
