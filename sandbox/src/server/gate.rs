//! What a request passes before and after it is answered: faults, and the journal.

use std::future::pending;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::api::Problem;
use crate::fault::{FaultKind, Route};
use crate::journal::{Listener, RequestRecord};
use crate::shared::Shared;
use crate::store::FileRow;

/// A page as a captive portal shows it.
const HTML: &str = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head>\
                    <body><h1>Please sign in to use this network</h1></body></html>";

/// Tells the connection to end without an answer.
#[derive(Debug, thiserror::Error)]
#[error("a fault closed the connection")]
pub(crate) struct ConnectionDropped;

type Answer = Result<Response<Body>, ConnectionDropped>;

pub(super) async fn answer(
    shared: Arc<Shared>,
    listener: Listener,
    router: Router,
    mut request: Request<Body>,
) -> Answer {
    let mut record = RequestRecord {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().map(str::to_owned),
        authorization: request
            .headers()
            .get(header::AUTHORIZATION)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        listener,
        status: None,
    };
    let (route, document) = target(&shared, &record.path).await;
    let fault = shared.faults.take(route, document.as_deref());
    if matches!(fault, Some(FaultKind::Stall)) {
        // It will never be answered, so it is recorded now.
        shared.journal.record_request(record);
        return silence(&shared).await;
    }
    // What handlers answer by: the habits in force when the request came in.
    request.extensions_mut().insert(Arc::new(shared.quirks()));
    let answer = apply(&shared, fault, route, router, request).await;
    record.status = answer.as_ref().ok().map(|response| response.status().as_u16());
    shared.journal.record_request(record);
    answer
}

/// Which kind of request this is, and which document it is about.
async fn target(shared: &Shared, path: &str) -> (Route, Option<String>) {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["documents"] => (Route::List, None),
        ["documents", uuid] => (Route::Document, Some((*uuid).to_owned())),
        ["documents", uuid, "status"] => (Route::Status, Some((*uuid).to_owned())),
        ["patients", _] => (Route::Patient, None),
        ["files" | "downloads", pdf, _] => {
            let pdf = (*pdf).to_owned();
            let owner = shared.store.run(move |transaction| FileRow::owner(transaction, &pdf)).await;
            let document = owner.ok().flatten().map(|owner| owner.document);
            (Route::Pdf, document)
        }
        ["oauth2", "token"] => (Route::Token, None),
        ["authorize"] | ["oauth", "authorize"] => (Route::Authorize, None),
        _ => (Route::Any, None),
    }
}

async fn apply(
    shared: &Shared,
    fault: Option<FaultKind>,
    route: Route,
    router: Router,
    request: Request<Body>,
) -> Answer {
    match fault {
        None => proper(router, request).await,
        Some(FaultKind::Delay(duration)) => {
            tokio::time::sleep(duration).await;
            proper(router, request).await
        }
        Some(FaultKind::Status { code, retry_after, body }) => Ok(status(code, retry_after.as_deref(), body)),
        Some(FaultKind::Html200) => Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], HTML).into_response()),
        Some(FaultKind::Bytes(bytes)) => {
            let media_type = if route == Route::Pdf { "application/pdf" } else { "application/json" };
            Ok(([(header::CONTENT_TYPE, media_type)], bytes).into_response())
        }
        Some(FaultKind::Redirect(to)) => {
            let location = HeaderValue::from_str(&to).unwrap_or_else(|_| HeaderValue::from_static("/"));
            Ok((StatusCode::FOUND, [(header::LOCATION, location)]).into_response())
        }
        Some(FaultKind::Reset) => Err(ConnectionDropped),
        Some(FaultKind::LostReply) => {
            let response = proper(router, request).await?;
            // The effect is there once the body is; then nobody hears of it.
            let _ = response.into_body().collect().await;
            Err(ConnectionDropped)
        }
        Some(FaultKind::Stall) => silence(shared).await,
        Some(FaultKind::CutBody(after)) => broken_off(proper(router, request).await?, after, Ending::Cut).await,
        Some(FaultKind::StallBody(after)) => broken_off(proper(router, request).await?, after, Ending::Silence).await,
        Some(FaultKind::WrongSize) => wrong_size(proper(router, request).await?, route).await,
    }
}

async fn proper(router: Router, request: Request<Body>) -> Answer {
    match router.oneshot(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

/// Nothing, until the client gives up (then this future is dropped) or the sandbox stops.
async fn silence(shared: &Shared) -> Answer {
    shared.stop.cancelled().await;
    Err(ConnectionDropped)
}

fn status(code: u16, retry_after: Option<&str>, body: Option<String>) -> Response<Body> {
    let mut response = match body {
        Some(body) => {
            let mut response = body.into_response();
            *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            response
        }
        None if code == 401 => Problem::Unauthorized("Expired JWT Token").into_response(),
        None => Problem::new(code, "This error was asked for.").into_response(),
    };
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// What follows after the part of a body that was sent.
#[derive(Clone, Copy)]
enum Ending {
    Cut,
    Silence,
}

/// The head of the answer with its full `Content-Length`, but only a part of the body.
async fn broken_off(response: Response<Body>, after: usize, ending: Ending) -> Answer {
    let (mut head, body) = response.into_parts();
    let bytes = whole(body).await?;
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let sent = bytes.slice(..after.min(bytes.len().saturating_sub(1)));
    let parts = stream::unfold(Some(sent), move |part| async move {
        match part {
            Some(part) => Some((Ok::<Bytes, ConnectionDropped>(part), None)),
            None => {
                // Returning to the runtime once lets the connection send what it has before it ends.
                tokio::task::yield_now().await;
                match ending {
                    Ending::Cut => Some((Err(ConnectionDropped), None)),
                    Ending::Silence => pending().await,
                }
            }
        }
    });
    Ok(Response::from_parts(head, Body::from_stream(parts)))
}

async fn wrong_size(response: Response<Body>, route: Route) -> Answer {
    let (mut head, body) = response.into_parts();
    let bytes = whole(body).await?;
    let changed = match route {
        Route::Pdf => bytes.slice(..bytes.len() / 2),
        Route::Document => declare_one_more(&bytes).unwrap_or(bytes),
        Route::List | Route::Status | Route::Patient | Route::Token | Route::Authorize | Route::Any => bytes,
    };
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(changed.len()));
    Ok(Response::from_parts(head, Body::from(changed)))
}

fn declare_one_more(bytes: &Bytes) -> Option<Bytes> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let size = document.get_mut("pdf")?.get_mut("size")?;
    *size = Value::from(size.as_u64()? + 1);
    Some(document.to_string().into())
}

async fn whole(body: Body) -> Result<Bytes, ConnectionDropped> {
    body.collect().await.map(|collected| collected.to_bytes()).map_err(|_| ConnectionDropped)
}
