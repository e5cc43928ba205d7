//! "Errors", table API errors. (Those of the token endpoint are in `tests/api/oauth`.)

use serde_json::{Value, json};

use crate::client::MERGE_PATCH;
use crate::harness::{Practice, text};
use crate::samples;

const UNKNOWN: &str = "b3f6f1f8-0000-4000-8000-000000000000";

#[tokio::test]
async fn error_400_of_post_status_and_patch_patients_has_exactly_the_listed_members() {
    let practice = Practice::with_documents(1).await;
    let document = practice.all("/documents").await.remove(0);
    let path = format!("/documents/{}/status", text(&document, "uuid"));
    practice.send_as("POST", &path, "application/json", "{").await.assert_problem(400);
    let path = format!("/patients/{}", text(&document, "patient"));
    practice.send_as("PATCH", &path, MERGE_PATCH, "{").await.assert_problem(400);
}

#[tokio::test]
async fn error_403_is_the_answer_of_every_endpoint_with_a_uuid_for_what_belongs_to_others() {
    let practice = samples::practice(1).await;
    let stranger = |path: &'static str| samples::read_as(&practice, samples::STRANGER, path);
    let create = |path: &'static str, body: Value| async {
        let body = body;
        text(&samples::create_as(&practice, samples::STRANGER, path, &body).await, "uuid")
    };
    let audio = samples::audio_of_stranger(&practice).await;
    let document = samples::document_of_stranger(&practice).await;
    let contact = create("/contacts", json!({})).await;
    let patient = create("/patients", json!({})).await;
    let hook = json!({"url": "http://127.0.0.1:9/", "events": ["audio.created"], "isActive": false});
    let webhook = create("/webhooks", hook).await;
    let note = text(&stranger("/notes").await[0], "uuid");
    let organization = text(&stranger("/organizations").await[0], "uuid");
    let user = text(&stranger("/me").await, "uuid");
    for (method, path) in [
        ("GET", format!("/audios/{audio}")),
        ("GET", format!("/contacts/{contact}")),
        ("PATCH", format!("/contacts/{contact}")),
        ("GET", format!("/documents/{document}")),
        ("POST", format!("/documents/{document}/status")),
        ("GET", format!("/notes/{note}")),
        ("GET", format!("/organizations/{organization}")),
        ("GET", format!("/patients/{patient}")),
        ("PATCH", format!("/patients/{patient}")),
        ("GET", format!("/users/{user}")),
        ("GET", format!("/webhooks/{webhook}")),
        ("PATCH", format!("/webhooks/{webhook}")),
        ("DELETE", format!("/webhooks/{webhook}")),
    ] {
        let answer = practice.send_in_version("1.1.0", method, &path, &json!({"success": true})).await;
        assert_eq!(answer.status, 403, "{method} {path}");
        answer.assert_problem(403);
    }
    for path in [format!("/contacts/{contact}"), format!("/patients/{patient}"), format!("/webhooks/{webhook}")] {
        samples::read_as(&practice, samples::STRANGER, &path).await;
    }
}

#[tokio::test]
async fn error_404_of_reads_and_of_patch_patients_has_exactly_the_listed_members() {
    let practice = Practice::with_documents(1).await;
    for path in ["documents", "audios", "users", "notes"] {
        practice.ask("GET", &format!("/{path}/{UNKNOWN}")).await.assert_problem(404);
        practice.ask("GET", &format!("/{path}/no-uuid")).await.assert_problem(404);
    }
    practice.patch(&format!("/patients/{UNKNOWN}"), &json!({})).await.assert_problem(404);
}

#[tokio::test]
async fn error_422_of_post_status_and_patch_patients_has_exactly_the_listed_members_and_all_violations() {
    let practice = Practice::with_documents(1).await;
    let document = practice.all("/documents").await.remove(0);
    let path = format!("/documents/{}/status", text(&document, "uuid"));
    practice.post(&path, &json!({"success": 1, "error": 2})).await.assert_violations(&["success", "error"]);
    let path = format!("/patients/{}", text(&document, "patient"));
    practice.patch(&path, &json!({"gender": 1, "phone": 2})).await.assert_violations(&["gender", "phone"]);
}

#[tokio::test]
async fn errors_are_application_ld_json_whatever_the_request_accepts() {
    let practice = Practice::with_documents(1).await;
    for accept in ["application/json", "application/ld+json", "*/*"] {
        let response = practice.get(&format!("/documents/{UNKNOWN}")).header("accept", accept).send().await.unwrap();
        let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        assert!(media_type.starts_with("application/ld+json"), "{accept}: {media_type}");
    }
}

#[tokio::test]
async fn error_400_is_also_the_answer_to_query_values_that_cannot_be_understood_on_every_list() {
    let practice = Practice::with_documents(1).await;
    for path in ["/audios", "/contacts", "/documents", "/notes", "/organizations", "/patients", "/webhooks"] {
        for query in [("page", "x"), ("itemsPerPage", "x"), ("order[uuid]", "sideways")] {
            practice.assert_refused(path, &[query]).await;
        }
    }
}

#[tokio::test]
async fn the_type_of_every_error_leads_somewhere_without_a_token() {
    let practice = Practice::with_documents(1).await;
    for (status, kind) in [(400, "Error"), (403, "Error"), (404, "Error"), (405, "Error"), (422, "ConstraintViolation")]
    {
        let address = format!("{}/errors/{status}", practice.sandbox.url());
        let answer = practice.client.get(address).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{status}");
        let media_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
        assert!(media_type.starts_with("application/ld+json"), "{media_type}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!((&body["@type"], &body["status"]), (&json!(kind), &json!(status)));
        assert_eq!(body["@id"], format!("/errors/{status}"));
    }
    for none in ["200", "999", "x"] {
        let address = format!("{}/errors/{none}", practice.sandbox.url());
        assert_eq!(practice.client.get(address).send().await.unwrap().status(), 404, "{none}");
    }
}
