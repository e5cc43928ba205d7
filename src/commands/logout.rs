//! `docsyncd logout`: forgets that an account was signed in.

use anyhow::Context as _;

use super::account::oauth_account;
use super::output::say;
use super::record::record_done;
use super::{Outcome, runtime};
use crate::api::auth::TokenStore;
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::history::Action;

pub(super) fn logout(loaded: &Loaded, name: Option<&str>, language: Language) -> Outcome {
    let (account, _) = oauth_account(loaded, name, language)?;
    let store = TokenStore::new(&loaded.config.state.path, &account.name);
    let forget = || store.forget(&store.lock()?);
    let name = &account.name;
    let of = |text: &str| language.fill(text, &[("name", name.into())]);
    if !forget().with_context(|| of("logout-failed"))? {
        return say(&format!("{}\n", of("logout-nothing")));
    }
    runtime()?.block_on(record_done(loaded, Action::Logout, format!("account {name}")));
    say(&format!("{}\n", of("logout-done")))
}
