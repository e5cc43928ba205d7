//! The outcome of a delivery.

use std::time::Duration;

use crate::domain::failure::Code;
use crate::domain::proof::{Filed, Proof};
use crate::patients::Unmatched;

/// The outcome of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The destination durably holds the document.
    Delivered {
        /// Its place, for a person who asks (`docsyncd show`). It may contain patient data and is never logged.
        place: String,
        /// Where it was put, if it counts only once the destination's software has it ([`super::Adapter::look`]).
        filed: Option<Box<Filed>>,
        /// Its proof, if that is not always the same ([`super::Adapter::proof`]).
        proof: Option<Proof>,
        /// Whether the earlier version is still there, as the destination says. A person has to remove that.
        beside: bool,
    },
    /// It may work later, so the document stays due. Documents that fail with the same code fail alike.
    Transient {
        /// Decides which failures are alike.
        code: Code,
        /// For people.
        reason: String,
        /// The wait that the destination asks for.
        retry_after: Option<Duration>,
    },
    /// The destination as a whole does not work: refused connections, DNS, TLS, credentials, the host's key. It is
    /// paused at once, and the document spends no attempt.
    Unavailable {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
        /// As above.
        retry_after: Option<Duration>,
    },
    /// Everything was sent, but the answer was lost. The next attempt looks, or sends it again.
    Unconfirmed {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// As [`Self::Unconfirmed`], but a person decides what to do (`on_lost_reply = "hold"`).
    Held {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// It may be there but cannot be seen yet. It is tried again after `wait`, and nothing has failed.
    Waiting {
        /// How long.
        wait: Duration,
        /// As above.
        reason: String,
    },
    /// As [`Self::Transient`]: there is no room for this document, though there may be for others.
    NoRoom(String),
    /// It will never work for this document as it is.
    Permanent {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// As [`Self::Permanent`], and the fault is in this document: it fails at once, even if others are refused in the
    /// same way.
    Own {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// The spooled file is missing or damaged, so it must be fetched again.
    SpoolDamaged,
    /// The destination cannot tell whose letter it is. Nothing was sent, and a person decides.
    NeedsPerson(Unmatched),
    /// The ledger does not answer ([`super::Unrecorded`]).
    Unrecorded,
}

impl Outcome {
    /// [`Self::Delivered`], with nothing more to wait for.
    pub(crate) fn delivered(place: impl Into<String>) -> Self {
        Outcome::Delivered { place: place.into(), filed: None, proof: None, beside: false }
    }

    /// [`Self::Transient`], without a wait that the destination asks for.
    pub(crate) fn transient(code: Code, reason: impl Into<String>) -> Self {
        Outcome::Transient { code, reason: reason.into(), retry_after: None }
    }

    /// [`Self::Unavailable`], without a wait that the destination asks for.
    pub(crate) fn unavailable(code: &'static str, reason: impl Into<String>) -> Self {
        Outcome::Unavailable { code: Code::word(code), reason: reason.into(), retry_after: None }
    }

    /// [`Self::Held`], for an interrupted attempt that left nothing to look at.
    pub(crate) fn cut_off(reason: impl Into<String>) -> Self {
        Outcome::Held { code: Code::word("cut_off"), reason: reason.into() }
    }

    /// [`Self::Held`] in place of [`Self::Unconfirmed`], if a person decides about lost answers.
    pub(crate) fn held_if(self, holds: bool) -> Self {
        match self {
            Outcome::Unconfirmed { code, reason } if holds => Outcome::Held { code, reason },
            outcome => outcome,
        }
    }

    /// The outcome of a look where nobody can see what was taken.
    pub(crate) fn no_look() -> Self {
        Outcome::transient(
            Code::word("no_look"),
            "nothing is configured that would show there what was taken (`confirm`)",
        )
    }

    /// [`Self::Permanent`]
    pub(crate) fn permanent(code: &'static str, reason: impl Into<String>) -> Self {
        Outcome::Permanent { code: Code::word(code), reason: reason.into() }
    }

    /// Why, for people.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Outcome::Transient { reason, .. }
            | Outcome::Unavailable { reason, .. }
            | Outcome::Unconfirmed { reason, .. }
            | Outcome::Held { reason, .. }
            | Outcome::Waiting { reason, .. }
            | Outcome::Permanent { reason, .. }
            | Outcome::Own { reason, .. }
            | Outcome::NoRoom(reason) => reason,
            Outcome::SpoolDamaged => "the spooled PDF is missing or damaged",
            Outcome::NeedsPerson(_) => "a person has to say whose letter it is",
            Outcome::Unrecorded => "the ledger has no answer",
            Outcome::Delivered { .. } => "",
        }
    }

    /// [`Self::reason`]
    pub(crate) fn into_reason(self) -> String {
        self.reason().to_owned()
    }

    /// Whether no answer came, or none that can be understood.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self, Outcome::Transient { code: Code::Word(word), .. }
            if ["no_answer", "cut", "not_understood", "broken_off"].contains(&word.as_ref()))
    }

    /// Whether it is certain that this attempt delivered nothing.
    pub fn is_refusal(&self) -> bool {
        match self {
            Outcome::Delivered { .. }
            | Outcome::Unconfirmed { .. }
            | Outcome::Held { .. }
            | Outcome::Waiting { .. }
            | Outcome::Unrecorded => false,
            Outcome::Transient { .. }
            | Outcome::Unavailable { .. }
            | Outcome::NoRoom(_)
            | Outcome::Permanent { .. }
            | Outcome::Own { .. }
            | Outcome::NeedsPerson(_)
            | Outcome::SpoolDamaged => true,
        }
    }
}
