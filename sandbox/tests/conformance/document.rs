//! "Resources and their fields", table Document, and "Endpoints", table Document, row `GET /documents/{uuid}`.

use serde_json::json;

use crate::harness::{Practice, text};
use crate::records::{DOCUMENT, DOCUMENT_ITEM, DOCUMENT_TYPES, document_1_0, document_item_1_0};
use crate::samples;
use crate::shape::Is::Date;
use crate::shape::Seen;

/// Documents in lists, single reads and answers to status posts, in both versions.
async fn seen() -> Seen {
    let practice = samples::documents().await;
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/documents?itemsPerPage=100").await.fine();
        for item in list.as_array().unwrap() {
            let read = practice.in_version(version, &format!("/documents/{}", text(item, "uuid"))).await.fine();
            places.push((format!("read in {version}"), read));
            places.push((format!("list in {version}"), item.clone()));
        }
        let path = format!("/documents/{}/status", text(&list[0], "uuid"));
        let posted = practice.send_in_version(version, "POST", &path, &json!({"success": true})).await.fine();
        places.push((format!("read in {version} after a status post"), posted));
    }
    Seen { places }
}

#[tokio::test]
async fn get_documents_items_have_exactly_the_listed_fields() {
    seen().await.exactly_in("list in 1.1.0", DOCUMENT_ITEM).exactly_in("list in 1.0.0", &document_item_1_0());
}

#[tokio::test]
async fn get_documents_uuid_returns_exactly_the_listed_fields_of_the_version() {
    let seen = seen().await;
    seen.exactly_in("read in 1.0.0", &document_1_0()).exactly_in("read in 1.1.0", DOCUMENT);
    for name in ["encounteredAt", "audio", "type", "pdf"] {
        seen.sometimes_null(name);
    }
    seen.shows_all("type", DOCUMENT_TYPES).shows_all("genericContactSpecialty", &["Pédodontie"]);
}

#[tokio::test]
async fn document_fields_patient_and_pdf_are_named_in_lists_as_the_single_read_shows_them() {
    let practice = Practice::with_documents(3).await;
    for item in practice.all("/documents").await {
        let document = practice.json(&format!("/documents/{}", text(&item, "uuid"))).await;
        assert_eq!(document["patient"]["uuid"], item["patient"]);
        assert_eq!(document["pdf"]["uuid"], item["pdf"]);
        assert_eq!(practice.json(&format!("/patients/{}", text(&item, "patient"))).await, document["patient"]);
    }
}

#[tokio::test]
async fn document_field_pdf_url_leads_to_a_file_of_that_size() {
    let practice = Practice::with_documents(2).await;
    for item in practice.all("/documents").await {
        let document = practice.json(&format!("/documents/{}", text(&item, "uuid"))).await;
        let file = practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
        assert_eq!(file.headers()["content-type"], "application/pdf");
        let bytes = file.bytes().await.unwrap();
        assert!(bytes.starts_with(b"%PDF-"));
        assert_eq!(document["pdf"]["size"], bytes.len());
    }
}

#[tokio::test]
async fn document_field_encountered_at_shows_what_was_dictated() {
    let practice = Practice::with_documents(0).await;
    let document = docsyncd_sandbox::NewDocument { encountered_at: Some("2026-01-31".into()), ..Default::default() };
    let uuid = practice.sandbox.add(document).await.unwrap();
    let read = practice.json(&format!("/documents/{uuid}")).await;
    let mut wrong = Vec::new();
    Date.judge("encounteredAt", read.get("encounteredAt"), &mut wrong);
    assert_eq!((read["encounteredAt"].as_str(), wrong), (Some("2026-01-31"), Vec::new()));
}
