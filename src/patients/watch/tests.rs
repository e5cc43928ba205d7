use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::*;
use crate::patients::{Doubt, load_once, look_once};

const SECOND: Duration = Duration::from_secs(1);

/// A keeper with its own file in its own folder, and its own clock.
struct World {
    _folder: tempfile::TempDir,
    path: PathBuf,
    keeper: Keeper,
    now: Instant,
    /// The numbers that letters were filed with.
    used: Arc<Mutex<HashMap<String, u64>>>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("patients.csv");
        let config = PatientsConfig { file: path.clone(), ..crate::patients::tests::config() };
        let used = Arc::new(Mutex::new(HashMap::new()));
        let known = used.clone();
        let keeper = Keeper::new(Patients::default(), config, Arc::new(move || Some(known.lock().unwrap().clone())));
        Self { _folder: folder, path, keeper, now: Instant::now(), used }
    }

    /// As after a start: nothing is known but what the ledger keeps.
    fn restart(&mut self) {
        let patients = Patients::default();
        patients.expect(self.keeper.patients.before());
        self.keeper = Keeper::new(patients, self.keeper.config.clone(), self.keeper.used.clone());
    }

    fn is_filed(&self, numbers: impl IntoIterator<Item = usize>) {
        self.used.lock().unwrap().extend(numbers.into_iter().map(|number| (number.to_string(), 1)));
    }

    fn set_time(&self, ago: Duration) {
        let time = SystemTime::now() - ago;
        fs::File::options().write(true).open(&self.path).unwrap().set_modified(time).unwrap();
    }

    /// Writes a list of this many patients.
    fn export(&self, patients: usize) {
        let rows: Vec<String> = (1..=patients).map(|number| format!("{number};Berg;Anna{number};1980-02-17")).collect();
        self.write(&format!("PatNum;LName;FName;Birthdate\n{}\n", rows.join("\n")));
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
    const HOUR: Duration = Duration::from_secs(3600);
    world.export(10);
    world.set_time(HOUR);
    world.step();
    assert_eq!(world.state(), (None, None), "a copy may have its original's time while it is written");
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(10), None));
    world.export(11);
    world.set_time(50 * HOUR);
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
    world.export(11);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(11), None));
    // The file is missing for a moment while it is replaced, and then for good.
    fs::remove_file(&world.path).unwrap();
    world.run(SECOND);
    assert_eq!(world.state(), (Some(11), None));
    world.run(Duration::from_secs(15));
    assert_eq!(world.state(), (Some(11), Some(Why::Missing)));
    fs::create_dir(&world.path).unwrap();
    world.run(SECOND);
    assert_eq!(world.state(), (Some(11), Some(Why::NoFile)));
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
    world.run(Duration::from_secs(70));
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
    world.run(Duration::from_secs(70));
    assert_eq!(world.state(), (Some(1), None));
    world.export(0);
    world.run(HOUR / 2);
    let seen = load_once(&world.keeper.config, &nothing_known()).unwrap();
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
    let problem = load_once(&world.keeper.config, &nothing_known()).unwrap_err();
    assert_eq!(problem.why, Why::Missing);
    assert!(
        problem.to_string().starts_with("the list of patients ")
            && problem.to_string().contains("patients.csv: it is not there")
    );
    world.export(7);
    let began = Instant::now();
    assert_eq!(load_once(&world.keeper.config, &nothing_known()).unwrap().len(), 7);
    assert!(began.elapsed() >= REST);
}

/// A command cannot wait for a minute.
#[test]
fn a_command_says_what_is_doubtful_and_believes_what_has_been_there_for_long() {
    let world = World::new();
    let load =
        |known: &Earlier| load_once(&world.keeper.config, known).map(|list| list.len()).map_err(|error| error.why);
    world.write("PatNum;LName;FName;Birthdate\n1;Berg;Anna;1980-02-17\n471;Berg;Zoé;1980-02-17");
    assert_eq!(load(&nothing_known()), Err(Why::Doubtful(Doubt::Open)));
    let (list, doubt) = look_once(&world.keeper.config, &nothing_known()).unwrap();
    assert_eq!(doubt, Some(Doubt::Open));
    let known = |before: Before, used: &str| Earlier { before, used: Some([(used.to_owned(), 1)].into()) };
    assert_eq!(load(&known(list.as_before(), "9")), Ok(2), "it counted before");
    let open = Before { is_open: true, ..Before::default() };
    assert_eq!(load(&known(open.clone(), "1")), Ok(2));
    assert_eq!(load(&known(open.clone(), "9")), Err(Why::Doubtful(Doubt::Lacks { count: 1 })));
    let longer = Before { rows: 3, ..open };
    assert_eq!(load(&known(longer, "1")), Err(Why::Doubtful(Doubt::Shorter { before: 3, now: 2 })));
    assert_eq!(
        load(&Earlier { used: None, ..known(Before { is_open: true, ..Before::default() }, "") }),
        Err(Why::Doubtful(Doubt::NotKnown))
    );
    world.set_time(Duration::from_secs(3600));
    assert_eq!(load(&known(Before::default(), "9")), Ok(2));
}

/// The export pauses for 8 s within `4711`.
#[test]
fn a_list_that_is_cut_rests_for_a_minute_and_whoever_never_ends_with_a_line_end_is_known_by_that() {
    let row = |number: &str| format!("{number};Berg;Zoé;1980-02-17");
    let cut = format!("PatNum;LName;FName;Birthdate\n{}\n{}\n", row("1"), row("2"));
    for has_list in [true, false] {
        let mut world = World::new();
        if has_list {
            world.export(2);
            world.run(Duration::from_secs(12));
        }
        let before = has_list.then_some(2);
        // The number stands last.
        let header = "LName;FName;Birthdate;PatNum\n";
        let rows = "Berg;Anna1;1980-02-17;1\nBerg;Anna2;1980-02-17;2\nBerg;Zoé;1980-02-17;471";
        world.write(&format!("{header}{rows}"));
        world.run(Duration::from_secs(50));
        assert_eq!(world.state(), (before, None), "it is cut within a number");
        world.write(&format!("{header}{rows}1\n"));
        world.run(Duration::from_secs(20));
        assert_eq!(world.state(), (Some(3), None));
        assert!(world.keeper.patients.current().list.unwrap().row("4711").is_some());
        // An export that never ends with a line end is one, too.
        world.write(&format!("{header}{rows}1"));
        world.run(Duration::from_secs(50));
        assert_eq!(world.generation(), 1 + u64::from(has_list));
        world.run(Duration::from_secs(20));
        assert_eq!(world.generation(), 2 + u64::from(has_list));
        let more = |count: i32| (0..count).map(|n| format!("\nBerg;Max{n};1980-02-17;x{n}")).collect::<String>();
        world.write(&format!("{header}{rows}1{}", more(1)));
        world.run(Duration::from_secs(10));
        assert_eq!(world.state(), (Some(3), None), "its end shows nothing");
        world.run(Duration::from_secs(15));
        assert_eq!(world.state(), (Some(4), None), "it is known by that");
        world.restart();
        world.run(Duration::from_secs(3));
        assert_eq!(world.state(), (Some(4), None), "the same list counts at once");
        world.write(&format!("{header}{rows}1{}", more(2)));
        world.restart();
        world.run(Duration::from_secs(10));
        assert_eq!(world.state(), (None, None));
        world.run(Duration::from_secs(15));
        assert_eq!(world.state(), (Some(5), None));
    }
    let mut world = World::new();
    world.write(cut.trim_end());
    world.set_time(Duration::from_secs(3600));
    world.run(Duration::from_secs(5));
    assert_eq!(world.state(), (Some(2), None), "at a start it had rested for long");
    world.write(&(cut + &row("3")));
    world.set_time(Duration::from_secs(3600));
    world.run(Duration::from_secs(10));
    assert_eq!(world.state(), (Some(2), None), "it came while docsyncd looked on");
}

#[test]
fn a_list_that_is_shorter_or_lacks_a_number_that_was_used_rests_for_a_minute() {
    let mut world = World::new();
    world.export(40);
    world.run(Duration::from_secs(12));
    let others = |world: &World, from: usize| {
        let rows: String = (from..from + 41).map(|number| format!("{number};Berg;Anna{number};1980-02-17\n")).collect();
        world.write(&format!("PatNum;LName;FName;Birthdate\n{rows}"));
    };
    world.export(39);
    world.run(Duration::from_secs(50));
    assert_eq!(world.state(), (Some(40), None));
    world.export(39);
    world.run(Duration::from_secs(20));
    assert_eq!(world.state(), (Some(39), None), "the same content again keeps its time");
    // Nobody was filed: others take the places of some.
    others(&world, 3);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(41), None));
    world.is_filed([2, 3, 4]);
    others(&world, 4);
    world.run(Duration::from_secs(50));
    assert_eq!(world.generation(), 3, "3 is missing, and 2 was before");
    world.run(Duration::from_secs(20));
    assert_eq!(world.generation(), 4);
    world.restart();
    others(&world, 5);
    world.run(Duration::from_secs(50));
    assert_eq!(world.state(), (None, None), "also at a start");
    world.run(Duration::from_secs(20));
    assert_eq!(world.state(), (Some(41), None));
}

#[test]
fn a_list_without_any_number_of_twenty_letters_is_not_believed() {
    let mut world = World::new();
    world.export(30);
    world.run(Duration::from_secs(12));
    let dressed = |world: &World| {
        let rows: String = (1..=30).map(|number| format!("P-{number};Berg;Anna{number};1980-02-17\n")).collect();
        world.write(&format!("PatNum;LName;FName;Birthdate\n{rows}"));
    };
    world.is_filed(1..=20);
    dressed(&world);
    world.run(Duration::from_secs(120));
    assert_eq!(world.state(), (Some(30), Some(Why::Strange { letters: 20 })));
    world.export(30);
    world.run(Duration::from_secs(12));
    assert_eq!(world.state(), (Some(30), None));
    world.used.lock().unwrap().remove("20");
    dressed(&world);
    world.run(Duration::from_secs(70));
    assert_eq!((world.state(), world.generation()), ((Some(30), None), 2));
}

/// The lock of another program is not its fault, unless it stays.
#[test]
fn a_file_that_another_program_locks_is_being_written() {
    for kind in [io::ErrorKind::ResourceBusy, io::ErrorKind::WouldBlock] {
        assert_eq!(Why::from(io::Error::from(kind)), Why::BeingWritten);
    }
    let mut world = World::new();
    world.export(2);
    world.run(Duration::from_secs(12));
    let mut lock = |time| {
        world.now += time;
        world.keeper.fails(Why::BeingWritten, world.now);
        world.state()
    };
    assert_eq!([lock(SECOND), lock(Duration::from_secs(500))], [(Some(2), None), (Some(2), None)]);
    assert_eq!(lock(Duration::from_secs(200)), (Some(2), Some(Why::BeingWritten)));
}

/// Nothing counted, and nothing was filed.
fn nothing_known() -> Earlier {
    Earlier { used: Some(HashMap::new()), ..Earlier::default() }
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
    let (config, used) = (world.keeper.config.clone(), world.keeper.used.clone());
    let following = tokio::spawn(patients.clone().follow(config, used, stop.clone()));
    changes.changed().await.unwrap();
    assert_eq!(patients.current().list.map(|list| list.len()), Some(4));
    stop.cancel();
    following.await.unwrap();
}

#[tokio::test]
async fn a_defect_is_a_problem_and_the_list_is_read_again() {
    let world = World::new();
    world.export(4);
    let (patients, stop) = (Patients::default(), CancellationToken::new());
    let asked = AtomicUsize::new(0);
    let panics: Used = Arc::new(move || {
        assert!(asked.fetch_add(1, Ordering::Relaxed) > 0, "on purpose");
        None
    });
    let mut changes = patients.changes();
    let following = tokio::spawn(patients.clone().follow(world.keeper.config.clone(), panics, stop.clone()));
    changes.changed().await.unwrap();
    assert_eq!(patients.current().problem.map(|problem| problem.why), Some(Why::Defect));
    patients.expect(load_once(&world.keeper.config, &nothing_known()).unwrap().as_before());
    changes.changed().await.unwrap();
    assert_eq!(patients.current().list.map(|list| list.len()), Some(4));
    stop.cancel();
    following.await.unwrap();
}
