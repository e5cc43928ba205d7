//! Watches the ledger: what is wrong, what is decided about it, and how the heart beats.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::decide::{Before, Kind, Step, Times, about, decide};
use super::heartbeat::{Beat, Heartbeat, LEAST_APART};
use super::message::{Content, Message, computer, new_id};
use super::{Channel, Undelivered};
use crate::config::AlertsConfig;
use crate::health::{Cause, Disks, Facts, Health, Light, assess};
use crate::language::{Group, groups};
use crate::ledger::facts::{Present, facts};
use crate::ledger::{Ledger, LedgerError, Millis, QueryResult, alerts, now, process};

/// How often the ledger is looked at; more often when `alerts.after` is shorter.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Between two looks there is at least so much before it counts as sleep; milliseconds.
const LEAST_SLEEP: Millis = 60_000;
const LEAST_INTERVAL: Duration = Duration::from_millis(50);
/// What breaks, or ends, within this time is told in one message.
const GATHER: Duration = Duration::from_secs(10);
/// A cause is told at most once in this time.
const QUIET: Duration = Duration::from_secs(60 * 60);
/// How often it is written that the daemon lives. It shows that the ledger can be written, too.
const SIGN_OF_LIFE: Duration = Duration::from_secs(60);
/// A ledger that cannot be used for so many times [`GATHER`] is told: a backup may lock it for a moment.
const TROUBLE_LASTS: u32 = 2;
/// What is over is kept for so long; milliseconds.
const KEEP: Millis = 90 * 24 * 60 * 60 * 1000;
/// A leap of the clock beyond this is no sleep: a machine without a clock of its own was given the time. Milliseconds.
const LONGEST_SLEEP: Millis = 400 * 24 * 60 * 60 * 1000;

/// What the heart beats for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// When a poll last ended well.
    polled_at: Option<Millis>,
    /// Whether a person is needed.
    bad: bool,
}

/// What is watched, and who is told.
pub(super) struct Watched {
    pub(super) ledger: Ledger,
    /// NAME, and whether it signs in.
    pub(super) accounts: Vec<(String, bool)>,
    pub(super) alerts: AlertsConfig,
    pub(super) disks: Disks,
    pub(super) channels: Vec<(Channel, Arc<Notify>)>,
    pub(super) condition: watch::Sender<Condition>,
}

/// The watch.
pub(super) struct Watch {
    watched: Watched,
    times: Times,
    /// Since when a cause that lasts is not seen any more.
    gone: BTreeMap<Cause, Millis>,
    started: Millis,
    /// When it last looked, by the clock of the wall.
    looked: Millis,
    /// When the machine fell asleep and when it woke up, if it slept for long.
    slept: Option<(Millis, Millis)>,
    alive: Option<Instant>,
    /// Whether channels that were added while something lasts were told of it.
    newcomers_told: bool,
    trouble: Option<Trouble>,
    /// Whether somebody was told that the disk of the ledger is full: that it cannot be written then is no news.
    disk_is_known: bool,
}

/// A ledger that cannot be read or written; who was told cannot be written there.
struct Trouble {
    since: Millis,
    message: String,
    told: Vec<&'static str>,
    tried: Option<Instant>,
}

impl Watch {
    pub(super) fn new(watched: Watched) -> Self {
        let gather = GATHER.min(watched.alerts.rules.after);
        let times = Times { gather, quiet: QUIET, remind: watched.alerts.remind };
        let (started, looked) = (now(), now());
        Self {
            watched,
            times,
            gone: BTreeMap::new(),
            started,
            looked,
            slept: None,
            alive: None,
            newcomers_told: false,
            trouble: None,
            disk_is_known: false,
        }
    }

    /// Looks again and again, until it is told to stop.
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
        let read = move |db: &rusqlite::Connection| -> QueryResult<(Facts, Before, bool)> {
            let mut before = Before { open: alerts::open(db)?, ..Before::default() };
            for (cause, told, often) in alerts::last_told(db, at.saturating_sub(quiet))? {
                if let Some(cause) = Cause::parse(&cause) {
                    before.told.insert(cause, told);
                    before.often.insert(cause, often);
                }
            }
            Ok((facts(db, &present)?, before, alerts::is_known(db, Cause::Disk.as_str())?))
        };
        let (mut facts, mut before, disk_is_known) = self.watched.ledger.read(read).await?;
        self.disk_is_known = disk_is_known;
        let polled_at = facts.accounts.iter().filter(|one| one.configured).filter_map(|one| one.polled_at).max();
        self.slept = self.slept.filter(|(_, woke)| is_still_slept(*woke, polled_at, at));
        facts.awake_since = Some(self.slept.map_or(self.started, |(_, woke)| woke.max(self.started)));
        facts.slept_since = self.slept.map(|(fell_asleep, _)| fell_asleep);
        let health = assess(&facts, &self.watched.alerts.rules);
        self.note_gone(&health, at);
        before.gone = self.gone.clone();
        self.carry_out(decide(&before, &health, at, &self.times), at).await?;
        self.tell_newcomers(&health, at).await?;
        let felt = Condition { polled_at, bad: health.light == Light::NeedsPerson };
        self.watched.condition.send_if_modified(|condition| std::mem::replace(condition, felt) != felt);
        Ok(())
    }

    /// Keeps since when each cause is not seen any more.
    fn note_gone(&mut self, health: &Health, at: Millis) {
        for cause in crate::health::CAUSES {
            if health.problems.iter().any(|problem| problem.cause == cause) {
                self.gone.remove(&cause);
            } else {
                self.gone.entry(cause).or_insert(at);
            }
        }
    }

    /// After a start: who is told may have changed, and whoever is new knows nothing of what lasts.
    async fn tell_newcomers(&mut self, health: &Health, at: Millis) -> Result<(), LedgerError> {
        if std::mem::replace(&mut self.newcomers_told, true) {
            return Ok(());
        }
        let (channels, lasting) = (self.channel_names(), groups(&health.problems));
        let write = self.watched.ledger.write(move |db| {
            for (alert, channel) in alerts::untold(db, &channels)? {
                if let Some(group) = lasting.iter().find(|group| group.cause.as_str() == alert.cause) {
                    alerts::post(db, alert.id, &new_id(), &channel, &content(Kind::Problem, group, at), at)?;
                }
            }
            Ok(())
        });
        let written = write.await;
        self.newcomers_told = written.is_ok();
        self.watched.channels.iter().for_each(|(_, posted)| posted.notify_one());
        written
    }

    fn channel_names(&self) -> Vec<String> {
        self.watched.channels.iter().map(|(channel, _)| channel.name().to_owned()).collect()
    }

    /// Writes what was decided, with the messages, in one transaction. There is one in any case: a ledger that another program has
    /// locked can be read, and shows itself only so. An empty one costs no access to the disk.
    async fn carry_out(&mut self, steps: Vec<Step>, at: Millis) -> Result<(), LedgerError> {
        let due = self.alive.is_none_or(|last| last.elapsed() >= SIGN_OF_LIFE);
        for step in &steps {
            log(step);
        }
        let channels = self.channel_names();
        let any = !steps.is_empty();
        let write = self.watched.ledger.write(move |db| {
            for step in &steps {
                write_step(db, step, &channels, at)?;
            }
            if due {
                process::set(db, "watched_at", &at.to_string())?;
                alerts::prune(db, &channels, at.saturating_sub(KEEP))?;
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

    /// The ledger cannot be used. There is no outbox then, so everybody is told from memory; whoever is not reached is tried
    /// again.
    async fn troubled(&mut self, error: &LedgerError, began: Millis) {
        let at = now();
        self.watched.condition.send_if_modified(|condition| !std::mem::replace(&mut condition.bad, true));
        let trouble = self.trouble.get_or_insert_with(|| {
            tracing::error!(event = "ledger_trouble", "{error}");
            Trouble { since: began, message: new_id(), told: Vec::new(), tried: None }
        });
        let lasted = u64::try_from(at.saturating_sub(trouble.since)).unwrap_or(0);
        if self.disk_is_known {
            return;
        }
        let too_soon = trouble.tried.is_some_and(|tried| tried.elapsed() < SIGN_OF_LIFE);
        if Duration::from_millis(lasted) < self.times.gather.saturating_mul(TROUBLE_LASTS) || too_soon {
            return;
        }
        trouble.tried = Some(Instant::now());
        let (since, id) = (trouble.since, trouble.message.clone());
        let known = trouble.told.clone();
        let told = self.tell(Kind::Problem, since, &id, |name| !known.contains(&name)).await;
        if let Some(trouble) = &mut self.trouble {
            trouble.told.extend(told);
        }
    }

    /// The ledger can be used again: whoever was told of it is told of that.
    async fn recovered(&mut self) {
        if let Some(Trouble { since, told, .. }) = self.trouble.take() {
            tracing::info!(event = "ledger_well", "the ledger can be read and written again");
            let _ = self.tell(Kind::Over, since, &new_id(), |name| told.contains(&name)).await;
        }
    }

    /// Tells of the ledger, past the outbox. Returns who was reached.
    async fn tell(
        &self,
        kind: Kind,
        since: Millis,
        id: &str,
        whom: impl Fn(&'static str) -> bool,
    ) -> Vec<&'static str> {
        let group = Group { cause: Cause::Ledger, names: Vec::new(), count: 0, since: Some(since) };
        let content = Content::new(kind, &group, now());
        let message =
            Message::new(id.to_owned(), &content, self.watched.alerts.language, &self.watched.disks, &computer());
        let channels = self.watched.channels.iter().map(|(channel, _)| channel).filter(|channel| whom(channel.name()));
        let sent = channels.map(|channel| async {
            let sent = channel.send(&message).await;
            match &sent {
                Ok(taken) => taken.warn_of_refused(channel.name()),
                Err(Undelivered { what, .. }) => {
                    tracing::warn!(event = "alert_not_sent", channel = channel.name(), "{}: {what}", channel.name());
                }
            }
            // What may have arrived is not said twice.
            match sent {
                Ok(_) | Err(Undelivered { may_have_arrived: true, .. }) => Some(channel.name()),
                Err(_) => None,
            }
        });
        futures_util::future::join_all(sent).await.into_iter().flatten().collect()
    }
}

/// Whether it is still to be said that this machine slept until `woke`: until a poll ends well, and so long in any case that it is
/// told once, since the first poll is quicker than what is told together is gathered.
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
                reminder = *kind == Kind::Reminder,
                "a person is told: {cause}"
            );
        }
        Step::End { group, .. } => {
            let cause = group.cause.as_str();
            tracing::info!(event = "alert_over", cause, "it is over: {cause}");
        }
    }
}

fn content(kind: Kind, group: &Group, at: Millis) -> String {
    serde_json::to_string(&Content::new(kind, group, at)).unwrap_or_default()
}

fn write_step(db: &rusqlite::Connection, step: &Step, channels: &[String], at: Millis) -> QueryResult<()> {
    match step {
        Step::Begin(cause, about) => alerts::begin(db, cause.as_str(), about, at),
        Step::Tell { id, kind, group, latest } => {
            alerts::told(db, *id, &about(group), *latest, at)?;
            let message = new_id();
            channels
                .iter()
                .try_for_each(|channel| alerts::post(db, *id, &message, channel, &content(*kind, group, at), at))
        }
        Step::End { id, group } => {
            let message = new_id();
            alerts::over(db, *id, channels, at)?
                .iter()
                .try_for_each(|channel| alerts::post(db, *id, &message, channel, &content(Kind::Over, group, at), at))
        }
    }
}

/// Beats: at the start, after each good poll while nobody is needed, and when somebody is. What was not heard is said again at
/// the next poll.
pub(super) async fn beat(heartbeat: Heartbeat, mut felt: watch::Receiver<Condition>, stop: CancellationToken) {
    let mut said: Option<(Beat, Instant)> = None;
    // Polls before this start were another process's.
    let (mut polled, started) = (None, Some(now()));
    let mut failing = false;
    say(&heartbeat, Beat::Start, &mut failing, &stop).await;
    loop {
        let wait = said.map_or(Duration::ZERO, |(_, at)| LEAST_APART.saturating_sub(at.elapsed()));
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            changed = felt.changed() => if changed.is_err() { return },
            // What was felt while the last beat was too near.
            () = tokio::time::sleep(wait), if wait > Duration::ZERO => {}
        }
        let condition = *felt.borrow();
        let beat = if condition.bad { Beat::Bad } else { Beat::Good };
        let news = said.is_none_or(|(last, _)| last != beat);
        let is_near = said.is_some_and(|(_, at)| at.elapsed() < LEAST_APART);
        let polled_since = condition.polled_at != polled && condition.polled_at >= started;
        // That all is well is said by a good poll alone.
        let wanted = match beat {
            Beat::Bad => news || polled_since,
            Beat::Good | Beat::Start => polled_since,
        };
        if wanted && ((news && !failing) || !is_near) {
            let heard = say(&heartbeat, beat, &mut failing, &stop).await;
            if heard {
                polled = condition.polled_at;
            }
            said = Some((if heard { beat } else { Beat::Start }, Instant::now()));
        }
    }
}

/// Beats once. Returns whether it was heard.
async fn say(heartbeat: &Heartbeat, beat: Beat, failing: &mut bool, stop: &CancellationToken) -> bool {
    let beaten = tokio::select! {
        biased;
        beaten = heartbeat.beat(beat) => beaten,
        () = stop.cancelled() => return false,
    };
    match beaten {
        Ok(_) => {
            *failing = false;
            true
        }
        Err(Undelivered { what, .. }) => {
            // Once, and not at every poll.
            if !std::mem::replace(failing, true) {
                tracing::warn!(event = "heartbeat_failed", "heartbeat: {what}");
            }
            false
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
