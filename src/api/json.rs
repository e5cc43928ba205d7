//! JSON as servers write it: what stands in one field must not make a whole answer unreadable.

use std::borrow::Cow;

use serde_json::Value;

use super::ApiError;

/// Reads an answer.
///
/// # Errors
/// [`ApiError::Shape`]: it is no JSON. The parser's message could quote the answer; its position is enough.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(bytes).or_else(|error| {
        serde_json::from_str(&repaired(bytes)).map_err(|_| {
            let looks_like_html = bytes.trim_ascii_start().starts_with(b"<");
            let what = if looks_like_html { "it is HTML (a proxy's page?)" } else { "it is not JSON" };
            ApiError::Shape(format!("{what}, line {}, column {}", error.line(), error.column()))
        })
    })
}

/// What RFC 8259 allows and no text can be (section 8.2: half of a surrogate pair, which is what is left of an emoji that
/// was cut), and bytes that are not UTF-8, become U+FFFD.
fn repaired(bytes: &[u8]) -> String {
    let text: Cow<'_, str> = String::from_utf8_lossy(bytes);
    let mut repaired = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once('\\') {
        repaired.push_str(before);
        let unit = unit(after);
        let taken = match unit {
            Some(0xd800..0xdc00) if after.get(5..).is_some_and(is_second_half) => 11,
            Some(0xd800..0xe000) => {
                repaired.push('\u{fffd}');
                rest = after.get(5..).unwrap_or_default();
                continue;
            }
            Some(_) => 5,
            None => after.chars().next().map_or(0, char::len_utf8),
        };
        let (escape, others) = after.split_at_checked(taken).unwrap_or((after, ""));
        repaired.push('\\');
        repaired.push_str(escape);
        rest = others;
    }
    repaired.push_str(rest);
    repaired
}

/// The UTF-16 code unit of an escape, behind its backslash.
fn unit(escape: &str) -> Option<u16> {
    u16::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok()
}

fn is_second_half(text: &str) -> bool {
    text.strip_prefix('\\').and_then(unit).is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_field_does_not_make_an_answer_unreadable() {
        for (written, read) in [
            (&br#"["\ud800x"]"#[..], json!(["\u{fffd}x"])),
            (br#"["\udc00\ud83d", "\uD83D\uDE00"]"#, json!(["\u{fffd}\u{fffd}", "\u{1f600}"])),
            (
                br#"["\ud83d\ud83d\ude00", "\\ud800", "\ud800\\", "\ud800\n\u00e9"]"#,
                json!(["\u{fffd}\u{1f600}", "\\ud800", "\u{fffd}\\", "\u{fffd}\n\u{e9}"]),
            ),
            (b"[\"a\xff\xc3\"]", json!(["a\u{fffd}\u{fffd}"])),
            (b"[1, \"\\u00e9\"]", json!([1, "\u{e9}"])),
        ] {
            assert_eq!(parse(written).unwrap(), read, "{}", String::from_utf8_lossy(written));
        }
    }

    #[test]
    fn what_is_no_json_is_told_by_its_place_only() {
        for wrong in ["<html>Canary", "{\"Canary\": }", "[\"\\ud800", "[\"\\u12", "\\", "[\"\\x\u{e9}\"]", ""] {
            let Err(ApiError::Shape(what)) = parse(wrong.as_bytes()) else { panic!("{wrong}") };
            assert!(what.contains("line ") && !what.contains("Canary"), "{what}");
        }
    }
}
