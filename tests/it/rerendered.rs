//! A letter that is rendered anew while its old version waits is filed too, whatever the report's answer shows (promise
//! 1). The API is a script here: it changes the letter in the very moment in which it answers.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docsyncd_test_support::scripted;

use crate::dictated::pdf;
use crate::harness::{PATIENCE, Practice, Running};

mod waits;

const UUID: &str = "01950001-0000-7000-8000-0abc00000001";

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    List,
    /// The list of the synchronized documents.
    Synchronized,
    Document,
    Pdf,
    Success,
    Failure,
}

/// The letter as the API has it.
struct Letter {
    /// 0: it is being rendered.
    version: usize,
    /// What is padded to the first version.
    padding: usize,
    /// The server that was asked last.
    host: String,
    asked: Vec<Asked>,
    /// The versions that the API had when it took a report, and whether that was of success.
    told: Vec<(usize, bool)>,
}

impl Letter {
    fn times(&self, what: Asked) -> usize {
        self.asked.iter().filter(|asked| **asked == what).count()
    }

    /// Of the second version: long enough for two looks that do not show it.
    fn takes_a_while(&self) -> bool {
        self.version == 2 && (self.times(Asked::Synchronized) < 2 || self.times(Asked::List) < 16)
    }

    fn bytes(&self) -> Vec<u8> {
        pdf(&format!("version {}{}", self.version, " ".repeat(if self.version == 1 { self.padding } else { 0 })))
    }

    fn shown(&self) -> String {
        let address = &self.host;
        let pdf = match self.version {
            0 => "null".to_owned(),
            version => format!(r#"{{"uuid": "pdf-{version}", "url": "http://{address}/files/{version}"}}"#),
        };
        format!(r#"{{"uuid": "{UUID}", "createdAt": "2026-11-20T10:00:00+00:00", "type": "lab_slip", "pdf": {pdf}}}"#)
    }

    fn answer(&mut self, asked: Asked) -> (u16, Vec<u8>) {
        match asked {
            Asked::List if self.told.is_empty() => (200, format!("[{}]", self.shown()).into()),
            Asked::Synchronized if !self.told.is_empty() => (200, format!("[{}]", self.shown()).into()),
            Asked::List | Asked::Synchronized => (200, b"[]".to_vec()),
            Asked::Document => (200, self.shown().into()),
            Asked::Pdf => (200, self.bytes()),
            Asked::Success | Asked::Failure => {
                self.told.push((self.version, asked == Asked::Success));
                (200, self.shown().into())
            }
        }
    }
}

/// What the script says instead of the proper answer: a status, and a body or the proper one's.
type Script = dyn Fn(&mut Letter, Asked) -> Option<(u16, String)> + Send + Sync;

/// An API with one letter.
fn serve(padding: usize, script: Box<Script>) -> (SocketAddr, Arc<Mutex<Letter>>) {
    let letter =
        Arc::new(Mutex::new(Letter { version: 1, padding, host: String::new(), asked: Vec::new(), told: Vec::new() }));
    let kept = letter.clone();
    let address = scripted::serve(move |head, body| {
        let asked = match head.split(' ').nth(1).unwrap() {
            path if path.contains("synchronized=true") => Asked::Synchronized,
            path if path.starts_with("/documents?") => Asked::List,
            path if path.starts_with("/files/") => Asked::Pdf,
            path if !path.ends_with("/status") => Asked::Document,
            _ if String::from_utf8_lossy(body).contains("true") => Asked::Success,
            _ => Asked::Failure,
        };
        let mut letter = kept.lock().unwrap();
        let host = head.split("host: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
        letter.host = host.to_owned();
        letter.asked.push(asked);
        let (status, body) = match script(&mut letter, asked) {
            Some((status, body)) => (status, body.into_bytes()),
            None => letter.answer(asked),
        };
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        [head.into_bytes(), body].concat()
    });
    (address, letter)
}

struct Told {
    practice: Practice,
    letter: Arc<Mutex<Letter>>,
    running: Running,
}

impl Told {
    /// A practice whose API is this script, and that runs.
    async fn by(padding: usize, poll: &str, script: Box<Script>) -> Self {
        Self::set(padding, &[("SYNC__POLL_INTERVAL", poll)], script).await
    }

    /// The same, with these settings.
    async fn set(padding: usize, settings: &[(&str, &str)], script: Box<Script>) -> Self {
        Self::of(Practice::with_documents(0).await, padding, settings, script).await
    }

    /// The same, in this practice.
    async fn of(mut practice: Practice, padding: usize, settings: &[(&str, &str)], script: Box<Script>) -> Self {
        let (address, letter) = serve(padding, script);
        practice.configure("file_name = \"letter.pdf\"");
        for (key, value) in [("API__BASE_URL", format!("http://{address}").as_str()), ("SYNC__MAX_PDF_BYTES", "1KiB")]
            .iter()
            .chain(settings)
        {
            practice.env.insert(format!("DOCSYNCD__{key}"), (*value).to_owned());
        }
        let running = practice.run().await;
        Self { practice, letter, running }
    }

    async fn until(&self, what: &str, holds: impl Fn(&Letter, usize) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let filed = self.practice.filed().len();
            let (holds, seen) = {
                let letter = self.letter.lock().unwrap();
                (holds(&letter, filed), format!("{:?} {:?} {filed}", letter.asked, letter.told))
            };
            if holds {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "{what}: {seen}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// What a server may answer to a report that it takes without showing the PDF.
fn silent() -> [String; 3] {
    [String::new(), format!(r#"{{"uuid": "{UUID}"}}"#), format!(r#"{{"uuid": "{UUID}", "pdf": null}}"#)]
}

#[tokio::test]
async fn a_version_that_is_rendered_while_its_report_is_taken_is_filed_when_that_had_to_wait() {
    for body in silent() {
        let script = move |letter: &mut Letter, asked| {
            (asked == Asked::Success).then(|| match letter.times(Asked::Success) {
                ..=3 => (503, String::new()),
                _ => {
                    letter.told.push((letter.version, true));
                    letter.version = 2;
                    (200, body.clone())
                }
            })
        };
        let told = Told::by(0, "1h", Box::new(script)).await;
        told.until("both are filed and told", |letter, filed| filed == 2 && letter.told.last() == Some(&(2, true)))
            .await;
    }
}

#[tokio::test]
async fn what_goes_through_at_once_is_told_once_and_read_once_more_only_where_the_answer_shows_no_pdf() {
    let shown = [None].into_iter().chain(silent().map(Some));
    for body in shown {
        let reads = 1 + usize::from(body.is_some());
        let script = move |letter: &mut Letter, asked| {
            let body = body.clone().filter(|_| asked == Asked::Success)?;
            letter.told.push((letter.version, true));
            Some((200, body))
        };
        let mut told = Told::by(0, "1h", Box::new(script)).await;
        told.running.wait_for_log("event=\"reported\"").await;
        let letter = told.letter.lock().unwrap();
        let each = [Asked::Document, Asked::Pdf, Asked::Success].map(|asked| letter.times(asked));
        assert_eq!(each, [reads, 1, 1], "{:?}", letter.asked);
    }
}

#[tokio::test]
async fn a_version_that_is_rendered_during_the_download_of_the_old_one_is_filed_whatever_the_answer_shows() {
    for body in silent() {
        let script = move |letter: &mut Letter, asked| match asked {
            Asked::Pdf if letter.version == 1 => {
                let old = String::from_utf8(letter.bytes()).unwrap();
                letter.version = 2;
                Some((200, old))
            }
            // A page that is just too old.
            Asked::List if letter.version == 2 && letter.told.is_empty() => {
                let item = format!(
                    r#"{{"uuid": "{UUID}", "createdAt": "2026-11-20T10:00:00+00:00", "pdf": {{"uuid": "pdf-1"}}}}"#
                );
                Some((200, format!("[{item}]")))
            }
            Asked::Success => {
                letter.told.push((letter.version, true));
                Some((200, body.clone()))
            }
            _ => None,
        };
        let told = Told::by(0, "1h", Box::new(script)).await;
        told.until("both are filed", |letter, filed| filed == 2 && letter.times(Asked::Success) == 2).await;
    }
}

#[tokio::test]
async fn a_version_that_is_rendered_while_the_failure_of_the_old_one_is_told_is_filed() {
    let [silent, ..] = silent();
    // Too large, or refused; told at once or after some tries; the answer shows the new version or nothing.
    for (padding, refused, fails, shows) in [(5000, false, 0, true), (5000, false, 3, false), (0, true, 3, true)] {
        let silent = silent.clone();
        let script = move |letter: &mut Letter, asked| match asked {
            Asked::Document if refused && letter.version == 1 => Some((403, String::new())),
            Asked::Failure if letter.times(Asked::Failure) <= fails => Some((503, String::new())),
            Asked::Failure if letter.version == 1 => {
                letter.version = 2;
                letter.told.push((1, false));
                (!shows).then(|| (200, silent.clone()))
            }
            _ => None,
        };
        let told = Told::by(padding, "1h", Box::new(script)).await;
        let what = format!("{padding} {refused} {fails} {shows}");
        told.until(&what, |letter, filed| filed == 1 && letter.told.last() == Some(&(2, true))).await;
    }
}

#[tokio::test]
async fn no_failure_is_told_of_a_version_that_was_replaced_while_its_report_waited() {
    let script = move |letter: &mut Letter, asked| {
        (asked == Asked::Failure).then(|| {
            letter.version = 2;
            (503, String::new())
        })
    };
    let told = Told::by(5000, "1h", Box::new(script)).await;
    told.until("the new one is told", |letter, filed| filed == 1 && letter.told == [(2, true)]).await;
}

#[tokio::test]
async fn nothing_is_told_of_a_version_while_the_api_shows_none() {
    let script = move |letter: &mut Letter, asked| match asked {
        Asked::Success if letter.times(Asked::Success) == 1 => {
            letter.version = 0;
            Some((503, String::new()))
        }
        // Three looks, and it is there again.
        Asked::Document if letter.times(Asked::Document) == 4 => {
            letter.version = 1;
            None
        }
        _ => None,
    };
    let told = Told::by(0, "1s", Box::new(script)).await;
    told.until("it is told when it is shown", |letter, filed| filed == 1 && letter.told == [(1, true)]).await;
}

/// A join over its PDFs shows the document once for each of them.
#[tokio::test]
async fn a_list_that_shows_a_letter_with_two_pdfs_is_read_once_a_poll() {
    let script = |letter: &mut Letter, asked| {
        let both = |letter: &Letter| {
            let old = Letter { version: 2, padding: 0, host: letter.host.clone(), asked: Vec::new(), told: Vec::new() };
            (200, format!("[{},{}]", letter.shown(), old.shown()))
        };
        (asked == Asked::List && letter.told.is_empty()).then(|| both(letter))
    };
    let told = Told::by(0, "300ms", Box::new(script)).await;
    told.until("it is filed and told", |letter, filed| filed == 1 && letter.told == [(1, true)]).await;
    let lists = told.letter.lock().unwrap().times(Asked::List);
    assert!(lists < 20, "{lists} lists were read");
}

#[tokio::test]
async fn an_api_that_shows_another_pdf_after_every_report_is_given_versions_ever_more_rarely() {
    let script = |letter: &mut Letter, asked| {
        (asked == Asked::Success).then(|| {
            letter.told.push((letter.version, true));
            letter.version += 1;
            (200, letter.shown())
        })
    };
    let mut told = Told::by(0, "1h", Box::new(script)).await;
    told.running.wait_for_log("another PDF again and again").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let versions = told.practice.filed().len();
    assert!((4..=6).contains(&versions), "{versions} versions were filed");
}

/// It was rendered anew while the old one was downloaded, and all that was read of it until the report lagged behind.
#[tokio::test]
async fn a_version_that_only_the_looks_after_a_report_show_is_filed() {
    let script = |letter: &mut Letter, asked| {
        (asked == Asked::Success && letter.version == 1).then(|| {
            letter.told.push((1, true));
            let old = letter.shown();
            letter.version = 2;
            (200, old)
        })
    };
    let told = Told::by(0, "300ms", Box::new(script)).await;
    told.until("the new one is filed and told", |letter, filed| filed == 2 && letter.told.last() == Some(&(2, true)))
        .await;
}

#[tokio::test]
async fn a_list_that_shows_another_pdf_after_every_report_brings_versions_ever_more_rarely() {
    let script = |letter: &mut Letter, asked| match asked {
        Asked::Success => {
            letter.told.push((letter.version, true));
            let told = letter.shown();
            letter.version += 1;
            Some((200, told))
        }
        Asked::List => Some((200, format!("[{}]", letter.shown()))),
        Asked::Synchronized => Some((200, "[]".to_owned())),
        _ => None,
    };
    let mut told = Told::by(0, "300ms", Box::new(script)).await;
    told.running.wait_for_log("another PDF again and again").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let versions = told.practice.filed().len();
    assert!((4..=6).contains(&versions), "{versions} versions were filed");
}
