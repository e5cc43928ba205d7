//! Behaviours that the API description leaves open.
//!
//! Each has a default, which the README's table explains; a test changes it to see whether a client would also live with
//! the other answer. Quirks are about how a healthy server is, [`crate::Fault`]s about what goes wrong.

use std::time::Duration;

/// Everything about the server that the description does not pin down. Change it while the sandbox runs with
/// [`crate::Sandbox::set_quirks`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// What the server makes of `createdAt[gte]` and its like; their value format is "not shown".
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
    /// Every object carries members, and every enumeration values, that the description does not know.
    pub unknown_fields: bool,
    /// The server returns at most this many items a page, whatever `itemsPerPage` asked for.
    pub max_page_size: Option<u32>,
    /// The server always returns the first page.
    pub ignore_page: bool,
    /// The server orders by its own taste: newest first.
    pub ignore_order: bool,
    /// How dates are written.
    pub date_format: DateFormat,
    /// Access tokens have already expired when they are issued, although `expires_in` says otherwise.
    pub tokens_expired: bool,
    /// A refresh token keeps working for this long after its first use, each time for another new pair. `None`: it dies
    /// with its first use, as the description says.
    pub refresh_grace: Option<Duration>,
}

/// What becomes of date filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateFilter {
    /// They filter.
    #[default]
    Works,
    /// The server answers 400 to a request that has one.
    Refused,
    /// The server acts as if they were not there.
    Ignored,
}

/// How a list shows a document's user, patient and pdf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SingleShape {
    /// Whole objects, as the description says.
    #[default]
    Objects,
    /// Plain uuids; the patient must then be read from `GET /patients/{uuid}`.
    Identifiers,
}

/// The form of `pdf.url`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PdfUrl {
    /// An absolute address: on the files origin if the sandbox has one (see [`crate::Options::files_listen`]), otherwise
    /// on the API's.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// To the API's origin, which wants the bearer token again.
    SameOrigin,
    /// To the files origin, which must never see the bearer token.
    CrossOrigin,
}

/// How dates are written in documents and their PDFs. Dates that a test dictated are always printed as dictated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
