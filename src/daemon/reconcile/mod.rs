//! Compares what the API, the ledger and the destinations say of each letter (`docsyncd reconcile`;
//! docs/reconcile.md).
//!
//! It only reads, at a bounded rate. In memory it keeps only the letters that it is checking and the first differences.
//! A letter that cannot be checked is reported as such, and is no difference.

mod difference;
mod lists;
mod places;
pub mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::Api;
use crate::destinations::Adapter;
use crate::domain::failure::Scope;
use crate::ledger::{Ledger, LedgerError, Millis};

pub use difference::{Difference, KINDS, Kind};

/// The most differences that are kept; the others are only counted.
const MOST: usize = 10_000;

/// The sides of a comparison.
pub struct Sides<'a> {
    /// The ledger.
    pub ledger: &'a Ledger,
    /// The API as each account sees it, by NAME.
    pub clients: BTreeMap<&'a str, &'a dyn Api>,
    /// The destinations, by NAME.
    pub destinations: BTreeMap<&'a str, Place<'a>>,
    /// The speed at which destinations are read.
    pub pace: Pace,
    /// Called with the progress: the account or destination, the number of letters done, and about how many there are.
    pub progress: &'a (dyn Fn(&Scope, u64, u64) + Sync),
}

/// A destination.
pub struct Place<'a> {
    /// Checks the letters there.
    pub adapter: &'a dyn Adapter,
    /// Whether letters are expected to disappear from there.
    pub is_emptied: bool,
}

/// The speed at which destinations are read, since others use them, too.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The most bytes per second.
    pub rate: u64,
    /// How long the pause after each look is, as a multiple of the look's duration.
    pub rests: u32,
}

impl Pace {
    /// The speed for a person who waits.
    pub const ASKED: Self = Self { rate: 20_000_000, rests: 1 };
    /// The speed beside the daemon's work.
    pub const BESIDE: Self = Self { rate: 5_000_000, rests: 9 };

    /// The pause after a look with this duration and this many bytes.
    fn rest(self, took: Duration, bytes: u64) -> Duration {
        let wanted = Duration::from_millis(bytes.saturating_mul(1000) / self.rate.max(1));
        took.saturating_mul(self.rests).max(wanted.saturating_sub(took))
    }
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Report {
    /// The first differences.
    pub differences: Vec<Difference>,
    /// The number of differences of each kind.
    pub counts: BTreeMap<Kind, u64>,
    /// The number of places of letters that were checked, once for each destination.
    pub looked_at: u64,
    /// The number of places that cannot be checked: the place was erased or belongs to another letter now, or the
    /// destination shows nothing.
    pub not_looked_at: u64,
    /// The number of letters that the API lists and the ledger does not know yet.
    pub new: u64,
    /// The destinations where none of several letters lies any more, with the number of letters. The share is probably
    /// away, or the folder was moved; the letters are not lost.
    pub emptied: BTreeMap<String, u64>,
    /// The scopes that could not be checked, with the reasons.
    pub failed: Vec<(Scope, String)>,
}

impl Report {
    /// The number of all differences.
    pub fn differing(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Whether everything could be checked.
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty()
    }

    fn add(&mut self, difference: Difference) {
        *self.counts.entry(difference.kind).or_default() += 1;
        if self.differences.len() < MOST {
            self.differences.push(difference);
        }
    }

    fn fail(&mut self, scope: Scope, reason: impl Into<String>) {
        self.failed.push((scope, reason.into()));
    }
}

/// Compares all sides, for letters found since this time.
///
/// # Errors
/// Any error of the ledger. Errors of the other sides are in the report.
pub async fn compare(sides: &Sides<'_>, since: Millis) -> Result<Report, LedgerError> {
    let mut report = Report::default();
    lists::compare(sides, since, &mut report).await?;
    places::compare(sides, since, &mut report).await?;
    report.differences.sort_by(|a, b| (&a.uuid, &a.destination, a.kind).cmp(&(&b.uuid, &b.destination, b.kind)));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_in_a_second_than_may_be_and_others_get_their_turn() {
        let pace = Pace { rate: 1000, rests: 2 };
        let rest = |took, bytes| pace.rest(Duration::from_millis(took), bytes).as_millis();
        assert_eq!([rest(0, 0), rest(10, 0), rest(100, 1000), rest(900, 1000)], [0, 20, 900, 1800]);
    }

    #[test]
    fn differences_without_end_are_counted_and_not_kept() {
        let mut report = Report::default();
        for document in 0..20_000 {
            let uuid = crate::domain::document::DocumentUuid::parse("a").unwrap();
            let account = "main".to_owned();
            report.add(Difference { document, uuid, account, destination: None, kind: Kind::EndedAtApi });
        }
        assert_eq!((report.differences.len(), report.differing()), (MOST, 20_000));
    }
}
