//! The page lives: who looks at it is told when something changes, and what that costs.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{NewDocument, NewPdf};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{PAGE, Page};
use crate::dictated::{pdf, practice_with_small};
use crate::harness::PATIENCE;

/// A page that is open.
struct Looks {
    stream: TcpStream,
    heard: String,
}

impl Looks {
    async fn at(page: &Page) -> Self {
        let mut stream = TcpStream::connect(page.address).await.unwrap();
        let asked = format!("GET /changes HTTP/1.1\r\nHost: {}\r\n\r\n", page.address);
        stream.write_all(asked.as_bytes()).await.unwrap();
        Self { stream, heard: String::new() }
    }

    /// Hears for so long, or until the other side ends it.
    async fn hear(&mut self, time: Duration) {
        let until = Instant::now() + time;
        let mut bytes = [0; 4096];
        while let Ok(Ok(read)) =
            tokio::time::timeout(until.saturating_duration_since(Instant::now()), self.stream.read(&mut bytes)).await
        {
            self.heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
            if read == 0 {
                return;
            }
        }
    }

    async fn hears(&mut self, sign: &str) {
        let began = Instant::now();
        while !self.heard.contains(sign) {
            assert!(began.elapsed() < PATIENCE, "no {sign} in {}", self.heard);
            self.hear(Duration::from_millis(200)).await;
        }
    }
}

#[tokio::test]
async fn a_page_is_told_when_something_changes_and_only_then() {
    let (practice, _) = practice_with_small(0).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let mut looks = Looks::at(&page).await;
    looks.hears("event: alive").await;
    for sign in ["HTTP/1.1 200", "text/event-stream", "no-store", "retry: 3000"] {
        assert!(looks.heard.to_lowercase().contains(&sign.to_lowercase()), "{sign} in {}", looks.heard);
    }
    // What the start has written is seen by then.
    looks.hear(Duration::from_secs(5)).await;
    looks.heard.clear();
    looks.hear(Duration::from_secs(5)).await;
    assert!(!looks.heard.contains("changed"), "nothing happened: {}", looks.heard);
    let letter = NewDocument {
        patient: Some(json!({"firstName": "Zoé", "lastName": "Zqxlast"})),
        pdf: NewPdf::Bytes(pdf("one")),
        ..NewDocument::default()
    };
    let uuid = practice.sandbox.add(letter).await.unwrap();
    page.press(&key, "/poll", "").await;
    looks.hears("event: changed").await;
    super::shows(&page, &key, "Zqxlast").await;
    assert!(!looks.heard.contains("Zqxlast") && !looks.heard.contains(&uuid), "{}", looks.heard);
    // It is over when the daemon ends, which does not wait for it.
    let began = Instant::now();
    page.running.end().await;
    looks.hear(PATIENCE).await;
    assert!(began.elapsed() < PATIENCE, "the page is told that it has ended");
}

#[tokio::test]
async fn no_more_are_told_than_there_is_room_for() {
    let (practice, _) = practice_with_small(0).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    let mut all = Vec::new();
    for _ in 0..16 {
        let mut looks = Looks::at(&page).await;
        looks.hears("event: alive").await;
        all.push(looks);
    }
    assert_eq!(page.get("/changes").await.status, 503);
    assert_eq!(page.get("/").await.status, 200, "the page itself is there");
    drop(all.pop());
    let began = Instant::now();
    loop {
        let mut looks = Looks::at(&page).await;
        looks.hear(Duration::from_millis(500)).await;
        if looks.heard.contains("event: alive") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "who leaves makes room: {}", looks.heard);
    }
    page.running.end().await;
}

#[tokio::test]
async fn a_page_renews_itself_without_a_script_and_answers_to_forms_do_not() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    let key = page.key(&practice).await;
    let refresh = "<noscript><meta http-equiv=\"refresh\" content=\"60; url=/\"></noscript>";
    for shown in [page.get("/").await, page.get("/?done=closed").await, page.with_key(&key).await] {
        assert!(shown.body.contains(refresh) && shown.body.contains("<main data-live=\"/\">"), "{}", shown.body);
        assert_eq!(shown.body.matches("<script").count(), 1);
        assert!(shown.body.contains("<script src=\"/page.js\" defer></script>"), "{}", shown.body);
    }
    let found = page.press(&key, "/find", "words=zoe").await;
    assert!(!found.body.contains("http-equiv") && !found.body.contains("<script"), "{}", found.body);
    let script = page.get("/page.js").await;
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    assert!(
        script.body.lines().count() < 150 && !script.body.contains("http://") && !script.body.contains("innerHTML =")
    );
    page.running.end().await;
}

/// Processor time of a process in milliseconds (Linux, proc_pid_stat(5)).
#[cfg(target_os = "linux")]
fn processor_ms(id: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let after_name = stat.rsplit_once(") ").unwrap().1;
    let fields: Vec<&str> = after_name.split(' ').collect();
    // The system counts in hundredths of a second.
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap() * 10).sum()
}

/// Three pages that stay open; of an hour that would be the sixtieth part.
#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "takes minutes: .ci/long runs it"]
async fn pages_that_are_open_cost_nearly_nothing_at_rest() {
    let (practice, _) = practice_with_small(3).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(3).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let mut took = Vec::new();
    for open in [0, 3] {
        let mut all = Vec::new();
        for _ in 0..open {
            all.push(Looks::at(&page).await);
        }
        let before = processor_ms(page.running.id());
        tokio::time::sleep(Duration::from_secs(60)).await;
        took.push(processor_ms(page.running.id()) - before);
    }
    println!("a minute at rest {} ms of processor time, with three pages open {} ms", took[0], took[1]);
    assert!(took[1] < took[0] + 200, "{took:?}");
    page.running.end().await;
}
