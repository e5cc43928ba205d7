//! Each fault at each step of the conversation.

use super::peer::SILENCE;
use super::*;

/// Each fault of a mail server, at each step.
#[tokio::test]
async fn each_code_at_each_step_has_its_meaning() {
    let steps = ["connect", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "."];
    for step in steps {
        let is_early = ["connect", "EHLO", "AUTH"].contains(&step);
        for (answer, expected) in [
            ("421 4.3.2 Canaryworth goes home\r\n", "down"),
            ("451 4.7.1 Canaryworth later\r\n", if is_early { "down" } else { "passing" }),
            ("452 4.2.2 Canaryworth's mailbox\r\n", if is_early { "down" } else { "no room" }),
            ("552 5.2.2 Canaryworth's mailbox\r\n", if is_early { "down" } else { "no room" }),
            (
                "552 Canaryworth is too large, or the mailbox full\r\n",
                match step {
                    _ if is_early => "down",
                    "RCPT" => "no room",
                    _ => "permanent",
                },
            ),
            ("552 5.7.0 Canaryworth is refused\r\n", if is_early { "down" } else { "permanent" }),
            ("552 5.3.1 Canaryworth is full\r\n", if is_early { "down" } else { "no room" }),
            ("550 5.4.5 Canaryworth was sent enough\r\n", "down"),
            ("552 5.3.4 Canaryworth is too large\r\n", if is_early { "down" } else { "permanent" }),
            ("550-5.1.1 nobody\r\n550 5.1.1 Canaryworth\r\n", if is_early { "down" } else { "permanent" }),
            ("554 5.7.1 Canaryworth is spam\r\n", if is_early { "down" } else { "permanent" }),
            ("530 5.7.0 Canaryworth signs in first\r\n", "down"),
            ("535 5.7.8 Canaryworth is wrong\r\n", "down"),
            // A positive reply to another command, and an invalid reply.
            (
                "299 Canaryworth\r\n",
                if is_early {
                    "down"
                } else if step == "." {
                    "unconfirmed"
                } else {
                    "passing"
                },
            ),
            (
                "Canaryworth\r\n",
                if is_early {
                    "down"
                } else if step == "." {
                    "unconfirmed"
                } else {
                    "passing"
                },
            ),
            (
                "",
                if is_early {
                    "down"
                } else if step == "." {
                    "unconfirmed"
                } else {
                    "passing"
                },
            ),
        ] {
            let post = post();
            post.answers(step, answer);
            let outcome = post.deliver(b"%PDF-1.7 letter").await;
            let found = match &outcome {
                Outcome::Unavailable { .. } => "down",
                Outcome::Transient { .. } => "passing",
                Outcome::NoRoom(_) => "no room",
                Outcome::Permanent { .. } => "permanent",
                Outcome::Unconfirmed { .. } => "unconfirmed",
                other => panic!("{other:?}"),
            };
            assert_eq!(found, expected, "{answer} at {step}: {outcome:?}");
            assert!(reason(&outcome).contains("`pms`"), "{outcome:?}");
            let code = answer.get(..3).filter(|_| answer.starts_with(['4', '5']));
            assert!(code.is_none_or(|code| reason(&outcome).contains(code)), "{outcome:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_falls_silent_is_waited_for_no_longer_than_it_may_take() {
    for (step, expected) in
        [("connect", "down"), ("EHLO", "down"), ("MAIL", "passing"), ("DATA", "passing"), (".", "unconfirmed")]
    {
        let mut post = post();
        post.config.timeout = Duration::from_secs(1);
        post.answers(step, SILENCE);
        let outcome = post.deliver(b"%PDF-1.7 letter").await;
        let found = match &outcome {
            Outcome::Unavailable { .. } => "down",
            Outcome::Transient { .. } => "passing",
            Outcome::Unconfirmed { .. } => "unconfirmed",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{step}: {outcome:?}");
        reason(&outcome);
    }
}

#[tokio::test]
async fn a_mail_that_may_have_arrived_is_held_or_sent_again_and_known_as_the_same() {
    let mut post = post();
    let spool = Spool::new();
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    post.config.on_lost_reply = LostReply::Hold;
    post.peer.state().loses_reply = true;
    let outcome = post.smtp().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
    // docsyncd was restarted in between: nothing is sent.
    item.uncertain = item.names.known().await.unwrap().intent.is_some();
    assert!(item.uncertain);
    let outcome = post.smtp().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
    assert_eq!(post.peer.state().mails.len(), 1);

    post.config.on_lost_reply = LostReply::Resend;
    assert_delivered(&post.smtp().deliver(&item).await);
    assert_eq!(post.peer.attached().len(), 1);
    assert_eq!(post.peer.state().mails.len(), 2);
}

#[tokio::test]
async fn a_server_that_never_says_that_it_has_a_mail_gets_three_copies_and_then_a_person_looks() {
    let (post, spool) = (post(), Spool::new());
    let item = Item { uncertain: true, tried: true, ..spool.item(1, b"%PDF-1.7 letter") };
    for is_held in [false, false, true] {
        post.peer.state().loses_reply = true;
        let outcome = post.smtp().deliver(&item).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }) != is_held, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Held { .. }), is_held, "{outcome:?}");
    }
    assert_eq!(post.peer.state().mails.len(), 3);
    // A server that is busy has answered, however often it does so.
    let item = Item { uncertain: true, tried: true, ..spool.item(2, b"%PDF-1.7 another") };
    post.answers(".", "451 4.7.1 later\r\n");
    for _ in 0..5 {
        assert!(matches!(post.smtp().deliver(&item).await, Outcome::Transient { .. }));
    }
}

#[tokio::test]
async fn only_a_refusal_of_the_size_is_told_as_one() {
    for (step, answer, is_size) in [
        (".", "552 Too much\r\n", true),
        ("MAIL", "552 5.3.4 Too much\r\n", true),
        ("RCPT", "550 5.2.3 Too much\r\n", true),
        (".", "552 5.7.0 A virus\r\n", false),
        ("RCPT", "552 5.5.3 Too many recipients\r\n", false),
    ] {
        let post = post();
        post.answers(step, answer);
        let outcome = post.deliver(b"%PDF-1.7 letter").await;
        assert!(matches!(outcome, Outcome::Permanent { .. }), "{answer}: {outcome:?}");
        assert_eq!(reason(&outcome).contains("size"), is_size, "{answer}: {outcome:?}");
    }
}

/// A client module of KIM answers so for a recipient without a certificate, today and tomorrow.
#[tokio::test]
async fn a_recipient_of_kim_whom_the_client_module_does_not_take_twice_needs_a_person() {
    for (to, step, tried, expected) in [
        ("a@clinic.kim.telematik", ".", false, false),
        ("a@clinic.kim.telematik", ".", true, true),
        ("a@clinic.KIM.telematik", "RCPT", true, true),
        ("a@clinic.test", ".", true, false),
    ] {
        let mut post = post();
        post.config.to = compile(TEXT, to);
        post.answers(step, "451 Canaryworth has no certificate\r\n");
        let spool = Spool::new();
        let item = Item { tried, ..spool.item(1, b"%PDF-1.7 letter") };
        let outcome = post.smtp().deliver(&item).await;
        assert_eq!(matches!(outcome, Outcome::Held { .. }), expected, "{to} {step} {tried}: {outcome:?}");
        assert!(expected || matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    }
}

/// If the server certainly does not have the mail, no person is asked.
#[tokio::test]
async fn before_the_dot_nothing_is_recorded() {
    for step in ["connect", "AUTH", "MAIL", "RCPT", "DATA"] {
        let post = post();
        let item = Spool::new().item(1, b"%PDF-1.7 letter");
        post.answers(step, "");
        let outcome = post.smtp().deliver(&item).await;
        assert!(outcome.is_refusal() && item.names.known().await.unwrap().intent.is_none(), "{step}: {outcome:?}");
    }
    // If the intent cannot be recorded, the dot is not sent.
    let (post, spool) = (post(), Spool::new());
    spool.answer(Some(0));
    assert_eq!(post.smtp().deliver(&spool.item(1, b"%PDF-1.7 letter")).await, Outcome::Unrecorded);
    assert!(post.peer.state().mails.is_empty());
}
