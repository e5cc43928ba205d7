//! Patients and contacts as clients write them: finding one, filling in a new one, changing one.

use rusqlite::Transaction;
use serde_json::{Map, Value, json};

use super::Problem;
use super::render::printed;
use crate::moment::Moment;
use crate::store::{SharedRow, SharedTable, UserRow};

impl SharedTable {
    /// The row with this uuid and its owner: 404 when there is none, 403 when the user may not see it.
    pub(super) fn seen(
        self,
        transaction: &Transaction<'_>,
        uuid: &str,
        user: &UserRow,
    ) -> Result<(SharedRow, UserRow), Problem> {
        let row = self.by_uuid(transaction, uuid)?.ok_or_else(Problem::nothing_here)?;
        if !row.is_seen_by(user) {
            return Err(Problem::forbidden());
        }
        let owner = UserRow::by_id(transaction, row.owner_id)?;
        Ok((row, owner))
    }
}

/// A new record in the order of `template`, with its defaults where nothing was sent; the unseen members apart.
pub(super) fn fill(
    template: &[(&str, Option<&str>)],
    unseen: &[&str],
    mut members: Map<String, Value>,
    uuid: &str,
    now: &Moment,
) -> (Map<String, Value>, Map<String, Value>) {
    let mut record = Map::new();
    for (name, default) in template {
        let value = match *name {
            "uuid" => json!(uuid),
            "createdAt" | "updatedAt" => printed(now),
            _ => members.shift_remove(*name).unwrap_or_else(|| json!(default)),
        };
        record.insert((*name).to_owned(), value);
    }
    members.retain(|name, _| unseen.contains(&name.as_str()));
    (record, members)
}

/// Applies a merge patch of checked members (RFC 7396): null empties a member, what is not named stays.
pub(super) fn overlay(row: &mut SharedRow, members: Map<String, Value>, unseen: &[&str], now: &Moment) {
    for (name, value) in members {
        let target = if unseen.contains(&name.as_str()) { &mut row.unseen } else { &mut row.record };
        target.insert(name, value);
    }
    row.record.insert("updatedAt".into(), printed(now));
}
