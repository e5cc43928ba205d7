//! `/admin/clock`: the sandbox's own time.

use reqwest::Method;
use serde_json::{Value, json};

use super::Run;
use crate::harness::text;

async fn moved(run: &Run, body: Value) -> (String, i64) {
    let (status, state) = run.post("/admin/clock", body).await;
    assert_eq!(status, 200, "{state}");
    (text(&state, "now"), state["ahead_seconds"].as_i64().unwrap())
}

#[tokio::test]
async fn the_clock_advances_goes_back_is_set_and_reset() {
    let run = Run::with_documents(1).await;
    assert_eq!(run.get("/admin/clock").await["ahead_seconds"], 0);
    assert_eq!(moved(&run, json!({"advance": "1h"})).await.1, 3600);
    assert_eq!(moved(&run, json!({"advance": "30m"})).await.1, 5400);
    assert_eq!(moved(&run, json!({"advance": "-2h"})).await.1, -1800);
    assert_eq!(moved(&run, json!({"advance": "2 days"})).await.1, 2 * 86_400 - 1800);
    let (now, _) = moved(&run, json!({"set": "2046-12-24T18:00:00Z"})).await;
    assert!(now.starts_with("2046-12-24T18:00:0"), "{now}");

    // What the API dates follows.
    let uuid = run.uuids().await.remove(0);
    run.practice.report_success(&uuid).await;
    let posted = run.document(&uuid).await;
    assert!(text(&posted["documentIntegrations"][0], "updatedAt").starts_with("2046-12-24T18:"), "{posted}");

    assert_eq!(moved(&run, json!({"reset": true})).await.1, 0);
}

#[tokio::test]
async fn what_cannot_be_a_time_is_refused() {
    let run = Run::with_documents(0).await;
    for (body, said) in [
        (json!({}), "advance"),
        (json!({"reset": false}), "reset"),
        (json!({"advance": "1h", "reset": true}), "one of"),
        (json!({"advance": "soon"}), "soon"),
        (json!({"advance": 60}), "advance"),
        (json!({"advance": "1 month"}), "month"),
        (json!({"set": "tomorrow"}), "tomorrow"),
        (json!({"set": "1066-10-14T09:00:00Z"}), "1970"),
        (json!({"advance": "-99999 days"}), "1970"),
        (json!({"forward": "1h"}), "forward"),
    ] {
        let error = run.refused(Method::POST, "/admin/clock", Some(body.clone()), 422).await;
        assert!(error.contains(said), "{body}: {error}");
    }
    assert_eq!(run.get("/admin/clock").await["ahead_seconds"], 0);
}
