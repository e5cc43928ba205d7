//! "Resources and their fields", table User with the embedded and the current-user record, and "Endpoints", table User.

use docsyncd_sandbox::NewDocument;
use serde_json::json;

use crate::harness::{Practice, text};
use crate::records::{EMBEDDED_USER, ME, USER};
use crate::samples;
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
    let seen = seen().await;
    seen.exactly_in("", USER).shows_all("language", &["fr"]);
    assert!(seen.places.iter().all(|(_, user)| user["organizations"].as_array().unwrap().len() == 1));
    let practice = samples::practice(1).await;
    let uuid = samples::uuid_of(&practice, samples::COLLEAGUE).await;
    assert_eq!(practice.json(&format!("/users/{uuid}")).await["uuid"], uuid);
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
    let me = me().await;
    me.exactly_in("", ME);
    for (_, me) in &me.places {
        assert_eq!(me["organization"]["users"].as_array().unwrap().len(), 2);
    }
    let practice = samples::practice(1).await;
    for (key, email) in [("mine", samples::MY_EMAIL), (samples::COLLEAGUE, samples::COLLEAGUES_EMAIL)] {
        assert_eq!(samples::read_as(&practice, key, "/me").await["email"], email);
    }
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
