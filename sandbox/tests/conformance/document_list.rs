//! "Endpoints", table Document, row `GET /documents`.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::client::uuids;
use crate::harness::{Practice, text};
use crate::records::EMBEDDED_USER;
use crate::samples;
use crate::shape::assert_record;
use crate::walk::{
    Key, assert_date_filters, assert_exact, assert_exact_member, assert_flag, assert_order, assert_order_is_taken,
    assert_search, own,
};

const PATH: &str = "/documents";

#[tokio::test]
async fn get_documents_orders_by_uuid_created_at_updated_at_user_and_patient() {
    let practice = samples::documents().await;
    for name in ["uuid", "createdAt", "updatedAt", "user", "patient"] {
        assert_order(&practice, PATH, name, |item| own(item, name)).await;
    }
}

#[tokio::test]
async fn get_documents_orders_by_verified_at_and_sent_at_which_no_record_shows() {
    let practice = samples::documents().await;
    for name in ["verifiedAt", "sentAt"] {
        assert_order_is_taken(&practice, PATH, name).await;
    }
}

#[tokio::test]
async fn get_documents_expands_the_user_on_demand() {
    let practice = samples::documents().await;
    let plain = practice.all(PATH).await;
    let expanded = practice.list(PATH, &[("itemsPerPage", "100"), ("expand[]", "user.read")]).await;
    assert_eq!(plain.len(), expanded.len());
    for (plain, mut expanded) in plain.into_iter().zip(expanded) {
        assert_record("user", &expanded["user"], EMBEDDED_USER);
        expanded["user"] = expanded["user"]["uuid"].clone();
        assert_eq!(plain, expanded);
    }
    practice.assert_refused(PATH, &[("expand[]", "user.everything")]).await;
}

#[tokio::test]
async fn get_documents_searches_whatever_case_and_accents() {
    let practice = samples::documents().await;
    let uuid = text(&samples::searched_document(&practice).await, "uuid");
    assert_search(&practice, PATH, &uuid, &["bérénice", "BERENICE", "zolkiewska", "D'ANGÉLO"]).await;
    let specialized = practice.list(PATH, &[("genericContactSpecialty", "Orthopédie dento-faciale")]).await;
    assert_search(&practice, PATH, &text(&specialized[0], "uuid"), &["orthopedie", "ORTHOPÉDIE", "dento-FACIALE"])
        .await;
    let prescription = practice.list(PATH, &[("type", "prescription")]).await;
    assert_search(&practice, PATH, &text(&prescription[0], "uuid"), &["PRESCRIPTION"]).await;
}

#[tokio::test]
async fn get_documents_filters_by_synchronized() {
    let practice = Practice::with_documents(6).await;
    let everything = uuids(&practice.all(PATH).await);
    for uuid in &everything[..2] {
        practice.report_success(uuid).await;
    }
    let done: BTreeSet<&String> = everything[..2].iter().collect();
    assert_flag(&practice, PATH, "synchronized", |item| done.contains(&text(item, "uuid"))).await;
}

#[tokio::test]
async fn get_documents_filters_by_uuid_type_pdf_and_generic_contact_specialty() {
    let practice = samples::documents().await;
    for name in ["uuid", "type", "pdf", "genericContactSpecialty"] {
        assert_exact_member(&practice, PATH, name).await;
    }
}

#[tokio::test]
async fn get_documents_filters_by_user_uuid_and_user_email() {
    let practice = samples::documents().await;
    assert_exact(&practice, PATH, "user.uuid", |item| own(item, "user").into_iter().collect()).await;
    let me = samples::uuid_of(&practice, "mine").await;
    let email = |item: &Value| {
        let email = if item["user"] == *me { samples::MY_EMAIL } else { samples::COLLEAGUES_EMAIL };
        vec![Key::Text(email.to_owned())]
    };
    assert_exact(&practice, PATH, "user.email", email).await;
}

#[tokio::test]
async fn get_documents_filters_by_patient_uuid_and_patient_email() {
    let practice = samples::documents().await;
    assert_exact(&practice, PATH, "patient.uuid", |item| own(item, "patient").into_iter().collect()).await;
    let patients = practice.all("/patients").await.into_iter();
    let emails: HashMap<String, Option<Key>> =
        patients.map(|patient| (text(&patient, "uuid"), own(&patient, "email"))).collect();
    let email = |item: &Value| item["patient"].as_str().and_then(|uuid| emails[uuid].clone()).into_iter().collect();
    assert_exact(&practice, PATH, "patient.email", email).await;
}

#[tokio::test]
async fn get_documents_filters_by_is_anonymized() {
    assert_flag(&samples::documents().await, PATH, "isAnonymized", |item| item["isAnonymized"] == json!(true)).await;
}

#[tokio::test]
async fn get_documents_filters_by_exists_encountered_at() {
    let practice = samples::documents().await;
    assert_flag(&practice, PATH, "exists[encounteredAt]", |item| !item["encounteredAt"].is_null()).await;
}

#[tokio::test]
async fn get_documents_filters_by_the_dates_created_at_updated_at_and_encountered_at() {
    let practice = samples::documents().await;
    for name in ["createdAt", "updatedAt", "encounteredAt"] {
        assert_date_filters(&practice, PATH, name).await;
    }
}
