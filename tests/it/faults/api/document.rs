//! `GET /documents/{uuid}`

use docsyncd_sandbox::FaultKind;

use super::cell::*;

async fn of_all(kind: FaultKind, one: Alone, all: Shared) {
    cell(Call::Document, kind, one, all).await;
}

cells! {
    of_all;
    status_401_waits_and_pauses_when_shared_while_the_list_works = "status 401":
        status(401) => Alone::Waits("the API refuses the credentials (HTTP 401)"), Shared::Pauses;
    status_404_waits_while_it_is_listed_and_pauses_when_shared = "status 404, 410":
        status(404) => Alone::Waits("reading the document: HTTP 404"), Shared::Pauses;
    status_422_fails_with_words_and_pauses_when_shared = "status 400, 403, 409, 422":
        status(422) => Alone::Fails("HTTP 422: the API refuses the values"), Shared::Pauses;
    status_429_waits_and_pauses_when_shared = "status 429":
        status(429) => Alone::Waits("HTTP 429: the API asks for fewer requests"), Shared::Pauses;
    status_500_waits_and_pauses_when_shared = "status 408, 500, 502, 503, 504":
        status(500) => Alone::Waits("HTTP 500: the API has a fault of its own"), Shared::Pauses;
    a_connection_reset_in_the_headers_waits_and_pauses_when_shared = "reset in the headers":
        FaultKind::AbortHead => Alone::Waits("broke off"), Shared::Pauses;
    a_body_cut_short_waits_and_pauses_when_shared = "body cut short":
        FaultKind::CutBody(20) => Alone::Waits("broke off"), Shared::Pauses;
    a_page_of_html_waits_and_pauses_when_shared = "HTML with 200":
        FaultKind::Html200 => Alone::Waits("it is HTML (a proxy's page?)"), Shared::Pauses;
    invalid_json_waits_and_pauses_when_shared = "invalid JSON":
        bytes("{\"uuid\": ") => Alone::Waits("it is not JSON, line 1"), Shared::Pauses;
    a_wrong_shape_waits_and_pauses_when_shared = "JSON of a wrong shape":
        bytes("[1, 2]") => Alone::Waits("a document was expected"), Shared::Pauses;
    ten_megabytes_of_json_wait_and_pause_when_shared = "10 MB of JSON":
        ten_megabytes() => Alone::Waits("it has more than 8388608 bytes"), Shared::Pauses;
    a_redirect_loop_waits_and_pauses_when_shared = "redirect loop":
        FaultKind::Redirect("?again".into()) => Alone::Waits("redirect refused: more than 5 in a row"), Shared::Pauses;
}

#[tokio::test]
async fn a_stall_without_end_waits_and_pauses_when_shared() {
    let one = Alone::Waits("api.timeout");
    timed_cell(Call::Document, FaultKind::Stall, "700ms", one, Shared::Pauses).await;
}

#[tokio::test]
async fn a_slow_drip_waits_and_pauses_when_shared() {
    let one = Alone::Waits("api.timeout");
    timed_cell(Call::Document, slow_drip(), "700ms", one, Shared::Pauses).await;
}

/// The other host's answer is not the API's: a 404 of a portal withdraws no document.
#[tokio::test]
async fn a_redirect_to_another_host_waits_and_the_token_stays_home() {
    let elsewhere = docsyncd_sandbox::Sandbox::start(docsyncd_sandbox::Options::default()).await.unwrap();
    let away = FaultKind::Redirect(format!("{}/nothing", elsewhere.url()));
    cell(Call::Document, away, Alone::Waits("redirect refused: it leads away from the API"), Shared::Pauses).await;
    assert_eq!(elsewhere.requests(), [], "nobody was asked there");
}
