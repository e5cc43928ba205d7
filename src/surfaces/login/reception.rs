//! Takes the first valid answer, from the browser or from the keyboard, and none after it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::{mpsc, oneshot};

use super::Ending;
use crate::api::auth::authorization::{Attempt, NotAnAnswer, Returned};

/// The most events that wait.
const QUEUE: usize = 32;

/// What happened at the redirect address.
#[derive(Debug)]
pub enum Event {
    /// The answer to the attempt. The browser waits for the ending.
    Answer(Returned, oneshot::Sender<Ending>),
    /// Something else, with the number of such requests so far.
    Stranger(NotAnAnswer, u32),
}

/// The one open attempt.
#[derive(Debug)]
pub struct Reception {
    attempt: Attempt,
    /// Whether the state was presented. It counts once (API, "Flow", step 3).
    used: AtomicBool,
    strangers: AtomicU32,
    events: mpsc::Sender<Event>,
}

/// What the browser gets.
pub(super) enum Reply {
    /// The page that says how it ended, as soon as it has.
    Later(oneshot::Receiver<Ending>),
    AlreadyUsed,
    NotAnAnswer(NotAnAnswer),
}

impl Reception {
    /// Waits for the answer to `attempt`.
    pub fn new(attempt: Attempt) -> (Self, mpsc::Receiver<Event>) {
        let (events, received) = mpsc::channel(QUEUE);
        (Self { attempt, used: AtomicBool::new(false), strangers: AtomicU32::new(0), events }, received)
    }

    /// The open attempt.
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Takes what a person pasted. Returns the answer; `None` if the browser was first.
    ///
    /// # Errors
    /// [`NotAnAnswer`]: the person may try again.
    pub fn pasted(&self, line: &str) -> Result<Option<Returned>, NotAnAnswer> {
        let returned = self.attempt.read_pasted(line)?;
        Ok(self.is_first().then_some(returned))
    }

    /// Takes what the browser brought.
    pub(super) async fn arrived(&self, query: &str) -> Reply {
        match self.attempt.read(query) {
            Err(wrong) => {
                let count = self.strangers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                // If the queue is full, there are enough events to show.
                let _ = self.events.try_send(Event::Stranger(wrong, count));
                Reply::NotAnAnswer(wrong)
            }
            Ok(returned) if self.is_first() => {
                let (sender, ending) = oneshot::channel();
                match self.events.send(Event::Answer(returned, sender)).await {
                    Ok(()) => Reply::Later(ending),
                    Err(_) => Reply::AlreadyUsed,
                }
            }
            Ok(_) => Reply::AlreadyUsed,
        }
    }

    fn is_first(&self) -> bool {
        !self.used.swap(true, Ordering::SeqCst)
    }
}
