//! Whose a letter is, and whether it was taken, on the page.

use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
use serde_json::{Value, json};

use super::{Answer, PAGE, Page, shows};
use crate::dictated::small;
use crate::harness::Practice;

const LIST: &str = "PatNum;LName;FName;Birthdate\n0042;Canary-Lefèvre;Zoé;31.12.1999\n43;Canary;Ana;31.12.1999\n44;Petit;Luc;13.01.1970\n";

async fn practice_with_list() -> Practice {
    let practice = Practice::with_documents(0).await;
    practice.configure(&format!(
        "file_name = '{{{{ patient.number }}}}_{{{{ document.uuid }}}}.pdf'\nconfirm = \"taken\"\n[patients]\nfile = 'patients.csv'\n\
         number = \"PatNum\"\nlast_name = \"LName\"\nfirst_name = \"FName\"\ndate_of_birth = \"Birthdate\"\n{PAGE}"
    ));
    write_list(&practice, LIST);
    practice
}

fn write_list(practice: &Practice, text: &str) {
    std::fs::write(practice.path("export.tmp"), text).unwrap();
    std::fs::rename(practice.path("export.tmp"), practice.path("patients.csv")).unwrap();
}

async fn letter(practice: &Practice, last: &str, first: &str, born: &str) -> String {
    let patient = json!({"uuid": uuid_of(last, first), "lastName": last, "firstName": first, "dateOfBirth": born});
    let document = NewDocument { patient: Some(patient), ..small(&format!("{last} {first}")) };
    practice.sandbox.add(document).await.unwrap()
}

/// The same patient has the same one.
fn uuid_of(last: &str, first: &str) -> String {
    let sum = last.bytes().chain(first.bytes()).fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("{:08x}-0000-4000-8000-000000000000", sum & 0xffff_ffff)
}

/// The fields of the button that gives this number.
fn fields(shown: &str, number: &str) -> String {
    let form = shown.split("<form").find(|form| {
        form.contains("action=\"/assign\"") && form.contains(&format!("name=\"number\" value=\"{number}\""))
    });
    let value = |name: &str| {
        let (_, rest) =
            form.unwrap_or_else(|| panic!("{shown}")).split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    ["uuid", "number", "seen"].map(|name| format!("{name}={}", value(name))).join("&")
}

/// Presses the button, and the one of the second look, which says this.
async fn assign(page: &Page, key: &str, fields_: &str, doubt: &str) -> Answer {
    let looked = page.press(key, "/assign", fields_).await;
    assert!(looked.status == 200 && looked.body.contains(doubt), "{doubt}: {looked:?}");
    let number = fields_.split("number=").nth(1).unwrap().split('&').next().unwrap();
    let sure = format!("{}&sure=yes", fields(&looked.body, number));
    page.press(key, "/assign", &sure).await
}

#[tokio::test]
async fn a_person_settles_whose_a_letter_is_after_a_second_look_and_sees_when_it_is_taken() {
    let practice = practice_with_list().await;
    let uuid = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let second = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, "1 more letter about the same patient").await;
    // Both sides, what differs is marked, and the likelier one first.
    assert!(shown.contains("<mark title=\"differs\">Canary-Lefèvre</mark>"), "{shown}");
    assert!(shown.contains("<mark title=\"differs\">Ana</mark>") && !shown.contains("44</td>"), "{shown}");
    assert!(shown.find("Canary-Lefèvre").unwrap() < shown.find(">Ana<").unwrap(), "{shown}");
    assert!(!shown.contains("Next try"), "it waits for a person: {shown}");
    assert!(shown.contains("31 Dec 1999") && !shown.contains("1999-12-31"), "{shown}");
    // Nothing of it without the key.
    let open = page.get("/").await.body;
    for private in ["Canary", "0042", "1999", "Zoé", "/assign"] {
        assert!(!open.contains(private), "{private}: {open}");
    }
    let metrics = page.get("/metrics").await.body;
    assert!(
        metrics.contains("\ndocsyncd_needs_person{account=\"main\"} 2\n")
            && metrics.contains("\ndocsyncd_to_confirm{account=\"main\"} 0\n"),
        "{metrics}"
    );
    let french = page.ask("GET", "/", &[("Cookie", &key), ("Accept-Language", "fr")], "").await.body;
    assert!(french.contains("De quel patient s'agit-il\u{a0}?") && french.contains("31/12/1999"), "{french}");
    // Made up: without what the page showed, and sure of what nobody saw.
    let zeros = "0".repeat(64);
    let forged = page.press(&key, "/assign", &format!("uuid={uuid}&number=0042&seen={zeros}&sure=yes")).await;
    assert_eq!(forged.header("location"), "/?done=not-assigned", "{forged:?}");
    let forged = page.press(&key, "/assign", &format!("uuid={uuid}&number=44&seen=&sure=yes")).await;
    assert!(forged.status == 200 && forged.body.contains("Petit"), "both sides are shown first: {forged:?}");
    // No form of elsewhere, and no other method.
    assert_eq!(page.ask("POST", "/assign", &[("Cookie", &key)], &fields(&shown, "0042")).await.status, 403);
    assert_eq!(page.ask("GET", "/assign", &[("Cookie", &key)], "").await.status, 405);
    let pressed = assign(&page, &key, &fields(&shown, "0042"), "what differs is marked").await;
    assert_eq!((pressed.status, pressed.header("location")), (303, "/?done=assigned"), "{pressed:?}");
    let shown_now = shows(&page, &key, "Filed, not yet taken (2)").await;
    assert!(!shown_now.contains("/assign"), "{shown_now}");
    // An old page in another window: the letter waits for nobody any more.
    let late = page.press(&key, "/assign", &fields(&shown, "43")).await;
    assert_eq!(late.header("location"), "/?done=not-assigned", "{late:?}");
    let listed = practice.docsyncd(&["assign", "--list"]).await.stdout;
    assert!(listed.contains("0042") && listed.contains("status page"), "{listed}");
    let exported = practice.docsyncd(&["export", "--from", "2020-01-01", "--to", "2999-12-31"]).await.stdout;
    assert!(exported.contains("assign") && exported.contains("status page"), "{exported}");
    while practice.filed().len() < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let metrics = page.get("/metrics").await.body;
    assert!(
        metrics.contains("\ndocsyncd_needs_person{account=\"main\"} 0\n")
            && metrics.contains("\ndocsyncd_to_confirm{account=\"main\"} 2\n"),
        "{metrics}"
    );
    // The practice's software takes both.
    for name in practice.filed().into_keys() {
        assert!(name.starts_with("0042_"), "{name}");
        std::fs::remove_file(practice.inbox().join(name)).unwrap();
    }
    shows(&page, &key, "taken by the practice's software").await;
    for uuid in [&uuid, &second] {
        while practice.state(uuid).await != "reported" {}
    }
    let found = page.press(&key, "/find", "words=canary").await.body;
    assert!(found.contains("2 letters are found"), "{found}");
    page.running.stop().await;
    let log = page.running.log();
    for private in ["Canary", "0042", "1999"] {
        assert!(!log.contains(private), "{private} in the log: {log}");
    }
}

#[tokio::test]
async fn what_the_page_showed_has_to_be_so_still_when_a_button_is_pressed() {
    let practice = practice_with_list().await;
    let uuid = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, "Canary-Lefèvre").await;
    // The number is given to somebody else in the practice's software.
    write_list(&practice, &LIST.replace("0042;Canary-Lefèvre;Zoé;31.12.1999", "0042;Grand;Max;31.12.1955"));
    page.running.wait_for_logs("event=\"patients_read\"", 2).await;
    let pressed = page.press(&key, "/assign", &fields(&shown, "0042")).await;
    assert_eq!(pressed.header("location"), "/?done=not-assigned", "{pressed:?}");
    // Two persons under one number are nobody's choice.
    write_list(&practice, &format!("{LIST}0042;Canary;Zoe;01.01.1950\n"));
    let shown = shows(&page, &key, "two persons under this number").await;
    assert!(!shown.contains("name=\"number\" value=\"0042\""), "{shown}");
    assert!(practice.docsyncd(&["assign", "--list"]).await.stdout.contains("nothing was assigned"));
    assert_eq!(practice.state(&uuid).await, "fetched");
    assert!(practice.filed().is_empty());
    page.running.end().await;
}

#[tokio::test]
async fn a_decision_can_be_taken_back_until_the_letter_is_filed_and_stands_in_its_history() {
    let practice = practice_with_list().await;
    let uuid = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let own = format!("/letter/{uuid}");
    let ask = async |path: &str| page.ask("GET", path, &[("Cookie", &key), ("Accept-Language", "en")], "").await.body;
    let shown = shows(&page, &key, "Canary-Lefèvre").await;
    let pressed = assign(&page, &key, &fields(&shown, "0042"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    let shown = page.with_key(&key).await.body;
    assert!(shown.contains("action=\"/undo\"") && shown.contains("the number 0042 (Canary-Lefèvre Zoé)"), "{shown}");
    let undone = page.press(&key, "/undo", &format!("uuid={uuid}")).await;
    assert_eq!(undone.header("location"), "/?done=undone", "{undone:?}");
    let shown = shows(&page, &key, "action=\"/assign\"").await;
    assert!(!shown.contains("action=\"/undo\"") && practice.filed().is_empty(), "{shown}");
    let (decided, pause) = (Instant::now(), Duration::from_millis(50));
    let pressed = assign(&page, &key, &fields(&shown, "43"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    // Whatever happens meanwhile, the letter waits for ten seconds.
    letter(&practice, "Petit", "Luc", "1970-01-13").await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    write_list(&practice, &format!("{LIST}45;Grand;Max;13.01.1970\n"));
    while decided.elapsed() < Duration::from_secs(8) {
        tokio::time::sleep(pause).await;
        assert!(!practice.filed().keys().any(|name| name.starts_with("43_")), "after {:?}", decided.elapsed());
    }
    assert!(practice.filed().keys().any(|name| name.starts_with("44_")), "others are filed: {:?}", practice.filed());
    while practice.filed().len() < 2 {
        tokio::time::sleep(pause).await;
    }
    let late = page.press(&key, "/undo", &format!("uuid={uuid}")).await;
    assert_eq!(late.header("location"), "/?done=not-undone", "{late:?}");
    let history = ask(&own).await;
    for sign in [
        "Assigned to a patient",
        "Number 0042, in the practice&#39;s list; by this page, browser ",
        "The assignment was undone",
        "Number 43, in the practice&#39;s list",
    ] {
        assert!(history.replace("'", "&#39;").contains(sign), "{sign}: {history}");
    }
    assert!(!history.contains("action=\"/undo\""), "{history}");
    // Who decided by mistake sees both names: the service's, and whose number it is in the list.
    let shown = page.with_key(&key).await.body;
    let (_, decisions) = shown.split_once("id=\"decisions\"").unwrap();
    for sign in ["0042 (<bdi>Canary-Lefèvre Zoé</bdi>)", "43 (<bdi>Canary Ana</bdi>)", "<bdi>Canary Zoé</bdi>"] {
        assert!(decisions.contains(sign), "{sign}: {decisions}");
    }
    assert!(
        history.contains("43 (<bdi>Canary Ana</bdi>)") && history.contains("<bdi>Canary Zoé</bdi></h1>"),
        "{history}"
    );
    assert!(!page.get("/").await.body.contains("Canary"), "nothing of it without the key");
    // Who wants a proof without names gets none of the number.
    let exported = practice.docsyncd(&["export", "--from", "2020-01-01", "--to", "2999-12-31"]).await.stdout;
    assert!(exported.contains(",assigned,") && !exported.contains("0042"), "{exported}");
    page.running.end().await;
}

#[tokio::test]
async fn what_another_letter_was_filed_by_cannot_be_undone_and_such_letters_are_told_of() {
    let practice = practice_with_list().await;
    let one = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, "Canary-Lefèvre").await;
    let pressed = assign(&page, &key, &fields(&shown, "43"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    // A second letter of the patient comes, and is not filed by the decision while that may be taken back.
    let two = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    let pause = Duration::from_millis(50);
    let may_be_undone = "may still take back whose it is";
    while !practice.docsyncd(&["show", &two, "--json"]).await.stdout.contains(may_be_undone) {
        tokio::time::sleep(pause).await;
    }
    assert!(practice.filed().is_empty());
    // Both were taken.
    while practice.filed().len() < 2 {
        tokio::time::sleep(pause).await;
    }
    let pressed = page.press(&key, "/undo", &format!("uuid={one}")).await;
    assert_eq!(pressed.header("location"), "/?done=not-undone", "{pressed:?}");
    for name in practice.filed().into_keys() {
        std::fs::remove_file(practice.inbox().join(name)).unwrap();
    }
    while practice.state(&one).await != "reported" {}
    // A third waits for the folder alone: others were filed by the decision, so that it stays.
    let away = practice.path("away");
    std::fs::rename(practice.inbox(), &away).unwrap();
    let three = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    while practice.state(&three).await != "fetched" {}
    let pressed = page.press(&key, "/undo", &format!("uuid={three}")).await;
    assert_eq!(pressed.header("location"), "/?done=not-undone", "{pressed:?}");
    std::fs::rename(&away, practice.inbox()).unwrap();
    while practice.state(&three).await != "reported" {
        for name in practice.filed().into_keys() {
            std::fs::remove_file(practice.inbox().join(name)).unwrap();
        }
    }
    // Another letter shows that the number was wrong.
    assert_eq!(practice.docsyncd(&["assign", &one, "--remove"]).await.code, 0);
    letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    let shown = shows(&page, &key, "action=\"/assign\"").await;
    let pressed = assign(&page, &key, &fields(&shown, "0042"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned-others", "{pressed:?}");
    let told = page.ask("GET", "/?done=assigned-others", &[("Cookie", &key), ("Accept-Language", "en")], "").await.body;
    assert!(told.contains("filed before lie under another number") && told.contains("action=\"/undo\""), "{told}");
    page.running.end().await;
}

#[tokio::test]
async fn what_was_filed_by_another_number_begins_anew_once_nobody_can_undo_it() {
    let practice = practice_with_list().await;
    let (last, first, born) = ("Petit", "Luc", "1970-01-13");
    letter(&practice, last, first, born).await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let pause = Duration::from_millis(50);
    let has = |number: &str| practice.filed().into_keys().any(|name| name.starts_with(number));
    while !has("44_") {
        tokio::time::sleep(pause).await;
    }
    // A namesake comes, and nobody knows any more whose the next letter is. The first is not taken yet.
    let ledger = rusqlite::Connection::open(practice.ledger()).unwrap();
    let of_list = "SELECT value FROM process WHERE key = 'patients_before'";
    let known = || ledger.query_row(of_list, [], |row| row.get::<_, String>(0)).unwrap();
    let before = known();
    write_list(&practice, &format!("{LIST}45;Petit;Luc;13.01.1970\n"));
    while known() == before {
        tokio::time::sleep(pause).await;
    }
    let two = letter(&practice, last, first, born).await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    for is_undone in [true, false] {
        let shown = shows(&page, &key, "the list itself cannot tell them apart").await;
        let pressed = assign(&page, &key, &fields(&shown, "45"), "another patient").await;
        assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
        if is_undone {
            let pressed = page.press(&key, "/undo", &format!("uuid={two}")).await;
            assert_eq!(pressed.header("location"), "/?done=undone", "{pressed:?}");
            let removals = practice.docsyncd(&["status", "--json"]).await.stdout;
            assert!(!has("45_") && !removals.contains("for another patient"), "{removals}");
            continue;
        }
        while practice.filed().len() < 3 {
            tokio::time::sleep(pause).await;
        }
        assert!(has("44_") && has("45_"));
        let pressed = page.press(&key, "/undo", &format!("uuid={two}")).await;
        assert_eq!(pressed.header("location"), "/?done=not-undone", "{pressed:?}");
    }
    page.running.end().await;
}

#[tokio::test]
async fn a_number_is_typed_and_looked_at_twice_where_it_is_anothers_or_of_nobody() {
    let practice = practice_with_list().await;
    let one = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let other = letter(&practice, "Nobody", "Max", "1955-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    shows(&page, &key, "Nobody in the list has a similar name").await;
    let typed = |uuid: &str, number: &str| format!("uuid={uuid}&number={number}");
    let pressed = assign(&page, &key, &typed(&one, "0042"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    let looked = page.press(&key, "/assign", &typed(&other, "0042")).await.body;
    assert!(looked.contains("already go to the number 0042") && looked.contains("Canary-Lefèvre"), "{looked}");
    let looked = page.press(&key, "/assign", &typed(&other, "")).await;
    assert_eq!(looked.header("location"), "/?done=no-number", "{looked:?}");
    let pressed = assign(&page, &key, &typed(&other, "7001"), "7001 is not in the practice").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    let has = |number: &str| practice.filed().into_keys().any(|name| name.starts_with(number));
    while !has("7001_") || !has("0042_") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let of_other = format!("/letter/{other}");
    let history = page.ask("GET", &of_other, &[("Cookie", &key), ("Accept-Language", "en")], "").await.body;
    assert!(history.contains("Number 7001, not in the practice"), "{history}");
    page.running.end().await;
}

#[tokio::test]
async fn candidates_that_are_alike_show_all_that_the_list_says() {
    let practice = practice_with_list().await;
    let header = "PatNum;LName;FName;Birthdate;Town;Insurance\n";
    let twins = "501;Canary;Zoé;31.12.1999;Arles;MGEN\n502;Canary;Zoe;31.12.1999;Nantes;AOK\n";
    write_list(
        &practice,
        &format!("{header}{twins}503;Canary;Ana;31.12.1999;Brest;TK\n44;Petit;Luc;13.01.1970;Nice;MSA\n"),
    );
    letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, "the list itself cannot tell them apart").await;
    for sign in ["Town", "Insurance", "Arles", "Nantes", "MGEN", "AOK"] {
        assert!(shown.contains(sign), "{sign}: {shown}");
    }
    assert!(!shown.contains("Brest"), "who differs needs nothing more: {shown}");
    let looked = page.press(&key, "/assign", &fields(&shown, "502")).await.body;
    assert!(looked.contains("Nantes") && looked.contains("Arles") && looked.contains("another patient"), "{looked}");
    assert!(!page.get("/").await.body.contains("Nantes"));
    page.running.end().await;
}

#[tokio::test]
async fn a_letter_in_the_wrong_patients_record_is_put_right_on_its_page() {
    let practice = practice_with_list().await;
    let uuid = letter(&practice, "Canary", "Zoé", "1999-12-31").await;
    let mut page = Page::of(&practice).await;
    let key = page.key(&practice).await;
    let shown = shows(&page, &key, "Canary-Lefèvre").await;
    let pressed = assign(&page, &key, &fields(&shown, "43"), "what differs is marked").await;
    assert_eq!(pressed.header("location"), "/?done=assigned", "{pressed:?}");
    let file = async |number: &str| loop {
        let name = practice.filed().into_keys().find(|name| name.starts_with(&format!("{number}_")));
        if let Some(name) = name {
            break practice.inbox().join(name);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    std::fs::remove_file(file("43").await).unwrap();
    while practice.state(&uuid).await != "reported" {}
    let own = format!("/letter/{uuid}");
    let ask = async || page.ask("GET", &own, &[("Cookie", &key), ("Accept-Language", "en")], "").await.body;
    let shown = ask().await;
    assert!(shown.contains("Filed in the wrong patient") && shown.contains("action=\"/misfiled\""), "{shown}");
    let first = format!("uuid={uuid}&letter={uuid}");
    let asked = page.press(&key, "/misfiled", &first).await;
    assert!(asked.status == 200 && asked.body.contains("filed under the number 43"), "{asked:?}");
    assert!(asked.body.contains("Canary-Lefèvre") && asked.body.contains("filed anew"), "{asked:?}");
    let same = page.press(&key, "/assign", &format!("{}&filed=43&sure=yes", fields(&asked.body, "43"))).await;
    assert_eq!(same.header("location"), "/?done=same-number", "{same:?}");
    let chosen = format!("{}&filed=43", fields(&asked.body, "0042"));
    assert!(asked.body.matches("name=\"filed\" value=\"43\"").count() > 1, "{asked:?}");
    let made_up = page
        .press(&key, "/assign", &format!("uuid={uuid}&number=0042&seen={}&filed=43&sure=yes", "0".repeat(64)))
        .await;
    assert_eq!(made_up.header("location"), "/?done=not-assigned", "{made_up:?}");
    let looked = page.press(&key, "/assign", &chosen).await;
    assert!(looked.status == 200 && looked.body.contains("filed under the number 43"), "{looked:?}");
    // Who was shown another number has not seen this letter.
    let other = page.press(&key, "/assign", &format!("{}&filed=44&sure=yes", fields(&looked.body, "0042"))).await;
    assert_eq!(other.header("location"), "/?done=not-assigned", "{other:?}");
    // While the service says nothing, nothing is written.
    let broken = practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(503)));
    let sure = format!("{}&filed=43&sure=yes&letter={uuid}", fields(&looked.body, "0042"));
    let unread = page.press(&key, "/assign", &sure).await;
    assert_eq!(unread.header("location"), format!("{own}?done=not-read"), "{unread:?}");
    practice.sandbox.remove_fault(broken);
    let done = page.press(&key, "/assign", &sure).await;
    assert_eq!(done.header("location"), format!("{own}?done=filed-anew"), "{done:?}");
    while practice.state(&uuid).await != "fetched" {}
    let undone = page.press(&key, "/undo", &format!("uuid={uuid}")).await;
    assert_eq!(undone.header("location"), "/?done=not-undone", "it would be filed a second time: {undone:?}");
    std::fs::remove_file(file("0042").await).unwrap();
    while practice.state(&uuid).await != "reported" {}
    // The copy in the wrong record is what it is, until a person removed it.
    let shown = ask().await;
    assert!(shown.contains("filed for another patient"), "{shown}");
    assert!(shown.contains("The other patient") && !shown.contains("old version"), "{shown}");
    let history = practice.show(&uuid).await;
    let editions = history["deliveries"].as_array().unwrap().iter();
    let mut editions: Vec<_> = editions.map(|of| (of["edition"].as_i64(), of["pdf"].clone().to_string())).collect();
    editions.sort();
    assert!(editions.len() == 2 && editions[0].0 == Some(0) && editions[1].0 == Some(1), "{history}");
    assert_eq!(editions[0].1, editions[1].1, "{history}");
    let found = practice.docsyncd(&["find", "canary"]).await.stdout;
    assert!(found.contains("for another patient") && !found.contains("43_") && found.contains("0042_"), "{found}");
    let json: Value = serde_json::from_str(&practice.docsyncd(&["find", "canary", "--json"]).await.stdout).unwrap();
    let places = json[0]["places"].as_array().unwrap();
    assert!(places.iter().any(|place| place["for_another"] == true && place["place"].is_null()), "{json}");
    let problem = shows(&page, &key, "There twice").await;
    assert!(problem.contains("in another patient&#39;s record") || problem.contains("in another patient's record"));
    let stands = shown.split("name=\"stands\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let removed =
        page.press(&key, "/arrived", &format!("uuid={uuid}&stands={stands}&what=removed&letter={uuid}")).await;
    assert_eq!(removed.header("location"), format!("{own}?done=arrived"), "{removed:?}");
    assert!(!ask().await.contains("action=\"/arrived\""));
    let found = practice.docsyncd(&["find", "canary"]).await.stdout;
    assert!(!found.contains("another patient"), "{found}");
    page.running.end().await;
}
