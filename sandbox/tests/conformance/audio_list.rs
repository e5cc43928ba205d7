//! "Endpoints", table Audio, row `GET /audios`.

use std::collections::HashMap;

use serde_json::Value;

use crate::client::uuids;
use crate::harness::{Practice, text};
use crate::records::{PATIENT, PATIENT_ITEM, STEPS_1_0};
use crate::samples;
use crate::shape::Is::{OrNull, Record};
use crate::walk::{
    Key, assert_date_filters, assert_exact, assert_exact_member, assert_flag, assert_order, assert_search, own,
};

const PATH: &str = "/audios";

/// The full audios by uuid, in a version.
async fn reads(practice: &Practice, version: &str) -> HashMap<String, Value> {
    let mut reads = HashMap::new();
    for item in practice.all(PATH).await {
        let uuid = text(&item, "uuid");
        let read = practice.in_version(version, &format!("{PATH}/{uuid}")).await.fine();
        reads.insert(uuid, read);
    }
    reads
}

#[tokio::test]
async fn get_audios_orders_by_uuid_patient_created_at_updated_at_and_archived_at() {
    let practice = samples::documents().await;
    for name in ["uuid", "patient", "createdAt", "updatedAt", "archivedAt"] {
        assert_order(&practice, PATH, name, |item| own(item, name)).await;
    }
}

#[tokio::test]
async fn get_audios_expands_the_patient_on_demand() {
    let practice = samples::documents().await;
    for (value, shape) in
        [("patient.read", &OrNull(&Record(PATIENT))), ("patient.list", &OrNull(&Record(PATIENT_ITEM)))]
    {
        let items = practice.list(PATH, &[("itemsPerPage", "100"), ("expand[]", value)]).await;
        let mut expanded = 0;
        for item in &items {
            let mut wrong = Vec::new();
            shape.judge("patient", item.get("patient"), &mut wrong);
            assert!(wrong.is_empty(), "{value}: {}", wrong.join("\n"));
            expanded += usize::from(item["patient"].is_object());
        }
        assert!(expanded > 10, "{value}");
    }
    practice.assert_refused(PATH, &[("expand[]", "patient.everything")]).await;
}

#[tokio::test]
async fn get_audios_searches_whatever_case_and_accents() {
    let practice = samples::documents().await;
    let document = samples::searched_document(&practice).await;
    let words = ["bérénice", "BERENICE", "zolkiewska", "D'ANGÉLO"];
    assert_search(&practice, PATH, &text(&document["audio"], "uuid"), &words).await;
}

#[tokio::test]
async fn get_audios_filters_by_exists_archived_at() {
    assert_flag(&samples::documents().await, PATH, "exists[archivedAt]", |item| !item["archivedAt"].is_null()).await;
}

#[tokio::test]
async fn get_audios_filters_by_uuid_patient_and_user() {
    let practice = samples::documents().await;
    for name in ["uuid", "patient", "user"] {
        assert_exact_member(&practice, PATH, name).await;
    }
}

#[tokio::test]
async fn get_audios_filters_by_documents() {
    let practice = samples::documents().await;
    let documents = practice.all("/documents").await;
    let of_audio = |item: &Value| {
        let own = documents.iter().filter(|document| document["audio"]["uuid"] == item["uuid"]);
        own.map(|document| Key::Text(text(document, "uuid"))).collect()
    };
    assert_exact(&practice, PATH, "documents", of_audio).await;
}

#[tokio::test]
async fn get_audios_filters_by_language_spoken() {
    let practice = samples::documents().await;
    let reads = reads(&practice, "1.1.0").await;
    let language = |item: &Value| own(&reads[&text(item, "uuid")], "languageSpoken").into_iter().collect();
    assert_exact(&practice, PATH, "languageSpoken", language).await;
}

#[tokio::test]
async fn get_audios_filters_by_summary_in_version_1_0_0_only() {
    let practice = samples::documents().await;
    let reads = reads(&practice, "1.0.0").await;
    let summaries: Vec<&str> = reads.values().filter_map(|audio| audio["summary"].as_str()).collect();
    let wanted = summaries[0];
    let expected = summaries.iter().filter(|summary| **summary == wanted).count();
    assert!(expected < reads.len());
    for name in ["summary", "summary[]"] {
        for (version, expected) in [("1.0.0", expected), ("1.1.0", reads.len())] {
            let request = practice.get(PATH).query(&[("itemsPerPage", "100"), (name, wanted)]);
            let found: Vec<Value> = request.header("api-version", version).send().await.unwrap().json().await.unwrap();
            assert_eq!(found.len(), expected, "{name} in {version}");
            if version == "1.0.0" {
                assert!(uuids(&found).iter().all(|uuid| reads[uuid]["summary"] == *wanted));
                assert!(found.iter().all(|item| STEPS_1_0.contains(&&*text(item, "audioWorkflowStepV3"))));
            }
        }
    }
}

#[tokio::test]
async fn get_audios_filters_by_the_dates_created_at_updated_at_and_archived_at() {
    let practice = samples::documents().await;
    for name in ["createdAt", "updatedAt", "archivedAt"] {
        assert_date_filters(&practice, PATH, name).await;
    }
}
