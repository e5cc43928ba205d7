//! Whether a list may be only a part of what its export will be. Pure: knows the list before, and the numbers that
//! letters were filed with.
//!
//! An export that pauses leaves a file that can be read. If it was cut within a number, letters would be filed for
//! somebody else; if rows are missing, one of two namesakes would be the only one.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::file::Why;
use super::list::List;

/// A list that may not be whole counts when its file has not changed for this long.
pub(super) const LONG_REST: Duration = Duration::from_secs(60);
/// The same if the last row has no line end, as in the list before. Its end shows nothing, so it gets as much time as a
/// new list may take.
const OPEN_REST: Duration = Duration::from_secs(15);
/// From so many letters on, a list that has none of their numbers is not believed.
const ENOUGH_LETTERS: u64 = 20;

/// The list that counted last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// [`List::sha256`]; empty if there was none.
    pub sha256: String,
    /// [`List::len`]
    pub rows: usize,
    /// Whether its last row had no line end.
    pub is_open: bool,
}

/// What is known when a list is read.
#[derive(Clone, Default)]
pub struct Earlier {
    /// The list that counted last, perhaps in another process.
    pub before: Before,
    /// The patients' numbers that letters were filed with, and how many letters. `None`: that could not be read.
    pub used: Option<HashMap<String, u64>>,
}

/// Why a list may not be whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// Its last row has no line end, unlike the last row of the list before.
    #[error("its last row has no line end")]
    Open,
    /// It has fewer rows than the list before.
    #[error("it has {now} rows, and the list before had {before}")]
    Shorter {
        /// Rows of the list before.
        before: usize,
        /// Rows of this list.
        now: usize,
    },
    /// Numbers are missing that letters were filed with.
    #[error("it lacks {count} numbers that letters were filed with")]
    Lacks {
        /// How many.
        count: usize,
    },
    /// It could not be found out whether such numbers are missing.
    #[error("it is not known whether it has all numbers that letters were filed with")]
    NotKnown,
}

/// What a list needs before it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Needs {
    /// The time for which it has to stay as it is; zero if it is beyond doubt.
    Rest(Duration),
    /// A person's word, or an hour.
    Word(Why),
}

impl Earlier {
    /// Why this list may not be whole. `current` is the list that counts in this process.
    pub(super) fn doubt(&self, list: &List, current: Option<&List>) -> Option<Doubt> {
        if list.sha256() == self.before.sha256 {
            return None;
        }
        if list.facts().is_open && !self.before.is_open {
            return Some(Doubt::Open);
        }
        if list.len() < self.before.rows {
            return Some(Doubt::Shorter { before: self.before.rows, now: list.len() });
        }
        let Some(used) = &self.used else { return Some(Doubt::NotKnown) };
        // Who was missing before is not missed now.
        let was_there = |number: &str| current.is_none_or(|current| current.row(number).is_some());
        let is_lost = |number: &&String| list.row(number).is_none() && was_there(number);
        let count = used.keys().filter(is_lost).count();
        (count > 0).then_some(Doubt::Lacks { count })
    }

    /// What this list needs before it counts.
    pub(super) fn needs(&self, list: &List, current: Option<&List>) -> Needs {
        let (before, now) = (self.before.rows, list.len());
        let letters = self.used.iter().flat_map(HashMap::values).sum();
        let is_strange = || !self.used.iter().flat_map(HashMap::keys).any(|number| list.row(number).is_some());
        if now == 0 {
            Needs::Word(Why::NoPatients)
        } else if now < before.div_ceil(2) {
            Needs::Word(Why::Shrunk { before, now })
        } else if list.sha256() != self.before.sha256 && letters >= ENOUGH_LETTERS && is_strange() {
            Needs::Word(Why::Strange { letters })
        } else if self.doubt(list, current).is_some() {
            Needs::Rest(LONG_REST)
        } else if list.facts().is_open && list.sha256() != self.before.sha256 {
            Needs::Rest(OPEN_REST)
        } else {
            Needs::Rest(Duration::ZERO)
        }
    }
}
