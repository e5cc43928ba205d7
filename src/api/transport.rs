//! One HTTP client for all accounts, and the rules every request keeps: TLS unless on this machine, the token only to
//! the origin of `api.base_url`, redirects followed by hand so that it stays so.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Certificate, Method, Proxy, Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use super::ApiError;
use super::auth::{Bearer, scopes};
use super::retry_after::asked_to_wait;
use crate::config::ApiConfig;

/// Redirects followed for one request.
const MAX_REDIRECTS: usize = 5;
/// The longest wait for a TCP and TLS connection; `api.timeout` when that is shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// The longest JSON answer that is read: a page of 100 documents with everything expanded has about 1 MB.
pub(super) const MAX_JSON_BYTES: usize = 8 * 1024 * 1024;

/// The longest error body that is read; bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// The shared HTTP client.
#[derive(Debug, Clone)]
pub struct Transport {
    http: reqwest::Client,
    base: Url,
    pub(super) timeout: Duration,
}

/// Where the redirects of a request may lead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nowhere but to the API: without the token no other host can answer for it, and what such a host says (404, say)
    /// is not the API's word about a document.
    Api,
    /// To any host: PDFs may lie elsewhere.
    Anywhere,
}

/// What is sent with a request.
pub(super) struct Body {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

/// An answer as it came, whatever its status.
pub struct TokenAnswer {
    /// The status code.
    pub status: u16,
    /// What Retry-After asked for.
    pub retry_after: Option<Duration>,
    /// The body; it may hold tokens.
    pub body: Vec<u8>,
}

impl Transport {
    /// Builds the client; nothing is connected yet.
    ///
    /// # Errors
    /// A sentence about `api.ca_file` or the system's certificates.
    pub fn new(config: &ApiConfig) -> Result<Self, String> {
        // The first provider installed stays; a second daemon in one process (a test) finds it there.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("docsyncd/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(config.timeout))
            .read_timeout(config.timeout);
        if is_loopback(&config.base_url) && !config.proxy.as_ref().is_some_and(is_loopback) {
            // What stays on this machine needs no proxy of another one, which would read it where it is http.
            builder = builder.no_proxy();
        } else if let Some(proxy) = &config.proxy {
            let proxy = Proxy::all(proxy.as_str()).map_err(|error| format!("api.proxy cannot be used: {error}"))?;
            builder = builder.proxy(proxy);
        }
        if let Some(file) = &config.ca_file {
            let pem = std::fs::read(file)
                .map_err(|error| format!("api.ca_file {} cannot be read: {error}", file.display()))?;
            let roots = Certificate::from_pem_bundle(&pem)
                .ok()
                .filter(|roots| !roots.is_empty())
                .ok_or_else(|| format!("api.ca_file {} holds no PEM certificate", file.display()))?;
            builder = builder.tls_certs_only(roots);
        } else if config.base_url.scheme() == "http" {
            // A system without certificate authorities must still be able to talk to a server on this machine.
            let trust_nobody = || reqwest::Client::builder().tls_certs_only([]);
            if reqwest::Client::builder().build().is_err() {
                builder =
                    trust_nobody().redirect(reqwest::redirect::Policy::none()).read_timeout(config.timeout).no_proxy();
            }
        }
        let http = builder.build().map_err(|error| {
            format!(
                "TLS cannot be set up ({}): install the system's CA certificates, or set api.ca_file",
                innermost(&error)
            )
        })?;
        Ok(Self { http, base: config.base_url.clone(), timeout: config.timeout })
    }

    /// The address of an endpoint. `segments` are percent-encoded.
    pub(super) fn endpoint(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Resolves an address that the API gave: absolute, or relative to the API.
    pub(super) fn resolve(&self, address: &str) -> Result<Url, ApiError> {
        self.base.join(address).map_err(|_| ApiError::Shape("an address in it is not a URL".to_owned()))
    }

    /// Whether `url` has the scheme, host and port of `api.base_url` (RFC 6454).
    pub(super) fn is_own_origin(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    /// Sends a request and returns the answer to it, whatever its status; redirects are followed.
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
            // Once a redirect has led away, the token stays home even if a later one leads back.
            own = own && self.is_own_origin(&url);
            require_tls(&url)?;
            let mut request =
                self.http.request(method.clone(), url.clone()).header(ACCEPT, "application/json, */*;q=0.1");
            if own {
                request = request.bearer_auth(token.expose_secret());
            }
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, body.media_type).body(body.bytes.clone());
            }
            let response = request.send().await.map_err(|error| before_answer(&url, &error))?;
            let Some(target) = redirect_target(&method, &url, &response)? else { return Ok(response) };
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

    /// As [`Self::send`], with every status but 2xx turned into an error.
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
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED if own => Err(ApiError::Unauthorized),
            StatusCode::FORBIDDEN if own => {
                let retry_after = asked_to_wait(response.headers(), SystemTime::now());
                let scopes = missing_scopes(response).await;
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

    /// Sends a JSON body that holds a secret: to this very address, following no redirect, without a token.
    pub(super) async fn post_once(&self, url: &Url, body: Vec<u8>, limit: usize) -> Result<TokenAnswer, ApiError> {
        require_tls(url)?;
        let request = self.http.post(url.clone()).header(ACCEPT, "application/json");
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let response = request.send().await.map_err(|error| before_answer(url, &error))?;
        let (status, retry_after) = (response.status().as_u16(), asked_to_wait(response.headers(), SystemTime::now()));
        Ok(TokenAnswer { status, retry_after, body: read_bounded(url, response, limit).await? })
    }

    /// `api.timeout` for the whole call.
    pub(super) async fn in_time<T>(
        &self,
        url: &Url,
        call: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        tokio::time::timeout(self.timeout, call).await.unwrap_or_else(|_| {
            Err(ApiError::BrokenOff {
                host: host(url),
                what: format!("no answer within {} (api.timeout)", humantime::format_duration(self.timeout)),
            })
        })
    }
}

/// The body, when it is at most `limit` bytes long.
pub(super) async fn read_bounded(url: &Url, mut response: Response, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| in_body(url, &error))? {
        if body.len() + chunk.len() > limit {
            return Err(ApiError::Shape(format!("it has more than {limit} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The scopes that a 403 names; none when it is about something else.
async fn missing_scopes(response: Response) -> Vec<&'static str> {
    let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let named = challenge.map(scopes::of_challenge).unwrap_or_default();
    if !named.is_empty() {
        return named;
    }
    let url = response.url().clone();
    let body = read_bounded(&url, response, MAX_ERROR_BYTES).await.unwrap_or_default();
    scopes::of_body(&String::from_utf8_lossy(&body))
}

fn redirect_target(method: &Method, url: &Url, response: &Response) -> Result<Option<Url>, ApiError> {
    match response.status().as_u16() {
        301..=303 if *method == Method::GET => {}
        307 | 308 => {}
        301..=303 => return Err(ApiError::Redirect("it would turn the request into another one".to_owned())),
        _ => return Ok(None),
    }
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target = target.and_then(|target| url.join(target).ok());
    target.map(Some).ok_or_else(|| ApiError::Redirect("it names no target".to_owned()))
}

/// https everywhere but on this machine.
fn require_tls(url: &Url) -> Result<(), ApiError> {
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        _ => Err(ApiError::Insecure(host(url))),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Host and port: enough to know where it failed, without paths that may hold names or signatures.
pub(super) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

fn before_answer(url: &Url, error: &reqwest::Error) -> ApiError {
    let (host, what) = (host(url), innermost(error));
    // A server that took the request and then kept silent is there: that may be this one document's doing.
    if error.is_connect() || error.is_builder() {
        ApiError::Unreachable { host, what }
    } else {
        ApiError::BrokenOff { host, what }
    }
}

/// A body that could not be read to its end.
pub(super) fn in_body(url: &Url, error: &reqwest::Error) -> ApiError {
    ApiError::BrokenOff { host: host(url), what: innermost(error) }
}

/// The cause at the bottom of the chain: the outer ones repeat the URL.
fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time (api.timeout)".to_owned();
    }
    let mut cause = error.source();
    let mut text = None;
    while let Some(inner) = cause {
        text = Some(inner.to_string());
        cause = inner.source();
    }
    text.unwrap_or_else(|| "the connection failed".to_owned())
}
