//! A backlog: what is found first is filed while the rest is still being listed, and the list takes no memory.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, Options, Quirks, RequestRecord, Route, View};

use crate::dictated::{is_list, small, status};
use crate::harness::{PATIENCE, Practice};
use crate::scale::Memory;

/// How long a list of a hundred thousand may take to be known, and then a letter that comes in.
const KNOWN_WITHIN: Duration = Duration::from_secs(3 * 60);

/// All pages that show something.
const fn pages(documents: usize, page_size: u32) -> usize {
    documents / page_size as usize
}

fn is_report(request: &RequestRecord) -> bool {
    request.method == "POST" && request.path.ends_with("/status")
}

/// Runs the daemon until the whole list was read, and then one letter more; returns its memory. The first report came
/// before.
async fn enumerate(documents: usize, page_size: u32, poll_interval: &str, patience: Duration) -> Memory {
    let began = Instant::now();
    let mut practice = Practice::with_options(Options { documents, ..Options::default() }).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(page_size), ..Quirks::default() });
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), poll_interval.into());
    println!("{documents} documents were invented in {:?}", began.elapsed());
    let began = Instant::now();
    let mut running = practice.run().await;
    let listed =
        |view: &View| view.requests().filter(|request| is_list(request)).count() >= pages(documents, page_size);
    practice.sandbox.wait_for(listed, patience).await.expect("the list is read");
    // What was reported meanwhile let others slip to pages that had been read: these are read once more, backwards.
    while !running.log().contains("event=\"polled\"") {
        assert!(began.elapsed() < patience, "the poll ends");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut memory = Memory::default();
    memory.read(&format!("/proc/{}/status", running.id()));
    let took = began.elapsed();
    let (first, reports) = practice.sandbox.look(|view| {
        let first = view.requests().position(is_report).expect("something was reported");
        let lists_after = view.requests().skip(first).filter(|request| is_list(request)).count();
        (lists_after, view.requests().filter(|request| is_report(request)).count())
    });
    let log = running.log();
    let (filed, polled) = (log.find("event=\"delivered\""), log.find("event=\"polled\""));
    let known = status(&practice).await;
    let known: u64 = known["documents"].as_object().unwrap().values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(known, documents as u64);
    assert!(took < KNOWN_WITHIN, "{took:?}");
    let new = practice.sandbox.add(small("new")).await.unwrap();
    let began = Instant::now();
    while practice.docsyncd(&["show", &new]).await.code != 0 {
        assert!(began.elapsed() < KNOWN_WITHIN);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    println!("a letter that comes in then is found after {:?}", began.elapsed());
    running.kill().await;
    println!(
        "{documents} documents listed in {took:?}, {reports} of them filed and reported meanwhile, the first one {first} \
         pages before the end; at most {} KiB of memory, {} KiB of it the program itself",
        memory.peak, memory.code
    );
    assert!(filed.unwrap() < polled.unwrap(), "the first document is filed before the last page");
    assert!(first > 0, "and reported");
    memory
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_found_first_is_filed_while_the_rest_is_still_listed() {
    enumerate(200, 5, "1s", PATIENCE).await;
}

/// What a list of a hundred thousand may take more than one of twenty thousand, at which every cache is full.
const MOST_MORE_KIB: u64 = 6 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: .ci/long runs it"]
async fn a_hundred_thousand_documents_are_known_within_three_minutes_in_the_memory_of_a_fifth_of_them() {
    let few = enumerate(20_000, 100, "60s", PATIENCE * 10).await;
    let many = enumerate(100_000, 100, "60s", PATIENCE * 10).await;
    if cfg!(target_os = "linux") {
        let [few, many] = [few, many].map(|memory| memory.peak - memory.code);
        assert!(many < few + MOST_MORE_KIB, "{few} KiB and {many} KiB");
    }
}

/// One document of so many is bad.
const ONE_BAD_OF: usize = 100;
/// What has to be left of the speed at which the good ones are filed.
const LEAST: f64 = 0.9;

/// How many good documents a second come to the destination that is there, of a hundred thousand; `poisoned`: while one
/// in a hundred is bad in one of four ways, and the other of two destinations is away.
async fn good_a_second(poisoned: bool) -> f64 {
    let mut practice = Practice::with_options(Options { documents: 100_000, ..Options::default() }).await;
    // As by default.
    for (key, value) in [("RETRY__INITIAL", "1s"), ("RETRY__MAX", "15m"), ("SYNC__POLL_INTERVAL", "60s")] {
        practice.env.insert(format!("DOCSYNCD__{key}"), value.into());
    }
    let documents = practice.sandbox.documents().await.unwrap();
    let kinds: BTreeSet<&str> = documents.iter().filter_map(|document| document.document_type.as_deref()).collect();
    let second: Vec<&str> = kinds.into_iter().step_by(2).collect();
    practice.configure(&format!(
        "file_name = \"{{{{ document.uuid }}}}.pdf\"\n[destinations.second]\ntype = \"folder\"\npath = 'second'\n\
         [[routes]]\ntypes = {second:?}\nto = [\"second\"]\n[[routes]]\nto = [\"pms\"]"
    ));
    let bad: HashSet<&str> = documents.iter().step_by(ONE_BAD_OF).map(|document| document.uuid.as_str()).collect();
    let is_for_second = |kind: &Option<String>| kind.as_deref().is_some_and(|kind| second.contains(&kind));
    let good: HashSet<&str> = documents
        .iter()
        .filter(|document| !is_for_second(&document.document_type) && !bad.contains(document.uuid.as_str()))
        .map(|document| document.uuid.as_str())
        .collect();
    if poisoned {
        let ways = [
            (Route::Document, FaultKind::status(500)),
            (Route::Document, FaultKind::status(403)),
            (Route::Pdf, FaultKind::Html200),
            (Route::Pdf, FaultKind::Reset),
        ];
        for (uuid, (route, kind)) in bad.iter().zip(ways.into_iter().cycle()) {
            practice.sandbox.inject(Fault::always(route, kind).for_document(*uuid));
        }
    } else {
        std::fs::create_dir(practice.path("second")).unwrap();
    }
    let began = Instant::now();
    let mut running = practice.start();
    let filed = |view: &View| {
        let well = view.status_posts().filter(|post| post.success == Some(true));
        well.filter(|post| good.contains(post.document.as_str())).count()
    };
    while practice.sandbox.look(filed) < good.len() {
        assert!(began.elapsed() < PATIENCE * 30, "{} of {}", practice.sandbox.look(filed), good.len());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let took = began.elapsed();
    running.kill().await;
    practice.sandbox.look(|view| {
        for post in view.status_posts().filter(|post| post.success != Some(true)) {
            assert!(bad.contains(post.document.as_str()), "{post:?}");
        }
    });
    let speed = f64::from(u32::try_from(good.len()).unwrap()) / took.as_secs_f64();
    println!("{} good documents of 100,000 in {took:?}, {speed:.0} a second; poisoned: {poisoned}", good.len());
    speed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a quarter of an hour: .ci/long runs it"]
async fn of_a_hundred_thousand_none_waits_for_the_bad_ones_or_for_a_destination_that_is_away() {
    let (clean, poisoned) = (good_a_second(false).await, good_a_second(true).await);
    assert!(poisoned >= clean * LEAST, "{poisoned:.0} instead of {clean:.0} a second");
}
