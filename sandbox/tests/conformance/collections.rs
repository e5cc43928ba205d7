//! "Endpoints", the paragraph above its tables and "Collection query parameters": what all lists and reads have in
//! common.

use serde_json::{Value, json};

use crate::client::uuids;
use crate::harness::{Practice, text};
use crate::samples;

/// Every list of the API.
const LISTS: &[&str] = &["/audios", "/contacts", "/documents", "/notes", "/organizations", "/patients", "/webhooks"];

/// A practice in which every list but that of organizations has more than `count` items.
async fn filled(count: usize) -> Practice {
    let practice = samples::practice(count * 3 / 2).await;
    for number in 0..=count {
        practice.post("/contacts", &json!({"legalName": format!("Laboratory {number}")})).await.fine();
        let webhook =
            json!({"url": format!("http://127.0.0.1:9/{number}"), "events": ["audio.created"], "isActive": false});
        practice.post("/webhooks", &webhook).await.fine();
    }
    practice
}

/// A JSON-LD answer without what JSON-LD adds.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !name.starts_with('@'));
            Value::Object(kept.map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::String(text) => Value::String(identifier(text).to_owned()),
        other => other.clone(),
    }
}

/// What JSON-LD shows as the address of a record is its identifier in plain JSON.
fn identifier(text: &str) -> &str {
    let of = |home: &str| text.strip_prefix(home).filter(|rest| uuid::Uuid::try_parse(rest).is_ok());
    ["/users/", "/patients/", "/audios/"].into_iter().find_map(of).unwrap_or(text)
}

#[tokio::test]
async fn collections_are_json_arrays_and_without_parameters_the_first_page_of_20() {
    let practice = filled(21).await;
    for path in LISTS {
        let list = practice.ask("GET", path).await.fine();
        let expected = if *path == "/organizations" { 1 } else { 20 };
        assert_eq!(list.as_array().unwrap().len(), expected, "{path}");
        assert_eq!(practice.json(&format!("{path}?page=1")).await, list, "{path}");
        assert_eq!(practice.json(&format!("{path}?itemsPerPage=20")).await, list, "{path}");
    }
}

#[tokio::test]
async fn parameter_items_per_page_is_an_integer_from_0_to_100() {
    let practice = filled(101).await;
    for path in LISTS {
        let most = if *path == "/organizations" { 1 } else { 100 };
        for (items, expected) in [("0", 0), ("1", 1), ("7", most.min(7)), ("100", most)] {
            assert_eq!(practice.list(path, &[("itemsPerPage", items)]).await.len(), expected, "{path} {items}");
        }
        for items in ["-1", "101", "many", "", "1.5"] {
            practice.assert_refused(path, &[("itemsPerPage", items)]).await;
        }
    }
}

#[tokio::test]
async fn parameter_page_is_an_integer_and_pages_cover_everything_once() {
    let practice = filled(21).await;
    for path in LISTS {
        let everything = uuids(&practice.all(path).await);
        let mut pages = Vec::new();
        for page in 1..=everything.len().div_ceil(9) {
            let page = practice.list(path, &[("itemsPerPage", "9"), ("page", &page.to_string())]).await;
            pages.extend(uuids(&page));
        }
        assert_eq!(pages, everything, "{path}");
        for beyond in ["1000000", "99999999999999999999"] {
            assert!(practice.list(path, &[("page", beyond)]).await.is_empty(), "{path} {beyond}");
        }
        for page in ["0", "-1", "one", "", "1.5"] {
            practice.assert_refused(path, &[("page", page)]).await;
        }
    }
}

#[tokio::test]
async fn several_orders_apply_one_after_the_other() {
    let practice = samples::contacts().await;
    let query = [("itemsPerPage", "100"), ("order[gender]", "desc"), ("order[legalName]", "asc")];
    let list = practice.list("/contacts", &query).await;
    let keys: Vec<(Option<&str>, Option<&str>)> =
        list.iter().map(|item| (item["gender"].as_str(), item["legalName"].as_str())).collect();
    let mut expected = keys.clone();
    expected.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    assert_eq!(keys, expected);
}

#[tokio::test]
async fn several_filters_apply_together() {
    let practice = samples::documents().await;
    let everything = practice.all("/documents").await;
    let expected = everything.iter().filter(|item| item["type"].is_null() && item["pdf"].is_null()).count();
    assert_eq!(expected, 4);
    let item = everything.iter().find(|item| item["type"] == "prescription").unwrap();
    let (uuid, created) = (text(item, "uuid"), text(item, "createdAt"));
    let query = [("type", "prescription"), ("uuid", &*uuid), ("createdAt[gte]", &*created), ("search", "prescr")];
    assert_eq!(practice.list("/documents", &query).await, std::slice::from_ref(item));
    let query = [("type", "lab_slip"), ("uuid", &*uuid)];
    assert!(practice.list("/documents", &query).await.is_empty());
}

#[tokio::test]
async fn parameter_search_needs_every_word_in_any_order() {
    let practice = samples::contacts().await;
    let found = async |words: &str| practice.list("/contacts", &[("search", words)]).await;
    let one = found("zolkiewska berenice").await;
    assert_eq!(one.len(), 1);
    assert_eq!(found("berenice zolkiewska").await, one);
    assert_eq!(found("berenice besancon").await.len(), 1);
    assert!(found("berenice grenoble").await.is_empty());
}

#[tokio::test]
async fn lists_find_changed_records_by_what_they_are_now() {
    let practice = Practice::with_documents(3).await;
    for (path, member) in [("/contacts", "legalName"), ("/patients", "lastName")] {
        let old = json!({ member: "Ancienneville", "email": "old@mail.example" });
        let uuid = text(&practice.post(path, &old).await.fine(), "uuid");
        let new = json!({ member: "Nouvelleville", "email": "new@mail.example" });
        practice.patch(&format!("{path}/{uuid}"), &new).await.fine();
        for (name, old, new) in [
            ("search", "ancienneville", "nouvelleville"),
            (member, "Ancienneville", "Nouvelleville"),
            ("email", "old@mail.example", "new@mail.example"),
        ] {
            assert!(practice.list(path, &[(name, old)]).await.is_empty(), "{path} {name}");
            assert_eq!(uuids(&practice.list(path, &[(name, new)]).await), std::slice::from_ref(&uuid), "{path} {name}");
        }
    }
    let document = practice.all("/documents").await.remove(0);
    let new = json!({"lastName": "Nouvelleville", "email": "other@mail.example"});
    practice.patch(&format!("/patients/{}", text(&document, "patient")), &new).await.fine();
    for (name, value) in [("search", "nouvelleville"), ("patient.email", "other@mail.example")] {
        let found = practice.list("/documents", &[(name, value)]).await;
        assert!(found.contains(&document) && found.iter().all(|item| item["patient"] == document["patient"]), "{name}");
    }
}

#[tokio::test]
async fn methods_that_no_table_lists_are_refused() {
    let practice = Practice::with_documents(2).await;
    let first = async |path: &str| format!("{path}/{}", text(&practice.all(path).await[0], "uuid"));
    for (path, listed) in [
        ("/audios".to_owned(), vec!["GET"]),
        (first("/audios").await, vec!["GET"]),
        ("/contacts".to_owned(), vec!["GET", "POST"]),
        (first("/contacts").await, vec!["GET", "PATCH"]),
        ("/documents".to_owned(), vec!["GET"]),
        (first("/documents").await, vec!["GET"]),
        (format!("{}/status", first("/documents").await), vec!["POST"]),
        ("/notes".to_owned(), vec!["GET"]),
        (first("/notes").await, vec!["GET"]),
        ("/organizations".to_owned(), vec!["GET"]),
        (first("/organizations").await, vec!["GET"]),
        ("/patients".to_owned(), vec!["GET", "POST"]),
        (first("/patients").await, vec!["GET", "PATCH"]),
        ("/me".to_owned(), vec!["GET"]),
        (format!("/users/{}", samples::uuid_of(&practice, practice.sandbox.api_key()).await), vec!["GET"]),
        ("/webhooks".to_owned(), vec!["GET", "POST"]),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"].iter().filter(|method| !listed.contains(method)) {
            let answer = practice.send_in_version("1.1.0", method, &path, &json!({})).await;
            assert_eq!(answer.status, 405, "{method} {path}");
            answer.assert_problem(405);
        }
    }
}

#[tokio::test]
async fn every_list_is_also_offered_as_a_json_ld_collection_of_the_same_items() {
    let practice = filled(2).await;
    for path in LISTS {
        let items = practice.all(path).await;
        let linked = practice.linked(&format!("{path}?itemsPerPage=100")).await;
        for name in ["@context", "@id", "@type"] {
            assert!(linked[name].is_string(), "{name} of {path}");
        }
        assert_eq!(linked["totalItems"], items.len(), "{path}");
        let members = linked["member"].as_array().unwrap();
        assert_eq!(members.iter().map(plain).collect::<Vec<_>>(), items, "{path}");
        for member in members {
            let address = text(member, "@id");
            assert_eq!(address, format!("{path}/{}", text(member, "uuid")));
            assert!(member["@type"].is_string());
            assert_eq!(practice.get(&address).send().await.unwrap().status(), 200, "{address}");
        }
    }
}

#[tokio::test]
async fn every_read_is_also_offered_as_a_json_ld_item_of_the_same_record() {
    let practice = filled(2).await;
    let mut paths = vec!["/me".to_owned(), format!("/users/{}", samples::uuid_of(&practice, "mine").await)];
    for list in LISTS {
        paths.extend(practice.all(list).await.iter().map(|item| format!("{list}/{}", text(item, "uuid"))));
    }
    assert!(paths.len() > 15);
    for path in paths {
        let linked = practice.linked(&path).await;
        for name in ["@context", "@id", "@type"] {
            assert!(linked[name].is_string(), "{name} of {path}");
        }
        assert_eq!(plain(&linked), practice.json(&path).await, "{path}");
    }
}

#[tokio::test]
async fn created_and_changed_records_are_also_offered_as_json_ld() {
    let practice = Practice::with_documents(1).await;
    for path in ["/contacts", "/patients"] {
        let request = practice.request("POST", path).header("accept", "application/ld+json").json(&json!({}));
        let created: Value = request.send().await.unwrap().json().await.unwrap();
        assert!(created["@id"].is_string() && created["@type"].is_string());
        assert_eq!(plain(&created), practice.json(&format!("{path}/{}", text(&created, "uuid"))).await);
    }
}

#[tokio::test]
async fn requests_without_a_valid_bearer_token_are_refused_everywhere() {
    let practice = Practice::with_documents(1).await;
    for path in LISTS.iter().chain(&["/me", "/users/x", "/documents/x"]) {
        let address = practice.address(path);
        assert_eq!(practice.client.get(&address).send().await.unwrap().status(), 401, "{path}");
        let wrong = practice.client.get(&address).bearer_auth("wrong");
        assert_eq!(wrong.send().await.unwrap().status(), 401, "{path}");
        let basic = practice.client.get(&address).basic_auth(practice.sandbox.api_key(), Some(""));
        assert_eq!(basic.send().await.unwrap().status(), 401, "{path}");
    }
}
