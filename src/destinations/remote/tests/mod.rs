//! Files over a server in memory that loses replies, cuts transfers and refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex as StdMutex};

use super::super::contract::{
    Place, RemotePlace, Spool, assert_delivered, keeps_the_contract, keeps_the_remote_contract, reason, remote_folder,
};
use super::super::{Adapter, Checked};
use super::*;
use crate::destinations::{LostReply, SidecarConfig};
use crate::formats::template::{Template, TemplateKind, TextFormat};

mod interrupted;

/// The server's content, and its next faults.
#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    lose_rename: bool,
    /// The next rename is not answered, and not carried out.
    ignore_rename: bool,
    puts: Vec<String>,
    /// The next rename is carried out only when the file is read next, and an importer takes the file.
    late_rename: bool,
    late: Option<String>,
    /// There is room for this many files.
    quota: Option<usize>,
    /// The next file to be renamed is removed before the rename.
    vanishes: bool,
    /// An importer takes the next renamed file at once. If `stranger`, a stranger's file gets the name. Then the reply
    /// is lost, or is a refusal.
    taken: Option<Taken>,
    refuse_renames: bool,
    /// An importer takes renamed files at once, but this many more looks still show them under the old name.
    lags: usize,
    ghosts: BTreeMap<String, Vec<u8>>,
    /// No look tells a length.
    tells_no_size: bool,
    /// This many looks do not show a new file yet.
    shown_after: usize,
    unseen: BTreeMap<String, usize>,
    /// This many removals are answered with this status.
    refused_removals: (usize, u16),
    /// The marker is seen this many times; then there is another, empty folder.
    marker_seen: Option<usize>,
    /// Nothing is accepted.
    refuse_puts: bool,
    /// An upload does not replace a file that has the name.
    tells_what_is_there: bool,
    /// So many removals hang, without an answer.
    hanging_removals: usize,
    /// The hanging removals, which are carried out right before the next rename.
    late_removals: Vec<String>,
    cut_after: Option<usize>,
    revoked: bool,
    is_down: bool,
}

impl State {
    /// Whether a look still shows a file under its old name.
    fn is_ghost(&mut self, path: &str) -> bool {
        let is_ghost = self.lags > 0 && self.ghosts.contains_key(path);
        self.lags -= usize::from(is_ghost);
        is_ghost
    }
}

#[derive(Clone, Copy)]
struct Taken {
    stranger: bool,
    refused: bool,
}

#[derive(Clone)]
struct Memory {
    state: Arc<StdMutex<State>>,
    config: RemoteFolder,
}

fn compile(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

impl Memory {
    fn named(file_name: &str) -> Self {
        let state = State { folders: BTreeSet::from(["/inbox".to_owned()]), ..State::default() };
        let config = remote_folder(file_name);
        Self { state: Arc::new(StdMutex::new(state)), config }
    }

    fn with_sidecar(mut self, name: &str) -> Self {
        let content = compile(TemplateKind::Text(TextFormat::Plain), "document={{ document.audio }}");
        self.config.sidecar = Some(SidecarConfig::new(content, compile(TemplateKind::SidecarName, name)));
        self
    }

    fn use_it<T>(&self, work: impl FnOnce(&mut State) -> Result<T, Outcome>) -> Result<T, Outcome> {
        let mut state = self.state.lock().unwrap();
        if state.revoked {
            return Err(Outcome::unavailable("refused", "destination `pms`: refuses its user"));
        }
        if state.is_down {
            return Err(Outcome::unavailable("down", "destination `pms`: is down"));
        }
        work(&mut state)
    }
}

fn cut() -> Outcome {
    Outcome::transient(Code::word("cut"), "destination `pms`: the connection broke")
}

#[async_trait]
impl Remote for Memory {
    fn address(&self) -> String {
        "memory://u@h:1".to_owned()
    }

    async fn stat(&self, path: &str) -> Result<AtPath, Outcome> {
        self.use_it(|state| {
            if path.ends_with(".marker")
                && let Some(times) = &mut state.marker_seen
            {
                if *times == 0 {
                    state.files.clear();
                    return Ok(AtPath::Nothing);
                }
                *times -= 1;
                if *times == 0 {
                    state.files.clear();
                }
                return Ok(AtPath::File(0));
            }
            if state.is_ghost(path) {
                return Ok(AtPath::File(state.ghosts[path].len() as u64));
            }
            Ok(match state.files.get(path) {
                Some(_) if state.tells_no_size => AtPath::Unsized,
                Some(content) => AtPath::File(content.len() as u64),
                None if state.folders.contains(path) => AtPath::Folder,
                None => AtPath::Nothing,
            })
        })
    }

    async fn read(&self, path: &str, _: u64) -> Result<Option<Digest>, Outcome> {
        self.use_it(|state| {
            if state.late.as_deref() == Some(path) {
                state.files.remove(path);
            }
            if let Some(times @ 1..) = state.unseen.get_mut(path) {
                *times -= 1;
                return Ok(None);
            }
            let found = if state.is_ghost(path) { state.ghosts.get(path) } else { state.files.get(path) };
            Ok(found.map(|content| Digest::of(content)))
        })
    }

    async fn content(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Outcome> {
        self.use_it(|state| Ok(state.files.get(path).cloned()))
    }

    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        self.use_it(|state| {
            let name = |file: &str| {
                file.rsplit_once('/').filter(|(folder, _)| *folder == path).map(|(_, name)| name.to_owned())
            };
            let entry = |(file, content): (&String, &Vec<u8>)| {
                Some(Entry { name: name(file)?, size: Some(content.len() as u64), modified: None })
            };
            let files = state.files.iter().filter_map(entry).collect();
            Ok(state.folders.contains(path).then_some(files))
        })
    }

    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome> {
        let parent = path.rsplit_once('/').unwrap().0;
        let cut_after = self.use_it(|state| {
            assert!(state.folders.contains(parent), "{path}");
            if state.tells_what_is_there && state.files.contains_key(path) {
                return Ok(None);
            }
            if state.quota.is_some_and(|quota| state.files.len() >= quota) {
                return Err(Outcome::NoRoom("destination `pms`: no room left".to_owned()));
            }
            if state.refuse_puts {
                return Err(Outcome::permanent(
                    "status_422",
                    "destination `pms`: it does not accept what was sent of this document",
                ));
            }
            state.files.insert(path.to_owned(), Vec::new());
            state.unseen.insert(path.to_owned(), state.shown_after);
            state.puts.push(path.to_owned());
            Ok(Some(state.cut_after.take()))
        })?;
        let Some(cut_after) = cut_after else { return Ok(false) };
        while let Some(piece) = source.next(1024).await? {
            self.use_it(|state| {
                let file = state.files.get_mut(path).unwrap();
                file.extend_from_slice(&piece);
                match cut_after {
                    Some(most) if file.len() > most => {
                        file.truncate(most);
                        Err(cut())
                    }
                    _ => Ok(()),
                }
            })?;
        }
        Ok(true)
    }

    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome> {
        self.use_it(|state| {
            for path in std::mem::take(&mut state.late_removals) {
                state.files.remove(&path);
            }
            if std::mem::take(&mut state.vanishes) {
                state.files.remove(from);
            }
            if std::mem::take(&mut state.late_rename) {
                state.late = Some(from.to_owned());
                return Err(cut());
            }
            if std::mem::take(&mut state.ignore_rename) {
                return Err(cut());
            }
            if state.lags > 0 && !state.files.contains_key(from) {
                let reason = "destination `pms`: has no such file";
                return Ok(Renamed::Missing(Outcome::transient(Code::Status(404), reason)));
            }
            if state.refuse_renames || state.files.contains_key(to) || !state.files.contains_key(from) {
                let reason = "destination `pms`: refuses to rename";
                return Ok(Renamed::Refused(Outcome::transient(Code::word("refused"), reason)));
            }
            let content = state.files.remove(from).unwrap();
            if state.lags > 0 {
                state.ghosts.insert(from.to_owned(), content);
                return Ok(Renamed::Done);
            }
            state.files.insert(to.to_owned(), content);
            if let Some(taken) = state.taken.take() {
                state.files.remove(to);
                if taken.stranger {
                    state.files.insert(to.to_owned(), b"a stranger's".to_vec());
                }
                return if taken.refused { Ok(Renamed::Refused(cut())) } else { Err(cut()) };
            }
            if std::mem::take(&mut state.lose_rename) {
                // A look right after it gets no answer either.
                state.is_down = true;
                return Err(cut());
            }
            Ok(Renamed::Done)
        })
    }

    async fn remove(&self, path: &str) -> Result<(), Outcome> {
        self.use_it(|state| {
            if state.hanging_removals > 0 {
                state.hanging_removals -= 1;
                state.late_removals.push(path.to_owned());
                return Err(cut());
            }
            if let (times @ 1.., status) = &mut state.refused_removals {
                *times -= 1;
                return Err(Outcome::transient(Code::Status(*status), "destination `pms`: not now"));
            }
            // The server works again, and first carries out the removals that hung.
            for path in state.late_removals.split_off(0).iter().map(String::as_str).chain([path]) {
                state.files.remove(path);
            }
            Ok(())
        })
    }

    async fn mkdir(&self, path: &str) -> Result<(), Outcome> {
        self.use_it(|state| {
            state.folders.insert(path.to_owned());
            Ok(())
        })
    }
}

/// Does what an adapter does; a server that was down is up again at the next attempt.
struct MemoryAdapter(Memory, Desk);

#[async_trait]
impl Adapter for MemoryAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        let outcome = deliver(&self.0, &self.0.config, item, &self.1).await;
        let mut state = self.0.state.lock().unwrap();
        state.is_down = state.is_down && state.folders.is_empty();
        outcome
    }

    async fn check(&self) -> Result<Checked, String> {
        let found = self.0.stat("/inbox").await;
        found.map(|_| Checked::default()).map_err(|outcome| reason(&outcome).to_owned())
    }
}

impl Place for Memory {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(MemoryAdapter(self.clone(), Desk::default()))
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state.lock().unwrap();
        let visible = state.files.iter().filter(|(path, _)| !path.contains("/.docsyncd-"));
        visible.map(|(path, content)| (path["/inbox/".len()..].to_owned(), content.clone())).collect()
    }

    fn break_down(&self) {
        let mut state = self.state.lock().unwrap();
        state.folders.clear();
        state.is_down = true;
    }
}

impl RemotePlace for Memory {
    fn lose_next_reply(&self) {
        self.state.lock().unwrap().lose_rename = true;
    }

    fn cut_after(&self, bytes: usize) {
        self.state.lock().unwrap().cut_after = Some(bytes);
    }

    fn occupy(&self, name: &str, content: &[u8]) {
        self.state.lock().unwrap().files.insert(format!("/inbox/{name}"), content.to_vec());
    }

    fn revoke_credentials(&self) {
        self.state.lock().unwrap().revoked = true;
    }
}

const LETTER: &str = "letters/{{ document.type }}.pdf";

keeps_the_contract!(Memory::named(LETTER));
keeps_the_remote_contract!(Memory::named("{{ document.type }}.pdf"), "lab_slip.pdf");

fn names(memory: &Memory) -> Vec<String> {
    memory.objects().into_keys().collect()
}

fn everything(memory: &Memory) -> Vec<String> {
    memory.state.lock().unwrap().files.keys().cloned().collect()
}

#[tokio::test]
async fn twins_get_a_name_each_and_a_new_version_says_which_it_is() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let adapter = memory.adapter();
    for (number, content) in [(1, b"%PDF one"), (2, b"%PDF one"), (1, b"%PDF two")] {
        let item = spool.item(number, content);
        assert_delivered(&adapter.deliver(&item).await);
        spool.record(&item);
    }
    assert_eq!(names(&memory), ["letters/lab_slip.pdf", "letters/lab_slip_00000002.pdf", "letters/lab_slip_v2.pdf"]);
    assert_eq!(everything(&memory).len(), 3, "no temporary file is left");
}

#[tokio::test]
async fn a_refused_rename_leaves_nothing_and_takes_the_intent_back() {
    let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
    memory.occupy("letters/lab_slip.txt", b"document=1");
    memory.state.lock().unwrap().refuse_renames = true;
    let item = spool.item(1, b"%PDF one");
    let outcome = memory.adapter().deliver(&item).await;
    assert!(reason(&outcome).contains("refuses to rename"), "{outcome:?}");
    assert_eq!(everything(&memory), ["/inbox/letters/lab_slip.txt"]);
    assert!(item.names.known().await.unwrap().intent.is_none());
}

#[tokio::test]
async fn one_sidecar_name_for_all_waits_for_its_importer() {
    let (memory, spool) = (Memory::named("{{ document.uuid }}.pdf").with_sidecar("import.txt"), Spool::new());
    let adapter = memory.adapter();
    assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF one")).await);
    let outcome = adapter.deliver(&spool.item(2, b"%PDF two")).await;
    assert!(reason(&outcome).contains("has not been imported yet"), "{outcome:?}");
    memory.state.lock().unwrap().files.clear();
    assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF two")).await);
    assert_eq!(memory.objects()["import.txt"], b"document=2");
}

#[tokio::test]
async fn the_key_and_its_uuid_can_stand_in_a_name() {
    let (memory, spool) = (Memory::named("{{ key }}/{{ uuid }}.pdf"), Spool::new());
    let item = spool.item(1, b"%PDF one");
    assert_delivered(&memory.adapter().deliver(&item).await);
    let uuid = crate::domain::document::RemoteIdentity::of_key(&item.key).uuid();
    assert_eq!(names(&memory), [format!("{}/{uuid}.pdf", item.key)]);
}
