//! A connection whose bytes are acknowledged at once.
//!
//! If an SSH server has several answers, it sends the first one. Nagle's algorithm (RFC 896) keeps the others back
//! until the client acknowledges the first. A client with nothing to send delays that by 40 ms on Linux and 200 ms on
//! Windows (RFC 1122, 4.2.3.2), once or twice in each delivery.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

#[cfg(any(target_os = "linux", windows))]
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio::net::TcpStream;

/// How many of the first bytes are kept.
const FIRST: usize = 64;

/// The first bytes that came.
pub(super) type FirstBytes = Arc<OnceLock<Vec<u8>>>;

/// The connection, and its first bytes.
pub(super) struct Prompt(TcpStream, FirstBytes);

impl Prompt {
    /// Buffered, because the length of each packet is read separately.
    pub(super) fn new(stream: TcpStream, first: FirstBytes) -> BufReader<Self> {
        // If the option is not available, the connection is only slower.
        #[cfg(windows)]
        let _ = SockRef::from(&stream).set_tcp_ack_frequency(1);
        BufReader::new(Self(stream, first))
    }
}

impl AsyncRead for Prompt {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, bytes);
        // The option is not permanent (tcp(7), TCP_QUICKACK).
        #[cfg(target_os = "linux")]
        if read.is_ready() {
            let _ = SockRef::from(&self.0).set_tcp_quickack(true);
        }
        if self.1.get().is_none() && !bytes.filled().is_empty() {
            let _ = self.1.set(bytes.filled().iter().copied().take(FIRST).collect());
        }
        read
    }
}

impl AsyncWrite for Prompt {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_comes_is_acknowledged_at_once_also_in_a_conversation() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut client = Prompt::new(stream, FirstBytes::default());
        for _ in 0..100 {
            client.write_all(b"a question").await.unwrap();
            server.read_exact(&mut [0; 10]).await.unwrap();
            server.write_all(b"an answer").await.unwrap();
            client.read_exact(&mut [0; 9]).await.unwrap();
            assert!(SockRef::from(&client.get_ref().0).tcp_quickack().unwrap());
        }
    }
}
