//! The configuration for sending mail: `type = "smtp"`, and what it shares with `[alerts.mail]`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Host;

use super::validated::{LostReply, MailEncryption, Secret};
use crate::domain::document::TypeMap;
use crate::formats::template::Template;

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
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
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

/// An address in the form of an envelope (RFC 5321, section 4.1.2): ASCII, the domain in lower case (IDNA). `None` if
/// it is invalid, or has a display name, comments or quotes.
pub fn mail_address(text: &str) -> Option<String> {
    let (user, domain) = text.trim().rsplit_once('@')?;
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-=~!#$%&'*/?^{|}`".contains(&b))
    };
    let is_user = is_plain(user) && user.len() <= 64 && user.split('.').all(|part| !part.is_empty());
    let address = format!("{user}@{}", mail_domain(domain)?);
    (is_user && address.len() <= 254).then_some(address)
}

/// A domain that mail can go to, in ASCII and lower case.
pub fn mail_domain(text: &str) -> Option<String> {
    match Host::parse(text.trim()) {
        // Hosts in URLs may have more characters, some of which begin a comment or another address in a mail (RFC
        // 5322).
        Ok(Host::Domain(domain)) if domain.split('.').all(is_label) => Some(domain),
        _ => None,
    }
}

/// A label of a host name (RFC 1123, section 2.1).
fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether an address, in the form of [`mail_address`], is in one of these lower-case domains; `*.` at the start means
/// every domain below it. Without domains, every address is.
pub fn is_within(domains: &[String], address: &str) -> bool {
    let domain = address.rsplit('@').next().unwrap_or_default();
    let is_in = |named: &String| match named.strip_prefix("*.") {
        Some(above) => domain.strip_suffix(above).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => domain == named,
    };
    domains.is_empty() || domains.iter().any(is_in)
}

/// The usual port (RFC 6409, RFC 8314).
pub fn mail_port(encryption: MailEncryption) -> u16 {
    match encryption {
        MailEncryption::StartTls => 587,
        MailEncryption::Tls => 465,
        MailEncryption::None => 25,
    }
}

/// Whether the host is this computer.
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_what_would_be_more_than_one() {
        for (text, expected) in [
            ("Letters@Example.Test", Some("Letters@example.test")),
            (" dr.zoe+x@büro.test ", Some("dr.zoe+x@xn--bro-hoa.test")),
            ("zoé@example.test", None),
            ("a@b.test, c@d.test", None),
            ("a@b.test,c", None),
            ("a@evil.test(.clinic.test", None),
            ("a@b;c.test", None),
            ("a@b\"c.test", None),
            ("a@*.test", None),
            ("a@b..test", None),
            ("a@b.test.", None),
            ("A <a@b.test>", None),
            ("\"a b\"@b.test", None),
            ("a@b.test\r\nBcc: c@d.test", None),
            ("a@[127.0.0.1]", None),
            ("a@127.0.0.1", None),
            ("a..b@c.test", None),
            ("a@@b.test", None),
            ("@b.test", None),
            ("a", None),
        ] {
            assert_eq!(mail_address(text).as_deref(), expected, "{text}");
        }
    }
}
