//! How requests are sent, whoever they go to.

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{ClientBuilder, Method, RequestBuilder, Response};
use url::Url;

use super::{USER_AGENT, reason};

/// The largest headers of an answer in HTTP/2, as RFC 9113, section 6.5.2, counts them; bytes. Caches name everything
/// that an answer is made of (`Cache-Tags`), and a page has 100 documents. In HTTP/1 hyper takes 400 KB.
pub(super) const MAX_HEADER_BYTES: u32 = 256 * 1024;
/// The most headers of an answer in HTTP/1.
pub(super) const MAX_HEADERS: usize = 1000;

/// Chooses the cryptography of TLS, before any is set up.
pub fn install_crypto() {
    // The first provider installed stays; a second daemon in one process (a test) finds it there.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// What every client has in common: it follows no redirects, and asks for answers as they are.
pub fn builder() -> ClientBuilder {
    install_crypto();
    reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .http1_max_headers(MAX_HEADERS)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        // Without it any encoding would do (RFC 9110, section 12.5.3).
        .default_headers(HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]))
}

/// A client that does not fail where a server closes connections without saying so, and never repeats what it must not.
#[derive(Debug, Clone)]
pub struct Client {
    /// Keeps connections for the next request.
    kept: reqwest::Client,
    /// Opens a connection for each request.
    fresh: reqwest::Client,
}

impl Client {
    /// Builds the client from what `configured` gives, which is asked twice; nothing is connected yet.
    ///
    /// # Errors
    /// Those of `configured`, and what `failed` makes of an error of TLS.
    pub fn build(
        configured: impl Fn() -> Result<ClientBuilder, String>,
        failed: impl Fn(reqwest::Error) -> String,
    ) -> Result<Self, String> {
        let kept = configured()?.build().map_err(&failed)?;
        let fresh = configured()?.pool_max_idle_per_host(0).build().map_err(&failed)?;
        Ok(Self { kept, fresh })
    }

    /// A request to be completed and sent with [`Self::send`].
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.kept.request(method, url)
    }

    /// Sends a request and waits for the head of its answer. A connection that was kept may be closing just now, and
    /// then nobody knows whether the request was taken. So a request that is idempotent, by its method or because the
    /// caller knows it to be, is sent once more over a new connection when it is cut off. Any other is sent over a new
    /// one from the start.
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

/// Whether a second request does no harm, whatever it asks for (RFC 9110, section 9.2.2).
fn is_harmless(method: &Method) -> bool {
    matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PROPFIND" | "DELETE")
}
