//! `/admin/requests` and `/admin/status-posts`.

use serde_json::json;

use super::Run;

#[tokio::test]
async fn requests_tell_whether_a_fault_hit_them_and_are_forgotten_on_demand() {
    let run = Run::with_documents(1).await;
    run.fault(json!({"route": "any", "times": 1, "kind": "status", "code": 500})).await;
    run.fault(json!({"route": "list", "times": 1, "kind": "pdf_not_rendered"})).await;
    for path in ["/me?a=b", "/documents", "/me"] {
        run.status_of(path).await;
    }
    let requests = run.get("/admin/requests").await;
    let hit: Vec<bool> =
        requests.as_array().unwrap().iter().map(|request| request["fault"].as_bool().unwrap()).collect();
    assert_eq!(hit, [true, true, false]);
    assert_eq!(
        requests[0],
        json!({
            "method": "GET", "path": "/me", "query": "a=b", "authorization": true, "listener": "api", "status": 500,
            "fault": true,
        })
    );
    assert_eq!(run.delete("/admin/requests").await, 204);
    assert_eq!(run.get("/admin/requests").await, json!([]));
}

#[tokio::test]
async fn status_posts_are_listed_in_order() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.practice.report(&uuid, json!({"success": false, "error": "no room"})).await;
    run.practice.report_success(&uuid).await;
    let posts = run.get("/admin/status-posts").await;
    assert_eq!((&posts[0]["success"], &posts[0]["error"]), (&json!(false), &json!("no room")));
    assert_eq!((&posts[1]["success"], &posts[1]["document"]), (&json!(true), &json!(uuid)));
}
