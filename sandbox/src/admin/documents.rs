//! `/admin/documents`: invented and dictated documents, their files, and their place in `synchronized=false`.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router, extract::FromRequest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Entry;
use super::refusal::Refusal;
use super::taken::{Invented, Taken, TakenBytes, known_members, media_type, understood};
use crate::control;
use crate::describe::records::{PATIENT, USER};
use crate::json::given;
use crate::new_document::{DocumentSummary, NewDocument, NewPdf};
use crate::shared::Shared;

/// The most documents that one request may add.
const MOST_AT_ONCE: usize = 100_000;

/// The largest body with a file in bytes.
const FILE_LIMIT: usize = 64 * 1024 * 1024;

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/documents", "all documents of all users, oldest first"),
    (
        "POST",
        "/admin/documents",
        "adds invented documents ({\"count\": 10}) or a dictated one ({\"type\": \"lab_slip\"})",
    ),
    ("DELETE", "/admin/documents/{uuid}", "withdraws a document"),
    (
        "PUT",
        "/admin/documents/{uuid}/pdf",
        "gives a document another file, or its first (Content-Type: application/pdf)",
    ),
    (
        "POST",
        "/admin/documents/{uuid}/listed",
        "puts a document into synchronized=false ({\"listed\": true}) or takes it out",
    ),
];

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/admin/documents", get(all).post(add).layer(DefaultBodyLimit::max(FILE_LIMIT)))
        .route("/admin/documents/{uuid}", delete(remove))
        .route("/admin/documents/{uuid}/pdf", put(set_pdf).layer(DefaultBodyLimit::max(FILE_LIMIT)))
        .route("/admin/documents/{uuid}/listed", post(set_listed))
}

/// A [`NewDocument`] by the API's own names. Whatever is left out is invented.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[derive(Default)]
struct Dictated {
    uuid: Option<String>,
    /// The API key whose user may see it.
    owner: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    encountered_at: Option<String>,
    #[serde(deserialize_with = "given")]
    r#type: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    patient: Option<Option<Map<String, Value>>>,
    user: Option<Map<String, Value>>,
    is_anonymized: bool,
    generic_contact_specialty: Option<String>,
    #[serde(deserialize_with = "given")]
    pdf: Option<Option<DictatedPdf>>,
    #[serde(rename = "pdf_base64", deserialize_with = "given")]
    pdf_base64: Option<Option<String>>,
    synchronized: bool,
}

/// What a response says about the file, as dictated.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct DictatedPdf {
    uuid: Option<String>,
    name: Option<String>,
    file_name: Option<String>,
    size: Option<u64>,
}

impl TryFrom<Dictated> for NewDocument {
    type Error = Refusal;

    fn try_from(wish: Dictated) -> Result<Self, Refusal> {
        let no_file = matches!(wish.pdf, Some(None));
        let pdf = match wish.pdf_base64 {
            Some(Some(_)) if no_file => {
                return Err(Refusal::unprocessable("pdf is null, so pdf_base64 must be left out or null"));
            }
            Some(Some(text)) => NewPdf::Bytes(
                BASE64
                    .decode(text)
                    .map_err(|error| Refusal::unprocessable(format!("pdf_base64 cannot be decoded: {error}")))?,
            ),
            Some(None) => NewPdf::None,
            None if no_file => NewPdf::None,
            None => NewPdf::Generated,
        };
        let shown = wish.pdf.flatten().unwrap_or_default();
        Ok(Self {
            uuid: wish.uuid,
            owner: wish.owner,
            created_at: wish.created_at,
            updated_at: wish.updated_at,
            encountered_at: wish.encountered_at,
            document_type: wish.r#type,
            patient: wish.patient.map(|patient| patient.map_or(Value::Null, Value::Object)),
            user: wish.user,
            is_anonymized: wish.is_anonymized,
            generic_contact_specialty: wish.generic_contact_specialty,
            pdf,
            pdf_uuid: shown.uuid,
            pdf_name: shown.name,
            file_name: shown.file_name,
            declared_size: shown.size,
            synchronized: wish.synchronized,
        })
    }
}

async fn all(State(shared): State<Arc<Shared>>) -> Result<Json<Vec<DocumentSummary>>, Refusal> {
    let format = shared.quirks().date_format;
    Ok(Json(control::documents(&shared, format).await?))
}

async fn add(State(shared): State<Arc<Shared>>, Taken(wish): Taken<Map<String, Value>>) -> Result<Response, Refusal> {
    let uuids = if wish.contains_key("count") {
        let Invented { count } = understood(wish)?;
        if count > MOST_AT_ONCE {
            return Err(Refusal::unprocessable(format!(
                "count: at most {MOST_AT_ONCE} documents can be added at once"
            )));
        }
        control::add_documents(&shared, count).await?
    } else {
        let wish: Dictated = understood(wish)?;
        if let Some(Some(patient)) = &wish.patient {
            known_members("patient.", patient, &PATIENT)?;
        }
        if let Some(user) = &wish.user {
            known_members("user.", user, &USER)?;
        }
        vec![control::add(&shared, wish.try_into()?).await?]
    };
    Ok((StatusCode::CREATED, Json(json!({"uuids": uuids}))).into_response())
}

async fn remove(State(shared): State<Arc<Shared>>, Path(uuid): Path<String>) -> Result<StatusCode, Refusal> {
    control::remove(&shared, &uuid).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn set_pdf(
    State(shared): State<Arc<Shared>>,
    Path(uuid): Path<String>,
    request: Request,
) -> Result<Json<Value>, Refusal> {
    let media_type = media_type(&request);
    if media_type != "application/pdf" {
        return Err(Refusal::new(
            415,
            format!("the body must be the file itself, with Content-Type: application/pdf, not \"{media_type}\""),
        ));
    }
    let TakenBytes(bytes) = TakenBytes::from_request(request, &()).await?;
    let pdf = control::set_pdf(&shared, &uuid, bytes.to_vec()).await?;
    Ok(Json(json!({"uuid": uuid, "pdf": pdf})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    listed: bool,
}

async fn set_listed(
    State(shared): State<Arc<Shared>>,
    Path(uuid): Path<String>,
    Taken(Listed { listed }): Taken<Listed>,
) -> Result<Json<Value>, Refusal> {
    control::set_listed(&shared, &uuid, listed).await?;
    Ok(Json(json!({"uuid": uuid, "listed": listed})))
}
