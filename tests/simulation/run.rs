//! One simulation from its beginning to its end: lives of the daemon, each in a runtime of its own that is dropped
//! where the process dies, and the events of the plan.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::clock;
use super::destination::Destination;
use super::disk::SimulatedDisk;
use super::named::Named;
use super::plan::{GIVE_UP, How, Kind, MAX_PDF, PDF_GRACE, POLL, Plan, RECONCILE, RETRY_MAX, TROUBLED, What};
use super::server::Server;
use super::web::Web;
use super::world::{Shared, World};
use crate::api::Api;
use crate::config::{PatientsConfig, PatientsEncoding};
use crate::daemon::{Daemon, DaemonError, Parts};
use crate::destinations::Adapter;
use crate::domain::failure::Patience;
use crate::domain::retry::RetryPolicy;
use crate::domain::route::Route;
use crate::ledger::inline::Surroundings;
use crate::ledger::restored::{self, Restored};
use crate::ledger::{Ledger, LedgerError, Millis, deliveries, now, open, retry};
use crate::patients::Patients;
use crate::pipeline::{Limits, Numbers, Rules, Spool};
use crate::views::chain;

/// For ever, whatever the clock does.
const KEEP_HISTORY: Duration = Duration::from_secs(1000 * 365 * 24 * 3600);
/// How long everything may take to settle after the last trouble; milliseconds.
const SETTLES: u64 = 75 * 60_000;
/// How often it is looked whether something waits.
const LOOK: u64 = 10_000;

/// What came of a simulation.
pub(super) struct Outcome {
    pub(super) violation: Option<String>,
    pub(super) history: Vec<String>,
    pub(super) steps: u64,
    /// Simulated milliseconds.
    pub(super) passed: u64,
    /// Documents whose history was removed, each time it was.
    pub(super) pruned: u64,
    /// What the API was told last of each document: whether it succeeded.
    pub(super) told: Vec<Option<bool>>,
}

/// How a life of the daemon ended.
enum Ended {
    /// Killed, until then; with the power gone too.
    Crash { until: u64, power: bool },
    /// The disk is lost, until the last backup was restored.
    Lost { until: u64 },
    /// Stopped, to be started again.
    Stopped,
    /// The simulation is over.
    Over,
}

/// Runs a plan.
pub(super) fn run(plan: Plan, keep_history: bool) -> Outcome {
    clock::install(plan.seed);
    let world: Shared = Arc::new(Mutex::new(World::new(plan, keep_history)));
    let log = super::log::Log { world: world.clone() };
    let passed = tracing::subscriber::with_default(log.subscriber(keep_history), || lives(&world));
    clock::remove();
    let mut world = world.lock().unwrap();
    Outcome {
        violation: world.violation.take(),
        history: world.history.take().unwrap_or_default(),
        steps: world.steps,
        passed,
        pruned: world.book.pruned(),
        told: world.truths.iter().map(|truth| truth.told.as_ref().map(|told| told.success)).collect(),
    }
}

/// Returns the simulated time at the end.
fn lives(world: &Shared) -> u64 {
    let (ledger, connection) = Ledger::in_memory(Arc::new(Around(world.clone())));
    let mut practice = Practice {
        world: world.clone(),
        ledger,
        connection,
        next: 0,
        settled: None,
        has_whole_list: false,
        backup: None,
    };
    loop {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let ended = runtime.block_on(async {
            clock::begin_life();
            let ended = practice.live().await;
            clock::end_life(0);
            ended
        });
        // Whatever was under way ends here, at whatever it waited for.
        drop(runtime);
        match ended {
            Ended::Over => return clock::passed(),
            Ended::Stopped => clock::end_life(3_000),
            Ended::Crash { until, power } => {
                clock::end_life(until.saturating_sub(clock::passed()));
                practice.die(power);
            }
            Ended::Lost { until } => {
                clock::end_life(until.saturating_sub(clock::passed()));
                practice.die(false);
                practice.restore();
            }
        }
    }
}

/// Everything that outlives the daemon.
struct Practice {
    world: Shared,
    ledger: Ledger,
    connection: Arc<Mutex<Connection>>,
    /// The next event of the plan.
    next: usize,
    /// When everything had settled; milliseconds.
    settled: Option<u64>,
    /// Whether everybody is in the practice's list, once nothing goes wrong any more.
    has_whole_list: bool,
    backup: Option<Backup>,
}

/// A copy of the ledger.
struct Backup {
    folder: tempfile::TempDir,
    at: Millis,
    /// The ledger in memory, which the next simulation uses again.
    memory: Option<Connection>,
}

impl Drop for Practice {
    fn drop(&mut self) {
        if let Some(memory) = self.backup.as_mut().and_then(|backup| backup.memory.take()) {
            *self.connection.lock().unwrap() = memory;
        }
    }
}

impl Practice {
    async fn live(&mut self) -> Ended {
        let (plan, violated, killed) = {
            let mut world = self.world.lock().unwrap();
            world.tell(|| "the daemon starts".to_owned());
            (world.plan.clone(), world.violated.clone(), world.killed.clone())
        };
        let patients = Patients::default();
        self.new_list(&patients);
        let started =
            Daemon::assemble(parts(&self.world, &plan, &patients), self.ledger.clone(), None, clock::percent(50)).await;
        let mut daemon = match started {
            Ok(daemon) => daemon,
            // The system starts it again.
            Err(DaemonError::Ledger(error)) if error.is_transient() => return Ended::Stopped,
            Err(error) => {
                self.world.lock().unwrap().violate(|| format!("it does not start: {error}"));
                return Ended::Over;
            }
        };
        daemon.start_polls();
        loop {
            let next = plan.events.get(self.next).map_or(u64::MAX, |event| event.from);
            let wait = (clock::passed() / LOOK * LOOK + LOOK).min(next).saturating_sub(clock::passed());
            tokio::select! {
                biased;
                () = violated.notified() => return Ended::Over,
                () = killed.notified() => {
                    let until = self.world.lock().unwrap().down_until;
                    return Ended::Crash { until, power: false };
                }
                error = daemon.failed() => {
                    self.world.lock().unwrap().violate(|| format!("it gave up: {error}"));
                    return Ended::Over;
                }
                () = tokio::time::sleep(Duration::from_millis(wait)) => {}
            }
            if let Some(ended) = self.events(&plan, &daemon) {
                if matches!(ended, Ended::Stopped) {
                    self.stop(daemon).await;
                }
                return ended;
            }
            let is_over = clock::passed() > TROUBLED && !std::mem::replace(&mut self.has_whole_list, true);
            if clock::passed() <= TROUBLED && clock::percent(10) || is_over {
                self.new_list(&patients);
            }
            if self.is_over(&plan) {
                daemon.drain().await;
                self.last_look();
                return Ended::Over;
            }
        }
    }

    /// The practice exports its list: while things go wrong without some patients, with others under another number.
    fn new_list(&self, patients: &Patients) {
        let mut world = self.world.lock().unwrap();
        if !world.plan.has_list {
            return;
        }
        let is_whole = clock::passed() > TROUBLED;
        let mut text = "number,last,first,born\nx,Nobody,Here,1980-01-31\n".to_owned();
        for index in 0..world.truths.len() {
            if is_whole || clock::percent(70) {
                let patient = world.patient(index);
                let number = format!("{index}-{patient}-{}", clock::below(2));
                let _ = writeln!(text, "{number},{}", super::server::patient_row(index, patient));
                world.numbers[index].insert(number);
                world.in_list_since[index].get_or_insert(clock::passed());
            } else {
                world.in_list_since[index] = None;
            }
        }
        world.tell(|| "a new list of patients".to_owned());
        patients.set(crate::patients::parse(text.as_bytes(), &list_config()).unwrap());
    }

    /// Everything that is due to happen. What ends the life comes last.
    fn events(&mut self, plan: &Plan, daemon: &Daemon) -> Option<Ended> {
        let at = clock::passed();
        while let Some(event) = plan.events.get(self.next).filter(|event| event.from <= at) {
            self.next += 1;
            let mut world = self.world.lock().unwrap();
            world.tell(|| format!("event: {:?} until {}", event.what, event.until / 1000));
            match &event.what {
                What::Crash { power } => return Some(Ended::Crash { until: event.until, power: *power }),
                What::Restart => return Some(Ended::Stopped),
                What::Backup => {
                    drop(world);
                    self.back_up();
                }
                What::Restore if self.backup.is_some() => return Some(Ended::Lost { until: event.until }),
                What::Restore => return Some(Ended::Crash { until: event.until, power: false }),
                What::Jump(by) => clock::jump(*by),
                What::Revise(document) => world.revise(*document),
                What::Correct { document, again } => {
                    world.correct(*document);
                    if *again {
                        ask_again(&mut world, &self.connection.lock().unwrap(), *document);
                    }
                }
                What::Withdraw(document) => world.truths[*document].withdrawn = true,
                What::AskAgain(document) => ask_again(&mut world, &self.connection.lock().unwrap(), *document),
                What::Retry(document) => {
                    retry(&mut world, &self.connection.lock().unwrap(), *document);
                    self.ledger.notice_change();
                }
                What::PollNow => daemon.poll_now(),
                What::ServerRestart { destination } => world.servers[*destination].restart(),
                What::SpoolLost => {
                    world.book.spool_harmed = true;
                    world.files.clear();
                }
                What::Api { account, how: How::Status { status: 401, .. }, .. } => {
                    world.mended.insert(*account);
                }
                What::Api { .. }
                | What::SignIn { .. }
                | What::List { .. }
                | What::Delivery { .. }
                | What::Stranger { .. }
                | What::KillFiling { .. }
                | What::Offline { .. }
                | What::LedgerFull
                | What::SpoolFull => {}
            }
        }
        let mut world = self.world.lock().unwrap();
        if look_there(&mut world, &self.connection.lock().unwrap()) {
            self.ledger.notice_change();
        }
        world.look_for_delays();
        None
    }

    fn back_up(&mut self) {
        let memory = self.backup.as_mut().and_then(|backup| backup.memory.take());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup");
        self.connection.lock().unwrap().execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
        self.backup = Some(Backup { folder, at: now(), memory });
    }

    /// The ledger is what it was at the last backup, and the spool is lost.
    fn restore(&mut self) {
        let Some(backup) = &mut self.backup else { return };
        let file = backup.folder.path().join(format!("ledger-{}", clock::passed()));
        std::fs::copy(backup.folder.path().join("backup"), &file).unwrap();
        let db = open::bring_up_to_date(&file, Connection::open(&file).unwrap()).unwrap();
        db.execute_batch("PRAGMA synchronous = OFF").unwrap();
        restored::begin(&db, Restored { at: backup.at, in_doubt: true }, None, now()).unwrap();
        let mut world = self.world.lock().unwrap();
        world.tell(|| "the ledger is restored".to_owned());
        world.files.clear();
        world.restored(&db);
        let before = std::mem::replace(&mut *self.connection.lock().unwrap(), db);
        backup.memory.get_or_insert(before);
    }

    /// Whether there is nothing more to see: everything settled, and stayed so for a while.
    fn is_over(&mut self, plan: &Plan) -> bool {
        let (at, mut world) = (clock::passed(), self.world.lock().unwrap());
        if at < TROUBLED {
            return false;
        }
        let unsettled = world.unsettled(&self.connection.lock().unwrap());
        match unsettled {
            None => {
                let settled = *self.settled.get_or_insert(at);
                let longer = if plan.seed.is_multiple_of(4) { RECONCILE } else { POLL };
                let over = at > settled + u64::try_from(longer.as_millis()).unwrap() * 12 / 10;
                let chain = over.then(|| chain::verify(&self.connection.lock().unwrap()).unwrap());
                if let Some(Err(wrong)) = chain {
                    world.violate(|| wrong);
                }
                over
            }
            Some((index, what)) => {
                // What one account was refused another may ask for when it can.
                if self.settled.take().is_some() && plan.documents[index].also.is_none() {
                    world.violate(|| format!("all was settled, and then {what}"));
                } else if at > TROUBLED + SETTLES {
                    world.violate(|| what);
                }
                world.violation.is_some()
            }
        }
    }

    fn last_look(&self) {
        let mut world = self.world.lock().unwrap();
        if let Some(path) = world.files.keys().next().cloned() {
            world.violate(|| format!("{} is left in the spool", path.display()));
        }
        world.look_for_leftovers();
        let sound: String =
            self.connection.lock().unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        if sound != "ok" {
            world.violate(|| format!("the ledger is damaged: {sound}"));
        }
    }

    /// Lets what is under way end. What lies in memory gets a file then, where there is room and time for one.
    async fn stop(&self, daemon: Daemon) {
        let was_full = self.world.lock().unwrap().spool_is_full();
        let drained = daemon.drain().await;
        let mut world = self.world.lock().unwrap();
        if !drained {
            world.excuse("it was stopped");
        }
        if !drained || was_full || world.spool_is_full() {
            let lost = world.only_in_memory(&self.connection.lock().unwrap());
            world.book.lost_from_memory.extend(lost);
        }
    }

    /// What a crash does to what outlives the daemon.
    fn die(&self, power: bool) {
        let mut world = self.world.lock().unwrap();
        world.excuse("it was killed");
        world.servers.iter_mut().for_each(super::calls::Server::loses_its_client);
        world.under_way.clear();
        let lost = world.only_in_memory(&self.connection.lock().unwrap());
        world.book.lost_from_memory.extend(lost);
        if !power {
            return;
        }
        world.book.spool_harmed = true;
        let mut files = std::mem::take(&mut world.files);
        files.retain(|_, content| match clock::below(4) {
            0 => false,
            1 => {
                content.truncate(content.len() / 2);
                true
            }
            2 => {
                content.iter_mut().for_each(|byte| *byte = 0);
                true
            }
            _ => true,
        });
        world.files = files;
    }
}

fn ask_again(world: &mut World, db: &Connection, document: usize) {
    let known = world.row(db, document);
    let arrived = world.plan.documents[document].arrives <= clock::passed();
    let is_forgotten = known.is_none() && world.book.is_restored;
    let truth = &mut world.truths[document];
    if truth.listed || truth.withdrawn || !arrived {
        return;
    }
    truth.listed = true;
    truth.asked_again += 1;
    truth.unnoticed = known.is_none_or(|(_, listed)| listed);
    if let Some(told) = &mut truth.told {
        told.excuse = Some("it was asked for again");
    }
    // Of what came and went between a backup and its restore nothing is known: whoever asks for it gets it once more,
    // where nobody can see that it is there (seed 22562).
    if is_forgotten {
        world.servers.iter_mut().for_each(|server| server.asked_again(document));
    }
}

/// As `docsyncd retry` beside the daemon, by somebody who has not looked where the letter is.
fn retry(world: &mut World, db: &Connection, document: usize) {
    if let Some((id, _)) = world.row(db, document)
        && !world.ledger_is_full()
    {
        if world.book.states[document].as_deref() == Some("reported") {
            world.servers.iter_mut().for_each(|server| server.asked_again(document));
        }
        retry::retry(db, id, now()).unwrap();
        world.look(db);
    }
}

/// A person looks for letters that may have arrived: what is there is said to be there, what is not is sent again.
/// Returns whether there was one.
fn look_there(world: &mut World, db: &Connection) -> bool {
    let asked = |(id, _): &(i64, bool)| {
        let asks = "SELECT 1 FROM delivery WHERE document = ?1 AND unconfirmed_at IS NOT NULL AND destination = ?2";
        let is_asked = |index: &usize| db.prepare(asks)?.exists(params![id, format!("destination{index}")]);
        (0..world.held.len()).filter(|index| is_asked(index).unwrap()).collect::<Vec<_>>()
    };
    let rows = (0..world.truths.len()).filter_map(|document| Some((document, world.row(db, document)?)));
    let asked: Vec<(usize, i64, Vec<usize>)> =
        rows.map(|(document, row)| (document, row.0, asked(&row))).filter(|(.., at)| !at.is_empty()).collect();
    if asked.is_empty() || world.ledger_is_full() {
        return false;
    }
    for (document, id, at) in asked {
        let truth = &world.truths[document];
        let version = if world.patient(document) > 0 { truth.looked } else { truth.versions.len() - 1 };
        if at.into_iter().all(|destination| world.holds(destination, document, version)) {
            deliveries::arrived(db, id, now()).unwrap();
        } else {
            retry::named(db, id, now()).unwrap();
        }
    }
    world.look(db);
    true
}

fn parts(world: &Shared, plan: &Plan, patients: &Patients) -> Parts {
    let client =
        |account| (format!("account{account}"), Box::new(Server { world: world.clone(), account }) as Box<dyn Api>);
    let adapter = |index| {
        let adapter: Box<dyn Adapter> = match plan.kind(index) {
            Kind::Named(how) => Box::new(Named::new(world.clone(), index, how)),
            Kind::Service(how) => Box::new(Web::new(world.clone(), index, how)),
            Kind::Keys => Box::new(Destination { world: world.clone(), index }),
        };
        (format!("destination{index}"), adapter)
    };
    let route = |(kind, to): (usize, &Vec<usize>)| Route {
        types: vec![format!("k{kind}")],
        to: to.iter().map(|index| format!("destination{index}")).collect(),
        ..Route::default()
    };
    Parts {
        numbers: plan.has_list.then(|| {
            let needing = (0..plan.destinations).map(|index| format!("destination{index}")).collect();
            Numbers::new(patients.clone(), needing, false)
        }),
        clients: (0..plan.accounts).map(client).collect(),
        adapters: (0..plan.destinations).map(adapter).collect(),
        spool: Spool::on("spool".into(), Arc::new(SimulatedDisk(world.clone())), plan.spool_memory()),
        rules: Rules {
            confirm_within: (0..plan.destinations)
                .filter(|index| plan.confirms(*index))
                .map(|index| (format!("destination{index}"), Duration::from_secs(60)))
                .collect(),
            routes: plan.routes.iter().enumerate().map(route).collect(),
            retry: RetryPolicy { initial: Duration::from_secs(1), max: RETRY_MAX },
            limits: Limits {
                poll_interval: POLL,
                reconcile_interval: RECONCILE,
                max_concurrency: plan.max_concurrency,
                max_pdf_bytes: MAX_PDF,
                patience: Patience { give_up_after: GIVE_UP, pdf_grace: PDF_GRACE },
                keep_history: plan.keep_history.unwrap_or(KEEP_HISTORY),
                keep_names: plan.keep_history.unwrap_or(KEEP_HISTORY),
                spool_limit: if plan.seed % 16 == 15 { MAX_PDF } else { u64::MAX },
            },
        },
    }
}

fn list_config() -> PatientsConfig {
    PatientsConfig {
        file: "patients.csv".into(),
        number: "number".to_owned(),
        last_name: "last".to_owned(),
        first_name: "first".to_owned(),
        date_of_birth: "born".to_owned(),
        former_name: None,
        date_format: None,
        encoding: PatientsEncoding::Auto,
        delimiter: None,
        push: false,
    }
}

/// What happens around a query of the ledger.
struct Around(Shared);

#[async_trait]
impl Surroundings for Around {
    async fn before(&self, writes: bool) -> Result<(), LedgerError> {
        clock::pass(2).await;
        let mut world = self.0.lock().unwrap();
        if writes && world.ledger_is_full() {
            world.excuse("the ledger could not be written");
            return Err(LedgerError::Sqlite("database or disk is full".to_owned()));
        }
        Ok(())
    }

    fn written(&self, db: &Connection) {
        self.0.lock().unwrap().look(db);
    }

    async fn after(&self) {
        clock::pass(2).await;
    }
}
