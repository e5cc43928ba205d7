//! The deterministic simulation of the pipeline: the real stages, pauses, failure booking and SQL, between an API, a
//! destination, a disk and a clock that are drawn from a seed. The promises are checked after every step.
//!
//! A seed gives the same history every time. One that breaks a promise is printed with the shortest plan that still
//! does.
//!
//! - `DOCSYNCD_TEST_SEEDS=20000` runs so many seeds instead of a few; `DOCSYNCD_TEST_FIRST_SEED` says from where.
//! - `DOCSYNCD_TEST_SEED=17` runs one, and prints its history.
//! - `DOCSYNCD_TEST_BRIEF=1` stops at the first broken seed and looks for no shorter plan.

mod calls;
mod checks;
pub(crate) mod clock;
mod destination;
mod disk;
mod draw;
mod filed;
mod found;
mod log;
mod named;
mod plan;
mod restored;
mod run;
mod server;
mod settled;
mod shared;
mod shrink;
pub(crate) mod spoken;
pub(crate) mod web;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use plan::Plan;
use run::run;

/// Seeds that every run of the tests tries.
const SEEDS: u64 = 20;
/// Lines of history that are printed.
const SHOWN: usize = 120;
/// Broken seeds after which it is enough.
const MOST_BROKEN: usize = 8;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// What a broken promise looks like to a person.
fn report(seed: u64) -> String {
    let broken = run(Plan::draw(seed), false).violation.unwrap_or_default();
    let plan = shrink::shortest(Plan::draw(seed));
    let outcome = run(plan.clone(), true);
    let from = outcome.history.len().saturating_sub(SHOWN);
    format!(
        "seed {seed}: {broken}\n\nthe shortest plan that breaks a promise: {plan:#?}\n\nits history ends so:\n{}\n\n\
         {}\n\nrepeat with: DOCSYNCD_TEST_SEED={seed} cargo test --lib simulation -- --nocapture",
        outcome.history[from..].join("\n"),
        outcome.violation.unwrap_or_default(),
    )
}

#[test]
fn the_promises_hold_whatever_goes_wrong() {
    if let Some(seed) = number("DOCSYNCD_TEST_SEED") {
        let outcome = run(Plan::draw(seed), true);
        println!("{:#?}\n{}", Plan::draw(seed), outcome.history.join("\n"));
        assert!(outcome.violation.is_none(), "{}", report(seed));
        return;
    }
    let first = number("DOCSYNCD_TEST_FIRST_SEED").unwrap_or(0);
    let seeds = number("DOCSYNCD_TEST_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(first);
    let (broken, steps, passed) = (Mutex::new(Vec::new()), AtomicU64::new(0), AtomicU64::new(0));
    let brief = std::env::var_os("DOCSYNCD_TEST_BRIEF").is_some();
    let most_broken = if brief { 1 } else { MOST_BROKEN };
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while broken.lock().unwrap().len() < most_broken {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        return;
                    }
                    let outcome = run(Plan::draw(seed), false);
                    steps.fetch_add(outcome.steps, Ordering::Relaxed);
                    passed.fetch_add(outcome.passed, Ordering::Relaxed);
                    if let Some(violation) = outcome.violation {
                        println!("seed {seed}: {violation}");
                        broken.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let (seconds, days) = (began.elapsed().as_secs_f64(), passed.into_inner() / 86_400_000);
    println!("{seeds} seeds from {first}, {} steps, {days} simulated days, in {seconds:.1} s", steps.into_inner());
    let broken = broken.into_inner().unwrap();
    assert!(broken.is_empty() || !brief, "broken: {broken:?}");
    assert!(broken.is_empty(), "{}", report(broken[0]));
}

#[test]
fn a_seed_gives_the_same_history_twice() {
    for seed in 0..5 {
        let [first, second] = [(); 2].map(|()| run(Plan::draw(seed), true).history);
        let differs = first.iter().zip(&second).position(|(a, b)| a != b);
        assert!(differs.is_none() && first.len() == second.len(), "seed {seed}, line {differs:?}");
        assert!(first.len() > 20, "{first:?}");
    }
}
