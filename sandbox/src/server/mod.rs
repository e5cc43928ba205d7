//! Accepts connections, applies faults, keeps the journal.
//!
//! It serves each connection itself, without axum, because a fault must be able to close a connection without an
//! answer.

mod body;
mod gate;
mod unread;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::journal::Listener;
use crate::shared::Shared;
use unread::Unread;

/// How long a connection may finish its request when the sandbox stops.
const GRACE: Duration = Duration::from_millis(500);

/// The pause after accepting failed (too many open files, for example), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What is sent of an answer whose connection is reset within its head.
const PART_OF_A_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: applic";

/// How a fault ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Ended {
    #[error("a fault closed the connection")]
    Closed,
    #[error("a fault reset the connection")]
    Reset,
    #[error("a fault reset the connection in the middle of the answer's head")]
    ResetInHead,
}

impl Ended {
    /// The fault behind an error of the connection, if there is one: hyper wraps errors of services and bodies.
    fn of(error: &hyper::Error) -> Option<Self> {
        let first: &(dyn Error + 'static) = error;
        std::iter::successors(Some(first), |&error| error.source()).find_map(|error| error.downcast_ref().copied())
    }
}

/// Serves one listener until the sandbox stops. `listener` is `None` for the admin surface, without faults and journal.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    socket: TcpListener,
    listener: Option<Listener>,
    router: Router,
    tasks: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                tasks.spawn(connection(Arc::clone(&shared), stream, listener, router.clone()));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn connection(shared: Arc<Shared>, mut stream: TcpStream, listener: Option<Listener>, router: Router) {
    // Small answers must not wait until the client acknowledges earlier ones.
    let _ = stream.set_nodelay(true);
    let stop = shared.stop.clone();
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let shared = Arc::clone(&shared);
        let router = router.clone();
        async move {
            let (asked, unread) = (request.headers().clone(), Unread::default());
            let request = request.map(|body| unread.lend(body));
            let mut answer = match listener {
                Some(listener) => gate::answer(shared, listener, router, request).await,
                None => Ok(match router.oneshot(request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }),
            };
            if let Ok(response) = &mut answer {
                unread.settle(&asked, response).await;
            }
            answer
        }
    });
    // The halves are only borrowed, because a fault resets the whole stream.
    let (reader, writer) = stream.split();
    let io = TokioIo::new(tokio::io::join(reader, writer));
    let ended = {
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(io, service);
        tokio::pin!(connection);
        // An error here is expected: a client that went away, or a fault that closed the connection.
        tokio::select! {
            ended = connection.as_mut() => ended.err().as_ref().and_then(Ended::of),
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(GRACE, connection).await;
                None
            }
        }
    };
    match ended {
        None | Some(Ended::Closed) => {}
        Some(Ended::Reset) => reset(stream),
        Some(Ended::ResetInHead) => {
            let _ = stream.try_write(PART_OF_A_HEAD);
            reset(stream);
        }
    }
}

/// Closes with RST instead of FIN, which every system does with a linger time of zero.
fn reset(stream: TcpStream) {
    let _ = stream.set_zero_linger();
}
