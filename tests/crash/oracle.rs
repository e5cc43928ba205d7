//! What has to be true: at every moment in which the process is dead, and at the end.
//!
//! Two folder fsyncs of the folder adapter have no effect that ext4 could show, since it makes names durable in the
//! order in which they were given: the one of a new sub-folder's parent, and the one between sidecar and PDF. Other
//! file systems promise no such order.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use crate::harness::sha256;
use crate::letters::Letter;
use crate::world::World;

/// Holds a dead process to what is already true then: whatever was reported lies where it belongs, and the ledger
/// knows; nothing was reported twice by one life, and no failure at all.
pub fn at_death(world: &mut World) {
    let posts = world.sandbox().status_posts();
    let ledger = LedgerCopy::of(world);
    let (filed, taken) = (digests(filed(world), "pdf"), digests(files(&world.taken()), ""));
    let recorded = digests(files(&world.recorded()), "pdf");
    once_in_each_life(world);
    let elsewhere = world.elsewhere.held();
    world.elsewhere.at_death(&world.letters);
    for letter in &world.letters {
        filed.get(&letter.sha256).into_iter().flatten().for_each(|pdf| drop(sidecar_of(pdf, &world.letters, letter)));
    }
    let reported: HashSet<&str> = posts.iter().map(|post| post.document.as_str()).collect();
    for post in &posts {
        assert_eq!((post.success, &post.error), (Some(true), &None), "no failure is reported: {post:?}");
        let letter = world.letters.iter().find(|letter| letter.uuid == post.document).expect("a document of ours");
        let uuid = &letter.uuid;
        let there = filed.get(&letter.sha256).map_or(0, Vec::len);
        let of_its_content = |other: &&Letter| other.sha256 == letter.sha256 && reported.contains(other.uuid.as_str());
        let told = world.letters.iter().filter(of_its_content).count();
        assert!(told <= there, "{uuid}: {told} with its content were reported, and {there} lie in the folder");
        for (destination, objects) in elsewhere.iter().filter(|(destination, _)| letter.to.contains(destination)) {
            let there = objects.get(&letter.sha256).copied().unwrap_or_default();
            assert!(told <= there, "{uuid}: {told} with its content were reported, and {there} lie in {destination}");
        }
        let recorded = recorded.get(&letter.sha256).map_or(0, Vec::len);
        assert!(
            !letter.to.contains(&"record") || told <= recorded,
            "{uuid}: {told} with its content were reported, and {recorded} were taken into the records"
        );
        assert!(
            !letter.to.contains(&"scan") || taken.contains_key(&letter.sha256),
            "{uuid} was reported and the program lacks it"
        );
        let state = ledger.state_of(uuid);
        let known = state.as_deref().is_some_and(|state| ["delivered", "reported"].contains(&state));
        assert!(known, "{uuid} was reported, and the ledger says it is {state:?}");
    }
}

/// No process reports a document twice. Each has credentials of its own, so that one that died a moment ago, and whose
/// request the server is still working on, is not taken for the next.
fn once_in_each_life(world: &World) {
    let mut seen = HashSet::new();
    for request in world.sandbox().requests() {
        let accepted = request.status.is_some_and(|status| (200..300).contains(&status));
        if request.method == "POST" && request.path.ends_with("/status") && accepted {
            let report = (request.path, request.authorization);
            assert!(!seen.contains(&report), "reported twice by one process: {}", report.0);
            seen.insert(report);
        }
    }
}

/// Holds a practice to everything, after docsyncd did all its work and was told to stop.
pub fn at_the_end(world: &mut World) {
    world.elsewhere.forget();
    at_death(world);
    let reported: HashSet<String> = world.sandbox().status_posts().into_iter().map(|post| post.document).collect();
    assert_eq!(reported.len(), world.letters.len(), "success is reported for every document");
    let count = |wanted: &mut dyn Iterator<Item = &String>| {
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        wanted.for_each(|sha256| *counted.entry(sha256.clone()).or_default() += 1);
        counted
    };
    let of = |to: &str| count(&mut world.letters.iter().filter(|one| one.to.contains(&to)).map(|one| &one.sha256));
    let filed = digests(filed(world), "pdf");
    assert_eq!(
        numbers(&filed),
        of("pms"),
        "every document lies in the folder once, byte for byte, and nothing else does"
    );
    assert_eq!(numbers(&digests(files(&world.taken()), "")), of("scan"), "the program has each of its documents once");
    let recorded = digests(files(&world.recorded()), "pdf");
    assert_eq!(numbers(&recorded), of("record"), "every document was taken into the records once");
    for letter in world.letters.iter().filter(|letter| letter.to.contains(&"record")) {
        let is_its = |path: &String| path.contains(&format!("/{}", letter.number()));
        assert!(recorded[&letter.sha256].iter().all(is_its), "{} is under another patient's number", letter.uuid);
    }
    let mut told = world.told_of_records();
    told.iter_mut().for_each(|told| drop(told.drain(..told.rfind(' ').unwrap() + 1)));
    let to_record = world.letters.iter().filter(|letter| letter.to.contains(&"record"));
    let mut uuids: Vec<String> = to_record.map(|letter| letter.uuid.clone()).collect();
    told.sort();
    uuids.sort();
    assert_eq!(told, uuids, "every document of the records has one sidecar, after it");
    for (destination, held) in world.elsewhere.held() {
        assert_eq!(held, of(destination), "every document lies in {destination} once");
    }
    world.elsewhere.at_the_end(&world.letters);
    sidecars(world, &filed);
    let left: Vec<_> =
        std::fs::read_dir(world.practice.spool()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "left in the spool: {left:?}");
    let ledger = LedgerCopy::of(world);
    for letter in &world.letters {
        assert_eq!(ledger.state_of(&letter.uuid).as_deref(), Some("reported"), "{}", letter.uuid);
    }
}

/// Beside every PDF lies one sidecar with its document's identifier, and nothing else lies there: no temporary file, no
/// sidecar without its PDF.
fn sidecars(world: &World, filed: &BTreeMap<String, Vec<String>>) {
    let mut expected: Vec<String> = Vec::new();
    for letter in &world.letters {
        for pdf in &filed[&letter.sha256] {
            expected.extend([pdf.clone(), sidecar_of(pdf, &world.letters, letter)]);
        }
    }
    let mut found = self::filed(world);
    // What a check left that was killed: the first one a day later removes it.
    found.retain(|file| !file.contains(".docsyncd-check-"));
    expected.sort();
    // Of one letter that came twice both were asked for.
    expected.dedup();
    let sidecars = found.iter().filter(|file| file.ends_with(".txt"));
    let mut told: Vec<String> = sidecars.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let mut uuids: Vec<String> = world.letters.iter().map(|letter| letter.uuid.clone()).collect();
    told.sort();
    uuids.sort();
    assert_eq!(told, uuids, "every document has one sidecar");
    found.sort();
    assert_eq!(found, expected, "nothing but PDFs and their sidecars lies in the folder");
}

/// The sidecar of a PDF, which is complete before the PDF appears: that of a document with its content.
fn sidecar_of(pdf: &str, letters: &[Letter], letter: &Letter) -> String {
    let sidecar = Path::new(pdf).with_extension("txt");
    let said = std::fs::read_to_string(&sidecar).unwrap_or_else(|error| panic!("{}: {error}", sidecar.display()));
    let whose = letters.iter().find(|letter| letter.uuid == said);
    assert!(whose.is_some_and(|whose| whose.sha256 == letter.sha256), "{said} is in the sidecar of {pdf}");
    sidecar.to_string_lossy().into_owned()
}

fn numbers(files: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, usize> {
    files.iter().map(|(sha256, paths)| (sha256.clone(), paths.len())).collect()
}

/// The files that docsyncd filed, wherever the practice system has put them since.
fn filed(world: &World) -> Vec<String> {
    [files(&world.inbox()), files(&world.imported())].concat()
}

/// The paths of the files with this extension, by the SHA-256 of their content; hidden ones are no document.
fn digests(files: Vec<String>, extension: &str) -> BTreeMap<String, Vec<String>> {
    let mut digests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files {
        let name = Path::new(&path);
        let hidden = name.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && name.extension().unwrap_or_default() == extension {
            digests.entry(sha256(&std::fs::read(&path).unwrap())).or_default().push(path);
        }
    }
    digests
}

/// The paths of all files below a folder.
pub fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path.to_string_lossy().into_owned()) }
        }
    }
    found
}

/// A copy of the ledger as the dead process left it: to open the ledger itself would do the next start's work.
struct LedgerCopy {
    connection: Option<Connection>,
    _folder: tempfile::TempDir,
}

impl LedgerCopy {
    fn of(world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let original = world.practice.ledger();
        let copy = folder.path().join("ledger.sqlite3");
        for end in ["", "-wal"] {
            let name = |path: &Path| path.with_file_name(format!("ledger.sqlite3{end}"));
            if name(&original).exists() {
                std::fs::copy(name(&original), name(&copy)).unwrap();
            }
        }
        // The first starts may die before there is anything in it.
        let is_there = std::fs::metadata(&copy).is_ok_and(|file| file.len() > 0);
        let connection = is_there.then(|| Connection::open(&copy).unwrap());
        if let Some(connection) = &connection {
            let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(said, "ok", "the ledger's integrity_check");
        }
        Self { connection, _folder: folder }
    }

    fn state_of(&self, uuid: &str) -> Option<String> {
        let sql = "SELECT state FROM document WHERE uuid = ?1";
        self.connection.as_ref()?.query_row(sql, [uuid], |row| row.get(0)).optional().unwrap()
    }
}
