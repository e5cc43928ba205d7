//! Records as JSON Schemas (draft 2020-12, the dialect of OpenAPI 3.1).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::countries::COUNTRIES;
use super::super::field::{Field, Kind, Record};
use super::super::version::Version;

/// Which shape of a record a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Json,
    /// With JSON-LD's `@id` and `@type`.
    LdJson,
    /// A request's body.
    Body,
    /// A merge patch's body, in which nothing is required.
    Patch,
}

impl Form {
    fn suffix(self) -> &'static str {
        match self {
            Self::Json | Self::Body => "",
            Self::LdJson => ".jsonld",
            Self::Patch => ".patch",
        }
    }

    fn is_input(self) -> bool {
        matches!(self, Self::Body | Self::Patch)
    }
}

/// The members of answers that only the service sets.
const READ_ONLY: &[&str] = &[
    "uuid",
    "createdAt",
    "updatedAt",
    "synchronizedAt",
    "archivedAt",
    "organizations",
    "mediaRecorderType",
    "audioWorkflowStepV3",
    "secret",
    "user",
];

/// A day of the calendar, or a moment of it. One plain pattern, because generators have trouble with a choice of
/// formats.
const DATE: &str = concat!(
    r"^(([12][0-9]{3})-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)",
    r"|([12][0-9](0[48]|[2468][048]|[13579][26])|(1[26]|2[048])00)-02-29)",
    r"(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?)?$"
);

/// An `http` address of this machine, with a port from 1 to 65535.
const HERE: &str = concat!(
    r"^http://(([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*localhost",
    r"|127(\.(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3}|\[::1\])",
    r"(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?",
    r"([/?]([A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$"
);

/// The schemas that the document refers to. Each is written at its first reference.
pub(super) struct Schemas {
    version: Version,
    begun: BTreeSet<String>,
    written: BTreeMap<String, Value>,
}

impl Schemas {
    pub fn new(version: Version) -> Self {
        let written = BTreeMap::from([
            ("Error".to_owned(), error()),
            ("ConstraintViolation".to_owned(), violations()),
            ("Unauthorized".to_owned(), unauthorized()),
            ("TokenError".to_owned(), token_error()),
        ]);
        Self { version, begun: BTreeSet::new(), written }
    }

    /// A reference to the schema of a record.
    pub fn of(&mut self, record: &Record, form: Form) -> Value {
        let name = format!("{}{}", record.name, form.suffix());
        if self.begun.insert(name.clone()) {
            let schema = self.object(record, form);
            self.written.insert(name.clone(), schema);
        }
        reference(&name)
    }

    /// Hydra's collection of these records.
    pub fn collection(&mut self, record: &Record) -> Value {
        let member = self.of(record, Form::LdJson);
        object(json!({
            "@context": { "type": "string", "format": "uri-reference" },
            "@id": { "type": "string", "format": "uri-reference" },
            "@type": { "const": "Collection" },
            "totalItems": { "type": "integer", "minimum": 0 },
            "member": { "type": "array", "items": member },
            "view": {
                "type": "object",
                "required": ["@id", "@type", "first", "last"],
                "properties": {
                    "@id": { "type": "string" },
                    "@type": { "const": "PartialCollectionView" },
                    "first": { "type": "string" },
                    "last": { "type": "string" },
                    "previous": { "type": "string" },
                    "next": { "type": "string" },
                },
            },
        }))
    }

    pub fn finish(self) -> BTreeMap<String, Value> {
        self.written
    }

    fn object(&mut self, record: &Record, form: Form) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if form == Form::LdJson {
            // Only the outermost object has a context.
            properties.insert("@context".into(), json!({ "type": "string", "format": "uri-reference" }));
            properties.insert("@id".into(), json!({ "type": "string", "format": "uri-reference" }));
            properties.insert("@type".into(), json!({ "const": record.resource }));
            required.push("@type");
            if record.home.is_some() {
                required.push("@id");
            }
        }
        for field in record.fields(self.version) {
            properties.insert(field.name.to_owned(), self.field(field, form));
            if field.required && form != Form::Patch {
                required.push(field.name);
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties });
        if let Some(members) = schema.as_object_mut() {
            if !required.is_empty() {
                members.insert("required".into(), json!(required));
            }
            if !form.is_input() {
                members.insert("additionalProperties".into(), json!(false));
            }
        }
        schema
    }

    fn field(&mut self, field: &Field, form: Form) -> Value {
        let linked = form == Form::LdJson && field.leads_to().is_some();
        let address = json!({ "type": "string", "format": "uri-reference" });
        let schema = match field.kind {
            Kind::UuidOr(records) if linked => self.one_of(address, records, form),
            Kind::ListOf(_) if linked => json!({ "type": "array", "items": address }),
            _ if linked => address,
            kind => self.kind(kind, form),
        };
        let mut schema = if field.nullable { or_null(schema) } else { schema };
        if !form.is_input()
            && READ_ONLY.contains(&field.name)
            && let Some(members) = schema.as_object_mut()
        {
            members.insert("readOnly".into(), json!(true));
        }
        schema
    }

    /// An identifier, or the record in one of these shapes.
    fn one_of(&mut self, identifier: Value, records: &[&Record], form: Form) -> Value {
        let mut shapes = vec![identifier];
        shapes.extend(records.iter().map(|record| self.of(record, form)));
        json!({ "anyOf": shapes })
    }

    fn kind(&mut self, kind: Kind, form: Form) -> Value {
        match kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::TextUpTo(most) => json!({ "type": "string", "maxLength": most }),
            Kind::Digits(count) => json!({ "type": "string", "pattern": format!("^[0-9]{{{count}}}$") }),
            Kind::Uuid => json!({ "type": "string", "format": "uuid" }),
            Kind::Date if form.is_input() => {
                json!({ "type": "string", "pattern": DATE, "description": "ISO 8601, a date or a date-time." })
            }
            Kind::Date => json!({ "type": "string", "description": "ISO 8601, a date or a date-time." }),
            Kind::DateTime => json!({ "type": "string", "format": "date-time" }),
            Kind::Email => json!({ "type": "string", "format": "email", "minLength": 3 }),
            Kind::Country if form.is_input() => {
                json!({ "type": "string", "enum": COUNTRIES, "description": "ISO 3166-1 alpha-2." })
            }
            Kind::Country => json!({ "type": "string", "pattern": "^[A-Z]{2}$" }),
            Kind::HttpAddress => json!({
                "type": "string",
                "pattern": HERE,
                "description": "The sandbox delivers only to http addresses of this machine.",
            }),
            Kind::Uri => json!({ "type": "string", "format": "uri" }),
            Kind::Integer => json!({ "type": "integer" }),
            Kind::Number => json!({ "type": "number" }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::OneOf(values) => json!({ "type": "string", "enum": values }),
            Kind::OneOfIn1_0(values) if self.version == Version::V1_0 => json!({ "type": "string", "enum": values }),
            Kind::OneOfIn1_0(values) if form.is_input() => {
                json!({ "type": "string", "maxLength": 255, "examples": values })
            }
            Kind::OneOfIn1_0(values) => json!({ "type": "string", "examples": values }),
            Kind::Record(record) => self.of(record, form),
            Kind::UuidOr(records) => self.one_of(json!({ "type": "string" }), records, form),
            Kind::ListOf(kind) => json!({ "type": "array", "items": self.kind(*kind, form) }),
        }
    }
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A schema that also accepts null. One with a format stays whole, because generators ignore the format of a pair of
/// types.
fn or_null(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut()
        && members.get("type").is_some_and(Value::is_string)
        && !["anyOf", "format"].iter().any(|keyword| members.contains_key(*keyword))
    {
        if let Some(kind) = members.get_mut("type") {
            *kind = json!([kind.take(), "null"]);
        }
        if let Some(values) = members.get_mut("enum").and_then(Value::as_array_mut) {
            values.push(Value::Null);
        }
        return schema;
    }
    json!({ "anyOf": [schema, { "type": "null" }] })
}

/// An object with exactly these members.
fn object(properties: Value) -> Value {
    let required: Vec<String> = properties.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn error() -> Value {
    object(json!({
        "@context": text(),
        "@id": text(),
        "@type": text(),
        "title": text_or_null(),
        "detail": text_or_null(),
        "status": { "type": ["integer", "null"] },
        "instance": { "type": ["string", "null"], "format": "uri-reference" },
        "type": { "type": "string", "format": "uri-reference" },
        "description": text_or_null(),
    }))
}

fn violations() -> Value {
    object(json!({
        "@context": text(),
        "@id": text(),
        "@type": text(),
        "status": { "type": "integer" },
        "violations": {
            "type": "array",
            "items": object(json!({ "propertyPath": text(), "message": text() })),
        },
        "detail": text(),
        "description": text(),
        "type": { "type": "string", "format": "uri-reference" },
        "title": text_or_null(),
        "instance": text_or_null(),
    }))
}

fn unauthorized() -> Value {
    object(json!({ "code": { "const": 401 }, "message": text() }))
}

fn token_error() -> Value {
    object(json!({ "error": text(), "error_description": text() }))
}
