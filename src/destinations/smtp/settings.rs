//! `type = "smtp"`

use std::sync::Arc;

use crate::config::build::At;
use crate::config::mail::{
    Attach, SmtpConfig, XdmConfig, is_loopback_host, is_within, mail_address, mail_domain, mail_port,
};
use crate::config::patients;
use crate::config::settings;
use crate::config::validated::MailEncryption;
use crate::destinations::settings::web::{client_certificate, credentials, secret};
use crate::destinations::settings::{record, remote, template};
use crate::formats::template::{Context, Template, TemplateKind, TextFormat};

/// The default subject, which names no patient.
const SUBJECT: &str = "Document {{ key }}";
/// The subject by which the recipient's software recognises an archive (IHE ITI-32).
const SUBJECT_OF_XDM: &str = "XDM/1.0/DDM+{{ key }}";
/// The required start of that subject.
const XDM: &str = "XDM/1.0/DDM";

const BODY: &str = "Please find the document attached.\nVeuillez trouver le document en pièce jointe.";

/// Values of a delivery that cannot change a header: line ends in them become spaces.
const TEXT: TemplateKind = TemplateKind::Text(TextFormat::Plain);

pub(crate) fn smtp(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<SmtpConfig> {
    let host = remote::host(at, raw.host.take());
    let encryption = raw.encryption?;
    if encryption == MailEncryption::None && !host.as_deref().is_none_or(is_loopback_host) {
        let fix = "Write \"starttls\" or \"tls\"; \"none\" is for a mail server on this computer only.";
        let what = "would send patient data over the network unencrypted";
        return at.refuse("encryption", what, fix);
    }
    if encryption == MailEncryption::None {
        let what = "has no effect with encryption = \"none\"";
        at.warn_of_given(&["ca_file", "client_cert_file", "client_key_file"], what);
    }
    let from = raw.from.take().and_then(|text| {
        let from = mail_address(&text);
        if from.is_none() {
            let fix = "Write the address alone, as in from = \"letters@practice.test\".";
            at.error("from", "is no mail address", fix);
        }
        from
    });
    let password = secret(at, "password_file", raw.password_file.take(), raw.password.take());
    let user = credentials(at, raw.user.take(), password);
    let client_certificate = client_certificate(at, &mut raw);
    let recipients = recipients(at, &mut raw);
    let attach = attach(at, &mut raw);
    let is_xdm = raw.attach.as_deref() == Some("xdm");
    let subject = subject(at, raw.subject.take(), is_xdm);
    let body = template(at, "body", TEXT, raw.body.as_deref().unwrap_or(BODY));
    let attachment_name = template(at, "attachment_name", TemplateKind::RemoteName, &raw.attachment_name.take()?);
    let (to, allowed_domains) = recipients?;
    Some(SmtpConfig {
        name: at.name(),
        host: host?,
        port: raw.port.unwrap_or_else(|| mail_port(encryption)),
        encryption,
        user: user?,
        ca_file: raw.ca_file.take().map(|path| at.path("ca_file", &path)),
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
        on_lost_reply: raw.on_lost_reply.unwrap_or_default(),
    })
}

/// The recipients: one address, or one that values choose within named domains.
fn recipients(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<(Arc<Template>, Vec<String>)> {
    let source = raw.to.take()?;
    let to = template(at, "to", TEXT, &source)?;
    let domain = |text: &String| match text.trim().strip_prefix("*.") {
        Some(below) => mail_domain(below).map(|domain| format!("*.{domain}")),
        None => mail_domain(text.trim().trim_start_matches('@')),
    };
    let domains: Option<Vec<String>> = raw.allowed_domains.iter().map(domain).collect();
    let Some(domains) = domains else {
        let fix = "Write domains alone, as in [\"clinic.test\"]; \"*.clinic.test\" is every domain below it.";
        return at.refuse("allowed_domains", "holds something that is no domain", fix);
    };
    let is_fixed = !source.contains("{{") && !source.contains("{%");
    if !is_fixed && domains.is_empty() {
        let fix = "Name the domains that letters may go to: allowed_domains = [\"clinic.test\"].";
        let what = "holds values, which decide where patient data goes, and `allowed_domains` is missing";
        return at.refuse("to", what, fix);
    }
    if is_fixed && mail_address(&source).is_none() {
        let fix = "Write one address alone, as in to = \"letters@clinic.test\"; for several make a destination each.";
        return at.refuse("to", "is no mail address", fix);
    }
    if is_fixed && !mail_address(&source).is_some_and(|address| is_within(&domains, &address)) {
        let fix = "Add its domain to `allowed_domains`, or correct it.";
        return at.refuse("to", "is in none of `allowed_domains`", fix);
    }
    Some((to, domains))
}

fn attach(at: &mut At<'_, '_>, raw: &mut settings::Destination) -> Option<Attach> {
    if raw.attach.as_deref() != Some("xdm") {
        at.warn_of_given(&["type_map", "author"], "has no effect without attach = \"xdm\"");
        return Some(Attach::Pdf);
    }
    let what = "has no effect with attach = \"xdm\", whose files have names of their own";
    at.warn_of_given(&["attachment_name"], what);
    // The archive names the letter's patient, by the practice's number if there is one.
    if patients::is_given(at.builder.merged) {
        at.builder.need_number.insert(at.name());
    }
    let author = raw.author.take().map(|author| author.trim().to_owned()).filter(|author| !author.is_empty());
    record::type_map(at, &raw.type_map).map(|type_map| Attach::Xdm(Box::new(XdmConfig { type_map, author })))
}

fn subject(at: &mut At<'_, '_>, source: Option<String>, is_xdm: bool) -> Option<Arc<Template>> {
    let usual = if is_xdm { SUBJECT_OF_XDM } else { SUBJECT };
    let subject = template(at, "subject", TEXT, source.as_deref().unwrap_or(usual))?;
    if is_xdm && subject.render(&Context::sample("")).is_ok_and(|text| !text.starts_with(XDM)) {
        let fix = "Let it begin with XDM/1.0/DDM, or remove it: by that the other side's software knows an archive.";
        return at.refuse("subject", "is none of a mail with an archive (attach = \"xdm\")", fix);
    }
    if !is_xdm && subject.mentions_patient() {
        let what = "may name the patient, and every mail server on the way reads and keeps it";
        at.warn("subject", what);
    }
    Some(subject)
}
