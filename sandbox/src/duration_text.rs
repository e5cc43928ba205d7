//! Durations as people write them: `250ms`, `30s`, `1h 30m`, `2 days`.

use std::time::Duration;

use jiff::fmt::friendly::{Designator, Spacing, SpanPrinter};
use jiff::{SignedDuration, Span, SpanRelativeTo};

/// A duration, negative with a minus sign in front; a day is 24 hours. Months and years have no fixed length and are
/// refused.
pub(crate) fn parse(text: &str) -> Result<SignedDuration, String> {
    let wrong = |error: jiff::Error| format!("\"{text}\" is no duration such as 250ms, 30s or 1h 30m: {error}");
    let span: Span = text.parse().map_err(wrong)?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(wrong)
}

fn parse_unsigned(text: &str) -> Result<Duration, String> {
    Duration::try_from(parse(text)?).map_err(|_| format!("\"{text}\" is negative"))
}

/// `1h30m`
fn show(duration: Duration) -> String {
    SpanPrinter::new().designator(Designator::Compact).spacing(Spacing::None).unsigned_duration_to_string(&duration)
}

/// For `#[serde(with = "…")]` on a `Duration`.
pub(crate) mod required {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::show(*duration))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse_unsigned(&text).map_err(D::Error::custom)
    }
}

/// For `#[serde(with = "…")]` on an `Option<Duration>`; `None` is null.
pub(crate) mod optional {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    // The signature is serde's.
    #[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(super::show).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        text.map(|text| super::parse_unsigned(&text)).transpose().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_forwards_and_backwards() {
        for (text, seconds) in [("1h", 3600), ("-1h", -3600), ("2d", 172_800), ("2 days", 172_800), ("1h 30m", 5400)] {
            assert_eq!(parse(text).unwrap().as_secs(), seconds, "{text}");
        }
        for text in ["soon", "", "30", "1 month"] {
            assert!(parse(text).unwrap_err().contains(&format!("\"{text}\"")));
        }
        assert!(parse_unsigned("-1s").is_err());
    }

    #[test]
    fn durations_are_shown_as_they_can_be_read() {
        for text in ["250ms", "30s", "1m30s", "1h", "0s"] {
            assert_eq!(show(parse_unsigned(text).unwrap()), text);
        }
    }
}
