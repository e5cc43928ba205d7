//! Error bodies, with exactly the members of the description's section "Errors".

use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::error::SandboxError;

/// An answer that is an error.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Any status but 422 and 401.
    Plain { status: u16, detail: String },
    /// 422, with every wrong field as (property path, message).
    Violations(Vec<(String, String)>),
    /// 401. The description does not show it; this is the body of Symfony's usual JWT bundle.
    Unauthorized(&'static str),
    /// 405, with the path's methods in the requested version; empty if only the router knows them.
    WrongMethod { detail: String, allowed: String },
    /// 403: the access token lacks a scope (RFC 6750, section 3.1). Any one of these is enough.
    MissingScope(Vec<&'static str>),
}

impl Problem {
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self::Plain { status, detail: detail.into() }
    }

    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(400, detail)
    }

    pub fn forbidden() -> Self {
        Self::new(403, "Access Denied.")
    }

    /// The caller's token lacks a scope. Any one of these is enough.
    pub fn missing_scope(any_of: &[&'static str]) -> Self {
        Self::MissingScope(any_of.to_vec())
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, detail)
    }

    /// No resource has this address.
    pub fn nothing_here() -> Self {
        Self::not_found("Not Found")
    }

    pub fn no_route(method: &Method, uri: &Uri) -> Self {
        Self::not_found(format!("No route found for \"{method} {}\"", uri.path()))
    }

    pub fn wrong_method(method: &Method, uri: &Uri, allowed: &[&str]) -> Self {
        let detail = format!("No route found for \"{method} {}\": Method Not Allowed", uri.path());
        Self::WrongMethod { detail, allowed: allowed.join(",") }
    }

    /// The kind of an error, without a single occurrence.
    pub fn kind(status: u16, reason: &str) -> Value {
        let mut body = if status == 422 { Self::Violations(Vec::new()).body() } else { plain(status, reason) };
        if let Some(members) = body.as_object_mut() {
            for name in ["detail", "description"] {
                members.insert(name.into(), json!(reason));
            }
        }
        body
    }

    fn status(&self) -> u16 {
        match self {
            Self::Plain { status, .. } => *status,
            Self::Violations(_) => 422,
            Self::Unauthorized(_) => 401,
            Self::MissingScope(_) => 403,
            Self::WrongMethod { .. } => 405,
        }
    }

    /// The body as it is sent.
    pub fn body(&self) -> Value {
        match self {
            Self::Plain { status, detail } => plain(*status, detail),
            Self::WrongMethod { detail, .. } => plain(405, detail),
            Self::MissingScope(any_of) => {
                plain(403, &format!("Access Denied. The access token lacks the scope {}.", any_of.join(" or ")))
            }
            Self::Violations(violations) => {
                let lines: Vec<String> =
                    violations.iter().map(|(path, message)| format!("{path}: {message}")).collect();
                let detail = lines.join("\n");
                let violations: Vec<Value> = violations
                    .iter()
                    .map(|(path, message)| json!({"propertyPath": path, "message": message}))
                    .collect();
                json!({
                    "@context": "/contexts/ConstraintViolation",
                    "@id": "/errors/422",
                    "@type": "ConstraintViolation",
                    "status": 422,
                    "violations": violations,
                    "detail": detail,
                    "description": detail,
                    "type": "/errors/422",
                    "title": "An error occurred",
                    "instance": null,
                })
            }
            Self::Unauthorized(message) => json!({"code": 401, "message": message}),
        }
    }
}

fn plain(status: u16, detail: &str) -> Value {
    json!({
        "@context": "/contexts/Error",
        "@id": format!("/errors/{status}"),
        "@type": "Error",
        "title": "An error occurred",
        "detail": detail,
        "status": status,
        "instance": null,
        "type": format!("/errors/{status}"),
        "description": detail,
    })
}

impl From<SandboxError> for Problem {
    fn from(error: SandboxError) -> Self {
        Self::new(500, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = self.body().to_string();
        if matches!(self, Self::Unauthorized(_)) {
            let headers = [(header::CONTENT_TYPE, "application/json"), (header::WWW_AUTHENTICATE, "Bearer")];
            return (status, headers, body).into_response();
        }
        let headers = [(header::CONTENT_TYPE, "application/ld+json; charset=utf-8")];
        let mut response = (status, headers, body).into_response();
        let more = match &self {
            Self::MissingScope(any_of) => {
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", any_of.join(" "));
                Some((header::WWW_AUTHENTICATE, challenge))
            }
            Self::WrongMethod { allowed, .. } if !allowed.is_empty() => Some((header::ALLOW, allowed.clone())),
            Self::WrongMethod { .. } | Self::Plain { .. } | Self::Violations(_) | Self::Unauthorized(_) => None,
        };
        if let Some((name, value)) = more
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_missing_scope_is_named_to_people_and_to_programs() {
        let response = Problem::missing_scope(&["read:documents", "write:documents"]).into_response();
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        let challenge = "Bearer error=\"insufficient_scope\", scope=\"read:documents write:documents\"";
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], challenge);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/ld+json; charset=utf-8");
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body["detail"],
            "Access Denied. The access token lacks the scope read:documents or write:documents."
        );
        assert_eq!((&body["status"], &body["description"]), (&json!(403), &body["detail"]));
    }
}
