//! Looks over a folder in memory that goes away, refuses and is large.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::contract::confirm::{Known, confirm, moved, said};
use super::compared::MOST_COMPARED;
use super::*;
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::proof::Filed;

#[derive(Default)]
struct Memory {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    /// When files were written, if not at 1.
    written: BTreeMap<String, u64>,
    /// The folder and its files are there for this many looks at it.
    roots: Mutex<Option<usize>>,
    /// These files can be listed, but not read.
    locked: Vec<String>,
    /// These files exist but are in no listing, because of letter case or because another machine answers.
    unlisted: Vec<String>,
    /// The answer to a look at a file.
    answer: Option<Outcome>,
    listings: AtomicUsize,
    reads: AtomicUsize,
    looks: AtomicUsize,
    /// How often a name came or went.
    changes: AtomicUsize,
}

impl Memory {
    fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: Mutex::new(files.into_iter().collect()), ..Self::default() }
    }

    fn write(&self, path: &str, content: Option<&[u8]>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let mut files = self.files.lock().unwrap();
        match content {
            Some(content) => drop(files.insert(path.to_owned(), content.to_vec())),
            None => drop(files.remove(path)),
        }
    }
}

#[async_trait]
impl Shelf for Memory {
    fn name(&self) -> &str {
        "pms"
    }

    async fn find_root(&self) -> Result<(), Outcome> {
        let mut roots = self.roots.lock().unwrap();
        if let Some(left) = roots.as_mut() {
            *left = left.checked_sub(1).ok_or_else(|| Outcome::transient(Code::word("folder_unusable"), "is away"))?;
            if *left == 0 {
                self.files.lock().unwrap().clear();
            }
        }
        Ok(())
    }

    async fn list(&self, folder: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        self.listings.fetch_add(1, Ordering::Relaxed);
        let files = self.files.lock().unwrap();
        let of = |(path, content): (&String, &Vec<u8>)| {
            let (within, name) = path.rsplit_once('/').unwrap_or(("", path));
            (within == folder && !self.unlisted.contains(path)).then(|| Entry {
                name: name.to_owned(),
                size: Some(content.len() as u64),
                modified: Some(self.written.get(path).copied().unwrap_or(1)),
            })
        };
        Ok(Some(files.iter().filter_map(of).collect()))
    }

    async fn changed(&self, _: &str) -> Result<Option<u64>, Outcome> {
        Ok(Some(self.changes.load(Ordering::Relaxed) as u64))
    }

    async fn missing(&self, paths: Vec<String>) -> Result<HashSet<String>, Outcome> {
        self.looks.fetch_add(paths.len(), Ordering::Relaxed);
        let files = self.files.lock().unwrap();
        Ok(paths.into_iter().filter(|path| !files.contains_key(path)).collect())
    }

    async fn digest(&self, path: &str, _: u64) -> Result<Option<Digest>, Outcome> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.locked.iter().any(|locked| locked == path) {
            return self.answer.clone().map_or(Ok(None), Err);
        }
        Ok(self.files.lock().unwrap().get(path).map(|content| Digest::of(content)))
    }

    async fn content(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Outcome> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(self.files.lock().unwrap().get(path).cloned())
    }

    fn shown(&self, path: &str) -> String {
        format!("/srv/{path}")
    }
}

fn letter(path: &str, content: &[u8]) -> Unproved {
    let Digest { size, sha256 } = Digest::of(content);
    let record = serde_json::Map::new;
    let metadata =
        Metadata { account: "main".into(), document: record(), patient: record(), user: record(), number: None };
    Unproved {
        uuid: DocumentUuid::parse("00000000-0000-4000-8000-000000000001").unwrap(),
        key: "k".to_owned(),
        has_editions: false,
        is_first: true,
        filed: Filed { path: path.to_owned(), sidecar: Some("index.ini".to_owned()), ..Filed::default() },
        place: format!("/srv/{path}"),
        size,
        sha256,
        metadata: std::sync::Arc::new(metadata),
    }
}

async fn looked(shelf: &Memory, success: Evidence, letters: &[Unproved]) -> Result<Vec<&'static str>, Outcome> {
    let memory = super::Memory::default();
    look(shelf, &confirm(success, None), &memory, letters, &Known::default()).await.map(|sights| said(&sights))
}

#[tokio::test]
async fn a_folder_that_goes_away_in_the_middle_says_nothing() {
    let letters = [letter("1.pdf", b"one")];
    for success in [Evidence::Taken, moved("done"), Evidence::Renamed] {
        let shelf = Memory::of([("1.pdf".to_owned(), b"one".to_vec())]);
        *shelf.roots.lock().unwrap() = Some(1);
        let outcome = looked(&shelf, success, &letters).await.unwrap_err();
        assert_eq!(outcome.reason(), "is away");
        assert!(shelf.files.lock().unwrap().is_empty(), "the test proves nothing");
    }
}

#[tokio::test]
async fn that_a_listing_does_not_show_a_letter_proves_nothing_alone() {
    let (files, letters) = ([("1.pdf".to_owned(), b"one".to_vec())], [letter("1.pdf", b"one")]);
    let shelf = Memory { unlisted: vec!["1.pdf".to_owned()], ..Memory::of(files) };
    assert_eq!(looked(&shelf, Evidence::Taken, &letters).await.unwrap(), ["waits"]);
    shelf.write("1.pdf", None);
    assert_eq!(looked(&shelf, Evidence::Taken, &letters).await.unwrap(), ["gone"]);
}

#[tokio::test]
async fn a_letter_that_comes_back_between_two_looks_and_goes_again_is_not_at_rest() {
    let (shelf, letters) = (Memory::of([]), [letter("1.pdf", b"one")]);
    let (memory, confirm) = (super::Memory::default(), confirm(Evidence::Taken, None));
    let look = async || look(&shelf, &confirm, &memory, &letters, &Known::default()).await.unwrap().remove(0);
    let gone = look().await;
    assert!(matches!(gone, Sight::Gone(_)) && gone == look().await);
    shelf.write("1.pdf", Some(b"one"));
    shelf.write("1.pdf", None);
    let again = look().await;
    assert!(matches!(again, Sight::Gone(_)) && gone != again);
}

#[tokio::test]
async fn thousands_of_letters_that_wait_cost_one_listing() {
    let name = |number: usize| format!("letters/{number}.pdf");
    let shelf = Memory::of((0..5000).map(|number| (name(number), b"letter".to_vec())));
    let letters: Vec<Unproved> = (0..5000).map(|number| letter(&name(number), b"letter")).collect();
    assert_eq!(looked(&shelf, Evidence::Taken, &letters).await.unwrap(), ["waits"; 5000]);
    let counted = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    assert_eq!((counted(&shelf.listings), counted(&shelf.looks), counted(&shelf.reads)), (1, 0, 0));
}

#[tokio::test]
async fn what_is_locked_or_forbidden_keeps_its_letter_waiting_and_no_other() {
    let letters = [letter("1.pdf", b"one"), letter("2.pdf", b"two")];
    let forbidden = Outcome::Unavailable { code: Code::Status(403), reason: "forbids".to_owned(), retry_after: None };
    let answers = [None, Some(Outcome::transient(Code::word("not_allowed"), "refuses")), Some(forbidden)];
    for (answer, name) in answers.into_iter().flat_map(|answer| [(answer.clone(), "1.pdf"), (answer, "x.pdf")]) {
        let files = [(format!("done/{name}"), b"one".to_vec()), ("done/2.pdf".to_owned(), b"two".to_vec())];
        let shelf = Memory { locked: vec![format!("done/{name}")], answer, ..Memory::of(files) };
        assert_eq!(looked(&shelf, moved("done"), &letters).await.unwrap(), ["waits", "moved"]);
    }
    // A server that does not answer says nothing about any letter.
    let files = [("done/1.pdf".to_owned(), b"one".to_vec()), ("done/2.pdf".to_owned(), b"two".to_vec())];
    let answer = Some(Outcome::transient(Code::word("cut"), "broke"));
    let shelf = Memory { locked: vec!["done/1.pdf".to_owned()], answer, ..Memory::of(files) };
    assert_eq!(looked(&shelf, moved("done"), &letters).await.unwrap_err().reason(), "broke");
}

#[tokio::test(start_paused = true)]
async fn an_archive_is_read_in_parts_and_once() {
    let archived = |number: usize| (format!("done/{number:03}.pdf"), b"old".to_vec());
    let shelf = Memory::of((0..MOST_COMPARED * 3).map(archived));
    let letters = [letter("new.pdf", b"new")];
    let (memory, confirm) = (super::Memory::default(), confirm(moved("done"), None));
    let again = async || {
        let before = shelf.reads.load(Ordering::Relaxed);
        let sights = look(&shelf, &confirm, &memory, &letters, &Known::default()).await.unwrap_or_default();
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        (said(&sights), shelf.reads.load(Ordering::Relaxed) - before)
    };
    let mut reads = 0;
    for _ in 0..20 {
        let (said, more) = again().await;
        assert_eq!(said, ["waits"]);
        assert!(more <= MOST_COMPARED);
        reads += more;
    }
    // Each file is read twice: one that was read right after it came may have changed since.
    assert_eq!(reads, MOST_COMPARED * 3 * 2);
    shelf.write("done/zzz.pdf", Some(b"new"));
    assert_eq!(again().await, (vec!["moved"], 1));
}

#[tokio::test(start_paused = true)]
async fn a_sidecar_that_changes_within_a_second_is_read_again() {
    let shelf = Memory::of([("1.pdf".to_owned(), b"one".to_vec()), ("index.ini".to_owned(), b"READY=0".to_vec())]);
    let letters = [letter("1.pdf", b"one")];
    let ready = Evidence::Sidecar(crate::config::SidecarLine::parse("READY=1").unwrap());
    let (memory, confirm) = (super::Memory::default(), confirm(ready, None));
    let look = async || said(&look(&shelf, &confirm, &memory, &letters, &Known::default()).await.unwrap_or_default());
    assert_eq!(look().await, ["waits"]);
    // Of the same length, in the same second.
    shelf.write("index.ini", Some(b"READY=1"));
    assert_eq!(look().await, ["sidecar"]);
    shelf.write("index.ini", Some(b"READY=0"));
    for _ in 0..10 {
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        assert_eq!(look().await, ["waits"]);
    }
    assert_eq!(shelf.reads.load(Ordering::Relaxed), 3, "an unchanged file is not read each time");
}

/// The second letter saw the first one's file before it was filed. If the first one got the second one's file, the
/// second would wait for ever.
#[tokio::test]
async fn of_two_letters_with_one_content_each_is_proved_by_the_file_that_was_written_for_it() {
    let filed = |path: &str, at, before: &[&str]| {
        let letter = letter(path, b"same");
        let before = before.iter().map(|path| (*path).to_owned()).collect();
        Unproved { filed: Filed { is_listed: true, before, written: Some(at), ..letter.filed }, ..letter }
    };
    let letters = [filed("4711/1.pdf", 1, &[]), filed("4711/2.pdf", 2, &["done/b.pdf"])];
    let written = BTreeMap::from([("done/a.pdf".to_owned(), 2)]);
    let shelf = Memory { written, ..Memory::of([("done/a.pdf".to_owned(), b"same".to_vec())]) };
    assert_eq!(looked(&shelf, moved("done"), &letters).await.unwrap(), ["waits", "moved"]);
    shelf.write("done/b.pdf", Some(b"same"));
    assert_eq!(looked(&shelf, moved("done"), &letters).await.unwrap(), ["moved", "moved"]);
}

/// Copies have the time of the original cut to 100 ns or two seconds, or the letter's date.
#[tokio::test]
async fn what_was_seen_before_a_letter_tells_an_old_copy_from_a_new_one_and_not_the_time_alone() {
    for (is_listed, before, modified, expected) in [
        (true, &["done/old.pdf"][..], 99, "moved"),
        (true, &[], 1, "moved"),
        (true, &["done/a.pdf"], 99, "waits"),
        // It was written over since.
        (true, &["done/a.pdf"], 100, "moved"),
        // Nobody could list what was there.
        (false, &[], 99, "waits"),
        (false, &[], 100, "moved"),
    ] {
        let one = letter("1.pdf", b"one");
        let before = before.iter().map(|path| (*path).to_owned()).collect();
        let one = Unproved { filed: Filed { is_listed, before, written: Some(100), ..one.filed }, ..one };
        let written = BTreeMap::from([("done/a.pdf".to_owned(), modified)]);
        let shelf = Memory { written, ..Memory::of([("done/a.pdf".to_owned(), b"one".to_vec())]) };
        assert_eq!(looked(&shelf, moved("done"), &[one]).await.unwrap(), [expected], "{is_listed} {modified}");
    }
}

#[tokio::test]
async fn a_name_that_the_file_system_writes_in_another_way_is_the_same() {
    // The form that macOS uses: the accent stands behind its letter.
    let shelf = Memory::of([("done/Zoe\u{301}.pdf".to_owned(), b"%PDF-1.7 stamped".to_vec())]);
    assert_eq!(looked(&shelf, moved("done"), &[letter("Zoé.pdf", b"one")]).await.unwrap(), ["moved"]);
}

#[tokio::test]
async fn a_copy_of_another_patients_proves_nothing_by_its_content() {
    let (own, anothers) = ("1_u.pdf", "2_u.pdf");
    for (success, found, is_proof) in [
        (moved("done"), format!("done/{own}"), true),
        (moved("done"), format!("done/{anothers}"), false),
        (Evidence::Renamed, "x.pdf".to_owned(), false),
    ] {
        // Without a copy there, the correction of the patient changes nothing.
        for (has_editions, is_first) in [(true, false), (true, true), (false, true)] {
            let letter = Unproved { has_editions, is_first, ..letter(own, b"one") };
            let shelf = Memory::of([(found.clone(), b"one".to_vec())]);
            let expected = if is_proof || is_first { "moved" } else { "waits" };
            assert_eq!(looked(&shelf, success.clone(), &[letter]).await.unwrap(), [expected], "{found} {has_editions}");
        }
    }
}
