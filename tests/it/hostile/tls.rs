//! What a server can say before it says anything in HTTP: the names in its certificate, the debug data of HTTP/2; and
//! how much in the headers of an answer.

use std::io::{Read, Write};
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

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A GOAWAY whose debug data is the canary (RFC 9113, section 6.8).
fn goes_away(_: u32) -> Vec<u8> {
    frame(7, 0, 0, &[&[0, 0, 0, 0, 0, 0, 0, 11], CANARY.as_bytes()].concat())
}

/// An empty list, with headers of this many bytes (RFC 7541, section 6.2.2).
fn empty_list(stream: u32, header_bytes: usize) -> Vec<u8> {
    const VALUE: u8 = 100;
    let (name, value) = (b"cache-tags", [b'x'; VALUE as usize]);
    let one = [&[0, 10], &name[..], &[VALUE], &value].concat();
    // Status 200 stands in the static table.
    let block = [vec![0x88], one.repeat(header_bytes / (name.len() + value.len() + 32))].concat();
    let parts: Vec<_> = block.chunks(16 * 1024).collect();
    let header = |(at, part): (usize, &&[u8])| {
        let (kind, ends) = (if at == 0 { 1 } else { 9 }, if at + 1 == parts.len() { 4 } else { 0 });
        frame(kind, ends, stream, part)
    };
    [parts.iter().enumerate().flat_map(header).collect(), frame(0, 1, stream, b"[]")].concat()
}

/// A server of HTTP/2 with a certificate for these names, which lies in `folder`. It answers the request of each
/// stream; ends with the process.
fn serve(folder: &Path, names: &str, answer: impl Fn(u32) -> Vec<u8> + Clone + Send + 'static) -> SocketAddr {
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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, answer) = (Arc::clone(&config), answer.clone());
            std::thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                // Whoever refuses the certificate, or has its answer, does not read on.
                let _ = answer_each(&mut StreamOwned::new(connection, stream.unwrap()), answer);
            });
        }
    });
    address
}

fn answer_each(stream: &mut (impl Read + Write), answer: impl Fn(u32) -> Vec<u8>) -> std::io::Result<()> {
    const PREFACE_BYTES: usize = 24;
    const SETTINGS: u8 = 4;
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    loop {
        let asked = read_request(stream)?;
        stream.write_all(&answer(asked))?;
        stream.flush()?;
    }
}

/// Reads until a HEADERS frame (RFC 9113, section 6.2), and returns its stream. A GOAWAY that comes earlier ends a
/// connection that nobody asked anything on.
fn read_request(stream: &mut impl Read) -> std::io::Result<u32> {
    const HEADERS: u8 = 1;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [high, middle, low, kind, _, of @ ..] = head;
        stream.read_exact(&mut vec![0; u32::from_be_bytes([0, high, middle, low]) as usize])?;
        if kind == HEADERS {
            return Ok(u32::from_be_bytes(of));
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
        let address = serve(practice.dir.path(), names, goes_away);
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

/// Caches name everything that an answer is made of, and a page has 100 documents.
#[tokio::test]
async fn headers_of_256_kb_are_taken_and_larger_ones_are_told_by_that() {
    needs!("openssl");
    for (kilobytes, is_taken) in [(20, true), (250, true), (300, false), (3000, false)] {
        let practice = Practice::with_documents(0).await;
        let answer = move |stream| empty_list(stream, kilobytes * 1024);
        let address = serve(practice.dir.path(), "IP:127.0.0.1", answer);
        let mut command = practice.command(&["sync"]);
        command.env("DOCSYNCD__API__BASE_URL", format!("https://{address}"));
        command.env("DOCSYNCD__API__CA_FILE", practice.path("tls.pem"));
        let ended = Ended::of(command).await;
        assert_eq!(ended.code == 0, is_taken, "{kilobytes} KB: {ended:?}");
        let says = "its answer's headers are larger than 256 KB, or break the rules of HTTP/2";
        assert!(is_taken || ended.stderr.contains(says), "{kilobytes} KB: {ended:?}");
    }
}
