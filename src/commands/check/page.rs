//! Whether the status page can be served.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::told;
use super::findings::Findings;
use crate::config::{Config, dialled};
use crate::formats::language::Language;
use crate::ledger::{Ledger, is_locked, process};
use crate::surfaces::web;
use crate::surfaces::web::certificate::{Certificate, Doubt};

/// How long the program on the port may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// The most bytes of its answer that are read.
const MAX_HEAD: u64 = 4 * 1024;
const WHAT: &str = "status page";
const CERTIFICATE: &str = "certificate of the status page";

/// The findings; `None` without a page.
pub(super) async fn check(config: &Config, language: Language) -> Option<Findings> {
    let page = config.status_page.as_ref()?;
    let listen = page.listen;
    let mut findings = Findings::default();
    if let Some(certificate) = Certificate::of(page) {
        match certificate.read() {
            Ok(None) => findings.ok(CERTIFICATE, &language.text("check-page-certificate")),
            Ok(Some(doubt)) => {
                let said = told::because(language, "told-certificate-doubt", &[], &doubt.to_string());
                match doubt {
                    Doubt::EndsSoon => findings.warn(CERTIFICATE, &said),
                    _ => findings.fail(CERTIFICATE, &said),
                }
            }
            Err(why) => findings.fail(CERTIFICATE, &told::because(language, "told-certificate", &[], &why)),
        }
    }
    let scheme = if page.certificate.is_some() { "https" } else { "http" };
    let of = |text: &str, address: SocketAddr| {
        language.fill(text, &[("address", (&format!("{scheme}://{address}/")).into())])
    };
    if let Some(serving) = said_by_daemon(config, process::STATUS_PAGE).await {
        match answers_as_docsyncd(serving).await {
            true => findings.ok(WHAT, &of("check-page-served", serving)),
            false => findings.fail(WHAT, &of("check-page-silent", serving)),
        }
        return Some(findings);
    }
    match TcpListener::bind(listen).await {
        Ok(_) if is_locked(&config.state.path) => {
            findings.warn(WHAT, &of("check-page-late", listen));
        }
        Ok(_) => findings.ok(WHAT, &of("check-page-free", listen)),
        // Without the right to read the ledger, only the page shows that a daemon runs.
        Err(_) if answers_as_docsyncd(listen).await => findings.ok(WHAT, &of("check-page-served", listen)),
        Err(error) => {
            let exact = web::in_words("status_page.listen", listen, &error);
            findings.fail(WHAT, &told::because(language, "told-port", &[], &exact));
        }
    }
    Some(findings)
}

/// The address that a running daemon has published under this key.
pub(super) async fn said_by_daemon(config: &Config, key: &str) -> Option<SocketAddr> {
    if !is_locked(&config.state.path) {
        return None;
    }
    let said = Ledger::open_beside(&config.state.path).ok()?.read(process::all).await.ok()?;
    said.get(key)?.parse().ok()
}

/// Whether docsyncd answers there.
pub(in crate::commands) async fn answers_as_docsyncd(address: SocketAddr) -> bool {
    let asking = async {
        let mut stream = TcpStream::connect(dialled(address)).await?;
        // TLS ports answer this, too.
        stream.write_all(format!("HEAD / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
        let mut head = Vec::new();
        stream.take(MAX_HEAD).read_to_end(&mut head).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&head).to_lowercase())
    };
    let head = tokio::time::timeout(ANSWER_LIMIT, asking).await;
    matches!(head, Ok(Ok(head)) if head.contains(&format!("server: {}", web::SERVER)))
}
