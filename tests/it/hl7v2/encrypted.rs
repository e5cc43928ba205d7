//! MLLP over TLS: whom docsyncd trusts there, and what it says of whom it does not.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::{configure, practice_of};
use crate::dictated::*;
use crate::faults::tools::needs;
use crate::mllp::Peer;

fn openssl(folder: &Path, args: &str) {
    let made = Command::new("openssl").args(args.split(' ')).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{args}: {made:?}");
}

/// `NAME.pem` and `NAME.key`, of an authority of its own.
fn authority(folder: &Path, name: &str) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(folder, &format!("req -x509 {key} -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"));
}

/// The same of somebody whom the authority `ca` knows, under this name in the network.
fn signed(folder: &Path, name: &str, ca: &str, san: &str) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(
        folder,
        &format!("req {key} -subj /CN={name} -addext subjectAltName={san} -keyout {name}.key -out {name}.csr"),
    );
    let by = format!("-CA {ca}.pem -CAkey {ca}.key -CAcreateserial -copy_extensions copy -days 2");
    openssl(folder, &format!("x509 -req -in {name}.csr {by} -out {name}.pem"));
}

fn certificate(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).unwrap()
}

/// TLS before a receiver, with this certificate; guests show one of `ca`, where one is named. Gives its port.
async fn before(peer: &Peer, folder: &Path, name: &str, ca: Option<&str>) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate(&folder.join(format!("{ca}.pem")))).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let key = PrivateKeyDer::from_pem_file(folder.join(format!("{name}.key"))).unwrap();
    let config = builder.with_single_cert(vec![certificate(&folder.join(format!("{name}.pem")))], key).unwrap();
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let (port, to) = (listener.local_addr().unwrap().port(), peer.address);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // Whoever refuses the certificate does not go on.
                let Ok(mut guest) = acceptor.accept(stream).await else { return };
                let mut receiver = TcpStream::connect(to).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut guest, &mut receiver).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn letters_go_encrypted_to_whom_the_authority_knows_and_to_nobody_else() {
    needs!("openssl");
    let peer = Peer::start().await;
    let (practice, uuids) = practice_of(&peer, 3, "").await;
    let folder = practice.path("tls");
    std::fs::create_dir(&folder).unwrap();
    for ca in ["ours", "other"] {
        authority(&folder, ca);
    }
    signed(&folder, "engine", "ours", "IP:127.0.0.1");
    signed(&folder, "elsewhere", "ours", "DNS:elsewhere.test");
    signed(&folder, "stranger", "other", "IP:127.0.0.1");
    signed(&folder, "docsyncd", "ours", "DNS:docsyncd.test");
    let ours = format!("tls = true\nca_file = '{}'\n", folder.join("ours.pem").display());
    for (name, sign) in [
        ("elsewhere", "its certificate is another server's"),
        ("stranger", "comes from an authority that is not trusted"),
    ] {
        configure(&practice, before(&peer, &folder, name, None).await, &ours);
        let checked = practice.docsyncd(&["check"]).await;
        assert!(checked.code == 1 && checked.stdout.contains(sign), "{name}: {checked:?}");
    }
    // It speaks no TLS.
    configure(&practice, peer.address.port(), &ours);
    let checked = practice.docsyncd(&["check"]).await;
    assert_eq!(checked.code, 1, "{checked:?}");
    // It wants to know who comes.
    let port = before(&peer, &folder, "engine", Some("ours")).await;
    std::fs::copy(folder.join("docsyncd.pem"), practice.path("docsyncd.pem")).unwrap();
    practice.write_secret("docsyncd.key", &std::fs::read_to_string(folder.join("docsyncd.key")).unwrap());
    let shown = "client_cert_file = 'docsyncd.pem'\nclient_key_file = 'docsyncd.key'\nkeep_connection_open = true\n";
    configure(&practice, port, &format!("{ours}{shown}"));
    let checked = practice.docsyncd(&["check"]).await;
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(peer.received().is_empty());
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(sorted(peer.objects()), small_pdfs(3));
}
