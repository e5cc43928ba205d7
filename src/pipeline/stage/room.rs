//! How many jobs may be in flight.

use std::collections::HashMap;

use tokio::task::Id;

use super::super::Limits;
use super::{Flight, Lane};

/// Each lane's share of `sync.max_concurrency`, at least one job: an account whose answers hang takes nothing from the
/// other accounts.
pub fn shared_room(limits: &Limits, lanes: &[Lane]) -> usize {
    (limits.max_concurrency / lanes.len().max(1)).max(1)
}

/// The jobs in flight in one lane. Jobs that failed before count apart: for them there is a quarter more room, at least
/// one place. So a document whose download hangs until the limit of time, again and again, takes no room from good
/// documents.
#[derive(Default, Clone, Copy)]
pub(super) struct Load {
    first: usize,
    again: usize,
}

impl Load {
    pub(super) fn of(flights: &HashMap<Id, Flight>, lane: usize) -> Self {
        let in_lane = flights.values().filter(|flight| flight.lane == lane);
        in_lane.fold(Self::default(), |load, flight| load.and(flight.again))
    }

    /// With one more job; `again`: it failed before.
    pub(super) fn and(self, again: bool) -> Self {
        let (first, again) = (self.first + usize::from(!again), self.again + usize::from(again));
        Self { first, again }
    }

    /// Whether the lane has room for this load. In a lane with a limit of its own, jobs that failed before leave one
    /// place to the others.
    pub(super) fn fits(self, in_lane: usize, limit: Option<usize>) -> bool {
        let Self { first, again } = self;
        first + again.saturating_sub(beside(in_lane)) <= in_lane
            && limit.is_none_or(|limit| first + again <= limit && again <= limit.saturating_sub(1).max(1))
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
    fn jobs_that_failed_before_take_no_room_from_the_others_until_there_are_too_many() {
        for (first, again, in_lane, limit, fits) in [
            (8, 0, 8, None, true),
            (9, 0, 8, None, false),
            (8, 2, 8, None, true),
            (8, 3, 8, None, false),
            (0, 10, 8, None, true),
            (0, 11, 8, None, false),
            (1, 1, 1, None, true),
            (1, 2, 1, None, false),
            (16, 4, 16, None, true),
            (4, 0, 16, Some(4), true),
            (1, 3, 16, Some(4), true),
            (0, 4, 16, Some(4), false),
            (4, 1, 16, Some(4), false),
            (0, 1, 16, Some(1), true),
            (1, 1, 16, Some(1), false),
        ] {
            assert_eq!(Load { first, again }.fits(in_lane, limit), fits, "{first} {again} of {in_lane}, {limit:?}");
        }
    }
}
