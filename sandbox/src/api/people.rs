//! `GET /patients/{uuid}`, `GET /users/{uuid}`, `GET /me`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::{Extension, http};
use serde_json::{Map, Value, json};

use super::access::Caller;
use super::{Problem, render};
use crate::shared::Shared;
use crate::store::{PatientRow, UserRow};

/// Members of the current-user record that a user record has as well.
const ME: &[&str] = &["uuid", "email", "firstName", "lastName", "gender", "phone", "rpps", "am", "language"];

pub(super) async fn patient(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(uuid): Path<String>,
) -> Result<Response, Problem> {
    let found = shared.store.run(move |transaction| PatientRow::by_uuid(transaction, &uuid)).await?;
    let Some(PatientRow { owner, record }) = found else {
        return Err(Problem::not_found("Not Found"));
    };
    if owner.id != caller.user.id {
        return Err(Problem::forbidden());
    }
    let shape = render::Shape::of(&shared);
    Ok(render::answer(Value::Object(shape.patient(&record, &owner.record))))
}

/// A user sees the own record and those of the practice's others; here that is everyone whose record shows the same
/// practice.
pub(super) async fn user(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(uuid): Path<String>,
) -> Result<Response, Problem> {
    let found = shared.store.run(move |transaction| UserRow::by_uuid(transaction, &uuid)).await?;
    let user = found.ok_or_else(|| Problem::not_found("Not Found"))?;
    if user.id != caller.user.id && practice(&user.record) != practice(&caller.user.record) {
        return Err(Problem::forbidden());
    }
    let shape = render::Shape::of(&shared);
    Ok(render::answer(Value::Object(shape.known_by_all(user.record))))
}

pub(super) async fn me(State(shared): State<Arc<Shared>>, Extension(caller): Extension<Caller>) -> Response {
    let record = &caller.user.record;
    let mut me = Map::new();
    for name in ME {
        me.insert((*name).to_owned(), record.get(*name).cloned().unwrap_or(Value::Null));
    }
    let mut organization = practice(record).cloned().unwrap_or_else(|| json!({}));
    if let Some(organization) = organization.as_object_mut() {
        organization.insert("siret".into(), Value::Null);
        organization.insert("users".into(), json!([record.get("uuid").cloned().unwrap_or(Value::Null)]));
    }
    me.insert("isVerified".into(), json!(true));
    me.insert("timezone".into(), json!("Europe/Paris"));
    me.insert("languageSpokenAutoDetect".into(), json!(false));
    me.insert("languageSpoken".into(), json!("fr"));
    me.insert("languageDocument".into(), json!("fr"));
    me.insert("organization".into(), organization);
    me.insert("organizationRole".into(), json!("ROLE_ORGANIZATION_ADMIN"));
    let shape = render::Shape::of(&shared);
    render::answer_with(http::StatusCode::OK, Value::Object(shape.known_by_all(me)))
}

fn practice(record: &Map<String, Value>) -> Option<&Value> {
    record.get("organizations")?.get(0)
}
