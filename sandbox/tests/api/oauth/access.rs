//! Access tokens: what they say, and what the API believes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use docsyncd_sandbox::{Account, Options, Quirks, Sandbox, SandboxError};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{CLAIRE, approving, refresh};
use crate::harness::{Practice, text};

const HOUR: Duration = Duration::from_secs(3600);

fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// What an access token says.
pub fn claims(token: &str) -> Value {
    part(token, 1)
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

#[tokio::test]
async fn an_access_token_is_a_jwt_that_says_who_what_and_how_long() {
    let practice = approving().await;
    let pair = practice.sandbox.sign_in(CLAIRE, &["read:documents", "profile"]).await.unwrap();
    assert_eq!(pair.expires_in, HOUR);
    assert_eq!(part(&pair.access_token, 0), json!({"typ": "JWT", "alg": "HS256"}));
    let claims = claims(&pair.access_token);
    let (_, me) = practice.me(&pair.access_token).await;
    assert_eq!(claims["iss"], practice.sandbox.url());
    assert_eq!(claims["aud"], "sandbox-client");
    assert_eq!(claims["sub"], me["uuid"]);
    assert_eq!(claims["scopes"], json!(["profile", "read:documents"]));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 3600);
    let other = practice.sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap();
    assert_ne!(claims["jti"], self::claims(&other.access_token)["jti"]);
}

#[tokio::test]
async fn an_expired_token_is_401_in_words_of_its_own() {
    let practice = approving().await;
    let pair = practice.sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap();
    practice.sandbox.advance_clock(HOUR - Duration::from_secs(10));
    assert_eq!(practice.me(&pair.access_token).await.0, 200);
    practice.sandbox.advance_clock(Duration::from_secs(10));
    assert_eq!(practice.me(&pair.access_token).await, (401, json!({"code": 401, "message": "Expired JWT Token"})));
    let next = practice.tokens(&refresh(&pair.refresh_token)).await;
    assert_eq!(practice.me(&text(&next, "access_token")).await.0, 200);
}

#[tokio::test]
async fn a_token_that_this_sandbox_did_not_sign_is_401() {
    let practice = approving().await;
    let elsewhere = approving().await;
    let token = practice.sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap().access_token;
    let foreign = elsewhere.sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap().access_token;
    let [head, body, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };

    let mut more = claims(&token);
    more["scopes"] = json!(["profile", "write:documents"]);
    let none = encode(&json!({"typ": "JWT", "alg": "none"}));
    let other_algorithm = encode(&json!({"typ": "JWT", "alg": "HS512"}));
    let self_signed = {
        let unsigned = format!("{head}.{body}");
        let mac = Hmac::<Sha256>::new_from_slice(b"guessed").unwrap().chain_update(&unsigned);
        format!("{unsigned}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    };
    for (what, forged) in [
        ("from another sandbox", foreign),
        ("with more scopes", format!("{head}.{}.{signature}", encode(&more))),
        ("with alg none and no signature", format!("{none}.{body}.")),
        ("with alg none and the old signature", format!("{none}.{body}.{signature}")),
        ("with another algorithm", format!("{other_algorithm}.{body}.{signature}")),
        ("signed with another key", self_signed),
        ("without a signature", format!("{head}.{body}.")),
        ("in two parts", format!("{head}.{body}")),
        ("not even close", "sandbox-key-but-wrong".to_owned()),
    ] {
        let refused = practice.me(&forged).await;
        assert_eq!(refused, (401, json!({"code": 401, "message": "Invalid JWT Token"})), "{what}");
    }
    assert_eq!(practice.me(&token).await.0, 200);
}

#[tokio::test]
async fn no_token_is_401_everywhere_but_where_one_is_had() {
    let practice = approving().await;
    for path in ["/me", "/documents", "/no/such/path", "/oauth2", "/authorize/more"] {
        let response = practice.client.get(format!("{}{path}", practice.sandbox.url())).send().await.unwrap();
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
        let (status, body) = crate::harness::status_and_body(response).await;
        assert_eq!((status, body), (401, json!({"code": 401, "message": "JWT Token not found"})), "{path}");
    }
}

#[tokio::test]
async fn a_quirk_makes_tokens_expire_at_once() {
    let practice = approving().await;
    practice.sandbox.set_quirks(Quirks { tokens_expired: true, ..Quirks::default() });
    let pair = practice.sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap();
    let next = practice.tokens(&refresh(&pair.refresh_token)).await;
    assert_eq!(next["expires_in"], 3600, "nothing shows it");
    for token in [pair.access_token, text(&next, "access_token")] {
        assert_eq!(practice.me(&token).await.1["message"], "Expired JWT Token");
    }
}

#[tokio::test]
async fn two_users_each_see_their_own() {
    let users = vec![Account::new("marc.petit@autre.example")];
    let practice = Practice::start(Options { documents: 2, users, ..Options::default() }).await;
    for (email, documents) in [(CLAIRE, 2), ("marc.petit@autre.example", 0)] {
        let token = practice.sandbox.sign_in(email, &["profile", "read:documents"]).await.unwrap().access_token;
        assert_eq!(practice.me(&token).await.1["email"], email);
        let list = practice.client.get(format!("{}/documents", practice.sandbox.url())).bearer_auth(&token);
        let list: Value = list.send().await.unwrap().json().await.unwrap();
        assert_eq!(list.as_array().unwrap().len(), documents, "{email}");
    }
}

#[tokio::test]
async fn tokens_outlive_a_restart_with_the_same_store_and_address() {
    let folder = tempfile::tempdir().unwrap();
    // Not 127.0.0.1, where the port would be another test's as soon as it is given back.
    let listen = "127.0.77.1:0".parse().unwrap();
    let options = Options { store: Some(folder.path().join("sandbox.sqlite")), listen, ..Options::default() };
    let first = Sandbox::start(options.clone()).await.unwrap();
    let address = first.url();
    let pair = first.sign_in(CLAIRE, &["profile"]).await.unwrap();
    first.shutdown().await;

    let listen = address.strip_prefix("http://").unwrap().parse().unwrap();
    let practice = Practice::start(Options { listen, ..options }).await;
    assert_eq!(practice.me(&pair.access_token).await.0, 200);
    practice.tokens(&refresh(&pair.refresh_token)).await;
}

#[tokio::test]
async fn signing_in_names_who_or_what_does_not_exist() {
    let practice = Practice::with_documents(0).await;
    let nobody = practice.sandbox.sign_in("nobody@else.example", &["profile"]).await;
    assert!(matches!(nobody, Err(SandboxError::NoSuchUser { email }) if email == "nobody@else.example"));
    let nothing = practice.sandbox.sign_in(CLAIRE, &["read:teeth"]).await;
    assert!(matches!(nothing, Err(SandboxError::UnknownScope { scope }) if scope == "read:teeth"));
}
