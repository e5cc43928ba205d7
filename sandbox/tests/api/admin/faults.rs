//! `/admin/faults`: in force, used up, limited, ended.

use docsyncd_sandbox::{ApiKey, Options};
use reqwest::Method;
use serde_json::{Value, json};

use super::Run;

#[tokio::test]
async fn a_fault_is_shown_as_it_was_given_until_it_is_used_up() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    let given = json!({
        "route": "document", "document": uuid, "times": 2, "kind": "status", "code": 429, "retry_after": "7",
    });
    let id = run.fault(given.clone()).await;
    let place = format!("/admin/faults/{id}");
    let shown = run.get(&place).await;
    for (name, value) in given.as_object().unwrap() {
        assert_eq!(shown[name], *value, "{name}");
    }
    assert_eq!((&shown["hits"], &shown["probability"]), (&json!(0), &json!(1.0)));

    let hit = run.practice.get(&format!("/documents/{uuid}")).send().await.unwrap();
    assert_eq!((hit.status().as_u16(), &hit.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    let shown = run.get("/admin/faults").await;
    assert_eq!((&shown[0]["hits"], &shown[0]["times"], shown.as_array().unwrap().len()), (&json!(1), &json!(1), 1));

    assert_eq!(run.status_of(&format!("/documents/{uuid}")).await, 429);
    assert_eq!(run.status_of(&format!("/documents/{uuid}")).await, 200);
    assert_eq!(run.get("/admin/faults").await, json!([]));
    assert!(run.refused(Method::GET, &place, None, 404).await.contains("used up"));
}

#[tokio::test]
async fn faults_end_one_by_one_or_all_at_once() {
    let run = Run::with_documents(0).await;
    let teapot = run.fault(json!({"route": "any", "kind": "status", "code": 418})).await;
    run.fault(json!({"route": "any", "kind": "status", "code": 500})).await;
    run.fault(json!({"route": "any", "kind": "status", "code": 502})).await;
    assert_eq!(run.status_of("/me").await, 418);
    assert_eq!(run.delete(&format!("/admin/faults/{teapot}")).await, 204);
    assert_eq!(run.status_of("/me").await, 500);
    assert_eq!(run.delete(&format!("/admin/faults/{teapot}")).await, 404);
    assert_eq!(run.delete("/admin/faults/x").await, 404);
    assert_eq!(run.delete("/admin/faults").await, 204);
    assert_eq!(run.status_of("/me").await, 200);
}

#[tokio::test]
async fn a_fault_for_one_document_spares_the_others_and_the_lists() {
    let run = Run::with_documents(2).await;
    let uuids = run.uuids().await;
    let good = run.pdf_address(&uuids[1]).await;
    let bad = run.pdf_address(&uuids[0]).await;
    run.fault(json!({"route": "any", "document": uuids[0], "kind": "status", "code": 500})).await;
    assert_eq!(run.status_of(&bad).await, 500);
    assert_eq!(run.status_of(&format!("/documents/{}", uuids[0])).await, 500);
    assert_eq!(run.practice.report(&uuids[0], json!({"success": true})).await.status(), 500);
    assert_eq!(run.status_of(&good).await, 200);
    assert_eq!(run.status_of("/documents").await, 200);
    run.practice.report_success(&uuids[1]).await;
}

#[tokio::test]
async fn every_named_route_and_endpoint_is_told_apart() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    let pdf = run.pdf_address(&uuid).await;
    let patient = run.document(&uuid).await["patient"]["uuid"].as_str().unwrap().to_owned();
    let document = format!("/documents/{uuid}");
    let patient = format!("/patients/{patient}");
    for (route, path, other) in [
        ("list", "/documents", document.as_str()),
        ("document", &document, "/documents"),
        ("pdf", &pdf, &document),
        ("patient", &patient, "/me"),
        ("GET /documents", "/documents", &document),
        ("GET /documents/{uuid}", &document, "/documents"),
        ("GET /patients/{uuid}", &patient, "/me"),
        ("GET /me", "/me", "/documents"),
        ("GET /contacts/{uuid}", "/contacts/1", "/me"),
        ("any", "/me", "http://"),
    ] {
        let id = run.fault(json!({"route": route, "kind": "status", "code": 418})).await;
        assert_eq!(run.status_of(path).await, 418, "{route}");
        if other.starts_with('/') {
            assert_eq!(run.status_of(other).await, 200, "{route} must spare {other}");
        }
        assert_eq!(run.delete(&format!("/admin/faults/{id}")).await, 204);
    }
    for route in ["status", "POST /documents/{uuid}/status"] {
        run.fault(json!({"route": route, "kind": "status", "code": 418, "times": 1})).await;
        assert_eq!(run.status_of(&document).await, 200);
        assert_eq!(run.practice.report(&uuid, json!({"success": true})).await.status(), 418, "{route}");
    }
    // The token and authorization routes are told apart by their addresses alone.
    for (route, path) in [("token", "/oauth2/token"), ("authorize", "/authorize"), ("authorize", "/oauth/authorize")] {
        run.fault(json!({"route": route, "kind": "status", "code": 418, "times": 1})).await;
        assert_eq!(run.status_of("/me").await, 200);
        assert_eq!(run.status_of(path).await, 418, "{path}");
    }
}

#[tokio::test]
async fn a_fault_for_one_bearer_spares_the_others() {
    let keys = ["one", "two"].map(ApiKey::new);
    let run = Run::start(Options { api_keys: keys.to_vec(), ..Options::default() }).await;
    run.fault(json!({"route": "list", "bearer": "two", "kind": "status", "code": 418})).await;
    let url = format!("{}/documents", run.practice.sandbox.url());
    for (key, status) in [("one", 200), ("two", 418), ("one", 200)] {
        let answer = run.practice.client.get(&url).bearer_auth(key).send().await.unwrap();
        assert_eq!(answer.status(), status, "{key}");
    }
    assert_eq!(run.practice.client.get(&url).send().await.unwrap().status(), 401, "one without a key meets no fault");
}

#[tokio::test]
async fn chance_hits_its_share_of_the_requests_the_same_with_every_run() {
    let mut runs: Vec<Vec<u16>> = Vec::new();
    for seed in [1, 1, 2] {
        let run = Run::start(Options { seed, ..Options::default() }).await;
        let id = run.fault(json!({"route": "GET /me", "probability": 0.5, "kind": "status", "code": 503})).await;
        let mut statuses = Vec::new();
        for _ in 0..400 {
            statuses.push(run.status_of("/me").await);
        }
        let hits = statuses.iter().filter(|status| **status == 503).count();
        assert!((150..=250).contains(&hits), "{hits}");
        assert_eq!(run.get(&format!("/admin/faults/{id}")).await["hits"], hits);
        runs.push(statuses);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[tokio::test]
async fn a_request_that_chance_spares_meets_the_next_fault_and_does_not_count() {
    let run = Run::with_documents(0).await;
    run.fault(json!({"route": "any", "probability": 0.0, "times": 1, "kind": "status", "code": 500})).await;
    run.fault(json!({"route": "any", "times": 1, "kind": "status", "code": 418})).await;
    assert_eq!(run.status_of("/me").await, 418);
    assert_eq!(run.status_of("/me").await, 200);
    let left: Value = run.get("/admin/faults").await;
    assert_eq!((left.as_array().unwrap().len(), &left[0]["times"]), (1, &json!(1)));
}

#[tokio::test]
async fn what_is_wrong_with_a_fault_is_said() {
    let run = Run::with_documents(0).await;
    for (fault, said) in [
        (json!({"kind": "reset"}), "route"),
        (json!({"route": "pdf"}), "kind"),
        (json!({"route": "teeth", "kind": "reset"}), "\"teeth\" is no route"),
        (json!({"route": "pdf", "kind": "explode"}), "explode"),
        (json!({"route": "pdf", "kind": "reset", "after_bytes": 1}), "after_bytes"),
        (json!({"route": "pdf", "kind": "status", "code": "many"}), "code"),
        (json!({"route": "pdf", "kind": "delay", "by": 3}), "by"),
        (json!({"route": "pdf", "kind": "reset", "probability": 2}), "probability"),
        (json!([1]), "map"),
    ] {
        let error = run.refused(Method::POST, "/admin/faults", Some(fault.clone()), 422).await;
        assert!(error.contains(said), "{fault}: {error}");
    }
    assert_eq!(run.get("/admin/faults").await, json!([]));
}
