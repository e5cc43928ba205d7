//! Whether an answer is a page for people: no service answers with one for a document that it keeps, and every captive
//! portal does.

use reqwest::header::CONTENT_TYPE;

use super::super::web_client::Content;

/// How pages begin, whatever their declared type.
const PAGES: [&str; 4] = ["<!doctype html", "<html", "<head", "<body"];
/// The same without a declared type: JSON and plain texts do not begin so.
const UNSAID: [&str; 4] = ["<!--", "<script", "<meta", "<title"];

/// The type alone decides nothing: much PHP code declares a plain "OK" as `text/html`.
pub(super) fn is_web_page(content: &Content) -> bool {
    let text = String::from_utf8_lossy(&content.beginning).to_ascii_lowercase();
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let begins = |with: &[&str]| with.iter().any(|start| text.starts_with(start));
    let kind =
        content.headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase());
    let kind = kind.as_deref().map(|kind| kind.split(';').next().unwrap_or_default().trim());
    match kind {
        Some("text/html" | "application/xhtml+xml") => {
            // A body that did not arrive, or cannot be unpacked, cannot be read.
            text.starts_with('<') || (content.is_broken && text.is_empty())
        }
        None => begins(&PAGES) || begins(&UNSAID) || (text.starts_with("<?xml") && text.contains("<html")),
        Some(_) => begins(&PAGES),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn is_page(kind: Option<&'static str>, is_broken: bool, text: &[u8]) -> bool {
        let headers = kind.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))).into_iter().collect();
        is_web_page(&Content { headers, beginning: text.to_vec(), digest: None, is_broken })
    }

    #[test]
    fn a_page_is_known_by_its_text_and_not_by_its_type_alone() {
        let html = Some("text/html; charset=utf-8");
        for text in [
            &b"<!-- portal --><html>"[..],
            b"\n <script>location='/login'</script>",
            b"<meta http-equiv=refresh>",
            b"\xef\xbb\xbf<title>Sign in</title>",
            b"<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html>",
            b"<!doctype html>",
        ] {
            assert!(is_page(html, false, text) && is_page(None, false, text), "{}", String::from_utf8_lossy(text));
            assert!(is_page(Some("Application/XHTML+xml"), false, text));
        }
        assert!(is_page(html, true, b"") && is_page(Some("text/plain"), false, b"<HTML>"));
        for (kind, text) in [
            (html, &b"OK"[..]),
            (html, b""),
            (None, b"OK"),
            (None, b"{}"),
            (None, b"<?xml version='1.0'?><ok/>"),
            (Some("application/xml"), b"<!-- filed --><ok/>"),
            (Some("application/json"), b"{\"a\": \"<html>\"}"),
        ] {
            assert!(!is_page(kind, false, text), "{kind:?} {}", String::from_utf8_lossy(text));
        }
    }
}
