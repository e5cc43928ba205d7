//! A backlog: what is found first is filed while the rest is still being listed, and the list takes no memory.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Options, Quirks, RequestRecord, View};

use crate::dictated::is_list;
use crate::harness::{PATIENCE, Practice};
use crate::scale::Memory;

/// The page after which nothing more is listed was asked for: two reads of the last date.
const fn pages(documents: usize, page_size: u32) -> usize {
    documents / page_size as usize
}

fn is_report(request: &RequestRecord) -> bool {
    request.method == "POST" && request.path.ends_with("/status")
}

/// Runs the daemon until the whole list was read; returns its memory. The first report came before.
async fn enumerate(documents: usize, page_size: u32, patience: Duration) -> Memory {
    let began = Instant::now();
    let practice = Practice::with_options(Options { documents, ..Options::default() }).await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(page_size), ..Quirks::default() });
    println!("{documents} documents were invented in {:?}", began.elapsed());
    let began = Instant::now();
    let mut running = practice.run().await;
    let listed =
        |view: &View| view.requests().filter(|request| is_list(request)).count() >= pages(documents, page_size);
    practice.sandbox.wait_for(listed, patience).await.expect("the list is read");
    running.wait_for_log("event=\"polled\"").await;
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
    enumerate(200, 5, PATIENCE).await;
}

/// What a list of a hundred thousand may take more than one of twenty thousand, at which every cache is full.
const MOST_MORE_KIB: u64 = 6 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: .ci/long runs it"]
async fn a_hundred_thousand_documents_are_listed_in_the_memory_of_a_fifth_of_them() {
    let few = enumerate(20_000, 100, PATIENCE * 10).await;
    let many = enumerate(100_000, 100, PATIENCE * 10).await;
    if cfg!(target_os = "linux") {
        let [few, many] = [few, many].map(|memory| memory.peak - memory.code);
        assert!(many < few + MOST_MORE_KIB, "{few} KiB and {many} KiB");
    }
}
