//! Webhooks of the API (API, "Webhook"). The description does not show their fields; these are the minimum that works.

use reqwest::Method;
use secrecy::SecretString;
use serde_json::Value;

use super::transport::{Body, Reach};
use super::{ApiError, Client, PAGE_SIZE, json};

/// The most pages of the list that are read.
const MAX_PAGES: usize = 10;
/// The events that docsyncd subscribes to.
const EVENTS: [&str; 2] = ["document.created", "document.updated"];

/// A registered webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its identifier.
    pub uuid: String,
    /// The address that it calls.
    pub url: String,
    /// Whether it is active.
    pub is_active: bool,
}

/// A new webhook.
pub struct NewWebhook {
    /// Its identifier.
    pub uuid: String,
    /// The key that signs its deliveries (Standard Webhooks).
    pub secret: SecretString,
}

fn text(record: &Value, field: &str) -> Option<String> {
    record.get(field)?.as_str().map(str::to_owned).filter(|text| !text.is_empty())
}

impl Webhook {
    fn read(record: &Value) -> Option<Self> {
        let is_active = record.get("isActive").and_then(Value::as_bool).unwrap_or(true);
        Some(Self { uuid: text(record, "uuid")?, url: text(record, "url")?, is_active })
    }
}

impl Client {
    pub(super) async fn list_webhooks(&self) -> Result<Vec<Webhook>, ApiError> {
        let mut found = Vec::new();
        for page in 1..=MAX_PAGES {
            let mut url = self.transport.endpoint(&["webhooks"]);
            let size = PAGE_SIZE.to_string();
            url.query_pairs_mut().append_pair("itemsPerPage", &size).append_pair("page", &page.to_string());
            let read = |body: &[u8]| {
                json::elements(body, &|records: &mut Vec<Option<Webhook>>, element| {
                    records.push(json::parse(element.as_bytes()).ok().as_ref().and_then(Webhook::read));
                })
            };
            let records = self.read_list(&url, read).await?;
            let count = records.len();
            found.extend(records.into_iter().flatten());
            if count < PAGE_SIZE {
                break;
            }
        }
        Ok(found)
    }

    pub(super) async fn post_webhook(&self, target: &str) -> Result<NewWebhook, ApiError> {
        let url = self.transport.endpoint(&["webhooks"]);
        let body = json!({"url": target, "events": EVENTS, "description": "docsyncd", "isActive": true});
        let bytes = body.to_string().into_bytes();
        let body = Body { media_type: "application/json", bytes, is_idempotent: false };
        let record = json::parse(&self.read(Method::POST, &url, Some(&body)).await?)?;
        match (text(&record, "uuid"), text(&record, "secret")) {
            (Some(uuid), Some(secret)) => Ok(NewWebhook { uuid, secret: SecretString::from(secret) }),
            _ => Err(ApiError::Shape("a webhook with its uuid and secret was expected".to_owned())),
        }
    }

    /// A webhook that no longer exists counts as removed.
    pub(super) async fn delete_webhook(&self, uuid: &str) -> Result<(), ApiError> {
        let url = self.transport.endpoint(&["webhooks", uuid]);
        match self.send_ok(Method::DELETE, &url, Reach::Api, None).await {
            Ok(_) | Err(ApiError::Status { status: 404 | 410, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
