//! Whom a file of certificates (`ca_file`) makes trusted: the servers that its authorities vouch for, and the servers
//! whose own certificate it holds.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// What verifies a server by these certificates; `None` if none of them can be used.
pub fn trusted(certificates: Vec<CertificateDer<'static>>) -> Option<Arc<dyn ServerCertVerifier>> {
    super::install_crypto();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let by_authority = WebPkiServerVerifier::builder(Arc::new(roots)).build().ok()?;
    Some(Arc::new(Trusted { by_authority, certificates }))
}

#[derive(Debug)]
struct Trusted {
    by_authority: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

/// Whether the certificate is refused only because of its issuer. Then it is valid at this time, because webpki checks
/// that first.
fn is_about_maker(error: &CertificateError) -> bool {
    match error {
        CertificateError::UnknownIssuer => true,
        // Appliances mark their self-signed certificates as an authority's. The type of this error belongs to a crate
        // that rustls does not export.
        CertificateError::Other(other) => other.to_string() == "CaUsedAsEndEntity",
        _ => false,
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.by_authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(Error::InvalidCertificate(error))
                if is_about_maker(&error) && self.certificates.contains(end_entity) =>
            {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::pem::PemObject as _;

    use super::*;
    use crate::system::http::reason;

    /// Self-signed with `CA:TRUE`, as `openssl req -x509` makes them, with a name and without; and one of an authority.
    const CA_MARKED: &str = include_str!("ca_marked.pem");
    const NO_NAME: &str = include_str!("no_name.pem");
    const ISSUED: &str = include_str!("issued.pem");

    /// Why a server with this certificate is refused in this year, for example 2030.
    fn said(file: &str, shown: &str, name: &str, year: u64) -> Option<String> {
        let of = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_556_952));
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let verified = trusted(vec![of(file)]).unwrap().verify_server_cert(&of(shown), &[], &name, &[], now);
        let error = std::io::Error::other(verified.err()?);
        reason::of_io(&error, "destinations.pms")
    }

    #[test]
    fn a_certificate_that_the_file_holds_is_trusted_for_its_name_and_its_time() {
        const HOST: &str = "archive.practice.test";
        for own in [CA_MARKED, ISSUED] {
            assert_eq!(said(own, own, HOST, 2030), None);
            for (name, year, words) in
                [(HOST, 2200, "expired"), (HOST, 2000, "not valid yet"), ("other.test", 2030, "another")]
            {
                let said = said(own, own, name, year).unwrap();
                assert!(said.contains(words), "{said}");
            }
        }
        let said = |file, shown| said(file, shown, HOST, 2030).unwrap();
        assert!(said(NO_NAME, NO_NAME).contains("subjectAltName"));
        // A certificate of the same name that is not in the file is not trusted.
        for (file, shown) in [(ISSUED, CA_MARKED), (CA_MARKED, ISSUED), (NO_NAME, CA_MARKED)] {
            assert!(said(file, shown).contains("destinations.pms.ca_file"), "{}", said(file, shown));
        }
    }
}
