//! Every record of the API in each shape ("Resources and their fields"). What the description does not show is marked
//! as the sandbox's choice, and the README gives the reasons.

#![expect(clippy::indexing_slicing, reason = "in constants, where an index out of range does not compile")]

mod inputs;
mod people;

use super::Version::{V1_0, V1_1};
use super::field::{Field, Kind, Record};

pub(crate) use inputs::{CONTACT_INPUT, PATIENT_INPUT, STATUS_INPUT, WEBHOOK_INPUT};
pub(crate) use people::{EMBEDDED_USER, ME, ORGANIZATION, USER};

const GENDERS: &[&str] = &["female", "male", "unknown"];
const CONTACT_GENDERS: &[&str] = &["female", "male", "doctor", "unknown"];
const VISIBILITIES: &[&str] = &["shared", "private"];
const SPECIALTIES: &[&str] = &[
    "allergist",
    "medical_biologist",
    "cardiologist",
    "radiology_center",
    "sleep_center",
    "mri_center",
    "chiropractor",
    "maxillofacial_surgeon",
    "oral_surgeon",
    "cosmetic_dentist",
];
pub(crate) const DOCUMENT_TYPES: &[&str] = &[
    "operative_report",
    "referral_letter",
    "cone_beam_report",
    "patient_letter",
    "prescription",
    "initial_medical_certificate",
    "attendance_certificate",
    "contraindication_certificate",
    "lab_slip",
    "endo_report",
    "ortho_letter",
];
pub(crate) const NOTE_TYPES: &[&str] = &["consultation_summary", "meeting_summary", "ortho_summary"];
pub(crate) const STEPS_1_0: &[&str] = &["audio_recording", "transcription", "edition", "failed"];
pub(crate) const STEPS_1_1: &[&str] =
    &["audio_recording", "transcription", "transcribed", "edition", "validated", "failed"];
/// The events that a webhook can subscribe to. The description shows none: the sandbox's choice.
pub(crate) const EVENTS: &[&str] =
    &["document.created", "document.updated", "document.deleted", "audio.created", "audio.updated", "audio.deleted"];
/// The longest text if the description has no limit, as in the family's text columns.
const USUAL: usize = 255;

const CREATED: Field = Field::date_time("createdAt");
const UPDATED: Field = Field::date_time("updatedAt");

/// Two groups of fields as one.
const fn and<const N: usize>(some: &[Field], more: &[Field]) -> [Field; N] {
    let mut fields = [CREATED; N];
    let mut index = 0;
    while index < N {
        fields[index] = if index < some.len() { some[index] } else { more[index - some.len()] };
        index += 1;
    }
    fields
}

const PATIENT_FIELDS: [Field; 13] = [
    Field::text("uuid"),
    Field::text("firstName").or_null(),
    Field::text("lastName").or_null(),
    Field::text("languageSpoken"),
    CREATED,
    UPDATED,
    Field::date_time("synchronizedAt").or_null(),
    Field::date("dateOfBirth").or_null(),
    Field::one_of("gender", GENDERS).or_null(),
    Field::one_of("visibilityOption", VISIBILITIES).or_null(),
    Field::text("email").or_null(),
    Field::text("phone").or_null(),
    Field::text("anonymousCode").or_null(),
];

/// A patient in a list: without the user.
pub(crate) static PATIENT_ITEM: Record =
    Record { name: "PatientItem", resource: "Patient", home: Some("patients"), fields: &PATIENT_FIELDS };

pub(crate) static PATIENT: Record = Record {
    name: "Patient",
    resource: "Patient",
    home: Some("patients"),
    fields: &and::<{ PATIENT_FIELDS.len() + 1 }>(&PATIENT_FIELDS, &[Field::record("user", &EMBEDDED_USER)]),
};

pub(crate) static CONTACT: Record = Record {
    name: "Contact",
    resource: "Contact",
    home: Some("contacts"),
    fields: &[
        Field::uuid("uuid"),
        Field::text("firstName").or_null(),
        Field::text("lastName").or_null(),
        Field::text_up_to("legalName", USUAL).or_null(),
        Field::one_of("gender", CONTACT_GENDERS).or_null(),
        Field::text("languageSpoken"),
        CREATED,
        UPDATED,
        Field::of("email", Kind::Email).or_null(),
        Field::one_of("visibilityOption", VISIBILITIES).or_null(),
        Field::text("phone").or_null(),
        Field::text("specialty").or_null(),
        Field::text("streetAddress").or_null(),
        Field::text("postalCode").or_null(),
        Field::text("city").or_null(),
        Field::of("country", Kind::Country).or_null(),
    ],
};

pub(crate) static PDF: Record = Record {
    name: "Pdf",
    resource: "Pdf",
    home: None,
    fields: &[
        Field::text("uuid"),
        Field::text("name"),
        Field::of("size", Kind::Integer),
        CREATED,
        UPDATED,
        Field::of("url", Kind::Uri),
        Field::text("fileName"),
    ],
};

const STEP_1_0: Field = Field::one_of("audioWorkflowStepV3", STEPS_1_0).only(V1_0);
const STEP_1_1: Field = Field::one_of("audioWorkflowStepV3", STEPS_1_1).only(V1_1);

/// The audio inside a document.
pub(crate) static DOCUMENT_AUDIO: Record = Record {
    name: "DocumentAudio",
    resource: "Audio",
    home: Some("audios"),
    fields: &[
        Field::uuid("uuid"),
        Field::uuid("patient").or_null(),
        CREATED,
        UPDATED,
        Field::date_time("archivedAt").or_null(),
        STEP_1_0,
        STEP_1_1,
    ],
};

/// An element of `documentIntegrations`; its members are the sandbox's choice.
pub(crate) static DOCUMENT_INTEGRATION: Record = Record {
    name: "DocumentIntegration",
    resource: "DocumentIntegration",
    home: None,
    fields: &[Field::of("success", Kind::Boolean).or_null(), Field::text("error").or_null(), CREATED, UPDATED],
};

const DOCUMENT_TYPE: Field = Field::of("type", Kind::OneOfIn1_0(DOCUMENT_TYPES)).or_null();
const ENCOUNTERED: Field = Field::date_time("encounteredAt").or_null();
const ANONYMIZED: Field = Field::of("isAnonymized", Kind::Boolean);
const SPECIALTY: Field = Field::text("genericContactSpecialty").only(V1_1);

/// A document in a list: user, patient and pdf as identifiers.
pub(crate) static DOCUMENT_ITEM: Record = Record {
    name: "DocumentItem",
    resource: "Document",
    home: Some("documents"),
    fields: &[
        Field::text("uuid"),
        CREATED,
        UPDATED,
        ENCOUNTERED,
        Field::of("user", Kind::UuidOr(&[&EMBEDDED_USER])),
        Field::text("patient").or_null(),
        Field::record("audio", &DOCUMENT_AUDIO).or_null(),
        DOCUMENT_TYPE,
        Field::text("pdf").or_null(),
        ANONYMIZED,
        SPECIALTY,
    ],
};

/// The single read, also the answer to a status post.
pub(crate) static DOCUMENT: Record = Record {
    name: "Document",
    resource: "Document",
    home: Some("documents"),
    fields: &[
        Field::text("uuid"),
        CREATED,
        UPDATED,
        ENCOUNTERED,
        Field::record("user", &EMBEDDED_USER),
        Field::record("patient", &PATIENT).or_null(),
        Field::record("audio", &DOCUMENT_AUDIO).or_null(),
        DOCUMENT_TYPE,
        Field::record("pdf", &PDF).or_null(),
        ANONYMIZED,
        SPECIALTY,
        Field::of("documentIntegrations", Kind::ListOf(&Kind::Record(&DOCUMENT_INTEGRATION))).only(V1_1),
    ],
};

pub(crate) static IMAGE: Record = Record {
    name: "Image",
    resource: "Image",
    home: None,
    fields: &[
        Field::text("uuid"),
        Field::text("title").or_null(),
        Field::text("name"),
        Field::of("size", Kind::Integer),
        CREATED,
        UPDATED,
    ],
};

/// An audio in a list.
pub(crate) static AUDIO_ITEM: Record = Record {
    name: "AudioItem",
    resource: "Audio",
    home: Some("audios"),
    fields: &[
        Field::uuid("uuid"),
        Field::of("patient", Kind::UuidOr(&[&PATIENT, &PATIENT_ITEM])).or_null(),
        CREATED,
        UPDATED,
        Field::date_time("archivedAt").or_null(),
        Field::record("user", &EMBEDDED_USER).or_null(),
        STEP_1_0,
        STEP_1_1,
    ],
};

pub(crate) static AUDIO: Record = Record {
    name: "Audio",
    resource: "Audio",
    home: Some("audios"),
    fields: &[
        Field::uuid("uuid"),
        Field::record("patient", &PATIENT).or_null(),
        CREATED,
        UPDATED,
        Field::date_time("archivedAt").or_null(),
        Field::record("user", &EMBEDDED_USER).or_null(),
        Field::of("documents", Kind::ListOf(&Kind::Record(&DOCUMENT_ITEM))),
        Field::of("images", Kind::ListOf(&Kind::Record(&IMAGE))),
        Field::uuid("meeting").or_null().only(V1_1),
        Field::text("languageSpoken").or_null(),
        Field::text("summary").or_null().only(V1_0),
        Field::text("mediaRecorderType").or_null(),
        STEP_1_0,
        STEP_1_1,
    ],
};

/// A note in a list. Its fields are the sandbox's choice, like those of documents in lists.
pub(crate) static NOTE_ITEM: Record = Record {
    name: "NoteItem",
    resource: "Note",
    home: Some("notes"),
    fields: &[
        Field::text("uuid"),
        Field::text("content").or_null(),
        Field::one_of("type", NOTE_TYPES),
        Field::text("audio").or_null(),
        Field::text("patient").or_null(),
        Field::record("user", &EMBEDDED_USER),
        CREATED,
        UPDATED,
    ],
};

pub(crate) static NOTE: Record = Record {
    name: "Note",
    resource: "Note",
    home: Some("notes"),
    fields: &[
        Field::text("uuid"),
        Field::text("content").or_null(),
        Field::one_of("type", NOTE_TYPES),
        Field::text("audio").or_null(),
        Field::record("patient", &PATIENT).or_null(),
        Field::record("user", &EMBEDDED_USER),
        CREATED,
        UPDATED,
    ],
};

const WEBHOOK_FIELDS: [Field; 7] = [
    Field::uuid("uuid"),
    Field::of("url", Kind::Uri),
    Field::of("events", Kind::ListOf(&Kind::OneOf(EVENTS))),
    Field::text("description").or_null(),
    Field::of("isActive", Kind::Boolean),
    CREATED,
    UPDATED,
];

/// All of a webhook's fields are the sandbox's choice.
pub(crate) static WEBHOOK: Record =
    Record { name: "Webhook", resource: "Webhook", home: Some("webhooks"), fields: &WEBHOOK_FIELDS };

/// The answer to `POST /webhooks`, the only one that shows the secret.
pub(crate) static NEW_WEBHOOK: Record = Record {
    name: "NewWebhook",
    resource: "Webhook",
    home: Some("webhooks"),
    fields: &and::<{ WEBHOOK_FIELDS.len() + 1 }>(&WEBHOOK_FIELDS, &[Field::text("secret")]),
};
