//! "Resources and their fields", table Patient.

use serde_json::{Value, json};

use crate::contact::assert_writes;
use crate::harness::{Practice, text};
use crate::records::{EMBEDDED_USER, GENDER, PATIENT, PATIENT_ITEM, TEXT_OR_NULL, VISIBILITY};
use crate::samples;
use crate::shape::Is::{Absent, Date, DateTime, OrNull, Record, Text};
use crate::shape::Seen;

/// Patients in every place that shows one, in both versions. The places that show the owning user are named "with
/// user".
async fn seen() -> Seen {
    let practice = samples::patients().await;
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/patients").await.fine();
        for item in list.as_array().unwrap() {
            let read = practice.in_version(version, &format!("/patients/{}", text(item, "uuid"))).await.fine();
            places.push((format!("with user, read in {version}"), read));
            places.push((format!("list in {version}"), item.clone()));
        }
        for item in practice.in_version(version, "/documents").await.fine().as_array().unwrap() {
            let document = practice.in_version(version, &format!("/documents/{}", text(item, "uuid"))).await.fine();
            places.push((format!("with user, in a document in {version}"), document["patient"].clone()));
            if item["audio"].is_object() {
                let audio = format!("/audios/{}", text(&item["audio"], "uuid"));
                let audio = practice.in_version(version, &audio).await.fine();
                places.push((format!("with user, in an audio in {version}"), audio["patient"].clone()));
            }
        }
    }
    for item in practice.all("/notes").await {
        let note = practice.json(&format!("/notes/{}", text(&item, "uuid"))).await;
        places.push(("with user, in a note".into(), note["patient"].clone()));
    }
    for body in [json!({}), samples::full_patient()] {
        let created = practice.post("/patients", &body).await.fine();
        let path = format!("/patients/{}", text(&created, "uuid"));
        places.push(("with user, created".into(), created));
        places.push(("with user, patched".into(), practice.patch(&path, &body).await.fine()));
    }
    Seen { places }
}

async fn assert_takes(field: &str, taken: &[Value], refused: &[Value]) {
    let practice = Practice::with_documents(1).await;
    assert_writes(&practice, "/patients", field, taken, refused, true).await;
}

async fn assert_takes_unseen(field: &str, taken: &[Value], refused: &[Value]) {
    seen().await.field(field, Absent);
    let practice = Practice::with_documents(1).await;
    assert_writes(&practice, "/patients", field, taken, refused, false).await;
    for answer in [practice.json("/patients").await, practice.linked("/patients").await] {
        assert!(!answer.to_string().contains(field), "{answer}");
    }
}

#[tokio::test]
async fn patient_has_exactly_the_listed_fields_wherever_it_is_shown() {
    seen().await.exactly_in("list", PATIENT_ITEM).exactly_in("with user", PATIENT);
}

#[tokio::test]
async fn patient_field_uuid_is_text() {
    seen().await.field("uuid", Text);
}

#[tokio::test]
async fn patient_fields_first_name_and_last_name_are_null_or_text_and_always_present() {
    let seen = seen().await;
    for field in ["firstName", "lastName"] {
        seen.field(field, TEXT_OR_NULL).sometimes_null(field);
        assert_takes(field, &[json!("Zoé"), json!(null)], &[json!(7), json!(["Zoé"])]).await;
    }
}

#[tokio::test]
async fn patient_field_language_spoken_is_text() {
    seen().await.field("languageSpoken", Text);
    assert_takes("languageSpoken", &[json!("en"), json!("fr")], &[json!(null), json!(3)]).await;
}

#[tokio::test]
async fn patient_fields_created_at_and_updated_at_are_date_times_that_clients_do_not_write() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
    let practice = Practice::with_documents(1).await;
    let old = json!({"createdAt": "1999-01-01T00:00:00+00:00", "updatedAt": "1999-01-01T00:00:00+00:00"});
    let created = practice.post("/patients", &old).await.fine();
    assert_ne!((&created["createdAt"], &created["updatedAt"]), (&old["createdAt"], &old["updatedAt"]));
}

#[tokio::test]
async fn patient_field_synchronized_at_is_null_or_a_date_that_clients_do_not_write() {
    seen().await.field("synchronizedAt", OrNull(&DateTime)).sometimes_null("synchronizedAt");
    let practice = Practice::with_documents(1).await;
    let old = json!({"synchronizedAt": "1999-01-01T00:00:00+00:00"});
    assert_ne!(practice.post("/patients", &old).await.fine()["synchronizedAt"], old["synchronizedAt"]);
}

#[tokio::test]
async fn patient_field_date_of_birth_is_null_or_a_date() {
    seen().await.field("dateOfBirth", OrNull(&Date)).sometimes_null("dateOfBirth");
    let refused = [json!("31/12/1999"), json!("1999-02-30"), json!(1999), json!("")];
    assert_takes("dateOfBirth", &[json!("1999-12-31"), json!(null)], &refused).await;
}

#[tokio::test]
async fn patient_field_gender_is_female_male_unknown_or_null() {
    seen().await.field("gender", GENDER).sometimes_null("gender").shows_all("gender", &["female", "male", "unknown"]);
    let taken = [json!("female"), json!("male"), json!("unknown"), json!(null)];
    assert_takes("gender", &taken, &[json!("doctor"), json!("FEMALE"), json!(""), json!(1)]).await;
}

#[tokio::test]
async fn patient_field_user_is_the_owning_user_but_not_in_lists() {
    let seen = seen().await;
    seen.field_in("list", "user", Absent).field_in("with user", "user", Record(EMBEDDED_USER));
    let practice = samples::patients().await;
    let (mine, colleague) =
        (samples::uuid_of(&practice, "mine").await, samples::uuid_of(&practice, samples::COLLEAGUE).await);
    let theirs = samples::create_as(&practice, samples::COLLEAGUE, "/patients", &json!({})).await;
    let read = practice.json(&format!("/patients/{}", text(&theirs, "uuid"))).await;
    assert_eq!(read["user"]["uuid"], colleague);
    assert_eq!(practice.post("/patients", &json!({})).await.fine()["user"]["uuid"], mine);
}

#[tokio::test]
async fn patient_field_visibility_option_is_shared_private_or_null() {
    seen().await.field("visibilityOption", VISIBILITY).sometimes_null("visibilityOption");
    let refused = [json!("public"), json!(""), json!(false)];
    assert_takes("visibilityOption", &[json!("shared"), json!("private"), json!(null)], &refused).await;
}

#[tokio::test]
async fn patient_field_email_is_null_or_text() {
    seen().await.field("email", TEXT_OR_NULL).sometimes_null("email");
    assert_takes("email", &[json!("a@b.example"), json!(null)], &[json!(5), json!({})]).await;
}

#[tokio::test]
async fn patient_field_phone_is_null_or_text() {
    seen().await.field("phone", TEXT_OR_NULL).sometimes_null("phone");
    assert_takes("phone", &[json!("+33 6 39 98 00 00"), json!(null)], &[json!(33), json!([])]).await;
}

#[tokio::test]
async fn patient_field_anonymous_code_is_null_or_text() {
    seen().await.field("anonymousCode", TEXT_OR_NULL).sometimes_null("anonymousCode");
    assert_takes("anonymousCode", &[json!("P-1"), json!(null)], &[json!(1), json!([])]).await;
}

#[tokio::test]
async fn patient_write_only_field_external_id_is_null_or_a_string_and_never_shown() {
    assert_takes_unseen("externalId", &[json!("17"), json!(null)], &[json!(17), json!(["17"]), json!(true)]).await;
}

#[tokio::test]
async fn patient_write_only_field_external_created_at_is_null_or_a_string_and_never_shown() {
    let taken = [json!("2020-01-01"), json!("2020-01-01T10:00:00+01:00"), json!(null)];
    assert_takes_unseen("externalCreatedAt", &taken, &[json!(20200101), json!({})]).await;
}

#[tokio::test]
async fn patient_write_only_field_custom_prompt_is_null_or_a_string_and_never_shown() {
    assert_takes_unseen("customPrompt", &[json!("Short letters."), json!(null)], &[json!(1), json!([])]).await;
}
