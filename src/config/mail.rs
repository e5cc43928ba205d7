//! Addresses, hosts and ports of mail.

use std::net::IpAddr;

use url::Host;

use super::validated::MailEncryption;

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
