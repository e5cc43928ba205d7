//! The download of a PDF. Its address may be signed and expire, so a refusal counts only the third time.

use docsyncd_sandbox::{FaultKind, Listener, PdfUrl, Quirks, RedirectTarget};

use super::cell::*;
use crate::dictated::practice_with_small;

async fn of_all(kind: FaultKind, one: Alone, all: Shared) {
    cell(Call::Download, kind, one, all).await;
}

cells! {
    of_all;
    status_401_waits_and_pauses_when_shared_while_the_list_works = "status 401":
        status(401) => Alone::Waits("the API refuses the credentials (HTTP 401)"), Shared::Pauses;
    status_403_fails_the_third_time_and_pauses_when_shared = "status 400, 403, 404, 409, 410, 422":
        status(403) => Alone::Fails("the PDF cannot be downloaded: HTTP 403"), Shared::Pauses;
    status_429_waits_and_pauses_when_shared = "status 429":
        status(429) => Alone::Waits("HTTP 429: the API asks for fewer requests"), Shared::Pauses;
    status_500_waits_and_pauses_when_shared = "status 408, 500, 502, 503, 504":
        status(500) => Alone::Waits("downloading the PDF: HTTP 500"), Shared::Pauses;
    a_connection_reset_in_the_headers_waits_and_pauses_when_shared = "reset in the headers":
        FaultKind::AbortHead => Alone::Waits("broke off"), Shared::Pauses;
    a_body_cut_short_waits_and_pauses_when_shared = "body cut short":
        FaultKind::CutBody(9) => Alone::Waits("broke off"), Shared::Pauses;
    a_page_of_html_fails_the_third_time_and_pauses_when_shared = "HTML with 200":
        FaultKind::Html200 => Alone::Fails("the download is not a PDF but HTML or XML (a proxy's or login page?), 3 times"),
        Shared::Pauses;
    invalid_json_fails_the_third_time_and_pauses_when_shared = "invalid JSON":
        bytes("{\"error\": ") => Alone::Fails("the download is not a PDF but JSON (an error message?), 3 times"),
        Shared::Pauses;
    half_of_the_file_fails_the_third_time_and_pauses_when_shared = "half of the file":
        FaultKind::WrongSize => Alone::Fails("bytes where the API says"), Shared::Pauses;
    ten_megabytes_of_json_fail_the_third_time_and_pause_when_shared = "10 MB of JSON":
        ten_megabytes() => Alone::Fails("the download is not a PDF"), Shared::Pauses;
    a_redirect_loop_waits_and_pauses_when_shared = "redirect loop":
        FaultKind::Redirect("?again".into()) => Alone::Waits("redirect refused: more than 5 in a row"), Shared::Pauses;
}

#[tokio::test]
async fn a_stall_without_end_waits_and_pauses_when_shared() {
    let one = Alone::Waits("api.timeout");
    timed_cell(Call::Download, FaultKind::StallBody(9), "700ms", one, Shared::Pauses).await;
}

/// As long as bytes come a download may take its time, within its least rate.
#[tokio::test]
async fn a_slow_drip_is_waited_for_to_its_end() {
    let slow = FaultKind::Drip { bytes: 6, every: std::time::Duration::from_millis(150) };
    timed_cell(Call::Download, slow, "700ms", Alone::Passes, Shared::Passes).await;
}

/// PDFs may lie on another host. The token does not go there.
#[tokio::test]
async fn a_redirect_to_another_host_is_followed_without_the_token() {
    let (practice, uuids) = practice_with_small(4).await;
    let pdf_url = PdfUrl::Redirect(RedirectTarget::CrossOrigin);
    practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
    let cell = Cell::start(practice, "10s").await;
    cell.until("all are reported", |seen| uuids.iter().all(|uuid| seen.state(uuid) == "reported")).await;
    let requests = cell.practice.sandbox.requests().into_iter();
    let there: Vec<_> = requests.filter(|request| request.listener == Listener::Files).collect();
    assert_eq!(there.len(), 4);
    assert!(there.iter().all(|request| request.authorization.is_none()), "{there:#?}");
    cell.ends_well(&uuids, false).await;
}
