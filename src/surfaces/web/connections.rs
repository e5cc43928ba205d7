//! Who may be connected, for how long, and with how many bytes: slow and hostile browsers cost a bounded little.
//!
//! Where the site has a certificate, a connection is encrypted first. What speaks HTTP there all the same is answered,
//! as one that is not encrypted.
//!
//! When the room is full, whoever waits for longest without having asked anything gives way, so that a thousand idle
//! connections keep nobody out.

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

/// Connections at once. A page takes three.
const MAX_CONNECTIONS: usize = 64;
/// The largest request line with headers; bytes.
const MAX_HEAD: usize = 16 * 1024;
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
/// How long a browser may take to say what it wants. Browsers open connections in advance and give them up themselves
/// after ten seconds; one that is closed just when it is used would cost the page its style.
const HEAD_LIMIT: Duration = Duration::from_secs(20);
/// How long a browser may take until the connection is encrypted.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// The first byte of a connection that is to be encrypted (RFC 8446, section 5.1: a record of type handshake). No
/// request of HTTP begins with it.
const HANDSHAKE: u8 = 22;
/// What is read of a body that is too large, so that the browser gets to see the answer; bytes.
const MAX_DISCARDED: usize = 256 * 1024;
/// How long a body may take.
const BODY_LIMIT: Duration = Duration::from_secs(5);
/// How long, and for how many bytes, a browser is listened to that goes on sending after it was answered.
const REST_LIMIT: Duration = Duration::from_secs(1);
const MAX_REST: u64 = 1024 * 1024;
/// How much longer than [`Site::TOTAL_LIMIT`] a connection may last that is told when something changes, or is sent a
/// file: after that the browser asks anew.
const TOLD_LIMIT: Duration = Duration::from_secs(60 * 60);
/// How long an answer that is under way may take when the daemon stops.
const LAST_LIMIT: Duration = Duration::from_secs(2);
/// Between two tries to accept when the system has no more sockets.
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

    /// Whether it came from this computer, and over no network.
    pub(crate) fn is_from_here(&self) -> bool {
        [self.local, self.peer].iter().all(|end| end.ip().to_canonical().is_loopback())
    }

    /// Whether nobody between the two ends can have read it or changed it.
    pub(crate) fn is_private(&self) -> bool {
        self.is_encrypted || self.is_from_here()
    }
}

/// A request that was read whole.
pub struct Asked {
    pub(crate) head: Parts,
    pub(crate) way: Way,
    /// `None`: it was too large, too slow, or broke off.
    pub(crate) body: Option<Vec<u8>>,
}

/// Who answers.
pub(crate) trait Site: Send + Sync + 'static {
    /// The largest body; bytes.
    const MAX_BODY: usize;
    /// How long a connection may last in all.
    const TOTAL_LIMIT: Duration = Duration::from_secs(40);
    /// What it answers with.
    type Payload: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// What encrypts connections; `None`: nothing does.
    fn encryption(&self) -> Option<Arc<ServerConfig>> {
        None
    }

    fn answer(&self, asked: Asked) -> impl Future<Output = Response<Self::Payload>> + Send;
}

/// One connection, as the others see it.
#[derive(Default)]
struct Guest {
    /// It has to go.
    leave: CancellationToken,
    /// It has asked something, and the answer is being made.
    served: AtomicBool,
    /// Its answer goes on until one of both sides ends it, or is a file that is sent as fast as it is taken. It gives
    /// way like whoever asks nothing.
    told: AtomicBool,
    gone: AtomicBool,
}

/// Answers whoever connects, until `stop`.
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
            // Everybody is being served: the newcomer may come again.
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
        // What the browser still sends after it was answered has to be taken: a system that closes a connection with
        // bytes that nobody read resets it, and the browser throws the page away.
        let (mut rest, mut nowhere) = (rest.take(MAX_REST), tokio::io::sink());
        let _ = tokio::time::timeout(REST_LIMIT, tokio::io::copy(&mut rest, &mut nowhere)).await;
    }
    guest.gone.store(true, Ordering::Release);
}

/// The same connection a second time, so that it is not closed when hyper is done with it.
fn twice(stream: TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let again = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(again)?))
}

/// Encrypts a connection, where the site does that and the browser begins it.
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

/// Answers once. Returns whether there is time for what the browser still sends.
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
            // The length of all others is at hand.
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
    // A connection that breaks is the browser's business; it may come again.
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

/// The whole request, within bounds.
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
