//! One attempt to get authorized: the request, and the possible answers (API, "Flow"). No sockets, no files.
//!
//! The state ties the answer to the request (RFC 6749, section 10.12). The code verifier ties the code to this process
//! (RFC 7636); a server that does not know it ignores it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use url::{Url, form_urlencoded};

use crate::config::OAuthConfig;

/// Random bytes in the state and in the code verifier: 256 bits, 43 characters as text. The API wants at least 16
/// characters; RFC 7636, section 4.1, wants 43.
const SECRET_BYTES: usize = 32;
/// The server's description is shown up to this many characters.
const MAX_DESCRIPTION: usize = 300;

/// One request to the authorization page.
#[derive(Debug)]
pub struct Attempt {
    state: SecretString,
    code_verifier: SecretString,
    redirect_uri: String,
}

/// What the redirect to docsyncd carried.
#[derive(Debug)]
pub enum Returned {
    /// The person approved: the code can be exchanged once, within 60 seconds.
    Code(SecretString),
    /// The server refuses.
    Refused(Refusal),
}

/// An error redirect (API, "Flow", step 5; RFC 6749, section 4.1.2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `access_denied`, `invalid_request`, `unauthorized_client`, or another word.
    pub error: String,
    /// The server's own words, without control characters.
    pub description: Option<String>,
}

/// Something that is no answer to this attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAnAnswer {
    /// Neither a code nor an error is present, or one of them is present twice.
    Incomplete,
    /// The state differs: the answer is to an earlier attempt, or somebody made it up.
    WrongState,
}

impl Attempt {
    /// A new attempt with fresh secrets. The browser returns to this port of the loopback interface.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(oauth: &OAuthConfig, port: u16) -> Result<Self, getrandom::Error> {
        let redirect_uri = redirect_uri(oauth, port);
        Ok(Self { state: random_text()?, code_verifier: random_text()?, redirect_uri })
    }

    /// The address that the browser returns to. It must be registered at the server.
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Proves to the token endpoint that the code is ours.
    pub fn code_verifier(&self) -> &SecretString {
        &self.code_verifier
    }

    /// The address to open in the browser.
    pub fn address(&self, page: &Url, oauth: &OAuthConfig) -> Url {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.code_verifier.expose_secret()));
        let mut address = page.clone();
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &oauth.client_id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("scope", &oauth.scopes.join(" "))
            .append_pair("state", self.state.expose_secret())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        address
    }

    /// Reads the query with which the browser came back. Checks the state before it trusts anything else.
    ///
    /// # Errors
    /// [`NotAnAnswer`] if the query has another state, or not exactly one code or error.
    pub fn read(&self, query: &str) -> Result<Returned, NotAnAnswer> {
        let one = |wanted: &str| {
            let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some((_, value)), None) => Ok(Some(value.into_owned()).filter(|value| !value.is_empty())),
                (Some(_), Some(_)) => Err(NotAnAnswer::Incomplete),
            }
        };
        let (code, error) = (one("code")?, one("error")?);
        if code.is_none() && error.is_none() {
            return Err(NotAnAnswer::Incomplete);
        }
        let state = one("state")?.unwrap_or_default();
        if !bool::from(state.as_bytes().ct_eq(self.state.expose_secret().as_bytes())) {
            return Err(NotAnAnswer::WrongState);
        }
        match (code, error) {
            (Some(code), None) => Ok(Returned::Code(SecretString::from(code))),
            (None, Some(error)) => Ok(Returned::Refused(
                Refusal { error: printable(&error), description: one("error_description")? }.tidy(),
            )),
            _ => Err(NotAnAnswer::Incomplete),
        }
    }

    /// Reads what a person copied from the browser: the whole address, or only its query.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_pasted(&self, text: &str) -> Result<Returned, NotAnAnswer> {
        let text = text.trim().trim_matches(['"', '\'', '<', '>']);
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        self.read(query.split('#').next().unwrap_or_default())
    }
}

impl Refusal {
    fn tidy(self) -> Self {
        let description = self.description.map(|text| printable(&text)).filter(|text| !text.is_empty());
        Self { description, ..self }
    }
}

/// The redirect address of an account, as it must be registered.
pub fn redirect_uri(oauth: &OAuthConfig, port: u16) -> String {
    format!("http://127.0.0.1:{port}{}", oauth.redirect_path)
}

/// The text without control characters, which could change the terminal.
fn printable(text: &str) -> String {
    let harmless = |c: &char| {
        !c.is_control() && !matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(harmless).take(MAX_DESCRIPTION).collect::<String>().trim().to_owned()
}

fn random_text() -> Result<SecretString, getrandom::Error> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(SecretString::from(URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;
    use std::collections::HashMap;

    fn oauth() -> OAuthConfig {
        OAuthConfig {
            client_id: "id & co".into(),
            client_secret: Secret::File("secret".into()),
            scopes: vec!["profile".into(), "read:documents".into()],
            redirect_port: 0,
            redirect_path: "/callback".into(),
        }
    }

    fn attempt() -> Attempt {
        Attempt::new(&oauth(), 8976).unwrap()
    }

    fn state(attempt: &Attempt) -> &str {
        attempt.state.expose_secret()
    }

    #[test]
    fn the_address_says_all_that_the_flow_asks_for() {
        let attempt = attempt();
        let page = Url::parse("https://app.example.test/practice/authorize").unwrap();
        let address = attempt.address(&page, &oauth());
        assert!(address.as_str().starts_with("https://app.example.test/practice/authorize?response_type=code&"));
        let query: HashMap<String, String> = address.query_pairs().into_owned().collect();
        let verifier = attempt.code_verifier().expose_secret();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        for (name, value) in [
            ("client_id", "id & co"),
            ("redirect_uri", "http://127.0.0.1:8976/callback"),
            ("scope", "profile read:documents"),
            ("state", state(&attempt)),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(query[name], value, "{name}");
        }
        assert!(!address.as_str().contains(verifier), "the verifier is not sent");
    }

    /// RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_that_of_the_standard() {
        let code_verifier = SecretString::from("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let attempt = Attempt { code_verifier, ..attempt() };
        let address = attempt.address(&Url::parse("https://app.example.test/authorize").unwrap(), &oauth());
        assert!(address.as_str().contains("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
    }

    #[test]
    fn no_two_attempts_share_a_secret_and_each_has_256_bits() {
        let (one, two) = (attempt(), attempt());
        let secrets = [&one.state, &one.code_verifier, &two.state, &two.code_verifier].map(|s| s.expose_secret());
        for (index, secret) in secrets.iter().enumerate() {
            assert_eq!(URL_SAFE_NO_PAD.decode(secret).unwrap().len(), 32);
            assert!(!secrets[..index].contains(secret));
        }
        assert!(!format!("{one:?}").contains(state(&one)), "a secret is never printed");
    }

    #[test]
    fn an_answer_with_the_right_state_is_a_code_or_a_refusal() {
        let attempt = attempt();
        let code = attempt.read(&format!("code=a%2Bb&state={}&iss=x", state(&attempt)));
        assert!(matches!(code, Ok(Returned::Code(code)) if code.expose_secret() == "a+b"));
        let refused = attempt.read(&format!(
            "error=access_denied&error_description=No%1b%5b31m+thanks%E2%80%AE.&state={}",
            state(&attempt)
        ));
        let Ok(Returned::Refused(refusal)) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal.error, "access_denied");
        assert_eq!(refusal.description.as_deref(), Some("No[31m thanks."), "it cannot control the terminal");
    }

    #[test]
    fn another_state_is_no_answer_whatever_else_is_there() {
        let attempt = attempt();
        let other = "A".repeat(43);
        let shorter = &state(&attempt)[..42];
        for query in [
            "code=x".to_owned(),
            "error=access_denied".to_owned(),
            "code=x&state=".to_owned(),
            format!("code=x&state={other}"),
            format!("code=x&state={shorter}"),
            format!("error=access_denied&state={}A", state(&attempt)),
        ] {
            assert!(matches!(attempt.read(&query), Err(NotAnAnswer::WrongState)), "{query}");
        }
    }

    #[test]
    fn half_an_answer_or_two_of_them_are_none() {
        let attempt = attempt();
        let state = state(&attempt);
        for query in [
            String::new(),
            format!("state={state}"),
            format!("code=&state={state}"),
            format!("code=a&code=b&state={state}"),
            format!("code=a&state={state}&state={state}"),
            format!("code=a&error=access_denied&state={state}"),
        ] {
            assert!(matches!(attempt.read(&query), Err(NotAnAnswer::Incomplete)), "{query}");
        }
    }

    #[test]
    fn what_a_person_pastes_is_read_with_or_without_its_address() {
        let attempt = attempt();
        let query = format!("code=abc&state={}", state(&attempt));
        for pasted in [
            query.clone(),
            format!("?{query}"),
            format!("  http://127.0.0.1:8976/callback?{query}\r\n"),
            format!("\"http://127.0.0.1:8976/callback?{query}#done\""),
            format!("<127.0.0.1:8976/callback?{query}>"),
        ] {
            let read = attempt.read_pasted(&pasted);
            assert!(matches!(read, Ok(Returned::Code(code)) if code.expose_secret() == "abc"), "{pasted}");
        }
        for pasted in ["", "http://127.0.0.1:8976/callback", "what?"] {
            assert!(matches!(attempt.read_pasted(pasted), Err(NotAnAnswer::Incomplete)), "{pasted}");
        }
    }
}
