//! `[accounts.NAME]`: exactly one way to prove who it is.

use std::collections::BTreeMap;

use super::build::Builder;
use super::raw::{self, AuthKind};
use super::schema;
use super::validated::{Account, ApiConfig, Auth, OAuthConfig};

/// The accounts that can be made.
pub fn build(
    raw: BTreeMap<String, raw::Account>,
    api: Option<&ApiConfig>,
    builder: &mut Builder<'_>,
) -> BTreeMap<String, Account> {
    let mut accounts = BTreeMap::new();
    for (name, account) in raw {
        let auth = match account.auth {
            Some(AuthKind::ApiKey) => api_key(&name, account, builder),
            Some(AuthKind::OAuth) => oauth(&name, account, api, builder),
            None => None,
        };
        if let Some(auth) = auth {
            accounts.insert(name.clone(), Account { name, auth });
        }
    }
    accounts
}

fn api_key(name: &str, account: raw::Account, builder: &mut Builder<'_>) -> Option<Auth> {
    let variable = schema::find("accounts", "api_key").map(|key| key.variable(Some(name))).unwrap_or_default();
    match (account.api_key_file, account.api_key) {
        (Some(file), None) => Some(Auth::ApiKeyFile(builder.path("accounts", Some(name), "api_key_file", &file))),
        (None, Some(key)) => Some(Auth::ApiKey(key)),
        (Some(_), Some(_)) => {
            let fix = format!("Remove `api_key_file` (or set its variable to nothing), or remove {variable}.");
            builder.error(
                "accounts",
                Some(name),
                "api_key",
                "and `api_key_file` are both given; only one key can be used",
                fix,
            );
            None
        }
        (None, None) => {
            // A rejected value was reported; that it is absent now is no second error.
            let rejected = ["api_key_file", "api_key"]
                .iter()
                .any(|key| builder.report.is_wrong(&format!("accounts.{name}.{key}")));
            if !rejected {
                let origin = builder
                    .merged
                    .tables("accounts")
                    .find(|(table, _)| *table == name)
                    .map(|(_, origin)| origin.clone());
                let what = format!("`accounts.{name}.api_key_file` is missing");
                let fix = format!("Add api_key_file = \"...\" with the file that holds the key, or set {variable}.");
                builder.report.error(origin.unwrap_or(super::report::Origin::Default), what, fix);
            }
            None
        }
    }
}

fn oauth(name: &str, account: raw::Account, api: Option<&ApiConfig>, builder: &mut Builder<'_>) -> Option<Auth> {
    if api.is_some_and(|api| api.app_url.is_none()) {
        let what = "is \"oauth\", but `api.app_url` is not set, so `docsyncd login` has no page to open";
        builder.warn("accounts", Some(name), "auth", what);
    }
    Some(Auth::OAuth(OAuthConfig {
        client_id: account.client_id?,
        client_secret_file: builder.path("accounts", Some(name), "client_secret_file", &account.client_secret_file?),
        scopes: account.scopes,
        redirect_port: account.redirect_port,
    }))
}
