//! Answers: plain JSON, or JSON-LD with Hydra's collections, as API Platform writes them.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rusqlite::Transaction;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::query::{ListRequest, Page};
use super::render::{Shape, Shown};
use super::request_context::{Media, RequestContext};
use crate::describe::{Kind, Record, Version};
use crate::error::SandboxError;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::Collection;

impl RequestContext {
    /// The requested page: `load` reads its rows, and `show` shows them.
    pub async fn list<T: Send + 'static>(
        &self,
        shared: &Shared,
        collection: &'static Collection,
        load: impl Fn(&Transaction<'_>, i64) -> Result<T, SandboxError> + Send + 'static,
        show: impl Fn(&Shape, &T) -> Shown,
    ) -> Result<Response, Problem> {
        let request = ListRequest::parse(self, collection)?;
        let page = shared.store.run(move |transaction| request.read(transaction, load)).await?;
        let shape = self.shape(shared);
        let shown = page.rows.iter().map(|row| show(&shape, row)).collect();
        Ok(self.page(&page, shown))
    }

    /// How records are shown to this request.
    pub fn shape(&self, shared: &Shared) -> Shape {
        Shape::new(shared, Arc::clone(&self.quirks), self.version)
    }

    /// 200 with the endpoint's record.
    pub fn item(&self, shown: Map<String, Value>) -> Response {
        self.answer(StatusCode::OK, shown)
    }

    /// 201 with the endpoint's record.
    pub fn created(&self, shown: Map<String, Value>) -> Response {
        self.answer(StatusCode::CREATED, shown)
    }

    fn answer(&self, status: StatusCode, shown: Map<String, Value>) -> Response {
        let shown = match (self.media, self.endpoint.answer.record()) {
            (Media::LdJson, Some(record)) => {
                let mut whole = Map::new();
                whole.insert("@context".into(), json!(context(record)));
                whole.extend(linked(record, shown, self.version));
                whole
            }
            _ => shown,
        };
        self.send(status, &Value::Object(shown))
    }

    /// 200 with a page of a list; `shown` are the page's rows in their JSON shape.
    pub fn page<T>(&self, page: &Page<T>, shown: Vec<Map<String, Value>>) -> Response {
        let body = match (self.media, self.endpoint.answer.record()) {
            (Media::LdJson, Some(record)) => {
                let members: Vec<Value> =
                    shown.into_iter().map(|item| Value::Object(linked(record, item, self.version))).collect();
                let mut body = Map::new();
                body.insert("@context".into(), json!(context(record)));
                body.insert("@id".into(), json!(self.path));
                body.insert("@type".into(), json!("Collection"));
                body.insert("totalItems".into(), json!(page.total.unwrap_or(0)));
                body.insert("member".into(), Value::Array(members));
                body.insert("view".into(), self.view(page));
                Value::Object(body)
            }
            _ => Value::Array(shown.into_iter().map(Value::Object).collect()),
        };
        self.send(StatusCode::OK, &body)
    }

    /// Hydra's partial collection view: the addresses of this page and of its neighbours.
    fn view<T>(&self, page: &Page<T>) -> Value {
        let last = match (page.total, u64::from(page.items_per_page)) {
            (Some(total), items) if items > 0 => total.div_ceil(items).max(1),
            _ => 1,
        };
        let address = |number: u64| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(form_urlencoded::parse(self.query.as_bytes()).filter(|(name, _)| name != "page"));
            query.append_pair("page", &number.to_string());
            format!("{}?{}", self.path, query.finish())
        };
        let mut view = Map::new();
        view.insert("@id".into(), json!(address(page.page)));
        view.insert("@type".into(), json!("PartialCollectionView"));
        view.insert("first".into(), json!(address(1)));
        view.insert("last".into(), json!(address(last)));
        if page.page > 1 {
            view.insert("previous".into(), json!(address(page.page - 1)));
        }
        if page.page < last {
            view.insert("next".into(), json!(address(page.page + 1)));
        }
        Value::Object(view)
    }

    fn send(&self, status: StatusCode, body: &Value) -> Response {
        let media_type = format!("{}; charset=utf-8", self.media.essence());
        let headers = [(header::CONTENT_TYPE, media_type.as_str()), (header::VARY, "Accept, Api-Version")];
        (status, headers, body.to_string()).into_response()
    }
}

fn context(record: &Record) -> String {
    format!("/contexts/{}", record.resource)
}

/// A record and its parts with JSON-LD's `@id` and `@type`.
fn linked(record: &Record, mut shown: Map<String, Value>, version: Version) -> Map<String, Value> {
    let mut whole = Map::new();
    if let (Some(home), Some(uuid)) = (record.home, shown.get("uuid").and_then(Value::as_str)) {
        whole.insert("@id".into(), json!(format!("/{home}/{uuid}")));
    }
    whole.insert("@type".into(), json!(record.resource));
    for field in record.fields(version) {
        if let Some(value) = shown.get_mut(field.name) {
            if let Some(home) = field.leads_to() {
                address_of(home, value);
            }
            link_part(&field.kind, value, version);
        }
    }
    whole.extend(shown);
    whole
}

/// Replaces an identifier, or each of a list, with the address of its resource.
fn address_of(home: &str, value: &mut Value) {
    match value {
        Value::String(uuid) if !uuid.starts_with('/') => *uuid = format!("/{home}/{uuid}"),
        Value::Array(elements) => elements.iter_mut().for_each(|element| address_of(home, element)),
        _ => {}
    }
}

fn link_part(kind: &Kind, value: &mut Value, version: Version) {
    match (kind, value) {
        (Kind::Record(record), Value::Object(part)) => *part = linked(record, std::mem::take(part), version),
        // The shapes have the same names of members, so the fullest serves for all.
        (Kind::UuidOr([record, ..]), Value::Object(part)) => {
            *part = linked(record, std::mem::take(part), version);
        }
        (Kind::ListOf(kind), Value::Array(parts)) => {
            for part in parts {
                link_part(kind, part, version);
            }
        }
        _ => {}
    }
}
