//! A delivery as its owner sees it.

use serde::Serialize;

/// One event for one webhook, without the webhook's secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDelivery {
    /// The `webhook-id` of every attempt.
    pub uuid: String,
    /// The webhook's uuid.
    pub webhook: String,
    /// The event, such as `document.created`.
    pub event: String,
    /// When the event happened, as an ISO 8601 date-time in UTC, by the sandbox's clock.
    pub created_at: String,
    /// The number of attempts.
    pub attempts: u64,
    /// When the next attempt is due, like `created_at`; `None` if it was delivered or given up.
    pub due: Option<String>,
    /// Whether the receiver answered with success.
    pub delivered: bool,
    /// The last status of the receiver.
    pub last_status: Option<u16>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}
