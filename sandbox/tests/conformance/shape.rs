//! What a record is, as the tables of "Resources and their fields" write it down: members with their types.

use serde_json::Value;

/// The type of a member.
#[derive(Clone, Copy, Debug)]
pub enum Is {
    Text,
    Uuid,
    /// `date-time`: ISO 8601 with seconds and offset.
    DateTime,
    /// An ISO 8601 date or date-time.
    Date,
    Email,
    Integer,
    Number,
    Boolean,
    OneOf(&'static [&'static str]),
    AtMost(usize),
    Digits(usize),
    /// ISO 3166-1 alpha-2.
    Country,
    /// An IANA time zone.
    Timezone,
    /// `T|null`
    OrNull(&'static Is),
    Record(&'static [Row]),
    ListOf(&'static Is),
    /// The inner shape is "not shown".
    Anything,
    /// The member must not be there.
    Absent,
}

/// A member's name and type.
pub type Row = (&'static str, Is);

impl Is {
    /// Says what is wrong with a member's value, `None` being a member that is not there.
    pub fn judge(self, path: &str, value: Option<&Value>, wrong: &mut Vec<String>) {
        match (self, value) {
            (Self::Absent, None) => {}
            (Self::Absent, Some(value)) => wrong.push(format!("{path} must not be shown, but is {value}")),
            (_, None) => wrong.push(format!("{path} is missing")),
            (Self::OrNull(_), Some(Value::Null)) | (Self::Anything, Some(_)) => {}
            (Self::OrNull(other), value) => other.judge(path, value, wrong),
            (Self::Record(rows), Some(value)) => judge_record(path, value, rows, wrong),
            (Self::ListOf(of), Some(Value::Array(elements))) => {
                for (index, element) in elements.iter().enumerate() {
                    of.judge(&format!("{path}[{index}]"), Some(element), wrong);
                }
            }
            (other, Some(value)) => {
                if !other.fits(value) {
                    wrong.push(format!("{path} is {value}, not {other:?}"));
                }
            }
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Integer => return value.is_i64() || value.is_u64(),
            Self::Number => return value.is_number(),
            Self::Boolean => return value.is_boolean(),
            _ => {}
        }
        let Some(text) = value.as_str() else {
            return false;
        };
        match self {
            Self::Text => true,
            Self::Uuid => uuid::Uuid::try_parse(text).is_ok() && text.len() == 36,
            Self::DateTime => text.contains('T') && text.parse::<jiff::Timestamp>().is_ok(),
            Self::Date => text.parse::<jiff::civil::Date>().is_ok(),
            Self::Email => text.split('@').count() == 2 && !text.starts_with('@') && !text.ends_with('@'),
            Self::OneOf(values) => values.contains(&text),
            Self::AtMost(most) => text.chars().count() <= most,
            Self::Digits(count) => text.len() == count && text.bytes().all(|letter| letter.is_ascii_digit()),
            Self::Country => text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_uppercase()),
            Self::Timezone => jiff::tz::TimeZone::get(text).is_ok(),
            _ => false,
        }
    }
}

fn judge_record(path: &str, value: &Value, rows: &[Row], wrong: &mut Vec<String>) {
    let Some(members) = value.as_object() else {
        wrong.push(format!("{path} is {value}, not an object"));
        return;
    };
    for (name, is) in rows {
        is.judge(&format!("{path}.{name}"), members.get(*name), wrong);
    }
    for name in members.keys().filter(|name| !rows.iter().any(|(known, _)| known == name)) {
        wrong.push(format!("{path}.{name} is not in the description"));
    }
}

/// Asserts that a record has exactly these members, with these types.
#[track_caller]
pub fn assert_record(place: &str, value: &Value, rows: &[Row]) {
    let mut wrong = Vec::new();
    judge_record(place, value, rows, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Records of one resource as they were seen in several places.
pub struct Seen {
    pub places: Vec<(String, Value)>,
}

impl Seen {
    /// Asserts that the places whose names start so show exactly these members.
    #[track_caller]
    pub fn exactly_in(&self, prefix: &str, rows: &[Row]) -> &Self {
        let places: Vec<_> = self.places.iter().filter(|(place, _)| place.starts_with(prefix)).collect();
        assert!(!places.is_empty(), "no place is called {prefix}");
        for (place, record) in places {
            assert_record(place, record, rows);
        }
        self
    }

    /// Asserts that the member is null somewhere and not null elsewhere.
    #[track_caller]
    pub fn sometimes_null(&self, name: &str) -> &Self {
        let nulls = self.places.iter().filter(|(_, record)| record[name].is_null()).count();
        assert!(0 < nulls && nulls < self.places.len(), "{name} is null {nulls} times of {}", self.places.len());
        self
    }

    /// Asserts that each of these values is shown somewhere.
    #[track_caller]
    pub fn shows_all(&self, name: &str, values: &[&str]) -> &Self {
        for value in values {
            assert!(self.places.iter().any(|(_, record)| record[name] == *value), "no {name} is {value}");
        }
        self
    }
}
