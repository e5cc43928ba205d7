//! Who may be connected, for how long, and with how many bytes: slow and hostile browsers cost a bounded little.
//!
//! When the room is full, whoever waits for longest without having asked anything gives way, so that a thousand idle
//! connections keep nobody out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::io;
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
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at once. A page takes three.
const MAX_CONNECTIONS: usize = 64;
/// The largest request line with headers; bytes.
const MAX_HEAD: usize = 16 * 1024;
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
/// How long a browser may take to say what it wants. Browsers open connections in advance and give them up themselves
/// after ten seconds; one that is closed just when it is used would cost the page its style.
const HEAD_LIMIT: Duration = Duration::from_secs(20);
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

/// A request that was read whole.
pub struct Asked {
    pub(crate) head: Parts,
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
    type Answer: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    fn answer(&self, asked: Asked) -> impl Future<Output = Response<Self::Answer>> + Send;
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
    if let Ok((stream, rest)) = twice(stream)
        && answer(stream, &guest, site, stop).await
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

/// Answers once. Returns whether there is time for what the browser still sends.
async fn answer<S: Site>(stream: TcpStream, guest: &Arc<Guest>, site: Arc<S>, stop: CancellationToken) -> bool {
    let asking = Arc::clone(guest);
    let service = service_fn(move |request| {
        let (site, guest) = (Arc::clone(&site), Arc::clone(&asking));
        async move {
            let asked = read(request, S::MAX_BODY).await;
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
async fn read(request: Request<Incoming>, max_body: usize) -> Asked {
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
    Asked { head, body: (whole && seen <= max_body).then_some(bytes) }
}
