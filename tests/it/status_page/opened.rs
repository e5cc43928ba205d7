//! `docsyncd open`, what the key opens, and what the page does.

use docsyncd_sandbox::{NewDocument, NewPdf};
use serde_json::json;

use super::{PAGE, Page, address_in};
use crate::dictated::{add_refused, pdf, practice_with_small};
use crate::harness::{Practice, Running};

#[tokio::test]
async fn a_link_counts_once_and_its_cookie_goes_nowhere_else() {
    let (mut practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    for screen in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
        practice.env.insert(screen.into(), "".into());
    }
    let mut page = Page::of(&practice).await;
    let printed = practice.docsyncd(&["open", "--print"]).await;
    let (_, path) = printed.stdout.trim().split_once(&page.address.to_string()).unwrap();
    let looked = page.ask("HEAD", path, &[], "").await;
    assert_eq!(looked.status, 405, "who only looks at links uses none up");
    assert_eq!(looked.header("allow"), "GET", "{looked:?}");
    let opened = page.get(path).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let cookie = opened.header("set-cookie");
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(page.with_key(&opened.cookies()[0]).await.body.matches("action=\"/find").count(), 1);
    let again = page.get(path).await;
    assert_eq!((again.status, again.cookies().len()), (403, 0), "{again:?}");
    for made_up in ["/open", "/open?key=", &format!("/open?key={}", "A".repeat(43)), &format!("{path}x")] {
        let answer = page.get(made_up).await;
        assert_eq!((answer.status, answer.cookies().len()), (403, 0), "{made_up}");
    }
    // The key outlives the daemon; the link does not come back to life.
    page.running.end().await;
    let mut page = Page::of(&practice).await;
    assert_eq!(page.get(path).await.status, 403);
    let key = opened.cookies().remove(0);
    let name = format!("docsyncd_{}", page.address.port());
    let key = format!("{name}={}", key.split_once('=').unwrap().1);
    assert!(page.with_key(&key).await.body.contains("action=\"/find"), "the key outlives a restart");
    // Where there is no screen the link is printed.
    #[cfg(target_os = "linux")]
    {
        let opened = practice.docsyncd(&["open"]).await;
        assert!(opened.code == 0 && opened.stdout.contains("/open?key="), "{opened:?}");
        assert!(opened.stdout.contains("There is no screen here"), "{opened:?}");
    }
    let closed = page.press(&key, "/close", "").await;
    assert_eq!((closed.status, closed.header("location")), (303, "/?done=closed"), "{closed:?}");
    assert!(!page.with_key(&key).await.body.contains("<form"), "the key was given back");
    page.running.end().await;
}

#[tokio::test]
async fn open_says_what_is_missing() {
    let (practice, _) = practice_with_small(0).await;
    let none = practice.docsyncd(&["open"]).await;
    assert_eq!((none.code, none.stdout.as_str()), (2, ""), "{none:?}");
    assert!(none.stderr.contains("[status_page]"), "{none:?}");
    practice.configure(PAGE);
    let stopped = practice.docsyncd(&["open"]).await;
    assert_eq!((stopped.code, stopped.stdout.as_str()), (1, ""), "{stopped:?}");
    assert!(stopped.stderr.contains("not running"), "{stopped:?}");
    // What a daemon said that was killed is not believed.
    let mut page = Page::of(&practice).await;
    page.running.kill().await;
    assert_eq!(practice.docsyncd(&["open", "--print"]).await.code, 1);
}

#[tokio::test]
async fn try_again_does_what_retry_does() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    let uuid = add_refused(&practice).await;
    let mut page = Page::of(&practice).await;
    practice.sandbox.wait_for(|view| view.status_posts().count() >= 2, crate::harness::PATIENCE).await.unwrap();
    while practice.state(&uuid).await != "failed" {}
    let key = page.key(&practice).await;
    let shown = page.with_key(&key).await;
    assert!(
        shown.body.contains("Could not be filed") && shown.body.contains(&format!("value=\"{uuid}\"")),
        "{}",
        shown.body
    );
    assert!(shown.body.contains("class=\"status needs_person\""), "{}", shown.body);
    practice.sandbox.clear_faults();
    let pressed = page.press(&key, "/retry", &format!("uuid={uuid}")).await;
    assert_eq!((pressed.status, pressed.header("location")), (303, "/?done=retried"), "{pressed:?}");
    practice.wait_for_posts(3).await;
    while practice.state(&uuid).await != "reported" {}
    practice.assert_all_filed().await;
    assert!(!page.with_key(&key).await.body.contains("action=\"/retry\""));
    // An old page in another window still has the button: what is filed by now is not filed again.
    let late = page.press(&key, "/retry", &format!("uuid={uuid}")).await;
    assert_eq!(late.header("location"), "/?done=unknown", "{late:?}");
    assert_eq!(practice.state(&uuid).await, "reported");
    let unknown = page.press(&key, "/retry", "uuid=00000000-0000-0000-0000-000000000000").await;
    assert_eq!(unknown.header("location"), "/?done=unknown");
    page.running.end().await;
}

#[tokio::test]
async fn all_that_failed_is_tried_again_and_a_poll_looks_at_once() {
    let (practice, _) = practice_with_small(0).await;
    practice.configure(PAGE);
    let uuids = [add_refused(&practice).await, add_refused(&practice).await];
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(2).await;
    for uuid in &uuids {
        while practice.state(uuid).await != "failed" {}
    }
    let key = page.key(&practice).await;
    practice.sandbox.clear_faults();
    let pressed = page.press(&key, "/retry-failed", "").await;
    assert_eq!(pressed.header("location"), "/?done=retried-all", "{pressed:?}");
    practice.wait_for_posts(4).await;
    // It polls by itself once an hour only.
    practice.sandbox.add(NewDocument { pdf: NewPdf::Bytes(pdf("late")), ..NewDocument::default() }).await.unwrap();
    assert_eq!(page.press(&key, "/poll", "").await.header("location"), "/?done=polled");
    practice.wait_for_posts(5).await;
    page.running.end().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_letter_is_found_by_name_type_and_day() {
    let (practice, _) = practice_with_small(0).await;
    practice.configure(PAGE);
    for (name, kind) in [("Durand", "prescription"), ("Lefèvre", "lab_slip")] {
        let letter = NewDocument {
            document_type: Some(Some(kind.to_owned())),
            patient: Some(json!({"firstName": "Zoé", "lastName": name})),
            pdf: NewPdf::Bytes(pdf(name)),
            ..NewDocument::default()
        };
        practice.sandbox.add(letter).await.unwrap();
    }
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(2).await;
    let key = page.key(&practice).await;
    let today = jiff::Zoned::now().date();
    for (fields, count) in [
        ("words=lefevre".to_owned(), Some(1)),
        ("words=zoe".to_owned(), Some(2)),
        ("words=zoe&kind=lab_slip".to_owned(), Some(1)),
        ("words=&kind=prescription".to_owned(), Some(1)),
        (format!("words=zoe&day={today}"), Some(2)),
        ("words=zoe&day=2001-01-01".to_owned(), Some(0)),
        (format!("words=&day={today}"), Some(2)),
        ("words=zoe&day=22%2F11%2F2026".to_owned(), None),
        ("words=&kind=&day=2001-01-01".to_owned(), Some(0)),
        ("words=nobody".to_owned(), Some(0)),
        ("words=&kind=&day=".to_owned(), None),
        ("words=%22%20OR%20*&kind=%3Cscript%3E".to_owned(), Some(0)),
    ] {
        let answer = page.press(&key, "/find", &fields).await;
        assert_eq!(answer.status, 200, "{fields}");
        let said = match count {
            None => "Write a name, or choose a day or a type.".to_owned(),
            Some(0) => "No letter is found".to_owned(),
            Some(1) => "1 letter is found".to_owned(),
            Some(count) => format!("{count} letters are found"),
        };
        assert!(answer.body.contains(&said), "{fields}: {said}\n{}", answer.body);
        assert!(!answer.body.contains("<script"), "{fields}");
    }
    page.running.end().await;
}

#[tokio::test]
async fn the_page_speaks_french_and_english() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(PAGE);
    let mut page = Page::of(&practice).await;
    practice.wait_for_posts(1).await;
    let ask = |headers: Vec<(&'static str, &'static str)>, path: &'static str| {
        let page = &page;
        async move { page.ask("GET", path, &headers, "").await }
    };
    for (headers, path, language) in [
        (vec![("Accept-Language", "fr-FR,fr;q=0.9,en;q=0.5")], "/", "fr"),
        (vec![("Accept-Language", "en-GB,fr;q=0.3")], "/", "en"),
        (vec![("Accept-Language", "es")], "/", "en"),
        (vec![("Accept-Language", "de-AT,de;q=0.9,en;q=0.5")], "/", "de"),
        (vec![("Accept-Language", "en")], "/?lang=fr", "fr"),
        (vec![("Accept-Language", "en"), ("Cookie", "docsyncd_language=fr")], "/", "fr"),
        (vec![("Accept-Language", "fr")], "/?lang=xx", "fr"),
    ] {
        let answer = ask(headers.clone(), path).await;
        assert!(answer.body.contains(&format!("<html lang=\"{language}\">")), "{headers:?} {path}\n{}", answer.body);
        assert_eq!(answer.header("content-language"), language);
        assert!(!answer.body.contains(">page-"), "a text is missing: {}", answer.body);
    }
    assert_eq!(ask(vec![], "/?lang=fr").await.cookies(), ["docsyncd_language=fr"]);
    let key = page.key(&practice).await;
    let french = page.ask("GET", "/", &[("Cookie", &format!("{key}; docsyncd_language=fr"))], "").await;
    assert!(french.body.contains("Rechercher un courrier") && french.body.contains("Ordonnance"), "{}", french.body);
    page.running.end().await;
}

#[tokio::test]
async fn a_port_in_use_is_said_and_costs_no_document() {
    let (practice, _) = practice_with_small(1).await;
    // Not 127.0.0.1, where the port would be another test's as soon as it is given back.
    let taken = std::net::TcpListener::bind("127.0.78.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    practice.configure(&format!("[status_page]\nlisten = \"{address}\"\n"));
    let checked = practice.docsyncd(&["check"]).await;
    let line = |text: &str| text.lines().find(|line| line.contains("status page")).unwrap_or_default().to_owned();
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(
        line(&checked.stdout).starts_with("FAIL") && checked.stdout.contains("another program uses it"),
        "{checked:?}"
    );
    let mut running: Running = practice.run().await;
    running.wait_for_log("status_page_unavailable").await;
    practice.wait_for_posts(1).await;
    let open = practice.docsyncd(&["open", "--print"]).await;
    assert_eq!((open.code, open.stdout.as_str()), (1, ""), "{open:?}");
    assert!(open.stderr.contains("does not serve the status page"), "{open:?}");
    assert_eq!(running.log().matches("status_page_unavailable").count(), 1);
    // Whoever mends the configuration gets the page without a restart.
    drop(taken);
    practice.configure(&format!("[status_page]\nlisten = \"{address}\"\n\n"));
    running.wait_for_log("the status page is at http://").await;
    assert_eq!(address_in(&running.log()), address);
    let checked = practice.docsyncd(&["check"]).await;
    assert!(
        line(&checked.stdout).starts_with("ok") && checked.stdout.contains("served by the running daemon"),
        "{checked:?}"
    );
    assert_eq!(checked.code, 0, "{checked:?}");
    running.end().await;
    practice.assert_all_filed().await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(line(&checked.stdout).contains("is free"), "{checked:?}");
}

#[tokio::test]
async fn what_is_no_address_is_refused_and_one_that_others_reach_is_told() {
    let practice = Practice::with_documents(0).await;
    for listen in ["8977", "127.0.0.1", "example.test:8977", "127.0.0.1:99999"] {
        practice.configure(&format!("[status_page]\nlisten = \"{listen}\"\n"));
        for command in ["check", "run", "open"] {
            let ended = practice.docsyncd(&[command]).await;
            assert_eq!(ended.code, 2, "{listen} {command} {ended:?}");
            assert!(
                ended.stderr.contains("status_page.listen") && ended.stderr.contains("127.0.0.1:8977"),
                "{listen} {ended:?}"
            );
        }
    }
    for (listen, is_told) in [
        ("127.0.0.1:0", false),
        ("localhost:0", false),
        ("127.8.8.8:0", false),
        ("[::1]:0", false),
        ("0.0.0.0:0", true),
        ("[::]:0", true),
        ("192.0.2.7:0", true),
    ] {
        practice.configure(&format!("[status_page]\nlisten = \"{listen}\"\n"));
        let shown = practice.docsyncd(&["config", "show"]).await;
        assert_eq!((shown.code, shown.stderr.contains("without TLS")), (0, is_told), "{listen}: {shown:?}");
    }
}

#[tokio::test]
async fn who_mended_it_sees_at_once_whether_it_works() {
    let (practice, _) = practice_with_small(1).await;
    practice.configure(&format!("{PAGE}[practice]\nname = \"Praxis Dr. Muster\"\ncontact = \"Müller IT, 030 1234\"\n"));
    let (inbox, away) = (practice.inbox(), practice.path("away"));
    std::fs::rename(&inbox, &away).unwrap();
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = super::shows(&page, &key, "action=\"/mended\"").await;
    assert!(
        shown.contains("name=\"cause\" value=\"destination\"") && shown.contains("It is mended, try again"),
        "{shown}"
    );
    assert!(shown.contains("<span class=\"part\">inbox</span>"), "the folder is named: {shown}");
    let locked = page.get("/").await.body;
    assert!(locked.contains("Müller IT, 030 1234") && locked.contains("Praxis Dr. Muster"), "{locked}");
    assert!(!locked.contains("inbox") && !locked.contains("/mended"), "{locked}");
    let pressed = page.press(&key, "/mended", "cause=destination").await;
    assert_eq!((pressed.status, pressed.header("location")), (303, "/?done=not-mended"), "{pressed:?}");
    std::fs::rename(&away, &inbox).unwrap();
    let pressed = page.press(&key, "/mended", "cause=destination").await;
    assert_eq!(pressed.header("location"), "/?done=mended", "{pressed:?}");
    practice.wait_for_posts(1).await;
    let made_up = page.press(&key, "/mended", "cause=patient-unknown").await;
    assert_eq!(made_up.header("location"), "/?done=unknown", "{made_up:?}");
    page.running.end().await;
    practice.assert_all_filed().await;
}
