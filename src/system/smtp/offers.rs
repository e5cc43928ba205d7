//! The server's answer to EHLO.

use super::Reply;

/// The extensions that a server offers (RFC 5321, section 4.1.1.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Offers {
    /// The largest mail that the server takes; bytes (RFC 1870).
    pub size: Option<u64>,
    /// RFC 1870
    pub(super) knows_size: bool,
    /// RFC 3207
    pub(super) starttls: bool,
    /// RFC 4616
    pub(super) plain: bool,
    pub(super) login: bool,
}

impl Offers {
    pub(super) fn of(reply: &Reply) -> Self {
        let mut offers = Self::default();
        for (keyword, parameters) in reply.keywords() {
            let has = |name: &str| parameters.iter().any(|parameter| parameter == name);
            match keyword.as_str() {
                "SIZE" => {
                    let limit = parameters.first().and_then(|limit| limit.parse().ok());
                    (offers.knows_size, offers.size) = (true, limit.filter(|limit| *limit > 0));
                }
                "STARTTLS" => offers.starttls = true,
                "AUTH" => (offers.plain, offers.login) = (has("PLAIN"), has("LOGIN")),
                _ => {}
            }
        }
        offers
    }
}
