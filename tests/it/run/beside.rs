//! One daemon for a ledger: what a second one is told, and that the first does not even notice.

use crate::harness::Practice;

#[tokio::test]
async fn a_second_daemon_is_refused_and_the_first_goes_on() {
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut first = practice.run().await;
    practice.wait_for_posts(2).await;
    for (command, sign) in [("run", "stop the other one"), ("sync", "the running daemon does this already: docsyncd ")]
    {
        let second = practice.docsyncd(&[command]).await;
        assert_eq!((second.code, second.stdout.as_str()), (1, ""), "{second:?}");
        let ledger = practice.ledger().display().to_string();
        for sign in ["in use by another docsyncd", ledger.as_str(), sign] {
            assert!(second.stderr.contains(sign), "{sign}: {second:?}");
        }
        // Nothing is wrong, and no daemon is to be stopped.
        let is_sync = command == "sync";
        assert_eq!(second.stderr.contains("stop the other one"), !is_sync, "{second:?}");
        assert_eq!(second.stderr.contains(" poll makes it look now"), is_sync, "{second:?}");
    }
    practice.sandbox.add_documents(3).await.unwrap();
    practice.wait_for_posts(5).await;
    first.wait_for_logs("event=\"reported\"", 5).await;
    assert!(!first.log().contains("ERROR") && !first.log().contains("WARN"), "{}", first.log());
    first.kill().await;
    practice.assert_all_filed().await;
    assert_eq!(practice.sandbox.status_posts().len(), 5);
}

#[tokio::test]
async fn the_death_of_a_daemon_gives_the_ledger_back() {
    let practice = Practice::with_documents(3).await;
    let mut first = practice.run().await;
    first.kill().await;
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn two_daemons_with_a_ledger_each_do_not_meet() {
    let practice = Practice::with_documents(2).await;
    let other = Practice::with_documents(3).await;
    let (mut one, mut two) = (practice.run().await, other.run().await);
    practice.wait_for_posts(2).await;
    other.wait_for_posts(3).await;
    one.kill().await;
    two.kill().await;
}
