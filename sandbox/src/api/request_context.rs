//! What every handler knows of its request: the user, the endpoint, the version and the media type.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use serde::de::DeserializeOwned;

use crate::describe::{Endpoint, Version, endpoint, methods};
use crate::problem::Problem;
use crate::quirks::Quirks;
use crate::scope::Scopes;
use crate::shared::Shared;
use crate::store::UserRow;

/// The header that chooses a version; the mechanism is "not shown".
pub(crate) static VERSION_HEADER: HeaderName = HeaderName::from_static("api-version");

/// The signed-in user and what the credentials allow, for handlers to extract as an extension.
#[derive(Clone)]
pub(super) struct Caller {
    pub user: UserRow,
    pub scopes: Scopes,
}

/// A request that may be answered.
pub(super) struct RequestContext {
    pub user: UserRow,
    pub quirks: Arc<Quirks>,
    pub version: Version,
    pub media: Media,
    pub endpoint: &'static Endpoint,
    pub path: String,
    pub query: String,
}

/// The media types of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    LdJson,
}

impl Media {
    pub fn essence(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::LdJson => "application/ld+json",
        }
    }
}

impl FromRequestParts<Arc<Shared>> for RequestContext {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Problem> {
        let version = version(&parts.headers, shared.api_version)?;
        let template = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let endpoint = endpoint(parts.method.as_str(), template)
            .filter(|endpoint| endpoint.is_in(version))
            .ok_or_else(|| match methods(template, version).as_slice() {
                [] => Problem::no_route(&parts.method, &parts.uri),
                allowed => Problem::wrong_method(&parts.method, &parts.uri, allowed),
            })?;
        let caller = parts.extensions.get::<Caller>().ok_or(Problem::Unauthorized("JWT Token not found"))?;
        if shared.enforce_scopes && !caller.scopes.allow(endpoint.scopes) {
            return Err(Problem::missing_scope(endpoint.scopes));
        }
        let quirks = match parts.extensions.get::<Arc<Quirks>>() {
            Some(quirks) => Arc::clone(quirks),
            None => Arc::new(shared.quirks()),
        };
        Ok(Self {
            user: caller.user.clone(),
            quirks,
            version,
            media: media(&parts.headers)?,
            endpoint,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
        })
    }
}

/// The variable parts of the path. A part that is not even text when decoded names nothing.
pub(super) struct PathParams<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Shared>> for PathParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, shared).await;
        path.map(|Path(open)| Self(open)).map_err(|_| Problem::nothing_here())
    }
}

/// The requested version, or the usual one.
pub(crate) fn version(headers: &HeaderMap, usual: Version) -> Result<Version, Problem> {
    match headers.get(&VERSION_HEADER) {
        None => Ok(usual),
        Some(value) => {
            let text = String::from_utf8_lossy(value.as_bytes());
            text.trim().parse().map_err(|reason| Problem::bad_request(format!("Api-Version: {reason}.")))
        }
    }
}

/// Answers an address that is known with a method that is not.
pub(super) async fn wrong_method(
    State(shared): State<Arc<Shared>>,
    template: Option<MatchedPath>,
    method: Method,
    headers: HeaderMap,
    uri: Uri,
) -> Problem {
    let version = version(&headers, shared.api_version).unwrap_or(shared.api_version);
    let allowed = methods(template.as_ref().map_or("", MatchedPath::as_str), version);
    Problem::wrong_method(&method, &uri, &allowed)
}

/// The best of the two media types for the `Accept` headers (RFC 9110, section 12.5.1); plain JSON among equals.
fn media(headers: &HeaderMap) -> Result<Media, Problem> {
    let ranges: Vec<String> = headers
        .get_all(header::ACCEPT)
        .iter()
        .flat_map(|value| String::from_utf8_lossy(value.as_bytes()).split(',').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    if ranges.iter().all(|range| range.trim().is_empty()) {
        return Ok(Media::Json);
    }
    let quality = |media: Media| {
        ranges
            .iter()
            .filter_map(|range| Some((precision(range, media)?, quality(range))))
            .max_by_key(|(precision, _)| *precision)
            .map_or(0, |(_, quality)| quality)
    };
    match (quality(Media::Json), quality(Media::LdJson)) {
        (0, 0) => Err(Problem::new(
            406,
            format!(
                "Requested format \"{}\" is not supported. Supported MIME types are \"application/json\", \
                 \"application/ld+json\".",
                ranges.join(",")
            ),
        )),
        (json, linked) if linked > json => Ok(Media::LdJson),
        _ => Ok(Media::Json),
    }
}

/// How precisely a media range names a media type; `None` if it does not.
fn precision(range: &str, media: Media) -> Option<u8> {
    let essence = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "*/*" => Some(0),
        "application/*" => Some(1),
        exact if exact == media.essence() => Some(2),
        _ => None,
    }
}

/// The weight of a range in thousandths. An unreadable one counts as 1.
fn quality(range: &str) -> u32 {
    range
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .and_then(|(_, value)| value.trim().parse::<f32>().ok())
        .map_or(1000, thousandths)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=1000 before")]
fn thousandths(weight: f32) -> u32 {
    (weight * 1000.0).clamp(0.0, 1000.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Option<Media> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        media(&headers).ok()
    }

    #[test]
    fn the_accept_header_chooses_between_the_two_media_types() {
        for (accept, expected) in [
            ("*/*", Some(Media::Json)),
            ("application/json", Some(Media::Json)),
            ("application/ld+json", Some(Media::LdJson)),
            ("application/ld+json, application/json", Some(Media::Json)),
            ("application/ld+json, application/json;q=0.9", Some(Media::LdJson)),
            ("text/html, application/xhtml+xml, */*;q=0.8", Some(Media::Json)),
            ("application/json;q=0, */*", Some(Media::LdJson)),
            ("APPLICATION/LD+JSON ; charset=utf-8", Some(Media::LdJson)),
            ("text/html", None),
            ("application/json;q=0", None),
            ("", Some(Media::Json)),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
    }
}
