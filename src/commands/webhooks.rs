//! What `docsyncd service uninstall` takes away at the API: nobody is there any more to hear the webhooks.

use std::path::Path;

use super::output::{complain, docsyncd};
use super::runtime;
use crate::api::Transport;
use crate::config::{self, Config};
use crate::daemon;
use crate::ledger::{Ledger, webhooks};
use crate::webhook::{Others, remove_others};

/// Takes away what is registered. What cannot be taken away is said, with what to do; uninstalling goes on.
pub(super) fn remove_all(path: &Path) {
    let Ok(loaded) = config::load_default_env(path) else {
        return unknown(&format!("the configuration {} cannot be used", path.display()));
    };
    let place = &loaded.config.state.path;
    if !place.exists() {
        return; // the daemon never ran, and registered none
    }
    let ledger = match Ledger::open_beside(place) {
        Ok(ledger) => ledger,
        Err(error) => return unknown(&error.to_string()),
    };
    match (runtime(), Transport::new(&loaded.config.api)) {
        (Ok(runtime), Ok(transport)) => runtime.block_on(remove(&loaded.config, &ledger, &transport)),
        (Err(error), _) => unknown(&error.to_string()),
        (_, Err(error)) => unknown(&error.to_string()),
    }
}

fn unknown(why: &str) {
    complain(&format!(
        "docsyncd: whether the service still sends webhooks here is not known ({why}): if `[webhook]` was ever set, look with {} \
         and remove what is there",
        docsyncd("api GET /webhooks")
    ));
}

async fn remove(config: &Config, ledger: &Ledger, transport: &Transport) {
    let configured: Vec<&str> = config.accounts.keys().map(String::as_str).collect();
    for account in config.accounts.values() {
        let client = daemon::client(transport, config, account);
        let others = Others { account: &account.name, wanted: None, configured: &configured };
        let removed = remove_others(&client, ledger, others).await;
        crate::api::Api::settle(&client).await;
        if let Err(error) = removed {
            complain(&format!("docsyncd: the webhook of account {} stays registered: {error}", account.name));
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
