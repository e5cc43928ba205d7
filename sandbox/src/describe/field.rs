//! The vocabulary with which `records` writes the description's tables.

use super::Version;

/// An object of the API: its name as JSON-LD's `@type`, where it lives, and its members in order.
#[derive(Debug)]
pub(crate) struct Record {
    /// Unique in the OpenAPI document.
    pub name: &'static str,
    /// The JSON-LD type; several shapes of one resource share it.
    pub resource: &'static str,
    /// The collection that has an address for each of these, such as `documents`; none for parts of other records.
    pub home: Option<&'static str>,
    pub fields: &'static [Field],
}

/// A member of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
    /// Always present in an answer, and required in a request.
    pub required: bool,
    /// The only version that has it; `None` for all.
    pub only: Option<Version>,
}

/// What a member's value is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    /// At most this many characters.
    TextUpTo(usize),
    /// Exactly this many decimal digits.
    Digits(usize),
    Uuid,
    /// ISO 8601, a date or a date-time.
    Date,
    /// ISO 8601 date-time.
    DateTime,
    Email,
    /// ISO 3166-1 alpha-2.
    Country,
    /// An absolute `http` address. The sandbox delivers to no other kind.
    HttpAddress,
    Uri,
    Integer,
    Number,
    Boolean,
    OneOf(&'static [&'static str]),
    /// One of these in version 1.0.0, any text later.
    OneOfIn1_0(&'static [&'static str]),
    Record(&'static Record),
    /// The uuid of a record, or the record itself in one of its shapes, if `expand[]` asks for it.
    UuidOr(&'static [&'static Record]),
    ListOf(&'static Kind),
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, nullable: false, required: true, only: None }
}

/// Constructors, so that `records` reads like the description's tables.
impl Field {
    pub const fn text(name: &'static str) -> Self {
        field(name, Kind::Text)
    }

    pub const fn text_up_to(name: &'static str, most: usize) -> Self {
        field(name, Kind::TextUpTo(most))
    }

    pub const fn of(name: &'static str, kind: Kind) -> Self {
        field(name, kind)
    }

    pub const fn uuid(name: &'static str) -> Self {
        field(name, Kind::Uuid)
    }

    pub const fn date_time(name: &'static str) -> Self {
        field(name, Kind::DateTime)
    }

    pub const fn date(name: &'static str) -> Self {
        field(name, Kind::Date)
    }

    pub const fn one_of(name: &'static str, values: &'static [&'static str]) -> Self {
        field(name, Kind::OneOf(values))
    }

    pub const fn record(name: &'static str, record: &'static Record) -> Self {
        field(name, Kind::Record(record))
    }

    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    pub const fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    pub const fn only(self, version: Version) -> Self {
        Self { only: Some(version), ..self }
    }

    /// The collection of the identifiers in this member, whose addresses JSON-LD shows instead.
    pub fn leads_to(&self) -> Option<&'static str> {
        match (self.name, self.kind) {
            ("patient", Kind::Text | Kind::Uuid | Kind::UuidOr(_)) => Some("patients"),
            ("user", Kind::UuidOr(_)) => Some("users"),
            ("users", Kind::ListOf(Kind::Uuid)) => Some("users"),
            ("audio", Kind::Text) => Some("audios"),
            _ => None,
        }
    }
}

impl Record {
    /// The members that this version has.
    pub fn fields(&self, version: Version) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(move |field| field.only.is_none_or(|only| only == version))
    }
}
