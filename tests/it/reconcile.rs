//! `docsyncd reconcile`: the API, the ledger and the destinations, compared (docs/reconcile.md).

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::json::assert_as_documented;
use crate::dictated::*;
use crate::harness::{Ended, Practice};

/// Letters that are filed under their uuids, and reported.
async fn synchronized(count: usize, more: &str) -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    practice.configure(&format!("file_name = '{{{{ document.uuid }}}}.pdf'\n{more}"));
    let uuids = add_small(&practice, count, |_, document| document).await;
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    (practice, uuids)
}

fn letter(practice: &Practice, uuid: &str) -> PathBuf {
    practice.inbox().join(format!("{uuid}.pdf"))
}

async fn reconcile(practice: &Practice, args: &[&str]) -> Ended {
    practice.docsyncd(&[&["reconcile"], args].concat()).await
}

/// What it prints for programs, and its exit code.
async fn printed(practice: &Practice, args: &[&str]) -> (Value, i32) {
    let ended = reconcile(practice, &[&["--json"], args].concat()).await;
    (serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}")), ended.code)
}

/// The differences: whose and of which kind.
fn differences(printed: &Value) -> Vec<(&str, &str)> {
    let all = printed["differences"].as_array().unwrap();
    all.iter().map(|one| (one["uuid"].as_str().unwrap(), one["kind"].as_str().unwrap())).collect()
}

async fn causes(practice: &Practice) -> Vec<String> {
    let status = status(practice).await;
    let problems = status["problems"].as_array().unwrap().iter();
    problems.map(|problem| problem["cause"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn where_all_sides_agree_it_says_so_and_changes_nothing() {
    let (practice, _) = synchronized(3, "").await;
    practice.sandbox.add(small("not fetched yet")).await.unwrap();
    practice.sandbox.forget_requests();
    let ended = reconcile(&practice, &[]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.starts_with("all agree") && ended.stdout.contains("not fetched yet: 1"), "{ended:?}");
    let (printed, code) = printed(&practice, &[]).await;
    assert_eq!(
        (code, &printed["agrees"], &printed["looked_at"], &printed["new"]),
        (0, &json!(true), &json!(3), &json!(1))
    );
    assert_only_lists(&practice);
    assert_eq!(practice.sandbox.status_posts().len(), 3);
}

#[tokio::test]
async fn without_a_ledger_there_is_nothing_to_differ() {
    let practice = Practice::with_documents(1).await;
    let ended = reconcile(&practice, &[]).await;
    assert!(ended.code == 0 && ended.stderr.contains("no ledger"), "{ended:?}");
    assert!(!practice.path("state").exists());
}

#[tokio::test]
async fn each_difference_is_told_by_its_letter_and_only_what_is_safe_is_repaired() {
    let (practice, uuids) = synchronized(5, "").await;
    let [same, missing, changed, longer, listed] = uuids.as_slice() else { panic!() };
    fs::remove_file(letter(&practice, missing)).unwrap();
    let mut other = fs::read(letter(&practice, changed)).unwrap();
    *other.last_mut().unwrap() = b'x';
    fs::write(letter(&practice, changed), &other).unwrap();
    fs::write(letter(&practice, longer), "%PDF-1.7 and something else").unwrap();
    practice.sandbox.set_listed(listed, true).await.unwrap();

    let ended = reconcile(&practice, &[]).await;
    assert_eq!(ended.code, 3, "{ended:?}");
    for uuid in &uuids {
        let lines = ended.stdout.lines().filter(|line| line.starts_with(uuid.as_str())).count();
        assert_eq!(lines, usize::from(uuid != same), "{uuid}: {ended:?}");
    }
    assert!(!ended.stdout.contains(".pdf") && !ended.stdout.contains("inbox"), "no place: {ended:?}");
    let (shown, code) = printed(&practice, &[]).await;
    let mut expected = vec![
        (missing.as_str(), "missing"),
        (changed, "other_content"),
        (longer, "other_content"),
        (listed, "not_synchronized"),
    ];
    expected.sort_unstable();
    assert_eq!((differences(&shown), code), (expected, 3));
    assert_eq!(practice.sandbox.status_posts().len(), 5, "nothing was done");

    // Without a person to ask only the report is repeated.
    let ended = reconcile(&practice, &["--repair"]).await;
    assert!(ended.code == 3 && ended.stderr.contains("--yes"), "{ended:?}");
    assert!(ended.stdout.contains(&format!("{listed}: report it again")), "{ended:?}");
    assert_eq!((practice.state(listed).await, practice.state(missing).await), ("discovered".into(), "reported".into()));
    assert_eq!(practice.sync().await.code, 0);
    assert!(!letter(&practice, missing).exists());
    let (shown, code) = printed(&practice, &["--repair", "--yes"]).await;
    assert_eq!((differences(&shown).len(), code), (3, 3));
    let repaired: Vec<&str> = shown["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["repaired"] == true)
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(repaired, ["missing"]);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(fs::read(letter(&practice, missing)).unwrap(), practice.sandbox.pdf_bytes(missing).await.unwrap());
    assert_eq!(fs::read(letter(&practice, changed)).unwrap(), other, "nothing is overwritten");
    let (shown, _) = printed(&practice, &[]).await;
    assert!(differences(&shown).iter().all(|(_, kind)| *kind == "other_content"), "{shown}");
    assert_eq!(practice.filed().len(), 5, "nothing is filed twice");
    assert_eq!([posts_of(&practice.sandbox, listed).len(), posts_of(&practice.sandbox, same).len()], [2, 1]);
    let exported = practice.docsyncd(&["export", "--from", "1d", "--to", "0s", "--format", "jsonl"]).await.stdout;
    for action in ["report_again", "file_again"] {
        assert!(exported.lines().any(|line| line.contains(action) && line.contains("\"who\"")), "{action}: {exported}");
    }
    assert_eq!(practice.docsyncd(&["export", "--verify"]).await.code, 0);
}

#[tokio::test]
async fn a_letter_that_is_missing_at_one_destination_is_filed_again_at_that_one_alone() {
    let practice = Practice::with_documents(0).await;
    fs::create_dir(practice.path("archive")).unwrap();
    practice.configure(
        "file_name = '{{ document.uuid }}.pdf'\nexpect_taken = true\n[destinations.archive]\ntype = \"folder\"\npath = 'archive'\n\
         file_name = '{{ document.uuid }}.pdf'\n[[routes]]\nto = [\"pms\", \"archive\"]",
    );
    let uuid = add_small(&practice, 1, |_, document| document).await.remove(0);
    assert_eq!(practice.sync().await.code, 0);
    // An importer takes them from the one; from the other nobody should.
    fs::remove_file(letter(&practice, &uuid)).unwrap();
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
    let archived = practice.path("archive").join(format!("{uuid}.pdf"));
    fs::remove_file(&archived).unwrap();
    let (shown, code) = printed(&practice, &["--repair", "--yes"]).await;
    assert_eq!((code, shown["differences"][0]["destination"].as_str()), (3, Some("archive")), "{shown}");
    assert_eq!(practice.sync().await.code, 0);
    assert!(archived.exists() && !letter(&practice, &uuid).exists());
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
}

#[tokio::test]
async fn where_every_letter_is_missing_none_is_filed_into_what_is_probably_an_empty_mount_point() {
    let (practice, uuids) = synchronized(4, "").await;
    let away = practice.path("away");
    fs::rename(practice.inbox(), &away).unwrap();
    fs::create_dir(practice.inbox()).unwrap();
    let ended = reconcile(&practice, &["--repair", "--yes"]).await;
    assert!(ended.code == 3 && ended.stderr.contains("mounted") && ended.stderr.contains("all 4"), "{ended:?}");
    practice.sync().await;
    assert_eq!(practice.filed().len(), 0, "nothing is filed again");
    // The share is back, and one letter is really gone.
    fs::remove_dir(practice.inbox()).unwrap();
    fs::rename(&away, practice.inbox()).unwrap();
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    assert_eq!(reconcile(&practice, &["--repair", "--yes"]).await.code, 3);
    practice.sync().await;
    assert_eq!(practice.filed().len(), 4);
}

#[tokio::test]
async fn what_the_software_was_seen_to_take_is_not_missing() {
    let (practice, uuids) = synchronized(0, "confirm = \"taken\"").await;
    assert!(uuids.is_empty());
    let uuid = add_small(&practice, 1, |_, document| document).await.remove(0);
    assert_eq!(practice.sync().await.code, 3, "it is filed, and not yet taken");
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuid]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    fs::remove_file(letter(&practice, &uuid)).unwrap();
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
}

#[tokio::test]
async fn a_letter_that_is_open_here_and_ended_at_the_service_is_told() {
    let practice = Practice::with_documents(0).await;
    let uuids = add_small(&practice, 2, |_, document| document).await;
    // They are found, and cannot be filed.
    fs::remove_dir(practice.inbox()).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    fs::create_dir(practice.inbox()).unwrap();
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
    practice.sandbox.set_listed(&uuids[0], false).await.unwrap();
    practice.sandbox.remove(&uuids[1]).await.unwrap();
    let (shown, code) = printed(&practice, &[]).await;
    let mut expected: Vec<(&str, &str)> = uuids.iter().map(|uuid| (uuid.as_str(), "ended_at_api")).collect();
    expected.sort_unstable();
    assert_eq!((differences(&shown), code), (expected, 3));
    let (shown, code) = printed(&practice, &["--since", "2100-01-01"]).await;
    assert_eq!((differences(&shown).len(), code), (0, 0));
}

#[tokio::test]
async fn of_what_is_away_nothing_is_concluded() {
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = '{{ document.uuid }}.pdf'\nmarker = \".here\"");
    fs::write(practice.inbox().join(".here"), "").unwrap();
    let uuids = add_small(&practice, 2, |_, document| document).await;
    assert_eq!(practice.sync().await.code, 0);
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    fs::remove_file(practice.inbox().join(".here")).unwrap();
    let (shown, code) = printed(&practice, &[]).await;
    assert_eq!((differences(&shown).len(), code, &shown["agrees"]), (0, 1, &json!(false)), "{shown}");
    assert_eq!(shown["failed"][0]["scope"], "destination:pms");
    fs::write(practice.inbox().join(".here"), "").unwrap();
    assert_eq!(reconcile(&practice, &[]).await.code, 3);
    // Put elsewhere before: that is not missing.
    fs::create_dir(practice.path("new")).unwrap();
    fs::write(practice.path("new/.here"), "").unwrap();
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replace("'inbox'", "'new'"));
    let (shown, code) = printed(&practice, &[]).await;
    assert_eq!((differences(&shown).len(), code, &shown["not_looked_at"]), (0, 0, &json!(2)), "{shown}");
}

#[tokio::test]
async fn where_the_service_does_not_answer_the_destinations_are_compared() {
    let (practice, uuids) = synchronized(1, "").await;
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    let away = docsyncd_sandbox::Fault::always(docsyncd_sandbox::Route::List, docsyncd_sandbox::FaultKind::status(503));
    practice.sandbox.inject(away);
    let (shown, code) = printed(&practice, &[]).await;
    assert_eq!((differences(&shown), code), (vec![(uuids[0].as_str(), "missing")], 3));
    assert_eq!(shown["failed"][0]["scope"], "account:main");
    assert_as_documented("docsyncd reconcile --json", &shown);
}

#[tokio::test]
async fn what_was_forgotten_cannot_be_looked_at_and_is_no_difference() {
    let (practice, uuids) = synchronized(2, "").await;
    assert_eq!(practice.docsyncd(&["forget", &uuids[0]]).await.code, 0);
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    let (shown, code) = printed(&practice, &[]).await;
    assert_eq!((code, &shown["looked_at"], &shown["not_looked_at"]), (0, &json!(1), &json!(1)), "{shown}");
}

#[tokio::test]
async fn the_daemon_compares_by_itself_and_what_differs_is_a_problem_until_it_agrees() {
    let (practice, uuids) = synchronized(1, "").await;
    let content = fs::read(letter(&practice, &uuids[0])).unwrap();
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&format!("{config}\n[reconcile]\nevery = \"1s\"\n"));
    let mut running = practice.run().await;
    running.wait_for_log("disagree (1)").await;
    assert_eq!(causes(&practice).await, ["not-agreeing"]);
    running.stop().await;
    assert_eq!(causes(&practice).await, ["not-agreeing"], "it is kept");
    // A person finds that it is in order again, and that it is not.
    practice.configure_wholly(&config);
    fs::write(letter(&practice, &uuids[0]), content).unwrap();
    assert_eq!(reconcile(&practice, &["--since", "30d"]).await.code, 0);
    assert_eq!(causes(&practice).await, ["not-agreeing"], "older letters may differ");
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
    assert_eq!(causes(&practice).await, [""; 0]);
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    assert_eq!(reconcile(&practice, &[]).await.code, 3);
    assert_eq!(causes(&practice).await, ["not-agreeing"]);
}

#[tokio::test]
async fn a_running_daemon_takes_up_what_is_repaired_beside_it() {
    let (practice, uuids) = synchronized(1, "").await;
    fs::remove_file(letter(&practice, &uuids[0])).unwrap();
    let mut running = practice.run().await;
    assert_eq!(reconcile(&practice, &["--repair", "--yes"]).await.code, 3);
    practice.wait_for_posts(2).await;
    assert!(letter(&practice, &uuids[0]).exists());
    assert_eq!(reconcile(&practice, &[]).await.code, 0);
    running.stop().await;
}
