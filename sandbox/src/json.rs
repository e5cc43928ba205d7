//! JSON read so that whoever wrote it learns what is wrong.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// JSON as what it is meant to be; the error names the member that is wrong.
pub(crate) fn understood<T: DeserializeOwned>(value: impl Into<Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(value.into()).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner().to_string();
        // "." and "?" stand for the whole; serde itself names a member that is unknown or missing.
        if matches!(path.as_str(), "." | "?") || reason.contains(&format!("`{path}`")) {
            reason
        } else {
            format!("{path}: {reason}")
        }
    })
}

/// A member that is there: null is a value, and only a missing member is `None`.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
