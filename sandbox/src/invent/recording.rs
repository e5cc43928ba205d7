//! Invented recordings: audios with their images and notes.

use rusqlite::Transaction;
use serde_json::Value;

use super::Dice;
use super::insert::{SeedConfig, plant_patient};
use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::moment::Moment;
use crate::new_audio::NewAudio;
use crate::store::{AudioRow, ImageRow, NoteRow, SharedTable, UserRow, counter, set_counter, uuid_of};

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Of the recordings of invented documents, one in this many is in the archive, since two days after it was made.
const ARCHIVED_EVERY: u64 = 5;

const SUMMARIES: &[&str] = &[
    "Contrôle annuel, détartrage, aucune carie.",
    "Douleur à la mastication, fracture cuspidienne, couronne proposée.",
    "Bilan parodontal, poches de 4 à 5 mm, surfaçage prévu.",
    "Avulsion de la dent de sagesse, suites simples.",
    "Contrôle d'implant à trois mois, ostéo-intégration satisfaisante.",
    "Suivi orthodontique, arc changé, bonne hygiène.",
    "Annual check-up, scaling, no caries found.",
    "Root canal treatment started, temporary filling placed.",
    "Consultation for whitening, sensitivity explained.",
    "Emergency visit, abscess drained, antibiotics prescribed.",
];

const PICTURES: &[(&str, &str)] = &[
    ("Vue occlusale", "occlusal"),
    ("Sourire de face", "smile"),
    ("Radiographie rétro-alvéolaire", "periapical"),
    ("Empreinte du quadrant", "quadrant"),
];

/// What a recording is invented from.
pub(crate) struct Recording<'a> {
    pub uuid: String,
    /// The seed of its chance.
    pub seed: u64,
    pub number: u64,
    pub owner_id: i64,
    pub user: &'a UserRow,
    /// Row id and uuid.
    pub patient: Option<(i64, String)>,
    pub created_key: i64,
    /// A step of version 1.1.0, and when the workflow moves the recording on.
    pub step: String,
    pub step_due: Option<i64>,
    /// The dictated members: meeting, language, summary.
    pub dictated: NewAudio,
}

impl Recording<'_> {
    /// Inserts the audio with its images. `now` is the time of the event.
    pub fn insert(self, transaction: &Transaction<'_>, now: i64) -> Result<AudioRow, SandboxError> {
        let mut dice = Dice::new(self.seed, "audio", self.number);
        let created_at = Moment::from_key(self.created_key);
        let archived = self.number < FIRST_RECORDING && self.number % ARCHIVED_EVERY == ARCHIVED_EVERY - 1;
        let archived_at = archived.then(|| Moment::from_key(self.created_key + 2 * DAY));
        let (patient_id, patient_uuid) = self.patient.unzip();
        let meeting = dice.chance(30).then(|| dice.uuid());
        let language = if dice.chance(70) { "fr" } else { "en" };
        let summary = dice.pick(SUMMARIES);
        let mut row = AudioRow {
            id: 0,
            uuid: self.uuid,
            owner_id: self.owner_id,
            user: self.user.clone(),
            patient_id,
            patient_uuid,
            updated_at: archived_at.clone().unwrap_or_else(|| created_at.clone()),
            archived_at,
            meeting: self.dictated.meeting.or(meeting),
            language_spoken: Some(self.dictated.language_spoken.unwrap_or_else(|| language.to_owned())),
            summary: Some(self.dictated.summary.unwrap_or_else(|| summary.to_owned())),
            media_recorder_type: Some("audio/webm;codecs=opus".to_owned()),
            step: self.step,
            step_due: self.step_due,
            created_at,
        };
        row.id = row.insert(transaction)?;
        let images = dice.below(3);
        for (title, name) in dice.some(PICTURES, images) {
            let image = ImageRow {
                uuid: dice.uuid(),
                title: dice.chance(80).then(|| title.to_owned()),
                name: format!("{name}-{}.jpg", dice.below(10_000)),
                size: u64::from(dice.between(40_000, 900_000)),
                created_at: Moment::from_key(self.created_key + MINUTE),
                updated_at: Moment::from_key(self.created_key + MINUTE),
            };
            image.insert(transaction, row.id)?;
        }
        announce(transaction, Event::AudioCreated, row.owner_id, row.id, now)?;
        Ok(row)
    }
}

/// The counter of recordings without a document of their own.
const RECORDINGS_INVENTED: &str = "recordings invented";

/// Their first number, far from the numbers of documents, which their recordings share.
const FIRST_RECORDING: u64 = 1 << 40;

/// Inserts a recording made at `now`, at this step.
pub(crate) fn plant_audio(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    wish: NewAudio,
    step: &str,
    step_due: Option<i64>,
    now: i64,
) -> Result<AudioRow, SandboxError> {
    let count = counter(transaction, RECORDINGS_INVENTED)?;
    set_counter(transaction, RECORDINGS_INVENTED, count + 1)?;
    let mut dice = Dice::new(seed_config.seed, "recording", count);
    let (uuid, chance) = (dice.uuid(), dice.word());
    let key = wish.owner.as_deref().unwrap_or(&seed_config.first_key);
    let owner = UserRow::by_key(transaction, key)?.ok_or_else(|| SandboxError::NoSuchKey { key: key.to_owned() })?;
    let patient = match &wish.patient {
        Some(Value::String(uuid)) => {
            let known = SharedTable::Patients.by_uuid(transaction, uuid)?.filter(|patient| patient.is_seen_by(&owner));
            let known = known.ok_or_else(|| SandboxError::NoPatient { uuid: uuid.clone() })?;
            Some((known.id, known.record))
        }
        // Every second patient has two, and so do those of the first documents.
        other => plant_patient(transaction, seed_config.seed, (count * 2 / 3, chance), &owner, other.as_ref())?,
    };
    let recording = Recording {
        uuid: wish.uuid.clone().unwrap_or(uuid),
        seed: seed_config.seed,
        number: FIRST_RECORDING + count,
        owner_id: owner.id,
        user: &owner,
        patient: patient.map(|(id, record)| (id, uuid_of(&record).to_owned())),
        created_key: now,
        step: step.to_owned(),
        step_due,
        dictated: wish,
    };
    recording.insert(transaction, now)
}

/// Writes the note of an audio that reached that step.
pub(crate) fn plant_note(
    transaction: &Transaction<'_>,
    seed: u64,
    number: u64,
    audio: &AudioRow,
    at: i64,
) -> Result<(), SandboxError> {
    let mut dice = Dice::new(seed, "note", number);
    let kind = match dice.below(10) {
        0..7 => "consultation_summary",
        7 | 8 => "meeting_summary",
        _ => "ortho_summary",
    };
    let note = NoteRow {
        uuid: dice.uuid(),
        owner_id: audio.owner_id,
        user: audio.user.clone(),
        patient_id: audio.patient_id,
        patient_uuid: audio.patient_uuid.clone(),
        audio_id: Some(audio.id),
        audio_uuid: Some(audio.uuid.clone()),
        kind: kind.to_owned(),
        content: audio.summary.clone(),
        created_at: Moment::from_key(at),
        updated_at: Moment::from_key(at),
    };
    note.insert(transaction)
}
