//! Signing in and out while the daemon runs.

use docsyncd_sandbox::{Consent, Options};

use super::{Clinic, get, sent_back};

#[tokio::test]
async fn a_running_daemon_takes_a_sign_in_up_and_pauses_after_a_sign_out() {
    let options = Options { consent: Consent::Approve, documents: 2, ..Options::default() };
    let mut clinic = Clinic::with_options(options).await;
    clinic.practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "500ms".into());
    // Only that somebody signed in can wake it: the backoff alone would take hours.
    clinic.practice.without_patience();
    let mut daemon = clinic.practice.run().await;
    daemon.wait_for_log("run docsyncd login --account main").await;

    let login = clinic.login().await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
    daemon.wait_for_logs("event=\"reported\"", 2).await;
    clinic.practice.assert_all_filed().await;

    assert_eq!(clinic.practice.docsyncd(&["logout"]).await.code, 0);
    daemon.wait_for_logs("event=\"paused\"", 2).await;
    assert!(clinic.tokens("main").is_none(), "the daemon does not bring it back");
    daemon.kill().await;
}
