//! Where credentials go, when a wait ends, and the messages about unusable files.

use secrecy::SecretString;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::super::remote::Source;
use super::*;
use crate::config::Secret;
use crate::system::tls::TlsFiles;
use docsyncd_test_support::peer::Peer;

fn connection(origin: &str) -> WebConnection {
    let sign_in = WebSignIn::Bearer(Secret::Given(SecretString::from("t-1")));
    super::super::contract::connection(origin, sign_in)
}

fn impatient(origin: &str) -> WebConnection {
    WebConnection { timeout: Duration::from_millis(300), ..connection(origin) }
}

fn upload(size: usize) -> Option<Upload> {
    Some(Upload::of_source(Source::of_bytes(vec![7; size])))
}

#[tokio::test]
async fn credentials_go_to_the_configured_origin_and_nowhere_else() {
    let (peer, elsewhere) = (Peer::start().await, Peer::start().await);
    let client = WebClient::new(connection(&peer.url("/")));
    for at in [&peer, &elsewhere] {
        client.send(Request::new(Method::GET, at.url("/a").parse().unwrap())).await.unwrap();
    }
    let sent = |peer: &Peer| peer.received(&Method::GET)[0].header("authorization").map(str::to_owned);
    assert_eq!(sent(&peer).as_deref(), Some("Bearer t-1"));
    assert_eq!(sent(&elsewhere), None);
    let received = &elsewhere.received(&Method::GET)[0];
    assert_eq!(received.header("user-agent"), Some(http::USER_AGENT));
    assert_eq!(received.header("accept-encoding"), Some("identity"), "nothing here unpacks");
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_told_as_the_proxy() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let proxy = Some(format!("http://{nobody}").parse().unwrap());
    let client = WebClient::new(WebConnection { proxy, ..connection("http://dms.test:8080/") });
    let sent = client.send(Request::new(Method::GET, client.connection().origin.clone())).await;
    let words = format!("destination `pms`: the proxy {nobody} (destinations.pms.proxy): the connection is refused");
    assert_eq!(sent.err(), Some(Fault::Down("no_connection", words)));
}

/// A server that takes no more than fits into its buffers.
#[tokio::test]
async fn a_server_that_stops_reading_cannot_have_the_document_and_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = WebClient::new(impatient(&format!("http://{}/", listener.local_addr().unwrap())));
    let mut request = Request::new(Method::PUT, client.connection().origin.clone());
    request.body = upload(64 << 20);
    let (sent, _socket) = tokio::join!(client.send(request), listener.accept());
    assert!(matches!(sent, Err(Fault::Broken(reason)) if reason.contains("destinations.pms.timeout")));
}

/// The transfer takes longer than the limit for a standstill, and sends far more than both systems buffer.
#[tokio::test]
async fn a_slow_server_is_waited_for_as_long_as_it_goes_on() {
    const SIZE: usize = 64 << 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let client = WebClient::new(WebConnection { timeout: Duration::from_secs(2), ..connection(&origin) });
    let mut request = Request::new(Method::PUT, client.connection().origin.clone());
    request.body = upload(SIZE);
    let began = Instant::now();
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 1 << 20];
        let mut beat = tokio::time::interval(Duration::from_millis(1));
        let mut read = 0;
        while read < SIZE {
            let more = socket.read(&mut buffer).await.unwrap();
            assert!(more > 0, "the connection broke off");
            read += more;
            // So slowly that the whole takes longer than the limit.
            while began.elapsed() < Duration::from_secs(3) * u32::try_from(read >> 20).unwrap() / 64 {
                beat.tick().await;
            }
        }
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            .await
            .unwrap();
    };
    let (sent, ()) = tokio::join!(client.send(request), serve);
    assert_eq!(sent.unwrap().status, 201);
    assert!(began.elapsed() > Duration::from_secs(2));
}

/// Reads the head of a request, and nothing of its body.
async fn read_head(socket: &mut tokio::net::TcpStream) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(socket.read(&mut byte).await.unwrap(), 1, "the connection broke off");
        head.push(byte[0]);
    }
}

async fn answer(socket: &mut tokio::net::TcpStream, text: &[u8]) {
    tokio::io::AsyncWriteExt::write_all(socket, text).await.unwrap();
}

#[tokio::test]
async fn a_success_that_is_told_before_all_was_sent_is_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let client = WebClient::new(WebConnection { timeout: Duration::from_secs(20), ..connection(&origin) });
    for (status, is_answer) in [("201 Created", false), ("413 Content Too Large", true)] {
        let mut request = Request::new(Method::PUT, client.connection().origin.clone());
        request.body = upload(64 << 20);
        let serve = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            read_head(&mut socket).await;
            answer(&mut socket, format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await;
            socket
        };
        let (sent, _socket) = tokio::join!(client.send(request), serve);
        let fault = sent.map(|answer| answer.status).err();
        assert_eq!(fault.is_none(), is_answer, "{fault:?}");
        assert!(matches!(fault, None | Some(Fault::Lost(_))), "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_that_drips_ends_as_one_that_stands_still() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = WebClient::new(impatient(&format!("http://{}/", listener.local_addr().unwrap())));
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_head(&mut socket).await;
        answer(&mut socket, b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n").await;
        let mut beat = tokio::time::interval(Duration::from_millis(50));
        while tokio::io::AsyncWriteExt::write_all(&mut socket, b"x").await.is_ok() {
            beat.tick().await;
        }
    };
    let read = async {
        let request = Request::new(Method::GET, client.connection().origin.clone());
        let answer = client.send(request).await.unwrap();
        // A hundred times the given limit, which a busy machine may need, and far less than the answer would take.
        tokio::time::timeout(Duration::from_secs(30), answer.content(60_000, 4)).await.expect("the read does not end")
    };
    tokio::select! {
        content = read => assert!(content.is_broken && content.beginning == b"xxxx", "{content:?}"),
        () = serve => panic!("it was read to its end"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_drips_holds_up_nothing_for_longer_than_four_times_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let client = WebClient::new(WebConnection { timeout: Duration::from_secs(20), ..connection(&origin) });
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_head(&mut socket).await;
        answer(&mut socket, b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n").await;
        let mut beat = tokio::time::interval(Duration::from_secs(5));
        while tokio::io::AsyncWriteExt::write_all(&mut socket, b"[").await.is_ok() {
            beat.tick().await;
        }
    };
    let read = async {
        let answer = client.send(Request::new(Method::GET, client.connection().origin.clone())).await.unwrap();
        let began = Instant::now();
        assert_eq!(answer.json().await, Err(true));
        assert!(began.elapsed() >= Duration::from_secs(75) && began.elapsed() <= Duration::from_secs(90));
    };
    tokio::select! {
        () = read => {}
        () = serve => panic!("it was read to its end"),
    }
}

/// A server that closes a connection as soon as the client uses it again.
#[tokio::test]
async fn what_is_sent_to_a_server_that_closes_its_connections_arrives_and_nothing_but_looks_twice() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = WebClient::new(connection(&format!("http://{}/", listener.local_addr().unwrap())));
    let cut_off = std::cell::RefCell::new(Vec::new());
    let serve = async {
        let serving = futures_util::stream::FuturesUnordered::new();
        let mut serving = std::pin::pin!(serving);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(()) = futures_util::StreamExt::next(&mut serving) => continue,
            };
            let (mut socket, _) = accepted.unwrap();
            let cut_off = &cut_off;
            serving.push(async move {
                read_head(&mut socket).await;
                answer(&mut socket, b"HTTP/1.1 204 No Content\r\n\r\n").await;
                // It begins to read the next request, and does not answer it.
                let mut begin = [0; 3];
                if socket.read_exact(&mut begin).await.is_ok() {
                    cut_off.borrow_mut().push(String::from_utf8_lossy(&begin).into_owned());
                }
            });
        }
    };
    let ask = async {
        for method in ["GET", "HEAD", "PROPFIND", "MOVE", "DELETE", "POST", "GET", "PUT", "GET"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let sent = client.send(Request::new(method.clone(), client.connection().origin.clone())).await;
            assert_eq!(sent.unwrap().status, 204, "{method}");
        }
    };
    tokio::select! {
        () = ask => {}
        () = serve => {}
    }
    assert_eq!(cut_off.into_inner(), ["HEA", "DEL", "GET"]);
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path
    };
    let https = || connection("https://h.test/");
    let with = |tls| WebConnection { tls, ..https() };
    let key = Secret::File(write("key", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"));
    for (connection, sign) in [
        (
            with(TlsFiles { ca_file: Some(write("ca", "no certificate")), ..TlsFiles::default() }),
            "holds no PEM certificate",
        ),
        (with(TlsFiles { ca_file: Some(folder.path().join("none")), ..TlsFiles::default() }), "cannot be read"),
        (
            with(TlsFiles { client_certificate: Some((write("cert", "none"), key)), ..TlsFiles::default() }),
            "holds no PEM certificate",
        ),
        (
            WebConnection { sign_in: WebSignIn::Bearer(Secret::File(folder.path().join("none"))), ..https() },
            "bearer_token_file",
        ),
    ] {
        let wrong = WebClient::new(connection).configured().unwrap_err();
        assert!(wrong.contains(sign), "{wrong}");
    }
}

#[test]
fn a_sign_in_that_is_not_known_here_is_told_by_its_name() {
    for (values, expected) in [
        (&["Digest realm=\"a, b\", qop=\"auth,auth-int\", nonce=\"x\""][..], Some("Digest")),
        (&["Negotiate", "NTLM"], Some("Negotiate")),
        (&["ntlm TlRMTVNTUAAC=="], Some("NTLM")),
        (&["Digest realm=\"a\"", "Basic realm=\"a\""], None),
        (&["Digest realm=\"a\", Basic realm=\"Digest\""], None),
        (&["Bearer"], None),
        (&["ApiKey"], None),
        (&[], None),
    ] {
        let headers = values.iter().map(|value| (WWW_AUTHENTICATE, HeaderValue::from_static(value))).collect();
        assert_eq!(foreign_scheme(&headers), expected, "{values:?}");
    }
}

#[tokio::test]
async fn a_401_names_the_sign_in_and_not_the_password() {
    let peer = Peer::start().await;
    let client = WebClient::new(connection(&peer.url("/")));
    for (value, words) in
        [("Digest realm=\"Canaryworth\", nonce=\"x\"", "by Digest"), ("Basic realm=\"x\"", "password")]
    {
        let refusal = docsyncd_test_support::peer::Fault::Refuse(401, Some(("www-authenticate", value.to_owned())));
        peer.state().other_faults.push_back((Method::GET, refusal));
        let answer = client.send(Request::new(Method::GET, peer.url("/a").parse().unwrap())).await.unwrap();
        let outcome = client.of_status(answer.status, true, None);
        assert!(matches!(&outcome, Outcome::Unavailable { code: Code::Status(401), .. }), "{outcome:?}");
        assert!(outcome.reason().contains(words) && !outcome.reason().contains("Canaryworth"), "{outcome:?}");
    }
}
