//! Converts values of the configuration to the types of the rest of the program.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use serde::de::DeserializeOwned;
use toml::Value;
use tracing::level_filters::LevelFilter;
use url::Url;

use super::super::layers::Merged;
use super::super::value;
use super::{AuthKind, LogFormat, MailEncryption, PatientsEncoding, WebhookFormat};
use crate::formats::language::Language;

/// The value of this setting in its type; the error is the setting's name.
pub(crate) fn typed<T: Typed>(
    merged: &Merged,
    section: &str,
    name: &'static str,
    instance: Option<&str>,
) -> Result<T, &'static str> {
    T::of(merged.schema.find(section, name).and_then(|key| merged.get(key, instance))).ok_or(name)
}

/// The type of a value in the rest of the program.
pub(crate) trait Typed: Sized {
    /// `None` if a required value is missing, or is of another kind.
    fn of(value: Option<&Value>) -> Option<Self>;
}

impl<T: Typed> Typed for Option<T> {
    fn of(value: Option<&Value>) -> Option<Self> {
        value.map_or(Some(None), |value| T::of(Some(value)).map(Some))
    }
}

/// What holds several is empty without a value.
impl<T: DeserializeOwned> Typed for Vec<T> {
    fn of(value: Option<&Value>) -> Option<Self> {
        value.map_or_else(|| Some(Self::new()), known)
    }
}

impl Typed for BTreeMap<String, String> {
    fn of(value: Option<&Value>) -> Option<Self> {
        value.map_or_else(|| Some(Self::new()), known)
    }
}

/// A value of a type that serde knows.
pub(crate) fn known<T: DeserializeOwned>(value: &Value) -> Option<T> {
    value.clone().try_into().ok()
}

/// Types that serde knows: words of a setting with a fixed choice of them, and what TOML has.
macro_rules! of_words {
    ($($Known:ty),*) => {
        $(impl $crate::config::settings::Typed for $Known {
            fn of(value: Option<&toml::Value>) -> Option<Self> {
                $crate::config::settings::known(value?)
            }
        })*
    };
}
pub(crate) use of_words;

/// Types that a function parses from text.
macro_rules! parsed {
    ($($Type:ty: $parse:expr;)*) => {
        $(impl Typed for $Type {
            fn of(value: Option<&Value>) -> Option<Self> {
                $parse(value?.as_str()?)
            }
        })*
    };
}

of_words!(String, PathBuf, bool, u16, usize, AuthKind, LogFormat, MailEncryption, PatientsEncoding, WebhookFormat);

parsed! {
    Url: |text| value::address(text).or_else(|_| value::proxy(text)).ok();
    SocketAddr: |text| value::listen(text).ok();
    SecretString: |text: &str| Some(SecretString::from(text));
    Duration: |text| value::duration("", text).ok();
    u64: |text| value::size(text).ok();
    u32: |text| value::mode("", text, 0, u32::MAX).ok();
    Language: Language::parse;
    LevelFilter: |text: &str| text.parse().ok();
}
