//! Who gets which answer: hosts, origins, keys, and what is on a page without one.

use docsyncd_sandbox::{NewDocument, NewPdf};
use serde_json::json;

use super::{PAGE, Page};
use crate::dictated::pdf;
use crate::harness::Practice;

const CANARIES: [&str; 4] = ["Zqxfirst", "Zqxlast", "zqxaccount", "zqxdestination"];

/// A practice with one letter that is filed, one that failed and one that waits, all of a patient whose name stands
/// nowhere else; its account and its destination have names of their own, too.
async fn practice_with_canaries() -> (Practice, Vec<String>) {
    let practice = Practice::with_documents(0).await;
    let config = practice.base_config().replace("accounts.main", "accounts.zqxaccount");
    practice.configure_wholly(&format!(
        "{config}\n[destinations.zqxdestination]\ntype = \"folder\"\npath = 'inbox'\n{PAGE}"
    ));
    let letter = |content: Vec<u8>| NewDocument {
        document_type: Some(Some("prescription".to_owned())),
        patient: Some(json!({"firstName": "Zqxfirst", "lastName": "Zqxlast <b>&"})),
        pdf: NewPdf::Bytes(content),
        ..NewDocument::default()
    };
    let mut uuids = Vec::new();
    for content in [pdf("one"), pdf("two")] {
        uuids.push(practice.sandbox.add(letter(content)).await.unwrap());
    }
    (practice, uuids)
}

#[tokio::test]
async fn without_the_key_nobody_and_nothing_is_named_and_with_it_the_letters_are() {
    let (practice, uuids) = practice_with_canaries().await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(2).await;
    for path in ["/", "/?lang=fr", "/?done=retried", "/metrics", "/nothing", "/open?key=x", "/style.css"] {
        let answer = page.get(path).await;
        for canary in ["Zqxfirst", "Zqxlast"].iter().chain(uuids.iter().map(String::as_str).collect::<Vec<_>>().iter())
        {
            assert!(!answer.body.contains(canary), "{path}: {canary}\n{}", answer.body);
        }
        if path != "/metrics" {
            assert!(CANARIES.iter().all(|canary| !answer.body.contains(canary)), "{path}\n{}", answer.body);
        }
        assert!(!answer.body.contains("<form"), "{path}\n{}", answer.body);
        let scripts = answer.body.matches("<script").count();
        assert_eq!(
            scripts,
            answer.body.matches("<script src=\"/page.js\" defer></script>").count(),
            "{path}\n{}",
            answer.body
        );
    }
    let key = page.key(&practice).await;
    // What was reported a moment ago may not be written down yet.
    let shown = loop {
        let shown = page.with_key(&key).await;
        if shown.body.matches("Prescription").count() >= 3 {
            break shown;
        }
    };
    assert_eq!(shown.status, 200);
    assert!(CANARIES.iter().all(|canary| shown.body.contains(canary)), "{}", shown.body);
    assert!(shown.body.contains("Zqxlast &lt;b&gt;&amp;"), "escaped: {}", shown.body);
    for cookie in ["", "docsyncd_1=x", &key[..key.len() - 1], &format!("{}x", &key[..key.len() - 1])] {
        let other = page.ask("GET", "/", &[("Cookie", cookie)], "").await;
        assert!(CANARIES.iter().all(|canary| !other.body.contains(canary)), "{cookie}\n{}", other.body);
    }
    page.running.end().await;
    assert!(!page.running.log().contains(key.split('=').nth(1).unwrap()), "the key is in the log");
}

/// Where a process listens for TCP, as hexadecimal `address:port` (Linux, proc_net(5)).
#[cfg(target_os = "linux")]
fn listens_at(id: u32) -> Vec<String> {
    let links = std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().flatten();
    let open: Vec<String> =
        links.filter_map(|link| Some(link.path().read_link().ok()?.display().to_string())).collect();
    let tables =
        ["tcp", "tcp6"].map(|table| std::fs::read_to_string(format!("/proc/{id}/net/{table}")).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines()).map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 9 && row[3] == "0A" && open.contains(&format!("socket:[{}]", row[9])))
        .map(|row| row[1].to_owned())
        .collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_daemon_listens_at_the_status_page_and_nowhere_else() {
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    assert_eq!(listens_at(running.id()), [""; 0]);
    running.end().await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    assert_eq!(listens_at(page.running.id()), [format!("0100007F:{:04X}", page.address.port())]);
    page.running.end().await;
}

#[tokio::test]
async fn a_name_that_leads_here_from_elsewhere_gets_nothing() {
    let (practice, _) = practice_with_canaries().await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let port = page.address.port();
    for host in
        ["evil.test".to_owned(), format!("evil.test:{port}"), "127.0.0.1".to_owned(), format!("127.0.0.2:{port}")]
    {
        for path in ["/", "/metrics", "/open?key=x"] {
            let asked = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {key}\r\n\r\n");
            let answer = page.send(asked.as_bytes()).await;
            assert_eq!(answer.status, 421, "{host} {path} {answer:?}");
            assert!(CANARIES.iter().all(|canary| !answer.body.contains(canary)), "{host} {path}");
        }
    }
    let asked = format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(page.send(asked.as_bytes()).await.status, 200);
    page.running.end().await;
}

#[tokio::test]
async fn a_form_needs_its_origin_the_key_and_the_pages_own_token() {
    let (practice, uuids) = practice_with_canaries().await;
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(2).await;
    let key = page.key(&practice).await;
    let token = page.with_key(&key).await.token();
    let good = format!("http://{}", page.address);
    let body = format!("token={token}&uuid={}", uuids[0]);
    let before = practice.show(&uuids[0]).await["history"].as_array().unwrap().len();
    for (headers, body) in [
        (vec![("Cookie", key.as_str()), ("Origin", "http://evil.test")], body.as_str()),
        (vec![("Cookie", &key), ("Origin", "null")], &body),
        (vec![("Cookie", &key), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")], &body),
        (vec![("Cookie", &key)], &body),
        (vec![("Origin", &good)], &body),
        (vec![("Cookie", &key), ("Origin", &good)], "uuid=x"),
        (vec![("Cookie", &key), ("Origin", &good)], "token=&uuid=x"),
        (
            vec![("Cookie", &key), ("Origin", &good)],
            "token=0000000000000000000000000000000000000000000000000000000000000000",
        ),
    ] {
        for path in [
            "/retry",
            "/retry-failed",
            "/mended",
            "/arrived",
            "/assign",
            "/undo",
            "/fetch",
            "/poll",
            "/find",
            "/another",
            "/lock",
            "/close",
        ] {
            let answer = page.ask("POST", path, &headers, body).await;
            assert_eq!(answer.status, 403, "{path} {headers:?} {answer:?}");
            assert!(CANARIES.iter().all(|canary| !answer.body.contains(canary)), "{path} {headers:?}");
        }
    }
    // Another browser's token is none of this one's.
    let other = page.key(&practice).await;
    assert_eq!(page.ask("POST", "/poll", &[("Cookie", &other), ("Origin", &good)], &body).await.status, 403);
    assert_eq!(practice.show(&uuids[0]).await["history"].as_array().unwrap().len(), before, "nothing was done");
    for path in ["/retry", "/poll", "/mended", "/undo", "/fetch", "/find", "/another", "/lock", "/close"] {
        assert_eq!(page.ask("GET", path, &[("Cookie", &key)], "").await.status, 405, "{path}");
    }
    assert_eq!(page.ask("POST", "/", &[("Cookie", &key), ("Origin", &good)], &body).await.status, 405);
    assert_eq!(page.ask("POST", "/poll", &[("Cookie", &key), ("Origin", &good)], &body).await.status, 303);
    page.running.end().await;
}

#[tokio::test]
async fn every_answer_forbids_what_a_page_does_not_need() {
    let (practice, _) = practice_with_canaries().await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    for path in ["/", "/metrics", "/style.css", "/page.js", "/well.svg", "/nothing", "/open?key=x", "/letter/x"] {
        let answer = page.ask("GET", path, &[("Cookie", &key)], "").await;
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "style-src 'self'",
            "script-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{path}");
    }
    page.running.end().await;
}
