//! From raw to validated: checks what depends on several values, then builds the types that cannot be wrong. It looks
//! up nothing on the disk or the network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use url::Host;

use super::layers::Merged;
use super::report::{Origin, Report};
use super::schema::Key;
use super::settings::{self, LogConfig, Section, StateConfig, SyncConfig};
use super::validated::{ApiConfig, Config, NudgeConfig, Secret};
use super::{accounts, alerts, kinds, paths, patients, practice, routes, status_page};
use crate::domain::retry::RetryPolicy;

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
    /// A key whose type does not match its kind: a defect of docsyncd.
    pub defect: Option<&'static str>,
}

impl<'b> Builder<'b> {
    /// A plain section.
    pub fn section(&mut self, section: &'static str) -> At<'_, 'b> {
        At { builder: self, section, name: None }
    }

    /// One of the tables of a section.
    pub fn table<'a>(&'a mut self, section: &'static str, name: &'a str) -> At<'a, 'b> {
        At { builder: self, section, name: Some(name) }
    }
}

/// One table of the configuration, for what is wrong with its values.
pub struct At<'a, 'b> {
    /// What every part of the build needs.
    pub builder: &'a mut Builder<'b>,
    section: &'static str,
    name: Option<&'a str>,
}

impl At<'_, '_> {
    /// The name or index of the table.
    pub fn name(&self) -> String {
        self.name.unwrap_or_default().to_owned()
    }

    /// The values of some of its keys.
    pub(crate) fn read<T: Section>(&mut self) -> Option<T> {
        T::read(self.builder.merged, self.name).map_err(|key| self.builder.defect = Some(key)).ok()
    }

    /// The origin of a value.
    pub fn origin(&self, name: &str) -> Origin {
        self.key(name).map_or(Origin::Default, |key| self.builder.merged.origin(key, self.name))
    }

    /// Whether somebody gave the value, be it the default.
    pub fn is_given(&self, name: &str) -> bool {
        self.origin(name) != Origin::Default
    }

    /// Whether somebody gave another value than the default.
    pub fn is_own(&self, name: &str) -> bool {
        self.key(name).is_some_and(|key| self.builder.merged.is_own(key, self.name))
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.builder.merged.schema.find(self.section, name)
    }

    fn full(&self, name: &str) -> String {
        self.key(name).map(|key| key.at(self.name)).unwrap_or_default()
    }

    /// Reports an error about a value, unless the value already has one.
    pub fn error(&mut self, name: &str, what: &str, fix: impl Into<String>) {
        let (full, origin) = (self.full(name), self.origin(name));
        if !self.builder.report.is_wrong(&full) {
            self.builder.report.error(origin, format!("`{full}` {what}"), fix);
        }
    }

    /// The same, where without the value there is nothing.
    pub fn refuse<T>(&mut self, name: &str, what: &str, fix: impl Into<String>) -> Option<T> {
        self.error(name, what, fix);
        None
    }

    /// Reports a warning about a value.
    pub fn warn(&mut self, name: &str, what: &str) {
        let (full, origin) = (self.full(name), self.origin(name));
        self.builder.report.warn(origin, format!("`{full}` {what}"));
    }

    /// Reports a warning about each of these values that somebody gave.
    pub fn warn_of_given(&mut self, names: &[&str], what: &str) {
        for name in names {
            if self.is_given(name) {
                self.warn(name, what);
            }
        }
    }

    /// An absolute path; relative ones begin in the folder of the configuration file.
    pub fn path(&mut self, name: &str, path: &Path) -> PathBuf {
        if paths::is_foreign(path) {
            let what =
                "looks like a path of another operating system; it is taken as a name beside the configuration file";
            self.warn(name, what);
        }
        paths::resolve(self.builder.folder, path)
    }

    /// A secret, by the name of its file.
    pub fn secret(&mut self, name: &str, path: &Path) -> Secret {
        match self.builder.pending.iter().find(|(named, _)| named == path) {
            Some((_, value)) => Secret::Given(value.clone()),
            None => Secret::File(self.path(name, path)),
        }
    }
}

/// The configuration; `None` if an error prevents it. Fails with the name of a key whose type does not match its kind.
pub fn build(file: &Path, builder: &mut Builder<'_>) -> Result<Option<Config>, &'static str> {
    let merged = builder.merged;
    let api = api(settings::Api::read(merged, None)?, &mut builder.section("api"));
    let accounts = accounts::build(api.as_ref(), builder)?;
    let retry = retry(&settings::Retry::read(merged, None)?, &mut builder.section("retry"));
    let destinations = kinds::build(builder);
    let routes = routes::build(builder)?;
    let practice = practice::build(settings::Practice::read(merged, None)?, builder);
    let patients = patients::build(builder)?;
    let reconcile_every = settings::Reconcile::read(merged, None)?.every;
    let mut state = StateConfig::read(merged, None)?;
    state.path = builder.section("state").path("path", &state.path);
    let (raw, mail) = (settings::Alerts::read(merged, None)?, settings::Mail::read(merged, None)?);
    let alerts = alerts::build(raw, mail, &practice.closed, &routes, builder)?;
    let status_page = status_page::build(settings::StatusPage::read(merged, None)?, builder);
    let webhook = webhook(settings::Webhook::read(merged, None)?, &mut builder.section("webhook"));
    let mut log = LogConfig::read(merged, None)?;
    log.file = log.file.map(|path| builder.section("log").path("file", &path));
    let sync = SyncConfig::read(merged, None)?;
    if let Some(key) = builder.defect {
        return Err(key);
    }
    let (Some(api), Some(alerts)) = (api, alerts) else { return Ok(None) };
    let config = Config {
        file: file.to_path_buf(),
        language: settings::Top::read(merged, None)?.language,
        api,
        accounts,
        sync,
        retry,
        destinations,
        routes,
        practice,
        patients,
        reconcile_every,
        state,
        alerts,
        status_page,
        webhook,
        log,
    };
    paths::check(&config, file, builder);
    kinds::check(&config, builder);
    Ok(Some(config))
}

fn api(raw: settings::Api, at: &mut At<'_, '_>) -> Option<ApiConfig> {
    let ca_file = raw.ca_file.map(|path| at.path("ca_file", &path));
    let pdf_hosts: Option<Vec<String>> = raw.pdf_hosts.iter().map(|text| host(text.trim())).collect();
    if pdf_hosts.is_none() {
        let what = "holds something that is not the name of a host";
        let fix = "Write names or addresses without https://, port or path: [\"files.practice.test\"].";
        at.error("pdf_hosts", what, fix);
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

fn retry(raw: &settings::Retry, at: &mut At<'_, '_>) -> RetryPolicy {
    if raw.initial > raw.max {
        // Blame the value that a person wrote; the other may be a default.
        let name = if at.is_given("initial") { "initial" } else { "max" };
        let [initial, max] = [raw.initial, raw.max].map(humantime::format_duration);
        let what = format!("makes the first delay ({initial}) longer than the longest ({max})");
        at.error(name, &what, "Make `retry.initial` at most as long as `retry.max`.");
    }
    RetryPolicy { initial: raw.initial, max: raw.max }
}

fn webhook(raw: settings::Webhook, at: &mut At<'_, '_>) -> Option<NudgeConfig> {
    let is_wrong = |key| at.builder.report.is_wrong(key);
    if is_wrong("webhook.public_url") || is_wrong("webhook.listen") {
        return None; // the value was given, and its error was reported
    }
    match (raw.public_url, raw.listen) {
        (Some(public_url), Some(listen)) => Some(NudgeConfig { public_url, listen }),
        (None, None) => None,
        (Some(_), None) => {
            let fix = "Write where the reverse proxy leads it to: listen = \"127.0.0.1:8978\".";
            at.refuse("public_url", "stands without `webhook.listen`", fix)
        }
        (None, Some(_)) => {
            let fix = "Write the address that the service sends to: public_url = \"https://docsyncd.practice.test/\".";
            at.refuse("listen", "stands without `webhook.public_url`", fix)
        }
    }
}
