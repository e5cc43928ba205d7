//! Several accounts side by side: none waits for another.

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, Options, Route};

use crate::harness::Practice;

/// Accounts `main` and `second`, with documents each.
async fn two_accounts(of_main: usize, of_second: usize) -> (Practice, Vec<String>, Vec<String>) {
    let keys = vec![ApiKey::of_user("key-a", "a@practice.test"), ApiKey::of_user("key-b", "b@practice.test")];
    let practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.write_secret("key-b", "key-b");
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    let mut uuids = [Vec::new(), Vec::new()];
    for (index, (key, count)) in [("key-a", of_main), ("key-b", of_second)].into_iter().enumerate() {
        for _ in 0..count {
            let document = NewDocument { owner: Some(key.into()), ..NewDocument::default() };
            uuids[index].push(practice.sandbox.add(document).await.unwrap());
        }
    }
    let [of_main, of_second] = uuids;
    (practice, of_main, of_second)
}

#[tokio::test]
async fn two_accounts_each_get_their_own_documents_with_their_own_key() {
    let (practice, of_main, of_second) = two_accounts(3, 4).await;
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
    for (account, key, uuids) in [("main", "key-a", of_main), ("second", "key-b", of_second)] {
        for uuid in uuids {
            assert_eq!(practice.show(&uuid).await["account"], account);
            let bearer = format!("Bearer {key}");
            let requests = practice.sandbox.requests();
            let about: Vec<_> = requests.iter().filter(|request| request.path.contains(&uuid)).collect();
            assert!(about.len() >= 2 && about.iter().all(|request| request.authorization.as_ref() == Some(&bearer)));
        }
    }
}

#[tokio::test]
async fn an_account_that_is_refused_never_delays_another() {
    let (practice, of_main, of_second) = two_accounts(5, 5).await;
    practice.write_secret("key-b", "revoked");
    let mut running = practice.run().await;
    practice.wait_for_posts(5).await;
    running.wait_for_logs("event=\"reported\"", 5).await;
    let posts = practice.sandbox.status_posts();
    assert!(posts.iter().all(|post| of_main.contains(&post.document)), "{posts:?}");
    let log = running.log();
    let alarms: Vec<&str> = log.lines().filter(|line| line.contains("event=\"paused\"")).collect();
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert!(alarms[0].contains("account:second") && alarms[0].contains("check the account's key"), "{alarms:?}");
    assert!(!log.contains("account:main"), "{log}");
    // Mended and told so, it goes on.
    practice.write_secret("key-b", "key-b");
    #[cfg(unix)]
    {
        running.signal("HUP");
        practice.wait_for_posts(10).await;
        assert!(practice.sandbox.status_posts().iter().skip(5).all(|post| of_second.contains(&post.document)));
        running.wait_for_logs("event=\"reported\"", 10).await;
        practice.assert_all_filed().await;
    }
    let _ = of_second;
    running.kill().await;
}

#[tokio::test]
async fn sync_finishes_the_good_account_and_says_what_is_wrong_with_the_other() {
    let (practice, ..) = two_accounts(3, 2).await;
    practice.write_secret("key-b", "revoked");
    let ended = practice.sync().await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("account second") && ended.stderr.contains("401"), "{ended:?}");
    assert_eq!((practice.sandbox.status_posts().len(), practice.filed().len()), (3, 3));
}

#[tokio::test]
async fn an_account_whose_downloads_hang_never_delays_another() {
    let (mut practice, of_main, of_second) = two_accounts(12, 6).await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "4".into());
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "1h".into());
    for uuid in &of_main {
        practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Stall).for_document(uuid));
    }
    let mut running = practice.run().await;
    practice.wait_for_posts(6).await;
    let posts = practice.sandbox.status_posts();
    assert!(posts.iter().all(|post| of_second.contains(&post.document)), "{posts:?}");
    running.kill().await;
}
