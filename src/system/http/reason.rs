//! Why a connection failed, in docsyncd's own words and codes. The errors of the layers below may quote the peer (names
//! in its certificate, the debug data of an HTTP/2 GOAWAY), and messages go into logs and reports.

use std::error::Error;
use std::io::{self, ErrorKind};

use rustls::{CertificateError, InvalidMessage};

use super::client::{MAX_HEADER_BYTES, MAX_HEADERS};
use super::{ForbiddenNetwork, Unresolved};

/// Whether the rules about addresses refused the connection.
pub fn is_refused(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.is::<ForbiddenNetwork>())
}

/// Whether an established connection ended before the head of an answer.
pub fn is_cut_off(error: &reqwest::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let is_end =
        |error: &io::Error| matches!(error.kind(), ConnectionReset | ConnectionAborted | BrokenPipe | UnexpectedEof);
    let is_cut_off = |cause: &(dyn Error + 'static)| {
        let of_http = |error: &hyper::Error| error.is_incomplete_message() || error.is_closed() || error.is_canceled();
        let of_http_2 = |error: &h2::Error| error.get_io().is_some_and(is_end);
        cause.downcast_ref().is_some_and(is_end)
            || cause.downcast_ref().is_some_and(of_http)
            || cause.downcast_ref().is_some_and(of_http_2)
    };
    !error.is_connect() && !error.is_timeout() && causes(error).any(is_cut_off)
}

/// The deepest known cause, in words. `section` is the part of the configuration with `timeout` and `ca_file`: `api`,
/// or `destinations.NAME`.
pub fn of(error: &reqwest::Error, section: &str) -> String {
    if error.is_timeout() {
        return format!("no answer in time ({section}.timeout)");
    }
    let usual = match error {
        error if error.is_connect() => "no connection came about",
        _ => "the connection failed",
    };
    causes(error).filter_map(|cause| known(cause, section)).last().unwrap_or_else(|| usual.to_owned())
}

/// The same for other connections than HTTP; `None` if the cause is unknown.
pub fn of_io(error: &io::Error, section: &str) -> Option<String> {
    causes(error).filter_map(|cause| known(cause, section)).last()
}

/// Where connecting failed: at `host`, at the proxy (host and port), or on the way from the proxy. `section` as for
/// [`of`].
pub fn place(error: &reqwest::Error, host: String, proxy: Option<&str>, section: &str) -> String {
    match proxy {
        Some(proxy) if is_nobody_there(error) => format!("the proxy {proxy} ({section}.proxy)"),
        Some(proxy) => format!("{host}, through the proxy {proxy} ({section}.proxy),"),
        None => host,
    }
}

/// Whether nobody answers at the target of the connection, or at the proxy if there is one.
fn is_nobody_there(error: &reqwest::Error) -> bool {
    let nobody = |kind| {
        use ErrorKind::{ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
        matches!(kind, ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable)
    };
    causes(error).any(|cause| {
        cause.is::<Unresolved>() || cause.downcast_ref::<io::Error>().is_some_and(|error| nobody(error.kind()))
    })
}

/// Why the peer's certificate was refused; `None` if the error is another.
pub fn certificate_refused(error: &(dyn Error + 'static)) -> Option<&'static str> {
    causes(error).find_map(|cause| match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(error) => Some(certificate(error)),
        _ => None,
    })
}

/// Whether the peer's answer is not even the beginning of TLS.
pub fn is_plain(error: &(dyn Error + 'static)) -> bool {
    let plain = |cause: &rustls::Error| *cause == rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType);
    causes(error).any(|cause| cause.downcast_ref().is_some_and(plain))
}

/// Whether the peer answered a TLS handshake with something else.
pub fn is_not_tls(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| matches!(cause.downcast_ref(), Some(rustls::Error::InvalidMessage(_))))
}

/// The error and its causes.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| below(*cause))
}

/// The next cause. An `io::Error` does not count the error that it wraps as its source.
fn below<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => cause.source(),
    }
}

fn known(cause: &(dyn Error + 'static), section: &str) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        return Some(tls(error, section));
    }
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return io(error);
    }
    if let Some(error) = cause.downcast_ref::<h2::Error>() {
        // docsyncd's side ends the connection; the layer below does not say why.
        if error.is_library() {
            return Some(format!("{TOO_LARGE} {} KB, or break the rules of HTTP/2", MAX_HEADER_BYTES / 1024));
        }
        return error
            .get_io()
            .and_then(io)
            .or_else(|| error.reason().map(|code| format!("HTTP/2 error {}", u32::from(code))));
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        return http(error);
    }
    if cause.is::<Unresolved>() {
        return Some(Unresolved.to_string());
    }
    // hyper-util exports no type for a proxy's answer to CONNECT.
    match cause.to_string().as_str() {
        "tunnel error: proxy authorization required" => {
            Some(format!("the proxy asks for a sign-in (407): {section}.proxy"))
        }
        "tunnel error: unsuccessful" => Some(format!("the proxy refuses the connection: {section}.proxy")),
        _ => None,
    }
}

/// The beginning of a message about too large headers; the limit follows.
const TOO_LARGE: &str = "its answer's headers are larger than";

fn http(error: &hyper::Error) -> Option<String> {
    match error {
        error if error.is_parse_too_large() => {
            Some(format!("{TOO_LARGE} {} KB, or more than {MAX_HEADERS}", MAX_HEADER_BYTES / 1024))
        }
        error if error.is_parse() => Some("it does not answer in HTTP".to_owned()),
        error if error.is_incomplete_message() || error.is_closed() => {
            Some("the connection ended before the answer".to_owned())
        }
        _ => None,
    }
}

fn io(error: &io::Error) -> Option<String> {
    let words = match error.kind() {
        ErrorKind::ConnectionRefused => "the connection is refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => "the connection was reset",
        ErrorKind::UnexpectedEof => "the connection ended early",
        ErrorKind::TimedOut => "the connection does not answer",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => "there is no way to it",
        ErrorKind::PermissionDenied => "this machine does not allow the connection",
        _ => return error.raw_os_error().map(|code| format!("error {code} of the system")),
    };
    Some(words.to_owned())
}

fn tls(error: &rustls::Error, section: &str) -> String {
    let words = match error {
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => "it speaks http, not https",
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            return format!(
                "its certificate comes from an authority that is not trusted (does a firewall read TLS? see {section}.ca_file)"
            );
        }
        rustls::Error::InvalidCertificate(error @ CertificateError::Other(_)) => {
            return format!("{}; if it is the right one, name it in {section}.ca_file", certificate(error));
        }
        rustls::Error::InvalidCertificate(error) => certificate(error),
        rustls::Error::AlertReceived(alert) => {
            return format!("it refuses the TLS connection (alert {})", u8::from(*alert));
        }
        rustls::Error::PeerIncompatible(_) => "it offers no TLS that is safe enough",
        _ => "TLS failed",
    };
    words.to_owned()
}

fn certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired (is this computer's clock right?)"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet (is this computer's clock right?)"
        }
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "its certificate names no server: it needs a subjectAltName with the server's name"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is another server's"
        }
        CertificateError::UnknownIssuer => {
            "its certificate comes from an authority that is not trusted (does a firewall read TLS?)"
        }
        CertificateError::Revoked => "its certificate is revoked",
        _ => "its certificate cannot be trusted (one that it signed itself?)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_found_and_nothing_of_the_peer_is_repeated() {
        let expected = rustls::pki_types::ServerName::try_from("api.example.test").unwrap();
        let context = CertificateError::NotValidForNameContext { expected, presented: vec!["Canary".to_owned()] };
        let inner = rustls::Error::InvalidCertificate(context);
        let error = io::Error::new(ErrorKind::InvalidData, io::Error::other(inner));
        let words: Vec<_> = causes(&error).filter_map(|cause| known(cause, "api")).collect();
        assert_eq!(words.last().map(String::as_str), Some("its certificate is another server's"));
        assert_eq!(certificate_refused(&error), Some("its certificate is another server's"));
        assert_eq!(certificate_refused(&io::Error::from(ErrorKind::ConnectionRefused)), None);
        let goaway = io::Error::other(h2::Error::from(h2::Reason::ENHANCE_YOUR_CALM));
        assert_eq!(causes(&goaway).filter_map(|cause| known(cause, "api")).last().as_deref(), Some("HTTP/2 error 11"));
        let other = io::Error::other("Canary");
        assert_eq!(causes(&other).filter_map(|cause| known(cause, "api")).last(), None);
    }

    #[tokio::test]
    async fn what_a_proxy_answers_is_told_by_its_code() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        for (answer, words) in [
            ("407 Canary", "the proxy asks for a sign-in (407): api.proxy"),
            ("403 Canary", "the proxy refuses the connection: api.proxy"),
        ] {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let proxy = reqwest::Proxy::all(format!("http://{}", listener.local_addr().unwrap())).unwrap();
            let client = super::super::builder().proxy(proxy).build().unwrap();
            let serve = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
                stream.write_all(format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await.unwrap();
                stream
            };
            let (answered, _stream) = tokio::join!(client.get("https://api.example.test/").send(), serve);
            assert_eq!(of(&answered.unwrap_err(), "api"), words);
        }
    }
}
