//! Contacts: list, create, read, change.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::Problem;
use super::asked::{Asked, InPath};
use super::input::Sent;
use super::written::{fill, overlay};
use crate::describe::records::CONTACT_INPUT;
use crate::shared::Shared;
use crate::store::Shelf;
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

pub(super) async fn list(State(shared): State<Arc<Shared>>, asked: Asked) -> Result<Response, Problem> {
    let request = asked.list(&CONTACTS)?;
    let page = shared
        .store
        .run(move |transaction| request.read(transaction, |transaction, id| Shelf::Contacts.by_id(transaction, id)))
        .await?;
    let shape = asked.shape(&shared);
    let shown = page.rows.iter().map(|row| shape.known_by_all(row.record.clone())).collect();
    Ok(asked.page(&page, shown))
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    InPath(uuid): InPath<String>,
    asked: Asked,
) -> Result<Response, Problem> {
    let user = asked.user.clone();
    let (row, _) = shared.store.decide(move |transaction| Shelf::Contacts.seen(transaction, &uuid, &user)).await?;
    Ok(asked.item(asked.shape(&shared).known_by_all(row.record)))
}

pub(super) async fn create(State(shared): State<Arc<Shared>>, asked: Asked, sent: Sent) -> Result<Response, Problem> {
    let members = sent.whole(&CONTACT_INPUT, asked.version)?;
    let (record, unseen) = fill(NEW, UNSEEN, members, &shared.fresh_uuid(), &shared.clock.now());
    let user = asked.user.clone();
    let record = shared
        .store
        .run(move |transaction| {
            Shelf::Contacts.put(transaction, &user, &record, &unseen)?;
            Ok(record)
        })
        .await?;
    Ok(asked.created(asked.shape(&shared).known_by_all(record)))
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    InPath(uuid): InPath<String>,
    asked: Asked,
    sent: Sent,
) -> Result<Response, Problem> {
    let now = shared.clock.now();
    let user = asked.user.clone();
    let version = asked.version;
    let row = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let (mut row, owner) = Shelf::Contacts.seen(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(&CONTACT_INPUT, version)?, UNSEEN, &now);
            Shelf::Contacts.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok(row)
        })
        .await?;
    Ok(asked.item(asked.shape(&shared).known_by_all(row.record)))
}
