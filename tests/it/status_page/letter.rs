//! A letter's own page: who sees it, what it says, its PDF, and what can be done there.

use docsyncd_sandbox::{NewDocument, NewPdf};
use serde_json::json;

use super::{Answer, PAGE, Page};
use crate::dictated::{pdf, practice_with_small};
use crate::harness::{PATIENCE, Practice};

/// A practice with one letter of a patient of this name.
async fn practice_with_letter(config: &str) -> (Practice, String) {
    let practice = Practice::with_documents(0).await;
    practice.configure(&format!("{config}{PAGE}"));
    let letter = NewDocument {
        document_type: Some(Some("prescription".to_owned())),
        patient: Some(json!({"firstName": "Zoé", "lastName": "Zqxlast"})),
        pdf: NewPdf::Bytes(pdf("one")),
        ..NewDocument::default()
    };
    let uuid = practice.sandbox.add(letter).await.unwrap();
    (practice, uuid)
}

async fn with_key(page: &Page, key: &str, path: &str) -> Answer {
    page.ask("GET", path, &[("Cookie", key), ("Accept-Language", "en")], "").await
}

/// The letter's page, once it shows this.
async fn shows(page: &Page, key: &str, uuid: &str, sign: &str) -> String {
    let began = std::time::Instant::now();
    loop {
        let shown = with_key(page, key, &format!("/letter/{uuid}")).await.body;
        if shown.contains(sign) {
            return shown;
        }
        assert!(began.elapsed() < PATIENCE, "no {sign} in {shown}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// The fields of the form that is sent there.
fn fields(shown: &str, action: &str) -> String {
    let form = shown.split("<form").find(|form| form.contains(&format!("action=\"{action}\"")));
    let form = form.unwrap_or_else(|| panic!("no {action} in {shown}"));
    let value = |name: &str| {
        let (_, rest) = form.split_once(&format!("name=\"{name}\" value=\"")).expect(name);
        format!("{name}={}", rest.split('"').next().unwrap())
    };
    ["letter", "uuid", "stands"].map(value).join("&")
}

/// The body of a chunked or whole answer is text here, and a PDF of the tests is, too.
fn assert_is_the_pdf(answer: &Answer) {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.body.as_bytes(), String::from_utf8_lossy(&pdf("one")).as_bytes());
}

#[tokio::test]
async fn a_letter_has_a_page_and_its_pdf_behind_the_key() {
    let (practice, uuid) = practice_with_letter("").await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    let (own, file) = (format!("/letter/{uuid}"), format!("/letter/{uuid}/pdf"));
    for path in [&own, &file] {
        let locked = page.get(path).await;
        assert_eq!(locked.status, 403, "{path} {locked:?}");
        assert!(!locked.body.contains("Zqxlast") && !locked.body.contains("inbox"), "{path} {}", locked.body);
    }
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, &uuid, "It is filed, and confirmed to the service.").await;
    let (name, _) = practice.filed().pop_first().unwrap();
    let place = practice.inbox().join(name).display().to_string();
    for sign in ["Zqxlast Zoé", "Prescription", "the file is on the disk", "Downloaded", "Filed at pms", "SHA-256"] {
        assert!(shown.contains(sign), "{sign} in {shown}");
    }
    let parts: String =
        place.split_inclusive(['/', '_']).map(|part| format!("<span class=\"part\">{part}</span>")).collect();
    assert!(shown.contains(&parts), "{parts} in {shown}");
    assert!(shown.contains(&format!("href=\"{file}\"")) && !shown.contains("action=\"/retry\""), "{shown}");
    let (_, title) = shown.split_once("<title>").unwrap();
    assert!(!title.split("</title>").next().unwrap().contains("Zqxlast"), "a browser keeps titles: {title}");
    assert!(page.with_key(&key).await.body.contains(&format!("<a href=\"{own}\">")), "the list leads there");
    let french = page.ask("GET", &own, &[("Cookie", &key), ("Accept-Language", "fr")], "").await.body;
    assert!(french.contains("Ce qui s'est passé") && french.contains("Téléchargé"), "{french}");
    assert!(!french.contains("page-") && !french.contains(">letter-") && !french.contains("event-"), "{french}");
    let answer = with_key(&page, &key, &file).await;
    assert_is_the_pdf(&answer);
    for (header, value) in [
        ("content-type", "application/pdf"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(header), value, "{header}");
    }
    assert!(answer.header("content-security-policy").starts_with("sandbox; default-src 'none'"), "{answer:?}");
    let named = answer.header("content-disposition");
    assert!(named.starts_with("inline") && !named.contains("Zqxlast"), "{named}");
    for (path, status) in [
        ("/letter/".to_owned(), 404),
        ("/letter/00000000-0000-0000-0000-000000000000".to_owned(), 404),
        ("/letter/00000000-0000-0000-0000-000000000000/pdf".to_owned(), 404),
        (format!("/letter/{}", &uuid[..8]), 404),
        (format!("/letter/{uuid}/pdf/x"), 404),
        ("/letter/../../etc/passwd".to_owned(), 404),
        ("/letter/..%2F..%2Fetc%2Fpasswd/pdf".to_owned(), 404),
        ("/letter/../pdf".to_owned(), 404),
    ] {
        assert_eq!(with_key(&page, &key, &path).await.status, status, "{path}");
    }
    assert_eq!(page.ask("POST", &file, &[("Cookie", &key)], "").await.status, 405);
    page.running.end().await;
    assert!(!page.running.log().contains("Zqxlast"));
}

#[tokio::test]
async fn only_the_file_that_was_filed_is_shown() {
    let (practice, uuid) = practice_with_letter("").await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    let key = page.key(&practice).await;
    shows(&page, &key, &uuid, "It is filed, and confirmed to the service.").await;
    let (name, _) = practice.filed().pop_first().unwrap();
    let (place, file) = (practice.inbox().join(name), format!("/letter/{uuid}/pdf"));
    let content = std::fs::read(&place).unwrap();
    for other in [b"something else".to_vec(), [content.as_slice(), b"x"].concat(), Vec::new()] {
        std::fs::write(&place, other).unwrap();
        let changed = with_key(&page, &key, &file).await;
        assert_eq!((changed.status, changed.header("content-type")), (404, "text/html; charset=utf-8"), "{changed:?}");
        assert!(changed.body.contains("not the file that docsyncd filed"), "{changed:?}");
        let own = with_key(&page, &key, &format!("/letter/{uuid}")).await.body;
        assert!(!own.contains(&format!("href=\"{file}\"")) && own.contains("Something else lies where"), "{own}");
    }
    std::fs::remove_file(&place).unwrap();
    let gone = with_key(&page, &key, &file).await;
    assert!(gone.status == 404 && gone.body.contains("does not lie on this computer"), "{gone:?}");
    // No link leads there; the service still has it, for this look alone.
    let own = with_key(&page, &key, &format!("/letter/{uuid}")).await.body;
    assert!(!own.contains(&format!("href=\"{file}\"")) && own.contains("action=\"/fetch\""), "{own}");
    let fetched = page.press(&key, "/fetch", &format!("uuid={uuid}")).await;
    assert_is_the_pdf(&fetched);
    assert_eq!((fetched.header("content-type"), fetched.header("cache-control")), ("application/pdf", "no-store"));
    assert!(practice.filed().is_empty(), "nothing was kept");
    #[cfg(unix)]
    {
        // The very bytes, but somewhere else.
        std::fs::write(practice.path("elsewhere.pdf"), &content).unwrap();
        std::os::unix::fs::symlink(practice.path("elsewhere.pdf"), &place).unwrap();
        assert_eq!(with_key(&page, &key, &file).await.status, 404);
        std::fs::remove_file(&place).unwrap();
    }
    std::fs::write(&place, &content).unwrap();
    assert_is_the_pdf(&with_key(&page, &key, &file).await);
    page.running.end().await;
}

#[tokio::test]
async fn the_pdf_of_a_letter_that_waits_comes_from_the_spool() {
    let (practice, uuid) = practice_with_letter("").await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, &uuid, "It is still to be filed.").await;
    assert!(shown.contains("to be filed</span>") && shown.contains("Try now"), "{shown}");
    assert_is_the_pdf(&with_key(&page, &key, &format!("/letter/{uuid}/pdf")).await);
    // The reason stands once, where it is from, and the letter leads there.
    let home = page.with_key(&key).await.body;
    assert!(
        home.contains("<a href=\"#destination-0\">See pms below.</a>") && home.contains("id=\"destination-0\""),
        "{home}"
    );
    std::fs::create_dir(practice.inbox()).unwrap();
    let pressed = page.press(&key, "/retry", &fields(&shows(&page, &key, &uuid, "Try now").await, "/retry")).await;
    assert!(pressed.header("location").starts_with(&format!("/letter/{uuid}?done=")), "{pressed:?}");
    shows(&page, &key, &uuid, "It is filed, and confirmed to the service.").await;
    page.running.end().await;
}

#[tokio::test]
async fn what_is_there_can_be_said_there_and_an_old_page_does_nothing() {
    let (practice, uuid) = practice_with_letter("confirm = \"taken\"\n").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, &uuid, "not yet taken by the practice").await;
    assert!(!shown.contains("action=\"/retry\""), "what lies there is not sent again: {shown}");
    let wanted = fields(&shown, "/arrived");
    for (fields, cookie) in [(wanted.replace("stands=", "stands=x"), Some(&key)), (wanted.clone(), None)] {
        let pressed = match cookie {
            Some(key) => page.press(key, "/arrived", &fields).await,
            None => page.ask("POST", "/arrived", &[("Cookie", &key)], &fields).await,
        };
        let refused = pressed.status == 403 || pressed.header("location") == format!("/letter/{uuid}?done=unknown");
        assert!(refused, "{pressed:?}");
        assert_eq!(practice.state(&uuid).await, "fetched");
    }
    let pressed = page.press(&key, "/arrived", &wanted).await;
    assert_eq!(pressed.header("location"), format!("/letter/{uuid}?done=arrived"), "{pressed:?}");
    let shown = shows(&page, &key, &uuid, "It is filed, and confirmed to the service.").await;
    assert!(shown.contains("seen there by a person"), "{shown}");
    let late = page.press(&key, "/arrived", &wanted).await;
    assert_eq!(late.header("location"), format!("/letter/{uuid}?done=unknown"), "{late:?}");
    let late = page.press(&key, "/retry", &wanted).await;
    assert_eq!(late.header("location"), format!("/letter/{uuid}?done=unknown"), "{late:?}");
    let exported = practice.docsyncd(&["export", "--from", "2020-01-01", "--to", "2999-12-31"]).await.stdout;
    assert!(exported.contains("arrived") && exported.contains("status page"), "{exported}");
    page.running.end().await;
}

#[tokio::test]
async fn more_than_five_letters_of_today_are_folded() {
    let (practice, _) = practice_with_small(23).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(23).await;
    let key = page.key(&practice).await;
    let shown = super::shows(&page, &key, "23</strong>").await;
    let (seen, folded) = shown.split_once("Show 18 more").expect("a fold");
    let rows = |part: &str| part.matches("<a href=\"/letter/").count();
    assert_eq!((rows(seen), rows(folded)), (5, 18), "{shown}");
    page.running.end().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn browsers_that_read_a_large_pdf_slowly_take_no_memory_and_keep_nobody_waiting() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let (practice, _) = practice_with_letter("").await;
    let large = [pdf("large"), vec![b'\n'; 32 << 20]].concat();
    let letter = NewDocument { pdf: NewPdf::Bytes(large.clone()), ..NewDocument::default() };
    let uuid = practice.sandbox.add(letter).await.unwrap();
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(2).await;
    let key = page.key(&practice).await;
    shows(&page, &key, &uuid, "It is filed, and confirmed to the service.").await;
    let before = super::hostile::own_memory(page.running.id());
    let mut readers = Vec::new();
    for _ in 0..8 {
        let mut reader = tokio::net::TcpStream::connect(&page.address).await.unwrap();
        let host = &page.address;
        let asked = format!("GET /letter/{uuid}/pdf HTTP/1.1\r\nHost: {host}\r\nCookie: {key}\r\n\r\n");
        reader.write_all(asked.as_bytes()).await.unwrap();
        let mut first = vec![0; 16 * 1024];
        reader.read_exact(&mut first).await.unwrap();
        assert!(String::from_utf8_lossy(&first).contains(&format!("content-length: {}", large.len())));
        readers.push((reader, first));
    }
    assert_eq!(page.get("/").await.status, 200);
    let (mut reader, mut whole) = readers.swap_remove(3);
    reader.read_to_end(&mut whole).await.unwrap();
    assert!(whole.ends_with(&large), "{} bytes", whole.len());
    let after = super::hostile::own_memory(page.running.id());
    assert!(after < before + 16 * 1024, "{before} KiB before, {after} after");
    page.running.end().await;
}
