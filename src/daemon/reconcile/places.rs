//! Compares the ledger with the destinations: each letter in its place.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::difference::{AtPlace, Difference, Kind, of_place};
use super::{Place, Report, Sides};
use crate::destinations::{Holds, Kept};
use crate::domain::failure::Scope;
use crate::ledger::{LedgerError, Millis};
use crate::views::reconcile::{self as view, Delivered};

/// How many letters are read from the ledger at once.
const READ_AT_ONCE: usize = 500;
/// How many letters, and how many of their bytes, are checked before a rest.
const PART_LETTERS: usize = 20;
const PART_BYTES: u64 = 16 * 1024 * 1024;
/// After this many unreadable letters in a row, a destination is not asked again.
const MOST_UNREAD: u64 = 20;

pub(super) async fn compare(sides: &Sides<'_>, since: Millis, report: &mut Report) -> Result<(), LedgerError> {
    let counts: BTreeMap<String, u64> = sides.ledger.read(view::counts).await?;
    for (name, place) in &sides.destinations {
        let total = counts.get(*name).copied().unwrap_or(0);
        if total > 0 {
            of_destination(sides, name, place, since, total, report).await?;
        }
    }
    let is_gone = |name: &&String| !sides.destinations.contains_key(name.as_str());
    report.not_looked_at += counts.iter().filter(|(name, _)| is_gone(name)).map(|(_, count)| count).sum::<u64>();
    Ok(())
}

async fn of_destination(
    sides: &Sides<'_>,
    name: &str,
    place: &Place<'_>,
    since: Millis,
    total: u64,
    report: &mut Report,
) -> Result<(), LedgerError> {
    let scope = Scope::Destination(name.to_owned());
    let (mut after, mut done, mut unread, mut in_a_row) = (0, 0, 0, 0);
    let (looked_at, missing) = (report.looked_at, report.counts.get(&Kind::Missing).copied().unwrap_or(0));
    'letters: loop {
        let destination = name.to_owned();
        let batch = sides.ledger.read(move |db| view::delivered(db, &destination, after, since, READ_AT_ONCE)).await?;
        let Some(last) = batch.last() else { break };
        after = last.document;
        for part in parts(batch) {
            let (began, bytes) = (Instant::now(), part.iter().map(|letter| letter.size).sum());
            done += part.len() as u64;
            let kept: Vec<(i64, Kept)> = part.into_iter().map(|letter| kept(letter, name)).collect();
            let asked: Vec<Kept> = kept.iter().map(|(_, kept)| kept.clone()).collect();
            let found = match place.adapter.still_holds(&asked).await {
                Ok(found) => found,
                Err(outcome) => {
                    report.fail(scope.clone(), outcome.reason());
                    break 'letters;
                }
            };
            for ((document, kept), holds) in kept.into_iter().zip(found) {
                in_a_row = if holds == Holds::Unread { in_a_row + 1 } else { 0 };
                match of_place(holds, place.is_emptied) {
                    AtPlace::Agrees => report.looked_at += 1,
                    AtPlace::Differs(kind) => {
                        report.looked_at += 1;
                        let (uuid, account) = (kept.version.uuid, kept.version.account);
                        report.add(Difference { document, uuid, account, destination: Some(name.to_owned()), kind });
                    }
                    AtPlace::Unread => unread += 1,
                    AtPlace::Unknown => report.not_looked_at += 1,
                }
            }
            (sides.progress)(&scope, done, total.max(done));
            if in_a_row >= MOST_UNREAD {
                break 'letters;
            }
            tokio::time::sleep(sides.pace.rest(began.elapsed(), bytes)).await;
        }
    }
    let looked_at = report.looked_at - looked_at;
    if looked_at > 1 && report.counts.get(&Kind::Missing).copied().unwrap_or(0) - missing == looked_at {
        report.emptied.insert(name.to_owned(), looked_at);
    }
    if unread > 0 {
        let more = if in_a_row >= MOST_UNREAD { ", and the others were not tried" } else { "" };
        report.fail(scope, format!("destination `{name}`: {unread} letters there cannot be read at the moment{more}"));
    }
    Ok(())
}

/// Divides the letters into parts that are checked together.
fn parts(letters: Vec<Delivered>) -> Vec<Vec<Delivered>> {
    let mut parts: Vec<Vec<Delivered>> = Vec::new();
    let mut bytes = 0;
    for letter in letters {
        bytes += letter.size;
        match parts.last_mut().filter(|part| part.len() < PART_LETTERS && bytes <= PART_BYTES) {
            Some(part) => part.push(letter),
            None => {
                bytes = letter.size;
                parts.push(vec![letter]);
            }
        }
    }
    parts
}

fn kept(letter: Delivered, destination: &str) -> (i64, Kept) {
    let key = letter.version.delivery_key(destination);
    let Delivered { document, version, place, size, sha256 } = letter;
    (document, Kept { version, key, place: place.unwrap_or_default(), size, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::{DocumentUuid, Version};

    #[test]
    fn letters_are_looked_at_in_parts_of_bounded_number_and_size() {
        let letter = |size| Delivered {
            document: 1,
            version: Version { account: String::new(), uuid: DocumentUuid::parse("a").unwrap(), pdf: String::new() },
            place: None,
            size,
            sha256: String::new(),
        };
        let lengths = |sizes: Vec<u64>| -> Vec<usize> {
            parts(sizes.into_iter().map(letter).collect()).iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(vec![1; 45]), [20, 20, 5]);
        assert_eq!(lengths(vec![PART_BYTES * 2, 1, PART_BYTES - 1, 1]), [1, 2, 1]);
        assert_eq!(lengths(Vec::new()), [0; 0]);
    }
}
