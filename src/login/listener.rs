//! The address on this computer to which the browser returns (RFC 8252, section 7.3).

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::page;
use super::reception::{Reception, Reply};
use crate::language::Language;

/// The largest request line with headers: an address with a long code fits in well; bytes.
const MAX_HEAD: usize = 16 * 1024;
/// How long a browser may take to say what it wants.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// Connections at once: browsers open some in advance.
const MAX_CONNECTIONS: usize = 32;
/// How long the last page is waited for.
const LAST_PAGE_LIMIT: Duration = Duration::from_secs(2);
/// How long, and for how many bytes, a browser is listened to that goes on sending after it was answered.
const REST_LIMIT: Duration = Duration::from_secs(1);
const MAX_REST: u64 = 1024 * 1024;
/// Between two tries to accept when the system has no more sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A socket that waits for the browser.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    port: u16,
}

/// A listener at work.
#[derive(Debug)]
pub struct Serving {
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// What every connection knows.
#[derive(Debug)]
struct Address {
    /// What `Host` has to be.
    authorities: [String; 2],
    path: String,
    reception: Arc<Reception>,
}

impl Listener {
    /// Takes the port of the loopback interface; 0 takes a free one.
    ///
    /// # Errors
    /// The port is taken or may not be used.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let socket = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let port = socket.local_addr()?.port();
        Ok(Self { socket, port })
    }

    /// The port it has.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers at `path` until [`Serving::finish`].
    pub fn serve(self, path: &str, reception: Arc<Reception>) -> Serving {
        let authorities = ["127.0.0.1", "localhost"].map(|host| match self.port {
            80 => host.to_owned(),
            port => format!("{host}:{port}"),
        });
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let address = Arc::new(Address { authorities, path: path.to_owned(), reception });
        tasks.spawn(accept(self.socket, address, stop.clone(), tasks.clone()));
        Serving { stop, tasks }
    }
}

impl Serving {
    /// Lets the browser have the page that it is being sent, and ends.
    pub async fn finish(self) {
        self.stop.cancel();
        self.tasks.close();
        // A browser that does not take its page has to do without.
        let _ = tokio::time::timeout(LAST_PAGE_LIMIT, self.tasks.wait()).await;
    }
}

async fn accept(socket: TcpListener, address: Arc<Address>, stop: CancellationToken, tasks: TaskTracker) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (permit, socket.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = stop.cancelled() => return,
            accepted = next => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let serving = serve(stream, Arc::clone(&address), stop.clone());
                tasks.spawn(async move {
                    serving.await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, address: Arc<Address>, stop: CancellationToken) {
    let Ok((stream, rest)) = twice(stream) else { return };
    answer(stream, address, stop).await;
    // What the browser still sends after it was answered has to be taken: a system that closes a connection with bytes
    // that nobody read resets it, and the browser throws the page away.
    let _ = tokio::time::timeout(REST_LIMIT, tokio::io::copy(&mut rest.take(MAX_REST), &mut tokio::io::sink())).await;
}

/// The same connection a second time, so that it is not closed when hyper is done with it.
fn twice(stream: TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let again = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(again)?))
}

async fn answer(stream: TcpStream, address: Arc<Address>, stop: CancellationToken) {
    let service = service_fn(move |request| {
        let address = Arc::clone(&address);
        async move { Ok::<_, Infallible>(address.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(MAX_HEAD)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // A connection that breaks is the browser's business; it may come again.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

impl Address {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let headers = request.headers();
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        let language = Language::accepted(text(header::ACCEPT_LANGUAGE)).unwrap_or_default();
        // A page elsewhere that gave its own name this computer's address gets nothing (DNS rebinding).
        let host = text(header::HOST);
        if !self.authorities.iter().any(|ours| host.eq_ignore_ascii_case(ours)) {
            return respond(StatusCode::MISDIRECTED_REQUEST, language, page::nothing_here(language));
        }
        if request.uri().path() != self.path {
            return respond(StatusCode::NOT_FOUND, language, page::nothing_here(language));
        }
        if request.method() != Method::GET {
            let mut response = respond(StatusCode::METHOD_NOT_ALLOWED, language, page::nothing_here(language));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
            return response;
        }
        let (status, page) = match self.reception.arrived(request.uri().query().unwrap_or_default()).await {
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

fn respond(status: StatusCode, language: Language, page: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page)));
    *response.status_mut() = status;
    set(
        response.headers_mut(),
        [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_LANGUAGE, language.as_str()),
            (header::CONTENT_SECURITY_POLICY, page::POLICY.as_str()),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
            (header::VARY, "Accept-Language"),
        ],
    );
    response
}

fn set<const N: usize>(headers: &mut HeaderMap, values: [(header::HeaderName, &str); N]) {
    for (name, value) in values {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
}
