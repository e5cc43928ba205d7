//! JSON as real servers write it. One bad field must not make a whole answer unreadable, and no answer may cost more
//! memory than the bounds, whatever it contains. Fields that are not asked for are skipped.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::ApiError;

/// The deepest nesting that is kept; deeper values become null. A document has four levels.
const MAX_DEPTH: usize = 16;
/// The most values that are kept of one answer, or of one element of a list. A document has about two hundred.
const MAX_VALUES: usize = 20_000;
/// The longest text that is kept; bytes. Addresses that a cloud signs have about a thousand.
const MAX_TEXT: usize = 16 * 1024;
/// Longer answers and elements are not repaired; bytes.
const MAX_REPAIRED: usize = 1024 * 1024;

/// Reads a record.
///
/// # Errors
/// [`ApiError::NotJson`] with the position only, since the parser's message could quote the answer.
/// [`ApiError::TooMuch`] if there are too many values: the next answer would not have fewer.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let left = Cell::new(MAX_VALUES);
    let read = within(bytes, &[], &left);
    read.map_err(|error| if left.get() == 0 { ApiError::TooMuch { most: MAX_VALUES } } else { error })
}

/// Reads only these fields of an object.
///
/// # Errors
/// [`ApiError::NotJson`] if it is no JSON; [`ApiError::Shape`] if it has another form, or too many values.
pub(super) fn fields(bytes: &[u8], only: &'static [&'static str]) -> Result<Value, ApiError> {
    within(bytes, only, &Cell::new(MAX_VALUES))
}

/// Keeps at most [`MAX_VALUES`] values. Afterwards `left` is 0 if there were more.
fn within(bytes: &[u8], only: &'static [&'static str], left: &Cell<usize>) -> Result<Value, ApiError> {
    let seed = || {
        left.set(MAX_VALUES);
        Bounds { depth: MAX_DEPTH, left, only }
    };
    read(bytes, seed, || "it has another form than expected".to_owned())
}

/// The name of the list in the collection object that JSON-LD and Hydra put around it.
const MEMBERS: [&str; 2] = ["member", "hydra:member"];

/// A list as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct List<T> {
    /// The result from its elements.
    pub read: T,
    /// Whether it is an object with numbers for names, or an empty object: PHP writes a list with gaps so.
    pub is_numbered: bool,
}

/// Reads a list element by element: an array, an object with numbers for names, or either in a collection object.
/// Passes on the JSON text of each element, so that a bad one costs only itself.
///
/// # Errors
/// [`ApiError::NotJson`] if it is no JSON; [`ApiError::Shape`] if it is no list.
pub(super) fn elements<T: Default>(bytes: &[u8], each: &dyn Fn(&mut T, &str)) -> Result<List<T>, ApiError> {
    read(bytes, || Elements { members: &MEMBERS, each, read: T::default() }, || "a list was expected".to_owned())
}

/// Reads the whole of `bytes`. `unfit` describes JSON that the seed rejects.
fn read<T, S>(bytes: &[u8], seed: impl Fn() -> S, unfit: impl Fn() -> String) -> Result<T, ApiError>
where
    S: for<'de> DeserializeSeed<'de, Value = T>,
{
    let bytes = without_bom(bytes);
    let mut plain = serde_json::Deserializer::from_slice(bytes);
    let error = match seed().deserialize(&mut plain).and_then(|value| plain.end().map(|()| value)) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if error.is_data() {
        return Err(ApiError::Shape(unfit()));
    }
    if bytes.len() <= MAX_REPAIRED {
        let text = without_huge_numbers(&repaired(bytes));
        let mut mended = serde_json::Deserializer::from_str(&text);
        match seed().deserialize(&mut mended).and_then(|value| mended.end().map(|()| value)) {
            Ok(value) => return Ok(value),
            Err(error) if error.is_data() => return Err(ApiError::Shape(unfit())),
            Err(_) => {}
        }
    }
    let looks_like_html = bytes.trim_ascii_start().starts_with(b"<");
    let what = if looks_like_html { "it is HTML (a proxy's page?)" } else { "it is not JSON" };
    Err(ApiError::NotJson(format!("{what}, line {}, column {}", error.line(), error.column())))
}

/// A value within bounds.
struct Bounds<'a> {
    depth: usize,
    /// How many values may still be kept.
    left: &'a Cell<usize>,
    only: &'static [&'static str],
}

impl Bounds<'_> {
    fn within(&self) -> Self {
        Self { depth: self.depth.saturating_sub(1), left: self.left, only: &[] }
    }
}

impl<'de> DeserializeSeed<'de> for Bounds<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.left.get() {
            0 => Err(D::Error::custom("too much")),
            left => {
                self.left.set(left - 1);
                deserializer.deserialize_any(self)
            }
        }
    }
}

impl<'de> Visitor<'de> for Bounds<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        let mut end = value.len().min(MAX_TEXT);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        Ok(Value::String(value.get(..end).unwrap_or_default().to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        if self.depth == 0 {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(self.within())? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if self.depth == 0 {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            if self.only.is_empty() || self.only.contains(&&*name) {
                let value = map.next_value_seed(self.within())?;
                fields.insert(name.into_owned(), value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(fields))
    }
}

/// The elements of a list.
struct Elements<'a, T> {
    members: &'static [&'static str],
    each: &'a dyn Fn(&mut T, &str),
    read: T,
}

impl<'de, T> DeserializeSeed<'de> for Elements<'_, T> {
    type Value = List<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<List<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T> Visitor<'de> for Elements<'_, T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<List<T>, A::Error> {
        while let Some(element) = seq.next_element::<&RawValue>()? {
            (self.each)(&mut self.read, element.get());
        }
        Ok(List { read: self.read, is_numbered: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<List<T>, A::Error> {
        let Self { members, each, read } = self;
        let (mut unread, mut found, mut has_names) = (Some(read), None, false);
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            match &mut unread {
                Some(read) if !has_names && is_number(&name) => each(read, map.next_value::<&RawValue>()?.get()),
                Some(_) if members.contains(&&*name) => {
                    let seed = unread.take().map(|read| Elements { members: &[], each, read });
                    found = seed.map(|seed| map.next_value_seed(seed)).transpose()?;
                }
                _ => {
                    has_names = true;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let numbered = unread.filter(|_| !has_names).map(|read| List { read, is_numbered: true });
        found.or(numbered).ok_or_else(|| A::Error::custom("no list"))
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Replaces with U+FFFD bytes that are not UTF-8, and escapes that RFC 8259 allows but no text can hold: half of a
/// surrogate pair (section 8.2), for example from an emoji that was cut.
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

/// A byte order mark is no part of the text (RFC 8259, section 8.1).
pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Replaces numbers that overflow a double (RFC 8259, section 6) with null.
fn without_huge_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, token)) =
        rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()).and_then(|at| rest.split_at_checked(at))
    {
        let length = match token.strip_prefix('"') {
            Some(string) => 1 + length_of_string(string),
            None => token.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(token.len()),
        };
        let (token, after) = token.split_at_checked(length).unwrap_or((token, ""));
        kept.push_str(before);
        kept.push_str(if token.parse::<f64>().is_ok_and(f64::is_infinite) { "null" } else { token });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The length in bytes up to and including the end of a string; its opening quote is not in `string`.
fn length_of_string(string: &str) -> usize {
    let mut escaped = false;
    let end = string.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(string.len(), |end| end + 1)
}

/// The UTF-16 code unit of an escape, without its backslash.
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
            (b"\xef\xbb\xbf[1]", json!([1])),
            (
                br#"{"a":1e400,"b":[-1e999,{"c":1E+400}],"d":12.5e-1}"#,
                json!({"a": null, "b": [null, {"c": null}], "d": 1.25}),
            ),
            (br#"["1e400\\\"1e400\\\\",1e400,"-"]"#, json!(["1e400\\\"1e400\\\\", null, "-"])),
        ] {
            assert_eq!(parse(written).unwrap(), read, "{}", String::from_utf8_lossy(written));
        }
    }

    #[test]
    fn what_is_too_deep_or_too_long_is_cut_and_what_is_too_much_is_refused() {
        let deep = format!("{{\"uuid\": \"d\", \"x\": {}7{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let read = parse(deep.as_bytes()).unwrap();
        assert_eq!(read.get("uuid"), Some(&json!("d")));
        assert!(read.to_string().len() < 100, "{read}");
        let long = format!("[\"x{}\"]", "\u{e9}".repeat(MAX_TEXT));
        assert_eq!(parse(long.as_bytes()).unwrap()[0].as_str().map(str::len), Some(MAX_TEXT - 1));
        let wide = format!("[{}[]]", "[],".repeat(MAX_VALUES));
        let Err(error) = parse(wide.as_bytes()) else { panic!("{}", wide.len()) };
        assert_eq!((error.meaning(), error.status()), (super::super::Meaning::Permanent, None));
        assert!(error.to_string().contains("more than 20000 values"), "{error}");
        let unknown = format!("{{\"x\": {wide}, \"y\": 1e400, \"uuid\": \"d\"}}");
        assert_eq!(fields(unknown.as_bytes(), &["uuid"]).unwrap(), json!({"uuid": "d"}));
    }

    #[test]
    fn what_is_no_json_is_told_by_its_place_only() {
        for wrong in ["<html>Canary", "{\"Canary\": }", "[\"\\ud800", "[\"\\u12", "\\", "[\"\\x\u{e9}\"]", ""] {
            let Err(ApiError::NotJson(what)) = parse(wrong.as_bytes()) else { panic!("{wrong}") };
            assert!(what.contains("line ") && !what.contains("Canary"), "{what}");
        }
    }
}
