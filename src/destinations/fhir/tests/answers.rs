//! The meaning of FHIR servers' answers, and new versions.

use super::*;

#[tokio::test]
async fn each_answer_has_its_meaning() {
    let spool = Spool::new();
    let short = |outcome: &Outcome| match outcome {
        Outcome::Permanent { .. } => "permanent",
        Outcome::Unavailable { .. } => "unavailable",
        Outcome::Transient { .. } => "transient",
        Outcome::Unconfirmed { .. } => "unconfirmed",
        Outcome::NoRoom(_) => "no room",
        other => panic!("{other:?}"),
    };
    for (status, expected) in [
        (400, "permanent"),
        (422, "permanent"),
        (413, "permanent"),
        (401, "unavailable"),
        (404, "unavailable"),
        (429, "unavailable"),
        (500, "transient"),
        (503, "transient"),
        (507, "no room"),
        (202, "unconfirmed"),
        (204, "unconfirmed"),
        (303, "unconfirmed"),
        (409, "unconfirmed"),
        (502, "unconfirmed"),
        (504, "unconfirmed"),
    ] {
        let peer = peer(Fhir::default()).await;
        let retry_after = (status == 429).then(|| ("retry-after", "7".to_owned()));
        peer.inject(Fault::Refuse(status, retry_after));
        let outcome = deliver(&peer, &spool.item(1, LETTER)).await;
        assert_eq!(short(&outcome), expected, "{status}: {outcome:?}");
        reason(&outcome);
        assert!(letters(&peer).is_empty());
        // Afterwards it is the same letter.
        assert_delivered(&deliver(&peer, &Item { tried: true, ..spool.item(1, LETTER) }).await);
        assert_eq!(letters(&peer).len(), 1);
    }
}

#[tokio::test]
async fn several_that_have_the_identifier_are_the_letter() {
    let (peer, spool) = (peer(Fhir { ignores_condition: true, ..Fhir::default() }).await, Spool::new());
    let item = spool.item(1, LETTER);
    assert_delivered(&deliver(&peer, &item).await);
    // Two creations at once, which a server does not tell apart.
    change(&peer, |fhir| {
        fhir.letters.push(fhir.letters[0].clone());
        fhir.lags = 1;
    });
    change(&peer, |fhir| fhir.ignores_condition = false);
    assert_delivered(&deliver(&peer, &item).await);
    assert_eq!(letters(&peer).len(), 2);
    // If nobody may look, the server's word that it has several counts.
    change(&peer, |fhir| fhir.hides = Some(403));
    assert_delivered(&deliver(&peer, &Item { uncertain: true, ..item }).await);
    assert_eq!(letters(&peer).len(), 2);
}

#[tokio::test]
async fn a_new_version_replaces_the_one_before() {
    let (peer, spool) = (peer(Fhir::default()).await, Spool::new());
    let first = spool.item(1, LETTER);
    assert_delivered(&deliver(&peer, &first).await);
    let second = Item { replaces: Some(first.key.clone()), ..spool.item(1, b"%PDF-1.7 corrected") };
    let outcome = deliver(&peer, &second).await;
    assert!(matches!(outcome, Outcome::Delivered { beside: false, .. }), "{outcome:?}");
    let target = json!([{"code": "replaces", "target": {"reference": "DocumentReference/letter-0"}}]);
    assert_eq!(letters(&peer)[1]["relatesTo"], target);
    // A version that the server does not show is named by its identifier.
    let unseen = Item { replaces: Some(spool.item(9, b"%PDF-1.7 gone").key), ..spool.item(1, b"%PDF-1.7 third") };
    assert_delivered(&deliver(&peer, &unseen).await);
    let target = &letters(&peer)[2]["relatesTo"][0]["target"];
    assert_eq!(target["identifier"]["value"], identifier(unseen.replaces.as_deref().unwrap()));
    change(&peer, |fhir| fhir.replaces_nothing = true);
    let third = Item { replaces: Some(second.key.clone()), ..spool.item(1, b"%PDF-1.7 fourth") };
    let outcome = deliver(&peer, &third).await;
    assert!(matches!(outcome, Outcome::Delivered { beside: true, .. }), "both lie there: {outcome:?}");
}

#[tokio::test]
async fn a_check_says_what_is_wrong() {
    let good = peer(Fhir::default()).await;
    let checked = FhirAdapter::new(config(&good)).check().await.unwrap();
    assert!(checked.warnings.is_empty() && checked.notes.len() == 1, "{checked:?}");
    let loose = peer(Fhir { ignores_condition: true, hides: Some(403), ..Fhir::default() }).await;
    let checked = FhirAdapter::new(config(&loose)).check().await.unwrap();
    assert!(
        checked.notes[0].contains("conditionalCreate") && checked.warnings[0].contains("status 403"),
        "{checked:?}"
    );
    let bundle = json!({"resourceType": "Parameters"});
    for (fhir, words) in [
        (Fhir { version: "5.0.0", ..Fhir::default() }, "R4"),
        (Fhir { says_instead: Some(bundle), ..Fhir::default() }, "identifier"),
    ] {
        let peer = peer(fhir).await;
        let complaint = FhirAdapter::new(config(&peer)).check().await.unwrap_err();
        assert!(complaint.contains(words) && complaint.contains("`pms`"), "{complaint}");
        assert!(posts(&peer).is_empty());
    }
    let peer = peer(Fhir::default()).await;
    peer.state().page_for_everything = true;
    assert!(FhirAdapter::new(config(&peer)).check().await.unwrap_err().contains("base_url"));
}

#[tokio::test]
async fn what_it_took_and_shows_later_is_filed_once_and_waits_to_be_seen() {
    use suite::confirm::{Known, confirm, filed, said};
    let spool = Spool::new();
    for answers in [None, Some(json!({}))] {
        let peer = peer(Fhir { lags: 10, answers, ignores_condition: true, ..Fhir::default() }).await;
        let confirming = |peer: &Peer| FhirConfig { confirm: Some(confirm(Evidence::Query, None)), ..config(peer) };
        let adapter = FhirAdapter::new(confirming(&peer));
        let letter = [filed(&adapter, &spool, 1, LETTER).await];
        change(&peer, |fhir| fhir.lags = 1);
        let look = async || said(&adapter.look(&letter, &Known::default()).await.unwrap());
        assert_eq!((look().await, look().await, posts(&peer).len()), (vec!["waits"], vec!["query"], 1));
        // A search that is answered from a cache would lead to a second letter.
        let looks = peer.received(&Method::GET);
        assert!(looks.len() > 3 && looks.iter().all(|look| look.header("cache-control") == Some("no-cache")));
        // A page does not say that a server took anything.
        let peer = self::peer(Fhir::default()).await;
        peer.inject(Fault::WebPage(200));
        let outcome = FhirAdapter::new(confirming(&peer)).deliver(&spool.item(2, b"%PDF-1.7 another")).await;
        assert!(matches!(outcome, Outcome::Unconfirmed { .. }), "{outcome:?}");
    }
}

#[tokio::test]
async fn what_a_query_shows_is_proved() {
    use suite::confirm::{Known, confirm, filed, said};
    use suite::kept::kept;
    let (peer, spool) = (peer(Fhir::default()).await, Spool::new());
    let adapter = FhirAdapter::new(FhirConfig { confirm: Some(confirm(Evidence::Query, None)), ..config(&peer) });
    // A letter that was read back counts as seen.
    let seen = adapter.deliver(&spool.item(9, b"%PDF-1.7 seen")).await;
    assert!(matches!(seen, Outcome::Delivered { filed: None, proof: Some(Proof::Query), .. }));
    change(&peer, |fhir| {
        fhir.letters.clear();
        fhir.hides = Some(403);
    });
    let letters = [filed(&adapter, &spool, 1, LETTER).await, filed(&adapter, &spool, 2, b"%PDF-1.7 another").await];
    let look = async || adapter.look(&letters, &Known::default()).await.map(|sights| said(&sights));
    assert!(look().await.is_err());
    change(&peer, |fhir| fhir.hides = None);
    assert_eq!(look().await.unwrap(), ["query", "query"]);
    let third = spool.item(3, b"%PDF-1.7 third");
    let asked = [kept(&adapter, &third).await];
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Same]);
    change(&peer, |fhir| fhir.letters[1]["status"] = "entered-in-error".into());
    assert_eq!(look().await.unwrap(), ["query", "waits"]);
    change(&peer, |fhir| fhir.shows_other_hash = true);
    assert_eq!(look().await.unwrap(), ["waits", "waits"]);
    change(&peer, |fhir| {
        fhir.letters[2]["content"][0]["attachment"]["data"] = STANDARD.encode(b"%PDF-1.7 other").into()
    });
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Other]);
    change(&peer, |fhir| fhir.letters.truncate(2));
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Nothing]);
    peer.state().closed = Some(503);
    assert!(look().await.is_err() && adapter.still_holds(&asked).await.is_err());
}
