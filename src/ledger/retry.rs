//! What failed is tried again, because a person asks for it.

use rusqlite::{Connection, OptionalExtension as _};

use super::documents::{self, Retried};
use super::{Ledger, LedgerError, Millis, QueryResult, now};
use crate::state::State;

/// Failed documents that are taken up in one transaction.
const AT_ONCE: usize = 500;

/// As [`documents::retry`], if the document has failed; else nothing is done.
///
/// # Errors
/// Any SQLite error.
pub fn if_failed(db: &Connection, id: i64, now: Millis) -> QueryResult<Option<Retried>> {
    let state: Option<String> =
        db.prepare_cached("SELECT state FROM document WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()?;
    match state.and_then(|state| State::parse(&state)) {
        Some(state) if state.is_failure() => documents::retry(db, id, now),
        _ => Ok(None),
    }
}

impl Ledger {
    /// Tries every document again that failed; in batches, since others write into the same ledger. Returns how many.
    ///
    /// # Errors
    /// As [`Self::write`]; those of the batches before it are tried again.
    pub async fn retry_failed(&self) -> Result<usize, LedgerError> {
        let mut retried = 0;
        let mut after = Some(0);
        while let Some(above) = after {
            let batch = self.write(move |db| {
                let ids = documents::failed(db, above, AT_ONCE)?;
                let mut retried = 0;
                for id in &ids {
                    retried += usize::from(documents::retry(db, *id, now())?.is_some());
                }
                Ok((retried, ids.last().copied()))
            });
            let (count, last) = batch.await?;
            retried += count;
            after = last;
        }
        Ok(retried)
    }
}
