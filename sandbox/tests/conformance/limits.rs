//! "Limits". The lifetime of codes and the length of `state` are in `authentication`; the pages of all lists in
//! `collections`.

use serde_json::json;

use crate::harness::{Practice, text};
use crate::samples;

#[tokio::test]
async fn limit_items_per_page_is_0_to_100_and_20_by_default() {
    let practice = Practice::with_documents(102).await;
    for (query, expected) in [("", 20), ("itemsPerPage=0", 0), ("itemsPerPage=100", 100)] {
        assert_eq!(practice.uuids(query).await.len(), expected, "{query}");
    }
    let beyond = practice.get("/documents?itemsPerPage=101").send().await.unwrap();
    assert_eq!(beyond.status(), 400);
}

#[tokio::test]
async fn limit_page_is_1_by_default() {
    let practice = Practice::with_documents(22).await;
    assert_eq!(practice.uuids("").await, practice.uuids("page=1").await);
    assert_eq!(practice.uuids("page=2").await.len(), 2);
}

#[tokio::test]
async fn limit_contact_legal_name_is_255_characters_on_create_and_patch() {
    let practice = Practice::with_documents(1).await;
    let (longest, too_long) = (json!({"legalName": "ß".repeat(255)}), json!({"legalName": "x".repeat(256)}));
    let contact = practice.post("/contacts", &longest).await.fine();
    practice.post("/contacts", &too_long).await.assert_violations(&["legalName"]);
    let path = format!("/contacts/{}", text(&contact, "uuid"));
    practice.patch(&path, &too_long).await.assert_violations(&["legalName"]);
    assert_eq!(practice.patch(&path, &longest).await.fine()["legalName"], longest["legalName"]);
}

#[tokio::test]
async fn limits_of_users_hold_for_every_user_that_is_shown() {
    let practice = samples::practice(1).await;
    for key in ["mine", samples::COLLEAGUE] {
        let user = practice.json(&format!("/users/{}", samples::uuid_of(&practice, key).await)).await;
        for prompt in ["smartNoteCustomPrompt", "documentCustomPrompt"] {
            assert!(user[prompt].as_str().is_none_or(|text| text.chars().count() <= 2000));
        }
        for (name, digits) in [("rpps", 11), ("am", 9)] {
            let number = text(&user, name);
            assert!(number.len() == digits && number.bytes().all(|digit| digit.is_ascii_digit()), "{name} {number}");
        }
    }
}
