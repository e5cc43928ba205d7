//! A mail server for tests (RFC 5321), with the faults of real ones. The crash test uses it, too.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Instead of an answer: nothing is sent, and the connection stays open.
pub const SILENCE: &str = "silence";

/// What the server has received, and its behaviour.
#[derive(Default)]
pub struct State {
    /// The accepted mails, in their order.
    pub mails: Vec<Mail>,
    /// The lines that it received, except the mails.
    pub told: Vec<String>,
    /// Answers that replace the usual ones, by step: `connect`, a verb, or `.`. An empty answer hangs up.
    pub answers: BTreeMap<&'static str, &'static str>,
    /// The password for signing in, in base64 as AUTH LOGIN or PLAIN has it.
    pub signs_in: Option<String>,
    /// Keywords that it offers.
    pub offers: Vec<&'static str>,
    /// Accepts the next mail, and hangs up without an answer.
    pub loses_reply: bool,
    /// Hangs up after this many bytes of the next mail's text.
    pub cut_after: Option<usize>,
    /// The configuration of TLS, after STARTTLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// Expects TLS from the start.
    pub is_tls_at_once: bool,
    is_closed: bool,
}

trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}
type Stream = BufReader<Box<dyn Duplex>>;

/// An accepted mail.
#[derive(Debug, Clone)]
pub struct Mail {
    pub from: String,
    pub to: Vec<String>,
    /// The text as received, without the dot.
    pub text: String,
}

impl Mail {
    /// A header, unfolded, otherwise unchanged.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.text.split("\r\n\r\n").next()?.replace("\r\n ", " ");
        head.split("\r\n").find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
    }

    /// The head and the content of a part; the text is the first part.
    pub fn part(&self, number: usize) -> (String, Vec<u8>) {
        let boundary = self.header("Content-Type").unwrap();
        let boundary = boundary.split('"').nth(1).unwrap();
        let part = self.text.split(&format!("--{boundary}")).nth(number).unwrap();
        let (head, content) = part.trim_start().split_once("\r\n\r\n").unwrap();
        assert!(content.lines().all(|line| line.len() <= 76), "lines of base64 (RFC 2045, section 6.8)");
        (head.to_owned(), STANDARD.decode(content.replace("\r\n", "")).unwrap())
    }

    pub fn attached(&self) -> Vec<u8> {
        self.part(2).1
    }
}

/// Listens until it is closed.
#[derive(Clone)]
pub struct Peer {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

impl Peer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Self { port: listener.local_addr().unwrap().port(), state: Arc::default() };
        let served = peer.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.state().is_closed {
                    return;
                }
                let peer = served.clone();
                std::thread::spawn(move || peer.serve(stream.unwrap()));
            }
        });
        peer
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Stops listening.
    pub fn close(&self) {
        self.state().is_closed = true;
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
            std::thread::yield_now();
        }
    }

    /// The attachments of the mails, by their Message-ID: a recipient recognises a repeated mail by it.
    pub fn attached(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().mails.iter().map(|mail| (mail.header("Message-ID").unwrap(), mail.attached())).collect()
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let plain = || Some(BufReader::new(Box::new(stream.try_clone().ok()?) as Box<dyn Duplex>));
        let encrypted = || {
            let connection = ServerConnection::new(self.state().tls.clone()?).ok()?;
            Some(BufReader::new(Box::new(StreamOwned::new(connection, stream.try_clone().ok()?)) as Box<dyn Duplex>))
        };
        let is_tls_at_once = self.state().is_tls_at_once;
        let mut stream: Stream = if is_tls_at_once { encrypted()? } else { plain()? };
        let (mut from, mut to) = (String::new(), Vec::new());
        self.answer(&mut stream, "connect", "220 peer.test ESMTP\r\n")?;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            self.state().told.push(line.trim_end().to_owned());
            let verbs = ["EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "RSET", "DATA", "QUIT"];
            let verb = verbs.into_iter().find(|verb| line.starts_with(verb)).unwrap_or_default();
            let in_brackets = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            let said = match verb {
                "EHLO" => {
                    let offers = self.state().offers.iter().map(|offer| format!("{offer}\r\n250-")).collect::<String>();
                    format!("250-peer.test\r\n250-{offers}8BITMIME\r\n250 HELP\r\n")
                }
                "AUTH" => self.sign_in(&mut stream, &line)?,
                "STARTTLS" => "220 go on\r\n".to_owned(),
                "DATA" => "354 go on\r\n".to_owned(),
                "QUIT" => "221 bye\r\n".to_owned(),
                "" => "500 what?\r\n".to_owned(),
                _ => "250 ok\r\n".to_owned(),
            };
            match verb {
                "MAIL" => (from, to) = (in_brackets, Vec::new()),
                "RCPT" => to.push(in_brackets),
                _ => {}
            }
            let was_said = self.answer(&mut stream, verb, &said)?;
            match verb {
                "STARTTLS" if was_said.starts_with('2') => stream = encrypted()?,
                "DATA" if was_said.starts_with('3') => {
                    let text = self.read_mail(&mut stream)?;
                    self.take(Mail { from: from.clone(), to: to.clone(), text })?;
                    self.answer(&mut stream, ".", "250 taken\r\n")?;
                }
                _ => {}
            }
        }
    }

    /// `None` if the sender gets no answer.
    fn take(&self, mail: Mail) -> Option<()> {
        let mut state = self.state();
        if state.answers.get(".").is_none_or(|answer| !answer.starts_with(['4', '5'])) {
            state.mails.push(mail);
        }
        (!std::mem::take(&mut state.loses_reply)).then_some(())
    }

    fn sign_in(&self, stream: &mut Stream, line: &str) -> Option<String> {
        let mut given = line.split_ascii_whitespace().nth(2).unwrap_or_default().to_owned();
        if line.starts_with("AUTH LOGIN") {
            for question in ["334 VXNlcm5hbWU6\r\n", "334 UGFzc3dvcmQ6\r\n"] {
                stream.get_mut().write_all(question.as_bytes()).ok()?;
                given.clear();
                stream.read_line(&mut given).ok()?;
            }
        }
        let knows = self.state().signs_in.as_deref() == Some(given.trim_end());
        Some(if knows { "235 welcome\r\n" } else { "535 5.7.8 who are you?\r\n" }.to_owned())
    }

    /// Everything up to the dot; `None` if the connection ends before it.
    fn read_mail(&self, stream: &mut Stream) -> Option<String> {
        let cut_after = self.state().cut_after.take();
        let mut text = Vec::new();
        loop {
            if cut_after.is_some_and(|most| text.len() >= most) {
                return None;
            }
            let begin = text.len();
            if stream.read_until(b'\n', &mut text).ok()? == 0 {
                return None;
            }
            if text.get(begin..) == Some(b".\r\n") {
                text.truncate(begin);
                return String::from_utf8(text).ok();
            }
        }
    }

    fn answer(&self, stream: &mut Stream, step: &str, usual: &str) -> Option<String> {
        let other = self.state().answers.get(step).copied();
        match other.unwrap_or(usual) {
            "" => None,
            // Until the client gives up.
            SILENCE => stream.read(&mut [0]).ok().and(None),
            said => {
                stream.get_mut().write_all(said.as_bytes()).ok()?;
                stream.get_mut().flush().ok().map(|()| said.to_owned())
            }
        }
    }
}
