//! `type = "sftp"`: files the PDF, and an optional sidecar before it, below a folder on an SSH server.
//!
//! `connection` reaches the server and trusts only a known key (`host_key`). `session` speaks SFTP in the bytes of
//! `packet`. `server` implements [`super::remote::Remote`] with it; that module describes a delivery. A rename never
//! overwrites on purpose (no posix-rename); if a server overwrites all the same, names have to be unique.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::confirm::Memory;
use super::pool::Pool;
use super::remote::{self, Desk};
use super::{Adapter, Checked, Holds, Item, Kept, Known, Others, Outcome, Planned, Unproved};
use crate::config::SftpConfig;
use crate::document::{DocumentUuid, Metadata};
use crate::proof::{Proof, Sight};

mod connection;
mod host_key;
mod packet;
mod probe;
mod prompt;
mod server;
mod session;
#[cfg(test)]
mod tests;

use connection::Connection;
use server::Server;

/// The longest wait for a check.
const CHECK_LIMIT: Duration = Duration::from_secs(60);

/// The server and the user, as in `sftp://practice12@sftp.lab.test:22`.
pub(super) fn address(config: &SftpConfig) -> String {
    let SftpConfig { host, port, user, .. } = config;
    if host.contains(':') { format!("sftp://{user}@[{host}]:{port}") } else { format!("sftp://{user}@{host}:{port}") }
}

/// A key that a server shows and that is unknown, or differs from the known one: for a person to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerKey {
    /// `SHA256:…`
    pub fingerprint: String,
    /// As in `ssh-ed25519`.
    pub algorithm: String,
}

/// The key that the server shows; `None` if it is the known one.
///
/// # Errors
/// Why no key is seen, in words.
pub async fn unknown_key(config: &SftpConfig) -> Result<Option<ServerKey>, String> {
    let shown = connection::shown(config).await?;
    let is_known = shown.verdict == host_key::Verdict::Known;
    Ok((!is_known).then_some(ServerKey { fingerprint: shown.fingerprint, algorithm: shown.algorithm }))
}

/// A folder on an SSH server.
pub struct SftpAdapter {
    config: Arc<SftpConfig>,
    pool: Pool<Connection>,
    desk: Desk,
    memory: Memory,
    /// Whether the server overwrites; tested once, and only if it matters.
    overwrites: OnceCell<bool>,
}

impl SftpAdapter {
    /// Opens nothing.
    pub fn new(config: SftpConfig) -> Self {
        Self {
            config: Arc::new(config),
            pool: Pool::default(),
            desk: Desk::default(),
            memory: Memory::default(),
            overwrites: OnceCell::new(),
        }
    }

    /// Why no document can be filed there, if there is a reason.
    async fn unfit(&self, server: &Server<'_>) -> Result<(), Outcome> {
        let Some(wrong) = probe::unfit(&self.config) else { return Ok(()) };
        match self.overwrites.get_or_try_init(|| probe::overwrites(&self.config, server)).await? {
            true => Err(Outcome::unavailable("overwrites", wrong)),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl Adapter for SftpAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        let server = Server::new(&self.config, &self.pool);
        let outcome = match self.unfit(&server).await {
            Ok(()) => remote::deliver(&server, &self.config.folder, item, &self.desk).await,
            Err(outcome) => outcome,
        };
        server.rest().await;
        outcome
    }

    async fn abandon(&self, item: &Item) {
        let server = Server::new(&self.config, &self.pool);
        remote::abandon(&server, &self.config.folder, item).await;
        server.rest().await;
    }

    fn unusable(&self) -> Option<String> {
        let sign_in = &self.config.sign_in;
        let wrong = connection::private_key(sign_in).err().or(connection::password(sign_in).err())?;
        Some(format!("destination `{}`: {wrong}", self.config.folder.name))
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, known: &Known) -> Result<Planned, String> {
        remote::plan(&self.config.folder, &address(&self.config), uuid, metadata, known)
    }

    async fn check(&self) -> Result<Checked, String> {
        let server = Server::new(&self.config, &self.pool);
        let checked = tokio::time::timeout(CHECK_LIMIT, probe::check(&self.config, &server)).await;
        server.rest().await;
        match checked {
            Ok(Ok(checked)) => Ok(checked),
            Ok(Err(outcome)) => Err(outcome.reason().to_owned()),
            Err(_) => {
                let (name, limit) = (&self.config.folder.name, CHECK_LIMIT.as_secs());
                Err(format!("destination `{name}`: its server does not answer within {limit} s"))
            }
        }
    }

    fn proof(&self) -> Proof {
        if self.config.folder.verify_content { Proof::ReadBack } else { Proof::Accepted }
    }

    async fn look(&self, letters: &[Unproved], others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        let server = Server::new(&self.config, &self.pool);
        let sights = remote::look(&server, &self.config.folder, &self.memory, letters, others).await;
        server.rest().await;
        sights
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let server = Server::new(&self.config, &self.pool);
        let found = remote::in_folder(&server, &self.config.folder, letters).await;
        server.rest().await;
        found
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.folder.max_connections)
    }
}
