//! The type, dates and recording of an invented document.

use super::Dice;
use crate::describe::records::DOCUMENT_TYPES;

const SPECIALTIES: &[&str] =
    &["oral_surgeon", "maxillofacial_surgeon", "cardiologist", "allergist", "radiology_center", "Pédodontie"];

/// 2025-01-06, 08:00 UTC: when the first invented document was created.
const FIRST_CREATED: i64 = 1_736_150_400_000_000;
const SECOND: i64 = 1_000_000;
/// The mean time between two documents.
const PACE: i64 = 11 * 60 * SECOND;
/// In each series of this length, the last three share one timestamp, as in a batch that one request rendered.
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
    /// The uuid of its recording, if it has one.
    pub audio: Option<String>,
    pub patient_number: u64,
    pub letter_seed: u64,
    pub french: bool,
}

/// The document with this number.
pub(super) fn invent_document(seed: u64, number: u64) -> Plan {
    let mut dice = Dice::new(seed, "document", number);
    let uuid = dice.uuid();
    let pdf_uuid = dice.uuid();
    // The first documents show every type once. Later types are random.
    let document_type = match DOCUMENT_TYPES.get(usize::try_from(number).unwrap_or(usize::MAX)) {
        Some(first) => Some((*first).to_owned()),
        None if dice.chance(2) => None,
        None => Some(dice.pick(DOCUMENT_TYPES).to_owned()),
    };
    let created_key = created_key(seed, number);
    let encountered_key = document_type
        .as_deref()
        .is_some_and(has_encounter)
        .then(|| created_key - i64::from(dice.between(1, 6)) * 86_400 * SECOND);
    let specialty = if document_type.as_deref() == Some("referral_letter") {
        dice.pick(SPECIALTIES).to_owned()
    } else {
        String::new()
    };
    let audio = dice.chance(85).then(|| dice.uuid());
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

/// Whether this type is about an operation or an image, which has its own date.
pub(super) fn has_encounter(document_type: &str) -> bool {
    matches!(document_type, "operative_report" | "cone_beam_report" | "endo_report")
}

fn created_key(seed: u64, number: u64) -> i64 {
    let place = number % BATCH_EVERY;
    let stamped = number - place.saturating_sub(BATCH_EVERY - 3);
    let steps = i64::try_from(stamped).unwrap_or(i64::MAX / PACE / 2);
    let jitter = i64::from(Dice::new(seed, "created", stamped).below(400)) * SECOND;
    FIRST_CREATED + steps * PACE + jitter
}
