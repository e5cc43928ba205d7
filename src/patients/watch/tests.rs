use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::*;
use crate::patients::load_once;

const SECOND: Duration = Duration::from_secs(1);

/// A keeper with its own file in its own folder, and its own clock.
struct World {
    _folder: tempfile::TempDir,
    path: PathBuf,
    keeper: Keeper,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("patients.csv");
        let config = PatientsConfig { file: path.clone(), ..crate::patients::tests::config() };
        let keeper = Keeper::new(Patients::default(), config);
        Self { _folder: folder, path, keeper, now: Instant::now() }
    }

    /// Writes a list of this many patients.
    fn export(&self, patients: usize) {
        let rows: Vec<String> = (1..=patients).map(|number| format!("{number};Berg;Anna{number};1980-02-17")).collect();
        self.write(&format!("PatNum;LName;FName;Birthdate\n{}", rows.join("\n")));
    }

    /// Writes as programs do that replace the old file with a new one.
    fn write(&self, text: &str) {
        let new = self.path.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &self.path).unwrap();
    }

    fn step(&mut self) -> Duration {
        self.keeper.step(self.now, &|| false)
    }

    /// Lets this time pass, with checks as often as the keeper wants.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now <= end {
            let wait = self.step();
            self.now += wait;
        }
    }

    /// The rows of the current list, and the problem.
    fn state(&self) -> (Option<usize>, Option<Why>) {
        let Snapshot { list, problem, .. } = self.keeper.patients.current();
        (list.map(|list| list.len()), problem.map(|problem| problem.why))
    }

    fn generation(&self) -> u64 {
        self.keeper.patients.current().generation
    }
}

#[test]
fn a_new_export_counts_when_it_did_not_change_for_two_seconds_and_soon_after() {
    let mut world = World::new();
    world.export(10);
    world.step();
    assert_eq!(world.state(), (None, None), "it may be incomplete");
    world.run(REST);
    assert_eq!((world.state(), world.generation()), ((Some(10), None), 1));
    // While it is rewritten again and again, it is not accepted.
    for patients in 11..20 {
        world.export(patients);
        world.step();
        world.now += SECOND;
        assert_eq!(world.state(), (Some(10), None));
    }
    world.run(Duration::from_secs(12));
    assert_eq!((world.state(), world.generation()), ((Some(19), None), 2));
    // The same content again is nothing new.
    world.export(19);
    world.run(Duration::from_secs(30));
    assert_eq!(world.generation(), 2);
}

#[test]
fn a_file_of_long_ago_has_to_rest_as_well_and_an_older_one_that_is_put_back_counts() {
    let mut world = World::new();
    let set_time = |world: &World, hours: u64| {
        let time = SystemTime::now() - Duration::from_secs(hours * 3600);
        fs::File::options().write(true).open(&world.path).unwrap().set_modified(time).unwrap();
    };
    world.export(10);
    set_time(&world, 1);
    world.step();
    assert_eq!(world.state(), (None, None), "a copy may have its original's time while it is written");
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(10), None));
    world.export(11);
    set_time(&world, 50);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(11), None));
}

#[test]
fn what_is_wrong_with_the_file_is_said_and_the_last_good_list_goes_on() {
    let mut world = World::new();
    world.step();
    assert_eq!(world.state(), (None, Some(Why::Missing)), "there is no earlier list");
    world.export(10);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(10), None));
    world.write("PatNum;LName;FName;Birthdate\n####;A;B;1980-02-17");
    world.run(Duration::from_secs(12));
    assert!(matches!(world.state(), (Some(10), Some(Why::Refused(_)))), "{:?}", world.state());
    world.export(9);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(9), None));
    // The file is missing for a moment while it is replaced, and then for good.
    fs::remove_file(&world.path).unwrap();
    world.run(SECOND);
    assert_eq!(world.state(), (Some(9), None));
    world.run(Duration::from_secs(15));
    assert_eq!(world.state(), (Some(9), Some(Why::Missing)));
    fs::create_dir(&world.path).unwrap();
    world.run(SECOND);
    assert_eq!(world.state(), (Some(9), Some(Why::NoFile)));
    assert_eq!(world.generation(), 2);
}

/// The share of the file was away; the file itself is unchanged.
#[test]
fn a_file_that_comes_back_as_it_was_is_what_it_was() {
    let mut world = World::new();
    world.export(10);
    world.run(Duration::from_secs(12));
    let aside = world.path.with_extension("aside");
    for list in ["good", "bad"] {
        let before = world.state();
        fs::rename(&world.path, &aside).unwrap();
        world.run(Duration::from_secs(15));
        assert_eq!(world.state(), (Some(10), Some(Why::Missing)), "{list}");
        fs::rename(&aside, &world.path).unwrap();
        world.run(Duration::from_secs(12));
        assert_eq!(world.state(), before, "{list}");
        world.write("PatNum;LName;FName\n");
        world.run(Duration::from_secs(12));
    }
}

#[test]
fn a_list_that_lost_most_of_its_patients_is_believed_after_an_hour_or_by_a_person() {
    const HOUR: Duration = Duration::from_secs(3600);
    let mut world = World::new();
    world.export(10);
    world.run(Duration::from_secs(12));
    world.export(5);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(5), None), "a half is not less than a half");
    world.export(2);
    world.run(Duration::from_secs(12));
    let shrunk = Some(Why::Shrunk { before: 5, now: 2 });
    assert_eq!(world.state(), (Some(5), shrunk.clone()));
    // The same content, written again, keeps its time. Other content starts anew.
    world.run(HOUR / 2);
    world.export(2);
    world.run(HOUR / 2 - Duration::from_secs(60));
    assert_eq!(world.state(), (Some(5), shrunk));
    world.run(Duration::from_secs(60));
    assert_eq!(world.state(), (Some(2), None));
    world.export(0);
    world.run(HOUR / 2);
    assert_eq!(world.state(), (Some(2), Some(Why::NoPatients)));
    world.export(1);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(1), None));
    world.export(0);
    world.run(HOUR / 2);
    let seen = load_once(&world.keeper.config).unwrap();
    world.keeper.patients.believe("another file");
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(1), Some(Why::NoPatients)));
    world.keeper.patients.believe(seen.sha256());
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(0), None));
}

#[test]
fn an_empty_list_is_not_believed_where_there_was_none_before() {
    let mut world = World::new();
    world.export(0);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (None, Some(Why::NoPatients)));
    world.export(3);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(3), None));
}

#[test]
fn a_command_waits_for_a_file_that_was_just_written() {
    let world = World::new();
    let problem = load_once(&world.keeper.config).unwrap_err();
    assert_eq!(problem.why, Why::Missing);
    assert!(
        problem.to_string().starts_with("the list of patients ")
            && problem.to_string().contains("patients.csv: it is not there")
    );
    world.export(7);
    let began = Instant::now();
    assert_eq!(load_once(&world.keeper.config).unwrap().len(), 7);
    assert!(began.elapsed() >= REST);
}

/// A named pipe is no file. Opening it would hang, as nobody writes to it.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_opened() {
    let mut world = World::new();
    assert!(std::process::Command::new("mkfifo").arg(&world.path).status().unwrap().success());
    world.run(SECOND);
    assert_eq!(world.state(), (None, Some(Why::NoFile)));
}

#[tokio::test]
async fn everybody_hears_of_a_new_list_and_the_watch_ends_with_the_daemon() {
    let world = World::new();
    world.export(4);
    let (patients, stop) = (Patients::default(), CancellationToken::new());
    let mut changes = patients.changes();
    let following = tokio::spawn(patients.clone().follow(world.keeper.config.clone(), stop.clone()));
    changes.changed().await.unwrap();
    assert_eq!(patients.current().list.map(|list| list.len()), Some(4));
    stop.cancel();
    following.await.unwrap();
}
