//! A delivery as its owner sees it.

use serde::Serialize;

/// One event for one webhook. The webhook's secret is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDelivery {
    /// The `webhook-id` of every attempt.
    pub uuid: String,
    /// The webhook's uuid.
    pub webhook: String,
    /// The event, such as `document.created`.
    pub event: String,
    /// When it happened, as an ISO 8601 date-time in UTC, by the sandbox's clock.
    pub created_at: String,
    /// How many attempts were made.
    pub attempts: u64,
    /// When the next attempt is made, like `created_at`; `None` once it was delivered or given up.
    pub due: Option<String>,
    /// Whether the receiver answered with success.
    pub delivered: bool,
    /// What the receiver answered last.
    pub last_status: Option<u16>,
    /// Why the last attempt was no success.
    pub last_error: Option<String>,
}
