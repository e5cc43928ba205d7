//! `[alerts]` and `[alerts.mail]`: who gets alerts. A channel exists if its address is given.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use jiff::civil::Date;

use super::build::{At, Builder};
use super::mail::{is_loopback_host, mail_address, mail_port};
use super::settings::{self, MailEncryption};
use super::validated::{AlertsConfig, MailConfig, WebhookConfig};
use super::value;
use crate::health::{QuietAfter, Rules};

/// The alerts; `None` if anything is wrong with them.
pub fn build(
    raw: settings::Alerts,
    raw_mail: settings::Mail,
    closed: &[RangeInclusive<Date>],
    builder: &mut Builder<'_>,
) -> Option<AlertsConfig> {
    let at = &mut builder.section("alerts");
    let quiet_after = quiet_after(&raw.quiet_after);
    if quiet_after.is_none() {
        let fix = "Write \"auto\", \"off\", or a time from \"1d\" to \"366d\" of which only working days count.";
        at.error("quiet_after", "is neither \"auto\" nor \"off\" nor such a time", fix);
    }
    let mut file = |key: &str, path: Option<PathBuf>| path.map(|path| at.secret(key, &path));
    let heartbeat = file("heartbeat_url_file", raw.heartbeat_url_file);
    let url = file("webhook_url_file", raw.webhook_url_file);
    let secret = file("webhook_secret_file", raw.webhook_secret_file);
    if url.is_none() && secret.is_some() {
        at.warn("webhook_secret_file", "has no effect without `alerts.webhook_url_file`");
    }
    let at = &mut builder.section("alerts.mail");
    let mail = if raw_mail.host.is_some() {
        Some(mail(raw_mail, at)?)
    } else {
        at.warn_of_given(&["port", "user", "password_file", "from"], "has no effect without `alerts.mail.host`");
        None
    };
    let quiet_after = quiet_after?;
    Some(AlertsConfig {
        language: raw.language,
        rules: Rules { after: raw.after, silence: raw.silence, quiet_after, closed: closed.to_vec() },
        remind: raw.remind,
        heartbeat,
        webhook: url.map(|url| WebhookConfig { url, secret, format: raw.webhook_format }),
        mail,
    })
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
    let to: Option<Vec<String>> = raw.to.iter().map(|to| mail_address(to)).collect();
    let to = to.filter(|to| (1..=MOST_RECIPIENTS).contains(&to.len()));
    if to.is_none() {
        let fix = format!("Write 1 to {MOST_RECIPIENTS} addresses: to = [\"it@practice.test\"].");
        wrong(at, "to", "must be a list of mail addresses", &fix);
    }
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
