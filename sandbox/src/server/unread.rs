//! The rest of a request's body after an early answer, such as a refusal. The next request on the connection comes only
//! after it. So the rest is read, or the connection is closed, and the answer says which.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, header};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};

/// The most bytes that are read to keep the connection.
const LIMIT: usize = 256 * 1024;
/// The longest time for that.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where an unread body goes.
#[derive(Clone, Default)]
pub(super) struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    /// The body for the handler.
    pub(super) fn lend(&self, body: Incoming) -> Body {
        Body::new(Lent { body: Some(body), back: self.clone() })
    }

    /// Reads the rest, or closes the connection after the answer.
    pub(super) async fn settle<T>(&self, asked: &HeaderMap, response: &mut Response<T>) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(body) = left else { return };
        // A client that waits for permission sends nothing after a refusal.
        let waits = asked.contains_key(header::EXPECT);
        if waits || !tokio::time::timeout(PATIENCE, read(body)).await.unwrap_or(false) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Whether the body ended within the limit.
async fn read(mut body: Incoming) -> bool {
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > LIMIT {
            return false;
        }
    }
    true
}

struct Lent {
    body: Option<Incoming>,
    back: Unread,
}

impl hyper::body::Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.back.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}
