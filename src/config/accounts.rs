//! `[accounts.NAME]`: exactly one way to authenticate.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;

use super::build::Builder;
use super::report::Origin;
use super::schema;
use super::settings::{self, AuthKind};
use super::validated::{Account, ApiConfig, Auth, OAuthConfig, Secret};

/// The accounts without errors.
pub fn build(api: Option<&ApiConfig>, builder: &mut Builder<'_>) -> Result<BTreeMap<String, Account>, &'static str> {
    let mut accounts = BTreeMap::new();
    for (name, _) in builder.merged.tables("accounts") {
        let (name, account) = (name.to_owned(), settings::Account::read(builder.merged, Some(name))?);
        let auth = match account.auth {
            Some(AuthKind::ApiKey) => api_key(&name, account, builder),
            Some(AuthKind::OAuth) => oauth(&name, account, api, builder),
            None => None,
        };
        if let Some(auth) = auth {
            accounts.insert(name.clone(), Account { name, auth });
        }
    }
    Ok(accounts)
}

fn api_key(name: &str, account: settings::Account, builder: &mut Builder<'_>) -> Option<Auth> {
    let given = Given { file: account.api_key_file, value: account.api_key };
    secret(name, ["api_key_file", "api_key"], given, builder).map(Auth::ApiKey)
}

fn oauth(name: &str, account: settings::Account, api: Option<&ApiConfig>, builder: &mut Builder<'_>) -> Option<Auth> {
    if api.is_some_and(|api| api.app_url.is_none()) {
        let what = "is \"oauth\", but `api.app_url` is not set, so `docsyncd login` has no page to open";
        builder.warn("accounts", Some(name), "auth", what);
    }
    let redirect_path = redirect_path(name, account.redirect_path?, builder);
    let given = Given { file: account.client_secret_file, value: account.client_secret };
    let client_secret = secret(name, ["client_secret_file", "client_secret"], given, builder);
    Some(Auth::OAuth(OAuthConfig {
        client_id: account.client_id?,
        client_secret: client_secret?,
        scopes: account.scopes,
        redirect_port: account.redirect_port?,
        redirect_path: redirect_path?,
    }))
}

/// The server compares the redirect URL character for character, so no character is allowed that a browser or a URL
/// parser would write in another way (RFC 3986, section 6.2.2).
fn redirect_path(name: &str, path: String, builder: &mut Builder<'_>) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let dots = path.split('/').any(|part| matches!(part, "." | ".."));
    if path.starts_with('/') && !path.starts_with("//") && path.bytes().all(plain) && !dots {
        return Some(path);
    }
    let what = "is not the path of a redirect address";
    let fix = "Write a slash and then letters, digits, - . _ ~ and slashes, as in \"/callback\".";
    builder.error("accounts", Some(name), "redirect_path", what, fix);
    None
}

/// The values for the two ways to give a secret.
struct Given {
    file: Option<PathBuf>,
    value: Option<SecretString>,
}

/// A secret that must be given in exactly one of two ways.
fn secret(name: &str, keys: [&str; 2], given: Given, builder: &mut Builder<'_>) -> Option<Secret> {
    let [file_key, value_key] = keys;
    let origins = keys.map(|key| builder.origin("accounts", Some(name), key));
    let given = match &origins {
        // A variable overrides the file.
        [Origin::Line(_), Origin::Variable(variable)] if given.file.is_some() && given.value.is_some() => {
            builder.warn("accounts", Some(name), file_key, &format!("has no effect beside {variable}"));
            Given { file: None, ..given }
        }
        _ => given,
    };
    let variable = schema::find("accounts", value_key).map(|key| key.variable(Some(name))).unwrap_or_default();
    match (given.file, given.value) {
        (Some(file), None) => Some(builder.secret("accounts", Some(name), file_key, &file)),
        (None, Some(value)) => Some(Secret::Given(value)),
        (Some(_), Some(_)) => {
            let what = format!("and `{file_key}` are both given; only one of them can be used");
            let fix = format!("Remove `{file_key}` (or set its variable to nothing), or remove {variable}.");
            builder.error("accounts", Some(name), value_key, &what, fix);
            None
        }
        (None, None) => {
            // A rejected value was already reported: its absence is no second error.
            if !keys.iter().any(|key| builder.report.is_wrong(&format!("accounts.{name}.{key}"))) {
                let origin = builder
                    .merged
                    .tables("accounts")
                    .find(|(table, _)| *table == name)
                    .map(|(_, origin)| origin.clone());
                let what = format!("`accounts.{name}.{file_key}` is missing");
                let holds = if value_key == "api_key" { "key" } else { "client secret" };
                let fix = format!("Add {file_key} = \"...\" with the file that holds the {holds}, or set {variable}.");
                builder.report.error(origin.unwrap_or(Origin::Default), what, fix);
            }
            None
        }
    }
}
