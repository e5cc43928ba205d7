//! A documents API that costs almost nothing to serve, so that a benchmark measures the client: `bench-server DOCUMENTS
//! PDF_BYTES [LATENCY_MS]`. It prints its address and serves until it is killed. No authentication, no order but the
//! one of creation; whatever else the API can do is the sandbox's.
//!
//! `GET /state` says how many documents are synchronized, and how many reports and downloads there were.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Documents of one page at most, as the API's.
const MAX_PAGE: usize = 100;
const USER: &str = "6a8f1a0e-0000-4000-8000-000000000001";

struct Document {
    uuid: String,
    created_at: String,
    /// As the list shows it.
    item: String,
    /// As a read shows it.
    whole: String,
    synchronized: Cell<bool>,
}

struct Practice {
    documents: Vec<Document>,
    pdf: Vec<u8>,
    latency: Duration,
    reports: Cell<usize>,
    downloads: Cell<usize>,
}

/// One second apart, in months of 28 days.
fn created_at(second: usize) -> String {
    let (day, second) = (second / 86_400, second % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("2025-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}+00:00", 1 + day / 28, 1 + day % 28)
}

impl Document {
    fn new(number: usize, address: &str, bytes: usize) -> Self {
        // Spread, as the real ones are.
        let spread = number.wrapping_mul(2_654_435_761) & 0xffff_ffff;
        let uuid = format!("{spread:08x}-1111-4111-8111-{number:012x}");
        let pdf = format!("{number:08x}-2222-4222-8222-{number:012x}");
        let patient = format!("00000000-3333-4333-8333-{:012x}", number % 500);
        let at = created_at(number);
        let times = format!(r#""createdAt":"{at}","updatedAt":"{at}""#);
        let head = format!(
            r#""uuid":"{uuid}",{times},"encounteredAt":null,"audio":null,"type":"lab_slip","isAnonymized":false,"genericContactSpecialty":"""#
        );
        let item = format!(r#"{{{head},"user":"{USER}","patient":"{patient}","pdf":"{pdf}"}}"#);
        let user = format!(
            r#"{{"uuid":"{USER}","email":"d@example.test",{times},"firstName":"Ada","lastName":"Doc","gender":"female","phone":null,"rpps":"12345678901","am":null}}"#
        );
        let patient = format!(
            r#"{{"uuid":"{patient}","firstName":"Zoé","lastName":"Name{:05}","languageSpoken":"fr",{times},"synchronizedAt":null,"dateOfBirth":"1980-02-29","gender":"female","user":"{USER}","visibilityOption":"shared","email":null,"phone":null,"anonymousCode":null}}"#,
            number % 500
        );
        let pdf = format!(
            r#"{{"uuid":"{pdf}","name":"doc.pdf","size":{bytes},{times},"url":"http://{address}/media/{number}","fileName":"document-{number}.pdf"}}"#
        );
        let whole = format!(r#"{{{head},"user":{user},"patient":{patient},"pdf":{pdf},"documentIntegrations":[]}}"#);
        Self { uuid, created_at: at, item, whole, synchronized: Cell::new(false) }
    }
}

/// No compressible content, so that nothing on the way can make it shorter; each document's end is its own.
fn pdf(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    b"%PDF-1.4\n".iter().copied().chain(noise).take(bytes).collect()
}

struct Answer {
    status: &'static str,
    media_type: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn json(body: String) -> Self {
        Self { status: "200 OK", media_type: "application/json", body: body.into_bytes() }
    }
}

impl Practice {
    fn answer(&self, target: &str, body: &[u8]) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path == "/documents" {
            return Answer::json(self.list(query));
        }
        if path == "/state" {
            let synchronized = self.documents.iter().filter(|document| document.synchronized.get()).count();
            let (reports, downloads) = (self.reports.get(), self.downloads.get());
            return Answer::json(format!(
                r#"{{"synchronized":{synchronized},"reports":{reports},"downloads":{downloads}}}"#
            ));
        }
        if let Some(number) = path.strip_prefix("/media/") {
            self.downloads.set(self.downloads.get() + 1);
            let mut body = self.pdf.clone();
            let end = format!("{:>12}", number.get(..12).unwrap_or(number));
            let at = body.len().saturating_sub(end.len());
            body.splice(at.., end.bytes());
            return Answer { status: "200 OK", media_type: "application/pdf", body };
        }
        let document = path.strip_prefix("/documents/").and_then(|rest| {
            let (uuid, rest) = rest.split_at_checked(36)?;
            Some((self.find(uuid)?, rest))
        });
        match document {
            Some((document, "/status")) => {
                self.reports.set(self.reports.get() + 1);
                document.synchronized.set(body.windows(4).any(|part| part == b"true"));
                Answer::json(document.whole.clone())
            }
            Some((document, _)) => Answer::json(document.whole.clone()),
            None if path == "/me" => Answer::json(format!(r#"{{"uuid":"{USER}","email":"d@example.test"}}"#)),
            None => Answer { status: "404 Not Found", ..Answer::json("{}".to_owned()) },
        }
    }

    fn find(&self, uuid: &str) -> Option<&Document> {
        let number = usize::from_str_radix(uuid.get(24..)?, 16).ok()?;
        self.documents.get(number).filter(|document| document.uuid == uuid)
    }

    fn list(&self, query: &str) -> String {
        let query = query.replace("%5B", "[").replace("%5D", "]").replace("%3A", ":").replace("%2B", "+");
        let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
        let value = |key: &str| pairs().find(|(name, _)| *name == key);
        let number = |key, usual| value(key).and_then(|(_, text)| text.parse().ok()).unwrap_or(usual);
        let (size, page): (usize, usize) = (number("itemsPerPage", 20).min(MAX_PAGE), number("page", 1));
        let from = value("createdAt[gte]").map_or("", |(_, text)| text);
        let begin = self.documents.partition_point(|document| document.created_at.as_str() < from);
        let wanted = value("synchronized").map(|(_, text)| text == "true");
        let asked: Vec<&Document> =
            pairs().filter(|(key, _)| *key == "uuid[]").filter_map(|(_, uuid)| self.find(uuid)).collect();
        let among: &mut dyn Iterator<Item = &Document> =
            if asked.is_empty() { &mut self.documents[begin..].iter() } else { &mut asked.into_iter() };
        let shown = among.filter(|document| wanted.is_none_or(|wanted| document.synchronized.get() == wanted));
        let mut list = String::from("[");
        for document in shown.skip(size * page.saturating_sub(1)).take(size) {
            let comma = if list.len() > 1 { "," } else { "" };
            let _ = write!(list, "{comma}{}", document.item);
        }
        list + "]"
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut seen, mut chunk) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let head_end = loop {
                match seen.windows(4).position(|part| part == b"\r\n\r\n") {
                    Some(at) => break at + 4,
                    None => match stream.read(&mut chunk).await? {
                        0 => return Ok(()),
                        read => seen.extend_from_slice(&chunk[..read]),
                    },
                }
            };
            let head = String::from_utf8_lossy(&seen[..head_end]).into_owned();
            let length = head.lines().filter_map(|line| line.split_once(':'));
            let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let end = head_end + length.next().and_then(|(_, text)| text.trim().parse().ok()).unwrap_or(0_usize);
            while seen.len() < end {
                match stream.read(&mut chunk).await? {
                    0 => return Ok(()),
                    read => seen.extend_from_slice(&chunk[..read]),
                }
            }
            if !self.latency.is_zero() {
                tokio::time::sleep(self.latency).await;
            }
            let target = head.split(' ').nth(1).unwrap_or("/");
            let Answer { status, media_type, body } = self.answer(target, &seen[head_end..end]);
            seen.drain(..end);
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n");
            let mut answer = head.into_bytes();
            answer.extend_from_slice(&body);
            stream.write_all(&answer).await?;
        }
    }
}

async fn run(documents: usize, bytes: usize, latency: u64) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let practice = Rc::new(Practice {
        documents: (0..documents).map(|number| Document::new(number, &address, bytes)).collect(),
        pdf: pdf(bytes),
        latency: Duration::from_millis(latency),
        reports: Cell::new(0),
        downloads: Cell::new(0),
    });
    println!("listening on http://{address}");
    loop {
        let (stream, _) = listener.accept().await?;
        let practice = Rc::clone(&practice);
        tokio::task::spawn_local(async move {
            // A client that goes away is no matter.
            let _ = practice.serve(stream).await;
        });
    }
}

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut next = |usual| numbers.next().unwrap_or(Ok(usual)).map_err(io::Error::other);
    let (documents, bytes, latency) = (next(100)?, next(60 * 1024)?, next(0)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, run(documents, bytes, latency as u64))
}
