//! What becomes of a delivery.

use std::time::Duration;

use crate::domain::failure::Code;
use crate::domain::proof::{Filed, Proof};
use crate::patients::Unmatched;

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The destination durably holds the document.
    Delivered {
        /// Where it lies, for the person who asks (`docsyncd show`). It may contain patient data and is never logged.
        place: String,
        /// Where it was put, when it counts only once the destination's software has it ([`super::Adapter::look`]).
        filed: Option<Box<Filed>>,
        /// What shows that it is there, if that is not always the same ([`super::Adapter::proof`]).
        proof: Option<Proof>,
        /// Whether the version before lies there as well, as the destination says: a person has to remove that.
        beside: bool,
    },
    /// It may work later: the document stays due. Documents that fail with one code fail alike.
    Transient {
        /// What decides whether they do.
        code: Code,
        /// For people.
        reason: String,
        /// What the destination asked for.
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
    /// Everything was sent, and the answer was lost: it may be there or not. The next attempt looks, or sends it again.
    Unconfirmed {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// The same, and a person decides what becomes of it (`on_lost_reply = "hold"`).
    Held {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// It may be there, and cannot be seen there yet: it is tried again after `wait`. That is no failure of anything.
    Waiting {
        /// How long.
        wait: Duration,
        /// As above.
        reason: String,
    },
    /// As [`Self::Transient`]: it had no room for this document, whether or not it has some for others.
    NoRoom(String),
    /// It will never work for this document as it is.
    Permanent {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// The same, and nothing but the document is the reason: what the destination says is about this one alone, however
    /// many it says it of. It fails at once.
    Own {
        /// As above.
        code: Code,
        /// As above.
        reason: String,
    },
    /// The spooled file is missing or is not what was fetched: it must be fetched anew.
    SpoolDamaged,
    /// Whose letter it is at the destination is not known: nothing was sent, and a person decides.
    NeedsPerson(Unmatched),
    /// [`super::Unrecorded`]: the ledger has no answer.
    Unrecorded,
}

impl Outcome {
    /// [`Self::Delivered`], with nothing more to wait for.
    pub(crate) fn delivered(place: impl Into<String>) -> Self {
        Outcome::Delivered { place: place.into(), filed: None, proof: None, beside: false }
    }

    /// [`Self::Transient`], of a destination that did not say when to come again.
    pub(crate) fn transient(code: Code, reason: impl Into<String>) -> Self {
        Outcome::Transient { code, reason: reason.into(), retry_after: None }
    }

    /// [`Self::Unavailable`], likewise.
    pub(crate) fn unavailable(code: &'static str, reason: impl Into<String>) -> Self {
        Outcome::Unavailable { code: Code::word(code), reason: reason.into(), retry_after: None }
    }

    /// [`Self::Held`], of an attempt that was cut off and left nothing to look at.
    pub(crate) fn cut_off(reason: impl Into<String>) -> Self {
        Outcome::Held { code: Code::word("cut_off"), reason: reason.into() }
    }

    /// If a person decides what becomes of a lost answer, [`Self::Unconfirmed`] is [`Self::Held`].
    pub(crate) fn held_if(self, holds: bool) -> Self {
        match self {
            Outcome::Unconfirmed { code, reason } if holds => Outcome::Held { code, reason },
            outcome => outcome,
        }
    }

    /// Nobody can look what was taken there.
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

    /// Whether no answer came that can be understood.
    pub(super) fn is_unanswered(&self) -> bool {
        matches!(self, Outcome::Transient { code: Code::Word(word), .. }
            if ["no_answer", "cut", "not_understood", "broken_off"].contains(&word.as_ref()))
    }

    /// Whether it says for sure that this attempt delivered nothing.
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
