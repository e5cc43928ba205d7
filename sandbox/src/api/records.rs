//! Contacts and patients, the records that a practice shares: list, create, read, change.
//!
//! They differ in their members, in that a patient is shown with the owning user, and in what `POST` does.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use rusqlite::Transaction;
use serde_json::{Map, Value, json};

use super::input::InputBody;
use super::render::{Shape, Shown, printed};
use super::request_context::{PathParams, RequestContext};
use crate::describe::Record;
use crate::describe::records::{CONTACT, CONTACT_INPUT, PATIENT_INPUT, PATIENT_ITEM};
use crate::moment::Moment;
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::collection::{CONTACTS, PATIENTS};
use crate::store::{SharedRow, SharedTable, UserRow};

impl SharedTable {
    /// The table of the requested endpoint.
    fn of(context: &RequestContext) -> Self {
        if context.endpoint.path.starts_with("/patients") { Self::Patients } else { Self::Contacts }
    }

    /// The input record.
    fn input(self) -> &'static Record {
        match self {
            Self::Patients => &PATIENT_INPUT,
            Self::Contacts => &CONTACT_INPUT,
        }
    }

    /// A new record with its defaults, and separately the members that are accepted but never shown.
    fn fill(self, mut members: Map<String, Value>, uuid: &str, now: &Moment) -> (Shown, Map<String, Value>) {
        let template = match self {
            Self::Patients => &PATIENT_ITEM,
            Self::Contacts => &CONTACT,
        };
        let mut record = Map::new();
        for field in template.fields {
            let value = match (self, field.name) {
                (_, "uuid") => json!(uuid),
                (_, "createdAt" | "updatedAt") => printed(now),
                (_, name) if members.contains_key(name) => members.shift_remove(name).unwrap_or_default(),
                (_, "languageSpoken") => json!("fr"),
                (_, "visibilityOption") => json!("shared"),
                (Self::Contacts, "gender") => json!("unknown"),
                _ => Value::Null,
            };
            record.insert(field.name.to_owned(), value);
        }
        (record, members)
    }

    /// The row with this uuid and its owner: 404 if there is none, 403 if the user may not see it.
    fn seen(self, transaction: &Transaction<'_>, uuid: &str, user: &UserRow) -> Result<(SharedRow, UserRow), Problem> {
        let row = self.by_uuid(transaction, uuid)?.ok_or_else(Problem::nothing_here)?;
        if !row.is_seen_by(user) {
            return Err(Problem::forbidden());
        }
        let owner = UserRow::by_id(transaction, row.owner_id)?;
        Ok((row, owner))
    }

    fn show(self, shape: &Shape, record: Shown, owner: &UserRow) -> Shown {
        match self {
            Self::Patients => shape.patient(&record, &owner.record),
            Self::Contacts => shape.known_by_all(record),
        }
    }
}

/// Applies a checked merge patch (RFC 7396): null empties a member, missing members stay.
fn overlay(row: &mut SharedRow, members: Map<String, Value>, now: &Moment) {
    for (name, value) in members {
        let target = if row.record.contains_key(&name) { &mut row.record } else { &mut row.unseen };
        target.insert(name, value);
    }
    row.record.insert("updatedAt".into(), printed(now));
}

pub(super) async fn list(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let table = SharedTable::of(&context);
    let collection = match table {
        SharedTable::Patients => &PATIENTS,
        SharedTable::Contacts => &CONTACTS,
    };
    let load = move |transaction: &Transaction<'_>, id| table.by_id(transaction, id);
    context.list(&shared, collection, load, |shape, row| shape.known_by_all(row.record.clone())).await
}

pub(super) async fn read(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let (table, user) = (SharedTable::of(&context), context.user.clone());
    let (row, owner) = shared.store.decide(move |transaction| table.seen(transaction, &uuid, &user)).await?;
    Ok(context.item(table.show(&context.shape(&shared), row.record, &owner)))
}

pub(super) async fn change(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let (table, user, version) = (SharedTable::of(&context), context.user.clone(), context.version);
    let now = shared.clock.now();
    let (row, owner) = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let (mut row, owner) = table.seen(transaction, &uuid, &user)?;
            overlay(&mut row, sent.patch(table.input(), version)?, &now);
            table.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok((row, owner))
        })
        .await?;
    Ok(context.item(table.show(&context.shape(&shared), row.record, &owner)))
}

/// Creates a contact or a patient, or changes the patient that matches; the full matching rule is "not shown".
pub(super) async fn create(
    State(shared): State<Arc<Shared>>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    let (table, user) = (SharedTable::of(&context), context.user.clone());
    let members = sent.whole(table.input(), context.version)?;
    let (uuid, now) = (shared.fresh_uuid(), shared.clock.now());
    let (record, owner, created) = shared
        .store
        .run(move |transaction| {
            let twin = match table {
                SharedTable::Patients => SharedRow::twin_of(transaction, &members, &user)?,
                SharedTable::Contacts => None,
            };
            let Some(mut row) = twin else {
                let (record, unseen) = table.fill(members, &uuid, &now);
                table.put(transaction, &user, &record, &unseen)?;
                return Ok((record, user, true));
            };
            let owner = UserRow::by_id(transaction, row.owner_id)?;
            overlay(&mut row, members, &now);
            // The practice's software has just synchronized it.
            row.record.insert("synchronizedAt".into(), printed(&now));
            table.put(transaction, &owner, &row.record, &row.unseen)?;
            Ok((row.record, owner, false))
        })
        .await?;
    let shown = table.show(&context.shape(&shared), record, &owner);
    Ok(if created { context.created(shown) } else { context.item(shown) })
}
