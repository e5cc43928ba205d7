//! The current list, for all that need it, and the task that keeps it. A new export is read when it has rested. If
//! something is wrong with it, the last good list stays current.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::file::{Look, Problem, REST, Why, read};
use super::list::List;
use crate::config::PatientsConfig;

/// How often the file is checked: seldom, since each check wakes a thread.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// How long a file may be missing while it is replaced.
const REPLACED_WITHIN: Duration = Duration::from_secs(10);
/// A list that lost most of its patients is accepted after it has stayed for this long.
const BELIEVED_AFTER: Duration = Duration::from_secs(60 * 60);

/// The current list of the practice. Clones are cheap and share it.
#[derive(Clone)]
pub struct Patients(Arc<Shared>);

struct Shared {
    snapshot: watch::Sender<Snapshot>,
    /// The digest of a file that a person confirmed.
    believed: Mutex<Option<String>>,
    /// Rows of the last list before this start.
    rows_before: AtomicUsize,
    woken: Notify,
}

/// The state at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The current list; `None` before the first one was read.
    pub list: Option<Arc<List>>,
    /// What is wrong with the file, whether or not an earlier list is current.
    pub problem: Option<Problem>,
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
        Self(Arc::new(Shared {
            snapshot,
            believed: Mutex::default(),
            rows_before: AtomicUsize::new(0),
            woken: Notify::new(),
        }))
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

    /// Sets the number of rows of the last list before this start. A list of less than half as many is not accepted at
    /// once.
    pub fn expect(&self, rows: usize) {
        self.0.rows_before.store(rows, Ordering::Relaxed);
    }

    /// Makes this list the current one.
    pub fn set(&self, list: List) {
        self.0.snapshot.send_modify(|snapshot| {
            snapshot.list = Some(Arc::new(list));
            snapshot.problem = None;
            snapshot.generation += 1;
        });
    }

    fn has_problem(&self, problem: Option<Problem>) {
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
    pub async fn follow(self, config: PatientsConfig, stop: CancellationToken) {
        let mut keeper = Keeper::new(self.clone(), config);
        loop {
            let stopping = stop.clone();
            let step = tokio::task::spawn_blocking(move || {
                let wait = keeper.step(Instant::now(), &|| stopping.is_cancelled());
                (keeper, wait)
            });
            let wait = tokio::select! {
                () = stop.cancelled() => return,
                ended = step => match ended {
                    Ok((back, wait)) => {
                        keeper = back;
                        wait
                    }
                    Err(_) => {
                        let what = "the list of patients is not read any more: restart docsyncd";
                        tracing::error!(event = "patients_follower_ended", "{what}");
                        return;
                    }
                },
            };
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
    /// The last attributes of the file, and since when it has them.
    seen: Option<(Look, Instant)>,
    /// The attributes of the file that was last judged, and what was wrong with it.
    judged: Option<(Look, Option<Why>)>,
    /// A list that a person must confirm, and since when it has been in the file.
    held: Option<(List, Instant)>,
    /// Since when the file cannot be read.
    failing: Option<Instant>,
}

impl Keeper {
    fn new(patients: Patients, config: PatientsConfig) -> Self {
        Self { patients, config, seen: None, judged: None, held: None, failing: None }
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
            self.failing = None;
            match self.held.take() {
                Some((list, since)) => self.hold(list, since, now),
                None => self.tell(wrong),
            }
            return LOOK_INTERVAL;
        }
        let since = match &self.seen {
            Some((seen, since)) if *seen == look => *since,
            _ => {
                self.seen = Some((look.clone(), now));
                now
            }
        };
        if now.saturating_duration_since(since) < REST {
            return REST;
        }
        match read(&self.config, &look, give_up) {
            Ok(None) => {
                self.seen = None;
                return REST;
            }
            Ok(Some(list)) => {
                self.failing = None;
                self.judged = Some((look, None));
                self.take(list, now);
            }
            Err(why @ Why::Refused(_)) => {
                self.failing = None;
                self.held = None;
                self.judged = Some((look, Some(why.clone())));
                self.tell(Some(why));
            }
            Err(why) => return self.fails(why, now),
        }
        LOOK_INTERVAL
    }

    /// Handles a file that cannot be read. It may only be missing while it is replaced, so the current list stays.
    fn fails(&mut self, why: Why, now: Instant) -> Duration {
        self.seen = None;
        let since = *self.failing.get_or_insert(now);
        let has_list = self.patients.0.snapshot.borrow().list.is_some();
        if !has_list || now.saturating_duration_since(since) >= REPLACED_WITHIN {
            self.tell(Some(why));
        }
        LOOK_INTERVAL
    }

    /// Handles a list that was read. The same content as the current or the held list is nothing new, even if it was
    /// written again.
    fn take(&mut self, list: List, now: Instant) {
        let held = self.held.take();
        let current = self.patients.current().list;
        if current.is_some_and(|current| current.sha256() == list.sha256()) {
            self.tell(None);
            return;
        }
        let since = held.filter(|(held, _)| held.sha256() == list.sha256()).map_or(now, |(_, since)| since);
        self.hold(list, since, now);
    }

    /// Makes the list current, unless it is empty or lost most of its patients, and neither a person nor an hour has
    /// confirmed that.
    fn hold(&mut self, list: List, since: Instant, now: Instant) {
        let rows_before = self.patients.0.rows_before.load(Ordering::Relaxed);
        let before = self.patients.current().list.map_or(rows_before, |list| list.len());
        let doubt = match list.len() {
            0 => Some(Why::NoPatients),
            now if now < before.div_ceil(2) => Some(Why::Shrunk { before, now }),
            _ => None,
        };
        let has_stood = now.saturating_duration_since(since) >= BELIEVED_AFTER;
        match doubt {
            Some(why) if !has_stood && !self.patients.is_believed(list.sha256()) => {
                self.held = Some((list, since));
                self.tell(Some(why));
            }
            _ => {
                tracing::info!(
                    event = "patients_read",
                    "{} patients in {} ({})",
                    list.patients(),
                    self.config.file.display(),
                    list.facts()
                );
                self.patients.set(list);
            }
        }
    }

    fn tell(&self, why: Option<Why>) {
        let problem = why.map(|why| Problem { file: self.config.file.clone(), why });
        if let Some(problem) = problem.as_ref().filter(|_| self.patients.0.snapshot.borrow().problem != problem) {
            tracing::warn!(event = "patients_file", "{problem}");
        }
        self.patients.has_problem(problem);
    }
}

#[cfg(test)]
mod tests;
