//! Single reads, files, access.

use docsyncd_sandbox::{ApiKey, Listener, NewDocument, NewPdf, Options};
use serde_json::{Value, json};

use crate::harness::{PROBLEM, Practice, members, status_and_body, text};

#[tokio::test]
async fn a_document_is_read_with_its_people_and_its_file() {
    let practice = Practice::with_documents(1).await;
    let uuid = practice.uuids("").await.remove(0);
    let document = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(members(&document["pdf"]), ["createdAt", "fileName", "name", "size", "updatedAt", "url", "uuid"]);
    assert_eq!(
        members(&document["user"]),
        ["am", "createdAt", "email", "firstName", "gender", "lastName", "phone", "rpps", "updatedAt", "uuid"]
    );
    assert_eq!(document["patient"]["user"]["uuid"], document["user"]["uuid"]);
    assert_eq!(document["audio"]["patient"], document["patient"]["uuid"]);
    assert_eq!(document["documentIntegrations"], json!([]));
    let patient = practice.json(&format!("/patients/{}", text(&document["patient"], "uuid"))).await;
    assert_eq!(patient, document["patient"]);

    let file = practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
    assert_eq!(file.headers()["content-type"], "application/pdf");
    assert_eq!(file.content_length(), document["pdf"]["size"].as_u64());
    assert_eq!(file.bytes().await.unwrap(), practice.sandbox.pdf_bytes(&uuid).await.unwrap());
}

#[tokio::test]
async fn whatever_a_test_dictates_is_shown_verbatim() {
    let practice = Practice::start(Options::default()).await;
    let dictated = NewDocument {
        uuid: Some("not-a-uuid".into()),
        created_at: Some("2026-03-01T10:00:00.123456+01:00".into()),
        document_type: Some(Some("hygiene_report".into())),
        patient: Some(json!({"uuid": "p-1", "firstName": null, "lastName": "O'Brien"})),
        user: json!({"lastName": "Substitute"}).as_object().cloned(),
        generic_contact_specialty: Some("Pédodontie".into()),
        pdf: NewPdf::Bytes(b"%PDF-1.4 tiny".to_vec()),
        pdf_uuid: Some("pdf-1".into()),
        file_name: Some("a b/ç?.pdf".into()),
        declared_size: Some(99),
        ..NewDocument::default()
    };
    practice.sandbox.add(dictated).await.unwrap();
    let document = practice.json("/documents/not-a-uuid").await;
    assert_eq!(document["createdAt"], "2026-03-01T10:00:00.123456+01:00");
    assert_eq!(document["type"], "hygiene_report");
    assert_eq!(document["patient"]["lastName"], "O'Brien");
    assert_eq!(document["patient"]["firstName"], Value::Null);
    assert_eq!(document["user"]["lastName"], "Substitute");
    assert_eq!(document["genericContactSpecialty"], "Pédodontie");
    assert_eq!(document["pdf"]["size"], 99);
    assert_eq!(document["pdf"]["fileName"], "a b/ç?.pdf");
    let file = practice.get(&text(&document["pdf"], "url")).send().await.unwrap();
    assert_eq!(file.status(), 200);
    assert_eq!(file.bytes().await.unwrap(), "%PDF-1.4 tiny");
}

#[tokio::test]
async fn a_document_without_a_file_gets_one_later() {
    let practice = Practice::start(Options::default()).await;
    let waiting = NewDocument {
        pdf: NewPdf::None,
        document_type: Some(None),
        patient: Some(Value::Null),
        ..NewDocument::default()
    };
    let uuid = practice.sandbox.add(waiting).await.unwrap();
    let document = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!([&document["pdf"], &document["type"], &document["patient"]], [&Value::Null; 3]);
    let first = practice.sandbox.set_pdf(&uuid, b"%PDF-1".to_vec()).await.unwrap();
    let old = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!(old["pdf"]["uuid"], first);
    let second = practice.sandbox.replace_pdf(&uuid, b"%PDF-22".to_vec()).await.unwrap();
    let new = practice.json(&format!("/documents/{uuid}")).await;
    assert_eq!((&new["pdf"]["uuid"], &new["pdf"]["size"]), (&json!(second), &json!(7)));
    let gone = practice.get(&text(&old["pdf"], "url")).send().await.unwrap();
    assert_eq!(gone.status(), 404);
}

#[tokio::test]
async fn what_does_not_exist_is_404_and_what_belongs_to_others_403() {
    let keys = vec![ApiKey::new("mine"), ApiKey::of_user("theirs", "paul.autre@elsewhere.example")];
    let practice = Practice::start(Options { api_keys: keys, ..Options::default() }).await;
    let other = NewDocument { owner: Some("theirs".into()), ..NewDocument::default() };
    let uuid = practice.sandbox.add(other).await.unwrap();
    let summary = practice.sandbox.documents().await.unwrap().remove(0);
    let withdrawn = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.remove(&withdrawn).await.unwrap();
    assert_eq!(practice.uuids("").await, Vec::<String>::new());
    let theirs = practice.client.get(format!("{}/me", practice.sandbox.url())).bearer_auth("theirs");
    let me: Value = theirs.send().await.unwrap().json().await.unwrap();
    assert_eq!(me["lastName"], "Autre");
    let read = practice.client.get(format!("{}/documents/{uuid}", practice.sandbox.url())).bearer_auth("theirs");
    let document: Value = read.send().await.unwrap().json().await.unwrap();
    for (path, expected) in [
        (format!("/documents/{uuid}"), 403),
        (text(&document["pdf"], "url"), 403),
        (format!("/patients/{}", summary.patient.unwrap()), 403),
        (format!("/users/{}", text(&me, "uuid")), 403),
        (format!("/documents/{withdrawn}"), 404),
        ("/patients/none".into(), 404),
        ("/users/none".into(), 404),
        ("/files/none/x.pdf".into(), 404),
        ("/nothing/here".into(), 404),
    ] {
        let response = practice.get(&path).send().await.unwrap();
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/ld+json"));
        let (status, body) = status_and_body(response).await;
        assert_eq!((status, members(&body)), (expected, PROBLEM.to_vec()), "{path}");
    }
}

#[tokio::test]
async fn the_files_origin_wants_no_token_and_the_journal_tells_who_sent_one() {
    let files_listen = Some("127.0.0.1:0".parse().unwrap());
    let practice = Practice::start(Options { documents: 1, files_listen, ..Options::default() }).await;
    let uuid = practice.uuids("").await.remove(0);
    let document = practice.json(&format!("/documents/{uuid}")).await;
    let url = text(&document["pdf"], "url");
    assert!(url.starts_with(&practice.sandbox.files_url()));
    assert_ne!(practice.sandbox.files_url(), practice.sandbox.url());
    let bare = practice.client.get(&url).send().await.unwrap();
    assert_eq!(bare.status(), 200);
    practice.get(&url).send().await.unwrap();
    let sent: Vec<Option<String>> = practice.sandbox.look(|view| {
        view.requests()
            .filter(|request| request.listener == Listener::Files)
            .map(|request| request.authorization.clone())
            .collect()
    });
    assert_eq!(sent, [None, Some("Bearer sandbox-key".to_owned())]);
}

#[tokio::test]
async fn every_wrong_address_or_method_gets_the_apis_body() {
    let practice = Practice::with_documents(1).await;
    for (method, address, version, expected, allowed) in [
        ("GET", practice.address("/documents/%FF"), "1.1.0", 404, None),
        ("GET", practice.address("/files/%FF/x.pdf"), "1.1.0", 404, None),
        ("GET", practice.address("/documents/"), "1.1.0", 404, None),
        ("PUT", practice.address("/documents"), "1.1.0", 405, Some("GET,HEAD")),
        ("POST", practice.address("/patients"), "1.0.0", 405, Some("GET,HEAD")),
        ("DELETE", practice.address("/webhooks/x"), "1.0.0", 405, Some("GET,HEAD")),
        ("POST", practice.address("/openapi.json"), "1.1.0", 405, Some("GET,HEAD")),
        ("POST", format!("{}/files/x/y.pdf", practice.sandbox.files_url()), "1.1.0", 405, Some("GET,HEAD")),
    ] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = practice.client.request(method, &address).bearer_auth(practice.sandbox.api_key());
        let response = request.header("Api-Version", version).send().await.unwrap();
        assert_eq!(response.headers().get("allow").map(|value| value.to_str().unwrap()), allowed, "{address}");
        let (status, body) = status_and_body(response).await;
        assert_eq!((status, members(&body)), (expected, PROBLEM.to_vec()), "{address}");
    }
    for context in ["/contexts/Error", "/contexts/ConstraintViolation", "/contexts/Document"] {
        assert!(practice.json(context).await["@context"]["type"].is_string(), "{context} can be read");
    }
}

#[tokio::test]
async fn practices_do_not_share_invented_patients() {
    let keys = vec![ApiKey::of_user("here", "a@one.example"), ApiKey::of_user("there", "b@two.example")];
    let practice = Practice::start(Options { api_keys: keys, ..Options::default() }).await;
    for owner in ["here", "there"].repeat(6) {
        practice.sandbox.add(NewDocument { owner: Some(owner.into()), ..NewDocument::default() }).await.unwrap();
    }
    for key in ["here", "there"] {
        let get = async |path: &str| practice.client.get(practice.address(path)).bearer_auth(key).send().await.unwrap();
        let list: Value = get("/documents").await.json().await.unwrap();
        assert_eq!(list.as_array().unwrap().len(), 6);
        for document in list.as_array().unwrap() {
            let patient = get(&format!("/patients/{}", text(document, "patient"))).await;
            assert_eq!(patient.status(), 200, "{key}");
        }
    }
}
