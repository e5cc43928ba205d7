//! "Authentication", section Scopes. Which scope each endpoint requires is "not shown": the tests use the sandbox's
//! choice, and judge that there is one for every endpoint of the description and that write scopes are for writing.

use docsyncd_sandbox::Options;
use serde_json::{Value, json};

use crate::client::{JSON, MERGE_PATCH};
use crate::harness::{Practice, text};
use crate::samples::MY_EMAIL;

const PAIRS: &[&str] = &[
    "patients",
    "contacts",
    "documents",
    "notes",
    "document_integrations",
    "webhooks",
    "users",
    "organizations",
    "invitations",
    "subscriptions",
    "emails",
    "personalizations",
    "oauth_client_users",
    "oauth_clients",
    "oauth_short_access_tokens",
    "images",
    "meetings",
    "audios",
    "readers",
    "user_registrations",
    "transcription_dictionary",
];
const SINGLE: &[&str] = &["profile", "organization", "capture:images", "capture:audios"];

fn all() -> Vec<String> {
    let pairs = PAIRS.iter().flat_map(|of| [format!("read:{of}"), format!("write:{of}")]);
    pairs.chain(SINGLE.iter().map(|scope| (*scope).to_owned())).collect()
}

/// Every endpoint of the tables with the scopes of which one opens it, the body that it takes, and its path.
async fn endpoints(practice: &Practice) -> Vec<(&'static str, String, &'static [&'static str], Value)> {
    let hook = json!({"url": "http://127.0.0.1:9/", "events": ["audio.created"], "isActive": false});
    let webhook = text(&practice.post("/webhooks", &hook).await.fine(), "uuid");
    let first = async |path: &str| text(&practice.all(path).await[0], "uuid");
    let (audio, contact, document) = (first("/audios").await, first("/contacts").await, first("/documents").await);
    let (note, organization, patient) =
        (first("/notes").await, first("/organizations").await, first("/patients").await);
    let user = text(&practice.json("/me").await, "uuid");
    let nothing = || Value::Null;
    vec![
        ("GET", "/audios".into(), &["read:audios"], nothing()),
        ("GET", format!("/audios/{audio}"), &["read:audios"], nothing()),
        ("GET", "/contacts".into(), &["read:contacts"], nothing()),
        ("POST", "/contacts".into(), &["write:contacts"], json!({})),
        ("GET", format!("/contacts/{contact}"), &["read:contacts"], nothing()),
        ("PATCH", format!("/contacts/{contact}"), &["write:contacts"], json!({})),
        ("GET", "/documents".into(), &["read:documents"], nothing()),
        ("GET", format!("/documents/{document}"), &["read:documents"], nothing()),
        (
            "POST",
            format!("/documents/{document}/status"),
            &["write:documents", "write:document_integrations"],
            json!({"success": true}),
        ),
        ("GET", "/notes".into(), &["read:notes"], nothing()),
        ("GET", format!("/notes/{note}"), &["read:notes"], nothing()),
        ("GET", "/organizations".into(), &["organization", "read:organizations"], nothing()),
        ("GET", format!("/organizations/{organization}"), &["organization", "read:organizations"], nothing()),
        ("GET", "/patients".into(), &["read:patients"], nothing()),
        ("POST", "/patients".into(), &["write:patients"], json!({})),
        ("GET", format!("/patients/{patient}"), &["read:patients"], nothing()),
        ("PATCH", format!("/patients/{patient}"), &["write:patients"], json!({})),
        ("GET", "/me".into(), &["profile"], nothing()),
        ("GET", format!("/users/{user}"), &["read:users", "profile"], nothing()),
        ("GET", "/webhooks".into(), &["read:webhooks"], nothing()),
        ("POST", "/webhooks".into(), &["write:webhooks"], hook),
        ("GET", format!("/webhooks/{webhook}"), &["read:webhooks"], nothing()),
        ("PATCH", format!("/webhooks/{webhook}"), &["write:webhooks"], json!({})),
        ("DELETE", format!("/webhooks/{webhook}"), &["write:webhooks"], nothing()),
    ]
}

async fn token(practice: &Practice, scopes: &[&str]) -> String {
    practice.sandbox.sign_in(MY_EMAIL, scopes).await.unwrap().access_token
}

async fn status(practice: &Practice, token: &str, method: &str, path: &str, body: &Value) -> u16 {
    let media_type = if method == "PATCH" { MERGE_PATCH } else { JSON };
    let request = practice.client.request(method.parse().unwrap(), practice.address(path)).bearer_auth(token);
    let request = request.header("content-type", media_type).body(body.to_string());
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    if status == 403 {
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/ld+json"));
    }
    status
}

#[tokio::test]
async fn every_listed_scope_can_be_granted_and_no_other() {
    let practice = Practice::with_documents(1).await;
    for scope in all() {
        assert!(practice.sandbox.sign_in(MY_EMAIL, &[&scope]).await.is_ok(), "{scope}");
    }
    for scope in ["read:teeth", "read", "write:", "delete:patients", "Profile", "capture:documents"] {
        assert!(practice.sandbox.sign_in(MY_EMAIL, &[scope]).await.is_err(), "{scope}");
    }
}

#[tokio::test]
async fn every_endpoint_is_refused_with_403_to_a_token_that_has_every_scope_but_its_own() {
    let practice = Practice::with_documents(2).await;
    let all = all();
    for (method, path, scopes, body) in endpoints(&practice).await {
        let others: Vec<&str> = all.iter().map(String::as_str).filter(|scope| !scopes.contains(scope)).collect();
        let token = token(&practice, &others).await;
        assert_eq!(status(&practice, &token, method, &path, &body).await, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn every_endpoint_is_open_to_a_token_with_its_scope_alone() {
    for index in 0..2 {
        let practice = Practice::with_documents(2).await;
        for (method, path, scopes, body) in endpoints(&practice).await {
            let scope = scopes.get(index).or(scopes.first()).unwrap();
            let token = token(&practice, &[scope]).await;
            let status = status(&practice, &token, method, &path, &body).await;
            assert!((200..300).contains(&status), "{method} {path} with {scope}: {status}");
        }
    }
}

#[tokio::test]
async fn the_scopes_of_the_flow_profile_and_organization_open_the_user_and_the_practice_only() {
    let practice = Practice::with_documents(2).await;
    let token = token(&practice, &["profile", "organization"]).await;
    for (method, path, _, body) in endpoints(&practice).await {
        let open = ["/me", "/users", "/organizations"].iter().any(|start| path.starts_with(start));
        let expected = if open { 200 } else { 403 };
        assert_eq!(status(&practice, &token, method, &path, &body).await, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn scopes_can_be_switched_off() {
    let practice = Practice::start(Options { documents: 2, enforce_scopes: false, ..Options::default() }).await;
    let token = token(&practice, &["profile"]).await;
    for (method, path, _, body) in endpoints(&practice).await {
        let status = status(&practice, &token, method, &path, &body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status}");
    }
}
