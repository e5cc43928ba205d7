//! Keeps web pages out of a surface that has no authentication.
//!
//! A page in the developer's browser can send requests to this machine. Two headers reveal it, and no page can change
//! either. `Origin` comes with every request that has an effect. `Host` holds the page's own name if that name was made
//! to resolve to this machine (DNS rebinding). Nobody can do that with an IP address, so every address is accepted:
//! behind a forwarded port it may differ from the listener's.
//!
//! Whoever may create webhooks could also make the sandbox itself send requests here. Those are recognised by their
//! `webhook-id`.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;

/// The header that every delivery to a webhook has.
const DELIVERY: &str = "webhook-id";

pub(super) async fn keep_web_pages_out(request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::ORIGIN) {
        return Refusal::new(403, "requests with an Origin header come from web pages, which may not use this")
            .into_response();
    }
    if request.headers().contains_key(DELIVERY) {
        return Refusal::new(403, "deliveries to webhooks may not use this").into_response();
    }
    let host = request.headers().get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !here(host) {
        return Refusal::new(
            403,
            format!("the Host header must be an IP address or localhost, with or without a port, not \"{host}\""),
        )
        .into_response();
    }
    next.run(request).await
}

/// Whether a `Host` value is an address or `localhost`.
fn here(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        return rest
            .split_once(']')
            .is_some_and(|(address, port)| address.parse::<Ipv6Addr>().is_ok() && (port.is_empty() || is_port(port)));
    }
    let (name, port) = host.find(':').map_or((host, ""), |colon| host.split_at(colon));
    (name.eq_ignore_ascii_case("localhost") || name.parse::<Ipv4Addr>().is_ok()) && (port.is_empty() || is_port(port))
}

/// `:1234`
fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| digits.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_here_and_names_are_not() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:9000", "192.0.2.1", "[::1]", "[::1]:9000"] {
            assert!(here(host), "{host}");
        }
        for host in [
            "",
            "rebound.example",
            "rebound.example:9000",
            "localhost.rebound.example",
            "127.0.0.1.example",
            "[x]",
            "localhost:x",
        ] {
            assert!(!here(host), "{host}");
        }
    }
}
