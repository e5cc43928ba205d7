//! Contacts: list, create, read, change.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::Problem;
use super::input::InputBody;
use super::merge_patch::{fill, overlay};
use super::request_context::{PathParams, RequestContext};
use crate::describe::records::CONTACT_INPUT;
use crate::shared::Shared;
use crate::store::SharedTable;
use crate::store::collection::CONTACTS;

/// The member that is accepted and never shown.
const UNSEEN: &[&str] = &["customPrompt"];

/// What a new contact has besides what was sent, in the order in which it is shown.
const NEW: &[(&str, Option<&str>)] = &[
    ("uuid", None),
    ("firstName", None),
    ("lastName", None),
    ("legalName", None),
    ("gender", Some("unknown")),
    ("languageSpoken", Some("fr")),
    ("createdAt", None),
    ("updatedAt", None),
    ("email", None),
    ("visibilityOption", Some("shared")),
    ("phone", None),
    ("specialty", None),
    ("streetAddress", None),
    ("postalCode", None),
    ("city", None),
    ("country", None),
];

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let request = context.list(&CONTACTS)?;
    let page = shared
        .store
        .run(move |transaction| {
            request.read(transaction, |transaction, id| SharedTable::Contacts.by_id(transaction, id))
        })
        .await?;
    let shape = context.shape(&shared);
    let shown = page.rows.iter().map(|row| shape.known_by_all(row.record.clone())).collect();
    Ok(context.page(&page, shown))
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let user = context.user.clone();
    let (row, _) =
        shared.store.decide(move |transaction| SharedTable::Contacts.seen(transaction, &uuid, &user)).await?;
    Ok(context.item(context.shape(&shared).known_by_all(row.record)))
}

pub(super) async fn create(
    State(shared): State<Arc<Shared>>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let members = sent.whole(&CONTACT_INPUT, context.version)?;
    let (record, unseen) = fill(NEW, UNSEEN, members, &shared.fresh_uuid(), &shared.clock.now());
    let user = context.user.clone();
    let record = shared
        .store
        .run(move |transaction| {
            SharedTable::Contacts.put(transaction, &user, &record, &unseen)?;
            Ok(record)
        })
        .await?;
    Ok(context.created(context.shape(&shared).known_by_all(record)))
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let now = shared.clock.now();
    let user = context.user.clone();
    let version = context.version;
    let row = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let (mut row, owner) = SharedTable::Contacts.seen(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(&CONTACT_INPUT, version)?, UNSEEN, &now);
            SharedTable::Contacts.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok(row)
        })
        .await?;
    Ok(context.item(context.shape(&shared).known_by_all(row.record)))
}
