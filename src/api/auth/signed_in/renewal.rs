//! One renewal: the file, the lock, the file again, the server's answer, the disk, and then the first use.

use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret as _;
use tokio::time::Instant;

use super::{CachedTokens, Fingerprint, SignedIn, Turn, fingerprint};
use crate::api::ApiError;
use crate::api::auth::endpoint::{self, TokenError};
use crate::api::auth::{TokenLock, TokenStoreError, Tokens};

/// The most calls to the token endpoint in one renewal. The second follows if the reply to the first was lost.
const MOST_CALLS: u32 = 2;
/// The time for a renewal's file work on a slow disk, in addition to its calls.
const GRACE: Duration = Duration::from_secs(15);

impl SignedIn {
    /// The longest time that a renewal may take, here or in another process.
    pub fn longest_renewal(&self) -> Duration {
        self.transport.timeout * MOST_CALLS + GRACE
    }

    pub(super) async fn attempt(
        self: &Arc<Self>,
        turn: &mut Turn,
        refused: Option<u64>,
    ) -> Result<CachedTokens, ApiError> {
        // The tokens in the file may be enough: after the start, a login, or another process's renewal. That needs no
        // lock. But if a save failed, the file may hold tokens that are not safely on disk, so they are saved again
        // first.
        if turn.unsaved.is_none() {
            let found = self.blocking(|this| this.load()).await?;
            if let Some(held) = self.adopt(self.some(found)?, refused).await? {
                return Ok(held);
            }
        }
        let limit = self.longest_renewal();
        let (lock, found) = self
            .blocking(move |this| {
                let lock = this.store.lock_within(limit).map_err(|error| this.of_store(&error))?;
                Ok((lock, this.load()?))
            })
            .await?;
        let found = self.some(found)?;
        let current = fingerprint(&found.refresh_token);
        let ours = |from: Fingerprint, new: &Tokens| current == from || current == fingerprint(&new.refresh_token);
        if let Some((from, tokens, asked)) = turn.unsaved.take_if(|(from, new, _)| ours(*from, new)) {
            return self.save(turn, lock, from, tokens, asked).await;
        }
        // Somebody has signed in again meanwhile.
        turn.unsaved = None;
        if let Some(held) = self.adopt(found.clone(), refused).await? {
            return Ok(held);
        }
        if turn.dead == Some(current) {
            return Err(self.signed_out(turn, current));
        }
        // The server's answer invalidates the old token, so check first that the disk can take the next one.
        let tokens = found.clone();
        let lock = self
            .blocking(move |this| {
                this.store.rehearse(&lock, &tokens).map_err(|error| this.of_store(&error))?;
                Ok(lock)
            })
            .await?;
        fault_point!("token.refresh.before");
        match self.exchange(turn, &found, current).await {
            Ok((mut tokens, asked)) => {
                fault_point!("token.refresh.after");
                tokens.user = found.user;
                if tokens.scopes.is_empty() {
                    tokens.scopes = found.scopes;
                }
                self.save(turn, lock, current, tokens, asked).await
            }
            Err(TokenError::Refused { error }) if error == "invalid_grant" => {
                // Under the lock, only a program that does not know the lock can have changed the file.
                let found = self.blocking(move |this| this.load().map(|found| (found, lock))).await?.0;
                if let Some(found) = found.filter(|found| fingerprint(&found.refresh_token) != current) {
                    return self.take_over(found).await;
                }
                turn.dead = Some(current);
                Err(self.signed_out(turn, current))
            }
            Err(error) => Err(self.of_refusal(error)),
        }
    }

    /// Asks the server for the next tokens; returns them with the time of the request. Some servers accept an old
    /// refresh token for a short grace window. So if a reply was lost, docsyncd asks again at once: after a pause, or
    /// after the end of a command, the window would be over.
    async fn exchange(
        &self,
        turn: &mut Turn,
        old: &Tokens,
        current: Fingerprint,
    ) -> Result<(Tokens, Instant), TokenError> {
        let mut calls = 0;
        loop {
            let asked = Instant::now();
            calls += 1;
            let error = match endpoint::refresh(&self.transport, &self.account, &self.oauth, &old.refresh_token).await {
                Ok(tokens) => return Ok((tokens, asked)),
                Err(error) => error,
            };
            if error.is_reply_lost() {
                turn.lost = Some(current);
            }
            if calls >= MOST_CALLS || !error.is_broken_off() {
                return Err(error);
            }
            tracing::debug!(
                event = "refresh_again",
                account = self.account,
                "the reply to a refresh was lost: {error}"
            );
        }
    }

    /// Stores the tokens, then uses them. Tokens that could not be stored are kept, and stored later.
    async fn save(
        self: &Arc<Self>,
        turn: &mut Turn,
        lock: TokenLock,
        from: Fingerprint,
        tokens: Tokens,
        asked: Instant,
    ) -> Result<CachedTokens, ApiError> {
        let new = tokens.clone();
        let saved = self
            .blocking(move |this| {
                this.store.save(&lock, &new).map_err(|error| this.of_store(&error))?;
                this.look();
                Ok(())
            })
            .await;
        if let Err(error) = saved {
            turn.unsaved = Some((from, tokens, asked));
            return Err(error);
        }
        fault_point!("token.first_use.before");
        (turn.lost, turn.dead) = (None, None);
        tracing::debug!(event = "token_refreshed", account = self.account, "the access token was renewed");
        Ok(self.hold(CachedTokens::renewed(tokens, self.next_serial(), asked)))
    }

    /// Takes over tokens that differ from those in use. `None` if the tokens are the same and refused, or are due.
    async fn adopt(self: &Arc<Self>, found: Tokens, refused: Option<u64>) -> Result<Option<CachedTokens>, ApiError> {
        let same = |held: &CachedTokens| {
            fingerprint(&held.tokens.refresh_token) == fingerprint(&found.refresh_token)
                && held.tokens.access_token.expose_secret() == found.access_token.expose_secret()
        };
        if let Some(held) = self.held().filter(same) {
            let refused = refused == Some(held.serial);
            return Ok((!refused && !held.is_due()).then_some(held));
        }
        let held = self.take_over(found).await?;
        Ok((!held.is_due()).then_some(held))
    }

    /// Uses the tokens in the file. The process that wrote them may have died, or got an error, before the file's name
    /// was on disk, so the name is forced to disk before the first use.
    async fn take_over(self: &Arc<Self>, found: Tokens) -> Result<CachedTokens, ApiError> {
        self.blocking(|this| this.store.settle().map_err(|error| this.of_store(&error))).await?;
        Ok(self.hold(CachedTokens::of_file(found, self.next_serial())))
    }

    pub(super) fn of_store(&self, error: &TokenStoreError) -> ApiError {
        match error {
            TokenStoreError::Busy { .. } => self.passing(error.to_string(), None),
            TokenStoreError::Access { .. } | TokenStoreError::Damaged { .. } => {
                ApiError::Credentials(error.to_string())
            }
        }
    }

    fn of_refusal(&self, error: TokenError) -> ApiError {
        let name = &self.account;
        match error {
            TokenError::Network(error) => self.passing(error.to_string(), error.retry_after()),
            TokenError::Shape(_) => self.passing(error.to_string(), None),
            TokenError::Secret(wrong) => ApiError::Credentials(wrong.what),
            TokenError::Refused { error } => ApiError::Credentials(format!(
                "the API refuses to renew the access of account {name} ({error}): check accounts.{name}.client_id and \
                 its client secret"
            )),
        }
    }

    fn signed_out(&self, turn: &Turn, current: Fingerprint) -> ApiError {
        let why = if turn.lost == Some(current) {
            "the reply to an earlier refresh was lost, and the API takes the old token no more"
        } else {
            "the API takes its refresh token no more: revoked, expired, or used elsewhere"
        };
        ApiError::SignedOut { account: self.account.clone(), why }
    }
}
