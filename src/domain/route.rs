//! Routes decide to which destinations a document goes. Pure.

use crate::domain::document::Metadata;

/// One `[[routes]]` table. A document matches if all given conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// Accounts by NAME; empty for every account. What counts is the account whose list first showed the document.
    pub accounts: Vec<String>,
    /// Document types (API, "Document", field `type`); empty for every type, including null.
    pub types: Vec<String>,
    /// Users by uuid or e-mail address; empty for every user.
    pub users: Vec<String>,
    /// `patient.visibilityOption`; `None` for any.
    pub visibility: Option<String>,
    /// `document.isAnonymized`; `None` for both.
    pub anonymized: Option<bool>,
    /// Names of the destinations; at least one. All of them must get the document.
    pub to: Vec<String>,
    /// Whether the configuration has no routes, so that everything goes to the only destination.
    pub is_implicit: bool,
}

impl Route {
    /// Whether every document that matches `other` also matches this route.
    pub fn takes_all_of(&self, other: &Route) -> bool {
        let within = |ours: &[String], theirs: &[String], same: fn(&str, &str) -> bool| {
            let named = |one: &String| ours.iter().any(|our| same(our, one));
            ours.is_empty() || (!theirs.is_empty() && theirs.iter().all(named))
        };
        within(&self.accounts, &other.accounts, |one, another| one == another)
            && within(&self.types, &other.types, |one, another| one == another)
            && within(&self.users, &other.users, |one, another| one.eq_ignore_ascii_case(another))
            && (self.visibility.is_none() || self.visibility == other.visibility)
            && (self.anonymized.is_none() || self.anonymized == other.anonymized)
    }

    /// Whether the document, which this account's list first showed, matches all conditions.
    pub fn matches(&self, account: &str, metadata: &Metadata) -> bool {
        let listed = |list: &[String], value: Option<&str>| {
            list.is_empty() || value.is_some_and(|v| list.iter().any(|l| l == v))
        };
        listed(&self.accounts, Some(account))
            && listed(&self.types, metadata.document_type())
            && (self.users.is_empty() || self.users.iter().any(|user| metadata.is_user(user)))
            && self.visibility.as_deref().is_none_or(|v| metadata.patient_visibility() == Some(v))
            && self.anonymized.is_none_or(|a| metadata.is_anonymized() == a)
    }
}

/// The destinations of the first route that matches the document, which this account's list first showed; `None` if
/// none matches.
pub fn destinations<'a>(routes: &'a [Route], account: &str, metadata: &Metadata) -> Option<&'a [String]> {
    routes.iter().find(|route| route.matches(account, metadata)).map(|route| route.to.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn metadata(document: Value, patient: Value) -> Metadata {
        Metadata {
            document: document.as_object().cloned().unwrap(),
            patient: patient.as_object().cloned().unwrap(),
            user: json!({"uuid": "u-1", "email": "Anne@practice.test"}).as_object().cloned().unwrap(),
            ..Metadata::default()
        }
    }

    fn to(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    #[test]
    fn the_first_route_whose_every_condition_holds_decides() {
        let routes = [
            Route { types: vec!["lab_slip".into()], anonymized: Some(true), to: to("a"), ..Route::default() },
            Route {
                users: vec!["anne@PRACTICE.test".into()],
                visibility: Some("private".into()),
                to: to("b"),
                ..Route::default()
            },
            Route { types: vec!["lab_slip".into()], to: to("c"), ..Route::default() },
        ];
        let decide =
            |document, patient| destinations(&routes, "main", &metadata(document, patient)).map(<[String]>::to_vec);
        assert_eq!(decide(json!({"type": "lab_slip", "isAnonymized": true}), json!({})), Some(to("a")));
        assert_eq!(decide(json!({"type": "lab_slip"}), json!({"visibilityOption": "private"})), Some(to("b")));
        assert_eq!(decide(json!({"type": "lab_slip"}), json!({"visibilityOption": "shared"})), Some(to("c")));
        assert_eq!(decide(json!({"type": null}), json!({})), None);
        assert_eq!(decide(json!({"type": "new_kind"}), json!({})), None);
    }

    #[test]
    fn a_route_without_conditions_takes_documents_without_a_type() {
        let routes = [Route { to: to("all"), ..Route::default() }];
        assert_eq!(destinations(&routes, "main", &metadata(json!({}), json!({}))), Some(to("all").as_slice()));
    }

    #[test]
    fn a_route_of_some_accounts_takes_their_documents_alone() {
        let routes = [
            Route { accounts: to("north"), to: to("a"), ..Route::default() },
            Route { accounts: to("south"), types: vec!["lab_slip".into()], to: to("b"), ..Route::default() },
        ];
        let decide = |account| destinations(&routes, account, &metadata(json!({"type": "lab_slip"}), json!({})));
        assert_eq!(decide("north"), Some(to("a").as_slice()));
        assert_eq!(decide("south"), Some(to("b").as_slice()));
        assert_eq!(decide("west"), None);
        let all = Route { to: to("c"), ..Route::default() };
        assert!(all.takes_all_of(&routes[0]) && !routes[0].takes_all_of(&all) && !routes[0].takes_all_of(&routes[1]));
    }
}
