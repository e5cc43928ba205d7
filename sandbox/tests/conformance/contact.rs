//! "Resources and their fields", table Contact, and the rows of "Endpoints", table Contact, that write and read one.

use serde_json::{Value, json};

use crate::client::{JSON, MERGE_PATCH};
use crate::harness::{Practice, text};
use crate::records::{CONTACT, SPECIALTIES};
use crate::samples;
use crate::shape::{Seen, assert_record};

/// Contacts in every place that shows one, in both versions.
async fn seen() -> Seen {
    let practice = samples::contacts().await;
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/contacts").await.fine();
        for item in list.as_array().unwrap() {
            let read = practice.in_version(version, &format!("/contacts/{}", text(item, "uuid"))).await.fine();
            places.push((format!("read in {version}"), read));
            places.push((format!("list in {version}"), item.clone()));
        }
    }
    for body in [json!({}), samples::full_contact()] {
        let created = practice.post("/contacts", &body).await.fine();
        let path = format!("/contacts/{}", text(&created, "uuid"));
        places.push(("created".into(), created));
        places.push(("patched".into(), practice.patch(&path, &body).await.fine()));
    }
    Seen { places }
}

/// Asserts which values of a field `POST` takes at this path and `PATCH` at those below it, and that they are shown;
/// write-only fields are not.
pub async fn assert_writes(practice: &Practice, path: &str, field: &str, taken: &Value, refused: &Value, shown: bool) {
    let other = practice.post(path, &json!({"firstName": "Other"})).await.fine();
    let one = format!("{path}/{}", text(&other, "uuid"));
    let expected = |value: &Value| shown.then(|| value.clone());
    for value in taken.as_array().unwrap() {
        let body = json!({ field: value });
        let created = practice.post(path, &body).await.fine();
        assert_eq!(created.get(field).cloned(), expected(value), "POST {body}");
        let patched = practice.patch(&one, &body).await.fine();
        assert_eq!(patched.get(field).cloned(), expected(value), "PATCH {body}");
        assert_eq!(practice.json(&one).await, patched);
    }
    let before = practice.json(&one).await;
    let count = practice.all(path).await.len();
    for value in refused.as_array().unwrap() {
        let body = json!({ field: value });
        practice.post(path, &body).await.assert_violations(&[field]);
        practice.patch(&one, &body).await.assert_violations(&[field]);
    }
    assert_eq!(practice.json(&one).await, before);
    assert_eq!(practice.all(path).await.len(), count);
}

#[tokio::test]
async fn contact_has_exactly_the_listed_fields_in_lists_and_reads_and_after_writes() {
    let seen = seen().await;
    seen.exactly_in("", CONTACT).shows_all("gender", &["doctor", "unknown"]);
    for name in [
        "firstName",
        "lastName",
        "legalName",
        "gender",
        "email",
        "visibilityOption",
        "phone",
        "specialty",
        "streetAddress",
        "postalCode",
        "city",
        "country",
    ] {
        seen.sometimes_null(name);
    }
}

#[tokio::test]
async fn post_and_patch_take_for_each_field_what_its_row_says_and_refuse_the_rest() {
    let practice = Practice::with_documents(1).await;
    for (field, taken, refused) in [
        ("firstName", json!(["Zoé", null]), json!([7, ["Zoé"], true])),
        ("lastName", json!(["O'Brien", null]), json!([7, {}])),
        ("legalName", json!(["é".repeat(255), "Labo", null]), json!(["é".repeat(256), "x".repeat(5000), 1])),
        ("gender", json!(["female", "male", "doctor", "unknown", null]), json!(["Female", "other", "", 0])),
        ("languageSpoken", json!(["fr", "pt-BR"]), json!([null, 3, []])),
        ("email", json!(["a@b.example", "o'brien+x@sub.b.example", null]), json!(["a", "a@", "a b@c.example", 5, ""])),
        ("visibilityOption", json!(["shared", "private", null]), json!(["public", "Shared", "", false])),
        ("phone", json!(["+33 1 99 00 00 00", null]), json!([33, []])),
        ("specialty", json!(SPECIALTIES), json!([1, ["allergist"]])),
        ("specialty", json!([null]), json!([])),
        ("streetAddress", json!(["Île-aux-Moines 12", null]), json!([12, {}])),
        ("postalCode", json!(["25000", null]), json!([25000, {}])),
        ("city", json!(["Besançon", null]), json!([25000, {}])),
        ("country", json!(["FR", "BE", "GB", "SS", "AX", null]), json!(["FRA", "France", "UK", "XX", "", 250, "F"])),
    ] {
        assert_writes(&practice, "/contacts", field, &taken, &refused, true).await;
    }
}

#[tokio::test]
async fn contact_fields_have_their_defaults_and_some_are_not_written_by_clients() {
    let practice = Practice::with_documents(1).await;
    let own = json!({
        "uuid": "mine", "createdAt": "1999-01-01T00:00:00+00:00", "updatedAt": "1999-01-01T00:00:00+00:00",
    });
    let created = practice.post("/contacts", &own).await.fine();
    for (name, value) in own.as_object().unwrap() {
        assert_ne!(&created[name], value);
    }
    assert_eq!((&created["gender"], &created["visibilityOption"]), (&json!("unknown"), &json!("shared")));
}

#[tokio::test]
async fn contact_field_custom_prompt_is_accepted_on_create_and_patch_and_absent_from_responses() {
    let practice = Practice::with_documents(1).await;
    let taken = json!(["Mention the shade.", null]);
    assert_writes(&practice, "/contacts", "customPrompt", &taken, &json!([1, {}]), false).await;
    practice.post("/contacts", &json!({"customPrompt": "never shown"})).await.fine();
    for answer in [practice.json("/contacts").await, practice.linked("/contacts").await] {
        assert!(!answer.to_string().contains("customPrompt") && !answer.to_string().contains("never shown"));
    }
}

#[tokio::test]
async fn post_contacts_takes_every_listed_field_and_returns_the_created_contact() {
    let practice = Practice::with_documents(1).await;
    let sent = samples::full_contact();
    let created = practice.post("/contacts", &sent).await.fine();
    assert_record("created", &created, CONTACT);
    for (name, value) in sent.as_object().unwrap().iter().filter(|(name, _)| *name != "customPrompt") {
        assert_eq!(&created[name], value, "{name}");
    }
    assert_eq!(practice.json(&format!("/contacts/{}", text(&created, "uuid"))).await, created);
    assert!(practice.all("/contacts").await.contains(&created));
}

#[tokio::test]
async fn post_contacts_names_every_wrong_field_at_once() {
    let practice = Practice::with_documents(1).await;
    let wrong = json!({
        "firstName": 1, "lastName": [], "legalName": "x".repeat(256), "gender": "x", "languageSpoken": null,
        "email": "x", "visibilityOption": "x", "phone": 1, "specialty": 1, "streetAddress": 1, "postalCode": 1,
        "city": 1, "country": "x", "customPrompt": 1,
    });
    let fields: Vec<&str> = wrong.as_object().unwrap().keys().map(String::as_str).collect();
    practice.post("/contacts", &wrong).await.assert_violations(&fields);
    let contact = practice.all("/contacts").await.remove(0);
    practice.patch(&format!("/contacts/{}", text(&contact, "uuid")), &wrong).await.assert_violations(&fields);
    assert!(practice.all("/contacts").await.contains(&contact));
}

#[tokio::test]
async fn get_contacts_uuid_returns_the_contact_that_the_list_shows() {
    let practice = samples::contacts().await;
    for item in practice.all("/contacts").await {
        assert_eq!(practice.json(&format!("/contacts/{}", text(&item, "uuid"))).await, item);
    }
}

#[tokio::test]
async fn patch_contacts_uuid_changes_what_it_names_empties_what_is_null_and_leaves_the_rest() {
    let practice = Practice::with_documents(1).await;
    let created = practice.post("/contacts", &samples::full_contact()).await.fine();
    let path = format!("/contacts/{}", text(&created, "uuid"));
    let patched = practice.patch(&path, &json!({"city": "Dole", "phone": null})).await.fine();
    let mut expected = created.clone();
    expected["city"] = json!("Dole");
    expected["phone"] = json!(null);
    expected["updatedAt"] = patched["updatedAt"].clone();
    assert_eq!(patched, expected);
    assert_eq!(practice.json(&path).await, expected);
    let untouched = practice.patch(&path, &json!({})).await.fine();
    assert_eq!(untouched["city"], "Dole");
}

#[tokio::test]
async fn patch_contacts_uuid_takes_merge_patches_only_and_post_contacts_json_only() {
    let practice = Practice::with_documents(1).await;
    let contact = practice.all("/contacts").await.remove(0);
    let path = format!("/contacts/{}", text(&contact, "uuid"));
    practice.send_as("PATCH", &path, JSON, "{}").await.assert_problem(415);
    practice.send_as("PATCH", &path, "text/plain", "{}").await.assert_problem(415);
    practice.send_as("POST", "/contacts", MERGE_PATCH, "{}").await.assert_problem(415);
    assert_eq!(practice.json(&path).await, contact);
    practice.send_as("PATCH", &path, "application/merge-patch+json; charset=utf-8", "{}").await.fine();
}
