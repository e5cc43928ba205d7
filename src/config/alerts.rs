//! `[alerts]` and `[alerts.mail]`: who is told. A channel is there when its address is.

use std::net::IpAddr;
use std::path::PathBuf;

use super::build::Builder;
use super::settings::{self, MailEncryption};
use super::validated::{AlertsConfig, MailConfig, WebhookConfig};
use crate::health::Rules;

/// The alerts; none when anything is wrong with them.
pub fn build(raw: settings::Alerts, raw_mail: settings::Mail, builder: &mut Builder<'_>) -> Option<AlertsConfig> {
    let mut file = |key: &str, path: Option<PathBuf>| path.map(|path| builder.secret("alerts", None, key, &path));
    let heartbeat = file("heartbeat_url_file", raw.heartbeat_url_file);
    let url = file("webhook_url_file", raw.webhook_url_file);
    let secret = file("webhook_secret_file", raw.webhook_secret_file);
    if url.is_none() && secret.is_some() {
        builder.warn("alerts", None, "webhook_secret_file", "has no effect without `alerts.webhook_url_file`");
    }
    let mail = match raw_mail.host.is_some() {
        true => Some(mail(raw_mail, builder)?),
        false => {
            let has = [
                raw_mail.port.is_some(),
                raw_mail.user.is_some(),
                raw_mail.password_file.is_some(),
                raw_mail.from.is_some(),
            ];
            for (key, _) in ["port", "user", "password_file", "from"].into_iter().zip(has).filter(|(_, given)| *given) {
                builder.warn("alerts.mail", None, key, "has no effect without `alerts.mail.host`");
            }
            None
        }
    };
    Some(AlertsConfig {
        language: raw.language,
        rules: Rules { after: raw.after, silence: raw.silence },
        remind: raw.remind,
        heartbeat,
        webhook: url.map(|url| WebhookConfig { url, secret, format: raw.webhook_format }),
        mail,
    })
}

fn mail(raw: settings::Mail, builder: &mut Builder<'_>) -> Option<MailConfig> {
    let host = raw.host.unwrap_or_default().trim().to_owned();
    let mut sound = true;
    let mut wrong = |builder: &mut Builder<'_>, key: &str, what: &str, fix: &str| {
        builder.error("alerts.mail", None, key, what, fix);
        sound = false;
    };
    let is_loopback =
        host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|address: IpAddr| address.is_loopback());
    if host.contains(['/', ' ', '@']) || (host.contains(':') && host.parse::<IpAddr>().is_err()) {
        wrong(
            builder,
            "host",
            "is not the name of a mail server",
            "Write its name alone: host = \"smtp.example.test\".",
        );
    }
    if raw.encryption == MailEncryption::None && !is_loopback {
        let fix = "Write \"starttls\" or \"tls\"; \"none\" is for a mail server on this machine only.";
        wrong(builder, "encryption", "would send mails and the password over the network unencrypted", fix);
    }
    let from = raw.from.unwrap_or_default().trim().to_owned();
    if !is_address(&from) {
        wrong(builder, "from", "must be a mail address", "Write from = \"docsyncd@practice.test\".");
    }
    if raw.to.is_empty() || raw.to.len() > MOST_RECIPIENTS || !raw.to.iter().all(|to| is_address(to.trim())) {
        let fix = format!("Write 1 to {MOST_RECIPIENTS} addresses: to = [\"it@practice.test\"].");
        wrong(builder, "to", "must be a list of mail addresses", &fix);
    }
    let user = match (raw.user, raw.password_file) {
        (Some(user), Some(file)) => Some((user, builder.secret("alerts.mail", None, "password_file", &file))),
        (None, None) => None,
        (Some(_), None) => {
            wrong(
                builder,
                "user",
                "needs `alerts.mail.password_file`",
                "Write the password into a file and name that.",
            );
            None
        }
        (None, Some(_)) => {
            wrong(
                builder,
                "password_file",
                "needs `alerts.mail.user`",
                "Write user = \"...\", as the mail server knows it.",
            );
            None
        }
    };
    let port = raw.port.unwrap_or(match raw.encryption {
        MailEncryption::StartTls => 587,
        MailEncryption::Tls => 465,
        MailEncryption::None => 25,
    });
    let to = raw.to.iter().map(|to| to.trim().to_owned()).collect();
    sound.then_some(MailConfig { host, port, encryption: raw.encryption, user, from, to })
}

/// More than these are a list of their own at the mail server.
const MOST_RECIPIENTS: usize = 20;

/// An address as it stands in an envelope (RFC 5321, section 4.1.2), without a display name, comments or quotes.
fn is_address(text: &str) -> bool {
    let plain =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "._+-=~!#$%&'*/?^{|}".contains(c));
    text.split_once('@').is_some_and(|(user, host)| plain(user) && plain(host)) && text.len() <= 254
}
