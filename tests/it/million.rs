//! A ledger of a million documents: it starts at once, answers at once, and rests in the memory of a small one.

use std::process::Stdio;
use std::time::{Duration, Instant};

use docsyncd_sandbox::View;
use tokio::io::AsyncReadExt as _;

use crate::dictated::is_list;
use crate::filled::{DAY, fill, now};
use crate::harness::{PATIENCE, Practice};
use crate::scale::Memory;

/// What the issue asks for, of the program as it is installed.
const MOST_TO_START: Duration = Duration::from_secs(1);
/// What a ledger a thousand times as large may take more.
const MOST_MORE_KIB: u64 = 4 * 1024;

fn print(what: &str, began: Instant) -> Duration {
    let took = began.elapsed();
    println!("  {what}: {took:?}");
    took
}

/// Everything a person or a service does with a ledger of this size; returns the daemon's own memory, in KiB.
async fn live_with(documents: i64) -> u64 {
    let practice = Practice::with_documents(3).await;
    assert_eq!(practice.sync().await.code, 0);
    let began = Instant::now();
    fill(&practice, documents, now() - DAY);
    let bytes = std::fs::metadata(practice.ledger()).unwrap().len();
    println!("{documents} documents in {bytes} bytes");
    print("(to fill it)", began);

    practice.sandbox.forget_requests();
    let began = Instant::now();
    let mut running = practice.run().await;
    let ready = print("run until it is ready", began);
    let polled = |view: &View| view.requests().any(is_list);
    practice.sandbox.wait_for(polled, PATIENCE).await.unwrap();
    let first_poll = print("run until it polls", began);
    let uuid = format!("{documents:08x}-0000-4000-8000-{documents:012x}");
    let mut slowest = Duration::ZERO;
    for args in [
        &["status"][..],
        &["show", &uuid.to_uppercase()],
        &["show", &uuid[..8]],
        &["find", &uuid[..8]],
        &["list", "--state", "failed"],
        &["list", "--limit", "20"],
    ] {
        let began = Instant::now();
        let ended = practice.docsyncd(args).await;
        slowest = slowest.max(print(&format!("{args:?}, {} bytes", ended.stdout.len()), began));
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    for args in [&["list"][..], &["list", "--json"]] {
        let began = Instant::now();
        let mut child = practice.command(args).stdout(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id().unwrap());
        let (mut out, mut buffer, mut bytes) = (child.stdout.take().unwrap(), vec![0; 1 << 16], 0);
        let mut memory = Memory::default();
        loop {
            let read = tokio::time::timeout(PATIENCE, out.read(&mut buffer)).await.unwrap().unwrap();
            bytes += read;
            memory.read(&status);
            if read == 0 {
                break;
            }
        }
        assert!(child.wait().await.unwrap().success());
        print(&format!("{args:?}, {bytes} bytes, at most {} KiB beside the program", memory.own()), began);
        assert!(!cfg!(target_os = "linux") || memory.own() < 16 * 1024, "{memory:?}");
        let began = Instant::now();
        let mut child = practice.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut buffer[..100]).await.unwrap();
        drop(out);
        let output = child.wait_with_output().await.unwrap();
        slowest = slowest.max(print(&format!("{args:?} into a reader that goes away"), began));
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    let mut memory = Memory::default();
    memory.read(&format!("/proc/{}/status", running.id()));
    println!("  run at rest: at most {} KiB, {} KiB of it the program itself", memory.peak, memory.code);
    running.kill().await;
    let began = Instant::now();
    let synced = practice.sync().await;
    let sync = print("sync with nothing new", began);
    assert_eq!(synced.code, if documents > 1000 { 3 } else { synced.code }, "{synced:?}");
    if !cfg!(debug_assertions) {
        for took in [ready, first_poll, slowest, sync] {
            assert!(took < MOST_TO_START, "{took:?}");
        }
    }
    memory.own()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: .ci/long runs it"]
async fn a_million_documents_are_no_more_work_than_a_thousand() {
    let few = live_with(1000).await;
    let many = live_with(1_000_000).await;
    assert!(!cfg!(target_os = "linux") || many < few + MOST_MORE_KIB, "{few} KiB and {many} KiB");
}
