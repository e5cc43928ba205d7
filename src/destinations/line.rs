//! A connection without HTTP: over TCP, encrypted if configured, with a limit for each wait.

use std::io::ErrorKind;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout, timeout_at};

use super::DOCUMENT_LIMIT;
use crate::system::http::reason;
use crate::system::tls::{self, Stream, Tls};

/// The longest wait for a TCP and TLS connection; the configured limit if that is shorter.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The connection ended.
    Cut,
    /// Nothing came in time.
    Silent,
    /// The received bytes are no answer.
    Foreign,
}

/// A connection.
pub(super) struct Line {
    stream: Box<dyn Stream>,
    limit: Duration,
    until: Instant,
}

impl Line {
    /// Connects to the destination of this name, and encrypts if `tls` is given.
    ///
    /// # Errors
    /// A code and our words, for a sentence that begins with the receiver.
    pub(super) async fn open(
        destination: &str,
        (host, port): (&str, u16),
        tls: Option<&Tls>,
        limit: Duration,
    ) -> Result<Self, (&'static str, String)> {
        let set_up = tls.map(Tls::set_up).transpose().map_err(|wrong| ("tls", wrong))?;
        let section = format!("destinations.{destination}");
        let opening = async {
            let (stream, _) = tls::dial(host, port).await?;
            match set_up {
                None => Ok(stream),
                Some(set_up) => Tls::connect(set_up, host, stream).await,
            }
        };
        let opened = timeout(CONNECT_LIMIT.min(limit), opening).await;
        match opened.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Ok(stream) => Ok(Self { stream, limit, until: Instant::now() + DOCUMENT_LIMIT }),
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

    /// Begins a document.
    pub(super) fn begin(&mut self) {
        self.until = Instant::now() + DOCUMENT_LIMIT;
    }

    /// Sends a part of the document. Only bytes that the receiver takes in time count as sent.
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

    /// Reads the next bytes, until this time.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn read(&mut self, piece: &mut [u8], until: Instant) -> Result<usize, Lost> {
        let read = timeout_at(until, self.stream.read(piece)).await.map_err(|_| Lost::Silent)?;
        read.ok().filter(|read| *read > 0).ok_or(Lost::Cut)
    }

    /// Reads bytes that have already arrived; 0 if the connection ended. `None`: nothing arrived, and it is open.
    pub(super) fn read_now(&mut self, piece: &mut [u8]) -> Option<usize> {
        self.stream.read(piece).now_or_never().map(Result::unwrap_or_default)
    }

    /// When a wait that begins now gives up.
    pub(super) fn deadline(&self) -> Instant {
        (Instant::now() + self.limit).min(self.until)
    }
}
