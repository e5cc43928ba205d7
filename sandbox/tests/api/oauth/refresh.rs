//! Rotation of refresh tokens.

use std::time::Duration;

use docsyncd_sandbox::{Client, Fault, FaultKind, Options, Quirks, Route, Sandbox};
use serde_json::json;

use super::{CLAIRE, approving, exchange, refresh, with};
use crate::harness::{Practice, members, text};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn a_refresh_returns_a_new_pair_and_the_old_refresh_token_dies() {
    let practice = approving().await;
    let first = practice.tokens(&exchange(&practice.code(&[]).await)).await;
    let second = practice.tokens(&refresh(&text(&first, "refresh_token"))).await;
    assert_eq!(members(&second), ["access_token", "expires_in", "refresh_token", "token_type"]);
    assert_ne!(text(&first, "refresh_token"), text(&second, "refresh_token"));
    assert_ne!(text(&first, "access_token"), text(&second, "access_token"));

    let (status, error, description) = practice.refused_tokens(&refresh(&text(&first, "refresh_token"))).await;
    assert_eq!((status, error.as_str()), (400, "invalid_grant"));
    assert!(description.contains("used before"), "{description}");
    let third = practice.tokens(&refresh(&text(&second, "refresh_token"))).await;
    assert_eq!(practice.me(&text(&third, "access_token")).await.0, 200);
    assert_eq!(practice.me(&text(&first, "access_token")).await.0, 200, "it works until it expires");
}

#[tokio::test]
async fn of_many_who_refresh_at_once_one_succeeds() {
    let practice = approving().await;
    let tokens = practice.tokens(&exchange(&practice.code(&[]).await)).await;
    let body = refresh(&text(&tokens, "refresh_token"));
    let answers = futures_util::future::join_all((0..8).map(|_| practice.post_token(&body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
}

#[tokio::test]
async fn a_lost_reply_costs_the_session_unless_there_is_a_grace_period() {
    let practice = approving().await;
    for (refresh_grace, after, works) in
        [(None, Duration::ZERO, false), (Some(MINUTE), MINUTE / 2, true), (Some(MINUTE), MINUTE, false)]
    {
        practice.sandbox.set_quirks(Quirks { refresh_grace, ..Quirks::default() });
        let tokens = practice.tokens(&exchange(&practice.code(&[]).await)).await;
        let body = refresh(&text(&tokens, "refresh_token"));
        practice.sandbox.inject(Fault::once(Route::Token, FaultKind::LostReply));
        let address = format!("{}/oauth2/token", practice.sandbox.url());
        assert!(practice.client.post(address).json(&body).send().await.is_err());
        practice.sandbox.advance_clock(after);
        let again = practice.post_token(&body).await;
        assert_eq!(again.status().is_success(), works, "{refresh_grace:?} {after:?}");
    }
}

#[tokio::test]
async fn a_grace_period_counts_from_the_first_use() {
    let practice = approving().await;
    practice.sandbox.set_quirks(Quirks { refresh_grace: Some(MINUTE), ..Quirks::default() });
    let tokens = practice.tokens(&exchange(&practice.code(&[]).await)).await;
    let body = refresh(&text(&tokens, "refresh_token"));
    let mut seen = vec![text(&tokens, "refresh_token")];
    for _ in 0..3 {
        seen.push(text(&practice.tokens(&body).await, "refresh_token"));
        practice.sandbox.advance_clock(MINUTE / 3);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "each use gives another pair");
    assert_eq!(practice.refused_tokens(&body).await.1, "invalid_grant");
}

#[tokio::test]
async fn a_refresh_token_belongs_to_its_client_and_lives_thirty_days() {
    let other = Client { client_id: "other".into(), client_secret: "secret".into(), ..Client::default() };
    let practice = Practice::start(Options { clients: vec![Client::default(), other], ..Options::default() }).await;
    let (old, new) = (signed_in(&practice.sandbox).await, signed_in(&practice.sandbox).await);
    let of_other = with(with(refresh(&old), "client_id", json!("other")), "client_secret", json!("secret"));
    assert_eq!(practice.refused_tokens(&of_other).await.1, "invalid_grant");
    practice.sandbox.advance_clock(29 * DAY);
    practice.tokens(&refresh(&new)).await;
    practice.sandbox.advance_clock(DAY);
    let (_, error, description) = practice.refused_tokens(&refresh(&old)).await;
    assert_eq!(error, "invalid_grant");
    assert!(description.contains("expired"), "{description}");
}

async fn signed_in(sandbox: &Sandbox) -> String {
    sandbox.sign_in(CLAIRE, &["profile"]).await.unwrap().refresh_token
}
