//! How a piece of work failed.

use std::time::Duration;

use crate::api::{Api, ApiError, Detail, Meaning, look};
use crate::domain::failure::{Call, Code, Failure, Kind};
use crate::ledger::documents::Document;

/// How a piece of work failed, and the reason that people read.
pub(in crate::pipeline) struct Failed {
    /// The part that is compared.
    pub(in crate::pipeline) failure: Failure,
    /// What people read; free of patient data.
    pub(in crate::pipeline) reason: String,
    /// How long the other side asked to be left alone.
    pub(in crate::pipeline) retry_after: Option<Duration>,
    /// The origin of the PDF whose download failed.
    pub(in crate::pipeline) origin: Option<String>,
    /// 401: the account has to sign in, unless the API answers so about this document only.
    pub(in crate::pipeline) needs_login: bool,
}

impl Failed {
    pub(in crate::pipeline) fn new(call: Call, kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            failure: Failure { call, kind },
            reason: reason.into(),
            retry_after: None,
            origin: None,
            needs_login: false,
        }
    }

    /// A failed call to the API; `doing` says what the call was for.
    pub(in crate::pipeline) fn of_call(call: Call, doing: &str, error: &ApiError) -> Self {
        let code = error.status().map_or_else(|| Code::Word(error.class().into()), Code::Status);
        let (meaning, retry_after) = (error.meaning(), error.retry_after());
        let kind = match meaning {
            Meaning::Origin => Kind::Down(code),
            Meaning::Transient | Meaning::NeedsLogin => Kind::Passing(code),
            Meaning::Permanent => Kind::Permanent(code),
        };
        let needs_login = meaning == Meaning::NeedsLogin;
        Self { retry_after, needs_login, ..Self::new(call, kind, format!("{doing}: {error}")) }
    }
}

/// The API answered with another document than the one asked for.
pub(in crate::pipeline) fn other_document() -> Failed {
    Failed::of_call(Call::Read, "reading the document", &ApiError::Another)
}

/// The API names another patient for the document than its list does, or than the one for whom it was filed.
pub(in crate::pipeline) fn other_patient() -> Failed {
    let reason = "reading the document: the API names another patient for it than its list, or than before: look in the cloud \
                  service whose letter it is";
    Failed::new(Call::Read, Kind::Passing(Code::word("other_patient")), reason)
}

/// Whether the answer about the document names another patient than the list does: one of the two is about somebody
/// else. The patient may have been corrected since the list was read, so the list is asked again.
pub(in crate::pipeline) async fn is_of_another_patient(client: &dyn Api, document: &Document, detail: &Detail) -> bool {
    if !detail.is_of_another_patient(document.listed_patient.as_deref()) {
        return false;
    }
    let uuid = &document.version.uuid;
    for synchronized in [false, true] {
        let shown = look(client, std::slice::from_ref(uuid), synchronized).await;
        if let Some(patient) = shown.ok().and_then(|mut shown| shown.items.remove(uuid)?.patient) {
            return detail.is_of_another_patient(Some(&patient));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/it/faults/api` tests one status of each row of this table from end to end. `failed_call` handles 404 and
    /// 410 first.
    #[test]
    fn each_status_of_a_call_is_of_its_kind() {
        type Constructor = fn(Code) -> Kind;
        let table: [(Constructor, &[u16]); 3] = [
            (Kind::Permanent, &[400, 403, 409, 413, 415, 422]),
            (Kind::Passing, &[304, 407, 408, 421, 425, 500, 501, 502, 503, 504]),
            (Kind::Down, &[429]),
        ];
        for call in [Call::List, Call::Read, Call::Report] {
            for (kind, status) in table.iter().flat_map(|(kind, of)| of.iter().map(move |status| (kind, *status))) {
                let failed = Failed::of_call(call, "reading", &ApiError::Status { status, retry_after: None });
                assert_eq!(failed.failure, Failure { call, kind: kind(Code::Status(status)) });
                assert!(failed.reason.starts_with(&format!("reading: HTTP {status}")), "{}", failed.reason);
                assert!(!failed.needs_login, "{status}");
            }
            let refused = Failed::of_call(call, "reading", &ApiError::Unauthorized { signed_in: None });
            assert_eq!(refused.failure, Failure { call, kind: Kind::Passing(Code::Status(401)) });
            assert!(refused.needs_login);
        }
    }

    #[test]
    fn a_server_that_says_when_it_is_back_is_away_for_everybody() {
        let retry_after = Some(Duration::from_secs(7));
        let failed = Failed::of_call(Call::Read, "reading", &ApiError::Status { status: 503, retry_after });
        assert_eq!((failed.failure.kind, failed.retry_after), (Kind::Down(Code::Status(503)), retry_after));
    }
}
