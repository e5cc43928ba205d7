//! `POST /documents/{uuid}/status`: an integration says whether it has the document.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value};

use super::access::Caller;
use super::{Problem, documents, render};
use crate::shared::Shared;
use crate::store::DocumentRow;

/// The media types a body may have: the description names the first, the family takes both.
const MEDIA_TYPES: &[&str] = &["application/json", "application/ld+json"];

struct Report {
    success: Option<bool>,
    error: Option<String>,
}

/// What became of a report.
enum Outcome {
    Recorded(Box<DocumentRow>, Option<crate::store::LastStatus>),
    NotFound,
    Forbidden,
}

pub(super) async fn report(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(uuid): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    // Symfony resolves the resource before it looks at the body: 404 and 403 win over 400 and 422.
    let parsed = media_type(&headers).and_then(|()| Report::parse(&body));
    let quirks = shared.quirks();
    let at = shared.clock.key();
    let journal_entry;
    let outcome = {
        let quirks = quirks.clone();
        let (valid, invalid) = match parsed {
            Ok(report) => (Some(report), None),
            Err(problem) => (None, Some(problem)),
        };
        let (outcome, post) = shared
            .store
            .run(move |transaction| {
                let Some(row) = DocumentRow::by_uuid(transaction, &uuid)? else {
                    return Ok((Outcome::NotFound, None));
                };
                if row.owner_id != caller.user.id {
                    return Ok((Outcome::Forbidden, None));
                }
                let Some(report) = valid else {
                    return Ok((Outcome::Recorded(Box::new(row), None), None));
                };
                let post =
                    row.record_status(transaction, caller.user.id, report.success, report.error.as_deref(), at)?;
                if !quirks.stays_listed {
                    row.set_synchronized(transaction, report.success.is_some())?;
                }
                if quirks.touch_updated_at {
                    row.touch(transaction, at)?;
                }
                let row = DocumentRow::by_uuid(transaction, &post.document)?.unwrap_or(row);
                let last = row.last_status(transaction)?;
                Ok((Outcome::Recorded(Box::new(row), last), Some(post)))
            })
            .await?;
        journal_entry = post;
        match (outcome, invalid) {
            (Outcome::Recorded(..), Some(problem)) => return Err(problem),
            (outcome, _) => outcome,
        }
    };
    if let Some(post) = journal_entry {
        shared.journal.record_status(post);
    }
    match outcome {
        Outcome::NotFound => Err(Problem::not_found("Not Found")),
        Outcome::Forbidden => Err(Problem::forbidden()),
        Outcome::Recorded(row, last) => {
            let size = documents::size_of(&shared, &row).await?;
            let shape = render::Shape::of(&shared);
            Ok(render::answer(shape.full(&row, size, last.as_ref())))
        }
    }
}

fn media_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if MEDIA_TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(Problem::new(
        415,
        format!(
            "The content-type \"{essence}\" is not supported. Supported MIME types are \"{}\".",
            MEDIA_TYPES.join("\", \"")
        ),
    ))
}

impl Report {
    fn parse(body: &[u8]) -> Result<Self, Problem> {
        let value: Value = serde_json::from_slice(body).map_err(|_| Problem::bad_request("Syntax error"))?;
        let Value::Object(members) = value else {
            return Err(Problem::bad_request("The body must be a JSON object with the member \"success\"."));
        };
        let mut violations = Vec::new();
        let success = success_member(&members, &mut violations);
        let error = error_member(&members, &mut violations);
        if violations.is_empty() { Ok(Self { success, error }) } else { Err(Problem::Violations(violations)) }
    }
}

fn success_member(members: &Map<String, Value>, violations: &mut Vec<(&'static str, String)>) -> Option<bool> {
    match members.get("success") {
        Some(Value::Bool(success)) => return Some(*success),
        Some(Value::Null) => {}
        Some(_) => violations.push(("success", "This value should be of type bool|null.".into())),
        None => violations.push(("success", "This field is missing.".into())),
    }
    None
}

fn error_member(members: &Map<String, Value>, violations: &mut Vec<(&'static str, String)>) -> Option<String> {
    match members.get("error") {
        Some(Value::String(text)) => return Some(text.clone()),
        Some(Value::Null) | None => {}
        Some(_) => violations.push(("error", "This value should be of type string|null.".into())),
    }
    None
}
