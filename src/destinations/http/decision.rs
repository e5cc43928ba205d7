//! What the answer to a document means, as a table.

/// What decides beside the status.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    /// `success`
    pub(super) success: &'a [u16],
    /// Whether the body is a page for people.
    pub(super) is_web_page: bool,
    /// Whether the body says that the service failed.
    pub(super) says_error: bool,
    /// Whether it sounds so, and may mean something else.
    pub(super) is_unclear: bool,
    /// Whether the body ended before it was whole.
    pub(super) is_cut: bool,
    /// Whether the request was conditional: to store only if nothing is there.
    pub(super) is_conditional: bool,
    /// `conflict_is_found`
    pub(super) conflict_is_found: bool,
    /// Whether a redirect leads to the same origin: that of a captive portal does not.
    pub(super) leads_back: bool,
}

/// The meaning of the answer. All but the first two lead to a look, if one is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The service keeps the document.
    Delivered,
    /// The service does not keep it; the table of statuses says why.
    Refused,
    /// A sign-in page or a captive portal.
    WebPage,
    /// A success by its status, and a failure by what it says.
    SaysError,
    /// A success by its status, of which nobody knows what else it says.
    Cut,
    /// A success by its status, and a failure or not by what it says: a person knows.
    Unclear,
    /// 412 to a conditional request: something lies there.
    Taken,
    /// 409
    Conflict,
    /// See Other: the answer to a form that was taken (RFC 9110, section 15.4.4). A 302 leads to sign-in pages as well.
    Redirects,
    /// A success that is not in `success`, such as 202: the document may be kept or not.
    Unpromised,
    /// The request failed, or a gateway lost the answer of the server behind it, perhaps after the document was stored.
    MayHave,
}

pub(super) fn decide(status: u16, facts: &Facts<'_>) -> Decision {
    match status {
        _ if facts.success.contains(&status) && facts.is_web_page => Decision::WebPage,
        _ if facts.success.contains(&status) && facts.says_error => Decision::SaysError,
        _ if facts.success.contains(&status) && facts.is_cut => Decision::Cut,
        _ if facts.success.contains(&status) && facts.is_unclear => Decision::Unclear,
        _ if facts.success.contains(&status) => Decision::Delivered,
        409 if facts.conflict_is_found => Decision::Delivered,
        409 => Decision::Conflict,
        412 if facts.is_conditional => Decision::Taken,
        200..=299 => Decision::Unpromised,
        303 if facts.leads_back => Decision::Redirects,
        408 | 500 | 502..=504 | 520..=599 => Decision::MayHave,
        _ => Decision::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Facts<'_> = Facts {
        success: &[200, 201, 204],
        is_web_page: false,
        says_error: false,
        is_unclear: false,
        is_cut: false,
        is_conditional: false,
        conflict_is_found: false,
        leads_back: false,
    };

    #[test]
    fn only_what_is_listed_is_a_success() {
        let listed = Facts { success: &[202], ..PLAIN };
        for (status, facts, expected) in [
            (200, PLAIN, Decision::Delivered),
            (201, PLAIN, Decision::Delivered),
            (204, PLAIN, Decision::Delivered),
            (202, PLAIN, Decision::Unpromised),
            (206, PLAIN, Decision::Unpromised),
            (202, listed, Decision::Delivered),
            (200, listed, Decision::Unpromised),
            (307, PLAIN, Decision::Refused),
            (408, PLAIN, Decision::MayHave),
            (500, PLAIN, Decision::MayHave),
            (503, PLAIN, Decision::MayHave),
            (504, PLAIN, Decision::MayHave),
            (429, PLAIN, Decision::Refused),
            (501, PLAIN, Decision::Refused),
            (507, PLAIN, Decision::Refused),
        ] {
            assert_eq!(decide(status, &facts), expected, "{status}");
        }
    }

    #[test]
    fn a_page_a_condition_and_a_conflict_count_as_they_are_meant() {
        let page = Facts { is_web_page: true, ..PLAIN };
        assert_eq!(decide(200, &page), Decision::WebPage);
        let error = Facts { says_error: true, ..PLAIN };
        assert_eq!([200, 422].map(|status| decide(status, &error)), [Decision::SaysError, Decision::Refused]);
        let cut = Facts { is_cut: true, ..PLAIN };
        assert_eq!([200, 422].map(|status| decide(status, &cut)), [Decision::Cut, Decision::Refused]);
        let unclear = Facts { is_unclear: true, ..PLAIN };
        assert_eq!([200, 422].map(|status| decide(status, &unclear)), [Decision::Unclear, Decision::Refused]);
        assert_eq!(decide(412, &PLAIN), Decision::Refused);
        assert_eq!(decide(412, &Facts { is_conditional: true, ..PLAIN }), Decision::Taken);
        assert_eq!(decide(409, &PLAIN), Decision::Conflict);
        assert_eq!(decide(409, &Facts { conflict_is_found: true, ..PLAIN }), Decision::Delivered);
        let back = Facts { leads_back: true, ..PLAIN };
        assert_eq!(
            [303, 302, 307].map(|status| decide(status, &back)),
            [Decision::Redirects, Decision::Refused, Decision::Refused]
        );
        assert_eq!(decide(303, &PLAIN), Decision::Refused);
    }
}
