//! What a receiver sends over a connection: one acknowledgment after each message.

use std::time::Duration;

use tokio::time::Instant;

use super::super::line::{Line, Lost};
use super::answer::Block;

/// A receiver that refuses the connection ends it within this time.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Waits for the answer.
///
/// # Errors
/// [`Lost`]
pub(super) async fn answer(line: &mut Line) -> Result<Block, Lost> {
    let (mut block, mut piece) = (Block::default(), [0; 4096]);
    let until = line.deadline();
    loop {
        let read = line.read(&mut piece, until).await?;
        if block.take(piece.get(..read).unwrap_or_default()).map_err(|_| Lost::Foreign)? {
            return Ok(block);
        }
    }
}

/// Whether the receiver ends the connection before anything was sent. In TLS 1.3 that is how it refuses the client
/// certificate.
pub(super) async fn is_ended_at_once(line: &mut Line) -> bool {
    line.read(&mut [0; 16], Instant::now() + AT_ONCE).await == Err(Lost::Cut)
}

/// Whether the receiver has neither ended the connection nor sent unexpected bytes, which would count as the next
/// acknowledgment.
pub(super) fn is_quiet(line: &mut Line) -> bool {
    let mut piece = [0; 16];
    loop {
        match line.read_now(&mut piece) {
            None => return true,
            // The carriage return after a block may come late.
            Some(read @ 1..) if piece.iter().take(read).all(|byte| matches!(byte, b'\r' | b'\n')) => {}
            Some(_) => return false,
        }
    }
}
