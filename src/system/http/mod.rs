//! What all HTTP clients of docsyncd share, for the API and for destinations: resolving names, choosing connections,
//! decoding answers, errors in docsyncd's own words, and Retry-After.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use percent_encoding::{CONTROLS, percent_encode};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, LOCATION};
use thiserror::Error;

use crate::system::answering::ask;

mod body;
mod client;
mod date;
mod plain;
pub mod reason;
mod retry_after;
mod trusted;

pub use body::{Body, BodyError};
pub use client::{Client, builder, install_crypto};
pub use date::ahead_of_server;
pub use plain::speaks_http;
pub use retry_after::asked_to_wait;
pub use trusted::trusted;

/// The User-Agent of all requests.
pub const USER_AGENT: &str = concat!("docsyncd/", env!("CARGO_PKG_VERSION"));

/// Host and port of an address from the configuration.
pub fn host_and_port(url: &url::Url) -> String {
    let name = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// The target of a redirect from `from` (RFC 9110, section 10.2.2). Servers write file names into it unencoded, in
/// UTF-8 or Latin-1, and expect the same bytes back.
pub fn location(from: &url::Url, headers: &HeaderMap) -> Option<url::Url> {
    let written = percent_encode(headers.get(LOCATION)?.as_bytes(), CONTROLS).to_string();
    from.join(&written).ok()
}

/// The content of a certificate file (PEM, RFC 7468), without the byte order mark that an editor may have added.
///
/// # Errors
/// The file cannot be read.
pub fn read_pem(file: &Path) -> io::Result<Vec<u8>> {
    let mut pem = ask(file, |file| std::fs::read(file))?;
    if pem.starts_with("\u{feff}".as_bytes()) {
        pem.drain(..'\u{feff}'.len_utf8());
    }
    Ok(pem)
}

/// A name without an address.
#[derive(Debug, Error)]
#[error("its name is not known (DNS)")]
pub struct Unresolved;

/// A name with only addresses to which downloads must not go.
#[derive(Debug, Error)]
#[error("it leads into a network that downloads must not go to")]
pub struct ForbiddenNetwork;

/// The addresses of a name from the system's resolver, with port 0.
///
/// # Errors
/// The name is unknown, or no resolver answers.
pub async fn look_up(name: &str) -> io::Result<Vec<SocketAddr>> {
    // `localhost` needs no resolver (RFC 6761, section 6.3).
    if name.trim_end_matches('.').eq_ignore_ascii_case("localhost") {
        let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        return Ok(addresses.map(|address| SocketAddr::from((address, 0))).to_vec());
    }
    tokio::net::lookup_host((name, 0)).await.map(Iterator::collect)
}

/// The system's resolver, with an error that [`reason::of`] knows.
#[derive(Debug, Clone, Copy)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = look_up(name.as_str()).await.map_err(|_| Unresolved)?;
            if found.is_empty() {
                return Err(Unresolved.into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

/// Says why a client cannot be built, which is this machine's fault, and what to do. `ca_file` is the setting that
/// would help.
pub fn no_tls(error: &(dyn std::error::Error + 'static), ca_file: &str) -> String {
    let causes = std::iter::successors(Some(error), |cause| cause.source());
    let innermost = causes.last().map(ToString::to_string).unwrap_or_default();
    let what = match innermost.contains("No CA certificates") {
        true => "this system has no CA certificates".to_owned(),
        false => format!("the system's CA certificates cannot be used ({innermost})"),
    };
    format!("TLS cannot be set up: {what}. Install them (on Linux the package ca-certificates), or set {ca_file}")
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn an_address_in_bytes_that_are_not_ascii_leads_to_what_they_are_encoded_as() {
        let from = "https://api.example.test/documents/1".parse().unwrap();
        for (written, leads_to) in [
            ("/files/Müller 1.pdf?n=é".as_bytes(), "https://api.example.test/files/M%C3%BCller%201.pdf?n=%C3%A9"),
            (b"/files/M\xfcller.pdf", "https://api.example.test/files/M%FCller.pdf"),
            (b"M%FCller.pdf", "https://api.example.test/documents/M%FCller.pdf"),
            ("https://büro.example.test/a".as_bytes(), "https://xn--bro-hoa.example.test/a"),
        ] {
            let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_bytes(written).unwrap())]);
            assert_eq!(location(&from, &headers).unwrap().as_str(), leads_to);
        }
        let nowhere = HeaderMap::from_iter([(LOCATION, HeaderValue::from_bytes(b"https://b\xfcro.test/").unwrap())]);
        assert_eq!(location(&from, &nowhere), None);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        for content in ["-----BEGIN CERTIFICATE-----", "\u{feff}-----BEGIN CERTIFICATE-----"] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(read_pem(&path).unwrap(), b"-----BEGIN CERTIFICATE-----");
        }
    }
}
