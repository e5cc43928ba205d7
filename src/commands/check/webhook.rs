//! Whether webhooks can work: an address to listen on, and accounts that may register them.

use tokio::net::TcpListener;

use super::super::{clients, interruptible, told};
use super::findings::Findings;
use super::page::said_by_daemon;
use crate::config::Config;
use crate::formats::language::Language;
use crate::ledger::{is_locked, process};
use crate::surfaces::{web, webhook};

const WHAT: &str = "webhook";

/// The findings; `None` without webhooks.
pub(super) async fn check(config: &Config, language: Language) -> Option<Findings> {
    let wanted = config.webhook.as_ref()?;
    let listen = wanted.listen;
    let mut findings = Findings::default();
    let of = |text: &str| language.fill(text, &[("address", (&listen.to_string()).into())]);
    let heard = said_by_daemon(config, process::WEBHOOK).await;
    match TcpListener::bind(listen).await {
        _ if heard.is_some_and(|heard| heard == listen || listen.port() == 0) => {
            findings.ok(WHAT, &of("check-webhook-heard"));
        }
        Ok(_) if is_locked(&config.state.path) => findings.warn(WHAT, &of("check-webhook-late")),
        Ok(_) => findings.ok(WHAT, &of("check-webhook-free")),
        Err(error) => {
            let exact = web::in_words("webhook.listen", listen, &error);
            findings.fail(WHAT, &told::because(language, "told-port", &[], &exact));
        }
    }
    // If credentials cannot be used, the check of the account says so in a line of its own.
    for (account, client) in clients(config).unwrap_or_default() {
        let what = format!("{WHAT} of {account}");
        match interruptible([&client], webhook::try_out(&client, &wanted.public_url)).await {
            Ok(()) => findings.ok(&what, &language.text("check-webhook-may")),
            Err(error) => findings.fail(&what, &told::because(language, "told-webhook", &[], &error.to_string())),
        }
    }
    Some(findings)
}
