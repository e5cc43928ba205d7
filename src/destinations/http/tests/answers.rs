//! What the answers of a service mean, and what happens if one is lost.

use super::*;

#[tokio::test]
async fn a_lost_reply_is_looked_into_where_that_can_be() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    peer.inject(Fault::LoseReply);
    assert_delivered(&deliver(config(&peer), &item).await);
    assert_eq!(peer.objects().len(), 1);
    // At a page of the service that knows the key.
    peer.state().objects.clear();
    peer.inject(Fault::LoseReply);
    let outcome = deliver(probing(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "not to be seen yet: {outcome:?}");
    knows(&peer, &item);
    assert_delivered(&deliver(probing(&peer), &Item { uncertain: true, ..item }).await);
    assert_eq!(peer.received(&Method::POST).len(), 1, "what is there is not sent again");
}

/// The copy that was sent for another patient has the same content.
#[tokio::test]
async fn an_address_without_the_key_that_another_patients_copy_has_is_taken() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let url = || template(TemplateKind::Url, &peer.url("/documents/{{ document.uuid }}"));
    let corrected = spool.item(1, b"%PDF-1.7 another");
    let item = spool.item(1, b"%PDF-1.7 letter");
    let corrected = Item { pdf: item.pdf.clone(), has_editions: true, ..corrected };
    let lost = Item { uncertain: true, has_editions: true, ..item.clone() };
    assert_delivered(&deliver(HttpConfig { url: url(), ..config(&peer) }, &item).await);
    // If nothing else of it was sent there, it is its own.
    assert_delivered(&deliver(HttpConfig { url: url(), ..config(&peer) }, &lost).await);
    let outcome = deliver(HttpConfig { url: url(), ..config(&peer) }, &corrected).await;
    assert!(matches!(outcome, Outcome::Permanent { .. }) && reason(&outcome).contains("{{ key }}"), "{outcome:?}");
    // At a page of the service, nobody can say.
    peer.inject(Fault::LoseReply);
    let probe_url = Some(url());
    let asked = HttpConfig { probe_url, on_lost_reply: LostReply::Hold, ..post(&peer) };
    let outcome = deliver(asked, &corrected).await;
    assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
}

#[tokio::test]
async fn where_nobody_can_look_a_lost_reply_is_unconfirmed_and_what_was_not_sent_whole_is_not() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    peer.inject(Fault::LoseReply);
    let outcome = deliver(post(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    reason(&outcome);
    peer.state().objects.clear();
    // More than the two sockets hold for a peer that does not read (4 and 6 MiB at most on Linux), so that the end of
    // the body is never sent.
    let item = spool.item(2, &b"%PDF-1.7 letter ".repeat(1 << 20));
    peer.inject(Fault::CutAfter(1000));
    let outcome = deliver(post(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert!(peer.objects().is_empty());
    let holding = HttpAdapter::new(HttpConfig { on_lost_reply: LostReply::Hold, ..post(&peer) });
    assert!(holding.holds());
    let looking = HttpAdapter::new(HttpConfig { on_lost_reply: LostReply::Hold, ..config(&peer) });
    assert!(!looking.holds(), "it can look");
}

#[tokio::test]
async fn a_service_that_nobody_can_ask_and_that_never_answers_gets_three_copies_and_then_a_person_looks() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = Item { uncertain: true, ..spool.item(1, b"%PDF-1.7 letter") };
    for (number, is_held) in (1..).zip([false, false, true]) {
        peer.inject(Fault::LoseReply);
        let outcome = deliver(post(&peer), &item).await;
        assert_eq!(matches!(outcome, Outcome::Held { .. }), is_held, "{outcome:?}");
        assert!(is_held || matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
        assert_eq!(peer.received(&Method::POST).len(), number);
    }
    // A status is an answer.
    let item = Item { uncertain: true, ..spool.item(2, b"%PDF-1.7 another") };
    for _ in 0..5 {
        peer.inject(Fault::AnswerWith(504));
        assert!(matches!(deliver(post(&peer), &item).await, Outcome::Unconfirmed { .. }));
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_and_counts_as_a_lost_reply() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    peer.inject(Fault::Silence);
    let mut config = post(&peer);
    config.connection.timeout = Duration::from_secs(2);
    let item = spool.item(1, b"%PDF-1.7 letter");
    let (outcome, ()) = tokio::join!(deliver(config, &item), peer.wait_for(|state| !state.objects.is_empty()));
    assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    assert!(reason(&outcome).contains("destinations.pms.timeout"));
}

#[tokio::test]
async fn answers_mean_what_they_say() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let is_down = |outcome: &Outcome| matches!(outcome, Outcome::Unavailable { .. });
    let wait = Some(Duration::from_secs(7));
    let later = |outcome: &Outcome| matches!(outcome, Outcome::Unavailable { retry_after, .. } if *retry_after == wait);
    let elsewhere = Some(("location", "http://192.0.2.1/stolen".to_owned()));
    type Expected<'a> = &'a dyn Fn(&Outcome) -> bool;
    let cases: [(Fault, Expected<'_>); 12] = [
        (Fault::AnswerWith(202), &|outcome| matches!(outcome, Outcome::Unconfirmed { .. })),
        (Fault::AnswerWith(504), &|outcome| matches!(outcome, Outcome::Unconfirmed { .. })),
        (Fault::Refuse(401, None), &is_down),
        (Fault::Refuse(403, None), &is_down),
        (Fault::Refuse(404, None), &is_down),
        (Fault::Refuse(307, elsewhere), &is_down),
        (Fault::WebPage(200), &is_down),
        (Fault::Refuse(429, Some(("retry-after", "7".to_owned()))), &later),
        (Fault::Refuse(500, None), &|outcome| matches!(outcome, Outcome::Unconfirmed { .. })),
        (Fault::Refuse(507, None), &|outcome| matches!(outcome, Outcome::NoRoom(_))),
        (Fault::Refuse(413, None), &|outcome| matches!(outcome, Outcome::Permanent { .. })),
        (Fault::Refuse(409, None), &|outcome| matches!(outcome, Outcome::Permanent { .. })),
    ];
    for (fault, expected) in cases {
        peer.inject(fault.clone());
        let outcome = deliver(post(&peer), &item).await;
        assert!(expected(&outcome), "{fault:?}: {outcome:?}");
        assert!(reason(&outcome).contains("`pms`"));
    }
    peer.inject(Fault::AnswerWith(202));
    assert_delivered(&deliver(HttpConfig { success: vec![202], ..post(&peer) }, &item).await);
    peer.inject(Fault::Refuse(409, None));
    let found = || HttpConfig { conflict_is_found: true, ..post(&peer) };
    let by_key = HttpConfig { url: template(TemplateKind::Url, &peer.url("/inbox/{{ key }}")), ..found() };
    assert_delivered(&deliver(by_key, &item).await);
    // Of what the document has in all its versions, at a repetition only; of a name that another letter may have, never.
    let repeated = Item { uncertain: true, ..item.clone() };
    let form = |file_name: &str| HttpConfig {
        body: HttpBody::Multipart { file_field: "file".to_owned(), fields: Vec::new() },
        file_name: template(TemplateKind::RemoteName, file_name),
        ..found()
    };
    let json = |source: &str| HttpConfig { body: HttpBody::Json(template(TemplateKind::JsonBody, source)), ..found() };
    for (config, is_found) in [
        (found(), true),
        (form("{{ document.uuid }}.pdf"), true),
        (form("{{ patient.lastName }}.pdf"), false),
        (json(r#"{"content": "{{ file_base64 }}"}"#), true),
        (json(r#"{"name": "{{ file_name }}", "content": "{{ file_base64 }}"}"#), false),
        (json(r#"{"name": "{{ document.uuid }}", "content": "{{ file_base64 }}"}"#), true),
        (
            HttpConfig {
                headers: vec![("X-Request-Id".to_owned(), text("{{ key }}"))],
                ..form("{{ patient.lastName }}.pdf")
            },
            false,
        ),
    ] {
        peer.inject(Fault::Refuse(409, None));
        assert!(matches!(deliver(config.clone(), &item).await, Outcome::Permanent { .. }));
        peer.inject(Fault::Refuse(409, None));
        let outcome = deliver(config.clone(), &repeated).await;
        assert_eq!(matches!(outcome, Outcome::Delivered { .. }), is_found, "{config:?}: {outcome:?}");
    }
    // Where the service shows what it has, that decides.
    let shows = HttpConfig { probe_url: probing(&peer).probe_url, ..found() };
    let by_key = HttpConfig { url: template(TemplateKind::Url, &peer.url("/inbox/{{ key }}")), ..shows };
    peer.inject(Fault::Refuse(409, None));
    assert!(matches!(deliver(by_key.clone(), &item).await, Outcome::Transient { .. }));
    knows(&peer, &item);
    peer.inject(Fault::Refuse(409, None));
    assert_delivered(&deliver(by_key, &item).await);
    // A missing address may be this document's fault, and a gateway's answer leads to a look.
    peer.inject(Fault::Refuse(404, None));
    assert!(matches!(deliver(config(&peer), &item).await, Outcome::Transient { .. }));
    peer.inject(Fault::AnswerWith(202));
    assert_delivered(&deliver(config(&peer), &item).await);
}

#[tokio::test]
async fn a_success_that_says_that_it_failed_is_a_failure_of_the_kind_that_it_names() {
    let leaked = |text: String| -> &'static str { text.leak() };
    let (pad, numbers) = ("é? ".repeat(40_000), "1, ".repeat(30_000) + "1");
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let short = |outcome: &Outcome| match outcome {
        Outcome::Delivered { .. } => "delivered",
        Outcome::Permanent { .. } => "permanent",
        Outcome::Unavailable { .. } => "unavailable",
        Outcome::Transient { .. } => "transient",
        Outcome::Unconfirmed { .. } => "unconfirmed",
        Outcome::Held { .. } => "held",
        other => panic!("{other:?}"),
    };
    for (status, body, expected) in [
        (200, r#"{"success": false, "message": "Canaryworth"}"#, "transient"),
        (201, r#"{"error": {"message": "Canaryworth"}}"#, "transient"),
        (200, r#"{"errors": ["Canaryworth"]}"#, "transient"),
        (200, r#"{"status": "error"}"#, "transient"),
        (200, r#"{"ok": false}"#, "transient"),
        (200, r#"{"error": {"code": 422}}"#, "permanent"),
        (200, r#"{"error": {"code": 401}}"#, "unavailable"),
        (200, r#"{"error": {"code": 503}}"#, "unconfirmed"),
        (200, r#"{"error": null, "id": 7}"#, "delivered"),
        (200, r#"{"errors": []}"#, "delivered"),
        (200, "{}", "delivered"),
        (200, "OK", "delivered"),
        (200, leaked(format!("{{\"page\": \"{pad}\", \"list\": [{numbers}], \"success\": false}}")), "transient"),
        (200, leaked(format!("{{\"success\": true, \"error\": \"no: {pad}\"}}")), "transient"),
        (200, leaked(format!("ERROR: {pad}")), "transient"),
        (200, leaked(format!("{{\"page\": \"{pad}\", \"list\": [{numbers}], \"success\": true}}")), "delivered"),
    ] {
        peer.inject(Fault::Says(status, body));
        let outcome = deliver(post(&peer), &item).await;
        assert_eq!(short(&outcome), expected, "{body}: {outcome:?}");
        if expected != "delivered" {
            assert!(!reason(&outcome).contains(CANARY), "{outcome:?}");
        }
    }
    // What only sounds like a failure is sent once, and then a person decides, unless somebody can look.
    let unclear = spool.item(3, b"%PDF-1.7 unclear");
    for (config, expected) in [(post(&peer), "held"), (probing(&peer), "unconfirmed")] {
        peer.inject(Fault::Says(200, r#"{"resultCode": 1, "message": "Canaryworth"}"#));
        let outcome = deliver(config, &unclear).await;
        assert_eq!(short(&outcome), expected, "{outcome:?}");
        assert!(!outcome.reason().contains(CANARY), "{outcome:?}");
    }
    // One that was cut may have said anything.
    peer.inject(Fault::Says(200, r#"{"id": 7, "success": "#));
    assert_eq!(short(&deliver(post(&peer), &spool.item(2, b"%PDF-1.7 another")).await), "unconfirmed");
    // A person decides where that is wanted, and what the service shows counts.
    let says = || Fault::Says(200, r#"{"success": false}"#);
    peer.inject(says());
    let holding = HttpConfig { on_lost_reply: LostReply::Hold, ..post(&peer) };
    assert_eq!(short(&deliver(holding, &item).await), "held");
    knows(&peer, &item);
    peer.inject(says());
    assert_delivered(&deliver(probing(&peer), &item).await);
    // An error is no sight of it, and no working service.
    let found = |peer: &Peer| peer.state().other_faults.push_back((Method::GET, says()));
    found(&peer);
    let outcome = deliver(probing(&peer), &Item { uncertain: true, ..item }).await;
    assert_eq!(short(&outcome), "transient");
    found(&peer);
    let checking = HttpConfig { check_url: Some(peer.url("/alive").parse().unwrap()), ..post(&peer) };
    assert!(HttpAdapter::new(checking).check().await.unwrap_err().contains("`check_url`"));
}

fn probing(peer: &Peer) -> HttpConfig {
    HttpConfig { probe_url: Some(template(TemplateKind::Url, &peer.url("/known/{{ key }}"))), ..post(peer) }
}

fn knows(peer: &Peer, item: &Item) {
    let known =
        docsyncd_test_support::peer::Kept { content: b"{\"state\":\"filed\"}".to_vec(), headers: HeaderMap::new() };
    peer.state().objects.insert(format!("/known/{}", item.key), known);
}

#[tokio::test]
async fn a_service_that_fails_is_asked_whether_it_kept_the_document_all_the_same() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let wait = Some(("retry-after", "7".to_owned()));
    for (number, fault) in [408, 500, 502, 503, 504].map(|status| Fault::Refuse(status, None)).into_iter().enumerate() {
        let item = spool.item(u32::try_from(number).unwrap(), b"%PDF-1.7 letter");
        peer.inject(fault.clone());
        let outcome = deliver(probing(&peer), &item).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{fault:?}: {outcome:?}");
        knows(&peer, &item);
        peer.inject(fault);
        assert_delivered(&deliver(probing(&peer), &item).await);
    }
    // A refusal with Retry-After is believed if the look shows nothing.
    let item = spool.item(9, b"%PDF-1.7 letter");
    peer.inject(Fault::Refuse(503, wait.clone()));
    let outcome = deliver(probing(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    knows(&peer, &item);
    peer.inject(Fault::Refuse(503, wait));
    assert_delivered(&deliver(probing(&peer), &item).await);
}

/// The service stamps what it keeps.
#[tokio::test]
async fn what_lies_under_the_key_of_a_document_is_the_document() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = Item { uncertain: true, ..spool.item(1, b"%PDF-1.7 letter") };
    knows(&peer, &item);
    peer.state().objects.get_mut(&format!("/known/{}", item.key)).unwrap().content = b"%PDF-1.7 stamped".to_vec();
    assert_delivered(&deliver(probing(&peer), &item).await);
    assert!(peer.received(&Method::POST).is_empty());
    // Under the document's own identifier lies an earlier version.
    let by_uuid = template(TemplateKind::Url, &peer.url("/documents/{{ document.uuid }}"));
    let left = docsyncd_test_support::peer::Kept { content: b"%PDF-1.7 before".to_vec(), headers: HeaderMap::new() };
    peer.state().objects.insert(format!("/documents/{}", item.uuid), left);
    assert_delivered(&deliver(HttpConfig { probe_url: Some(by_uuid), ..post(&peer) }, &item).await);
    assert_eq!(peer.received(&Method::POST).len(), 1, "the new one is sent");
}

#[tokio::test]
async fn what_an_attempt_that_was_cut_off_left_at_the_documents_own_address_is_completed() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let at = |source: &str| HttpConfig { url: template(TemplateKind::Url, &peer.url(source)), ..config(&peer) };
    for (content, own, completed) in [
        ("%PDF-1.7 let", true, true),
        ("%PDF-1.7 let", false, false),
        ("%PDF-1.7 x", true, false),
        ("", true, false),
        ("", false, false),
    ] {
        let (address, path) = match own {
            true => ("/in/{{ key }}.pdf", format!("/in/{}.pdf", item.key)),
            false => ("/in/letter.pdf", "/in/letter.pdf".to_owned()),
        };
        let left = docsyncd_test_support::peer::Kept { content: content.into(), headers: HeaderMap::new() };
        peer.state().objects.insert(path.clone(), left);
        let outcome = deliver(at(address), &item).await;
        assert_eq!(matches!(outcome, Outcome::Delivered { .. }), completed, "{content} {own}: {outcome:?}");
        assert_eq!(peer.objects()[&path] == b"%PDF-1.7 letter", completed);
    }
}

#[tokio::test]
async fn what_was_completed_and_taken_at_once_by_an_importer_is_not_sent_again() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let url = template(TemplateKind::Url, &peer.url("/in/{{ key }}.pdf"));
    let left = docsyncd_test_support::peer::Kept { content: b"%PDF-1.7 let".to_vec(), headers: HeaderMap::new() };
    peer.state().objects.insert(format!("/in/{}.pdf", item.key), left);
    peer.state().imports = true;
    assert_delivered(&deliver(HttpConfig { url, ..config(&peer) }, &item).await);
}

/// Most search services answer so, whatever the question.
#[tokio::test]
async fn a_probe_that_finds_whatever_it_is_asked_for_says_nothing() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let found = |peer: &Peer| peer.state().other_faults.push_back((Method::GET, Fault::Refuse(200, None)));
    found(&peer);
    let adapter = HttpAdapter::new(probing(&peer));
    assert!(adapter.check().await.unwrap_err().contains("probe_contains"));
    peer.inject(Fault::Refuse(500, None));
    for _ in 0..2 {
        found(&peer);
    }
    let outcome = adapter.deliver(&item).await;
    assert!(!matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
}

/// A person decides what is sent again, also if a form's page or a gateway's answer leaves it open.
#[tokio::test]
async fn a_redirect_to_a_page_of_its_own_may_follow_what_was_kept() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    let (here, there) = (peer.url("/thanks"), "http://192.0.2.1/sign-in".to_owned());
    for (fault, holds, asks) in [
        (Fault::Refuse(303, Some(("location", here.clone()))), true, true),
        (Fault::Refuse(303, Some(("location", "/thanks".to_owned()))), true, true),
        (Fault::Refuse(302, Some(("location", "/login".to_owned()))), true, false),
        (Fault::Refuse(303, Some(("location", here))), false, false),
        (Fault::Refuse(302, Some(("location", there))), true, false),
        // Announced maintenance concerns the whole destination.
        (Fault::Refuse(503, Some(("retry-after", "7".to_owned()))), true, false),
    ] {
        peer.inject(fault.clone());
        let on_lost_reply = if holds { LostReply::Hold } else { LostReply::Resend };
        let outcome = deliver(HttpConfig { on_lost_reply, ..post(&peer) }, &item).await;
        assert_eq!(matches!(outcome, Outcome::Held { .. }), asks, "{fault:?}: {outcome:?}");
        assert!(asks || matches!(outcome, Outcome::Unavailable { .. }), "{fault:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_answer_to_the_question_that_was_cut_or_is_a_page_says_nothing() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = Item { uncertain: true, ..spool.item(1, b"%PDF-1.7 letter") };
    peer.state().cuts_answers = true;
    let outcome = deliver(probing(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    peer.state().cuts_answers = false;
    peer.state().other_faults.push_back((Method::GET, Fault::WebPage(200)));
    let outcome = deliver(probing(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Unavailable { .. }), "{outcome:?}");
    // A conflict of unknown cause may pass.
    peer.inject(Fault::Refuse(409, None));
    peer.state().other_faults.push_back((Method::GET, Fault::Refuse(503, None)));
    let outcome = deliver(probing(&peer), &Item { uncertain: false, ..item }).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_page_at_the_address_of_a_document_is_not_something_else_and_the_probe_is_asked() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let item = spool.item(1, b"%PDF-1.7 letter");
    assert_delivered(&deliver(config(&peer), &item).await);
    peer.state().objects.values_mut().for_each(|kept| kept.content = b"<!doctype html><title>Sign in</title>".to_vec());
    let outcome = deliver(config(&peer), &item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    knows(&peer, &item);
    let both = HttpConfig { probe_url: probing(&peer).probe_url, ..config(&peer) };
    assert_delivered(&deliver(both, &item).await);
}

#[tokio::test]
async fn what_may_have_arrived_is_left_to_a_person_where_that_is_wanted() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let holding = |config: HttpConfig| HttpConfig { on_lost_reply: LostReply::Hold, ..config };
    let mut faults = [408, 500, 502, 503, 504].map(|status| Fault::Refuse(status, None)).to_vec();
    faults.push(Fault::WebPage(200));
    for fault in faults {
        peer.inject(fault.clone());
        let outcome = deliver(holding(post(&peer)), &spool.item(1, b"%PDF-1.7 letter")).await;
        assert!(matches!(outcome, Outcome::Held { .. }), "{fault:?}: {outcome:?}");
    }
    // A condition alone does not tell the result if the service lets nobody read.
    let adapter = HttpAdapter::new(holding(config(&peer)));
    for status in [405, 403] {
        let item = spool.item(status, b"%PDF-1.7 letter");
        assert_delivered(&adapter.deliver(&item).await);
        let refusal = Fault::Refuse(u16::try_from(status).unwrap(), None);
        peer.state().other_faults.push_back((Method::GET, refusal));
        let outcome = adapter.deliver(&item).await;
        assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
        assert!(adapter.holds());
    }
}
