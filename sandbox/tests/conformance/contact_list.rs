//! "Endpoints", table Contact, row `GET /contacts`.

use serde_json::{Value, json};

use crate::harness::{Practice, text};
use crate::samples;
use crate::walk::{Key, assert_date_filters, assert_exact, assert_exact_member, assert_order, assert_search, own};

const PATH: &str = "/contacts";

/// Whose a contact is: the colleague has one, the rest is the first user's.
async fn owners(practice: &Practice) -> (String, String, String) {
    let found = practice.list(PATH, &[("legalName", "Zahnlabor")]).await;
    let mine = samples::uuid_of(practice, "mine").await;
    (text(&found[0], "uuid"), mine, samples::uuid_of(practice, samples::COLLEAGUE).await)
}

#[tokio::test]
async fn get_contacts_orders_by_each_of_its_own_fields() {
    let practice = samples::contacts().await;
    for name in [
        "uuid",
        "firstName",
        "lastName",
        "legalName",
        "languageSpoken",
        "createdAt",
        "updatedAt",
        "gender",
        "visibilityOption",
        "specialty",
        "email",
        "phone",
        "streetAddress",
        "postalCode",
        "city",
        "country",
    ] {
        assert_order(&practice, PATH, name, |item| own(item, name)).await;
    }
}

#[tokio::test]
async fn get_contacts_orders_by_user() {
    let practice = samples::contacts().await;
    let (theirs, mine, colleague) = owners(&practice).await;
    let owner = |item: &Value| Some(Key::Text(if item["uuid"] == *theirs { colleague.clone() } else { mine.clone() }));
    assert_order(&practice, PATH, "user", owner).await;
}

#[tokio::test]
async fn get_contacts_filters_by_one_or_several_values_of_each_of_its_own_fields() {
    let practice = samples::contacts().await;
    for name in [
        "uuid",
        "firstName",
        "lastName",
        "legalName",
        "gender",
        "languageSpoken",
        "email",
        "visibilityOption",
        "phone",
        "specialty",
        "streetAddress",
        "postalCode",
        "city",
    ] {
        assert_exact_member(&practice, PATH, name).await;
    }
    assert_exact_member(&practice, PATH, "country").await;
}

#[tokio::test]
async fn get_contacts_filters_by_user_uuid() {
    let practice = samples::contacts().await;
    let (theirs, mine, colleague) = owners(&practice).await;
    let owner = |item: &Value| vec![Key::Text(if item["uuid"] == *theirs { colleague.clone() } else { mine.clone() })];
    assert_exact(&practice, PATH, "user.uuid", owner).await;
}

#[tokio::test]
async fn get_contacts_filters_by_user_email() {
    let practice = samples::contacts().await;
    let (theirs, ..) = owners(&practice).await;
    let owner = |item: &Value| {
        let email = if item["uuid"] == *theirs { samples::COLLEAGUES_EMAIL } else { samples::MY_EMAIL };
        vec![Key::Text(email.to_owned())]
    };
    assert_exact(&practice, PATH, "user.email", owner).await;
}

#[tokio::test]
async fn get_contacts_filters_by_the_dates_created_at_and_updated_at() {
    let practice = samples::contacts().await;
    let oldest = practice.all(PATH).await.remove(0);
    practice.patch(&format!("{PATH}/{}", text(&oldest, "uuid")), &json!({"city": "Dole"})).await.fine();
    assert_date_filters(&practice, PATH, "createdAt").await;
    assert_date_filters(&practice, PATH, "updatedAt").await;
}

#[tokio::test]
async fn get_contacts_searches_its_text_fields_whatever_case_and_accents() {
    let practice = samples::contacts().await;
    let found = practice.list(PATH, &[("email", "berenice@labo.example")]).await;
    let words = [
        "Bérénice",
        "berenice",
        "BERENICE",
        "ZOLKIEWSKA",
        "żółkiewska",
        "d'angelo",
        "oeil",
        "labo",
        "echauguette",
        "BESANCON",
        "2a004",
        "mri_center",
        "12",
        "é",
        "99 00 11 22",
    ];
    assert_search(&practice, PATH, &text(&found[0], "uuid"), &words).await;
}

#[tokio::test]
async fn get_contacts_shows_what_the_practice_shares_but_not_what_others_keep_private() {
    let practice = samples::contacts().await;
    let everything = practice.all(PATH).await;
    let private = json!({"visibilityOption": "private", "legalName": "Of the colleague alone"});
    let hidden = samples::create_as(&practice, samples::COLLEAGUE, PATH, &private).await;
    let foreign = samples::create_as(&practice, samples::STRANGER, PATH, &json!({})).await;
    assert_eq!(practice.all(PATH).await, everything);
    for contact in [hidden, foreign] {
        practice.ask("GET", &format!("{PATH}/{}", text(&contact, "uuid"))).await.assert_problem(403);
    }
}
