//! Where to listen, as a person writes it.

use std::net::{SocketAddr, ToSocketAddrs as _};

/// An address with a port; a name such as `localhost` is looked up, and IPv4 is preferred.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    let preferred = found.iter().find(|address| address.is_ipv4()).or(found.first());
    preferred.copied().ok_or_else(|| "the name has no address".to_owned())
}
