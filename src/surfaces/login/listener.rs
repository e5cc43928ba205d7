//! The address on this computer to which the browser returns (RFC 8252, section 7.3).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Response, StatusCode};
use maud::Markup;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::page;
use super::reception::{Reception, Reply};
use crate::formats::language::Language;
use crate::surfaces::web::connections::{self, Asked, Site};
use crate::surfaces::web::guard::Address;

/// A socket that waits for the browser.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// A listener that answers.
#[derive(Debug)]
pub struct Serving {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// What an answer needs.
struct Callback {
    address: Address,
    path: String,
    reception: Arc<Reception>,
}

impl Listener {
    /// Takes the port on the loopback interface; 0 takes a free one.
    ///
    /// # Errors
    /// The port is taken or may not be used.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let socket = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The port it has.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Answers at `path` until [`Serving::finish`].
    pub fn serve(self, path: &str, reception: Arc<Reception>) -> Serving {
        let stop = CancellationToken::new();
        let callback = Callback { address: Address::new(self.address), path: path.to_owned(), reception };
        let task = tokio::spawn(connections::accept(self.socket, Arc::new(callback), stop.clone()));
        Serving { stop, task }
    }
}

impl Serving {
    /// Waits until the browser has its page, and ends.
    pub async fn finish(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

impl Site for Callback {
    /// All that is needed is in the address.
    const MAX_BODY: usize = 0;
    /// The browser waits until the tokens are saved.
    const TOTAL_LIMIT: Duration = Duration::from_secs(5 * 60);
    type Payload = Full<Bytes>;

    async fn answer(&self, Asked { head, .. }: Asked) -> Response<Full<Bytes>> {
        let accepted = head.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let language = accepted.and_then(Language::accepted).unwrap_or_default();
        // A page elsewhere may give its own name the address of this computer (DNS rebinding).
        if !self.address.is_host(&head) {
            return respond(StatusCode::MISDIRECTED_REQUEST, language, page::nothing_here(language));
        }
        if head.uri.path() != self.path {
            return respond(StatusCode::NOT_FOUND, language, page::nothing_here(language));
        }
        if head.method != Method::GET {
            let mut response = respond(StatusCode::METHOD_NOT_ALLOWED, language, page::nothing_here(language));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
            return response;
        }
        let (status, page) = match self.reception.arrived(head.uri.query().unwrap_or_default()).await {
            Reply::Later(ending) => match ending.await {
                Ok(ending @ super::Ending::SignedIn { .. }) => (StatusCode::OK, page::ending(&ending, language)),
                Ok(ending) => (StatusCode::BAD_REQUEST, page::ending(&ending, language)),
                Err(_) => (StatusCode::GONE, page::already_used(language)),
            },
            Reply::AlreadyUsed => (StatusCode::GONE, page::already_used(language)),
            Reply::NotAnAnswer(wrong) => (StatusCode::BAD_REQUEST, page::not_an_answer(wrong, language)),
        };
        respond(status, language, page)
    }
}

fn respond(status: StatusCode, language: Language, page: Markup) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page.into_string())));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_LANGUAGE, language.as_str()),
        (header::CONTENT_SECURITY_POLICY, page::POLICY.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Accept-Language"),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
