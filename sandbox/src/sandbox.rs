//! A running sandbox.

mod events;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::error::SandboxError;
use crate::fault::{Fault, FaultId, Faults};
use crate::invent::SeedConfig;
use crate::journal::{Journal, Listener, RequestRecord, StatusPost, View};
use crate::new_document::{DocumentSummary, NewDocument};
use crate::oauth::{AccessTokens, Account, Client, Oauth, TokenPair, issue_pair};
use crate::options::{ApiKey, DEFAULT_API_KEY, Options};
use crate::quirks::Quirks;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::signed::Signer;
use crate::store::{DocumentRow, Store, secret};
use crate::{admin, api, control, hooks, server, workflow};

/// The name under which the store keeps the key that signs access tokens.
const ACCESS_TOKEN_KEY: &str = "access tokens";

/// A running sandbox. It stops when it is dropped, or, waiting for open requests, with [`Sandbox::shutdown`].
///
/// Several can run in one process; those in memory share nothing.
pub struct Sandbox {
    shared: Arc<Shared>,
    admin_address: Option<SocketAddr>,
    app_address: Option<SocketAddr>,
    tasks: TaskTracker,
}

impl Sandbox {
    /// Opens the store, creates the documents, and serves as soon as it returns.
    ///
    /// # Errors
    /// When a socket or the store cannot be opened, or the folder of own PDFs is missing or empty.
    pub async fn start(mut options: Options) -> Result<Self, SandboxError> {
        if options.api_keys.is_empty() {
            options.api_keys.push(ApiKey::new(DEFAULT_API_KEY));
        }
        if options.clients.is_empty() {
            options.clients.push(Client::default());
        }
        options.clients.iter().try_for_each(Client::check)?;
        let store = Store::open(options.store.as_deref())?;
        let seed_config = SeedConfig {
            seed: options.seed,
            pdf_bytes: options.pdf_bytes,
            first_key: options.api_keys.first().map_or_else(|| DEFAULT_API_KEY.to_owned(), |key| key.key.clone()),
        };
        let clock = Clock::default();
        control::populate(&store, &seed_config, &options, clock.key()).await?;
        let history = store.run(StatusPost::all).await?;
        let signing_key = store.run(|transaction| secret(transaction, ACCESS_TOKEN_KEY)).await?;

        let (api_socket, api_address) = bind(options.listen).await?;
        let beside = SocketAddr::new(api_address.ip(), 0);
        let (files_socket, files_address) = bind(options.files_listen.unwrap_or(beside)).await?;
        let admin_socket = match options.admin_listen {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let app_socket = match options.app_listen {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let begun_with = options.clone();
        let oauth = Oauth {
            first_user: options.api_keys.first().map(|key| key.email.clone()).unwrap_or_default(),
            clients: options.clients,
            accounts: Mutex::new(accounts(&options.users, &options.api_keys)),
            access_token_lifetime: i64::try_from(options.access_token_lifetime.as_secs()).unwrap_or(i64::MAX),
            consent: options.consent,
            access_tokens: AccessTokens::new(format!("http://{api_address}"), &signing_key)?,
        };
        let signer = Signer::of(&store).await?;
        let shared = Arc::new(Shared {
            signer,
            store,
            clock,
            faults: Faults::new(options.seed, &options.faults),
            journal: Journal::new(history),
            quirks: Mutex::new(options.quirks),
            seed_config,
            begun_with,
            api_address,
            files_address,
            files_elsewhere: options.files_listen.is_some(),
            api_version: options.api_version,
            stop: CancellationToken::new(),
            oauth,
            enforce_scopes: options.enforce_scopes,
            deliveries: Notify::new(),
            recordings: Notify::new(),
            workflow_step: options.workflow_step.map(|step| i64::try_from(step.as_micros()).unwrap_or(i64::MAX)),
        });
        let sandbox = Self {
            admin_address: admin_socket.as_ref().map(|(_, address)| *address),
            app_address: app_socket.as_ref().map(|(_, address)| *address),
            tasks: TaskTracker::new(),
            shared,
        };
        let shared = &sandbox.shared;
        sandbox.serve(api_socket, Some(Listener::Api), api::routes(shared));
        sandbox.serve(files_socket, Some(Listener::Files), api::file_routes(shared));
        if let Some((socket, _)) = app_socket {
            sandbox.serve(socket, Some(Listener::App), api::page_routes(shared));
        }
        if let Some((socket, _)) = admin_socket {
            sandbox.serve(socket, None, admin::routes(shared));
        }
        sandbox.tasks.spawn(hooks::deliver(Arc::clone(shared)));
        sandbox.tasks.spawn(workflow::run(Arc::clone(shared)));
        Ok(sandbox)
    }

    fn serve(&self, socket: TcpListener, listener: Option<Listener>, router: axum::Router) {
        self.tasks.spawn(server::serve(Arc::clone(&self.shared), socket, listener, router, self.tasks.clone()));
    }

    /// The API's base URL, `http://ADDR` without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        self.shared.api_url()
    }

    /// The files origin, `http://ADDR`. `pdf.url` leads there only if [`Options::files_listen`] was given or the quirk
    /// [`crate::RedirectTarget::CrossOrigin`] is on.
    #[must_use]
    pub fn files_url(&self) -> String {
        self.shared.files_url()
    }

    /// The admin surface, `http://ADDR`, if it was asked for.
    #[must_use]
    pub fn admin_url(&self) -> Option<String> {
        self.admin_address.map(|address| format!("http://{address}"))
    }

    /// The address of the authorization page (`{app_url}/authorize`): [`Options::app_listen`] if given, otherwise the
    /// API's.
    #[must_use]
    pub fn app_url(&self) -> String {
        self.app_address.map_or_else(|| self.url(), |address| format!("http://{address}"))
    }

    /// The applications that may ask for authorization.
    #[must_use]
    pub fn clients(&self) -> &[Client] {
        &self.shared.oauth.clients
    }

    /// Signs a user in for the first application without the authorization page, as if the person had approved these
    /// scopes.
    ///
    /// # Errors
    /// When no user has this email address, a scope is none, or the store fails.
    pub async fn sign_in(&self, email: &str, scopes: &[&str]) -> Result<TokenPair, SandboxError> {
        let scopes = Scopes::parse(&scopes.join(" ")).map_err(|scope| SandboxError::UnknownScope { scope })?;
        let client = self.clients().first().cloned().unwrap_or_default();
        issue_pair(&self.shared, &self.quirks(), &client, email, &scopes).await
    }

    /// Moves the sandbox's clock forward. Whatever expires or becomes due by then does.
    pub fn advance_clock(&self, by: Duration) {
        self.shared.clock.advance(i64::try_from(by.as_micros()).unwrap_or(i64::MAX));
    }

    /// The first API key.
    #[must_use]
    pub fn api_key(&self) -> &str {
        &self.shared.seed_config.first_key
    }

    /// Stops accepting connections, gives open requests half a second, and returns when all sockets are closed.
    pub async fn shutdown(self) {
        self.shared.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Adds invented documents, the newest last; returns their uuids.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn add_documents(&self, count: usize) -> Result<Vec<String>, SandboxError> {
        control::add_documents(&self.shared, count).await
    }

    /// Adds one document and returns its uuid.
    ///
    /// # Errors
    /// When its uuid is taken, its owner's key unknown, or the store fails.
    pub async fn add(&self, document: NewDocument) -> Result<String, SandboxError> {
        control::add(&self.shared, document).await
    }

    /// Gives a document another file: `pdf.uuid` and `updatedAt` change, the old file's address answers 404. Returns
    /// the new PDF's uuid.
    ///
    /// # Errors
    /// When there is no such document or the store fails.
    pub async fn replace_pdf(&self, uuid: &str, bytes: Vec<u8>) -> Result<String, SandboxError> {
        control::set_pdf(&self.shared, uuid, bytes).await
    }

    /// Gives a document that had `pdf: null` its file. Returns the PDF's uuid.
    ///
    /// # Errors
    /// When there is no such document or the store fails.
    pub async fn set_pdf(&self, uuid: &str, bytes: Vec<u8>) -> Result<String, SandboxError> {
        control::set_pdf(&self.shared, uuid, bytes).await
    }

    /// Withdraws a document: from now on it is 404, and so is its file.
    ///
    /// # Errors
    /// When there is no such document or the store fails.
    pub async fn remove(&self, uuid: &str) -> Result<(), SandboxError> {
        control::remove(&self.shared, uuid).await
    }

    /// Corrects a document's patient: it is the one of the document `other` from now on. Its PDF stays.
    ///
    /// # Errors
    /// When there is no such document or the store fails.
    pub async fn set_patient_of(&self, uuid: &str, other: &str) -> Result<(), SandboxError> {
        control::set_patient_of(&self.shared, uuid, other).await
    }

    /// Makes a document appear in `synchronized=false` (`true`), as when a person requests it again, or disappear
    /// (`false`).
    ///
    /// # Errors
    /// When there is no such document or the store fails.
    pub async fn set_listed(&self, uuid: &str, listed: bool) -> Result<(), SandboxError> {
        control::set_listed(&self.shared, uuid, listed).await
    }

    /// Restores the state of the start: documents, users, faults, quirks, the clock, and what was seen. Access tokens
    /// stay valid, because they contain their user.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reset(&self) -> Result<(), SandboxError> {
        control::reset(&self.shared).await
    }

    /// The bytes of a document's file.
    ///
    /// # Errors
    /// When there is no such document, it has no file, or the store fails.
    pub async fn pdf_bytes(&self, uuid: &str) -> Result<Vec<u8>, SandboxError> {
        control::pdf_bytes(&self.shared, uuid).await
    }

    /// All documents of all users, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn documents(&self) -> Result<Vec<DocumentSummary>, SandboxError> {
        control::documents(&self.shared, self.quirks().date_format).await
    }

    /// How many documents there are, of all users.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn document_count(&self) -> Result<u64, SandboxError> {
        self.shared.store.run(DocumentRow::count).await
    }

    /// Every accepted status post, oldest first, including those before a restart with the same store.
    #[must_use]
    pub fn status_posts(&self) -> Vec<StatusPost> {
        self.look(|view| view.status_posts().cloned().collect())
    }

    /// Every request so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.look(|view| view.requests().cloned().collect())
    }

    /// Forgets the requests so far, so that a test can count from here.
    pub fn forget_requests(&self) {
        self.shared.journal.forget_requests();
    }

    /// Looks at requests and status posts without copying them.
    pub fn look<T>(&self, look: impl FnOnce(&View) -> T) -> T {
        self.shared.journal.read(look)
    }

    /// Waits until the condition holds for what was seen. Checks it after every request and every status post.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub async fn wait_for(&self, condition: impl Fn(&View) -> bool, timeout: Duration) -> Result<(), SandboxError> {
        let mut bell = self.shared.journal.listen();
        let wait = async {
            loop {
                bell.mark_unchanged();
                if self.shared.journal.read(&condition) {
                    return;
                }
                if bell.changed().await.is_err() {
                    return; // cannot be: the sender lives in self
                }
            }
        };
        tokio::time::timeout(timeout, wait).await.map_err(|_| SandboxError::TimedOut(timeout))
    }

    /// The quirks in force.
    #[must_use]
    pub fn quirks(&self) -> Quirks {
        self.shared.quirks()
    }

    /// Replaces the quirks, from the next request on.
    pub fn set_quirks(&self, quirks: Quirks) {
        *self.shared.quirks.lock().unwrap_or_else(PoisonError::into_inner) = quirks;
    }

    /// Puts a fault in force. If several match a request, the first injected one is applied.
    pub fn inject(&self, fault: Fault) -> FaultId {
        self.shared.faults.inject(fault)
    }

    /// Ends one fault.
    pub fn remove_fault(&self, id: FaultId) {
        self.shared.faults.remove(id);
    }

    /// Ends all faults. Requests that a fault already holds stay held.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

/// Everybody who was named, each once, with the given password if there is one.
pub(crate) fn accounts(users: &[Account], api_keys: &[ApiKey]) -> Vec<Account> {
    let mut accounts: Vec<Account> = Vec::new();
    let of_keys = api_keys.iter().map(|key| Account::new(&key.email));
    for account in users.iter().cloned().chain(of_keys) {
        if !accounts.iter().any(|known| known.email.eq_ignore_ascii_case(&account.email)) {
            accounts.push(account);
        }
    }
    accounts
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), SandboxError> {
    let refuse = |source| SandboxError::Listen { address, source };
    let socket = TcpListener::bind(address).await.map_err(refuse)?;
    let bound = socket.local_addr().map_err(refuse)?;
    Ok((socket, bound))
}
