//! confirm: looks which of the filed letters the destination's software has taken (docs/destinations.md).
//!
//! Each destination that is asked for proof has a loop of its own, so that one which hangs holds up no other. A letter
//! may wait for ever: it holds up nothing, and no request is repeated for it. The cost of looks is bounded: a folder is
//! listed once for all letters in it, more seldom the longer its youngest letter has waited, and all looks together
//! take no more than a tenth of the time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::discriminant;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::failures::{Tell, moved, write_until_durable};
use super::stage::{self, LEDGER_PAUSE};
use super::transition_log::TransitionLog;
use super::{Context, Edges, Rules, Shared, Signals};
use crate::destinations::{self, Adapter, Others};
use crate::domain::proof::{Proof, Sight};
use crate::ledger::deliveries::{self, Unproved};
use crate::ledger::{Ledger, LedgerError, Millis, now};
use crate::system::watch::watcher;

/// The time between two looks at a letter: in its first minute, and at most.
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);
/// A letter is looked at again after this part of the time that it has waited.
const PART: u32 = 12;
/// An absence that all looks for so long showed counts, however much comes and goes beside the letter; and what is not
/// at rest after so long is looked at no oftener than the rest.
const RESTLESS: Duration = Duration::from_secs(60);
/// After an event of a folder, others of the same import follow within this time.
const SETTLE: Duration = Duration::from_millis(300);
/// The rest after a look takes this many times as long as the look.
const RESTS: u32 = 9;
/// How many folders are looked at together.
const AT_ONCE: usize = 64;
/// The longest sleep between two looks.
const IDLE: Duration = Duration::from_secs(3600);

/// The reason as data: the destination's software refused the letter.
const REFUSED: &str = "deliver own refused_there";

/// What one destination's loop remembers; a restart looks at everything anew.
#[derive(Default)]
struct Memory {
    /// When each folder was last looked at.
    looked_at: HashMap<String, Instant>,
    /// When something last happened in a watched folder: every folder is due that was not looked at since.
    event_at: Option<Instant>,
    /// Letters of which a look showed something that does not count yet.
    doubtful: HashMap<(i64, String), Doubt>,
    /// How long the last look took. To wait for a ledger that cannot be written is no look.
    look_took: Duration,
}

/// What a look showed of a letter, until it is known to be at rest.
struct Doubt {
    sight: Sight,
    /// When the first look ended that showed exactly this.
    since: Instant,
    /// The same, whatever changed in the evidence.
    first: Instant,
    /// When the last look ended.
    last: Instant,
}

impl Doubt {
    /// The doubt after a look that took from `began` to `ended`; `None` if what it showed counts. An absence that was
    /// not looked at for long (the ledger could not be written, the destination did not answer) is looked at anew:
    /// nobody knows whether the letter was there meanwhile.
    fn after(before: Option<Self>, sight: &Sight, began: Instant, ended: Instant) -> Option<Self> {
        let seen = sight.seen()?;
        let before = before.filter(|before| discriminant(&before.sight) == discriminant(sight));
        let longest = RESTLESS.max(ended.saturating_duration_since(began) * RESTS * 2);
        let is_in_time = |before: &Self| began.saturating_duration_since(before.last) < longest;
        let is_gone = matches!(sight, Sight::Gone(_));
        let before = before.filter(|before| !is_gone || is_in_time(before));
        let first = before.as_ref().map_or(ended, |before| before.first);
        let since = before.filter(|before| before.sight == *sight).map_or(ended, |before| before.since);
        let is_at_rest = began.saturating_duration_since(since) >= seen.rest;
        let is_gone_for_good = is_gone && began.saturating_duration_since(first) >= RESTLESS;
        (!is_at_rest && !is_gone_for_good).then(|| Self { sight: sight.clone(), since, first, last: ended })
    }

    /// When it can be decided; `None` if that takes so long already that nothing hurries.
    fn due_at(&self) -> Option<Instant> {
        let rest = self.sight.seen().map(|seen| seen.rest)?;
        (self.first.elapsed() < RESTLESS + rest).then(|| self.since + rest)
    }
}

/// Looks for proof until the daemon stops.
pub async fn run(context: Shared, destination: String, adapter: Arc<dyn Adapter>) {
    let Context { edges, signals, .. } = &*context;
    let Some(confirming) = signals.nudges.confirm.get(&destination) else { return };
    let events = Arc::new(Notify::new());
    // Setting a watch blocks while a folder does not answer, so it has a thread of its own.
    let (folders, woken) = (adapter.watched(), Arc::clone(&events));
    let watching = (!folders.is_empty()).then(|| tokio::task::spawn_blocking(move || watch(&folders, &woken)));
    let mut memory = Memory::default();
    while !signals.stop.is_cancelled() {
        memory.look_took = Duration::ZERO;
        let next = match turn(edges, signals, &destination, &adapter, &mut memory).await {
            Ok(next) => next,
            Err(error) => {
                stage::ledger_failed(signals, "confirm", &error);
                Some(Instant::now() + LEDGER_PAUSE)
            }
        };
        let is_idle = memory.doubtful.values().all(|doubt| doubt.due_at().is_none());
        confirming.is_idle.store(is_idle, Ordering::Relaxed);
        let rest = Instant::now() + memory.look_took * RESTS;
        let next = next.unwrap_or_else(|| Instant::now() + IDLE);
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => break,
            () = events.notified() => {
                tokio::time::sleep(SETTLE).await;
                memory.event_at = Some(Instant::now());
            }
            () = confirming.filed.notified() => {}
            () = tokio::time::sleep_until(next.max(rest)) => {}
        }
        signals.stop.run_until_cancelled(tokio::time::sleep_until(rest)).await;
    }
    drop(watching);
}

/// Watches folders of this machine. An event only wakes the loop.
fn watch(folders: &[PathBuf], wake: &Arc<Notify>) -> Option<RecommendedWatcher> {
    let mut watcher = watcher(|_| true, wake).ok()?;
    // If a folder cannot be watched, it is looked at from time to time, like the others.
    let watched = folders.iter().filter(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok()).count();
    (watched > 0).then_some(watcher)
}

/// How long after a look the next one comes, if the youngest of the letters was filed this long ago.
fn pause_after(age: Duration) -> Duration {
    (age / PART).clamp(SHORTEST, LONGEST)
}

/// Looks at the letters that are due. Returns when the next letters are due.
async fn turn(
    edges: &Edges,
    signals: &Signals,
    destination: &str,
    adapter: &Arc<dyn Adapter>,
    memory: &mut Memory,
) -> Result<Option<Instant>, LedgerError> {
    let name = destination.to_owned();
    let letters = edges.ledger.read(move |db| deliveries::unproved(db, &name)).await?;
    memory.doubtful.retain(|key, _| letters.iter().any(|letter| key_of(letter) == *key));
    let paths: HashSet<String> = letters.iter().map(|letter| letter.filed.path.clone()).collect();
    let others = OtherLetters { ledger: edges.ledger.clone(), destination: destination.to_owned(), paths };
    let mut folders: BTreeMap<String, Vec<Unproved>> = BTreeMap::new();
    for letter in letters {
        folders.entry(group_of(&letter)).or_default().push(letter);
    }
    memory.looked_at.retain(|folder, _| folders.contains_key(folder));
    let at = Instant::now();
    let due_at = |memory: &Memory, folder: &String, letters: &[Unproved]| {
        let youngest = letters.iter().map(|letter| now().saturating_sub(letter.filed_at)).min().unwrap_or(0);
        let pause = pause_after(Duration::from_millis(u64::try_from(youngest).unwrap_or(0)));
        let looked_at = memory.looked_at.get(folder).copied();
        let regular = looked_at.map_or(at, |looked_at| looked_at + pause);
        let doubts = letters.iter().filter_map(|letter| memory.doubtful.get(&key_of(letter))?.due_at()).min();
        let event = memory.event_at.filter(|event_at| looked_at.is_none_or(|looked_at| looked_at < *event_at));
        [Some(regular), doubts, event].into_iter().flatten().min().unwrap_or(regular)
    };
    let due = folders.iter().filter(|(folder, letters)| due_at(memory, folder, letters) <= at);
    let (due, is_more) = next_in_turn(due.map(|(folder, _)| folder.clone()).collect(), &memory.looked_at);
    let mut looked_at = Vec::new();
    for folder in &due {
        memory.looked_at.insert(folder.clone(), at);
        looked_at.extend(folders.get(folder).into_iter().flatten().cloned());
    }
    if !looked_at.is_empty() {
        look(edges, signals, destination, adapter, &others, memory, looked_at).await?;
    }
    if is_more {
        return Ok(Some(Instant::now()));
    }
    Ok(folders.iter().map(|(folder, letters)| due_at(memory, folder, letters)).min())
}

/// The folders that are looked at now, and whether others are due as well. Those come first that were not looked at for
/// longest, so that each gets its turn.
fn next_in_turn(mut due: Vec<String>, looked_at: &HashMap<String, Instant>) -> (Vec<String>, bool) {
    due.sort_by_key(|folder| looked_at.get(folder));
    let is_more = due.len() > AT_ONCE;
    due.truncate(AT_ONCE);
    (due, is_more)
}

fn key_of(letter: &Unproved) -> (i64, String) {
    (letter.document, letter.version.pdf.clone())
}

/// The group of letters that are looked at together: those of one folder. A letter without a path is a group of its
/// own.
fn group_of(letter: &Unproved) -> String {
    match letter.filed.path.as_str() {
        "" => format!("{} {}", letter.document, letter.version.pdf),
        _ => letter.filed.folder().to_owned(),
    }
}

/// Looks at these letters, and records what is proved.
async fn look(
    edges: &Edges,
    signals: &Signals,
    destination: &str,
    adapter: &Arc<dyn Adapter>,
    others: &OtherLetters,
    memory: &mut Memory,
    mut letters: Vec<Unproved>,
) -> Result<(), LedgerError> {
    letters = edges.ledger.read(move |db| deliveries::with_metadata(db, &mut letters).map(|()| letters)).await?;
    let asked: Vec<destinations::Unproved> = letters.iter().map(|letter| asked(letter, destination)).collect();
    let outage = format!("confirm {destination}");
    let began = Instant::now();
    let sights = adapter.look(&asked, others).await;
    let ended = Instant::now();
    memory.look_took = ended - began;
    let sights = match sights {
        Ok(sights) => sights,
        Err(outcome) => {
            let reason = outcome.reason();
            if signals.outages.failed(&outage, reason, now()) != Tell::Nothing {
                tracing::warn!(
                    event = "confirm_failed",
                    destination,
                    reason,
                    "docsyncd cannot see which letters were taken: {reason}"
                );
            }
            return Ok(());
        }
    };
    signals.outages.ended(&outage, now());
    for (letter, sight) in letters.into_iter().zip(sights) {
        let key = key_of(&letter);
        if let Some(doubt) = Doubt::after(memory.doubtful.remove(&key), &sight, began, ended) {
            memory.doubtful.insert(key, doubt);
            continue;
        }
        let shown = match sight {
            Sight::Waits => continue,
            Sight::Gone(_) => Ok((Proof::Taken, None)),
            Sight::Refused { reason, .. } => Err(reason),
            Sight::Proved { proof, place, .. } => Ok((proof, place)),
        };
        record(edges, signals, destination, letter, shown).await?;
    }
    Ok(())
}

fn asked(letter: &Unproved, destination: &str) -> destinations::Unproved {
    let metadata = letter.metadata.as_deref().and_then(|json| serde_json::from_str(json).ok());
    destinations::Unproved {
        uuid: letter.version.uuid.clone(),
        key: letter.version.delivery_key(destination),
        has_editions: letter.has_editions,
        is_first: letter.is_first,
        filed: letter.filed.clone(),
        place: letter.place.clone().unwrap_or_default(),
        size: letter.size,
        sha256: letter.sha256.clone(),
        metadata: Arc::new(metadata.unwrap_or_default()),
    }
}

/// Records what a look showed: the proof, with the place where the letter lies now, or why it was refused.
async fn record(
    edges: &Edges,
    signals: &Signals,
    destination: &str,
    letter: Unproved,
    shown: Result<(Proof, Option<String>), String>,
) -> Result<(), LedgerError> {
    let ended = write_until_durable(edges, signals, || {
        let (letter, destination, shown) = (letter.clone(), destination.to_owned(), shown.clone());
        move |db| match &shown {
            Ok((proof, place)) => letter.proved(db, &destination, *proof, place.as_deref(), now()),
            Err(reason) => letter.refused(db, &destination, reason, REFUSED, now()),
        }
    })
    .await?;
    let line = TransitionLog::to(&letter.version, destination);
    match &shown {
        Ok(_) => line.info("confirmed"),
        Err(reason) => line.error("refused", reason),
    }
    if let Some((delivery, state)) = ended {
        moved(edges, signals, &delivery.document, state, shown.err().as_deref()).await;
    }
    Ok(())
}

/// What the ledger knows of the destination's other letters.
struct OtherLetters {
    ledger: Ledger,
    destination: String,
    paths: HashSet<String>,
}

#[async_trait]
impl Others for OtherLetters {
    async fn have(&self, path: &str, place: &str) -> bool {
        if self.paths.contains(path) {
            return true;
        }
        let (destination, place) = (self.destination.clone(), place.to_owned());
        // If the ledger does not answer, nothing is proved.
        self.ledger.read(move |db| deliveries::lies_at(db, &destination, &place)).await.unwrap_or(true)
    }

    async fn sent(&self, sha256: &str) -> bool {
        let (destination, sha256) = (self.destination.clone(), sha256.to_owned());
        self.ledger.read(move |db| deliveries::was_sent(db, &destination, &sha256)).await.unwrap_or(true)
    }
}

/// When a person is told that the software did not take a letter which is filed now.
pub(super) fn told_at(rules: &Rules, destination: &str) -> Millis {
    let within = rules.confirm_within.get(destination).copied().unwrap_or(IDLE);
    super::after(now(), within)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::proof::{AGAIN, Seen};

    fn sight(kind: u8, what: u8) -> Sight {
        let mut seen = Seen::of(what.to_string());
        if what == 0 {
            seen.rest *= 5;
        }
        let (proof, reason) = (Proof::Sidecar, String::new());
        match kind {
            0 => Sight::Waits,
            1 => Sight::Gone(seen),
            2 => Sight::Proved { proof, place: None, seen: Some(seen) },
            _ => Sight::Refused { reason, seen },
        }
    }

    proptest! {
        #[test]
        fn nothing_counts_that_was_not_the_same_at_all_looks_of_its_rest(
            looks in prop::collection::vec((0..4_u8, 0..3_u8, 0..4000_u64, 0..3000_u64), 1..60)
        ) {
            let (mut at, mut doubt, mut before) = (Instant::now(), None, Vec::<(Sight, Instant)>::new());
            for (kind, what, pause, took) in looks {
                let (began, sight) = (at + Duration::from_millis(pause), sight(kind, what));
                at = began + Duration::from_millis(took);
                doubt = Doubt::after(doubt, &sight, began, at);
                if let (None, Some(seen)) = (&doubt, sight.seen()) {
                    let since = before.iter().rev().take_while(|(then, _)| *then == sight).last();
                    prop_assert!(since.is_some_and(|(_, ended)| began - *ended >= seen.rest), "{sight:?}");
                    before.clear();
                    continue;
                }
                before.push((sight, at));
            }
        }
    }

    #[test]
    fn what_rests_counts_at_its_second_look_and_what_is_gone_in_a_restless_folder_after_a_minute() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut doubt = Doubt::after(None, &sight(1, 1), at(0), at(0));
        assert_eq!(doubt.as_ref().unwrap().since + AGAIN, at(2));
        assert!(Doubt::after(doubt.take(), &sight(1, 1), at(2), at(2)).is_none());
        // A letter that is away for a second, and there for a moment, changes its folder each time.
        for second in 0..=60 {
            doubt = Doubt::after(doubt.take(), &sight(1, second), at(second.into()), at(second.into()));
            assert_eq!(doubt.is_none(), second == 60, "{second}");
        }
        // A file that grows counts at no time, and one that has come back is in doubt no longer.
        for second in 0..=200 {
            doubt = Doubt::after(doubt.take(), &sight(2, second), at(second.into()), at(second.into()));
            assert!(doubt.is_some(), "{second}");
        }
        assert!(Doubt::after(doubt, &sight(0, 0), at(201), at(201)).is_none());
    }

    /// The ledger could not be written for a minute, or the destination did not answer (seed 10192).
    #[test]
    fn two_looks_with_long_between_them_show_nothing_unless_looks_take_so_long() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        for what in [1, 2] {
            let doubt = Doubt::after(None, &sight(1, 1), at(0), at(0));
            let doubt = Doubt::after(doubt, &sight(1, what), at(74), at(74));
            assert!(doubt.is_some_and(|doubt| doubt.first == at(74) && doubt.since == at(74)), "{what}");
        }
        let doubt = Doubt::after(None, &sight(1, 1), at(0), at(10));
        assert!(Doubt::after(doubt, &sight(1, 1), at(100), at(110)).is_none());
    }

    #[test]
    fn of_more_folders_than_are_looked_at_together_each_gets_its_turn() {
        let names: Vec<String> = (0..AT_ONCE * 3 + 1).map(|number| format!("{number:04}")).collect();
        let (mut looked_at, mut at) = (HashMap::new(), Instant::now());
        // Events come all the time, so that all are always due.
        for _ in 0..4 {
            let (due, is_more) = next_in_turn(names.clone(), &looked_at);
            assert!(is_more && due.len() == AT_ONCE);
            at += Duration::from_secs(1);
            looked_at.extend(due.into_iter().map(|folder| (folder, at)));
        }
        assert_eq!(looked_at.len(), names.len());
        assert!(!next_in_turn(names[..AT_ONCE].to_vec(), &looked_at).1);
    }

    #[test]
    fn a_letter_is_looked_for_every_5_s_for_a_minute_and_then_ever_more_seldom_up_to_once_a_minute() {
        let pauses = [0, 5, 59, 60, 120, 600, 720, 86_400].map(|age| pause_after(Duration::from_secs(age)).as_secs());
        assert_eq!(pauses, [5, 5, 5, 5, 10, 50, 60, 60]);
    }
}
