//! Lines of the log that are kept back for a moment: of documents whose failure others may turn out to share. Then the pause is
//! what a person is told of; else each is said when its time is over.

use super::known::Known;
use super::{Pauses, Scope};
use crate::document::Version;
use crate::failure::Failure;
use crate::ledger::Millis;
use crate::pipeline::transition_log::TransitionLog;

/// Lines that are kept back in one scope; more are said at once, the oldest first.
const MAX_LINES: usize = 100;

/// A line about a document that failed.
pub(in crate::pipeline) struct HeldLine {
    /// The ledger's number for it.
    pub(in crate::pipeline) document: i64,
    pub(in crate::pipeline) failure: Failure,
    pub(in crate::pipeline) version: Version,
    pub(in crate::pipeline) destination: Option<String>,
    pub(in crate::pipeline) event: &'static str,
    pub(in crate::pipeline) attempt: u32,
    /// When what failed was begun.
    pub(in crate::pipeline) began: Millis,
    pub(in crate::pipeline) failed_at: Millis,
    /// When it is tried again; `None` where it is not.
    pub(in crate::pipeline) retry_at: Option<Millis>,
    pub(in crate::pipeline) reason: String,
    /// When it is said.
    pub(in crate::pipeline) until: Millis,
}

impl HeldLine {
    fn line(&self) -> TransitionLog<'_> {
        TransitionLog::of(&self.version).attempt(self.attempt).to(self.destination.as_deref())
    }

    fn say(&self) {
        match self.retry_at {
            Some(at) => self.line().retry_in(at - self.failed_at).warn(self.event, &self.reason),
            None => self.line().error(self.event, &self.reason),
        }
    }

    fn say_with_its_pause(&self) {
        self.line().debug(self.event, &self.reason);
    }
}

impl Known {
    /// The scope is paused for this failure: what documents failed with alike is told with it, and so is, when the pause begins,
    /// what they are tried again for anyway.
    pub(super) fn take_back_lines(&mut self, failure: &Failure, begins: bool) {
        let is_told = |line: &mut HeldLine| line.failure == *failure || (begins && line.retry_at.is_some());
        self.held_lines.extract_if(.., is_told).for_each(|line| line.say_with_its_pause());
    }
}

impl Pauses {
    /// Keeps the line back; others of this failure then wait as long, as their documents do. An earlier one of the document is
    /// said before. What was begun before the last pause was over, and is tried again, was told with that pause.
    pub(in crate::pipeline) fn hold_line(&self, scope: &Scope, line: HeldLine) {
        self.say_lines_of(scope, line.document);
        let mut scopes = self.lock();
        let known = scopes.entry(scope.clone()).or_default();
        if line.retry_at.is_some() && known.resumed_at.is_some_and(|resumed| line.began <= resumed) {
            return line.say_with_its_pause();
        }
        let lines = &mut known.held_lines;
        lines.iter_mut().filter(|held| held.failure == line.failure).for_each(|held| held.until = line.until);
        lines.push(line);
        let too_many = lines.len().saturating_sub(MAX_LINES);
        lines.drain(..too_many).for_each(|line| line.say());
    }

    /// Says the line at once, after what was kept back of the document.
    pub(in crate::pipeline) fn say_line(&self, scope: &Scope, line: &HeldLine) {
        self.say_lines_of(scope, line.document);
        line.say();
    }

    fn say_lines_of(&self, scope: &Scope, document: i64) {
        self.say_lines(|of, line| of == scope && line.document == document);
    }

    /// Says every line that is kept back: the process ends.
    pub fn say_lines_now(&self) {
        self.say_lines(|_, _| true);
    }

    /// Says the lines whose time is over by `now`, and returns when the next one is.
    pub(in crate::pipeline) fn say_lines_until(&self, now: Millis) -> Option<Millis> {
        self.say_lines(|_, line| line.until <= now);
        self.lock().values().flat_map(|known| &known.held_lines).map(|line| line.until).min()
    }

    fn say_lines(&self, which: impl Fn(&Scope, &HeldLine) -> bool) {
        for (scope, known) in self.lock().iter_mut() {
            known.held_lines.extract_if(.., |line| which(scope, line)).for_each(|line| line.say());
        }
    }
}
