//! What a FHIR server answers to a search for a letter: bytes that should be a bundle with the letter in it.

use docsyncd::destinations::shown_letters;
use docsyncd::domain::document::Spooled;

/// The identifier of the letter.
const IDENTITY: &str = "urn:uuid:608d8484-a1fe-530e-bb09-0123456789ab";
/// Its PDF in base64, `Attachment.hash` and SHA-256 of that.
const DATA: &str = "JVBERi0xLjQKYQo=";
const HASH: &str = "IWqv3EvGWFMu7C97vQClqwV8g1A=";
const SHA256: &str = "fe7d15c4f66e989216e58bb28dd7a24e1c7eea41de1f1b5130c7567236397049";

/// A byte for the size of its pieces, and the answer.
pub fn check(input: &[u8]) {
    let Some((size, answer)) = input.split_first() else { return };
    let pdf = Spooled { path: "".into(), in_memory: None, size: 11, sha256: SHA256.to_owned() };
    let read = |size: usize| shown_letters(answer.chunks(size), IDENTITY, &pdf, HASH);
    let (whole, pieces) = (read(answer.len().max(1)), read(usize::from(size % 8) + 1));
    assert_eq!(whole, pieces, "in pieces of {size}");
    for (id, is_same) in whole.into_iter().flatten() {
        if let Some(id) = id {
            let leads_away = |c: char| !c.is_ascii_graphic() || "/\\?#%".contains(c);
            assert!(!id.contains(leads_away) && !["", ".", ".."].contains(&id.as_str()), "{id:?}");
        }
        assert!(!is_same || shows(answer), "{:?}", String::from_utf8_lossy(answer));
    }
}

/// A second opinion: somewhere in it stand the identifier and the content, or what it is known by.
fn shows(answer: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice(answer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(answer)) else {
        return false;
    };
    has(&value, &|text| text.eq_ignore_ascii_case(IDENTITY))
        && has(&value, &|text| {
            [DATA, HASH].contains(&text.trim()) || text.eq_ignore_ascii_case(&format!("sha256:{SHA256}"))
        })
}

fn has(value: &serde_json::Value, is_it: &dyn Fn(&str) -> bool) -> bool {
    match value {
        serde_json::Value::String(text) => is_it(text),
        serde_json::Value::Array(values) => values.iter().any(|value| has(value, is_it)),
        serde_json::Value::Object(values) => values.values().any(|value| has(value, is_it)),
        _ => false,
    }
}
