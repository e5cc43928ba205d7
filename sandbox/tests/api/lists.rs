//! `GET /documents`.

use docsyncd_sandbox::{NewDocument, Options};
use serde_json::json;

use crate::harness::{PROBLEM, Practice, members};

#[tokio::test]
async fn pages_of_twenty_by_default_cover_everything_once_oldest_first() {
    let practice = Practice::with_documents(45).await;
    let mut seen = Vec::new();
    for page in 1..=4 {
        let uuids = practice.uuids(&format!("page={page}")).await;
        assert_eq!(uuids.len(), [20, 20, 5, 0][page - 1]);
        seen.extend(uuids);
    }
    let known: Vec<String> =
        practice.sandbox.documents().await.unwrap().into_iter().map(|document| document.uuid).collect();
    assert_eq!(seen, known);
}

#[tokio::test]
async fn values_that_cannot_be_understood_are_400_with_the_apis_body() {
    let practice = Practice::with_documents(1).await;
    for query in [
        "page=0",
        "page=x",
        "itemsPerPage=-1",
        "itemsPerPage=many",
        "itemsPerPage=101",
        "createdAt[after]=2025-01-06",
        "createdAt[strictly_before]=2025-01-06",
        "createdAt=2025-01-01",
        "createdAt[]=2025-01-01",
        "encounteredAt[0]=2025-01-01",
        "synchronized=perhaps",
        "isAnonymized=",
        "order[createdAt]=up",
        "order[shoeSize]=asc",
        "createdAt[gte]=yesterday",
        "createdAt[between]=2025-01-01",
        "createdAt[gte]=2025-01-06T08:00:00+00:00",
    ] {
        let (status, body) = practice.refused(&format!("/documents?{query}")).await;
        assert_eq!(status, 400, "{query}");
        assert_eq!(members(&body), PROBLEM);
        assert_eq!(body["status"], 400);
    }
}

#[tokio::test]
async fn date_filters_compare_moments_whatever_their_spelling() {
    let practice = Practice::start(Options::default()).await;
    for hour in ["08", "09", "10"] {
        let dictated = NewDocument {
            uuid: Some(format!("at-{hour}")),
            created_at: Some(format!("2026-03-01T{hour}:00:00+00:00")),
            encountered_at: (hour == "09").then(|| "2026-02-28".to_owned()),
            ..NewDocument::default()
        };
        practice.sandbox.add(dictated).await.unwrap();
    }
    for (query, expected) in [
        ("createdAt[gt]=2026-03-01T09:00:00Z", vec!["at-10"]),
        ("createdAt[gte]=2026-03-01T09:00:00%2B00:00", vec!["at-09", "at-10"]),
        ("createdAt[gte]=2026-03-01T10:00:00%2B01:00", vec!["at-09", "at-10"]),
        ("updatedAt[lt]=2026-03-01 09:00:00", vec!["at-08"]),
        ("createdAt[lte]=2026-03-01T09:00:00", vec!["at-08", "at-09"]),
        ("createdAt[between]=2026-03-01T08:30:00Z..2026-03-01T09:30:00Z", vec!["at-09"]),
        ("encounteredAt[gte]=2026-02-01", vec!["at-09"]),
        ("exists[encounteredAt]=true", vec!["at-09"]),
    ] {
        let mut found = practice.uuids(query).await;
        if query.starts_with("exists") || query.starts_with("encountered") {
            found.retain(|uuid| uuid == "at-09");
        }
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn parameters_nobody_knows_are_ignored() {
    let practice = Practice::with_documents(2).await;
    assert_eq!(
        practice.uuids("colour=blue&x[y]=z&search[=1&exists[foo]=true&type[gte]=x&verifiedAt=2025-01-01").await.len(),
        2
    );
    assert_eq!(practice.json("/documents?search[]").await, json!(practice.json("/documents").await));
}

#[tokio::test]
async fn whatever_is_searched_gets_an_answer() {
    let practice = Practice::with_documents(20).await;
    let found = async |words: &str| {
        let response = practice.get("/documents?itemsPerPage=100").query(&[("search", words)]).send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json::<serde_json::Value>().await.unwrap().as_array().map_or(0, Vec::len))
    };
    let all = (200, 20);
    assert_eq!(found("").await, all);
    assert_eq!(found("delaunay").await, all);
    assert_eq!(found("DELAUNAY\0claire").await, all, "NUL parts words as a space does");
    assert_eq!(found(&"claire ".repeat(5000)).await, all);
    for nothing in ["\"", "\"\"\" OR *", "NEAR(claire)", "%_%", "\u{1F600}\u{1F600}\u{1F600}", &"a".repeat(10_000)] {
        let (status, count) = found(nothing).await;
        assert_eq!(status, 200, "{nothing}");
        assert!(count < 20, "{nothing}");
    }
    let words: Vec<String> = (0..31).map(|number| format!("w{number}")).collect();
    assert_eq!(found(&words[..30].join(" ")).await, (200, 0));
    let (status, body) = practice.refused(&format!("/documents?search={}", words.join("+"))).await;
    assert_eq!((status, members(&body)), (400, PROBLEM.to_vec()));
}

#[tokio::test]
async fn as_many_conditions_as_an_address_holds_are_taken() {
    let practice = Practice::with_documents(3).await;
    for condition in ["createdAt[gt]=2000-01-01", "synchronized=false", "type[]=lab_slip&type[]=operative_report"] {
        let one = practice.uuids(condition).await;
        assert!(!one.is_empty(), "{condition}");
        assert_eq!(practice.uuids(&vec![condition; 1200].join("&")).await, one, "{condition}");
    }
}

#[tokio::test]
async fn arrays_may_be_written_with_their_indices() {
    let practice = Practice::with_documents(30).await;
    let plain = practice.uuids("type[]=lab_slip&type[]=prescription").await;
    assert!((2..30).contains(&plain.len()));
    assert_eq!(practice.uuids("type[0]=lab_slip&type[1]=prescription").await, plain);
    let expanded = practice.json("/documents?expand[0]=user.read").await;
    assert!(expanded[0]["user"].is_object());
}
