//! Recordings and webhooks of a running sandbox.

use std::time::Duration;

use super::Sandbox;
use crate::error::SandboxError;
use crate::hooks::{self, WebhookDelivery};
use crate::new_audio::NewAudio;
use crate::workflow;

impl Sandbox {
    /// Records an audio at the beginning of the workflow and returns its uuid.
    ///
    /// # Errors
    /// When its uuid is taken, its owner's key, its patient or its step unknown, or the store fails.
    pub async fn record_audio(&self, audio: NewAudio) -> Result<String, SandboxError> {
        workflow::record(&self.shared, audio).await
    }

    /// Moves an audio one step on and returns the step, as version 1.1.0 names it. At `validated` its documents are
    /// made.
    ///
    /// # Errors
    /// When there is no such audio, it is `validated` or `failed`, or the store fails.
    pub async fn advance_audio(&self, uuid: &str) -> Result<&'static str, SandboxError> {
        workflow::advance(&self.shared, uuid).await
    }

    /// Makes an audio fail, which ends its workflow.
    ///
    /// # Errors
    /// When there is no such audio, it is `validated` or `failed`, or the store fails.
    pub async fn fail_audio(&self, uuid: &str) -> Result<(), SandboxError> {
        workflow::fail(&self.shared, uuid).await.map(drop)
    }

    /// Archives an audio, or takes it out of the archive.
    ///
    /// # Errors
    /// When there is no such audio or the store fails.
    pub async fn archive_audio(&self, uuid: &str, archived: bool) -> Result<(), SandboxError> {
        workflow::archive(&self.shared, uuid, archived).await
    }

    /// Deletes an audio with its images. The documents made from it stay, with `audio: null`.
    ///
    /// # Errors
    /// When there is no such audio or the store fails.
    pub async fn remove_audio(&self, uuid: &str) -> Result<(), SandboxError> {
        workflow::remove(&self.shared, uuid).await
    }

    /// The step an audio is at, as version 1.1.0 names it.
    ///
    /// # Errors
    /// When there is no such audio or the store fails.
    pub async fn audio_step(&self, uuid: &str) -> Result<String, SandboxError> {
        workflow::step_of(&self.shared, uuid).await
    }

    /// Waits until an audio is at this step. The step must last, because the clock may skip others.
    ///
    /// # Errors
    /// When there is no such audio, the store fails, or it takes longer than `timeout`.
    pub async fn wait_for_step(&self, uuid: &str, step: &str, timeout: Duration) -> Result<(), SandboxError> {
        let reached = async || Ok(self.audio_step(uuid).await? == step);
        self.wait_until(reached, timeout).await
    }

    /// The newest deliveries to webhooks, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn webhook_deliveries(&self) -> Result<Vec<WebhookDelivery>, SandboxError> {
        hooks::newest(&self.shared).await
    }

    /// Waits until the condition holds for the deliveries. Checks it after every attempt.
    ///
    /// # Errors
    /// When the store fails or that takes longer than `timeout`.
    pub async fn wait_for_deliveries(
        &self,
        condition: impl Fn(&[WebhookDelivery]) -> bool,
        timeout: Duration,
    ) -> Result<(), SandboxError> {
        let satisfied = async || Ok(condition(&self.webhook_deliveries().await?));
        self.wait_until(satisfied, timeout).await
    }

    /// Makes every delivery that has not arrived due now, even if it was given up. Returns their number. Deliveries to
    /// inactive webhooks wait until those are active.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn retry_webhook_deliveries(&self) -> Result<usize, SandboxError> {
        hooks::retry(&self.shared).await
    }

    async fn wait_until(
        &self,
        condition: impl AsyncFn() -> Result<bool, SandboxError>,
        timeout: Duration,
    ) -> Result<(), SandboxError> {
        let mut bell = self.shared.journal.listen();
        let wait = async {
            loop {
                bell.mark_unchanged();
                if condition().await? || bell.changed().await.is_err() {
                    return Ok(());
                }
            }
        };
        tokio::time::timeout(timeout, wait).await.map_err(|_| SandboxError::TimedOut(timeout))?
    }
}
