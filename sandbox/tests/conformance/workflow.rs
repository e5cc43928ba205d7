//! "States and transitions", with recordings that are at every step. (The transitions are "not shown".)

use docsyncd_sandbox::NewAudio;
use serde_json::json;

use crate::client::uuids;
use crate::harness::{Practice, text};
use crate::records::{AUDIO, STEPS_1_0, STEPS_1_1, audio_1_0};
use crate::shape::assert_record;

async fn recorded(practice: &Practice, step: &str) -> String {
    let audio = NewAudio { step: Some(step.to_owned()), ..NewAudio::default() };
    practice.sandbox.record_audio(audio).await.unwrap()
}

#[tokio::test]
async fn audio_workflow_step_can_be_each_of_the_six_values_in_1_1_0_and_one_of_four_in_1_0_0() {
    let practice = Practice::with_documents(0).await;
    for step in STEPS_1_1 {
        let path = format!("/audios/{}", recorded(&practice, step).await);
        let new = practice.in_version("1.1.0", &path).await.fine();
        assert_record(step, &new, AUDIO);
        assert_eq!(new["audioWorkflowStepV3"], *step);
        let old = practice.in_version("1.0.0", &path).await.fine();
        assert_record(step, &old, &audio_1_0());
        if STEPS_1_0.contains(step) {
            assert_eq!(old["audioWorkflowStepV3"], *step);
        }
        let items = practice.all("/audios").await;
        let item = items.iter().find(|item| item["uuid"] == new["uuid"]).unwrap();
        assert_eq!(item["audioWorkflowStepV3"], *step);
    }
}

#[tokio::test]
async fn an_audio_is_archived_as_long_as_archived_at_is_not_null() {
    let practice = Practice::with_documents(0).await;
    let (one, other) = (recorded(&practice, "edition").await, recorded(&practice, "edition").await);
    practice.sandbox.archive_audio(&one, true).await.unwrap();
    for (value, expected) in [("true", &one), ("false", &other)] {
        let found = practice.list("/audios", &[("exists[archivedAt]", value)]).await;
        assert_eq!(uuids(&found), std::slice::from_ref(expected));
        assert_eq!(found[0]["archivedAt"].is_string(), value == "true");
    }
    practice.sandbox.archive_audio(&one, false).await.unwrap();
    assert!(practice.list("/audios", &[("exists[archivedAt]", "true")]).await.is_empty());
}

#[tokio::test]
async fn an_audio_that_is_recorded_moved_on_or_archived_now_is_found_by_the_very_dates_that_it_shows() {
    let practice = Practice::with_documents(0).await;
    let uuid = recorded(&practice, "audio_recording").await;
    practice.sandbox.advance_audio(&uuid).await.unwrap();
    practice.sandbox.archive_audio(&uuid, true).await.unwrap();
    let audio = practice.json(&format!("/audios/{uuid}")).await;
    for name in ["createdAt", "updatedAt", "archivedAt"] {
        let shown = text(&audio, name);
        for (comparison, expected) in [("gte", 1), ("lte", 1), ("gt", 0), ("lt", 0)] {
            let found = practice.list("/audios", &[(&format!("{name}[{comparison}]"), &shown)]).await;
            assert_eq!(found.len(), expected, "{name}[{comparison}]={shown}");
        }
    }
}

#[tokio::test]
async fn no_recording_is_archived_before_somebody_archives_it() {
    let practice = Practice::with_documents(0).await;
    for _ in 0..10 {
        recorded(&practice, "validated").await;
    }
    assert!(practice.list("/audios", &[("exists[archivedAt]", "true")]).await.is_empty());
    for document in practice.all("/documents").await {
        let shown = text(&document, "createdAt");
        let found = practice.list("/documents", &[("createdAt[lte]", &shown)]).await;
        assert!(found.contains(&document), "createdAt[lte]={shown}");
    }
}

#[tokio::test]
async fn audio_workflow_step_is_read_only() {
    let practice = Practice::with_documents(2).await;
    let audio = format!("/audios/{}", text(&practice.all("/audios").await[0], "uuid"));
    let before = practice.json(&audio).await;
    let step = json!({"audioWorkflowStepV3": "failed", "archivedAt": "2026-01-01T00:00:00+00:00"});
    for (method, path) in [("PATCH", &*audio), ("PUT", &audio), ("POST", "/audios"), ("DELETE", &audio)] {
        practice.send_in_version("1.1.0", method, path, &step).await.assert_problem(405);
    }
    assert_eq!(practice.json(&audio).await, before);
}
