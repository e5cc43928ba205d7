//! The behaviours that the description leaves open, each switched at run time.

use docsyncd_sandbox::{DateFilter, DateFormat, ListShape, PdfUrl, Quirks, RedirectTarget, SingleShape};
use serde_json::Value;

use crate::harness::{Practice, text};

#[tokio::test]
async fn date_filters_can_be_refused_or_ignored() {
    let practice = Practice::with_documents(5).await;
    let query = "createdAt[gte]=2030-01-01";
    assert_eq!(practice.uuids(query).await.len(), 0);
    practice.sandbox.set_quirks(Quirks { date_filter: DateFilter::Refused, ..Quirks::default() });
    assert_eq!(practice.refused(&format!("/documents?{query}")).await.0, 400);
    practice.sandbox.set_quirks(Quirks { date_filter: DateFilter::Ignored, ..Quirks::default() });
    assert_eq!(practice.uuids(query).await.len(), 5);
}

#[tokio::test]
async fn reported_documents_can_stay_listed_and_change_their_date() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let before = practice.json(&format!("/documents/{uuid}")).await;
    practice.sandbox.set_quirks(Quirks { stays_listed: true, touch_updated_at: true, ..Quirks::default() });
    practice.report_success(&uuid).await;
    assert_eq!(practice.uuids("synchronized=false").await, std::slice::from_ref(&uuid));
    let after = practice.json(&format!("/documents/{uuid}")).await;
    assert_ne!(after["updatedAt"], before["updatedAt"]);
    assert_eq!(after["pdf"], before["pdf"]);
    practice.sandbox.set_listed(&uuid, false).await.unwrap();
    assert!(practice.uuids("synchronized=false").await.is_empty());
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    assert_eq!(practice.uuids("synchronized=false").await, [uuid]);
}

#[tokio::test]
async fn lists_and_reads_can_show_other_shapes() {
    let practice = Practice::with_documents(1).await;
    let plain = practice.json("/documents").await[0].clone();
    let uuid = text(&plain, "uuid");
    let single = practice.json(&format!("/documents/{uuid}")).await;

    practice.sandbox.set_quirks(Quirks { lists_show: ListShape::Objects, ..Quirks::default() });
    let objects = practice.json("/documents").await[0].clone();
    for member in ["user", "patient", "pdf"] {
        assert_eq!(objects[member], single[member]);
    }
    practice.sandbox.set_quirks(Quirks {
        lists_show: ListShape::Iris,
        single_shows: SingleShape::Identifiers,
        ..Quirks::default()
    });
    let iris = practice.json("/documents").await[0].clone();
    assert_eq!(text(&iris, "patient"), format!("/patients/{}", text(&plain, "patient")));
    let identifiers = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(identifiers["patient"], plain["patient"]);
    assert_eq!(identifiers["pdf"], single["pdf"]);
}

#[tokio::test]
async fn pdf_urls_take_every_form_and_lead_to_the_file() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let bytes = practice.sandbox.pdf_bytes(&uuid).await.unwrap();
    let with = |pdf_url| practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
    let url = async || {
        let document: Value = practice.json(&format!("/documents/{uuid}")).await;
        text(&document["pdf"], "url")
    };

    with(PdfUrl::Relative);
    let relative = url().await;
    assert!(relative.starts_with("/files/"));
    assert_eq!(practice.get(&relative).send().await.unwrap().bytes().await.unwrap(), bytes);

    with(PdfUrl::Verbatim("javascript:alert(1)".into()));
    assert_eq!(url().await, "javascript:alert(1)");

    for (target, origin) in [
        (RedirectTarget::SameOrigin, practice.sandbox.url()),
        (RedirectTarget::CrossOrigin, practice.sandbox.files_url()),
    ] {
        with(PdfUrl::Redirect(target));
        let redirect = practice.get(&url().await).send().await.unwrap();
        assert_eq!(redirect.status(), 302);
        let location = redirect.headers()["location"].to_str().unwrap().to_owned();
        assert!(location.starts_with(&origin));
        assert_eq!(practice.get(&location).send().await.unwrap().bytes().await.unwrap(), bytes);
    }
}

#[tokio::test]
async fn unknown_members_and_values_appear_everywhere() {
    let practice = Practice::with_documents(1).await;
    practice.sandbox.set_quirks(Quirks { unknown_fields: true, ..Quirks::default() });
    let item = practice.json("/documents").await[0].clone();
    assert_eq!(item["type"], "future_report");
    let document = practice.json(&format!("/documents/{}", text(&item, "uuid"))).await;
    for part in [&document, &document["user"], &document["patient"], &document["pdf"]] {
        assert!(part["futureMember"].is_object());
    }
}

#[tokio::test]
async fn pages_can_be_capped_ignored_and_ordered_otherwise() {
    let practice = Practice::with_documents(30).await;
    let proper = practice.uuids("itemsPerPage=100").await;
    practice.sandbox.set_quirks(Quirks { max_page_size: Some(10), ..Quirks::default() });
    assert_eq!(practice.uuids("itemsPerPage=100&page=2").await, proper[10..20]);
    let linked =
        practice.get("/documents?itemsPerPage=100").header("accept", "application/ld+json").send().await.unwrap();
    let linked: serde_json::Value = linked.json().await.unwrap();
    assert_eq!(linked["view"]["last"], "/documents?itemsPerPage=100&page=3", "its links lead to everything");
    practice.sandbox.set_quirks(Quirks { ignore_page: true, ..Quirks::default() });
    assert_eq!(practice.uuids("itemsPerPage=5&page=3").await, proper[..5]);
    practice.sandbox.set_quirks(Quirks { ignore_order: true, ..Quirks::default() });
    let newest_first = practice.uuids("itemsPerPage=100&order[createdAt]=asc").await;
    assert!(newest_first.iter().rev().eq(proper.iter()));
}

#[tokio::test]
async fn dates_are_written_as_asked() {
    let practice = Practice::with_documents(1).await;
    for (date_format, ending) in [
        (DateFormat::Offset, "+00:00"),
        (DateFormat::OffsetMillis, ".000+00:00"),
        (DateFormat::Zulu, "Z"),
        (DateFormat::ZuluMillis, ".000Z"),
        (DateFormat::PlusTwo, "+02:00"),
    ] {
        practice.sandbox.set_quirks(Quirks { date_format, ..Quirks::default() });
        let item = practice.json("/documents").await[0].clone();
        assert!(text(&item, "createdAt").ends_with(ending));
    }
}
