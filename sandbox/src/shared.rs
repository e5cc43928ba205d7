//! What all requests of a sandbox share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::describe::Version;
use crate::error::SandboxError;
use crate::fault::Faults;
use crate::invent::SeedConfig;
use crate::journal::Journal;
use crate::letters;
use crate::oauth::Oauth;
use crate::options::Options;
use crate::quirks::Quirks;
use crate::signed::Signer;
use crate::store::{Content, FileRow, Store};

pub(crate) struct Shared {
    pub store: Store,
    pub clock: Clock,
    pub faults: Faults,
    pub journal: Journal,
    pub quirks: Mutex<Quirks>,
    pub seed_config: SeedConfig,
    /// The options at the start, which a reset restores.
    pub begun_with: Options,
    pub api_address: SocketAddr,
    pub files_address: SocketAddr,
    /// Whether `pdf.url` leads to the files origin.
    pub files_elsewhere: bool,
    /// The version of requests that name none.
    pub api_version: Version,
    pub stop: CancellationToken,
    pub oauth: Oauth,
    /// Whether a request is refused if its access token lacks the endpoint's scope.
    pub enforce_scopes: bool,
    /// Signs file addresses.
    pub signer: Signer,
    /// How long an audio stays at each step, in microseconds; `None`: until a command moves it.
    pub workflow_step: Option<i64>,
    /// Wakes the sender: there may be new deliveries.
    pub deliveries: Notify,
    /// Wakes the workflow: there may be new audios.
    pub recordings: Notify,
}

impl Shared {
    pub fn quirks(&self) -> Quirks {
        self.quirks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn api_url(&self) -> String {
        format!("http://{}", self.api_address)
    }

    pub fn files_url(&self) -> String {
        format!("http://{}", self.files_address)
    }

    /// The identifier of something that a client creates.
    pub fn fresh_uuid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    /// A file's bytes; `None` when there is no such file.
    pub async fn file_bytes(&self, uuid: &str) -> Result<Option<Bytes>, SandboxError> {
        let wanted = uuid.to_owned();
        let content = self.store.run(move |transaction| FileRow::content(transaction, &wanted)).await?;
        Ok(match content {
            None => None,
            Some(Content::Bytes(bytes)) => Some(bytes.into()),
            Some(Content::Path(path)) => Some(read(uuid, path).await?),
            Some(Content::Recipe(recipe)) => Some(write(uuid, recipe).await?),
        })
    }

    /// A file's size as `pdf.size` shows it.
    pub async fn file_size(&self, file: &FileRow) -> Result<u64, SandboxError> {
        if let Some(known) = file.declared_size.or(file.size) {
            return Ok(known);
        }
        let bytes = self.file_bytes(&file.uuid).await?.unwrap_or_default();
        let size = bytes.len() as u64;
        let uuid = file.uuid.clone();
        self.store.run(move |transaction| FileRow::set_size(transaction, &uuid, size)).await?;
        Ok(size)
    }
}

async fn write(uuid: &str, recipe: String) -> Result<Bytes, SandboxError> {
    let made = tokio::task::spawn_blocking(move || {
        let brief: letters::Brief = serde_json::from_str(&recipe).map_err(|error| error.to_string())?;
        letters::write(&brief)
    })
    .await
    .map_err(|error| SandboxError::Interrupted(error.to_string()))?;
    made.map(Bytes::from).map_err(|reason| SandboxError::Pdf { uuid: uuid.to_owned(), reason })
}

async fn read(uuid: &str, path: PathBuf) -> Result<Bytes, SandboxError> {
    let read = tokio::task::spawn_blocking(move || std::fs::read(path))
        .await
        .map_err(|error| SandboxError::Interrupted(error.to_string()))?;
    read.map(Bytes::from).map_err(|error| SandboxError::Pdf { uuid: uuid.to_owned(), reason: error.to_string() })
}
