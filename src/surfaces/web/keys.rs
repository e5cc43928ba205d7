//! The key to the page: `docsyncd open` makes a link that counts once and for two minutes; the browser gets a session
//! for it.
//!
//! Both are random numbers of the system. The ledger keeps their digests, so that command and daemon share them, a
//! restart forgets none, and only who may read the ledger can make one. A form carries a third value, which follows
//! from the session's and which no other site can know.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use crate::domain::document::hex;
use crate::ledger::{Ledger, LedgerError, Millis, now, page_keys};

/// Random bytes of a link and of a session: 256 bits.
const SECRET_BYTES: usize = 32;
/// The same as text.
const SECRET_CHARACTERS: usize = 43;
/// How long a link counts; milliseconds.
const LINK_LIFE: Millis = 2 * 60 * 1000;
/// How long a session counts after it was used; milliseconds. A month: whoever made the link must have the rights of an
/// administrator, and is not to be called every morning.
const SESSION_LIFE: Millis = 30 * 24 * 60 * 60 * 1000;
/// The same for the cookie; seconds.
pub(super) const SESSION_SECONDS: Millis = SESSION_LIFE / 1000;
/// A session is renewed when so much of its time is over; milliseconds. A day: one write a day.
const RENEWED_AFTER: Millis = 24 * 60 * 60 * 1000;

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The system.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// A session that counts.
#[derive(Debug)]
pub(super) struct Session {
    /// Its digest.
    pub(super) digest: String,
    /// What every form carries.
    pub(super) form_token: String,
    /// Its time has begun anew: so must that of the cookie.
    pub(super) is_renewed: bool,
}

impl Session {
    /// Who presses a button, for the history: which browser, by the beginning of its digest.
    pub(super) fn who(&self) -> String {
        format!("status page, browser {}", self.digest.get(..6).unwrap_or_default())
    }
}

fn secret() -> Result<SecretString, KeyError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.to_string()))?;
    Ok(SecretString::from(URL_SAFE_NO_PAD.encode(bytes)))
}

/// What is kept of a secret.
fn digest(purpose: &str, secret: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(purpose.as_bytes());
    hash.update([0]);
    hash.update(secret.as_bytes());
    hex(&hash.finalize())
}

/// Whether the two are the same; how long that takes says nothing about where they differ.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn is_shaped(secret: &str) -> bool {
    secret.len() == SECRET_CHARACTERS
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Makes a link: what stands behind `/open?key=`.
///
/// # Errors
/// [`KeyError`]
pub async fn make_link(ledger: &Ledger) -> Result<SecretString, KeyError> {
    let link = secret()?;
    let kept = digest("link", link.expose_secret());
    let at = now();
    ledger.write(move |db| page_keys::add_link(db, &kept, at.saturating_add(LINK_LIFE), at)).await?;
    Ok(link)
}

/// Uses a link up; the session that it opens, `None` when it does not count (any more).
pub(super) async fn open(ledger: &Ledger, link: &str) -> Result<Option<SecretString>, KeyError> {
    let at = now();
    let shown = digest("link", link);
    if !is_shaped(link) {
        return Ok(None);
    }
    // First only a look: whoever makes links up costs no write.
    let open = ledger.read(move |db| page_keys::links(db, at)).await?;
    let Some(kept) = open.into_iter().find(|kept| is_same(kept, &shown)) else { return Ok(None) };
    let session = secret()?;
    let begun = digest("session", session.expose_secret());
    let expires_at = at.saturating_add(SESSION_LIFE);
    let opened = ledger.write(move |db| page_keys::exchange(db, &kept, &begun, expires_at, at)).await?;
    Ok(opened.then_some(session))
}

/// The session of this cookie, if it counts. It is renewed by that.
pub(super) async fn session(ledger: &Ledger, cookie: &str) -> Result<Option<Session>, LedgerError> {
    if !is_shaped(cookie) {
        return Ok(None);
    }
    let shown = digest("session", cookie);
    let at = now();
    let known = ledger.read(move |db| page_keys::sessions(db, at)).await?;
    let Some((digest_, expires_at)) = known.into_iter().find(|(known, _)| is_same(known, &shown)) else {
        return Ok(None);
    };
    let (renewed, used) = (at.saturating_add(SESSION_LIFE), digest_.clone());
    let is_old = renewed.saturating_sub(expires_at) >= RENEWED_AFTER;
    // A ledger that cannot be written now can still be looked at.
    let is_renewed = is_old && ledger.write(move |db| page_keys::renew(db, &used, renewed, at)).await.is_ok();
    Ok(Some(Session { digest: digest_, form_token: digest("form", cookie), is_renewed }))
}

/// Ends a session.
pub(super) async fn end(ledger: &Ledger, session: Session) -> Result<(), LedgerError> {
    ledger.write(move |db| page_keys::end_session(db, &session.digest)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_opens_one_session_and_only_its_cookie_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
        let link = make_link(&ledger).await.unwrap();
        assert_eq!(link.expose_secret().len(), SECRET_CHARACTERS);
        for wrong in ["", "x", &"A".repeat(SECRET_CHARACTERS), &format!("{}=", link.expose_secret())] {
            assert!(open(&ledger, wrong).await.unwrap().is_none(), "{wrong}");
        }
        let cookie = open(&ledger, link.expose_secret()).await.unwrap().unwrap();
        assert!(open(&ledger, link.expose_secret()).await.unwrap().is_none(), "a second time");
        assert!(session(&ledger, link.expose_secret()).await.unwrap().is_none(), "a link is no session");
        let known = session(&ledger, cookie.expose_secret()).await.unwrap().unwrap();
        assert!(known.form_token != known.digest && !known.form_token.contains(cookie.expose_secret()));
        end(&ledger, known).await.unwrap();
        assert!(session(&ledger, cookie.expose_secret()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_session_is_renewed_by_use_once_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
        let link = make_link(&ledger).await.unwrap();
        let cookie = open(&ledger, link.expose_secret()).await.unwrap().unwrap();
        let used = async || session(&ledger, cookie.expose_secret()).await.unwrap().map(|used| used.is_renewed);
        let ends = async || ledger.read(|db| page_keys::sessions(db, 0)).await.unwrap().first().unwrap().1;
        assert_eq!(used().await, Some(false), "it has just begun");
        let set = async |at: Millis| {
            ledger
                .write(move |db| db.execute("UPDATE page_session SET expires_at = ?1", [at]).map(drop))
                .await
                .unwrap();
        };
        set(now() + SESSION_LIFE - RENEWED_AFTER - 1).await;
        assert_eq!(used().await, Some(true));
        assert!(ends().await > now() + SESSION_LIFE - RENEWED_AFTER / 2, "it counts for a month again");
        assert_eq!(used().await, Some(false), "one write a day");
        set(now() - 1).await;
        assert_eq!(used().await, None, "it was not used for a month");
    }

    #[tokio::test]
    async fn the_ledger_holds_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite3");
        let (ledger, lock) = Ledger::open_exclusive(&path).unwrap();
        let link = make_link(&ledger).await.unwrap();
        let used = make_link(&ledger).await.unwrap();
        let cookie = open(&ledger, used.expose_secret()).await.unwrap().unwrap();
        drop((ledger, lock));
        let bytes = std::fs::read(&path).unwrap();
        for secret in [&link, &used, &cookie] {
            let text = secret.expose_secret().as_bytes();
            assert!(!bytes.windows(text.len()).any(|window| window == text));
        }
    }
}
