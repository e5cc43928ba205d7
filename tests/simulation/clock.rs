//! Simulated time and chance. Both belong to the thread that runs a seed; elsewhere the real ones hold.
//!
//! Time passes as tokio's paused clock says, over all lives of the daemon, plus what the wall clock was moved by.

use std::cell::RefCell;
use std::time::Duration;

use tokio::time::Instant;

use crate::ledger::Millis;

/// Where the wall clock begins: 2026-11-21T08:00:00Z.
pub(super) const WALL_START: Millis = 1_795_248_000_000;

thread_local! {
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

struct Clock {
    /// Milliseconds that had passed when this life of the daemon began.
    before: u64,
    /// When it began, of tokio's clock; `None` between two lives.
    began: Option<Instant>,
    /// What the wall clock was moved by.
    moved: Millis,
    chance: fastrand::Rng,
}

impl Clock {
    fn passed(&self) -> u64 {
        let life = self.began.map_or(0, |began| u64::try_from(began.elapsed().as_millis()).unwrap());
        self.before + life
    }
}

fn with<T>(what: impl FnOnce(&mut Clock) -> T) -> T {
    CLOCK.with_borrow_mut(|clock| what(clock.as_mut().expect("a seed runs on this thread")))
}

/// The wall clock, for [`crate::system::clock::now`]; `None` where no seed runs.
pub(crate) fn wall() -> Option<Millis> {
    CLOCK.with_borrow(|clock| {
        clock.as_ref().map(|clock| WALL_START + clock.moved + Millis::try_from(clock.passed()).unwrap())
    })
}

/// What jitter draws, for [`crate::system::clock::jitter`]; `None` where no seed runs.
pub(crate) fn jitter(bound: Duration) -> Option<Duration> {
    CLOCK.with_borrow_mut(|clock| clock.as_mut().map(|clock| bound.mul_f64(clock.chance.f64())))
}

/// Begins a seed on this thread.
pub(super) fn install(seed: u64) {
    let chance = fastrand::Rng::with_seed(seed);
    CLOCK.set(Some(Clock { before: 0, began: None, moved: 0, chance }));
}

/// Ends it.
pub(super) fn remove() {
    CLOCK.set(None);
}

/// A life of the daemon begins; to be called inside its runtime.
pub(super) fn begin_life() {
    let now = Instant::now();
    with(|clock| clock.began = Some(now));
}

/// It ended, and the machine was down for so long.
pub(super) fn end_life(down: u64) {
    with(|clock| {
        clock.before = clock.passed() + down;
        clock.began = None;
    });
}

/// Milliseconds since the simulation began, whatever was done to the wall clock.
pub(super) fn passed() -> u64 {
    with(|clock| clock.passed())
}

/// Moves the wall clock.
pub(super) fn jump(by: Millis) {
    with(|clock| clock.moved += by);
}

/// A number below `bound`.
pub(super) fn below(bound: u64) -> u64 {
    with(|clock| clock.chance.u64(0..bound.max(1)))
}

/// True this many times in a hundred.
pub(super) fn percent(chance: u64) -> bool {
    below(100) < chance
}

/// Something takes its time: mostly little, at times much.
pub(super) async fn pass(scale: u64) {
    let wait = match below(20) {
        0..4 => return,
        4..14 => 1 + below(scale),
        14..19 => 1 + below(scale * 10),
        _ => 1 + below(scale * 60),
    };
    tokio::time::sleep(Duration::from_millis(wait)).await;
}

/// Something takes this many milliseconds at most, and mostly a good part of them.
pub(super) async fn up_to(most: u64) {
    tokio::time::sleep(Duration::from_millis(below(most))).await;
}
