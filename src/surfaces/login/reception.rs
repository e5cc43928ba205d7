//! Where answers arrive, from the browser or from the keyboard: the first that is one is taken, and none after it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::{mpsc, oneshot};

use super::Ending;
use crate::api::auth::authorization::{Attempt, NotAnAnswer, Returned};

/// Events that wait to be looked at.
const QUEUE: usize = 32;

/// What happened at the redirect address.
#[derive(Debug)]
pub enum Event {
    /// The answer to the attempt. The browser waits for what becomes of it.
    Answer(Returned, oneshot::Sender<Ending>),
    /// Something else; so many have come so far.
    Stranger(NotAnAnswer, u32),
}

/// The one attempt that is open.
#[derive(Debug)]
pub struct Reception {
    attempt: Attempt,
    /// The state was presented: it counts once (API, "Flow", step 3).
    used: AtomicBool,
    strangers: AtomicU32,
    events: mpsc::Sender<Event>,
}

/// What the browser gets to see.
pub(super) enum Reply {
    /// The page that says how it ended, as soon as that is known.
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

    /// The attempt.
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// What a person pasted: the answer, `None` when the browser was quicker.
    ///
    /// # Errors
    /// [`NotAnAnswer`]: the person may try again.
    pub fn pasted(&self, line: &str) -> Result<Option<Returned>, NotAnAnswer> {
        let returned = self.attempt.read_pasted(line)?;
        Ok(self.is_first().then_some(returned))
    }

    /// What the browser brought.
    pub(super) async fn arrived(&self, query: &str) -> Reply {
        match self.attempt.read(query) {
            Err(wrong) => {
                let count = self.strangers.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                // Where the queue is full there is enough to see already.
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
