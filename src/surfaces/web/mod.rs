//! The status page and `/metrics`, for this computer, and for others if `[status_page]` says so.
//!
//! Everybody who reaches the page sees whether all is well: a sentence, counts, states. Names of patients, files and
//! documents, and every button, need two things: the key that `docsyncd open` brings into the browser ([`keys`]), and a
//! connection that is encrypted or stays on this computer (`connections::Way`). `/metrics` is for this computer only.
//! The server makes a page anew for each request, and the browser keeps nothing of it. The only script reloads the page
//! when something changed.
//!
//! | Module | |
//! |---|---|
//! | [`keys`] | links that count once, and sessions |
//! | `connections` | who may be connected, for how long, and with how many bytes |
//! | [`certificate`] | what encrypts them |
//! | `guard` | what a request must carry before it is answered |
//! | `admission` | who is let in: ways, keys, cookies |
//! | `answers` | from a request to its answer |
//! | `forms` | what the buttons do |
//! | `pdf` | a letter's PDF, from where it lies |
//! | `mended` | "It is mended, try again" |
//! | `support` | the file for whoever helps |
//! | `browsers` | those that have the key, and one more computer |
//! | `told` | tells a page that is open when there is something new |
//! | `facts` | what a page shows, read in one moment of the ledger |
//! | `frame`, `page`, `letter`, `parts`, `chart`, `patients`, `second_look`, `decisions`, `notice` | the HTML |
//! | `metrics` | the numbers, in OpenMetrics |
//!
//! The page may fail in any way without an effect on a document. It has a task of its own, asks the ledger for little,
//! and begins again if its port is taken.

mod admission;
mod answers;
mod browsers;
pub mod certificate;
mod chart;
pub(crate) mod connections;
mod decisions;
mod facts;
mod forms;
mod frame;
pub(crate) mod guard;
pub mod keys;
mod letter;
mod mended;
mod metrics;
mod misfiled;
mod notice;
mod page;
mod parts;
mod patients;
mod pdf;
mod second_look;
mod support;
mod told;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::ledger::process;
use crate::pipeline::Shared;
use answers::Site;
use certificate::Certificate;
pub use facts::Setup;

/// How long to wait until a port is tried again.
pub(crate) const BIND_PAUSE: Duration = Duration::from_secs(30);

/// The value of the `Server` header, by which `check` tells this page from another program's.
pub const SERVER: &str = "docsyncd";

/// Serves the page until the daemon stops.
pub async fn run(context: Shared, setup: Setup) {
    let unavailable = |why: &str| {
        tracing::warn!(
            event = "status_page_unavailable",
            "the status page cannot be served: {why}. The documents are not concerned; it is tried again every {} s",
            BIND_PAUSE.as_secs()
        );
    };
    let certificate = Certificate::of(&setup.page).map(Arc::new);
    if let Some(certificate) = &certificate
        && context.signals.stop.run_until_cancelled(begin(certificate, &unavailable)).await.is_none()
    {
        return;
    }
    let serve = |socket, address| serve(&context, &setup, certificate.clone(), socket, address);
    listen(&context.signals.stop, "status_page.listen", setup.page.listen, unavailable, serve).await;
}

/// Reads the certificate. If it cannot be used, logs that once and tries again.
async fn begin(certificate: &Arc<Certificate>, unavailable: impl Fn(&str)) {
    let mut refused = false;
    loop {
        let reading = Arc::clone(certificate);
        match tokio::task::spawn_blocking(move || reading.read()).await {
            Ok(Ok(doubt)) => return certificate::tell_read(doubt),
            Ok(Err(why)) if !std::mem::replace(&mut refused, true) => unavailable(&why),
            Ok(Err(_)) | Err(_) => {}
        }
        tokio::time::sleep(BIND_PAUSE).await;
    }
}

/// Listens, and runs `serve` until `stop`. If the port cannot be had, reports that once and tries again. `key` is the
/// setting of the address.
pub(crate) async fn listen<F: Future<Output = ()>>(
    stop: &CancellationToken,
    key: &str,
    address: SocketAddr,
    unavailable: impl Fn(&str),
    serve: impl Fn(TcpListener, SocketAddr) -> F,
) {
    let mut refused = false;
    while !stop.is_cancelled() {
        let error = match TcpListener::bind(address).await.and_then(with_address) {
            Ok((socket, address)) => {
                refused = false;
                serve(socket, address).await;
                continue;
            }
            Err(error) => error,
        };
        if !std::mem::replace(&mut refused, true) {
            unavailable(&in_words(key, address, &error));
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(BIND_PAUSE) => {}
        }
    }
}

/// Why docsyncd cannot listen at an address, and what to do.
pub fn in_words(key: &str, address: SocketAddr, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("another program uses it: end that, or choose another port in {key}")
        }
        io::ErrorKind::AddrNotAvailable => "this computer has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "the system forbids it: choose a port above 1023".to_owned(),
        _ => error.to_string(),
    };
    format!("port {} of {} cannot be had ({key}): {advice}", address.port(), address.ip())
}

fn with_address(socket: TcpListener) -> io::Result<(TcpListener, SocketAddr)> {
    let address = socket.local_addr()?;
    Ok((socket, address))
}

async fn serve(
    context: &Shared,
    setup: &Setup,
    certificate: Option<Arc<Certificate>>,
    socket: TcpListener,
    address: SocketAddr,
) {
    // Tells `docsyncd open`, in another process, the port. If the ledger cannot be written now, the stages report that.
    let told = context.edges.ledger.write(move |db| process::set(db, process::STATUS_PAGE, &address.to_string())).await;
    if let Err(error) = told {
        tracing::debug!(event = "status_page_not_told", "{error}");
    }
    let scheme = if certificate.is_some() { "https" } else { "http" };
    tracing::info!(event = "status_page", "the status page is at {scheme}://{address}/ (docsyncd open)");
    let site = Arc::new(Site::new(context.clone(), setup.clone(), address, certificate.clone()));
    let followed = async {
        match &certificate {
            Some(certificate) => certificate.follow(&context.edges.ledger).await,
            None => {
                // A doubt about an earlier certificate ends with it.
                let _ = context.edges.ledger.write(|db| certificate::note(db, false, 0)).await;
                std::future::pending().await
            }
        }
    };
    tokio::select! {
        () = connections::accept(socket, site, context.signals.stop.clone()) => {}
        () = followed => {}
    }
    let _ = context.edges.ledger.write(|db| process::remove(db, process::STATUS_PAGE)).await;
}
