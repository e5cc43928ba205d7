//! From raw to validated: checks what depends on several values, then builds the types that cannot be wrong. It looks
//! up nothing on the disk or the network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use url::Host;

use super::layers::Merged;
use super::report::{Origin, Report};
use super::schema;
use super::settings::{self, LogConfig, StateConfig, SyncConfig};
use super::validated::{ApiConfig, Config, NudgeConfig, Secret, StatusPageConfig};
use super::{accounts, alerts, destinations, paths, patients, routes};
use crate::retry::RetryPolicy;

/// What every part of the build needs.
pub struct Builder<'a> {
    /// The merged values with their origins.
    pub merged: &'a Merged,
    /// Collects the problems.
    pub report: &'a mut Report,
    /// The folder of the configuration file; absolute.
    pub folder: &'a Path,
    /// The command that repairs its permissions, if somebody else can write the configuration file.
    pub mended_by: Option<String>,
    /// Secrets that are not in files yet, by the file name in the configuration.
    pub pending: &'a [(PathBuf, SecretString)],
    /// Destinations with a template that needs the patient's number.
    pub need_number: BTreeSet<String>,
}

impl Builder<'_> {
    /// The origin of a value.
    pub fn origin(&self, section: &str, instance: Option<&str>, name: &str) -> Origin {
        schema::find(section, name).map_or(Origin::Default, |key| self.merged.origin(key, instance))
    }

    /// Reports an error about a value, unless the value already has one.
    pub fn error(&mut self, section: &str, instance: Option<&str>, name: &str, what: &str, fix: impl Into<String>) {
        let full = schema::find(section, name).map(|key| key.at(instance)).unwrap_or_default();
        if self.report.is_wrong(&full) {
            return;
        }
        let origin = self.origin(section, instance, name);
        self.report.error(origin, format!("`{full}` {what}"), fix);
    }

    /// Reports a warning about a value.
    pub fn warn(&mut self, section: &str, instance: Option<&str>, name: &str, what: &str) {
        let full = schema::find(section, name).map(|key| key.at(instance)).unwrap_or_default();
        let origin = self.origin(section, instance, name);
        self.report.warn(origin, format!("`{full}` {what}"));
    }

    /// An absolute path; relative ones begin in the folder of the configuration file.
    pub fn path(&mut self, section: &str, instance: Option<&str>, name: &str, path: &Path) -> PathBuf {
        if paths::is_foreign(path) {
            let what =
                "looks like a path of another operating system; it is taken as a name beside the configuration file";
            self.warn(section, instance, name, what);
        }
        paths::resolve(self.folder, path)
    }

    /// A secret, by the name of its file.
    pub fn secret(&mut self, section: &str, instance: Option<&str>, name: &str, path: &Path) -> Secret {
        match self.pending.iter().find(|(named, _)| named == path) {
            Some((_, value)) => Secret::Given(value.clone()),
            None => Secret::File(self.path(section, instance, name, path)),
        }
    }
}

/// The configuration; `None` if an error prevents it. Fails with the name of a key whose type does not match its kind.
pub fn build(file: &Path, builder: &mut Builder<'_>) -> Result<Option<Config>, &'static str> {
    let merged = builder.merged;
    let api = api(settings::Api::read(merged, None)?, builder);
    let accounts = accounts::build(api.as_ref(), builder)?;
    let retry = retry(&settings::Retry::read(merged, None)?, builder);
    let destinations = destinations::build(builder)?;
    let routes = routes::build(builder)?;
    let patients = patients::build(builder)?;
    let reconcile_every = settings::Reconcile::read(merged, None)?.every;
    let mut state = StateConfig::read(merged, None)?;
    state.path = builder.path("state", None, "path", &state.path);
    let alerts = alerts::build(settings::Alerts::read(merged, None)?, settings::Mail::read(merged, None)?, builder);
    let status_page = settings::StatusPage::read(merged, None)?.listen.map(|listen| StatusPageConfig { listen });
    let webhook = webhook(settings::Webhook::read(merged, None)?, builder);
    let mut log = LogConfig::read(merged, None)?;
    log.file = log.file.map(|path| builder.path("log", None, "file", &path));
    let sync = SyncConfig::read(merged, None)?;
    let (Some(api), Some(alerts)) = (api, alerts) else { return Ok(None) };
    let config = Config {
        language: settings::Top::read(merged, None)?.language,
        api,
        accounts,
        sync,
        retry,
        destinations,
        routes,
        patients,
        reconcile_every,
        state,
        alerts,
        status_page,
        webhook,
        log,
    };
    paths::check(&config, file, builder);
    Ok(Some(config))
}

fn api(raw: settings::Api, builder: &mut Builder<'_>) -> Option<ApiConfig> {
    let ca_file = raw.ca_file.map(|path| builder.path("api", None, "ca_file", &path));
    let pdf_hosts: Option<Vec<String>> = raw.pdf_hosts.iter().map(|text| host(text.trim())).collect();
    if pdf_hosts.is_none() {
        let what = "holds something that is not the name of a host";
        let fix = "Write names or addresses without https://, port or path: [\"files.practice.test\"].";
        builder.error("api", None, "pdf_hosts", what, fix);
    }
    // `app_url` ends with a slash, so the page is below it whatever its own path is.
    let page = raw.authorization_path.trim_start_matches('/');
    let authorization_page = raw.app_url.as_ref().and_then(|app| app.join(page).ok());
    Some(ApiConfig {
        base_url: raw.base_url?,
        app_url: raw.app_url,
        authorization_page,
        timeout: raw.timeout,
        ca_file,
        proxy: raw.proxy,
        pdf_hosts: pdf_hosts?,
    })
}

/// A name or an address in its form within a URL; IPv6 with or without brackets.
fn host(text: &str) -> Option<String> {
    let host = text.parse().map(Host::Ipv6).or_else(|_: std::net::AddrParseError| Host::parse(text)).ok()?;
    Some(host.to_string())
}

fn retry(raw: &settings::Retry, builder: &mut Builder<'_>) -> RetryPolicy {
    if raw.initial > raw.max {
        // Blame the value that a person wrote; the other may be a default.
        let name = if builder.origin("retry", None, "initial") == Origin::Default { "max" } else { "initial" };
        let [initial, max] = [raw.initial, raw.max].map(humantime::format_duration);
        let what = format!("makes the first delay ({initial}) longer than the longest ({max})");
        builder.error("retry", None, name, &what, "Make `retry.initial` at most as long as `retry.max`.");
    }
    RetryPolicy { initial: raw.initial, max: raw.max }
}

fn webhook(raw: settings::Webhook, builder: &mut Builder<'_>) -> Option<NudgeConfig> {
    if builder.report.is_wrong("webhook.public_url") || builder.report.is_wrong("webhook.listen") {
        return None; // the value was given, and its error was reported
    }
    match (raw.public_url, raw.listen) {
        (Some(public_url), Some(listen)) => Some(NudgeConfig { public_url, listen }),
        (None, None) => None,
        (Some(_), None) => {
            let fix = "Write where the reverse proxy leads it to: listen = \"127.0.0.1:8978\".";
            builder.error("webhook", None, "public_url", "stands without `webhook.listen`", fix);
            None
        }
        (None, Some(_)) => {
            let fix = "Write the address that the service sends to: public_url = \"https://docsyncd.practice.test/\".";
            builder.error("webhook", None, "listen", "stands without `webhook.public_url`", fix);
            None
        }
    }
}
