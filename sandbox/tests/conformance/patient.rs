//! "Resources and their fields", table Patient.

use serde_json::json;

use crate::contact::assert_writes;
use crate::harness::{Practice, text};
use crate::records::{PATIENT, PATIENT_ITEM};
use crate::samples;
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

#[tokio::test]
async fn patient_has_exactly_the_listed_fields_wherever_it_is_shown() {
    let seen = seen().await;
    seen.exactly_in("list", PATIENT_ITEM).exactly_in("with user", PATIENT);
    seen.shows_all("gender", &["female", "male", "unknown"]);
    for name in [
        "firstName",
        "lastName",
        "synchronizedAt",
        "dateOfBirth",
        "gender",
        "visibilityOption",
        "email",
        "phone",
        "anonymousCode",
    ] {
        seen.sometimes_null(name);
    }
}

#[tokio::test]
async fn post_and_patch_take_for_each_field_what_its_row_says_and_refuse_the_rest() {
    let practice = Practice::with_documents(1).await;
    for (field, taken, refused) in [
        ("firstName", json!(["Zoé", null]), json!([7, ["Zoé"]])),
        ("lastName", json!(["Zoé", null]), json!([7, ["Zoé"]])),
        ("languageSpoken", json!(["en", "fr"]), json!([null, 3])),
        ("dateOfBirth", json!(["1999-12-31", null]), json!(["31/12/1999", "1999-02-30", 1999, ""])),
        ("gender", json!(["female", "male", "unknown", null]), json!(["doctor", "FEMALE", "", 1])),
        ("visibilityOption", json!(["shared", "private", null]), json!(["public", "", false])),
        ("email", json!(["a@b.example", null]), json!([5, {}])),
        ("phone", json!(["+33 6 39 98 00 00", null]), json!([33, []])),
        ("anonymousCode", json!(["P-1", null]), json!([1, []])),
    ] {
        assert_writes(&practice, "/patients", field, &taken, &refused, true).await;
    }
    for (field, taken, refused) in [
        ("externalId", json!(["17", null]), json!([17, ["17"], true])),
        ("externalCreatedAt", json!(["2020-01-01", "2020-01-01T10:00:00+01:00", null]), json!([20_200_101, {}])),
        ("customPrompt", json!(["Short letters.", null]), json!([1, []])),
    ] {
        assert_writes(&practice, "/patients", field, &taken, &refused, false).await;
        for answer in [practice.json("/patients").await, practice.linked("/patients").await] {
            assert!(!answer.to_string().contains(field), "{answer}");
        }
    }
}

#[tokio::test]
async fn patient_dates_of_the_service_are_not_written_by_clients() {
    let practice = Practice::with_documents(1).await;
    let old = "1999-01-01T00:00:00+00:00";
    let sent = json!({"createdAt": old, "updatedAt": old, "synchronizedAt": old});
    let created = practice.post("/patients", &sent).await.fine();
    for name in ["createdAt", "updatedAt", "synchronizedAt"] {
        assert_ne!(created[name], old);
    }
}

#[tokio::test]
async fn patient_field_user_is_the_owning_user() {
    let practice = samples::patients().await;
    let (mine, colleague) =
        (samples::uuid_of(&practice, "mine").await, samples::uuid_of(&practice, samples::COLLEAGUE).await);
    let theirs = samples::create_as(&practice, samples::COLLEAGUE, "/patients", &json!({})).await;
    let read = practice.json(&format!("/patients/{}", text(&theirs, "uuid"))).await;
    assert_eq!(read["user"]["uuid"], colleague);
    assert_eq!(practice.post("/patients", &json!({})).await.fine()["user"]["uuid"], mine);
}
