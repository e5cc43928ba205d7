//! The files of these tests are valid from 2026 to 2126, for `page.practice.test`.

use super::*;

#[test]
fn that_it_is_not_believed_is_noted_since_the_first_time_until_it_is() {
    let (_folder, db) = crate::ledger::testing::empty();
    let noted = |is_doubted, at| {
        note(&db, is_doubted, at).unwrap();
        process::all(&db).unwrap().remove(process::CERTIFICATE)
    };
    assert_eq!(noted(true, 5).as_deref(), Some("5"));
    assert_eq!(noted(true, 9).as_deref(), Some("5"));
    assert_eq!((noted(false, 10), noted(false, 11)), (None, None));
}

const PAGE: &str = include_str!("page.pem");
const KEY: &str = include_str!("page.key");
const RENEWED: &str = include_str!("renewed.pem");
const RENEWED_KEY: &str = include_str!("renewed.key");
/// When `page.pem` ends; seconds since 1970.
const ENDS: u64 = 4_949_542_039;

struct Files(tempfile::TempDir);

impl Files {
    fn with(certificate: &str, key: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write(certificate, key);
        files
    }

    /// Replaces the files, as a renewal does.
    fn write(&self, certificate: &str, key: &str) {
        for (name, content) in [("page.pem", certificate), ("page.key", key)] {
            let new = self.0.path().join("new");
            std::fs::write(&new, content).unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&new, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            std::fs::rename(&new, self.0.path().join(name)).unwrap();
        }
    }

    fn page(&self) -> StatusPageConfig {
        let [certificate, key] = ["page.pem", "page.key"].map(|name| self.0.path().join(name));
        StatusPageConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            certificate: Some((certificate, Secret::File(key))),
            public_url: Some("https://page.practice.test/".parse().unwrap()),
        }
    }

    fn certificate(&self) -> Certificate {
        Certificate::of(&self.page()).unwrap()
    }
}

#[test]
fn what_is_wrong_with_the_files_is_said_in_words() {
    for (certificate, key, says) in [
        (PAGE, RENEWED_KEY, "is not the key of certificate_file"),
        ("", KEY, "holds no PEM certificate"),
        (KEY, KEY, "holds no PEM certificate"),
        (PAGE, PAGE, "does not hold a private key"),
        (
            PAGE,
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "of a kind that docsyncd does not know",
        ),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", KEY, "no certificate that can be read"),
    ] {
        let files = Files::with(certificate, key);
        let certificate = files.certificate();
        let said = certificate.read().unwrap_err();
        assert!(said.contains(says) && said.contains("certificate"), "{says}: {said}");
        assert!(certificate.shown().is_none());
    }
    let files = Files::with(PAGE, KEY);
    std::fs::remove_file(files.0.path().join("page.pem")).unwrap();
    let said = files.certificate().read().unwrap_err();
    assert!(said.contains("certificate_file") && said.contains("cannot be read"), "{said}");
}

#[test]
fn a_renewed_one_counts_and_one_that_cannot_be_used_leaves_the_one_before() {
    let files = Files::with(PAGE, KEY);
    let certificate = files.certificate();
    assert_eq!(certificate.read(), Ok(None));
    let first = certificate.shown().unwrap();
    assert!(!certificate.has_changed());
    files.write(RENEWED, KEY);
    assert!(certificate.has_changed(), "half of it is there");
    certificate.read().unwrap_err();
    assert!(Arc::ptr_eq(&certificate.shown().unwrap(), &first));
    assert!(!certificate.has_changed(), "it is said once");
    files.write(RENEWED, RENEWED_KEY);
    assert!(certificate.has_changed());
    assert_eq!(certificate.read(), Ok(None));
    assert!(!Arc::ptr_eq(&certificate.shown().unwrap(), &first));
}

#[test]
fn what_browsers_will_not_believe_is_known_before() {
    let chain = [CertificateDer::from_pem_slice(PAGE.as_bytes()).unwrap()];
    let year = |year: u64| UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_556_952));
    let name = |text: &'static str| ServerName::try_from(text).unwrap();
    let own = name("page.practice.test");
    assert_eq!(doubt(&chain, Some(&own), year(2030)), None);
    assert_eq!(doubt(&chain, None, year(2030)), None);
    assert_eq!(doubt(&chain, Some(&own), year(2020)), Some(Doubt::NotYet));
    assert_eq!(doubt(&chain, Some(&own), year(2200)), Some(Doubt::Expired));
    assert_eq!(doubt(&chain, Some(&name("other.practice.test")), year(2030)), Some(Doubt::AnothersName));
    let before = |days: u64| UnixTime::since_unix_epoch(Duration::from_secs(ENDS - days * 24 * 60 * 60));
    assert_eq!(doubt(&chain, Some(&own), before(13)), Some(Doubt::EndsSoon));
    assert_eq!(doubt(&chain, Some(&own), before(15)), None);
}
