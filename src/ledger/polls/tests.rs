use super::super::{accounts, testing};
use super::*;
use crate::views::summary;

const HOUR: Millis = RECORDED_EVERY;
const START: Millis = 1_700_000_000_000;

struct World {
    folder: tempfile::TempDir,
    db: Connection,
}

impl World {
    /// A ledger whose daemon has a polls file, after its first poll.
    fn new() -> Self {
        let (folder, db) = testing::empty();
        accounts::progress(&db, "main").unwrap();
        let world = Self { folder, db };
        begin(&world.db, Some(&world.file())).unwrap();
        world.succeeded(START);
        world
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// A poll succeeded, and read the whole list.
    fn succeeded(&self, at: Millis) {
        succeeded(&self.db, "main", true, at + 60_000, at).unwrap();
    }

    /// The ledger's own record.
    fn recorded(&self) -> Polls {
        let sql = "SELECT polled_at, next_poll_at, swept_at FROM account";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Polls { polled_at: row.get(0)?, next_poll_at: row.get(1)?, swept_at: row.get(2)? })
        };
        self.db.query_row(sql, [], read).unwrap()
    }

    fn known(&self) -> Polls {
        Latest::read(&self.db).unwrap().of("main", self.recorded())
    }

    /// The length of its write-ahead log, which each commit of a change extends; bytes.
    fn log(&self) -> u64 {
        fs::metadata(self.folder.path().join("ledger.sqlite3-wal")).unwrap().len()
    }
}

fn whole(at: Millis) -> Polls {
    Polls { polled_at: Some(at), next_poll_at: Some(at + 60_000), swept_at: Some(at) }
}

#[test]
fn a_good_poll_after_a_good_one_writes_nothing_into_the_ledger_and_is_known_all_the_same() {
    let world = World::new();
    assert_eq!(world.recorded(), whole(START), "the first one is recorded");
    let before = world.log();
    for minute in 1..=59 {
        let at = START + minute * 60_000;
        world.succeeded(at);
        assert_eq!(world.known(), whole(at));
        let said = summary(&world.db).unwrap().accounts.remove(0);
        assert!(said.last_poll.is_some() && said.last_poll == said.last_sweep, "{:?}", said.last_poll);
    }
    assert_eq!((world.log(), world.recorded()), (before, whole(START)));
    let at = START + HOUR + 1;
    world.succeeded(at);
    assert_eq!(world.recorded(), whole(at), "it is recorded once an hour");
}

#[test]
fn a_failure_a_poll_after_it_and_the_end_are_recorded_with_what_was_noted_before() {
    let world = World::new();
    world.succeeded(START + 1);
    failed(&world.db, "main", "no answer", "list no_answer", START + 2).unwrap();
    next(&world.db, "main", START + 30_000).unwrap();
    let known = Polls { next_poll_at: Some(START + 30_000), ..whole(START + 1) };
    assert_eq!((world.known(), world.recorded()), (known, known));
    assert_eq!(accounts::progress(&world.db, "main").unwrap().poll_failed, 1);

    world.succeeded(START + 3);
    assert_eq!(world.recorded(), whole(START + 3));
    assert_eq!(accounts::progress(&world.db, "main").unwrap().poll_failed, 0);

    // Only a part of the list was read: the time of the last whole reading stays known.
    world.succeeded(START + 4);
    succeeded(&world.db, "main", false, START + 60_005, START + 5).unwrap();
    assert_eq!(world.known(), Polls { swept_at: Some(START + 4), ..whole(START + 5) });
    end(&world.db).unwrap();
    assert_eq!(world.recorded(), Polls { swept_at: Some(START + 4), ..whole(START + 5) });
    assert!(!world.file().exists() && file(&world.db).unwrap().is_none());
    world.succeeded(START + 6);
    assert_eq!(world.recorded(), whole(START + 6), "without a file each poll is recorded");
}

#[test]
fn what_a_daemon_noted_that_was_cut_off_is_taken_over() {
    let world = World::new();
    world.succeeded(START + 1);
    begin(&world.db, None).unwrap();
    assert_eq!(world.recorded(), whole(START + 1));
}

#[test]
fn a_file_that_is_gone_torn_or_of_another_time_hides_nothing() {
    let world = World::new();
    world.succeeded(START + 1);
    for content in ["", "{", "{\"main\":[]}", "{\"main\":{\"polled_at\":1}}"] {
        fs::write(world.file(), content).unwrap();
        assert_eq!(world.known(), whole(START), "{content}");
    }
    fs::remove_file(world.file()).unwrap();
    assert_eq!(world.known(), whole(START));
    // The clock was set back, and the folder is gone.
    begin(&world.db, Some(Path::new("/nowhere/polls.json"))).unwrap();
    for at in [START - HOUR, START - HOUR + 1] {
        world.succeeded(at);
        assert_eq!(world.recorded(), whole(at));
    }
}
