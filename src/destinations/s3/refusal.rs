//! What an S3 service means by a refusal. Its error code (S3 API, "Error responses") is compared with known ones, and
//! only our own words are passed on.

use std::time::{Duration, SystemTime};

use super::super::Outcome;
use super::super::web_client::outcome_of_status;
use crate::domain::failure::Code;

/// If the clocks differ by more than this, that is why a signature is refused.
const SKEW: Duration = Duration::from_secs(10 * 60);

/// A refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    status: u16,
    code: String,
    is_skewed: bool,
    retry_after: Option<Duration>,
}

/// Whom the failure concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Bucket(&'static str),
    Document(&'static str),
    Passing(&'static str),
    NoRoom,
}

impl Refusal {
    pub(super) fn new(status: u16, body: &[u8], date: Option<&str>, retry_after: Option<Duration>) -> Self {
        let text = String::from_utf8_lossy(body);
        let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
        let code = code.map(|(code, _)| code.trim()).unwrap_or_default();
        let theirs = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let now = SystemTime::now();
        let difference =
            theirs.map(|theirs| theirs.duration_since(now).or_else(|_| now.duration_since(theirs)).unwrap_or_default());
        Self { status, code: code.to_owned(), is_skewed: difference.is_some_and(|skew| skew > SKEW), retry_after }
    }

    fn blames(&self) -> Option<Blame> {
        use Blame::{Bucket, Document, NoRoom, Passing};
        const CLOCK: &str = "it refuses the time of the request: this computer's clock is wrong, set it";
        Some(match self.code.as_str() {
            "RequestTimeTooSkewed" | "RequestExpired" => Bucket(CLOCK),
            "AccessDenied" | "SignatureDoesNotMatch" if self.is_skewed => Bucket(CLOCK),
            "NoSuchBucket" => Bucket("there is no such bucket: check `bucket`, `region` and `endpoint`"),
            "InvalidAccessKeyId" => Bucket("it does not know the access key: check `access_key_id`"),
            "SignatureDoesNotMatch" => {
                Bucket("the secret is not that of the access key: check `secret_access_key_file`")
            }
            "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
                Bucket("the access key has expired: make a new one")
            }
            "AccessDenied" | "AllAccessDisabled" | "AccountProblem" | "UnauthorizedAccess" => {
                Bucket("it denies access: the key needs s3:PutObject, s3:GetObject and s3:ListBucket for this bucket")
            }
            "PermanentRedirect"
            | "TemporaryRedirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException" => {
                Bucket("the bucket lies elsewhere: check `region` and `endpoint`")
            }
            "AuthorizationQueryParametersError" => Bucket("it does not take the signature: check `region`"),
            "InvalidStorageClass" => Bucket("it does not know the `storage_class`"),
            "InvalidEncryptionAlgorithmError" => Bucket("it does not know the `server_side_encryption`"),
            "EntityTooLarge" => Document("it does not take an object of this size"),
            "KeyTooLongError" => Document("the document's name is too long for it: shorten `file_name` or `prefix`"),
            "InvalidURI" | "XMinioInvalidObjectName" => {
                Document("it does not take the document's name: simplify `file_name` or `prefix`")
            }
            "BadDigest" | "InvalidDigest" | "XAmzContentChecksumMismatch" | "IncompleteBody" | "RequestTimeout" => {
                Passing("the document did not arrive as it was sent")
            }
            "ConditionalRequestConflict" | "OperationAborted" => {
                Passing("another request for the same key is under way")
            }
            "SlowDown" | "ServiceUnavailable" | "InternalError" => Passing("it is overloaded, or has a fault"),
            "QuotaExceeded" | "XMinioStorageFull" | "StorageFull" | "XMinioAdminBucketQuotaExceeded" => NoRoom,
            // A HEAD has no body.
            "" if self.status == 403 && self.is_skewed => Bucket(CLOCK),
            "" if self.status == 403 => {
                Bucket("it denies access: the key needs s3:PutObject, s3:GetObject and s3:ListBucket for this bucket")
            }
            "" if self.status == 301 => Bucket("the bucket lies elsewhere: check `region` and `endpoint`"),
            "" if self.status == 409 => Passing("another request for the same key is under way"),
            _ => return None,
        })
    }

    /// Whether the service seems not to know a header of the request.
    pub(super) fn is_about_header(&self) -> bool {
        matches!(self.status, 400 | 501) && self.blames().is_none()
    }

    /// Whether there is no such bucket, or no way to it.
    pub(super) fn is_found_nowhere(&self) -> bool {
        self.status == 404
    }

    /// Whether the bucket exists, and no object has the key.
    pub(super) fn is_of_object(&self) -> bool {
        self.status == 404 && self.blames().is_none()
    }

    /// The outcome of a delivery.
    pub(super) fn outcome(&self, destination: &str) -> Outcome {
        let (status, retry_after) = (self.status, self.retry_after);
        let reason = |words: &str| format!("destination `{destination}` answers with status {status}: {words}");
        let code = Code::Status(status);
        match self.blames() {
            Some(Blame::Bucket(words)) => Outcome::Unavailable { code, reason: reason(words), retry_after },
            Some(Blame::Document(words)) => Outcome::Permanent { code, reason: reason(words) },
            Some(Blame::Passing(words)) => Outcome::Transient { code, reason: reason(words), retry_after },
            Some(Blame::NoRoom) => Outcome::NoRoom(reason("it has no room left: free space there, or raise the quota")),
            None => outcome_of_status(destination, status, false, retry_after),
        }
    }

    /// The same for a look, which says nothing final about the document.
    pub(super) fn of_look(&self, destination: &str) -> Outcome {
        match self.outcome(destination) {
            Outcome::Permanent { code, reason } => Outcome::Transient { code, reason, retry_after: self.retry_after },
            outcome => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: &str) -> Refusal {
        let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>Canaryworth</Message></Error>");
        Refusal::new(status, body.as_bytes(), None, None)
    }

    #[test]
    fn known_codes_have_their_meaning_and_nothing_else_is_repeated() {
        for (status, code, sign) in [
            (404, "NoSuchBucket", "no such bucket"),
            (403, "AccessDenied", "s3:PutObject"),
            (403, "SignatureDoesNotMatch", "secret_access_key_file"),
            (403, "InvalidAccessKeyId", "access_key_id"),
            (403, "RequestTimeTooSkewed", "clock"),
            (400, "AuthorizationHeaderMalformed", "region"),
        ] {
            match refusal(status, code).outcome("pms") {
                Outcome::Unavailable { reason, .. } => {
                    assert!(reason.contains(sign) && reason.contains("`pms`"), "{reason}")
                }
                other => panic!("{code}: {other:?}"),
            }
        }
        assert!(matches!(refusal(400, "EntityTooLarge").outcome("pms"), Outcome::Permanent { .. }));
        assert!(matches!(refusal(409, "ConditionalRequestConflict").outcome("pms"), Outcome::Transient { .. }));
        assert!(matches!(refusal(503, "SlowDown").outcome("pms"), Outcome::Transient { .. }));
        assert!(matches!(refusal(507, "XMinioStorageFull").outcome("pms"), Outcome::NoRoom(_)));
        assert!(!format!("{:?}", refusal(400, "Canaryworth").outcome("pms")).contains("Canaryworth"));
    }

    #[test]
    fn a_refused_header_is_told_from_every_other_bad_request() {
        for (status, code, about) in [
            (501, "NotImplemented", true),
            (400, "InvalidArgument", true),
            (501, "", true),
            (400, "EntityTooLarge", false),
            (400, "AuthorizationHeaderMalformed", false),
            (403, "AccessDenied", false),
        ] {
            assert_eq!(refusal(status, code).is_about_header(), about, "{status} {code}");
        }
    }

    #[test]
    fn a_clock_that_is_wrong_is_named_as_the_reason() {
        let denied = Refusal::new(403, b"<Code>AccessDenied</Code>", Some("Sun, 06 Nov 1994 08:49:37 GMT"), None);
        assert!(matches!(denied.outcome("pms"), Outcome::Unavailable { reason, .. } if reason.contains("clock")));
    }
}
