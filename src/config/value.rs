//! Single values: converts TOML or an environment variable to a value that the key's kind allows, or to a complaint
//! with the fix. A complaint never quotes a value that could contain a secret.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use bytesize::ByteSize;
use toml::de::DeValue;
use toml::{Table, Value};
use url::{Host, Url};

use super::nearest;
use super::report::Complaint;
use super::schema::{Key, Kind};
use crate::domain::document::{LOINC, TypeCode};

/// Converts a value of the file unchanged.
pub fn from_toml(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .map_or(Value::Float(f64::INFINITY), Value::Integer),
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| from_toml(item.get_ref())).collect()),
        DeValue::Table(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.get_ref().to_string(), from_toml(value.get_ref())));
            Value::Table(entries.collect())
        }
    }
}

/// Parses the text of an environment variable as the kind of its key. Texts stay unchanged, so that "007" is no number;
/// an empty text removes an optional value (`None`).
pub fn from_variable(key: &Key, text: &str) -> Result<Option<Value>, Complaint> {
    let trimmed = text.trim();
    let optional = key.default.is_none() && !key.required && key.kind != Kind::TypeMap;
    match key.kind {
        _ if trimmed.is_empty() && optional => return Ok(None),
        Kind::List | Kind::Templates | Kind::Statuses => list(trimmed),
        Kind::TemplateTable | Kind::SecretFileTable | Kind::TypeMap => table(trimmed),
        _ if trimmed.is_empty() => Err(Complaint::new("is empty", "Give the variable a value or remove it.")),
        Kind::Bool => match trimmed.to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true.into()),
            "false" | "no" | "off" | "0" => Ok(false.into()),
            _ => Err(Complaint::new("is neither true nor false", "Write true or false.")),
        },
        Kind::Integer { min, max } => trimmed
            .parse()
            .map(Value::Integer)
            .map_err(|_| Complaint::new("is not a whole number", format!("Write a number from {min} to {max}."))),
        Kind::Text | Kind::Path | Kind::SecretFile | Kind::Program | Kind::Template => Ok(text.into()),
        Kind::Duration { .. }
        | Kind::Size { .. }
        | Kind::Mode { .. }
        | Kind::Enum(_)
        | Kind::Address
        | Kind::Proxy
        | Kind::Loopback
        | Kind::Listen
        | Kind::Secret => Ok(trimmed.into()),
    }
    .map(Some)
}

/// A TOML inline table, or a JSON object.
fn table(text: &str) -> Result<Value, Complaint> {
    if let Ok(value) = DeValue::parse(text) {
        return Ok(from_toml(value.get_ref()));
    }
    serde_json::from_str(text)
        .map(Value::Table)
        .map_err(|_| Complaint::new("is not a table", r#"Write a table such as { "Name" = "value" }."#))
}

/// The entries of a table of texts.
fn texts(key: &Key, entries: Table) -> Result<Value, Complaint> {
    if entries.values().any(|value| !value.is_str()) {
        return Err(Complaint::new("holds something that is not text", format!("Write {}.", example(key))));
    }
    if entries.keys().any(|name| name.trim().is_empty()) {
        return Err(Complaint::new("holds an entry without a name", "Give it a name or remove it."));
    }
    let names: HashSet<String> = entries.keys().map(|name| name.to_ascii_lowercase()).collect();
    if names.len() < entries.len() {
        return Err(Complaint::new("holds a name twice, in different letter case", "Remove one of them."));
    }
    Ok(Value::Table(entries))
}

/// The given codes, and the LOINC code of every other type.
fn type_map(key: &Key, mut entries: Table) -> Result<Value, Complaint> {
    let is_code = |value: &Value| value.as_str().is_some_and(|text| TypeCode::parse(text).is_some());
    if let Some((kind, _)) = entries.iter().find(|(_, value)| !is_code(value)) {
        let fix =
            "Write a LOINC code, as in referral_letter = \"57133-1\", one of the KDL (\"AU050199\"), or SYSTEM|CODE.";
        return Err(Complaint::new(format!("has no code for \"{}\"", kind.escape_default()), fix));
    }
    for (kind, code) in LOINC {
        entries.entry(kind).or_insert_with(|| code.into());
    }
    texts(key, entries)
}

/// Statuses of success are of the class 2xx (RFC 9110, section 15.3).
fn statuses(items: Vec<Value>) -> Result<Value, Complaint> {
    let number = |item: Value| match item {
        Value::Integer(number) => Some(number),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let numbers: Option<Vec<i64>> = items.into_iter().map(number).collect();
    match numbers {
        Some(numbers) if !numbers.is_empty() && numbers.iter().all(|number| (200..=299).contains(number)) => {
            Ok(numbers.into())
        }
        _ => {
            let what = "is not a list of statuses that say that something went well";
            Err(Complaint::new(what, "Write numbers from 200 to 299: [200, 201, 204]."))
        }
    }
}

/// A TOML or JSON array, or words separated by commas.
fn list(text: &str) -> Result<Value, Complaint> {
    if !text.starts_with('[') {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        return Ok(words.collect::<Vec<_>>().into());
    }
    if let Ok(value) = DeValue::parse(text) {
        return Ok(from_toml(value.get_ref()));
    }
    let words: Result<Vec<String>, _> = serde_json::from_str(text);
    words.map(Value::from).map_err(|_| {
        Complaint::new("is not a list", r#"Write words between commas, or an array such as ["one", "two"]."#)
    })
}

/// Checks a value against its key's kind, and converts it to its canonical form.
pub fn accept(key: &Key, value: Value) -> Result<Value, Complaint> {
    let name = key.name();
    match (key.kind, value) {
        (Kind::Bool, value @ Value::Boolean(_)) => Ok(value),
        (Kind::Integer { min, max }, Value::Integer(number)) if (min..=max).contains(&number) => Ok(number.into()),
        (Kind::Integer { min, max }, Value::Integer(_)) => {
            Err(Complaint::new("is out of range", format!("Write a number from {min} to {max}.")))
        }
        (Kind::Duration { min, max }, Value::String(text)) => {
            let value = duration(name, &text)?;
            let bounds = [min, max].map(humantime::format_duration).map(|bound| bound.to_string().replace(' ', ""));
            within(value, min, max, &bounds).map(|()| text.into())
        }
        (Kind::Duration { .. }, Value::Integer(number)) => Err(Complaint::new(
            "is a number without a unit",
            format!("If these are seconds, write {name} = \"{number}s\"."),
        )),
        (Kind::Size { min, max }, Value::String(text)) => {
            let bounds = [min, max].map(|bound| ByteSize(bound).to_string().replace(' ', ""));
            within(size(&text)?, min, max, &bounds).map(|()| text.into())
        }
        (Kind::Size { .. }, Value::Integer(number)) => accept(key, number.to_string().into()),
        (Kind::Mode { needs, within }, Value::String(text)) => mode(name, &text, needs, within).map(|_| text.into()),
        (Kind::Enum(words), Value::String(text)) => word(words, &text).map(Value::from),
        (Kind::Address, Value::String(text)) => address(&text).map(|_| text.into()),
        (Kind::Loopback, Value::String(text)) => loopback(&text).map(|address| address.to_string().into()),
        (Kind::Listen, Value::String(text)) => listen(&text).map(|address| address.to_string().into()),
        (Kind::Proxy, Value::String(text)) => proxy(&text).map(|_| text.into()),
        (Kind::Secret, Value::String(text)) => secret(&text).map(|()| text.into()),
        (Kind::Text | Kind::Template, Value::String(text)) => filled(&text).map(|()| text.into()),
        (Kind::Path | Kind::SecretFile | Kind::Program, Value::String(text)) => path(&text).map(|()| text.into()),
        (Kind::TemplateTable | Kind::SecretFileTable, Value::Table(entries)) => texts(key, entries),
        (Kind::TypeMap, Value::Table(entries)) => type_map(key, entries),
        (Kind::Statuses, Value::Array(items)) => statuses(items),
        (Kind::List | Kind::Templates, Value::Array(items)) => {
            if !items.iter().all(Value::is_str) {
                return Err(Complaint::new("holds something that is not text", format!("Write {}.", example(key))));
            }
            let is_empty = |item: &Value| item.as_str().is_some_and(|text| text.trim().is_empty());
            if key.kind == Kind::List && items.iter().any(is_empty) {
                return Err(Complaint::new("holds an empty text", "Remove the empty text from the list."));
            }
            Ok(Value::Array(items))
        }
        (kind, value) => Err(Complaint::new(
            format!("must be {}, not {}", expected(kind), found(&value)),
            format!("Write {}.", example(key)),
        )),
    }
}

fn within<T: PartialOrd>(value: T, min: T, max: T, [least, most]: &[String; 2]) -> Result<(), Complaint> {
    match value {
        value if value < min => Err(Complaint::new("is too small", format!("Write at least \"{least}\"."))),
        value if value > max => Err(Complaint::new("is too large", format!("Write at most \"{most}\"."))),
        _ => Ok(()),
    }
}

/// "30s", "6h", "7d", "500ms".
pub fn duration(name: &str, text: &str) -> Result<Duration, Complaint> {
    let text = text.trim();
    humantime::parse_duration(text).map_err(|_| match text.parse::<u64>() {
        Ok(number) => {
            Complaint::new("is a number without a unit", format!("If these are seconds, write {name} = \"{number}s\"."))
        }
        Err(_) => {
            Complaint::new("is not a duration", r#"Write a number with a unit: "500ms", "30s", "15m", "6h" or "7d"."#)
        }
    })
}

/// "100MiB", "10MB", or a number of bytes.
pub fn size(text: &str) -> Result<u64, Complaint> {
    let size: Result<ByteSize, _> = text.trim().parse();
    size.map(|size| size.as_u64())
        .map_err(|_| Complaint::new("is not a size", r#"Write a number with a unit: "500KiB", "100MiB" or "2GiB"."#))
}

/// Unix permissions in octal.
pub fn mode(name: &str, text: &str, needs: u32, within: u32) -> Result<u32, Complaint> {
    let digits = text.trim().strip_prefix("0o").unwrap_or(text.trim());
    let Ok(mode) = u32::from_str_radix(digits, 8) else {
        let fix = format!("Write Unix permissions as octal digits in quotes: {name} = \"0{needs:o}\".");
        return Err(Complaint::new("is not a file mode", fix));
    };
    if mode & needs != needs || mode & !within != 0 {
        let fix = format!("Write a mode that contains 0{needs:o} and nothing outside 0{within:o}.");
        return Err(Complaint::new("is a mode that docsyncd could not work with", fix));
    }
    Ok(mode)
}

pub fn word(words: &[&'static str], text: &str) -> Result<&'static str, Complaint> {
    // A word may be white space.
    let text = if words.contains(&text) { text } else { text.trim() };
    words.iter().find(|word| word.eq_ignore_ascii_case(text)).copied().ok_or_else(|| {
        let nearest = nearest::among(text, words.iter().copied()).unwrap_or_default();
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.escape_default())).collect();
        Complaint::new(
            format!("is none of {}", quoted.join(", ")),
            format!("The nearest known value is \"{}\".", nearest.escape_default()),
        )
    })
}

/// A URL to which a secret may be sent; its path ends with a slash.
pub fn address(text: &str) -> Result<Url, Complaint> {
    let example = "Write it as in \"https://api.example.test\".";
    let mut url = Url::parse(text.trim()).map_err(|_| Complaint::new("is not a web address", example))?;
    if url.host().is_none() {
        return Err(Complaint::new("is not a web address", example));
    }
    let loopback = is_loopback(&url);
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        "http" => {
            let fix = "Write https://; http:// is for localhost, 127.0.0.1 and [::1] only.";
            return Err(Complaint::new("would send secrets and patient data over the network unencrypted", fix));
        }
        _ => return Err(Complaint::new("is not a web address", example)),
    }
    if !url.username().is_empty() || url.password().is_some() {
        let fix = "Remove what stands before the @; credentials belong into [accounts.NAME].";
        return Err(Complaint::new("holds a user name or password", fix));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Complaint::new("holds a query or fragment", "Remove everything from the ? or # on."));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether the host of a URL is this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An address of this computer with a port.
pub fn listen(text: &str) -> Result<SocketAddr, Complaint> {
    let text = text.trim();
    // Everybody means 127.0.0.1 by it, whatever the hosts file says.
    let numbers = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numbers.as_deref().unwrap_or(text).parse().map_err(|_| {
        Complaint::new("is not an address of this computer with a port", "Write it as in \"127.0.0.1:8977\".")
    })
}

/// A loopback address with a port.
pub fn loopback(text: &str) -> Result<SocketAddr, Complaint> {
    let address = listen(text)?;
    address.ip().is_loopback().then_some(address).ok_or_else(|| {
        let fix = "It is for this computer only: write it as in \"127.0.0.1:8978\", behind a reverse proxy \
                   (docs/webhook.md).";
        Complaint::new("is an address that other computers can reach", fix)
    })
}

/// The address of a proxy.
pub fn proxy(text: &str) -> Result<Url, Complaint> {
    let example = "Write it as in \"http://proxy.practice.test:3128\".";
    let url = Url::parse(text.trim()).map_err(|_| Complaint::new("is not a web address", example))?;
    let usable = matches!(url.scheme(), "http" | "https") && url.host().is_some();
    usable.then_some(url).ok_or_else(|| Complaint::new("is not an http or https address", example))
}

fn secret(text: &str) -> Result<(), Complaint> {
    let clean = text.bytes().all(|byte| byte.is_ascii_graphic());
    let fix = "Give the key alone, without spaces, line breaks or quotes.";
    clean.then_some(()).ok_or_else(|| Complaint::new("has characters that cannot stand in a key", fix))
}

fn filled(text: &str) -> Result<(), Complaint> {
    (!text.trim().is_empty()).then_some(()).ok_or_else(|| Complaint::new("is empty", "Give it a value or remove it."))
}

fn path(text: &str) -> Result<(), Complaint> {
    filled(text)?;
    if text.chars().any(char::is_control) {
        let fix = r"In double quotes a backslash changes the next letter. Write a path in single quotes: 'C:\import'.";
        return Err(Complaint::new("holds a control character", fix));
    }
    if text == "~" || text.starts_with("~/") || text.starts_with("~\\") {
        return Err(Complaint::new("starts with ~, which a service does not know", "Write the whole path."));
    }
    Ok(())
}

fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Secret | Kind::Path | Kind::SecretFile | Kind::Program | Kind::Template => "text in quotes",
        Kind::Address | Kind::Proxy => "a web address in quotes",
        Kind::Loopback | Kind::Listen => "an address with a port in quotes",
        Kind::Bool => "true or false without quotes",
        Kind::Integer { .. } => "a whole number without quotes",
        Kind::Duration { .. } => "a duration in quotes",
        Kind::Size { .. } => "a size in quotes or a number of bytes",
        Kind::Mode { .. } => "octal digits in quotes",
        Kind::Enum(_) => "a word in quotes",
        Kind::List | Kind::Templates => "a list of texts in brackets",
        Kind::TemplateTable | Kind::SecretFileTable | Kind::TypeMap => "a table of texts in braces",
        Kind::Statuses => "a list of numbers in brackets",
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "true or false",
        Value::Integer(_) => "a number",
        Value::Float(number) if number.is_infinite() => "a number that large",
        Value::Float(_) => "a fraction",
        Value::String(_) | Value::Datetime(_) => "text",
        Value::Table(_) => "a table",
        Value::Array(_) => "a list",
    }
}

/// A line that would be accepted.
pub fn example(key: &Key) -> String {
    let quoted = |text: &str| if text.contains(['"', '\\']) { format!("'{text}'") } else { format!("\"{text}\"") };
    let value = match (key.kind, key.default) {
        (Kind::Bool, _) => "true".to_owned(),
        (Kind::Integer { .. } | Kind::List | Kind::Templates | Kind::Statuses, Some(default)) => default.to_owned(),
        (Kind::TemplateTable | Kind::SecretFileTable, _) => r#"{ "Name" = "..." }"#.to_owned(),
        (Kind::TypeMap, _) => r#"{ referral_letter = "57133-1" }"#.to_owned(),
        (Kind::Statuses, None) => "[200]".to_owned(),
        (_, Some(default)) => quoted(default),
        (Kind::Integer { min, .. }, None) => min.to_string(),
        (Kind::List | Kind::Templates, None) => r#"["...", "..."]"#.to_owned(),
        (Kind::Duration { .. }, None) => quoted("5m"),
        (Kind::Address, None) => quoted("https://api.example.test"),
        (Kind::Loopback | Kind::Listen, None) => quoted("127.0.0.1:8977"),
        (Kind::Proxy, None) => quoted("http://proxy.practice.test:3128"),
        (Kind::Enum(words), None) => quoted(words.first().copied().unwrap_or_default()),
        (Kind::Path | Kind::SecretFile | Kind::Program, None) if cfg!(windows) => quoted(r"C:\folder\name"),
        (Kind::Path | Kind::SecretFile | Kind::Program, None) => quoted("/folder/name"),
        (_, None) => quoted("..."),
    };
    format!("{} = {value}", key.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(text: &str) -> Result<String, String> {
        let key = Key::new("destinations.*.type_map", Kind::TypeMap, "");
        let accepted = from_variable(&key, text).and_then(|value| accept(&key, value.unwrap()));
        accepted.map(|value| value.to_string()).map_err(|complaint| complaint.what)
    }

    #[test]
    fn codes_that_are_given_win_and_the_others_are_those_of_loinc() {
        for (text, contains) in [
            ("{}", "referral_letter = \"57134-9\""),
            ("{ referral_letter = \"57133-1\" }", "referral_letter = \"57133-1\""),
            ("{ referral_letter = \"57133-1\" }", "lab_slip = \"57828-6\""),
            (r#"{"other": "kdl|AM190199", "new_type": "AU050199"}"#, "new_type = \"AU050199\""),
        ] {
            let accepted = accepted(text).unwrap();
            assert!(accepted.contains(contains), "{text}: {accepted}");
        }
        for (text, what) in [
            ("{ lab_slip = \"letter\" }", "has no code for \"lab_slip\""),
            ("{ lab_slip = 5 }", "has no code for \"lab_slip\""),
            ("", "is not a table"),
            ("letter", "is not a table"),
        ] {
            assert_eq!(accepted(text), Err(what.to_owned()), "{text}");
        }
    }
}
