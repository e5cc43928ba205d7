//! Reserved names: who owns a place in a destination, and which file is about to get its name.

use rusqlite::{Connection, params};

use super::QueryResult;
use super::columns::Statements as _;
use crate::domain::document::DocumentUuid;
use crate::domain::reservation::{Intent, Known, Place, Wanted};

/// The owner of a reserved name: a version of a document in a destination, whichever account lists the document.
#[derive(Debug, Clone)]
pub struct Owner {
    /// The ledger's number of the document.
    pub document: i64,
    /// The document.
    pub uuid: DocumentUuid,
    /// The PDF's uuid, or empty.
    pub pdf: String,
    /// NAME of the destination.
    pub destination: String,
}

/// The value of `filed` for a name whose file the destination's software refused.
const REFUSED: i64 = 2;

/// The document's names in the destination.
pub fn known(db: &Connection, owner: &Owner) -> QueryResult<Known> {
    let mut known = Known::default();
    let mut statement = db.prepare_cached(
        "SELECT place, pdf, version, filed, path, temporary, family FROM file_reservation
         WHERE uuid = ?1 AND destination = ?2",
    )?;
    let mut rows = statement.query(params![owner.uuid.as_str(), owner.destination])?;
    let mut earlier = 0;
    while let Some(row) = rows.next()? {
        let place = Place::kept(row.get("place")?);
        let (version, filed): (u32, i64) = (row.get("version")?, row.get("filed")?);
        let intent = match (row.get("path")?, row.get("temporary")?) {
            (Some(path), Some(temporary)) => Some(Intent { place: place.clone(), path, temporary }),
            _ => None,
        };
        if row.get_ref("pdf")?.as_str()? == owner.pdf {
            known.version = version;
            known.own.insert(place);
            known.was_refused |= filed == REFUSED;
            known.intent = known.intent.or(intent);
        } else if filed > 0 || intent.is_some() {
            earlier = earlier.max(version);
            known.others.extend(intent);
            known.families.insert(Place::kept(row.get("family")?));
        }
    }
    if known.version == 0 {
        known.version = earlier + 1;
    }
    Ok(known)
}

/// Reserves the name, unless another document or version has it, and records the intent to give it to a file. Returns
/// whether the name is reserved now.
pub fn reserve(
    db: &Connection,
    owner: &Owner,
    version: u32,
    wanted: &Wanted,
    intent: Option<&Intent>,
) -> QueryResult<bool> {
    let (place, uuid) = (wanted.place.as_str(), owner.uuid.as_str());
    // Releases the document's names that were never used.
    db.run(
        "DELETE FROM file_reservation
         WHERE uuid = ?1 AND destination = ?2 AND (place <> ?3 OR pdf <> ?4) AND filed = 0 AND temporary IS NULL",
        params![uuid, owner.destination, place, owner.pdf],
    )?;
    db.run(
        "INSERT INTO file_reservation (place, family, destination, uuid, pdf, version)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE NOT EXISTS (SELECT 1 FROM file_reservation WHERE place = ?2 AND family = ?2 AND uuid <> ?4)
           AND NOT EXISTS (SELECT 1 FROM file_reservation WHERE place <> family AND family = ?2 AND uuid <> ?4)
         ON CONFLICT DO NOTHING",
        params![place, wanted.family.as_str(), owner.destination, uuid, owner.pdf, version],
    )?;
    let reserved = db.change(
        "UPDATE file_reservation SET destination = ?6, path = coalesce(?4, path),
                temporary = coalesce(?5, temporary)
         WHERE place = ?1 AND uuid = ?2 AND pdf = ?3",
        params![
            place,
            uuid,
            owner.pdf,
            intent.map(|intent| &intent.path),
            intent.map(|intent| &intent.temporary),
            owner.destination
        ],
    )?;
    Ok(reserved > 0)
}

/// Reserves the name of a sidecar, unless it is that of another letter whose proof is still to be read there: one that
/// is filed, or is on its way. An earlier version that never arrived gives it up. Returns whether it is reserved now.
pub fn reserve_sidecar(db: &Connection, owner: &Owner, place: &Place) -> QueryResult<bool> {
    let reserved = db.change(
        "INSERT INTO sidecar_reservation (place, destination, uuid, pdf) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (place) DO UPDATE SET destination = ?2, uuid = ?3, pdf = ?4
         WHERE (destination = ?2 AND uuid = ?3 AND pdf = ?4) OR NOT EXISTS (
             SELECT 1 FROM document LEFT JOIN delivery ON delivery.document = document.id
                 AND delivery.pdf = sidecar_reservation.pdf AND delivery.destination = sidecar_reservation.destination
             WHERE document.uuid = sidecar_reservation.uuid AND (delivery.state = 'filed'
                 OR (coalesce(delivery.state, 'pending') = 'pending' AND document.uuid <> ?3
                     AND document.state IN ('discovered', 'fetched'))))",
        params![place.as_str(), owner.destination, owner.uuid.as_str(), owner.pdf],
    )?;
    Ok(reserved > 0)
}

/// The letter is proved: other letters may have the name of its sidecar.
pub(super) fn give_back_sidecars(db: &Connection, owner: &Owner) -> QueryResult<()> {
    db.run(
        "DELETE FROM sidecar_reservation WHERE uuid = ?1 AND pdf = ?2 AND destination = ?3",
        params![owner.uuid.as_str(), owner.pdf, owner.destination],
    )
}

/// The destination's software refused the letter.
pub(super) fn refused(db: &Connection, owner: &Owner) -> QueryResult<()> {
    db.run(
        "UPDATE file_reservation SET filed = ?4 WHERE uuid = ?1 AND destination = ?2 AND pdf = ?3 AND filed > 0",
        params![owner.uuid.as_str(), owner.destination, owner.pdf, REFUSED],
    )
}

/// Clears an intent, and records whether the file got its name.
pub fn settle(db: &Connection, place: &Place, filed: bool) -> QueryResult<()> {
    db.run(
        "UPDATE file_reservation SET filed = max(filed, ?2), path = NULL, temporary = NULL WHERE place = ?1",
        params![place.as_str(), filed],
    )
}

/// Holds for an intent that has a key instead of a name: the data after the key is JSON.
const BY_KEY: &str = "coalesce(substr(path, 1, length(temporary) + 1) = temporary || ' '
    AND json_valid(substr(path, length(temporary) + 2)), 0)";

/// Ends an intent to give a file a name, which stays reserved. To be followed by a condition.
const FORGET_NAMED: &str =
    "UPDATE file_reservation SET filed = 1, path = NULL, temporary = NULL WHERE path IS NOT NULL";

/// The ledger was restored from a backup. The file of an intent may have got its name since, or another one, or was
/// taken away: only a look at the destination tells. From now on an intent is of an attempt since.
pub(super) fn restored(db: &Connection) -> QueryResult<()> {
    db.run(&format!("{FORGET_NAMED} AND NOT {BY_KEY}"), [])
}

/// Erases patients' names from the intents of a document that has ended without settling them. Its names stay reserved,
/// and a delivery that may have arrived is still not repeated automatically.
pub(super) fn forget(db: &Connection, document: i64) -> QueryResult<()> {
    let of_document = "uuid = (SELECT uuid FROM document WHERE id = ?1)";
    db.run(
        &format!(
            "UPDATE file_reservation
             SET path = temporary || ' ' || json_replace(substr(path, length(temporary) + 2), '$.patient', NULL)
             WHERE path IS NOT NULL AND {of_document} AND {BY_KEY}"
        ),
        [document],
    )?;
    db.run(&format!("{FORGET_NAMED} AND {of_document} AND NOT {BY_KEY}"), [document])
}

/// The delivery is recorded: a file has the name now, and only the digest of the name is kept.
pub fn delivered(db: &Connection, owner: &Owner) -> QueryResult<()> {
    // Work of an earlier round is not recorded, so its intent stands: it tells the next attempt what was done.
    db.run(
        "UPDATE file_reservation SET filed = 1, path = NULL, temporary = NULL
         WHERE uuid = ?1 AND destination = ?2 AND pdf = ?3 AND EXISTS (
             SELECT 1 FROM delivery
             WHERE document = ?4 AND delivery.pdf = ?3 AND delivery.destination = ?2
               AND +state IN ('filed', 'delivered'))",
        params![owner.uuid.as_str(), owner.destination, owner.pdf, owner.document],
    )
}

#[cfg(test)]
mod tests;
