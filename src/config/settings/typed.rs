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
use super::super::{schema, value};
use super::{
    AuthKind, DestinationType, FhirProfile, LogFormat, LostReply, MailEncryption, PatientsEncoding, WebhookFormat,
};
use crate::formats::language::Language;

/// The value of this setting in its type; the error is the setting's name.
pub(super) fn typed<T: Typed>(
    merged: &Merged,
    section: &str,
    name: &'static str,
    instance: Option<&str>,
) -> Result<T, &'static str> {
    T::of(schema::find(section, name).and_then(|key| merged.get(key, instance))).ok_or(name)
}

/// The type of a value in the rest of the program.
pub(super) trait Typed: Sized {
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
fn known<T: DeserializeOwned>(value: &Value) -> Option<T> {
    value.clone().try_into().ok()
}

/// Types that a function parses from text, and types that serde knows.
macro_rules! typed {
    ($($Type:ty: $parse:expr;)* @ $($Known:ty),*) => {
        $(impl Typed for $Type {
            fn of(value: Option<&Value>) -> Option<Self> {
                $parse(value?.as_str()?)
            }
        })*
        $(impl Typed for $Known {
            fn of(value: Option<&Value>) -> Option<Self> {
                known(value?)
            }
        })*
    };
}

typed! {
    Url: |text| value::address(text).or_else(|_| value::proxy(text)).ok();
    SocketAddr: |text| value::listen(text).ok();
    SecretString: |text: &str| Some(SecretString::from(text));
    Duration: |text| value::duration("", text).ok();
    u64: |text| value::size(text).ok();
    u32: |text| value::mode("", text, 0, u32::MAX).ok();
    Language: Language::parse;
    LevelFilter: |text: &str| text.parse().ok();
    @ String, PathBuf, bool, u16, usize, AuthKind, DestinationType, FhirProfile, LogFormat, LostReply, MailEncryption,
        PatientsEncoding, WebhookFormat
}
