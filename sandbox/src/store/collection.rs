//! The parameters of each list, with their SQL ("Endpoints": the rows of the collections).

use crate::describe::Version::{self, V1_0, V1_1};

/// A list of the API: each parameter's name, from the description, with its column.
#[derive(Debug)]
pub(crate) struct Collection {
    /// The table, and the path.
    pub name: &'static str,
    pub reach: Reach,
    pub orders: &'static [(&'static str, Column)],
    pub exacts: &'static [Exact],
    pub dates: &'static [(&'static str, &'static str)],
    pub flags: &'static [Flag],
    /// The searched texts: this column refers to a row of that text table.
    pub texts: &'static [(&'static str, &'static str)],
    /// Values of `expand[]`.
    pub expands: &'static [&'static str],
    /// The columns that order equal rows; the last is unique.
    pub ties: &'static [&'static str],
}

/// The rows that a user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The user's own.
    Own,
    /// The practice's, without those that colleagues keep private.
    Practice,
    /// The practice itself.
    Membership,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Named(&'static str),
    /// The description orders by this field, but no record shows it: all rows are equal.
    Unknown,
}

/// A filter by exact value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    pub name: &'static str,
    pub place: Place,
    /// Whether a value has few rows, so that its index is better than that of the order. (An index of an order with all
    /// columns, as for the uuids of one's own records, is as good.)
    pub few: bool,
    /// The only version that has it; `None` for all.
    pub only: Option<Version>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Column(&'static str),
    /// The column must be one of the keys that this query finds for the values.
    Found(&'static str, &'static str),
}

/// A boolean parameter and the conditions for its two values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    pub name: &'static str,
    pub yes: &'static str,
    pub no: &'static str,
}

const fn exact(name: &'static str, column: &'static str) -> Exact {
    Exact { name, place: Place::Column(column), few: false, only: None }
}

const fn key(name: &'static str, column: &'static str) -> Exact {
    Exact { few: true, ..exact(name, column) }
}

const fn found(name: &'static str, column: &'static str, query: &'static str) -> Exact {
    Exact { name, place: Place::Found(column, query), few: false, only: None }
}

const CREATION: &[&str] = &["created_key", "uuid"];
const CREATED: (&str, &str) = ("createdAt", "created_key");
const UPDATED: (&str, &str) = ("updatedAt", "updated_key");
const BY_CREATED: (&str, Column) = ("createdAt", Column::Named("created_key"));
const BY_UPDATED: (&str, Column) = ("updatedAt", Column::Named("updated_key"));
const BY_UUID: (&str, Column) = ("uuid", Column::Named("uuid"));
const OF_EMAIL: &str = "SELECT id FROM users WHERE email IN";

pub(crate) static DOCUMENTS: Collection = Collection {
    name: "documents",
    reach: Reach::Own,
    orders: &[
        BY_UUID,
        BY_CREATED,
        BY_UPDATED,
        ("verifiedAt", Column::Unknown),
        ("sentAt", Column::Unknown),
        ("user", Column::Named("user_uuid")),
        ("patient", Column::Named("patient_uuid")),
    ],
    exacts: &[
        exact("uuid", "uuid"),
        found("user.email", "user_id", OF_EMAIL),
        Exact { few: true, ..found("patient.email", "patient_id", "SELECT id FROM patients WHERE email IN") },
        exact("type", "type"),
        key("pdf", "pdf_uuid"),
        Exact { only: Some(V1_1), ..exact("genericContactSpecialty", "specialty") },
        exact("user.uuid", "user_uuid"),
        key("patient.uuid", "patient_uuid"),
    ],
    dates: &[CREATED, UPDATED, ("encounteredAt", "encountered_key")],
    flags: &[
        Flag { name: "synchronized", yes: "synchronized = 1", no: "synchronized = 0" },
        Flag { name: "isAnonymized", yes: "is_anonymized = 1", no: "is_anonymized = 0" },
        Flag { name: "exists[encounteredAt]", yes: "encountered_key IS NOT NULL", no: "encountered_key IS NULL" },
    ],
    texts: &[("id", "documents_text"), ("patient_id", "patients_text"), ("user_id", "users_text")],
    expands: &["user.read"],
    ties: CREATION,
};

pub(crate) static AUDIOS: Collection = Collection {
    name: "audios",
    reach: Reach::Own,
    orders: &[
        BY_UUID,
        ("patient", Column::Named("patient_uuid")),
        BY_CREATED,
        BY_UPDATED,
        ("archivedAt", Column::Named("archived_key")),
    ],
    exacts: &[
        exact("uuid", "uuid"),
        key("patient", "patient_uuid"),
        found("documents", "id", "SELECT audio_id FROM documents WHERE uuid IN"),
        exact("user", "user_uuid"),
        exact("languageSpoken", "language_spoken"),
        Exact { only: Some(V1_0), ..exact("summary", "summary") },
    ],
    dates: &[CREATED, UPDATED, ("archivedAt", "archived_key")],
    flags: &[Flag { name: "exists[archivedAt]", yes: "archived_key IS NOT NULL", no: "archived_key IS NULL" }],
    texts: &[("id", "audios_text"), ("patient_id", "patients_text"), ("user_id", "users_text")],
    expands: &["patient.read", "patient.list"],
    ties: CREATION,
};

pub(crate) static NOTES: Collection = Collection {
    name: "notes",
    reach: Reach::Own,
    orders: &[BY_UUID, BY_CREATED, BY_UPDATED],
    exacts: &[
        exact("uuid", "uuid"),
        exact("type", "type"),
        key("audio", "audio_uuid"),
        key("patient", "patient_uuid"),
        exact("user", "user_uuid"),
    ],
    dates: &[CREATED, UPDATED],
    flags: &[],
    texts: &[("id", "notes_text"), ("patient_id", "patients_text"), ("user_id", "users_text")],
    expands: &[],
    ties: CREATION,
};

pub(crate) static PATIENTS: Collection = Collection {
    name: "patients",
    reach: Reach::Practice,
    orders: &[
        BY_UUID,
        ("firstName", Column::Named("first_name")),
        ("lastName", Column::Named("last_name")),
        ("languageSpoken", Column::Named("language_spoken")),
        BY_CREATED,
        BY_UPDATED,
        ("synchronizedAt", Column::Named("synchronized_key")),
        ("dateOfBirth", Column::Named("date_of_birth")),
        ("gender", Column::Named("gender")),
        ("user", Column::Named("owner_uuid")),
        ("visibilityOption", Column::Named("visibility_option")),
        ("email", Column::Named("email")),
        ("phone", Column::Named("phone")),
        ("client", Column::Unknown),
        ("anonymousCode", Column::Named("anonymous_code")),
    ],
    exacts: &[
        key("uuid", "uuid"),
        exact("firstName", "first_name"),
        exact("lastName", "last_name"),
        exact("languageSpoken", "language_spoken"),
        exact("dateOfBirth", "date_of_birth"),
        exact("gender", "gender"),
        found("user.email", "owner_id", OF_EMAIL),
        exact("visibilityOption", "visibility_option"),
        key("email", "email"),
        key("phone", "phone"),
        key("anonymousCode", "anonymous_code"),
        exact("user.uuid", "owner_uuid"),
    ],
    dates: &[CREATED, UPDATED, ("synchronizedAt", "synchronized_key")],
    flags: &[],
    texts: &[("id", "patients_text")],
    expands: &[],
    ties: CREATION,
};

pub(crate) static CONTACTS: Collection = Collection {
    name: "contacts",
    reach: Reach::Practice,
    orders: &[
        BY_UUID,
        ("firstName", Column::Named("first_name")),
        ("lastName", Column::Named("last_name")),
        ("legalName", Column::Named("legal_name")),
        ("languageSpoken", Column::Named("language_spoken")),
        BY_CREATED,
        BY_UPDATED,
        ("gender", Column::Named("gender")),
        ("user", Column::Named("owner_uuid")),
        ("visibilityOption", Column::Named("visibility_option")),
        ("specialty", Column::Named("specialty")),
        ("email", Column::Named("email")),
        ("phone", Column::Named("phone")),
        ("streetAddress", Column::Named("street_address")),
        ("postalCode", Column::Named("postal_code")),
        ("city", Column::Named("city")),
        ("country", Column::Named("country")),
    ],
    exacts: &[
        key("uuid", "uuid"),
        exact("firstName", "first_name"),
        exact("lastName", "last_name"),
        exact("legalName", "legal_name"),
        exact("gender", "gender"),
        exact("languageSpoken", "language_spoken"),
        key("email", "email"),
        found("user.email", "owner_id", OF_EMAIL),
        exact("visibilityOption", "visibility_option"),
        key("phone", "phone"),
        exact("specialty", "specialty"),
        exact("streetAddress", "street_address"),
        exact("postalCode", "postal_code"),
        exact("city", "city"),
        exact("country", "country"),
        exact("user.uuid", "owner_uuid"),
    ],
    dates: &[CREATED, UPDATED],
    flags: &[],
    texts: &[("id", "contacts_text")],
    expands: &[],
    ties: CREATION,
};

/// Its parameters are "not shown", so they are the sandbox's choice.
pub(crate) static ORGANIZATIONS: Collection = Collection {
    name: "organizations",
    reach: Reach::Membership,
    orders: &[BY_UUID],
    exacts: &[exact("uuid", "uuid")],
    dates: &[],
    flags: &[],
    texts: &[],
    expands: &[],
    ties: &["uuid"],
};

/// Its parameters are "not shown", so they are the sandbox's choice.
pub(crate) static WEBHOOKS: Collection = Collection {
    name: "webhooks",
    reach: Reach::Own,
    orders: &[BY_UUID, BY_CREATED, BY_UPDATED],
    exacts: &[exact("uuid", "uuid")],
    dates: &[CREATED, UPDATED],
    flags: &[],
    texts: &[],
    expands: &[],
    ties: CREATION,
};
