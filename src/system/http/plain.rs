//! Probes a port that speaks no TLS, so that people get the right message.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

/// The time limit for connecting, and for the answer.
const LIMIT: Duration = Duration::from_secs(3);

/// The start of an HTTP answer (RFC 9112, section 4).
const HTTP: &[u8] = b"HTTP/";

/// Whether the server at this address answers a request without TLS in HTTP. `None` if there is no connection, for
/// example behind a proxy.
pub async fn speaks_http(url: &Url) -> Option<bool> {
    let (host, port) = (url.host_str()?.trim_matches(['[', ']']), url.port_or_known_default()?);
    let connecting = tokio::time::timeout(LIMIT, TcpStream::connect((host, port)));
    let mut stream = connecting.await.ok()?.ok()?;
    let answer = async {
        // Sends nothing of the address, and no credentials.
        stream.write_all(b"OPTIONS * HTTP/1.0\r\n\r\n").await.ok()?;
        let mut begin = [0; HTTP.len()];
        stream.read_exact(&mut begin).await.ok().map(|_| begin == HTTP)
    };
    Some(tokio::time::timeout(LIMIT, answer).await.ok().flatten().unwrap_or(false))
}
