//! A server that is a function: what it answers, byte for byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// Answers every request by its head, in lower case, and its body, and closes; ends with the process. Returns its
/// address.
pub fn serve(answer: impl Fn(&str, &[u8]) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            std::thread::spawn(move || {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).unwrap_or(0) == 0 {
                        return;
                    }
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
                let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                stream.read_exact(&mut body).unwrap();
                // Whoever hangs up does not want it.
                let _ = stream.write_all(&answer(&head, &body));
            });
        }
    });
    address
}
