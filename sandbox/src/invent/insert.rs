//! Puts a document into the store: what a test dictated, with inventions for the rest.

use rusqlite::Transaction;
use serde_json::{Map, Value};

use super::Dice;
use super::document::{Plan, has_encounter, invent_document};
use super::people::{invent_patient, name_member};
use super::recording::{Recording, plant_note};
use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::letters::{Brief, Practice};
use crate::moment::Moment;
use crate::new_audio::NewAudio;
use crate::new_document::{NewDocument, NewPdf};
use crate::quirks::DateFormat;
use crate::store::{AudioRow, Content, NewDocumentRow, NewFile, SharedTable, UserRow, counter, set_counter, uuid_of};

/// What all inventions of a sandbox grow from.
#[derive(Clone, Debug)]
pub(crate) struct SeedConfig {
    pub seed: u64,
    pub pdf_bytes: u64,
    /// The first API key, whose user owns documents by default.
    pub first_key: String,
}

/// The time between a recording and its document, in microseconds.
const RECORDED_BEFORE: i64 = 300_000_000;

/// The types that are written from a recording.
const FROM_RECORDINGS: &[&str] =
    &["operative_report", "patient_letter", "referral_letter", "endo_report", "cone_beam_report", "prescription"];

/// The counter of invented documents, which is the number of the next one.
pub(crate) const DOCUMENTS_INVENTED: &str = "documents invented";

/// Inserts a document. Returns its uuid. `now` is the time of the event; the document's own dates are invented or
/// dictated.
pub(crate) fn insert_document(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    wish: NewDocument,
    now: i64,
) -> Result<String, SandboxError> {
    let key = wish.owner.as_deref().unwrap_or(&seed_config.first_key);
    let owner = owner(transaction, key)?;
    insert_document_of(transaction, seed_config, &owner, wish, now)
}

/// The user of this key.
pub(crate) fn owner(transaction: &Transaction<'_>, key: &str) -> Result<UserRow, SandboxError> {
    UserRow::by_key(transaction, key)?.ok_or_else(|| SandboxError::NoSuchKey { key: key.to_owned() })
}

/// [`insert_document`], for this owner.
pub(crate) fn insert_document_of(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    owner: &UserRow,
    wish: NewDocument,
    now: i64,
) -> Result<String, SandboxError> {
    let (number, mut plan) = next_plan(transaction, seed_config)?;
    let user = match &wish.user {
        Some(members) => UserRow::put(transaction, colleague(seed_config.seed, number, owner, members))?,
        None => owner.clone(),
    };
    let patient = plant_patient(
        transaction,
        seed_config.seed,
        (plan.patient_number, plan.letter_seed),
        owner,
        wish.patient.as_ref(),
    )?;
    let mut origin = Origin { owner_id: owner.id, user, patient, audio_id: None };
    if let Some(uuid) = &plan.audio {
        origin.audio_id = Some(plant_recording(transaction, seed_config, number, &plan, uuid, &origin, now)?);
    }
    plan.is_anonymized = wish.is_anonymized || (wish.patient.is_none() && plan.is_anonymized);
    insert(transaction, seed_config, plan, wish, origin, now)
}

/// Inserts the documents and the note of a recording.
pub(crate) fn plant_from(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    audio: &AudioRow,
    now: i64,
) -> Result<(), SandboxError> {
    let number = counter(transaction, DOCUMENTS_INVENTED)?;
    plant_note(transaction, seed_config.seed, number, audio, now)?;
    let mut dice = Dice::new(seed_config.seed, "validated", number);
    let count = dice.between(1, 2);
    for document_type in dice.some(FROM_RECORDINGS, count) {
        let (_, mut plan) = next_plan(transaction, seed_config)?;
        plan.document_type = Some(document_type.to_owned());
        plan.created_key = now;
        plan.encountered_key = has_encounter(document_type).then_some(audio.created_at.key);
        plan.specialty = if document_type == "referral_letter" { "oral_surgeon".to_owned() } else { String::new() };
        plan.is_anonymized = false;
        plan.french = audio.language_spoken.as_deref().is_none_or(|language| language.starts_with("fr"));
        let patient = audio.patient(transaction)?.map(|(patient, _)| (patient.id, patient.record));
        let origin = Origin { owner_id: audio.owner_id, user: audio.user.clone(), patient, audio_id: Some(audio.id) };
        insert(transaction, seed_config, plan, NewDocument::default(), origin, now)?;
    }
    Ok(())
}

fn next_plan(transaction: &Transaction<'_>, seed_config: &SeedConfig) -> Result<(u64, Plan), SandboxError> {
    let number = counter(transaction, DOCUMENTS_INVENTED)?;
    set_counter(transaction, DOCUMENTS_INVENTED, number + 1)?;
    Ok((number, invent_document(seed_config.seed, number)))
}

/// Row id and record.
pub(super) type InsertedPatient = (i64, Map<String, Value>);

/// A document's owner and source.
struct Origin {
    owner_id: i64,
    user: UserRow,
    patient: Option<InsertedPatient>,
    audio_id: Option<i64>,
}

impl Origin {
    fn patient_key(&self) -> Option<(i64, String)> {
        self.patient.as_ref().map(|(id, record)| (*id, uuid_of(record).to_owned()))
    }
}

/// Inserts a dictated or planned document with its file.
fn insert(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    plan: Plan,
    wish: NewDocument,
    origin: Origin,
    now: i64,
) -> Result<String, SandboxError> {
    let created_at = match &wish.created_at {
        Some(text) => Moment::verbatim(text),
        None => Moment::from_key(plan.created_key),
    };
    let document_type = match &wish.document_type {
        Some(dictated) => dictated.clone(),
        None => plan.document_type.clone(),
    };
    let patient = origin.patient.as_ref().map(|(_, record)| record);
    let brief = brief(seed_config, &plan, document_type.as_deref(), &origin.user.record, patient);
    let uuid = wish.uuid.clone().unwrap_or_else(|| plan.uuid.clone());
    let row = NewDocumentRow {
        uuid: uuid.clone(),
        owner_id: origin.owner_id,
        patient: origin.patient_key(),
        user: origin.user,
        audio_id: origin.audio_id,
        updated_at: match &wish.updated_at {
            Some(text) => Moment::verbatim(text),
            None => created_at.clone(),
        },
        created_at,
        encountered_at: match &wish.encountered_at {
            Some(text) => Some(Moment::verbatim(text)),
            None => plan.encountered_key.map(Moment::from_key),
        },
        document_type,
        is_anonymized: plan.is_anonymized,
        specialty: wish.generic_contact_specialty.clone().unwrap_or_else(|| plan.specialty.clone()),
        synchronized: wish.synchronized,
    };
    let id = row.insert(transaction)?;
    if let Some(file) = new_file(&plan, wish, brief)? {
        file.attach(transaction, id)?;
    }
    announce(transaction, Event::DocumentCreated, origin.owner_id, id, now)?;
    Ok(uuid)
}

/// The patient's row id and record: the invented one of this number, with the dictated members. An existing invented
/// patient stays as clients may have changed it. If it belongs to another practice, or a colleague keeps it private, a
/// namesake is inserted.
pub(super) fn plant_patient(
    transaction: &Transaction<'_>,
    seed: u64,
    (number, chance): (u64, u64),
    owner: &UserRow,
    wish: Option<&Value>,
) -> Result<Option<InsertedPatient>, SandboxError> {
    let Some(mut record) = patient_record(seed, number, chance, wish) else {
        return Ok(None);
    };
    let mut known = SharedTable::Patients.by_uuid(transaction, uuid_of(&record))?;
    if wish.is_none() && known.as_ref().is_some_and(|known| !known.is_seen_by(owner)) {
        let here = format!("patient of practice {}", owner.organization_id);
        record.insert("uuid".into(), Value::String(Dice::new(seed, &here, number).uuid()));
        known = SharedTable::Patients.by_uuid(transaction, uuid_of(&record))?;
    }
    Ok(Some(match known {
        Some(known) if wish.is_none() || known.record == record => (known.id, known.record),
        _ => (SharedTable::Patients.put(transaction, owner, &record, &Map::new())?, record),
    }))
}

/// The recording of a document, five minutes earlier.
fn plant_recording(
    transaction: &Transaction<'_>,
    seed_config: &SeedConfig,
    number: u64,
    plan: &Plan,
    uuid: &str,
    origin: &Origin,
    now: i64,
) -> Result<i64, SandboxError> {
    let recording = Recording {
        uuid: uuid.to_owned(),
        seed: seed_config.seed,
        number,
        owner_id: origin.owner_id,
        user: &origin.user,
        patient: origin.patient_key(),
        created_key: plan.created_key - RECORDED_BEFORE,
        step: "validated".to_owned(),
        step_due: None,
        dictated: NewAudio::default(),
    };
    let audio = recording.insert(transaction, now)?;
    plant_note(transaction, seed_config.seed, number, &audio, plan.created_key)?;
    Ok(audio.id)
}

/// Another user of the same practice: the owner's record with other members and its own uuid.
fn colleague(seed: u64, number: u64, owner: &UserRow, members: &Map<String, Value>) -> Map<String, Value> {
    let mut record = owner.record.clone();
    let uuid = Dice::new(seed, "colleague", number).uuid();
    record.insert("uuid".into(), Value::String(uuid));
    record.extend(members.clone());
    record
}

fn patient_record(seed: u64, number: u64, chance: u64, wish: Option<&Value>) -> Option<Map<String, Value>> {
    match wish {
        None => Some(invent_patient(seed, number)),
        Some(Value::Object(members)) => {
            let mut record = invent_patient(seed, number);
            // A dictated patient is new unless its uuid is dictated too, because it must not rename the invented one.
            let uuid = Dice::new(seed, "dictated", chance).uuid();
            record.insert("uuid".into(), Value::String(uuid));
            record.extend(members.clone());
            Some(record)
        }
        Some(_) => None,
    }
}

fn brief(
    seed_config: &SeedConfig,
    plan: &Plan,
    document_type: Option<&str>,
    user: &Map<String, Value>,
    patient: Option<&Map<String, Value>>,
) -> Brief {
    let of_patient = |name: &str| patient.and_then(|record| name_member(record, name));
    let date = Moment::from_key(plan.created_key).show(DateFormat::Zulu);
    Brief {
        seed: plan.letter_seed,
        document_type: document_type.map(str::to_owned),
        french: plan.french,
        anonymous_code: plan.is_anonymized.then(|| of_patient("anonymousCode")).flatten(),
        patient_first: of_patient("firstName"),
        patient_last: of_patient("lastName"),
        patient_born: of_patient("dateOfBirth"),
        author_first: name_member(user, "firstName").unwrap_or_default(),
        author_last: name_member(user, "lastName").unwrap_or_default(),
        practice: practice(user),
        date: date.chars().take(10).collect(),
        min_bytes: seed_config.pdf_bytes,
    }
}

fn practice(user: &Map<String, Value>) -> Practice {
    let first = user.get("organizations").and_then(|all| all.get(0));
    let member = |name: &str| {
        first.and_then(|practice| practice.get(name)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    Practice {
        name: member("name"),
        street: member("streetAddress"),
        postal_code: member("postalCode"),
        city: member("city"),
        phone: member("phone"),
    }
}

fn new_file(plan: &Plan, wish: NewDocument, brief: Brief) -> Result<Option<NewFile>, SandboxError> {
    let uuid = wish.pdf_uuid.unwrap_or_else(|| plan.pdf_uuid.clone());
    let content = match wish.pdf {
        NewPdf::None => return Ok(None),
        NewPdf::Bytes(bytes) => Content::Bytes(bytes),
        NewPdf::Generated => Content::Recipe(
            serde_json::to_string(&brief)
                .map_err(|error| SandboxError::Pdf { uuid: uuid.clone(), reason: error.to_string() })?,
        ),
    };
    let kind = brief.document_type.as_deref().unwrap_or("document");
    let short: String = uuid.chars().take(8).collect();
    Ok(Some(NewFile {
        name: wish.pdf_name.unwrap_or_else(|| format!("{uuid}.pdf")),
        file_name: wish.file_name.unwrap_or_else(|| format!("{kind}-{}-{short}.pdf", brief.date)),
        uuid,
        created_at: plan.created_key,
        declared_size: wish.declared_size,
        content,
    }))
}
