//! What the sandbox's owner does with recordings. The API cannot create or change one.

use rusqlite::Transaction;

use super::{Step, enter};
use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::invent::{SeedConfig, plant_audio, plant_from};
use crate::new_audio::NewAudio;
use crate::shared::Shared;
use crate::store::AudioRow;

/// Records a dictated one. Returns its uuid.
pub(crate) async fn record(shared: &Shared, wish: NewAudio) -> Result<String, SandboxError> {
    let mut uuids = record_all(shared, vec![wish]).await?;
    uuids.pop().ok_or_else(|| SandboxError::Interrupted("nothing was recorded".to_owned()))
}

/// Records invented ones. Returns their uuids.
pub(crate) async fn record_invented(shared: &Shared, count: usize) -> Result<Vec<String>, SandboxError> {
    record_all(shared, vec![NewAudio::default(); count]).await
}

async fn record_all(shared: &Shared, wishes: Vec<NewAudio>) -> Result<Vec<String>, SandboxError> {
    let seed_config = shared.seed_config.clone();
    let now = shared.clock.key();
    let pace = shared.workflow_step;
    let uuids = shared
        .store
        .run(move |transaction| {
            wishes.into_iter().map(|wish| record_one(transaction, &seed_config, wish, pace, now)).collect()
        })
        .await?;
    rouse(shared);
    Ok(uuids)
}

fn record_one(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    wish: NewAudio,
    pace: Option<i64>,
    now: i64,
) -> Result<String, SandboxError> {
    let step = wish.step.as_deref().map_or(Ok(Step::AudioRecording), Step::named)?;
    let due = pace.filter(|_| step.next().is_some()).map(|pace| now.saturating_add(pace));
    let audio = plant_audio(transaction, seed_config, wish, step.name(), due, now)?;
    if step == Step::Validated {
        plant_from(transaction, seed_config, &audio, now)?;
    }
    Ok(audio.uuid)
}

/// Moves an audio one step on. Returns the step.
pub(crate) async fn advance(shared: &Shared, uuid: &str) -> Result<&'static str, SandboxError> {
    go(shared, uuid, |step| step.next()).await
}

/// Makes an audio fail. Returns the step.
pub(crate) async fn fail(shared: &Shared, uuid: &str) -> Result<&'static str, SandboxError> {
    go(shared, uuid, |step| step.next().map(|_| Step::Failed)).await
}

async fn go(shared: &Shared, uuid: &str, way: fn(Step) -> Option<Step>) -> Result<&'static str, SandboxError> {
    let uuid = uuid.to_owned();
    let seed_config = shared.seed_config.clone();
    let now = shared.clock.key();
    let due = shared.workflow_step.map(|pace| now.saturating_add(pace));
    let step = shared
        .store
        .run(move |transaction| {
            let audio = find(transaction, &uuid)?;
            let from = Step::named(&audio.step)?;
            let step = way(from).ok_or(SandboxError::AudioEnded { uuid, step: from.name() })?;
            enter(transaction, &seed_config, &audio, step, due, now)?;
            Ok(step.name())
        })
        .await?;
    rouse(shared);
    Ok(step)
}

/// The step an audio is at.
pub(crate) async fn step_of(shared: &Shared, uuid: &str) -> Result<String, SandboxError> {
    let uuid = uuid.to_owned();
    shared.store.run(move |transaction| Ok(find(transaction, &uuid)?.step)).await
}

/// Archives an audio, or takes it out of the archive. Its workflow continues meanwhile.
pub(crate) async fn archive(shared: &Shared, uuid: &str, archived: bool) -> Result<(), SandboxError> {
    let uuid = uuid.to_owned();
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let audio = find(transaction, &uuid)?;
            if audio.archived_at.is_some() != archived {
                audio.set_archived(transaction, archived, now)?;
                announce(transaction, Event::AudioUpdated, audio.owner_id, audio.id, now)?;
            }
            Ok(())
        })
        .await?;
    rouse(shared);
    Ok(())
}

/// Deletes an audio with its images. Its documents stay, without it.
pub(crate) async fn remove(shared: &Shared, uuid: &str) -> Result<(), SandboxError> {
    let uuid = uuid.to_owned();
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let audio = find(transaction, &uuid)?;
            announce(transaction, Event::AudioDeleted, audio.owner_id, audio.id, now)?;
            audio.delete(transaction)
        })
        .await?;
    rouse(shared);
    Ok(())
}

fn find(transaction: &Transaction<'_>, uuid: &str) -> Result<AudioRow, SandboxError> {
    AudioRow::by_uuid(transaction, uuid)?.ok_or_else(|| SandboxError::NoAudio { uuid: uuid.to_owned() })
}

/// Wakes the tasks: there may be new deliveries and new steps.
fn rouse(shared: &Shared) {
    shared.deliveries.notify_one();
    shared.recordings.notify_one();
    shared.journal.ring();
}
