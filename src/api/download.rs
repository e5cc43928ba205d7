//! A PDF on its way from the server.

use futures_util::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
use hyper::body::Bytes;
use reqwest::Response;

use super::{ApiError, transport};

/// A PDF on its way.
pub struct Download {
    declared_length: Option<u64>,
    chunks: BoxStream<'static, Result<Bytes, ApiError>>,
}

impl Download {
    /// The body of an answer of this host.
    pub(super) fn over_http(host: String, response: Response) -> Self {
        let declared_length = response.content_length();
        Self::of(
            declared_length,
            response.bytes_stream().map_err(move |error| transport::in_body(&host, &error)).boxed(),
        )
    }

    /// Bytes that come from elsewhere.
    pub(crate) fn of(declared_length: Option<u64>, chunks: BoxStream<'static, Result<Bytes, ApiError>>) -> Self {
        Self { declared_length, chunks }
    }

    /// What the server says the length is; bytes.
    pub fn declared_length(&self) -> Option<u64> {
        self.declared_length
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`ApiError::BrokenOff`], also when nothing came for `api.timeout`.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        fault_point!("api.chunk.before");
        let chunk = self.chunks.next().await.transpose();
        fault_point!("api.chunk.after");
        chunk
    }
}
