//! Decides who is let in: how a request came, which key it shows, and the cookie that keeps the key.

use hyper::http::request::Parts;
use hyper::{StatusCode, header};
use secrecy::ExposeSecret as _;

use super::answers::{Answer, Fields, Site, add, no_key, sentence};
use super::connections::{Asked, Way};
use super::guard::{self, Address};
use super::keys::{self, Session};
use super::page::Locked;
use crate::formats::language::Language;
use crate::ledger::{LedgerError, Millis};

impl Site {
    /// The names under which the page may be asked for on this way.
    pub(super) fn names(&self, way: Way) -> Address {
        Address::of(way.local, way.is_encrypted, self.setup.page.public_url.as_ref())
    }

    /// Whether a proxy on this computer brought the request, which a browser anywhere sent over TLS.
    fn is_proxied(&self, asked: &Asked) -> bool {
        asked.way.is_from_here() && self.names(asked.way).is_asked_from_elsewhere(&asked.head)
    }

    /// Whether the browser itself is on this computer.
    pub(super) fn is_from_here(&self, asked: &Asked) -> bool {
        asked.way.is_from_here() && !self.is_proxied(asked)
    }

    /// The session of whoever asks. It counts only if nobody else can have read the key: names and buttons are never
    /// sent unencrypted over a network.
    pub(super) async fn session(&self, asked: &Asked) -> Result<Option<Session>, LedgerError> {
        match guard::cookie(&asked.head.headers, &self.cookie).filter(|_| asked.way.is_private()) {
            Some(cookie) => keys::session(&self.context.edges.ledger, cookie).await,
            None => Ok(None),
        }
    }

    /// Why the page is locked, which says what opens it.
    pub(super) fn locked(&self, asked: &Asked) -> Locked {
        match asked.way.is_private() {
            false => Locked::NotEncrypted,
            true if self.is_from_here(asked) => Locked::Here,
            true => Locked::Elsewhere,
        }
    }

    /// Renews the cookie, which counts as long as the session. `renewed`: for how many milliseconds.
    pub(super) fn renew(&self, answer: &mut Answer, asked: &Asked, renewed: Option<Millis>) {
        if let (Some(known_for), Some(cookie)) = (renewed, guard::cookie(&asked.head.headers, &self.cookie)) {
            self.keep(answer, asked, cookie, known_for);
        }
    }

    fn keep(&self, answer: &mut Answer, asked: &Asked, secret: &str, known_for: Millis) {
        let (name, seconds) = (&self.cookie, known_for / 1000);
        let secure = if asked.way.is_encrypted || self.is_proxied(asked) { "; Secure" } else { "" };
        let cookie = format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        add(answer.headers_mut(), header::SET_COOKIE, &cookie);
    }

    /// Makes the browser forget the key.
    pub(super) fn forget(&self, answer: &mut Answer) {
        let cookie = format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", self.cookie);
        add(answer.headers_mut(), header::SET_COOKIE, &cookie);
    }

    /// Answers the link of `docsyncd open`. The answer is a page and no redirect: a browser that came from elsewhere (a
    /// terminal that opens links) would not send the new cookie along.
    pub(super) async fn open(&self, asked: &Asked, query: &Fields, language: Language) -> Answer {
        if !asked.way.is_private() {
            return sentence(StatusCode::FORBIDDEN, language, "not-encrypted");
        }
        let agent = guard::only(&asked.head.headers, header::USER_AGENT).unwrap_or_default();
        match keys::open(&self.context.edges.ledger, query.get("key"), keys::kind(agent)).await {
            Ok(Some((session, known_for))) => {
                let text = if known_for == keys::Browser::Here.known_for() { "opened" } else { "opened-elsewhere" };
                let mut answer = sentence(StatusCode::OK, language, text);
                self.keep(&mut answer, asked, session.expose_secret(), known_for);
                add(answer.headers_mut(), header::REFRESH, "0; url=/");
                answer
            }
            Ok(None) => sentence(StatusCode::FORBIDDEN, language, "used"),
            Err(error) => no_key(language, &error),
        }
    }
}

/// Sends a browser that speaks HTTP to HTTPS. What it asked for was sent in the clear, so it is not repeated.
pub(super) fn encrypt(head: &Parts, language: Language) -> Answer {
    let mut answer = sentence(StatusCode::SEE_OTHER, language, "nothing");
    if let Some(host) = guard::only(&head.headers, header::HOST) {
        add(answer.headers_mut(), header::LOCATION, &format!("https://{host}/"));
    }
    answer
}
