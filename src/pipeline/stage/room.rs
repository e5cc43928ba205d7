//! How many jobs may be in flight.

use std::collections::HashMap;

use tokio::task::Id;

use super::super::Context;
use super::{Flight, Lane};

/// Each lane's share of `sync.max_concurrency`, at least one job: an account whose answers hang takes nothing from the
/// other accounts.
pub fn shared_room(context: &Context, lanes: &[Lane]) -> usize {
    (context.limits.max_concurrency / lanes.len().max(1)).max(1)
}

/// The jobs in flight in one lane. Jobs that failed before count apart: for them there is a quarter more room, at least
/// one place. So a document whose download hangs until the limit of time, again and again, takes no room from good
/// documents.
#[derive(Default, Clone, Copy)]
pub(super) struct Load {
    pub(super) first: usize,
    pub(super) again: usize,
}

impl Load {
    pub(super) fn of(flights: &HashMap<Id, Flight>, lane: usize) -> Self {
        let mut load = Self::default();
        flights.values().filter(|flight| flight.lane == lane).for_each(|flight| load.add(flight.again));
        load
    }

    pub(super) fn add(&mut self, again: bool) {
        if again {
            self.again += 1;
        } else {
            self.first += 1;
        }
    }

    /// How much of the lane's room is taken.
    pub(super) fn taken(self, in_lane: usize) -> usize {
        self.first + self.again.saturating_sub(beside(in_lane))
    }

    pub(super) fn in_all(self) -> usize {
        self.first + self.again
    }

    /// Whether a lane with a limit of its own may have this load. Jobs that failed before leave one place to the
    /// others.
    pub(super) fn is_within(self, limit: Option<usize>) -> bool {
        limit.is_none_or(|limit| self.in_all() <= limit && self.again <= limit.saturating_sub(1).max(1))
    }
}

/// How many jobs that failed before may be in flight beyond the lane's room.
pub(super) fn beside(in_lane: usize) -> usize {
    in_lane.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_a_lane_holds_for_all_and_leaves_a_place_to_what_never_failed() {
        for (first, again, limit, fits) in [
            (9, 9, None, true),
            (4, 0, Some(4), true),
            (1, 3, Some(4), true),
            (0, 4, Some(4), false),
            (4, 1, Some(4), false),
            (0, 1, Some(1), true),
            (1, 1, Some(1), false),
        ] {
            assert_eq!(Load { first, again }.is_within(limit), fits, "{first} {again} of {limit:?}");
        }
    }

    #[test]
    fn jobs_that_failed_before_take_no_room_from_the_others_until_there_are_too_many() {
        for (first, again, in_lane, taken) in [
            (0, 0, 8, 0),
            (8, 0, 8, 8),
            (8, 2, 8, 8),
            (8, 3, 8, 9),
            (0, 10, 8, 8),
            (1, 1, 1, 1),
            (1, 2, 1, 2),
            (16, 4, 16, 16),
        ] {
            assert_eq!(Load { first, again }.taken(in_lane), taken, "{first} {again} of {in_lane}");
        }
    }
}
