//! The requests that a fault hits.

use super::Fault;

/// The kinds of requests for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `GET /documents`
    List,
    /// `GET /documents/{uuid}`
    Document,
    /// A PDF's content, on either listener.
    Pdf,
    /// `POST /documents/{uuid}/status`
    Status,
    /// `GET /patients/{uuid}`
    Patient,
    /// `POST /oauth2/token`
    Token,
    /// The authorization page, at both of its addresses.
    Authorize,
    /// One endpoint as `METHOD /template`, such as `GET /contacts/{uuid}`. Braces stand for any one part of a path.
    Endpoint(&'static str),
    /// Every request.
    Any,
}

/// The routes that have a name of their own in JSON.
const NAMED: &[(&str, Route)] = &[
    ("list", Route::List),
    ("document", Route::Document),
    ("pdf", Route::Pdf),
    ("status", Route::Status),
    ("patient", Route::Patient),
    ("token", Route::Token),
    ("authorize", Route::Authorize),
    ("any", Route::Any),
];

/// Every row of the endpoint tables and of "Authentication".
const ENDPOINTS: &[&str] = &[
    "GET /audios",
    "GET /audios/{uuid}",
    "GET /contacts",
    "POST /contacts",
    "GET /contacts/{uuid}",
    "PATCH /contacts/{uuid}",
    "GET /documents",
    "GET /documents/{uuid}",
    "POST /documents/{uuid}/status",
    "GET /notes",
    "GET /notes/{uuid}",
    "GET /organizations",
    "GET /organizations/{uuid}",
    "GET /patients",
    "POST /patients",
    "GET /patients/{uuid}",
    "PATCH /patients/{uuid}",
    "GET /me",
    "GET /users/{uuid}",
    "GET /webhooks",
    "POST /webhooks",
    "GET /webhooks/{uuid}",
    "PATCH /webhooks/{uuid}",
    "DELETE /webhooks/{uuid}",
    "POST /oauth2/token",
];

impl Route {
    /// The route of this name. The error names all routes.
    pub(super) fn by_name(name: &str) -> Result<Self, String> {
        let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, route)| *route);
        let endpoint = || ENDPOINTS.iter().find(|known| **known == name).copied().map(Self::Endpoint);
        named.or_else(endpoint).ok_or_else(|| {
            let names: Vec<&str> = NAMED.iter().map(|(known, _)| *known).collect();
            format!(
                "\"{name}\" is no route; there are {}, and every endpoint as METHOD /path: {}",
                names.join(", "),
                ENDPOINTS.join(", ")
            )
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Endpoint(endpoint) => endpoint,
            Self::List => "list",
            Self::Document => "document",
            Self::Pdf => "pdf",
            Self::Status => "status",
            Self::Patient => "patient",
            Self::Token => "token",
            Self::Authorize => "authorize",
            Self::Any => "any",
        }
    }

    /// Whether its requests can be about a document.
    pub(super) fn knows_documents(self) -> bool {
        match self {
            Self::Document | Self::Pdf | Self::Status | Self::Any => true,
            Self::Endpoint(endpoint) => endpoint.contains(" /documents/"),
            Self::List | Self::Patient | Self::Token | Self::Authorize => false,
        }
    }

    fn covers(self, target: &Target) -> bool {
        match self {
            Self::Any => true,
            Self::Endpoint(endpoint) => matches(endpoint, target),
            Self::List | Self::Document | Self::Pdf | Self::Status | Self::Patient | Self::Token | Self::Authorize => {
                self == target.route
            }
        }
    }
}

/// What faults need to know of a request.
pub(crate) struct Target {
    pub method: String,
    pub path: String,
    /// The named route; [`Route::Any`] for the others.
    pub route: Route,
    pub document: Option<String>,
    /// What follows `Bearer ` in its `Authorization` header.
    pub bearer: Option<String>,
}

impl Target {
    /// Whether this fault can hit this request.
    pub(super) fn is_of(&self, fault: &Fault) -> bool {
        let meant = |wanted: Option<&String>, found: Option<&String>| wanted.is_none() || wanted == found;
        fault.route.covers(self)
            && meant(fault.document.as_ref(), self.document.as_ref())
            && meant(fault.bearer.as_ref(), self.bearer.as_ref())
    }
}

/// Whether a request is for this endpoint, by the method and every part of the path.
fn matches(endpoint: &str, target: &Target) -> bool {
    let Some((method, template)) = endpoint.split_once(' ') else {
        return false;
    };
    let mut wanted = template.trim_matches('/').split('/');
    let mut given = target.path.trim_matches('/').split('/');
    let parts_match = loop {
        match (wanted.next(), given.next()) {
            (None, None) => break true,
            (Some(wanted), Some(given)) if wanted == given || wanted.starts_with('{') => {}
            (Some(_) | None, Some(_) | None) => break false,
        }
    };
    parts_match && method.eq_ignore_ascii_case(&target.method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &str, path: &str) -> Target {
        Target { method: method.into(), path: path.into(), route: Route::Any, document: None, bearer: None }
    }

    #[test]
    fn an_endpoint_covers_its_method_and_every_value_of_its_braces() {
        let contact = Route::Endpoint("GET /contacts/{uuid}");
        assert!(contact.covers(&target("GET", "/contacts/1")));
        assert!(!contact.covers(&target("PATCH", "/contacts/1")));
        assert!(!contact.covers(&target("GET", "/contacts")));
        assert!(!contact.covers(&target("GET", "/contacts/1/2")));
        assert!(!contact.covers(&target("GET", "/patients/1")));
    }

    #[test]
    fn every_endpoint_of_the_description_can_have_a_fault() {
        for endpoint in crate::describe::ENDPOINTS {
            let name = format!("{} {}", endpoint.method, endpoint.path);
            assert!(Route::by_name(&name).is_ok(), "{name}");
        }
    }

    #[test]
    fn every_name_is_read_as_it_is_written() {
        for name in NAMED.iter().map(|(name, _)| name).chain(ENDPOINTS) {
            assert_eq!(Route::by_name(name).unwrap().name(), *name);
        }
        assert!(Route::by_name("GET /teeth").unwrap_err().contains("PATCH /contacts/{uuid}"));
    }
}
