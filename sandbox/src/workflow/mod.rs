//! The workflow of a recording, from the microphone to documents ("States and transitions").
//!
//! Nothing is transcribed. An audio only passes through named steps, on command or by the sandbox's clock. The last
//! step creates its documents and its note.

mod command;
mod step;
mod worker;

use rusqlite::Transaction;

use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::invent::{SeedConfig, plant_from};
use crate::store::AudioRow;

pub(crate) use command::{advance, archive, fail, record, record_invented, remove, step_of};
pub(crate) use step::Step;
pub(crate) use worker::run;

/// Moves an audio to a step, with all effects of that step.
fn enter(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    audio: &AudioRow,
    step: Step,
    due: Option<i64>,
    now: i64,
) -> Result<(), SandboxError> {
    let due = due.filter(|_| step.next().is_some());
    audio.set_step(transaction, step.name(), due, now)?;
    announce(transaction, Event::AudioUpdated, audio.owner_id, audio.id, now)?;
    if step == Step::Validated {
        plant_from(transaction, seed_config, audio, now)?;
    }
    Ok(())
}
