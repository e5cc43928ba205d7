//! Who may be connected, for how long, and with how many bytes, so that slow and hostile browsers cost little.
//!
//! If the site has a certificate, a connection is encrypted first. A browser that speaks plain HTTP there is answered,
//! but treated as not encrypted.
//!
//! When all places are taken, the connection that has been idle longest is closed. So a thousand idle connections keep
//! nobody out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::system::tls::Stream;

/// The most connections. A page takes three.
const MAX_CONNECTIONS: usize = 64;
/// The most bytes of a request line with headers.
const MAX_HEAD: usize = 16 * 1024;
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
/// How long a browser may take to send a request. Browsers open connections in advance and close them after ten
/// seconds. One that we close just when it is used would cost the page its style.
const HEAD_LIMIT: Duration = Duration::from_secs(20);
/// How long a browser may take to encrypt the connection.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// The first byte of an encrypted connection (RFC 8446, section 5.1: a record of type handshake). No HTTP request
/// begins with it.
const HANDSHAKE: u8 = 22;
/// How many bytes of a body that is too large are read, so that the browser sees the answer.
const MAX_DISCARDED: usize = 256 * 1024;
/// How long a body may take.
const BODY_LIMIT: Duration = Duration::from_secs(5);
/// How long, and for how many bytes, to read what a browser still sends after its answer.
const REST_LIMIT: Duration = Duration::from_secs(1);
const MAX_REST: u64 = 1024 * 1024;
/// How much longer than [`Site::TOTAL_LIMIT`] a connection may last that is told of changes or sent a file. After that
/// the browser asks again.
const TOLD_LIMIT: Duration = Duration::from_secs(60 * 60);
/// How long an answer in progress may take when the daemon stops.
const LAST_LIMIT: Duration = Duration::from_secs(2);
/// The pause after the system had no socket left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How a request came here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// Our own end of the connection.
    pub(crate) local: SocketAddr,
    /// The other end.
    pub(crate) peer: SocketAddr,
    pub(crate) is_encrypted: bool,
}

impl Way {
    fn of(stream: &TcpStream) -> io::Result<Self> {
        Ok(Self { local: stream.local_addr()?, peer: stream.peer_addr()?, is_encrypted: false })
    }

    /// Whether it came from this computer, over no network.
    pub(crate) fn is_from_here(&self) -> bool {
        [self.local, self.peer].iter().all(|end| end.ip().to_canonical().is_loopback())
    }

    /// Whether nobody on the way can have read or changed it.
    pub(crate) fn is_private(&self) -> bool {
        self.is_encrypted || self.is_from_here()
    }
}

/// A request that was read completely.
pub struct Asked {
    pub(crate) head: Parts,
    pub(crate) way: Way,
    /// `None`: it was too large or too slow, or broke off.
    pub(crate) body: Option<Vec<u8>>,
}

/// Answers requests.
pub(crate) trait Site: Send + Sync + 'static {
    /// The largest body; bytes.
    const MAX_BODY: usize;
    /// How long a connection may last in all.
    const TOTAL_LIMIT: Duration = Duration::from_secs(40);
    /// The body of its answers.
    type Payload: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// Encrypts connections; `None` for plain HTTP.
    fn encryption(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    fn answer(&self, asked: Asked) -> impl Future<Output = Response<Self::Payload>> + Send;
}

/// A connection, as the other connections see it.
#[derive(Default)]
struct Guest {
    /// Ends the connection.
    leave: CancellationToken,
    /// A request came, and its answer is being made.
    served: AtomicBool,
    /// The answer goes on until one side ends it, or is a file. Such a connection gives way like an idle one.
    told: AtomicBool,
    gone: AtomicBool,
}

/// Answers all connections until `stop`.
pub(crate) async fn accept<S: Site>(socket: TcpListener, site: Arc<S>, stop: CancellationToken) {
    let mut guests: VecDeque<Arc<Guest>> = VecDeque::new();
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = socket.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        guests.retain(|guest| !guest.gone.load(Ordering::Acquire));
        if guests.len() >= MAX_CONNECTIONS {
            let idle = guests.iter().position(|guest| !guest.served.load(Ordering::Acquire));
            // All are being served; the newcomer may try again.
            let Some(oldest) = idle.and_then(|index| guests.remove(index)) else { continue };
            oldest.leave.cancel();
        }
        let guest = Arc::new(Guest::default());
        guests.push_back(Arc::clone(&guest));
        tasks.spawn(serve(stream, guest, Arc::clone(&site), stop.clone()));
    }
    drop(socket);
    tasks.close();
    let _ = tokio::time::timeout(LAST_LIMIT, tasks.wait()).await;
    guests.iter().for_each(|guest| guest.leave.cancel());
}

async fn serve<S: Site>(stream: TcpStream, guest: Arc<Guest>, site: Arc<S>, stop: CancellationToken) {
    let begun = async {
        let (stream, rest) = twice(stream)?;
        let begun = begin(stream, site.encryption());
        let (stream, way) = tokio::time::timeout(HANDSHAKE_LIMIT, begun).await??;
        Ok::<_, io::Error>((stream, way, rest))
    };
    let begun = tokio::select! {
        begun = begun => begun.ok(),
        () = guest.leave.cancelled() => None,
        () = stop.cancelled() => None,
    };
    if let Some((stream, way, rest)) = begun
        && answer(stream, way, &guest, site, stop).await
    {
        // What the browser still sends has to be read. A system resets a connection that is closed with unread bytes,
        // and the browser then discards the page.
        let (mut rest, mut nowhere) = (rest.take(MAX_REST), tokio::io::sink());
        let _ = tokio::time::timeout(REST_LIMIT, tokio::io::copy(&mut rest, &mut nowhere)).await;
    }
    guest.gone.store(true, Ordering::Release);
}

/// A second handle of the connection, so that it stays open when hyper is done.
fn twice(stream: TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let again = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(again)?))
}

/// Encrypts a connection, if the site has a certificate and the browser begins a handshake.
async fn begin(stream: TcpStream, encryption: Option<Arc<ServerConfig>>) -> io::Result<(Box<dyn Stream>, Way)> {
    let way = Way::of(&stream)?;
    let Some(encryption) = encryption else { return Ok((Box::new(stream), way)) };
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first != [HANDSHAKE] {
        return Ok((Box::new(stream), way));
    }
    let stream = TlsAcceptor::from(encryption).accept(stream).await?;
    Ok((Box::new(stream), Way { is_encrypted: true, ..way }))
}

/// Answers once. Returns whether to read what the browser still sends.
async fn answer<S: Site>(
    stream: Box<dyn Stream>,
    way: Way,
    guest: &Arc<Guest>,
    site: Arc<S>,
    stop: CancellationToken,
) -> bool {
    let asking = Arc::clone(guest);
    let service = service_fn(move |request| {
        let (site, guest) = (Arc::clone(&site), Arc::clone(&asking));
        async move {
            let asked = read(request, way, S::MAX_BODY).await;
            guest.served.store(true, Ordering::Release);
            let answer = site.answer(asked).await;
            // Every other answer has a known length.
            guest.told.store(answer.body().size_hint().exact().is_none(), Ordering::Release);
            guest.served.store(false, Ordering::Release);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    // If a connection breaks, the browser may try again.
    let over = async {
        tokio::time::sleep(S::TOTAL_LIMIT).await;
        if guest.told.load(Ordering::Acquire) {
            tokio::time::sleep(TOLD_LIMIT).await;
        }
    };
    tokio::select! {
        _ = connection.as_mut() => return true,
        () = guest.leave.cancelled() => return false,
        () = over => return false,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_LIMIT, connection).await;
    false
}

/// Reads the whole request, within bounds.
async fn read(request: Request<Incoming>, way: Way, max_body: usize) -> Asked {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    let mut seen = 0_usize;
    let reading = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            let Some(data) = frame.data_ref() else { continue };
            seen = seen.saturating_add(data.len());
            if seen > MAX_DISCARDED {
                return false;
            }
            if seen <= max_body {
                bytes.extend_from_slice(data);
            }
        }
        true
    };
    let whole = tokio::time::timeout(BODY_LIMIT, reading).await.unwrap_or(false);
    Asked { head, way, body: (whole && seen <= max_body).then_some(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_encrypted_or_stays_on_this_computer_is_private() {
        for (local, peer, here) in [
            ("127.0.0.1:8977", "127.0.0.1:40000", true),
            ("127.0.0.1:8977", "127.8.8.8:40000", true),
            ("[::1]:8977", "[::1]:40000", true),
            ("[::ffff:127.0.0.1]:8977", "[::ffff:127.0.0.1]:40000", true),
            ("192.0.2.7:8977", "192.0.2.9:40000", false),
            ("192.0.2.7:8977", "192.0.2.7:40000", false),
            ("192.0.2.7:8977", "127.0.0.1:40000", false),
            ("127.0.0.1:8977", "192.0.2.9:40000", false),
            ("[::ffff:192.0.2.7]:8977", "[::ffff:192.0.2.9]:40000", false),
            ("[2001:db8::7]:8977", "[2001:db8::9]:40000", false),
            ("[fe80::7]:8977", "[fe80::9]:40000", false),
        ] {
            let way = |is_encrypted| Way { local: local.parse().unwrap(), peer: peer.parse().unwrap(), is_encrypted };
            assert_eq!((way(false).is_from_here(), way(false).is_private()), (here, here), "{local} {peer}");
            assert_eq!((way(true).is_from_here(), way(true).is_private()), (here, true), "{local} {peer}");
        }
    }
}
