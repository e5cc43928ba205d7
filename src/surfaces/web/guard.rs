//! Checks what a request must carry: our own address as its host and, for a form, our own page as its origin. Pure.
//!
//! Our own names are the address of the connection, `localhost`, and the host of `status_page.public_url`.
//!
//! A page from elsewhere that is open in this browser can send requests to this computer. It can read the answers only
//! if its own name leads to this computer (DNS rebinding); then `Host` is that name. It can send forms; then `Origin`
//! is its own.

use std::net::SocketAddr;

use hyper::header::{self, AsHeaderName, HeaderMap};
use hyper::http::request::Parts;
use url::Url;

/// Where a browser says a request comes from (Fetch Metadata Request Headers, W3C).
const SEC_FETCH_SITE: &str = "sec-fetch-site";
/// The most characters of a cookie's value.
const MAX_COOKIE: usize = 64;

/// The names under which the page may be asked for.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    scheme: &'static str,
    authorities: Vec<String>,
    /// The scheme and the authorities of `status_page.public_url`.
    public: Option<(String, Vec<String>)>,
}

impl Address {
    /// The names of a page that is served only here, without encryption.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self::of(address, false, None)
    }

    /// The names of a page at this end of a connection.
    pub(crate) fn of(local: SocketAddr, is_encrypted: bool, public: Option<&Url>) -> Self {
        let (ip, port) = (local.ip().to_canonical(), local.port());
        let (scheme, usual) = if is_encrypted { ("https", 443) } else { ("http", 80) };
        let ip = SocketAddr::new(ip, port).to_string();
        let mut authorities = vec![ip, format!("localhost:{port}")];
        if port == usual {
            // Browsers leave out the usual port.
            let host = |authority: &String| authority.trim_end_matches(&format!(":{usual}")).to_owned();
            authorities.extend(authorities.clone().iter().map(host));
        }
        let public = public.and_then(|url| {
            let host = url.host_str()?;
            // The proxy's port, and the host without one, as some proxies send it.
            let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
            Some((url.scheme().to_owned(), vec![authority, format!("{host}:{port}")]))
        });
        Self { scheme, authorities, public }
    }

    fn is_own(&self, authority: &str) -> bool {
        self.authorities.iter().any(|own| own.eq_ignore_ascii_case(authority))
    }

    fn is_public(&self, authority: &str) -> bool {
        let mut public = self.public.iter().flat_map(|(_, authorities)| authorities);
        public.any(|public| public.eq_ignore_ascii_case(authority))
    }

    /// Whether the browser asked for the name by which others reach the page over TLS.
    pub(super) fn is_asked_from_elsewhere(&self, head: &Parts) -> bool {
        self.public.as_ref().is_some_and(|(scheme, _)| scheme == "https")
            && only(&head.headers, &header::HOST).is_some_and(|host| self.is_public(host))
    }

    /// Whether the request is for this page.
    pub(crate) fn is_host(&self, head: &Parts) -> bool {
        let is_ours = |authority: &str| self.is_own(authority) || self.is_public(authority);
        let named = head.uri.authority().is_none_or(|authority| is_ours(authority.as_str()));
        named && only(&head.headers, &header::HOST).is_some_and(is_ours)
    }

    /// Whether a form was sent from this page. The page's policy (`no-referrer`) makes browsers send `null` as the
    /// origin. Then `Sec-Fetch-Site` says whether it is the same.
    pub(super) fn is_origin(&self, headers: &HeaderMap) -> bool {
        let same_origin = || only(headers, SEC_FETCH_SITE) == Some("same-origin");
        match only(headers, &header::ORIGIN) {
            Some("null") => same_origin(),
            Some(origin) => origin.split_once("://").is_some_and(|(scheme, authority)| {
                let is_public = |(public, _): &(String, _)| scheme == public && self.is_public(authority);
                scheme == self.scheme && self.is_own(authority) || self.public.as_ref().is_some_and(is_public)
            }),
            None => false,
        }
    }
}

/// The value of a header that occurs exactly once.
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first.to_str().ok()).flatten()
}

/// The value of the first cookie with this name.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    ours.next().filter(|value| value.len() <= MAX_COOKIE)
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn address(text: &str) -> Address {
        Address::new(text.parse().unwrap())
    }

    #[test]
    fn only_the_address_itself_and_localhost_are_the_host() {
        let four = address("127.0.0.1:8977");
        for (host, ours) in [
            ("127.0.0.1:8977", true),
            ("localhost:8977", true),
            ("LOCALHOST:8977", true),
            ("127.0.0.1", false),
            ("127.0.0.1:8978", false),
            ("127.0.0.2:8977", false),
            ("evil.test:8977", false),
            ("127.0.0.1.evil.test:8977", false),
            ("localhost.:8977", false),
            ("", false),
        ] {
            assert_eq!(four.is_host(&head("/", &[("host", host)])), ours, "{host}");
        }
        assert!(!four.is_host(&head("/", &[])), "none");
        let twice = [("host", "127.0.0.1:8977"), ("host", "evil.test")];
        assert!(!four.is_host(&head("/", &twice)), "two");
        assert!(!four.is_host(&head("http://evil.test/", &[("host", "127.0.0.1:8977")])), "in the request line");
        assert!(address("[::1]:8977").is_host(&head("/", &[("host", "[::1]:8977")])));
        assert!(address("127.0.0.1:80").is_host(&head("/", &[("host", "localhost")])));
    }

    #[test]
    fn the_host_of_the_public_address_is_ours_and_its_origin_is_encrypted() {
        let public = Url::parse("https://page.practice.test/").unwrap();
        let proxied = Address::of("127.0.0.1:8977".parse().unwrap(), false, Some(&public));
        let of = |host: &str| head("/", &[("host", host)]);
        for (host, ours, elsewhere) in [
            ("page.practice.test", true, true),
            ("PAGE.practice.test:8977", true, true),
            ("127.0.0.1:8977", true, false),
            ("localhost:8977", true, false),
            ("page.practice.test:9000", false, false),
            ("other.practice.test", false, false),
            ("practice.test", false, false),
        ] {
            assert_eq!(
                (proxied.is_host(&of(host)), proxied.is_asked_from_elsewhere(&of(host))),
                (ours, elsewhere),
                "{host}"
            );
        }
        let from = |address: &Address, origin: &str| address.is_origin(&head("/", &[("origin", origin)]).headers);
        assert!(from(&proxied, "https://page.practice.test") && from(&proxied, "http://127.0.0.1:8977"));
        assert!(!from(&proxied, "http://page.practice.test"), "anybody in the network can pretend to be that");
        assert!(!from(&proxied, "https://other.practice.test") && !from(&proxied, "https://127.0.0.1:8977"));
        let encrypted = Address::of("[::ffff:192.0.2.7]:443".parse().unwrap(), true, None);
        assert!(encrypted.is_host(&of("192.0.2.7")) && encrypted.is_host(&of("192.0.2.7:443")));
        assert!(!encrypted.is_host(&of("page.practice.test")), "no name that was not given");
        assert!(from(&encrypted, "https://192.0.2.7") && !from(&encrypted, "http://192.0.2.7"));
        let other_port = Url::parse("https://page.practice.test:8443/").unwrap();
        let other_port = Address::of("192.0.2.7:8977".parse().unwrap(), true, Some(&other_port));
        assert!(other_port.is_host(&of("page.practice.test:8443")) && !other_port.is_host(&of("page.practice.test")));
    }

    #[test]
    fn only_a_form_of_the_page_itself_has_its_origin() {
        let ours = address("127.0.0.1:8977");
        for (headers, allowed) in [
            (vec![("origin", "http://127.0.0.1:8977")], true),
            (vec![("origin", "http://localhost:8977")], true),
            (vec![("origin", "null"), ("sec-fetch-site", "same-origin")], true),
            (vec![("origin", "null"), ("sec-fetch-site", "cross-site")], false),
            (vec![("origin", "null"), ("sec-fetch-site", "same-site")], false),
            (vec![("origin", "null")], false),
            (vec![("origin", "https://127.0.0.1:8977")], false),
            (vec![("origin", "http://127.0.0.1:9000")], false),
            (vec![("origin", "http://evil.test")], false),
            (vec![("origin", "http://127.0.0.1:8977.evil.test")], false),
            (vec![("sec-fetch-site", "same-origin")], false),
            (vec![], false),
        ] {
            assert_eq!(ours.is_origin(&head("/", &headers).headers), allowed, "{headers:?}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let headers = head("/", &[("cookie", "a=1; docsyncd_8977=key; b=2"), ("cookie", "c=3")]).headers;
        assert_eq!(cookie(&headers, "docsyncd_8977"), Some("key"));
        assert_eq!([cookie(&headers, "c"), cookie(&headers, "ocsyncd_8977")], [Some("3"), None]);
        let long = format!("k={}", "x".repeat(MAX_COOKIE + 1));
        assert_eq!(cookie(&head("/", &[("cookie", &long)]).headers, "k"), None);
    }
}
