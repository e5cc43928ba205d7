//! The user that a token belongs to (API, "User", the current-user record).

use reqwest::Method;
use secrecy::SecretString;
use serde_json::Value;

use super::auth::Bearer;
use super::transport::{MAX_JSON_BYTES, Reach};
use super::{ApiError, Transport, json};

/// The longest name that is shown; characters.
const MAX_SHOWN: usize = 120;

/// A signed-in user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// Email address; it tells users apart.
    pub email: Option<String>,
    /// First and last name, as far as known.
    pub name: Option<String>,
    /// Name of the practice.
    pub practice: Option<String>,
}

/// `GET /me` with an access token that the account of this NAME has just received.
///
/// # Errors
/// [`ApiError`]; the messages about the body name the call.
pub async fn me(transport: &Transport, account: &str, token: &SecretString) -> Result<Me, ApiError> {
    let url = transport.endpoint(&["me"]);
    let bearer = Bearer::just_issued(account, token);
    let call = async {
        let response = transport.send_ok(Method::GET, url.clone(), &bearer, Reach::Api, None).await?;
        transport.read_bounded(&url, response, MAX_JSON_BYTES).await
    };
    let bytes = transport.in_time(&url, call).await?;
    let wrong = |error| match error {
        ApiError::Shape(what) => ApiError::Shape(format!("GET /me: {what}")),
        ApiError::NotJson(what) => ApiError::NotJson(format!("GET /me: {what}")),
        other => other,
    };
    Ok(Me::read(&json::parse(&bytes).map_err(wrong)?))
}

impl Me {
    /// Reads the known fields of a user's record.
    pub fn read(record: &Value) -> Self {
        let names = ["firstName", "lastName"].map(|name| shown(record.get(name)));
        let name = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Self {
            email: shown(record.get("email")),
            name: Some(name).filter(|name| !name.is_empty()),
            practice: shown(record.pointer("/organization/name")),
        }
    }

    /// `First Last <email>`, or the part of it that is known.
    pub fn person(&self) -> Option<String> {
        match (&self.name, &self.email) {
            (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
            (name, email) => name.clone().or_else(|| email.clone()),
        }
    }
}

/// The text without control characters, which could change the terminal.
fn shown(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?;
    let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_left_out() {
        let whole = json!({"email": "a@b.test", "firstName": "Ana", "lastName": "Bo", "organization": {"name": "P"}});
        let me = Me::read(&whole);
        assert_eq!(me.person().as_deref(), Some("Ana Bo <a@b.test>"));
        assert_eq!(me.practice.as_deref(), Some("P"));
        let me = Me::read(&json!({"email": "a@b.test", "firstName": null, "organization": null}));
        assert_eq!((me.person().as_deref(), me.practice), (Some("a@b.test"), None));
        let me = Me::read(&json!({"lastName": "B\u{1b}[31mo"}));
        assert_eq!(me.person().as_deref(), Some("B[31mo"));
        assert_eq!(Me::read(&json!([])).person(), None);
    }
}
