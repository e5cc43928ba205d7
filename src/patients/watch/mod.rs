//! The current list, for all that need it, and the task that keeps it. A new export is read when it has rested. If
//! something is wrong with it, or it may not be whole, the last good list stays current.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::doubt::{Before, Earlier, LONG_REST, Needs};
use super::file::{ListProblem, Look, REST, Why, read};
use super::list::List;
use crate::config::PatientsConfig;

/// How often the file is checked: seldom, since each check wakes a thread.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// How long a file may be missing while it is replaced.
const REPLACED_WITHIN: Duration = Duration::from_secs(10);
/// How long a file may keep changing, or be locked, before that is a problem: the longest export.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10 * 60);
/// How long to wait after a panic.
const AFTER_PANIC: Duration = Duration::from_secs(10);
/// A list that lost most of its patients is accepted after it has stayed for this long.
const BELIEVED_AFTER: Duration = Duration::from_secs(60 * 60);

/// The current list of the practice. Clones are cheap and share it.
#[derive(Clone)]
pub struct Patients(Arc<Shared>);

struct Shared {
    snapshot: watch::Sender<Snapshot>,
    /// The digest of a file that a person confirmed.
    believed: Mutex<Option<String>>,
    /// The list that counted last before this start.
    before: Mutex<Before>,
    woken: Notify,
}

/// Reads the patients' numbers that letters were filed with, and how many letters; `None` if they cannot be read.
/// Blocks.
pub type Used = Arc<dyn Fn() -> Option<HashMap<String, u64>> + Send + Sync>;

/// The state at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The current list; `None` before the first one was read.
    pub list: Option<Arc<List>>,
    /// What is wrong with the file, whether or not an earlier list is current.
    pub problem: Option<ListProblem>,
    /// Grows with each new current list, and only then.
    pub generation: u64,
}

/// Does not print the patients.
impl fmt::Debug for Patients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Patients({:?})", self.0.snapshot.borrow())
    }
}

impl Default for Patients {
    fn default() -> Self {
        let snapshot = watch::Sender::new(Snapshot::default());
        Self(Arc::new(Shared { snapshot, believed: Mutex::default(), before: Mutex::default(), woken: Notify::new() }))
    }
}

impl Patients {
    /// The present state.
    pub fn current(&self) -> Snapshot {
        self.0.snapshot.borrow().clone()
    }

    /// Signals each change of the list, or of the problem with its file.
    pub fn changes(&self) -> watch::Receiver<Snapshot> {
        self.0.snapshot.subscribe()
    }

    /// Accepts the file with this digest ([`List::sha256`]), however few patients are in it: a person confirmed it, for
    /// example with `docsyncd check`.
    pub fn believe(&self, sha256: &str) {
        *self.0.believed.lock().unwrap_or_else(PoisonError::into_inner) = Some(sha256.to_owned());
        self.0.woken.notify_one();
    }

    /// Looks at the file now.
    pub fn look_now(&self) {
        self.0.woken.notify_one();
    }

    /// Sets what is known of the list that counted last before this start. The same one counts again at once.
    pub fn expect(&self, before: Before) {
        *self.0.before.lock().unwrap_or_else(PoisonError::into_inner) = before;
    }

    /// The list that counts, or counted last before this start.
    fn before(&self) -> Before {
        let current = self.0.snapshot.borrow().list.as_deref().map(List::as_before);
        current.unwrap_or_else(|| self.0.before.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Makes this list the current one.
    pub fn set(&self, list: List) {
        self.0.snapshot.send_modify(|snapshot| {
            snapshot.list = Some(Arc::new(list));
            snapshot.problem = None;
            snapshot.generation += 1;
        });
    }

    fn has_problem(&self, problem: Option<ListProblem>) {
        self.0.snapshot.send_if_modified(|snapshot| {
            let is_other = snapshot.problem != problem;
            snapshot.problem = problem;
            is_other
        });
    }

    fn is_believed(&self, sha256: &str) -> bool {
        self.0.believed.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(sha256)
    }

    /// Keeps the list until the daemon stops. Work that may hang runs on separate threads.
    pub async fn follow(self, config: PatientsConfig, used: Used, stop: CancellationToken) {
        let begin = || Keeper::new(self.clone(), config.clone(), used.clone());
        let mut keeper = begin();
        loop {
            let stopping = stop.clone();
            let step = tokio::task::spawn_blocking(move || {
                let wait = keeper.step(Instant::now(), &|| stopping.is_cancelled());
                (keeper, wait)
            });
            let ended = tokio::select! {
                () = stop.cancelled() => return,
                ended = step => ended,
            };
            let wait;
            (keeper, wait) = ended.unwrap_or_else(|_| {
                let keeper = begin();
                keeper.tell(Some(Why::Defect));
                (keeper, AFTER_PANIC)
            });
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
                () = self.0.woken.notified() => {}
            }
        }
    }
}

/// Checks the file again and again.
struct Keeper {
    patients: Patients,
    config: PatientsConfig,
    used: Used,
    /// The last attributes of the file.
    seen: Option<SeenFile>,
    /// Whether the file was looked at before, so that a change is known to be one.
    has_looked: bool,
    /// The attributes of the file that was last judged, and what was wrong with it.
    judged: Option<(Look, Option<Why>)>,
    /// A list that needs time or a person before it counts.
    held: Option<Held>,
    /// Since when the file cannot be read.
    failing: Option<Instant>,
    /// Since when the file has been changing without being judged.
    changing: Option<Instant>,
}

#[derive(Clone)]
struct SeenFile {
    look: Look,
    since: Instant,
    /// Whether it had surely rested before docsyncd looked for the first time. What changes under its eyes has not,
    /// whatever time it bears: a copy may have its original's.
    is_old: bool,
}

struct Held {
    list: List,
    needs: Needs,
    since: Instant,
    is_old: bool,
}

impl Keeper {
    fn new(patients: Patients, config: PatientsConfig, used: Used) -> Self {
        Self {
            patients,
            config,
            used,
            seen: None,
            has_looked: false,
            judged: None,
            held: None,
            failing: None,
            changing: None,
        }
    }

    /// Checks once. Returns how long to wait until the next check.
    fn step(&mut self, now: Instant, give_up: &dyn Fn() -> bool) -> Duration {
        let look = match Look::at(&self.config.file) {
            Ok(look) => look,
            Err(why) => return self.fails(why, now),
        };
        if let Some((_, wrong)) = self.judged.as_ref().filter(|(judged, _)| *judged == look) {
            // The file has not changed, but its share may have come back.
            let wrong = wrong.clone();
            (self.failing, self.changing) = (None, None);
            match self.held.take() {
                Some(held) => self.hold(held, now),
                None => self.tell(wrong),
            }
            return LOOK_INTERVAL;
        }
        let is_first = !std::mem::replace(&mut self.has_looked, true);
        let seen = match &self.seen {
            Some(seen) if seen.look == look => seen.clone(),
            _ => SeenFile { is_old: is_first && look.has_surely_rested(), look, since: now },
        };
        self.seen = Some(seen.clone());
        if now.saturating_duration_since(seen.since) < REST {
            return self.changes(now);
        }
        match read(&self.config, &seen.look, give_up) {
            Ok(None) => {
                self.seen = None;
                return self.changes(now);
            }
            Ok(Some(list)) => {
                (self.failing, self.changing) = (None, None);
                self.judged = Some((seen.look.clone(), None));
                self.take(list, &seen, now);
            }
            Err(why @ Why::Refused(_)) => {
                (self.failing, self.changing) = (None, None);
                self.held = None;
                self.judged = Some((seen.look, Some(why.clone())));
                self.tell(Some(why));
            }
            Err(why) => return self.fails(why, now),
        }
        LOOK_INTERVAL
    }

    /// Handles a file that is not at rest.
    fn changes(&mut self, now: Instant) -> Duration {
        let since = *self.changing.get_or_insert(now);
        if now.saturating_duration_since(since) >= WRITTEN_WITHIN {
            self.tell(Some(Why::BeingWritten));
        }
        REST
    }

    /// Handles a file that cannot be read. It may only be missing while it is replaced, or locked while it is written,
    /// so the current list stays.
    fn fails(&mut self, why: Why, now: Instant) -> Duration {
        (self.seen, self.has_looked) = (None, true);
        let since = *self.failing.get_or_insert(now);
        let has_list = self.patients.0.snapshot.borrow().list.is_some();
        let limit = if why == Why::BeingWritten { WRITTEN_WITHIN } else { REPLACED_WITHIN };
        if !has_list || now.saturating_duration_since(since) >= limit {
            self.tell(Some(why));
        }
        LOOK_INTERVAL
    }

    /// Handles a list that was read. The same content as the current or the held list is nothing new, even if it was
    /// written again.
    fn take(&mut self, list: List, seen: &SeenFile, now: Instant) {
        let held = self.held.take();
        let current = self.patients.current().list;
        if current.as_ref().is_some_and(|current| current.sha256() == list.sha256()) {
            self.tell(None);
            return;
        }
        let held = held.filter(|held| held.list.sha256() == list.sha256()).unwrap_or_else(|| {
            let known = Earlier { before: self.patients.before(), used: (self.used)() };
            Held { needs: known.needs(&list, current.as_deref()), list, since: seen.since, is_old: seen.is_old }
        });
        self.hold(held, now);
    }

    /// Makes the list current, unless it needs more time, or neither a person nor an hour has confirmed it.
    fn hold(&mut self, held: Held, now: Instant) {
        let stood = now.saturating_duration_since(held.since);
        let has_rested = |long: Duration| held.is_old || stood >= long;
        let (counts, why) = match &held.needs {
            Needs::Rest(long) => (has_rested(*long), None),
            Needs::Word(why) => {
                let is_believed = self.patients.is_believed(held.list.sha256()) && has_rested(LONG_REST);
                (is_believed || stood >= BELIEVED_AFTER, Some(why.clone()))
            }
        };
        if !counts {
            self.held = Some(held);
            if why.is_some() {
                self.tell(why);
            }
            return;
        }
        let list = held.list;
        tracing::info!(
            event = "patients_read",
            "{} patients in {} ({})",
            list.patients(),
            self.config.file.display(),
            list.facts()
        );
        self.patients.set(list);
    }

    fn tell(&self, why: Option<Why>) {
        let problem = why.map(|why| ListProblem { file: self.config.file.clone(), why });
        if let Some(problem) = problem.as_ref().filter(|_| self.patients.0.snapshot.borrow().problem != problem) {
            tracing::warn!(event = "patients_file", "{problem}");
        }
        self.patients.has_problem(problem);
    }
}

#[cfg(test)]
mod tests;
