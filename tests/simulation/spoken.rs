//! Destinations that speak a language of their own over a connection, simulated: the real adapters `hl7v2`, `smtp` and
//! `dicom`, whose connections lead to these servers in memory. Each keeps a letter once under what identifies it, as
//! whoever gets the same message, mail or object twice knows it by that.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use docsyncd_test_support::dicom::{Gate, serve};
use docsyncd_test_support::mllp::{Fault, Received, acknowledgment, block};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

use super::calls::{Calls, Came, File};
use super::clock;
use super::plan::Service as How;
use super::web::{CALLS_OF, template};
use super::world::World;
use crate::config::MailEncryption;
use crate::destinations::{
    Adapter, Attach, DicomAdapter, DicomArchive, DicomConfig, DicomHost, Hl7Adapter, Hl7v2Config, LostReply,
    SmtpAdapter, SmtpConfig,
};
use crate::domain::document::{LOINC, TypeMap};
use crate::formats::sidecar::Charset;
use crate::formats::template::{TemplateKind, TextFormat};
use crate::system::tls::TlsFiles;

/// Bytes that may be on their way.
const ON_THE_WAY: usize = 64 * 1024;
/// A failure of an archive that says that it cannot process the object (DICOM PS3.7, annex C).
const CANNOT_PROCESS: u16 = 0x0110;
/// It does not understand the object (PS3.4, B.2.3).
const NOT_UNDERSTOOD: u16 = 0xc000;

/// A connection to the server of the destination whose delivery this task is; `None`: this task is of no simulation.
pub(crate) async fn connect() -> Option<io::Result<DuplexStream>> {
    let of = CALLS_OF.try_with(Arc::clone).ok()?;
    Some(match of.0.call("CONNECT", "", |_| ()).await {
        Came::Answered(()) => {
            let (ours, theirs) = duplex(ON_THE_WAY);
            tokio::spawn(async move {
                match of.1 {
                    How::Receiver => drop(receiver(theirs, &of.0).await),
                    How::Mail => drop(mail_server(BufReader::new(theirs), &of.0).await),
                    _ => archive(theirs, of).await,
                }
            });
            Ok(ours)
        }
        Came::Offline => Err(ErrorKind::ConnectionRefused.into()),
        Came::Broken => Err(ErrorKind::ConnectionReset.into()),
        Came::Lost => Err(ErrorKind::TimedOut.into()),
    })
}

impl Calls {
    /// The letter is there under this path, once, whatever is sent again. Whether the server takes it.
    fn keep(&self, world: &mut World, path: &str, content: Vec<u8>) -> bool {
        if self.refuses(world) {
            return false;
        }
        match self.server(world).files.get(path) {
            None => self.give(world, path, File { content, is_whole: true, ..File::default() }),
            Some(had) if had.content != content => world.violate(|| format!("{path} came with another content")),
            Some(_) => {}
        }
        true
    }
}

/// A receiver of HL7 v2; it ends the connection instead of an answer that is lost.
async fn receiver(mut stream: DuplexStream, calls: &Calls) -> Option<()> {
    let mut message = Vec::new();
    while !message.ends_with(b"\x1c\r") {
        stream.read_buf(&mut message).await.ok().filter(|read| *read > 0)?;
    }
    let received = Received { bytes: message[1..message.len() - 2].to_vec(), connection: 1 };
    let id = received.control_id();
    let refused = |code, error| match Fault::refuse(code, error) {
        Fault::Refuse(said) => said.replace("{id}", &id),
        _ => String::new(),
    };
    let path = format!("/messages/{id}");
    let said = match calls.call("MESSAGE", &id, |world| calls.keep(world, &path, received.pdf())).await {
        Came::Answered(true) => block(&acknowledgment("AA", &id)),
        Came::Answered(false) => refused("AE", "103"),
        // It says so, or hangs up.
        Came::Broken if clock::percent(30) => refused("AR", "207"),
        Came::Broken | Came::Offline | Came::Lost => return None,
    };
    stream.write_all(said.as_bytes()).await.ok()
}

/// A mail server.
async fn mail_server(mut stream: BufReader<DuplexStream>, calls: &Calls) -> Option<()> {
    let mut said = "220 mail.test\r\n";
    loop {
        stream.write_all(said.as_bytes()).await.ok()?;
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        said = match line.get(..4)? {
            "DATA" => match calls.call("DATA", "", |_| ()).await {
                Came::Answered(()) => {
                    stream.write_all(b"354 go on\r\n").await.ok()?;
                    mail(&mut stream, calls).await?
                }
                Came::Broken if clock::percent(30) => "451 later\r\n",
                Came::Broken | Came::Offline | Came::Lost => return None,
            },
            _ => "250 ok\r\n",
        };
    }
}

/// A mail is taken to its dot; `None` where nobody is to be told what became of it.
async fn mail(stream: &mut BufReader<DuplexStream>, calls: &Calls) -> Option<&'static str> {
    let mut text = String::new();
    while !text.ends_with("\r\n.\r\n") {
        stream.read_line(&mut text).await.ok().filter(|read| *read > 0)?;
    }
    let id = text.split("Message-ID: <").nth(1)?.split('>').next()?;
    let attached = text.split("application/pdf").nth(1)?.split("\r\n\r\n").nth(1)?.split("\r\n--").next()?;
    let content = STANDARD.decode(attached.replace("\r\n", "")).unwrap();
    let path = format!("/mails/{id}");
    match calls.call("MAIL", id, |world| calls.keep(world, &path, content)).await {
        Came::Answered(true) => Some("250 taken\r\n"),
        Came::Answered(false) => Some("554 no\r\n"),
        Came::Broken if clock::percent(30) => Some("451 later\r\n"),
        Came::Broken | Came::Offline | Came::Lost => None,
    }
}

/// A DICOM archive, which is that of the adapter's tests behind a gate.
async fn archive(stream: DuplexStream, of: Arc<(Calls, How)>) {
    let state = {
        let state = of.0.server(&mut of.0.line.world.lock().unwrap()).archive.clone();
        state.lock().unwrap().hides = of.1 == How::Archive { tells: false };
        state
    };
    let kept = state.clone();
    let gate: Gate = Arc::new(move |object| {
        let (of, kept) = (of.clone(), kept.clone());
        Box::pin(async move {
            let calls = &of.0;
            let Some(object) = object else {
                return matches!(calls.call("C-FIND", "", |_| ()).await, Came::Answered(())).then_some(0);
            };
            let path = format!("/objects/{}", object.identity().replace('/', "-"));
            let stored = |world: &mut World| {
                let is_taken = calls.keep(world, &path, object.pdf());
                if is_taken {
                    kept.lock().unwrap().keep(object);
                }
                is_taken
            };
            match calls.call("C-STORE", &path, stored).await {
                Came::Answered(true) => Some(0),
                Came::Answered(false) => Some(NOT_UNDERSTOOD),
                Came::Broken if clock::percent(30) => Some(CANNOT_PROCESS),
                Came::Broken | Came::Offline | Came::Lost => None,
            }
        })
    });
    serve(stream, state, Some(gate)).await;
}

/// The adapter of the destination with this number; `None`: it speaks HTTP.
pub(super) fn adapter(index: usize, how: How) -> Option<Box<dyn Adapter>> {
    let name = format!("destination{index}");
    let host = "server.test".to_owned();
    let text = |source: &str| template(TemplateKind::Text(TextFormat::Plain), source);
    let patient_id = template(TemplateKind::Field, "7");
    let type_map = TypeMap::new(LOINC).unwrap();
    let timeout = Duration::from_secs(20);
    Some(match how {
        How::Put | How::Post | How::Bucket { .. } | How::Fhir { .. } => return None,
        How::Receiver => Box::new(Hl7Adapter::new(Hl7v2Config {
            name,
            host,
            port: 2575,
            tls: None,
            is_oru: false,
            version: "2.5.1".to_owned(),
            names_structure: true,
            sending: ["DOCSYNCD".to_owned(), String::new()],
            receiving: [String::new(), String::new()],
            patient_id,
            assigning_authority: "CLINIC".to_owned(),
            type_map,
            charset: Charset::Utf8,
            response_timeout: timeout,
            keeps_open: false,
            retries_errors: false,
            on_lost_reply: LostReply::Resend,
            max_connections: 4,
        })),
        How::Mail => Box::new(SmtpAdapter::new(SmtpConfig {
            name,
            host,
            port: 25,
            encryption: MailEncryption::None,
            user: None,
            tls: TlsFiles::default(),
            from: "letters@practice.test".to_owned(),
            to: text("inbox@clinic.test"),
            allowed_domains: Vec::new(),
            subject: text("Document"),
            body: text("A letter"),
            attach: Attach::Pdf,
            attachment_name: template(TemplateKind::RemoteName, "letter.pdf"),
            timeout,
            max_connections: 4,
            on_lost_reply: LostReply::Resend,
        })),
        How::Archive { .. } => Box::new(DicomAdapter::new(DicomConfig {
            name,
            archive: DicomArchive::Host(Box::new(DicomHost {
                host,
                port: 104,
                tls: None,
                called: "ARCHIVE".to_owned(),
                calling: "DOCSYNCD".to_owned(),
                timeout,
            })),
            patient_id,
            title: template(TemplateKind::Field, "{{ document.type }}"),
            type_map,
            verifies: false,
            on_lost_reply: LostReply::Resend,
            confirm: None,
            max_connections: 4,
        })),
    })
}
