//! Habits of the server that faults change for the requests they hit.

use docsyncd_sandbox::{Fault, FaultKind, Habit, Route};
use reqwest::Method;
use serde_json::{Value, json};

use super::Run;
use crate::harness::text;

#[tokio::test]
async fn a_pdf_is_not_rendered_for_as_many_reads_as_asked() {
    let run = Run::with_documents(2).await;
    let uuids = run.uuids().await;
    run.fault(json!({"route": "document", "document": uuids[0], "times": 2, "kind": "pdf_not_rendered"})).await;
    assert!(run.document(&uuids[1]).await["pdf"].is_object());
    for _ in 0..2 {
        assert!(run.document(&uuids[0]).await["pdf"].is_null());
    }
    assert!(run.document(&uuids[0]).await["pdf"].is_object());
    run.fault(json!({"route": "list", "times": 1, "kind": "pdf_not_rendered"})).await;
    let list = run.practice.json("/documents").await;
    assert!(list.as_array().unwrap().iter().all(|item| item["pdf"].is_null()));
}

#[tokio::test]
async fn a_pdf_can_be_on_another_origin() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.fault(json!({"route": "document", "times": 1, "kind": "pdf_elsewhere"})).await;
    let elsewhere = run.pdf_address(&uuid).await;
    assert!(elsewhere.starts_with(&run.practice.sandbox.files_url()), "{elsewhere}");
    let file = run.practice.client.get(&elsewhere).send().await.unwrap();
    assert_eq!(file.bytes().await.unwrap(), run.practice.sandbox.pdf_bytes(&uuid).await.unwrap());
    assert!(run.pdf_address(&uuid).await.starts_with(&run.practice.sandbox.url()));
}

#[tokio::test]
async fn a_signed_address_works_until_the_clock_has_passed_its_end() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.fault(json!({"route": "document", "times": 1, "kind": "pdf_url_expires", "after": "30s"})).await;
    let signed = run.pdf_address(&uuid).await;
    assert!(signed.starts_with(&run.practice.sandbox.files_url()), "{signed}");
    assert!(signed.contains("?expires=") && signed.contains("&signature="), "{signed}");
    let get = async |address: &str| {
        let response = run.practice.client.get(address).send().await.unwrap();
        (response.status().as_u16(), response.bytes().await.unwrap())
    };
    let (status, bytes) = get(&signed).await;
    assert_eq!((status, bytes.to_vec()), (200, run.practice.sandbox.pdf_bytes(&uuid).await.unwrap()));

    let forged = get(&signed.replace("expires=1", "expires=2")).await;
    assert_eq!(forged.0, 403);
    assert!(String::from_utf8_lossy(&forged.1).contains("<Code>SignatureDoesNotMatch</Code>"));

    assert_eq!(run.post("/admin/clock", json!({"advance": "31s"})).await.0, 200);
    let late = run.practice.client.get(&signed).send().await.unwrap();
    assert_eq!((late.status().as_u16(), &late.headers()["content-type"]), (403, &"application/xml".parse().unwrap()));
    let body = late.text().await.unwrap();
    assert!(body.contains("<Code>AccessDenied</Code><Message>Request has expired</Message>"), "{body}");
    assert_eq!(run.post("/admin/clock", json!({"reset": true})).await.0, 200);
    assert_eq!(get(&signed).await.0, 200);
}

#[tokio::test]
async fn as_a_quirk_signatures_are_wanted_on_the_files_origin() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    let (status, _) = run.ask(Method::PATCH, "/admin/quirks", Some(json!({"pdf_url_expires": "1m"}))).await;
    assert_eq!(status, 200);
    let signed = run.pdf_address(&uuid).await;
    assert_eq!(run.practice.client.get(&signed).send().await.unwrap().status(), 200);
    let bare = signed.split('?').next().unwrap();
    let refused = run.practice.client.get(bare).send().await.unwrap();
    assert_eq!(refused.status(), 403);
    assert!(refused.text().await.unwrap().contains("Access Denied"));

    let redirect = json!({"pdf_url": {"redirect": "cross_origin"}});
    assert_eq!(run.ask(Method::PATCH, "/admin/quirks", Some(redirect)).await.0, 200);
    let moved = run.practice.get(&run.pdf_address(&uuid).await).send().await.unwrap();
    let location = moved.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(run.practice.client.get(&location).send().await.unwrap().status(), 200, "{location}");
}

#[tokio::test]
async fn pages_after_the_first_shift_both_ways() {
    let run = Run::with_documents(30).await;
    let proper = run.practice.uuids("itemsPerPage=100").await;
    let page = async |number: usize| run.practice.uuids(&format!("itemsPerPage=10&page={number}")).await;
    let id = run.fault(json!({"route": "list", "kind": "page_shift", "items": 2})).await;
    assert_eq!(page(1).await, proper[..10]);
    assert_eq!(page(2).await, proper[12..22]);
    assert_eq!(page(3).await, proper[22..]);
    assert_eq!(run.delete(&format!("/admin/faults/{id}")).await, 204);
    run.fault(json!({"route": "list", "times": 1, "kind": "page_shift", "items": -2})).await;
    assert_eq!(page(2).await, proper[8..18]);
    assert_eq!(page(2).await, proper[10..20]);
}

#[tokio::test]
async fn a_status_post_can_touch_updated_at_and_leave_the_document_listed() {
    let run = Run::with_documents(2).await;
    let uuids = run.uuids().await;
    let before = run.document(&uuids[0]).await;
    for kind in ["touch_updated_at", "stays_listed"] {
        run.fault(json!({"route": "status", "document": uuids[0], "times": 1, "kind": kind})).await;
    }
    // Several habits are applied to the same request.
    run.practice.report_success(&uuids[0]).await;
    run.practice.report_success(&uuids[1]).await;
    assert_eq!(run.practice.uuids("synchronized=false").await, [uuids[0].clone()]);
    let after = run.document(&uuids[0]).await;
    assert_ne!(after["updatedAt"], before["updatedAt"]);
    run.practice.sandbox.advance_clock(std::time::Duration::from_secs(2));
    run.practice.report_success(&uuids[0]).await;
    assert!(run.practice.uuids("synchronized=false").await.is_empty());
    assert_eq!(run.document(&uuids[0]).await["updatedAt"], after["updatedAt"]);
}

#[tokio::test]
async fn any_quirk_can_be_a_habit_of_some_requests() {
    let run = Run::with_documents(10).await;
    run.fault(
        json!({"route": "list", "times": 1, "kind": "quirks", "set": {"max_page_size": 3, "unknown_fields": true}}),
    )
    .await;
    let list = run.practice.json("/documents").await;
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert!(list[0]["futureMember"].is_object());
    assert_eq!(run.uuids().await.len(), 10);
}

#[tokio::test]
async fn as_quirks_the_same_habits_hold_for_every_request() {
    let run = Run::with_documents(15).await;
    let proper = run.practice.uuids("itemsPerPage=100").await;
    let all = json!({
        "pdf_elsewhere": true, "page_shift": 1, "touch_updated_at": true, "stays_listed": true, "tokens_expired": true,
        "refresh_grace": "1 day",
    });
    let (status, shown) = run.ask(Method::PATCH, "/admin/quirks", Some(all)).await;
    assert_eq!((status, &shown["refresh_grace"]), (200, &json!("24h")));
    for _ in 0..2 {
        assert!(run.pdf_address(&proper[0]).await.starts_with(&run.practice.sandbox.files_url()));
        assert_eq!(run.practice.uuids("itemsPerPage=10&page=2").await, proper[11..]);
        let before = run.document(&proper[0]).await;
        // Dates are shown in whole seconds.
        run.practice.sandbox.advance_clock(std::time::Duration::from_secs(2));
        run.practice.report_success(&proper[0]).await;
        assert_ne!(run.document(&proper[0]).await["updatedAt"], before["updatedAt"]);
        assert_eq!(run.practice.uuids("synchronized=false&itemsPerPage=100").await.len(), 15);
    }
}

#[tokio::test]
async fn habits_and_another_fault_meet_in_one_request() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.fault(json!({"route": "document", "times": 1, "kind": "pdf_elsewhere"})).await;
    run.fault(json!({"route": "document", "times": 1, "kind": "wrong_size"})).await;
    let document = run.document(&uuid).await;
    assert!(text(&document["pdf"], "url").starts_with(&run.practice.sandbox.files_url()));
    let real = run.practice.sandbox.pdf_bytes(&uuid).await.unwrap().len();
    assert_eq!(document["pdf"]["size"], json!(real + 1));
}

#[tokio::test]
async fn rust_callers_give_habits_too() {
    let run = Run::with_documents(1).await;
    let uuid = run.uuids().await.remove(0);
    run.practice.sandbox.inject(Fault::once(Route::Document, FaultKind::Habit(Habit::PdfNotRendered)));
    let fault: Value = run.get("/admin/faults").await[0].clone();
    assert_eq!(text(&fault, "kind"), "pdf_not_rendered");
    assert!(run.document(&uuid).await["pdf"].is_null());
    assert!(run.document(&uuid).await["pdf"].is_object());
    let half = Fault::always(Route::Any, FaultKind::status(500)).with_probability(0.0);
    run.practice.sandbox.inject(half);
    assert_eq!(run.status_of("/me").await, 200);
}
