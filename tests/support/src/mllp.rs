//! A receiver of HL7 v2 over MLLP, in this process: it keeps the PDF of each message once, by the message's control id,
//! and fails on demand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::double::Double;

/// What happens to a message instead of the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is kept, and this is the answer, whole with what frames it; `{id}` stands for the message's control id.
    Say(String),
    /// The same, and it is not kept.
    Refuse(String),
    /// The connection ends after so many bytes of it.
    CutAfter(usize),
    /// No more is read after so many bytes of it.
    StallAfter(usize),
    /// It is kept, and the connection ends.
    LoseReply,
    /// It is kept, and not answered.
    Silence,
    /// It is kept, and acknowledged so late.
    Late(Duration),
}

impl Fault {
    /// It is refused with this code (MSA-1) and this error (ERR-3); the words name a patient.
    pub fn refuse(code: &str, error: &str) -> Self {
        let error =
            if error.is_empty() { String::new() } else { format!("ERR|||{error}^x^HL70357|E||||Canaryworth\r") };
        Self::Refuse(block(&format!("{}{error}", acknowledgment(code, "{id}"))))
    }
}

/// A message as MLLP frames it.
pub fn block(message: &str) -> String {
    format!("\u{b}{message}\u{1c}\r")
}

/// The two segments of an acknowledgment.
pub fn acknowledgment(code: &str, id: &str) -> String {
    format!("MSH|^~\\&|RECEIVER||DOCSYNCD||20261127100000||ACK|1|P|2.5.1\rMSA|{code}|{id}|Canaryworth\r")
}

/// A message that came whole.
#[derive(Debug, Clone)]
pub struct Received {
    /// Without what frames it.
    pub bytes: Vec<u8>,
    /// Which connection it came over, counted from 1.
    pub connection: usize,
}

impl Received {
    /// A segment, without its line end.
    pub fn segment(&self, name: &str) -> String {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        text.split('\r').find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}")).to_owned()
    }

    /// A field of a segment, as it was sent.
    pub fn field(&self, segment: &str, number: usize) -> String {
        let number = if segment == "MSH" { number - 1 } else { number };
        self.segment(segment).split('|').nth(number).unwrap_or_default().to_owned()
    }

    pub fn control_id(&self) -> String {
        self.field("MSH", 10)
    }

    pub fn pdf(&self) -> Vec<u8> {
        let value = self.field("OBX", 5);
        STANDARD.decode(value.split('^').nth(4).expect("a fifth component")).expect("base64")
    }
}

#[derive(Debug, Default)]
pub struct State {
    /// For the next messages, one each.
    pub faults: VecDeque<Fault>,
    /// Every message that came whole, in order.
    pub received: Vec<Received>,
    /// The PDF of each that was kept, by its control id.
    pub kept: BTreeMap<String, Vec<u8>>,
    /// Whether a connection ends after its first message.
    pub closes: bool,
    connections: usize,
}

/// The receiver.
pub type Peer = Double<State>;

impl Peer {
    pub async fn start() -> Self {
        Self::serving(serve).await
    }

    pub fn inject(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    pub fn received(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// The PDF of each message that was kept, by its control id.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().kept.clone()
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let lock = || state.lock().expect("no test panicked with it");
    let connection = {
        let mut state = lock();
        state.connections += 1;
        state.connections
    };
    let (mut held, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let limit = match lock().faults.front() {
            Some(Fault::CutAfter(bytes) | Fault::StallAfter(bytes)) => Some(*bytes),
            _ => None,
        };
        // A message is being sent when its first byte is there.
        let most = limit.map_or(piece.len(), |limit| (limit - held.len().min(limit)).clamp(1, piece.len()));
        let Ok(1..) = stream.peek(&mut [0]).await else { return };
        if limit.is_some_and(|limit| held.len() >= limit) {
            let stalls = matches!(lock().faults.pop_front(), Some(Fault::StallAfter(_)));
            if stalls {
                std::future::pending::<()>().await;
            }
            return;
        }
        let Ok(read @ 1..) = stream.read(&mut piece[..most]).await else { return };
        let seen = held.len().saturating_sub(1);
        held.extend_from_slice(&piece[..read]);
        let end = held[seen..].windows(2).position(|bytes| bytes == b"\x1c\r");
        let Some(end) = end.map(|at| seen + at) else { continue };
        let message: Vec<u8> = held.drain(..end + 2).collect();
        assert_eq!(message.first(), Some(&0x0b), "a message begins");
        let received = Received { bytes: message[1..end].to_vec(), connection };
        assert!(
            !received.bytes.iter().any(|byte| [0x0b, 0x1c].contains(byte)),
            "one message, and nothing framed in it"
        );
        let (fault, id, closes) = {
            let mut state = lock();
            let fault = state.faults.pop_front();
            let id = received.control_id();
            if !matches!(fault, Some(Fault::Refuse(_))) {
                state.kept.entry(id.clone()).or_insert_with(|| received.pdf());
            }
            state.received.push(received);
            (fault, id, state.closes)
        };
        let answer = match fault {
            None => block(&acknowledgment("AA", &id)),
            Some(Fault::Say(answer) | Fault::Refuse(answer)) => answer.replace("{id}", &id),
            Some(Fault::Late(wait)) => {
                tokio::time::sleep(wait).await;
                block(&acknowledgment("AA", &id))
            }
            Some(Fault::Silence) => std::future::pending().await,
            Some(Fault::LoseReply | Fault::CutAfter(_) | Fault::StallAfter(_)) => return,
        };
        let _ = stream.write_all(answer.as_bytes()).await;
        // What ends in the middle of an answer ends with it.
        if closes || !answer.ends_with(['\u{1c}', '\r']) {
            return;
        }
    }
}
