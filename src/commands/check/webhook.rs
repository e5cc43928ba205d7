//! Whether webhooks would come: an address that can be listened on, and accounts that may register them.

use tokio::net::TcpListener;

use super::super::{clients, interruptible};
use super::findings::Findings;
use super::page::said_by_daemon;
use crate::config::Config;
use crate::ledger::{is_locked, process};
use crate::{web, webhook};

const WHAT: &str = "webhook";

/// None when there is none.
pub(super) async fn check(config: &Config) -> Option<Findings> {
    let wanted = config.webhook.as_ref()?;
    let listen = wanted.listen;
    let mut findings = Findings::default();
    let heard = said_by_daemon(config, process::WEBHOOK).await;
    match TcpListener::bind(listen).await {
        _ if heard.is_some_and(|heard| heard == listen || listen.port() == 0) => {
            findings.ok(WHAT, &format!("http://{listen}/ is heard by the running daemon"));
        }
        Ok(_) if is_locked(&config.state.path) => findings.warn(
            WHAT,
            &format!("http://{listen}/ is free, but the running daemon does not listen there yet: it tries every 30 s"),
        ),
        Ok(_) => findings.ok(WHAT, &format!("http://{listen}/ is free; the daemon will listen there")),
        Err(error) => findings.fail(WHAT, &web::in_words("webhook.listen", listen, &error)),
    }
    // What is wrong with it is said of the accounts.
    for (account, client) in clients(config).unwrap_or_default() {
        let what = format!("{WHAT} of {account}");
        match interruptible([&client], webhook::try_out(&client, &wanted.public_url)).await {
            Ok(()) => findings.ok(&what, "the account may register one: it was tried, and taken back"),
            Err(error) => findings.fail(&what, &error.to_string()),
        }
    }
    Some(findings)
}
