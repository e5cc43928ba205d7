//! Error bodies, with exactly the members of the description's section "Errors".

use axum::http::{Method, StatusCode, Uri, header};
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

    fn status(&self) -> u16 {
        match self {
            Self::Plain { status, .. } => *status,
            Self::Violations(_) => 422,
            Self::Unauthorized(_) => 401,
        }
    }

    fn body(&self) -> Value {
        match self {
            Self::Plain { status, detail } => json!({
                "@context": "/contexts/Error",
                "@id": format!("/errors/{status}"),
                "@type": "Error",
                "title": "An error occurred",
                "detail": detail,
                "status": status,
                "instance": null,
                "type": format!("/errors/{status}"),
                "description": detail,
            }),
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
                    "@id": "/validation_errors/status",
                    "@type": "ConstraintViolation",
                    "status": 422,
                    "violations": violations,
                    "detail": detail,
                    "description": detail,
                    "type": "/validation_errors/status",
                    "title": "An error occurred",
                    "instance": null,
                })
            }
            Self::Unauthorized(message) => json!({"code": 401, "message": message}),
        }
    }
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
        (status, headers, body).into_response()
    }
}
