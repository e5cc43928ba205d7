//! Reads JSON and says what is wrong with it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// JSON as this type. The error names the wrong member.
pub(crate) fn understood<T: DeserializeOwned>(value: impl Into<Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(value.into()).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner().to_string();
        // "." and "?" stand for the whole value. For an unknown or missing member, serde itself gives the name.
        if matches!(path.as_str(), "." | "?") || reason.contains(&format!("`{path}`")) {
            reason
        } else {
            format!("{path}: {reason}")
        }
    })
}

/// A member that is present. Null is a value; only a missing member is `None`.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
