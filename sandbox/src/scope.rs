//! OAuth scopes ("Scopes" of the API description).

use std::collections::BTreeSet;

/// What stands after `read:` and `write:`.
const PAIRS: &[&str] = &[
    "patients",
    "contacts",
    "documents",
    "notes",
    "document_integrations",
    "webhooks",
    "users",
    "organizations",
    "invitations",
    "subscriptions",
    "emails",
    "personalizations",
    "oauth_client_users",
    "oauth_clients",
    "oauth_short_access_tokens",
    "images",
    "meetings",
    "audios",
    "readers",
    "user_registrations",
    "transcription_dictionary",
];

/// Scopes that are no pair.
const SINGLE: &[&str] = &["profile", "organization", "capture:images", "capture:audios"];

/// A set of scopes, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scopes(BTreeSet<String>);

impl Scopes {
    /// Every scope there is: what an API key may do.
    pub fn all() -> Self {
        let pairs = PAIRS.iter().flat_map(|of| [format!("read:{of}"), format!("write:{of}")]);
        Self(SINGLE.iter().map(|scope| (*scope).to_owned()).chain(pairs).collect())
    }

    /// A space-separated list (RFC 6749, section 3.3); the first unknown scope is the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.split(' ')
            .filter(|scope| !scope.is_empty())
            .map(|scope| if known(scope) { Ok(scope.to_owned()) } else { Err(scope.to_owned()) })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether the set has one of these; true for an empty list.
    pub fn allow(&self, any_of: &[&str]) -> bool {
        any_of.is_empty() || any_of.iter().any(|scope| self.0.contains(*scope))
    }

    /// Those that are in both sets.
    pub fn common(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Space-separated.
    pub fn show(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }
}

fn known(scope: &str) -> bool {
    SINGLE.contains(&scope)
        || scope.strip_prefix("read:").or_else(|| scope.strip_prefix("write:")).is_some_and(|of| PAIRS.contains(&of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_of_the_description_is_known() {
        let all = Scopes::all();
        assert_eq!(all.iter().count(), 46);
        assert_eq!(Scopes::parse(&all.show()), Ok(all));
    }

    #[test]
    fn an_unknown_scope_is_named() {
        assert_eq!(Scopes::parse("profile read:teeth"), Err("read:teeth".to_owned()));
    }

    #[test]
    fn one_of_several_suffices() {
        let scopes = Scopes::parse("profile  write:documents").unwrap();
        assert!(scopes.allow(&["read:documents", "write:documents"]));
        assert!(!scopes.allow(&["read:documents"]));
        assert!(scopes.allow(&[]));
    }
}
