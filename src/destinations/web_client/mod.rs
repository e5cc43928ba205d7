//! Requests to destinations that speak HTTP: one client for each destination, with its trust, proxy and credentials.
//!
//! The client follows no redirect. Credentials go only to the configured origin, and are read from their files for each
//! request, so that a replaced file counts at once. Of an answer's words, only the status is passed on. A wait ends
//! when nothing moves for `timeout`. The caller learns whether everything had been sent by then, because from then on
//! the other side may have it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{ClientBuilder, Method, Proxy, StatusCode};
use rustls::ClientConfig;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{Instant, sleep_until, timeout_at};
use url::Url;

use super::{DOCUMENT_LIMIT, Outcome};
use crate::config::is_loopback;
use crate::destinations::{WebConnection, WebSignIn};
use crate::domain::failure::Code;
use crate::system::http::{self, reason};
use crate::system::secret::{self, FileStamp};
use crate::system::tls::Tls;

mod answer;
mod body;
mod shortened;
#[cfg(test)]
mod simulated;
mod status;

pub(super) use answer::{Answer, Content};
use body::Progress;
pub(super) use body::{Piece, Upload};
#[cfg(feature = "fhir")]
pub(super) use shortened::{DIGEST, Shortened};
#[cfg(feature = "s3")]
pub(super) use status::outcome as outcome_of_status;
pub(super) use status::{Meaning, meaning};

/// The longest wait for a TCP and TLS connection; `timeout` if that is shorter.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A request to a destination. Its address may be signed, and address and headers may name a patient: it is never
/// printed.
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// The body of the request.
    pub(super) body: Option<Upload>,
}

impl Request {
    /// Without headers and body.
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: None }
    }
}

/// Why there is no answer, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is no way to the destination for any document: its address, DNS, TLS, or our credentials.
    Down(&'static str, String),
    /// The connection broke before all was sent: the other side cannot have the document.
    Broken(String),
    /// All was sent, and no answer came, or an impossible one: the other side may have the document.
    Lost(String),
    /// The spooled file could not be read, or is not what was fetched.
    Spool(Outcome),
}

impl Fault {
    /// The outcome of a delivery.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Down(code, reason) => Outcome::unavailable(code, reason),
            Self::Broken(reason) => Outcome::transient(Code::word("broken_off"), reason),
            Self::Lost(reason) => Outcome::Unconfirmed { code: Code::word("no_answer"), reason },
            Self::Spool(outcome) => outcome,
        }
    }

    /// The message of a check.
    pub(super) fn into_reason(self) -> String {
        self.outcome().into_reason()
    }
}

/// The client of one destination.
#[derive(Debug)]
pub(super) struct WebClient {
    connection: WebConnection,
    /// The client, with the stamp of its files when it was built.
    made: Mutex<Option<(FileStamp, http::Client)>>,
    /// The sign-in that the last 401 asked for, if docsyncd does not know it.
    asks_for: Mutex<Option<&'static str>>,
}

impl WebClient {
    /// Opens nothing and reads nothing.
    pub(super) fn new(connection: WebConnection) -> Self {
        Self { connection, made: Mutex::new(None), asks_for: Mutex::new(None) }
    }

    pub(super) fn connection(&self) -> &WebConnection {
        &self.connection
    }

    /// Whether the configured files are there and usable.
    ///
    /// # Errors
    /// What is wrong with them, and what to do.
    pub(super) fn configured(&self) -> Result<(), String> {
        self.client()?;
        self.credentials().map(|_| ())
    }

    /// Sends a request with the destination's credentials, and waits for the head of the answer.
    ///
    /// # Errors
    /// [`Fault`]
    pub(super) async fn send(&self, mut request: Request) -> Result<Answer, Fault> {
        if request.url.origin() == self.connection.origin.origin() {
            let credentials = self.credentials().map_err(|wrong| Fault::Down("credentials", self.named(&wrong)))?;
            if let Some(value) = credentials {
                request.headers.insert(AUTHORIZATION, value);
            }
        }
        self.send_as_it_is(request).await
    }

    /// The same without credentials, or with those that the request contains.
    ///
    /// # Errors
    /// [`Fault`]
    pub(super) async fn send_as_it_is(&self, mut request: Request) -> Result<Answer, Fault> {
        // A cached answer is no look: HAPI repeats the result of a search for a minute.
        if request.body.is_none() {
            request.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        #[cfg(test)]
        if crate::simulation::web::is_simulated() {
            return simulated::send(self, request).await;
        }
        let client = self.client().map_err(|wrong| Fault::Down("tls", self.named(&wrong)))?;
        fault_point!("web.send.before");
        let answered = self.attempt(&client, request).await;
        fault_point!("web.send.after");
        answered
    }

    async fn attempt(&self, client: &http::Client, request: Request) -> Result<Answer, Fault> {
        let Request { method, url, headers, body } = request;
        let (mut builder, has_body) = (client.request(method, url).headers(headers), body.is_some());
        let progress = match body {
            None => Progress::of_nothing(),
            Some(upload) => {
                builder = builder.header(CONTENT_LENGTH, upload.length());
                let (body, progress) = upload.stream();
                builder = builder.body(body);
                progress
            }
        };
        let deadline = Instant::now() + DOCUMENT_LIMIT;
        let answered = self.while_it_moves(&progress, deadline, client.send(builder, false)).await;
        if let Some(outcome) = progress.failed() {
            return Err(Fault::Spool(outcome));
        }
        // After the whole body was sent, the other side may have it.
        let broke = if has_body && progress.is_whole() { Fault::Lost } else { Fault::Broken };
        match answered {
            Some(Ok(response)) if response.status().is_success() && !progress.is_whole() => {
                let what = format!("it answers with status {} before it has all", response.status().as_u16());
                Err(Fault::Lost(self.failed(&what)))
            }
            Some(Ok(response)) => {
                if response.status() == StatusCode::UNAUTHORIZED {
                    *self.asks_for.lock().unwrap_or_else(PoisonError::into_inner) = foreign_scheme(response.headers());
                }
                Ok(Answer::new(response, self.connection.timeout))
            }
            Some(Err(error)) if error.is_connect() || error.is_builder() => {
                Err(Fault::Down("no_connection", self.not_connected(&error)))
            }
            Some(Err(error)) => Err(broke(self.failed(&reason::of(&error, &self.section())))),
            None => Err(broke(self.failed(&format!("no answer in time ({}.timeout)", self.section())))),
        }
    }

    /// Waits while the body moves on; `None` if nothing moved for `timeout`.
    async fn while_it_moves<T>(
        &self,
        progress: &Progress,
        deadline: Instant,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = std::pin::pin!(work);
        loop {
            let until = (progress.moved_at() + self.connection.timeout).min(deadline);
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = sleep_until(until) => {
                    if Instant::now() >= (progress.moved_at() + self.connection.timeout).min(deadline) {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether a connection succeeds, with TLS if configured: any answer will do.
    ///
    /// # Errors
    /// Why there is no connection.
    pub(super) async fn connects(&self) -> Result<(), String> {
        let mut url = self.connection.origin.clone();
        url.set_path("/");
        let limit = Instant::now() + self.connection.timeout;
        let request = self.send_as_it_is(Request::new(Method::HEAD, url));
        match timeout_at(limit, request).await {
            // The service's answer about its root does not matter; a gateway with nobody behind it does.
            Ok(Ok(answer)) if matches!(answer.status, 407 | 502 | 503 | 504 | 511) => {
                let (_, words) = meaning(answer.status, true);
                Err(self.named(&format!("it answers with status {}: {words}", answer.status)))
            }
            Ok(Ok(_)) => Ok(()),
            Ok(Err(fault)) => Err(fault.into_reason()),
            Err(_) => Err(self.failed(&format!("no answer in time ({}.timeout)", self.section()))),
        }
    }

    /// The configuration section of this destination.
    fn section(&self) -> String {
        format!("destinations.{}", self.connection.name)
    }

    pub(super) fn named(&self, what: &str) -> String {
        format!("destination `{}`: {what}", self.connection.name)
    }

    /// The outcome of a delivery with this status.
    pub(super) fn of_status(&self, status: u16, is_base: bool, retry_after: Option<Duration>) -> Outcome {
        match self.foreign_sign_in(status) {
            Some(words) => {
                let reason = self.named(&format!("it answers with status {status}: {words}"));
                Outcome::Unavailable { code: Code::Status(status), reason, retry_after }
            }
            None => status::outcome(&self.connection.name, status, is_base, retry_after),
        }
    }

    /// The message about a 401 that asks for an unknown sign-in, which no password would satisfy.
    pub(super) fn foreign_sign_in(&self, status: u16) -> Option<String> {
        let scheme = (*self.asks_for.lock().unwrap_or_else(PoisonError::into_inner)).filter(|_| status == 401)?;
        Some(format!(
            "it asks for a sign-in by {scheme}, which docsyncd does not know: let it take Basic (`user`, `password_file`), a token \
             or a client certificate"
        ))
    }

    /// A message about the connection.
    fn failed(&self, what: &str) -> String {
        self.named(&format!("{}: {what}", http::host_and_port(&self.connection.origin)))
    }

    /// Why there is no connection.
    fn not_connected(&self, error: &reqwest::Error) -> String {
        let (host, section) = (http::host_and_port(&self.connection.origin), self.section());
        let proxy = self.proxy().map(http::host_and_port);
        let place = reason::place(error, host, proxy.as_deref(), &section);
        self.named(&format!("{place}: {}", reason::of(error, &section)))
    }

    /// The proxy for requests. Requests that stay on this machine need no proxy elsewhere, which could read plain http.
    fn proxy(&self) -> Option<&Url> {
        let stays_here = is_loopback(&self.connection.origin);
        self.connection.proxy.as_ref().filter(|proxy| !stays_here || is_loopback(proxy))
    }

    /// The header with the credentials that their file holds now.
    fn credentials(&self) -> Result<Option<HeaderValue>, String> {
        let text = match &self.connection.sign_in {
            WebSignIn::None => return Ok(None),
            WebSignIn::Bearer(token) => {
                let token = secret::read(token, "bearer_token_file", "token")?;
                format!("Bearer {}", token.expose_secret())
            }
            WebSignIn::Basic { user, password } => {
                let password = secret::read_password(password, "password_file", "password")?;
                format!("Basic {}", STANDARD.encode(format!("{user}:{}", password.expose_secret())))
            }
        };
        secret_header(&SecretString::from(text))
            .map(Some)
            .ok_or_else(|| "the token cannot stand in a header".to_owned())
    }

    /// The client, built anew if one of its files changed.
    fn client(&self) -> Result<http::Client, String> {
        let stamp = FileStamp::asked(&self.connection.tls.all());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((with, client)) if *with == stamp => Ok(client.clone()),
            _ => {
                let client = self.make()?;
                *made = Some((stamp, client.clone()));
                Ok(client)
            }
        }
    }

    fn make(&self) -> Result<http::Client, String> {
        http::Client::build(|| self.builder(), |error| http::no_tls(&error, "ca_file"))
    }

    fn builder(&self) -> Result<ClientBuilder, String> {
        let WebConnection { origin, tls, timeout, max_connections, .. } = &self.connection;
        let proxy = self.proxy();
        let mut builder = http::builder()
            .retry(reqwest::retry::never())
            .http1_only()
            .dns_resolver(http::SystemResolver)
            .connect_timeout(CONNECT_TIMEOUT.min(*timeout))
            .pool_max_idle_per_host(*max_connections);
        if let Some(proxy) = proxy {
            builder = builder.proxy(Proxy::all(proxy.as_str()).map_err(|_| "proxy cannot be used".to_owned())?);
        } else if is_loopback(origin) {
            builder = builder.no_proxy();
        }
        if tls.ca_file.is_some() || tls.client_certificate.is_some() {
            let tls = Tls::new(tls.clone()).set_up()?;
            builder = builder.tls_backend_preconfigured(ClientConfig::clone(&tls));
        } else if origin.scheme() == "http" && proxy.is_none_or(|proxy| proxy.scheme() != "https") {
            // TLS is not used: a system without certificate authorities must do.
            builder = builder.tls_certs_only([]);
        }
        Ok(builder)
    }
}

/// The scheme that a 401 asks for, if it names none but these (RFC 9110, section 11.6.1).
fn foreign_scheme(headers: &HeaderMap) -> Option<&'static str> {
    const FOREIGN: [&str; 3] = ["Digest", "NTLM", "Negotiate"];
    let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    // A quoted text names no scheme.
    let plain = values.map(|value| value.split('"').step_by(2).collect::<String>()).collect::<Vec<_>>().join(",");
    let words = plain.split(',').filter_map(|challenge| challenge.split_whitespace().next());
    let schemes = words.filter(|word| !word.contains('='));
    let foreign = schemes.map(|scheme| FOREIGN.into_iter().find(|foreign| foreign.eq_ignore_ascii_case(scheme)));
    foreign.collect::<Option<Vec<_>>>()?.first().copied()
}

/// A URL below another; `query` is encoded.
#[cfg(any(feature = "dicom", feature = "fhir"))]
pub(super) fn below(base: &Url, path: &str, query: &[(&str, &str)]) -> Url {
    let mut url = base.clone();
    let path = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    url
}

/// A header value that is kept out of logs; `None` if the text cannot be one.
pub(super) fn secret_header(value: &SecretString) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_bytes(value.expose_secret().as_bytes()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests;
