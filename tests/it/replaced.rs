//! A destination that files a new version of a letter beside the old one.

use serde_json::Value;

use crate::alerts::receivers::WebServer;
use crate::cli::json::assert_as_documented;
use crate::dictated::*;
use crate::fhir::Fhir;
use crate::harness::Practice;
use crate::peer::Peer;

async fn not_replaced(practice: &Practice) -> Vec<Value> {
    let problems = status(practice).await["problems"].as_array().unwrap().clone();
    problems.into_iter().filter(|problem| problem["cause"] == "not-replaced").collect()
}

#[tokio::test]
async fn an_old_version_that_lies_beside_the_new_one_is_told_once_until_a_person_says_that_it_is_gone() {
    let (peer, web) = (Peer::start().await, WebServer::start().await);
    peer.state().fhir = Some(Fhir { replaces_nothing: true, ..Fhir::default() });
    let (practice, uuids) = practice_with_small(2).await;
    practice.write_secret("webhook", &web.url("/hook"));
    practice.write_secret("webhook-secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    practice.configure_wholly(&format!(
        "{}[alerts]\nlanguage = \"en\"\nwebhook_url_file = 'webhook'\nwebhook_secret_file = 'webhook-secret'\n\
         [destinations.ris]\ntype = \"fhir\"\nbase_url = \"{}\"\nauthor = \"Practice\"\n",
        practice.base_config(),
        peer.url("/fhir")
    ));
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let uuid = uuids[0].as_str();
    practice.sandbox.replace_pdf(uuid, pdf("another version")).await.unwrap();
    practice.sandbox.set_listed(uuid, true).await.unwrap();
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    web.wait_for(1).await;
    running.wait_for_log("event=\"alert_sent\"").await;
    running.end().await;
    let messages = web.messages();
    assert_eq!((messages.len(), &messages[0]["cause"]), (1, &"not-replaced".into()), "{messages:#?}");
    let problems = not_replaced(&practice).await;
    assert_eq!((problems.len(), &problems[0]["documents"]), (1, &1.into()), "{problems:?}");

    let shown = practice.show(uuid).await;
    assert_as_documented("docsyncd show UUID --json", &shown);
    assert_eq!((&shown["state"], &shown["reason"]), (&"reported".into(), &Value::Null), "{shown}");
    let reasons: Vec<&Value> = shown["deliveries"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert!(reasons[0].is_null() && reasons[1].as_str().unwrap().contains("remove the old one"), "{shown}");
    let named = practice.docsyncd(&["retry"]).await;
    assert!(named.code == 2 && named.stderr.contains(uuid) && !named.stderr.contains(&uuids[1]), "{named:?}");

    let other = practice.docsyncd(&["retry", "--arrived", &uuids[1]]).await;
    assert_eq!(other.code, 1, "nothing is left to do for it: {other:?}");
    let said = practice.docsyncd(&["retry", "--arrived", uuid]).await;
    assert!(said.code == 0 && said.stdout.contains("no more"), "{said:?}");
    assert!(not_replaced(&practice).await.is_empty());
    assert_eq!(practice.docsyncd(&["retry", "--arrived", uuid]).await.code, 1, "it was said already");
    assert_eq!((peer.state().fhir.as_ref().unwrap().letters.len(), practice.sandbox.status_posts().len()), (3, 3));
}
