//! The main job, once from end to end.

use crate::harness::Practice;

#[tokio::test]
async fn every_document_ends_in_the_folder_and_is_reported_once() {
    let practice = Practice::with_documents(12).await;
    let first = practice.sync().await;
    assert_eq!(first.code, 0, "{first:?}");
    practice.assert_all_filed().await;
    let posts = practice.sandbox.status_posts();
    assert_eq!(posts.len(), 12);
    assert!(posts.iter().all(|post| post.success == Some(true) && post.error.is_none()));

    practice.sandbox.forget_requests();
    let second = practice.sync().await;
    assert_eq!(second.code, 0, "{second:?}");
    let others: Vec<_> =
        practice.sandbox.requests().into_iter().filter(|request| request.path != "/documents").collect();
    assert!(others.is_empty(), "the second pass downloads and reports nothing: {others:?}");
    practice.assert_all_filed().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_system_without_certificate_authorities_can_do_it_over_http_and_is_told_what_https_lacks() {
    let mut practice = Practice::with_documents(2).await;
    for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        practice.env.insert(variable.to_owned(), "/nowhere".into());
    }
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
    practice.env.insert("DOCSYNCD__API__BASE_URL".to_owned(), "https://127.0.0.1:1".into());
    let refused = practice.sync().await;
    assert_ne!(refused.code, 0, "{refused:?}");
    let told =
        "this system has no CA certificates. Install them (on Linux the package ca-certificates), or set api.ca_file";
    assert!(refused.stderr.contains(told), "{refused:?}");
}
