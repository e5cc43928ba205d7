//! "Versioning". How a request chooses a version is "not shown": here the header `Api-Version` does, or the option of
//! the whole sandbox.

use docsyncd_sandbox::{NewDocument, Options, Version};
use serde_json::{Value, json};

use crate::harness::{Practice, members, text};
use crate::records::{AUDIO, DOCUMENT, DOCUMENT_TYPES, SPECIALTIES, STEPS_1_0, STEPS_1_1, audio_1_0, document_1_0};
use crate::samples;
use crate::shape::assert_record;

/// The labels that know what version 1.1.0 knows.
const LATER: [&str; 2] = ["1.1.0", "1.75.0"];

async fn one(practice: &Practice, version: &str, list: &str) -> Value {
    let items = practice.in_version(version, list).await.fine();
    practice.in_version(version, &format!("{list}/{}", text(&items[0], "uuid"))).await.fine()
}

#[tokio::test]
async fn audio_workflow_step_values_are_four_in_1_0_0_and_six_in_1_1_0() {
    let practice = samples::documents().await;
    let steps = |audios: Value| -> Vec<String> {
        audios.as_array().unwrap().iter().map(|audio| text(audio, "audioWorkflowStepV3")).collect()
    };
    let old = steps(practice.in_version("1.0.0", "/audios?itemsPerPage=100").await.fine());
    assert!(old.iter().all(|step| STEPS_1_0.contains(&step.as_str())));
    for version in LATER {
        let new = steps(practice.in_version(version, "/audios?itemsPerPage=100").await.fine());
        assert!(new.iter().all(|step| STEPS_1_1.contains(&step.as_str())));
        assert!(new.iter().any(|step| !STEPS_1_0.contains(&step.as_str())), "{new:?}");
    }
}

#[tokio::test]
async fn audio_single_read_has_summary_in_1_0_0_and_meeting_instead_in_1_1_0() {
    let practice = Practice::with_documents(3).await;
    let old = one(&practice, "1.0.0", "/audios").await;
    assert_record("1.0.0", &old, &audio_1_0());
    assert!(old["summary"].is_string());
    for version in LATER {
        assert_record(version, &one(&practice, version, "/audios").await, AUDIO);
    }
}

#[tokio::test]
async fn audio_list_filters_include_summary_in_1_0_0_only() {
    let practice = Practice::with_documents(3).await;
    let path = "/audios?summary=nothing%20like%20this";
    assert_eq!(practice.in_version("1.0.0", path).await.fine(), json!([]));
    for version in LATER {
        assert!(!practice.in_version(version, path).await.fine().as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn notes_are_no_resource_in_1_0_0_and_one_in_1_1_0() {
    let practice = Practice::with_documents(3).await;
    let note = text(&practice.all("/notes").await[0], "uuid");
    for path in ["/notes".to_owned(), format!("/notes/{note}")] {
        practice.in_version("1.0.0", &path).await.assert_problem(404);
        for version in LATER {
            practice.in_version(version, &path).await.fine();
        }
    }
}

#[tokio::test]
async fn document_has_generic_contact_specialty_and_document_integrations_since_1_1_0() {
    let practice = Practice::with_documents(3).await;
    assert_record("1.0.0", &one(&practice, "1.0.0", "/documents").await, &document_1_0());
    let item = practice.in_version("1.0.0", "/documents").await.fine()[0].clone();
    assert!(!members(&item).contains(&"genericContactSpecialty"));
    for version in LATER {
        assert_record(version, &one(&practice, version, "/documents").await, DOCUMENT);
        let item = practice.in_version(version, "/documents").await.fine()[0].clone();
        assert!(members(&item).contains(&"genericContactSpecialty"));
        assert!(!members(&item).contains(&"documentIntegrations"));
    }
}

#[tokio::test]
async fn contact_specialty_is_enumerated_in_1_0_0_and_any_text_in_1_1_0() {
    let practice = Practice::with_documents(1).await;
    let odd = json!({"specialty": "Pédodontie"});
    let contact = practice.post("/contacts", &json!({})).await.fine();
    let path = format!("/contacts/{}", text(&contact, "uuid"));
    for (method, path) in [("POST", "/contacts"), ("PATCH", &path)] {
        for specialty in SPECIALTIES {
            let body = json!({ "specialty": specialty });
            let shown = practice.send_in_version("1.0.0", method, path, &body).await.fine();
            assert_eq!(shown["specialty"], *specialty);
        }
        practice.send_in_version("1.0.0", method, path, &odd).await.assert_violations(&["specialty"]);
        for version in LATER {
            let shown = practice.send_in_version(version, method, path, &odd).await.fine();
            assert_eq!(shown["specialty"], odd["specialty"]);
        }
    }
}

#[tokio::test]
async fn document_type_enum_includes_ortho_letter_in_1_0_0_and_goes_at_least_up_to_endo_report_in_1_1_0() {
    let practice = Practice::start(Options::default()).await;
    for kind in DOCUMENT_TYPES {
        let document = NewDocument { document_type: Some(Some((*kind).to_owned())), ..NewDocument::default() };
        let path = format!("/documents/{}", practice.sandbox.add(document).await.unwrap());
        assert_eq!(practice.in_version("1.0.0", &path).await.fine()["type"], *kind);
        if *kind != "ortho_letter" {
            assert_eq!(practice.in_version("1.1.0", &path).await.fine()["type"], *kind);
        }
    }
}

#[tokio::test]
async fn notes_patient_upsert_patient_patch_webhook_patch_and_webhook_delete_are_added_by_1_75_0() {
    let practice = Practice::with_documents(1).await;
    let hook = json!({"url": "http://127.0.0.1:9/", "events": ["audio.created"], "isActive": false});
    let webhook = text(&practice.post("/webhooks", &hook).await.fine(), "uuid");
    let patient = text(&practice.all("/patients").await[0], "uuid");
    for (method, path) in [
        ("POST", "/patients".to_owned()),
        ("PATCH", format!("/patients/{patient}")),
        ("PATCH", format!("/webhooks/{webhook}")),
        ("DELETE", format!("/webhooks/{webhook}")),
    ] {
        let body = if method == "DELETE" { Value::Null } else { json!({}) };
        let old = practice.send_in_version("1.0.0", method, &path, &body).await;
        assert!(old.status == 404 || old.status == 405, "{method} {path}: {old:?}");
        let new = practice.send_in_version("1.75.0", method, &path, &body).await;
        assert!((200..300).contains(&new.status), "{method} {path}: {new:?}");
    }
}

#[tokio::test]
async fn the_label_1_75_0_stands_for_what_1_1_0_knows_and_other_labels_are_refused() {
    let practice = Practice::with_documents(3).await;
    for list in ["/audios", "/documents", "/notes", "/contacts", "/patients", "/organizations"] {
        let (one_one, later) =
            (practice.in_version("1.1.0", list).await.fine(), practice.in_version("1.75.0", list).await.fine());
        assert_eq!(one_one, later);
        assert_eq!(one_one, practice.json(list).await);
    }
    for label in ["2.0.0", "1", "", "latest"] {
        practice.in_version(label, "/documents").await.assert_problem(400);
    }
}

#[tokio::test]
async fn a_sandbox_can_be_of_version_1_0_0_as_a_whole_and_a_header_still_chooses() {
    let options = Options { documents: 3, api_version: Version::V1_0, ..Options::default() };
    let practice = Practice::start(options).await;
    practice.ask("GET", "/notes").await.assert_problem(404);
    practice.in_version("1.1.0", "/notes").await.fine();
    let audio = practice.all("/audios").await.remove(0);
    let audio = practice.json(&format!("/audios/{}", text(&audio, "uuid"))).await;
    assert_record("1.0.0", &audio, &audio_1_0());
}

#[tokio::test]
async fn a_description_has_the_label_that_was_asked_for_and_else_that_of_the_whole() {
    let practice = Practice::with_documents(0).await;
    let label = async |path: &str, header: Option<&str>| match header {
        Some(version) => text(&practice.in_version(version, path).await.fine()["info"], "version"),
        None => text(&practice.json(path).await["info"], "version"),
    };
    for version in ["1.0.0", "1.1.0", "1.75.0"] {
        assert_eq!(label(&format!("/openapi.json?version={version}"), None).await, version);
        assert_eq!(label("/openapi.json", Some(version)).await, version);
    }
    assert_eq!(label("/openapi.json", None).await, "1.75.0");
    assert_eq!(label("/openapi.json?version=1.1.0", Some("1.0.0")).await, "1.1.0", "the address comes first");
}
