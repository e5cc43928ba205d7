//! What clients send: the bodies of requests.

use super::{CONTACT_GENDERS, EVENTS, GENDERS, SPECIALTIES, USUAL, VISIBILITIES};
use crate::describe::field::{Field, Kind, Record};

/// What `POST /patients` and `PATCH /patients/{uuid}` take; the last three are never shown.
pub(crate) static PATIENT_INPUT: Record = Record {
    name: "PatientInput",
    resource: "Patient",
    home: None,
    fields: &[
        Field::text_up_to("firstName", USUAL).or_null().optional(),
        Field::text_up_to("lastName", USUAL).or_null().optional(),
        Field::text_up_to("languageSpoken", USUAL).optional(),
        Field::date("dateOfBirth").or_null().optional(),
        Field::one_of("gender", GENDERS).or_null().optional(),
        Field::one_of("visibilityOption", VISIBILITIES).or_null().optional(),
        Field::of("email", Kind::Email).or_null().optional(),
        Field::text_up_to("phone", USUAL).or_null().optional(),
        Field::text_up_to("anonymousCode", USUAL).or_null().optional(),
        Field::text_up_to("externalId", USUAL).or_null().optional(),
        Field::date("externalCreatedAt").or_null().optional(),
        Field::text("customPrompt").or_null().optional(),
    ],
};

/// What `POST /contacts` and `PATCH /contacts/{uuid}` take; the last one is never shown.
pub(crate) static CONTACT_INPUT: Record = Record {
    name: "ContactInput",
    resource: "Contact",
    home: None,
    fields: &[
        Field::text_up_to("firstName", USUAL).or_null().optional(),
        Field::text_up_to("lastName", USUAL).or_null().optional(),
        Field::text_up_to("legalName", USUAL).or_null().optional(),
        Field::one_of("gender", CONTACT_GENDERS).or_null().optional(),
        Field::text_up_to("languageSpoken", USUAL).optional(),
        Field::of("email", Kind::Email).or_null().optional(),
        Field::one_of("visibilityOption", VISIBILITIES).or_null().optional(),
        Field::text_up_to("phone", USUAL).or_null().optional(),
        Field::of("specialty", Kind::OneOfIn1_0(SPECIALTIES)).or_null().optional(),
        Field::text_up_to("streetAddress", USUAL).or_null().optional(),
        Field::text_up_to("postalCode", USUAL).or_null().optional(),
        Field::text_up_to("city", USUAL).or_null().optional(),
        Field::of("country", Kind::Country).or_null().optional(),
        Field::text("customPrompt").or_null().optional(),
    ],
};

/// The body of `POST /documents/{uuid}/status`.
pub(crate) static STATUS_INPUT: Record = Record {
    name: "StatusInput",
    resource: "Document",
    home: None,
    fields: &[Field::of("success", Kind::Boolean).or_null(), Field::text("error").or_null().optional()],
};

pub(crate) static WEBHOOK_INPUT: Record = Record {
    name: "WebhookInput",
    resource: "Webhook",
    home: None,
    fields: &[
        Field::of("url", Kind::HttpAddress),
        Field::of("events", Kind::ListOf(&Kind::OneOf(EVENTS))),
        Field::text_up_to("description", USUAL).or_null().optional(),
        Field::of("isActive", Kind::Boolean).optional(),
    ],
};
