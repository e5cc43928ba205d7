//! How a piece of work failed.

use std::time::Duration;

use crate::api::{ApiError, Meaning};
use crate::failure::{Call, Code, Failure, Kind};

/// How a piece of work failed, and what people are told of it.
pub(in crate::pipeline) struct Failed {
    /// What is compared.
    pub(in crate::pipeline) failure: Failure,
    /// Free of patient data.
    pub(in crate::pipeline) reason: String,
    /// For how long the other side asked to be left alone.
    pub(in crate::pipeline) retry_after: Option<Duration>,
    /// Where the PDF lies that could not be downloaded.
    pub(in crate::pipeline) origin: Option<String>,
    /// 401: the account has to sign in, unless the API says it to this document only.
    pub(in crate::pipeline) needs_login: bool,
}

impl Failed {
    pub(in crate::pipeline) fn new(call: Call, kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            failure: Failure { call, kind },
            reason: reason.into(),
            retry_after: None,
            origin: None,
            needs_login: false,
        }
    }

    /// A failed call to the API; `doing` is what it was for.
    pub(in crate::pipeline) fn of_call(call: Call, doing: &str, error: &ApiError) -> Self {
        let code = error.status().map_or_else(|| Code::Word(error.class().into()), Code::Status);
        let (meaning, retry_after) = (error.meaning(), error.retry_after());
        let kind = match meaning {
            Meaning::Origin => Kind::Down(code),
            // A server that says when it will be back is away for everybody.
            Meaning::Transient if retry_after.is_some() && error.status() == Some(503) => Kind::Down(code),
            Meaning::Transient | Meaning::NeedsLogin => Kind::Passing(code),
            Meaning::Permanent => Kind::Permanent(code),
        };
        let needs_login = meaning == Meaning::NeedsLogin;
        Self { retry_after, needs_login, ..Self::new(call, kind, format!("{doing}: {error}")) }
    }
}

/// The answer is about another document than the one that was asked for: something on the way mixes them up.
pub(in crate::pipeline) fn other_document() -> Failed {
    let reason = "the API answered with another document than the one asked for";
    Failed::new(Call::Read, Kind::Passing(Code::word("other_document")), reason)
}
