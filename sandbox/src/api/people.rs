//! `GET /users/{uuid}` and `GET /me`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::request_context::{PathParams, RequestContext};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::{OrganizationRow, UserRow};

/// Members of the current-user record that a user record has as well.
const ME: &[&str] = &["uuid", "email", "firstName", "lastName", "gender"];
const ME_TOO: &[&str] = &["phone", "rpps", "am", "language"];

/// A user sees the own record and those of the practice's others.
pub(super) async fn user(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let found = shared.store.run(move |transaction| UserRow::by_uuid(transaction, &uuid)).await?;
    let user = found.ok_or_else(Problem::nothing_here)?;
    if user.organization_id != context.user.organization_id {
        return Err(Problem::forbidden());
    }
    Ok(context.item(context.shape(&shared).known_by_all(user.record)))
}

pub(super) async fn me(State(shared): State<Arc<Shared>>, context: RequestContext) -> Result<Response, Problem> {
    let organization_id = context.user.organization_id;
    let asking = context.user.clone();
    let (practice, colleagues, role) = shared
        .store
        .run(move |transaction| {
            let practice = OrganizationRow::by_id(transaction, organization_id)?;
            let colleagues = practice.users(transaction)?;
            Ok((practice.record, colleagues, asking.role(transaction)?))
        })
        .await?;
    let record = &context.user.record;
    let member = |name: &&str| ((*name).to_owned(), record.get(*name).cloned().unwrap_or(Value::Null));
    let mut organization = practice;
    organization.insert("siret".into(), Value::Null);
    organization.insert("users".into(), json!(colleagues));
    let mut me: Map<String, Value> = ME.iter().map(member).collect();
    me.insert("isVerified".into(), json!(true));
    me.extend(ME_TOO.iter().map(member));
    me.insert("timezone".into(), json!("Europe/Paris"));
    me.insert("languageSpokenAutoDetect".into(), json!(false));
    me.insert("languageSpoken".into(), json!("fr"));
    me.insert("languageDocument".into(), json!("fr"));
    me.insert("organization".into(), Value::Object(organization));
    me.insert("organizationRole".into(), json!(role.as_deref().unwrap_or("ROLE_ORGANIZATION_ADMIN")));
    Ok(context.item(context.shape(&shared).known_by_all(me)))
}
