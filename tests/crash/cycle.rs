//! One life of docsyncd: it is started, works, and dies.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, Route};

use crate::harness::Running;
use crate::oracle;
use crate::points::Way;
use crate::world::World;

/// How long docsyncd may still come by a point after the last report.
const AFTERWARDS: Duration = Duration::from_millis(600);
/// Up to here random kills come: a life with a few documents takes about as long.
const LIFE: Duration = Duration::from_millis(500);
/// What a process leaves with that a signal ended.
const BY_SIGNAL: i32 = -1;

/// When it is to die.
#[derive(Debug, Clone, Copy)]
pub enum Plan {
    /// When it has come by this point so many times.
    AtPoint(&'static str, Way, usize),
    /// This part of a life after its start, in thousandths.
    AtRandom(u32),
}

/// When it died.
#[derive(Debug, Clone, Copy)]
pub enum Death {
    AtPoint(&'static str),
    AtRandom,
    /// It had done everything and did not come by the point so often.
    WhenIdle,
}

/// Lets docsyncd live until `plan` ends it.
pub async fn live(world: &mut World, plan: Plan) -> (Death, Running) {
    let Plan::AtPoint(point, way, count) = plan else {
        let mut running = live_on(world, plan).await;
        running.kill().await;
        return (Death::AtRandom, running);
    };
    let early = world.random.usize(3..7);
    world.letters_arrive(early).await;
    let (mut running, death) = at_point(world, point, way, count).await;
    if !matches!(death, Death::AtPoint(_)) {
        running.kill().await;
    }
    world.sandbox().clear_faults();
    world.show_records_apart(false);
    (death, running)
}

/// Lets docsyncd live until `plan` would end it, and leaves that to the caller.
pub async fn live_on(world: &mut World, plan: Plan) -> Running {
    let Plan::AtRandom(thousandths) = plan else { panic!("{plan:?} ends it by itself") };
    let early = world.random.usize(3..7);
    world.letters_arrive(early).await;
    let mut running = world.start("");
    let late = world.random.usize(..3);
    world.letters_arrive(late).await;
    let ended = tokio::time::timeout(LIFE * thousandths / 1000, running.ended()).await;
    assert!(ended.is_err(), "it ended by itself: {}", running.log());
    running
}

async fn at_point(world: &mut World, point: &'static str, way: Way, count: usize) -> (Running, Death) {
    let mut points = format!("{point}={}*off->return", count - 1);
    match way {
        Way::Work | Way::Start | Way::FirstStart | Way::Stop => {}
        Way::Large => world.large_letters_arrive(count).await,
        Way::Dental => world.dental_letters_arrive(count).await,
        Way::RecordsApart => world.show_records_apart(true),
        Way::CutDownload => {
            let times = u32::try_from(count).unwrap();
            world.sandbox().inject(Fault::once(Route::Pdf, FaultKind::CutBody(20)).times(times));
        }
        Way::SpoolLeftover => {
            std::fs::create_dir_all(world.practice.spool()).unwrap();
            std::fs::write(world.practice.spool().join("0-0.pdf"), "half a download").unwrap();
        }
        Way::Found => {
            let mut before = world.start("folder.rename.after=return");
            assert_eq!(before.ended().await, BY_SIGNAL, "{}", before.log());
            oracle::at_death(world);
        }
        Way::Errors(errors) => points = format!("{points};{errors}"),
    }
    let mut running = world.start(&points);
    let late = world.random.usize(..3);
    world.letters_arrive(late).await;
    let code = tokio::select! {
        code = running.ended() => Some(code),
        () = world.until_all_reported() => None,
    };
    let code = match code {
        Some(code) => Some(code),
        None if way == Way::Stop => Some(running.stop().await),
        None => tokio::time::timeout(AFTERWARDS, running.ended()).await.ok(),
    };
    match code {
        None => (running, Death::WhenIdle),
        Some(BY_SIGNAL) => (running, Death::AtPoint(point)),
        Some(code) => panic!("it ended by itself with {code}:\n{}", running.log()),
    }
}

/// One life files a document and dies before it forced its name to the disk; the next finds it there, reports it and
/// dies. Nothing else is filed meanwhile: on ext4 that would force this name to the disk as well.
pub async fn find_and_report(world: &mut World) -> (Death, Running) {
    finish(world).await;
    world.letters_arrive(1).await;
    let mut filing = world.start("folder.rename.after=return");
    assert_eq!(filing.ended().await, BY_SIGNAL, "{}", filing.log());
    let mut reporting = world.start("api.report.after=return");
    assert_eq!(reporting.ended().await, BY_SIGNAL, "{}", reporting.log());
    (Death::AtPoint("api.report.after"), reporting)
}

/// Lets docsyncd do all that is left.
pub async fn finish(world: &mut World) {
    world.export_patients(true);
    world.begin_life();
    let mut ended = world.practice.sync().await;
    // What was just filed counts once it was taken.
    for _ in 0..60 {
        if ended.code != 3 {
            break;
        }
        ended = world.practice.sync().await;
    }
    assert!(ended.code == 0 && !ended.stderr.contains("internal_error"), "{ended:?}");
}
