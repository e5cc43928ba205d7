//! The request with which an application sends a person to the authorization page ("Flow").

use super::parameters::{Parameters, Repeated};
use super::redirect::Redirect;
use super::secret::fingerprint;
use super::{Client, Oauth};
use crate::scope::Scopes;

/// "Limits": `state` has at least this many characters.
const SHORTEST_STATE: usize = 16;

/// RFC 7636, section 4.2.
const CHALLENGE_LENGTH: std::ops::RangeInclusive<usize> = 43..=128;

/// A valid request.
#[derive(Clone, Debug)]
pub(super) struct AuthorizationRequest {
    pub client_id: String,
    pub redirect: Redirect,
    pub scopes: Scopes,
    /// In the form of method S256, whichever method was used.
    pub code_challenge: Option<String>,
    /// The email address that the application expects. Usual, though not in the description.
    pub login_hint: Option<String>,
}

/// A request that is answered without asking a person.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The redirect is unknown, so the person is told.
    Here(Trouble),
    /// The application is told.
    ThereWith { redirect: Redirect, error: &'static str, description: String },
}

/// Why a person is not redirected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A parameter that the redirect needs is missing or came twice.
    Parameter(&'static str),
    UnknownClient(String),
    /// The requested address is not registered.
    UnknownRedirect(String),
}

impl AuthorizationRequest {
    /// Reads the application and the redirect first, because only they allow a refusal by redirect.
    pub fn read(oauth: &Oauth, query: &[u8]) -> Result<Self, Refusal> {
        let parameters = Parameters::parse(query);
        let (client, uri) = way_back(oauth, &parameters).map_err(Refusal::Here)?;
        // If the state came twice, neither is passed on.
        let state = parameters.one("state").ok().flatten().map(str::to_owned);
        let redirect = Redirect { uri, state };
        match asked(&parameters) {
            Ok(CheckedParameters { scopes, code_challenge, login_hint }) => {
                Ok(Self { client_id: client.client_id.clone(), redirect, scopes, code_challenge, login_hint })
            }
            Err(description) => Err(Refusal::ThereWith { redirect, error: "invalid_request", description }),
        }
    }
}

fn way_back<'a>(oauth: &'a Oauth, parameters: &Parameters) -> Result<(&'a Client, String), Trouble> {
    let needed = |name| match parameters.one(name) {
        Ok(Some(value)) => Ok(value),
        Ok(None) | Err(Repeated(_)) => Err(Trouble::Parameter(name)),
    };
    let client_id = needed("client_id")?;
    let client = oauth.client(client_id).ok_or_else(|| Trouble::UnknownClient(client_id.to_owned()))?;
    let uri = needed("redirect_uri")?;
    if !client.redirect_uris.iter().any(|registered| registered == uri) {
        return Err(Trouble::UnknownRedirect(uri.to_owned()));
    }
    Ok((client, uri.to_owned()))
}

/// The part of a request without the redirect.
struct CheckedParameters {
    scopes: Scopes,
    code_challenge: Option<String>,
    login_hint: Option<String>,
}

/// The description lists no error for a wrong scope or response type, so every error here is `invalid_request`.
fn asked(parameters: &Parameters) -> Result<CheckedParameters, String> {
    let one = |name| parameters.one(name).map_err(|Repeated(name)| format!("{name} was sent more than once."));
    match one("response_type")? {
        Some("code") => {}
        Some(other) => return Err(format!("response_type must be \"code\", not \"{other}\".")),
        None => return Err("response_type is missing; it must be \"code\".".to_owned()),
    }
    let state = one("state")?.ok_or("state is missing; it must have at least 16 characters.")?;
    if state.chars().count() < SHORTEST_STATE {
        return Err("state is too short; it must have at least 16 characters.".to_owned());
    }
    let scope = one("scope")?.ok_or("scope is missing; it must be a space-separated list.")?;
    let scopes = Scopes::parse(scope).map_err(|unknown| format!("scope names \"{unknown}\", which does not exist."))?;
    if scopes.is_empty() {
        return Err("scope is empty; it must be a space-separated list.".to_owned());
    }
    let code_challenge = challenge(one("code_challenge")?, one("code_challenge_method")?)?;
    Ok(CheckedParameters { scopes, code_challenge, login_hint: one("login_hint")?.map(str::to_owned) })
}

/// PKCE (RFC 7636, section 4.3). A plain challenge is kept as its fingerprint, like one of method S256.
fn challenge(challenge: Option<&str>, method: Option<&str>) -> Result<Option<String>, String> {
    let unreserved = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    let well_formed = |text: &&str| CHALLENGE_LENGTH.contains(&text.len()) && text.chars().all(unreserved);
    match (challenge, method) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err("code_challenge_method was sent without a code_challenge.".to_owned()),
        (Some(_), Some(other)) if !matches!(other, "S256" | "plain") => {
            Err(format!("code_challenge_method must be \"S256\" or \"plain\", not \"{other}\"."))
        }
        (Some(text), Some("S256")) if text.len() == 43 && well_formed(&text) => Ok(Some(text.to_owned())),
        (Some(_), Some("S256")) => {
            Err("code_challenge must be the base64url of a SHA-256, 43 characters without padding.".to_owned())
        }
        (Some(text), _) if well_formed(&text) => Ok(Some(fingerprint(text))),
        (Some(_), _) => Err("code_challenge must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S256: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

    #[test]
    fn both_methods_keep_the_same_challenge_for_the_same_verifier() {
        assert_eq!(challenge(Some(S256), Some("S256")), Ok(Some(S256.to_owned())));
        assert_eq!(challenge(Some(VERIFIER), Some("plain")), Ok(Some(S256.to_owned())));
        assert_eq!(challenge(Some(VERIFIER), None), Ok(Some(S256.to_owned())));
        assert_eq!(challenge(None, None), Ok(None));
    }

    #[test]
    fn a_challenge_that_no_verifier_could_match_is_refused() {
        for (text, method) in [
            (Some("short"), None),
            (Some("short"), Some("S256")),
            (Some(S256), Some("S512")),
            (None, Some("S256")),
            (Some(&*"é".repeat(30)), None),
        ] {
            assert!(challenge(text, method).is_err(), "{text:?} {method:?}");
        }
    }
}
