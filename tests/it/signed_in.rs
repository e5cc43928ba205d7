//! A practice whose accounts signed in, for tests: as if `docsyncd login` had been run.

use std::time::{Duration, SystemTime};

use docsyncd::api::auth::{TokenStore, Tokens};
use docsyncd_sandbox::{Options, RequestRecord};
use docsyncd_test_support::harness::Practice;
use secrecy::SecretString;

/// The user whose documents the sandbox invents.
pub const CLAIRE: &str = "claire.delaunay@cabinet-delaunay.example";
/// What docsyncd asks for by default.
pub const SCOPES: [&str; 5] = ["profile", "organization", "read:documents", "write:documents", "read:patients"];
/// The client secret of the sandbox's usual application.
pub const SECRET: &str = "sandbox-secret";

/// The usual configuration with these accounts, which sign in.
pub fn config(practice: &Practice, accounts: &[&str]) -> String {
    let table = |name: &&str| {
        format!(
            "[accounts.{name}]\nauth = \"oauth\"\nclient_id = \"sandbox-client\"\nclient_secret_file = 'client-secret'\n"
        )
    };
    let tables: String = accounts.iter().map(table).collect();
    practice.base_config().replace("[accounts.main]\napi_key_file = 'api-key'\n", &tables)
}

/// A practice with the account `main`, for which Claire has signed in.
pub async fn practice(options: Options) -> Practice {
    let practice = Practice::with_options(options).await;
    practice.write_secret("client-secret", SECRET);
    let config = config(&practice, &["main"]);
    practice.configure_wholly(&format!("{config}[destinations.pms]\ntype = \"folder\"\npath = 'inbox'\n"));
    sign_in(&practice, "main", CLAIRE, &SCOPES).await;
    practice
}

pub fn store(practice: &Practice, account: &str) -> TokenStore {
    TokenStore::new(&practice.ledger(), account)
}

/// Signs in as this user, as `docsyncd login` would.
pub async fn sign_in(practice: &Practice, account: &str, email: &str, scopes: &[&str]) {
    let pair = practice.sandbox.sign_in(email, scopes).await.unwrap();
    let tokens = Tokens {
        access_token: SecretString::from(pair.access_token),
        refresh_token: SecretString::from(pair.refresh_token),
        expires_in: pair.expires_in,
        obtained_at: SystemTime::now(),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        user: Some(email.to_owned()),
    };
    save(practice, account, &tokens);
}

pub fn save(practice: &Practice, account: &str, tokens: &Tokens) {
    let store = store(practice, account);
    store.save(&store.lock().unwrap(), tokens).unwrap();
}

/// Makes the stored access token look as if its time were over, so that the next call renews it.
pub fn make_due(practice: &Practice, account: &str) {
    let mut tokens = store(practice, account).load().unwrap().unwrap();
    tokens.obtained_at -= tokens.expires_in + Duration::from_secs(1);
    save(practice, account, &tokens);
}

/// The requests to the token endpoint.
pub fn refreshes(practice: &Practice) -> Vec<RequestRecord> {
    practice.sandbox.requests().into_iter().filter(|request| request.path == "/oauth2/token").collect()
}
