//! What a server can say before it says anything in HTTP: the names in its certificate, the debug data of HTTP/2.

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::faults::tools::needs;
use crate::harness::{Ended, Practice};

const CANARY: &str = "canary-dupont";

/// A server of HTTP/2 with a certificate for these names, which lies in `folder`. It answers everything with a GOAWAY whose debug
/// data is the canary (RFC 9113, section 6.8); ends with the process.
fn serve(folder: &Path, names: &str) -> SocketAddr {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args(["-subj", &format!("/CN={CANARY}/O={CANARY}"), "-addext", &format!("subjectAltName={names}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "tls.key", "-out", "tls.pem"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let certificate = CertificateDer::from_pem_file(folder.join("tls.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("tls.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    let mut said = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
    said.extend([0, 0, 8 + u8::try_from(CANARY.len()).unwrap(), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11]);
    said.extend(CANARY.as_bytes());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            // Whoever refuses the certificate does not read on.
            let asked = read_request(&mut stream);
            if asked.and_then(|()| stream.write_all(&said)).and_then(|()| stream.flush()).is_ok() {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        }
    });
    address
}

/// Reads until a HEADERS frame (RFC 9113, section 6.2): a GOAWAY that comes earlier ends a connection that nobody asked anything on.
fn read_request(stream: &mut impl Read) -> std::io::Result<()> {
    const PREFACE_BYTES: usize = 24;
    const HEADERS: u8 = 1;
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    loop {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame)?;
        let [high, middle, low, kind, ..] = frame;
        stream.read_exact(&mut vec![0; u32::from_be_bytes([0, high, middle, low]) as usize])?;
        if kind == HEADERS {
            return Ok(());
        }
    }
}

#[tokio::test]
async fn neither_the_names_of_a_certificate_nor_debug_data_of_http_2_are_repeated() {
    needs!("openssl");
    for (names, says) in
        [("IP:127.0.0.1", "HTTP/2 error 11"), ("DNS:canary-dupont.example.test", "its certificate is another server's")]
    {
        let practice = Practice::with_documents(0).await;
        let address = serve(practice.dir.path(), names);
        for command in ["check", "sync"] {
            let mut command = practice.command(&[command]);
            command.env("DOCSYNCD__API__BASE_URL", format!("https://{address}"));
            command.env("DOCSYNCD__API__CA_FILE", practice.path("tls.pem"));
            command.env("DOCSYNCD__LOG__LEVEL", "trace");
            let ended = Ended::of(command).await;
            let said = format!("{}{}", ended.stdout, ended.stderr);
            assert!(ended.code != 0 && said.contains(says), "{says}: {ended:?}");
            assert!(!said.to_lowercase().contains(CANARY), "{said}");
        }
    }
}
