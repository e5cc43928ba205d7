//! The values of options, as people write them.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use docsyncd_sandbox::{Account, ApiKey, Fault, Quirks};
use jiff::SignedDuration;
use serde_json::{Map, Value};

/// An address with a port; a name such as `localhost` is looked up, and IPv4 is preferred.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    let preferred = found.iter().find(|address| address.is_ipv4()).or(found.first());
    preferred.copied().ok_or_else(|| "the name has no address".to_owned())
}

/// `NAME=VALUE`. A value that is no JSON counts as text, so that `date_filter=refused` needs no quotes.
pub(super) fn quirk(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("a quirk is NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Quirks::default().merged(&Map::from_iter([(name.to_owned(), value.clone())]))?;
    Ok((name.to_owned(), value))
}

pub(super) fn fault(text: &str) -> Result<Fault, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub(super) fn api_key(text: &str) -> Result<ApiKey, String> {
    let key = match text.rsplit_once('=') {
        Some((key, email)) if email.contains('@') => ApiKey::of_user(key, email),
        _ => ApiKey::new(text),
    };
    visible(&key.key).map_err(|_| "a key is one or more visible ASCII characters")?;
    Ok(key)
}

pub(super) fn visible(text: &str) -> Result<String, String> {
    if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err("it must be one or more visible ASCII characters".to_owned());
    }
    Ok(text.to_owned())
}

/// `EMAIL` or `EMAIL:PASSWORD`; the password may contain colons.
pub(super) fn account(text: &str) -> Result<Account, String> {
    let (email, password) = match text.split_once(':') {
        Some((email, password)) => (email, Some(password)),
        None => (text, None),
    };
    if !email.contains('@') || email.contains(char::is_whitespace) {
        return Err("a user is an email address, or EMAIL:PASSWORD".to_owned());
    }
    match password {
        Some("") => Err("the password after the colon is empty; leave the colon out for \"sandbox\"".to_owned()),
        Some(password) => Ok(Account::new(email).with_password(password)),
        None => Ok(Account::new(email)),
    }
}

/// `20s`, `1h 30m`, `PT5M`: jiff's own format or ISO 8601.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let read: SignedDuration = text.parse().map_err(|_| "a duration is such as 500ms, 20s or 1h 30m".to_owned())?;
    Duration::try_from(read).map_err(|_| "a duration cannot be negative".to_owned())
}

/// `60KiB`, `2MB`, `1000`: a whole number of bytes, with the units of IEC 80000-13 or the decimal ones.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "kib" => 1 << 10,
        "mb" => 1_000_000,
        "mib" => 1 << 20,
        _ => return Err("a size is a whole number with B, KB, KiB, MB or MiB".to_owned()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "a size is a whole number with B, KB, KiB, MB or MiB".to_owned())
}
