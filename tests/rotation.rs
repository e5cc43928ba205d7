//! Rotation under attack: the process dies at every step of a refresh, replies are lost, several refresh at once. After
//! each the account works; or, only where the server had already killed the old token and its reply was lost, it is
//! paused with the command that mends it. `cargo test --features failpoints --test rotation -- --nocapture` prints the
//! cases.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report; the table of cases is printed for whoever looks"
)]

#[path = "it/signed_in.rs"]
mod signed_in;

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, Options, Quirks, Route};
use docsyncd_test_support::harness::{self, Ended, Practice};
use secrecy::ExposeSecret as _;
use signed_in::{CLAIRE, SCOPES, make_due, refreshes, sign_in, store};

/// Every step of a refresh, in its order, and whether the process can die there without losing the sign-in: before the
/// server heard of it, or after the file has its name.
const POINTS: [(&str, bool); 9] = [
    ("token.refresh.before", true),
    ("token.refresh.after", false),
    ("tokens.write.before", false),
    ("tokens.write.after", true),
    ("tokens.sync.before", true),
    ("tokens.sync.after", true),
    ("tokens.rename.after", true),
    ("tokens.sync_folder.after", true),
    ("token.first_use.before", true),
];

const LOGIN: &str = "run docsyncd login --account main";

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Works,
    Paused,
}

async fn practice(grace: bool) -> Practice {
    let quirks = Quirks { refresh_grace: grace.then(|| Duration::from_secs(60)), ..Quirks::default() };
    let practice = signed_in::practice(Options { documents: 2, quirks, ..Options::default() }).await;
    make_due(&practice, "main");
    practice
}

/// Says how a `sync` ended, and that it ended so as it should.
async fn outcome(practice: &Practice, ended: &Ended) -> Outcome {
    if ended.code == 0 {
        practice.assert_all_filed().await;
        return Outcome::Works;
    }
    assert!(
        ended.code == 1 && ended.stderr.contains(LOGIN) && ended.stderr.contains("account:main is paused"),
        "{ended:?}"
    );
    assert!(practice.filed().is_empty());
    assert!(store(practice, "main").load().unwrap().is_some(), "nothing is deleted");
    // A sign-in mends it, and nothing was lost.
    sign_in(practice, "main", CLAIRE, &SCOPES).await;
    let mended = practice.sync().await;
    assert_eq!(mended.code, 0, "{mended:?}");
    practice.assert_all_filed().await;
    Outcome::Paused
}

fn show(case: &str, grace: bool, outcome: Outcome) {
    let grace = if grace { "grace window" } else { "no grace" };
    println!("| {case:<44} | {grace:<12} | {outcome:<6?} |");
}

#[tokio::test]
async fn a_process_that_dies_at_any_step_of_a_refresh_leaves_an_account_that_works_or_says_what_to_do() {
    for grace in [false, true] {
        for (point, harmless) in POINTS {
            let mut practice = practice(grace).await;
            practice.env.insert("FAILPOINTS".into(), format!("{point}=return"));
            let died = practice.sync().await;
            assert_eq!(died.code, -1, "{point} is reached, and the process dies there: {died:?}");
            let taken_by_server = refreshes(&practice).len();
            assert_eq!(taken_by_server, usize::from(point != "token.refresh.before"), "{point}");
            practice.env.remove("FAILPOINTS");
            let outcome = outcome(&practice, &practice.sync().await).await;
            show(&format!("killed at {point}"), grace, outcome);
            let expected = if harmless || grace { Outcome::Works } else { Outcome::Paused };
            assert_eq!(outcome, expected, "{point}");
        }
    }
}

#[tokio::test]
async fn whatever_the_network_does_to_a_refresh_only_a_lost_reply_without_grace_signs_the_account_out() {
    let cases = [
        ("the connection is closed before the server acts", FaultKind::Reset, false),
        ("the connection is reset before the server acts", FaultKind::Abort, false),
        ("500", FaultKind::status(500), false),
        ("503 with Retry-After", FaultKind::status_retry_after(503, 1), false),
        ("429", FaultKind::status(429), false),
        ("a proxy's HTML with 200", FaultKind::Html200, false),
        ("an empty answer", FaultKind::Bytes(Vec::new()), false),
        ("half an answer, then the connection ends", FaultKind::CutBody(20), true),
        ("the reply is lost", FaultKind::LostReply, true),
        ("the reply breaks off in its head", FaultKind::AbortHead, true),
    ];
    for grace in [false, true] {
        for (case, kind, effect) in &cases {
            let practice = practice(grace).await;
            practice.sandbox.inject(Fault::once(Route::Token, kind.clone()));
            let ended = practice.sync().await;
            let lost = ended.stderr.contains("the reply to an earlier refresh was lost");
            assert_eq!(lost, *effect && !grace, "{case}: {ended:?}");
            let outcome = outcome(&practice, &ended).await;
            show(case, grace, outcome);
            assert_eq!(outcome, if lost { Outcome::Paused } else { Outcome::Works }, "{case}");
        }
    }
}

#[tokio::test]
async fn a_disk_that_takes_nothing_costs_no_token() {
    let practice = practice(false).await;
    let folder = store(&practice, "main").path().parent().unwrap().to_path_buf();
    // What stands where the disk is tried cannot be replaced, as on a disk that is full.
    let obstacle = folder.join(".main.try");
    std::fs::create_dir_all(obstacle.join("in-the-way")).unwrap();
    assert_ne!(practice.sync().await.code, 0);
    assert!(refreshes(&practice).is_empty(), "the old token is not spent");
    std::fs::remove_dir_all(&obstacle).unwrap();
    let outcome = outcome(&practice, &practice.sync().await).await;
    show("the disk takes nothing, then it does again", false, outcome);
    assert_eq!(outcome, Outcome::Works);
}

#[tokio::test]
async fn a_token_endpoint_that_stays_away_changes_nothing_on_the_disk() {
    let practice = practice(false).await;
    let before = std::fs::read(store(&practice, "main").path()).unwrap();
    let fault = practice.sandbox.inject(Fault::always(Route::Token, FaultKind::Reset));
    let ended = practice.sync().await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("cannot be renewed now") && !ended.stderr.contains(LOGIN), "{ended:?}");
    assert_eq!(std::fs::read(store(&practice, "main").path()).unwrap(), before);
    practice.sandbox.remove_fault(fault);
    assert_eq!(outcome(&practice, &practice.sync().await).await, Outcome::Works);
    show("the token endpoint stays away, then is back", false, Outcome::Works);
}

#[tokio::test]
async fn a_client_that_is_refused_is_not_a_sign_in_that_ended() {
    let practice = practice(false).await;
    practice.write_secret("client-secret", "wrong");
    let ended = practice.sync().await;
    assert!(ended.code == 1 && ended.stderr.contains("invalid_client"), "{ended:?}");
    assert!(ended.stderr.contains("accounts.main.client_id") && !ended.stderr.contains(LOGIN), "{ended:?}");
    practice.write_secret("client-secret", signed_in::SECRET);
    assert_eq!(outcome(&practice, &practice.sync().await).await, Outcome::Works);
    show("a wrong client secret, then the right one", false, Outcome::Works);
}

#[tokio::test]
async fn processes_that_refresh_at_once_make_one_refresh_together() {
    const ROUNDS: usize = 12;
    let practice = practice(false).await;
    for round in 0..ROUNDS {
        make_due(&practice, "main");
        practice.sandbox.forget_requests();
        let call = || practice.docsyncd(&["api", "GET", "me"]);
        let (one, two, three) = tokio::join!(call(), call(), call());
        for ended in [one, two, three] {
            assert!(ended.code == 0 && ended.stdout.contains(CLAIRE), "round {round}: {ended:?}");
        }
        assert_eq!(refreshes(&practice).len(), 1, "round {round}");
    }
    show(&format!("three processes at once, {ROUNDS} rounds"), false, Outcome::Works);
}

/// A server that takes the old token once more does so for a short while only: a command that makes one call and ends
/// has to ask again by itself.
#[tokio::test]
async fn a_reply_that_is_lost_is_asked_for_again_at_once() {
    for (case, kind) in [
        ("one call, the reply is lost", FaultKind::LostReply),
        ("one call, the reply breaks off in its head", FaultKind::AbortHead),
        ("one call, the reply does not come in time", FaultKind::StallBody(0)),
        ("one call, a gateway gives up", FaultKind::status(504)),
    ] {
        let mut practice = practice(true).await;
        practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "3s".into());
        practice.sandbox.inject(Fault::once(Route::Token, kind));
        let ended = practice.docsyncd(&["api", "GET", "me"]).await;
        assert!(ended.code == 0 && ended.stdout.contains(CLAIRE), "{case}: {ended:?}");
        assert_eq!(refreshes(&practice).len(), 2, "{case}");
        show(case, true, Outcome::Works);
    }
    // Once more, not again and again; and a server that asks for a pause is left alone.
    for (kind, calls) in [(FaultKind::LostReply, 2), (FaultKind::status_retry_after(503, 1), 1)] {
        let practice = practice(true).await;
        practice.sandbox.inject(Fault::always(Route::Token, kind.clone()));
        assert_eq!(practice.docsyncd(&["api", "GET", "me"]).await.code, 1);
        assert_eq!(refreshes(&practice).len(), calls, "{kind:?}");
    }
}

/// Promise 7: the name of the new file may not be on the disk yet, and then a power cut would bring the dead token
/// back.
#[cfg(unix)]
#[tokio::test]
async fn tokens_whose_name_is_not_on_the_disk_are_used_by_nobody() {
    let mut practice = practice(false).await;
    let before = store(&practice, "main").load().unwrap().unwrap();
    // EIO: of the first command when it has renamed the new file, of the others when they find it.
    let eio = "durable.sync_folder=return(5)";
    let later = "durable.sync_folder=1*off->return(5)";
    for (command, fault) in [(&["api", "GET", "me"][..], later), (&["api", "GET", "me"], eio), (&["sync"], eio)] {
        practice.env.insert("FAILPOINTS".into(), fault.into());
        practice.sandbox.forget_requests();
        let ended = practice.docsyncd(command).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == 1 && said.contains("cannot be stored"), "{ended:?}");
        let used: Vec<_> =
            practice.sandbox.requests().into_iter().filter(|request| request.path != "/oauth2/token").collect();
        assert!(used.is_empty(), "{used:?}");
    }
    let renamed = store(&practice, "main").load().unwrap().unwrap();
    assert_ne!(renamed.refresh_token.expose_secret(), before.refresh_token.expose_secret(), "the name was given");
    practice.env.remove("FAILPOINTS");
    practice.sandbox.forget_requests();
    assert_eq!(outcome(&practice, &practice.sync().await).await, Outcome::Works);
    assert!(refreshes(&practice).is_empty());
    show("the disk does not take the new file's name", false, Outcome::Works);
}

/// What the system could not write it may have dropped, and a second fsync would not say so: the file is written anew.
#[cfg(unix)]
#[tokio::test]
async fn tokens_that_the_disk_did_not_take_are_written_anew_by_the_process_that_has_them() {
    let mut practice = practice(false).await;
    // EIO when the name is forced to the disk, once; and of files, after the trial and the tokens, for any further one.
    practice.env.insert(
        "FAILPOINTS".into(),
        "durable.sync_folder=1*off->1*return(5)->off;durable.sync_file=2*off->return(5)".into(),
    );
    let ended = practice.sync().await;
    assert!(ended.code == 1 && ended.stderr.contains("cannot be stored"), "{ended:?}");
    assert_eq!(practice.sandbox.requests().len(), refreshes(&practice).len(), "no call was made with it");
    assert_eq!(refreshes(&practice).len(), 1, "the server is not asked again");
    practice.env.remove("FAILPOINTS");
    assert_eq!(outcome(&practice, &practice.sync().await).await, Outcome::Works);
    assert_eq!(refreshes(&practice).len(), 1);
    show("the disk takes the new file the second time", false, Outcome::Works);
}

#[tokio::test]
async fn a_login_during_a_refresh_wins() {
    let practice = practice(false).await;
    // The refresh is asked for twice.
    for _ in 0..2 {
        practice.sandbox.inject(Fault::once(Route::Token, FaultKind::Stall));
    }
    let mut command = practice.command(&["api", "GET", "me"]);
    command.env("DOCSYNCD__API__TIMEOUT", "500ms");
    let call = tokio::spawn(Ended::of(command));
    practice
        .sandbox
        .wait_for(|view| view.requests().any(|request| request.path == "/oauth2/token"), harness::PATIENCE)
        .await
        .unwrap();
    // Waits for the lock that the refresh holds, then replaces the tokens.
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    let new = store(&practice, "main").load().unwrap().unwrap();
    let ended = call.await.unwrap();
    assert_ne!(ended.code, 0, "{ended:?}");
    let kept = store(&practice, "main").load().unwrap().unwrap();
    assert_eq!(kept.refresh_token.expose_secret(), new.refresh_token.expose_secret());
    assert_eq!(outcome(&practice, &practice.sync().await).await, Outcome::Works);
    show("a login while a refresh hangs", false, Outcome::Works);
}
