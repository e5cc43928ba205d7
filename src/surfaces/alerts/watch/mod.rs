//! Watches the ledger: what is wrong, and who is told.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use self::trouble::Trouble;
use super::Channel;
use super::audience::Audience;
use super::beats::Condition;
use super::decide::{AlertKind, Before, Step, Times, about, decide};
use super::message::{Content, Letterhead, new_id};
use crate::config::AlertsConfig;
use crate::domain::health::{Cause, Facts, Health, Light, assess};
use crate::formats::language::{Group, groups};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, alerts, now, process};
use crate::views::facts::Present;

mod trouble;

/// How often the ledger is read; more often if `alerts.after` is shorter.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// A longer time between two looks counts as sleep of the machine; milliseconds.
const LEAST_SLEEP: Millis = 60_000;
const LEAST_INTERVAL: Duration = Duration::from_millis(50);
/// What breaks or ends within this time is told in one message.
const GATHER: Duration = Duration::from_secs(10);
/// A cause is told at most once in this time.
const QUIET: Duration = Duration::from_secs(60 * 60);
/// How often the daemon records that it is alive. This also shows that the ledger can be written.
const SIGN_OF_LIFE: Duration = Duration::from_secs(60);
/// How long an alert that is over is kept; milliseconds.
const KEEP: Millis = 90 * 24 * 60 * 60 * 1000;
/// A longer leap of the clock is no sleep: a machine without a clock got the time. Milliseconds.
const LONGEST_SLEEP: Millis = 400 * 24 * 60 * 60 * 1000;

/// What is watched, and for whom.
pub(super) struct Watched {
    pub(super) ledger: Ledger,
    /// NAME, and whether the account signs in.
    pub(super) accounts: Vec<(String, bool)>,
    pub(super) alerts: AlertsConfig,
    pub(super) letterhead: Letterhead,
    pub(super) channels: Vec<(Channel, Arc<Notify>)>,
    pub(super) condition: watch::Sender<Condition>,
}

pub(super) struct Watch {
    watched: Watched,
    times: Times,
    audiences: Vec<Audience>,
    started: Millis,
    /// When it last looked, by the wall clock.
    looked: Millis,
    /// When the machine fell asleep and when it woke up, if it slept for long.
    slept: Option<(Millis, Millis)>,
    alive: Option<Instant>,
    /// Whether channels that were added during an alert were told of it.
    newcomers_told: bool,
    trouble: Option<Trouble>,
    /// Whether somebody was told that the ledger's disk is full. That the ledger cannot be written is no news then.
    disk_is_known: bool,
}

impl Watch {
    pub(super) fn new(watched: Watched) -> Self {
        let gather = GATHER.min(watched.alerts.rules.after);
        let times = Times { gather, quiet: QUIET, remind: watched.alerts.remind };
        let (started, looked) = (now(), now());
        let audiences = Audience::all(&watched.alerts.receivers);
        Self {
            watched,
            times,
            audiences,
            started,
            looked,
            slept: None,
            alive: None,
            newcomers_told: false,
            trouble: None,
            disk_is_known: false,
        }
    }

    /// Looks again and again until it is told to stop.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let rules = &self.watched.alerts.rules;
        let shortest = rules.after.min(rules.silence).min(self.times.remind) / 4;
        let mut round = tokio::time::interval(LOOK_INTERVAL.min(shortest).max(LEAST_INTERVAL));
        round.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = round.tick() => {}
            }
            // A ledger that is locked answers late.
            let began = now();
            match self.look().await {
                Ok(()) => self.recovered().await,
                Err(LedgerError::Closed) => return,
                Err(error) => self.troubled(&error, began).await,
            }
        }
    }

    async fn look(&mut self) -> Result<(), LedgerError> {
        let at = now();
        let gap = at.saturating_sub(std::mem::replace(&mut self.looked, at));
        let silence = Millis::try_from(self.watched.alerts.rules.silence.as_millis()).unwrap_or(Millis::MAX);
        if gap >= silence.max(LEAST_SLEEP) && gap < LONGEST_SLEEP {
            tracing::warn!(event = "slept", gap_ms = gap, "this computer slept");
            self.slept = Some((at.saturating_sub(gap), at));
        }
        let quiet = Millis::try_from(self.times.quiet.as_millis()).unwrap_or(Millis::MAX);
        let present = Present::new(true, self.watched.accounts.iter().cloned());
        let (audiences, rules) = (self.audiences.clone(), self.watched.alerts.rules.clone());
        let read = move |db: &rusqlite::Connection| -> QueryResult<(Vec<(Facts, Before)>, bool)> {
            let (mut heard, mut is_well) = (Vec::new(), false);
            for audience in &audiences {
                let before = audience.before(db, at.saturating_sub(quiet))?;
                // If all is well for everybody, it is well for each of hundreds of practices.
                let facts = match is_well && before.open.is_empty() {
                    true => Facts { now: at, running: true, ..Facts::default() },
                    false => audience.facts(db, &present)?,
                };
                is_well |= audience.name.is_empty() && assess(&facts, &rules).problems.is_empty();
                heard.push((facts, before));
            }
            Ok((heard, alerts::is_known(db, Cause::Disk.as_str())?))
        };
        let (heard, disk_is_known) = self.watched.ledger.read(read).await?;
        self.disk_is_known = disk_is_known;
        let accounts = heard.first().map_or(&[][..], |(facts, _)| &facts.accounts);
        let polled_at = accounts.iter().filter(|one| one.configured).filter_map(|one| one.polled_at).max();
        self.slept = self.slept.filter(|(_, woke)| is_still_slept(*woke, polled_at, at));
        let (mut steps, mut healths) = (Vec::new(), Vec::new());
        for (audience, (mut facts, mut before)) in self.audiences.iter_mut().zip(heard) {
            facts.awake_since = Some(self.slept.map_or(self.started, |(_, woke)| woke.max(self.started)));
            facts.slept_since = self.slept.map(|(fell_asleep, _)| fell_asleep);
            let health = assess(&audience.narrowed(facts), &self.watched.alerts.rules);
            before.gone = audience.note_gone(&health, at);
            let others = Others {
                count: u64::try_from(health.problems.len()).unwrap_or(u64::MAX),
                groups: groups(&health.problems),
            };
            steps.push((audience.name.clone(), decide(&before, &health, at, &self.times), others));
            healths.push((audience.name.clone(), health));
        }
        let bad = healths.first().is_some_and(|(_, health)| health.light == Light::NeedsPerson);
        self.carry_out(steps, at).await?;
        self.tell_newcomers(healths, at).await?;
        let felt = Condition { polled_at, bad };
        self.watched.condition.send_if_modified(|condition| std::mem::replace(condition, felt) != felt);
        Ok(())
    }

    /// After a start: a channel that is new knows nothing of the open alerts.
    async fn tell_newcomers(&mut self, healths: Vec<(String, Health)>, at: Millis) -> Result<(), LedgerError> {
        if std::mem::replace(&mut self.newcomers_told, true) {
            return Ok(());
        }
        let lasting: Vec<_> = healths
            .into_iter()
            .map(|(audience, health)| (self.channel_names(&audience), audience, groups(&health.problems)))
            .collect();
        let write = self.watched.ledger.write(move |db| {
            for (channels, audience, groups) in &lasting {
                for (alert, channel) in alerts::untold(db, audience, channels)? {
                    if let Some(group) = groups.iter().find(|group| group.cause.as_str() == alert.cause) {
                        let content = content(&Content::new(AlertKind::Problem, group, at));
                        alerts::post(db, alert.id, &new_id(), &channel, &content, at)?;
                    }
                }
            }
            Ok(())
        });
        let written = write.await;
        self.newcomers_told = written.is_ok();
        self.watched.channels.iter().for_each(|(_, posted)| posted.notify_one());
        written
    }

    fn channel_names(&self, audience: &str) -> Vec<String> {
        let own = self.watched.channels.iter().filter(|(channel, _)| &*channel.audience == audience);
        own.map(|(channel, _)| channel.name().to_owned()).collect()
    }

    /// Records the decisions and the messages in one transaction, even if there are none: another program's lock shows
    /// only when something is written. An empty transaction costs no access to the disk.
    async fn carry_out(&mut self, steps: Vec<(String, Vec<Step>, Others)>, at: Millis) -> Result<(), LedgerError> {
        let due = self.alive.is_none_or(|last| last.elapsed() >= SIGN_OF_LIFE);
        steps.iter().flat_map(|(_, steps, _)| steps).for_each(log);
        let any = steps.iter().any(|(_, steps, _)| !steps.is_empty());
        let audiences: Vec<String> = self.audiences.iter().map(|audience| audience.name.clone()).collect();
        let all: Vec<String> = self.watched.channels.iter().map(|(channel, _)| channel.name().to_owned()).collect();
        let steps: Vec<_> = steps
            .into_iter()
            .map(|(audience, steps, others)| (self.channel_names(&audience), audience, steps, others))
            .collect();
        let write = self.watched.ledger.write(move |db| {
            for (channels, audience, steps, others) in &steps {
                steps.iter().try_for_each(|step| write_step(db, step, audience, channels, others, at))?;
            }
            if due {
                process::set(db, "watched_at", &at.to_string())?;
                alerts::prune(db, &audiences, &all, at.saturating_sub(KEEP))?;
            }
            Ok(())
        });
        write.await?;
        if due {
            self.alive = Some(Instant::now());
        }
        if any {
            self.watched.channels.iter().for_each(|(_, posted)| posted.notify_one());
        }
        Ok(())
    }
}

/// Whether to still say that this machine slept until `woke`: until a poll ends well, and for at least twice
/// [`GATHER`]. Otherwise the first poll would end before the message is gathered.
fn is_still_slept(woke: Millis, polled_at: Option<Millis>, at: Millis) -> bool {
    let told = Millis::try_from(GATHER.as_millis()).unwrap_or(Millis::MAX).saturating_mul(2);
    polled_at.is_none_or(|polled| polled < woke) || (woke..woke.saturating_add(told)).contains(&at)
}

fn log(step: &Step) {
    match step {
        Step::Begin(..) => {}
        Step::Tell { group, kind, .. } => {
            let (cause, documents) = (group.cause.as_str(), group.count);
            tracing::warn!(
                event = "alert",
                cause,
                documents,
                reminder = *kind == AlertKind::Reminder,
                "a person is told: {cause}"
            );
        }
        Step::End { group, .. } => {
            let cause = group.cause.as_str();
            tracing::info!(event = "alert_over", cause, "it is over: {cause}");
        }
    }
}

/// The problems that go on beside the one that is over.
struct Others {
    count: u64,
    groups: Vec<Group>,
}

fn content(content: &Content) -> String {
    serde_json::to_string(content).unwrap_or_default()
}

fn write_step(
    db: &rusqlite::Connection,
    step: &Step,
    audience: &str,
    channels: &[String],
    others: &Others,
    at: Millis,
) -> QueryResult<()> {
    match step {
        Step::Begin(cause, about) => alerts::begin(db, audience, cause.as_str(), about, at),
        Step::Tell { id, kind, group, latest } => {
            alerts::told(db, *id, &about(group), *latest, at)?;
            let message = new_id();
            channels.iter().try_for_each(|channel| {
                alerts::post(db, *id, &message, channel, &content(&Content::new(*kind, group, at)), at)
            })
        }
        Step::End { id, group } => {
            let (message, content) = (new_id(), content(&Content::over(group, at, others.count, &others.groups)));
            alerts::over(db, *id, channels, at)?
                .iter()
                .try_for_each(|channel| alerts::post(db, *id, &message, channel, &content, at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_the_machine_slept_is_said_until_it_was_gathered_however_soon_a_poll_ends_well() {
        let woke = 1_000_000;
        for (polled, after, said) in [
            (None, 3_600_000, true),
            (Some(woke - 1), 3_600_000, true),
            (Some(woke + 500), 0, true),
            (Some(woke + 500), 10_000, true),
            (Some(woke + 500), 15_000, true),
            (Some(woke + 500), 20_000, false),
            // The clock was set back.
            (Some(woke + 500), -1, false),
        ] {
            assert_eq!(is_still_slept(woke, polled, woke + after), said, "{polled:?} {after}");
        }
    }
}
