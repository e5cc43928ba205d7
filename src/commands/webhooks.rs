//! Removes webhooks at the API for `docsyncd service uninstall`, because nobody will answer them any more.

use std::path::Path;

use super::output::{complain, docsyncd};
use super::{clients, runtime};
use crate::api::{Api as _, Client};
use crate::config::Config;
use crate::destinations::SCHEMA;
use crate::ledger::{Ledger, webhooks};
use crate::surfaces::webhook::{Others, remove_others};

/// Removes what is registered. If that fails, says what to do, and uninstalling continues.
pub(super) fn remove_all(path: &Path) {
    if let Err(why) = try_to_remove(path) {
        complain(&format!(
            "docsyncd: whether the service still sends webhooks here is not known ({why}): if `[webhook]` was ever set, look with {} \
             and remove what is there",
            docsyncd("api GET /webhooks")
        ));
    }
}

fn try_to_remove(path: &Path) -> anyhow::Result<()> {
    let Ok(loaded) = SCHEMA.load_default_env(path) else {
        anyhow::bail!("the configuration {} cannot be used", path.display());
    };
    let place = &loaded.config.state.path;
    if place.exists() {
        // Otherwise the daemon never ran and registered nothing.
        let (ledger, clients) = (Ledger::open_beside(place)?, clients(&loaded.config)?);
        runtime()?.block_on(remove(&loaded.config, &ledger, &clients));
    }
    Ok(())
}

async fn remove(config: &Config, ledger: &Ledger, clients: &[(&str, Client)]) {
    let configured: Vec<&str> = clients.iter().map(|(account, _)| *account).collect();
    for (account, client) in clients {
        let others = Others { account, wanted: None, configured: &configured };
        let removed = remove_others(client, ledger, others).await;
        client.settle().await;
        if let Err(error) = removed {
            complain(&format!("docsyncd: the webhook of account {account} stays registered: {error}"));
        }
    }
    for left in ledger.read(webhooks::all).await.unwrap_or_default() {
        let how = match &left.uuid {
            Some(uuid) if config.accounts.contains_key(&left.account) => {
                let command = format!("api DELETE /webhooks/{uuid} --account {}", left.account);
                format!("remove that with {}", docsyncd(&command))
            }
            Some(uuid) => format!(
                "account {} registered that and is not in the configuration any more: its user can remove the webhook {uuid} at the \
                 service",
                left.account
            ),
            None => format!("look with {} and remove it", docsyncd("api GET /webhooks")),
        };
        complain(&format!("docsyncd: the service may still send to {}: {how}", left.url));
    }
}
