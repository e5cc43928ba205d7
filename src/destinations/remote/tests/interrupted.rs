//! What interrupted attempts, and attempts that lost their answer, left.

use super::*;

#[tokio::test]
async fn what_an_importer_took_after_a_lost_reply_is_not_sent_again() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.lose_next_reply();
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    memory.state.lock().unwrap().files.clear();
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(everything(&memory), [""; 0]);
}

/// A server that removes or loses both names looks like an importer.
#[tokio::test]
async fn what_is_seen_nowhere_after_a_lost_reply_is_sent_again_or_left_to_a_person_as_configured() {
    for on_lost_reply in [LostReply::Resend, LostReply::Hold] {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.on_lost_reply = Some(on_lost_reply);
        let item = spool.item(1, b"%PDF one");
        memory.lose_next_reply();
        memory.adapter().deliver(&item).await;
        memory.state.lock().unwrap().files.clear();
        let outcome = memory.adapter().deliver(&item).await;
        match on_lost_reply {
            LostReply::Resend => drop(assert_delivered(&outcome)),
            LostReply::Hold => assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}"),
        }
        assert_eq!(names(&memory).len(), usize::from(on_lost_reply == LostReply::Resend));
        // A file that is seen leaves no question.
        let item = spool.item(2, b"%PDF two");
        memory.lose_next_reply();
        memory.adapter().deliver(&item).await;
        assert_delivered(&memory.adapter().deliver(&item).await);
    }
}

#[tokio::test]
async fn what_an_importer_took_is_sent_again_only_where_the_server_refused_whatever_has_the_name_since() {
    for (stranger, refused) in [(false, false), (false, true), (true, false), (true, true)] {
        let (memory, spool) = (Memory::named(LETTER), Spool::new());
        let item = spool.item(1, b"%PDF one");
        memory.state.lock().unwrap().taken = Some(Taken { stranger, refused });
        while !matches!(memory.adapter().deliver(&item).await, Outcome::Delivered { .. }) {}
        // After a refusal, an importer looks like a scanner that took the temporary file away: what may be lost is sent
        // again.
        let expected = usize::from(stranger) + usize::from(refused);
        assert_eq!(everything(&memory).len(), expected, "{stranger} {refused}: {:?}", everything(&memory));
    }
}

/// If a person decides, a refused file that is nowhere is that person's decision: a load balancer may have repeated a
/// request that had succeeded.
#[tokio::test]
async fn what_was_refused_and_is_nowhere_is_left_to_a_person_where_one_decides() {
    let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
    memory.config.on_lost_reply = Some(LostReply::Hold);
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().taken = Some(Taken { stranger: false, refused: true });
    for _ in 0..2 {
        let outcome = memory.adapter().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
    }
    assert_eq!(memory.state.lock().unwrap().puts.len(), 1);
}

/// A server that hung carries out an old removal after another attempt has sent its file and checked it.
#[tokio::test]
async fn what_is_removed_late_is_never_what_was_sent_since() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    for (tells, cuts) in [(false, 3), (true, 3), (true, 10)] {
        memory.state.lock().unwrap().tells_what_is_there = tells;
        let item = spool.item(cuts + u32::from(tells), b"%PDF one");
        for cut in 1..=cuts {
            memory.state.lock().unwrap().hanging_removals = if cut == 7 { 0 } else { usize::MAX };
            memory.cut_after(4);
            let outcome = memory.adapter().deliver(&item).await;
            assert!(matches!(outcome, Outcome::Transient { .. }), "{cut}: {outcome:?}");
            assert!(item.names.known().await.unwrap().intent.is_none());
        }
        memory.state.lock().unwrap().hanging_removals = 0;
        assert_delivered(&memory.adapter().deliver(&item).await);
        spool.record(&item);
        assert_eq!(memory.objects().into_values().collect::<Vec<_>>(), [b"%PDF one"]);
        assert_eq!(everything(&memory).len(), 1, "no temporary file is left");
        memory.state.lock().unwrap().files.clear();
    }
}

/// A scanner, or a job that removes temporary files, on the server.
#[tokio::test]
async fn what_is_cleared_away_before_it_has_its_name_is_sent_again() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().vanishes = true;
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains(".docsyncd-"), "{outcome:?}");
    assert!(item.names.known().await.unwrap().intent.is_none());
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(names(&memory), ["letters/lab_slip.pdf"]);
}

/// A killed process took temporary names that the next one does not know.
#[tokio::test]
async fn what_a_process_before_left_is_removed_also_when_the_server_does_not_answer_at_once() {
    let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
    let mut item = spool.item(1, b"%PDF one");
    item.tried = true;
    for left in ["-2.tmp", "-5.tmp", ".sidecar.tmp"] {
        let path = format!("/inbox/letters/.docsyncd-{}{left}", item.key);
        let mut state = memory.state.lock().unwrap();
        state.folders.insert("/inbox/letters".to_owned());
        state.files.insert(path, b"%PDF".to_vec());
    }
    memory.state.lock().unwrap().hanging_removals = usize::MAX;
    let adapter = memory.adapter();
    let outcome = adapter.deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert!(item.names.known().await.unwrap().intent.is_some(), "the next attempt knows where it lies");
    assert_eq!(memory.objects()["letters/lab_slip.pdf"], b"%PDF one");
    {
        let mut importer = memory.state.lock().unwrap();
        importer.hanging_removals = 0;
        importer.files.retain(|path, _| path.contains("/.docsyncd-"));
    }
    assert_delivered(&adapter.deliver(&item).await);
    assert_eq!(everything(&memory), [""; 0], "it was imported, and nothing is left");
}

/// A lost ledger knows no intent: a letter that lies there counts, whatever happens to leftovers, and is not sent
/// again.
#[tokio::test]
async fn what_is_found_without_an_intent_is_delivered_although_leftovers_stay() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.occupy("letters/lab_slip.pdf", b"%PDF one");
    memory.state.lock().unwrap().hanging_removals = usize::MAX;
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(names(&memory), ["letters/lab_slip.pdf"]);
}

/// One unanswered removal does not stop the others.
#[tokio::test]
async fn what_is_left_is_removed_although_one_removal_is_not_answered() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.occupy("letters/lab_slip.pdf", b"%PDF one");
    for left in ["-2.tmp", "-5.tmp", ".sidecar.tmp"] {
        let path = format!("/inbox/letters/.docsyncd-{}{left}", item.key);
        memory.state.lock().unwrap().files.insert(path, b"%PDF".to_vec());
    }
    memory.state.lock().unwrap().hanging_removals = 1;
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(everything(&memory), ["/inbox/letters/lab_slip.pdf"]);
}

/// The rename was answered: a failed cleanup afterwards does not lose that answer.
#[tokio::test]
async fn what_has_its_name_is_neither_sent_again_nor_asked_about_because_leftovers_stay() {
    for on_lost_reply in [LostReply::Resend, LostReply::Hold] {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.on_lost_reply = Some(on_lost_reply);
        let mut item = spool.item(1, b"%PDF one");
        item.tried = true;
        memory.state.lock().unwrap().hanging_removals = usize::MAX;
        assert_delivered(&memory.adapter().deliver(&item).await);
    }
}

/// A proxy before the server may write to it long after the attempt gave up.
#[tokio::test]
async fn no_two_attempts_write_to_one_temporary_name() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let (adapter, item) = (memory.adapter(), spool.item(1, b"%PDF one"));
    for _ in 0..2 {
        memory.cut_after(4);
        assert!(matches!(adapter.deliver(&item).await, Outcome::Transient { .. }));
    }
    assert_delivered(&adapter.deliver(&item).await);
    let puts: BTreeSet<_> = memory.state.lock().unwrap().puts.iter().cloned().collect();
    assert_eq!((puts.len(), everything(&memory).len()), (3, 1), "{puts:?}");
}

/// A server that hangs may carry out a rename long after the attempt gave up.
#[tokio::test]
async fn what_waits_for_a_rename_is_not_written_anew_while_the_server_may_still_carry_it_out() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().ignore_rename = true;
    assert!(matches!(memory.adapter().deliver(&item).await, Outcome::Transient { .. }));
    assert!(item.names.known().await.unwrap().intent.is_some());
    let puts = || memory.state.lock().unwrap().puts.len();
    assert_eq!(puts(), 1);
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!((puts(), everything(&memory)), (1, vec!["/inbox/letters/lab_slip.pdf".to_owned()]));
}

/// The rename is carried out between two looks of the next attempt.
#[tokio::test]
async fn a_rename_that_is_carried_out_while_the_next_attempt_looks_is_not_repeated() {
    for (on_lost_reply, puts) in [(None, 1), (Some(LostReply::Hold), 1)] {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.on_lost_reply = on_lost_reply;
        let item = spool.item(1, b"%PDF one");
        memory.state.lock().unwrap().late_rename = true;
        assert!(matches!(memory.adapter().deliver(&item).await, Outcome::Transient { .. }));
        let outcome = memory.adapter().deliver(&item).await;
        let held = on_lost_reply.is_some();
        assert!(
            matches!(outcome, Outcome::Delivered { .. } if !held) || matches!(outcome, Outcome::Held { .. } if held)
        );
        assert_eq!(memory.state.lock().unwrap().puts.len(), puts, "an importer has it");
    }
}

/// Attempts that lost their answer left copies.
#[tokio::test]
async fn what_attempts_left_does_not_keep_the_room_that_the_letter_needs() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    memory.state.lock().unwrap().tells_what_is_there = true;
    let item = spool.item(1, b"%PDF one");
    for _ in 0..3 {
        memory.cut_after(4);
        memory.adapter().deliver(&item).await;
    }
    memory.state.lock().unwrap().quota = Some(3);
    let adapter = memory.adapter();
    assert!(matches!(adapter.deliver(&item).await, Outcome::NoRoom(_)));
    assert_delivered(&adapter.deliver(&item).await);
    assert_eq!(everything(&memory).len(), 1);
}

#[tokio::test]
async fn what_waits_and_is_damaged_is_written_anew() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().ignore_rename = true;
    memory.adapter().deliver(&item).await;
    memory.state.lock().unwrap().files.values_mut().for_each(|content| content.truncate(4));
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(memory.objects()["letters/lab_slip.pdf"], b"%PDF one");
}

#[tokio::test]
async fn a_folder_that_is_missing_says_nothing_about_what_was_in_it() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let item = spool.item(1, b"%PDF one");
    memory.lose_next_reply();
    memory.adapter().deliver(&item).await;
    {
        let mut state = memory.state.lock().unwrap();
        state.files.clear();
        state.folders.clear();
    }
    let outcome = memory.adapter().deliver(&item).await;
    assert!(reason(&outcome).contains("no folder on the server"), "{outcome:?}");
    assert!(matches!(outcome, Outcome::Unavailable { .. }));
}

/// The storage behind a server may be away while the folder is there.
#[tokio::test]
async fn a_folder_without_its_marker_says_nothing_about_what_was_in_it() {
    let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
    memory.config.marker = Some(".docsyncd".to_owned());
    let item = spool.item(1, b"%PDF one");
    let outcome = memory.adapter().deliver(&item).await;
    assert!(reason(&outcome).contains("has no file `.docsyncd`"), "{outcome:?}");
    memory.state.lock().unwrap().files.insert("/inbox/.docsyncd".to_owned(), Vec::new());
    memory.lose_next_reply();
    memory.adapter().deliver(&item).await;
    let files = std::mem::take(&mut memory.state.lock().unwrap().files);
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    memory.state.lock().unwrap().files = files;
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(names(&memory), [".docsyncd", "letters/lab_slip.pdf"]);
}

#[tokio::test]
async fn a_crash_at_any_question_to_the_ledger_leaves_one_file_in_the_end() {
    for questions in 0..6 {
        let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
        let item = spool.item(1, b"%PDF one");
        spool.answer(Some(questions));
        let first = memory.adapter().deliver(&item).await;
        spool.answer(None);
        assert!(matches!(first, Outcome::Unrecorded | Outcome::Delivered { .. }), "{questions}: {first:?}");
        assert_delivered(&memory.adapter().deliver(&item).await);
        spool.record(&item);
        assert_eq!(everything(&memory), ["/inbox/letters/lab_slip.pdf", "/inbox/letters/lab_slip.txt"], "{questions}");
    }
}

/// One of two machines lags: it shows a file under its old name after an importer took it from its new one.
#[tokio::test]
async fn what_a_look_still_shows_where_it_was_is_not_sent_again() {
    for lags in 1..12 {
        let (memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.state.lock().unwrap().lags = lags;
        let item = spool.item(1, b"%PDF one");
        let adapter = memory.adapter();
        let mut attempts = 0;
        while !matches!(adapter.deliver(&item).await, Outcome::Delivered { .. }) {
            attempts += 1;
            assert!(attempts < 12, "{lags}");
        }
        assert!(attempts > 0, "{lags}: the first look showed it where it was");
        assert_eq!(memory.state.lock().unwrap().puts.len(), 1, "{lags}");
    }
}

/// The server may still carry out the rename of the earlier version, over the file that has the name then.
#[tokio::test]
async fn a_name_that_a_version_before_may_still_be_given_is_not_the_next_ones() {
    for refused in [0, 4] {
        let (memory, spool) = (Memory::named("{{ document.type }}.pdf"), Spool::new());
        memory.state.lock().unwrap().ignore_rename = true;
        let outcome = memory.adapter().deliver(&spool.item(1, b"%PDF one")).await;
        assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
        memory.state.lock().unwrap().refused_removals = (refused, 504);
        let item = spool.item(1, b"%PDF two");
        assert_delivered(&memory.adapter().deliver(&item).await);
        assert_eq!(names(&memory), ["lab_slip_v2.pdf"], "{refused}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_removed_just_now_is_removed_a_moment_later() {
    let (memory, spool) = (Memory::named(LETTER), Spool::new());
    let (adapter, item) = (memory.adapter(), spool.item(1, b"%PDF one"));
    memory.cut_after(4);
    adapter.deliver(&item).await;
    memory.state.lock().unwrap().refused_removals = (1, 503);
    assert_delivered(&adapter.deliver(&item).await);
    assert_eq!(everything(&memory), ["/inbox/letters/lab_slip.pdf"]);
}

#[tokio::test]
async fn nothing_is_concluded_of_a_folder_that_goes_away_while_it_is_looked_at() {
    for seen in 1..4 {
        let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
        memory.config.marker = Some(".marker".to_owned());
        let item = spool.item(1, b"%PDF one");
        memory.state.lock().unwrap().marker_seen = Some(20);
        memory.state.lock().unwrap().ignore_rename = true;
        let outcome = memory.adapter().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
        memory.state.lock().unwrap().marker_seen = Some(seen);
        let outcome = memory.adapter().deliver(&item).await;
        assert!(!matches!(outcome, Outcome::Delivered { .. }) || !names(&memory).is_empty(), "{seen}: {outcome:?}");
    }
}

/// The same right before the rename: the file waits there, and has no name when the folder is back.
#[tokio::test]
async fn a_folder_that_goes_away_before_a_rename_has_not_lost_what_was_sent() {
    let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
    memory.config.marker = Some(".marker".to_owned());
    let item = spool.item(1, b"%PDF one");
    memory.state.lock().unwrap().marker_seen = Some(1);
    memory.state.lock().unwrap().vanishes = true;
    let outcome = memory.adapter().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    assert!(item.names.known().await.unwrap().intent.is_some());
}

#[tokio::test]
async fn what_is_found_without_its_length_is_read() {
    let (mut memory, spool) = (Memory::named(LETTER), Spool::new());
    memory.config.on_lost_reply = Some(LostReply::Hold);
    memory.state.lock().unwrap().tells_no_size = true;
    let item = spool.item(1, b"%PDF one");
    memory.lose_next_reply();
    memory.adapter().deliver(&item).await;
    assert_delivered(&memory.adapter().deliver(&item).await);
    assert_eq!(everything(&memory).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_cluster_shows_a_moment_later_is_waited_for() {
    for (shown_after, is_delivered) in [(3, true), (4, false)] {
        let (memory, spool) = (Memory::named(LETTER).with_sidecar("{{ file_stem }}.txt"), Spool::new());
        memory.state.lock().unwrap().shown_after = shown_after;
        let outcome = memory.adapter().deliver(&spool.item(1, b"%PDF one")).await;
        assert_eq!(matches!(outcome, Outcome::Delivered { .. }), is_delivered, "{outcome:?}");
        assert!(is_delivered || reason(&outcome).contains("is not seen there"), "{outcome:?}");
    }
}

/// A test before the first letter says nothing about any letter.
#[tokio::test]
async fn a_server_that_refuses_the_files_of_a_check_fails_no_letter() {
    let memory = Memory::named(LETTER);
    memory.state.lock().unwrap().refuse_puts = true;
    let outcome = Desk::default().fits(&memory, &memory.config, "it overwrites").await.unwrap_err();
    assert!(
        matches!(&outcome, Outcome::Unavailable { reason, .. } if reason.contains(".docsyncd-check-")),
        "{outcome:?}"
    );
}
