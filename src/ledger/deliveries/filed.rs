//! Filed deliveries, which count once the destination's software has them (`confirm`).

use std::time::Duration;

use rusqlite::{Connection, params};

use super::super::columns::Statements as _;
use super::super::reservations::{self, Owner};
use super::super::tries::{self, Key};
use super::super::{Millis, QueryResult, patients};
use super::{Delivery, Ended, end, of};
use crate::domain::document::Version;
use crate::domain::proof::{Filed, Proof};
use crate::domain::state::State;

/// A letter that waits for its proof. It holds patient data in `filed` and `metadata`, so it has no `Debug`.
#[derive(Clone)]
pub struct Unproved {
    /// The ledger's number of the document.
    pub document: i64,
    /// The version that was filed, which need not be the current one.
    pub version: Version,
    /// Whether the same PDF was, or is, another patient's as well (`edition`).
    pub has_editions: bool,
    /// Whether no other version or edition of the document was sent there, as far as the ledger knows.
    pub is_first: bool,
    /// Length of the PDF in bytes.
    pub size: u64,
    /// SHA-256 of the PDF.
    pub sha256: String,
    /// Where it was put.
    pub filed: Filed,
    /// The same, as a person is shown it.
    pub place: Option<String>,
    /// When it was filed.
    pub filed_at: Millis,
    /// `Metadata` as JSON ([`with_metadata`]).
    pub metadata: Option<String>,
}

/// The letters that were filed at the destination and are not proved.
pub fn unproved(db: &Connection, destination: &str) -> QueryResult<Vec<Unproved>> {
    let mut statement = db.prepare_cached(
        "SELECT document.id AS id, document.account AS account, document.uuid AS uuid, delivery.pdf AS pdf,
                delivery.filed AS filed, delivery.place AS place, delivery.changed_at AS filed_at,
                instr(document.pdf || delivery.pdf, '/') > 0 AS has_editions,
                NOT EXISTS (SELECT 1 FROM delivery AS other
                    WHERE other.document = delivery.document AND other.destination = delivery.destination
                      AND other.pdf <> delivery.pdf) AS is_first
         FROM delivery INDEXED BY delivery_filed CROSS JOIN document ON document.id = delivery.document
         WHERE delivery.state = 'filed' AND delivery.destination = ?1",
    )?;
    let mut rows = statement.query([destination])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let filed: Option<Filed> =
            row.get::<_, Option<String>>("filed")?.and_then(|json| serde_json::from_str(&json).ok());
        // A letter whose data were erased cannot be looked for.
        let Some((filed, (size, sha256))) = filed.and_then(|filed| filed.pdf.clone().map(|pdf| (filed, pdf))) else {
            continue;
        };
        let version = Version { account: row.get("account")?, uuid: row.get("uuid")?, pdf: row.get("pdf")? };
        let (document, place, filed_at) = (row.get("id")?, row.get("place")?, row.get("filed_at")?);
        let (has_editions, is_first) = (row.get("has_editions")?, row.get("is_first")?);
        let metadata = None;
        found.push(Unproved {
            document,
            version,
            has_editions,
            is_first,
            size,
            sha256,
            filed,
            place,
            filed_at,
            metadata,
        });
    }
    Ok(found)
}

/// Adds to the letters what templates need.
pub fn with_metadata(db: &Connection, letters: &mut [Unproved]) -> QueryResult<()> {
    for letter in letters {
        letter.metadata = patients::metadata(db, letter.document)?;
    }
    Ok(())
}

/// Whether the software of the destination moved a letter to this place, written as a person is shown it.
pub fn lies_at(db: &Connection, destination: &str, place: &str) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM delivery INDEXED BY delivery_place WHERE place = ?2 AND destination = ?1 AND proof = 'moved'",
    )?
    .exists([destination, place])
}

/// Whether a letter with this content was ever put into the destination. Reads the whole ledger: the question arises
/// only for a file that has a letter's name and another content.
pub fn was_sent(db: &Connection, destination: &str, sha256: &str) -> QueryResult<bool> {
    db.prepare_cached(
        "SELECT 1 FROM document JOIN delivery ON delivery.document = document.id
         WHERE document.sha256 = ?2 AND delivery.destination = ?1 AND +delivery.state IN ('filed', 'delivered')",
    )?
    .exists([destination, sha256])
}

impl Unproved {
    /// The delivery, if this is still the current version.
    fn delivery(&self, db: &Connection, destination: &str) -> QueryResult<Option<Delivery>> {
        Ok(of(db, destination, self.document)?.filter(|delivery| delivery.document.version.pdf == self.version.pdf))
    }

    fn owner(&self, destination: &str) -> Owner {
        let Version { uuid, pdf, .. } = self.version.clone();
        Owner { document: self.document, uuid, pdf, destination: destination.to_owned() }
    }

    /// The destination's software has the letter. Returns the delivery, and the document's new state if it changed.
    pub fn proved(
        &self,
        db: &Connection,
        destination: &str,
        proof: Proof,
        place: Option<&str>,
        now: Millis,
    ) -> QueryResult<Option<(Delivery, Option<State>)>> {
        let place = place.or(self.place.as_deref()).unwrap_or_default();
        reservations::give_back_sidecars(db, &self.owner(destination))?;
        let Some(delivery) = self.delivery(db, destination)? else {
            // An earlier version: nothing waits for it except a person who asks where it lies.
            db.run(
                "UPDATE delivery SET state = 'delivered', proof = ?4, place = ?5, filed = NULL, due_at = NULL, changed_at = ?6
                 WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'filed'",
                params![self.document, self.version.pdf, destination, proof.as_str(), place, now],
            )?;
            return Ok(None);
        };
        let state = end(db, &delivery, &Ended::Delivered { place, proof }, now)?;
        Ok(Some((delivery, state)))
    }

    /// The destination's software refused the letter.
    pub fn refused(
        &self,
        db: &Connection,
        destination: &str,
        reason: &str,
        code: &str,
        now: Millis,
    ) -> QueryResult<Option<(Delivery, Option<State>)>> {
        let owner = self.owner(destination);
        reservations::give_back_sidecars(db, &owner)?;
        reservations::refused(db, &owner)?;
        let Some(delivery) = self.delivery(db, destination)? else {
            // The document waits for nothing, and this letter is not looked at again and again.
            db.run(
                "UPDATE delivery SET state = 'failed', filed = NULL, due_at = NULL, changed_at = ?4
                 WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND state = 'filed'",
                params![self.document, self.version.pdf, destination, now],
            )?;
            tries::say(db, Key::delivery(self.document, &self.version.pdf, destination), Some((reason, code)))?;
            return Ok(None);
        };
        let state = end(db, &delivery, &Ended::Failed { reason, code, failure: None }, now)?;
        Ok(Some((delivery, state)))
    }
}

/// A daemon starts. Letters of a `known` destination that no longer asks for proof count as delivered, by the proof
/// that they were filed. `asks` has the destinations that ask for proof, each with the time after which a person is
/// told; that time is applied to their letters. Letters of a destination that is gone wait for a person's word.
pub fn not_asked_for(db: &Connection, known: &[String], asks: &[(String, Duration)], now: Millis) -> QueryResult<()> {
    for (destination, within) in asks {
        let within = Millis::try_from(within.as_millis()).unwrap_or(Millis::MAX);
        db.run(
            "UPDATE delivery INDEXED BY delivery_filed SET due_at = min(changed_at, ?3) + ?2
             WHERE state = 'filed' AND destination = ?1",
            params![destination, within, now],
        )?;
    }
    for destination in known.iter().filter(|name| asks.iter().all(|(asks, _)| asks != *name)) {
        for letter in unproved(db, destination)? {
            letter.proved(db, destination, Proof::Durable, None, now)?;
        }
    }
    Ok(())
}
