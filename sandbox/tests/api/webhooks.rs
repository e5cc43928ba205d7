//! Webhooks: the resource, and what is delivered.

use docsyncd_sandbox::{ApiKey, NewDocument, NewPdf, Options};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{PROBLEM, Practice, members, status_and_body, text};
use crate::receiver::{PATIENCE, Received, Receiver};

const SECONDS: fn(u64) -> std::time::Duration = std::time::Duration::from_secs;
const ALL: &[&str] =
    &["document.created", "document.updated", "document.deleted", "audio.created", "audio.updated", "audio.deleted"];

impl Practice {
    async fn call(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> (u16, Value) {
        let address = format!("{}{path}", self.sandbox.url());
        let media_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let mut request = self.client.request(method, address).bearer_auth(key);
        if let Some(body) = body {
            request = request.header("content-type", media_type).body(body.to_string());
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.bytes().await.unwrap();
        (status, if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() })
    }

    async fn hook(&self, receiver: &Receiver, events: &[&str]) -> Value {
        let wish = json!({"url": receiver.url, "events": events});
        let (status, webhook) = self.call(Method::POST, "/webhooks", self.sandbox.api_key(), Some(wish)).await;
        assert_eq!(status, 201, "{webhook}");
        webhook
    }

    /// A document without a recording makes one event only.
    async fn letter(&self, uuid: &str) {
        let wish =
            NewDocument { uuid: Some(uuid.into()), pdf: NewPdf::Bytes(b"%PDF-".to_vec()), ..NewDocument::default() };
        self.sandbox.add(wish).await.unwrap();
    }
}

/// Nothing is on its way any more and everything was written down.
async fn settled(practice: &Practice) {
    practice.sandbox.wait_for_deliveries(|all| all.iter().all(|one| one.attempts > 0), PATIENCE).await.unwrap();
}

fn uuid_of(received: &Received) -> String {
    text(&received.body["data"], "uuid")
}

#[tokio::test]
async fn a_webhook_is_created_read_listed_changed_and_deleted() {
    let practice = Practice::start(Options::default()).await;
    let key = practice.sandbox.api_key();
    let wish = json!({"url": "http://127.0.0.1:9/hook", "events": ["document.created"], "description": "ours"});
    let (status, created) = practice.call(Method::POST, "/webhooks", key, Some(wish)).await;
    assert_eq!(status, 201);
    assert_eq!(
        members(&created),
        ["createdAt", "description", "events", "isActive", "secret", "updatedAt", "url", "uuid"]
    );
    assert_eq!((&created["isActive"], &created["description"]), (&json!(true), &json!("ours")));
    let mut shown = created.clone();
    shown.as_object_mut().unwrap().remove("secret");
    let path = format!("/webhooks/{}", text(&created, "uuid"));
    assert_eq!(practice.json(&path).await, shown);
    assert_eq!(practice.json("/webhooks").await, json!([shown]));

    let change = json!({"events": ["audio.updated"], "isActive": false, "description": null});
    let (status, changed) = practice.call(Method::PATCH, &path, key, Some(change)).await;
    assert_eq!(status, 200);
    assert_eq!(
        (&changed["events"], &changed["isActive"], &changed["description"], &changed["url"]),
        (&json!(["audio.updated"]), &json!(false), &Value::Null, &shown["url"])
    );
    assert_eq!(practice.json(&path).await, changed);
    assert_eq!(practice.call(Method::DELETE, &path, key, None).await, (204, Value::Null));
    assert_eq!(practice.refused(&path).await.0, 404);
    assert_eq!(practice.json("/webhooks").await, json!([]));
}

#[tokio::test]
async fn every_wrong_field_of_a_webhook_is_named_at_once() {
    let practice = Practice::start(Options::default()).await;
    let key = practice.sandbox.api_key();
    let wrong = json!({"url": "https://elsewhere.example/", "events": ["document.lost"], "isActive": "yes"});
    let (status, body) = practice.call(Method::POST, "/webhooks", key, Some(wrong.clone())).await;
    let named = |body: &Value| -> Vec<String> {
        body["violations"].as_array().unwrap().iter().map(|violation| text(violation, "propertyPath")).collect()
    };
    assert_eq!((status, named(&body)), (422, vec!["url".into(), "events[0]".into(), "isActive".into()]));
    let (status, body) = practice.call(Method::POST, "/webhooks", key, Some(json!({}))).await;
    assert_eq!((status, named(&body)), (422, vec!["url".into(), "events".into()]));
    assert_eq!(practice.json("/webhooks").await, json!([]));

    let receiver = Receiver::start().await;
    let path = format!("/webhooks/{}", text(&practice.hook(&receiver, ALL).await, "uuid"));
    let (status, body) = practice.call(Method::PATCH, &path, key, Some(wrong)).await;
    assert_eq!((status, named(&body).len()), (422, 3));
    let as_json = practice.client.patch(format!("{}{path}", practice.sandbox.url())).bearer_auth(key).json(&json!({}));
    assert_eq!(as_json.send().await.unwrap().status(), 415);
}

#[tokio::test]
async fn anothers_webhook_is_403_and_its_events_stay_with_its_owner() {
    let keys = vec![ApiKey::new("mine"), ApiKey::of_user("theirs", "paul.autre@elsewhere.example")];
    let practice = Practice::start(Options { api_keys: keys, ..Options::default() }).await;
    let mut receiver = Receiver::start().await;
    let wish = json!({"url": receiver.url, "events": ["document.created"]});
    let (_, theirs) = practice.call(Method::POST, "/webhooks", "theirs", Some(wish)).await;
    let path = format!("/webhooks/{}", text(&theirs, "uuid"));
    for (method, body) in [(Method::GET, None), (Method::PATCH, Some(json!({}))), (Method::DELETE, None)] {
        let (status, body) = practice.call(method, &path, "mine", body).await;
        assert_eq!((status, members(&body)), (403, PROBLEM.to_vec()));
    }
    assert_eq!(practice.json("/webhooks").await, json!([]));

    practice.letter("mine").await;
    practice.sandbox.add(NewDocument { owner: Some("theirs".into()), ..NewDocument::default() }).await.unwrap();
    assert_ne!(uuid_of(&receiver.next().await), "mine");
    assert_eq!(practice.sandbox.webhook_deliveries().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_delivery_is_signed_and_tells_identifiers_only() {
    let practice = Practice::start(Options::default()).await;
    let mut receiver = Receiver::start().await;
    let webhook = practice.hook(&receiver, &["document.created"]).await;
    let wish = NewDocument {
        patient: Some(json!({"uuid": "p-1", "firstName": "Zénobie", "lastName": "Quatremère"})),
        ..NewDocument::default()
    };
    let uuid = practice.sandbox.add(wish).await.unwrap();
    let received = receiver.next().await;
    assert!(received.is_signed_with(&text(&webhook, "secret")));
    assert!(!received.is_signed_with("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    assert_eq!(received.header("content-type"), "application/json");
    assert!(received.header("webhook-timestamp").parse::<i64>().is_ok());
    assert_eq!(members(&received.body), ["data", "timestamp", "type"]);
    let document = practice.json(&format!("/documents/{uuid}")).await;
    let data = &received.body["data"];
    assert_eq!(
        data,
        &json!({
            "uuid": uuid,
            "type": document["type"],
            "createdAt": document["createdAt"],
            "updatedAt": document["updatedAt"],
            "user": document["user"]["uuid"],
            "patient": "p-1",
            "audio": document["audio"]["uuid"],
            "pdf": document["pdf"]["uuid"],
            "synchronized": false,
        })
    );
    for name in ["Zénobie", "Quatremère", "@"] {
        assert!(!received.text.contains(name), "{}", received.text);
    }
}

#[tokio::test]
async fn everything_that_happens_to_a_document_is_told_once() {
    let practice = Practice::start(Options::default()).await;
    let events = ["document.created", "document.updated", "document.deleted"];
    let mut receiver = Receiver::start().await;
    practice.hook(&receiver, &events).await;
    practice.letter("letter").await;
    practice.sandbox.replace_pdf("letter", b"%PDF-2".to_vec()).await.unwrap();
    practice.report_success("letter").await;
    practice.sandbox.set_listed("letter", true).await.unwrap();
    practice.sandbox.set_listed("letter", true).await.unwrap(); // nothing changes
    practice.sandbox.remove("letter").await.unwrap();
    let mut told = Vec::new();
    for _ in 0..5 {
        let received = receiver.next().await;
        assert_eq!(uuid_of(&received), "letter");
        told.push((received.event().to_owned(), received.body["data"]["synchronized"] == true));
    }
    let expected = [
        ("document.created", false),
        ("document.updated", false),
        ("document.updated", true),
        ("document.updated", false),
        ("document.deleted", false),
    ];
    assert_eq!(told, expected.map(|(event, synchronized)| (event.to_owned(), synchronized)));
    settled(&practice).await;
    assert_eq!(practice.sandbox.webhook_deliveries().await.unwrap().len(), 5);
}

#[tokio::test]
async fn only_the_events_that_were_asked_for_come() {
    let practice = Practice::start(Options::default()).await;
    let (mut gone, mut sounds) = (Receiver::start().await, Receiver::start().await);
    practice.hook(&gone, &["document.deleted"]).await;
    practice.hook(&sounds, &["audio.created"]).await;
    let uuid = practice.sandbox.add_documents(1).await.unwrap().remove(0);
    practice.sandbox.remove(&uuid).await.unwrap();
    assert_eq!(gone.next().await.event(), "document.deleted");
    assert_eq!(sounds.next().await.event(), "audio.created");
    settled(&practice).await;
    assert_eq!((gone.rest().len(), sounds.rest().len()), (0, 0));
}

#[tokio::test]
async fn a_failure_is_tried_again_with_the_same_id_when_its_time_has_come_and_in_the_end_given_up() {
    let practice = Practice::start(Options::default()).await;
    let mut receiver = Receiver::start().await;
    let webhook = practice.hook(&receiver, &["document.created"]).await;
    receiver.answer([Some(500), Some(302), Some(404), Some(429), Some(503), Some(500), Some(500)]);
    practice.letter("letter").await;
    let first = receiver.next().await;
    let mut stamps = vec![first.header("webhook-timestamp").to_owned()];
    for seconds in [5, 300, 1800, 7200, 18_000, 36_000] {
        practice.sandbox.advance_clock(SECONDS(seconds));
        let again = receiver.next().await;
        assert_eq!((again.id(), &again.text), (first.id(), &first.text));
        assert!(again.is_signed_with(&text(&webhook, "secret")));
        stamps.push(again.header("webhook-timestamp").to_owned());
    }
    stamps.dedup();
    assert_eq!(stamps.len(), 7, "every attempt has its own time");
    practice.sandbox.wait_for_deliveries(|all| all[0].attempts == 7, PATIENCE).await.unwrap();
    let given_up = practice.sandbox.webhook_deliveries().await.unwrap().remove(0);
    assert_eq!((given_up.uuid.as_str(), given_up.delivered, given_up.due), (first.id(), false, None));
    assert_eq!(given_up.last_status, Some(500));

    assert_eq!(practice.sandbox.retry_webhook_deliveries().await.unwrap(), 1);
    assert_eq!(receiver.next().await.id(), first.id());
    practice.sandbox.wait_for_deliveries(|all| all[0].delivered, PATIENCE).await.unwrap();
    let delivered = practice.sandbox.webhook_deliveries().await.unwrap().remove(0);
    assert_eq!((delivered.attempts, delivered.last_status, delivered.last_error), (8, Some(204), None));
    assert_eq!(practice.sandbox.retry_webhook_deliveries().await.unwrap(), 0);
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let practice = Practice::start(Options::default()).await;
    let mut receiver = Receiver::start().await;
    practice.hook(&receiver, &["document.created"]).await;
    receiver.answer([Some(307)]);
    practice.letter("letter").await;
    receiver.next().await;
    settled(&practice).await;
    assert!(receiver.rest().is_empty());
    let tried = practice.sandbox.webhook_deliveries().await.unwrap().remove(0);
    assert_eq!((tried.attempts, tried.delivered, tried.last_status), (1, false, Some(307)));
    assert!(tried.last_error.unwrap().contains("not followed"));
}

#[tokio::test]
async fn a_receiver_that_is_gone_gets_nothing_more_until_its_webhook_is_made_active() {
    let practice = Practice::start(Options::default()).await;
    let mut receiver = Receiver::start().await;
    let webhook = practice.hook(&receiver, &["document.created"]).await;
    let path = format!("/webhooks/{}", text(&webhook, "uuid"));
    receiver.answer([Some(500), Some(410)]);
    practice.letter("first").await;
    let waiting = receiver.next().await;
    practice.letter("second").await;
    assert_eq!(uuid_of(&receiver.next().await), "second");
    let is_over = |all: &[docsyncd_sandbox::WebhookDelivery]| all[1].last_status == Some(410) && all[1].due.is_none();
    practice.sandbox.wait_for_deliveries(is_over, PATIENCE).await.unwrap();
    assert_eq!(practice.json(&path).await["isActive"], false);

    practice.letter("third").await;
    practice.sandbox.advance_clock(SECONDS(300));
    let active = json!({"isActive": true});
    assert_eq!(practice.call(Method::PATCH, &path, practice.sandbox.api_key(), Some(active)).await.0, 200);
    let again = receiver.next().await;
    assert_eq!((again.id(), uuid_of(&again)), (waiting.id(), "first".to_owned()), "what waited comes now");
    practice.letter("fourth").await;
    assert_eq!(uuid_of(&receiver.next().await), "fourth", "what happened meanwhile does not come");
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_no_other_webhook() {
    let practice = Practice::start(Options::default()).await;
    let (mut hanging, mut other) = (Receiver::start().await, Receiver::start().await);
    practice.hook(&hanging, &["document.created"]).await;
    practice.hook(&other, &["document.created"]).await;
    hanging.answer([None, None]);
    for uuid in ["first", "second", "third"] {
        practice.letter(uuid).await;
        assert_eq!(uuid_of(&other.next().await), uuid);
    }
    hanging.next().await;
    assert!(hanging.rest().is_empty(), "one delivery at a time is under way, and nobody waited for its time limit");
    practice.sandbox.shutdown().await;
}

#[tokio::test]
async fn a_receiver_that_is_not_there_yet_gets_its_deliveries_later() {
    let practice = Practice::start(Options::default()).await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://hook.localhost:{}/", socket.local_addr().unwrap().port());
    drop(socket);
    let wish = json!({"url": url, "events": ["document.created"]});
    let (_, webhook) = practice.call(Method::POST, "/webhooks", practice.sandbox.api_key(), Some(wish)).await;
    practice.letter("letter").await;
    settled(&practice).await;
    let refused = practice.sandbox.webhook_deliveries().await.unwrap().remove(0);
    assert_eq!((refused.attempts, refused.last_status), (1, None));
    assert!(refused.last_error.unwrap().to_lowercase().contains("connect"));

    let mut receiver = Receiver::start().await;
    let path = format!("/webhooks/{}", text(&webhook, "uuid"));
    let moved = json!({"url": receiver.url});
    practice.call(Method::PATCH, &path, practice.sandbox.api_key(), Some(moved)).await;
    practice.sandbox.advance_clock(SECONDS(5));
    assert_eq!(receiver.next().await.id(), refused.uuid);
}

#[tokio::test]
async fn a_deleted_webhook_gets_nothing_and_its_deliveries_are_gone() {
    let practice = Practice::start(Options::default()).await;
    let (mut deleted, mut kept) = (Receiver::start().await, Receiver::start().await);
    let webhook = practice.hook(&deleted, &["document.created"]).await;
    practice.hook(&kept, &["document.created"]).await;
    deleted.answer([Some(500)]);
    practice.letter("first").await;
    deleted.next().await;
    kept.next().await;
    settled(&practice).await;
    let path = format!("/webhooks/{}", text(&webhook, "uuid"));
    assert_eq!(practice.call(Method::DELETE, &path, practice.sandbox.api_key(), None).await.0, 204);
    practice.sandbox.advance_clock(SECONDS(5));
    practice.letter("second").await;
    kept.next().await;
    settled(&practice).await;
    assert!(deleted.rest().is_empty());
    let left = practice.sandbox.webhook_deliveries().await.unwrap();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|delivery| delivery.webhook != text(&webhook, "uuid")));
}

#[tokio::test]
async fn deliveries_survive_a_restart_even_if_the_clock_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { store: Some(folder.path().join("store.sqlite")), ..Options::default() };
    let practice = Practice::start(options()).await;
    let mut receiver = Receiver::start().await;
    practice.hook(&receiver, &["document.created"]).await;
    practice.sandbox.advance_clock(SECONDS(100 * 86_400));
    receiver.answer([Some(500)]);
    practice.letter("letter").await;
    let first = receiver.next().await;
    settled(&practice).await;
    practice.sandbox.shutdown().await;

    let practice = Practice::start(options()).await;
    let again = receiver.next().await;
    assert_eq!((again.id(), &again.text), (first.id(), &first.text));
    practice.sandbox.wait_for_deliveries(|all| all[0].delivered, PATIENCE).await.unwrap();
    practice.sandbox.shutdown().await;

    // What was delivered stays delivered.
    let practice = Practice::start(options()).await;
    practice.letter("other").await;
    assert_eq!(uuid_of(&receiver.next().await), "other");
    assert!(receiver.rest().is_empty());
}

#[tokio::test]
async fn the_admin_surface_shows_deliveries_without_secrets_and_sends_them_again() {
    let options = Options { admin_listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
    let practice = Practice::start(options).await;
    let admin = format!("{}/admin/webhook-deliveries", practice.sandbox.admin_url().unwrap());
    let mut receiver = Receiver::start().await;
    let webhook = practice.hook(&receiver, &["document.created"]).await;
    receiver.answer([Some(500)]);
    practice.letter("letter").await;
    let first = receiver.next().await;
    settled(&practice).await;
    let (status, shown) = status_and_body(practice.client.get(&admin).send().await.unwrap()).await;
    assert_eq!(status, 200);
    assert_eq!(
        members(&shown[0]),
        ["attempts", "createdAt", "delivered", "due", "event", "lastError", "lastStatus", "uuid", "webhook"]
    );
    assert_eq!((&shown[0]["uuid"], &shown[0]["webhook"]), (&json!(first.id()), &webhook["uuid"]));
    assert_eq!((&shown[0]["attempts"], &shown[0]["lastStatus"]), (&json!(1), &json!(500)));
    assert!(!shown.to_string().contains(&text(&webhook, "secret")));
    let retried = practice.client.post(format!("{admin}/retry")).send().await.unwrap();
    assert_eq!(status_and_body(retried).await, (200, json!({"retried": 1})));
    assert_eq!(receiver.next().await.id(), first.id());
}
