//! What every HTTP client of docsyncd shares, whether it speaks to the API or to a destination: how a name is looked up, what
//! failed in our own words, and how long a server asks to be left alone. It sends nothing itself, but a question to what
//! speaks no TLS.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use crate::answering::ask;

mod plain;
pub mod reason;
mod retry_after;

pub use plain::speaks_http;
pub use retry_after::asked_to_wait;

/// What requests call their sender.
pub const USER_AGENT: &str = concat!("docsyncd/", env!("CARGO_PKG_VERSION"));

/// Host and port, of what the configuration names.
pub fn host_and_port(url: &url::Url) -> String {
    let name = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// The content of a file of certificates (PEM, RFC 7468), without the byte order mark that an editor may have put before it.
///
/// # Errors
/// It cannot be read.
pub fn read_pem(file: &Path) -> io::Result<Vec<u8>> {
    let mut pem = ask(file, |file| std::fs::read(file))?;
    if pem.starts_with("\u{feff}".as_bytes()) {
        pem.drain(..'\u{feff}'.len_utf8());
    }
    Ok(pem)
}

/// A name that means no address.
#[derive(Debug, Error)]
#[error("its name is not known (DNS)")]
pub struct Unresolved;

/// A name that means only addresses to which downloads must not go.
#[derive(Debug, Error)]
#[error("it leads into a network that downloads must not go to")]
pub struct Refused;

/// The addresses of a name, as the system knows them; their port is 0.
///
/// # Errors
/// The name is not known, or nobody can be asked.
pub async fn look_up(name: &str) -> io::Result<Vec<SocketAddr>> {
    // Known without asking anybody (RFC 6761, section 6.3).
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

/// Why a client cannot be built, an error of this machine's own, and what to do; `ca_file` is the setting that would help.
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
    use super::*;

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
