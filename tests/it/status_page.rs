//! The status page and /metrics, over real sockets: what the daemon answers, to whom, and what hostile browsers cost.

// Unix only: a small file system, mounted for the daemon alone.
#[cfg(unix)]
mod full;
mod guarded;
mod hostile;
mod letter;
mod live;
mod measured;
mod network;
mod opened;
mod patients;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{PATIENCE, Practice, Running};

/// What the configuration says for a page on any free port.
pub const PAGE: &str = "[status_page]\nlisten = \"127.0.0.1:0\"\n";

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, Vec<String>>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|values| values.first()).map_or("", String::as_str)
    }

    /// `name=value` of every cookie that it sets.
    pub fn cookies(&self) -> Vec<String> {
        let set = self.headers.get("set-cookie").cloned().unwrap_or_default();
        set.iter().map(|cookie| cookie.split(';').next().unwrap().to_owned()).collect()
    }

    /// The token that its forms carry.
    pub fn token(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"token\" value=\"").expect("a form");
        rest.split('"').next().unwrap().to_owned()
    }
}

/// A daemon with its page.
pub struct Page {
    pub running: Running,
    pub address: SocketAddr,
}

impl Page {
    /// Starts the practice's daemon and waits until the page is there.
    pub async fn of(practice: &Practice) -> Self {
        let mut running = practice.run().await;
        running.wait_for_log("the status page is at http://").await;
        let address = address_in(&running.log());
        Self { running, address }
    }

    /// Sends exactly this and reads to the end.
    pub async fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        read(stream).await
    }

    /// A request with these headers, besides `Host`.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            let kind = "application/x-www-form-urlencoded";
            request.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
        }
        self.send(format!("{request}\r\n{body}").as_bytes()).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    /// What a browser has that was opened by `docsyncd open`: the cookie.
    pub async fn key(&self, practice: &Practice) -> String {
        let printed = practice.docsyncd(&["open", "--print"]).await;
        assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{printed:?}");
        let (_, path) = printed.stdout.trim().split_once(&self.address.to_string()).expect("the page's own address");
        let opened = self.get(path).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        opened.cookies().remove(0)
    }

    /// The page with this cookie.
    pub async fn with_key(&self, cookie: &str) -> Answer {
        self.ask("GET", "/", &[("Cookie", cookie), ("Accept-Language", "en")], "").await
    }

    /// A form of the page, sent as a browser does.
    pub async fn press(&self, cookie: &str, path: &str, fields: &str) -> Answer {
        let token = self.with_key(cookie).await.token();
        let origin = format!("http://{}", self.address);
        self.ask("POST", path, &[("Cookie", cookie), ("Origin", &origin)], &format!("token={token}&{fields}")).await
    }
}

/// The page with the key, once it shows this.
pub async fn shows(page: &Page, key: &str, sign: &str) -> String {
    let began = std::time::Instant::now();
    loop {
        let shown = page.with_key(key).await.body;
        if shown.contains(sign) {
            return shown;
        }
        assert!(began.elapsed() < PATIENCE, "no {sign} in {shown}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

pub fn address_in(log: &str) -> SocketAddr {
    let (_, rest) = log.rsplit_once("the status page is at http://").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

/// Reads an answer to its end.
pub async fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // One that is reset after the answer was sent is an answer, too.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an end");
    parsed(&bytes)
}

/// An answer from its bytes.
pub fn parsed(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        headers.entry(name.to_lowercase()).or_default().push(value.to_owned());
    }
    Answer { status, headers, body: body.to_owned() }
}
