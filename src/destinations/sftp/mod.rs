//! `type = "sftp"`: files the PDF, and an optional sidecar before it, below a folder on an SSH server.
//!
//! `connection` reaches the server and trusts only a known key (`host_key`). `session` speaks SFTP in the bytes of
//! `packet`. `server` implements [`super::remote::Remote`] with it; that module describes a delivery. A rename never
//! overwrites on purpose (no posix-rename); if a server overwrites all the same, names have to be unique.

use async_trait::async_trait;

use super::pool::Pool;
use super::remote::{self, Desk};
use super::{Adapter, Checked, Holds, Invented, Item, Kept, Known, Others, Outcome, Planned, Unproved};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::proof::{Proof, Sight};
use crate::system::{permissions, secret};

mod connection;
mod host_key;
mod packet;
mod prompt;
mod server;
mod session;
mod settings;
#[cfg(test)]
mod tests;

use connection::Connection;
use server::Server;
pub use settings::*;

/// For a server whose rename overwrites.
const REPLACES: &str = "this server overwrites a file when another is given its name";

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
    config: SftpConfig,
    pool: Pool<Connection>,
    desk: Desk,
}

impl SftpAdapter {
    /// Opens nothing.
    pub fn new(config: SftpConfig) -> Self {
        Self { config, pool: Pool::default(), desk: Desk::default() }
    }

    /// The server, for one delivery or check.
    fn server(&self) -> Server<'_> {
        Server::new(&self.config, &self.pool)
    }

    /// What is known of the server, and which promises are weaker there.
    async fn known(&self) -> Result<Checked, Outcome> {
        let look = |connection: &Connection| (connection.shown.clone(), connection.session.extensions);
        let (shown, extensions) = self.server().look(look).await?;
        let mut checked = Checked::default();
        checked.notes.push(format!("the server's key is {} ({})", shown.fingerprint, shown.algorithm));
        if extensions.fsync {
            checked.notes.push("what is filed is forced to its disk (fsync)".to_owned());
        } else {
            let warning = "this server cannot be asked to force a file to its disk (fsync): what was reported could be lost when its \
                           power fails in the same moment";
            checked.warnings.push(warning.to_owned());
        }
        let sign_in = &self.config.sign_in;
        let secrets = [&sign_in.key, &sign_in.passphrase, &sign_in.password];
        for file in secrets.into_iter().flatten().filter_map(secret::file) {
            if let Some(who) = permissions::read_by_everybody(&file) {
                let shown = file.display();
                checked.warnings.push(format!(
                    "every user of this computer can read {shown} ({who}): run icacls \"{shown}\" /inheritance:r /grant \
                     *S-1-5-18:F *S-1-5-32-544:F \"NT SERVICE\\docsyncd:R\""
                ));
            }
        }
        if !self.config.folder.verify_content {
            checked.notes.push("only the size is read back".to_owned());
        }
        Ok(checked)
    }
}

#[async_trait]
impl Adapter for SftpAdapter {
    async fn deliver(&self, item: &Item) -> Outcome {
        let server = self.server();
        match self.desk.fits(&server, &self.config.folder, REPLACES).await {
            Ok(()) => remote::deliver(&server, &self.config.folder, item, &self.desk).await,
            Err(outcome) => outcome,
        }
    }

    async fn abandon(&self, item: &Item) {
        remote::abandon(&self.server(), &self.config.folder, item).await;
    }

    fn unusable(&self) -> Option<String> {
        let sign_in = &self.config.sign_in;
        let wrong = connection::private_key(sign_in).err().or(connection::password(sign_in).err())?;
        Some(format!("destination `{}`: {wrong}", self.config.folder.name))
    }

    fn holds_number(&self, invented: &Invented) -> bool {
        invented.in_folder(&self.config.folder)
    }

    async fn plan(&self, uuid: &DocumentUuid, metadata: &Metadata, known: &Known) -> Result<Planned, String> {
        remote::plan(&self.config.folder, &address(&self.config), uuid, metadata, known)
    }

    async fn check(&self) -> Result<Checked, String> {
        let mut checked = self.known().await.map_err(Outcome::into_reason)?;
        let of_folder = remote::check(&self.server(), &self.config.folder, REPLACES).await?;
        checked.notes.extend(of_folder.notes);
        checked.warnings.splice(0..0, of_folder.warnings);
        Ok(checked)
    }

    fn proof(&self) -> Proof {
        if self.config.folder.verify_content { Proof::ReadBack } else { Proof::Accepted }
    }

    async fn look(&self, letters: &[Unproved], others: &dyn Others) -> Result<Vec<Sight>, Outcome> {
        remote::look(&self.server(), &self.config.folder, &self.desk, letters, others).await
    }

    async fn still_holds(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        remote::in_folder(&self.server(), &self.config.folder, letters).await
    }

    fn max_connections(&self) -> Option<usize> {
        Some(self.config.folder.max_connections)
    }
}
