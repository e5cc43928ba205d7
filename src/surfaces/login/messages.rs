//! What an answer of the service means for a person. The texts are in `language`.

use crate::formats::language::Language;

/// Why nobody was signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// `access_denied`: the person refused.
    Denied,
    /// `invalid_request` in the redirect.
    InvalidRequest,
    /// `unauthorized_client`, in the redirect or from the token endpoint.
    UnauthorizedClient,
    /// `invalid_scope` (RFC 6749, section 4.1.2.1).
    InvalidScope,
    /// `server_error` and `temporarily_unavailable` (RFC 6749, section 4.1.2.1).
    ServerFault,
    /// Another word of the server.
    OtherRefusal,
    /// `invalid_grant`: the code is expired or already used, or belongs to another redirect address.
    CodeRefused,
    /// `invalid_client`: the client secret or the identifier is wrong.
    ClientRefused,
    /// The token endpoint could not be reached, or its answer could not be understood.
    Unreachable,
    /// The client secret cannot be read.
    NoSecret,
    /// The tokens could not be written.
    NotSaved,
}

/// What happened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// A headline without a full stop.
    pub what: String,
    /// One or two sentences.
    pub advice: String,
}

impl Message {
    /// The headline of this key, with its advice.
    pub(super) fn of(key: &str, language: Language) -> Self {
        Self { what: language.text(&format!("login-{key}")), advice: language.text(&format!("login-{key}-do")) }
    }
}

impl FailureKind {
    /// What an error redirect means (API, "Flow", step 5).
    pub fn of_redirect(error: &str) -> Self {
        match error {
            "access_denied" => Self::Denied,
            "invalid_request" => Self::InvalidRequest,
            "unauthorized_client" => Self::UnauthorizedClient,
            "invalid_scope" => Self::InvalidScope,
            "server_error" | "temporarily_unavailable" => Self::ServerFault,
            _ => Self::OtherRefusal,
        }
    }

    /// What an error of the token endpoint means (API, "Token endpoint errors").
    pub fn of_exchange(error: &str) -> Self {
        match error {
            "invalid_grant" => Self::CodeRefused,
            "invalid_client" => Self::ClientRefused,
            other => Self::of_redirect(other),
        }
    }

    /// What to tell a person.
    pub fn told(self, language: Language) -> Message {
        let key = match self {
            Self::Denied => "denied",
            Self::InvalidRequest => "invalid-request",
            Self::UnauthorizedClient => "unauthorized-client",
            Self::InvalidScope => "invalid-scope",
            Self::ServerFault => "server-fault",
            Self::OtherRefusal => "other-refusal",
            Self::CodeRefused => "code-refused",
            Self::ClientRefused => "client-refused",
            Self::Unreachable => "unreachable",
            Self::NoSecret => "no-secret",
            Self::NotSaved => "not-saved",
        };
        Message::of(key, language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::language::LANGUAGES;

    #[test]
    fn the_errors_of_the_description_have_words_of_their_own() {
        let redirects =
            ["access_denied", "invalid_request", "unauthorized_client", "anything"].map(FailureKind::of_redirect);
        let exchanges = ["invalid_grant", "invalid_client"].map(FailureKind::of_exchange);
        let kinds: Vec<FailureKind> = redirects.into_iter().chain(exchanges).collect();
        for language in LANGUAGES {
            let mut told: Vec<String> = kinds.iter().map(|kind| kind.told(language).what).collect();
            told.sort_unstable();
            told.dedup();
            assert_eq!(told.len(), kinds.len());
        }
        assert_eq!(FailureKind::of_exchange("invalid_request"), FailureKind::InvalidRequest);
    }
}
