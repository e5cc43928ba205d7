//! Whether the status page can be served.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::findings::Findings;
use crate::config::Config;
use crate::ledger::{Ledger, is_locked, process};
use crate::web;

/// How long whoever has the port may take to say who it is.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// What is read of its answer; bytes.
const MAX_HEAD: u64 = 4 * 1024;
const WHAT: &str = "status page";

/// None when there is no page.
pub(super) async fn check(config: &Config) -> Option<Findings> {
    let listen = config.status_page?.listen;
    let mut findings = Findings::default();
    if let Some(serving) = said_by_daemon(config, process::STATUS_PAGE).await {
        match is_ours(serving).await {
            true => findings.ok(WHAT, &format!("http://{serving}/, served by the running daemon")),
            false => findings
                .fail(WHAT, &format!("the daemon says that it serves http://{serving}/, and does not answer there")),
        }
        return Some(findings);
    }
    match TcpListener::bind(listen).await {
        Ok(_) if is_locked(&config.state.path) => {
            findings.warn(
                WHAT,
                &format!("http://{listen}/ is free, but the running daemon does not serve it yet: it tries every 30 s"),
            );
        }
        Ok(_) => findings.ok(WHAT, &format!("http://{listen}/ is free; the daemon will serve it")),
        Err(error) => findings.fail(WHAT, &web::in_words("status_page.listen", listen, &error)),
    }
    Some(findings)
}

/// The address that a running daemon says of itself under this key.
pub(super) async fn said_by_daemon(config: &Config, key: &str) -> Option<SocketAddr> {
    if !is_locked(&config.state.path) {
        return None;
    }
    let said = Ledger::open_beside(&config.state.path).ok()?.read(process::all).await.ok()?;
    said.get(key)?.parse().ok()
}

/// Whether docsyncd answers there.
async fn is_ours(address: SocketAddr) -> bool {
    let asking = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("HEAD / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
        let mut head = Vec::new();
        stream.take(MAX_HEAD).read_to_end(&mut head).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&head).to_lowercase())
    };
    let head = tokio::time::timeout(ANSWER_LIMIT, asking).await;
    matches!(head, Ok(Ok(head)) if head.contains(&format!("server: {}", web::SERVER)))
}
