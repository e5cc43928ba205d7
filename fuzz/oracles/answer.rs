//! What surrounds the API's answers: a redirect, the first bytes of a download, Retry-After, and what the browser
//! brings back from a sign-in. The first byte says which.

use std::net::IpAddr;
use std::time::SystemTime;

use docsyncd::api::auth::authorization::{Attempt, NotAnAnswer, Returned};
use docsyncd::api::{leads_inside, redirect_target};
use docsyncd::config::{OAuthConfig, Secret};
use docsyncd::domain::document::PdfHead;
use docsyncd::system::http::asked_to_wait;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use secrecy::ExposeSecret as _;
use url::{Host, Url};

/// Where the redirects of these inputs begin.
const API: &str = "https://api.example.test/v1/documents/one";
/// In an input: the state that the attempt has.
const STATE: &str = "@STATE@";

/// Whatever comes is understood as what it is, or refused.
pub fn check(input: &[u8]) {
    let Some((kind, rest)) = input.split_first() else { return };
    match kind {
        b'r' => redirect(rest),
        b'p' => pdf(rest),
        b'a' => retry_after(rest),
        _ => callback(rest),
    }
}

fn headers(name: hyper::header::HeaderName, value: &[u8]) -> Option<HeaderMap> {
    Some([(name, HeaderValue::from_bytes(value).ok()?)].into_iter().collect())
}

/// A byte for the status and the method, and the Location.
fn redirect(input: &[u8]) {
    let Some((choice, location)) = input.split_first() else { return };
    let Some(headers) = headers(LOCATION, location) else { return };
    let status = 299 + u16::from(choice % 16);
    let method = if *choice < 128 { Method::GET } else { Method::POST };
    let api = Url::parse(API).unwrap();
    let target = match redirect_target(&method, &api, status, &headers) {
        Ok(Some(target)) => target,
        Ok(None) => return assert!(![301, 302, 303, 307, 308].contains(&status), "{status} is a redirect"),
        Err(error) => {
            let message = error.to_string();
            return assert!(message.starts_with("redirect refused: it "), "in words of our own: {message}");
        }
    };
    assert!(method == Method::GET || status >= 307, "a report became a request");
    assert_eq!(Url::parse(target.as_str()).as_ref(), Ok(&target), "what is asked is what was looked at");
    assert!(["http", "https"].contains(&target.scheme()), "nothing but HTTP");
    if target.origin() == api.origin() {
        let place = (target.scheme(), target.host_str(), target.port_or_known_default());
        assert_eq!(place, ("https", Some("api.example.test"), Some(443)), "the token goes there");
    }
    let address: IpAddr = match target.host() {
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
        Some(Host::Domain(name)) => {
            // Of a name that ends with two dots no part is a number (URL Standard, "ends in a number"), and no resolver
            // takes it.
            let last = name.strip_suffix('.').unwrap_or(name).rsplit('.').next().unwrap_or_default();
            return assert!(
                last.is_empty() || !last.bytes().all(|byte| byte.is_ascii_digit()),
                "an address as a name: {name}"
            );
        }
        None => return,
    };
    assert!(leads_inside(address) || !is_inside(address), "{address}");
}

/// A second opinion, of the standard library.
fn is_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified() || v4.is_multicast()
        }
        IpAddr::V6(v6) => {
            let mapped = v6.to_ipv4().is_some_and(|v4| is_inside(v4.into()));
            let own = v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast();
            mapped || own || v6.is_loopback() || v6.is_unspecified()
        }
    }
}

/// A byte for the size of its pieces, and the download.
fn pdf(input: &[u8]) {
    let Some((size, body)) = input.split_first() else { return };
    let read = |size: usize| {
        let mut head = PdfHead::default();
        body.chunks(size).try_for_each(|piece| head.take(piece)).and_then(|()| head.end())
    };
    let (whole, pieces) = (read(body.len().max(1)), read(usize::from(size % 8) + 1));
    assert_eq!(whole.is_ok(), is_pdf(body), "{whole:?}");
    assert_eq!(pieces.is_ok(), whole.is_ok(), "{pieces:?} in pieces of {size}");
}

/// A second opinion (ISO 32000-1, implementation note 13).
fn is_pdf(body: &[u8]) -> bool {
    let Some(at) = body.windows(5).take(1020).position(|bytes| bytes == b"%PDF-") else { return false };
    let before = body[..at].trim_ascii_start();
    let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before).trim_ascii_start();
    let is_text = before.first().is_some_and(|first| b"<{[".contains(first));
    !is_text && body[at + 5..].iter().any(|byte| !byte.is_ascii_whitespace())
}

fn retry_after(input: &[u8]) {
    let Some(headers) = headers(RETRY_AFTER, input) else { return };
    let asked = asked_to_wait(&headers, SystemTime::UNIX_EPOCH);
    let is_number = !input.is_empty() && input.iter().all(u8::is_ascii_digit);
    assert!(asked.is_some() || !is_number, "{:?}", String::from_utf8_lossy(input));
}

/// A query, in which `@STATE@` is the right one, after a byte for how it comes.
fn callback(input: &[u8]) {
    let Some((choice, query)) = input.split_first() else { return };
    let oauth = OAuthConfig {
        client_id: "one".into(),
        client_secret: Secret::File("secret".into()),
        scopes: vec!["profile".into()],
        redirect_port: 0,
        redirect_path: "/callback".into(),
    };
    let attempt = Attempt::new(&oauth, 8976).unwrap();
    let address = attempt.address(&Url::parse("https://app.example.test/authorize").unwrap(), &oauth);
    let state = address.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
    let said = String::from_utf8_lossy(query);
    let read = |query: &str| if choice % 2 == 0 { attempt.read(query) } else { attempt.read_pasted(query) };
    let forged = read(&said);
    assert!(
        matches!(forged, Err(NotAnAnswer::Incomplete | NotAnAnswer::WrongState)),
        "an answer without the state: {forged:?}"
    );
    match read(&said.replace(STATE, &state)) {
        Ok(Returned::Code(code)) => assert!(said.contains(STATE) && !code.expose_secret().is_empty()),
        Ok(Returned::Refused(refusal)) => {
            assert!(said.contains(STATE));
            for text in [Some(&refusal.error), refusal.description.as_ref()].into_iter().flatten() {
                assert!(!text.chars().any(char::is_control) && text.chars().count() <= 300, "{text:?}");
            }
        }
        Err(_) => {}
    }
}
