//! Accounts that signed in: they stay so.

use docsyncd::api::Api as _;
use std::time::{Duration, Instant};

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, Options, Route};
use secrecy::ExposeSecret as _;

use crate::harness::{PATIENCE, Practice};
use crate::signed_in::{self, CLAIRE, SCOPES, make_due, refreshes, sign_in, store};

/// How long work goes on with tokens of two seconds. For a minute of it:
/// `DOCSYNCD_TEST_LOAD_SECONDS=60 cargo test --test it -- short_lives --nocapture`
const LOAD: Duration = Duration::from_secs(8);
const LIFETIME: Duration = Duration::from_secs(2);

#[tokio::test]
async fn an_account_that_signed_in_files_its_documents_and_renews_its_token_when_it_is_due() {
    let practice = signed_in::practice(Options { documents: 3, ..Options::default() }).await;
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
    assert!(refreshes(&practice).is_empty(), "a token that is good is not renewed");
    let before = store(&practice, "main").load().unwrap().unwrap();
    make_due(&practice, "main");
    practice.sandbox.add_documents(1).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
    assert_eq!(refreshes(&practice).len(), 1);
    let after = store(&practice, "main").load().unwrap().unwrap();
    assert_ne!(after.refresh_token.expose_secret(), before.refresh_token.expose_secret());
    assert_eq!(
        (after.user.as_deref(), after.scopes),
        (Some(CLAIRE), before.scopes),
        "what the answer leaves out stays"
    );
}

#[tokio::test]
async fn an_access_token_that_the_server_refuses_before_its_time_is_renewed_once_and_the_call_made_again() {
    let practice = signed_in::practice(Options { documents: 2, ..Options::default() }).await;
    practice.sandbox.advance_clock(Duration::from_secs(2 * 3600));
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
    assert_eq!(refreshes(&practice).len(), 1);
}

/// Tokens that another process wrote long ago are no new ones: that they are refused as well says nothing about the
/// sign-in.
#[tokio::test]
async fn tokens_of_the_file_that_are_refused_as_well_are_renewed_and_no_alarm_is_raised() {
    let practice = signed_in::practice(Options { documents: 2, ..Options::default() }).await;
    let config = docsyncd::destinations::SCHEMA.load_default_env(&practice.config_path()).unwrap().config;
    let transport = docsyncd::api::Transport::new(&config.api).unwrap();
    let account = &config.accounts["main"];
    let client = docsyncd::api::Client::new(transport, account, &config.state.path, config.retry.clone());
    let first_page = docsyncd::api::ListQuery { page: 1, ..Default::default() };
    assert_eq!(client.list(&first_page).await.unwrap().len(), 2);
    // Another process renews; then the machine sleeps for two hours, which no monotonic clock counts.
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    practice.sandbox.advance_clock(Duration::from_secs(2 * 3600));
    assert_eq!(client.list(&first_page).await.unwrap().len(), 2);
    assert_eq!(refreshes(&practice).len(), 1);
}

#[tokio::test]
async fn new_tokens_that_are_refused_as_well_do_not_make_a_storm() {
    let mut practice = signed_in::practice(Options { documents: 2, ..Options::default() }).await;
    practice.without_patience();
    practice.sandbox.set_quirks(docsyncd_sandbox::Quirks { tokens_expired: true, ..Default::default() });
    make_due(&practice, "main");
    let ended = practice.sync().await;
    assert!(ended.code == 1 && ended.stderr.contains("401"), "{ended:?}");
    assert!(refreshes(&practice).len() <= 2, "{}", refreshes(&practice).len());
}

#[tokio::test]
async fn nobody_has_signed_in_is_said_with_the_command_and_asks_the_api_nothing() {
    let practice = signed_in::practice(Options::default()).await;
    std::fs::remove_file(store(&practice, "main").path()).unwrap();
    for (args, code) in [(["sync"].as_slice(), 1), (&["check"], 1), (&["api", "GET", "me"], 1)] {
        let ended = practice.docsyncd(args).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == code && said.contains(" login --account main"), "{ended:?}");
    }
    assert!(practice.sandbox.requests().is_empty());
    let says = async |what: &str| {
        let status = practice.docsyncd(&["status"]).await;
        assert!(matches!(status.code, 0 | 4) && status.stdout.contains(what), "{status:?}");
    };
    says("SIGN-IN       main: nobody has signed in: run docsyncd --config ").await;
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    says(&format!("main: signed in as {CLAIRE}")).await;
    // The same before the first run.
    std::fs::remove_file(practice.ledger()).unwrap();
    says("nothing was synchronized so far").await;
    says(&format!("main: signed in as {CLAIRE}")).await;
    std::fs::remove_file(store(&practice, "main").path()).unwrap();
    says("SIGN-IN       main: nobody has signed in: run docsyncd --config ").await;
}

#[tokio::test]
async fn a_damaged_sign_in_is_an_error_that_says_what_to_do() {
    let practice = signed_in::practice(Options::default()).await;
    std::fs::write(store(&practice, "main").path(), "{").unwrap();
    for args in [["sync"], ["check"]] {
        let ended = practice.docsyncd(&args).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == 1 && said.contains("damaged") && said.contains(" login --account main"), "{ended:?}");
    }
    let status = practice.docsyncd(&["status"]).await;
    assert!(status.code == 4 && status.stdout.contains("damaged"), "{status:?}");
}

#[tokio::test]
async fn a_login_wakes_a_paused_account_of_a_running_daemon() {
    let mut practice = signed_in::practice(Options { documents: 3, ..Options::default() }).await;
    // The backoff alone would take hours.
    practice.without_patience();
    std::fs::remove_file(store(&practice, "main").path()).unwrap();
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    running.wait_for_log("event=\"resumed\"").await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    practice.assert_all_filed().await;
    assert_eq!(running.log().matches("event=\"paused\"").count(), 1, "one alarm:\n{}", running.log());
    assert!(running.log().contains("run docsyncd login --account main"));
    running.kill().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_that_is_missing_pauses_its_account_and_no_other_and_wakes_it_when_it_is_there() {
    let keys = vec![ApiKey::of_user("key-a", "a@practice.test"), ApiKey::of_user("key-b", "b@practice.test")];
    let mut practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.without_patience();
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    for key in ["key-a", "key-b"] {
        practice.sandbox.add(NewDocument { owner: Some(key.into()), ..NewDocument::default() }).await.unwrap();
    }
    let mut running = practice.run().await;
    running.wait_for_log("account:second is paused").await;
    practice.write_secret("key-b", "key-b");
    running.wait_for_log("account:second works again").await;
    practice.wait_for_posts(2).await;
    running.kill().await;
    std::fs::remove_file(practice.path("key-b")).unwrap();
    let key = NewDocument { owner: Some("key-a".into()), ..NewDocument::default() };
    practice.sandbox.add(key).await.unwrap();
    let sync = practice.sync().await;
    assert!(sync.code == 1 && sync.stderr.contains("api_key_file") && practice.filed().len() == 3, "{sync:?}");
    let check = practice.docsyncd(&["check"]).await;
    assert!(check.code == 2 && check.stdout.contains("ok    account main"), "{check:?}");
}

#[tokio::test]
async fn an_account_that_is_signed_out_never_delays_the_others() {
    const ACCOUNTS: usize = 5;
    let emails: Vec<String> = (0..ACCOUNTS).map(|number| format!("dr-{number}@practice.test")).collect();
    let names: Vec<String> = (0..ACCOUNTS).map(|number| format!("dr-{number}")).collect();
    let keys =
        emails.iter().enumerate().map(|(number, email)| ApiKey::of_user(format!("key-{number}"), email)).collect();
    let practice = signed_in_as(&names, &emails, Options { api_keys: keys, ..Options::default() }).await;
    for number in 0..ACCOUNTS {
        for _ in 0..3 {
            let owner = Some(format!("key-{number}"));
            practice.sandbox.add(NewDocument { owner, ..NewDocument::default() }).await.unwrap();
        }
    }
    // The server knows nothing of this one's refresh token any more.
    let mut tokens = store(&practice, "dr-2").load().unwrap().unwrap();
    tokens.refresh_token = "revoked".into();
    signed_in::save(&practice, "dr-2", &tokens);
    make_due(&practice, "dr-2");
    let mut running = practice.run().await;
    practice.wait_for_posts(3 * (ACCOUNTS - 1)).await;
    running.wait_for_log("account:dr-2 is paused").await;
    let log = running.log();
    assert!(log.contains("run docsyncd login --account dr-2") && log.matches("event=\"paused\"").count() == 1, "{log}");
    assert_eq!(refreshes(&practice).len(), 1, "a token that was refused is not sent again");
    sign_in(&practice, "dr-2", &emails[2], &SCOPES).await;
    practice.wait_for_posts(3 * ACCOUNTS).await;
    running.wait_for_logs("event=\"reported\"", 3 * ACCOUNTS).await;
    practice.assert_all_filed().await;
    running.kill().await;
}

/// A practice with these accounts, each signed in as its own user.
async fn signed_in_as(names: &[String], emails: &[String], options: Options) -> Practice {
    let practice = Practice::with_options(options).await;
    practice.write_secret("client-secret", signed_in::SECRET);
    let config = signed_in::config(&practice, &names.iter().map(String::as_str).collect::<Vec<_>>());
    practice.configure_wholly(&format!("{config}[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n"));
    for (name, email) in names.iter().zip(emails) {
        sign_in(&practice, name, email, &SCOPES).await;
    }
    practice
}

#[tokio::test]
async fn a_scope_that_is_missing_is_named_with_what_to_do_and_a_login_that_gives_it_is_enough() {
    let mut practice = signed_in::practice(Options { documents: 1, ..Options::default() }).await;
    practice.without_patience();
    sign_in(&practice, "main", CLAIRE, &["profile", "organization", "read:documents", "read:patients"]).await;
    let mut running = practice.run().await;
    running.wait_for_log("write:documents").await;
    assert!(running.log().contains("add it to accounts.main.scopes and run docsyncd login --account main again"));
    running.wait_for_log("report:main is paused").await;
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    running.wait_for_log("event=\"reported\"").await;
    for sign in ["event=\"refused\"", "event=\"postponed\""] {
        assert!(!running.log().contains(sign), "the document is not to blame:\n{}", running.log());
    }
    running.kill().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_refresh_that_fails_while_the_access_token_works_fails_no_call() {
    let practice = signed_in::practice(Options { documents: 3, ..Options::default() }).await;
    // Within the margin: a minute of its life is left.
    let mut tokens = store(&practice, "main").load().unwrap().unwrap();
    tokens.obtained_at -= Duration::from_secs(3600 - 50);
    signed_in::save(&practice, "main", &tokens);
    practice.sandbox.inject(Fault::always(Route::Token, FaultKind::status(500)));
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
    assert!(!refreshes(&practice).is_empty());
}

#[tokio::test]
async fn tokens_of_short_lives_fail_no_document_under_load_and_are_renewed_once_each() {
    let load = std::env::var("DOCSYNCD_TEST_LOAD_SECONDS").ok().and_then(|text| text.parse().ok());
    let load = load.map_or(LOAD, Duration::from_secs);
    let options = Options { access_token_lifetime: LIFETIME, ..Options::default() };
    let mut practice = signed_in::practice(options).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    // As by default: a document that had to wait would show.
    practice.env.insert("DOCSYNCD__RETRY__INITIAL".into(), "1s".into());
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "15m".into());
    practice.sandbox.forget_requests();
    let began = Instant::now();
    let mut running = practice.run().await;
    let mut documents = 0;
    while began.elapsed() < load {
        practice.sandbox.add_documents(5).await.unwrap();
        documents += 5;
        let posted = |view: &docsyncd_sandbox::View| view.status_posts().count() >= documents;
        let posted = practice.sandbox.wait_for(posted, PATIENCE).await;
        assert!(posted.is_ok(), "a document waits:\n{}", running.log());
    }
    running.wait_for_logs("event=\"reported\"", documents).await;
    let renewed = refreshes(&practice).len();
    let most = began.elapsed().as_secs() / LIFETIME.as_secs() + 1;
    let log = running.log();
    running.kill().await;
    practice.assert_all_filed().await;
    for sign in ["event=\"paused\"", "event=\"refused\"", "event=\"postponed\""] {
        assert!(!log.contains(sign), "{sign}\n{log}");
    }
    println!("{documents} documents, {renewed} refreshes in {:?}", began.elapsed());
    assert!(renewed as u64 <= most && renewed > 0, "{renewed} of {most}");
}

#[tokio::test]
async fn no_token_code_or_secret_reaches_the_log_at_any_level() {
    let mut practice = signed_in::practice(Options { documents: 2, ..Options::default() }).await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "trace".into());
    practice.without_patience();
    let mut secrets = vec![signed_in::SECRET.to_owned()];
    let note = |practice: &Practice, secrets: &mut Vec<String>| {
        let tokens = store(practice, "main").load().unwrap().unwrap();
        secrets
            .extend([tokens.access_token.expose_secret().to_owned(), tokens.refresh_token.expose_secret().to_owned()]);
    };
    note(&practice, &mut secrets);
    make_due(&practice, "main");
    // Refreshed, then signed out, then signed in again.
    let mut running = practice.run().await;
    running.wait_for_logs("event=\"reported\"", 2).await;
    note(&practice, &mut secrets);
    running.kill().await;
    let mut log = running.log();
    make_due(&practice, "main");
    let mut tokens = store(&practice, "main").load().unwrap().unwrap();
    tokens.refresh_token = "canary-refresh-token".into();
    signed_in::save(&practice, "main", &tokens);
    secrets.push("canary-refresh-token".to_owned());
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    running.wait_for_log("event=\"resumed\"").await;
    note(&practice, &mut secrets);
    running.kill().await;
    log.push_str(&running.log());
    assert!(log.contains("event=\"token_refreshed\""), "the log is a full one:\n{log}");
    for secret in secrets {
        // The parts of a JWT, too.
        for part in secret.split('.') {
            assert!(!log.contains(part), "{part} in\n{log}");
        }
    }
}
