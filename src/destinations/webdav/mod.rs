//! `type = "webdav"`: files the PDF, and an optional sidecar before it, below a collection of a WebDAV server (RFC
//! 4918).
//!
//! [`super::remote`] does the filing; this module sends its calls as requests. On some servers an interrupted PUT
//! leaves its beginning visible, and some ignore If-None-Match; a MOVE with `Overwrite: F` works on every server that
//! was tried. `docsyncd check` tests it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use percent_encoding::utf8_percent_encode;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use tokio::sync::OnceCell;
use url::Url;

use super::confirm::Entry;
use super::files::Digest;
use super::remote::{self, AtPath, Desk, Remote, Renamed, Source};
use super::web_client::{Answer, Fault, Request, Upload, WebClient};
use super::{Adapter, Checked, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned, Unproved};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::failure::Code;
use crate::domain::proof::{Proof, Sight};
use crate::formats::template::RESERVED;

mod properties;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::*;

/// The largest answer to PROPFIND that is read, in bytes.
const PROPERTIES: usize = 64 * 1024;
/// The largest list of a folder that is read, in bytes. A file takes about 500.
const LIST: usize = 32 * 1024 * 1024;

/// For a server whose MOVE overwrites.
const REPLACES: &str = "it replaces a file although it is told not to (Overwrite: F)";

/// A collection of a WebDAV server.
pub struct WebDavAdapter {
    config: WebDavConfig,
    server: WebDavServer,
    desk: Desk,
}

/// The server, as [`super::remote`] uses it.
struct WebDavServer {
    url: Url,
    client: WebClient,
    /// Whether it keeps a `;` in a name; tested once, and only if a name has one. wsgidav, and with it Seafile, takes
    /// it for the end of the name, in any encoding.
    keeps_semicolons: OnceCell<bool>,
    /// Whether it said that a rename replaced something.
    says_replaced: AtomicBool,
}

impl WebDavAdapter {
    /// Opens nothing.
    pub fn new(config: WebDavConfig) -> Self {
        let client = WebClient::new(config.connection.clone());
        let server = WebDavServer {
            url: config.url.clone(),
            client,
            keeps_semicolons: OnceCell::new(),
            says_replaced: AtomicBool::new(false),
        };
        Self { config, server, desk: Desk::default() }
    }
}

impl WebDavAdapter {
    /// Whether the server said that it replaced a file, unless a test with docsyncd's own files shows that this is
    /// untrue.
    async fn has_replaced(&self) -> bool {
        if !self.server.says_replaced.swap(false, Ordering::Relaxed) {
            return false;
        }
        let replaces = self.desk.replaces(&self.server, &self.config.folder).await;
        // The test itself got the same answer.
        self.server.says_replaced.store(false, Ordering::Relaxed);
        replaces.unwrap_or(true)
    }
}

impl WebDavServer {
    /// The URL of a path. Every character that may have a meaning in a URL is encoded (RFC 3986, section 2.2).
    fn at(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let mut address = url.path().trim_end_matches('/').to_owned();
        for part in path.split('/').filter(|part| !["", ".", ".."].contains(part)) {
            address.push('/');
            address.extend(utf8_percent_encode(part, RESERVED));
        }
        if path.ends_with('/') {
            address.push('/');
        }
        url.set_path(&address);
        url
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&'static str, &str)]) -> Result<Answer, Outcome> {
        // All methods are constants of ours.
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        self.send(method, path, headers, None).await.map_err(in_a_look)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: Option<Upload>,
    ) -> Result<Answer, Fault> {
        let mut request = Request::new(method, self.at(path));
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_str(value) {
                request.headers.insert(HeaderName::from_static(name), value);
            }
        }
        request.body = body;
        self.client.send(request).await
    }

    /// The outcome of a delivery with this answer.
    fn refused(&self, answer: &Answer) -> Outcome {
        self.client.of_status(answer.status, false, answer.retry_after)
    }

    /// The outcome of a call about a folder, a temporary file or a taken name: it is never final for the document.
    fn passing(&self, answer: &Answer) -> Outcome {
        self.passing_status(answer.status, answer.retry_after)
    }

    fn passing_status(&self, status: u16, retry_after: Option<Duration>) -> Outcome {
        match self.client.of_status(status, false, retry_after) {
            Outcome::Permanent { code, reason } if !matches!(status, 413 | 414) => {
                Outcome::Transient { code, reason, retry_after }
            }
            outcome => outcome,
        }
    }

    fn broken_off(&self, when: &str) -> Outcome {
        let reason = self.client.named(&format!("the connection broke, or took too long, {when}"));
        Outcome::transient(Code::word("broken_off"), reason)
    }

    /// A look at a file whose PROPFIND tells no size.
    async fn found_by_head(&self, path: &str) -> Result<AtPath, Outcome> {
        let answer = self.ask("HEAD", path, &[]).await?;
        match answer.status {
            200 => {}
            404 | 410 => return Ok(AtPath::Nothing),
            _ => return Err(self.passing(&answer)),
        }
        let length = answer.headers.get("content-length").and_then(|value| value.to_str().ok());
        Ok(length.and_then(|length| length.parse().ok()).map_or(AtPath::Unsized, AtPath::File))
    }
}

/// A lost answer to a look, or to a repeatable call, only means that it is repeated.
fn in_a_look(fault: Fault) -> Outcome {
    match fault {
        Fault::Lost(reason) => Outcome::transient(Code::word("no_answer"), reason),
        fault => fault.outcome(),
    }
}

#[async_trait]
impl Remote for WebDavServer {
    fn address(&self) -> String {
        self.url.as_str().trim_end_matches('/').to_owned()
    }

    async fn stat(&self, path: &str) -> Result<AtPath, Outcome> {
        let mut answer = self.ask("PROPFIND", path, &[("depth", "0")]).await?;
        if matches!(answer.status, 301 | 302 | 307 | 308) {
            // Some servers want a slash at the end of a collection's name. Their redirect is not followed.
            answer = self.ask("PROPFIND", &format!("{path}/"), &[("depth", "0")]).await?;
        }
        match answer.status {
            207 => {}
            404 | 410 => return Ok(AtPath::Nothing),
            _ => return Err(self.passing(&answer)),
        }
        let content = answer.content(PROPERTIES as u64, PROPERTIES).await;
        if content.is_broken {
            return Err(self.broken_off("while it was asked about a file"));
        }
        let resource = properties::read(&String::from_utf8_lossy(&content.beginning)).into_iter().next();
        let resource = resource.ok_or_else(|| {
            let reason = self.client.named("its answer about a file (207) is not understood");
            Outcome::transient(Code::word("not_understood"), reason)
        })?;
        match resource.status {
            Some(404 | 410) => return Ok(AtPath::Nothing),
            // The resource does not exist, or is not shown: an unknown state does not count as somebody else's file.
            Some(status) if !(200..300).contains(&status) => return Err(self.passing_status(status, None)),
            _ => {}
        }
        Ok(match (resource.is_folder, resource.size) {
            (true, _) => AtPath::Folder,
            (false, Some(size)) => AtPath::File(size),
            (false, None) => self.found_by_head(path).await?,
        })
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
        let answer = self.ask("GET", path, &[]).await?;
        match answer.status {
            200 => {}
            404 | 410 => return Ok(None),
            _ => return Err(self.passing(&answer)),
        }
        let content = answer.content(limit, 0).await;
        match content.digest {
            Some(digest) => Ok(Some(digest)),
            None if content.is_broken => Err(self.broken_off("while a file was read back")),
            // The file is longer.
            None => Ok(Some(Digest { size: limit.saturating_add(1), sha256: String::new() })),
        }
    }

    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome> {
        let answer = self.ask("GET", path, &[]).await?;
        match answer.status {
            200 => {}
            404 | 410 => return Ok(None),
            _ => return Err(self.passing(&answer)),
        }
        let content = answer.content(limit, usize::try_from(limit).unwrap_or(usize::MAX)).await;
        if content.is_broken {
            return Err(self.broken_off("while a file was read"));
        }
        Ok(content.digest.map(|_| content.beginning))
    }

    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        let answer = self.ask("PROPFIND", &format!("{path}/"), &[("depth", "1")]).await?;
        match answer.status {
            207 => {}
            404 | 410 => return Ok(None),
            _ => return Err(self.passing(&answer)),
        }
        let content = answer.content(LIST as u64, LIST).await;
        if content.is_broken {
            return Err(self.broken_off("while a folder was listed"));
        }
        Ok(Some(properties::files(&String::from_utf8_lossy(&content.beginning))))
    }

    async fn changed(&self, path: &str) -> Result<Option<u64>, Outcome> {
        self.written(&format!("{path}/")).await
    }

    async fn written(&self, path: &str) -> Result<Option<u64>, Outcome> {
        let answer = self.ask("PROPFIND", path, &[("depth", "0")]).await?;
        if answer.status != 207 {
            return Ok(None);
        }
        let content = answer.content(PROPERTIES as u64, PROPERTIES).await;
        let found = properties::read(&String::from_utf8_lossy(&content.beginning)).into_iter().next();
        Ok(found.and_then(|found| found.modified))
    }

    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome> {
        let source = std::mem::replace(source, Source::of_bytes(Vec::new()));
        // A server that ignores the condition (rclone) overwrites what is there: so no name is used twice.
        let headers = [("content-type", "application/octet-stream"), ("if-none-match", "*")];
        let answer =
            self.send(Method::PUT, path, &headers, Some(Upload::of_source(source))).await.map_err(in_a_look)?;
        match answer.status {
            200 | 201 | 204 => Ok(true),
            412 => Ok(false),
            409 => {
                let words = "it says that the folder of a file is missing (409): it is made again";
                Err(Outcome::Transient {
                    code: Code::Status(409),
                    reason: self.client.named(words),
                    retry_after: answer.retry_after,
                })
            }
            _ => Err(self.refused(&answer)),
        }
    }

    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome> {
        let target = self.at(to);
        // Both headers are sent: the default of Overwrite differs from server to server (golang/go#66059).
        let answer = self.ask("MOVE", from, &[("destination", target.as_str()), ("overwrite", "F")]).await?;
        match answer.status {
            201 => Ok(Renamed::Done),
            204 => {
                // RFC 4918, section 9.9.4: the server overwrote a resource although that was forbidden. nginx says so
                // of every rename.
                self.says_replaced.store(true, Ordering::Relaxed);
                Ok(Renamed::Done)
            }
            502 => {
                let words = "it does not take the address of the file's name for its own (502): behind a proxy that adds TLS, let \
                             the server know its public address (https), or configure its own as `url`";
                // A gateway may also have broken off the server behind it, which may have done it. A check shows
                // whether it answers like this for every file.
                Err(Outcome::transient(Code::word("destination_header"), self.client.named(words)))
            }
            // The meaning of another success is unknown (RFC 4918, section 9.9.4), and so is what the server did before
            // it failed.
            200..=299 | 408 | 500 | 503 | 504 | 520..=599 => Err(self.passing(&answer)),
            404 | 410 => Ok(Renamed::Missing(self.passing(&answer))),
            _ => Ok(Renamed::Refused(self.passing(&answer))),
        }
    }

    async fn fit(&self, temporary: &str, name: String) -> Result<String, Outcome> {
        if !name.contains(';') {
            return Ok(name);
        }
        let ask = || remote::keeps_names(self, &self.client.connection().name, temporary, "a;b.pdf");
        let keeps = self.keeps_semicolons.get_or_try_init(ask);
        Ok(if *keeps.await? { name } else { name.replace(';', "_") })
    }

    async fn keeps(&self, temporary: &str, path: &str) -> Result<bool, Outcome> {
        remote::keeps_names(self, &self.client.connection().name, temporary, path).await
    }

    async fn remove(&self, path: &str) -> Result<(), Outcome> {
        let answer = self.ask("DELETE", path, &[]).await?;
        match answer.status {
            200 | 202 | 204 | 404 | 410 => Ok(()),
            _ => Err(self.passing(&answer)),
        }
    }

    async fn mkdir(&self, path: &str) -> Result<(), Outcome> {
        let answer = self.ask("MKCOL", path, &[]).await?;
        match answer.status {
            // 405: the collection exists (RFC 4918, section 9.3.1).
            200 | 201 | 405 => Ok(()),
            _ => Err(self.passing(&answer)),
        }
    }
}

#[async_trait]
impl Adapter for WebDavAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        if let Err(outcome) = self.desk.fits(&self.server, &self.config.folder, REPLACES).await {
            return outcome;
        }
        let outcome = remote::deliver(&self.server, &self.config.folder, item, &self.desk).await;
        if self.has_replaced().await {
            let destination = self.config.folder.name.as_str();
            tracing::error!(
                event = "overwritten",
                destination,
                status = 204,
                "the server says that it replaced a file although it was told not to: `docsyncd check` says whether it does so"
            );
        }
        outcome
    }

    async fn abandon(&self, item: &Item) {
        remote::abandon(&self.server, &self.config.folder, item).await;
    }

    fn unusable(&self) -> Option<String> {
        self.server.client.configured().err().map(|wrong| self.server.client.named(&wrong))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.in_folder(&self.config.folder)
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, known: &Known) -> Result<Planned, String> {
        remote::plan(&self.config.folder, self.config.url.as_str(), uuid, metadata, known)
    }

    async fn check(&self) -> Result<Checked, String> {
        self.unusable().map_or(Ok(()), Err)?;
        remote::check(&self.server, &self.config.folder, REPLACES).await
    }

    fn proof(&self) -> Proof {
        if self.config.folder.verify_content { Proof::ReadBack } else { Proof::Accepted }
    }

    async fn look(&self, letters: &[Unproved], others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        remote::look(&self.server, &self.config.folder, &self.desk, letters, others).await
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        remote::in_folder(&self.server, &self.config.folder, letters).await
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.connection.max_connections)
    }
}
