//! Patients: list, read, upsert, change.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::Problem;
use super::asked::{Asked, InPath};
use super::input::Sent;
use super::render::printed;
use super::written::{fill, overlay};
use crate::describe::records::PATIENT_INPUT;
use crate::shared::Shared;
use crate::store::collection::PATIENTS;
use crate::store::{SharedRow, Shelf, UserRow};

/// The members that are accepted and never shown.
const UNSEEN: &[&str] = &["externalId", "externalCreatedAt", "customPrompt"];

/// What a new patient has besides what was sent, in the order in which it is shown.
const NEW: &[(&str, Option<&str>)] = &[
    ("uuid", None),
    ("firstName", None),
    ("lastName", None),
    ("languageSpoken", Some("fr")),
    ("createdAt", None),
    ("updatedAt", None),
    ("synchronizedAt", None),
    ("dateOfBirth", None),
    ("gender", None),
    ("visibilityOption", Some("shared")),
    ("email", None),
    ("phone", None),
    ("anonymousCode", None),
];

pub(super) async fn list(State(shared): State<Arc<Shared>>, asked: Asked) -> Result<Response, Problem> {
    let request = asked.list(&PATIENTS)?;
    let page = shared
        .store
        .run(move |transaction| request.read(transaction, |transaction, id| Shelf::Patients.by_id(transaction, id)))
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
    let (row, owner) = shared.store.decide(move |transaction| Shelf::Patients.seen(transaction, &uuid, &user)).await?;
    Ok(asked.item(asked.shape(&shared).patient(&row.record, &owner.record)))
}

/// Creates a patient, or changes the one that matches; the full matching rule is "not shown".
pub(super) async fn upsert(State(shared): State<Arc<Shared>>, asked: Asked, sent: Sent) -> Result<Response, Problem> {
    let members = sent.whole(&PATIENT_INPUT, asked.version)?;
    let now = shared.clock.now();
    let uuid = shared.fresh_uuid();
    let user = asked.user.clone();
    let (record, owner, created) = shared
        .store
        .run(move |transaction| match SharedRow::twin_of(transaction, &members, &user)? {
            Some(mut row) => {
                let owner = UserRow::by_id(transaction, row.owner_id)?;
                overlay(&mut row, members, UNSEEN, &now);
                // The practice's software has just brought it in line.
                row.record.insert("synchronizedAt".into(), printed(&now));
                Shelf::Patients.put(transaction, &owner, &row.record, &row.unseen)?;
                Ok((row.record, owner, false))
            }
            None => {
                let (record, unseen) = fill(NEW, UNSEEN, members, &uuid, &now);
                Shelf::Patients.put(transaction, &user, &record, &unseen)?;
                Ok((record, user, true))
            }
        })
        .await?;
    let shown = asked.shape(&shared).patient(&record, &owner.record);
    Ok(if created { asked.created(shown) } else { asked.item(shown) })
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
    let (row, owner) = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let (mut row, owner) = Shelf::Patients.seen(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(&PATIENT_INPUT, version)?, UNSEEN, &now);
            Shelf::Patients.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok((row, owner))
        })
        .await?;
    Ok(asked.item(asked.shape(&shared).patient(&row.record, &owner.record)))
}
