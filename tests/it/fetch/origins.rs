//! Where PDFs lie, and where the token goes.

use std::net::{Ipv4Addr, SocketAddr};

use docsyncd_sandbox::{Fault, FaultKind, Listener, Options, PdfUrl, Quirks, RedirectTarget, RequestRecord, Route};

use super::assert_syncs;
use crate::dictated::*;
use crate::harness::Practice;

fn seen_on(practice: &Practice, listener: Listener) -> Vec<RequestRecord> {
    practice.sandbox.requests().into_iter().filter(|request| request.listener == listener).collect()
}

#[tokio::test]
async fn a_pdf_is_downloaded_from_a_relative_address() {
    let (practice, uuids) = practice_with_small(3).await;
    practice.sandbox.set_quirks(Quirks { pdf_url: PdfUrl::Relative, ..Quirks::default() });
    assert_syncs(&practice, &uuids).await;
}

#[tokio::test]
async fn a_pdf_on_another_origin_is_downloaded_without_the_token() {
    let elsewhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let practice = Practice::with_options(Options { files_listen: Some(elsewhere), ..Options::default() }).await;
    let uuids = add_small(&practice, 3, |_, document| document).await;
    assert_syncs(&practice, &uuids).await;
    let there = seen_on(&practice, Listener::Files);
    assert_eq!(there.len(), 3);
    assert!(there.iter().all(|request| request.authorization.is_none()), "{there:#?}");
}

#[tokio::test]
async fn the_token_goes_along_with_a_redirect_within_the_origin() {
    let (practice, uuids) = practice_with_small(3).await;
    let pdf_url = PdfUrl::Redirect(RedirectTarget::SameOrigin);
    practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
    assert_syncs(&practice, &uuids).await;
    let files = seen_on(&practice, Listener::Api).into_iter().filter(|request| request.path.starts_with("/files/"));
    assert!(files.into_iter().all(|request| request.authorization.is_some()));
}

#[tokio::test]
async fn the_token_stays_home_when_a_redirect_leads_to_another_origin() {
    let (practice, uuids) = practice_with_small(3).await;
    let pdf_url = PdfUrl::Redirect(RedirectTarget::CrossOrigin);
    practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
    assert_syncs(&practice, &uuids).await;
    let there = seen_on(&practice, Listener::Files);
    assert_eq!(there.len(), 3);
    assert!(there.iter().all(|request| request.authorization.is_none()), "{there:#?}");
}

#[tokio::test]
async fn the_token_stays_home_when_any_other_call_is_redirected_to_another_origin() {
    let (mut practice, _) = practice_with_small(1).await;
    practice.without_patience();
    let away = format!("{}/documents", practice.sandbox.files_url());
    for route in [Route::List, Route::Document, Route::Status] {
        practice.sandbox.inject(Fault::once(route, FaultKind::Redirect(away.clone())));
        practice.sync().await;
        practice.docsyncd(&["retry", "--failed"]).await;
        practice.sandbox.clear_faults();
    }
    let there = seen_on(&practice, Listener::Files);
    assert!(there.iter().all(|request| request.authorization.is_none()), "{there:#?}");
    assert!(there.iter().all(|request| request.method == "GET"), "{there:#?}");
}

#[tokio::test]
async fn a_pdf_that_would_travel_in_the_clear_is_refused() {
    let (practice, uuids) = practice_with_small(1).await;
    let pdf_url = PdfUrl::Verbatim("http://files.example.test/letter.pdf".to_owned());
    practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
    assert_eq!(practice.sync().await.code, 3);
    // A captive portal redirects so, too: it counts when another document is good, or after an hour.
    let shown = practice.show(&uuids[0]).await;
    assert!(shown["reason"].as_str().unwrap().contains("not https"), "{shown}");
    assert_eq!(practice.sandbox.status_posts(), []);
}

#[tokio::test]
async fn a_portal_that_redirects_downloads_to_http_fails_no_letter() {
    let (practice, uuids) = practice_with_small(1).await;
    let portal = FaultKind::Redirect("http://portal.example.test/login".to_owned());
    practice.sandbox.inject(Fault::always(Route::Pdf, portal).times(5));
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.kill().await;
    assert_each_reported_once(&practice, &uuids);
}
