//! Turns a change into deliveries.

use rusqlite::Transaction;
use serde_json::{Value, json};

use crate::error::SandboxError;
use crate::moment::Moment;
use crate::quirks::DateFormat;
use crate::store::{AudioRow, DeliveryRow, DocumentRow, WebhookRow};

/// An event of a document or an audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    DocumentCreated,
    DocumentUpdated,
    DocumentDeleted,
    AudioCreated,
    AudioUpdated,
    AudioDeleted,
}

impl Event {
    /// The name that a webhook subscribes to: one of [`crate::describe::records::EVENTS`].
    fn name(self) -> &'static str {
        match self {
            Self::DocumentCreated => "document.created",
            Self::DocumentUpdated => "document.updated",
            Self::DocumentDeleted => "document.deleted",
            Self::AudioCreated => "audio.created",
            Self::AudioUpdated => "audio.updated",
            Self::AudioDeleted => "audio.deleted",
        }
    }

    fn data(self, transaction: &Transaction<'_>, id: i64) -> Result<Value, SandboxError> {
        match self {
            Self::DocumentCreated | Self::DocumentUpdated | Self::DocumentDeleted => {
                Ok(document_data(&DocumentRow::by_id(transaction, id)?))
            }
            Self::AudioCreated | Self::AudioUpdated | Self::AudioDeleted => {
                Ok(audio_data(&AudioRow::by_id(transaction, id)?))
            }
        }
    }
}

/// Writes one delivery for each of the owner's active webhooks that subscribe to this event. `id` is the row of the
/// document or audio, after its change or before its deletion. Without webhooks, this costs one look at an index.
pub(crate) fn announce(
    transaction: &Transaction<'_>,
    event: Event,
    owner_id: i64,
    id: i64,
    now: i64,
) -> Result<(), SandboxError> {
    if !WebhookRow::any_active(transaction, owner_id)? {
        return Ok(());
    }
    let mut asking = WebhookRow::active_of(transaction, owner_id)?;
    asking.retain(|webhook| webhook.events.iter().any(|asked| asked == event.name()));
    if asking.is_empty() {
        return Ok(());
    }
    let body = json!({
        "type": event.name(),
        "timestamp": Moment::from_key(now).show(DateFormat::ZuluMillis),
        "data": event.data(transaction, id)?,
    })
    .to_string();
    for webhook in asking {
        DeliveryRow::insert(transaction, webhook.id, event.name(), &body, now)?;
    }
    Ok(())
}

/// Only identifiers and state, because a push must not carry patient data. A receiver with the right reads the rest
/// from the API.
fn document_data(row: &DocumentRow) -> Value {
    json!({
        "uuid": row.uuid,
        "type": row.document_type,
        "createdAt": date(&row.created_at),
        "updatedAt": date(&row.updated_at),
        "user": row.user.uuid,
        "patient": row.patient.as_ref().map(|patient| &patient.uuid),
        "audio": row.audio.as_ref().map(|audio| &audio.uuid),
        "pdf": row.file.as_ref().map(|file| &file.uuid),
        "synchronized": row.synchronized,
    })
}

fn audio_data(row: &AudioRow) -> Value {
    json!({
        "uuid": row.uuid,
        "createdAt": date(&row.created_at),
        "updatedAt": date(&row.updated_at),
        "archivedAt": row.archived_at.as_ref().map(date),
        "user": row.user.uuid(),
        "patient": row.patient_uuid,
        "audioWorkflowStepV3": row.step,
    })
}

/// As the API prints dates by default.
fn date(moment: &Moment) -> String {
    moment.show(DateFormat::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::records::EVENTS;

    #[test]
    fn every_event_that_can_be_asked_for_is_announced_by_its_name() {
        let all = [
            Event::DocumentCreated,
            Event::DocumentUpdated,
            Event::DocumentDeleted,
            Event::AudioCreated,
            Event::AudioUpdated,
            Event::AudioDeleted,
        ];
        assert_eq!(all.map(Event::name), *EVENTS);
    }
}
