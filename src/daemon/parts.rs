//! What a daemon is made of, apart from its ledger. Built from a configuration, or put together by the simulation.

use std::collections::BTreeMap;

use tokio::task::{JoinHandle, spawn_blocking};

use super::DaemonError;
use crate::api::auth::CredentialError;
use crate::api::{Api, Client, Transport};
use crate::config::{Account, Config};
use crate::destinations::{self, Adapter};
use crate::domain::failure::Patience;
use crate::patients::Patients;
use crate::pipeline::{Limits, Numbers, Rules, Spool};
use crate::system::answering::some_hang;

/// The edges of a daemon, and the rules that it follows.
pub struct Parts {
    /// The API as each account sees it, by NAME.
    pub clients: BTreeMap<String, Box<dyn Api>>,
    /// The destinations, by NAME.
    pub adapters: BTreeMap<String, Box<dyn Adapter>>,
    /// The spool.
    pub spool: Spool,
    /// The practice's list of patients, if there is one.
    pub numbers: Option<Numbers>,
    /// What the configuration says.
    pub rules: Rules,
}

impl Parts {
    /// Builds the parts that the configuration describes. Connects to nothing; creates the spool's folder.
    ///
    /// # Errors
    /// [`DaemonError`]
    pub fn of(config: &Config, transport: &Transport) -> Result<Self, DaemonError> {
        destinations::prepare(config);
        let clients = clients(transport, config)?;
        let destinations = config.destinations.values();
        Ok(Self {
            clients: clients.into_iter().map(|(name, client)| (name, Box::new(client) as Box<dyn Api>)).collect(),
            adapters: destinations.map(|d| (d.name.clone(), destinations::build(d, &config.state.path))).collect(),
            spool: Spool::beside(&config.state.path)
                .map_err(|error| DaemonError::Spool { folder: Spool::folder_beside(&config.state.path), error })?,
            numbers: config.patients.as_ref().map(|patients| {
                let needing = config.destinations.values().filter(|to| to.needs_number);
                Numbers::new(Patients::default(), needing.map(|to| to.name.clone()).collect(), patients.push)
            }),
            rules: Rules {
                routes: config.routes.clone(),
                confirm_within: config
                    .destinations
                    .values()
                    .filter_map(|to| Some((to.name.clone(), to.confirm()?.within)))
                    .collect(),
                retry: config.retry.clone(),
                limits: Limits {
                    poll_interval: config.sync.poll_interval,
                    reconcile_interval: config.sync.reconcile_interval,
                    max_concurrency: config.sync.max_concurrency,
                    max_pdf_bytes: config.sync.max_pdf_bytes,
                    patience: Patience { give_up_after: config.sync.give_up_after, pdf_grace: config.sync.pdf_grace },
                    keep_history: config.state.keep_history,
                    keep_names: config.state.keep_names,
                    spool_limit: config.state.spool_limit,
                },
            },
        })
    }
}

/// The transport to the API while it is built. Reading the system's certificate authorities takes about as long as
/// opening the ledger, so a start does both at once.
#[derive(Debug)]
pub struct Connecting(JoinHandle<Result<Transport, String>>);

impl Connecting {
    /// Begins on a thread for blocking work. Needs tokio's runtime.
    pub fn begin(config: &Config) -> Self {
        let api = config.api.clone();
        Self(spawn_blocking(move || Transport::new(&api)))
    }

    pub(super) async fn ready(self) -> Result<Transport, DaemonError> {
        let ended = self.0.await.unwrap_or_else(|panicked| Err(panicked.to_string()));
        ended.map_err(DaemonError::Transport)
    }
}

/// Checks that every destination has its secrets, as a start requires. Once the daemon runs, a destination without its
/// secret asks for it again and again.
///
/// # Errors
/// What is wrong with the first destination that lacks a secret.
pub(super) fn secrets_of_destinations(config: &Config) -> Result<(), DaemonError> {
    match config.destinations.values().find_map(destinations::unusable) {
        // Its secret may be readable later, and the other destinations need not wait for it.
        Some(_) if some_hang() => Ok(()),
        Some(wrong) => Err(DaemonError::Destination(wrong)),
        None => Ok(()),
    }
}

/// The API as this account sees it.
pub fn client(transport: &Transport, config: &Config, account: &Account) -> Client {
    Client::new(transport.clone(), account, &config.state.path, config.retry.clone())
}

/// The API as every account sees it, by NAME. An account whose key or secret cannot be used is among them: it is paused
/// until somebody mends that.
///
/// # Errors
/// What is wrong with the first account, if none can be used.
pub(super) fn clients(transport: &Transport, config: &Config) -> Result<BTreeMap<String, Client>, CredentialError> {
    let clients: BTreeMap<String, Client> =
        config.accounts.values().map(|account| (account.name.clone(), client(transport, config, account))).collect();
    let mut wrong = clients.values().map(|client| client.credentials().configured());
    match wrong.next() {
        // Accounts whose files only do not answer may be readable later.
        Some(Err(first)) if wrong.all(|configured| configured.is_err()) && !some_hang() => Err(first),
        _ => Ok(clients),
    }
}
