//! "Resources and their fields", table Note, and "Endpoints", table Note.

use crate::harness::text;
use crate::records::{EMBEDDED_USER, NOTE, NOTE_TYPES, TEXT_OR_NULL};
use crate::samples;
use crate::shape::Is::{Anything, DateTime, OneOf, Record, Text};
use crate::shape::Seen;

/// Notes in lists and single reads.
async fn seen() -> Seen {
    let practice = samples::documents().await;
    let mut places = Vec::new();
    for item in practice.all("/notes").await {
        let read = practice.json(&format!("/notes/{}", text(&item, "uuid"))).await;
        places.push(("read".to_owned(), read));
        places.push(("list".to_owned(), item));
    }
    assert!(places.len() > 40);
    Seen { places }
}

#[tokio::test]
async fn get_notes_uuid_returns_exactly_the_listed_fields() {
    seen().await.exactly_in("read", NOTE);
}

#[tokio::test]
async fn get_notes_returns_an_array_of_notes() {
    let practice = samples::documents().await;
    let notes = practice.all("/notes").await;
    assert!(notes.len() > 20);
    for item in notes {
        let read = practice.json(&format!("/notes/{}", text(&item, "uuid"))).await;
        assert_eq!((&read["uuid"], &read["content"]), (&item["uuid"], &item["content"]));
    }
}

#[tokio::test]
async fn note_field_uuid_is_text() {
    seen().await.field("uuid", Text);
}

#[tokio::test]
async fn note_field_content_is_null_or_text() {
    seen().await.field("content", TEXT_OR_NULL);
}

#[tokio::test]
async fn note_field_type_is_consultation_meeting_or_ortho_summary() {
    seen().await.field("type", OneOf(NOTE_TYPES)).shows_all("type", NOTE_TYPES);
}

#[tokio::test]
async fn note_field_audio_is_null_or_the_identifier_of_the_associated_audio() {
    let seen = seen().await;
    seen.field("audio", TEXT_OR_NULL);
    let practice = samples::documents().await;
    let (_, note) = seen.places.iter().find(|(_, note)| note["audio"].is_string()).unwrap();
    let audio = practice.json(&format!("/audios/{}", text(note, "audio"))).await;
    assert_eq!(audio["uuid"], note["audio"]);
}

#[tokio::test]
async fn note_field_patient_is_an_object_or_an_identifier() {
    let seen = seen().await;
    seen.field("patient", Anything);
    for (place, note) in &seen.places {
        let patient = &note["patient"];
        assert!(patient.is_null() || patient.is_string() || patient["uuid"].is_string(), "{place}: {note}");
    }
}

#[tokio::test]
async fn note_field_user_is_a_user_object() {
    seen().await.field("user", Record(EMBEDDED_USER));
}

#[tokio::test]
async fn note_fields_created_at_and_updated_at_are_dates() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn get_notes_uuid_answers_403_for_another_users_note_and_404_for_an_unknown_one() {
    let practice = samples::practice(1).await;
    let theirs = samples::note_of_stranger(&practice).await;
    practice.ask("GET", &format!("/notes/{theirs}")).await.assert_problem(403);
    practice.ask("GET", "/notes/b3f6f1f8-0000-4000-8000-000000000000").await.assert_problem(404);
}
