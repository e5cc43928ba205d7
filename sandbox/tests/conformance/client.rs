//! Requests of all kinds, in the words of the tests.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::harness::{PROBLEM, Practice, members, text};

pub const JSON: &str = "application/json";
pub const LD_JSON: &str = "application/ld+json";
pub const MERGE_PATCH: &str = "application/merge-patch+json";

/// A response with its body read.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub media_type: String,
    pub body: Value,
}

impl Answer {
    async fn of(response: Response) -> Self {
        let media_type = response.headers().get("content-type").map_or("", |value| value.to_str().unwrap());
        let media_type = media_type.split(';').next().unwrap().to_owned();
        let status = response.status().as_u16();
        let bytes = response.bytes().await.unwrap();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Self { status, media_type, body }
    }

    /// The body of an answer that tells of success, in plain JSON.
    #[track_caller]
    pub fn fine(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        assert_eq!(self.media_type, JSON);
        self.body
    }

    /// Asserts the error body of 400, 403, 404 and their like ("API errors").
    #[track_caller]
    pub fn assert_problem(&self, status: u16) {
        assert_eq!((self.status, self.media_type.as_str()), (status, LD_JSON), "{self:?}");
        assert_eq!(members(&self.body), PROBLEM, "{self:?}");
        assert_eq!(self.body["status"], json!(status));
        for name in ["@id", "@type", "title", "detail", "type"] {
            assert!(self.body[name].is_string(), "{name} of {}", self.body);
        }
        for name in ["description", "instance"] {
            assert!(self.body[name].is_string() || self.body[name].is_null(), "{name} of {}", self.body);
        }
    }

    /// Asserts the error body of 422 and that it names exactly these fields.
    #[track_caller]
    pub fn assert_violations(&self, fields: &[&str]) {
        assert_eq!((self.status, self.media_type.as_str()), (422, LD_JSON), "{fields:?}: {self:?}");
        let mut expected = PROBLEM.to_vec();
        expected.push("violations");
        assert_eq!(members(&self.body), expected, "{self:?}");
        assert_eq!(self.body["status"], json!(422));
        for name in ["@id", "@type"] {
            assert!(self.body[name].is_string(), "{name} of {}", self.body);
        }
        for name in ["title", "instance"] {
            assert!(self.body[name].is_string() || self.body[name].is_null(), "{name} of {}", self.body);
        }
        let violations = self.body["violations"].as_array().unwrap();
        let mut named: Vec<String> = violations.iter().map(|one| text(one, "propertyPath")).collect();
        named.sort_unstable();
        let mut fields = fields.to_vec();
        fields.sort_unstable();
        assert_eq!(named, fields, "{self:?}");
        for violation in violations {
            assert_eq!(members(violation), ["message", "propertyPath"]);
            assert!(!text(violation, "message").is_empty());
        }
    }
}

impl Practice {
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, self.address(path)).bearer_auth(self.sandbox.api_key())
    }

    pub async fn ask(&self, method: &str, path: &str) -> Answer {
        Answer::of(self.request(method, path).send().await.unwrap()).await
    }

    /// A request with a body of a media type.
    pub async fn send_as(&self, method: &str, path: &str, media_type: &str, body: impl Into<String>) -> Answer {
        let request = self.request(method, path).header("content-type", media_type).body(body.into());
        Answer::of(request.send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send_as("POST", path, JSON, body.to_string()).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send_as("PATCH", path, MERGE_PATCH, body.to_string()).await
    }

    /// A GET in one of the versions.
    pub async fn in_version(&self, version: &str, path: &str) -> Answer {
        Answer::of(self.get(path).header("api-version", version).send().await.unwrap()).await
    }

    /// Any request in one of the versions.
    pub async fn send_in_version(&self, version: &str, method: &str, path: &str, body: &Value) -> Answer {
        let media_type = if method == "PATCH" { MERGE_PATCH } else { JSON };
        let request = self.request(method, path).header("api-version", version).header("content-type", media_type);
        Answer::of(request.body(body.to_string()).send().await.unwrap()).await
    }

    /// A GET that accepts JSON-LD.
    pub async fn linked(&self, path: &str) -> Value {
        let answer = Answer::of(self.get(path).header("accept", LD_JSON).send().await.unwrap()).await;
        assert_eq!((answer.status, answer.media_type.as_str()), (200, LD_JSON), "{path}");
        answer.body
    }

    /// A GET with parameters, which are percent-encoded; the items of the list.
    pub async fn list(&self, path: &str, query: &[(&str, &str)]) -> Vec<Value> {
        let response = self.get(path).query(query).send().await.unwrap();
        let answer = Answer::of(response).await;
        assert_eq!(answer.status, 200, "{path} {query:?}: {answer:?}");
        answer.body.as_array().unwrap().clone()
    }

    /// All items of a list that fits on one page.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        self.list(path, &[("itemsPerPage", "100")]).await
    }

    /// Refused with 400 and its body.
    pub async fn assert_refused(&self, path: &str, query: &[(&str, &str)]) {
        let answer = Answer::of(self.get(path).query(query).send().await.unwrap()).await;
        assert_eq!(answer.status, 400, "{path} {query:?}: {answer:?}");
        answer.assert_problem(400);
    }
}

/// The uuids of records.
pub fn uuids(records: &[Value]) -> Vec<String> {
    records.iter().map(|record| text(record, "uuid")).collect()
}
