//! Letters that a person has to remove at a destination: an old version beside the new one, or a copy that was filed for
//! another patient.

use rusqlite::{Connection, params};

use super::super::columns::Statements as _;
use super::super::documents::Document;
use super::super::history::Because;
use super::super::{Millis, QueryResult, history};
use super::Delivery;
use crate::domain::document::edition::{WRONG, edition, merged};
use crate::domain::state::State;

/// What is said of such a letter.
pub const NOT_REPLACED: &str = "it was filed beside the version that it replaces: remove the old one there";

/// The delivery succeeded, and the earlier version still lies there.
pub fn not_replaced(db: &Connection, of: &Delivery, now: Millis) -> QueryResult<()> {
    let (document, to) = (&of.document, of.destination.as_str());
    let updated = db.change(
        "UPDATE delivery SET to_remove = ?4, changed_at = ?5
         WHERE document = ?1 AND pdf = ?2 AND destination = ?3 AND +state IN ('filed', 'delivered')",
        params![document.id, document.version.pdf, to, NOT_REPLACED, now],
    )?;
    if updated > 0 {
        let (of_delivery, reason) = ((document.id, Some(to)), Some(NOT_REPLACED.into()));
        history::append(db, of_delivery, now, "not_replaced", State::Fetched, of.tries.attempts, reason)?;
    }
    Ok(())
}

/// What is said of a copy that was filed for another patient, in words and as a code. The copy's place follows, if it is
/// known.
const FOR_ANOTHER: (&str, &str) = ("filed before for another patient, remove it there", "filed_for_another");
/// The same of an attempt for another patient that was cut off.
const MAYBE_FOR_ANOTHER: (&str, &str) =
    ("it may have been filed before for another patient, look there and remove it", "maybe_for_another");

/// If `version`, which is for the patient `whom`, begins another edition of the document
/// ([`crate::domain::document::edition`]): what lies at destinations for the patient before counts for nothing, and
/// stays in that patient's record until a person removes it. Where only the number was wrong, letters without one stay.
pub(in crate::ledger) fn void(
    db: &Connection,
    before: &Document,
    (version, whom): (&str, &str),
    now: Millis,
) -> QueryResult<()> {
    let last = edition(&before.version.pdf);
    if edition(version) == last {
        return Ok(());
    }
    let number = before.person.as_deref().and_then(|person| person.strip_prefix(WRONG));
    if number.is_some_and(|then| merged(then, whom).is_some()) {
        keep_without_number(db, before, version)?;
    }
    let filed: Vec<(String, String, Option<String>, bool)> = db.rows(
        "SELECT destination, pdf, place, state IN ('filed', 'delivered', 'again') FROM delivery
         WHERE document = ?1 AND (+state IN ('filed', 'delivered', 'again') OR unconfirmed_at IS NOT NULL OR EXISTS (
             SELECT 1 FROM file_reservation WHERE uuid = ?2 AND file_reservation.destination = delivery.destination
               AND file_reservation.pdf = delivery.pdf AND temporary IS NOT NULL))",
        params![before.id, before.version.uuid.as_str()],
    )?;
    for (to, pdf, place, is_there) in filed.into_iter().filter(|(_, pdf, ..)| edition(pdf) == last) {
        let (words, code) = if is_there { FOR_ANOTHER } else { MAYBE_FOR_ANOTHER };
        let text = place.map_or_else(|| words.to_owned(), |place| format!("{words}: {place}"));
        db.run(
            "UPDATE delivery SET to_remove = ?4, changed_at = ?5,
                    state = CASE state WHEN 'again' THEN 'delivered' ELSE state END
             WHERE document = ?1 AND pdf = ?2 AND destination = ?3",
            params![before.id, pdf, to, words, now],
        )?;
        // Its proof is still looked for, so that nothing of it proves the new edition, but it holds up no other letter.
        db.run(
            "DELETE FROM sidecar_reservation WHERE uuid = ?1 AND pdf = ?2 AND destination = ?3",
            params![before.version.uuid.as_str(), pdf, to],
        )?;
        let because = Some(Because::coded(&text, Some(code)));
        history::append(db, (before.id, Some(&to)), now, FOR_ANOTHER.1, before.state, 0, because)?;
    }
    Ok(())
}

/// Only the number was wrong: what lies somewhere without one is the new edition's, with its names.
fn keep_without_number(db: &Connection, before: &Document, version: &str) -> QueryResult<()> {
    let (uuid, last) = (before.version.uuid.as_str(), before.version.pdf.as_str());
    let kept: Vec<String> = db.values(
        "UPDATE delivery SET pdf = ?3
         WHERE document = ?1 AND pdf = ?2 AND number IS NULL AND +state IN ('filed', 'delivered', 'again')
         RETURNING destination",
        params![before.id, last, version],
    )?;
    for to in kept {
        db.run(
            "UPDATE OR REPLACE retry_state SET pdf = ?4 WHERE document = ?1 AND work = ?2 AND pdf = ?3",
            params![before.id, to, last, version],
        )?;
        for names in ["file_reservation", "sidecar_reservation"] {
            db.run(
                &format!("UPDATE {names} SET pdf = ?4 WHERE uuid = ?1 AND destination = ?2 AND pdf = ?3"),
                params![uuid, to, last, version],
            )?;
        }
    }
    Ok(())
}

/// A person says that the old versions of the document are gone, so nothing looks for their proof any more. Returns how
/// many deliveries waited for that.
pub fn removed(db: &Connection, document: i64) -> QueryResult<usize> {
    db.run(
        "UPDATE delivery SET state = 'delivered', filed = NULL, due_at = NULL
         WHERE document = ?1 AND state = 'filed' AND to_remove IS NOT NULL
           AND pdf <> (SELECT pdf FROM document WHERE id = ?1)",
        [document],
    )?;
    db.change("UPDATE delivery SET to_remove = NULL WHERE document = ?1 AND to_remove IS NOT NULL", [document])
}

/// Whether an old copy of the document waits for a person to remove it.
pub fn has_old(db: &Connection, document: i64) -> QueryResult<bool> {
    db.prepare_cached("SELECT 1 FROM delivery WHERE document = ?1 AND +to_remove IS NOT NULL")?.exists([document])
}

/// The first `limit` documents whose old versions a person has to remove.
pub fn beside(db: &Connection, limit: usize) -> QueryResult<Vec<String>> {
    db.values(
        "SELECT DISTINCT uuid FROM delivery INDEXED BY delivery_not_replaced CROSS JOIN document ON document.id = delivery.document
         WHERE to_remove IS NOT NULL LIMIT ?1",
        [limit],
    )
}
