//! "Resources and their fields", table Document, and "Endpoints", table Document, row `GET /documents/{uuid}`.

use serde_json::json;

use crate::harness::{Practice, text};
use crate::records::{
    DOCUMENT, DOCUMENT_1_0, DOCUMENT_ITEM, DOCUMENT_ITEM_1_0, DOCUMENT_TYPES, EMBEDDED_USER, NESTED_AUDIO, PATIENT, PDF,
};
use crate::samples;
use crate::shape::Is::{Absent, Anything, Boolean, Date, DateTime, Integer, ListOf, OneOf, OrNull, Record, Text, Uuid};
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

/// The PDFs of all single reads.
async fn pdfs() -> Seen {
    let reads = seen().await.places.into_iter().filter(|(place, _)| place.starts_with("read"));
    let pdfs = reads.map(|(place, document)| (place, document["pdf"].clone())).filter(|(_, pdf)| pdf.is_object());
    Seen { places: pdfs.collect() }
}

#[tokio::test]
async fn get_documents_items_have_exactly_the_listed_fields() {
    seen().await.exactly_in("list in 1.1.0", DOCUMENT_ITEM).exactly_in("list in 1.0.0", DOCUMENT_ITEM_1_0);
}

#[tokio::test]
async fn get_documents_uuid_returns_exactly_the_listed_fields_of_the_version() {
    seen().await.exactly_in("read in 1.0.0", DOCUMENT_1_0).exactly_in("read in 1.1.0", DOCUMENT);
}

#[tokio::test]
async fn document_field_uuid_is_text() {
    seen().await.field("uuid", Text);
}

#[tokio::test]
async fn document_fields_created_at_and_updated_at_are_date_times() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn document_field_encountered_at_is_null_or_a_date() {
    seen().await.field("encounteredAt", OrNull(&DateTime)).sometimes_null("encounteredAt");
}

#[tokio::test]
async fn document_field_user_is_a_uuid_in_lists_and_an_object_in_the_single_read() {
    seen().await.field_in("list", "user", Uuid).field_in("read", "user", Record(EMBEDDED_USER));
}

#[tokio::test]
async fn document_field_patient_is_a_uuid_in_lists_and_an_object_in_the_single_read() {
    let seen = seen().await;
    seen.field_in("list", "patient", OrNull(&Uuid)).field_in("read", "patient", OrNull(&Record(PATIENT)));
    let practice = Practice::with_documents(3).await;
    for item in practice.all("/documents").await {
        let document = practice.json(&format!("/documents/{}", text(&item, "uuid"))).await;
        assert_eq!(document["patient"]["uuid"], item["patient"]);
        assert_eq!(practice.json(&format!("/patients/{}", text(&item, "patient"))).await, document["patient"]);
    }
}

#[tokio::test]
async fn document_field_audio_is_a_nested_audio_or_null() {
    let seen = seen().await;
    seen.sometimes_null("audio");
    seen.field("audio", OrNull(&Record(NESTED_AUDIO)));
}

#[tokio::test]
async fn document_field_type_is_null_or_one_of_eleven() {
    let seen = seen().await;
    seen.field("type", OrNull(&OneOf(DOCUMENT_TYPES))).sometimes_null("type").shows_all("type", DOCUMENT_TYPES);
}

#[tokio::test]
async fn document_field_pdf_is_an_object_or_null_and_an_identifier_in_lists() {
    let seen = seen().await;
    seen.field_in("list", "pdf", OrNull(&Uuid)).field_in("read", "pdf", OrNull(&Record(PDF))).sometimes_null("pdf");
    let practice = Practice::with_documents(3).await;
    for item in practice.all("/documents").await {
        let document = practice.json(&format!("/documents/{}", text(&item, "uuid"))).await;
        assert_eq!(document["pdf"]["uuid"], item["pdf"]);
    }
}

#[tokio::test]
async fn document_field_pdf_has_uuid_name_size_created_at_updated_at_url_and_file_name() {
    let pdfs = pdfs().await;
    pdfs.exactly_in("", PDF);
    pdfs.field("uuid", Text).field("name", Text).field("size", Integer).field("url", Text).field("fileName", Text);
    pdfs.field("createdAt", DateTime).field("updatedAt", DateTime);
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
async fn document_field_is_anonymized_is_a_boolean() {
    seen().await.field("isAnonymized", Boolean);
}

#[tokio::test]
async fn document_field_generic_contact_specialty_is_text_in_version_1_1_0_only() {
    let seen = seen().await;
    for place in ["list", "read"] {
        seen.field_in(&format!("{place} in 1.0.0"), "genericContactSpecialty", Absent);
        seen.field_in(&format!("{place} in 1.1.0"), "genericContactSpecialty", Text);
    }
    seen.shows_all("genericContactSpecialty", &["Pédodontie"]);
}

#[tokio::test]
async fn document_field_document_integrations_is_an_array_in_the_single_read_of_version_1_1_0_only() {
    let seen = seen().await;
    seen.field_in("list", "documentIntegrations", Absent).field_in("read in 1.0.0", "documentIntegrations", Absent);
    seen.field_in("read in 1.1.0", "documentIntegrations", ListOf(&Anything));
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

#[tokio::test]
async fn get_documents_uuid_answers_403_for_another_users_document_and_404_for_an_unknown_one() {
    let practice = samples::practice(1).await;
    let theirs = samples::document_of_stranger(&practice).await;
    practice.ask("GET", &format!("/documents/{theirs}")).await.assert_problem(403);
    practice.ask("GET", "/documents/b3f6f1f8-0000-4000-8000-000000000000").await.assert_problem(404);
}
