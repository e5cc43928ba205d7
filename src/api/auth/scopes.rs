//! The scopes that the API describes (API, "Scopes"). Only these names are shown to people, since the rest of an answer
//! may contain anything.

/// Pairs of a scope to read and a scope to write.
const READ_WRITE: [[&str; 2]; 21] = [
    ["read:patients", "write:patients"],
    ["read:contacts", "write:contacts"],
    ["read:documents", "write:documents"],
    ["read:notes", "write:notes"],
    ["read:document_integrations", "write:document_integrations"],
    ["read:webhooks", "write:webhooks"],
    ["read:users", "write:users"],
    ["read:organizations", "write:organizations"],
    ["read:invitations", "write:invitations"],
    ["read:subscriptions", "write:subscriptions"],
    ["read:emails", "write:emails"],
    ["read:personalizations", "write:personalizations"],
    ["read:oauth_client_users", "write:oauth_client_users"],
    ["read:oauth_clients", "write:oauth_clients"],
    ["read:oauth_short_access_tokens", "write:oauth_short_access_tokens"],
    ["read:images", "write:images"],
    ["read:meetings", "write:meetings"],
    ["read:audios", "write:audios"],
    ["read:readers", "write:readers"],
    ["read:user_registrations", "write:user_registrations"],
    ["read:transcription_dictionary", "write:transcription_dictionary"],
];

/// The other scopes.
const SINGLE: [&str; 4] = ["profile", "organization", "capture:images", "capture:audios"];

/// The scopes that a text names, each once, in the order of the text.
pub(in crate::api) fn named_in(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '_'))) {
        let known = READ_WRITE.iter().flatten().chain(&SINGLE).find(|scope| **scope == word);
        if let Some(scope) = known.filter(|scope| !found.contains(*scope)) {
            found.push(*scope);
        }
    }
    found
}

/// The scope parameter of a challenge that says `insufficient_scope` (RFC 6750, section 3).
pub fn of_challenge(challenge: &str) -> Vec<&'static str> {
    let parameter = challenge.split("scope=\"").nth(1).and_then(|rest| rest.split('"').next());
    let insufficient = challenge.contains("insufficient_scope");
    parameter.filter(|_| insufficient).map(named_in).unwrap_or_default()
}

/// The scopes that an error body names, if it mentions scopes. Without `profile` and `organization`, which may be
/// ordinary words there.
pub fn of_body(body: &str) -> Vec<&'static str> {
    let speaks_of_scopes = body.to_ascii_lowercase().contains("scope");
    let mut found = if speaks_of_scopes { named_in(body) } else { Vec::new() };
    found.retain(|scope| scope.contains(':'));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_api_describes_are_repeated() {
        let challenge = r#"Bearer error="insufficient_scope", scope="read:documents evil:thing write:documents""#;
        assert_eq!(of_challenge(challenge), ["read:documents", "write:documents"]);
        assert_eq!(of_challenge(r#"Bearer realm="x", scope="read:documents""#), Vec::<&str>::new());
        assert_eq!(of_challenge(r#"Bearer error="insufficient_scope""#), Vec::<&str>::new());
    }

    #[test]
    fn a_body_names_a_scope_only_where_it_speaks_of_scopes() {
        assert_eq!(of_body(r#"{"detail": "Missing scope: write:documents."}"#), ["write:documents"]);
        assert_eq!(of_body(r#"{"detail": "This organization is not yours, read:documents"}"#), Vec::<&str>::new());
        assert_eq!(of_body("the scope of this organization"), Vec::<&str>::new());
    }
}
