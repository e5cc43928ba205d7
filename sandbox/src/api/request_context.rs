//! What every handler knows of its request: the user, the endpoint, the version and the media type.

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::Response;
use rusqlite::Transaction;
use serde::de::DeserializeOwned;

use super::Problem;
use super::access::Caller;
use super::query::ListRequest;
use super::render::{Shape, Shown};
use crate::describe::{Endpoint, Version, endpoint, methods};
use crate::error::SandboxError;
use crate::quirks::Quirks;
use crate::shared::Shared;
use crate::store::{Collection, UserRow};

/// The header that chooses a version; the mechanism is "not shown".
pub(crate) static VERSION_HEADER: HeaderName = HeaderName::from_static("api-version");

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

impl RequestContext {
    /// The requested page: `load` reads its rows, and `show` shows them.
    pub async fn list<T: Send + 'static>(
        &self,
        shared: &Shared,
        collection: &'static Collection,
        load: impl Fn(&Transaction<'_>, i64) -> Result<T, SandboxError> + Send + 'static,
        show: impl Fn(&Shape, &T) -> Shown,
    ) -> Result<Response, Problem> {
        let request = ListRequest::parse(self, collection)?;
        let page = shared.store.run(move |transaction| request.read(transaction, load)).await?;
        let shape = self.shape(shared);
        let shown = page.rows.iter().map(|row| show(&shape, row)).collect();
        Ok(self.page(&page, shown))
    }

    /// How records are shown to this request.
    pub fn shape(&self, shared: &Shared) -> Shape {
        Shape::new(shared, Arc::clone(&self.quirks), self.version)
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
