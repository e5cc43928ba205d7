//! The errors of a call, sorted by their meaning: try again, the document's own fault, or sign in.
//!
//! docsyncd writes the messages itself and never takes the server's text: an error body may quote patient data, and the
//! messages go into logs and reports. `docsyncd api` shows a person the whole answer.

use std::time::Duration;

use thiserror::Error;

use crate::domain::failure::SIGN_IN;

/// A failed call.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ApiError {
    /// There was no connection: nothing was sent.
    #[error("{host} cannot be reached: {what}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// The reason in short.
        what: String,
    },
    /// The connection broke in the middle of an answer, or nothing came for `api.timeout`.
    #[error("the answer of {host} broke off: {what}")]
    BrokenOff {
        /// Host and port.
        host: String,
        /// The reason in short.
        what: String,
        /// Whether the time ran out while the connection held.
        timed_out: bool,
    },
    /// 401: the token or key is missing, wrong or expired.
    #[error("the API refuses the credentials (HTTP 401): {}", who_mends(signed_in.as_deref()))]
    Unauthorized {
        /// NAME of the account if it signed in.
        signed_in: Option<String>,
    },
    /// A person must sign the account in.
    #[error("account {account} is signed out ({why}): run docsyncd login --account {account}")]
    SignedOut {
        /// NAME of the account.
        account: String,
        /// Why it is signed out.
        why: &'static str,
    },
    /// The account's key, client secret or sign-in cannot be used. The sentence says what to do.
    #[error("{0}")]
    Credentials(String),
    /// A sign-in cannot be renewed at present.
    #[error("the access token of account {account} cannot be renewed now: {what}")]
    Refresh {
        /// NAME of the account.
        account: String,
        /// The reason in short.
        what: String,
        /// How long to wait before another attempt.
        retry_after: Option<Duration>,
    },
    /// 403, and the server says that a scope is missing.
    #[error("HTTP 403: {}", missing(scopes, account.as_deref()))]
    MissingScope {
        /// The scopes that may be missing: names that the API describes.
        scopes: Vec<&'static str>,
        /// NAME of the account if it signed in.
        account: Option<String>,
    },
    /// Any other status that is no success.
    #[error("HTTP {status}{}", meaning(*.status))]
    Status {
        /// The status code.
        status: u16,
        /// The wait that Retry-After asks for (RFC 9110, section 10.2.3).
        retry_after: Option<Duration>,
    },
    /// The list of documents is not at its address: the address is another server's, or its path is incomplete.
    #[error("HTTP {status} at {url}: is api.base_url right, with its path?")]
    NotHere {
        /// 404, 405 or 410.
        status: u16,
        /// The requested address, without its query.
        url: String,
    },
    /// The answer does not fit the description of the API.
    #[error("the answer of the API cannot be understood: {0}")]
    Shape(String),
    /// The answer is about something else than was asked for, or does not say what it is about. Something on the way
    /// mixes up answers.
    #[error("the API answered with something else than was asked for")]
    Another,
    /// A record has more values than docsyncd keeps.
    #[error(
        "the API's record holds more than {most} values: ask its operator to leave out of it what no document needs, then run docsyncd \
         retry"
    )]
    TooMuch {
        /// How many values docsyncd keeps.
        most: usize,
    },
    /// The answer is no JSON, so it may come from another server.
    #[error("the answer of the API cannot be understood: {0}")]
    NotJson(String),
    /// Too many redirects, a redirect without a target, or one of a request that must not be repeated elsewhere.
    #[error("redirect refused: {0}")]
    Redirect(String),
    /// The address of a PDF is one to which downloads must not go. It was not tried, so nothing is known of it.
    #[error(
        "{0} lies on this computer or in its network, where downloads do not go: if PDFs really lie there, name the \
         host of pdf.url in api.pdf_hosts"
    )]
    RefusedAddress(String),
    /// An address without TLS, on another machine.
    #[error("{0} is not https: refused, since patient data would travel in the clear")]
    Insecure(String),
}

/// What a failed call means for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The whole server is out of reach, or asks for a pause.
    Origin,
    /// A later attempt may succeed.
    Transient,
    /// The call cannot succeed for this document as it is.
    Permanent,
    /// A person must sign in or mend the key.
    NeedsLogin,
}

impl ApiError {
    /// How this error counts.
    pub fn meaning(&self) -> Meaning {
        match self {
            // A missing scope is missing for every document. A server that says when it will be back is away for all of
            // them.
            ApiError::Unreachable { .. }
            | ApiError::Refresh { .. }
            | ApiError::MissingScope { .. }
            | ApiError::Status { status: 429, .. }
            | ApiError::Status { status: 503, retry_after: Some(_) } => Meaning::Origin,
            // Neither a success nor our error (for example a cache's 304): only a 4xx is the document's fault (promise
            // 5).
            // A 421 is about the connection that the request took (RFC 9110, section 15.5.20).
            ApiError::Status { status: ..400 | 500.. | 407 | 408 | 421 | 425, .. }
            | ApiError::BrokenOff { .. }
            | ApiError::Shape(_)
            | ApiError::Another
            | ApiError::NotJson(_)
            | ApiError::Redirect(_) => Meaning::Transient,
            ApiError::Unauthorized { .. } | ApiError::SignedOut { .. } | ApiError::Credentials(_) => {
                Meaning::NeedsLogin
            }
            ApiError::Status { .. }
            | ApiError::NotHere { .. }
            | ApiError::TooMuch { .. }
            | ApiError::Insecure(_)
            | ApiError::RefusedAddress(_) => Meaning::Permanent,
        }
    }

    /// Whether the answer did not come in time.
    pub fn is_timeout(&self) -> bool {
        matches!(self, ApiError::BrokenOff { timed_out: true, .. })
    }

    /// Whether the server may have done what the request asked: it gave no answer, or no clear one. A 4xx says that it
    /// did not (RFC 9110, section 15.5). A redirect may say that it did (section 15.4.4).
    pub fn may_have_had_effect(&self) -> bool {
        match self {
            ApiError::BrokenOff { .. }
            | ApiError::Shape(_)
            | ApiError::Another
            | ApiError::NotJson(_)
            | ApiError::Redirect(_) => true,
            ApiError::Status { status, .. } => !(400..500).contains(status),
            ApiError::Unreachable { .. }
            | ApiError::Unauthorized { .. }
            | ApiError::SignedOut { .. }
            | ApiError::Credentials(_)
            | ApiError::Refresh { .. }
            | ApiError::MissingScope { .. }
            | ApiError::NotHere { .. }
            | ApiError::TooMuch { .. }
            | ApiError::RefusedAddress(_)
            | ApiError::Insecure(_) => false,
        }
    }

    /// The status code, if the answer had one.
    pub fn status(&self) -> Option<u16> {
        match self {
            ApiError::Status { status, .. } | ApiError::NotHere { status, .. } => Some(*status),
            ApiError::Unauthorized { .. } => Some(401),
            ApiError::MissingScope { .. } => Some(403),
            _ => None,
        }
    }

    /// The wait that Retry-After asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ApiError::Status { retry_after, .. } | ApiError::Refresh { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The same error, with this wait before another attempt.
    pub(super) fn with_retry_after(self, wait: Duration) -> Self {
        match self {
            ApiError::Refresh { account, what, .. } => ApiError::Refresh { account, what, retry_after: Some(wait) },
            other => other,
        }
    }

    /// Whether this error, when the list is read, makes the whole account wait for a person.
    pub fn pauses_account(&self) -> bool {
        matches!(self, ApiError::SignedOut { .. } | ApiError::Credentials(_))
            || matches!(self.status(), Some(401 | 403))
    }

    /// The class of the error. Failures of several documents count as the same if they share it.
    pub fn class(&self) -> String {
        match self {
            ApiError::Unreachable { .. } => "unreachable".into(),
            ApiError::BrokenOff { .. } => "broken_off".into(),
            ApiError::Unauthorized { .. } => "http_401".into(),
            ApiError::SignedOut { .. } => "signed_out".into(),
            ApiError::Credentials(_) => "credentials".into(),
            ApiError::Refresh { .. } => "refresh".into(),
            ApiError::MissingScope { .. } => "scope".into(),
            ApiError::Status { status, .. } | ApiError::NotHere { status, .. } => format!("http_{status}"),
            ApiError::Shape(_) | ApiError::NotJson(_) => "shape".into(),
            ApiError::Another => "other_document".into(),
            ApiError::TooMuch { .. } => "too_much".into(),
            ApiError::Redirect(_) => "redirect".into(),
            ApiError::Insecure(_) => "insecure".into(),
            ApiError::RefusedAddress(_) => "refused_address".into(),
        }
    }
}

fn missing(scopes: &[&str], account: Option<&str>) -> String {
    let names = scopes.join(" or ");
    match account {
        Some(account) => format!(
            "account {account} lacks the scope {names}: add it to accounts.{account}.scopes and run docsyncd login \
             --account {account} again"
        ),
        None => format!("the account's key lacks the scope {names}: ask the operator for a key that has it"),
    }
}

fn who_mends(signed_in: Option<&str>) -> String {
    match signed_in {
        Some(account) => format!("{SIGN_IN}{account}"),
        None => "check the account's key".to_owned(),
    }
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => ": the API does not understand the request",
        403 => ": the account may not do this (is a scope missing, or is the document another user's?)",
        404 => ": the API does not know it",
        408 => ": the API waited too long for the request",
        409 => ": the request conflicts with the document's present state",
        410 => ": it no longer exists",
        413 => ": the request is too large for the API",
        415 => ": the API does not take this media type",
        422 => ": the API refuses the values",
        429 => ": the API asks for fewer requests",
        500.. => ": the API has a fault of its own",
        _ => "",
    }
}
