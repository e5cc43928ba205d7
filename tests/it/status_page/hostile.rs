//! Slow and hostile browsers: neither memory nor a document.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{PAGE, Page};
use crate::dictated::{add_small, practice_with_small};
use crate::harness::PATIENCE;
#[cfg(target_os = "linux")]
use crate::scale::Memory;

/// KiB beside the program itself.
#[cfg(target_os = "linux")]
pub(super) fn own_memory(id: u32) -> u64 {
    let mut memory = Memory::default();
    memory.read(&format!("/proc/{id}/status"));
    memory.own()
}

#[tokio::test]
async fn a_thousand_idle_connections_keep_nobody_out_and_cost_no_document() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    assert_eq!(page.get("/").await.status, 200);
    #[cfg(target_os = "linux")]
    let before = own_memory(page.running.id());
    let mut idle = Vec::new();
    for _ in 0..1000 {
        idle.push(TcpStream::connect(page.address).await.unwrap());
    }
    for stream in idle.iter_mut().skip(900) {
        // Some have begun to ask. One that had to go already cannot.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x").await;
    }
    assert_eq!(page.get("/").await.status, 200);
    let open = idle.last().unwrap().try_read(&mut [0]);
    assert!(open.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it does not wait for their end");
    add_small(&practice, 3, |_, document| document).await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    practice.wait_for_posts(4).await;
    #[cfg(target_os = "linux")]
    {
        let more = own_memory(page.running.id()).saturating_sub(before);
        println!("{more} KiB more");
        assert!(more < 4 * 1024, "{more} KiB");
    }
    // The oldest had to go.
    let mut gone = [0];
    let read = tokio::time::timeout(PATIENCE, idle[0].read(&mut gone)).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "{read:?}");
    drop(idle);
    page.running.end().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn heads_and_bodies_without_end_are_cut_off() {
    let (practice, _) = practice_with_small(0).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let address = page.address;
    let long = format!("GET / HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    // To Windows a connection that is closed before all was read is reset, and what was answered may be lost with it.
    let status = page.send(long.as_bytes()).await.status;
    assert!(status == 431 || cfg!(windows) && status == 0, "{status}");
    let many = format!("GET / HTTP/1.1\r\nHost: {address}\r\n{}\r\n", "X: 1\r\n".repeat(200));
    assert_eq!(page.send(many.as_bytes()).await.status, 431);
    assert_eq!(page.send(b"nonsense\r\n\r\n").await.status, 400);
    let origin = format!("http://{address}");
    let headers = [("Cookie", key.as_str()), ("Origin", origin.as_str())];
    let large = page.ask("POST", "/find", &headers, &"x".repeat(20_000)).await;
    assert_eq!(large.status, 413, "{large:?}");
    let deep = page.ask("GET", &format!("/?{}", "a=1&".repeat(2000)), &[], "").await;
    assert_eq!(deep.status, 200);
    // A body that never comes: an answer, and the end.
    let slow = format!(
        "POST /find HTTP/1.1\r\nHost: {address}\r\nCookie: {key}\r\nOrigin: {origin}\r\nContent-Length: 50\r\n\r\nwo"
    );
    assert_eq!(page.send(slow.as_bytes()).await.status, 413);
    // A head that never ends is not waited for.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "it waits for ever");
    page.running.end().await;
}
