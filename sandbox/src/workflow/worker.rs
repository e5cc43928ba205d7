//! The task that moves audios on when they are due.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Transaction;

use super::{Step, enter};
use crate::error::SandboxError;
use crate::invent::SeedConfig;
use crate::shared::Shared;
use crate::store::AudioRow;

/// The most audios that one transaction moves, so that requests get their turn in between.
const BATCH: u32 = 100;

/// The pause after the store failed, so that the loop does not spin.
const PAUSE: Duration = Duration::from_secs(1);

/// Moves audios until the sandbox stops. Returns at once if they move only on command.
pub(crate) async fn run(shared: Arc<Shared>) {
    let Some(pace) = shared.workflow_step else {
        return;
    };
    // Audios that an earlier start left in between continue now, at this start's pace.
    let latest = shared.clock.key().saturating_add(pace);
    let unfinished: Vec<&str> = Step::ALL.into_iter().filter(|step| step.next().is_some()).map(Step::name).collect();
    let _ = shared.store.run(move |transaction| AudioRow::set_off(transaction, &unfinished, latest)).await;
    loop {
        let next = match move_on(&shared, pace).await {
            Ok((0, next)) => next,
            Ok(_) => {
                shared.deliveries.notify_one();
                shared.journal.ring();
                if shared.stop.is_cancelled() {
                    return;
                }
                continue;
            }
            Err(_) => {
                tokio::select! {
                    () = shared.stop.cancelled() => return,
                    () = tokio::time::sleep(PAUSE) => continue,
                }
            }
        };
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = shared.recordings.notified() => {}
            () = shared.clock.until(next.unwrap_or(i64::MAX)), if next.is_some() => {}
        }
    }
}

/// Moves the due audios. Returns their number, and when the next one is due.
async fn move_on(shared: &Shared, pace: i64) -> Result<(usize, Option<i64>), SandboxError> {
    let seed_config = shared.seed_config.clone();
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let due = AudioRow::due(transaction, now, BATCH)?;
            for audio in &due {
                catch_up(transaction, &seed_config, audio, pace, now)?;
            }
            Ok((due.len(), AudioRow::next_due(transaction)?))
        })
        .await
}

/// All steps that are due: several if the clock was moved far.
fn catch_up(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    audio: &AudioRow,
    pace: i64,
    now: i64,
) -> Result<(), SandboxError> {
    let mut due = audio.step_due;
    let mut step = Step::named(&audio.step)?;
    while let (Some(time), Some(next)) = (due.filter(|time| *time <= now), step.next()) {
        due = Some(time.saturating_add(pace));
        step = next;
        enter(transaction, seed_config, audio, step, due, now)?;
    }
    Ok(())
}
