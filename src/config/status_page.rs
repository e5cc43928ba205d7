//! `[status_page]`: where the page is served, with which certificate, and under which addresses people reach it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;

use url::Url;

use super::build::Builder;
use super::settings;
use crate::system::secret::Secret;

/// `[status_page]`
#[derive(Debug, Clone)]
pub struct StatusPageConfig {
    /// The address that serves it. Port 0: any free one.
    pub listen: SocketAddr,
    /// PEM file with the certificate that it shows, and its key. Without them it speaks plain HTTP.
    pub certificate: Option<(PathBuf, Secret)>,
    /// The address of the practice's own name for it, or of the reverse proxy before it: `https`, and the whole host.
    pub public_url: Option<Url>,
}

/// The page; `None` if there is none. What is wrong was reported, and then left out.
pub fn build(raw: settings::StatusPage, builder: &mut Builder<'_>) -> Option<StatusPageConfig> {
    let at = &mut builder.section("status_page");
    let certificate = match (&raw.certificate_file, &raw.certificate_key_file) {
        (Some(file), Some(key)) => Some((at.path("certificate_file", file), at.secret("certificate_key_file", key))),
        (None, None) => None,
        (Some(_), None) => {
            let fix = "Name the file with the key of that certificate: certificate_key_file = \"...\".";
            at.refuse("certificate_file", "stands without `status_page.certificate_key_file`", fix)
        }
        (None, Some(_)) => {
            let fix = "Name the file with the certificate of that key: certificate_file = \"...\".";
            at.refuse("certificate_key_file", "stands without `status_page.certificate_file`", fix)
        }
    };
    // Its links and its style begin at the root.
    if raw.public_url.as_ref().is_some_and(|url| url.path() != "/") {
        let fix = "Give the page a name or a port of its own: public_url = \"https://docsyncd.practice.test\".";
        at.error("public_url", "holds a path", fix);
    }
    let Some(listen) = raw.listen else {
        if at.builder.report.is_wrong("status_page.listen") {
            return None; // it was given, and its error was reported
        }
        for name in ["certificate_file", "public_url"] {
            if at.is_given(name) {
                let fix = "Write where the page is served: listen = \"127.0.0.1:8977\".";
                at.error(name, "stands without `status_page.listen`", fix);
            }
        }
        return None;
    };
    if !listen.ip().is_loopback() && certificate.is_none() {
        let what = "is reached by other computers without TLS. They see the page locked: no names and no buttons. In \
                    full they see it with `certificate_file` and `certificate_key_file` (docs/status-page.md)";
        at.warn("listen", what);
    }
    Some(StatusPageConfig { listen, certificate, public_url: raw.public_url })
}

impl StatusPageConfig {
    /// The address of the page for a browser of this computer, in full; `None`: there is none, as it is served over the
    /// network alone and without TLS. `served` is where the daemon serves it.
    pub fn here(&self, served: SocketAddr) -> Option<Url> {
        match (&self.certificate, &self.public_url) {
            // The certificate is for that name.
            (Some(_), Some(url)) => Some(url.clone()),
            (Some(_), None) => address("https", dialled(served)),
            (None, _) if dialled(served).ip().is_loopback() => address("http", dialled(served)),
            (None, _) => None,
        }
    }

    /// The address of the page for other computers, in full; `None`: they do not reach it, or see it locked.
    pub fn elsewhere(&self, served: SocketAddr) -> Option<Url> {
        let is_full = self.certificate.is_some() || self.public_url.is_some();
        self.seen_elsewhere(served).filter(|_| is_full)
    }

    /// The address of the page for other computers, in full or locked; `None`: they do not reach it.
    pub fn seen_elsewhere(&self, served: SocketAddr) -> Option<Url> {
        if let Some(url) = &self.public_url {
            return Some(url.clone());
        }
        let at = if served.ip().is_unspecified() { own_address(served)? } else { served.ip() };
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        (!at.is_loopback()).then(|| address(scheme, SocketAddr::new(at, served.port()))).flatten()
    }
}

/// Where a program of this computer reaches what is served there.
pub fn dialled(served: SocketAddr) -> SocketAddr {
    match served.ip() {
        IpAddr::V4(any) if any.is_unspecified() => (Ipv4Addr::LOCALHOST, served.port()).into(),
        IpAddr::V6(any) if any.is_unspecified() => (Ipv6Addr::LOCALHOST, served.port()).into(),
        _ => served,
    }
}

fn address(scheme: &str, at: SocketAddr) -> Option<Url> {
    Url::parse(&format!("{scheme}://{at}/")).ok()
}

/// The address of this computer in its network: that from which it would reach others. Nothing is sent.
fn own_address(served: SocketAddr) -> Option<IpAddr> {
    // Addresses of examples (RFC 5737, RFC 3849): whatever the routes are, they lead out.
    let (any, out) = match served {
        SocketAddr::V4(_) => ("0.0.0.0:0", "192.0.2.1:9"),
        SocketAddr::V6(_) => ("[::]:0", "[2001:db8::1]:9"),
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(out).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|own| !own.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_reached_in_full_from_here_and_from_elsewhere_only_over_tls() {
        let page = |listen: &str, is_tls: bool, public: Option<&str>| StatusPageConfig {
            listen: listen.parse().unwrap(),
            certificate: is_tls.then(|| ("page.pem".into(), Secret::File("page.key".into()))),
            public_url: public.map(|url| url.parse().unwrap()),
        };
        let own = Some("https://page.practice.test/");
        for (listen, is_tls, public, here, elsewhere, locked) in [
            ("127.0.0.1:8977", false, None, Some("http://127.0.0.1:8977/"), None, None),
            ("127.0.0.1:8977", false, own, Some("http://127.0.0.1:8977/"), own, own),
            ("192.0.2.7:8977", false, None, None, None, Some("http://192.0.2.7:8977/")),
            ("192.0.2.7:8977", true, None, Some("https://192.0.2.7:8977/"), Some("https://192.0.2.7:8977/"), None),
            ("192.0.2.7:443", true, own, own, own, own),
            ("[::1]:443", true, None, Some("https://[::1]/"), None, None),
        ] {
            let page = page(listen, is_tls, public);
            let of = |url: Option<Url>| url.map(String::from);
            assert_eq!(of(page.here(page.listen)).as_deref(), here, "{listen} {is_tls} {public:?}");
            assert_eq!(of(page.elsewhere(page.listen)).as_deref(), elsewhere, "{listen} {is_tls} {public:?}");
            let locked = locked.or(elsewhere);
            assert_eq!(of(page.seen_elsewhere(page.listen)).as_deref(), locked, "{listen} {is_tls} {public:?}");
        }
        let open = page("0.0.0.0:8977", false, None);
        assert_eq!(open.here(open.listen).unwrap().as_str(), "http://127.0.0.1:8977/");
        assert_eq!(open.elsewhere(open.listen), None, "without TLS");
    }
}
