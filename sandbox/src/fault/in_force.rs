//! The faults in force, and which of them a request meets.

use std::sync::{Mutex, PoisonError};

use super::{Fault, FaultId, FaultKind, Habit, Target};
use crate::invent::Dice;

/// The faults in force. Of all matching faults, those that change a habit apply, and the first of the others, in the
/// order of injection.
pub(crate) struct Faults {
    /// The seed of all chance.
    seed: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    active: Vec<Active>,
}

struct Active {
    id: FaultId,
    fault: Fault,
    hits: u64,
    /// Each fault has its own stream of chance, so that other faults do not affect it.
    dice: Dice,
}

/// A fault in force and how often it hit.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    pub id: FaultId,
    /// The fault, with the `times` that are left.
    pub fault: Fault,
    pub hits: u64,
}

/// What happens to a request.
#[derive(Default)]
pub(crate) struct Met {
    pub kind: Option<FaultKind>,
    pub habits: Vec<Habit>,
}

impl Met {
    pub fn something(&self) -> bool {
        self.kind.is_some() || !self.habits.is_empty()
    }
}

impl Active {
    fn show(&self) -> InForce {
        InForce { id: self.id, fault: self.fault.clone(), hits: self.hits }
    }

    /// Whether it hits. Call it only for requests that match, because each call uses up chance.
    fn strikes(&mut self) -> bool {
        if self.fault.times == Some(0) || !self.dice.fraction_below(self.fault.probability) {
            return false;
        }
        self.hits += 1;
        self.fault.times = self.fault.times.map(|times| times - 1);
        true
    }
}

impl Faults {
    pub fn new(seed: u64, begun_with: &[Fault]) -> Self {
        let faults = Self { seed, state: Mutex::default() };
        faults.begin_with(begun_with);
        faults
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn inject(&self, fault: Fault) -> FaultId {
        self.with(|state| {
            state.last_id += 1;
            let id = FaultId(state.last_id);
            state.active.push(Active { id, fault, hits: 0, dice: Dice::new(self.seed, "fault", id.0) });
            id
        })
    }

    /// Returns whether the fault existed.
    pub fn remove(&self, id: FaultId) -> bool {
        self.with(|state| {
            let before = state.active.len();
            state.active.retain(|active| active.id != id);
            state.active.len() < before
        })
    }

    pub fn clear(&self) {
        self.with(|state| state.active.clear());
    }

    /// Puts only these faults in force, as at the start.
    pub fn begin_with(&self, faults: &[Fault]) {
        self.with(|state| *state = State::default());
        for fault in faults {
            self.inject(fault.clone());
        }
    }

    pub fn all(&self) -> Vec<InForce> {
        self.with(|state| state.active.iter().map(Active::show).collect())
    }

    pub fn get(&self, id: FaultId) -> Option<InForce> {
        self.with(|state| state.active.iter().find(|active| active.id == id).map(Active::show))
    }

    /// The faults that hit this request. Each is used once.
    pub fn take(&self, target: &Target) -> Met {
        self.with(|state| {
            let mut met = Met::default();
            for active in &mut state.active {
                let fault = &active.fault;
                if !target.is_of(fault) {
                    continue;
                }
                match &fault.kind {
                    FaultKind::Habit(habit) => {
                        let habit = habit.clone();
                        if active.strikes() {
                            met.habits.push(habit);
                        }
                    }
                    kind if met.kind.is_none() => {
                        let kind = kind.clone();
                        met.kind = active.strikes().then_some(kind);
                    }
                    _ => {}
                }
            }
            state.active.retain(|active| active.fault.times != Some(0));
            met
        })
    }
}
