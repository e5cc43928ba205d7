//! A daemon in this process, a sandbox, and what is expected of them in one cell of the matrix.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use docsyncd::daemon::{Connecting, Daemon};
use docsyncd::ledger::{Ledger, Lock, retry};
use docsyncd::views;
use docsyncd::views::named::{self, Named};
use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};

use crate::dictated::{add_small, posts_of, small};
use crate::harness::{PATIENCE, Practice};

/// Documents that share a fault: enough to be taken for a failure of the whole, also where verdicts are at stake.
const MANY: usize = 7;

/// How often the ledger is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Each name is a test; what follows are the fault, in the words of `tests/README.md`, and as the sandbox makes it, and
/// what it gives, as `$run` takes that. `rows` gives the same for the table there: test, fault, what it gives.
macro_rules! cells {
    ($run:path; $($name:ident = $fault:literal: $kind:expr => $($gives:expr),+;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                $run($kind, $($gives),+).await;
            }
        )*

        pub fn rows() -> Vec<(&'static str, &'static str, String)> {
            vec![$((stringify!($name), $fault, [$($gives.shown()),+].join(" | "))),*]
        }
    };
}
pub(super) use cells;

/// A call about a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// `GET /documents/{uuid}`
    Document,
    /// The PDF.
    Download,
    /// `POST /documents/{uuid}/status`
    Report,
}

impl Call {
    pub fn route(self) -> Route {
        match self {
            Self::Document => Route::Document,
            Self::Download => Route::Pdf,
            Self::Report => Route::Status,
        }
    }

    /// Where a document stands while this call has to be repeated.
    fn waits_in(self) -> &'static str {
        if self == Self::Report { "delivered" } else { "discovered" }
    }

    /// What is paused when it fails for several.
    pub fn scope(self) -> &'static str {
        if self == Self::Report { "report:main" } else { "fetch:main" }
    }
}

/// What a fault of one document gives. The words are those of `show`, and of the report where there is one.
#[derive(Clone, Copy, Debug)]
pub enum Alone {
    /// It is tried again and again, for the price of an attempt each time; in the end nothing is paused.
    Waits(&'static str),
    /// It ends `failed`, and that is reported, once.
    Fails(&'static str),
    /// It ends `unreported`: filed, but the API does not want to hear of it.
    Unreported(&'static str),
    /// The fault is none: it is filed and reported.
    Passes,
}

/// What the same fault of all documents gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shared {
    /// The call is paused, nothing is reported, and two documents at most have spent attempts before that.
    Pauses,
    /// The fault is none.
    Passes,
}

impl Alone {
    /// In the words of `tests/README.md`.
    pub fn shown(self) -> String {
        match self {
            Self::Waits(words) => format!("waits, an attempt each: “{words}”"),
            Self::Fails(words) => format!("fails, reported once: “{words}”"),
            Self::Unreported(words) => format!("`unreported`: “{words}”"),
            Self::Passes => "filed and reported".into(),
        }
    }
}

impl Shared {
    /// In the words of `tests/README.md`.
    pub fn shown(self) -> String {
        match self {
            Self::Pauses => "paused".into(),
            Self::Passes => "filed and reported".into(),
        }
    }
}

/// What the ledger shows.
pub struct Seen {
    pub documents: BTreeMap<String, views::DocumentView>,
    pub pauses: BTreeMap<String, String>,
    /// Why an account's last poll failed.
    pub poll_errors: BTreeMap<String, String>,
}

impl Seen {
    pub fn state(&self, uuid: &str) -> &str {
        self.documents.get(uuid).map_or("unknown", |document| document.state.as_str())
    }

    pub fn attempts(&self, uuid: &str) -> u32 {
        self.documents.get(uuid).map_or(0, |document| document.attempts)
    }

    fn shown(&self) -> String {
        serde_json::to_string_pretty(&self.documents).unwrap()
    }

    fn all_in(&self, uuids: &[String], state: &str) -> bool {
        uuids.iter().all(|uuid| self.state(uuid) == state)
    }
}

/// A practice with a running daemon.
pub struct Cell {
    pub practice: Practice,
    daemon: Daemon,
    pub ledger: Ledger,
    _lock: Lock,
}

impl Cell {
    /// `practice` is configured already; `timeout` is that of the API.
    pub async fn start(practice: Practice, timeout: &str) -> Self {
        let variables = [
            ("DOCSYNCD__API__TIMEOUT", timeout),
            ("DOCSYNCD__SYNC__POLL_INTERVAL", "40ms"),
            ("DOCSYNCD__RETRY__INITIAL", "20ms"),
            // Reports of failures are held back for as long, up to a second.
            ("DOCSYNCD__RETRY__MAX", "1s"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = variables.into_iter().chain(practice.env.clone());
        let config =
            docsyncd::destinations::SCHEMA.load(&practice.config_path(), variables).expect("a configuration").config;
        let (ledger, lock) = Ledger::open_exclusive(&config.state.path).unwrap();
        let mut daemon = Daemon::start(&config, Connecting::begin(&config), ledger.clone(), None, true).await.unwrap();
        daemon.start_polls();
        Self { practice, daemon, ledger, _lock: lock }
    }

    pub async fn seen(&self) -> Seen {
        let read = self.ledger.read(|db| {
            let mut documents = Vec::new();
            views::list(db, None, |document| {
                documents.push(document);
                ControlFlow::Continue(())
            })?;
            Ok((documents, views::summary(db)?))
        });
        let (documents, summary) = read.await.expect("the ledger is read");
        Seen {
            documents: documents.into_iter().map(|document| (document.uuid.clone(), document)).collect(),
            pauses: summary.pauses.into_iter().map(|pause| (pause.scope, pause.reason.text)).collect(),
            poll_errors: summary
                .accounts
                .into_iter()
                .filter_map(|of| Some((of.account, of.poll_error?.text)))
                .collect(),
        }
    }

    /// Waits until the ledger shows what is wanted.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Seen) -> bool) -> Seen {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let seen = self.seen().await;
            if wanted(&seen) {
                return seen;
            }
            let posts = || self.practice.sandbox.status_posts();
            let Seen { pauses, poll_errors, .. } = &seen;
            assert!(
                tokio::time::Instant::now() < deadline,
                "{what}: not so: {} {pauses:#?} {poll_errors:?} {:#?}",
                seen.shown(),
                posts()
            );
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until so many requests more have met a fault.
    pub async fn until_met(&self, more: usize) {
        let met = |view: &docsyncd_sandbox::View| view.requests().filter(|request| request.fault).count();
        let wanted = self.practice.sandbox.look(met) + more;
        self.practice.sandbox.wait_for(|view| met(view) >= wanted, PATIENCE).await.expect("the fault is met");
    }

    /// As `docsyncd retry UUID...`
    pub async fn retry(&self, uuids: &[String]) {
        let uuids = uuids.to_vec();
        let now = docsyncd::ledger::now();
        let retried = self.ledger.write(move |db| {
            for uuid in &uuids {
                if let Named::One(ids) = named::named(db, uuid)? {
                    for id in ids {
                        retry::named(db, id, now)?;
                    }
                }
            }
            Ok(())
        });
        retried.await.unwrap();
        self.daemon.poll_now();
    }

    /// As [`Self::ends_well`], each document reported exactly once.
    pub async fn ends_well_after(self, uuids: &[String]) {
        self.ends_well(uuids, false).await;
    }

    /// The fault is gone: everything is filed, every document is reported, and nothing is paused. What may have been
    /// reported more than once (an answer was lost) is said by `repeated`.
    pub async fn ends_well(self, uuids: &[String], repeated: bool) {
        self.practice.sandbox.clear_faults();
        let well = |seen: &Seen| seen.all_in(uuids, "reported") && seen.pauses.is_empty();
        self.until("everything is reported and nothing is paused", well).await;
        for uuid in uuids {
            let posts = posts_of(&self.practice.sandbox, uuid);
            let successes = posts.iter().filter(|(success, _)| *success == Some(true)).count();
            assert!(if repeated { successes >= 1 } else { successes == 1 }, "{posts:?}");
        }
        assert!(self.daemon.drain().await);
        self.practice.assert_all_filed().await;
    }
}

/// A practice with the account `second`, whose documents no fault of this matrix is about.
pub async fn two_accounts() -> (Practice, Vec<String>) {
    use docsyncd_sandbox::{ApiKey, Options};
    let keys = vec![ApiKey::new("main-key"), ApiKey::of_user("second-key", "dr.martin@practice.example")];
    let practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.write_secret("second-key", "second-key");
    practice.configure("[accounts.second]\napi_key_file = 'second-key'");
    let of_second =
        |number, _| NewDocument { owner: Some("second-key".into()), ..small(&format!("second's {number}")) };
    let uuids = add_small(&practice, 3, of_second).await;
    (practice, uuids)
}

/// The fault for one document among four, and for no other.
pub async fn alone(call: Call, kind: &FaultKind, timeout: &str, expected: Alone) -> (Cell, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 4, |number, _| small(&format!("alone {number}"))).await;
    let [bad, good @ ..] = uuids.as_slice() else { panic!() };
    practice.sandbox.inject(Fault::always(call.route(), kind.clone()).for_document(bad));
    let cell = Cell::start(practice, timeout).await;

    let seen = match expected {
        Alone::Waits(_) => cell.until("it waits", |seen| seen.attempts(bad) >= 2).await,
        Alone::Fails(_) => cell.until("it fails", |seen| seen.state(bad) == "failed").await,
        Alone::Unreported(_) => cell.until("it is unreported", |seen| seen.state(bad) == "unreported").await,
        Alone::Passes => cell.until("it passes", |seen| seen.state(bad) == "reported").await,
    };
    let posts = posts_of(&cell.practice.sandbox, bad);
    let reason = seen.documents[bad].reason.clone().unwrap_or_default();
    match expected {
        Alone::Waits(words) => {
            assert_eq!((seen.state(bad), &seen.pauses), (call.waits_in(), &BTreeMap::new()), "{reason}");
            assert!(reason.contains(words), "{reason}");
            assert!(posts.iter().all(|post| *post == (Some(true), None)), "{posts:?}");
        }
        Alone::Fails(words) => {
            let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
            assert!(error.contains(words) && reason.contains(words), "{error}: {reason}");
            assert_eq!(seen.pauses, BTreeMap::new());
        }
        Alone::Unreported(words) => {
            assert!(reason.contains(words) && posts.is_empty(), "{reason} {posts:?}");
            assert_eq!(seen.pauses, BTreeMap::new());
        }
        Alone::Passes => {
            assert!(!posts.is_empty() && posts.iter().all(|post| *post == (Some(true), None)), "{posts:?}")
        }
    }
    cell.until("the others are reported", |seen| seen.all_in(good, "reported")).await;
    if matches!(expected, Alone::Fails(_) | Alone::Unreported(_)) {
        cell.practice.sandbox.clear_faults();
        cell.retry(&uuids[..1]).await;
    }
    (cell, uuids)
}

/// The same fault for every document, while the daemon goes on from [`alone`].
pub async fn shared(cell: &Cell, call: Call, kind: &FaultKind, expected: Shared) -> Vec<String> {
    let sandbox = &cell.practice.sandbox;
    sandbox.clear_faults();
    cell.until("all is well again", |seen| {
        seen.pauses.is_empty() && seen.documents.values().all(|document| document.state.as_str() == "reported")
    })
    .await;
    sandbox.inject(Fault::always(call.route(), kind.clone()));
    let before = sandbox.status_posts().len();
    // They are found at once, not one after the other.
    let unlisted = sandbox.inject(Fault::always(Route::List, FaultKind::status(503)));
    let uuids = add_small(&cell.practice, MANY, |number, _| small(&format!("shared {number}"))).await;
    sandbox.remove_fault(unlisted);
    match expected {
        Shared::Pauses => {
            let seen = cell.until("it is paused", |seen| seen.pauses.contains_key(call.scope())).await;
            assert_eq!(seen.pauses.len(), 1, "{:?}", seen.pauses);
            // Probes go on, and change nothing.
            cell.until_met(2).await;
            let seen = cell.until("all wait", |seen| seen.all_in(&uuids, call.waits_in())).await;
            let blamed = uuids.iter().filter(|uuid| seen.attempts(uuid) > 0).count();
            assert!(blamed <= 2, "{blamed} spent attempts: {}", seen.shown());
        }
        Shared::Passes => drop(cell.until("all are reported", |seen| seen.all_in(&uuids, "reported")).await),
    }
    let wrong: Vec<_> =
        sandbox.status_posts().into_iter().skip(before).filter(|post| post.success != Some(true)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    uuids
}

/// Both halves of a cell, and its end.
pub async fn cell(call: Call, kind: FaultKind, one: Alone, all: Shared) {
    timed_cell(call, kind, "10s", one, all).await;
}

/// As [`cell`], with this `api.timeout`.
pub async fn timed_cell(call: Call, kind: FaultKind, timeout: &str, one: Alone, all: Shared) {
    // A status report that had its effect before its answer was lost is repeated.
    let repeated = call == Call::Report && has_its_effect(&kind);
    let (cell, first) = alone(call, &kind, timeout, one).await;
    let second = shared(&cell, call, &kind, all).await;
    cell.ends_well(&[first, second].concat(), repeated).await;
}

fn has_its_effect(kind: &FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::AbortHead
            | FaultKind::AbortBody(_)
            | FaultKind::CutBody(_)
            | FaultKind::StallBody(_)
            | FaultKind::Drip { .. }
            | FaultKind::LostReply
    )
}

/// A status, named as the API would.
pub fn status(code: u16) -> FaultKind {
    FaultKind::status(code)
}

/// `200 OK` with these bytes.
pub fn bytes(text: &str) -> FaultKind {
    FaultKind::Bytes(text.as_bytes().to_vec())
}

/// Ten megabytes of valid JSON.
pub fn ten_megabytes() -> FaultKind {
    FaultKind::Bytes(format!("[{}7]", "7,".repeat(5 * 1024 * 1024)).into_bytes())
}

/// A record that is whole, and holds more than templates ever see.
pub fn many_values() -> FaultKind {
    bytes(&format!("{{\"x\": [{}7]}}", "7,".repeat(700_000)))
}

/// The whole answer, but a byte at a time: longer than any timeout of these tests.
pub fn slow_drip() -> FaultKind {
    FaultKind::Drip { bytes: 1, every: Duration::from_millis(100) }
}
