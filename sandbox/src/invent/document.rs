//! What an invented document is about: its type, dates, recording.

use serde_json::{Map, Value, json};

use super::Dice;
use crate::moment::Moment;
use crate::quirks::DateFormat;

/// Every value of a document's `type` in the API description.
pub(super) const TYPES: &[&str] = &[
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

const SPECIALTIES: &[&str] =
    &["oral_surgeon", "maxillofacial_surgeon", "cardiologist", "allergist", "radiology_center", "Pédodontie"];

/// 2025-01-06, 08:00 UTC: when the first invented document was created.
const FIRST_CREATED: i64 = 1_736_150_400_000_000;
const SECOND: i64 = 1_000_000;
/// The mean distance between two documents.
const PACE: i64 = 11 * 60 * SECOND;
/// Of so many documents in a row, the last three share one timestamp, as a batch that one request rendered would.
const BATCH_EVERY: u64 = 10;

/// The parts of an invented document that do not depend on people.
pub(super) struct Plan {
    pub uuid: String,
    pub pdf_uuid: String,
    pub document_type: Option<String>,
    pub created_key: i64,
    pub encountered_key: Option<i64>,
    pub is_anonymized: bool,
    pub specialty: String,
    pub audio: Option<Map<String, Value>>,
    pub patient_number: u64,
    pub letter_seed: u64,
    pub french: bool,
}

/// Document number so-and-so.
pub(super) fn invent_document(seed: u64, number: u64) -> Plan {
    let mut dice = Dice::new(seed, "document", number);
    let uuid = dice.uuid();
    let pdf_uuid = dice.uuid();
    // The first documents show every type once; later ones come as they come.
    let document_type = match TYPES.get(usize::try_from(number).unwrap_or(usize::MAX)) {
        Some(first) => Some((*first).to_owned()),
        None if dice.chance(2) => None,
        None => Some(dice.pick(TYPES).to_owned()),
    };
    let created_key = created_key(seed, number);
    let encountered_key =
        matches!(document_type.as_deref(), Some("operative_report" | "cone_beam_report" | "endo_report"))
            .then(|| created_key - i64::from(dice.between(1, 6)) * 86_400 * SECOND);
    let specialty = if document_type.as_deref() == Some("referral_letter") {
        dice.pick(SPECIALTIES).to_owned()
    } else {
        String::new()
    };
    let audio = dice.chance(85).then(|| {
        let at = Moment::from_key(created_key - 300 * SECOND).show(DateFormat::Offset);
        let mut audio = Map::new();
        audio.insert("uuid".into(), json!(dice.uuid()));
        audio.insert("createdAt".into(), json!(at));
        audio.insert("updatedAt".into(), json!(at));
        audio.insert("archivedAt".into(), Value::Null);
        audio.insert("audioWorkflowStepV3".into(), json!("validated"));
        audio
    });
    Plan {
        uuid,
        pdf_uuid,
        document_type,
        created_key,
        encountered_key,
        is_anonymized: dice.chance(3),
        specialty,
        audio,
        patient_number: number * 2 / 3, // every second patient has two documents
        letter_seed: dice.word(),
        french: dice.chance(65),
    }
}

fn created_key(seed: u64, number: u64) -> i64 {
    let place = number % BATCH_EVERY;
    let stamped = number - place.saturating_sub(BATCH_EVERY - 3);
    let steps = i64::try_from(stamped).unwrap_or(i64::MAX / PACE / 2);
    let jitter = i64::from(Dice::new(seed, "created", stamped).below(400)) * SECOND;
    FIRST_CREATED + steps * PACE + jitter
}
