//! The credentials of an account's calls: its key, or the access token of its sign-in.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use secrecy::SecretString;

use super::secret::{self, CredentialError};
use super::signed_in::SignedIn;
use crate::api::{ApiError, Transport};
use crate::config::{Account, Auth};
use crate::domain::retry::RetryPolicy;
use crate::system::secret::FileStamp;

/// Authorizes a call.
#[derive(Debug, Clone)]
pub struct Bearer {
    /// The value for the `Authorization` header.
    pub(in crate::api) token: SecretString,
    /// NAME of the account if it signed in, for the message that asks a person to sign in again.
    pub(in crate::api) signed_in: Option<String>,
    /// The number of this token among the account's tokens.
    pub(super) serial: u64,
    /// Whether it replaces a token that the API refused.
    pub(super) again: bool,
}

impl Bearer {
    /// A new access token from the sign-in of the account of this NAME, for a call without its [`Credentials`].
    pub(in crate::api) fn just_issued(account: &str, token: &SecretString) -> Self {
        Self { token: token.clone(), signed_in: Some(account.to_owned()), serial: 0, again: true }
    }
}

/// The credentials of one account.
#[derive(Debug)]
pub struct Credentials(CredentialKind);

#[derive(Debug)]
enum CredentialKind {
    Key(Arc<Key>),
    SignedIn(Arc<SignedIn>),
}

/// An API key: read at the start, and read again while the account is paused.
#[derive(Debug)]
struct Key {
    account: Account,
    current: RwLock<Result<SecretString, CredentialError>>,
    seen: Mutex<FileStamp>,
}

impl Credentials {
    /// The credentials of the account. Its sign-in is stored beside the ledger. A key is read now, a sign-in on first
    /// use.
    pub fn new(transport: Transport, account: &Account, ledger: &Path, retry: RetryPolicy) -> Self {
        Self(match &account.auth {
            Auth::ApiKey(_) => CredentialKind::Key(Arc::new(Key::new(account))),
            Auth::OAuth(oauth) => CredentialKind::SignedIn(Arc::new(SignedIn::new(
                transport,
                &account.name,
                oauth.clone(),
                ledger,
                retry,
            ))),
        })
    }

    /// Whether the secret that the configuration names can be used. Does not check whether the account is signed in.
    ///
    /// # Errors
    /// The file of the secret is missing or cannot be used.
    pub fn configured(&self) -> Result<(), CredentialError> {
        match &self.0 {
            CredentialKind::Key(key) => key.current.read().unwrap_or_else(PoisonError::into_inner).clone().map(drop),
            CredentialKind::SignedIn(signed_in) => signed_in.configured(),
        }
    }

    /// The credentials for a call. A token that is about to expire is renewed first.
    ///
    /// # Errors
    /// [`ApiError::SignedOut`], [`ApiError::Credentials`] or [`ApiError::Refresh`] if there are none.
    pub async fn bearer(&self) -> Result<Bearer, ApiError> {
        match &self.0 {
            CredentialKind::Key(key) => key.bearer(),
            CredentialKind::SignedIn(signed_in) => signed_in.bearer().await,
        }
    }

    /// After a 401: other credentials to try once. `None` if there are none.
    ///
    /// # Errors
    /// As [`Self::bearer`].
    pub async fn refused(&self, bearer: &Bearer) -> Result<Option<Bearer>, ApiError> {
        match &self.0 {
            CredentialKind::SignedIn(signed_in) if !bearer.again => signed_in.refused(bearer).await,
            _ => Ok(None),
        }
    }

    /// Called before a paused account is tried again, since a person may have mended the file of its secret or signed
    /// in. If the key cannot be read, the old key stays.
    pub async fn read_again(&self) {
        match &self.0 {
            CredentialKind::Key(key) => {
                let key = Arc::clone(key);
                // Fails only when the runtime shuts down.
                let _ = tokio::task::spawn_blocking(move || key.read_again()).await;
            }
            CredentialKind::SignedIn(signed_in) => signed_in.try_at_once(),
        }
    }

    /// Checks whether the files of the credentials changed since they were last read. If so, reads them again. Blocks
    /// the thread while their disk or share does not answer.
    pub fn look(&self) -> bool {
        match &self.0 {
            CredentialKind::Key(key) if key.changed() => key.read_again(),
            CredentialKind::SignedIn(signed_in) if signed_in.changed() => signed_in.try_at_once(),
            _ => return false,
        }
        true
    }

    /// The files of the credentials.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.0 {
            CredentialKind::Key(key) => Key::files(&key.account),
            CredentialKind::SignedIn(signed_in) => signed_in.files(),
        }
    }

    /// The longest time that a renewal of a sign-in may take.
    pub fn longest_renewal(&self) -> Duration {
        match &self.0 {
            CredentialKind::SignedIn(signed_in) => signed_in.longest_renewal(),
            CredentialKind::Key(_) => Duration::ZERO,
        }
    }

    /// Waits for a renewal in progress: aborting it could lose the tokens that the server has just issued.
    pub async fn settle(&self) {
        if let CredentialKind::SignedIn(signed_in) = &self.0 {
            signed_in.settle().await;
        }
    }
}

impl Key {
    fn new(account: &Account) -> Self {
        let seen = Mutex::new(FileStamp::asked(&Self::files(account)));
        Self { account: account.clone(), current: RwLock::new(Self::read(account)), seen }
    }

    fn read(account: &Account) -> Result<SecretString, CredentialError> {
        let none = || CredentialError { account: account.name.clone(), what: "it has no key".to_owned() };
        secret::api_key(account)?.ok_or_else(none)
    }

    fn files(account: &Account) -> Vec<PathBuf> {
        match &account.auth {
            Auth::ApiKey(key) => secret::file(key).into_iter().collect(),
            Auth::OAuth(_) => Vec::new(),
        }
    }

    fn bearer(&self) -> Result<Bearer, ApiError> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Ok(token) => Ok(Bearer { token: token.clone(), signed_in: None, serial: 0, again: false }),
            Err(wrong) => Err(ApiError::Credentials(wrong.what.clone())),
        }
    }

    fn read_again(&self) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = FileStamp::asked(&Self::files(&self.account));
        let found = Self::read(&self.account);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if found.is_ok() || current.is_err() {
            *current = found;
        }
    }

    fn changed(&self) -> bool {
        FileStamp::of(&Self::files(&self.account)) != *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
