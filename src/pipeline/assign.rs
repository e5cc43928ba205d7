//! A person says who a letter's patient is in the practice's list. This is the part that `docsyncd assign` and the
//! status page share.

use rusqlite::Connection;
use thiserror::Error;

use super::fetch;
use crate::api::{Api, ApiError};
use crate::domain::document::{DocumentUuid, Metadata};
use crate::domain::name::{is_bidirectional, is_invisible};
use crate::domain::state::State;
use crate::ledger::history::{self, Action};
use crate::ledger::patients::{self as kept, Assigned};
use crate::ledger::{QueryResult, deliveries, documents, now};
use crate::patients::{List, Person, Unmatched, fingerprint, whose};

/// What is known of a letter's patient. It has no `Debug`, as it holds patient data.
#[derive(Clone)]
pub struct Letter {
    /// `patient.uuid`
    pub patient: Option<String>,
    /// The metadata of the service when the letter was read; `None` if the letter has ended, or was not downloaded yet.
    pub metadata: Option<Metadata>,
    /// What a person said about the patient before.
    pub assigned: Option<Assigned>,
}

/// Why a number cannot be given to a letter's patient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotAssigned {
    /// The letter's patient is not known, or not any more.
    #[error("it is not known who its patient is: it has ended, or was not downloaded yet")]
    Ended,
    /// There is no number, or it has an invisible character.
    #[error("a number has at least one character, and none that is not seen")]
    NoNumber,
    /// Nobody in the list has the number.
    #[error("nobody in the practice's list has that number")]
    NotListed,
    /// Two persons in the list have the number.
    #[error("the practice's list has two persons under that number: mend that there first")]
    Shared,
}

impl Letter {
    /// Reads what is known of the document with this number in the ledger.
    ///
    /// # Errors
    /// Any SQLite error.
    pub fn read(db: &Connection, document: i64) -> QueryResult<Self> {
        let patient = kept::of_document(db, document)?;
        let assigned = patient.as_ref().map_or(Ok(None), |patient| kept::assigned(db, patient))?;
        let metadata = kept::metadata(db, document)?.and_then(|json| serde_json::from_str(&json).ok());
        Ok(Self { patient, metadata, assigned })
    }

    /// The same with what the service says of the patient now, for a letter that has ended: nothing of it is kept here.
    ///
    /// # Errors
    /// Why the service does not say it.
    pub async fn read_anew(self, client: &dyn Api, account: &str, uuid: &DocumentUuid) -> Result<Self, ApiError> {
        let detail = client.document(uuid).await?;
        if !detail.is_of(uuid) {
            return Err(ApiError::Another);
        }
        let metadata = fetch::metadata(client, account, detail).await.map_err(|(_, error)| error)?;
        Ok(Self { patient: Some(metadata.patient_key(uuid)), metadata: Some(metadata), ..self })
    }

    /// The patient, as the cloud service describes them.
    pub fn person(&self) -> Option<Person> {
        self.metadata.as_ref().map(Person::of)
    }

    /// The patient's number in the practice's list.
    ///
    /// # Errors
    /// Why a person has to say the number.
    pub fn number(&self, list: Option<&List>, person: &Person) -> Result<String, Unmatched> {
        let assigned = self.assigned.as_ref().map(|assigned| (assigned.number.as_str(), assigned.fingerprint.as_str()));
        whose(list, self.patient.as_deref().unwrap_or_default(), person, assigned)
    }

    /// What is to be recorded when `who` says that this is the patient's number. The number is in the list, or `is_new`
    /// there.
    ///
    /// # Errors
    /// Why the number cannot be assigned.
    pub fn assign(
        &self,
        list: &List,
        number: &str,
        is_new: bool,
        who: Option<String>,
    ) -> Result<Assigned, NotAssigned> {
        let person = self.person().ok_or(NotAssigned::Ended)?;
        let patient = self.patient.clone().ok_or(NotAssigned::Ended)?;
        let number = number.trim();
        let is_unseen = |letter: char| letter.is_control() || is_bidirectional(letter) || is_invisible(letter);
        if number.is_empty() || number.chars().any(is_unseen) {
            return Err(NotAssigned::NoNumber);
        }
        let row = list.row(number);
        match row {
            None if !is_new => return Err(NotAssigned::NotListed),
            Some(row) if row.is_shared => return Err(NotAssigned::Shared),
            _ => {}
        }
        let fingerprint = fingerprint(&patient, number, &person, list);
        Ok(Assigned {
            patient,
            number: number.to_owned(),
            fingerprint,
            listed: row.is_some(),
            who,
            at: now(),
            to_refile: false,
            refiled: false,
        })
    }
}

/// What an assignment does to the patient's letters.
pub struct Written {
    /// Whether the letter by which the person named the patient is filed anew.
    pub is_filed_anew: bool,
    /// The uuids of letters that have ended, and lie under another number.
    pub others: Vec<String>,
}

/// Records the assignment, with the letter by which the person named the patient. It stands in the history of each
/// letter that waits for it. A letter that was filed by another number is filed anew: this one although it has ended,
/// and others that are not filed everywhere yet, so that all destinations have a letter by one number. Those that have
/// ended stay where they are: the patient may have had that number then. If the person may still take the assignment
/// back, the others wait for that ([`refile`]).
///
/// # Errors
/// Any SQLite error.
pub fn write(db: &Connection, assigned: &Assigned, (document, uuid): (i64, &str)) -> QueryResult<Written> {
    let mut letters = kept::waiting_of(db, &assigned.patient)?;
    let is_filed_anew = is_filed_otherwise(db, document, assigned)?;
    if is_filed_anew && !letters.contains(&document) {
        letters.push(document);
    }
    let mut otherwise = Vec::new();
    for id in letters {
        history::decided(db, id, history::ASSIGNED, assigned, assigned.at)?;
        if is_filed_otherwise(db, id, assigned)? {
            otherwise.push(id);
        }
    }
    let may_be_undone = !is_filed_anew && assigned.waits_until(now()) > now();
    let (to_refile, refiled) = (may_be_undone && !otherwise.is_empty(), !may_be_undone && !otherwise.is_empty());
    kept::assign(db, &Assigned { to_refile, refiled, ..assigned.clone() })?;
    if refiled {
        otherwise.into_iter().try_for_each(|id| documents::numbered_wrongly(db, id, now()).map(drop))?;
    }
    history::act(db, assigned.at, Action::Assign, &format!("document {uuid}"), assigned.who.as_deref())?;
    let mut others = kept::filed_otherwise(db, &assigned.patient, &assigned.number)?;
    others.retain(|other| other != uuid);
    Ok(Written { is_filed_anew, others })
}

/// Whether a letter was filed, or may have been, by another number than this one.
fn is_filed_otherwise(db: &Connection, document: i64, assigned: &Assigned) -> QueryResult<bool> {
    Ok(deliveries::frozen(db, document)?.is_some_and(|filed_by| filed_by != assigned.number))
}

/// Nobody can take the assignment back any more: files the patient's open letters anew that were filed by another number.
///
/// # Errors
/// Any SQLite error.
pub fn refile(db: &Connection, assigned: &Assigned) -> QueryResult<()> {
    for id in kept::waiting_of(db, &assigned.patient)? {
        if is_filed_otherwise(db, id, assigned)? {
            documents::numbered_wrongly(db, id, now())?;
        }
    }
    kept::refiled(db, &assigned.patient)
}

/// Removes the assignment of this letter's patient, for letters to come and those that wait. Returns whether there was
/// one.
///
/// # Errors
/// Any SQLite error.
pub fn remove(db: &Connection, letter: &Letter, uuid: &str, who: Option<String>) -> QueryResult<bool> {
    let Some(assigned) = letter.assigned.clone() else { return Ok(false) };
    kept::remove(db, &assigned.patient)?;
    let by = Assigned { who, at: now(), ..assigned };
    for id in kept::waiting_of(db, &by.patient)? {
        history::decided(db, id, history::UNASSIGNED, &by, by.at)?;
    }
    history::act(db, by.at, Action::Unassign, &format!("document {uuid}"), by.who.as_deref())?;
    Ok(true)
}

/// Whether a person can still take back whose this document is: it was said, and nothing was sent by it, no other letter
/// of the patient either. Where letters began anew by it, it is only put right once more.
///
/// # Errors
/// Any SQLite error.
pub fn can_be_undone(db: &Connection, document: i64, letter: &Letter) -> QueryResult<bool> {
    let Some(assigned) = &letter.assigned else { return Ok(false) };
    if assigned.refiled || documents::state(db, document)? != Some(State::Fetched) {
        return Ok(false);
    }
    let Assigned { patient, number, .. } = assigned;
    let is_used = deliveries::is_numbered(db, document)? || kept::is_filed_by(db, patient, number)?;
    Ok(!is_used || assigned.waits_until(now()) > now())
}

/// Takes back whose this document is, as long as [`can_be_undone`] says so: it waits for a person again, as do the
/// patient's other letters of which nothing was sent. `needing` are the destinations that need a number. Returns
/// whether it was done.
///
/// # Errors
/// Any SQLite error.
pub fn undo(
    db: &Connection,
    (document, uuid): (i64, &str),
    list: Option<&List>,
    needing: &[String],
    who: Option<String>,
) -> QueryResult<bool> {
    let letter = Letter::read(db, document)?;
    if !can_be_undone(db, document, &letter)? || !remove(db, &letter, uuid, who)? {
        return Ok(false);
    }
    let (Some(patient), Some(person)) = (&letter.patient, letter.person()) else { return Ok(true) };
    if let Err(why) = whose(list, patient, &person, None) {
        for id in kept::waiting_of(db, patient)? {
            if !deliveries::is_numbered(db, id)? {
                deliveries::ask_anew(db, id, needing, why.as_str(), &why.to_string(), now())?;
            }
        }
    }
    Ok(true)
}
