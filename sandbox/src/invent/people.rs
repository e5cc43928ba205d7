//! Users, their practice, and patients, as records of the API's shape ("Resources and their fields").

use serde_json::{Map, Value, json};

use super::Dice;
use super::names::{DIFFICULT, FAMILIES, MEN, STREETS, TOWNS, WOMEN};

/// One patient in this many has a difficult name.
const DIFFICULT_EVERY: u64 = 6;

/// A string member of a record.
pub(crate) fn name_member(record: &Map<String, Value>, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_str).map(str::to_owned)
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A number derived from a text (FNV-1a), so that each email address has its own user.
fn number_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The user with this email address. `first.last@…` is a person of that name; other addresses get a name.
pub(crate) fn invent_user(seed: u64, email: &str) -> Map<String, Value> {
    let mut dice = Dice::new(seed, "user", number_of(email));
    let uuid = dice.uuid();
    let (first, last) = match email.split('@').next().and_then(|name| name.split_once('.')) {
        Some((first, last)) if !first.is_empty() && !last.is_empty() => (capitalized(first), capitalized(last)),
        _ => (dice.pick(WOMEN).to_owned(), dice.pick(FAMILIES).to_owned()),
    };
    let organization = organization(seed, email.rsplit('@').next().unwrap_or_default());
    object(json!({
        "uuid": uuid,
        "email": email,
        "createdAt": "2024-09-02T08:00:00+00:00",
        "updatedAt": "2025-01-06T08:00:00+00:00",
        "firstName": first,
        "lastName": last,
        "gender": "female",
        "phone": format!("+33 1 99 00 {:02} {:02}", dice.below(100), dice.below(100)),
        "rpps": format!("999{:08}", dice.below(100_000_000)),
        "am": format!("99{:07}", dice.below(10_000_000)),
        "language": "fr",
        "smartNoteCustomPrompt": null,
        "documentCustomPrompt": null,
        "organizations": [organization],
    }))
}

/// A practice with this uuid.
pub(crate) fn invent_organization(seed: u64, uuid: &str) -> Map<String, Value> {
    let mut record = object(organization(seed, uuid));
    let family = Dice::new(seed, "name of practice", number_of(uuid)).pick(FAMILIES);
    record.insert("name".into(), json!(format!("Cabinet dentaire {family}")));
    record.insert("uuid".into(), json!(uuid));
    record
}

/// The practice of all addresses at this domain.
fn organization(seed: u64, domain: &str) -> Value {
    let mut dice = Dice::new(seed, "practice", number_of(domain));
    let label = domain.split('.').next().unwrap_or_default();
    let family = capitalized(label.strip_prefix("cabinet-").unwrap_or(label));
    let (postal_code, city) = dice.pick(TOWNS);
    json!({
        "uuid": dice.uuid(),
        "name": format!("Cabinet dentaire {family}"),
        "vatNumber": null,
        "streetAddress": format!("{} {}", dice.between(1, 98), dice.pick(STREETS)),
        "postalCode": postal_code,
        "city": city,
        "country": "FR",
        "latitude": 45.2,
        "longitude": 5.7,
        "timezone": "Europe/Paris",
        "phone": format!("+33 1 99 00 {:02} {:02}", dice.below(100), dice.below(100)),
        "secretariatEmail": "accueil@cabinet.example",
        "website": null,
        "dentalNomenclatureSystem": "fdi",
        "createdAt": "2024-09-02T08:00:00+00:00",
        "updatedAt": "2024-09-02T08:00:00+00:00",
    })
}

/// The patient of a practice with this number.
pub(super) fn invent_patient(seed: u64, number: u64) -> Map<String, Value> {
    let mut dice = Dice::new(seed, "patient", number);
    let uuid = dice.uuid();
    let woman = dice.chance(52);
    let easy_first = dice.pick(if woman { WOMEN } else { MEN });
    let easy_last = dice.pick(FAMILIES);
    let difficult = (number % DIFFICULT_EVERY == DIFFICULT_EVERY - 1)
        .then(|| (number / DIFFICULT_EVERY) as usize % DIFFICULT.len())
        .and_then(|index| DIFFICULT.get(index));
    let (first, last) = match difficult {
        Some((first, last)) => (*first, *last),
        None => (Some(easy_first), Some(easy_last)),
    };
    let born = format!("{}-{:02}-{:02}", dice.between(1938, 2019), dice.between(1, 12), dice.between(1, 28));
    let email = dice.chance(70).then(|| format!("patient-{number}@mail.example"));
    object(json!({
        "uuid": uuid,
        "firstName": first,
        "lastName": last,
        "languageSpoken": if dice.chance(70) { "fr" } else { "en" },
        "createdAt": "2024-11-04T09:00:00+00:00",
        "updatedAt": "2024-11-04T09:00:00+00:00",
        "synchronizedAt": null,
        "dateOfBirth": born,
        "gender": if woman { "female" } else { "male" },
        "visibilityOption": "shared",
        "email": email,
        "phone": format!("+33 6 39 98 {:02} {:02}", dice.below(100), dice.below(100)),
        "anonymousCode": format!("P-{:06}", dice.below(1_000_000)),
    }))
}
