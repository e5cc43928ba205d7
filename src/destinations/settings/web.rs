//! What destinations that speak HTTP share: address, credentials and trust.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::TlsFiles;
use super::keys::SharedKeys;
use crate::config::build::At;
use crate::config::{Secret, is_loopback};

/// How to reach a destination that speaks HTTP.
#[derive(Clone)]
pub struct WebConnection {
    /// NAME of the destination.
    pub name: String,
    /// Its scheme, host and port; credentials go only there. The path has no meaning.
    pub origin: Url,
    /// How requests authenticate.
    pub sign_in: WebSignIn,
    /// The files that TLS needs.
    pub tls: TlsFiles,
    /// HTTP proxy for every request. One of another machine is not used for a destination on this one.
    pub proxy: Option<Url>,
    /// The longest wait for any progress.
    pub timeout: Duration,
    /// Deliveries at a time.
    pub max_connections: usize,
}

/// A proxy's address may hold a password.
impl fmt::Debug for WebConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebConnection")
            .field("name", &self.name)
            .field("origin", &self.origin.as_str())
            .finish_non_exhaustive()
    }
}

/// `bearer_token_file`, or `user` with `password_file`
#[derive(Debug, Clone)]
pub enum WebSignIn {
    /// They do not authenticate, or use headers of their own.
    None,
    /// RFC 6750
    Bearer(Secret),
    /// RFC 7617
    Basic {
        /// The user, without a colon.
        user: String,
        /// The password.
        password: Secret,
    },
}

impl WebConnection {
    /// Host and port that are dialled first: of the server, or of the proxy before it.
    pub(crate) fn dialled(&self) -> Option<(String, u16)> {
        let url = self.proxy.as_ref().unwrap_or(&self.origin);
        Some((url.host_str()?.trim_matches(['[', ']']).to_owned(), url.port_or_known_default()?))
    }
}

/// The scheme, host and port of an address that may contain values after the host; reports its errors. `key` is its
/// setting.
pub(crate) fn origin(at: &mut At<'_, '_>, key: &str, text: &str) -> Option<Url> {
    let mut wrong = |what: &str, fix: &str| at.refuse(key, what, fix);
    let text = text.trim();
    let example = "Write it as in \"https://documents.practice.test/inbox\".";
    let Some((scheme, rest)) = text.split_once("://") else {
        return wrong("does not begin with https://", example);
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if scheme.contains('{') || authority.contains(['{', '}']) {
        let fix = "Write the host itself; values such as {{ key }} may stand behind it. For several hosts make a destination each.";
        return wrong("has values in its scheme or host, which decide where patient data goes", fix);
    }
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return wrong("is no https or http address", example);
    }
    if authority.contains('@') {
        return wrong(
            "holds a user name or password",
            "Remove what stands before the @; write user and password_file.",
        );
    }
    match Url::parse(&format!("{scheme}://{authority}/")) {
        Ok(url) if url.host().is_some() => Some(url),
        _ => wrong("is not a web address", example),
    }
}

/// The connection; takes its settings out of `raw`. `has_other_secrets`: whether requests carry secrets of another
/// kind.
pub(crate) fn connection(
    at: &mut At<'_, '_>,
    key: &str,
    origin: Url,
    raw: &mut SharedKeys,
    has_other_secrets: bool,
) -> Option<WebConnection> {
    let sign_in = sign_in(at, raw)?;
    let is_open = origin.scheme() == "http" && !is_loopback(&origin);
    if is_open && (has_other_secrets || !matches!(sign_in, WebSignIn::None)) {
        let fix = "Write https://; http:// with credentials is for localhost, 127.0.0.1 and [::1] only.";
        return at.refuse(key, "would send the credentials over the network unencrypted", fix);
    }
    if is_open {
        at.warn(key, "sends patient data over the network unencrypted: https:// does not");
    }
    Some(WebConnection {
        name: at.name(),
        origin,
        sign_in,
        tls: tls_files(at, raw)?,
        proxy: raw.proxy.take(),
        timeout: raw.timeout?,
        max_connections: raw.max_connections?,
    })
}

fn sign_in(at: &mut At<'_, '_>, raw: &mut SharedKeys) -> Option<WebSignIn> {
    let token = secret(at, "bearer_token_file", raw.bearer_token_file.take(), raw.bearer_token.take());
    let password = secret(at, "password_file", raw.password_file.take(), raw.password.take());
    match (token, raw.user.take(), password) {
        (Some(token), None, None) => Some(WebSignIn::Bearer(token)),
        (Some(_), ..) => {
            let fix = "Remove bearer_token_file, or user and password_file.";
            let what = "stands beside a user or password, and a request can carry only one of them";
            at.refuse("bearer_token_file", what, fix)
        }
        (None, Some(user), Some(_)) if user.contains(':') || user.contains(char::is_control) => {
            let what = "has a colon or a control character, which no user name can have here";
            at.refuse("user", what, "Write the name alone.")
        }
        (None, user, password) => Some(match credentials(at, user, password)? {
            Some((user, password)) => WebSignIn::Basic { user, password },
            None => WebSignIn::None,
        }),
    }
}

/// A user with the password, or neither.
#[expect(clippy::option_option, reason = "none at all, or one that is wrong")]
pub(crate) fn credentials(
    at: &mut At<'_, '_>,
    user: Option<String>,
    password: Option<Secret>,
) -> Option<Option<(String, Secret)>> {
    match (user, password) {
        (None, None) => Some(None),
        (Some(user), Some(_)) if user.contains(char::is_control) => {
            at.refuse("user", "has a control character", "Write the name alone.")
        }
        (Some(user), Some(password)) => Some(Some((user, password))),
        (Some(_), None) => {
            let fix = "Write the password into a file and name it: password_file = \"...\".";
            at.refuse("user", "has no password", fix)
        }
        (None, Some(_)) => at.refuse("password_file", "has no user", "Write the name: user = \"...\"."),
    }
}

/// A secret from its file or the environment; only one of them may be given.
pub(crate) fn secret(
    at: &mut At<'_, '_>,
    key: &str,
    file: Option<PathBuf>,
    given: Option<secrecy::SecretString>,
) -> Option<Secret> {
    match (file, given) {
        (_, Some(given)) => Some(Secret::Given(given)),
        (Some(path), None) => Some(at.secret(key, &path)),
        (None, None) => None,
    }
}

/// The files that TLS needs.
pub(crate) fn tls_files(at: &mut At<'_, '_>, raw: &mut SharedKeys) -> Option<TlsFiles> {
    let client_certificate = match (raw.client_cert_file.take(), raw.client_key_file.take()) {
        (None, None) => None,
        (Some(certificate), Some(key)) => {
            let certificate = at.path("client_cert_file", &certificate);
            Some((certificate, at.secret("client_key_file", &key)))
        }
        (Some(_), None) => {
            let fix = "Name the file with the key of that certificate: client_key_file = \"...\".";
            return at.refuse("client_cert_file", "has no key", fix);
        }
        (None, Some(_)) => {
            let fix = "Name the file with the certificate of that key: client_cert_file = \"...\".";
            return at.refuse("client_key_file", "has no certificate", fix);
        }
    };
    let ca_file = raw.ca_file.take().map(|path| at.path("ca_file", &path));
    Some(TlsFiles { ca_file, client_certificate })
}
