//! A web server and a mail server that keep what they get. Both are small on purpose: they understand what docsyncd
//! sends.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::harness::PATIENCE;

/// What a web server answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer {
    Status(u16),
    /// 200 with a page for people.
    Page,
    /// The request is read, and nothing comes.
    Never,
    /// The request is read, and the connection ends.
    HangsUp,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header_map(&self) -> standardwebhooks_http::HeaderMap {
        let mut map = standardwebhooks_http::HeaderMap::new();
        for (name, value) in &self.headers {
            let name: standardwebhooks_http::HeaderName = name.parse().unwrap();
            map.insert(name, value.parse().unwrap());
        }
        map
    }
}

use reqwest::header as standardwebhooks_http;

/// What a server got so far, and how to wait for more.
struct Kept<T> {
    all: Mutex<Vec<T>>,
    grown: watch::Sender<usize>,
}

impl<T: Clone> Kept<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self { all: Mutex::new(Vec::new()), grown: watch::channel(0).0 })
    }

    fn push(&self, one: T) {
        self.all.lock().unwrap().push(one);
        self.grown.send_modify(|count| *count += 1);
    }

    fn all(&self) -> Vec<T> {
        self.all.lock().unwrap().clone()
    }

    async fn wait_for(&self, count: usize, what: &str) {
        let mut grown = self.grown.subscribe();
        let waited = tokio::time::timeout(PATIENCE, grown.wait_for(|have| *have >= count)).await;
        assert!(waited.is_ok(), "{what}: {} of {count} came", self.all().len());
    }
}

/// A web server.
pub struct WebServer {
    port: u16,
    kept: Arc<Kept<Request>>,
    answer: Arc<Mutex<Answer>>,
    task: JoinHandle<()>,
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl WebServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, kept) = (listener.local_addr().unwrap().port(), Kept::new());
        let answer = Arc::new(Mutex::new(Answer::Status(200)));
        let (keeps, answers) = (Arc::clone(&kept), Arc::clone(&answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (keeps, answers) = (Arc::clone(&keeps), Arc::clone(&answers));
                tokio::spawn(async move { serve_web(stream, &keeps, &answers).await });
            }
        });
        Self { port, kept, answer, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn answer(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    pub fn requests(&self) -> Vec<Request> {
        self.kept.all()
    }

    /// Method and path of each request.
    pub fn paths(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.line.trim_end_matches(" HTTP/1.1").to_owned()).collect()
    }

    /// What was posted.
    pub fn messages(&self) -> Vec<Value> {
        let posts = self.requests().into_iter().filter(|request| request.line.starts_with("POST "));
        posts.map(|request| serde_json::from_str(&request.body).unwrap()).collect()
    }

    pub async fn wait_for(&self, count: usize) {
        self.kept.wait_for(count, "requests").await;
    }
}

/// One request a connection.
async fn serve_web(stream: TcpStream, kept: &Kept<Request>, answer: &Mutex<Answer>) {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let chosen = *answer.lock().unwrap();
    kept.push(Request { line: lines[0].clone(), headers, body: String::from_utf8(body).unwrap() });
    let answered = match chosen {
        Answer::Never => std::future::pending().await,
        Answer::HangsUp => return,
        Answer::Status(code) => format!("HTTP/1.1 {code} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
        Answer::Page => {
            let page = "<!DOCTYPE html><title>Welcome</title>";
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            )
        }
    };
    let _ = stream.write_all(answered.as_bytes()).await;
}

/// A mail as it came.
#[derive(Debug, Clone)]
pub struct ReceivedMail {
    pub to: Vec<String>,
    pub data: String,
}

/// A mail server without encryption (RFC 5321). It knows nobody called `gone`.
pub struct MailServer {
    pub port: u16,
    kept: Arc<Kept<ReceivedMail>>,
    task: JoinHandle<()>,
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, kept) = (listener.local_addr().unwrap().port(), Kept::new());
        let keeps = Arc::clone(&kept);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let keeps = Arc::clone(&keeps);
                tokio::spawn(async move { serve_mail(stream, &keeps).await });
            }
        });
        Self { port, kept, task }
    }

    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.kept.all()
    }

    pub async fn wait_for(&self, count: usize) {
        self.kept.wait_for(count, "mails").await;
    }
}

async fn serve_mail(stream: TcpStream, kept: &Kept<ReceivedMail>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 test ESMTP\r\n").await.ok()?;
    let mut to = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let verb = line.split([' ', '\r']).next().unwrap().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-test\r\n250 8BITMIME\r\n",
            "RCPT" if line.contains("gone@") => "550 no such user\r\n",
            "RCPT" => {
                to.push(line.split(['<', '>']).nth(1).unwrap().to_owned());
                "250 ok\r\n"
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.ok()?;
                let mut data = String::new();
                while !data.ends_with("\r\n.\r\n") {
                    if stream.read_line(&mut data).await.ok()? == 0 {
                        return None;
                    }
                }
                kept.push(ReceivedMail { to: std::mem::take(&mut to), data });
                "250 taken\r\n"
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await.ok()?;
                return Some(());
            }
            _ => "250 ok\r\n",
        };
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}
