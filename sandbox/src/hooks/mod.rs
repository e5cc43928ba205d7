//! Webhooks: tell subscribers what happens to documents and audios.
//!
//! The description does not show event kinds, payload, signature and retries ("Events"); here they follow version 1 of
//! Standard Webhooks. An event becomes rows of `deliveries` in the transaction of the change, so that there is never
//! one without the other. [`deliver`] sends them afterwards, each at least once.

mod announce;
mod delivery;
mod post;
mod schedule;
mod signature;
mod worker;

pub(crate) use announce::{Event, announce};
pub use delivery::WebhookDelivery;
pub(crate) use signature::fresh_secret;
pub(crate) use worker::deliver;

use crate::error::SandboxError;
use crate::shared::Shared;
use crate::store::DeliveryRow;

/// The most deliveries that are shown at once.
const SHOWN: u32 = 1_000;

/// The newest deliveries, oldest first.
pub(crate) async fn newest(shared: &Shared) -> Result<Vec<WebhookDelivery>, SandboxError> {
    shared.store.run(|transaction| WebhookDelivery::newest(transaction, SHOWN)).await
}

/// Makes every delivery that has not arrived due now. Returns their number.
pub(crate) async fn retry(shared: &Shared) -> Result<usize, SandboxError> {
    let now = shared.clock.key();
    let count = shared.store.run(move |transaction| DeliveryRow::retry_all(transaction, now)).await?;
    shared.deliveries.notify_one();
    Ok(count)
}
