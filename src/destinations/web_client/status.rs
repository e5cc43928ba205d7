//! What an HTTP status means for a delivery, in our own words: one table for every adapter that speaks HTTP. Where an
//! adapter knows better (412 to a conditional PUT, 404 to a look), it decides before it asks here.

use std::time::Duration;

use crate::destinations::Outcome;
use crate::domain::failure::Code;

/// Whom the failure concerns, and whether it may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::destinations) enum Meaning {
    /// The destination as a whole: credentials, the address, a redirect.
    Unavailable,
    /// It may pass, or concern this document.
    Transient,
    /// There is no room.
    NoRoom,
    /// This document.
    Permanent,
}

/// The meaning of a status that is no success, with its message. `is_base` tells whether all documents have this
/// address, so that a 404 is no document's fault.
pub(in crate::destinations) fn meaning(status: u16, is_base: bool) -> (Meaning, &'static str) {
    use Meaning::{NoRoom, Permanent, Transient, Unavailable};
    match status {
        300..=399 => {
            (Unavailable, "it redirects, which is not followed with a document: configure the address that it leads to")
        }
        401 => (Unavailable, "it refuses the credentials: check the user, the password or the token"),
        403 => (Unavailable, "it forbids this: check the rights of the user or the token"),
        404 | 410 if is_base => (Unavailable, "there is nothing at the configured address: check it"),
        404 | 410 => {
            (Transient, "it knows no such address: check the configured one, or what this document puts into it")
        }
        405 | 501 => (Unavailable, "it does not take this method at the configured address: check both"),
        407 => (Unavailable, "the proxy refuses its credentials: check `proxy`"),
        408 => (Transient, "it waited too long for the document"),
        411 => (Unavailable, "it refuses the request's form: a gateway before it may have changed it"),
        421 => (Unavailable, "it does not answer for this address: check it, and the proxy"),
        423 => (Transient, "what lies there is locked"),
        425 => (Transient, "it asks for the request to be repeated"),
        429 => (Transient, "it asks to be left alone for a while"),
        507 => (NoRoom, "it has no room left: free space there, or raise the quota"),
        511 => (Unavailable, "the network asks for a sign-in: a captive portal?"),
        502..=504 => (Transient, "it, or what lies behind it, does not work at the moment"),
        500..=599 => (Transient, "it has a fault: its own log says more"),
        413 => (Permanent, "it does not take a document of this size: raise its limit"),
        414 | 431 => (Permanent, "what this document puts into the address or the headers is too long"),
        415 => (Permanent, "it does not take PDFs in this form"),
        422 => (Permanent, "it does not accept what was sent of this document"),
        400..=499 => (Permanent, "it refuses this document"),
        _ => (Transient, "its answer is unknown"),
    }
}

/// The outcome of a delivery to `destination` with this answer.
pub(in crate::destinations) fn outcome(
    destination: &str,
    status: u16,
    is_base: bool,
    retry_after: Option<Duration>,
) -> Outcome {
    let (meaning, words) = meaning(status, is_base);
    let reason = format!("destination `{destination}` answers with status {status}: {words}");
    let code = Code::Status(status);
    match meaning {
        // A server that says when it will be back is away for all documents.
        Meaning::Transient if matches!(status, 429 | 503) && retry_after.is_some() => {
            Outcome::Unavailable { code, reason, retry_after }
        }
        Meaning::Unavailable => Outcome::Unavailable { code, reason, retry_after },
        Meaning::Transient => Outcome::Transient { code, reason, retry_after },
        Meaning::NoRoom => Outcome::NoRoom(reason),
        Meaning::Permanent => Outcome::Permanent { code, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_meaning() {
        use Meaning::{NoRoom, Permanent, Transient, Unavailable};
        for (statuses, expected) in [
            (&[301, 302, 303, 304, 307, 308, 401, 403, 405, 407, 411, 421, 501, 511][..], Unavailable),
            (&[408, 423, 425, 429, 500, 502, 503, 504, 599, 404, 410, 100, 199, 206, 999], Transient),
            (&[507], NoRoom),
            (&[400, 402, 406, 409, 412, 413, 414, 415, 416, 422, 431, 451], Permanent),
        ] {
            for status in statuses {
                assert_eq!(meaning(*status, false).0, expected, "{status}");
            }
        }
        for status in [404, 410] {
            assert_eq!(meaning(status, true).0, Unavailable, "{status}");
        }
    }

    #[test]
    fn a_server_that_says_when_it_will_be_back_pauses_the_destination_for_so_long() {
        let wait = Some(Duration::from_secs(7));
        for (status, down) in [(429, true), (503, true), (500, false)] {
            let outcome = outcome("pms", status, false, wait);
            let is_down = matches!(&outcome, Outcome::Unavailable { retry_after, .. } if *retry_after == wait);
            assert_eq!(is_down, down, "{status}: {outcome:?}");
        }
        assert!(matches!(outcome("pms", 429, false, None), Outcome::Transient { .. }));
    }

    #[test]
    fn every_reason_names_the_destination_and_the_status() {
        for status in 100..600 {
            let reason = match outcome("pms", status, false, None) {
                Outcome::Transient { reason, .. }
                | Outcome::Unavailable { reason, .. }
                | Outcome::Permanent { reason, .. }
                | Outcome::NoRoom(reason) => reason,
                other => panic!("{other:?}"),
            };
            assert!(reason.contains("`pms`") && reason.contains(&status.to_string()), "{reason}");
        }
    }
}
