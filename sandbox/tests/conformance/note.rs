//! "Resources and their fields", table Note, and "Endpoints", table Note.

use crate::harness::text;
use crate::records::{NOTE, NOTE_TYPES};
use crate::samples;
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
async fn notes_have_exactly_the_listed_fields_in_lists_and_reads() {
    seen().await.exactly_in("", NOTE).shows_all("type", NOTE_TYPES);
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
async fn note_field_audio_is_null_or_the_identifier_of_the_associated_audio() {
    let seen = seen().await;
    let practice = samples::documents().await;
    let (_, note) = seen.places.iter().find(|(_, note)| note["audio"].is_string()).unwrap();
    let audio = practice.json(&format!("/audios/{}", text(note, "audio"))).await;
    assert_eq!(audio["uuid"], note["audio"]);
}

#[tokio::test]
async fn note_field_patient_is_an_object_or_an_identifier() {
    let seen = seen().await;
    for (place, note) in &seen.places {
        let patient = &note["patient"];
        assert!(patient.is_null() || patient.is_string() || patient["uuid"].is_string(), "{place}: {note}");
    }
}
