//! Where requests may go, and where not.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// A client of an API on the Internet (RFC 5737). It uses http, so that the test needs no certificates.
fn transport(pdf_hosts: &[&str]) -> Transport {
    Transport::new(&config(pdf_hosts)).unwrap()
}

fn config(pdf_hosts: &[&str]) -> ApiConfig {
    ApiConfig {
        base_url: "http://192.0.2.1/".parse().unwrap(),
        app_url: None,
        authorization_page: None,
        timeout: Duration::from_secs(20),
        ca_file: None,
        proxy: None,
        pdf_hosts: pdf_hosts.iter().map(|host| (*host).to_owned()).collect(),
    }
}

async fn read_head(stream: &mut tokio::net::TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    head
}

async fn get(transport: &Transport, url: &str) -> Result<Response, ApiError> {
    let token = SecretString::from("token");
    transport.send(Method::GET, url.parse().unwrap(), &token, Reach::Pdf, None).await
}

#[tokio::test]
async fn a_proxy_that_cannot_be_reached_is_named_and_not_the_api() {
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = closed.local_addr().unwrap().port();
    let proxy = format!("http://user:canary@127.0.0.1:{port}/");
    let transport = Transport::new(&ApiConfig {
        base_url: "http://localhost:1/".parse().unwrap(),
        proxy: Some(proxy.parse().unwrap()),
        ..config(&[])
    });
    let refused = get(&transport.unwrap(), "http://localhost:1/documents").await.unwrap_err().to_string();
    let told = format!("the proxy 127.0.0.1:{port} (api.proxy) cannot be reached: the connection is refused");
    assert_eq!(refused, told);
}

#[tokio::test]
async fn a_download_does_not_go_to_this_machine_whether_anybody_listens_there_or_not() {
    let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = open.local_addr().unwrap().port();
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let other = closed.local_addr().unwrap().port();
    let transport = transport(&["files.practice.test"]);
    for host in ["127.0.0.1", "2130706433", "127.1", "localhost", "[::ffff:127.0.0.1]"] {
        let said = async |port| {
            let refused = get(&transport, &format!("https://{host}:{port}/")).await.unwrap_err();
            assert!(matches!(refused, ApiError::RefusedAddress(_)), "{host}: {refused:?}");
            refused.to_string().replace(&format!(":{port}"), "")
        };
        assert_eq!(said(port).await, said(other).await, "{host}");
    }
    let nobody = tokio::time::timeout(Duration::from_millis(1), open.accept()).await;
    assert!(nobody.is_err(), "no connection was made");
}

#[tokio::test]
async fn a_named_host_is_asked_for_a_pdf_without_the_token() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://localhost:{}/", server.local_addr().unwrap().port());
    let served = tokio::spawn(async move {
        let (mut stream, _) = server.accept().await.unwrap();
        let head = read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await.unwrap();
        String::from_utf8(head).unwrap().to_ascii_lowercase()
    });
    let transport = transport(&["localhost"]);
    assert_eq!(get(&transport, &url).await.unwrap().status(), 200);
    let head = served.await.unwrap();
    assert!(head.contains("accept: application/pdf,") && !head.contains("authorization"), "{head}");
}

/// docsyncd requests no ranges: a 206 is no whole PDF, however well it begins (RFC 9110, section 15.3.7).
#[tokio::test]
async fn a_part_is_not_taken_for_the_whole() {
    for (status, is_taken) in [("200 OK", true), ("203 X", true), ("206 Partial Content", false)] {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/", server.local_addr().unwrap().port());
        let served = tokio::spawn(async move {
            let (mut stream, _) = server.accept().await.unwrap();
            read_head(&mut stream).await;
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\nConnection: close\r\n\r\n%PDF-");
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let bearer = Bearer::just_issued("main", &SecretString::from("token"));
        let transport = transport(&["localhost"]);
        let answer = transport.send_ok(Method::GET, url.parse().unwrap(), &bearer, Reach::Pdf, None).await;
        assert_eq!(answer.is_ok(), is_taken, "{status}");
        served.await.unwrap();
    }
}

/// Serves requests one after the other, each on its own connection, with `answer` applied to the head.
async fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://localhost:{}/", server.local_addr().unwrap().port());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = server.accept().await.unwrap();
            let head = String::from_utf8(read_head(&mut stream).await).unwrap();
            stream.write_all(&answer(&head)).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn an_answer_with_many_headers_is_taken_and_one_with_far_too_many_is_told_by_that() {
    let transport = transport(&["localhost"]);
    for (count, is_taken) in [(120, true), (900, true), (1100, false)] {
        let more: String = (0..count).map(|number| format!("Cache-Tag-{number}: letter\r\n")).collect();
        let head = format!("HTTP/1.1 200 OK\r\n{more}Connection: close\r\n\r\n");
        let url = serve(move |_| head.clone().into_bytes()).await;
        let refused = get(&transport, &url).await.err().map(|error| error.to_string());
        assert_eq!(refused.is_none(), is_taken, "{count}: {refused:?}");
        let says = "its answer's headers are larger than 256 KB, or more than 1000";
        assert!(refused.is_none_or(|refused| refused.ends_with(says)));
    }
}

#[tokio::test]
async fn a_redirect_to_a_name_in_latin_1_or_utf_8_is_followed() {
    let transport = transport(&["localhost"]);
    for (name, asked) in [(&b"M\xfcller.pdf"[..], "M%FCller.pdf"), ("Müller.pdf".as_bytes(), "M%C3%BCller.pdf")] {
        let url = serve(move |head| match head.contains("GET / ") {
            true => [b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /files/", name, b"\r\n\r\n"].concat(),
            false => format!(
                "HTTP/1.1 {} X\r\nConnection: close\r\n\r\n",
                if head.contains(&format!("GET /files/{asked} ")) { 200 } else { 404 }
            )
            .into_bytes(),
        })
        .await;
        assert_eq!(get(&transport, &url).await.unwrap().status(), 200, "{asked}");
    }
}
