//! A connection to a receiver: one message at a time, and its acknowledgment.

use std::time::Duration;

use tokio::time::Instant;

use super::super::line::{Line, Lost};
use super::answer::Block;
use crate::config::Hl7v2Config;
use crate::tls::Tls;

/// A receiver that refuses the connection ends it within this time.
const AT_ONCE: Duration = Duration::from_millis(500);

/// A connection.
pub(super) struct Connection(Line);

impl Connection {
    /// Connects, and encrypts if configured.
    ///
    /// # Errors
    /// A code and our words, for a sentence that begins with the receiver.
    pub(super) async fn open(config: &Hl7v2Config, tls: Option<&Tls>) -> Result<Self, (&'static str, String)> {
        let receiver = (config.host.as_str(), config.port);
        Line::open(&config.name, receiver, tls, config.response_timeout).await.map(Self)
    }

    /// Begins a message.
    pub(super) fn begin(&mut self) {
        self.0.begin();
    }

    /// Sends a part of the message. Only bytes that are taken in time count as sent.
    ///
    /// # Errors
    /// The connection ended, or nothing moved for too long.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        self.0.write(bytes).await
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn answer(&mut self) -> Result<Block, Lost> {
        let (mut block, mut piece) = (Block::default(), [0; 4096]);
        let until = self.0.deadline();
        loop {
            let read = self.0.read(&mut piece, until).await?;
            if block.take(piece.get(..read).unwrap_or_default()).map_err(|_| Lost::Foreign)? {
                return Ok(block);
            }
        }
    }

    /// Whether the receiver ends the connection before anything was sent. In TLS 1.3 that is how it refuses the client
    /// certificate.
    pub(super) async fn is_ended_at_once(&mut self) -> bool {
        self.0.read(&mut [0; 16], Instant::now() + AT_ONCE).await == Err(Lost::Cut)
    }

    /// Whether the receiver has neither ended the connection nor sent unexpected bytes, which would count as the next
    /// acknowledgment.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut piece = [0; 16];
        loop {
            match self.0.read_now(&mut piece) {
                None => return true,
                // The carriage return after a block may come late.
                Some(read @ 1..) if piece.iter().take(read).all(|byte| matches!(byte, b'\r' | b'\n')) => {}
                Some(_) => return false,
            }
        }
    }
}
