//! `type = "smtp"`

use std::sync::Arc;

use super::super::build::Builder;
use super::super::mail::{
    Attach, SmtpConfig, XdmConfig, is_loopback_host, is_within, mail_address, mail_domain, mail_port,
};
use super::super::patients;
use super::super::report::Origin;
use super::super::settings;
use super::super::validated::{LostReply, MailEncryption, Secret};
use super::web::{client_certificate, secret};
use super::{SECTION, lost_reply, record, remote, template};
use crate::template::{Context, Template, TemplateKind, TextFormat};

/// The default subject, which names no patient.
const SUBJECT: &str = "Document {{ key }}";
/// The subject by which the recipient's software recognises an archive (IHE ITI-32).
const SUBJECT_OF_XDM: &str = "XDM/1.0/DDM+{{ key }}";
/// The required start of that subject.
const XDM: &str = "XDM/1.0/DDM";

const BODY: &str = "Please find the document attached.\nVeuillez trouver le document en pièce jointe.";

/// Values of a delivery that cannot change a header: line ends in them become spaces.
const TEXT: TemplateKind = TemplateKind::Text(TextFormat::Plain);

pub(super) fn smtp(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<SmtpConfig> {
    let host = remote::host(name, raw.host.take(), builder);
    let encryption = raw.encryption?;
    if encryption == MailEncryption::None && !host.as_deref().is_none_or(is_loopback_host) {
        let fix = "Write \"starttls\" or \"tls\"; \"none\" is for a mail server on this computer only.";
        let what = "would send patient data over the network unencrypted";
        builder.error(SECTION, Some(name), "encryption", what, fix);
        return None;
    }
    for key in ["ca_file", "client_cert_file", "client_key_file"] {
        if encryption == MailEncryption::None && builder.origin(SECTION, Some(name), key) != Origin::Default {
            builder.warn(SECTION, Some(name), key, "has no effect with encryption = \"none\"");
        }
    }
    let from = raw.from.take().and_then(|text| {
        let from = mail_address(&text);
        if from.is_none() {
            let fix = "Write the address alone, as in from = \"letters@practice.test\".";
            builder.error(SECTION, Some(name), "from", "is no mail address", fix);
        }
        from
    });
    let user = user(name, &mut raw, builder);
    let client_certificate = client_certificate(name, &mut raw, builder);
    let recipients = recipients(name, &mut raw, builder);
    let attach = attach(name, &mut raw, builder);
    let is_xdm = raw.attach.as_deref() == Some("xdm");
    let subject = subject(name, raw.subject.take(), is_xdm, builder);
    let body = template(name, "body", TEXT, raw.body.as_deref().unwrap_or(BODY), builder);
    let attachment_name =
        template(name, "attachment_name", TemplateKind::RemoteName, &raw.attachment_name.take()?, builder);
    let (to, allowed_domains) = recipients?;
    Some(SmtpConfig {
        name: name.to_owned(),
        host: host?,
        port: raw.port.unwrap_or_else(|| mail_port(encryption)),
        encryption,
        user: user?,
        ca_file: raw.ca_file.take().map(|path| builder.path(SECTION, Some(name), "ca_file", &path)),
        client_certificate: client_certificate?,
        from: from?,
        to,
        allowed_domains,
        subject: subject?,
        body: body?,
        attach: attach?,
        attachment_name: attachment_name?,
        timeout: raw.timeout?,
        max_connections: raw.max_connections?,
        on_lost_reply: lost_reply(raw.on_lost_reply.as_deref()).unwrap_or(LostReply::Resend),
    })
}

#[expect(clippy::option_option, reason = "none at all, or one that is wrong")]
fn user(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<Option<(String, Secret)>> {
    let password = secret(name, "password_file", raw.password_file.take(), raw.password.take(), builder);
    let (key, what, fix) = match (raw.user.take(), password) {
        (None, None) => return Some(None),
        (Some(user), Some(_)) if user.contains(char::is_control) => {
            ("user", "has a control character", "Write the name alone.")
        }
        (Some(user), Some(password)) => return Some(Some((user, password))),
        (Some(_), None) => {
            ("user", "has no password", "Write the password into a file and name it: password_file = \"...\".")
        }
        (None, Some(_)) => ("password_file", "has no user", "Write the name: user = \"...\"."),
    };
    builder.error(SECTION, Some(name), key, what, fix);
    None
}

/// The recipients: one address, or one that values choose within named domains.
fn recipients(
    name: &str,
    raw: &mut settings::Destination,
    builder: &mut Builder<'_>,
) -> Option<(Arc<Template>, Vec<String>)> {
    let source = raw.to.take()?;
    let to = template(name, "to", TEXT, &source, builder)?;
    let domain = |text: &String| match text.trim().strip_prefix("*.") {
        Some(below) => mail_domain(below).map(|domain| format!("*.{domain}")),
        None => mail_domain(text.trim().trim_start_matches('@')),
    };
    let domains: Option<Vec<String>> = raw.allowed_domains.iter().map(domain).collect();
    let Some(domains) = domains else {
        let fix = "Write domains alone, as in [\"clinic.test\"]; \"*.clinic.test\" is every domain below it.";
        builder.error(SECTION, Some(name), "allowed_domains", "holds something that is no domain", fix);
        return None;
    };
    let is_fixed = !source.contains("{{") && !source.contains("{%");
    if !is_fixed && domains.is_empty() {
        let fix = "Name the domains that letters may go to: allowed_domains = [\"clinic.test\"].";
        let what = "holds values, which decide where patient data goes, and `allowed_domains` is missing";
        builder.error(SECTION, Some(name), "to", what, fix);
        return None;
    }
    if is_fixed && mail_address(&source).is_none() {
        let fix = "Write one address alone, as in to = \"letters@clinic.test\"; for several make a destination each.";
        builder.error(SECTION, Some(name), "to", "is no mail address", fix);
        return None;
    }
    if is_fixed && !mail_address(&source).is_some_and(|address| is_within(&domains, &address)) {
        let fix = "Add its domain to `allowed_domains`, or correct it.";
        builder.error(SECTION, Some(name), "to", "is in none of `allowed_domains`", fix);
        return None;
    }
    Some((to, domains))
}

fn attach(name: &str, raw: &mut settings::Destination, builder: &mut Builder<'_>) -> Option<Attach> {
    if raw.attach.as_deref() != Some("xdm") {
        for key in ["type_map", "author"] {
            if builder.origin(SECTION, Some(name), key) != Origin::Default {
                builder.warn(SECTION, Some(name), key, "has no effect without attach = \"xdm\"");
            }
        }
        return Some(Attach::Pdf);
    }
    if builder.origin(SECTION, Some(name), "attachment_name") != Origin::Default {
        let what = "has no effect with attach = \"xdm\", whose files have names of their own";
        builder.warn(SECTION, Some(name), "attachment_name", what);
    }
    // The archive names the letter's patient, by the practice's number if there is one.
    if patients::is_given(builder.merged) {
        builder.need_number.insert(name.to_owned());
    }
    let author = raw.author.take().map(|author| author.trim().to_owned()).filter(|author| !author.is_empty());
    record::type_map(name, &raw.type_map, builder).map(|type_map| Attach::Xdm(Box::new(XdmConfig { type_map, author })))
}

fn subject(name: &str, source: Option<String>, is_xdm: bool, builder: &mut Builder<'_>) -> Option<Arc<Template>> {
    let usual = if is_xdm { SUBJECT_OF_XDM } else { SUBJECT };
    let subject = template(name, "subject", TEXT, source.as_deref().unwrap_or(usual), builder)?;
    if is_xdm && subject.render(&Context::sample("")).is_ok_and(|text| !text.starts_with(XDM)) {
        let fix = "Let it begin with XDM/1.0/DDM, or remove it: by that the other side's software knows an archive.";
        builder.error(SECTION, Some(name), "subject", "is none of a mail with an archive (attach = \"xdm\")", fix);
        return None;
    }
    if !is_xdm && subject.mentions_patient() {
        let what = "may name the patient, and every mail server on the way reads and keeps it";
        builder.warn(SECTION, Some(name), "subject", what);
    }
    Some(subject)
}
