//! From raw to validated: what single values cannot show is checked here, then the types that cannot be wrong are made.
//! Nothing is looked up on the disk or the network.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use url::Host;

use super::layers::Merged;
use super::raw::{self, Raw};
use super::report::{Origin, Report};
use super::schema;
use super::validated::{
    ApiConfig, Config, LogConfig, LogFormat, NudgeConfig, Secret, StateConfig, StatusPageConfig, SyncConfig,
};
use super::{accounts, alerts, destinations, paths, routes};
use crate::retry::RetryPolicy;

/// What every part of the building needs.
pub struct Builder<'a> {
    /// Where values came from.
    pub merged: &'a Merged,
    /// Where problems go.
    pub report: &'a mut Report,
    /// The folder of the configuration file; absolute.
    pub folder: &'a Path,
    /// The command that mends it where somebody else can write the configuration file.
    pub mended_by: Option<String>,
    /// Secrets that no file holds yet, each by the name that the configuration gives its file.
    pub pending: &'a [(PathBuf, SecretString)],
}

impl Builder<'_> {
    /// The origin of a value.
    pub fn origin(&self, section: &str, instance: Option<&str>, name: &str) -> Origin {
        schema::find(section, name).map_or(Origin::Default, |key| self.merged.origin(key, instance))
    }

    /// Something is wrong with a value; said unless something is said of it already.
    pub fn error(&mut self, section: &str, instance: Option<&str>, name: &str, what: &str, fix: impl Into<String>) {
        let full = schema::find(section, name).map(|key| key.at(instance)).unwrap_or_default();
        if self.report.is_wrong(&full) {
            return;
        }
        let origin = self.origin(section, instance, name);
        self.report.error(origin, format!("`{full}` {what}"), fix);
    }

    /// Something is odd about a value.
    pub fn warn(&mut self, section: &str, instance: Option<&str>, name: &str, what: &str) {
        let full = schema::find(section, name).map(|key| key.at(instance)).unwrap_or_default();
        let origin = self.origin(section, instance, name);
        self.report.warn(origin, format!("`{full}` {what}"));
    }

    /// A path as it is meant from the folder of the configuration file.
    pub fn path(&mut self, section: &str, instance: Option<&str>, name: &str, path: &Path) -> PathBuf {
        if paths::is_foreign(path) {
            let what =
                "looks like a path of another operating system; it is taken as a name beside the configuration file";
            self.warn(section, instance, name, what);
        }
        paths::resolve(self.folder, path)
    }

    /// A secret by the name of its file.
    pub fn secret(&mut self, section: &str, instance: Option<&str>, name: &str, path: &Path) -> Secret {
        match self.pending.iter().find(|(named, _)| named == path) {
            Some((_, value)) => Secret::Given(value.clone()),
            None => Secret::File(self.path(section, instance, name, path)),
        }
    }
}

/// The configuration; none when anything is wrong that keeps it from being made.
pub fn build(raw: Raw, file: &Path, builder: &mut Builder<'_>) -> Option<Config> {
    let api = api(raw.api, builder);
    let accounts = accounts::build(raw.accounts, api.as_ref(), builder);
    let retry = retry(&raw.retry, builder);
    let destinations = destinations::build(raw.destinations, builder);
    let routes = routes::build(raw.routes, builder);
    let state = StateConfig {
        path: builder.path("state", None, "path", &raw.state.path),
        keep_history: raw.state.keep_history,
        keep_names: raw.state.keep_names,
        spool_limit: raw.state.spool_limit,
    };
    let alerts = alerts::build(raw.alerts, builder);
    let status_page = raw.status_page.listen.map(|listen| StatusPageConfig { listen });
    let webhook = webhook(raw.webhook, builder);
    let log = log(raw.log, builder);
    let sync = SyncConfig {
        poll_interval: raw.sync.poll_interval,
        reconcile_interval: raw.sync.reconcile_interval,
        max_concurrency: raw.sync.max_concurrency,
        max_pdf_bytes: raw.sync.max_pdf_bytes,
        give_up_after: raw.sync.give_up_after,
    };
    let config = Config {
        api: api?,
        accounts,
        sync,
        retry,
        destinations,
        routes,
        state,
        alerts: alerts?,
        status_page,
        webhook,
        log,
    };
    paths::check(&config, file, builder);
    Some(config)
}

fn api(raw: raw::Api, builder: &mut Builder<'_>) -> Option<ApiConfig> {
    let ca_file = raw.ca_file.map(|path| builder.path("api", None, "ca_file", &path));
    let pdf_hosts: Option<Vec<String>> = raw.pdf_hosts.iter().map(|text| host(text.trim())).collect();
    if pdf_hosts.is_none() {
        let what = "holds something that is not the name of a host";
        let fix = "Write names or addresses without https://, port or path: [\"files.practice.test\"].";
        builder.error("api", None, "pdf_hosts", what, fix);
    }
    // `app_url` ends with a slash, so the page lies below it whatever its own path is.
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

/// A name or an address in the one form in which it stands in a URL; IPv6 with or without its brackets.
fn host(text: &str) -> Option<String> {
    let host = text.parse().map(Host::Ipv6).or_else(|_: std::net::AddrParseError| Host::parse(text)).ok()?;
    Some(host.to_string())
}

fn retry(raw: &raw::Retry, builder: &mut Builder<'_>) -> RetryPolicy {
    if raw.initial > raw.max {
        // The one that a person wrote is the one to be shown; the other may be a default.
        let name = if builder.origin("retry", None, "initial") == Origin::Default { "max" } else { "initial" };
        let [initial, max] = [raw.initial, raw.max].map(humantime::format_duration);
        let what = format!("makes the first delay ({initial}) longer than the longest ({max})");
        builder.error("retry", None, name, &what, "Make `retry.initial` at most as long as `retry.max`.");
    }
    RetryPolicy { initial: raw.initial, max: raw.max }
}

fn webhook(raw: raw::Webhook, builder: &mut Builder<'_>) -> Option<NudgeConfig> {
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

fn log(raw: raw::Log, builder: &mut Builder<'_>) -> LogConfig {
    let file = raw.file.map(|path| builder.path("log", None, "file", &path));
    LogConfig {
        // The words were checked; a level that cannot be read would only make the log say more.
        level: raw.level.parse().unwrap_or(tracing::level_filters::LevelFilter::INFO),
        format: if raw.format == "json" { LogFormat::Json } else { LogFormat::Text },
        file,
        max_size: raw.max_size,
        max_files: raw.max_files,
    }
}
