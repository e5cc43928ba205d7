//! What `docsyncd service uninstall` takes away at the API: nobody is there any more to hear the webhooks.

use std::path::Path;

use super::output::{complain, docsyncd};
use super::runtime;
use crate::api::Transport;
use crate::config::{self, Config};
use crate::daemon;
use crate::ledger::{Ledger, webhooks};
use crate::webhook::remove_others;

/// Takes away what is registered. What cannot be taken away is said, with what to do; uninstalling goes on.
pub(super) fn remove_all(path: &Path) {
    // A configuration that cannot be read names no account that could take one away.
    let Ok(loaded) = config::load_default_env(path) else { return };
    let Ok(ledger) = Ledger::open_beside(&loaded.config.state.path) else { return };
    let Ok(runtime) = runtime() else { return };
    runtime.block_on(remove(&loaded.config, &ledger));
}

async fn remove(config: &Config, ledger: &Ledger) {
    let Ok(transport) = Transport::new(&config.api) else { return };
    for account in config.accounts.values() {
        let client = daemon::client(&transport, config, account);
        let removed = remove_others(&client, ledger, &account.name, None).await;
        crate::api::Api::settle(&client).await;
        if let Err(error) = removed {
            complain(&format!("docsyncd: the webhook of account {} stays registered: {error}", account.name));
        }
    }
    for left in ledger.read(webhooks::all).await.unwrap_or_default() {
        let uuid = left.uuid.unwrap_or_else(|| "UUID".to_owned());
        complain(&format!(
            "docsyncd: the service still sends to {}: remove that with {}",
            left.url,
            docsyncd(&format!("api DELETE /webhooks/{uuid} --account {}", left.account))
        ));
    }
}
