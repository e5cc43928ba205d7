//! The webhook of an account at the API: exactly one, even after repetitions.
//!
//! The intent is recorded in the ledger before the call. If the answer is lost, there is a webhook with an unknown
//! secret: it is found by its address, removed, and replaced.

use secrecy::ExposeSecret as _;
use url::Url;

use crate::api::{Api, ApiError};
use crate::ledger::webhooks::{self, Registration};
use crate::ledger::{Ledger, LedgerError};

/// Why the webhook is not registered.
#[derive(Debug, thiserror::Error)]
pub enum Unregistered {
    /// An error of the API.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// An error of the ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The address of this account's webhook. Each account has its own, because two accounts may belong to one user.
pub(super) fn address(public_url: &Url, account: &str) -> String {
    let mut url = public_url.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().push(account);
    }
    url.into()
}

/// Makes sure that exactly one webhook calls this address. Returns its secret.
pub(super) async fn ensure(
    client: &dyn Api,
    ledger: &Ledger,
    account: &str,
    url: &str,
) -> Result<String, Unregistered> {
    let known = ledger.read(webhooks::all).await?;
    let known = known.into_iter().find(|one| one.account == account && one.url == url);
    let mut there = client.webhooks().await?;
    // The API may show the address in another form, so compare the identifier, too.
    let ours = known.as_ref().and_then(|known| known.uuid.clone());
    there.retain(|one| one.url == url || Some(&one.uuid) == ours.as_ref());
    if let Some(Registration { uuid: Some(uuid), secret: Some(secret), .. }) = known
        && matches!(there.as_slice(), [one] if one.uuid == uuid && one.is_active)
    {
        return Ok(secret);
    }
    let (name, target) = (account.to_owned(), url.to_owned());
    ledger.write(move |db| webhooks::begin(db, &name, &target)).await?;
    for one in &there {
        client.remove_webhook(&one.uuid).await?;
    }
    let new = client.register_webhook(url).await?;
    let (name, target, secret) = (account.to_owned(), url.to_owned(), new.secret.expose_secret().to_owned());
    let kept = secret.clone();
    ledger.write(move |db| webhooks::registered(db, &name, &target, &new.uuid, &kept)).await?;
    tracing::info!(
        event = "webhook_registered",
        account,
        "the service tells of new letters of account {account} at once"
    );
    Ok(secret)
}

/// Selects the webhooks that an account removes.
#[derive(Debug, Clone, Copy)]
pub struct Others<'a> {
    /// NAME of the removing account.
    pub account: &'a str,
    /// The only address to keep; `None` to keep none.
    pub wanted: Option<&'a str>,
    /// NAMEs of all configured accounts.
    pub configured: &'a [&'a str],
}

/// Removes the account's webhooks at other addresses than the wanted one. Also removes webhooks of accounts that were
/// renamed or removed, if this account sees them at the API.
///
/// # Errors
/// Any error of the API or the ledger. The remaining webhooks are removed later.
pub async fn remove_others(client: &dyn Api, ledger: &Ledger, others: Others<'_>) -> Result<usize, Unregistered> {
    let is_own = |one: &Registration| one.account == others.account;
    let mut known = ledger.read(webhooks::all).await?;
    known.retain(|one| match is_own(one) {
        true => Some(one.url.as_str()) != others.wanted,
        false => !others.configured.contains(&one.account.as_str()),
    });
    if known.is_empty() {
        return Ok(0);
    }
    let there = client.webhooks().await?;
    let mut removed = 0;
    for old in known {
        let seen: Vec<_> =
            there.iter().filter(|one| one.url == old.url || Some(&one.uuid) == old.uuid.as_ref()).collect();
        if seen.is_empty() && !is_own(&old) {
            continue; // It may be another user's.
        }
        for one in seen {
            client.remove_webhook(&one.uuid).await?;
        }
        let account = old.account.clone();
        ledger.write(move |db| webhooks::removed(db, &old.account, &old.url)).await?;
        removed += 1;
        tracing::info!(
            event = "webhook_removed",
            account,
            "the webhook of account {account} is removed at the service"
        );
    }
    Ok(removed)
}

/// Registers a webhook and removes it again, to check that the account may. Also removes leftovers of earlier checks.
///
/// # Errors
/// [`ApiError`], for example a missing scope.
pub async fn try_out(client: &dyn Api, public_url: &Url) -> Result<(), ApiError> {
    let url = address(public_url, "docsyncd-check");
    for left in client.webhooks().await?.iter().filter(|one| one.url == url) {
        client.remove_webhook(&left.uuid).await?;
    }
    let new = client.register_webhook(&url).await?;
    client.remove_webhook(&new.uuid).await
}
