//! A service that finds nothing to do: good polls leave the ledger as it is, and are known all the same.

use std::fs;

use super::*;
use crate::dictated::status;

async fn last_poll(practice: &Practice) -> jiff::Timestamp {
    let status = status(practice).await;
    status["accounts"][0]["last_poll"].as_str().and_then(|at| at.parse().ok()).unwrap_or_else(|| panic!("{status:#}"))
}

/// The names and the bytes of the ledger's files.
fn ledger(practice: &Practice) -> Vec<(String, Vec<u8>)> {
    let name = practice.ledger().file_name().unwrap().to_string_lossy().into_owned();
    let content = |end: &str| {
        let path = practice.ledger().with_file_name(format!("{name}{end}"));
        (end.to_owned(), fs::read(path).unwrap_or_default())
    };
    ["", "-wal"].map(content).into()
}

#[tokio::test]
async fn polls_that_find_nothing_are_told_and_change_nothing_in_the_ledger() {
    let mut practice = Practice::with_documents(1).await;
    fs::create_dir(practice.path("runtime")).unwrap();
    practice.env.insert("RUNTIME_DIRECTORY".into(), practice.path("runtime").display().to_string());
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "200ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.wait_for_logs("event=\"reported\"", 1).await;
    // What was reported is looked for twice.
    let looked = practice.sandbox.requests().len() + 25;
    practice.sandbox.wait_for(|view| view.requests().count() >= looked, PATIENCE).await.unwrap();
    let (before, first) = (ledger(&practice), last_poll(&practice).await);
    let lists = practice.sandbox.requests().len();
    practice.sandbox.wait_for(|view| view.requests().count() >= lists + 5, PATIENCE).await.unwrap();
    let second = last_poll(&practice).await;
    assert!(second > first, "{first} {second}");
    assert!(ledger(&practice) == before, "polls wrote into the ledger");
    running.kill().await;
    assert!(last_poll(&practice).await >= second);

    // The next one takes it over, and takes it away at its end.
    let mut running = practice.run().await;
    running.stop().await;
    assert!(fs::read_dir(practice.path("runtime")).unwrap().next().is_none());
    assert!(last_poll(&practice).await >= second);
}
