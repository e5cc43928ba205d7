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

/// Which problems `status` and `--health` show.
async fn problems(practice: &Practice) -> (Vec<String>, String) {
    let shown = status(practice).await;
    let causes = shown["problems"].as_array().unwrap().iter().map(|one| one["cause"].as_str().unwrap().to_owned());
    let health = practice.docsyncd(&["status", "--health"]).await.stdout;
    (causes.collect(), health.split(' ').next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_folder_that_is_gone_at_the_start_is_a_problem_before_the_first_letter() {
    let practice = Practice::with_documents(0).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"destination_away\"").await;
    assert_eq!(problems(&practice).await, (vec!["destination".to_owned()], "WARNING".to_owned()));
    running.end().await;
}

/// An empty folder is where the share was, as at the mount point of one that went away.
#[tokio::test]
async fn letters_that_wait_in_another_folder_are_a_problem_also_after_a_start() {
    let mut practice = Practice::with_documents(1).await;
    practice.configure("confirm = \"moved:taken\"\n");
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    std::fs::create_dir(practice.inbox().join("taken")).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"filed\"").await;
    let share = practice.path("share");
    std::fs::rename(practice.inbox(), &share).unwrap();
    std::fs::create_dir_all(practice.inbox().join("taken")).unwrap();
    running.wait_for_log("event=\"destination_away\"").await;
    assert_eq!(problems(&practice).await, (vec!["destination".to_owned()], "WARNING".to_owned()));
    running.end().await;
    let mut running = practice.run().await;
    // A letter that is put into it shows nothing of the share.
    practice.sandbox.add(NewDocument::default()).await.unwrap();
    running.wait_for_log("event=\"filed\"").await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(problems(&practice).await, (vec!["destination".to_owned()], "WARNING".to_owned()));
    running.end().await;
}
