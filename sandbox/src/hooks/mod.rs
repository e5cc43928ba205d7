//! Deliveries of events to webhooks.

/// What deliveries of a new webhook are signed with.
pub(crate) fn fresh_secret() -> String {
    let [first, second] = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
    format!("whsec_{}{}", first.simple(), second.simple())
}
