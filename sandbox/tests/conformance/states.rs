//! "States and transitions".

use serde_json::json;

use crate::harness::text;
use crate::records::{STEPS_1_0, STEPS_1_1};
use crate::samples;

async fn assert_steps(version: &str, steps: &[&str]) {
    let practice = samples::documents().await;
    let list = practice.in_version(version, "/audios?itemsPerPage=100").await.fine();
    for item in list.as_array().unwrap() {
        assert!(steps.contains(&&*text(item, "audioWorkflowStepV3")), "{item}");
        let audio = practice.in_version(version, &format!("/audios/{}", text(item, "uuid"))).await.fine();
        assert_eq!(audio["audioWorkflowStepV3"], item["audioWorkflowStepV3"]);
    }
    for item in practice.in_version(version, "/documents?itemsPerPage=100").await.fine().as_array().unwrap() {
        let document = practice.in_version(version, &format!("/documents/{}", text(item, "uuid"))).await.fine();
        for audio in [&item["audio"], &document["audio"]] {
            assert!(audio.is_null() || steps.contains(&&*text(audio, "audioWorkflowStepV3")), "{audio}");
        }
    }
}

#[tokio::test]
async fn audio_workflow_steps_of_version_1_0_0_are_audio_recording_transcription_edition_and_failed() {
    assert_steps("1.0.0", STEPS_1_0).await;
}

#[tokio::test]
async fn audio_workflow_steps_of_version_1_1_0_also_are_transcribed_and_validated() {
    assert_steps("1.1.0", STEPS_1_1).await;
}

#[tokio::test]
async fn audio_workflow_step_is_read_only() {
    let practice = samples::practice(2).await;
    let audio = format!("/audios/{}", text(&practice.all("/audios").await[0], "uuid"));
    let before = practice.json(&audio).await;
    let step = json!({"audioWorkflowStepV3": "failed", "archivedAt": "2026-01-01T00:00:00+00:00"});
    for (method, path) in [("PATCH", &*audio), ("PUT", &audio), ("POST", "/audios"), ("DELETE", &audio)] {
        practice.send_in_version("1.1.0", method, path, &step).await.assert_problem(405);
    }
    assert_eq!(practice.json(&audio).await, before);
}

#[tokio::test]
async fn an_audio_is_archived_when_archived_at_is_not_null() {
    let practice = samples::documents().await;
    let archived = practice.list("/audios", &[("exists[archivedAt]", "true")]).await;
    assert!(!archived.is_empty());
    for item in &archived {
        let audio = practice.json(&format!("/audios/{}", text(item, "uuid"))).await;
        assert!(item["archivedAt"].is_string() && audio["archivedAt"] == item["archivedAt"]);
    }
    for item in practice.list("/documents", &[("itemsPerPage", "100")]).await {
        let archived_at = &item["audio"]["archivedAt"];
        let expected = archived.iter().find(|audio| audio["uuid"] == item["audio"]["uuid"]);
        assert_eq!(archived_at.is_string(), expected.is_some(), "{item}");
    }
}
