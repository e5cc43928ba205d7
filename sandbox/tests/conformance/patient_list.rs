//! "Endpoints", table Patient, row `GET /patients`.

use std::collections::HashMap;

use serde_json::Value;

use crate::harness::{Practice, text};
use crate::records::PATIENT_ITEM;
use crate::samples;
use crate::shape::assert_record;
use crate::walk::{
    Key, assert_date_filters, assert_exact, assert_exact_member, assert_order, assert_order_is_taken, assert_search,
    own,
};

const PATH: &str = "/patients";

/// A member of the owning user of each patient, by the patient's uuid.
async fn owners(practice: &Practice, member: &str) -> HashMap<String, Key> {
    let mut owners = HashMap::new();
    for item in practice.all(PATH).await {
        let uuid = text(&item, "uuid");
        let patient = practice.json(&format!("{PATH}/{uuid}")).await;
        owners.insert(uuid, Key::Text(text(&patient["user"], member)));
    }
    owners
}

#[tokio::test]
async fn get_patients_returns_an_array_of_patients_without_user() {
    let practice = samples::patients().await;
    let items = practice.all(PATH).await;
    assert!(items.len() > 10);
    for item in items {
        assert_record("item", &item, PATIENT_ITEM);
    }
}

#[tokio::test]
async fn get_patients_orders_by_each_of_its_own_fields() {
    let practice = samples::patients().await;
    for name in [
        "uuid",
        "firstName",
        "lastName",
        "languageSpoken",
        "createdAt",
        "updatedAt",
        "synchronizedAt",
        "dateOfBirth",
        "gender",
        "visibilityOption",
        "email",
        "phone",
        "anonymousCode",
    ] {
        assert_order(&practice, PATH, name, |item| own(item, name)).await;
    }
}

#[tokio::test]
async fn get_patients_orders_by_user() {
    let practice = samples::patients().await;
    let owners = owners(&practice, "uuid").await;
    assert_order(&practice, PATH, "user", |item| owners.get(&text(item, "uuid")).cloned()).await;
}

#[tokio::test]
async fn get_patients_orders_by_client_which_no_record_shows() {
    assert_order_is_taken(&samples::patients().await, PATH, "client").await;
}

#[tokio::test]
async fn get_patients_filters_by_one_or_several_values_of_each_of_its_own_fields() {
    let practice = samples::patients().await;
    for name in [
        "uuid",
        "firstName",
        "lastName",
        "languageSpoken",
        "dateOfBirth",
        "gender",
        "visibilityOption",
        "email",
        "phone",
        "anonymousCode",
    ] {
        assert_exact_member(&practice, PATH, name).await;
    }
}

#[tokio::test]
async fn get_patients_filters_by_user_email_and_user_uuid() {
    let practice = samples::patients().await;
    for (name, member) in [("user.email", "email"), ("user.uuid", "uuid")] {
        let owners = owners(&practice, member).await;
        let owner = |item: &Value| vec![owners[&text(item, "uuid")].clone()];
        assert_exact(&practice, PATH, name, owner).await;
    }
}

#[tokio::test]
async fn get_patients_filters_by_the_dates_created_at_updated_at_and_synchronized_at() {
    let practice = samples::patients().await;
    for name in ["createdAt", "updatedAt", "synchronizedAt"] {
        assert_date_filters(&practice, PATH, name).await;
    }
}

#[tokio::test]
async fn get_patients_searches_its_text_fields_whatever_case_and_accents() {
    let practice = samples::patients().await;
    let found = practice.list(PATH, &[("email", "berenice@mail.example")]).await;
    let words = ["bérénice", "BERENICE", "zolkiewska", "D'ANGÉLO", "berenice@mail", "p-zero", "98 11 22"];
    assert_search(&practice, PATH, &text(&found[0], "uuid"), &words).await;
}

#[tokio::test]
async fn get_patients_uuid_returns_the_patient_that_the_list_shows_with_its_user() {
    let practice = samples::patients().await;
    for item in practice.all(PATH).await {
        let mut patient = practice.json(&format!("{PATH}/{}", text(&item, "uuid"))).await;
        assert!(patient.as_object_mut().unwrap().remove("user").is_some());
        assert_eq!(patient, item);
    }
}
