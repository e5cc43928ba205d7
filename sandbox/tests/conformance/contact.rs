//! "Resources and their fields", table Contact, and the rows of "Endpoints", table Contact, that write and read one.

use serde_json::{Value, json};

use crate::client::{JSON, MERGE_PATCH};
use crate::harness::{Practice, text};
use crate::records::{CONTACT, CONTACT_GENDER, SPECIALTIES, TEXT_OR_NULL, VISIBILITY};
use crate::samples;
use crate::shape::Is::{Absent, AtMost, Country, DateTime, Email, OrNull, Text, Uuid};
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

/// Asserts which values `POST /contacts` and `PATCH /contacts/{uuid}` take for a field, and that they are shown.
async fn assert_takes(field: &str, taken: &[Value], refused: &[Value]) {
    let practice = Practice::with_documents(1).await;
    assert_writes(&practice, "/contacts", field, taken, refused, true).await;
}

/// The same for any record that can be created and patched; write-only fields are not shown.
pub async fn assert_writes(
    practice: &Practice,
    path: &str,
    field: &str,
    taken: &[Value],
    refused: &[Value],
    shown: bool,
) {
    let other = practice.post(path, &json!({"firstName": "Other"})).await.fine();
    let one = format!("{path}/{}", text(&other, "uuid"));
    let expected = |value: &Value| shown.then(|| value.clone());
    for value in taken {
        let body = json!({ field: value });
        let created = practice.post(path, &body).await.fine();
        assert_eq!(created.get(field).cloned(), expected(value), "POST {body}");
        let patched = practice.patch(&one, &body).await.fine();
        assert_eq!(patched.get(field).cloned(), expected(value), "PATCH {body}");
        assert_eq!(practice.json(&one).await, patched);
    }
    let before = practice.json(&one).await;
    let count = practice.all(path).await.len();
    for value in refused {
        let body = json!({ field: value });
        practice.post(path, &body).await.assert_violations(&[field]);
        practice.patch(&one, &body).await.assert_violations(&[field]);
    }
    assert_eq!(practice.json(&one).await, before);
    assert_eq!(practice.all(path).await.len(), count);
}

#[tokio::test]
async fn contact_has_exactly_the_listed_fields_in_lists_and_reads_and_after_writes() {
    seen().await.exactly_in("list", CONTACT).exactly_in("read", CONTACT).exactly_in("", CONTACT);
}

#[tokio::test]
async fn contact_field_uuid_is_an_identifier() {
    let seen = seen().await;
    seen.field("uuid", Uuid);
    let practice = Practice::with_documents(1).await;
    let created = practice.post("/contacts", &json!({"uuid": "mine"})).await.fine();
    assert_ne!(created["uuid"], "mine");
}

#[tokio::test]
async fn contact_field_first_name_is_null_or_text() {
    seen().await.field("firstName", TEXT_OR_NULL).sometimes_null("firstName");
    assert_takes("firstName", &[json!("Zoé"), json!(null)], &[json!(7), json!(["Zoé"]), json!(true)]).await;
}

#[tokio::test]
async fn contact_field_last_name_is_null_or_text() {
    seen().await.field("lastName", TEXT_OR_NULL).sometimes_null("lastName");
    assert_takes("lastName", &[json!("O'Brien"), json!(null)], &[json!(7), json!({})]).await;
}

#[tokio::test]
async fn contact_field_legal_name_is_null_or_text_of_at_most_255_characters() {
    seen().await.field("legalName", OrNull(&AtMost(255))).sometimes_null("legalName");
    let taken = [json!("é".repeat(255)), json!("Labo"), json!(null)];
    assert_takes("legalName", &taken, &[json!("é".repeat(256)), json!("x".repeat(5000)), json!(1)]).await;
}

#[tokio::test]
async fn contact_field_gender_is_female_male_doctor_unknown_or_null_and_unknown_by_default() {
    seen().await.field("gender", CONTACT_GENDER).sometimes_null("gender").shows_all("gender", &["doctor", "unknown"]);
    let taken = [json!("female"), json!("male"), json!("doctor"), json!("unknown"), json!(null)];
    assert_takes("gender", &taken, &[json!("Female"), json!("other"), json!(""), json!(0)]).await;
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.post("/contacts", &json!({})).await.fine()["gender"], "unknown");
}

#[tokio::test]
async fn contact_field_language_spoken_is_text() {
    seen().await.field("languageSpoken", Text);
    assert_takes("languageSpoken", &[json!("fr"), json!("pt-BR")], &[json!(null), json!(3), json!([])]).await;
}

#[tokio::test]
async fn contact_fields_created_at_and_updated_at_are_date_times_that_clients_do_not_write() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
    let practice = Practice::with_documents(1).await;
    let old = json!({"createdAt": "1999-01-01T00:00:00+00:00", "updatedAt": "1999-01-01T00:00:00+00:00"});
    let created = practice.post("/contacts", &old).await.fine();
    assert_ne!((&created["createdAt"], &created["updatedAt"]), (&old["createdAt"], &old["updatedAt"]));
}

#[tokio::test]
async fn contact_field_email_is_null_or_an_email_address() {
    seen().await.field("email", OrNull(&Email)).sometimes_null("email");
    let taken = [json!("a@b.example"), json!("o'brien+x@sub.b.example"), json!(null)];
    assert_takes("email", &taken, &[json!("a"), json!("a@"), json!("a b@c.example"), json!(5), json!("")]).await;
}

#[tokio::test]
async fn contact_field_visibility_option_is_shared_private_or_null_and_shared_by_default() {
    seen().await.field("visibilityOption", VISIBILITY).sometimes_null("visibilityOption");
    let refused = [json!("public"), json!("Shared"), json!(""), json!(false)];
    assert_takes("visibilityOption", &[json!("shared"), json!("private"), json!(null)], &refused).await;
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.post("/contacts", &json!({})).await.fine()["visibilityOption"], "shared");
}

#[tokio::test]
async fn contact_field_phone_is_null_or_text() {
    seen().await.field("phone", TEXT_OR_NULL).sometimes_null("phone");
    assert_takes("phone", &[json!("+33 1 99 00 00 00"), json!(null)], &[json!(33), json!([])]).await;
}

#[tokio::test]
async fn contact_field_specialty_is_null_or_one_of_ten() {
    seen().await.field("specialty", TEXT_OR_NULL).sometimes_null("specialty");
    let mut taken: Vec<Value> = SPECIALTIES.iter().map(|specialty| json!(specialty)).collect();
    taken.push(json!(null));
    assert_takes("specialty", &taken, &[json!(1), json!(["allergist"])]).await;
}

#[tokio::test]
async fn contact_fields_street_address_postal_code_and_city_are_null_or_text() {
    let seen = seen().await;
    for field in ["streetAddress", "postalCode", "city"] {
        seen.field(field, TEXT_OR_NULL).sometimes_null(field);
        assert_takes(field, &[json!("Île-aux-Moines 12"), json!(null)], &[json!(25000), json!({})]).await;
    }
}

#[tokio::test]
async fn contact_field_country_is_null_or_an_iso_3166_1_alpha_2_code() {
    seen().await.field("country", OrNull(&Country)).sometimes_null("country");
    let taken = [json!("FR"), json!("BE"), json!("GB"), json!("SS"), json!("AX"), json!(null)];
    let refused = [json!("FRA"), json!("France"), json!("UK"), json!("XX"), json!(""), json!(250), json!("F")];
    assert_takes("country", &taken, &refused).await;
}

#[tokio::test]
async fn contact_field_custom_prompt_is_accepted_on_create_and_patch_and_absent_from_responses() {
    seen().await.field("customPrompt", Absent);
    let practice = Practice::with_documents(1).await;
    let taken = [json!("Mention the shade."), json!(null)];
    assert_writes(&practice, "/contacts", "customPrompt", &taken, &[json!(1), json!({})], false).await;
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
