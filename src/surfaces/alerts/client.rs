//! The HTTP client of the heartbeat and the webhook. Their addresses are secrets, so no error and no log contains them.
//! What the other side says is not repeated.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{NoProxy, Proxy, RequestBuilder, Response, StatusCode};
use url::{Host, Url};

use super::{Taken, Undelivered};
use crate::config::{ApiConfig, Secret};
use crate::system::http::{self, reason};
use crate::system::secret;

/// How long an attempt may take.
pub(super) const LIMIT: Duration = Duration::from_secs(30);
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// The most bytes that are read of an answer.
const MOST_ANSWER: usize = 64 * 1024;

/// A client that does not follow redirects, because whoever has the address of a webhook gets its messages.
///
/// # Errors
/// What is wrong with TLS or the proxy, in words.
pub(super) fn client(api: &ApiConfig) -> Result<reqwest::Client, String> {
    let build = |trust_nobody: bool| {
        let mut builder = http::builder().connect_timeout(CONNECT_LIMIT).timeout(LIMIT);
        builder = builder.dns_resolver(http::SystemResolver);
        if trust_nobody {
            builder = builder.tls_certs_only([]);
        }
        if let Some(proxy) = &api.proxy {
            let proxy = Proxy::all(proxy.as_str()).map_err(|_| "api.proxy cannot be used".to_owned())?;
            builder = builder.proxy(proxy.no_proxy(NoProxy::from_string("localhost,127.0.0.0/8,::1")));
        }
        builder.build().map_err(|_| "TLS cannot be set up: install the system's CA certificates".to_owned())
    };
    // Without certificate authorities, plain HTTP to a receiver on this machine still works.
    build(false).or_else(|_| build(true))
}

/// Reads the address from its file each time, so that a new address needs no restart.
///
/// # Errors
/// What is wrong with the file, in words.
pub(super) fn address(file: &Secret, key: &str) -> Result<Url, Undelivered> {
    let text = secret::read(file, key, "address").map_err(Undelivered::misconfigured)?;
    let url = Url::parse(secrecy::ExposeSecret::expose_secret(&text)).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| Undelivered::misconfigured(format!("{key} does not hold a web address")))
}

/// Sends the request and judges the answer.
pub(super) async fn send(request: RequestBuilder) -> Result<Taken, Undelivered> {
    let response = answer(request).await?;
    let status = response.status();
    if is_page(response).await {
        return Err(Undelivered::certainly(format!(
            "a web page answered (HTTP {}): is the address right, and nothing in the way?",
            status.as_u16()
        )));
    }
    match status {
        status if status.is_success() => Ok(Taken { code: status.as_u16(), refused: Vec::new() }),
        status => Err(refused(status)),
    }
}

/// Returns the answer, whatever its status.
pub(super) async fn answer(request: RequestBuilder) -> Result<Response, Undelivered> {
    request.send().await.map_err(|error| {
        let reached = !error.is_connect() && !error.is_builder();
        let what = match reason::certificate_refused(&error) {
            Some(why) => format!("the certificate is refused: {why}"),
            None if error.is_builder() => "the address cannot be used".to_owned(),
            None if error.is_timeout() => "no answer in time".to_owned(),
            // The request may have failed because of `api.proxy`.
            None if error.is_connect() => format!("cannot be reached: {}", reason::of(&error, "api")),
            None => "the connection broke off".to_owned(),
        };
        Undelivered { may_have_arrived: reached, ..Undelivered::certainly(what) }
    })
}

pub(super) fn refused(status: StatusCode) -> Undelivered {
    let hint = match status.as_u16() {
        300..=399 => ": it leads elsewhere; write the address that it leads to",
        401 | 403 => ": the address or its key is not accepted",
        404 | 410 => ": nobody is there; is the address right?",
        413 => ": the message is too large",
        429 => ": it asks for fewer messages",
        500.. => ": it has a fault of its own",
        _ => "",
    };
    let what = format!("HTTP {}{hint}", status.as_u16());
    Undelivered { may_have_arrived: status.is_server_error(), ..Undelivered::certainly(what) }
}

/// Whether the answer is a page for people, by its type or by how it begins.
pub(super) async fn is_page(mut response: Response) -> bool {
    let says = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if says.to_ascii_lowercase().contains("html") {
        return true;
    }
    let mut start = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        start.extend_from_slice(&bytes);
        if start.len() > MOST_ANSWER {
            break;
        }
    }
    let start: String = String::from_utf8_lossy(&start).trim_start().chars().take(14).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// The address without path and query, for a check that sends no message.
pub(super) fn origin(url: &Url) -> Url {
    let mut origin = url.clone();
    origin.set_path("/");
    origin.set_query(None);
    origin.set_fragment(None);
    origin
}

/// The host, which is no secret.
pub(super) fn host(url: &Url) -> String {
    match url.host() {
        Some(Host::Domain(name)) => name.chars().filter(|c| !c.is_control()).take(100).collect(),
        Some(address) => address.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6761, section 6.4: this name never exists.
    #[tokio::test]
    async fn a_name_that_is_not_known_is_told_as_that() {
        http::install_crypto();
        let client = http::builder().dns_resolver(http::SystemResolver).build().unwrap();
        let wrong = answer(client.get("http://hook.invalid/secret")).await.unwrap_err();
        assert_eq!(wrong.what, "cannot be reached: its name is not known (DNS)");
    }
}
