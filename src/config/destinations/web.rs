//! What destinations that speak HTTP share: address, credentials and trust.

use url::Url;

use super::super::build::Builder;
use super::super::settings;
use super::super::validated::Secret;
use super::super::value::is_loopback;
use super::super::web::{WebConnection, WebSignIn};
use super::SECTION;

/// The scheme, host and port of an address that may contain values after the host; reports its errors. `key` is its
/// setting.
pub(super) fn origin(name: &str, key: &str, text: &str, builder: &mut Builder<'_>) -> Option<Url> {
    let mut wrong = |what: &str, fix: &str| builder.error(SECTION, Some(name), key, what, fix);
    let text = text.trim();
    let example = "Write it as in \"https://documents.practice.test/inbox\".";
    let Some((scheme, rest)) = text.split_once("://") else {
        wrong("does not begin with https://", example);
        return None;
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if scheme.contains('{') || authority.contains(['{', '}']) {
        let fix = "Write the host itself; values such as {{ key }} may stand behind it. For several hosts make a destination each.";
        wrong("has values in its scheme or host, which decide where patient data goes", fix);
        return None;
    }
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        wrong("is no https or http address", example);
        return None;
    }
    if authority.contains('@') {
        wrong("holds a user name or password", "Remove what stands before the @; write user and password_file.");
        return None;
    }
    match Url::parse(&format!("{scheme}://{authority}/")) {
        Ok(url) if url.host().is_some() => Some(url),
        _ => {
            wrong("is not a web address", example);
            None
        }
    }
}

/// The connection; takes its settings out of `raw`. `has_other_secrets`: whether requests carry secrets of another
/// kind.
pub(super) fn connection(
    name: &str,
    key: &str,
    origin: Url,
    raw: &mut settings::Destination,
    has_other_secrets: bool,
    builder: &mut Builder<'_>,
) -> Option<WebConnection> {
    let sign_in = sign_in(name, raw, builder)?;
    let is_open = origin.scheme() == "http" && !is_loopback(&origin);
    if is_open && (has_other_secrets || !matches!(sign_in, WebSignIn::None)) {
        let fix = "Write https://; http:// with credentials is for localhost, 127.0.0.1 and [::1] only.";
        builder.error(SECTION, Some(name), key, "would send the credentials over the network unencrypted", fix);
        return None;
    }
    if is_open {
        builder.warn(SECTION, Some(name), key, "sends patient data over the network unencrypted: https:// does not");
    }
    let client_certificate = client_certificate(name, raw, builder)?;
    Some(WebConnection {
        name: name.to_owned(),
        origin,
        sign_in,
        ca_file: raw.ca_file.take().map(|path| builder.path(SECTION, Some(name), "ca_file", &path)),
        client_certificate,
        proxy: raw.proxy.take(),
        timeout: raw.timeout?,
        max_connections: raw.max_connections?,
    })
}

fn sign_in(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<WebSignIn> {
    let token = secret(name, "bearer_token_file", raw.bearer_token_file.take(), raw.bearer_token.take(), builder);
    let password = secret(name, "password_file", raw.password_file.take(), raw.password.take(), builder);
    let mut wrong = |key: &str, what: &str, fix: &str| {
        builder.error(SECTION, Some(name), key, what, fix);
        None
    };
    match (token, raw.user.take(), password) {
        (None, None, None) => Some(WebSignIn::None),
        (Some(token), None, None) => Some(WebSignIn::Bearer(token)),
        (None, Some(user), Some(_)) if user.contains(':') || user.chars().any(char::is_control) => wrong(
            "user",
            "has a colon or a control character, which no user name can have here",
            "Write the name alone.",
        ),
        (None, Some(user), Some(password)) => Some(WebSignIn::Basic { user, password }),
        (Some(_), ..) => wrong(
            "bearer_token_file",
            "stands beside a user or password, and a request can carry only one of them",
            "Remove bearer_token_file, or user and password_file.",
        ),
        (None, Some(_), None) => {
            wrong("user", "has no password", "Write the password into a file and name it: password_file = \"...\".")
        }
        (None, None, Some(_)) => wrong("password_file", "has no user", "Write the name: user = \"...\"."),
    }
}

/// A secret from its file or the environment; only one of them may be given.
pub(super) fn secret(
    name: &str,
    key: &str,
    file: Option<std::path::PathBuf>,
    given: Option<secrecy::SecretString>,
    builder: &mut Builder<'_>,
) -> Option<Secret> {
    match (file, given) {
        (_, Some(given)) => Some(Secret::Given(given)),
        (Some(path), None) => Some(builder.secret(SECTION, Some(name), key, &path)),
        (None, None) => None,
    }
}

#[expect(clippy::option_option, reason = "none at all, or one that is wrong")]
pub(super) fn client_certificate(
    name: &str,
    raw: &mut settings::Destination,
    builder: &mut Builder<'_>,
) -> Option<Option<(std::path::PathBuf, Secret)>> {
    match (raw.client_cert_file.take(), raw.client_key_file.take()) {
        (None, None) => Some(None),
        (Some(certificate), Some(key)) => {
            let certificate = builder.path(SECTION, Some(name), "client_cert_file", &certificate);
            Some(Some((certificate, builder.secret(SECTION, Some(name), "client_key_file", &key))))
        }
        (Some(_), None) => {
            let fix = "Name the file with the key of that certificate: client_key_file = \"...\".";
            builder.error(SECTION, Some(name), "client_cert_file", "has no key", fix);
            None
        }
        (None, Some(_)) => {
            let fix = "Name the file with the certificate of that key: client_cert_file = \"...\".";
            builder.error(SECTION, Some(name), "client_key_file", "has no certificate", fix);
            None
        }
    }
}
