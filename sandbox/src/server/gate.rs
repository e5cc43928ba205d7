//! What every request passes before and after its answer: faults and the journal.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::Ended;
use super::body::{self, Ending};
use crate::fault::{FaultKind, Route, Target};
use crate::journal::{Listener, RequestRecord};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::FileRow;

/// A page like that of a captive portal.
const HTML: &str = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head>\
                    <body><h1>Please sign in to use this network</h1></body></html>";

type Answer = Result<Response<Body>, Ended>;

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
        fault: false,
    };
    let target = target(&shared, &record).await;
    let met = shared.faults.take(&target);
    record.fault = met.something();
    if matches!(met.kind, Some(FaultKind::Stall)) {
        // It will get no answer, so it is recorded now.
        shared.journal.record_request(record);
        return silence(&shared).await;
    }
    // The quirks for the handlers: those in force when the request came in, changed by its faults.
    let mut quirks = shared.quirks();
    for habit in &met.habits {
        habit.change(&mut quirks);
    }
    request.extensions_mut().insert(Arc::new(quirks));
    let answer = apply(&shared, met.kind, target.route, router, request).await;
    record.status = answer.as_ref().ok().map(|response| response.status().as_u16());
    shared.journal.record_request(record);
    answer
}

/// The request's kind, its document, and its bearer.
async fn target(shared: &Shared, record: &RequestRecord) -> Target {
    let parts: Vec<&str> = record.path.trim_matches('/').split('/').collect();
    let (route, document) = match parts.as_slice() {
        ["documents"] => (Route::List, None),
        ["documents", uuid] => (Route::Document, Some((*uuid).to_owned())),
        ["documents", uuid, "status"] => (Route::Status, Some((*uuid).to_owned())),
        ["patients", _] => (Route::Patient, None),
        ["oauth2", "token"] => (Route::Token, None),
        ["authorize"] | ["oauth", "authorize"] => (Route::Authorize, None),
        ["files" | "downloads", pdf, _] => {
            let pdf = (*pdf).to_owned();
            let owner = shared.store.run(move |transaction| FileRow::owner(transaction, &pdf)).await;
            let document = owner.ok().flatten().map(|owner| owner.document);
            (Route::Pdf, document)
        }
        _ => (Route::Any, None),
    };
    let bearer = record.authorization.as_deref().and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    Target { method: record.method.clone(), path: record.path.clone(), route, document, bearer }
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
        Some(FaultKind::Redirect(to)) => Ok(redirect(StatusCode::FOUND, &to)),
        Some(FaultKind::RedirectAs { code, to }) => {
            let code = StatusCode::from_u16(code).ok().filter(StatusCode::is_redirection);
            Ok(redirect(code.unwrap_or(StatusCode::FOUND), &to))
        }
        Some(FaultKind::Reset) => Err(Ended::Closed),
        Some(FaultKind::Abort) => Err(Ended::Reset),
        Some(FaultKind::AbortHead) => after_the_effect(router, request, Ended::ResetInHead).await,
        Some(FaultKind::LostReply) => after_the_effect(router, request, Ended::Closed).await,
        Some(FaultKind::Stall) => silence(shared).await,
        Some(FaultKind::CutBody(after)) => {
            body::broken_off(proper(router, request).await?, after, Ending::Error(Ended::Closed)).await
        }
        Some(FaultKind::AbortBody(after)) => {
            body::broken_off(proper(router, request).await?, after, Ending::Error(Ended::Reset)).await
        }
        Some(FaultKind::StallBody(after)) => {
            body::broken_off(proper(router, request).await?, after, Ending::Silence).await
        }
        Some(FaultKind::Drip { bytes, every }) => body::dripping(proper(router, request).await?, bytes, every).await,
        Some(FaultKind::WrongSize) => body::wrong_size(proper(router, request).await?, route).await,
        // The habits were applied above.
        Some(FaultKind::Habit(_)) => proper(router, request).await,
    }
}

async fn after_the_effect(router: Router, request: Request<Body>, ended: Ended) -> Answer {
    let response = proper(router, request).await?;
    // The request has taken effect once the body is complete. Nobody gets it.
    let _ = response.into_body().collect().await;
    Err(ended)
}

async fn proper(router: Router, request: Request<Body>) -> Answer {
    match router.oneshot(request).await {
        Ok(response) => Ok(response),
        Err(never) => match never {},
    }
}

/// Silence, until the client gives up (then this future is dropped) or the sandbox stops.
async fn silence(shared: &Shared) -> Answer {
    shared.stop.cancelled().await;
    Err(Ended::Closed)
}

fn redirect(code: StatusCode, to: &str) -> Response<Body> {
    let location = HeaderValue::from_str(to).unwrap_or_else(|_| HeaderValue::from_static("/"));
    (code, [(header::LOCATION, location)]).into_response()
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
