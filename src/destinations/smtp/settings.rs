//! `type = "smtp"`

use crate::config::MailEncryption;
use crate::config::mail::{is_loopback_host, is_within, mail_address, mail_domain, mail_port};
use crate::destinations::settings::web::{credentials, secret, tls_files};
use crate::destinations::settings::*;
use crate::domain::document::TypeMap;
use crate::formats::template::{Context, TextFormat};

/// The default subject, which names no patient.
const SUBJECT: &str = "Document {{ key }}";
/// The subject by which the recipient's software recognises an archive (IHE ITI-32).
const SUBJECT_OF_XDM: &str = "XDM/1.0/DDM+{{ key }}";
/// The required start of that subject.
const XDM: &str = "XDM/1.0/DDM";

const BODY: &str = "Please find the document attached.\nVeuillez trouver le document en pièce jointe.";

/// Values of a delivery that cannot change a header: line ends in them become spaces.
const TEXT: TemplateKind = TemplateKind::Text(TextFormat::Plain);

/// The default of `destinations.*.attachment_name`.
const ATTACHMENT_NAME: &str = "{{ document.type }}_{{ document.uuid }}.pdf";

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." SmtpKeys {
        body: Option<String>, Kind::Template,
            "form in which the PDF is sent: raw, multipart or json; for a mail, its text";
        encryption: Option<MailEncryption>, Kind::Enum(&["starttls", "tls", "none"]), "how the connection is encrypted",
            default("starttls");
        from: Option<String>, Kind::Text, "address that mails come from", required();
        to: Option<String>, Kind::Template, "address that they go to", required();
        allowed_domains: Vec<String>, Kind::List, "domains that they may go to, where `to` holds values";
        subject: Option<String>, Kind::Template, "subject of a mail";
        attach: Option<String>, Kind::Enum(&["pdf", "xdm"]), "what is attached: the PDF, or an archive of IHE XDM",
            default("pdf");
        attachment_name: Option<String>, Kind::Template, "name of the attached PDF", default(ATTACHMENT_NAME);
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "smtp",
    keys: &[
        HOST,
        SIGN_IN,
        LIMITS,
        TLS,
        &[
            SmtpKeys::body,
            SharedKeys::on_lost_reply,
            SharedKeys::author,
            SharedKeys::type_map,
            SmtpKeys::encryption,
            SmtpKeys::from,
            SmtpKeys::to,
            SmtpKeys::allowed_domains,
            SmtpKeys::subject,
            SmtpKeys::attach,
            SmtpKeys::attachment_name,
        ],
    ],
    check: |at| Some(Arc::new(smtp(at)?)),
    presets: presets!("smtp"),
};

/// `type = "smtp"`
#[derive(Debug, Clone)]
pub struct SmtpConfig {
    /// NAME of the destination.
    pub name: String,
    /// Name or address of the mail server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted; unencrypted only to this computer.
    pub encryption: MailEncryption,
    /// The user name and the password.
    pub user: Option<(String, Secret)>,
    /// The files that TLS needs.
    pub tls: TlsFiles,
    /// Sender, in the form of [`mail_address`].
    pub from: String,
    /// Recipient.
    pub to: Arc<Template>,
    /// Domains that mails may go to, in lower case; `*.` at the start means every domain below it. Empty: any, and `to`
    /// is fixed.
    pub allowed_domains: Vec<String>,
    /// Subject.
    pub subject: Arc<Template>,
    /// Text.
    pub body: Arc<Template>,
    /// What is attached.
    pub attach: Attach,
    /// Name of the attached PDF.
    pub attachment_name: Arc<Template>,
    /// The longest wait for an answer.
    pub timeout: Duration,
    /// Deliveries at a time.
    pub max_connections: usize,
    /// What to do with a mail that was sent whole and whose answer was lost.
    pub on_lost_reply: LostReply,
}

impl SmtpConfig {
    /// Whether a mail may go to this address.
    pub fn allows(&self, address: &str) -> bool {
        is_within(&self.allowed_domains, address)
    }

    /// Whether every mail goes to the same address.
    pub fn has_one_recipient(&self) -> bool {
        !self.to.source().contains("{{") && !self.to.source().contains("{%")
    }
}

/// `attach`
#[derive(Debug, Clone)]
pub enum Attach {
    /// The PDF.
    Pdf,
    /// An archive of IHE XDM with the PDF.
    Xdm(Box<XdmConfig>),
}

/// The content of the archive.
#[derive(Debug, Clone)]
pub struct XdmConfig {
    /// The codes of the types of documents.
    pub type_map: TypeMap,
    /// Name of the practice.
    pub author: Option<String>,
}

impl Settings for SmtpConfig {
    fn server(&self) -> Option<(String, u16)> {
        Some((self.host.clone(), self.port))
    }

    fn shows_letters(&self) -> bool {
        false
    }
}

fn smtp(at: &mut At<'_, '_>) -> Option<SmtpConfig> {
    let (mut raw, mut own): (SharedKeys, SmtpKeys) = (at.read()?, at.read()?);
    let host = remote::host(at, raw.host.take());
    let encryption = own.encryption?;
    if encryption == MailEncryption::None && !host.as_deref().is_none_or(is_loopback_host) {
        let fix = "Write \"starttls\" or \"tls\"; \"none\" is for a mail server on this computer only.";
        let what = "would send patient data over the network unencrypted";
        return at.refuse("encryption", what, fix);
    }
    if encryption == MailEncryption::None {
        let what = "has no effect with encryption = \"none\"";
        at.warn_of_given(&["ca_file", "client_cert_file", "client_key_file"], what);
    }
    let from = own.from.take().and_then(|text| {
        let from = mail_address(&text);
        if from.is_none() {
            let fix = "Write the address alone, as in from = \"letters@practice.test\".";
            at.error("from", "is no mail address", fix);
        }
        from
    });
    let password = secret(at, "password_file", raw.password_file.take(), raw.password.take());
    let user = credentials(at, raw.user.take(), password);
    let tls = tls_files(at, &mut raw);
    let recipients = recipients(at, &mut own);
    let attach = attach(at, &mut raw, &own);
    let is_xdm = own.attach.as_deref() == Some("xdm");
    let subject = subject(at, own.subject.take(), is_xdm);
    let body = template(at, "body", TEXT, own.body.as_deref().unwrap_or(BODY));
    let attachment_name = template(at, "attachment_name", TemplateKind::RemoteName, &own.attachment_name.take()?);
    let (to, allowed_domains) = recipients?;
    Some(SmtpConfig {
        name: at.name(),
        host: host?,
        port: raw.port.unwrap_or_else(|| mail_port(encryption)),
        encryption,
        user: user?,
        tls: tls?,
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
fn recipients(at: &mut At<'_, '_>, own: &mut SmtpKeys) -> Option<(Arc<Template>, Vec<String>)> {
    let source = own.to.take()?;
    let to = template(at, "to", TEXT, &source)?;
    let domain = |text: &String| match text.trim().strip_prefix("*.") {
        Some(below) => mail_domain(below).map(|domain| format!("*.{domain}")),
        None => mail_domain(text.trim().trim_start_matches('@')),
    };
    let domains: Option<Vec<String>> = own.allowed_domains.iter().map(domain).collect();
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

fn attach(at: &mut At<'_, '_>, raw: &mut SharedKeys, own: &SmtpKeys) -> Option<Attach> {
    if own.attach.as_deref() != Some("xdm") {
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
