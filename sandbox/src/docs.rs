//! `/docs`: a page for people that shows `/openapi.json` and sends requests that a person tries.
//!
//! The page is Swagger UI. Its files are in this program: a crate carries them, and the build packs them. So neither
//! building nor reading needs anything else. The page needs no token; a person enters one there.

use std::io::{Cursor, Read as _};

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::result::ZipResult;
use zip::{CompressionMethod, ZipArchive};

/// The files of Swagger UI that the page links to, with their media types. The other files are for other builds.
const SWAGGER_UI_FILES: &[(&str, &str)] = &[
    ("favicon-32x32.png", "image/png"),
    ("oauth2-redirect.html", "text/html"),
    ("oauth2-redirect.js", "text/javascript"),
    ("swagger-ui-bundle.js", "text/javascript"),
    ("swagger-ui.css", "text/css"),
];

/// Loads nothing from elsewhere, and runs no script in the page itself. Swagger UI sets styles on its elements and has
/// pictures in its style sheet.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Otherwise a newer sandbox on the same port could show an older page.
const CACHE_CONTROL: &str = "no-cache";

/// The answer of `GET /` for a person who opens the address of the first line.
pub(crate) const ROOT: &str =
    "This is the sandbox of the dental practice API.\n\nFor people: /docs\nFor programs: /openapi.json\n";

/// `GET /docs` and the files that it needs.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/docs", get(page)).route("/docs/", get(page)).route("/docs/{file}", get(file))
}

async fn page() -> Response {
    answer("text/html; charset=utf-8", include_str!("docs/page.html"))
}

async fn file(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "page.css" => answer("text/css; charset=utf-8", include_str!("docs/page.css")),
        "page.js" => answer("text/javascript; charset=utf-8", include_str!("docs/page.js")),
        name => match SWAGGER_UI_FILES.iter().find(|(known, _)| *known == name) {
            Some((_, media_type)) => of_swagger_ui(name, media_type),
            None => not_found(),
        },
    }
}

fn of_swagger_ui(name: &str, media_type: &str) -> Response {
    match packed(name) {
        Ok(Some((true, gzip))) => {
            let mut response = answer(media_type, gzip);
            // Packed files are sent packed: every browser can read them, and a client that names no coding accepts
            // every one (RFC 9110, section 12.5.3).
            response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
            response
        }
        Ok(Some((false, content))) => answer(media_type, content),
        Ok(None) => not_found(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A file of Swagger UI, and whether it is packed. The archive has compressed it like gzip, so that only gzip's head
/// and end are added (RFC 1952).
fn packed(name: &str) -> ZipResult<Option<(bool, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    let end = format!("/dist/{name}");
    let index = (0..archive.len())
        .find(|index| matches!(archive.name_for_index(*index), Some(Ok(name)) if name.ends_with(&end)));
    let Some(index) = index else {
        return Ok(None);
    };
    let mut file = archive.by_index_raw(index)?;
    let mut content = Vec::new();
    if file.compression() == CompressionMethod::Stored {
        file.read_to_end(&mut content)?;
        return Ok(Some((false, content)));
    }
    content.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    file.read_to_end(&mut content)?;
    content.extend(file.crc32().to_le_bytes());
    content.extend(u32::try_from(file.size()).unwrap_or(u32::MAX).to_le_bytes());
    Ok(Some((true, content)))
}

fn answer(media_type: &str, body: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, CACHE_CONTROL),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, body).into_response()
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "There is no such file below /docs.\n").into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn fetch(path: &str) -> (StatusCode, header::HeaderMap, Vec<u8>) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = routes().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        (head.status, head.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    /// The values of `href` and `src` in the page.
    fn links(page: &str) -> Vec<&str> {
        page.split(['"', '\'']).filter(|part| part.starts_with('/') || part.contains("//")).collect()
    }

    #[tokio::test]
    async fn the_page_needs_only_files_that_the_sandbox_serves() {
        let (status, headers, body) = fetch("/docs").await;
        assert_eq!(status, 200);
        assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let page = String::from_utf8(body).unwrap();
        let links = links(&page);
        assert!(links.len() > 4, "{links:?}");
        for link in links {
            if link == "/openapi.json" {
                continue;
            }
            let (status, headers, body) = fetch(link).await;
            assert_eq!(status, 200, "{link}");
            assert!(!body.is_empty(), "{link}");
            assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY), "{link}");
        }
    }

    #[tokio::test]
    async fn files_come_with_the_type_that_a_browser_insists_on() {
        for (file, media_type) in [
            ("swagger-ui.css", "text/css"),
            ("swagger-ui-bundle.js", "text/javascript"),
            ("page.js", "text/javascript; charset=utf-8"),
            ("favicon-32x32.png", "image/png"),
            ("oauth2-redirect.html", "text/html"),
        ] {
            let (_, headers, body) = fetch(&format!("/docs/{file}")).await;
            assert_eq!(headers[header::CONTENT_TYPE], media_type, "{file}");
            let packed = body.starts_with(&[0x1f, 0x8b]);
            assert_eq!(headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding == "gzip"), packed, "{file}");
        }
    }

    #[tokio::test]
    async fn the_page_has_the_same_address_with_a_slash() {
        assert_eq!(fetch("/docs/").await.2, fetch("/docs").await.2);
    }

    #[tokio::test]
    async fn other_files_of_swagger_ui_are_not_served() {
        for file in ["index.html", "swagger-initializer.js", "swagger-ui-es-bundle.js", "..%2Fdocs.rs"] {
            assert_eq!(fetch(&format!("/docs/{file}")).await.0, 404, "{file}");
        }
    }
}
