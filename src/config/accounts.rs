//! `[accounts.NAME]`: exactly one way to authenticate.

use std::collections::BTreeMap;
use std::path::PathBuf;

use secrecy::SecretString;

use super::build::{At, Builder};
use super::report::Origin;
use super::settings::{self, AuthKind, Section as _};
use super::validated::{Account, ApiConfig, Auth, OAuthConfig, Secret};

/// The accounts without errors.
pub fn build(api: Option<&ApiConfig>, builder: &mut Builder<'_>) -> Result<BTreeMap<String, Account>, &'static str> {
    let mut accounts = BTreeMap::new();
    for (name, _) in builder.merged.tables("accounts") {
        let account = settings::Account::read(builder.merged, Some(name))?;
        let at = &mut builder.table("accounts", name);
        let auth = match account.auth {
            AuthKind::ApiKey => api_key(at, account),
            AuthKind::OAuth => oauth(at, account, api),
        };
        accounts.extend(auth.map(|auth| (name.to_owned(), Account { name: name.to_owned(), auth })));
    }
    Ok(accounts)
}

fn api_key(at: &mut At<'_, '_>, account: settings::Account) -> Option<Auth> {
    secret(at, ["api_key_file", "api_key"], account.api_key_file, account.api_key).map(Auth::ApiKey)
}

fn oauth(at: &mut At<'_, '_>, account: settings::Account, api: Option<&ApiConfig>) -> Option<Auth> {
    if api.is_some_and(|api| api.app_url.is_none()) {
        let what = "is \"oauth\", but `api.app_url` is not set, so `docsyncd login` has no page to open";
        at.warn("auth", what);
    }
    let redirect_path = redirect_path(at, account.redirect_path?);
    let keys = ["client_secret_file", "client_secret"];
    let client_secret = secret(at, keys, account.client_secret_file, account.client_secret);
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
fn redirect_path(at: &mut At<'_, '_>, path: String) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let dots = path.split('/').any(|part| matches!(part, "." | ".."));
    if path.starts_with('/') && !path.starts_with("//") && path.bytes().all(plain) && !dots {
        return Some(path);
    }
    let what = "is not the path of a redirect address";
    let fix = "Write a slash and then letters, digits, - . _ ~ and slashes, as in \"/callback\".";
    at.refuse("redirect_path", what, fix)
}

/// A secret that must be given in exactly one of two ways: itself in the environment, or by its file.
fn secret(at: &mut At<'_, '_>, keys: [&str; 2], file: Option<PathBuf>, value: Option<SecretString>) -> Option<Secret> {
    let [file_key, value_key] = keys;
    let (section, name) = ("accounts", at.name());
    let variable =
        at.builder.merged.schema.find(section, value_key).map(|key| key.variable(Some(&name))).unwrap_or_default();
    match (file, value) {
        // A variable overrides the file.
        (Some(_), Some(value)) if matches!(at.origin(file_key), Origin::Line(_)) => {
            at.warn(file_key, &format!("has no effect beside {variable}"));
            Some(Secret::Given(value))
        }
        (Some(_), Some(_)) => {
            let what = format!("and `{file_key}` are both given; only one of them can be used");
            let fix = format!("Remove `{file_key}` (or set its variable to nothing), or remove {variable}.");
            at.refuse(value_key, &what, fix)
        }
        (None, Some(value)) => Some(Secret::Given(value)),
        (Some(file), None) => Some(at.secret(file_key, &file)),
        (None, None) => {
            // A rejected value was already reported: its absence is no second error.
            if !keys.iter().any(|key| at.builder.report.is_wrong(&format!("{section}.{name}.{key}"))) {
                let table = at.builder.merged.tables(section).find(|(table, _)| *table == name);
                let origin = table.map_or(Origin::Default, |(_, origin)| origin.clone());
                let what = format!("`{section}.{name}.{file_key}` is missing");
                let holds = if value_key == "api_key" { "key" } else { "client secret" };
                let fix = format!("Add {file_key} = \"...\" with the file that holds the {holds}, or set {variable}.");
                at.builder.report.error(origin, what, fix);
            }
            None
        }
    }
}
