//! An account that signed in: its access token is renewed in time, by one caller at a time, also across processes.
//!
//! A renewal keeps this order: the server's answer, then the disk, then the first use. It runs as its own task, so that
//! a caller that goes away (an abandoned poll, a call that timed out) does not interrupt it.

mod renewal;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;

use super::cached_tokens::CachedTokens;
use super::credentials::Bearer;
use super::secret::{self, CredentialError, client_secret};
use super::{TokenStore, Tokens};
use crate::api::{ApiError, Transport};
use crate::config::OAuthConfig;
use crate::domain::retry::RetryPolicy;
use crate::system::secret::FileStamp;

/// The digest of a refresh token.
type Fingerprint = [u8; 32];

/// The sign-in of one account.
#[derive(Debug)]
pub(super) struct SignedIn {
    account: String,
    oauth: OAuthConfig,
    transport: Transport,
    store: TokenStore,
    retry: RetryPolicy,
    /// The tokens for calls. Only the caller that holds `turn` writes it.
    held: RwLock<Option<CachedTokens>>,
    serials: AtomicU64,
    turn: Arc<AsyncMutex<Turn>>,
    /// The stamp of the files when they were last read.
    seen: Mutex<FileStamp>,
    /// Whether the next renewal skips the backoff.
    at_once: AtomicBool,
}

/// What renewals in this process must know of earlier ones.
#[derive(Debug, Default)]
struct Turn {
    /// The number of failed renewals in a row, the last error, and when the next renewal may be tried.
    failed: Option<(u32, ApiError, Instant)>,
    /// The refresh token that the server rejects, so that it is not sent again. Nothing is deleted.
    dead: Option<Fingerprint>,
    /// The refresh token that was sent without an answer: the server may have used it up.
    lost: Option<Fingerprint>,
    /// Tokens that could not be stored, with the refresh token that they came from. They are not used until they are
    /// stored.
    unsaved: Option<(Fingerprint, Tokens, Instant)>,
    /// The number of new access tokens in a row that the API refused.
    rejected: u32,
}

impl SignedIn {
    pub fn new(transport: Transport, account: &str, oauth: OAuthConfig, ledger: &Path, retry: RetryPolicy) -> Self {
        Self {
            account: account.to_owned(),
            store: TokenStore::new(ledger, account),
            oauth,
            transport,
            retry,
            held: RwLock::new(None),
            serials: AtomicU64::new(0),
            turn: Arc::default(),
            seen: Mutex::default(),
            at_once: AtomicBool::new(false),
        }
    }

    pub fn configured(&self) -> Result<(), CredentialError> {
        client_secret(&self.account, &self.oauth).map(drop)
    }

    pub async fn bearer(self: &Arc<Self>) -> Result<Bearer, ApiError> {
        let held = self.held();
        // Until the files have been read again, the held tokens may be another person's, or lack a scope: no call uses
        // them.
        let read_again = self.at_once.load(Ordering::Relaxed);
        if let Some(held) = held.as_ref().filter(|held| !held.is_due() && !read_again) {
            return Ok(self.bearer_of(held, false));
        }
        let usable = held.filter(|held| held.is_good() && !read_again);
        let turn = match (usable, Arc::clone(&self.turn).try_lock_owned()) {
            (_, Ok(turn)) => turn,
            // Another caller renews the token, which still works.
            (Some(held), Err(_)) => return Ok(self.bearer_of(&held, false)),
            (None, Err(_)) => Arc::clone(&self.turn).lock_owned().await,
        };
        let renewed = self.renew(turn, None).await;
        // While the old token works, a failed renewal fails no call.
        let held = renewed.or_else(|error| self.held().filter(CachedTokens::is_good).ok_or(error))?;
        Ok(self.bearer_of(&held, false))
    }

    pub async fn refused(self: &Arc<Self>, bearer: &Bearer) -> Result<Option<Bearer>, ApiError> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        match self.renew(turn, Some(bearer.serial)).await {
            // Tokens from the file may be as old as the refused ones, so a refusal of them does not count against the
            // sign-in yet.
            Ok(held) => Ok(Some(self.bearer_of(&held, held.renewed.is_some()))),
            Err(ApiError::Unauthorized { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn try_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }

    /// Whether the files changed since they were last read; false if they never were. Looks at the disk.
    pub fn changed(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen != FileStamp::default() && self.stamp() != seen
    }

    /// Waits for the caller that holds `turn`. Tries once more to store tokens that exist only in memory.
    pub async fn settle(self: &Arc<Self>) {
        let mut turn = Arc::clone(&self.turn).lock_owned().await;
        if turn.unsaved.is_some()
            && let Err(error) = self.attempt(&mut turn, None).await
        {
            tracing::error!(
                event = "refresh_failed",
                account = self.account,
                "new tokens could not be stored: {error}"
            );
        }
    }

    /// Whether [`Self::try_at_once`] was called and the files have changed: a login may have given more scopes, also to
    /// an account whose token works.
    async fn is_to_read_again(self: &Arc<Self>) -> bool {
        if !self.at_once.load(Ordering::Relaxed) {
            return false;
        }
        let changed = self.has_changed().await;
        if !changed && self.held().is_some_and(|held| !held.is_due()) {
            self.at_once.store(false, Ordering::Relaxed);
        }
        changed
    }

    /// As [`Self::changed`], on a thread that may block on the disk.
    async fn has_changed(self: &Arc<Self>) -> bool {
        self.blocking(|this| Ok(this.changed())).await.unwrap_or(false)
    }

    fn held(&self) -> Option<CachedTokens> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold(&self, held: CachedTokens) -> CachedTokens {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held.clone());
        held
    }

    fn bearer_of(&self, held: &CachedTokens, again: bool) -> Bearer {
        let token = held.tokens.access_token.clone();
        Bearer { token, signed_in: Some(self.account.clone()), serial: held.serial, again }
    }

    fn next_serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub fn files(&self) -> Vec<PathBuf> {
        [Some(self.store.path()), secret::file(&self.oauth.client_secret)].into_iter().flatten().collect()
    }

    fn stamp(&self) -> FileStamp {
        FileStamp::of(&self.files())
    }

    /// Returns tokens that are not due; after a refusal, tokens other than those with the refused serial.
    async fn renew(
        self: &Arc<Self>,
        mut turn: OwnedMutexGuard<Turn>,
        refused: Option<u64>,
    ) -> Result<CachedTokens, ApiError> {
        let this = Arc::clone(self);
        let task = tokio::spawn(async move { this.take_turn(&mut turn, refused).await });
        task.await.unwrap_or_else(|error| Err(self.passing(format!("internal error: {error}"), None)))
    }

    async fn take_turn(self: &Arc<Self>, turn: &mut Turn, refused: Option<u64>) -> Result<CachedTokens, ApiError> {
        let read_again = refused.is_none() && self.is_to_read_again().await;
        if let Some(held) = self.held().filter(|_| !read_again) {
            let done = refused.map_or(!held.is_due(), |serial| held.serial != serial);
            if done {
                return Ok(held);
            }
            if refused.is_some() && !held.is_due() {
                // A new token that is refused nevertheless: the next one would be refused, too.
                let pause = self.retry.bound(turn.rejected.max(1));
                if held.is_young() && held.renewed.is_some_and(|at| at.elapsed() < pause) {
                    return Err(ApiError::Unauthorized { signed_in: None });
                }
                turn.rejected = if held.is_young() { turn.rejected.saturating_add(1) } else { 0 };
            } else {
                turn.rejected = 0;
            }
        }
        if let Some((_, error, not_before)) = &turn.failed
            && let Some(wait) = not_before.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
            && !self.at_once.load(Ordering::Relaxed)
            && !self.has_changed().await
        {
            return Err(error.clone().with_retry_after(wait));
        }
        let result = self.attempt(turn, refused).await;
        self.at_once.store(false, Ordering::Relaxed);
        match &result {
            Ok(_) => turn.failed = None,
            Err(error) => {
                let attempts = turn.failed.as_ref().map_or(1, |(attempts, ..)| attempts.saturating_add(1));
                let wait = self.retry.delay(attempts, error.retry_after());
                let account = &self.account;
                if attempts == 1 {
                    tracing::warn!(event = "refresh_failed", account, "the access token was not renewed: {error}");
                } else {
                    tracing::debug!(event = "refresh_failed", account, attempt = attempts, "{error}");
                }
                turn.failed = Some((attempts, error.clone(), Instant::now() + wait));
            }
        }
        result
    }

    /// Remembers the current stamp of the files.
    fn look(&self) {
        let now = self.stamp();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn load(&self) -> Result<Option<Tokens>, ApiError> {
        self.look();
        self.store.load().map_err(|error| self.of_store(&error))
    }

    fn some(&self, found: Option<Tokens>) -> Result<Tokens, ApiError> {
        found.ok_or_else(|| {
            // The account was logged out: its tokens are not used any more.
            *self.held.write().unwrap_or_else(PoisonError::into_inner) = None;
            ApiError::SignedOut { account: self.account.clone(), why: "nobody has signed in" }
        })
    }

    /// Does file work on a thread that may block.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let this = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&this))
            .await
            .unwrap_or_else(|error| Err(self.passing(format!("internal error: {error}"), None)))
    }

    fn passing(&self, what: String, retry_after: Option<Duration>) -> ApiError {
        ApiError::Refresh { account: self.account.clone(), what, retry_after }
    }
}

fn fingerprint(token: &SecretString) -> Fingerprint {
    Sha256::digest(token.expose_secret()).into()
}
