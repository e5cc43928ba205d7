//! What is done in which order: plans are made from the seed, shared out among practices, and summed up.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use fastrand::Rng;

use crate::arguments::Arguments;
use crate::cycle::{self, Plan};
use crate::oracle;
use crate::points::{POINTS, Way};
use crate::table::Table;
use crate::world::World;

/// Lives of one practice: its folder grows with them, and every life looks through it.
const LIVES: usize = 40;
/// Kills at a point that chance missed.
const ALONE: usize = 4;
/// Of a thousand kills so many come at a random time.
const AT_RANDOM: u32 = 250;

/// Does what was asked, and says how it went.
pub async fn carry_out(arguments: &Arguments) -> ExitCode {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}; the same again: --seed {seed}");
    let began = Instant::now();
    let table = match arguments.power_cuts {
        Some(cuts) => power_cuts(arguments, cuts, seed).await,
        None => kills_at_every_point(arguments, seed).await,
    };
    match table {
        Ok(table) => {
            table.print(began.elapsed());
            let never = table.never();
            if arguments.power_cuts.is_none() && covers_every_point(arguments) {
                assert!(never.is_empty(), "nothing came by these points: {never:?}");
            }
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!(
                "{what}\nseed {seed}; to repeat it: cargo test --features failpoints --test crash -- {}",
                again(arguments, seed)
            );
            ExitCode::FAILURE
        }
    }
}

fn again(arguments: &Arguments, seed: u64) -> String {
    let amount = match arguments.power_cuts {
        Some(cuts) => format!("--power-cuts {cuts}"),
        None => format!("--cycles {}", arguments.cycles),
    };
    let point = arguments.point.as_ref().map(|point| format!(" --point {point}")).unwrap_or_default();
    format!("{amount} --seed {seed} --practices {}{point}", arguments.practices)
}

/// Every point for the first time and the third, then again at random counts; between them random times.
pub fn plans(arguments: &Arguments, number: usize, random: &mut Rng) -> VecDeque<Plan> {
    let mut plans = VecDeque::new();
    for round in 0.. {
        let mut points: Vec<_> =
            POINTS.iter().filter(|(name, _)| arguments.point.as_ref().is_none_or(|only| only == name)).collect();
        random.shuffle(&mut points);
        for (name, way) in points {
            let count = match (way, round) {
                (Way::Start | Way::FirstStart | Way::Stop | Way::SpoolLeftover | Way::Found, _) | (_, 0) => 1,
                // The first ones are of sidecars.
                (Way::Errors(_), 1) => 6,
                (_, 1) => 3,
                _ => random.usize(1..10),
            };
            if arguments.point.is_none() && random.u32(..1000) < AT_RANDOM {
                plans.push_back(Plan::AtRandom(random.u32(..1000)));
            }
            plans.push_back(Plan::AtPoint(name, *way, count));
            if plans.len() >= number {
                return plans;
            }
        }
    }
    plans
}

/// Kills that come by chance may find some point on nobody's way, such as a patient's folder that is there already:
/// those are tried by themselves, in a practice where nothing is yet.
async fn kills_at_every_point(arguments: &Arguments, seed: u64) -> Result<Table, String> {
    let mut table = kills(arguments, seed).await?;
    if covers_every_point(arguments) {
        for point in table.never() {
            let alone = Arguments { point: Some(point.to_owned()), cycles: ALONE, practices: 1, ..arguments.clone() };
            table.add(kills(&alone, seed).await?);
        }
    }
    Ok(table)
}

/// Whether there are so many kills that something comes by each point.
fn covers_every_point(arguments: &Arguments) -> bool {
    arguments.point.is_none() && arguments.cycles >= 2 * POINTS.len()
}

async fn kills(arguments: &Arguments, seed: u64) -> Result<Table, String> {
    let mut random = Rng::with_seed(seed);
    let plans = Arc::new(Mutex::new(plans(arguments, arguments.cycles, &mut random)));
    let mut practices = tokio::task::JoinSet::new();
    for _ in 0..arguments.practices.max(1) {
        let (plans, mut random) = (Arc::clone(&plans), random.fork());
        practices.spawn(async move {
            let mut table = Table::default();
            while let Some(some) = take(&plans) {
                table.add(practice(some, random.fork()).await);
                println!("{} kills, {} documents", table.kills(), table.documents);
            }
            table
        });
    }
    let mut all = Table::default();
    while let Some(ended) = practices.join_next().await {
        all.add(ended.map_err(|error| format!("a practice failed: {error}"))?);
    }
    Ok(all)
}

/// The lives of one practice. What only a first start comes by is its first.
fn take(plans: &Mutex<VecDeque<Plan>>) -> Option<Vec<Plan>> {
    let mut plans = plans.lock().unwrap();
    let count = plans.len().min(LIVES);
    let mut some: Vec<Plan> = plans.drain(..count).collect();
    some.sort_by_key(|plan| !matches!(plan, Plan::AtPoint(_, Way::FirstStart, _)));
    (!some.is_empty()).then_some(some)
}

async fn practice(plans: Vec<Plan>, random: Rng) -> Table {
    let mut world = World::new(random).await;
    world.takes = true;
    world.furnish().await;
    world.take_into_records();
    let mut table = Table { practices: 1, ..Table::default() };
    // The practice system of half of them empties the folder while docsyncd is dead.
    let imports = world.random.bool();
    for plan in plans {
        let story = Story::of(&world, plan);
        let (death, running) = cycle::live(&mut world, plan).await;
        story.check(&mut world, Some(&running), oracle::at_death);
        if imports {
            world.import();
        }
        table.count(death);
    }
    end(&mut world, &mut table).await;
    table
}

/// Lets the practice finish its work and looks at all of it.
pub async fn end(world: &mut World, table: &mut Table) {
    cycle::finish(world).await;
    Story { plan: "the end".to_owned() }.check(world, None, oracle::at_the_end);
    table.documents += world.letters.len();
    table.repeated_reports += world.sandbox().status_posts().len() - world.letters.len();
}

/// Says where a failure came from.
pub struct Story {
    plan: String,
}

impl Story {
    pub fn of(world: &World, plan: Plan) -> Self {
        Self { plan: format!("{plan:?}, with {} documents before it", world.letters.len()) }
    }

    /// Looks, and when something is not as it has to be, keeps the practice's folder and tells the story.
    pub fn check(&self, world: &mut World, running: Option<&crate::harness::Running>, look: fn(&mut World)) {
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(world)));
        if let Err(wrong) = looked {
            world.practice.dir.disable_cleanup(true);
            eprintln!("after {}, in {}", self.plan, world.practice.dir.path().display());
            if let Some(running) = running {
                eprintln!("its log:\n{}", running.log());
            }
            std::panic::resume_unwind(wrong);
        }
    }
}

#[cfg(target_os = "linux")]
async fn power_cuts(arguments: &Arguments, cuts: usize, seed: u64) -> Result<Table, String> {
    crate::power::cut(arguments, cuts, Rng::with_seed(seed)).await
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "it awaits where there is ext4")]
async fn power_cuts(_: &Arguments, _: usize, _: u64) -> Result<Table, String> {
    Err("power can be cut on Linux only: the test needs ext4 images".to_owned())
}
