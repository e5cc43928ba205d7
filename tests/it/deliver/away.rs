//! A destination that is away is a problem before the next letter comes.

use docsyncd_sandbox::NewDocument;
use serde_json::Value;

use crate::harness::Practice;

async fn status(practice: &Practice) -> Value {
    serde_json::from_str(&practice.docsyncd(&["status", "--json"]).await.stdout).unwrap()
}

#[tokio::test]
async fn a_folder_that_is_gone_is_a_problem_without_a_letter_and_none_once_it_is_back() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.wait_for_log("event=\"reported\"").await;
    let elsewhere = practice.path("elsewhere");
    std::fs::rename(practice.inbox(), &elsewhere).unwrap();
    running.wait_for_log("event=\"destination_away\"").await;
    let away = status(&practice).await;
    assert_eq!((&away["light"], &away["problems"][0]["cause"]), (&"waiting".into(), &"destination".into()), "{away}");
    assert!(away["destinations"][0]["last_worked"].is_string(), "{away}");
    // Letters that come meanwhile are filed as soon as it is back.
    practice.sandbox.add(NewDocument::default()).await.unwrap();
    std::fs::rename(&elsewhere, practice.inbox()).unwrap();
    running.wait_for_log("event=\"destination_back\"").await;
    practice.wait_for_posts(2).await;
    let back = status(&practice).await;
    assert_eq!(back["problems"], Value::Array(Vec::new()), "{back}");
    running.end().await;
}
