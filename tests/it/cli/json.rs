//! `--json`: docs/json.md is held to what the program prints, field by field and type by type.

use std::collections::{BTreeMap, BTreeSet};

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, NewPdf, Options, Route};
use serde_json::Value;

use crate::dictated::add_refused;
use crate::harness::Practice;

/// The types that were seen in each place of a JSON text: `accounts[].account`.
type Shape = BTreeMap<String, BTreeSet<&'static str>>;

fn gather(value: &Value, path: &str, shape: &mut Shape) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    // The whole and the elements of an array have no name of their own.
    if !path.is_empty() && !path.ends_with("[]") {
        shape.entry(path.to_owned()).or_default().insert(kind);
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, &format!("{path}[]"), shape)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                gather(value, &place, shape);
            }
        }
        _ => {}
    }
}

fn shape(value: &Value) -> Shape {
    let mut shape = Shape::new();
    gather(value, "", &mut shape);
    shape
}

/// One section of docs/json.md: the fields of its table with their types, and its example.
struct Section {
    fields: BTreeMap<String, String>,
    example: Value,
}

fn documented(heading: &str) -> Section {
    let page = include_str!("../../../docs/json.md");
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let section = rest.split("\n## ").next().unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
        Some((name.to_owned(), (*cells.get(2)?).to_owned()))
    };
    let example = section.split("```json\n").nth(1).and_then(|text| text.split("```").next()).unwrap();
    Section { fields: section.lines().filter_map(row).collect(), example: serde_json::from_str(example).unwrap() }
}

/// What is printed has exactly the documented fields, each of a documented type; so has the example.
pub fn assert_as_documented(heading: &str, printed: &Value) {
    let Section { fields, example } = documented(heading);
    for (what, value) in [("the output", printed), ("the example", &example)] {
        let shape = shape(value);
        let names = |map: Vec<&String>| map.into_iter().cloned().collect::<Vec<_>>();
        assert_eq!(names(shape.keys().collect()), names(fields.keys().collect()), "{heading}, {what}: {value:#}");
        for (name, kinds) in &shape {
            let allowed: Vec<&str> = fields[name].split(" or ").collect();
            assert!(
                kinds.iter().all(|kind| allowed.contains(kind)),
                "{heading}, {what}: {name} is {kinds:?}: {allowed:?}"
            );
        }
    }
}

async fn printed(practice: &Practice, args: &[&str]) -> Value {
    let ended = practice.docsyncd(&[args, &["--json"]].concat()).await;
    let good = if args == ["status"] { &[0, 4][..] } else { &[0] };
    assert!(good.contains(&ended.code) && ended.stderr.is_empty(), "{args:?}: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[tokio::test]
async fn before_any_ledger_the_shapes_are_the_same() {
    let practice = Practice::with_documents(0).await;
    let status = printed(&practice, &["status"]).await;
    let mut expected = documented("docsyncd status --json").fields;
    // Nothing was polled and nothing is paused: the arrays are empty, but for what is configured.
    expected.retain(|name, _| {
        !name.contains("[]") || ["sign_ins", "destinations"].iter().any(|part| name.starts_with(part))
    });
    assert_eq!(shape(&status).keys().cloned().collect::<Vec<_>>(), expected.keys().cloned().collect::<Vec<_>>());
    assert_eq!((&status["running"], &status["waiting"], &status["failed"]), (&false.into(), &0.into(), &0.into()));
    assert_eq!((&status["last_success"], &status["process"]["pid"]), (&Value::Null, &Value::Null));
    let list = practice.docsyncd(&["list", "--json"]).await;
    assert_eq!((list.code, list.stdout.as_str()), (0, "[]\n"), "{list:?}");
    assert!(!practice.path("state").exists(), "looking creates nothing");
}

#[tokio::test]
async fn status_list_and_show_are_as_documented() {
    let practice = Practice::with_documents(2).await;
    let refused = add_refused(&practice).await;
    let untyped = NewDocument { document_type: Some(None), pdf: NewPdf::None, ..NewDocument::default() };
    let untyped = practice.sandbox.add(untyped).await.unwrap();
    std::fs::create_dir(practice.path("state")).unwrap();
    practice.configure(
        "[destinations.gone]\ntype = \"folder\"\npath = 'gone'\n[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"gone\"]\n\
         [[routes]]\nto = [\"pms\"]",
    );
    let stuck = NewDocument { document_type: Some(Some("lab_slip".into())), ..NewDocument::default() };
    let stuck = practice.sandbox.add(stuck).await.unwrap();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");

    let status = printed(&practice, &["status"]).await;
    assert_as_documented("docsyncd status --json", &status);
    assert_eq!(status["failed"], 1);
    assert_eq!(status["pauses"][0]["scope"], "destination:gone");
    let counted: i64 = status["documents"].as_object().unwrap().values().map(|count| count.as_i64().unwrap()).sum();
    assert_eq!(counted, 5);

    let list = printed(&practice, &["list"]).await;
    assert_as_documented("docsyncd list --json", &list);
    assert_eq!(list.as_array().unwrap().len(), 5);

    for uuid in [&refused, &stuck, &practice.sandbox.documents().await.unwrap()[0].uuid] {
        let shown = printed(&practice, &["show", uuid]).await;
        let at = shown["history"][0]["at"].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z') && at.contains('.'), "milliseconds: {at}");
        if !shown["deliveries"].as_array().unwrap().is_empty() {
            assert_as_documented("docsyncd show UUID --json", &shown);
        }
    }
    let reasons = printed(&practice, &["show", &untyped]).await;
    assert_eq!((&reasons["type"], &reasons["state"]), (&Value::Null, &"discovered".into()));
}

#[tokio::test]
async fn find_and_preview_are_as_documented() {
    let practice = Practice::with_documents(2).await;
    assert_as_documented("docsyncd preview --json", &printed(&practice, &["preview"]).await);
    assert_eq!(printed(&practice, &["sync", "--dry-run"]).await, printed(&practice, &["preview"]).await);
    assert_eq!(practice.sync().await.code, 0);
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    assert_as_documented("docsyncd find WORD... --json", &printed(&practice, &["find", &uuid]).await);
}

#[tokio::test]
async fn check_is_as_documented_and_its_exit_code_is_the_same() {
    let practice = Practice::with_documents(2).await;
    let checked = printed(&practice, &["check"]).await;
    assert_as_documented("docsyncd check --json", &checked);
    assert_eq!((&checked["ok"], &checked["accounts"][0]["waiting"]), (&true.into(), &2.into()));
    assert!(checked["accounts"][0]["bytes"].as_u64().unwrap() > 1000, "{checked}");
    std::fs::remove_dir(practice.inbox()).unwrap();
    let failed = practice.docsyncd(&["check", "--json"]).await;
    let found: Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((failed.code, &found["ok"]), (1, &false.into()), "{failed:?}");
    practice.configure_wholly("[nothing]");
    let wrong = practice.docsyncd(&["check", "--json"]).await;
    let found: Value = serde_json::from_str(&wrong.stdout).unwrap();
    assert_eq!((wrong.code, &found["checks"][0]["what"]), (2, &"config".into()), "{wrong:?}");
}

#[tokio::test]
async fn a_failed_poll_is_in_the_status() {
    let mut practice = Practice::with_documents(0).await;
    practice.without_patience();
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(500)));
    practice.sync().await;
    let status = printed(&practice, &["status"]).await;
    assert!(status["accounts"][0]["poll_error"].as_str().unwrap().contains("HTTP 500"), "{status}");
    assert_eq!(status["accounts"][0]["last_poll"], Value::Null);
}

#[tokio::test]
async fn every_event_in_a_history_is_documented() {
    let page = include_str!("../../../docs/json.md");
    for event in docsyncd::domain::state::EVENTS {
        // `fetched` and the like; `delivered`, `postponed` and others come from the ledger itself.
        assert!(page.contains(&format!("`{}`", event.as_str())), "{}", event.as_str());
    }
    for state in docsyncd::domain::state::STATES {
        assert!(page.contains(&format!("`documents.{state}`")), "{state}");
    }
}

#[tokio::test]
async fn config_show_is_as_documented() {
    let practice = Practice::with_documents(0).await;
    assert_as_documented("docsyncd config show --json", &printed(&practice, &["config", "show"]).await);
}

#[tokio::test]
async fn a_document_that_several_accounts_list_is_one_document() {
    // Two keys of the same user.
    let keys = vec![ApiKey::new("key-a"), ApiKey::new("key-b")];
    let practice = Practice::with_options(Options { documents: 1, api_keys: keys, ..Options::default() }).await;
    practice.write_secret("key-b", "key-b");
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    let ended = practice.sync().await;
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let shown = printed(&practice, &["show", &uuid]).await;
    assert!(["main", "second"].contains(&shown["account"].as_str().unwrap()), "{ended:?} {shown}");
    assert_as_documented("docsyncd show UUID --json", &shown);
}
