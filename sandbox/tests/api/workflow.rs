//! The way of recordings: on command, by the clock, and to its end.

use docsyncd_sandbox::{ApiKey, NewAudio, Options, Sandbox};
use serde_json::{Value, json};

use crate::harness::{Practice, status_and_body, text};
use crate::receiver::{PATIENCE, Receiver};

const SECONDS: fn(u64) -> std::time::Duration = std::time::Duration::from_secs;
const WAY: [&str; 5] = ["audio_recording", "transcription", "transcribed", "edition", "validated"];

async fn audio(practice: &Practice, uuid: &str, version: &str) -> Value {
    let response = practice.get(&format!("/audios/{uuid}")).header("Api-Version", version).send().await.unwrap();
    let (status, body) = status_and_body(response).await;
    assert_eq!(status, 200, "{body}");
    body
}

async fn record(sandbox: &Sandbox) -> String {
    sandbox.record_audio(NewAudio::default()).await.unwrap()
}

/// A document made from an audio shows its people, and its file can be read.
async fn check_document(practice: &Practice, uuid: &str, audio: &Value) {
    let document = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(document["audio"]["uuid"], audio["uuid"]);
    assert_eq!(document["audio"]["audioWorkflowStepV3"], "validated");
    assert_eq!(document["patient"], audio["patient"]);
    assert_eq!(document["user"], audio["user"]);
    assert_eq!(document["createdAt"], audio["updatedAt"]);
    let file = practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
    assert_eq!(file.status(), 200);
    let pdf = lopdf::Document::load_mem(&file.bytes().await.unwrap()).unwrap();
    let pages: Vec<u32> = pdf.get_pages().keys().copied().collect();
    let letter = pdf.extract_text(&pages).unwrap();
    let family = text(&document["patient"], "lastName");
    assert!(letter.contains(&family), "{family} in {letter}");
}

#[tokio::test]
async fn each_step_is_visible_in_both_versions_and_the_last_one_leads_to_documents() {
    let practice = Practice::start(Options::default()).await;
    let uuid = record(&practice.sandbox).await;
    let old = ["audio_recording", "transcription", "transcription", "edition", "edition"];
    for (index, (step, old)) in WAY.iter().zip(old).enumerate() {
        if index > 0 {
            assert_eq!(practice.sandbox.advance_audio(&uuid).await.unwrap(), *step);
        }
        let (new, old_version) = (audio(&practice, &uuid, "1.1.0").await, audio(&practice, &uuid, "1.0.0").await);
        assert_eq!((&new["audioWorkflowStepV3"], &old_version["audioWorkflowStepV3"]), (&json!(step), &json!(old)));
        assert_eq!((new.get("summary"), old_version.get("meeting")), (None, None));
        let listed = practice.json("/audios").await;
        assert_eq!(listed[0]["audioWorkflowStepV3"], *step);
        assert_eq!(new["documents"].as_array().unwrap().is_empty(), *step != "validated");
    }
    let ended = practice.sandbox.advance_audio(&uuid).await.unwrap_err();
    assert!(ended.to_string().contains("validated"), "{ended}");

    let whole = audio(&practice, &uuid, "1.1.0").await;
    let waiting = practice.uuids("synchronized=false").await;
    assert!((1..=2).contains(&waiting.len()));
    for document in &waiting {
        check_document(&practice, document, &whole).await;
    }
    let notes = practice.json("/notes").await;
    assert_eq!((notes.as_array().unwrap().len(), &notes[0]["audio"]), (1, &json!(uuid)));
    assert_eq!(notes[0]["content"], audio(&practice, &uuid, "1.0.0").await["summary"]);
    practice.report_success(&waiting[0]).await;
    assert_eq!(practice.uuids("synchronized=false").await.len(), waiting.len() - 1);
}

#[tokio::test]
async fn the_images_are_there_from_the_beginning() {
    let practice = Practice::start(Options::default()).await;
    let mut seen = 0;
    for _ in 0..5 {
        let uuid = record(&practice.sandbox).await;
        let images = audio(&practice, &uuid, "1.1.0").await["images"].clone();
        seen += images.as_array().unwrap().len();
        practice.sandbox.advance_audio(&uuid).await.unwrap();
        assert_eq!(audio(&practice, &uuid, "1.1.0").await["images"], images);
    }
    assert!(seen > 0, "some recordings have images");
}

#[tokio::test]
async fn an_audio_can_fail_before_it_is_validated_and_then_goes_nowhere() {
    let practice = Practice::start(Options::default()).await;
    for steps in 0..4 {
        let uuid = record(&practice.sandbox).await;
        for _ in 0..steps {
            practice.sandbox.advance_audio(&uuid).await.unwrap();
        }
        practice.sandbox.fail_audio(&uuid).await.unwrap();
        for version in ["1.0.0", "1.1.0"] {
            assert_eq!(audio(&practice, &uuid, version).await["audioWorkflowStepV3"], "failed");
        }
        assert!(practice.sandbox.advance_audio(&uuid).await.is_err());
        assert!(practice.sandbox.fail_audio(&uuid).await.is_err());
    }
    let validated = NewAudio { step: Some("validated".into()), ..NewAudio::default() };
    let uuid = practice.sandbox.record_audio(validated).await.unwrap();
    assert!(practice.sandbox.fail_audio(&uuid).await.is_err());
    assert!(!practice.uuids("synchronized=false").await.is_empty(), "validated from the start, with its documents");
    assert!(practice.sandbox.advance_audio("nobody").await.unwrap_err().to_string().contains("nobody"));
}

#[tokio::test]
async fn the_clock_moves_audios_one_step_at_a_time() {
    let practice = Practice::start(Options { workflow_step: Some(SECONDS(600)), ..Options::default() }).await;
    let uuid = record(&practice.sandbox).await;
    assert_eq!(practice.sandbox.audio_step(&uuid).await.unwrap(), "audio_recording");
    for step in &WAY[1..] {
        practice.sandbox.advance_clock(SECONDS(600));
        practice.sandbox.wait_for_step(&uuid, step, PATIENCE).await.unwrap();
        assert_eq!(audio(&practice, &uuid, "1.1.0").await["audioWorkflowStepV3"], *step);
    }
    let whole = audio(&practice, &uuid, "1.1.0").await;
    for document in practice.uuids("synchronized=false").await {
        check_document(&practice, &document, &whole).await;
    }
}

#[tokio::test]
async fn a_clock_moved_far_leads_every_audio_as_far_as_its_time_allows() {
    let practice = Practice::start(Options { workflow_step: Some(SECONDS(600)), ..Options::default() }).await;
    let mut receiver = Receiver::start().await;
    let wish = json!({"url": receiver.url, "events": ["audio.updated", "document.created"]});
    let address = format!("{}/webhooks", practice.sandbox.url());
    let hooked = practice.client.post(address).bearer_auth(practice.sandbox.api_key()).json(&wish);
    assert_eq!(hooked.send().await.unwrap().status(), 201);

    let first = record(&practice.sandbox).await;
    let failed = record(&practice.sandbox).await;
    practice.sandbox.fail_audio(&failed).await.unwrap();
    assert_eq!(receiver.next().await.body["data"]["audioWorkflowStepV3"], "failed");
    practice.sandbox.advance_clock(SECONDS(1250));
    practice.sandbox.wait_for_step(&first, "transcribed", PATIENCE).await.unwrap();
    let second = record(&practice.sandbox).await;
    practice.sandbox.advance_clock(SECONDS(1250));
    practice.sandbox.wait_for_step(&first, "validated", PATIENCE).await.unwrap();
    practice.sandbox.wait_for_step(&second, "transcribed", PATIENCE).await.unwrap();
    assert_eq!(practice.sandbox.audio_step(&failed).await.unwrap(), "failed");

    let count = practice.uuids("").await.len();
    let mut steps = Vec::new();
    let mut created = 0;
    for _ in 0..6 + count {
        let received = receiver.next().await;
        match received.event() {
            "audio.updated" if received.body["data"]["uuid"] == first.as_str() => {
                steps.push(text(&received.body["data"], "audioWorkflowStepV3"));
            }
            "audio.updated" => assert_eq!(received.body["data"]["uuid"], second.as_str()),
            _ => {
                assert_eq!(received.body["data"]["audio"], first.as_str());
                created += 1;
            }
        }
    }
    assert_eq!(
        (steps.as_slice(), created),
        (&WAY[1..].iter().map(|step| (*step).to_owned()).collect::<Vec<_>>()[..], count)
    );
}

#[tokio::test]
async fn unfinished_audios_go_on_after_a_restart_and_no_uuid_comes_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = Some(folder.path().join("store.sqlite"));
    let practice = Practice::start(Options { store: store.clone(), documents: 3, ..Options::default() }).await;
    let first = record(&practice.sandbox).await;
    practice.sandbox.advance_audio(&first).await.unwrap();
    practice.sandbox.shutdown().await;

    let timed = Options { store: store.clone(), workflow_step: Some(SECONDS(600)), ..Options::default() };
    let practice = Practice::start(timed.clone()).await;
    let second = record(&practice.sandbox).await;
    practice.sandbox.advance_clock(SECONDS(86_400));
    for uuid in [&first, &second] {
        practice.sandbox.wait_for_step(uuid, "validated", PATIENCE).await.unwrap();
    }
    practice.sandbox.shutdown().await;

    let practice = Practice::start(timed).await;
    for _ in 0..3 {
        let uuid = record(&practice.sandbox).await;
        practice.sandbox.advance_clock(SECONDS(86_400));
        practice.sandbox.wait_for_step(&uuid, "validated", PATIENCE).await.unwrap();
    }
    practice.sandbox.add_documents(5).await.unwrap();
    let mut files: Vec<Option<String>> =
        practice.sandbox.documents().await.unwrap().into_iter().map(|document| document.pdf).collect();
    let all = files.len();
    files.sort();
    files.dedup();
    assert_eq!(files.len(), all);
}

#[tokio::test]
async fn what_is_dictated_of_a_recording_is_shown() {
    let keys = vec![ApiKey::new("mine"), ApiKey::of_user("theirs", "paul.autre@elsewhere.example")];
    let practice = Practice::start(Options { api_keys: keys, documents: 1, ..Options::default() }).await;
    let patient = practice.json("/patients").await[0].clone();
    let uuid = "11111111-2222-4333-8444-555555555555";
    let dictated = NewAudio {
        uuid: Some(uuid.into()),
        patient: Some(patient["uuid"].clone()),
        meeting: Some("99999999-2222-4333-8444-555555555555".into()),
        language_spoken: Some("en".into()),
        summary: Some("Dictated".into()),
        step: Some("edition".into()),
        ..NewAudio::default()
    };
    practice.sandbox.record_audio(dictated).await.unwrap();
    let shown = audio(&practice, uuid, "1.1.0").await;
    assert_eq!((&shown["patient"]["uuid"], &shown["languageSpoken"]), (&patient["uuid"], &json!("en")));
    assert_eq!(shown["meeting"], "99999999-2222-4333-8444-555555555555");
    assert_eq!(audio(&practice, uuid, "1.0.0").await["summary"], "Dictated");
    assert_eq!(practice.sandbox.advance_audio(uuid).await.unwrap(), "validated");

    let nobody = NewAudio { patient: Some(Value::Null), owner: Some("theirs".into()), ..NewAudio::default() };
    let theirs = practice.sandbox.record_audio(nobody).await.unwrap();
    assert_eq!(practice.refused(&format!("/audios/{theirs}")).await.0, 403);
    for wrong in [
        NewAudio { step: Some("lost".into()), ..NewAudio::default() },
        NewAudio { owner: Some("nobody".into()), ..NewAudio::default() },
        NewAudio { patient: Some("nobody".into()), ..NewAudio::default() },
        NewAudio { uuid: Some(uuid.into()), ..NewAudio::default() },
    ] {
        assert!(practice.sandbox.record_audio(wrong).await.is_err());
    }
}

#[tokio::test]
async fn a_patient_whom_a_client_changed_is_recorded_again_without_losing_the_change() {
    let practice = Practice::with_documents(1).await;
    let patient = format!("/patients/{}", text(&practice.json("/patients").await[0], "uuid"));
    let change = practice
        .client
        .patch(format!("{}{patient}", practice.sandbox.url()))
        .bearer_auth(practice.sandbox.api_key())
        .header("content-type", "application/merge-patch+json")
        .body(json!({"lastName": "Remariée"}).to_string());
    assert_eq!(change.send().await.unwrap().status(), 200);
    let recording = record(&practice.sandbox).await;
    assert_eq!(audio(&practice, &recording, "1.1.0").await["patient"]["lastName"], "Remariée");
    practice.sandbox.add_documents(2).await.unwrap();
    assert_eq!(practice.json(&patient).await["lastName"], "Remariée");
}

#[tokio::test]
async fn archived_audios_can_be_filtered_and_deleted_ones_are_gone_without_their_documents() {
    let practice = Practice::start(Options::default()).await;
    let archived = practice
        .sandbox
        .record_audio(NewAudio { step: Some("validated".into()), ..NewAudio::default() })
        .await
        .unwrap();
    let other = record(&practice.sandbox).await;
    practice.sandbox.archive_audio(&archived, true).await.unwrap();
    let uuids = async |query: &str| -> Vec<String> {
        let list = practice.json(&format!("/audios?{query}")).await;
        list.as_array().unwrap().iter().map(|audio| text(audio, "uuid")).collect()
    };
    assert_eq!(uuids("exists[archivedAt]=true").await, [archived.as_str()]);
    assert_eq!(uuids("exists[archivedAt]=false").await, [other.as_str()]);
    assert!(audio(&practice, &archived, "1.1.0").await["archivedAt"].is_string());
    practice.sandbox.archive_audio(&archived, false).await.unwrap();
    assert_eq!(uuids("exists[archivedAt]=true").await, Vec::<String>::new());

    let documents = practice.uuids("").await;
    practice.sandbox.remove_audio(&archived).await.unwrap();
    assert_eq!(uuids("").await, [other]);
    assert_eq!(practice.refused(&format!("/audios/{archived}")).await.0, 404);
    assert_eq!(practice.uuids("").await, documents);
    assert_eq!(practice.json(&format!("/documents/{}", documents[0])).await["audio"], Value::Null);
}

#[tokio::test]
async fn the_admin_surface_records_moves_archives_and_deletes() {
    let options = Options { admin_listen: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() };
    let practice = Practice::start(options).await;
    let admin = practice.sandbox.admin_url().unwrap();
    let post = async |path: &str, body: Value| {
        let address = format!("{admin}/admin/audios{path}");
        status_and_body(practice.client.post(address).json(&body).send().await.unwrap()).await
    };
    let (status, made) = post("", json!({"count": 2})).await;
    assert_eq!((status, made["uuids"].as_array().unwrap().len()), (201, 2));
    let uuid = text(&json!({"uuid": made["uuids"][0]}), "uuid");
    let moved = json!({"uuid": uuid, "audioWorkflowStepV3": "transcription"});
    assert_eq!(post(&format!("/{uuid}/advance"), json!({})).await, (200, moved));
    let failed = json!({"uuid": uuid, "audioWorkflowStepV3": "failed"});
    assert_eq!(post(&format!("/{uuid}/fail"), json!({})).await, (200, failed));
    assert_eq!(post(&format!("/{uuid}/advance"), json!({})).await.0, 409);
    let archived = json!({"uuid": uuid, "archived": true});
    assert_eq!(post(&format!("/{uuid}/archived"), json!({"archived": true})).await, (200, archived));
    assert_eq!(practice.json("/audios?exists[archivedAt]=true").await[0]["uuid"], uuid);

    let (status, made) = post("", json!({"summary": "Said", "patient": null, "audioWorkflowStepV3": "edition"})).await;
    assert_eq!(status, 201);
    let dictated = audio(&practice, made["uuids"][0].as_str().unwrap(), "1.0.0").await;
    assert_eq!((&dictated["summary"], &dictated["patient"]), (&json!("Said"), &Value::Null));
    assert_eq!(post("", json!({"audioWorkflowStepV3": "lost"})).await.0, 422);
    assert!(post("", json!({"count": 1, "summary": "Said"})).await.0 >= 400);

    let gone = practice.client.delete(format!("{admin}/admin/audios/{uuid}")).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(practice.refused(&format!("/audios/{uuid}")).await.0, 404);
    assert_eq!(post(&format!("/{uuid}/advance"), json!({})).await.0, 404);
}
