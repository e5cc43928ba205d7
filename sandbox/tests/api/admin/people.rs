//! `/admin/users`, `/admin/organizations` and `/admin/reset`.

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, Options, Route};
use reqwest::Method;
use serde_json::{Value, json};

use super::Run;
use crate::harness::text;

async fn me(run: &Run, key: &str) -> Value {
    let request = run.practice.client.get(format!("{}/me", run.practice.sandbox.url())).bearer_auth(key);
    request.send().await.unwrap().json().await.unwrap()
}

/// The file of the first document.
async fn bytes(run: &Run) -> Vec<u8> {
    let address = run.pdf_address(&run.uuids().await[0]).await;
    let answer = run.practice.client.get(address).bearer_auth("first").send().await.unwrap();
    answer.bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn a_practice_with_an_administrator_and_a_member_can_be_made() {
    let run = Run::with_documents(1).await;
    let (status, practice) = run.post("/admin/organizations", json!({"name": "Cabinet Martin", "city": "Lyon"})).await;
    assert_eq!((status, text(&practice, "name")), (201, "Cabinet Martin".to_owned()));
    let uuid = text(&practice, "uuid");
    for (email, key, role) in [
        ("anne@martin.example", "anne", "ROLE_ORGANIZATION_ADMIN"),
        ("luc@elsewhere.example", "luc", "ROLE_ORGANIZATION_MEMBER"),
    ] {
        let wish =
            json!({"email": email, "apiKey": key, "organization": uuid, "organizationRole": role, "language": "en"});
        let (status, user) = run.post("/admin/users", wish).await;
        assert_eq!((status, text(&user, "email")), (201, email.to_owned()), "{user}");
        let me = me(&run, key).await;
        assert_eq!((text(&me, "organizationRole"), text(&me, "language")), (role.to_owned(), "en".to_owned()));
        assert_eq!(
            (text(&me["organization"], "uuid"), text(&me["organization"], "city")),
            (uuid.clone(), "Lyon".into())
        );
    }
    assert_eq!(me(&run, "luc").await["organization"]["users"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn one_email_address_is_one_user_whatever_its_case_and_uuid() {
    let run = Run::with_documents(0).await;
    let uuid = "11111111-2222-4333-8444-555555555555";
    for wish in [
        json!({"email": "anne@martin.example", "uuid": uuid, "apiKey": "anne"}),
        json!({"email": "anne@martin.example", "firstName": "Anne"}),
        json!({"email": "ANNE@Martin.example", "lastName": "Martin"}),
    ] {
        let (status, user) = run.post("/admin/users", wish).await;
        assert_eq!((status, text(&user, "uuid")), (201, uuid.to_owned()), "{user}");
    }
    let me = me(&run, "anne").await;
    assert_eq!((text(&me, "firstName"), text(&me, "lastName")), ("Anne".to_owned(), "Martin".to_owned()));
    assert_eq!(me["organization"]["users"], json!([uuid]));
    for wish in [
        json!({"email": "anne@martin.example", "uuid": "99999999-2222-4333-8444-555555555555"}),
        json!({"email": "luc@martin.example", "uuid": uuid}),
    ] {
        let error = run.refused(Method::POST, "/admin/users", Some(wish.clone()), 422).await;
        assert!(error.contains("uuid"), "{wish}: {error}");
    }
}

#[tokio::test]
async fn a_practice_has_every_member_and_a_name_whatever_was_said_of_it() {
    let run = Run::with_documents(0).await;
    let (_, practice) = run.post("/admin/organizations", json!({"city": "Lyon"})).await;
    let name = text(&practice, "name");
    assert!(name.starts_with("Cabinet dentaire ") && !name.contains('-'), "{name}");
    for organization in
        [json!({"name": "Cabinet Martin"}), json!({"name": "Cabinet Martin", "uuid": text(&practice, "uuid")})]
    {
        let wish = json!({"email": "anne@martin.example", "apiKey": "anne", "organizations": [organization]});
        run.post("/admin/users", wish).await;
        let own = me(&run, "anne").await["organization"].clone();
        assert_eq!(text(&own, "name"), "Cabinet Martin");
        for member in practice.as_object().unwrap().keys() {
            assert!(own.get(member).is_some(), "{member} is missing in {own}");
        }
        if organization.get("uuid").is_some() {
            assert_eq!((own["uuid"].clone(), text(&own, "city")), (practice["uuid"].clone(), "Lyon".to_owned()));
        }
    }
}

#[tokio::test]
async fn a_reset_puts_the_faults_of_the_start_in_force_again() {
    let fault = Fault::once(Route::Document, FaultKind::Reset);
    let run = Run::start(Options { faults: vec![fault], ..Options::default() }).await;
    let before = run.get("/admin/faults").await;
    assert_eq!(before.as_array().map(Vec::len), Some(1));
    run.ask(Method::DELETE, "/admin/faults", None).await;
    run.fault(json!({"route": "list", "kind": "status", "code": 503})).await;
    let reset = format!("{}/admin/reset", run.practice.sandbox.admin_url().unwrap());
    assert_eq!(run.practice.client.post(reset).send().await.unwrap().status(), 204, "an empty body is fine");
    assert_eq!(run.get("/admin/faults").await, before);
}

#[tokio::test]
async fn a_password_given_here_is_the_one_that_the_sign_in_page_names() {
    let run = Run::with_documents(0).await;
    let wish = json!({"email": "anne@martin.example", "password": "of her own"});
    assert_eq!(run.post("/admin/users", wish).await.0, 201);
    let query = "response_type=code&client_id=sandbox-client&scope=profile&state=0123456789abcdef\
        &redirect_uri=http%3A%2F%2F127.0.0.1%3A8976%2Fcallback";
    let page = run.practice.client.get(format!("{}/authorize?{query}", run.practice.sandbox.url()));
    let html = page.send().await.unwrap().text().await.unwrap();
    assert!(html.contains("anne@martin.example") && html.contains("of her own"), "{html}");
}

#[tokio::test]
async fn mistyped_members_are_refused_at_every_depth() {
    let run = Run::with_documents(0).await;
    for (path, body, said) in [
        ("/admin/users", json!({"email": "a@b.example", "lastname": "x"}), "lastname"),
        ("/admin/users", json!({"email": "nobody"}), "email"),
        ("/admin/users", json!({"email": "a@b.example", "organizationRole": "BOSS"}), "organizationRole"),
        ("/admin/users", json!({"email": "a@b.example", "organization": "none"}), "none"),
        ("/admin/organizations", json!({"nom": "x"}), "nom"),
        ("/admin/documents", json!({"patient": {"lastname": "x"}}), "patient.lastname"),
        ("/admin/documents", json!({"user": {"name": "x"}}), "user.name"),
        ("/admin/documents", json!({"patient": {"user": {"x": 1}}}), "patient.user.x"),
        ("/admin/documents", json!({"user": {"organizations": [{}, {"zzz": 1}]}}), "user.organizations[1].zzz"),
        ("/admin/users", json!({"email": "a@b.example", "organizations": [{"zzz": 1}]}), "organizations[0].zzz"),
        ("/admin/users", json!({"email": "a@b.example", "organizations": []}), "organizations"),
        ("/admin/users", json!({"email": "a@b.example", "organizations": ["x"]}), "organizations[0]"),
        ("/admin/reset", json!({"documents": 3}), "documents"),
        ("/admin/audios", json!({"patient": {"birthday": "x"}}), "patient.birthday"),
    ] {
        let error = run.refused(Method::POST, path, Some(body.clone()), 422).await;
        assert!(error.contains(said), "{body}: {error}");
    }
}

#[tokio::test]
async fn a_reset_leads_back_to_the_start() {
    let api_keys = vec![ApiKey::new("first")];
    let run = Run::start(Options { documents: 3, api_keys, ..Options::default() }).await;
    let before = run.practice.json("/documents").await;
    let pdf = bytes(&run).await;
    run.practice.report_success(&run.uuids().await[0]).await;
    run.post("/admin/documents", json!({"count": 5})).await;
    run.post("/admin/users", json!({"email": "a@b.example", "apiKey": "second"})).await;
    run.post("/admin/clock", json!({"advance": "1h"})).await;
    run.ask(Method::PATCH, "/admin/quirks", Some(json!({"stays_listed": true}))).await;
    run.fault(json!({"route": "list", "kind": "status", "code": 503})).await;

    assert_eq!(run.post("/admin/reset", json!({})).await.0, 204);
    assert_eq!(run.get("/admin/faults").await, json!([]));
    assert_eq!(run.get("/admin/status-posts").await, json!([]));
    assert_eq!(run.get("/admin/requests").await, json!([]));
    assert_eq!(run.get("/admin/clock").await["ahead_seconds"], 0);
    assert_eq!(run.get("/admin/quirks").await["stays_listed"], false);
    assert_eq!(run.practice.json("/documents").await, before);
    assert_eq!(bytes(&run).await, pdf);
    assert_eq!(me(&run, "second").await["code"], 401);
}
