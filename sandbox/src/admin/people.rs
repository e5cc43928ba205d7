//! `/admin/users`, `/admin/organizations` and `/admin/reset`: the people, and a return to the start.

use std::sync::Arc;

use axum::body::HttpBody;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Entry;
use super::refusal::Refusal;
use super::taken::{Taken, known_members, understood};
use crate::control;
use crate::describe::records::{ORGANIZATION, USER};
use crate::new_user::NewUser;
use crate::shared::Shared;

pub(super) const INDEX: &[Entry] = &[
    ("POST", "/admin/reset", "makes everything as it was at the start"),
    (
        "POST",
        "/admin/users",
        "makes or changes a user ({\"email\": \"a@b.example\", \"apiKey\": \"key\", \"organizationRole\": \"ROLE_ORGANIZATION_MEMBER\"})",
    ),
    ("POST", "/admin/organizations", "makes or changes a practice ({\"name\": \"Cabinet Martin\"})"),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/admin/reset", post(reset))
        .route("/admin/users", post(put_user))
        .route("/admin/organizations", post(put_organization))
}

/// The body of a reset, if it has one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn reset(State(shared): State<Arc<Shared>>, request: Request) -> Result<StatusCode, Refusal> {
    if !request.body().is_end_stream() {
        let Taken(Nothing {}) = Taken::from_request(request, &shared).await?;
    }
    control::reset(&shared).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
enum Role {
    #[serde(rename = "ROLE_ORGANIZATION_ADMIN")]
    Admin,
    #[serde(rename = "ROLE_ORGANIZATION_MEMBER")]
    Member,
}

impl Role {
    fn name(&self) -> &'static str {
        match self {
            Self::Admin => "ROLE_ORGANIZATION_ADMIN",
            Self::Member => "ROLE_ORGANIZATION_MEMBER",
        }
    }
}

/// Members of a user's record, and further members.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wish {
    email: String,
    password: Option<String>,
    api_key: Option<String>,
    organization: Option<String>,
    organization_role: Option<Role>,
}

/// The members that are no part of the record.
const BESIDE: &[&str] = &["password", "apiKey", "organization", "organizationRole"];

async fn put_user(
    State(shared): State<Arc<Shared>>,
    Taken(sent): Taken<Map<String, Value>>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let mut members = sent.clone();
    members.retain(|name, _| !BESIDE.contains(&name.as_str()));
    known_members("", &members, &USER)?;
    practices(members.get("organizations"))?;
    let wish: Wish = understood(sent)?;
    if !wish.email.contains('@') {
        return Err(Refusal::unprocessable("email: it must be an email address"));
    }
    let user = NewUser {
        email: wish.email,
        password: wish.password,
        api_key: wish.api_key,
        organization: wish.organization,
        role: wish.organization_role.map(|role| role.name().to_owned()),
        members,
    };
    let record = control::put_user(&shared, user).await?;
    Ok((StatusCode::CREATED, Json(Value::Object(record))))
}

/// Every user belongs to a practice, and a practice is an object.
fn practices(organizations: Option<&Value>) -> Result<(), Refusal> {
    match organizations {
        None => Ok(()),
        Some(Value::Array(all)) if !all.is_empty() => match all.iter().position(|one| !one.is_object()) {
            None => Ok(()),
            Some(index) => Err(Refusal::unprocessable(format!("organizations[{index}]: it must be an object"))),
        },
        Some(_) => Err(Refusal::unprocessable("organizations: it must be a list of at least one practice")),
    }
}

async fn put_organization(
    State(shared): State<Arc<Shared>>,
    Taken(members): Taken<Map<String, Value>>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    known_members("", &members, &ORGANIZATION)?;
    let record = control::put_organization(&shared, members).await?;
    Ok((StatusCode::CREATED, Json(Value::Object(record))))
}
