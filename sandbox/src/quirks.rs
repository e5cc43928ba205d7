//! Behaviours that the API description leaves open.
//!
//! The README's table explains each default. A test changes a quirk to see whether a client also works with the other
//! behaviour. Quirks describe a healthy server, [`crate::Fault`]s what goes wrong. A fault can also change the quirks
//! for the requests that it hits, see [`crate::Habit`].
//!
//! In JSON a quirk has the name of its field. Durations are written `"250ms"`, `"30s"`, `"1h 30m"`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json::understood;

/// All behaviours that the description leaves open. Change them while the sandbox runs with
/// [`crate::Sandbox::set_quirks`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// How `createdAt[gte]` and the like work. The format of their values is "not shown".
    pub date_filter: DateFilter,
    /// A document keeps appearing in `synchronized=false` after its status was posted.
    pub stays_listed: bool,
    /// Posting a status changes the document's `updatedAt`.
    pub touch_updated_at: bool,
    /// How lists show user, patient and pdf.
    pub lists_show: ListShape,
    /// How the single read shows user and patient.
    pub single_shows: SingleShape,
    /// What `pdf.url` looks like.
    pub pdf_url: PdfUrl,
    /// Every object has members, and every enumeration values, that the description does not know.
    pub unknown_fields: bool,
    /// The server returns at most this many items a page, whatever `itemsPerPage` asked for.
    pub max_page_size: Option<u32>,
    /// The server always returns the first page.
    pub ignore_page: bool,
    /// The server ignores the requested order: newest first.
    pub ignore_order: bool,
    /// How dates are written.
    pub date_format: DateFormat,
    /// Documents show `pdf: null`, as if their PDFs were not rendered yet. The files themselves stay where they are.
    pub pdf_not_rendered: bool,
    /// `pdf.url` is on the files origin, even if [`crate::Options::files_listen`] is `None`.
    pub pdf_elsewhere: bool,
    /// `pdf.url` is a signed address on the files origin that works for this long, counted in whole seconds of the
    /// sandbox's clock since the document was read. [`PdfUrl::Relative`] and [`PdfUrl::Verbatim`] stay unchanged. While
    /// it is on, the files origin also refuses addresses without a signature.
    #[serde(with = "crate::duration_text::optional")]
    pub pdf_url_expires: Option<Duration>,
    /// A page after the first is read as if this many items before it had left the list since the previous page
    /// (positive: the client misses as many), or had come in (negative: it sees as many twice).
    pub page_shift: i64,
    /// Access tokens have expired when they are handed out.
    pub tokens_expired: bool,
    /// No application may ask for an authorization code: people are redirected with `unauthorized_client`.
    pub unauthorized_client: bool,
    /// How long an exchanged refresh token can be exchanged again, for clients that lost the reply; `None`: not at all,
    /// as the description says.
    #[serde(with = "crate::duration_text::optional")]
    pub refresh_grace: Option<Duration>,
}

impl Quirks {
    /// These quirks with changes: a merge patch (RFC 7396) over their JSON form, in which `null` restores a quirk's
    /// default.
    ///
    /// # Errors
    /// When a member is no quirk or its value cannot be one; the text names it.
    pub fn merged(&self, changes: &Map<String, Value>) -> Result<Self, String> {
        let mut all = match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            Ok(_) | Err(_) => Map::new(), // cannot be: quirks are an object of plain values
        };
        for (name, value) in changes {
            if value.is_null() && all.contains_key(name) {
                all.remove(name);
            } else {
                all.insert(name.clone(), value.clone());
            }
        }
        understood(all)
    }
}

/// The handling of date filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum DateFilter {
    /// They filter.
    #[default]
    Works,
    /// The server answers 400 to a request that has one.
    Refused,
    /// The server ignores them.
    Ignored,
}

/// How a list shows a document's user, patient and pdf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListShape {
    /// Plain uuids, as the description says.
    #[default]
    Identifiers,
    /// Whole objects, as in the single read.
    Objects,
    /// Resource addresses such as `/patients/…`, as API Platform prints by default.
    Iris,
}

/// How the single read shows a document's user and patient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SingleShape {
    /// Whole objects, as the description says.
    #[default]
    Objects,
    /// Plain uuids; the patient must then be read from `GET /patients/{uuid}`.
    Identifiers,
}

/// The form of `pdf.url`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PdfUrl {
    /// An absolute address: on the files origin if the sandbox has one (see [`crate::Options::files_listen`]),
    /// otherwise on the API's.
    #[default]
    Absolute,
    /// A path on the API's origin.
    Relative,
    /// An absolute address on the API's origin that answers 302.
    Redirect(RedirectTarget),
    /// This text, whatever it is.
    Verbatim(String),
}

/// Where [`PdfUrl::Redirect`] leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectTarget {
    /// To the API's origin, which wants the bearer token again.
    SameOrigin,
    /// To the files origin, which must never see the bearer token.
    CrossOrigin,
}

/// The format of dates in documents and their PDFs. Dictated dates are printed as dictated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateFormat {
    /// `2026-03-01T09:30:00+00:00`, what PHP's `DATE_ATOM` and therefore Symfony prints.
    #[default]
    Offset,
    /// `2026-03-01T09:30:00.000+00:00`
    OffsetMillis,
    /// `2026-03-01T09:30:00Z`
    Zulu,
    /// `2026-03-01T09:30:00.000Z`
    ZuluMillis,
    /// `2026-03-01T11:30:00+02:00`
    PlusTwo,
}
