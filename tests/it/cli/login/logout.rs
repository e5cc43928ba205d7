//! `docsyncd logout`

use docsyncd_sandbox::Consent;

use super::{Clinic, get, sent_back};

#[tokio::test]
async fn the_tokens_are_forgotten_and_doing_it_again_is_no_error() {
    let clinic = Clinic::with(Consent::Approve).await;
    let login = clinic.login().await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    assert_eq!(login.ended().await.code, 0);
    assert!(clinic.tokens("main").is_some());
    let ended = clinic.practice.docsyncd(&["logout"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains("account main is signed out"), "{ended:?}");
    assert!(ended.stdout.contains(" login --account main signs it in"), "{ended:?}");
    assert!(clinic.tokens("main").is_none());
    let again = clinic.practice.docsyncd(&["logout", "--account", "main"]).await;
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again:?}");
    assert!(again.stdout.contains("was not signed in"), "{again:?}");
}
