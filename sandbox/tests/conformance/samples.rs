//! Sandboxes whose records differ enough that every filter and order has something to do.

use docsyncd_sandbox::{ApiKey, NewDocument, NewPdf, Options};
use serde_json::{Map, Value, json};

use crate::client::JSON;
use crate::harness::{Practice, text};

/// Of the user whose requests the tests send.
pub const MY_EMAIL: &str = "claire.delaunay@cabinet-delaunay.example";
/// The key of another user of the same practice.
pub const COLLEAGUE: &str = "colleague";
pub const COLLEAGUES_EMAIL: &str = "marc.petit@cabinet-delaunay.example";
/// The key of somebody in another practice.
pub const STRANGER: &str = "stranger";

/// A practice of two and a stranger.
pub async fn practice(documents: usize) -> Practice {
    let api_keys = vec![
        ApiKey::of_user("mine", MY_EMAIL),
        ApiKey::of_user(COLLEAGUE, COLLEAGUES_EMAIL),
        ApiKey::of_user(STRANGER, "zoe.ailleurs@cabinet-ailleurs.example"),
    ];
    Practice::start(Options { documents, api_keys, ..Options::default() }).await
}

/// Adds invented documents whose files are a few bytes, so that nobody waits for letters to be written.
async fn add_documents(practice: &Practice, count: usize) {
    for _ in 0..count {
        let file = NewPdf::Bytes(b"%PDF-1.7 tiny".to_vec());
        practice.sandbox.add(NewDocument { pdf: file, ..NewDocument::default() }).await.unwrap();
    }
}

/// Creates something as the owner of another key.
pub async fn create_as(practice: &Practice, key: &str, path: &str, body: &Value) -> Value {
    let request = practice.client.post(practice.address(path)).bearer_auth(key).header("content-type", JSON);
    let response = request.body(body.to_string()).send().await.unwrap();
    assert!(response.status().is_success(), "{path} {body}");
    response.json().await.unwrap()
}

/// What the owner of another key reads.
pub async fn read_as(practice: &Practice, key: &str, path: &str) -> Value {
    let response = practice.client.get(practice.address(path)).bearer_auth(key).send().await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.json().await.unwrap()
}

/// A contact with every field.
pub fn full_contact() -> Value {
    json!({
        "firstName": "Bérénice",
        "lastName": "d'Angélo-Żółkiewska",
        "legalName": "Œil & Dent, laboratoire",
        "gender": "doctor",
        "languageSpoken": "de",
        "email": "berenice@labo.example",
        "visibilityOption": "private",
        "phone": "+33 1 99 00 11 22",
        "specialty": "mri_center",
        "streetAddress": "12 rue de l'Échauguette",
        "postalCode": "2A004",
        "city": "Besançon",
        "country": "CH",
        "customPrompt": "Always mention the shade.",
    })
}

/// The practice's address book, with a full contact and an empty one of each user.
pub async fn contacts() -> Practice {
    let practice = practice(2).await;
    practice.post("/contacts", &full_contact()).await.fine();
    practice.post("/contacts", &json!({})).await.fine();
    let nothing = json!({"gender": null, "visibilityOption": null, "languageSpoken": "it", "legalName": "Zahnlabor"});
    create_as(&practice, COLLEAGUE, "/contacts", &nothing).await;
    practice
}

/// A patient with every field.
pub fn full_patient() -> Value {
    json!({
        "firstName": "Bérénice",
        "lastName": "d'Angélo-Żółkiewska",
        "languageSpoken": "de",
        "dateOfBirth": "1971-02-28",
        "gender": "female",
        "visibilityOption": "private",
        "externalId": "PMS-0017",
        "externalCreatedAt": "2019-05-06T07:08:09+00:00",
        "email": "berenice@mail.example",
        "phone": "+33 6 39 98 11 22",
        "anonymousCode": "P-ZÉRO",
        "customPrompt": "Prefers short letters.",
    })
}

/// Patients of both users with all kinds of dates, a full one and an empty one.
pub async fn patients() -> Practice {
    let practice = practice(1).await;
    add_documents(&practice, 8).await;
    for day in 1..=6 {
        let visibility = ["shared", "private"].get(day % 3);
        let patient = json!({
            "createdAt": format!("2026-01-0{day}T08:00:00+00:00"),
            "updatedAt": format!("2026-02-0{}T09:30:00+00:00", 7 - day),
            "synchronizedAt": (day > 1).then(|| format!("2026-03-0{day}T10:00:00+00:00")),
            "visibilityOption": visibility,
        });
        let owner = (day % 2 == 0).then(|| COLLEAGUE.to_owned());
        let patient = if owner.is_some() { with(patient, "visibilityOption", json!("shared")) } else { patient };
        let document = NewDocument { patient: Some(patient), owner, pdf: NewPdf::None, ..NewDocument::default() };
        practice.sandbox.add(document).await.unwrap();
    }
    practice.post("/patients", &full_patient()).await.fine();
    practice.post("/patients", &json!({"gender": "unknown"})).await.fine();
    practice.post("/patients", &json!({"gender": null, "languageSpoken": "it"})).await.fine();
    practice
}

fn with(mut record: Value, name: &str, value: Value) -> Value {
    record[name] = value;
    record
}

/// Documents and their audios and notes, some of them of a colleague, some without patient, PDF or type.
pub async fn documents() -> Practice {
    let practice = practice(1).await;
    add_documents(&practice, 25).await;
    let colleague = read_as(&practice, COLLEAGUE, "/me").await;
    let user: Map<String, Value> = ["uuid", "email", "firstName", "lastName"]
        .map(|name| (name.to_owned(), colleague[name].clone()))
        .into_iter()
        .collect();
    for day in 1..=4 {
        let document = NewDocument {
            created_at: Some(format!("2026-01-0{day}T08:00:00+00:00")),
            updated_at: Some(format!("2026-02-0{day}T08:00:00+00:00")),
            user: Some(user.clone()),
            generic_contact_specialty: Some(["Pédodontie", "Orthopédie dento-faciale"][day % 2].to_owned()),
            is_anonymized: day == 2,
            synchronized: day % 2 == 0,
            pdf: NewPdf::Bytes(b"%PDF-1.7 tiny".to_vec()),
            ..NewDocument::default()
        };
        practice.sandbox.add(document).await.unwrap();
        let empty = NewDocument {
            patient: Some(Value::Null),
            document_type: Some(None),
            pdf: NewPdf::None,
            ..NewDocument::default()
        };
        practice.sandbox.add(empty).await.unwrap();
    }
    practice
}

/// The uuid of the user who owns a key.
pub async fn uuid_of(practice: &Practice, key: &str) -> String {
    text(&read_as(practice, key, "/me").await, "uuid")
}

/// A document with an audio and a note, of a patient whose name is not easy to type.
pub async fn searched_document(practice: &Practice) -> Value {
    let patient = json!({"firstName": "Bérénice", "lastName": "d'Angélo-Żółkiewska"});
    for _ in 0..20 {
        let document = NewDocument { patient: Some(patient.clone()), ..NewDocument::default() };
        let uuid = practice.sandbox.add(document).await.unwrap();
        let document = practice.json(&format!("/documents/{uuid}")).await;
        if document["audio"].is_object() {
            return document;
        }
    }
    panic!("none of twenty documents was made from a recording");
}

/// A document of the stranger that was made from a recording; its uuid.
pub async fn document_of_stranger(practice: &Practice) -> String {
    for _ in 0..20 {
        let document = NewDocument { owner: Some(STRANGER.to_owned()), ..NewDocument::default() };
        let uuid = practice.sandbox.add(document).await.unwrap();
        if read_as(practice, STRANGER, &format!("/documents/{uuid}")).await["audio"].is_object() {
            return uuid;
        }
    }
    panic!("none of twenty documents was made from a recording");
}

/// The uuid of an audio of the stranger.
pub async fn audio_of_stranger(practice: &Practice) -> String {
    let uuid = document_of_stranger(practice).await;
    text(&read_as(practice, STRANGER, &format!("/documents/{uuid}")).await["audio"], "uuid")
}
