//! What a request must carry before it is answered: our own address as its host, and, where it is to do something, our
//! own page as its origin. Pure.
//!
//! A page from elsewhere that is shown in this browser can send requests to this computer. It cannot read the answers
//! unless its own name leads to this computer (DNS rebinding): then `Host` is that name. It can send forms: then
//! `Origin` is its own.

use std::net::SocketAddr;

use hyper::header::{self, AsHeaderName, HeaderMap};
use hyper::http::request::Parts;

/// What browsers say of where a request comes from (Fetch Metadata Request Headers, W3C).
const SEC_FETCH_SITE: &str = "sec-fetch-site";
/// The longest value of a cookie that is looked at; characters.
const MAX_COOKIE: usize = 64;

/// The names under which the page may be asked for.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    authorities: Vec<String>,
}

impl Address {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let mut authorities = vec![address.to_string(), format!("localhost:{}", address.port())];
        if address.port() == 80 {
            // Browsers leave the usual port out.
            let host = |authority: &String| authority.trim_end_matches(":80").to_owned();
            authorities.extend(authorities.clone().iter().map(host));
        }
        Self { authorities }
    }

    fn is_ours(&self, authority: &str) -> bool {
        self.authorities.iter().any(|ours| ours.eq_ignore_ascii_case(authority))
    }

    /// Whether the request is for this very page.
    pub(crate) fn is_host(&self, head: &Parts) -> bool {
        let named = head.uri.authority().is_none_or(|authority| self.is_ours(authority.as_str()));
        named && only(&head.headers, &header::HOST).is_some_and(|host| self.is_ours(host))
    }

    /// Whether a form was sent from this very page. The page's own policy (`no-referrer`) makes browsers send `null` in
    /// place of it; then they say themselves whether it is the same site and port.
    pub(super) fn is_origin(&self, headers: &HeaderMap) -> bool {
        let same_origin = || only(headers, SEC_FETCH_SITE) == Some("same-origin");
        match only(headers, &header::ORIGIN) {
            Some("null") => same_origin(),
            Some(origin) => origin.strip_prefix("http://").is_some_and(|authority| self.is_ours(authority)),
            None => false,
        }
    }
}

/// The value of a header that is there exactly once.
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first.to_str().ok()).flatten()
}

/// The value of a cookie of this name; the first, if there are several.
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
