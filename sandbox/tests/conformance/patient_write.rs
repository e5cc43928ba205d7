//! "Endpoints", table Patient, rows `POST /patients` and `PATCH /patients/{uuid}`.

use serde_json::{Value, json};

use crate::client::{JSON, MERGE_PATCH};
use crate::harness::{Practice, text};
use crate::records::PATIENT;
use crate::samples;
use crate::shape::assert_record;

const UNSEEN: &[&str] = &["externalId", "externalCreatedAt", "customPrompt"];

fn wrong() -> Value {
    json!({
        "firstName": 1, "lastName": [], "languageSpoken": null, "dateOfBirth": "never", "gender": "doctor",
        "visibilityOption": "x", "externalId": 5, "externalCreatedAt": 5, "email": 1, "phone": 1, "anonymousCode": {},
        "customPrompt": 1,
    })
}

#[tokio::test]
async fn post_patients_creates_a_patient_from_every_listed_field() {
    let practice = Practice::with_documents(1).await;
    let sent = samples::full_patient();
    let created = practice.post("/patients", &sent).await.fine();
    assert_record("created", &created, PATIENT);
    for (name, value) in sent.as_object().unwrap().iter().filter(|(name, _)| !UNSEEN.contains(&name.as_str())) {
        assert_eq!(&created[name], value, "{name}");
    }
    assert_eq!(practice.json(&format!("/patients/{}", text(&created, "uuid"))).await, created);
    assert_eq!(practice.all("/patients").await.len(), 2);
}

#[tokio::test]
async fn post_patients_updates_the_existing_patient_when_a_match_is_found() {
    let practice = Practice::with_documents(1).await;
    let first = practice.post("/patients", &samples::full_patient()).await.fine();
    let again = json!({
        "firstName": "Bérénice", "lastName": "d'Angélo-Żółkiewska", "dateOfBirth": "1971-02-28",
        "phone": "+33 6 39 98 99 99", "email": null, "customPrompt": "Another one.",
    });
    let second = practice.post("/patients", &again).await.fine();
    assert_record("updated", &second, PATIENT);
    assert_eq!(second["uuid"], first["uuid"]);
    assert_eq!((&second["phone"], &second["email"]), (&again["phone"], &json!(null)));
    assert_eq!((&second["gender"], &second["anonymousCode"]), (&first["gender"], &first["anonymousCode"]));
    assert_eq!(practice.json(&format!("/patients/{}", text(&first, "uuid"))).await, second);
    assert_eq!(practice.all("/patients").await.len(), 2);
}

#[tokio::test]
async fn post_patients_creates_another_patient_when_a_part_of_the_match_differs_or_is_missing() {
    let practice = Practice::with_documents(1).await;
    let mut known = vec![text(&practice.post("/patients", &samples::full_patient()).await.fine(), "uuid")];
    for part in ["firstName", "lastName", "dateOfBirth"] {
        let mut other = samples::full_patient();
        other[part] = if part == "dateOfBirth" { json!("1971-02-27") } else { json!("Zoé") };
        known.push(text(&practice.post("/patients", &other).await.fine(), "uuid"));
        other.as_object_mut().unwrap().remove(part);
        known.push(text(&practice.post("/patients", &other).await.fine(), "uuid"));
    }
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 7);
}

#[tokio::test]
async fn post_patients_never_touches_a_patient_of_another_practice() {
    let practice = samples::practice(1).await;
    let theirs = samples::create_as(&practice, samples::STRANGER, "/patients", &samples::full_patient()).await;
    let mine = practice.post("/patients", &samples::full_patient()).await.fine();
    assert_ne!(mine["uuid"], theirs["uuid"]);
    let read = samples::read_as(&practice, samples::STRANGER, &format!("/patients/{}", text(&theirs, "uuid"))).await;
    assert_eq!(read, theirs);
}

#[tokio::test]
async fn post_patients_names_every_wrong_field_at_once() {
    let practice = Practice::with_documents(1).await;
    let before = practice.all("/patients").await;
    let fields: Vec<String> = wrong().as_object().unwrap().keys().cloned().collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    practice.post("/patients", &wrong()).await.assert_violations(&fields);
    assert_eq!(practice.all("/patients").await, before);
}

#[tokio::test]
async fn patch_patients_uuid_takes_every_listed_field_and_returns_the_patient_with_200() {
    let practice = Practice::with_documents(1).await;
    let patient = practice.all("/patients").await.remove(0);
    let path = format!("/patients/{}", text(&patient, "uuid"));
    for (name, value) in samples::full_patient().as_object().unwrap() {
        let answer = practice.patch(&path, &json!({ name: value })).await;
        assert_eq!(answer.status, 200);
        let patched = answer.fine();
        assert_record(name, &patched, PATIENT);
        let shown = (!UNSEEN.contains(&name.as_str())).then_some(value);
        assert_eq!(patched.get(name), shown);
        assert_eq!(practice.json(&path).await, patched);
    }
}

#[tokio::test]
async fn patch_patients_uuid_empties_what_is_null_and_leaves_what_is_absent() {
    let practice = Practice::with_documents(1).await;
    let created = practice.post("/patients", &samples::full_patient()).await.fine();
    let path = format!("/patients/{}", text(&created, "uuid"));
    let mut expected = created.clone();
    for name in
        ["firstName", "lastName", "dateOfBirth", "gender", "visibilityOption", "email", "phone", "anonymousCode"]
    {
        let patched = practice.patch(&path, &json!({ name: null })).await.fine();
        expected[name] = json!(null);
        expected["updatedAt"] = patched["updatedAt"].clone();
        assert_eq!(patched, expected, "{name}");
    }
    for unseen in UNSEEN {
        assert_eq!(practice.patch(&path, &json!({ *unseen: null })).await.status, 200);
    }
    practice.patch(&path, &json!({"languageSpoken": null})).await.assert_violations(&["languageSpoken"]);
}

#[tokio::test]
async fn patch_patients_uuid_answers_400_to_what_is_no_json_object() {
    let practice = Practice::with_documents(1).await;
    let patient = practice.all("/patients").await.remove(0);
    let path = format!("/patients/{}", text(&patient, "uuid"));
    for body in ["", "{", "{\"phone\": }", "[]", "null", "\"phone\"", "7"] {
        practice.send_as("PATCH", &path, MERGE_PATCH, body).await.assert_problem(400);
    }
    assert_eq!(practice.all("/patients").await.remove(0), patient);
}

#[tokio::test]
async fn patch_patients_uuid_answers_403_for_a_patient_of_another_practice() {
    let practice = samples::practice(1).await;
    let theirs = samples::create_as(&practice, samples::STRANGER, "/patients", &samples::full_patient()).await;
    let path = format!("/patients/{}", text(&theirs, "uuid"));
    practice.patch(&path, &json!({"phone": "1"})).await.assert_problem(403);
    assert_eq!(samples::read_as(&practice, samples::STRANGER, &path).await, theirs);
}

#[tokio::test]
async fn patch_patients_uuid_answers_404_for_an_unknown_patient() {
    let practice = Practice::with_documents(1).await;
    practice.patch("/patients/b3f6f1f8-0000-4000-8000-000000000000", &json!({})).await.assert_problem(404);
}

#[tokio::test]
async fn patch_patients_uuid_answers_422_with_every_wrong_field_at_once() {
    let practice = Practice::with_documents(1).await;
    let patient = practice.all("/patients").await.remove(0);
    let fields: Vec<String> = wrong().as_object().unwrap().keys().cloned().collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    practice.patch(&format!("/patients/{}", text(&patient, "uuid")), &wrong()).await.assert_violations(&fields);
    assert_eq!(practice.all("/patients").await.remove(0), patient);
}

#[tokio::test]
async fn patch_patients_uuid_takes_merge_patches_only_and_post_patients_json_only() {
    let practice = Practice::with_documents(1).await;
    let path = format!("/patients/{}", text(&practice.all("/patients").await[0], "uuid"));
    for media_type in [JSON, "text/plain", "application/json-patch+json"] {
        practice.send_as("PATCH", &path, media_type, "{}").await.assert_problem(415);
    }
    practice.send_as("POST", "/patients", MERGE_PATCH, "{}").await.assert_problem(415);
}
