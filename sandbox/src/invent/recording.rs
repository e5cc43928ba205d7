//! Recordings that were never made: audios with their images and the note that was written from them.

use rusqlite::Transaction;

use super::Dice;
use crate::error::SandboxError;
use crate::moment::Moment;
use crate::store::{AudioRow, ImageRow, NoteRow, UserRow};

const MINUTE: i64 = 60_000_000;

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
    /// What its chance follows from.
    pub seed: u64,
    pub number: u64,
    pub owner_id: i64,
    pub user: &'a UserRow,
    /// Row id and uuid.
    pub patient: Option<(i64, String)>,
    pub created_key: i64,
    /// A step of version 1.1.0, and when the workflow moves it on by itself.
    pub step: String,
    pub step_due: Option<i64>,
}

impl Recording<'_> {
    /// Inserts the audio with its images and returns its row id.
    pub fn plant(self, transaction: &Transaction<'_>) -> Result<AudioRow, SandboxError> {
        let mut dice = Dice::new(self.seed, "audio", self.number);
        let created_at = Moment::from_key(self.created_key);
        let (patient_id, patient_uuid) = self.patient.unzip();
        let mut row = AudioRow {
            id: 0,
            uuid: self.uuid,
            owner_id: self.owner_id,
            user: self.user.clone(),
            patient_id,
            patient_uuid,
            updated_at: created_at.clone(),
            archived_at: None,
            meeting: dice.chance(30).then(|| dice.uuid()),
            language_spoken: Some(if dice.chance(70) { "fr" } else { "en" }.to_owned()),
            summary: Some(dice.pick(SUMMARIES).to_owned()),
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
        Ok(row)
    }
}

/// Writes the note of an audio that has been understood.
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
