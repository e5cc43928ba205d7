//! Sends requests, to any server.

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{ClientBuilder, Method, RequestBuilder, Response};
use url::Url;

use super::{USER_AGENT, reason};

/// The largest headers of an HTTP/2 answer, counted as in RFC 9113, section 6.5.2; bytes. Caches name all parts of an
/// answer (`Cache-Tags`), and a page has 100 documents. For HTTP/1 hyper's limit is 400 KB.
pub(super) const MAX_HEADER_BYTES: u32 = 256 * 1024;
/// The most headers of an HTTP/1 answer.
pub(super) const MAX_HEADERS: usize = 1000;

/// Selects the cryptography of TLS, before any connection.
pub fn install_crypto() {
    // Only the first installed provider counts; a second daemon in one process (a test) finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The common settings of all clients: no redirects, no compression.
pub fn builder() -> ClientBuilder {
    install_crypto();
    reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .http1_max_headers(MAX_HEADERS)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        // Without this header any encoding is acceptable (RFC 9110, section 12.5.3).
        .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]))
}

/// A client that survives servers that silently close connections, and never repeats a request that must not be
/// repeated.
#[derive(Debug, Clone)]
pub struct Client {
    /// Keeps connections for the next request.
    kept: reqwest::Client,
    /// Opens a connection for each request.
    fresh: reqwest::Client,
}

impl Client {
    /// Builds the client from two calls of `configured`; connects to nothing yet.
    ///
    /// # Errors
    /// The errors of `configured`; for a TLS error the text from `failed`.
    pub fn build(
        configured: impl Fn() -> Result<ClientBuilder, String>,
        failed: impl Fn(reqwest::Error) -> String,
    ) -> Result<Self, String> {
        let kept = configured()?.build().map_err(&failed)?;
        let fresh = configured()?.pool_max_idle_per_host(0).build().map_err(&failed)?;
        Ok(Self { kept, fresh })
    }

    /// Begins a request; complete it and pass it to [`Self::send`].
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.kept.request(method, url)
    }

    /// Sends a request and waits for the head of its answer. A kept connection may just be closing, and then nobody
    /// knows whether the server processed the request. So an idempotent request (by its method, or by the caller's
    /// word) is sent once more over a new connection if it is cut off. Any other request uses a new connection from the
    /// start.
    ///
    /// # Errors
    /// Any error of the request or its connection.
    pub async fn send(&self, request: RequestBuilder, is_idempotent: bool) -> reqwest::Result<Response> {
        let request = request.build()?;
        let again = if is_idempotent || is_harmless(request.method()) { request.try_clone() } else { None };
        let Some(again) = again else { return self.fresh.execute(request).await };
        match self.kept.execute(request).await {
            Err(error) if reason::is_cut_off(&error) => self.fresh.execute(again).await,
            answer => answer,
        }
    }
}

/// Whether the method is idempotent (RFC 9110, section 9.2.2).
fn is_harmless(method: &Method) -> bool {
    matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PROPFIND" | "DELETE")
}
