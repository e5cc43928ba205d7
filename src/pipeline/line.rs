//! One log line for each transition, with the same field names everywhere. Documents are named by uuid; no field can
//! hold patient data.

use tokio::time::Instant;

use crate::document::Version;
use crate::ledger::Millis;

/// What a line says. Fields that do not apply are left out.
pub(super) struct Line<'a> {
    version: &'a Version,
    destination: Option<&'a str>,
    attempt: Option<u32>,
    bytes: Option<u64>,
    elapsed_ms: Option<u64>,
    retry_in_ms: Option<Millis>,
}

impl<'a> Line<'a> {
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
        self.retry_in_ms = Some(ms);
        self
    }

    /// What happened to what: whoever reads only the message (journald, the event log) sees it too.
    fn message(&self, event: &str) -> String {
        let version = self.version;
        match self.destination {
            None => format!("{event}: document {} of {}", version.uuid, version.account),
            Some(destination) => format!("{event}: document {} of {}, {destination}", version.uuid, version.account),
        }
    }

    /// Something went well.
    pub(super) fn info(self, event: &str) {
        let message = self.message(event);
        tracing::info!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            bytes = self.bytes,
            elapsed_ms = self.elapsed_ms,
            "{message}"
        );
    }

    /// Something has to wait or to be tried again.
    pub(super) fn warn(self, event: &str, reason: &str) {
        let message = self.message(event);
        tracing::warn!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            elapsed_ms = self.elapsed_ms,
            retry_in_ms = self.retry_in_ms,
            reason,
            "{message}: {reason}"
        );
    }

    /// Something failed for good.
    pub(super) fn error(self, event: &str, reason: &str) {
        let message = self.message(event);
        tracing::error!(
            event,
            account = %self.version.account,
            document = %self.version.uuid,
            destination = self.destination,
            attempt = self.attempt,
            elapsed_ms = self.elapsed_ms,
            reason,
            "{message}: {reason}"
        );
    }
}
