//! "Resources and their fields", table Audio with Image, and "Endpoints", table Audio, row `GET /audios/{uuid}`.

use serde_json::Value;

use crate::harness::text;
use crate::records::{AUDIO, AUDIO_1_0, AUDIO_ITEM, EMBEDDED_USER, IMAGE, PATIENT, STEPS_1_0, STEPS_1_1, TEXT_OR_NULL};
use crate::samples;
use crate::shape::Is::{Absent, DateTime, Integer, ListOf, OneOf, OrNull, Record, Text, Uuid};
use crate::shape::Seen;

/// Audios in lists and single reads, in both versions.
async fn seen() -> Seen {
    let practice = samples::documents().await;
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/audios?itemsPerPage=100").await.fine();
        for item in list.as_array().unwrap() {
            let read = practice.in_version(version, &format!("/audios/{}", text(item, "uuid"))).await.fine();
            places.push((format!("read in {version}"), read));
            places.push((format!("list in {version}"), item.clone()));
        }
    }
    assert!(places.len() > 80);
    Seen { places }
}

/// The images of all audios.
async fn images() -> Seen {
    let reads = seen().await.places.into_iter().filter(|(place, _)| place.starts_with("read"));
    let images = reads.flat_map(|(_, audio)| audio["images"].as_array().cloned().unwrap());
    let places: Vec<(String, Value)> = images.map(|image| ("image".to_owned(), image)).collect();
    assert!(places.len() > 10);
    Seen { places }
}

#[tokio::test]
async fn get_audios_items_have_exactly_the_listed_fields() {
    seen().await.exactly_in("list", AUDIO_ITEM);
}

#[tokio::test]
async fn get_audios_uuid_returns_the_full_audio_of_the_version() {
    seen().await.exactly_in("read in 1.0.0", AUDIO_1_0).exactly_in("read in 1.1.0", AUDIO);
}

#[tokio::test]
async fn audio_field_uuid_is_an_identifier() {
    seen().await.field("uuid", Uuid);
}

#[tokio::test]
async fn audio_field_patient_is_null_or_a_uuid_in_lists_and_an_object_in_the_single_read() {
    let seen = seen().await;
    seen.field_in("list", "patient", OrNull(&Uuid)).sometimes_null("patient");
    seen.field_in("read", "patient", OrNull(&Record(PATIENT)));
}

#[tokio::test]
async fn audio_fields_created_at_and_updated_at_are_date_times() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn audio_field_archived_at_is_null_or_a_date_time() {
    seen().await.field("archivedAt", OrNull(&DateTime)).sometimes_null("archivedAt");
}

#[tokio::test]
async fn audio_field_user_is_a_user_or_null() {
    seen().await.field("user", OrNull(&Record(EMBEDDED_USER)));
}

#[tokio::test]
async fn audio_field_documents_is_an_array_of_documents_in_the_single_read_only() {
    let seen = seen().await;
    seen.field_in("list", "documents", Absent);
    let practice = samples::documents().await;
    for item in practice.all("/documents").await.iter().filter(|item| item["audio"].is_object()) {
        let audio = practice.json(&format!("/audios/{}", text(&item["audio"], "uuid"))).await;
        let documents = audio["documents"].as_array().unwrap();
        assert!(documents.iter().any(|document| document["uuid"] == item["uuid"]), "{item}");
    }
}

#[tokio::test]
async fn audio_field_images_is_an_array_of_images_in_the_single_read_only() {
    seen().await.field_in("list", "images", Absent).field_in("read", "images", ListOf(&Record(IMAGE)));
}

#[tokio::test]
async fn audio_field_meeting_is_null_or_a_uuid_in_the_single_read_of_version_1_1_0_only() {
    let seen = seen().await;
    seen.field_in("list", "meeting", Absent).field_in("read in 1.0.0", "meeting", Absent);
    seen.field_in("read in 1.1.0", "meeting", OrNull(&Uuid)).sometimes_null("meeting");
}

#[tokio::test]
async fn audio_field_language_spoken_is_null_or_text_in_the_single_read() {
    let seen = seen().await;
    seen.field_in("list", "languageSpoken", Absent).field_in("read", "languageSpoken", TEXT_OR_NULL);
    seen.shows_all("languageSpoken", &["fr"]);
}

#[tokio::test]
async fn audio_field_summary_is_null_or_text_in_the_single_read_of_version_1_0_0_only() {
    let seen = seen().await;
    seen.field_in("list", "summary", Absent).field_in("read in 1.1.0", "summary", Absent);
    seen.field_in("read in 1.0.0", "summary", TEXT_OR_NULL).sometimes_null("summary");
}

#[tokio::test]
async fn audio_field_media_recorder_type_is_null_or_text_in_the_single_read() {
    let seen = seen().await;
    seen.field_in("list", "mediaRecorderType", Absent).field_in("read", "mediaRecorderType", TEXT_OR_NULL);
}

#[tokio::test]
async fn audio_field_audio_workflow_step_v3_is_a_step_of_the_version() {
    let seen = seen().await;
    for place in ["list in 1.0.0", "read in 1.0.0"] {
        seen.field_in(place, "audioWorkflowStepV3", OneOf(STEPS_1_0));
    }
    for place in ["list in 1.1.0", "read in 1.1.0"] {
        seen.field_in(place, "audioWorkflowStepV3", OneOf(STEPS_1_1));
    }
}

#[tokio::test]
async fn image_has_exactly_uuid_title_name_size_created_at_and_updated_at() {
    images().await.exactly_in("", IMAGE);
}

#[tokio::test]
async fn image_fields_uuid_and_name_are_text_and_title_is_null_or_text() {
    images().await.field("uuid", Text).field("name", Text).field("title", TEXT_OR_NULL).sometimes_null("title");
}

#[tokio::test]
async fn image_field_size_is_an_integer() {
    images().await.field("size", Integer);
}

#[tokio::test]
async fn image_fields_created_at_and_updated_at_are_date_times() {
    images().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn get_audios_uuid_answers_403_for_another_users_audio_and_404_for_an_unknown_one() {
    let practice = samples::practice(1).await;
    let theirs = samples::audio_of_stranger(&practice).await;
    practice.ask("GET", &format!("/audios/{theirs}")).await.assert_problem(403);
    practice.ask("GET", "/audios/b3f6f1f8-0000-4000-8000-000000000000").await.assert_problem(404);
}
