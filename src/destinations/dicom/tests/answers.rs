//! The answers and faults of archives that do not keep a letter.

use super::*;

fn short(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered { .. } => "delivered",
        Outcome::Permanent { .. } => "permanent",
        Outcome::Unavailable { .. } => "unavailable",
        Outcome::Transient { .. } => "transient",
        Outcome::Unconfirmed { .. } => "unconfirmed",
        Outcome::Held { .. } => "held",
        Outcome::NoRoom(_) => "no room",
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_status_has_its_meaning() {
    let spool = Spool::new();
    for (status, expected) in [
        (0x0000, "delivered"),
        (0xb000, "delivered"),
        (0xb006, "delivered"),
        (0xb007, "delivered"),
        (0x0111, "delivered"),
        (0xa700, "no room"),
        (0xa7ff, "no room"),
        (0xa900, "permanent"),
        (0xc000, "permanent"),
        (0xcfff, "permanent"),
        (0x0117, "permanent"),
        (0x0110, "transient"),
        (0x0213, "transient"),
        (0xb001, "delivered"),
        (0x0107, "delivered"),
        (0x0116, "delivered"),
        (0x0001, "delivered"),
        (0xff00, "transient"),
        (0xfe00, "transient"),
        (0x0122, "unavailable"),
        (0x0124, "unavailable"),
    ] {
        let peer = Peer::start().await;
        let is_kept = expected == "delivered";
        peer.inject(if is_kept { Fault::Say(status) } else { Fault::Refuse(status) });
        let item = spool.item(1, LETTER);
        let outcome = deliver(config(&peer), &item).await;
        assert_eq!(short(&outcome), expected, "{status:04x}: {outcome:?}");
        if !is_kept {
            assert!(reason(&outcome).contains(&format!("status {status:04X}")), "{outcome:?}");
            assert!(peer.objects().is_empty());
            // Afterwards it is the same letter.
            assert_delivered(&deliver(config(&peer), &Item { tried: true, ..item }).await);
        }
        assert_eq!((peer.objects().len(), peer.state().queries), (1, 0));
    }
}

#[tokio::test]
async fn an_association_that_is_rejected_is_no_letters_fault() {
    let spool = Spool::new();
    for (for_good, expected) in [(true, "unavailable"), (false, "transient")] {
        let peer = Peer::start().await;
        peer.inject(Fault::Reject(for_good));
        let outcome = deliver(config(&peer), &spool.item(1, LETTER)).await;
        assert_eq!(short(&outcome), expected, "{outcome:?}");
        reason(&outcome);
    }
    let peer = Peer::start().await;
    peer.state().takes_no_pdfs = true;
    let outcome = deliver(config(&peer), &spool.item(1, LETTER)).await;
    assert!(short(&outcome) == "unavailable" && reason(&outcome).contains("Encapsulated PDF"), "{outcome:?}");
    assert!(peer.received().is_empty());
}

/// Faults after which the archive may have kept the letter.
fn losses() -> Vec<Fault> {
    let mut flood = vec![4, 0, 0, 0x98, 0x96, 0x80];
    flood.resize(1 << 20, 0);
    vec![
        Fault::Abort,
        Fault::Half,
        Fault::OtherInstance,
        Fault::OtherMessage,
        Fault::Silence,
        Fault::Bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        Fault::Bytes(vec![4, 0, 0, 0, 0, 100, 0]),
        Fault::Bytes(flood),
        Fault::Bytes(vec![4, 0, 0, 0, 0, 6, 0, 0, 0, 2, 1, 0]),
        Fault::Bytes(vec![2, 0, 0, 0, 0, 1, 0]),
        Fault::Bytes(vec![5, 0, 0, 0, 0, 4, 0, 0, 0, 0]),
    ]
}

#[tokio::test]
async fn after_a_lost_answer_the_archive_is_asked_and_the_letter_sent_once() {
    let spool = Spool::new();
    for fault in losses() {
        let peer = Peer::start().await;
        peer.inject(fault.clone());
        let outcome = deliver(impatient(&peer), &spool.item(1, LETTER)).await;
        assert_eq!(short(&outcome), "delivered", "{fault:?}: {outcome:?}");
        assert_eq!((peer.received().len(), peer.state().queries), (1, 1), "{fault:?}");
    }
}

#[tokio::test]
async fn where_nobody_may_ask_the_same_object_is_sent_again_or_a_person_decides() {
    let spool = Spool::new();
    for (number, fault) in (0..).zip(losses()) {
        let peer = Peer::start().await;
        match number % 3 {
            0 => peer.state().hides = true,
            1 => peer.state().rejects_queries = true,
            _ => peer.state().aborts_queries = true,
        }
        let item = spool.item(number, LETTER);
        peer.inject(fault.clone());
        let outcome = deliver(impatient(&peer), &item).await;
        assert_eq!(short(&outcome), "unconfirmed", "{fault:?}: {outcome:?}");
        reason(&outcome);
        let uncertain = Item { uncertain: true, tried: true, ..item };
        let holding = || DicomConfig { on_lost_reply: LostReply::Hold, ..impatient(&peer) };
        assert_eq!(short(&deliver(holding(), &uncertain).await), "held");
        assert_eq!(peer.received().len(), 1, "{fault:?}");
        assert_delivered(&deliver(impatient(&peer), &uncertain).await);
        assert_eq!((peer.received().len(), peer.objects().len()), (2, 1), "{fault:?}");
        peer.inject(fault);
        assert_eq!(short(&deliver(holding(), &spool.item(50 + number, b"%PDF-1.7 next")).await), "held");
    }
}

#[tokio::test]
async fn what_breaks_before_the_end_is_nothing_there() {
    let spool = Spool::new();
    // More than the buffers between the two can hold.
    let content = b"%PDF-1.7 ".repeat(2_000_000);
    for fault in [Fault::CutAfter(100_000), Fault::StallAfter(100_000), Fault::Early] {
        let peer = Peer::start().await;
        peer.inject(fault.clone());
        spool.forget();
        let item = spool.item(1, &content);
        let outcome = deliver(impatient(&peer), &item).await;
        assert_eq!(short(&outcome), "transient", "{fault:?}: {outcome:?}");
        reason(&outcome);
        assert!(peer.objects().is_empty() && item.committed().await.unwrap().is_none(), "{fault:?}");
        assert_delivered(&deliver(config(&peer), &item).await);
    }
}

#[tokio::test]
async fn a_letter_counts_when_it_is_shown_where_that_is_wanted() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let verifying = || DicomConfig { verifies: true, ..config(&peer) };
    assert_eq!(DicomAdapter::new(verifying()).proof(), Proof::Query);
    peer.inject(Fault::Refuse(0x0000));
    let item = spool.item(1, LETTER);
    let outcome = deliver(verifying(), &item).await;
    assert_eq!(short(&outcome), "unconfirmed", "{outcome:?}");
    reason(&outcome);
    let item = Item { uncertain: true, tried: true, ..item };
    assert_delivered(&deliver(verifying(), &item).await);
    assert_eq!((peer.received().len(), peer.objects().len()), (2, 1));
    peer.state().shows_length = Some(7);
    let outcome = deliver(verifying(), &spool.item(2, LETTER)).await;
    assert!(
        matches!(&outcome, Outcome::Permanent { code: Code::Word(word), .. } if word == "other_content"),
        "{outcome:?}"
    );
    peer.state().hides = true;
    assert_eq!(short(&deliver(verifying(), &spool.item(3, LETTER)).await), "unconfirmed");
}

#[tokio::test]
async fn an_archive_that_shows_what_nobody_asked_for_shows_nothing() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    assert_delivered(&deliver(config(&peer), &spool.item(1, LETTER)).await);
    peer.state().filters_nothing = true;
    let verifying = DicomConfig { verifies: true, ..config(&peer) };
    peer.inject(Fault::Refuse(0x0000));
    let outcome = deliver(verifying, &spool.item(2, b"%PDF-1.7 another")).await;
    assert_eq!(short(&outcome), "unconfirmed", "{outcome:?}");
}

#[tokio::test]
async fn a_letter_stays_that_of_the_patient_it_was_sent_as() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, LETTER);
    peer.inject(Fault::Abort);
    peer.state().hides = true;
    assert_eq!(short(&deliver(config(&peer), &item).await), "unconfirmed");
    let mut corrected = Item { uncertain: true, tried: true, ..item.clone() };
    patient(&mut corrected, json!({"uuid": "p-2", "lastName": CANARY}));
    // Nobody can tell whether the letter was filed for the other patient.
    assert_eq!(deliver(config(&peer), &corrected).await, Outcome::NeedsPerson(Unmatched::OtherNumber));
    peer.state().hides = false;
    assert_eq!(deliver(config(&peer), &corrected).await, Outcome::NeedsPerson(Unmatched::OtherNumber));
    assert_eq!(peer.received().len(), 1);
    peer.state().kept.clear();
    assert_delivered(&deliver(config(&peer), &corrected).await);
    assert_eq!(peer.received()[1].text(0x0010, 0x0020), "p-2");
}
