//! The answers of receivers, and their faults.

use super::*;
use crate::system::tls::TlsFiles;

fn code(outcome: &Outcome) -> String {
    let (class, code) = match outcome {
        Outcome::Delivered { .. } => return "delivered".to_owned(),
        Outcome::Transient { code, .. } => ("transient", code),
        Outcome::Unavailable { code, .. } => ("unavailable", code),
        Outcome::Unconfirmed { code, .. } => ("unconfirmed", code),
        Outcome::Held { code, .. } => ("held", code),
        Outcome::Permanent { code, .. } => ("permanent", code),
        Outcome::Own { code, .. } => ("own", code),
        other => panic!("{other:?}"),
    };
    match code {
        Code::Status(status) => format!("{class} {status}"),
        Code::Word(word) => format!("{class} {word}"),
        other => panic!("{other:?}"),
    }
}

/// The outcome of a letter if this happens to its message.
async fn after(fault: Fault, change: impl FnOnce(&mut Hl7v2Config, &mut Item)) -> String {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let mut config = config(&peer);
    if matches!(fault, Fault::Silence | Fault::Late(_)) {
        config.response_timeout = Duration::from_millis(500);
    }
    let mut item = spool.item(1, b"%PDF-1.7 letter");
    change(&mut config, &mut item);
    peer.inject(fault);
    let outcome = deliver(config, &item).await;
    if !matches!(outcome, Outcome::Delivered { .. } | Outcome::Held { .. }) {
        let reason = reason(&outcome);
        assert!(reason.contains("`pms`") && !reason.contains("Canaryworth"), "{reason}");
    }
    code(&outcome)
}

#[tokio::test]
async fn answers_are_classed_by_their_codes() {
    for (acknowledged, error, expected) in [
        ("AA", "", "delivered"),
        ("CA", "", "delivered"),
        ("AE", "", "permanent refused_there"),
        ("CE", "", "permanent refused_there"),
        ("AR", "", "transient refused_there"),
        ("CR", "", "transient refused_there"),
        ("AE", "100", "permanent 100"),
        ("AE", "101", "permanent 101"),
        ("AR", "102", "permanent 102"),
        ("AE", "103", "permanent 103"),
        ("AR", "200", "unavailable 200"),
        ("AE", "201", "unavailable 201"),
        ("AR", "202", "unavailable 202"),
        ("AR", "203", "unavailable 203"),
        ("AE", "204", "permanent 204"),
        ("AE", "205", "permanent 205"),
        ("AE", "206", "transient 206"),
        ("AR", "207", "transient 207"),
        ("AE", "999", "permanent refused_there"),
        ("AE", "not a number", "permanent refused_there"),
    ] {
        let became = after(Fault::refuse(acknowledged, error), |_, _| {}).await;
        assert_eq!(became, expected, "{acknowledged} {error}");
    }
    // A receiver of version 2.3 has the code in another field, and the French profile has its own codes.
    for (segment, expected) in [
        ("ERR|PID^1^3^204&Unknown key identifier&HL70357\r", "permanent 204"),
        ("ERR||PID^1^3|207^x^HL70357|E|902^patient inconnu\r", "own 902"),
        ("ERR|||0^ok\rERR|||101^missing\r", "permanent 101"),
    ] {
        let answer = block(&format!("{}{segment}", acknowledgment("AE", "{id}")));
        assert_eq!(after(Fault::Refuse(answer), |_, _| {}).await, expected, "{segment}");
    }
    let of_2_2 = block("MSH|^~\\&|R||||||ACK|1|P|2.2\rMSA|AE|{id}||||101^x\r");
    assert_eq!(after(Fault::Refuse(of_2_2), |_, _| {}).await, "permanent 101");
}

#[tokio::test]
async fn what_a_code_means_depends_on_what_was_sent_before() {
    let known = || Fault::refuse("AE", "205");
    assert_eq!(after(known(), |_, item| item.uncertain = true).await, "delivered");
    assert_eq!(after(known(), |_, item| item.tried = true).await, "delivered");
    let no_event = Fault::refuse("AR", "201");
    assert_eq!(after(no_event, |_, item| item.replaces = Some(BEFORE.to_owned())).await, "own 201");
    let retries = |config: &mut Hl7v2Config, _: &mut Item| config.retries_errors = true;
    assert_eq!(after(Fault::refuse("AE", ""), retries).await, "transient refused_there");
    assert_eq!(after(Fault::refuse("AE", "101"), retries).await, "permanent 101");
}

#[tokio::test]
async fn an_acknowledgment_counts_however_it_is_framed() {
    let plain = acknowledgment("AA", "{id}");
    let other_signs = plain.replace('|', "#").replace('^', "$");
    for (name, answer) in [
        ("no CR before the end", format!("\u{b}{}\u{1c}\r", plain.trim_end())),
        ("no CR behind it", format!("\u{b}{plain}\u{1c}")),
        ("line feeds", block(&plain.replace('\r', "\r\n"))),
        ("line ends before it", format!("\r\n{}", block(&plain))),
        ("two", format!("{}{}", block(&acknowledgment("CA", "{id}")), block(&plain))),
        ("other signs", block(&other_signs)),
        ("spaces", block(&plain.replace("|AA|{id}|", "|AA |{id} |"))),
    ] {
        assert_eq!(after(Fault::Say(answer), |_, _| {}).await, "delivered", "{name}");
    }
}

#[tokio::test]
async fn a_yes_that_is_taken_back_is_none() {
    let yes = acknowledgment("AA", "{id}");
    let no = "permanent refused_there";
    for (name, answer, expected) in [
        ("a second MSA", block(&format!("{yes}MSA|AE|{{id}}\r")), no),
        ("a second MSA, with a code", block(&format!("{yes}MSA|AR|{{id}}\rERR|||207\r")), "transient 207"),
        ("a no before it", block(&format!("{}MSA|AA|{{id}}\r", acknowledgment("AE", "{id}"))), no),
        ("a second block", format!("{}{}", block(&yes), block(&acknowledgment("AE", "{id}"))), no),
        ("a severe error", block(&format!("{yes}ERR|||207^x^HL70357|E\r")), "transient 207"),
        ("a fatal error", block(&format!("{yes}ERR||||F\r")), no),
        ("a code of an older version", block(&format!("{yes}ERR|PID^1^5^103\r")), "permanent 103"),
        ("a code without a severity", block(&format!("{yes}ERR||PID^1^5|207^x^HL70357\r")), "transient 207"),
        ("a code of the oldest versions", block(&yes.replace("|AA|{id}", "|AA|{id}||||101^x")), "permanent 101"),
        ("an error of an application", block(&format!("{yes}ERR|||X_17\r")), no),
        ("the status of a query", block(&format!("{yes}QAK|1|AE\r")), no),
        ("no code of any", block(&yes.replace("|AA|{id}", "|AA|{id}||||0^accepted")), "delivered"),
        ("an error of 0", block(&format!("{yes}ERR|||0^accepted\rERR||\rQAK|1|OK\r")), "delivered"),
        ("the same after CA", block(&format!("{}ERR|||101|E\r", acknowledgment("CA", "{id}"))), "permanent 101"),
        ("a second MSA of no kind", block(&format!("{yes}MSA|AB|{{id}}\r")), "unconfirmed not_understood"),
        ("a warning", block(&format!("{yes}ERR|||0^x^HL70357|W\rERR|||0|I\r")), "delivered"),
        ("a second MSA, of another message", block(&format!("{yes}MSA|AE|OLD\r")), "delivered"),
    ] {
        assert_eq!(after(Fault::Say(answer), |_, _| {}).await, expected, "{name}");
    }
}

#[tokio::test]
async fn no_other_answer_is_success() {
    let plain = acknowledgment("AA", "{id}");
    let lost = "unconfirmed not_understood";
    for (name, answer, expected) in [
        ("of another message", block(&acknowledgment("AA", "00000000000000000000")), lost),
        ("of another message first", format!("{}{}", block(&acknowledgment("AA", "OLD")), block(&plain)), lost),
        ("of no message", block(&acknowledgment("AA", "")), lost),
        ("without MSA", block("MSH|^~\\&|R||||||ACK|{id}|P|2.5.1\r"), lost),
        ("MSA alone", block("MSA|AA|{id}\r"), lost),
        ("another code", block(&acknowledgment("AB", "{id}")), lost),
        ("a longer code", block(&acknowledgment("AAA", "{id}")), lost),
        ("the id with more", block(&acknowledgment("AA", "{id}0")), lost),
        ("the id in words", block(&format!("{}NTE|1||MSA|AA|{{id}}\r", acknowledgment("AA", "x"))), lost),
        ("a web page", "HTTP/1.1 200 OK\r\n\r\nMSA|AA|{id}\r".to_owned(), lost),
        ("not framed", plain.clone(), lost),
        ("nothing in it", "\u{b}\u{1c}\r".to_owned(), lost),
        ("a commit of MLLP 2", "\u{b}\u{6}\u{1c}\r".to_owned(), lost),
        ("half of it", format!("\u{b}{}", plain.split_at(60).0), "unconfirmed broken_off"),
        ("half of it, and all", format!("\u{b}{}{}", plain.split_at(60).0, block(&plain)), lost),
        ("10 MB before it", block(&format!("{}\r{plain}", "x".repeat(10_000_000))), lost),
        ("10 MB of it", block(&format!("{plain}ZZZ|{}", "x".repeat(10_000_000))), lost),
        ("the end of a block", "\u{1c}\r".to_owned(), lost),
    ] {
        assert_eq!(after(Fault::Say(answer), |_, _| {}).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_lost_acknowledgment_leaves_the_letter_open_or_to_a_person() {
    let holds = |config: &mut Hl7v2Config, _: &mut Item| config.on_lost_reply = LostReply::Hold;
    for (fault, word) in [
        (Fault::LoseReply, "broken_off"),
        (Fault::Silence, "no_answer"),
        (Fault::Late(Duration::from_secs(2)), "no_answer"),
        (Fault::Say(block(&acknowledgment("AA", "OLD"))), "not_understood"),
    ] {
        assert_eq!(after(fault.clone(), |_, _| {}).await, format!("unconfirmed {word}"));
        assert_eq!(after(fault, holds).await, format!("held {word}"));
    }
    // A delivery that docsyncd itself left open is sent again, or held, as configured.
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = Item { uncertain: true, ..spool.item(1, b"%PDF-1.7 letter") };
    let held = deliver(Hl7v2Config { on_lost_reply: LostReply::Hold, ..config(&peer) }, &item).await;
    assert_eq!((code(&held).as_str(), peer.received().len()), ("held cut_off", 0));
    assert_delivered(&deliver(config(&peer), &item).await);
}

#[tokio::test]
async fn a_receiver_that_never_answers_to_the_message_gets_three_copies_and_then_a_person_looks() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let config = Hl7v2Config { response_timeout: Duration::from_secs(1), ..config(&peer) };
    let item = Item { uncertain: true, tried: true, ..spool.item(1, b"%PDF-1.7 letter") };
    for (fault, word) in [
        (Fault::Say(block(&acknowledgment("AA", "OLD"))), "not_understood"),
        (Fault::LoseReply, "broken_off"),
        (Fault::Silence, "no_answer"),
    ] {
        for expected in ["unconfirmed", "unconfirmed", "held"] {
            peer.inject(fault.clone());
            // docsyncd was started anew in between.
            assert_eq!(code(&deliver(config.clone(), &item).await), format!("{expected} {word}"));
        }
        // A person who has looked may send it again.
        item.names.settle(&Item::identity_of(&item.key), false).await.unwrap();
    }
    assert_eq!(peer.received().len(), 9);
}

#[tokio::test]
async fn what_was_not_sent_whole_did_not_arrive() {
    let content = b"%PDF-1.7 ".repeat(2_000_000);
    let (peer, spool) = (Peer::start().await, Spool::new());
    let config = Hl7v2Config { response_timeout: Duration::from_millis(500), ..config(&peer) };
    for fault in [Fault::StallAfter(1000), Fault::CutAfter(100_000)] {
        peer.inject(fault);
        let item = spool.item(1, &content);
        let outcome = deliver(config.clone(), &item).await;
        assert_eq!(code(&outcome), "transient broken_off");
        assert!(item.names.known().await.unwrap().intent.is_none(), "and no intent says that it may have");
    }
    // If the ledger does not answer, no message is sent whole.
    spool.answer(Some(0));
    let outcome = deliver(config, &spool.item(2, b"%PDF-1.7 letter")).await;
    assert_eq!((outcome, peer.received().len()), (Outcome::Unrecorded, 0));
}

#[tokio::test]
async fn an_acknowledgment_of_half_a_message_is_none() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let spool = Spool::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (peer, item) = (Peer::start().await, spool.item(1, &b"%PDF-1.7 ".repeat(2_000_000)));
    let config = Hl7v2Config { port: listener.local_addr().unwrap().port(), ..config(&peer) };
    let answer = block(&acknowledgment("AA", &message::control_id(&item.key)));
    let receiver = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_exact(&mut [0; 400]).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let (outcome, ()) = tokio::join!(deliver(config, &item), receiver);
    assert_eq!(code(&outcome), "transient not_understood");
}

#[tokio::test]
async fn a_connection_is_kept_open_only_where_that_is_wanted_and_nothing_is_left_on_it() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let send = async |adapter: &Hl7Adapter, number: u32| {
        let outcome = adapter.deliver(&spool.item(number, format!("%PDF-1.7 {number}").as_bytes())).await;
        // What the receiver does next must be visible.
        tokio::time::sleep(Duration::from_millis(50)).await;
        outcome
    };
    let connections = || peer.received().iter().map(|message| message.connection).collect::<Vec<_>>();
    let adapter = Hl7Adapter::new(Hl7v2Config { keeps_open: true, ..config(&peer) });
    for number in 1..=3 {
        assert_delivered(&send(&adapter, number).await);
    }
    assert_eq!(connections(), [1, 1, 1]);
    // Another acknowledgment may follow an accept acknowledgment, and does not count.
    let twice = |code| format!("{}{}", block(&acknowledgment(code, "{id}")), block(&acknowledgment("AA", "{id}")));
    for fault in [Fault::Say(block(&acknowledgment("CA", "{id}"))), Fault::Say(twice("AA"))] {
        peer.inject(fault);
        assert_delivered(&send(&adapter, 10).await);
    }
    assert_delivered(&send(&adapter, 11).await);
    assert_eq!(connections(), [1, 1, 1, 1, 2, 3]);
    // The receiver closes the connection, and no letter suffers.
    peer.state().closes = true;
    for number in 20..=22 {
        assert_delivered(&send(&adapter, number).await);
    }
    assert_eq!(connections(), [1, 1, 1, 1, 2, 3, 3, 4, 5]);
    let adapter = Hl7Adapter::new(config(&peer));
    peer.state().closes = false;
    for number in 30..=31 {
        assert_delivered(&send(&adapter, number).await);
    }
    assert_eq!(connections(), [1, 1, 1, 1, 2, 3, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn a_check_connects_and_sends_nothing() {
    let peer = Peer::start().await;
    let checked = Hl7Adapter::new(config(&peer)).check().await.unwrap();
    assert!(checked.notes.concat().contains("no message is sent") && checked.warnings.is_empty(), "{checked:?}");
    let nowhere = Hl7v2Config { host: "nowhere.invalid".to_owned(), ..config(&peer) };
    let complaint = Hl7Adapter::new(nowhere).check().await.unwrap_err();
    assert!(complaint.contains("(DNS)"), "{complaint}");
    // The receiver does not speak TLS.
    let encrypted =
        Hl7v2Config { tls: Some(TlsFiles::default()), response_timeout: Duration::from_secs(1), ..config(&peer) };
    let complaint = Hl7Adapter::new(encrypted).check().await.unwrap_err();
    assert!(complaint.contains("`pms`") && complaint.contains("mllps://"), "{complaint}");
    assert!(peer.received().is_empty());
}
