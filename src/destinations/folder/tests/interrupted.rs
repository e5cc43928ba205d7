//! Leftovers of attempts that were killed, or that the ledger has no record of.

use super::*;

/// Leaves what a crash leaves between the intent and the rename: the temporary file, and the intent in the ledger.
async fn cut_off(inbox: &Inbox, spool: &Spool, item: &Item) {
    let adapter = {
        // The process is dead, so no intent is cleared.
        let spool = spool.clone();
        inbox.adapter_with(move |_| {
            spool.answer(Some(0));
            Err(io::ErrorKind::Other.into())
        })
    };
    assert_eq!(adapter.deliver(item).await, Outcome::Unrecorded);
    spool.answer(None);
    assert_eq!(inbox.names(), [format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key)]);
}

#[tokio::test]
async fn a_file_that_had_not_got_its_name_when_the_process_died_gets_it() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, PDF)).await;
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!((inbox.names(), inbox.read(FILED).as_bytes()), (vec![FILED.to_owned()], PDF));
}

/// A later attempt, which the backup does not know of, took it away without naming it.
#[tokio::test]
async fn after_a_restore_a_file_that_is_gone_is_filed_again() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let item = Item { uncertain: true, restored: true, ..spool.item(1, PDF) };
    cut_off(&inbox, &spool, &item).await;
    fs::remove_file(inbox.path.join(format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key))).unwrap();
    // What a restored ledger makes of an intent.
    let intent = item.names.known().await.unwrap().intent.unwrap();
    item.names.settle(&intent.place, true).await.unwrap();
    for _again in 0..2 {
        assert_delivered(&inbox.adapter().deliver(&item).await);
        assert_eq!(inbox.names(), [FILED]);
    }
}

/// The process was killed once more, after the restore: an intent that stands is of an attempt since.
#[tokio::test]
async fn what_an_importer_took_since_a_restore_is_not_filed_again() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let item = Item { uncertain: true, restored: true, ..spool.item(1, PDF) };
    assert_delivered(&inbox.adapter().deliver(&item).await);
    fs::remove_file(inbox.path.join(FILED)).unwrap();
    for _again in 0..2 {
        assert_delivered(&inbox.adapter().deliver(&item).await);
        assert!(inbox.names().is_empty());
    }
}

#[tokio::test]
async fn a_file_whose_name_was_taken_while_the_process_was_dead_gets_the_next_one() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, PDF)).await;
    inbox.put(FILED, b"somebody else's");
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
    assert_eq!(inbox.names(), [FILED, SUFFIXED]);
}

#[tokio::test]
async fn what_an_importer_took_before_it_was_recorded_is_not_filed_again() {
    for (importer_leaves_the_folder, another_came) in [(true, false), (true, true), (false, false)] {
        let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
        let place = assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        fs::remove_file(inbox.path.join(FILED)).unwrap();
        if !importer_leaves_the_folder {
            fs::remove_dir(inbox.path.join(FILED).parent().unwrap()).unwrap();
        }
        if another_came {
            inbox.put(FILED, b"somebody else's");
        }
        for _again in 0..2 {
            assert_eq!(assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await), place);
        }
        assert_eq!(inbox.names().len(), usize::from(another_came));
        // When it is requested again, it is filed again.
        spool.record(&spool.item(1, PDF));
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names().len(), 1 + usize::from(another_came));
    }
}

#[tokio::test]
async fn a_temporary_file_that_a_scanner_takes_away_is_written_again() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    let item = spool.item(1, PDF);
    let temporary = inbox.path.join(format!("Canaryworth_Zoé/.docsyncd-{}.part", item.key));
    let adapter = inbox.adapter_with(move |_| fs::remove_file(&temporary));
    assert!(matches!(adapter.deliver(&item).await, Outcome::Transient { .. }));
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names(), [FILED]);
}

#[tokio::test]
async fn a_new_version_settles_what_was_left_of_the_one_before_it() {
    let (inbox, spool) = (Inbox::new(NAME, None), Spool::new());
    cut_off(&inbox, &spool, &spool.item(1, b"v1")).await;
    assert_delivered(&inbox.adapter().deliver(&spool.item(1, b"v2")).await);
    assert_eq!((inbox.names(), inbox.read(FILED)), (vec![FILED.to_owned()], "v2".to_owned()));
}

#[tokio::test]
async fn whenever_the_ledger_has_no_answer_there_is_one_file_in_the_end() {
    for questions in 0..10 {
        let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
        spool.answer(Some(questions));
        let outcome = inbox.adapter_with(|_| Err(io::ErrorKind::Other.into())).deliver(&spool.item(1, PDF)).await;
        assert!(matches!(outcome, Outcome::Unrecorded | Outcome::Transient { .. }), "{outcome:?}");
        spool.answer(Some(questions));
        inbox.adapter().deliver(&spool.item(1, PDF)).await;
        spool.answer(None);
        assert_delivered(&inbox.adapter().deliver(&spool.item(1, PDF)).await);
        assert_eq!(inbox.names(), [FILED, "Canaryworth_Zoé/2026-11-21_lab_slip.xml"]);
    }
}

#[tokio::test]
async fn what_an_attempt_left_that_was_cut_off_is_replaced_and_removed() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let item = spool.item(1, PDF);
    let leave = || {
        for end in ["part", "sidecar.part"] {
            inbox.put(&format!("Canaryworth_Zoé/.docsyncd-{}.{end}", item.key), b"%PDF-1.7 let");
        }
    };
    leave();
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!((inbox.names().len(), inbox.read(FILED).as_bytes()), (2, PDF));
    // The crash may also have happened after the rename.
    leave();
    assert_delivered(&inbox.adapter().deliver(&item).await);
    assert_eq!(inbox.names().len(), 2);
}

#[tokio::test]
async fn a_delivery_that_may_go_elsewhere_next_time_leaves_nothing_where_it_was_going() {
    let (inbox, spool) = (Inbox::with_sidecar(), Spool::new());
    let item = spool.item(1, PDF);
    let folder = Path::new(FILED).parent().unwrap().to_str().unwrap();
    inbox.adapter().abandon(&item).await;
    assert!(fs::read_dir(&inbox.path).unwrap().next().is_none(), "no folder is created for it");
    for end in ["part", "sidecar.part"] {
        inbox.put(&format!("{folder}/.docsyncd-{}.{end}", item.key), b"half");
    }
    inbox.put(&format!("{folder}/.docsyncd-another.part"), b"half");
    inbox.adapter().abandon(&item).await;
    assert_eq!(inbox.names(), [format!("{folder}/.docsyncd-another.part")]);
}
