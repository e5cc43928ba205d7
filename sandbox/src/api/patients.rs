//! Patients: list, read, upsert, change.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::Problem;
use super::input::InputBody;
use super::merge_patch::{fill, overlay};
use super::render::printed;
use super::request_context::{PathParams, RequestContext};
use crate::describe::records::PATIENT_INPUT;
use crate::shared::Shared;
use crate::store::collection::PATIENTS;
use crate::store::{SharedRow, SharedTable, UserRow};

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

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let request = context.list(&PATIENTS)?;
    let page = shared
        .store
        .run(move |transaction| {
            request.read(transaction, |transaction, id| SharedTable::Patients.by_id(transaction, id))
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
    let (row, owner) =
        shared.store.decide(move |transaction| SharedTable::Patients.seen(transaction, &uuid, &user)).await?;
    Ok(context.item(context.shape(&shared).patient(&row.record, &owner.record)))
}

/// Creates a patient, or changes the one that matches; the full matching rule is "not shown".
pub(super) async fn upsert(
    State(shared): State<Arc<Shared>>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let members = sent.whole(&PATIENT_INPUT, context.version)?;
    let now = shared.clock.now();
    let uuid = shared.fresh_uuid();
    let user = context.user.clone();
    let (record, owner, created) = shared
        .store
        .run(move |transaction| match SharedRow::twin_of(transaction, &members, &user)? {
            Some(mut row) => {
                let owner = UserRow::by_id(transaction, row.owner_id)?;
                overlay(&mut row, members, UNSEEN, &now);
                // The practice's software has just brought it in line.
                row.record.insert("synchronizedAt".into(), printed(&now));
                SharedTable::Patients.put(transaction, &owner, &row.record, &row.unseen)?;
                Ok((row.record, owner, false))
            }
            None => {
                let (record, unseen) = fill(NEW, UNSEEN, members, &uuid, &now);
                SharedTable::Patients.put(transaction, &user, &record, &unseen)?;
                Ok((record, user, true))
            }
        })
        .await?;
    let shown = context.shape(&shared).patient(&record, &owner.record);
    Ok(if created { context.created(shown) } else { context.item(shown) })
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
    let (row, owner) = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let (mut row, owner) = SharedTable::Patients.seen(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(&PATIENT_INPUT, version)?, UNSEEN, &now);
            SharedTable::Patients.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok((row, owner))
        })
        .await?;
    Ok(context.item(context.shape(&shared).patient(&row.record, &owner.record)))
}
