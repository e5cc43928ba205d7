//! A bug that panics, at a document: it costs that document an attempt each time, later and later, and nobody else
//! anything.

use docsyncd_test_support::harness::Practice;

/// Where each of the stages that read the ledger panics.
const POINTS: [(&str, &str); 3] =
    [("api.document.after", "fetch"), ("command.run.before", "deliver"), ("api.report.before", "report")];

#[tokio::test]
async fn a_panic_spends_an_attempt_and_the_next_try_comes_later_and_later_until_it_works() {
    for (point, stage) in POINTS {
        let mut practice = Practice::with_documents(1).await;
        practice.configure_wholly(&format!(
            "{}[destinations.scan]\ntype = \"command\"\nprogram = \"cargo\"\nargs = [\"--version\"]\n",
            practice.base_config().replace("max = \"200ms\"", "max = \"2s\"")
        ));
        practice.env.insert("FAILPOINTS".into(), format!("{point}=5*panic(on purpose)"));
        let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{stage}: {synced:?}");
        assert_eq!(synced.stderr.matches("internal_error").count(), 5, "{stage}: {synced:?}");
        let shown = practice.show(&uuid).await;
        let history = shown["history"].as_array().unwrap();
        let attempts: Vec<_> = history
            .iter()
            .filter(|row| row["event"] == "postponed")
            .map(|row| row["attempt"].as_u64().unwrap())
            .collect();
        assert_eq!((attempts, &shown["state"]), (vec![1, 2, 3, 4, 5], &"reported".into()), "{stage}: {shown}");
        assert!(shown.to_string().contains("internal fault of docsyncd"), "{stage}: {shown}");
    }
}

#[tokio::test]
async fn a_document_that_always_panics_is_given_up_after_the_time_for_that_and_the_others_are_filed() {
    let mut practice = Practice::with_documents(12).await;
    // One of them, whichever comes first.
    practice.env.insert("FAILPOINTS".into(), "api.download.before=1*panic(on purpose)".into());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    practice.assert_all_filed().await;
    practice.env.insert("FAILPOINTS".into(), "api.document.after=panic(on purpose)".into());
    practice.env.insert("DOCSYNCD__SYNC__GIVE_UP_AFTER".into(), "1ms".into());
    let uuid = practice.sandbox.add_documents(1).await.unwrap().remove(0);
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(practice.state(&uuid).await, "failed");
}
