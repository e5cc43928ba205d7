//! Webhooks: what happens to documents and audios is told to whoever asked for it.
//!
//! Event kinds, payload, signature and retries are "not shown" by the API description ("Events"); here they follow the
//! Standard Webhooks specification, version 1. An event becomes rows of `deliveries` in the transaction that makes the
//! change, so that neither is there without the other; [`deliver`] sends them afterwards, each at least once.

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

/// How many deliveries are shown at once.
const SHOWN: u32 = 1_000;

/// The newest deliveries, oldest first.
pub(crate) async fn newest(shared: &Shared) -> Result<Vec<WebhookDelivery>, SandboxError> {
    shared.store.run(|transaction| WebhookDelivery::newest(transaction, SHOWN)).await
}

/// Makes every delivery that has not arrived due now; returns how many.
pub(crate) async fn retry(shared: &Shared) -> Result<usize, SandboxError> {
    let now = shared.clock.key();
    let count = shared.store.run(move |transaction| DeliveryRow::retry_all(transaction, now)).await?;
    shared.deliveries.notify_one();
    Ok(count)
}
