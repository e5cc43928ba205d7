//! A server on another machine, simulated, and the calls of a delivery there: each may be lost before its effect or
//! after it, the process may be killed at any of them, and the names are shared with strangers and with an importer.
//!
//! What a server has said that it keeps, it keeps: what it was still being sent is lost when it starts anew. A
//! temporary file of a version that was never delivered may stay, as when a new version came after a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use docsyncd_test_support::dicom;

use super::checks::number;
use super::clock;
use super::destination::LIMIT;
use super::plan::{Trouble, Wrong};
use super::world::{Shared, Version, World};
use crate::destinations::simulated::Digest;
use crate::destinations::{Item, Outcome};

/// What a call takes, roughly; milliseconds.
const LATENCY: u64 = 10;
/// Files that strangers put into one place at most.
const STRANGERS: usize = 6;

/// What a server has. It survives the daemon.
#[derive(Default)]
pub(super) struct Server {
    pub(super) files: BTreeMap<String, File>,
    pub(super) folders: BTreeSet<String>,
    /// Every name that docsyncd gave a file, also of those that an importer took.
    given: BTreeSet<String>,
    /// Documents that a person asked for again although they were delivered: what is not there any more is filed once
    /// more.
    asked_again: BTreeSet<usize>,
    /// Temporary files whose removal it did not answer: docsyncd knows of no second chance.
    unremoved: BTreeSet<String>,
    /// Strangers' files so far.
    strangers: usize,
    /// The keys of what docsyncd says is delivered, or that it cleared away. What it gave up may lie there all the
    /// same, beside what it cannot remove.
    delivered: BTreeSet<String>,
    /// The keys of which docsyncd began to clear away what they left. Wherever that stops, nothing takes it up again
    /// (seed 13011).
    clearing: BTreeSet<String>,
    /// The keys of what others took the place of, which it has to clear away unless it is killed.
    replaced: BTreeSet<String>,
    /// The keys of all that was to be delivered there, with its document.
    keys: BTreeMap<String, usize>,
    /// What it shows of its objects where it is a DICOM archive.
    pub(super) archive: Arc<Mutex<dicom::State>>,
}

/// A file, or an object.
#[derive(Default)]
pub(super) struct File {
    pub(super) content: Vec<u8>,
    /// Whether all of it came.
    pub(super) is_whole: bool,
    pub(super) is_strangers: bool,
    /// The delivery that it says it is, where it is an object.
    pub(super) key: Option<String>,
}

impl Server {
    /// docsyncd was killed.
    pub(super) fn loses_its_client(&mut self) {
        self.replaced.clear();
    }

    /// It starts anew.
    pub(super) fn restart(&mut self) {
        self.files.retain(|_, file| file.is_whole);
    }

    pub(super) fn asked_again(&mut self, document: usize) {
        self.asked_again.insert(document);
    }

    fn import(&mut self) {
        self.files.retain(|path, _| is_temporary(path));
    }

    fn put_by_stranger(&mut self, path: &str) {
        self.strangers += 1;
        let file = File { content: b"a stranger's".to_vec(), is_whole: true, is_strangers: true, key: None };
        self.files.insert(path.to_owned(), file);
    }
}

pub(super) fn is_temporary(path: &str) -> bool {
    path.contains("/.docsyncd-")
}

/// A destination's server, as its deliveries share it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) world: Shared,
    pub(super) index: usize,
    /// Whether an importer takes what is there.
    pub(super) imports: bool,
    /// About as many calls as a delivery makes.
    pub(super) calls: u64,
}

impl Line {
    /// The calls of a delivery, and what goes wrong with them.
    pub(super) fn of(&self, item: &Item) -> Calls {
        let mut world = self.world.lock().unwrap();
        let mut calls = self.of_nobody();
        if let Some(bytes) = world.pdf_of(item)
            && Digest::of(&bytes).sha256 == item.pdf.sha256
        {
            world.whose(self.index, item, &bytes);
        }
        let document = world.find(number(&item.metadata.account), item.uuid.as_str());
        let Some(document) = document else { return calls };
        world.servers[self.index].keys.insert(item.key.clone(), document);
        let last = world.plan.required(document).and_then(<[usize]>::last) == Some(&self.index);
        let fault = world.delivery_fault(self.index, document);
        calls.made = AtomicUsize::new(0);
        (calls.document, calls.patient) = (Some(document), world.patient_in(document, item));
        calls.is_refused =
            fault == Some(Wrong::Permanent) || (last && world.plan.documents[document].trouble == Trouble::Refused);
        let first = usize::try_from(clock::below(self.calls)).unwrap();
        let last = if clock::percent(50) { first } else { usize::MAX };
        calls.fault = fault.filter(|wrong| *wrong != Wrong::Permanent).map(|wrong| (wrong, first, last));
        calls
    }

    /// Calls about no document: those of a check.
    pub(super) fn of_nobody(&self) -> Calls {
        let made = AtomicUsize::new(usize::MAX / 2);
        Calls { line: self.clone(), document: None, patient: 0, fault: None, is_refused: false, made }
    }

    /// What docsyncd says became of a delivery.
    pub(super) fn ended(&self, item: &Item, outcome: &Outcome) {
        self.tell(|| format!("{} of {}: {outcome:?}", item.uuid, item.metadata.account));
        let server = &mut self.world.lock().unwrap().servers[self.index];
        server.clearing.remove(&item.key);
        if matches!(outcome, Outcome::Delivered { .. }) {
            server.delivered.insert(item.key.clone());
            let document = server.keys.get(&item.key);
            let of_document = server.keys.iter().filter(|(_, of)| Some(*of) == document).map(|(key, _)| key);
            let is_over = |key: &String| server.delivered.contains(key) || server.clearing.contains(key);
            let replaced: Vec<_> = of_document.filter(|key| !is_over(key)).cloned().collect();
            server.replaced.extend(replaced);
        }
    }

    /// What attempts at this version left is being cleared away. Whether that is because another took its place.
    pub(super) fn clears(&self, key: &str) -> bool {
        let server = &mut self.world.lock().unwrap().servers[self.index];
        let is_replaced = server.replaced.remove(key);
        if is_replaced {
            server.clearing.insert(key.to_owned());
        }
        is_replaced
    }

    /// That has ended.
    pub(super) fn cleared(&self, key: &str) {
        let server = &mut self.world.lock().unwrap().servers[self.index];
        if !server.unremoved.iter().any(|path| path.contains(key)) {
            server.delivered.insert(key.to_owned());
        }
    }

    pub(super) fn tell(&self, said: impl FnOnce() -> String) {
        let index = self.index;
        self.world.lock().unwrap().tell(|| format!("destination {index}: {}", said()));
    }
}

/// The calls of one delivery.
pub(super) struct Calls {
    pub(super) line: Line,
    document: Option<usize>,
    /// How often its patient had been corrected.
    patient: usize,
    /// What goes wrong, from this call on to that one.
    fault: Option<(Wrong, usize, usize)>,
    /// Whether the server refuses this document for good.
    is_refused: bool,
    made: AtomicUsize,
}

/// What comes of a call.
#[derive(Debug)]
pub(super) enum Came<T> {
    Answered(T),
    Offline,
    /// The connection broke before anything was done.
    Broken,
    /// It may have been done.
    Lost,
}

impl Calls {
    /// One call: its effect, unless something is in the way, and its answer, unless that is lost.
    pub(super) async fn call<T>(&self, what: &str, path: &str, effect: impl FnOnce(&mut World) -> T) -> Came<T> {
        clock::pass(LATENCY).await;
        let (came, is_killed, hangs) = self.come(what, path, effect);
        if is_killed {
            pending::<()>().await;
        }
        if hangs {
            tokio::time::sleep(LIMIT).await;
        }
        came
    }

    /// What comes of it, whether the process does not live to hear it, and whether it waits for it in vain.
    fn come<T>(&self, what: &str, path: &str, effect: impl FnOnce(&mut World) -> T) -> (Came<T>, bool, bool) {
        let (at, index) = (self.made.fetch_add(1, Ordering::Relaxed), self.line.index);
        let mut world = self.line.world.lock().unwrap();
        world.count_call();
        if self.line.imports && clock::percent(10) {
            world.servers[index].import();
        }
        let is_killed = world.kills(index, at);
        if is_killed && clock::percent(50) {
            world.tell(|| format!("destination {index}: {what} {path}: killed before"));
            return (Came::Broken, true, false);
        }
        if world.is_offline(index) {
            return (Came::Offline, is_killed, false);
        }
        let (wrong, is_first) = match self.fault {
            Some((wrong, first, _)) if at == first => (Some(wrong), true),
            // What is broken is not hung once more.
            Some((_, first, last)) if at > first && at <= last => (Some(Wrong::Transient), false),
            _ => (None, false),
        };
        let came = match wrong {
            Some(Wrong::Transient | Wrong::Permanent) => Came::Broken,
            Some(Wrong::Hangs { done: false }) => Came::Lost,
            Some(Wrong::AnswerLost | Wrong::Hangs { done: true }) => {
                effect(&mut world);
                Came::Lost
            }
            None => Came::Answered(effect(&mut world)),
        };
        let killed = if is_killed { ", killed" } else { "" };
        world.tell(|| {
            format!(
                "destination {index}: {what} {path}{}{killed}",
                wrong.map_or(String::new(), |wrong| format!(": {wrong:?}"))
            )
        });
        if let (Some(_), Some(document)) = (wrong, self.document) {
            world.truths[document].blame.transient.push(clock::passed());
        }
        (came, is_killed, is_first && matches!(wrong, Some(Wrong::Hangs { .. })))
    }

    pub(super) fn server<'w>(&self, world: &'w mut World) -> &'w mut Server {
        &mut world.servers[self.line.index]
    }

    /// Whether the server refuses to take this document, for good.
    pub(super) fn refuses(&self, world: &mut World) -> bool {
        if let Some(document) = self.document.filter(|_| self.is_refused) {
            world.truths[document].blame.refused_by.insert(self.line.index);
            return true;
        }
        false
    }

    /// A stranger may put a file of this name there in this moment, so many times in a hundred.
    pub(super) fn stranger_comes(&self, world: &mut World, path: &str, percent: u64) {
        let index = self.line.index;
        let server = &world.servers[index];
        let is_free = !is_temporary(path) && path.contains('.') && !server.files.contains_key(path);
        if is_free && server.strangers < STRANGERS && world.has_strangers(index) && clock::percent(percent) {
            world.servers[index].put_by_stranger(path);
        }
    }

    /// A file gets the name that people and importers see: it must be whole, the first of its version, and nobody
    /// else's.
    pub(super) fn give(&self, world: &mut World, path: &str, file: File) {
        let index = self.line.index;
        if let Some(had) = world.servers[index].files.get(path) {
            let whose = if had.is_strangers { "a stranger's file" } else { "a file" };
            world.violate(|| format!("destination {index}: {whose} was overwritten: {path}"));
        }
        world.servers[index].given.insert(path.to_owned());
        if path.ends_with(".txt") {
            if !file.content.ends_with(b";") {
                world.violate(|| format!("destination {index}: {path} is half written"));
            }
        } else {
            self.hold_file(world, path, &file);
        }
        world.servers[index].files.insert(path.to_owned(), file);
    }

    fn hold_file(&self, world: &mut World, path: &str, file: &File) {
        let index = self.line.index;
        let version = world.truths.iter().enumerate().find_map(|(document, truth)| {
            let is_this = |version: &Version| version.bytes == file.content;
            let mut versions = truth.versions.iter();
            let number = versions.position(|version| is_this(version) && version.patient == self.patient);
            Some((document, number.or_else(|| truth.versions.iter().position(is_this))?))
        });
        let Some((document, version)) = version else {
            world.violate(|| format!("destination {index}: {path} is half written"));
            return;
        };
        // What a person asks for again is sent again where nothing tells what is there, and into the folder that its
        // patient's name gives now (seed 34008).
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let is_seen = |at: &str| !is_temporary(at) && folder(at) == folder(path);
        let lies_there = !path.starts_with("/post/")
            && world.servers[index].files.iter().any(|(at, other)| is_seen(at) && other.content == file.content);
        let asked_again = world.servers[index].asked_again.remove(&document);
        if world.holds(index, document, version) && (lies_there || !asked_again) {
            let name = world.name(document);
            world.violate(|| format!("destination {index} has version {version} of {name} twice, at last as {path}"));
        }
        world.held[index].insert(format!("{document} {version}"), (document, version));
    }

    /// The removal of this file failed.
    pub(super) fn not_removed(&self, path: &str) {
        self.server(&mut self.line.world.lock().unwrap()).unremoved.insert(path.to_owned());
    }

    /// Whether docsyncd ever gave a file this name.
    pub(super) fn was_given(&self, world: &World, path: &str) -> bool {
        world.servers[self.line.index].given.contains(path)
    }
}

impl World {
    /// What is delivered has left no temporary file, but for versions of which a restored ledger knows nothing.
    pub(super) fn look_for_leftovers(&mut self) {
        if self.book.is_restored {
            return;
        }
        for index in 0..self.servers.len() {
            let server = &self.servers[index];
            let left = server.files.keys().filter(|path| is_temporary(path) && !server.unremoved.contains(*path));
            let left = left.filter_map(|path| {
                let key = path.rsplit("/.docsyncd-").next()?.split(['-', '.']).next()?;
                let is_over = server.delivered.contains(key) || server.replaced.contains(key);
                is_over.then(|| format!("destination {index}: {path} is left"))
            });
            if let Some(what) = left.collect::<Vec<_>>().into_iter().next() {
                self.violate(|| what);
            }
        }
    }
}
