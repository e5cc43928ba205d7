//! A started sandbox and a client that holds its key.
#![allow(dead_code, reason = "each of the test binaries that include this uses its part of it")]

use docsyncd_sandbox::{Options, Sandbox};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response};
use serde_json::{Value, json};

pub struct Practice {
    pub sandbox: Sandbox,
    pub client: Client,
}

/// A client that speaks to this machine only. Built together with docsyncd, the HTTP crate asks for a TLS provider of
/// the caller's choice even where no TLS is spoken.
pub fn client() -> ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy()
}

impl Practice {
    pub async fn start(options: Options) -> Self {
        let client = client()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(std::time::Duration::from_secs(20))
            .build()
            .unwrap();
        Self { sandbox: Sandbox::start(options).await.unwrap(), client }
    }

    pub async fn with_documents(documents: usize) -> Self {
        Self::start(Options { documents, ..Options::default() }).await
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.address(path)).bearer_auth(self.sandbox.api_key())
    }

    pub fn address(&self, path: &str) -> String {
        if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.sandbox.url()) }
    }

    pub async fn json(&self, path: &str) -> Value {
        let response = self.get(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// The status and body of a request that is refused.
    pub async fn refused(&self, path: &str) -> (u16, Value) {
        status_and_body(self.get(path).send().await.unwrap()).await
    }

    /// The uuids of a list.
    pub async fn uuids(&self, query: &str) -> Vec<String> {
        let list = self.json(&format!("/documents?{query}")).await;
        list.as_array().unwrap().iter().map(|item| text(item, "uuid")).collect()
    }

    pub async fn report(&self, uuid: &str, body: Value) -> Response {
        self.client
            .post(self.address(&format!("/documents/{uuid}/status")))
            .bearer_auth(self.sandbox.api_key())
            .json(&body)
            .send()
            .await
            .unwrap()
    }

    pub async fn report_success(&self, uuid: &str) {
        let response = self.report(uuid, json!({"success": true, "error": null})).await;
        assert_eq!(response.status(), 200);
    }
}

pub async fn status_and_body(response: Response) -> (u16, Value) {
    (response.status().as_u16(), response.json().await.unwrap())
}

pub fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("{member} of {value}")).to_owned()
}

/// The names of an object's members, sorted.
pub fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

pub const PROBLEM: &[&str] =
    &["@context", "@id", "@type", "description", "detail", "instance", "status", "title", "type"];
