//! Decides about codes and refresh tokens. Each decision and its effect are one transaction.

use std::time::Duration;

use rusqlite::Transaction;

use super::Client;
use super::access_token::Grant;
use super::secret::{fingerprint, random_text, same};
use super::token::TokenError;
use crate::error::SandboxError;
use crate::quirks::Quirks;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::store::{CodeRow, RefreshRow, UserRow};

/// How long a refresh token lives; "not shown". A month is usual in the family.
const REFRESH_TOKEN_LIFETIME: i64 = 30 * 24 * 3600 * 1_000_000;

/// An access token and the refresh token that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenPair {
    /// A JWT for the `Authorization` header.
    pub access_token: String,
    /// What `POST /oauth2/token` exchanges for the next pair, once.
    pub refresh_token: String,
    /// How long the access token works.
    pub expires_in: Duration,
    /// The granted scopes, if they are fewer than the application asked for (RFC 6749, section 5.1).
    pub(crate) narrowed_to: Option<String>,
}

/// The request that redeems a code.
pub(super) struct CodeExchange {
    pub code: String,
    pub redirect_uri: String,
    pub code_verifier: Option<String>,
}

/// Whom new tokens are for.
struct Holder {
    user_id: i64,
    client_id: String,
    scopes: String,
    family: String,
}

pub(super) async fn redeem_code(
    shared: &Shared,
    quirks: &Quirks,
    client: &Client,
    exchange: CodeExchange,
) -> Result<TokenPair, TokenError> {
    let now = shared.clock.key();
    let client_id = client.client_id.clone();
    let refresh_token = random_text()?;
    let next = fingerprint(&refresh_token);
    // A refusal is a result and no error, because its revocation has to be committed.
    let decided = shared
        .store
        .run(move |transaction| {
            let Some(code) = CodeRow::find(transaction, &fingerprint(&exchange.code))? else {
                return Ok(Err(TokenError::grant("The authorization code is unknown.")));
            };
            if code.used.is_some() {
                // The second user of a code may be its thief or its owner (RFC 6749, section 4.1.2).
                RefreshRow::revoke_family(transaction, &code.code_sha256)?;
                return Ok(Err(TokenError::grant(
                    "The authorization code was used before; the refresh tokens that came from it are revoked.",
                )));
            }
            if let Err(refusal) = code_fits(&code, &client_id, &exchange, now) {
                return Ok(Err(refusal));
            }
            code.mark_used(transaction, now)?;
            let narrowed_to = code.narrowed.then(|| code.scopes.clone());
            let holder = Holder { user_id: code.user_id, client_id, scopes: code.scopes, family: code.code_sha256 };
            insert_refresh_token(transaction, &holder, next, now)?;
            let user = uuid_of(transaction, &holder)?;
            Ok(Ok((holder, user, narrowed_to)))
        })
        .await??;
    let (holder, user, narrowed_to) = decided;
    let pair = pair(shared, quirks, &holder, &user, refresh_token)?;
    Ok(TokenPair { narrowed_to, ..pair })
}

/// A code is bound to everything in its request (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
fn code_fits(code: &CodeRow, client_id: &str, exchange: &CodeExchange, now: i64) -> Result<(), TokenError> {
    if now >= code.expires {
        return Err(TokenError::grant("The authorization code has expired; it is valid for 60 seconds."));
    }
    if code.client_id != client_id {
        return Err(TokenError::grant("The authorization code was issued to another client."));
    }
    if code.redirect_uri != exchange.redirect_uri {
        return Err(TokenError::grant("redirect_uri is not the one that the authorization code was asked for with."));
    }
    match (&code.code_challenge, &exchange.code_verifier) {
        (None, None) => Ok(()),
        (Some(challenge), Some(verifier)) if same(challenge, &fingerprint(verifier)) => Ok(()),
        (Some(_), Some(_)) => Err(TokenError::grant("code_verifier does not match the code_challenge.")),
        (Some(_), None) => Err(TokenError::request(
            "Missing parameter: code_verifier. The authorization code was asked for with a code_challenge.",
        )),
        (None, Some(_)) => Err(TokenError::grant(
            "code_verifier was sent, but the authorization code was asked for without a code_challenge.",
        )),
    }
}

/// The old token ends in the transaction that creates the new one.
pub(super) async fn refresh(
    shared: &Shared,
    quirks: &Quirks,
    client: &Client,
    old_token: &str,
) -> Result<TokenPair, TokenError> {
    let now = shared.clock.key();
    let grace = quirks.refresh_grace.map(|grace| i64::try_from(grace.as_micros()).unwrap_or(i64::MAX));
    let client_id = client.client_id.clone();
    let old = fingerprint(old_token);
    let refresh_token = random_text()?;
    let next = fingerprint(&refresh_token);
    let decided = shared
        .store
        .run(move |transaction| {
            let Some(old) = RefreshRow::find(transaction, &old)? else {
                return Ok(Err(TokenError::grant("The refresh token is unknown or was revoked.")));
            };
            if old.client_id != client_id {
                return Ok(Err(TokenError::grant("The refresh token was issued to another client.")));
            }
            if now.saturating_sub(old.created) >= REFRESH_TOKEN_LIFETIME {
                return Ok(Err(TokenError::grant("The refresh token has expired.")));
            }
            let in_grace = |used: i64| grace.is_some_and(|grace| now.saturating_sub(used) < grace);
            if old.used.is_some_and(|used| !in_grace(used)) {
                return Ok(Err(TokenError::grant(
                    "The refresh token was used before; each refresh returns the one to use next.",
                )));
            }
            old.mark_used(transaction, now)?;
            let holder = Holder { user_id: old.user_id, client_id, scopes: old.scopes, family: old.family };
            insert_refresh_token(transaction, &holder, next, now)?;
            let user = uuid_of(transaction, &holder)?;
            Ok(Ok((holder, user)))
        })
        .await??;
    let (holder, user) = decided;
    Ok(pair(shared, quirks, &holder, &user, refresh_token)?)
}

/// Tokens without a code, for a test without a browser.
pub(crate) async fn issue_pair(
    shared: &Shared,
    quirks: &Quirks,
    client: &Client,
    email: &str,
    scopes: &Scopes,
) -> Result<TokenPair, SandboxError> {
    let now = shared.clock.key();
    let refresh_token = random_text()?;
    let next = fingerprint(&refresh_token);
    let wanted = email.to_owned();
    let client_id = client.client_id.clone();
    let scopes = scopes.show();
    let (holder, user) = shared
        .store
        .run(move |transaction| {
            let user = UserRow::by_email(transaction, &wanted)?.ok_or(SandboxError::NoSuchUser { email: wanted })?;
            let holder = Holder { user_id: user.id, client_id, scopes, family: next.clone() };
            insert_refresh_token(transaction, &holder, next, now)?;
            Ok((holder, user.uuid().to_owned()))
        })
        .await?;
    pair(shared, quirks, &holder, &user, refresh_token)
}

fn insert_refresh_token(
    transaction: &Transaction<'_>,
    holder: &Holder,
    token_sha256: String,
    now: i64,
) -> Result<(), SandboxError> {
    let row = RefreshRow {
        token_sha256,
        user_id: holder.user_id,
        client_id: holder.client_id.clone(),
        scopes: holder.scopes.clone(),
        family: holder.family.clone(),
        created: now,
        used: None,
    };
    row.insert(transaction, now.saturating_sub(2 * REFRESH_TOKEN_LIFETIME))
}

fn uuid_of(transaction: &Transaction<'_>, holder: &Holder) -> Result<String, SandboxError> {
    Ok(UserRow::by_id(transaction, holder.user_id)?.uuid().to_owned())
}

fn pair(
    shared: &Shared,
    quirks: &Quirks,
    holder: &Holder,
    user: &str,
    refresh_token: String,
) -> Result<TokenPair, SandboxError> {
    let lifetime = shared.oauth.access_token_lifetime;
    let scopes = Scopes::parse(&holder.scopes).map_err(|scope| SandboxError::UnknownScope { scope })?;
    let grant = Grant {
        user,
        client_id: &holder.client_id,
        scopes: &scopes,
        lifetime: if quirks.tokens_expired { -1 } else { lifetime },
    };
    let access_token = shared.oauth.access_tokens.issue(&grant, shared.clock.key())?;
    let expires_in = Duration::from_secs(u64::try_from(lifetime).unwrap_or(0));
    Ok(TokenPair { access_token, refresh_token, expires_in, narrowed_to: None })
}
