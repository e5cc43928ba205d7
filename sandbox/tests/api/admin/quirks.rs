//! `/admin/quirks`: the habits of the server as JSON.

use std::time::Duration;

use docsyncd_sandbox::{DateFilter, PdfUrl, Quirks};
use reqwest::Method;
use serde_json::json;

use super::Run;

#[tokio::test]
async fn every_habit_is_shown_and_survives_the_way_there_and_back() {
    let run = Run::with_documents(0).await;
    let quirks = Quirks {
        date_filter: DateFilter::Refused,
        pdf_url: PdfUrl::Verbatim("javascript:alert(1)".into()),
        max_page_size: Some(5),
        pdf_url_expires: Some(Duration::from_secs(90)),
        page_shift: -3,
        stays_listed: true,
        ..Quirks::default()
    };
    run.practice.sandbox.set_quirks(quirks.clone());
    let shown = run.get("/admin/quirks").await;
    assert_eq!(shown["pdf_url"], json!({"verbatim": "javascript:alert(1)"}));
    assert_eq!(shown["pdf_url_expires"], "1m30s");
    assert_eq!(shown["refresh_grace"], json!(null));
    run.practice.sandbox.set_quirks(Quirks::default());
    assert_eq!(run.ask(Method::PUT, "/admin/quirks", Some(shown)).await.0, 200);
    assert_eq!(run.practice.sandbox.quirks(), quirks);
}

#[tokio::test]
async fn put_replaces_and_patch_merges() {
    let run = Run::with_documents(3).await;
    let (status, shown) =
        run.ask(Method::PATCH, "/admin/quirks", Some(json!({"max_page_size": 2, "stays_listed": true}))).await;
    assert_eq!((status, &shown["max_page_size"], &shown["stays_listed"]), (200, &json!(2), &json!(true)));
    assert_eq!(run.uuids().await.len(), 2);
    let (_, shown) = run.ask(Method::PATCH, "/admin/quirks", Some(json!({"max_page_size": null}))).await;
    assert_eq!((&shown["max_page_size"], &shown["stays_listed"]), (&json!(null), &json!(true)));
    assert_eq!(run.uuids().await.len(), 3);
    let (_, shown) = run.ask(Method::PUT, "/admin/quirks", Some(json!({"pdf_not_rendered": true}))).await;
    assert_eq!((&shown["pdf_not_rendered"], &shown["stays_listed"]), (&json!(true), &json!(false)));
    let uuid = run.uuids().await.remove(0);
    assert!(run.document(&uuid).await["pdf"].is_null());
}

#[tokio::test]
async fn what_is_no_habit_is_refused_by_name_and_changes_nothing() {
    let run = Run::with_documents(0).await;
    for (body, said) in [
        (json!({"stays_listed": true, "humour": "dry"}), "humour"),
        (json!({"stays_listed": true, "humour": null}), "humour"),
        (json!({"max_page_size": "many"}), "max_page_size"),
        (json!({"date_filter": "maybe"}), "maybe"),
        (json!({"pdf_url_expires": "soon"}), "soon"),
        (json!([]), "map"),
    ] {
        for method in [Method::PATCH, Method::PUT] {
            if body.is_array() && method == Method::PUT {
                continue; // serde reads a struct from an array too, and an empty one is all defaults
            }
            let error = run.refused(method, "/admin/quirks", Some(body.clone()), 422).await;
            assert!(error.contains(said), "{body}: {error}");
        }
    }
    assert_eq!(run.practice.sandbox.quirks(), Quirks::default());
}
