//! Operations of the OpenAPI document: one for each endpoint, and the token endpoint.

use serde_json::{Map, Value, json};

use super::super::endpoints::{Answer, ENDPOINTS, Endpoint};
use super::super::field::Record;
use super::super::version::Version;
use super::example;
use super::parameter;
use super::schema::{Form, Schemas, reference};

const PROBLEM: &str = "application/ld+json";

/// One endpoint.
pub(super) fn operation(endpoint: &Endpoint, version: Version, usual: Version, schemas: &mut Schemas) -> Value {
    let mut parameters = vec![parameter::version(version, usual)];
    if endpoint.path.contains("{uuid}") {
        parameters.push(parameter::uuid());
    }
    if let Some(collection) = endpoint.list {
        parameters.extend(parameter::of_list(collection, version));
    }
    let mut operation = Map::new();
    operation.insert("operationId".into(), json!(name(endpoint)));
    operation.insert("summary".into(), json!(endpoint.summary));
    operation.insert("description".into(), json!(format!("Needs the scope {}.", endpoint.scopes.join(" or "))));
    operation.insert("tags".into(), json!([tag(endpoint)]));
    let mut security = vec![json!({ "bearerAuth": [] })];
    security.extend(endpoint.scopes.iter().map(|scope| json!({ "oauthAuthCode": [scope] })));
    operation.insert("security".into(), json!(security));
    operation.insert("parameters".into(), json!(parameters));
    if let Some(record) = endpoint.body {
        let (media_type, form) = match endpoint.method {
            "PATCH" => ("application/merge-patch+json", Form::Patch),
            _ => ("application/json", Form::Body),
        };
        let schema = schemas.of(record, form);
        operation
            .insert("requestBody".into(), json!({ "required": true, "content": { media_type: { "schema": schema } } }));
    }
    operation.insert("responses".into(), responses(endpoint, version, schemas));
    Value::Object(operation)
}

fn responses(endpoint: &Endpoint, version: Version, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    let links = links(endpoint, version);
    let mut well = |status: &str, description: &str, content: Option<Value>| {
        let mut response = Map::new();
        response.insert("description".into(), json!(description));
        if let Some(content) = content {
            response.insert("content".into(), content);
            if !links.is_empty() {
                response.insert("links".into(), json!(links));
            }
        }
        responses.insert(status.to_owned(), Value::Object(response));
    };
    match endpoint.answer {
        Answer::Item(record) => well("200", "The record.", Some(item(record, version, schemas))),
        Answer::List(record) => {
            let items = schemas.of(record, Form::Json);
            let content = json!({
                "application/json": {
                    "schema": { "type": "array", "items": items },
                    "example": [example::item(record, false, version)],
                },
                "application/ld+json": {
                    "schema": schemas.collection(record),
                    "example": example::collection(record, endpoint.path, version),
                },
            });
            well("200", "A page of the list.", Some(content));
        }
        Answer::Created(record) => well("201", "The new record.", Some(item(record, version, schemas))),
        Answer::Upserted(record) => {
            well("200", "The record that matched, updated.", Some(item(record, version, schemas)));
            well("201", "The new record.", Some(item(record, version, schemas)));
        }
        Answer::Nothing => well("204", "Done.", None),
    }
    let mut problems = vec![400, 403, 406];
    if endpoint.path.contains("{uuid}") {
        problems.push(404);
    }
    if endpoint.body.is_some() {
        problems.extend([413, 415, 422]);
    }
    problems.sort_unstable();
    responses.insert(
        "401".into(),
        json!({
            "description": "The token is missing, unknown or expired.",
            "headers": { "WWW-Authenticate": { "required": true, "schema": { "type": "string" } } },
            "content": { "application/json": {
                "schema": reference("Unauthorized"),
                "example": example::problem(401, ""),
            } },
        }),
    );
    for status in problems {
        let (schema, description) = match status {
            400 => ("Error", "A value could not be understood."),
            403 => ("Error", "Not for this user, or a scope is missing."),
            404 => ("Error", "There is no such record."),
            406 => ("Error", "None of the accepted media types is offered."),
            413 => ("Error", "The body is too large."),
            415 => ("Error", "The body's media type is not supported."),
            _ => ("ConstraintViolation", "Fields of the body are wrong; every one is named."),
        };
        let content =
            json!({ PROBLEM: { "schema": reference(schema), "example": example::problem(status, description) } });
        responses.insert(status.to_string(), json!({ "description": description, "content": content }));
    }
    Value::Object(responses)
}

fn item(record: &Record, version: Version, schemas: &mut Schemas) -> Value {
    json!({
        "application/json": {
            "schema": schemas.of(record, Form::Json),
            "example": example::item(record, false, version),
        },
        "application/ld+json": {
            "schema": schemas.of(record, Form::LdJson),
            "example": example::item(record, true, version),
        },
    })
}

/// The next operations after an answer: on the first record that it shows, and on the user.
fn links(endpoint: &Endpoint, version: Version) -> Map<String, Value> {
    let (record, user) = match (endpoint.path, endpoint.answer) {
        ("/me", _) => (None, Some("$response.body#/uuid")),
        ("/documents", _) => (Some("$response.body#/0/uuid"), Some("$response.body#/0/user")),
        (_, Answer::List(_)) => (Some("$response.body#/0/uuid"), None),
        (_, Answer::Created(_) | Answer::Upserted(_)) => (Some("$response.body#/uuid"), None),
        (_, Answer::Item(_) | Answer::Nothing) => (None, None),
    };
    let of_record = format!("{}/{{uuid}}", endpoint.path);
    let place = |other: &Endpoint| match other.path {
        "/users/{uuid}" => user,
        path if path.starts_with(&of_record) => record,
        _ => None,
    };
    ENDPOINTS
        .iter()
        .filter(|other| other.is_in(version))
        .filter_map(|other| {
            let link = json!({ "operationId": name(other), "parameters": { "uuid": place(other)? } });
            Some((name(other), link))
        })
        .collect()
}

/// `getDocuments`, `getDocument`, `postDocumentStatus`.
fn name(endpoint: &Endpoint) -> String {
    let mut name = endpoint.method.to_ascii_lowercase();
    let parts: Vec<&str> = endpoint.path.split('/').filter(|part| !part.is_empty()).collect();
    for (index, part) in parts.iter().enumerate() {
        if *part == "{uuid}" {
            continue;
        }
        let single = parts.get(index + 1) == Some(&"{uuid}") || endpoint.method == "POST";
        let part = if single && *part != "status" { part.trim_end_matches('s') } else { part };
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// The heading of the endpoint in the description.
fn tag(endpoint: &Endpoint) -> &'static str {
    match endpoint.path.split('/').nth(1) {
        Some("audios") => "Audio",
        Some("contacts") => "Contact",
        Some("documents") => "Document",
        Some("notes") => "Note",
        Some("organizations") => "Organization",
        Some("patients") => "Patient",
        Some("webhooks") => "Webhook",
        _ => "User",
    }
}

/// `POST /oauth2/token`.
pub(super) fn token() -> Value {
    let grant = |kind: &str, fields: &[&str]| {
        let mut properties = Map::new();
        properties.insert("grant_type".into(), json!({ "const": kind }));
        properties.extend(fields.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))));
        let required: Vec<String> = properties.keys().cloned().collect();
        json!({ "type": "object", "required": required, "properties": properties })
    };
    let failure = |description: &str, error: &str, told: &str| {
        json!({
            "description": description,
            "content": { "application/json": {
                "schema": reference("TokenError"),
                "example": { "error": error, "error_description": told },
            } },
        })
    };
    json!({
        "operationId": "postToken",
        "summary": "Exchanges an authorization code, or a refresh token, for new tokens.",
        "tags": ["Authentication"],
        "security": [],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "oneOf": [
                grant("authorization_code", &["code", "redirect_uri", "client_id", "client_secret"]),
                grant("refresh_token", &["refresh_token", "client_id", "client_secret"]),
            ] } } },
        },
        "responses": {
            "200": {
                "description": "New tokens; the refresh token that was used is dead.",
                "content": { "application/json": { "schema": {
                    "type": "object",
                    "required": ["token_type", "expires_in", "access_token", "refresh_token"],
                    "properties": {
                        "token_type": { "const": "Bearer" },
                        "expires_in": { "type": "integer", "minimum": 0 },
                        "access_token": { "type": "string" },
                        "refresh_token": { "type": "string" },
                        "scope": {
                            "type": "string",
                            "description": "Only where the person approved fewer scopes than were asked for.",
                        },
                    },
                    "additionalProperties": false,
                }, "example": {
                    "token_type": "Bearer",
                    "expires_in": 3600,
                    "access_token": "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwZjBjN2E0NCJ9.c2lnbmF0dXJl",
                    "refresh_token": "q0Jc1v6yM0b2lYw3Xr8eVt5uZp7nKd9s",
                } } },
            },
            "400": failure(
                "invalid_request, invalid_grant or unsupported_grant_type.",
                "invalid_grant",
                "The code has expired, or was used before.",
            ),
            "401": failure("invalid_client.", "invalid_client", "client_id or client_secret is wrong."),
        },
    })
}
