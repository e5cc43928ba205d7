//! Users and their practices.

use super::{CREATED, GENDERS, UPDATED, and};
use crate::describe::field::{Field, Kind, Record};

const PROMPT: usize = 2000;

pub(crate) static ORGANIZATION: Record =
    Record { name: "Organization", resource: "Organization", home: Some("organizations"), fields: ORGANIZATION_FIELDS };

const ORGANIZATION_FIELDS: &[Field] = &[
    Field::text("uuid").or_null(),
    Field::text("name").or_null(),
    Field::text("vatNumber").or_null(),
    Field::text("streetAddress"),
    Field::text("postalCode"),
    Field::text("city"),
    Field::text("country"),
    Field::of("latitude", Kind::Number),
    Field::of("longitude", Kind::Number),
    Field::text("timezone").or_null(),
    Field::text("phone").or_null(),
    Field::text("secretariatEmail").or_null(),
    Field::text("website").or_null(),
    Field::one_of("dentalNomenclatureSystem", &["fdi", "ada"]).or_null(),
    CREATED,
    UPDATED,
];

/// The organization inside `GET /me`.
pub(crate) static OWN_ORGANIZATION: Record = Record {
    name: "OwnOrganization",
    resource: "Organization",
    home: Some("organizations"),
    fields: &and::<{ ORGANIZATION_FIELDS.len() + 2 }>(
        ORGANIZATION_FIELDS,
        &[Field::text("siret").or_null(), Field::of("users", Kind::ListOf(&Kind::Uuid))],
    ),
};

pub(crate) static USER: Record = Record {
    name: "User",
    resource: "User",
    home: Some("users"),
    fields: &and::<{ EMBEDDED_FIELDS.len() + 4 }>(
        EMBEDDED_FIELDS,
        &[
            Field::text("language"),
            Field::text_up_to("smartNoteCustomPrompt", PROMPT).or_null(),
            Field::text_up_to("documentCustomPrompt", PROMPT).or_null(),
            Field::of("organizations", Kind::ListOf(&Kind::Record(&ORGANIZATION))),
        ],
    ),
};

const EMBEDDED_FIELDS: &[Field] = &[
    Field::uuid("uuid"),
    Field::of("email", Kind::Email),
    CREATED,
    UPDATED,
    Field::text("firstName").or_null(),
    Field::text("lastName").or_null(),
    Field::one_of("gender", GENDERS).or_null(),
    Field::text("phone").or_null(),
    Field::of("rpps", Kind::Digits(11)).or_null(),
    Field::of("am", Kind::Digits(9)).or_null(),
];

/// The user inside documents, audios, notes and patients.
pub(crate) static EMBEDDED_USER: Record =
    Record { name: "EmbeddedUser", resource: "User", home: Some("users"), fields: EMBEDDED_FIELDS };

/// `GET /me`.
pub(crate) static ME: Record = Record {
    name: "CurrentUser",
    resource: "User",
    home: Some("users"),
    fields: &[
        Field::text("uuid").or_null(),
        Field::text("email").or_null(),
        Field::text("firstName").or_null(),
        Field::text("lastName").or_null(),
        Field::one_of("gender", GENDERS).or_null(),
        Field::of("isVerified", Kind::Boolean).or_null(),
        Field::text("phone").or_null(),
        Field::text("rpps").or_null(),
        Field::text("am").or_null(),
        Field::text("language").or_null(),
        Field::text("timezone").or_null(),
        Field::of("languageSpokenAutoDetect", Kind::Boolean).or_null(),
        Field::text("languageSpoken").or_null(),
        Field::text("languageDocument").or_null(),
        Field::record("organization", &OWN_ORGANIZATION),
        Field::one_of("organizationRole", &["ROLE_ORGANIZATION_ADMIN", "ROLE_ORGANIZATION_MEMBER"]).or_null(),
    ],
};
