//! `POST /documents/{uuid}/status`: the document is filed already, and is not filed again for it.

use docsyncd_sandbox::FaultKind;

use super::cell::*;

async fn of_all(kind: FaultKind, one: Alone, all: Shared) {
    cell(Call::Report, kind, one, all).await;
}

cells! {
    of_all;
    status_401_waits_and_pauses_when_shared_while_the_list_works = "status 401":
        status(401) => Alone::Waits("the API refuses the credentials (HTTP 401)"), Shared::Pauses;
    status_404_waits_while_the_document_is_there_and_pauses_when_shared = "status 404, 410":
        status(404) => Alone::Waits("reporting success: HTTP 404"), Shared::Pauses;
    status_422_leaves_it_unreported_and_pauses_when_shared = "status 400, 403, 409, 422":
        status(422) => Alone::Unreported("reporting success: HTTP 422"), Shared::Pauses;
    status_429_waits_and_pauses_when_shared = "status 429":
        status(429) => Alone::Waits("HTTP 429: the API asks for fewer requests"), Shared::Pauses;
    status_500_waits_and_pauses_when_shared = "status 408, 500, 502, 503, 504":
        status(500) => Alone::Waits("reporting success: HTTP 500"), Shared::Pauses;
    a_connection_reset_in_the_headers_waits_and_pauses_when_shared = "reset in the headers":
        FaultKind::AbortHead => Alone::Waits("broke off"), Shared::Pauses;
    a_body_cut_short_waits_and_pauses_when_shared = "body cut short":
        FaultKind::CutBody(20) => Alone::Waits("broke off"), Shared::Pauses;
    a_page_of_html_is_no_success_and_waits_and_pauses_when_shared = "HTML with 200":
        FaultKind::Html200 => Alone::Waits("it is HTML (a proxy's page?)"), Shared::Pauses;
    ten_megabytes_of_json_are_no_success_and_wait_and_pause_when_shared = "10 MB of JSON":
        ten_megabytes() => Alone::Waits("it has more than 8388608 bytes"), Shared::Pauses;
    a_redirect_loop_waits_and_pauses_when_shared = "redirect loop":
        FaultKind::RedirectAs { code: 307, to: "?again".into() } => Alone::Waits("redirect refused: more than 5 in a row"),
        Shared::Pauses;
    a_redirect_that_would_turn_it_into_a_read_waits_and_pauses_when_shared = "redirect with 302":
        FaultKind::Redirect("/me".into()) => Alone::Waits("it would turn the request into another one"), Shared::Pauses;
}

#[tokio::test]
async fn a_stall_without_end_waits_and_pauses_when_shared() {
    let one = Alone::Waits("api.timeout");
    timed_cell(Call::Report, FaultKind::Stall, "700ms", one, Shared::Pauses).await;
}

#[tokio::test]
async fn a_slow_drip_waits_and_pauses_when_shared() {
    let one = Alone::Waits("api.timeout");
    timed_cell(Call::Report, slow_drip(), "700ms", one, Shared::Pauses).await;
}

#[tokio::test]
async fn a_redirect_to_another_host_waits_and_neither_token_nor_report_goes_there() {
    let elsewhere = docsyncd_sandbox::Sandbox::start(docsyncd_sandbox::Options::default()).await.unwrap();
    let away = FaultKind::RedirectAs { code: 307, to: format!("{}/me", elsewhere.url()) };
    cell(Call::Report, away, Alone::Waits("a report must not go to another host"), Shared::Pauses).await;
    assert_eq!(elsewhere.requests(), [], "nobody was asked there");
}
