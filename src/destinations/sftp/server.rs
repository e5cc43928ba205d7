//! Implements [`Remote`] over SFTP, on one connection at a time, which is opened again after it broke.

use std::sync::PoisonError;

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::super::Outcome;
use super::super::confirm::Entry;
use super::super::files::Digest;
use super::super::pool::Pool;
use super::super::remote::{AtPath, Remote, Renamed, Source};
use super::connection::{Connection, connect};
use super::packet::{FILE, FOLDER, LINK, status};
use super::session::Fault;
use crate::destinations::SftpConfig;
use crate::domain::failure::Code;

/// The operation, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Look,
    Read,
    Write,
    Rename,
    Remove,
    MakeFolder,
}

impl Doing {
    fn words(self) -> &'static str {
        match self {
            Self::Look => "look at a file",
            Self::Read => "read a file back",
            Self::Write => "write a file",
            Self::Rename => "give a file its name",
            Self::Remove => "remove a temporary file",
            Self::MakeFolder => "make a sub-folder",
        }
    }
}

/// A server for the time of one delivery or check.
pub(super) struct Server<'a> {
    config: &'a SftpConfig,
    /// Where its connection comes from and returns to: no more are open than there are deliveries at a time.
    pool: &'a Pool<Connection>,
    connection: Mutex<Option<Connection>>,
    /// What looks that were sent with the last rename showed, if they show that it is done: no other look is needed.
    looked: std::sync::Mutex<Vec<(String, AtPath)>>,
}

impl<'a> Server<'a> {
    pub(super) fn new(config: &'a SftpConfig, pool: &'a Pool<Connection>) -> Self {
        Self { config, pool, connection: Mutex::new(None), looked: std::sync::Mutex::default() }
    }

    fn looked(&self) -> std::sync::MutexGuard<'_, Vec<(String, AtPath)>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, opened if there is none.
    async fn take(&self) -> Result<Connection, Outcome> {
        self.looked().clear();
        if let Some(connection) = self.connection.lock().await.take() {
            return Ok(connection);
        }
        match self.pool.take(|connection| !connection.is_closed()) {
            Some(mut connection) => {
                connection.is_reused = true;
                Ok(connection)
            }
            None => connect(self.config).await,
        }
    }

    /// Keeps the connection unless it broke, and turns the result into an outcome.
    async fn done<T>(&self, mut connection: Connection, doing: Doing, result: Result<T, Fault>) -> Result<T, Outcome> {
        if !matches!(result, Err(Fault::Lost(_))) {
            connection.is_reused = false;
            *self.connection.lock().await = Some(connection);
        }
        result.map_err(|fault| self.outcome(doing, fault))
    }

    /// Reads what the connection knows about the server; opens one if needed.
    pub(super) async fn look<T>(&self, look: impl FnOnce(&Connection) -> T) -> Result<T, Outcome> {
        let connection = self.take().await?;
        let seen = look(&connection);
        *self.connection.lock().await = Some(connection);
        Ok(seen)
    }

    fn outcome(&self, doing: Doing, fault: Fault) -> Outcome {
        let (name, doing) = (&self.config.folder.name, doing.words());
        match fault {
            Fault::Source(outcome) => outcome,
            Fault::Lost(code) => {
                let what = match code {
                    "no_answer" => "the server did not answer in time",
                    "not_understood" => "the server's answer is no SFTP",
                    _ => "the connection broke",
                };
                let reason = format!("destination `{name}`: cannot {doing}: {what}; it is tried again");
                Outcome::transient(Code::word(code), reason)
            }
            Fault::Status(number @ (status::NO_SPACE | status::QUOTA_EXCEEDED)) => Outcome::NoRoom(format!(
                "destination `{name}`: cannot {doing}: the server has no room (status {number}): free space there"
            )),
            Fault::Status(status::PERMISSION_DENIED) => Outcome::transient(
                Code::word("not_allowed"),
                format!(
                    "destination `{name}`: cannot {doing}: the server does not allow it (status 3): give its user the right there"
                ),
            ),
            Fault::Status(number) => Outcome::transient(
                Code::Status(u16::try_from(number).unwrap_or(u16::MAX)),
                format!(
                    "destination `{name}`: cannot {doing}: the server refuses (status {number}); it is tried again"
                ),
            ),
        }
    }

    async fn stat_once(&self, connection: &mut Connection, path: &str) -> Result<AtPath, Fault> {
        let session = &mut connection.session;
        let Some(found) = session.stat(path, false).await? else { return Ok(AtPath::Nothing) };
        Ok(match found.kind() {
            FOLDER => AtPath::Folder,
            FILE => found.size.map_or(AtPath::Unsized, AtPath::File),
            // A link to a folder counts as a folder; a link in the place of a file is never written through.
            LINK => match session.stat(path, true).await? {
                Some(target) if target.kind() == FOLDER => AtPath::Folder,
                _ => AtPath::Other,
            },
            _ => AtPath::Other,
        })
    }
}

/// The delivery or check is over: the connection waits for the next one.
impl Drop for Server<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.get_mut().take() {
            self.pool.give_back(connection);
        }
    }
}

#[async_trait]
impl Remote for Server<'_> {
    fn address(&self) -> String {
        super::address(self.config)
    }

    async fn stat(&self, path: &str) -> Result<AtPath, Outcome> {
        if let Some((_, found)) = self.looked().iter().find(|(looked, _)| looked == path) {
            return Ok(*found);
        }
        loop {
            let mut connection = self.take().await?;
            let found = self.stat_once(&mut connection, path).await;
            // Every delivery begins with a look: if the server ended a pooled connection meanwhile, that is no failure.
            if connection.is_reused && matches!(found, Err(Fault::Lost(_))) {
                continue;
            }
            return self.done(connection, Doing::Look, found).await;
        }
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Option<Digest>, Outcome> {
        let mut connection = self.take().await?;
        let read = connection.session.read(path, limit).await;
        self.done(connection, Doing::Read, read).await
    }

    async fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Outcome> {
        let mut connection = self.take().await?;
        let read = connection.session.content(path, limit).await;
        let content = self.done(connection, Doing::Read, read).await?;
        Ok(content.filter(|content| content.len() as u64 <= limit))
    }

    async fn list(&self, path: &str) -> Result<Option<Vec<Entry>>, Outcome> {
        let mut connection = self.take().await?;
        let names = connection.session.names(if path.is_empty() { "." } else { path }).await;
        let Some(names) = self.done(connection, Doing::Look, names).await? else { return Ok(None) };
        let files = names.into_iter().filter(|(name, attributes)| {
            attributes.kind() == FILE && ![".", ".."].contains(&name.as_str()) && !name.contains('/')
        });
        let files = files.map(|(name, of)| Entry { name, size: of.size, modified: of.modified.map(u64::from) });
        Ok(Some(files.collect()))
    }

    async fn changed(&self, path: &str) -> Result<Option<u64>, Outcome> {
        let mut connection = self.take().await?;
        let found = connection.session.stat(if path.is_empty() { "." } else { path }, true).await;
        let found = self.done(connection, Doing::Look, found).await?;
        Ok(found.and_then(|found| found.modified).map(u64::from))
    }

    async fn written(&self, path: &str) -> Result<Option<u64>, Outcome> {
        self.changed(path).await
    }

    async fn put(&self, path: &str, source: &mut Source) -> Result<bool, Outcome> {
        let size = source.digest().size;
        let mut connection = self.take().await?;
        let mut written = connection.session.write(path, source).await;
        if let Err(Fault::Status(number)) = &written
            && ![status::NO_SPACE, status::QUOTA_EXCEEDED].contains(number)
        {
            // SFTP version 3 has no status for a full disk. A piece may have been written: it is removed.
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
            let _ = connection.session.remove(path).await;
            if matches!(connection.session.free_bytes(folder).await, Ok(Some(free)) if free < size) {
                written = Err(Fault::Status(status::NO_SPACE));
            }
        }
        self.done(connection, Doing::Write, written).await
    }

    async fn rename_new(&self, from: &str, to: &str) -> Result<Renamed, Outcome> {
        let mut connection = self.take().await?;
        let (renamed, looks) = match connection.session.rename(from, to).await {
            Ok(answered) => answered,
            Err(lost) => return self.done(connection, Doing::Rename, Err(lost)).await,
        };
        let refused = renamed.map_err(|fault| (fault.clone(), self.outcome(Doing::Rename, fault)));
        self.done(connection, Doing::Rename, Ok(())).await?;
        match (refused, looks) {
            (Err((Fault::Status(status::NO_SUCH_FILE), refused)), _) => Ok(Renamed::Missing(refused)),
            (Err((_, refused)), _) => Ok(Renamed::Refused(refused)),
            (Ok(()), [Ok(None), Ok(Some(there))]) if there.kind() == FILE => {
                let there = there.size.map_or(AtPath::Unsized, AtPath::File);
                *self.looked() = vec![(from.to_owned(), AtPath::Nothing), (to.to_owned(), there)];
                Ok(Renamed::Done)
            }
            // A server that handles requests side by side may have looked before it renamed.
            (Ok(()), _) => Ok(Renamed::Done),
        }
    }

    async fn remove(&self, path: &str) -> Result<(), Outcome> {
        let mut connection = self.take().await?;
        let removed = connection.session.remove(path).await;
        self.done(connection, Doing::Remove, removed).await
    }

    async fn mkdir(&self, path: &str) -> Result<(), Outcome> {
        let mut connection = self.take().await?;
        let mut made = connection.session.mkdir(path).await;
        // Another delivery may have created it meanwhile.
        if matches!(made, Err(Fault::Status(_)))
            && matches!(self.stat_once(&mut connection, path).await, Ok(AtPath::Folder))
        {
            made = Ok(());
        }
        self.done(connection, Doing::MakeFolder, made).await
    }
}
