//! "Resources and their fields", table Audio with Image, and "Endpoints", table Audio, row `GET /audios/{uuid}`.

use serde_json::Value;

use crate::harness::text;
use crate::records::{AUDIO, AUDIO_ITEM, IMAGE, audio_1_0, audio_item_1_0};
use crate::samples;
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
    seen().await.exactly_in("list in 1.0.0", &audio_item_1_0()).exactly_in("list in 1.1.0", AUDIO_ITEM);
}

#[tokio::test]
async fn get_audios_uuid_returns_the_full_audio_of_the_version() {
    let seen = seen().await;
    seen.exactly_in("read in 1.0.0", &audio_1_0()).exactly_in("read in 1.1.0", AUDIO);
    for name in ["patient", "archivedAt", "meeting", "summary"] {
        seen.sometimes_null(name);
    }
    seen.shows_all("languageSpoken", &["fr"]);
}

#[tokio::test]
async fn audio_field_documents_has_the_documents_that_name_the_audio() {
    let practice = samples::documents().await;
    for item in practice.all("/documents").await.iter().filter(|item| item["audio"].is_object()) {
        let audio = practice.json(&format!("/audios/{}", text(&item["audio"], "uuid"))).await;
        let documents = audio["documents"].as_array().unwrap();
        assert!(documents.iter().any(|document| document["uuid"] == item["uuid"]), "{item}");
    }
}

#[tokio::test]
async fn image_has_exactly_uuid_title_name_size_created_at_and_updated_at() {
    images().await.exactly_in("", IMAGE).sometimes_null("title");
}
