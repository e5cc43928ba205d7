//! One HTTP client for all accounts, and the rules for every request: TLS except on this machine; the token only to the
//! origin of `api.base_url`, so redirects are followed here; downloads only to permitted addresses.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{ClientBuilder, Method, Proxy, Response, StatusCode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::ApiError;
use super::addresses::{Guard, Resolver, folded};
use super::auth::{Bearer, scopes};
use super::redirect::redirect_target;
use crate::config::{ApiConfig, is_loopback};
use crate::system::http::{self, asked_to_wait, reason};

/// The most redirects that one request follows.
const MAX_REDIRECTS: usize = 5;
/// The longest wait for a TCP and TLS connection; `api.timeout` when that is shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long an HTTP/2 connection may be silent before it is pinged, and the longest wait for the reply.
const ALIVE_INTERVAL: Duration = Duration::from_secs(20);
const ALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest JSON answer that is read: a page of 100 documents with everything expanded has about 1 MB.
pub(super) const MAX_JSON_BYTES: usize = 8 * 1024 * 1024;

/// Stands for a host that messages do not name.
const ANOTHER_HOST: &str = "another host";
/// The longest error body that is read; bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The shared HTTP client.
#[derive(Debug, Clone)]
pub struct Transport {
    http: http::Client,
    /// The client for hosts other than the API.
    elsewhere: http::Client,
    guard: Guard,
    base: Url,
    /// The hosts that the configuration names.
    ours: Arc<HashSet<String>>,
    /// Host and port of `api.proxy`, if requests use it.
    proxy: Option<String>,
    /// How much this computer's clock was ahead of the API's; milliseconds, `i64::MIN` if it is not known.
    ahead: Arc<AtomicI64>,
    pub(super) timeout: Duration,
}

/// Where redirects of a request may lead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Only to the API. Another host cannot answer for it without the token, and its answer (404, for example) says
    /// nothing about a document.
    Api,
    /// To any host that downloads may go to: PDFs may be elsewhere.
    Pdf,
    /// As [`Self::Pdf`], but for any call of a person.
    Anywhere,
}

impl Reach {
    fn accept(self) -> &'static str {
        match self {
            Reach::Pdf => "application/pdf, application/octet-stream;q=0.9, */*;q=0.1",
            Reach::Api | Reach::Anywhere => "application/json, */*;q=0.1",
        }
    }

    /// PDFs are already compressed.
    fn accept_encoding(self) -> &'static str {
        match self {
            Reach::Pdf => "identity",
            Reach::Api | Reach::Anywhere => "gzip",
        }
    }
}

/// The body of a request.
pub(super) struct Body {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
    /// Whether repeating the request does no harm.
    pub is_idempotent: bool,
}

/// The answer to a JSON body that held a secret, whatever its status.
pub struct TokenAnswer {
    /// The status code.
    pub status: u16,
    /// The wait that Retry-After asks for.
    pub retry_after: Option<Duration>,
    /// The body; it may hold tokens.
    pub body: Vec<u8>,
}

impl Transport {
    /// Builds the client; connects to nothing yet.
    ///
    /// # Errors
    /// A sentence about `api.ca_file` or the system's certificates.
    pub fn new(config: &ApiConfig) -> Result<Self, String> {
        http::install_crypto();
        let guard = Guard::new(config);
        let tls = trust(config)?;
        let http = client(config, &tls, None)?;
        let elsewhere = client(config, &tls, Some(&guard))?;
        let pages = [Some(&config.base_url), config.app_url.as_ref(), config.authorization_page.as_ref()];
        let hosts = pages.into_iter().flatten().filter_map(Url::host_str);
        let ours = hosts.chain(config.pdf_hosts.iter().map(String::as_str)).map(folded).collect();
        Ok(Self {
            http,
            elsewhere,
            guard,
            base: config.base_url.clone(),
            ours: Arc::new(ours),
            proxy: config.proxy.as_ref().filter(|_| !stays_here(config)).map(http::host_and_port),
            ahead: Arc::new(AtomicI64::new(i64::MIN)),
            timeout: config.timeout,
        })
    }

    /// See [`super::Api::clock_ahead`].
    pub(super) fn clock_ahead(&self) -> Option<i64> {
        Some(self.ahead.load(Ordering::Relaxed)).filter(|ahead| *ahead != i64::MIN)
    }

    /// The address of an endpoint. Percent-encodes `segments`.
    pub(super) fn endpoint(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Resolves an address from the API: absolute, or relative to the API.
    pub(super) fn resolve(&self, address: &str) -> Result<Url, ApiError> {
        self.base.join(address).map_err(|_| ApiError::Shape("an address in it is not a URL".to_owned()))
    }

    /// Whether `url` has the scheme, host and port of `api.base_url` (RFC 6454).
    pub(super) fn is_own_origin(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    /// Sends a request and returns the answer, whatever its status. Follows redirects.
    pub(super) async fn send(
        &self,
        method: Method,
        mut url: Url,
        token: &SecretString,
        reach: Reach,
        body: Option<&Body>,
    ) -> Result<Response, ApiError> {
        let mut own = true;
        for _ in 0..=MAX_REDIRECTS {
            // Once a redirect has led away, no token is sent, even if a later redirect leads back.
            own = own && self.is_own_origin(&url);
            self.require_tls(&url)?;
            let client = if reach == Reach::Api || self.is_own_origin(&url) {
                &self.http
            } else if self.guard.permits(&url).await {
                &self.elsewhere
            } else {
                return Err(ApiError::RefusedAddress(self.host(&url)));
            };
            let mut request = client.request(method.clone(), url.clone()).header(ACCEPT, reach.accept());
            request = request.header(ACCEPT_ENCODING, reach.accept_encoding());
            if own {
                request = request.bearer_auth(token.expose_secret());
            }
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, body.media_type).body(body.bytes.clone());
            }
            let response = match client.send(request, body.is_some_and(|body| body.is_idempotent)).await {
                Ok(response) => response,
                Err(error) => return Err(self.before_answer(&url, &error).await),
            };
            let (status, headers) = (response.status().as_u16(), response.headers());
            if let Some(ahead) = http::ahead_of_server(headers, SystemTime::now()).filter(|_| self.is_own_origin(&url))
            {
                self.ahead.store(ahead, Ordering::Relaxed);
            }
            let Some(target) = redirect_target(&method, &url, status, headers)? else { return Ok(response) };
            if body.is_some() && !self.is_own_origin(&target) {
                return Err(ApiError::Redirect("a report must not go to another host".to_owned()));
            }
            if reach == Reach::Api && !self.is_own_origin(&target) {
                return Err(ApiError::Redirect("it leads away from the API, to another host".to_owned()));
            }
            url = target;
        }
        Err(ApiError::Redirect(format!("more than {MAX_REDIRECTS} in a row")))
    }

    /// As [`Self::send`], but every status other than 2xx is an error.
    pub(super) async fn send_ok(
        &self,
        method: Method,
        url: Url,
        bearer: &Bearer,
        reach: Reach,
        body: Option<&Body>,
    ) -> Result<Response, ApiError> {
        let own = self.is_own_origin(&url);
        let response = self.send(method, url, &bearer.token, reach, body).await?;
        let own = own && self.is_own_origin(response.url());
        match response.status() {
            // docsyncd requests no ranges (RFC 9110, section 15.3.7).
            StatusCode::PARTIAL_CONTENT => Err(ApiError::Shape("it is only a part of what was asked for".to_owned())),
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED if own => Err(ApiError::Unauthorized { signed_in: bearer.signed_in.clone() }),
            StatusCode::FORBIDDEN if own => {
                let retry_after = asked_to_wait(response.headers(), SystemTime::now());
                let scopes = self.missing_scopes(response).await;
                Err(if scopes.is_empty() {
                    ApiError::Status { status: 403, retry_after }
                } else {
                    ApiError::MissingScope { scopes, account: bearer.signed_in.clone() }
                })
            }
            status => Err(ApiError::Status {
                status: status.as_u16(),
                retry_after: asked_to_wait(response.headers(), SystemTime::now()),
            }),
        }
    }

    /// A GET of exactly this address, without credentials and without redirects.
    pub(super) async fn get_once(&self, url: &Url) -> Result<Response, ApiError> {
        self.require_tls(url)?;
        let request = self.http.request(Method::GET, url.clone()).header(ACCEPT, "application/json");
        let call = async {
            match self.http.send(request, false).await {
                Ok(response) => Ok(response),
                Err(error) => Err(self.before_answer(url, &error).await),
            }
        };
        self.in_time(url, call).await
    }

    /// Sends a JSON body that holds a secret: only to this address, without redirects and without a token.
    pub(super) async fn post_once(&self, url: &Url, body: Vec<u8>, limit: usize) -> Result<TokenAnswer, ApiError> {
        self.require_tls(url)?;
        let request = self.http.request(Method::POST, url.clone()).header(ACCEPT, "application/json");
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let response = match self.http.send(request, false).await {
            Ok(response) => response,
            Err(error) => return Err(self.before_answer(url, &error).await),
        };
        let (status, retry_after) = (response.status().as_u16(), asked_to_wait(response.headers(), SystemTime::now()));
        Ok(TokenAnswer { status, retry_after, body: self.read_bounded(url, response, limit).await? })
    }

    /// The body, if it is at most `limit` bytes long.
    pub(super) async fn read_bounded(&self, url: &Url, response: Response, limit: usize) -> Result<Vec<u8>, ApiError> {
        let (mut body, mut read) = (http::Body::of(response), Vec::new());
        while let Some(chunk) = body.chunk().await.map_err(|error| in_body(&self.host(url), &error))? {
            if read.len() + chunk.len() > limit {
                return Err(ApiError::Shape(format!("it has more than {limit} bytes")));
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read)
    }

    /// The scopes that a 403 says are missing; empty if it is about something else.
    async fn missing_scopes(&self, response: Response) -> Vec<&'static str> {
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let named = challenge.map(scopes::of_challenge).unwrap_or_default();
        if !named.is_empty() {
            return named;
        }
        let url = response.url().clone();
        let body = self.read_bounded(&url, response, MAX_ERROR_BYTES).await.unwrap_or_default();
        scopes::of_body(&String::from_utf8_lossy(&body))
    }

    /// Host and port: enough to say where a call failed, without a path, which may hold names or signatures. A host
    /// that the configuration does not name comes from the server and may hold a name as well, so it is not shown.
    pub(super) fn host(&self, url: &Url) -> String {
        let name = url.host_str().unwrap_or("?");
        if !self.ours.contains(&folded(name)) {
            return ANOTHER_HOST.to_owned();
        }
        http::host_and_port(url)
    }

    /// Requires https, except on this machine.
    fn require_tls(&self, url: &Url) -> Result<(), ApiError> {
        match url.scheme() {
            "https" => Ok(()),
            "http" if is_loopback(url) => Ok(()),
            _ => Err(ApiError::Insecure(self.host(url))),
        }
    }

    async fn before_answer(&self, url: &Url, error: &reqwest::Error) -> ApiError {
        let host = self.host(url);
        if reason::is_refused(error) {
            return ApiError::RefusedAddress(host);
        }
        let mut what = reason::of(error, "api");
        // Only hosts of the configuration are probed: for others the rules about addresses would apply.
        if host != ANOTHER_HOST && reason::is_plain(error) && http::speaks_http(url).await == Some(false) {
            "it answers, but not with TLS or HTTP".clone_into(&mut what);
        }
        // A server that received the request and then kept silent is reachable: this one document may be the cause.
        if error.is_connect() || error.is_builder() {
            ApiError::Unreachable { host: reason::place(error, host, self.proxy.as_deref(), "api"), what }
        } else {
            ApiError::BrokenOff { host, what, timed_out: error.is_timeout() }
        }
    }

    /// Limits the whole call to `api.timeout`.
    pub(super) async fn in_time<T>(
        &self,
        url: &Url,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        tokio::time::timeout(self.timeout, call).await.unwrap_or_else(|_| {
            Err(ApiError::BrokenOff {
                host: self.host(url),
                what: format!("no answer within {} (api.timeout)", humantime::format_duration(self.timeout)),
                timed_out: true,
            })
        })
    }
}

/// The error for a body that could not be read to its end.
pub(super) fn in_body(host: &str, error: &http::BodyError) -> ApiError {
    match error {
        http::BodyError::Connection(error) => {
            ApiError::BrokenOff { host: host.to_owned(), what: reason::of(error, "api"), timed_out: error.is_timeout() }
        }
        other => ApiError::Shape(other.to_string()),
    }
}

/// Whether requests skip the proxy: the API is on this machine, and the proxy is not.
fn stays_here(config: &ApiConfig) -> bool {
    is_loopback(&config.base_url) && !config.proxy.as_ref().is_some_and(is_loopback)
}

/// The trusted certificate authorities: `api.ca_file`, else the system's. They are read once for both clients, since
/// reading them takes a good part of the start.
fn trust(config: &ApiConfig) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder();
    let mut tls = if let Some(file) = &config.ca_file {
        let pem =
            http::read_pem(file).map_err(|error| format!("api.ca_file {} cannot be read: {error}", file.display()))?;
        let found: Option<Vec<_>> = CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().ok();
        let trusted = found.and_then(http::trusted);
        let trusted = trusted.ok_or_else(|| format!("api.ca_file {} holds no PEM certificate", file.display()))?;
        builder.dangerous().with_custom_certificate_verifier(trusted).with_no_client_auth()
    } else {
        match builder.clone().with_platform_verifier() {
            Ok(verified) => verified.with_no_client_auth(),
            // A system without certificate authorities must still be able to reach a server over http.
            Err(_) if config.base_url.scheme() == "http" => {
                builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
            }
            Err(error) => return Err(http::no_tls(&error, "api.ca_file")),
        }
    };
    // HTTP/2 where it is offered (RFC 7301, RFC 9113).
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// A client whose connections go where `guard` allows.
fn client(config: &ApiConfig, tls: &ClientConfig, guard: Option<&Guard>) -> Result<http::Client, String> {
    let configured = || {
        let builder = http::builder()
            .tls_backend_preconfigured(tls.clone())
            .dns_resolver(Resolver(guard.cloned()))
            .connect_timeout(CONNECT_TIMEOUT.min(config.timeout))
            // A firewall or a scanner may keep a dead connection open, and HTTP/2 would use it for ever.
            .http2_keep_alive_interval(ALIVE_INTERVAL)
            .http2_keep_alive_timeout(ALIVE_TIMEOUT)
            .http2_keep_alive_while_idle(true)
            .read_timeout(config.timeout);
        through_proxy(config, builder)
    };
    http::Client::build(configured, |error| http::no_tls(&error, "api.ca_file"))
}

fn through_proxy(config: &ApiConfig, builder: ClientBuilder) -> Result<ClientBuilder, String> {
    match &config.proxy {
        // Requests that stay on this machine must not go through a proxy on another, which could read them over http.
        _ if stays_here(config) => Ok(builder.no_proxy()),
        Some(address) => {
            let proxy = Proxy::all(address.as_str()).map_err(|error| format!("api.proxy cannot be used: {error}"))?;
            Ok(builder.proxy(proxy))
        }
        None => Ok(builder),
    }
}

#[cfg(test)]
mod tests;
