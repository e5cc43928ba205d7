//! Answers with a wrong body: shorter, slower, of another size.

use std::future::pending;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt;
use serde_json::Value;

use super::Ended;
use crate::fault::Route;

/// What follows after the sent part of a body.
#[derive(Clone, Copy)]
pub(super) enum Ending {
    Error(Ended),
    Silence,
}

/// The head of the answer with its full `Content-Length`, and only a part of the body.
pub(super) async fn broken_off(
    response: Response<Body>,
    after: usize,
    ending: Ending,
) -> Result<Response<Body>, Ended> {
    let (mut head, body) = response.into_parts();
    let bytes = whole(body).await?;
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let sent = bytes.slice(..after.min(bytes.len().saturating_sub(1)));
    let parts = stream::unfold(Some(sent), move |part| async move {
        match part {
            Some(part) => Some((Ok::<Bytes, Ended>(part), None)),
            None => {
                // Yields to the runtime once, so that the connection sends what it has before it ends.
                tokio::task::yield_now().await;
                match ending {
                    Ending::Error(ended) => Some((Err(ended), None)),
                    Ending::Silence => pending().await,
                }
            }
        }
    });
    Ok(Response::from_parts(head, Body::from_stream(parts)))
}

/// The whole answer, this many bytes at a time.
pub(super) async fn dripping(response: Response<Body>, piece: usize, every: Duration) -> Result<Response<Body>, Ended> {
    let (mut head, body) = response.into_parts();
    let bytes = whole(body).await?;
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let pieces = stream::unfold((bytes, Duration::ZERO), move |(mut rest, pause)| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(pause).await;
        let sent = rest.split_to(piece.clamp(1, rest.len()));
        Some((Ok::<Bytes, Ended>(sent), (rest, every)))
    });
    Ok(Response::from_parts(head, Body::from_stream(pieces)))
}

/// A document that declares one byte too many, or half a file.
pub(super) async fn wrong_size(response: Response<Body>, route: Route) -> Result<Response<Body>, Ended> {
    let (mut head, body) = response.into_parts();
    let bytes = whole(body).await?;
    let changed = match route {
        Route::Pdf => bytes.slice(..bytes.len() / 2),
        Route::Document => declare_one_more(&bytes).unwrap_or(bytes),
        Route::List
        | Route::Status
        | Route::Patient
        | Route::Token
        | Route::Authorize
        | Route::Endpoint(_)
        | Route::Any => bytes,
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

async fn whole(body: Body) -> Result<Bytes, Ended> {
    body.collect().await.map(|collected| collected.to_bytes()).map_err(|_| Ended::Closed)
}
