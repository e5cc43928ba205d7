//! The admin surface: each of its routes, and every fault and habit put in force through it.

mod clock;
mod documents;
mod fault_kinds;
mod faults;
mod guard;
mod habits;
mod people;
mod quirks;
mod seen;

use docsyncd_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Practice, text};

/// A sandbox with an admin listener.
struct Run {
    practice: Practice,
    admin: String,
}

impl Run {
    async fn with_documents(documents: usize) -> Self {
        Self::start(Options { documents, ..Options::default() }).await
    }

    async fn start(options: Options) -> Self {
        let admin_listen = Some(([127, 0, 0, 1], 0).into());
        let practice = Practice::start(Options { admin_listen, ..options }).await;
        let admin = practice.sandbox.admin_url().unwrap();
        Self { practice, admin }
    }

    /// The status and the JSON of an answer; null when it has no body.
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.practice.client.request(method, format!("{}{path}", self.admin));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.text().await.unwrap();
        let json = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
        };
        (status, json)
    }

    async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask(Method::GET, path, None).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask(Method::POST, path, Some(body)).await
    }

    async fn delete(&self, path: &str) -> u16 {
        self.ask(Method::DELETE, path, None).await.0
    }

    /// Puts a fault in force and returns its id.
    async fn fault(&self, fault: Value) -> u64 {
        let (status, answer) = self.post("/admin/faults", fault).await;
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_u64().unwrap()
    }

    /// The error of a request that is refused with this status.
    async fn refused(&self, method: Method, path: &str, body: Option<Value>, wanted: u16) -> String {
        let (status, answer) = self.ask(method, path, body).await;
        assert_eq!(status, wanted, "{path}: {answer}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        text(&answer, "error")
    }

    async fn uuids(&self) -> Vec<String> {
        self.practice.uuids("").await
    }

    async fn document(&self, uuid: &str) -> Value {
        self.practice.json(&format!("/documents/{uuid}")).await
    }

    async fn pdf_address(&self, uuid: &str) -> String {
        text(&self.document(uuid).await["pdf"], "url")
    }

    /// The status of a plain request to the API.
    async fn status_of(&self, path: &str) -> u16 {
        self.practice.get(path).send().await.unwrap().status().as_u16()
    }
}

#[tokio::test]
async fn the_index_lists_routes_that_exist() {
    let run = Run::with_documents(1).await;
    let index = run.get("/admin").await;
    let entries = index.as_array().unwrap();
    assert!(entries.len() >= 18, "{index}");
    for entry in entries {
        let method: Method = text(entry, "method").parse().unwrap();
        let path = text(entry, "path").replace("{uuid}", "none").replace("{id}", "0");
        let (status, answer) = run.ask(method.clone(), &path, Some(json!({"nonsense": true}))).await;
        assert_ne!(status, 405, "{method} {path}");
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(!error.contains("GET /admin lists"), "{method} {path}: {error}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_clear_error() {
    let run = Run::with_documents(0).await;
    assert!(run.refused(Method::GET, "/admin/teeth", None, 404).await.contains("/admin/teeth"));
    assert!(run.refused(Method::PUT, "/admin/faults", None, 405).await.contains("PUT"));
    assert!(
        run.refused(Method::POST, "/admin/documents/none/listed", Some(json!({"listed": true})), 404)
            .await
            .contains("none")
    );
}

#[tokio::test]
async fn bodies_that_are_too_large_or_no_json_are_refused() {
    let run = Run::with_documents(0).await;
    let send = async |media_type: &str, body: String| {
        let request = run.practice.client.post(format!("{}/admin/faults", run.admin));
        let response = request.header("content-type", media_type).body(body).send().await.unwrap();
        (response.status().as_u16(), text(&response.json().await.unwrap(), "error"))
    };
    let form = send("application/x-www-form-urlencoded", "{}".into()).await;
    assert_eq!(form.0, 415);
    assert!(form.1.contains("application/json"));
    assert_eq!(send("application/json", "{".into()).await.0, 400);
    assert_eq!(send("application/json", " ".repeat(1024 * 1024 + 1)).await.0, 413);
}
