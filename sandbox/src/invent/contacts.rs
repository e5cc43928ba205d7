//! The recipients to whom a practice refers patients.

use rusqlite::Transaction;
use serde_json::{Map, Value, json};

use super::Dice;
use super::names::{FAMILIES, STREETS, TOWNS, WOMEN};
use super::people::object;
use crate::error::SandboxError;
use crate::store::{SharedTable, UserRow};

/// Kinds of recipients: the specialty, the head of an office's name, and whether it is a person.
const KINDS: &[(Option<&str>, &str, bool)] = &[
    (Some("radiology_center"), "Centre d'imagerie", false),
    (None, "Laboratoire de prothèse", false),
    (Some("oral_surgeon"), "Cabinet de chirurgie orale", true),
    (Some("maxillofacial_surgeon"), "Clinique maxillo-faciale", true),
    (Some("cardiologist"), "Cabinet de cardiologie", true),
    (Some("allergist"), "Cabinet d'allergologie", true),
    (Some("sleep_center"), "Centre du sommeil", false),
    (None, "Cabinet d'orthodontie", true),
];

/// Gives a practice its contacts, unless it has some.
pub(crate) fn insert_contacts(transaction: &Transaction<'_>, seed: u64, owner: &UserRow) -> Result<(), SandboxError> {
    let known: bool = transaction
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM contacts WHERE organization_id = ?1)")?
        .query_row([owner.organization_id], |row| row.get(0))?;
    if known {
        return Ok(());
    }
    let practice = u64::try_from(owner.organization_id).unwrap_or(0);
    for (index, kind) in (0_u64..).zip(KINDS) {
        let record = contact(&mut Dice::new(seed, "contact", practice * 100 + index), *kind, index);
        SharedTable::Contacts.put(transaction, owner, &record, &Map::new())?;
    }
    Ok(())
}

fn contact(dice: &mut Dice, (specialty, office, person): (Option<&str>, &str, bool), index: u64) -> Map<String, Value> {
    let (postal_code, city) = dice.pick(TOWNS);
    let (first, last) = (dice.pick(WOMEN), dice.pick(FAMILIES));
    object(json!({
        "uuid": dice.uuid(),
        "firstName": person.then_some(first),
        "lastName": person.then_some(last),
        "legalName": format!("{office} {city}"),
        "gender": if person { "doctor" } else { "unknown" },
        "languageSpoken": "fr",
        "createdAt": format!("2024-10-{:02}T09:00:00+00:00", index + 1),
        "updatedAt": format!("2024-10-{:02}T09:00:00+00:00", index + 1),
        "email": format!("contact-{index}@referral.example"),
        "visibilityOption": "shared",
        "phone": format!("+33 1 99 00 {:02} {:02}", dice.below(100), dice.below(100)),
        "specialty": specialty,
        "streetAddress": format!("{} {}", dice.between(1, 98), dice.pick(STREETS)),
        "postalCode": postal_code,
        "city": city,
        "country": "FR",
    }))
}
