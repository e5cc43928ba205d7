//! "Resources and their fields", table User with the embedded and the current-user record, and "Endpoints", table User.

use docsyncd_sandbox::NewDocument;
use serde_json::json;

use crate::harness::{Practice, text};
use crate::records::{EMBEDDED_USER, GENDER, ME, ORGANIZATION, OWN_ORGANIZATION, TEXT_OR_NULL, USER};
use crate::samples;
use crate::shape::Is::{AtMost, Boolean, DateTime, Digits, Email, ListOf, OneOf, OrNull, Record, Text, Uuid};
use crate::shape::{Seen, assert_record};

/// Both users of the practice, in both versions.
async fn seen() -> Seen {
    let practice = samples::practice(2).await;
    let mut places = Vec::new();
    for version in ["1.0.0", "1.1.0"] {
        for key in ["mine", samples::COLLEAGUE] {
            let path = format!("/users/{}", samples::uuid_of(&practice, key).await);
            places.push((format!("{key} in {version}"), practice.in_version(version, &path).await.fine()));
        }
    }
    Seen { places }
}

async fn me() -> Seen {
    let practice = samples::practice(2).await;
    let mut places = vec![("colleague".to_owned(), samples::read_as(&practice, samples::COLLEAGUE, "/me").await)];
    for version in ["1.0.0", "1.1.0"] {
        places.push((format!("mine in {version}"), practice.in_version(version, "/me").await.fine()));
    }
    Seen { places }
}

#[tokio::test]
async fn get_users_uuid_returns_exactly_the_listed_fields() {
    seen().await.exactly_in("", USER);
    let practice = samples::practice(1).await;
    let uuid = samples::uuid_of(&practice, samples::COLLEAGUE).await;
    assert_eq!(practice.json(&format!("/users/{uuid}")).await["uuid"], uuid);
}

#[tokio::test]
async fn user_field_uuid_is_an_identifier() {
    seen().await.field("uuid", Uuid);
}

#[tokio::test]
async fn user_field_email_is_an_email_address() {
    seen().await.field("email", Email);
}

#[tokio::test]
async fn user_fields_created_at_and_updated_at_are_date_times() {
    seen().await.field("createdAt", DateTime).field("updatedAt", DateTime);
}

#[tokio::test]
async fn user_fields_first_name_and_last_name_are_null_or_text() {
    seen().await.field("firstName", TEXT_OR_NULL).field("lastName", TEXT_OR_NULL);
}

#[tokio::test]
async fn user_field_gender_is_female_male_unknown_or_null() {
    seen().await.field("gender", GENDER);
}

#[tokio::test]
async fn user_field_phone_is_null_or_text() {
    seen().await.field("phone", TEXT_OR_NULL);
}

#[tokio::test]
async fn user_field_rpps_is_null_or_exactly_11_digits() {
    seen().await.field("rpps", OrNull(&Digits(11)));
}

#[tokio::test]
async fn user_field_am_is_null_or_exactly_9_digits() {
    seen().await.field("am", OrNull(&Digits(9)));
}

#[tokio::test]
async fn user_field_language_is_text_and_fr_by_default() {
    seen().await.field("language", Text).shows_all("language", &["fr"]);
}

#[tokio::test]
async fn user_fields_smart_note_and_document_custom_prompt_are_null_or_text_of_at_most_2000_characters() {
    let prompt = OrNull(&AtMost(2000));
    seen().await.field("smartNoteCustomPrompt", prompt).field("documentCustomPrompt", prompt);
}

#[tokio::test]
async fn user_field_organizations_is_an_array_of_organizations() {
    let seen = seen().await;
    seen.field("organizations", ListOf(&Record(ORGANIZATION)));
    assert!(seen.places.iter().all(|(_, user)| user["organizations"].as_array().unwrap().len() == 1));
}

#[tokio::test]
async fn user_embedded_in_documents_audios_notes_and_patients_carries_only_ten_fields() {
    let practice = samples::documents().await;
    for version in ["1.0.0", "1.1.0"] {
        let expanded = practice.in_version(version, "/documents?itemsPerPage=100&expand[]=user.read").await.fine();
        for document in expanded.as_array().unwrap() {
            assert_record("user of a list's document", &document["user"], EMBEDDED_USER);
        }
        for audio in practice.in_version(version, "/audios?itemsPerPage=100").await.fine().as_array().unwrap() {
            assert_record("user of a list's audio", &audio["user"], EMBEDDED_USER);
        }
    }
    for note in practice.all("/notes").await {
        assert_record("user of a list's note", &note["user"], EMBEDDED_USER);
    }
    for (path, count) in [("/documents", 12), ("/audios", 12), ("/notes", 12), ("/patients", 12)] {
        for item in practice.all(path).await.iter().rev().take(count) {
            let record = practice.json(&format!("{path}/{}", text(item, "uuid"))).await;
            assert_record(path, &record["user"], EMBEDDED_USER);
        }
    }
}

#[tokio::test]
async fn get_me_returns_exactly_the_fields_of_the_current_user_record() {
    me().await.exactly_in("", ME);
    let practice = samples::practice(1).await;
    for (key, email) in [("mine", samples::MY_EMAIL), (samples::COLLEAGUE, samples::COLLEAGUES_EMAIL)] {
        assert_eq!(samples::read_as(&practice, key, "/me").await["email"], email);
    }
}

#[tokio::test]
async fn current_user_fields_are_null_or_text_unless_stated() {
    let me = me().await;
    for name in [
        "uuid",
        "email",
        "firstName",
        "lastName",
        "phone",
        "rpps",
        "am",
        "language",
        "timezone",
        "languageSpoken",
        "languageDocument",
    ] {
        me.field(name, TEXT_OR_NULL);
    }
    me.field("gender", GENDER);
}

#[tokio::test]
async fn current_user_fields_is_verified_and_language_spoken_auto_detect_are_null_or_boolean() {
    me().await.field("isVerified", OrNull(&Boolean)).field("languageSpokenAutoDetect", OrNull(&Boolean));
}

#[tokio::test]
async fn current_user_field_organization_also_has_siret_and_a_users_array() {
    let me = me().await;
    me.field("organization", Record(OWN_ORGANIZATION));
    for (_, me) in &me.places {
        assert_eq!(me["organization"]["users"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn current_user_field_organization_role_is_admin_member_or_null() {
    let roles = OrNull(&OneOf(&["ROLE_ORGANIZATION_ADMIN", "ROLE_ORGANIZATION_MEMBER"]));
    me().await.field("organizationRole", roles);
}

#[tokio::test]
async fn get_users_uuid_answers_403_for_users_of_other_practices_and_404_for_unknown_ones() {
    let practice = samples::practice(1).await;
    let theirs = samples::uuid_of(&practice, samples::STRANGER).await;
    practice.ask("GET", &format!("/users/{theirs}")).await.assert_problem(403);
    practice.ask("GET", "/users/b3f6f1f8-0000-4000-8000-000000000000").await.assert_problem(404);
}

#[tokio::test]
async fn user_records_show_what_was_dictated_as_null() {
    let practice = Practice::with_documents(1).await;
    let nothing = json!({"firstName": null, "lastName": null, "gender": null, "phone": null, "rpps": null, "am": null});
    let document = NewDocument { user: nothing.as_object().cloned(), ..NewDocument::default() };
    let uuid = practice.sandbox.add(document).await.unwrap();
    let document = practice.json(&format!("/documents/{uuid}")).await;
    assert_record("embedded", &document["user"], EMBEDDED_USER);
    let user = practice.json(&format!("/users/{}", text(&document["user"], "uuid"))).await;
    assert_record("user", &user, USER);
    for (name, value) in nothing.as_object().unwrap() {
        assert_eq!((&document["user"][name], &user[name]), (value, value), "{name}");
    }
}
