//! `[alerts]`, `[alerts.mail]` and `[alerts.NAME]`: who gets alerts. A channel exists if its address is given.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use jiff::civil::Date;

use super::build::{At, Builder};
use super::mail::{is_loopback_host, mail_address, mail_port};
use super::routes::refuse_strangers;
use super::settings::{self, MailEncryption, Section as _, WebhookFormat};
use super::validated::{AlertsConfig, MailConfig, Receivers, WebhookConfig};
use super::value;
use crate::domain::health::{QuietAfter, Rules};
use crate::domain::route::Route;

/// The section of `[alerts.NAME]`.
const NAMED: &str = "alerts.*";

/// The alerts; `None` if anything is wrong with them. Fails with the name of a key whose type does not match its kind.
pub fn build(
    raw: settings::Alerts,
    raw_mail: settings::Mail,
    closed: &[RangeInclusive<Date>],
    routes: &[Route],
    builder: &mut Builder<'_>,
) -> Result<Option<AlertsConfig>, &'static str> {
    let at = &mut builder.section("alerts");
    let quiet_after = quiet_after(&raw.quiet_after);
    if quiet_after.is_none() {
        let fix = "Write \"auto\", \"off\", or a time from \"1d\" to \"366d\" of which only working days count.";
        at.error("quiet_after", "is neither \"auto\" nor \"off\" nor such a time", fix);
    }
    let heartbeat = raw.heartbeat_url_file.map(|path| at.secret("heartbeat_url_file", &path));
    let webhook = webhook(raw.webhook_url_file, raw.webhook_secret_file, raw.webhook_format, at);
    let at = &mut builder.section("alerts.mail");
    let mail = if raw_mail.host.is_some() {
        let Some(mail) = mail(raw_mail, at) else { return Ok(None) };
        Some(mail)
    } else {
        at.warn_of_given(&["port", "user", "password_file", "from"], "has no effect without `alerts.mail.host`");
        None
    };
    let merged = builder.merged;
    let mut receivers = Vec::new();
    for (name, _) in merged.tables(NAMED) {
        let raw = settings::Receivers::read(merged, Some(name))?;
        receivers.extend(some(raw, mail.as_ref(), routes, &mut builder.table(NAMED, name)));
    }
    if let Some(first) = receivers.first().filter(|_| webhook.is_none() && mail.is_none()) {
        let what = "leaves nobody who is told of what belongs to no account, such as a full disk: that is what \
                    `alerts.webhook_url_file` and [alerts.mail] are for";
        builder.table(NAMED, &first.name).warn("accounts", what);
    }
    let Some(quiet_after) = quiet_after else { return Ok(None) };
    let rules = Rules { after: raw.after, silence: raw.silence, quiet_after, closed: closed.to_vec() };
    let (language, remind) = (raw.language, raw.remind);
    Ok(Some(AlertsConfig { language, rules, remind, heartbeat, webhook, mail, receivers }))
}

fn webhook(
    url: Option<PathBuf>,
    secret: Option<PathBuf>,
    format: WebhookFormat,
    at: &mut At<'_, '_>,
) -> Option<WebhookConfig> {
    let secret = secret.map(|path| at.secret("webhook_secret_file", &path));
    let Some(url) = url else {
        at.warn_of_given(&["webhook_secret_file"], "has no effect without `webhook_url_file` beside it");
        return None;
    };
    Some(WebhookConfig { url: at.secret("webhook_url_file", &url), secret, format })
}

/// The receivers of alerts about some accounts alone.
fn some(
    raw: settings::Receivers,
    server: Option<&MailConfig>,
    routes: &[Route],
    at: &mut At<'_, '_>,
) -> Option<Receivers> {
    refuse_strangers(&raw.accounts, at);
    if raw.accounts.is_empty() {
        at.error("accounts", "names no account", "Name at least one; who is told of all of them stands in [alerts].");
    }
    let is_mailed = !raw.to.is_empty();
    let webhook = webhook(raw.webhook_url_file, raw.webhook_secret_file, raw.webhook_format, at);
    if !is_mailed && webhook.is_none() {
        at.error(
            "accounts",
            "stands without receivers",
            "Write to = [\"team@practice.test\"] below it, or webhook_url_file.",
        );
    }
    let mail = match (is_mailed, server) {
        (false, _) => None,
        (true, None) => {
            return at.refuse("to", "needs `alerts.mail.host`", "Write [alerts.mail] with the mail server.");
        }
        (true, Some(server)) => Some(MailConfig { to: recipients(&raw.to, at)?, ..server.clone() }),
    };
    let takes = |route: &&Route| {
        route.accounts.is_empty() || route.accounts.iter().any(|account| raw.accounts.contains(account))
    };
    let destinations = routes.iter().filter(takes).flat_map(|route| route.to.clone()).collect();
    Some(Receivers { name: at.name(), accounts: raw.accounts, destinations, webhook, mail })
}

/// The addresses in `to`, if all are some.
fn recipients(to: &[String], at: &mut At<'_, '_>) -> Option<Vec<String>> {
    let to: Option<Vec<String>> = to.iter().map(|to| mail_address(to)).collect();
    let to = to.filter(|to| (1..=MOST_RECIPIENTS).contains(&to.len()));
    if to.is_none() {
        let fix = format!("Write 1 to {MOST_RECIPIENTS} addresses: to = [\"it@practice.test\"].");
        at.error("to", "must be a list of mail addresses", fix);
    }
    to
}

/// "auto", "off", or a duration.
fn quiet_after(text: &str) -> Option<QuietAfter> {
    const DAY: u64 = 24 * 60 * 60;
    match text.trim() {
        text if text.eq_ignore_ascii_case("auto") => Some(QuietAfter::Auto),
        text if text.eq_ignore_ascii_case("off") => Some(QuietAfter::Off),
        text => {
            let time = value::duration("quiet_after", text).ok()?;
            (DAY..=366 * DAY).contains(&time.as_secs()).then_some(QuietAfter::Time(time))
        }
    }
}

fn mail(raw: settings::Mail, at: &mut At<'_, '_>) -> Option<MailConfig> {
    let host = raw.host.unwrap_or_default().trim().to_owned();
    let mut sound = true;
    let mut wrong = |at: &mut At<'_, '_>, key: &str, what: &str, fix: &str| {
        at.error(key, what, fix);
        sound = false;
    };
    if host.contains(['/', ' ', '@']) || (host.contains(':') && host.parse::<IpAddr>().is_err()) {
        wrong(at, "host", "is not the name of a mail server", "Write its name alone: host = \"smtp.example.test\".");
    }
    if raw.encryption == MailEncryption::None && !is_loopback_host(&host) {
        let fix = "Write \"starttls\" or \"tls\"; \"none\" is for a mail server on this machine only.";
        wrong(at, "encryption", "would send mails and the password over the network unencrypted", fix);
    }
    let from = mail_address(&raw.from.unwrap_or_default());
    if from.is_none() {
        wrong(at, "from", "must be a mail address", "Write from = \"docsyncd@practice.test\".");
    }
    let to = recipients(&raw.to, at);
    let user = match (raw.user, raw.password_file) {
        (Some(user), Some(file)) => Some((user, at.secret("password_file", &file))),
        (None, None) => None,
        (Some(_), None) => {
            let fix = "Write the password into a file and name that.";
            wrong(at, "user", "needs `alerts.mail.password_file`", fix);
            None
        }
        (None, Some(_)) => {
            let fix = "Write user = \"...\", as the mail server knows it.";
            wrong(at, "password_file", "needs `alerts.mail.user`", fix);
            None
        }
    };
    let port = raw.port.unwrap_or_else(|| mail_port(raw.encryption));
    let (from, to) = from.zip(to).filter(|_| sound)?;
    Some(MailConfig { host, port, encryption: raw.encryption, user, from, to })
}

/// For more recipients, the mail server should have a list.
const MOST_RECIPIENTS: usize = 20;
