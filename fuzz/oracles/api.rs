//! Answers of the API: a list, a document, a user, tokens, an error. The first byte says which.

use std::time::{Duration, SystemTime};

use docsyncd::api::auth::{endpoint, scopes};
use docsyncd::api::{ApiError, Detail, Me, Page, TokenAnswer};
use docsyncd::domain::document::{DocumentUuid, Metadata, Record};
use docsyncd::formats::template::{Context, Template, TemplateKind};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

use super::names;

/// The name that is asked for by default.
const FILE_NAME: &str =
    "{{ patient.lastName }}_{{ patient.firstName }}/{{ document.createdAt | date }}_{{ document.type }}.pdf";
/// The longest life that an access token may claim.
const LONGEST_LIFE: Duration = Duration::from_secs(366 * 24 * 3600);

/// Whatever the API answers is understood, or refused in words of our own.
pub fn check(input: &[u8]) {
    let Some((kind, body)) = input.split_first() else { return };
    match kind {
        b'l' => list(body),
        b'd' => detail(body),
        b'm' => me(body),
        b't' => tokens(200, body),
        b'T' => tokens(400, body),
        _ => error(body),
    }
}

fn is_ours(error: &ApiError) {
    let words = [
        "a list was expected",
        "a document was expected",
        "it has another form than expected",
        "it is HTML (a proxy's page?), line ",
        "it is not JSON, line ",
    ];
    let is_ours = match error {
        ApiError::Shape(what) => words.iter().any(|word| what.starts_with(word)),
        error => matches!(error, ApiError::TooMuch { .. }),
    };
    assert!(is_ours, "{error:?}");
}

fn list(body: &[u8]) {
    let page = match Page::read(body) {
        Ok(page) => page,
        Err(error) => return is_ours(&error),
    };
    if let Ok(Value::Array(shown)) = serde_json::from_slice(body) {
        assert_eq!(page.len(), shown.len(), "nothing is left out without being counted");
    }
    for item in &page.items {
        identifies(&item.uuid);
        let printed = [Some(&item.created_at), item.kind.as_ref(), item.pdf.as_ref()];
        for text in printed.into_iter().flatten() {
            assert!(text.chars().count() <= 100 && !text.chars().any(char::is_control), "{text:?}");
        }
    }
}

/// An identifier stands in an address and in a log line, and does not change either.
fn identifies(uuid: &DocumentUuid) {
    let mut url = Url::parse("https://api.example.test/v1/").unwrap();
    url.path_segments_mut().unwrap().pop_if_empty().extend(["documents", uuid.as_str(), "status"]);
    assert_eq!(url.path(), format!("/v1/documents/{uuid}/status"));
    assert!(uuid.as_str().len() <= 128 && uuid.as_str().chars().all(|c| c.is_ascii_graphic()), "{uuid:?}");
    assert_eq!(DocumentUuid::parse(uuid.as_str()).as_ref(), Some(uuid));
}

fn detail(body: &[u8]) {
    let detail = match Detail::read(body) {
        Ok(detail) => detail,
        Err(error) => return is_ours(&error),
    };
    if let Some(pdf) = &detail.pdf {
        assert!(pdf.size != Some(0) && pdf.url.as_deref() != Some(""), "{pdf:?}");
    }
    let metadata = Metadata {
        account: "main".to_owned(),
        document: detail.document,
        patient: detail.patient,
        user: detail.user,
        number: None,
    };
    // As it lies in the ledger until it is delivered.
    let kept = serde_json::to_string(&metadata).expect("it can be kept");
    assert!(serde_json::from_str::<Metadata>(&kept).is_ok(), "what was kept can be read: {kept}");
    let name = Template::compile(TemplateKind::FileName, FILE_NAME).unwrap().render(&Context::new(&metadata)).unwrap();
    let parts = docsyncd::domain::name::relative_path(&name);
    names::assert_path(&parts);
    assert_eq!(parts.len(), 2, "only the template's own slash makes a folder: {parts:?}");
    assert!(!format!("{metadata:?}").contains("lastName"), "nothing of the records is shown");
}

fn me(body: &[u8]) {
    let Ok(value) = serde_json::from_slice(body) else { return };
    let me = Me::read(&value);
    for shown in [me.email, me.name, me.practice].into_iter().flatten() {
        assert!(!shown.is_empty() && !shown.chars().any(char::is_control), "{shown:?}");
    }
}

fn tokens(status: u16, body: &[u8]) {
    let read = |body: Vec<u8>| {
        let old = SecretString::from("old-refresh-token");
        let answer = TokenAnswer { status, retry_after: None, body };
        endpoint::understand(&answer, SystemTime::UNIX_EPOCH, Some(&old))
    };
    let answer = read(body.to_vec());
    if let Ok(tokens) = &answer {
        for token in [&tokens.access_token, &tokens.refresh_token] {
            let token = token.expose_secret();
            assert!(!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()), "a token is one word");
        }
        assert!(tokens.expires_in <= LONGEST_LIFE);
    }
    // The same answer with other tokens looks the same to whoever reads logs.
    if let Ok(mut record) = serde_json::from_slice::<Record>(body) {
        for name in ["access_token", "refresh_token"] {
            if let Some(Value::String(token)) = record.get_mut(name) {
                let plausible = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
                *token = if plausible { "another-token".to_owned() } else { String::new() };
            }
        }
        let other = read(serde_json::to_vec(&record).unwrap());
        assert_eq!(format!("{answer:?}"), format!("{other:?}"), "a token shows");
        let message = |answer: &Result<_, endpoint::TokenError>| answer.as_ref().err().map(ToString::to_string);
        assert_eq!(message(&answer), message(&other), "a token shows");
    }
}

fn error(body: &[u8]) {
    let text = String::from_utf8_lossy(body);
    let found = scopes::of_body(&text);
    for scope in &found {
        assert!(text.contains(scope) && scope.contains(':'), "{scope} was not named");
    }
    let distinct: std::collections::HashSet<_> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "each once");
    let challenge = scopes::of_challenge(&text);
    assert!(challenge.is_empty() || text.contains("insufficient_scope"));
}
