//! The outcome for a letter if a step of the conversation fails: by the step and the server's code, never by its words.

use super::super::Outcome;
use crate::domain::failure::Code;
use crate::system::smtp::{FailedStep, Reply, Step, Why};

/// The outcome for the letter. `why` tells a person what went wrong; `named` makes a sentence of it.
pub(super) fn outcome(failed: &FailedStep, why: String, named: impl Fn(&str) -> String) -> Outcome {
    let word = match &failed.why {
        Why::Refused(reply) => return of_reply(failed.step, reply, named),
        Why::Unresolved => "no_connection",
        Why::Io(_) if failed.step == Step::Connect => "no_connection",
        Why::Io(_) if failed.step == Step::Encrypt => "tls",
        Why::Io(_) => "broken_off",
        Why::Silent => "no_answer",
        Why::NotSmtp => "not_understood",
        Why::NoSignIn => "credentials",
        Why::NoStartTls | Why::Here(_) => "tls",
    };
    let (code, reason) = (Code::word(word), named(&why));
    match failed.step {
        Step::End => Outcome::Unconfirmed { code, reason },
        Step::Sender | Step::Recipient | Step::Data | Step::Text | Step::Reset => Outcome::transient(code, reason),
        _ => Outcome::Unavailable { code, reason, retry_after: None },
    }
}

/// RFC 5321, section 4.2, RFC 4954, section 6, and RFC 3463.
fn of_reply(step: Step, reply: &Reply, named: impl Fn(&str) -> String) -> Outcome {
    let code = Code::Status(reply.code);
    let is_permanent = reply.code >= 500;
    match (reply.code, reply.enhanced) {
        (530 | 534 | 535 | 538, _) => {
            let words = format!("it refuses the user or the password ({reply}): check `user` and `password_file`");
            Outcome::unavailable("credentials", named(&words))
        }
        (421, _) => {
            let reason = named(&format!("it ends the conversation ({reply}): it is busy, or about to stop"));
            Outcome::Unavailable { code, reason, retry_after: None }
        }
        _ if step < Step::Sender => {
            let reason = named(&format!("it refuses the connection ({reply}): its log says why"));
            Outcome::Unavailable { code, reason, retry_after: None }
        }
        // A full mailbox may have room again later, whatever the first digit is.
        (_, Some((_, 2, 2) | (_, 3, 1))) | (452, _) => {
            Outcome::NoRoom(named(&format!("it, or the recipient's mailbox, has no room ({reply})")))
        }
        // RFC 5321, section 4.2.3: at the recipient, this is the mailbox's room.
        (552, None | Some((5, 0 | 2, 0))) if step == Step::Recipient => {
            Outcome::NoRoom(named(&format!("the recipient's mailbox has no room ({reply})")))
        }
        (552, None | Some((5, 0 | 2, 0))) | (_, Some((5, 3, 4) | (5, 2, 3))) => {
            let words = format!("it does not take a mail of this size ({reply}): have its limit raised");
            Outcome::permanent("too_large", named(&words))
        }
        // RFC 3463, X.4.5: congestion. Providers answer so to any mail when their daily limit is reached.
        (_, Some((5, 4, 5))) => {
            let words = format!("it takes no more mails for now ({reply}): has it a limit per hour or day?");
            Outcome::unavailable("busy", named(&words))
        }
        _ if !is_permanent => Outcome::transient(code, named(&format!("it cannot take the mail now ({reply})"))),
        _ => {
            let what = match step {
                Step::Sender => "the sender: check `from`, and whether the user may send as it",
                Step::Recipient => "the recipient: check `to`",
                _ => "the mail: its log says why",
            };
            Outcome::Permanent { code, reason: named(&format!("it refuses ({reply}) {what}")) }
        }
    }
}
