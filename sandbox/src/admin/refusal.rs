//! Why the admin surface refuses a request, for a person.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rusqlite::ErrorCode;
use serde_json::json;

use crate::error::SandboxError;

/// A status and the text of `{"error": "..."}`.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    error: String,
}

impl Refusal {
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        Self { status, error: error.into() }
    }

    /// The request cannot be read.
    pub fn bad_request(error: impl Into<String>) -> Self {
        Self::new(400, error)
    }

    pub fn not_found(error: impl Into<String>) -> Self {
        Self::new(404, error)
    }

    /// It can be read but not followed.
    pub fn unprocessable(error: impl Into<String>) -> Self {
        Self::new(422, error)
    }
}

impl From<SandboxError> for Refusal {
    fn from(error: SandboxError) -> Self {
        let status = match &error {
            SandboxError::NoDocument { .. } | SandboxError::NoPdf { .. } | SandboxError::NoAudio { .. } => 404,
            SandboxError::NoSuchKey { .. }
            | SandboxError::NoSuchStep { .. }
            | SandboxError::NoPatient { .. }
            | SandboxError::NoOrganization { .. }
            | SandboxError::OtherUser { .. } => 422,
            SandboxError::AudioEnded { .. } => 409,
            SandboxError::Store(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == ErrorCode::ConstraintViolation =>
            {
                return Self::unprocessable("something with this uuid exists already; choose another");
            }
            _ => 500,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(json!({"error": self.error}))).into_response()
    }
}
