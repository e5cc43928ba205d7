//! The key to the page. `docsyncd open` makes a link that counts once, for two minutes; a link for another computer
//! counts for an hour. With it, the browser gets a session.
//!
//! Both are random numbers of the system. The ledger keeps their digests, so command and daemon share them, a restart
//! forgets none, and only programs with access to the ledger can make one. A form carries a third value, which follows
//! from the session's and which no other site can know.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;
use url::Url;

use crate::domain::document::hex;
use crate::ledger::page_keys::{KnownBrowser, Link};
use crate::ledger::patients::AT_THE_PAGE;
use crate::ledger::{Ledger, LedgerError, Millis, now, page_keys};

/// The random bytes of a link and of a session: 256 bits.
const SECRET_BYTES: usize = 32;
/// The same as text.
const SECRET_CHARACTERS: usize = 43;
const MINUTE: Millis = 60 * 1000;
const DAY: Millis = 24 * 60 * MINUTE;

/// The browser that a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// On this computer, where it opens at once.
    Here,
    /// On another computer, to which a person carries the link.
    Elsewhere,
}

impl Browser {
    /// How long the link counts; milliseconds.
    fn link_life(self) -> Millis {
        match self {
            Self::Here => 2 * MINUTE,
            Self::Elsewhere => 60 * MINUTE,
        }
    }

    /// How long the browser is known; milliseconds. On this computer since its last use, on another computer since it
    /// got the key.
    pub(super) fn known_for(self) -> Millis {
        match self {
            Self::Here => 30 * DAY,
            Self::Elsewhere => 90 * DAY,
        }
    }
}

/// The least time between two renewals of a session, each of which is a write; milliseconds.
const RENEWED_AFTER: Millis = DAY;

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// Any error of the ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The system's random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// A session that counts.
#[derive(Debug)]
pub(super) struct Session {
    /// Its digest.
    pub(super) digest: String,
    /// The value that every form carries.
    pub(super) form_token: String,
    /// For how long the session was renewed, as its cookie must be; milliseconds.
    pub(super) renewed: Option<Millis>,
}

impl Session {
    /// Who pressed a button, for the history: the browser, by the beginning of its digest.
    pub(super) fn who(&self) -> String {
        format!("{AT_THE_PAGE}{}", named(&self.digest))
    }
}

fn secret() -> Result<SecretString, KeyError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.to_string()))?;
    Ok(SecretString::from(URL_SAFE_NO_PAD.encode(bytes)))
}

/// What the ledger keeps of a secret.
fn digest(purpose: &str, secret: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(purpose.as_bytes());
    hash.update([0]);
    hash.update(secret.as_bytes());
    hex(&hash.finalize())
}

/// Whether the two are equal. The time that this takes does not depend on where they differ.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn is_shaped(secret: &str) -> bool {
    secret.len() == SECRET_CHARACTERS
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Makes a link. Returns the value for `/open?key=`.
///
/// # Errors
/// [`KeyError`]
pub async fn make_link(ledger: &Ledger, browser: Browser) -> Result<SecretString, KeyError> {
    let link = secret()?;
    let kept = digest("link", link.expose_secret());
    let (at, known_for) = (now(), browser.known_for());
    let expires_at = at.saturating_add(browser.link_life());
    ledger.write(move |db| page_keys::add_link(db, Link { digest: &kept, expires_at, known_for }, at)).await?;
    Ok(link)
}

/// The address of this link on this page.
pub fn behind(page: &Url, link: &SecretString) -> Url {
    let mut address = page.clone();
    address.set_path("/open");
    address.query_pairs_mut().append_pair("key", link.expose_secret());
    address
}

/// Uses up a link. Returns the session that it opens and for how long; `None` if the link does not count. `browser` is
/// the one that opens it.
pub(super) async fn open(
    ledger: &Ledger,
    link: &str,
    browser: String,
) -> Result<Option<(SecretString, Millis)>, KeyError> {
    let at = now();
    let shown = digest("link", link);
    if !is_shaped(link) {
        return Ok(None);
    }
    // Read before any write, so that invented links cost none.
    let open = ledger.read(move |db| page_keys::links(db, at)).await?;
    let Some(kept) = open.into_iter().find(|kept| is_same(kept, &shown)) else { return Ok(None) };
    let session = secret()?;
    let begun = digest("session", session.expose_secret());
    let who = named(&begun);
    let opened = ledger.write(move |db| page_keys::exchange(db, &kept, &begun, &browser, at)).await?;
    if opened.is_some() {
        tracing::info!(event = "browser_known", "one more browser has the key to the status page: {who}");
    }
    Ok(opened.map(|known_for| (session, known_for)))
}

/// The session of this cookie, if it counts. This renews it.
pub(super) async fn session(ledger: &Ledger, cookie: &str) -> Result<Option<Session>, LedgerError> {
    if !is_shaped(cookie) {
        return Ok(None);
    }
    let shown = digest("session", cookie);
    let at = now();
    let known = ledger.read(move |db| page_keys::sessions(db, at)).await?;
    let Some(known) = known.into_iter().find(|known| is_same(&known.digest, &shown)) else { return Ok(None) };
    let (renewed, used) = (at.saturating_add(known.known_for), known.digest.clone());
    let is_old = is_renewable(&known) && renewed.saturating_sub(known.expires_at) >= RENEWED_AFTER;
    // If the ledger cannot be written, the page can still be read.
    let is_renewed = is_old && ledger.write(move |db| page_keys::renew(db, &used, renewed, at)).await.is_ok();
    let renewed = is_renewed.then_some(known.known_for);
    Ok(Some(Session { digest: known.digest, form_token: digest("form", cookie), renewed }))
}

/// Whether using the session renews it.
pub(super) fn is_renewable(known: &KnownBrowser) -> bool {
    known.known_for == Browser::Here.known_for()
}

/// Ends the session with this digest. Returns whether there was one.
pub(super) async fn end(ledger: &Ledger, digest: String) -> Result<bool, LedgerError> {
    let who = named(&digest);
    let ended = ledger.write(move |db| page_keys::end_session(db, &digest)).await?;
    if ended {
        tracing::info!(event = "browser_locked", "a browser no longer has the key to the status page: {who}");
    }
    Ok(ended)
}

/// The browsers that are known now, oldest first.
pub(super) async fn browsers(ledger: &Ledger) -> Result<Vec<KnownBrowser>, LedgerError> {
    let mut known = ledger.read(|db| page_keys::sessions(db, now())).await?;
    known.sort_by_key(|known| known.since);
    Ok(known)
}

/// The name of a session's browser in the log and the history: the beginning of its digest.
pub(super) fn named(digest: &str) -> String {
    format!("browser {}", digest.get(..6).unwrap_or_default())
}

/// A browser and its system, in two words for people; empty if neither is known. Each browser stands before those that
/// it imitates.
pub(super) fn kind(user_agent: &str) -> String {
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(sign, _)| user_agent.contains(sign)).map(|(_, word)| *word)
    };
    let browser = first(&[
        ("Edg", "Edge"),
        ("Firefox/", "Firefox"),
        ("OPR/", "Opera"),
        ("Chrome/", "Chrome"),
        ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("Windows", "Windows"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Mac OS X", "Mac"),
        ("Linux", "Linux"),
    ]);
    browser.into_iter().chain(system).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_opens_one_session_and_only_its_cookie_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
        let link = make_link(&ledger, Browser::Here).await.unwrap();
        assert_eq!(link.expose_secret().len(), SECRET_CHARACTERS);
        for wrong in ["", "x", &"A".repeat(SECRET_CHARACTERS), &format!("{}=", link.expose_secret())] {
            assert!(open(&ledger, wrong, String::new()).await.unwrap().is_none(), "{wrong}");
        }
        let (cookie, _) = open(&ledger, link.expose_secret(), String::new()).await.unwrap().unwrap();
        assert!(open(&ledger, link.expose_secret(), String::new()).await.unwrap().is_none(), "a second time");
        assert!(session(&ledger, link.expose_secret()).await.unwrap().is_none(), "a link is no session");
        let known = session(&ledger, cookie.expose_secret()).await.unwrap().unwrap();
        assert!(known.form_token != known.digest && !known.form_token.contains(cookie.expose_secret()));
        assert!(end(&ledger, known.digest).await.unwrap());
        assert!(session(&ledger, cookie.expose_secret()).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_session_of_this_computer_is_renewed_by_use_once_a_day_and_another_one_lasts_for_90_days() {
        for (browser, days, is_renewed) in [(Browser::Here, 30, true), (Browser::Elsewhere, 90, false)] {
            let folder = tempfile::tempdir().unwrap();
            let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
            let link = make_link(&ledger, browser).await.unwrap();
            let (cookie, life) = open(&ledger, link.expose_secret(), String::new()).await.unwrap().unwrap();
            assert_eq!(life, days * DAY);
            let used = async || session(&ledger, cookie.expose_secret()).await.unwrap().map(|used| used.renewed);
            let ends = async || browsers(&ledger).await.unwrap().first().unwrap().expires_at;
            assert_eq!(used().await, Some(None), "it has just begun");
            let set = async |at: Millis| {
                ledger
                    .write(move |db| db.execute("UPDATE page_session SET expires_at = ?1", [at]).map(drop))
                    .await
                    .unwrap();
            };
            set(now() + life - RENEWED_AFTER - 1).await;
            assert_eq!(used().await, Some(is_renewed.then_some(life)));
            assert_eq!(ends().await > now() + life - RENEWED_AFTER / 2, is_renewed, "it counts for as long again");
            assert_eq!(used().await, Some(None), "one write a day");
            set(now() - 1).await;
            assert_eq!(used().await, None, "its time is over");
        }
    }

    #[tokio::test]
    async fn a_link_counts_for_two_minutes_here_and_for_an_hour_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, _lock) = Ledger::open_exclusive(&folder.path().join("ledger.sqlite3")).unwrap();
        for (browser, minutes) in [(Browser::Here, 2), (Browser::Elsewhere, 60)] {
            let link = make_link(&ledger, browser).await.unwrap();
            let sooner = async |by: Millis| {
                let sql = "UPDATE page_link SET expires_at = expires_at - ?1";
                ledger.write(move |db| db.execute(sql, [by]).map(drop)).await.unwrap();
            };
            let counts = async || ledger.read(|db| page_keys::links(db, now())).await.unwrap().len();
            sooner(minutes * MINUTE - MINUTE / 2).await;
            assert_eq!(counts().await, 1, "{browser:?}");
            sooner(MINUTE / 2).await;
            assert_eq!(counts().await, 0, "{browser:?}");
            assert!(open(&ledger, link.expose_secret(), String::new()).await.unwrap().is_none());
        }
    }

    #[test]
    fn a_browser_is_named_by_what_it_says() {
        for (agent, named) in [
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox, Windows"),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140 Safari/537.36",
                "Chrome, Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140 Safari/537.36 Edg/140",
                "Edge, Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Safari/604",
                "Safari, iPhone",
            ),
            ("curl/8.5.0", ""),
            ("<b>Windows</b>", "Windows"),
        ] {
            assert_eq!(kind(agent), named, "{agent}");
        }
    }

    #[tokio::test]
    async fn the_ledger_holds_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite3");
        let (ledger, lock) = Ledger::open_exclusive(&path).unwrap();
        let link = make_link(&ledger, Browser::Here).await.unwrap();
        let used = make_link(&ledger, Browser::Here).await.unwrap();
        let cookie = open(&ledger, used.expose_secret(), String::new()).await.unwrap().unwrap().0;
        drop((ledger, lock));
        let bytes = std::fs::read(&path).unwrap();
        for secret in [&link, &used, &cookie] {
            let text = secret.expose_secret().as_bytes();
            assert!(!bytes.windows(text.len()).any(|window| window == text));
        }
    }
}
