//! Reads JSON bodies and says what is wrong with them.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::describe::{Kind, Record};
use crate::json;

/// The JSON body of a request. Otherwise 415 for another media type, 400 for invalid JSON, 422 for another shape.
pub(super) struct Taken<T>(pub T);

/// A number of invented records.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invented {
    pub count: usize,
}

/// The bytes of any body.
pub(super) struct TakenBytes(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for TakenBytes {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Bytes::from_request(request, state).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(rejection) => Err(Refusal::new(rejection.status().as_u16(), rejection.body_text())),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Taken<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let media_type = media_type(&request);
        if !media_type.ends_with("/json") && !media_type.ends_with("+json") {
            return Err(Refusal::new(
                415,
                format!("the body must be JSON and say so with Content-Type: application/json, not \"{media_type}\""),
            ));
        }
        let TakenBytes(bytes) = TakenBytes::from_request(request, state).await?;
        let value: Value =
            serde_json::from_slice(&bytes).map_err(|error| Refusal::bad_request(format!("no JSON: {error}")))?;
        understood(value).map(Self)
    }
}

/// JSON as this type; 422 for another shape.
pub(super) fn understood<T: DeserializeOwned>(value: impl Into<Value>) -> Result<T, Refusal> {
    json::understood(value).map_err(Refusal::unprocessable)
}

/// Refuses unknown members at every depth: a mistyped name would otherwise have no effect, and nobody would notice.
pub(super) fn known_members(place: &str, members: &Map<String, Value>, record: &Record) -> Result<(), Refusal> {
    for (name, value) in members {
        let Some(field) = record.fields.iter().find(|field| field.name == name) else {
            let names: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
            return Err(Refusal::unprocessable(format!(
                "{place}{name}: there is no such member; there are {}",
                names.join(", ")
            )));
        };
        known_inside(&format!("{place}{name}"), value, &field.kind)?;
    }
    Ok(())
}

fn known_inside(place: &str, value: &Value, kind: &Kind) -> Result<(), Refusal> {
    match (value, kind) {
        (Value::Object(members), Kind::Record(record)) => known_members(&format!("{place}."), members, record),
        (Value::Array(values), Kind::ListOf(kind)) => values
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| known_inside(&format!("{place}[{index}]"), value, kind)),
        _ => Ok(()),
    }
}

/// The media type without its parameters, in lower case.
pub(super) fn media_type(request: &Request) -> String {
    let given = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
