//! The way of filing, over a server in memory that loses replies, cuts transfers and refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex as StdMutex};

use super::super::contract::{
    Place, RemotePlace, Spool, assert_delivered, keeps_the_contract, keeps_the_remote_contract, reason, remote_folder,
};
use super::super::{Adapter, Checked};
use super::*;
use crate::config::{LostReply, SidecarConfig};
use crate::template::{Template, TemplateKind, TextFormat};

/// What the server has, and what is wrong with it next.
#[derive(Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    lose_rename: bool,
    /// The next rename is not answered, and not done so far.
    ignore_rename: bool,
    puts: Vec<String>,
    /// The next file that is to be renamed is cleared away before.
    vanishes: bool,
    /// What is renamed next is taken by an importer at once, and, where it says so, a stranger's file gets the name; then the reply is
    /// lost, or is a refusal.
    taken: Option<Taken>,
    refuse_renames: bool,
    /// A file that has the name is not written over.
    tells_what_is_there: bool,
    /// Removals hang, so that nobody hears of them.
    hangs_at_removals: bool,
    /// They are carried out right before the next rename.
    late_removals: Vec<String>,
    cut_after: Option<usize>,
    revoked: bool,
    is_down: bool,
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
        let content = compile(TemplateKind::Text(TextFormat::Plain), "document={{ document.number }}");
        self.config.sidecar = Some(SidecarConfig { content, name: compile(TemplateKind::SidecarName, name) });
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

    async fn stat(&self, path: &str) -> Result<Found, Outcome> {
        self.use_it(|state| {
            Ok(match state.files.get(path) {
                Some(content) => Found::File(content.len() as u64),
                None if state.folders.contains(path) => Found::Folder,
                None => Found::Nothing,
            })
        })
    }

    async fn read(&self, path: &str, _: u64) -> Result<Option<Digest>, Outcome> {
        self.use_it(|state| Ok(state.files.get(path).map(|content| Digest::of(content))))
    }

    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome> {
        let parent = path.rsplit_once('/').unwrap().0;
        let cut_after = self.use_it(|state| {
            assert!(state.folders.contains(parent), "{path}");
            if state.tells_what_is_there && state.files.contains_key(path) {
                return Ok(None);
            }
            state.files.insert(path.to_owned(), Vec::new());
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
            if std::mem::take(&mut state.ignore_rename) {
                return Err(cut());
            }
            if state.refuse_renames || state.files.contains_key(to) || !state.files.contains_key(from) {
                let reason = "destination `pms`: refuses to rename";
                return Ok(Renamed::Refused(Outcome::transient(Code::word("refused"), reason)));
            }
            let content = state.files.remove(from).unwrap();
            state.files.insert(to.to_owned(), content);
            if let Some(taken) = state.taken.take() {
                state.files.remove(to);
                if taken.stranger {
                    state.files.insert(to.to_owned(), b"a stranger's".to_vec());
                }
                return if taken.refused { Ok(Renamed::Refused(cut())) } else { Err(cut()) };
            }
            if std::mem::take(&mut state.lose_rename) {
                // Whoever looks at once is not answered either.
                state.is_down = true;
                return Err(cut());
            }
            Ok(Renamed::Done)
        })
    }

    async fn remove(&self, path: &str) -> Result<(), Outcome> {
        self.use_it(|state| {
            if state.hangs_at_removals {
                state.late_removals.push(path.to_owned());
                return Err(cut());
            }
            // It works again, and has done before what it was asked for before.
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

/// As an adapter does it; whatever was down is there again at the next attempt.
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
async fn what_an_importer_took_after_a_lost_reply_is_not_sent_again() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.lose_next_reply();
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    memory.state.lock().unwrap().files.clear();
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(everything(&memory), [""; 0]);
}

/// A server that clears both names away, or loses them, looks like an importer.
#[tokio::test]
async fn what_is_seen_nowhere_after_a_lost_reply_is_sent_again_or_left_to_a_person_as_configured() {
    for on_lost_reply in [LostReply::Resend, LostReply::Hold] {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.on_lost_reply = Some(on_lost_reply);
        let item = spool.item(1, b"%PDF one");
        memory.lose_next_reply();
        memory.adapter().deliver(&item).await;
        memory.state.lock().unwrap().files.clear();
        let outcome = memory.adapter().deliver(&item).await;
        match on_lost_reply {
            LostReply::Resend => drop(assert_delivered(&outcome)),
            LostReply::Hold => assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}"),
        }
        assert_eq!(names(&memory).len(), usize::from(on_lost_reply == LostReply::Resend));
        // What is seen leaves no question.
        let item = spool.item(2, b"%PDF two");
        memory.lose_next_reply();
        memory.adapter().deliver(&item).await;
        assert_delivered(&memory.adapter().deliver(&item).await);
    }
}

#[tokio::test]
async fn what_an_importer_took_is_sent_again_only_where_the_server_refused_whatever_has_the_name_since() {
    for (stranger, refused) in [(false, false), (false, true), (true, false), (true, true)] {
        let (memory, spool) = (Memory::named(LETTER), Spool::new());
        let item = spool.item(1, b"%PDF one");
        memory.state.lock().unwrap().taken = Some(Taken { stranger, refused });
        while !matches!(memory.adapter().deliver(&item).await, Outcome::Delivered { .. }) {}
        // Of a refusal nobody can tell it from a scanner that took the temporary file away: what may be lost is sent again.
        let expected = usize::from(stranger) + usize::from(refused);
        assert_eq!(everything(&memory).len(), expected, "{stranger} {refused}: {:?}", everything(&memory));
    }
}

/// A server that hung removes what an attempt before asked it to remove, when another has sent its file and checked it.
#[tokio::test]
async fn what_is_removed_late_is_never_what_was_sent_since() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    for (tells, cuts) in [(false, 3), (true, 3), (true, 10)] {
        memory.state.lock().unwrap().tells_what_is_there = tells;
        let item = spool.item(cuts + u32::from(tells), b"%PDF one");
        for cut in 1..=cuts {
            memory.state.lock().unwrap().hangs_at_removals = cut != 7;
            memory.cut_after(4);
            let outcome = memory.adapter().deliver(&item).await;
            assert!(matches!(outcome, Outcome::Transient { .. }), "{cut}: {outcome:?}");
            assert!(item.names.known().await.unwrap().intent.is_none());
        }
        memory.state.lock().unwrap().hangs_at_removals = false;
        assert_delivered(&memory.adapter().deliver(&item).await);
        spool.record(&item);
        assert_eq!(memory.objects().into_values().collect::<Vec<_>>(), [b"%PDF one"]);
        assert_eq!(everything(&memory).len(), 1, "no temporary file is left");
        memory.state.lock().unwrap().files.clear();
    }
}

/// A scanner, or what clears temporary files away, on the server.
#[tokio::test]
async fn what_is_cleared_away_before_it_has_its_name_is_sent_again() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().vanishes = true;
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains(".docsyncd-"), "{outcome:?}");
    assert!(item.names.known().await.unwrap().intent.is_none());
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(names(&memory), ["letters/lab_slip.pdf"]);
}

/// A process that was killed took temporary names of which the next one knows nothing.
#[tokio::test]
async fn what_a_process_before_left_is_removed_also_when_the_server_does_not_answer_at_once() {
    let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
    let mut item = spool.item(1, b"%PDF one");
    item.tried = true;
    for left in ["-2.tmp", "-5.tmp", ".sidecar.tmp"] {
        let path = format!("/inbox/letters/.docsyncd-{}{left}", item.key);
        let mut state = memory.state.lock().unwrap();
        state.folders.insert("/inbox/letters".to_owned());
        state.files.insert(path, b"%PDF".to_vec());
    }
    memory.state.lock().unwrap().hangs_at_removals = true;
    let adapter = memory.adapter();
    let outcome = adapter.deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert!(item.names.known().await.unwrap().intent.is_some(), "the next attempt knows where it lies");
    assert_eq!(memory.objects()["letters/lab_slip.pdf"], b"%PDF one");
    {
        let mut importer = memory.state.lock().unwrap();
        importer.hangs_at_removals = false;
        importer.files.retain(|path, _| path.contains("/.docsyncd-"));
    }
    assert_delivered(&adapter.deliver(&item).await);
    assert_eq!(everything(&memory), [""; 0], "it was imported, and nothing is left");
}

/// A ledger that was lost knows of no intent: what lies there counts, whatever becomes of leftovers, and is not sent again.
#[tokio::test]
async fn what_is_found_without_an_intent_is_delivered_although_leftovers_stay() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.occupy("letters/lab_slip.pdf", b"%PDF one");
    memory.state.lock().unwrap().hangs_at_removals = true;
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(names(&memory), ["letters/lab_slip.pdf"]);
}

/// The rename was answered: who clears away afterwards, in vain, loses no answer of it.
#[tokio::test]
async fn what_has_its_name_is_neither_sent_again_nor_asked_about_because_leftovers_stay() {
    for on_lost_reply in [LostReply::Resend, LostReply::Hold] {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.on_lost_reply = Some(on_lost_reply);
        let mut item = spool.item(1, b"%PDF one");
        item.tried = true;
        memory.state.lock().unwrap().hangs_at_removals = true;
        assert_delivered(&memory.adapter().deliver(&item).await);
    }
}

/// What lies before a server that was given up may write to it much later.
#[tokio::test]
async fn no_two_attempts_write_to_one_temporary_name() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let (adapter, item) = (memory.adapter(), spool.item(1, b"%PDF one"));
    for _ in 0..2 {
        memory.cut_after(4);
        assert!(matches!(adapter.deliver(&item).await, Outcome::Transient { .. }));
    }
    assert_delivered(&adapter.deliver(&item).await);
    let puts: BTreeSet<_> = memory.state.lock().unwrap().puts.iter().cloned().collect();
    assert_eq!((puts.len(), everything(&memory).len()), (3, 1), "{puts:?}");
}

/// A server that hangs may carry a rename out long after it was given up.
#[tokio::test]
async fn what_waits_for_a_rename_is_not_written_anew_while_the_server_may_still_carry_it_out() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().ignore_rename = true;
    assert!(matches!(memory.adapter().deliver(&item).await, Outcome::Transient { .. }));
    assert!(item.names.known().await.unwrap().intent.is_some());
    let puts = || memory.state.lock().unwrap().puts.len();
    assert_eq!(puts(), 1);
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!((puts(), everything(&memory)), (1, vec!["/inbox/letters/lab_slip.pdf".to_owned()]));
}

#[tokio::test]
async fn what_waits_and_is_damaged_is_written_anew() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().ignore_rename = true;
    memory.adapter().deliver(&item).await;
    memory.state.lock().unwrap().files.values_mut().for_each(|content| content.truncate(4));
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(memory.objects()["letters/lab_slip.pdf"], b"%PDF one");
}

#[tokio::test]
async fn a_folder_that_is_missing_says_nothing_about_what_was_in_it() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.lose_next_reply();
    memory.adapter().deliver(&item).await;
    {
        let mut state = memory.state.lock().unwrap();
        state.files.clear();
        state.folders.clear();
    }
    let outcome = memory.adapter().deliver(&item).await;
    assert!(reason(&outcome).contains("no folder on the server"), "{outcome:?}");
    assert!(matches!(outcome, Outcome::Unavailable { .. }));
}

#[tokio::test]
async fn a_crash_at_any_question_to_the_ledger_leaves_one_file_in_the_end() {
    for questions in 0..6 {
        let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
        let item = spool.item(1, b"%PDF one");
        spool.answer(Some(questions));
        let first = memory.adapter().deliver(&item).await;
        spool.answer(None);
        assert!(matches!(first, Outcome::Unrecorded | Outcome::Delivered { .. }), "{questions}: {first:?}");
        assert_delivered(&memory.adapter().deliver(&item).await);
        spool.record(&item);
        assert_eq!(everything(&memory), ["/inbox/letters/lab_slip.pdf", "/inbox/letters/lab_slip.txt"], "{questions}");
    }
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
    let uuid = crate::document::RemoteIdentity::of_key(&item.key).uuid();
    assert_eq!(names(&memory), [format!("{}/{uuid}.pdf", item.key)]);
}
