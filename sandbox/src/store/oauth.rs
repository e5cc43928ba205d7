//! Authorization codes, refresh tokens, sessions and signing keys. Secrets come as fingerprints.

use rusqlite::{OptionalExtension, Row, Transaction};

use super::people::{UserRow, user_row};
use crate::error::SandboxError;

/// What a code was granted for, and must be redeemed with.
#[derive(Clone, Debug)]
pub(crate) struct CodeRow {
    pub code_sha256: String,
    pub user_id: i64,
    pub client_id: String,
    pub redirect_uri: String,
    pub scopes: String,
    /// Whether the scopes are fewer than the application asked for.
    pub narrowed: bool,
    pub code_challenge: Option<String>,
    pub expires: i64,
    pub used: Option<i64>,
}

impl CodeRow {
    /// Inserts the code. Removes those that expired before `forget_before`.
    pub fn insert(&self, transaction: &Transaction<'_>, forget_before: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("DELETE FROM authorization_codes WHERE expires_key < ?1")?
            .execute([forget_before])?;
        transaction
            .prepare_cached(
                "INSERT INTO authorization_codes (code_sha256, user_id, client_id, redirect_uri, scopes, narrowed,
                    code_challenge, expires_key) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                &self.code_sha256,
                self.user_id,
                &self.client_id,
                &self.redirect_uri,
                &self.scopes,
                self.narrowed,
                &self.code_challenge,
                self.expires,
            ))?;
        Ok(())
    }

    pub fn find(transaction: &Transaction<'_>, code_sha256: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "SELECT code_sha256, user_id, client_id, redirect_uri, scopes, narrowed, code_challenge, expires_key,
                    used_key FROM authorization_codes WHERE code_sha256 = ?1",
            )?
            .query_row([code_sha256], |row| {
                Ok(Self {
                    code_sha256: row.get(0)?,
                    user_id: row.get(1)?,
                    client_id: row.get(2)?,
                    redirect_uri: row.get(3)?,
                    scopes: row.get(4)?,
                    narrowed: row.get(5)?,
                    code_challenge: row.get(6)?,
                    expires: row.get(7)?,
                    used: row.get(8)?,
                })
            })
            .optional()?)
    }

    pub fn mark_used(&self, transaction: &Transaction<'_>, at: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE authorization_codes SET used_key = ?2 WHERE code_sha256 = ?1")?
            .execute((&self.code_sha256, at))?;
        Ok(())
    }
}

/// A refresh token. `family` is the code of the first token in its line.
#[derive(Clone, Debug)]
pub(crate) struct RefreshRow {
    pub token_sha256: String,
    pub user_id: i64,
    pub client_id: String,
    pub scopes: String,
    pub family: String,
    pub created: i64,
    pub used: Option<i64>,
}

impl RefreshRow {
    /// Inserts the token. Removes those created before `forget_before`.
    pub fn insert(&self, transaction: &Transaction<'_>, forget_before: i64) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM refresh_tokens WHERE created_key < ?1")?.execute([forget_before])?;
        transaction
            .prepare_cached(
                "INSERT INTO refresh_tokens (token_sha256, user_id, client_id, scopes, family, created_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((&self.token_sha256, self.user_id, &self.client_id, &self.scopes, &self.family, self.created))?;
        Ok(())
    }

    pub fn find(transaction: &Transaction<'_>, token_sha256: &str) -> Result<Option<Self>, SandboxError> {
        Ok(transaction
            .prepare_cached(
                "SELECT token_sha256, user_id, client_id, scopes, family, created_key, used_key
                 FROM refresh_tokens WHERE token_sha256 = ?1",
            )?
            .query_row([token_sha256], |row| {
                Ok(Self {
                    token_sha256: row.get(0)?,
                    user_id: row.get(1)?,
                    client_id: row.get(2)?,
                    scopes: row.get(3)?,
                    family: row.get(4)?,
                    created: row.get(5)?,
                    used: row.get(6)?,
                })
            })
            .optional()?)
    }

    /// Records the first use, from which a grace period counts.
    pub fn mark_used(&self, transaction: &Transaction<'_>, at: i64) -> Result<(), SandboxError> {
        transaction
            .prepare_cached("UPDATE refresh_tokens SET used_key = coalesce(used_key, ?2) WHERE token_sha256 = ?1")?
            .execute((&self.token_sha256, at))?;
        Ok(())
    }

    /// Removes every refresh token of this code's line.
    pub fn revoke_family(transaction: &Transaction<'_>, family: &str) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM refresh_tokens WHERE family = ?1")?.execute([family])?;
        Ok(())
    }
}

/// A browser's session.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub user: UserRow,
    pub csrf: String,
}

impl SessionRow {
    /// Begins a session. Removes those that expired before `now`.
    pub fn begin(
        transaction: &Transaction<'_>,
        cookie_sha256: &str,
        user_id: i64,
        csrf: &str,
        expires: i64,
        now: i64,
    ) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM sessions WHERE expires_key <= ?1")?.execute([now])?;
        transaction
            .prepare_cached("INSERT INTO sessions (cookie_sha256, user_id, csrf, expires_key) VALUES (?1, ?2, ?3, ?4)")?
            .execute((cookie_sha256, user_id, csrf, expires))?;
        Ok(())
    }

    pub fn find(transaction: &Transaction<'_>, cookie_sha256: &str, now: i64) -> Result<Option<Self>, SandboxError> {
        let read = |row: &Row<'_>| Ok(Self { user: user_row(row)?, csrf: row.get(3)? });
        Ok(transaction
            .prepare_cached(
                "SELECT u.id, u.organization_id, u.data, s.csrf FROM sessions s JOIN users u ON u.id = s.user_id
                 WHERE s.cookie_sha256 = ?1 AND s.expires_key > ?2",
            )?
            .query_row((cookie_sha256, now), read)
            .optional()?)
    }

    pub fn end(transaction: &Transaction<'_>, cookie_sha256: &str) -> Result<(), SandboxError> {
        transaction.prepare_cached("DELETE FROM sessions WHERE cookie_sha256 = ?1")?.execute([cookie_sha256])?;
        Ok(())
    }
}
