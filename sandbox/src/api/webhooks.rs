//! Webhooks: list, create, read, change, delete. All of their fields are "not shown" and the sandbox's choice.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rusqlite::Transaction;
use serde_json::{Map, Value, json};

use super::input::InputBody;
use super::render::Shape;
use super::request_context::{PathParams, RequestContext};
use crate::describe::records::WEBHOOK_INPUT;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::collection::WEBHOOKS;
use crate::store::{UserRow, WebhookRow};

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    context.list(&shared, &WEBHOOKS, WebhookRow::by_id, Shape::webhook).await
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let user = context.user.clone();
    let row = shared.store.decide(move |transaction| own(transaction, &uuid, &user)).await?;
    Ok(context.item(context.shape(&shared).webhook(&row)))
}

pub(super) async fn create(
    State(shared): State<Arc<Shared>>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let members = sent.whole(&WEBHOOK_INPUT, context.version)?;
    let now = shared.clock.now();
    let mut row = WebhookRow {
        id: 0,
        uuid: shared.fresh_uuid(),
        owner_id: context.user.id,
        url: String::new(),
        events: Vec::new(),
        description: None,
        is_active: true,
        secret: crate::hooks::fresh_secret()?,
        created_at: now.clone(),
        updated_at: now,
    };
    overlay(&mut row, members);
    let row = shared
        .store
        .run(move |transaction| {
            row.put(transaction)?;
            Ok(row)
        })
        .await?;
    let mut shown = context.shape(&shared).webhook(&row);
    shown.insert("secret".into(), json!(row.secret));
    Ok(context.created(shown))
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let user = context.user.clone();
    let version = context.version;
    let now: Moment = shared.clock.now();
    let row = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let mut row = own(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(&WEBHOOK_INPUT, version)?);
            row.updated_at = now;
            row.put(transaction)?;
            Ok(row)
        })
        .await?;
    // Deliveries that waited for an inactive webhook may be due now.
    shared.deliveries.notify_one();
    Ok(context.item(context.shape(&shared).webhook(&row)))
}

pub(super) async fn delete(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let user = context.user.clone();
    shared
        .store
        .decide(move |transaction| -> Result<_, Problem> { Ok(own(transaction, &uuid, &user)?.delete(transaction)?) })
        .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The user's webhook with this uuid: 404 if there is none, 403 if it is somebody else's.
fn own(transaction: &Transaction<'_>, uuid: &str, user: &UserRow) -> Result<WebhookRow, Problem> {
    let row = WebhookRow::by_uuid(transaction, uuid)?.ok_or_else(Problem::nothing_here)?;
    if row.owner_id == user.id { Ok(row) } else { Err(Problem::forbidden()) }
}

/// Applies checked members.
fn overlay(row: &mut WebhookRow, members: Map<String, Value>) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    for (name, value) in members {
        match name.as_str() {
            "url" => row.url = text(&value).unwrap_or_default(),
            "events" => {
                row.events = value.as_array().map_or_else(Vec::new, |all| all.iter().filter_map(text).collect())
            }
            "description" => row.description = text(&value),
            "isActive" => row.is_active = value.as_bool().unwrap_or(true),
            _ => {}
        }
    }
}
