//! `confirm = "probe"`: what the service shows at `probe_url` counts.

use super::*;
use reqwest::header::CONTENT_TYPE;

use crate::config::Evidence;
use crate::destinations::Holds;
use crate::destinations::contract::confirm::{Known, confirm, filed, said};
use crate::destinations::contract::kept::kept;
use docsyncd_test_support::peer::Kept;

fn probing(peer: &Peer) -> HttpConfig {
    HttpConfig {
        probe_url: Some(template(TemplateKind::Url, &peer.url("/known/{{ key }}"))),
        confirm: Some(confirm(Evidence::Probe, None)),
        ..post(peer)
    }
}

#[tokio::test]
async fn a_document_is_proved_when_the_probe_shows_it() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let adapter = HttpAdapter::new(probing(&peer));
    let letters =
        [filed(&adapter, &spool, 1, b"%PDF-1.7 letter").await, filed(&adapter, &spool, 2, b"%PDF-1.7 another").await];
    let look = async || adapter.look(&letters, &Known::default()).await.map(|sights| said(&sights));
    assert_eq!(look().await.unwrap(), ["waits", "waits"]);
    // The service keeps it stamped, so it is no longer the same.
    let kept = || Kept { content: b"%PDF-1.7 stamped".to_vec(), headers: HeaderMap::new() };
    peer.state().objects.insert(format!("/known/{}", letters[1].key), kept());
    assert_eq!(look().await.unwrap(), ["waits", "probe"]);
    // What it shows is no proof while it says that the letter is not filed yet.
    for (shown, expected) in [(r#"{"status":"pending"}"#, "waits"), ("not found", "waits"), (r#"{"id":7}"#, "probe")] {
        let there = Kept { content: shown.as_bytes().to_vec(), headers: HeaderMap::new() };
        peer.state().objects.insert(format!("/known/{}", letters[1].key), there);
        assert_eq!(look().await.unwrap(), ["waits", expected], "{shown}");
    }
    // A refusal about one letter does not stop the others; one about all letters is an error.
    peer.state().other_faults.push_back((Method::GET, Fault::Refuse(400, None)));
    assert_eq!(look().await.unwrap(), ["waits", "probe"]);
    for status in [401, 503] {
        peer.state().closed = Some(status);
        let outcome = look().await.unwrap_err();
        assert!(reason(&outcome).contains("`pms`"), "{outcome:?}");
    }
}

/// Versions of a document share an address without the key, and so does the copy that was sent for another patient.
#[tokio::test]
async fn an_address_that_several_share_shows_one_of_them_by_its_content_alone_and_not_two_patients_by_the_same() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let probe_url = Some(template(TemplateKind::Url, &peer.url("/known/{{ document.uuid }}")));
    let adapter = HttpAdapter::new(HttpConfig { probe_url, ..probing(&peer) });
    let letter = filed(&adapter, &spool, 1, b"%PDF-1.7 letter").await;
    for (shown, is_first, has_editions, expected) in [
        ("{\"state\":\"filed\"}", true, false, "probe"),
        ("{\"state\":\"filed\"}", false, false, "waits"),
        ("%PDF-1.7 letter", false, false, "probe"),
        ("%PDF-1.7 letter", true, true, "probe"),
        ("%PDF-1.7 letter", false, true, "waits"),
        ("%PDF-1.7 stamped", true, false, "waits"),
    ] {
        let there = Kept { content: shown.as_bytes().to_vec(), headers: HeaderMap::new() };
        peer.state().objects.insert(format!("/known/{}", letter.uuid), there);
        let letter = Unproved { is_first, has_editions, ..letter.clone() };
        let sights = adapter.look(&[letter], &Known::default()).await.unwrap();
        assert_eq!(said(&sights), [expected], "{shown} {is_first} {has_editions}");
    }
}

/// A service that was cut off may show what it had by then.
#[tokio::test]
async fn a_beginning_of_the_letter_is_not_the_letter_nor_is_an_empty_file_where_it_was_put() {
    let pdf = HeaderMap::from_iter([(CONTENT_TYPE, "application/pdf".parse().unwrap())]);
    for (is_where_sent, shown, headers, is_there) in [
        (false, "%PDF-1.7 let", &pdf, false),
        (false, "", &pdf, true),
        (true, "%PDF-1.7 let", &pdf, false),
        (true, "", &pdf, false),
        (true, "", &HeaderMap::new(), true),
        (true, "%PDF-1.7 letter, stamped", &pdf, true),
    ] {
        let (peer, spool) = (Peer::start().await, Spool::new());
        let config = HttpConfig { confirm: None, ..probing(&peer) };
        let url = if is_where_sent { config.probe_url.clone().unwrap() } else { config.url.clone() };
        let item = Item { uncertain: true, ..spool.item(1, b"%PDF-1.7 letter") };
        let there = Kept { content: shown.as_bytes().to_vec(), headers: headers.clone() };
        peer.state().objects.insert(format!("/known/{}", item.key), there);
        assert_delivered(&deliver(HttpConfig { url, ..config }, &item).await);
        let sent = peer.received(&Method::POST).len();
        assert_eq!(sent, usize::from(!is_there), "{is_where_sent} {shown:?} {headers:?}");
    }
}

#[tokio::test]
async fn a_probe_counts_once_it_was_answered_404_for_a_letter_that_cannot_exist() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let adapter = HttpAdapter::new(probing(&peer));
    let letters = [filed(&adapter, &spool, 1, b"%PDF-1.7 letter").await];
    let shown = || Fault::Says(200, r#"{"id": 7}"#);
    for status in [503, 400, 403] {
        peer.state().other_faults.extend([(Method::GET, shown()), (Method::GET, Fault::Refuse(status, None))]);
        let sights = adapter.look(&letters, &Known::default()).await;
        assert!(sights.is_err() || said(&sights.unwrap()) == ["waits"], "{status}");
    }
    peer.state().other_faults.push_back((Method::GET, shown()));
    assert_eq!(said(&adapter.look(&letters, &Known::default()).await.unwrap()), ["probe"]);
}

#[tokio::test]
async fn without_a_probe_nothing_is_said() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let letters = [filed(&HttpAdapter::new(probing(&peer)), &spool, 1, b"%PDF-1.7 letter").await];
    assert!(HttpAdapter::new(post(&peer)).look(&letters, &Known::default()).await.is_err());
}

#[tokio::test]
async fn a_document_that_was_sent_is_asked_for_by_its_identifiers() {
    let (peer, spool) = (Peer::start().await, Spool::new());
    let adapter = HttpAdapter::new(HttpConfig { confirm: None, ..probing(&peer) });
    let letters = [1, 2].map(|number| spool.item(number, format!("%PDF-1.7 letter {number}").as_bytes()));
    let mut asked = Vec::new();
    for letter in &letters {
        asked.push(kept(&adapter, letter).await);
    }
    let there = Kept { content: b"%PDF-1.7 stamped".to_vec(), headers: HeaderMap::new() };
    peer.state().objects.insert(format!("/known/{}", letters[1].key), there);
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Nothing, Holds::Same]);
    peer.state().other_faults.push_back((Method::GET, Fault::Refuse(400, None)));
    assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Unread, Holds::Same]);
    peer.state().closed = Some(401);
    assert!(adapter.still_holds(&asked).await.is_err());
    // The API's data about a patient is no longer known.
    let by_name = template(TemplateKind::Url, &peer.url("/known/{{ patient.lastName }}/{{ key }}"));
    let unknown = HttpAdapter::new(HttpConfig { probe_url: Some(by_name), confirm: None, ..probing(&peer) });
    let without = HttpAdapter::new(post(&peer));
    for adapter in [unknown, without] {
        assert_eq!(adapter.still_holds(&asked).await.unwrap(), [Holds::Unknown; 2]);
    }
}
