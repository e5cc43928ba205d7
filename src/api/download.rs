//! The download of a PDF from the server.

use futures_util::stream::{self, BoxStream, StreamExt as _};
use hyper::body::Bytes;
use reqwest::Response;

use super::{ApiError, transport};
use crate::system::http::Body;

/// A download in progress.
pub struct Download {
    declared_length: Option<u64>,
    chunks: BoxStream<'static, Result<Bytes, ApiError>>,
}

impl Download {
    /// A download from the body of this host's response.
    pub(super) fn over_http(host: String, response: Response) -> Self {
        let body = Body::of(response);
        let declared_length = body.length();
        let chunks = stream::try_unfold((body, host), |(mut body, host)| async move {
            let chunk = body.chunk().await.map_err(|error| transport::in_body(&host, &error))?;
            Ok(chunk.map(|chunk| (chunk, (body, host))))
        });
        Self::of(declared_length, chunks.boxed())
    }

    /// A download from any other stream of bytes.
    pub(crate) fn of(declared_length: Option<u64>, chunks: BoxStream<'static, Result<Bytes, ApiError>>) -> Self {
        Self { declared_length, chunks }
    }

    /// The length that the server declares; bytes.
    pub fn declared_length(&self) -> Option<u64> {
        self.declared_length
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`ApiError::BrokenOff`] if the connection breaks, or if nothing arrives for `api.timeout`.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        fault_point!("api.chunk.before");
        let chunk = self.chunks.next().await.transpose();
        fault_point!("api.chunk.after");
        chunk
    }
}
