//! The tables of "Resources and their fields", copied from the description by hand.

use crate::shape::Is::{
    Absent, Anything, AtMost, Boolean, Country, Date, DateTime, Digits, Email, Integer, ListOf, Number, OneOf, OrNull,
    Record, Text, Timezone, Uuid,
};
use crate::shape::{Is, Row};

const TEXT_OR_NULL: Is = OrNull(&Text);
const CONTACT_GENDER: Is = OrNull(&OneOf(&["female", "male", "doctor", "unknown"]));
const GENDER: Is = OrNull(&OneOf(&["female", "male", "unknown"]));
const VISIBILITY: Is = OrNull(&OneOf(&["shared", "private"]));
pub const SPECIALTIES: &[&str] = &[
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
pub const DOCUMENT_TYPES: &[&str] = &[
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
pub const NOTE_TYPES: &[&str] = &["consultation_summary", "meeting_summary", "ortho_summary"];
pub const STEPS_1_0: &[&str] = &["audio_recording", "transcription", "edition", "failed"];
pub const STEPS_1_1: &[&str] = &["audio_recording", "transcription", "transcribed", "edition", "validated", "failed"];

pub const CONTACT: &[Row] = &[
    ("uuid", Uuid),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("legalName", OrNull(&AtMost(255))),
    ("gender", CONTACT_GENDER),
    ("languageSpoken", Text),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("email", OrNull(&Email)),
    ("visibilityOption", VISIBILITY),
    ("phone", TEXT_OR_NULL),
    ("specialty", TEXT_OR_NULL),
    ("streetAddress", TEXT_OR_NULL),
    ("postalCode", TEXT_OR_NULL),
    ("city", TEXT_OR_NULL),
    ("country", OrNull(&Country)),
    ("customPrompt", Absent),
];

/// The user inside documents, audios, notes and patients.
pub const EMBEDDED_USER: &[Row] = &[
    ("uuid", Uuid),
    ("email", Email),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("gender", GENDER),
    ("phone", TEXT_OR_NULL),
    ("rpps", OrNull(&Digits(11))),
    ("am", OrNull(&Digits(9))),
];

pub const USER: &[Row] = &[
    ("uuid", Uuid),
    ("email", Email),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("gender", GENDER),
    ("phone", TEXT_OR_NULL),
    ("rpps", OrNull(&Digits(11))),
    ("am", OrNull(&Digits(9))),
    ("language", Text),
    ("smartNoteCustomPrompt", OrNull(&AtMost(2000))),
    ("documentCustomPrompt", OrNull(&AtMost(2000))),
    ("organizations", ListOf(&Record(ORGANIZATION))),
];

pub const ORGANIZATION: &[Row] = &[
    ("uuid", TEXT_OR_NULL),
    ("name", TEXT_OR_NULL),
    ("vatNumber", TEXT_OR_NULL),
    ("streetAddress", Text),
    ("postalCode", Text),
    ("city", Text),
    ("country", Text),
    ("latitude", Number),
    ("longitude", Number),
    ("timezone", OrNull(&Timezone)),
    ("phone", TEXT_OR_NULL),
    ("secretariatEmail", TEXT_OR_NULL),
    ("website", TEXT_OR_NULL),
    ("dentalNomenclatureSystem", OrNull(&OneOf(&["fdi", "ada"]))),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
];

/// The organization inside `GET /me`: "which also has `siret` and a `users` array".
const OWN_ORGANIZATION: &[Row] = &[
    ("uuid", TEXT_OR_NULL),
    ("name", TEXT_OR_NULL),
    ("vatNumber", TEXT_OR_NULL),
    ("streetAddress", Text),
    ("postalCode", Text),
    ("city", Text),
    ("country", Text),
    ("latitude", Number),
    ("longitude", Number),
    ("timezone", OrNull(&Timezone)),
    ("phone", TEXT_OR_NULL),
    ("secretariatEmail", TEXT_OR_NULL),
    ("website", TEXT_OR_NULL),
    ("dentalNomenclatureSystem", OrNull(&OneOf(&["fdi", "ada"]))),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("siret", TEXT_OR_NULL),
    ("users", ListOf(&Anything)),
];

pub const ME: &[Row] = &[
    ("uuid", TEXT_OR_NULL),
    ("email", TEXT_OR_NULL),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("gender", GENDER),
    ("isVerified", OrNull(&Boolean)),
    ("phone", TEXT_OR_NULL),
    ("rpps", TEXT_OR_NULL),
    ("am", TEXT_OR_NULL),
    ("language", TEXT_OR_NULL),
    ("timezone", TEXT_OR_NULL),
    ("languageSpokenAutoDetect", OrNull(&Boolean)),
    ("languageSpoken", TEXT_OR_NULL),
    ("languageDocument", TEXT_OR_NULL),
    ("organization", Record(OWN_ORGANIZATION)),
    ("organizationRole", OrNull(&OneOf(&["ROLE_ORGANIZATION_ADMIN", "ROLE_ORGANIZATION_MEMBER"]))),
];

/// A patient in a list: "without user".
pub const PATIENT_ITEM: &[Row] = &[
    ("uuid", Text),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("languageSpoken", Text),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("synchronizedAt", OrNull(&DateTime)),
    ("dateOfBirth", OrNull(&Date)),
    ("gender", GENDER),
    ("user", Absent),
    ("visibilityOption", VISIBILITY),
    ("email", TEXT_OR_NULL),
    ("phone", TEXT_OR_NULL),
    ("anonymousCode", TEXT_OR_NULL),
    ("externalId", Absent),
    ("externalCreatedAt", Absent),
    ("customPrompt", Absent),
];

pub const PATIENT: &[Row] = &[
    ("uuid", Text),
    ("firstName", TEXT_OR_NULL),
    ("lastName", TEXT_OR_NULL),
    ("languageSpoken", Text),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("synchronizedAt", OrNull(&DateTime)),
    ("dateOfBirth", OrNull(&Date)),
    ("gender", GENDER),
    ("user", Record(EMBEDDED_USER)),
    ("visibilityOption", VISIBILITY),
    ("email", TEXT_OR_NULL),
    ("phone", TEXT_OR_NULL),
    ("anonymousCode", TEXT_OR_NULL),
    ("externalId", Absent),
    ("externalCreatedAt", Absent),
    ("customPrompt", Absent),
];

pub const IMAGE: &[Row] = &[
    ("uuid", Text),
    ("title", TEXT_OR_NULL),
    ("name", Text),
    ("size", Integer),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
];

pub const AUDIO_ITEM: &[Row] = &[
    ("uuid", Uuid),
    ("patient", OrNull(&Uuid)),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("archivedAt", OrNull(&DateTime)),
    ("user", OrNull(&Record(EMBEDDED_USER))),
    ("audioWorkflowStepV3", OneOf(STEPS_1_1)),
];

/// The same in version 1.0.0.
pub fn audio_item_1_0() -> Vec<Row> {
    but(AUDIO_ITEM, &[("audioWorkflowStepV3", OneOf(STEPS_1_0))])
}

/// The single read of version 1.1.0.
pub const AUDIO: &[Row] = &[
    ("uuid", Uuid),
    ("patient", OrNull(&Record(PATIENT))),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("archivedAt", OrNull(&DateTime)),
    ("user", OrNull(&Record(EMBEDDED_USER))),
    ("documents", ListOf(&Anything)),
    ("images", ListOf(&Record(IMAGE))),
    ("meeting", OrNull(&Uuid)),
    ("languageSpoken", TEXT_OR_NULL),
    ("summary", Absent),
    ("mediaRecorderType", TEXT_OR_NULL),
    ("audioWorkflowStepV3", OneOf(STEPS_1_1)),
];

/// The single read of version 1.0.0.
pub fn audio_1_0() -> Vec<Row> {
    but(AUDIO, &[("meeting", Absent), ("summary", TEXT_OR_NULL), ("audioWorkflowStepV3", OneOf(STEPS_1_0))])
}

/// A table with some of its rows changed.
fn but(table: &[Row], changes: &[Row]) -> Vec<Row> {
    let changed = |row: &Row| *changes.iter().find(|(name, _)| *name == row.0).unwrap_or(row);
    table.iter().map(changed).collect()
}

/// "nested audio has …"
pub const NESTED_AUDIO: &[Row] = &[
    ("uuid", Uuid),
    ("patient", Anything),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("archivedAt", OrNull(&DateTime)),
    ("audioWorkflowStepV3", OneOf(STEPS_1_1)),
];

/// The same in version 1.0.0.
const NESTED_AUDIO_1_0: &[Row] = &[
    ("uuid", Uuid),
    ("patient", Anything),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("archivedAt", OrNull(&DateTime)),
    ("audioWorkflowStepV3", OneOf(STEPS_1_0)),
];

pub const PDF: &[Row] = &[
    ("uuid", Text),
    ("name", Text),
    ("size", Integer),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("url", Text),
    ("fileName", Text),
];

/// A document in a list: "with user, patient and pdf as identifiers".
pub const DOCUMENT_ITEM: &[Row] = &[
    ("uuid", Text),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("encounteredAt", OrNull(&Date)),
    ("user", Uuid),
    ("patient", OrNull(&Uuid)),
    ("audio", OrNull(&Record(NESTED_AUDIO))),
    ("type", OrNull(&OneOf(DOCUMENT_TYPES))),
    ("pdf", OrNull(&Uuid)),
    ("isAnonymized", Boolean),
    ("genericContactSpecialty", Text),
];

/// The same in version 1.0.0.
pub fn document_item_1_0() -> Vec<Row> {
    but(DOCUMENT_ITEM, &[("audio", OrNull(&Record(NESTED_AUDIO_1_0))), ("genericContactSpecialty", Absent)])
}

/// The single read of version 1.1.0.
pub const DOCUMENT: &[Row] = &[
    ("uuid", Text),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
    ("encounteredAt", OrNull(&Date)),
    ("user", Record(EMBEDDED_USER)),
    ("patient", OrNull(&Record(PATIENT))),
    ("audio", OrNull(&Record(NESTED_AUDIO))),
    ("type", OrNull(&OneOf(DOCUMENT_TYPES))),
    ("pdf", OrNull(&Record(PDF))),
    ("isAnonymized", Boolean),
    ("genericContactSpecialty", Text),
    ("documentIntegrations", ListOf(&Anything)),
];

/// The single read of version 1.0.0: "basic shape".
pub fn document_1_0() -> Vec<Row> {
    let audio = ("audio", OrNull(&Record(NESTED_AUDIO_1_0)));
    but(DOCUMENT, &[audio, ("genericContactSpecialty", Absent), ("documentIntegrations", Absent)])
}

pub const NOTE: &[Row] = &[
    ("uuid", Text),
    ("content", TEXT_OR_NULL),
    ("type", OneOf(NOTE_TYPES)),
    ("audio", TEXT_OR_NULL),
    ("patient", Anything),
    ("user", Record(EMBEDDED_USER)),
    ("createdAt", DateTime),
    ("updatedAt", DateTime),
];
