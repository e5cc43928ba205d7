//! The list that counts, for everybody who needs it, and whoever keeps it: a new export is read when it has rested, and
//! the last good one goes on counting while something is wrong with it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::file::{Look, Problem, REST, Why, read};
use super::list::List;
use crate::config::PatientsConfig;

/// How often the file is looked at: seldom, as each look wakes a thread, all the years through.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// A file that was there is away for a moment while it is replaced.
const REPLACED_WITHIN: Duration = Duration::from_secs(10);
/// A list that lost most of its patients is believed when it has stood for so long.
const BELIEVED_AFTER: Duration = Duration::from_secs(60 * 60);

/// The list of the practice, as it is now. Cloning is cheap, and all clones are one.
#[derive(Clone)]
pub struct Patients(Arc<Shared>);

struct Shared {
    snapshot: watch::Sender<Snapshot>,
    /// The digest of a file that a person looked at.
    believed: Mutex<Option<String>>,
    /// Rows of the last list that counted before this start.
    rows_before: AtomicUsize,
    woken: Notify,
}

/// What is known at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The list that counts; none before one was read.
    pub list: Option<Arc<List>>,
    /// What is wrong with the file, whether or not an earlier list counts.
    pub problem: Option<Problem>,
    /// It grows with each list that counts, and with nothing else.
    pub generation: u64,
}

/// It holds patients.
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
    /// The list as it is now.
    pub fn current(&self) -> Snapshot {
        self.0.snapshot.borrow().clone()
    }

    /// Tells of each change, of the list or of what is wrong with its file.
    pub fn changes(&self) -> watch::Receiver<Snapshot> {
        self.0.snapshot.subscribe()
    }

    /// A person looked at the file with this digest ([`List::sha256`]), as `docsyncd check` does: it counts, however
    /// few are in it.
    pub fn believe(&self, sha256: &str) {
        *self.0.believed.lock().unwrap_or_else(PoisonError::into_inner) = Some(sha256.to_owned());
        self.0.woken.notify_one();
    }

    /// The list that counted before this start had so many rows: one of less than half of them is not believed at once.
    pub fn expect(&self, rows: usize) {
        self.0.rows_before.store(rows, Ordering::Relaxed);
    }

    /// From now on this list counts.
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

    /// Keeps the list until the daemon stops. All that may hang is done by threads of its own.
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

/// Looks at the file again and again.
struct Keeper {
    patients: Patients,
    config: PatientsConfig,
    /// How the file looked, and since when.
    seen: Option<(Look, Instant)>,
    /// How the file looked that was read last, and what was found wrong with it.
    judged: Option<(Look, Option<Why>)>,
    /// A list that a person has to look at, and since when it stands.
    held: Option<(List, Instant)>,
    /// Since when the file cannot be read.
    failing: Option<Instant>,
}

impl Keeper {
    fn new(patients: Patients, config: PatientsConfig) -> Self {
        Self { patients, config, seen: None, judged: None, held: None, failing: None }
    }

    /// Looks once; returns how long nobody needs to look.
    fn step(&mut self, now: Instant, give_up: &dyn Fn() -> bool) -> Duration {
        let look = match Look::at(&self.config.file) {
            Ok(look) => look,
            Err(why) => return self.fails(why, now),
        };
        if let Some((_, wrong)) = self.judged.as_ref().filter(|(judged, _)| *judged == look) {
            // Nothing new; a share may have come back.
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

    /// It cannot be read. While it is being replaced that lasts for a moment only, and the list that counts goes on.
    fn fails(&mut self, why: Why, now: Instant) -> Duration {
        self.seen = None;
        let since = *self.failing.get_or_insert(now);
        let has_list = self.patients.0.snapshot.borrow().list.is_some();
        if !has_list || now.saturating_duration_since(since) >= REPLACED_WITHIN {
            self.tell(Some(why));
        }
        LOOK_INTERVAL
    }

    /// A list that can be read. Content that is held already, or counts already, is nothing new, whoever wrote it
    /// again.
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

    /// The list counts unless it lost most of its patients, and neither a person nor an hour confirmed that.
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
