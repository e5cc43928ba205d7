//! "Resources and their fields", table Organization, and "Endpoints", table Organization.

use crate::harness::text;
use crate::records::{ORGANIZATION, TEXT_OR_NULL};
use crate::samples;
use crate::shape::Is::{DateTime, Number, OneOf, OrNull, Text, Timezone};
use crate::shape::Seen;

/// The practice, wherever the API shows it, in both versions.
async fn seen() -> Seen {
    let practice = samples::practice(2).await;
    let user = format!("/users/{}", samples::uuid_of(&practice, "mine").await);
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        let list = practice.in_version(version, "/organizations").await.fine();
        let one = format!("/organizations/{}", text(&list[0], "uuid"));
        let user = practice.in_version(version, &user).await.fine();
        places.push((format!("list in {version}"), list[0].clone()));
        places.push((format!("read in {version}"), practice.in_version(version, &one).await.fine()));
        places.push((format!("user in {version}"), user["organizations"][0].clone()));
    }
    assert!(places.windows(2).all(|pair| pair[0].1 == pair[1].1));
    Seen { places }
}

#[tokio::test]
async fn organization_has_exactly_the_listed_fields_in_lists_reads_and_users() {
    seen().await.exactly_in("", ORGANIZATION);
}

#[tokio::test]
async fn organization_field_uuid_is_null_or_text() {
    seen().await.field("uuid", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_field_name_is_null_or_text() {
    seen().await.field("name", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_field_vat_number_is_null_or_text() {
    seen().await.field("vatNumber", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_fields_street_address_postal_code_city_and_country_are_text() {
    seen().await.field("streetAddress", Text).field("postalCode", Text).field("city", Text).field("country", Text);
}

#[tokio::test]
async fn organization_fields_latitude_and_longitude_are_numbers() {
    seen().await.field("latitude", Number).field("longitude", Number);
}

#[tokio::test]
async fn organization_field_timezone_is_null_or_an_iana_name() {
    seen().await.field("timezone", OrNull(&Timezone));
}

#[tokio::test]
async fn organization_field_phone_is_null_or_text() {
    seen().await.field("phone", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_field_secretariat_email_is_null_or_text() {
    seen().await.field("secretariatEmail", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_field_website_is_null_or_text() {
    seen().await.field("website", TEXT_OR_NULL);
}

#[tokio::test]
async fn organization_field_dental_nomenclature_system_is_fdi_ada_or_null() {
    seen().await.field("dentalNomenclatureSystem", OrNull(&OneOf(&["fdi", "ada"])));
}

#[tokio::test]
async fn organization_fields_created_at_and_updated_at_are_date_times() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn get_organizations_returns_an_array_with_the_users_own_practice() {
    let practice = samples::practice(1).await;
    let me = practice.json("/me").await;
    let list = practice.all("/organizations").await;
    assert_eq!(list.len(), 1);
    assert_eq!(list[0]["uuid"], me["organization"]["uuid"]);
}

#[tokio::test]
async fn get_organizations_uuid_returns_the_practice_and_403_for_another() {
    let practice = samples::practice(1).await;
    let own = practice.all("/organizations").await.remove(0);
    assert_eq!(practice.json(&format!("/organizations/{}", text(&own, "uuid"))).await, own);
    let theirs = samples::read_as(&practice, samples::STRANGER, "/organizations").await;
    practice.ask("GET", &format!("/organizations/{}", text(&theirs[0], "uuid"))).await.assert_problem(403);
}
