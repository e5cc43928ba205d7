//! `type = "smtp"`: allowed recipients, and invalid settings.

use super::*;

fn smtp(lines: &str) -> String {
    let least = "type = \"smtp\"\nhost = \"smtp.h.test\"\nfrom = \"letters@practice.test\"\n";
    LEAST.replace("type = \"folder\"\npath = \"import\"", &format!("{least}{lines}"))
}

fn of(content: &str) -> SmtpConfig {
    loaded(content, &[]).config.destinations["pms"].of::<SmtpConfig>().unwrap().clone()
}

const TO: &str = "to = \"inbox@Clinic.test\"\n";

#[test]
fn what_is_not_said_is_safe() {
    let config = of(&smtp(TO));
    assert_eq!((config.port, config.encryption, config.max_connections), (587, MailEncryption::StartTls, 4));
    assert!(config.user.is_none() && matches!(config.attach, Attach::Pdf) && config.on_lost_reply == LostReply::Resend);
    assert!(!config.subject.mentions_patient() && !config.body.mentions_patient() && config.has_one_recipient());
    assert_eq!(of(&smtp(&format!("{TO}encryption = \"tls\""))).port, 465);
    assert_eq!(of(&smtp(&format!("{TO}encryption = \"tls\"\nport = 1465"))).port, 1465);
    let xdm =
        of(&smtp(&format!("{TO}attach = \"xdm\"\ntype_map = {{ lab_slip = \"57833-6\" }}\nauthor = \"Cabinet\"")));
    let Attach::Xdm(says) = &xdm.attach else { panic!("{:?}", xdm.attach) };
    assert_eq!(
        (says.type_map.code(Some("lab_slip")).code.as_str(), says.author.as_deref()),
        ("57833-6", Some("Cabinet"))
    );
    assert!(xdm.subject.source().starts_with("XDM/1.0/DDM+"));
}

#[test]
fn values_choose_a_recipient_only_within_domains_that_are_named() {
    let config = of(&smtp("to = \"{{ patient.email }}\"\nallowed_domains = [\"@Clinic.test\", \"*.mssante.test\"]"));
    for (address, allowed) in [
        ("a@clinic.test", true),
        ("a@x.mssante.test", true),
        ("a@mssante.test", false),
        ("a@x.clinic.test", false),
        ("a@notclinic.test", false),
        ("a@clinic.test.evil.test", false),
    ] {
        assert_eq!(config.allows(address), allowed, "{address}");
    }
    let said = error(&smtp("to = \"{{ patient.email }}\""), &[]);
    assert!(said.contains("`destinations.pms.to`") && said.contains("allowed_domains"), "{said}");
    // A fixed recipient must be within the domains as well.
    let said = error(&smtp(&format!("{TO}allowed_domains = [\"other.test\"]")), &[]);
    assert!(said.contains("`destinations.pms.to`") && said.contains("allowed_domains"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_an_error_that_says_why() {
    for (lines, key, says) in [
        (format!("{TO}encryption = \"none\""), "encryption", "unencrypted"),
        (format!("{TO}encryption = \"ssl\""), "encryption", "\"starttls\""),
        (format!("{TO}user = \"u\""), "user", "has no password"),
        (format!("{TO}password_file = \"p\""), "password_file", "has no user"),
        (format!("{TO}client_cert_file = \"c.pem\""), "client_cert_file", "client_key_file"),
        (format!("{TO}attach = \"zip\""), "attach", "\"xdm\""),
        (format!("{TO}attach = \"xdm\"\nsubject = \"A letter\""), "subject", "XDM/1.0/DDM"),
        (format!("{TO}attach = \"xdm\"\ntype_map = {{ lab_slip = \"x y\" }}"), "type_map", "lab_slip"),
        (format!("{TO}allowed_domains = [\"a b\"]"), "allowed_domains", "no domain"),
        (format!("{TO}subject = \"{{{{ patient.nme\""), "subject", "template"),
        (format!("{TO}url = \"https://h.test\""), "url", "smtp"),
        ("to = \"A <a@b.test>\"".to_owned(), "to", "no mail address"),
        ("to = \"a@b.test, c@d.test\"".to_owned(), "to", "no mail address"),
        ("to = \"a@b.test\\r\\nBcc: c@d.test\"".to_owned(), "to", "no mail address"),
        (String::new(), "to", "missing"),
    ] {
        let said = error(&smtp(&lines), &[]);
        assert!(said.contains(&format!("`destinations.pms.{key}`")) && said.contains(says), "{lines}: {said}");
    }
    let warned = loaded(&smtp(&format!("{TO}subject = \"{{{{ patient.lastName }}}}\"\nauthor = \"x\"")), &[]).warnings;
    assert!(warned.iter().any(|warning| warning.contains("mail server")) && warned.len() == 2, "{warned:?}");
}
