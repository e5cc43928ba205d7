//! Which account is signed in.

use docsyncd_sandbox::Consent;

use super::{Clinic, Login, get, sent_back};
use std::process::Stdio;

#[tokio::test]
async fn of_several_accounts_one_has_to_be_chosen() {
    let clinic = Clinic::with(Consent::Approve).await;
    let accounts = ["anna", "bruno"].map(|name| clinic.account(name)).concat();
    clinic.configure(&format!("{accounts}[accounts.scanner]\napi_key_file = 'api-key'\n"));
    for command in ["login", "logout"] {
        for (account, says) in [
            (None, "--account (anna, bruno)"),
            (Some("carla"), "there is no account carla to sign in; there are: anna, bruno"),
            (Some("scanner"), "account scanner uses an API key, so it needs no sign-in"),
        ] {
            let mut args = vec![command];
            args.extend(account.iter().flat_map(|account| ["--account", account]));
            let ended = clinic.practice.docsyncd(&args).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:?}");
            assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
        }
    }
    let command = clinic.practice.command(&["login", "--account", "bruno", "--no-browser"]);
    let login = Login::start(command, Stdio::null()).await;
    assert_eq!(get(&sent_back(&login.address).await, "en").await.status, 200);
    let ended = login.ended().await;
    assert!(ended.code == 0 && ended.stdout.contains("(account bruno)"), "{ended:?}");
    assert!(clinic.tokens("bruno").is_some() && clinic.tokens("anna").is_none());
}

#[tokio::test]
async fn where_all_accounts_have_keys_there_is_nothing_to_sign_in() {
    let clinic = Clinic::with(Consent::Approve).await;
    clinic.configure("[accounts.main]\napi_key_file = 'api-key'\n");
    let ended = clinic.practice.docsyncd(&["login"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("all use an API key"), "{ended:?}");
}

#[tokio::test]
async fn without_the_address_of_the_page_it_says_which_setting_is_missing() {
    let clinic = Clinic::with(Consent::Approve).await;
    let config = std::fs::read_to_string(clinic.practice.config_path()).unwrap();
    let without: Vec<&str> = config.lines().filter(|line| !line.starts_with("app_url")).collect();
    clinic.practice.configure_wholly(&without.join("\n"));
    let ended = clinic.practice.docsyncd(&["login", "--no-browser"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("api.app_url"), "{ended:?}");
}
