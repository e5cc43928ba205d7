//! Who is signed in with a browser, and whether a form was sent from a page of this sandbox.

use axum::http::{HeaderMap, HeaderValue, header};

use super::DEFAULT_PASSWORD;
use super::secret::{fingerprint, random_text, same};
use crate::error::SandboxError;
use crate::shared::Shared;
use crate::store::{SessionRow, UserRow};
use std::sync::PoisonError;

/// How long a browser stays signed in.
const SESSION_LIFETIME: i64 = 12 * 3600 * 1_000_000;

/// The cookies of a request. Their names contain the port, because cookies do not distinguish ports, and several
/// sandboxes may run on one machine.
pub(super) struct Cookies {
    session_name: String,
    form_name: String,
    session: Option<String>,
    form: Option<String>,
}

impl Cookies {
    pub fn read(shared: &Shared, headers: &HeaderMap) -> Self {
        let port = shared.api_address.port();
        let (session_name, form_name) = (format!("sandbox_session_{port}"), format!("sandbox_form_{port}"));
        let value_of = |name: &str| {
            headers
                .get_all(header::COOKIE)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .flat_map(|line| line.split(';'))
                .filter_map(|pair| pair.trim().split_once('='))
                .find(|(known, value)| *known == name && !value.is_empty())
                .map(|(_, value)| value.to_owned())
        };
        Self { session: value_of(&session_name), form: value_of(&form_name), session_name, form_name }
    }

    /// Who is signed in.
    pub async fn session(&self, shared: &Shared) -> Result<Option<SessionRow>, SandboxError> {
        let Some(cookie) = self.session.as_deref().map(fingerprint) else {
            return Ok(None);
        };
        let now = shared.clock.key();
        shared.store.run(move |transaction| SessionRow::find(transaction, &cookie, now)).await
    }

    /// Signs this user in with a new session id, so that nobody who knew the old one gets in. Returns the cookie to
    /// set.
    pub async fn begin(&self, shared: &Shared, user: &UserRow) -> Result<HeaderValue, SandboxError> {
        let (cookie, csrf) = (random_text()?, random_text()?);
        let (new, old) = (fingerprint(&cookie), self.session.as_deref().map(fingerprint));
        let (user, now) = (user.id, shared.clock.key());
        shared
            .store
            .run(move |transaction| {
                if let Some(old) = old {
                    SessionRow::end(transaction, &old)?;
                }
                SessionRow::begin(transaction, &new, user, &csrf, now.saturating_add(SESSION_LIFETIME), now)
            })
            .await?;
        Ok(set_cookie(&self.session_name, &cookie, ""))
    }

    /// Signs the browser out. Returns the cookie to set.
    pub async fn end(&self, shared: &Shared) -> Result<HeaderValue, SandboxError> {
        if let Some(old) = self.session.as_deref().map(fingerprint) {
            shared.store.run(move |transaction| SessionRow::end(transaction, &old)).await?;
        }
        Ok(set_cookie(&self.session_name, "", "; Max-Age=0"))
    }

    /// The proof for the sign-in form, that it comes from our page: a value that is also in a cookie, because nobody is
    /// signed in yet. Returns it with the cookie to set.
    pub fn form_proof(&self) -> Result<(String, HeaderValue), SandboxError> {
        let proof = match &self.form {
            Some(known) => known.clone(),
            None => random_text()?,
        };
        let cookie = set_cookie(&self.form_name, &proof, "");
        Ok((proof, cookie))
    }

    pub fn form_proven(&self, sent: &str) -> bool {
        self.form.as_deref().is_some_and(|known| same(known, sent))
    }
}

/// Both values are texts of this sandbox or came in as a cookie, so they fit into a cookie.
fn set_cookie(name: &str, value: &str, more: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{more}"))
        .unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The user with this email address, if the password is right.
pub(super) async fn sign_in(shared: &Shared, email: &str, password: &str) -> Result<Option<UserRow>, SandboxError> {
    let wanted = email.trim().to_owned();
    let right = {
        let accounts = shared.oauth.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.iter().find(|account| account.email.eq_ignore_ascii_case(&wanted));
        same(account.map_or(DEFAULT_PASSWORD, |account| &account.password), password)
    };
    let user = shared.store.run(move |transaction| UserRow::by_email(transaction, &wanted)).await?;
    Ok(user.filter(|_| right))
}
