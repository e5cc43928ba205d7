//! A connection to a receiver: one message at a time, and its acknowledgment.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::Block;
use crate::config::Hl7v2Config;
use crate::http::{look_up, reason};
use crate::tls::Tls;

/// The longest wait for a TCP and TLS connection; `response_timeout` when that is shorter.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);
/// Within this time a receiver that wants no connection ends it.
const AT_ONCE: Duration = Duration::from_millis(500);
/// The longest a message may take, however well it goes on.
const MESSAGE_LIMIT: Duration = Duration::from_secs(30 * 60);

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Why there is no acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// The connection ended.
    Cut,
    /// Nothing came in time.
    Silent,
    /// What came is no HL7.
    NotHl7,
}

/// A connection.
pub(super) struct Connection {
    stream: Box<dyn Duplex>,
    limit: Duration,
    until: Instant,
}

impl Connection {
    /// Connects, and encrypts where that is configured.
    ///
    /// # Errors
    /// A code and our words, for a sentence that begins with the receiver.
    pub(super) async fn open(config: &Hl7v2Config, tls: Option<&Tls>) -> Result<Self, (&'static str, String)> {
        let set_up = tls.map(Tls::set_up).transpose().map_err(|wrong| ("tls", wrong))?;
        let section = format!("destinations.{}", config.name);
        let opening = async {
            let stream = connect(&config.host, config.port).await?;
            let stream: Box<dyn Duplex> = match set_up {
                None => Box::new(stream),
                Some(set_up) => Box::new(Tls::connect(set_up, &config.host, stream).await?),
            };
            Ok::<_, io::Error>(stream)
        };
        let opened = timeout(CONNECT_LIMIT.min(config.response_timeout), opening).await;
        match opened.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Ok(stream) => Ok(Self { stream, limit: config.response_timeout, until: Instant::now() }),
            Err(error) if reason::is_not_tls(&error) => {
                Err(("no_connection", "it speaks no TLS there: check `port` and `tls`".to_owned()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(("no_connection", "its name is not known (DNS): check `host`".to_owned()))
            }
            Err(error) => {
                let words = reason::of_io(&error, &section);
                Err(("no_connection", words.unwrap_or_else(|| "no connection came about".to_owned())))
            }
        }
    }

    /// A message begins.
    pub(super) fn begin(&mut self) {
        self.until = Instant::now() + MESSAGE_LIMIT;
    }

    /// Sends a part of it. Only what is taken in time counts as sent.
    ///
    /// # Errors
    /// The connection ended, or nothing moved for too long.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), Lost> {
        while !bytes.is_empty() {
            let written = timeout_at(self.deadline(), self.stream.write(bytes)).await.map_err(|_| Lost::Silent)?;
            let written = written.ok().filter(|written| *written > 0).ok_or(Lost::Cut)?;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        timeout_at(self.deadline(), self.stream.flush()).await.map_err(|_| Lost::Silent)?.map_err(|_| Lost::Cut)
    }

    /// Waits for what comes back.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn answer(&mut self) -> Result<Block, Lost> {
        let (mut block, mut piece) = (Block::default(), [0; 4096]);
        let until = self.deadline();
        loop {
            let read = timeout_at(until, self.stream.read(&mut piece)).await.map_err(|_| Lost::Silent)?;
            let read = read.ok().filter(|read| *read > 0).ok_or(Lost::Cut)?;
            if block.take(piece.get(..read).unwrap_or_default()).map_err(|_| Lost::NotHl7)? {
                return Ok(block);
            }
        }
    }

    /// Whether the receiver ends it before anything was sent. In TLS 1.3 that is how it says that it wants another certificate.
    pub(super) async fn is_ended_at_once(&mut self) -> bool {
        matches!(timeout(AT_ONCE, self.stream.read(&mut [0; 16])).await, Ok(Ok(0) | Err(_)))
    }

    /// Whether the receiver has neither ended it nor said anything unasked, which would be taken for the next acknowledgment.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut piece = [0; 16];
        loop {
            match self.stream.read(&mut piece).now_or_never() {
                None => return true,
                // The carriage return behind a block may come late.
                Some(Ok(read @ 1..)) if piece.iter().take(read).all(|byte| matches!(byte, b'\r' | b'\n')) => {}
                Some(_) => return false,
            }
        }
    }

    fn deadline(&self) -> Instant {
        (Instant::now() + self.limit).min(self.until)
    }
}

/// A connection to the first address that takes it.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = ErrorKind::NotFound.into();
    for address in look_up(host).await.map_err(|_| io::Error::from(ErrorKind::NotFound))? {
        match TcpStream::connect(SocketAddr::new(address.ip(), port)).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
