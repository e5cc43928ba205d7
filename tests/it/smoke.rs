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
