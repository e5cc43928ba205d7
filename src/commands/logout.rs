//! `docsyncd logout`: forgets that an account was signed in.

use anyhow::Context as _;

use super::account::oauth_account;
use super::output::say;
use super::record::record_done;
use super::{Outcome, runtime};
use crate::api::auth::TokenStore;
use crate::config::Loaded;
use crate::ledger::history::Action;

pub(super) fn logout(loaded: &Loaded, name: Option<&str>) -> Outcome {
    let (account, _) = oauth_account(loaded, name)?;
    let store = TokenStore::new(&loaded.config.state.path, &account.name);
    let forget = || store.forget(&store.lock()?);
    let had = forget().with_context(|| format!("account {} could not be signed out", account.name))?;
    let name = &account.name;
    if !had {
        return say(&format!("account {name} was not signed in: nothing to do\n"));
    }
    runtime()?.block_on(record_done(loaded, Action::Logout, format!("account {name}")));
    say(&format!(
        "account {name} is signed out: its tokens are deleted from this computer, and a running docsyncd pauses it.\n\
         What was filed stays. docsyncd login --account {name} signs it in again.\n"
    ))
}
