//! `docsyncd preview` and `docsyncd sync --dry-run`: what would be done, without doing any of it.

use std::collections::BTreeMap;
use std::path::Path;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, NewPdf, Route};
use serde_json::{Value, json};

use crate::dictated::short;
use crate::harness::Practice;

async fn previewed(practice: &Practice, args: &[&str]) -> Vec<Value> {
    let ended = practice.docsyncd(&[args, &["--json"]].concat()).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Every file below a folder with its content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.display().to_string(), Vec::new());
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Nothing but lists and details was asked for.
fn assert_only_looked(practice: &Practice) {
    for request in practice.sandbox.requests() {
        let (method, path) = (&request.method, &request.path);
        let pdf = path.contains("pdf") || path.contains("file");
        assert!(method == "GET" && !pdf && !path.ends_with("/status"), "{method} {path}");
    }
}

#[tokio::test]
async fn what_waits_is_shown_with_its_route_and_name_and_nothing_is_done() {
    let practice = Practice::with_documents(0).await;
    std::fs::create_dir(practice.path("slips")).unwrap();
    practice.configure(
        "file_name = \"{{ patient.lastName }}.pdf\"\n[destinations.slips]\ntype = \"folder\"\npath = 'slips'\n\
         file_name = \"{{ patient.lastName }}.pdf\"\n\
         [[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\", \"slips\"]\n[[routes]]\ntypes = [\"referral_letter\"]\nto = [\"pms\"]",
    );
    let letter = |last: &str, kind: &str| NewDocument {
        document_type: Some(Some(kind.to_owned())),
        patient: Some(json!({"firstName": "Zoé", "lastName": last})),
        ..NewDocument::default()
    };
    let first = practice.sandbox.add(letter("Durand", "lab_slip")).await.unwrap();
    let second = practice.sandbox.add(letter("Durand", "referral_letter")).await.unwrap();
    let third = practice.sandbox.add(letter("Martin", "referral_letter")).await.unwrap();
    let unrouted = practice.sandbox.add(letter("Petit", "note")).await.unwrap();
    let unrendered = practice.sandbox.add(NewDocument { pdf: NewPdf::None, ..NewDocument::default() }).await.unwrap();
    std::fs::write(practice.inbox().join("Martin.pdf"), "another's").unwrap();
    let before = files(practice.dir.path());
    practice.sandbox.forget_requests();
    for args in [&["preview"][..], &["sync", "--dry-run"]] {
        let waiting = previewed(&practice, args).await;
        let one = |uuid: &str| waiting.iter().find(|one| one["uuid"] == uuid).unwrap_or_else(|| panic!("{waiting:#?}"));
        assert_eq!(waiting.len(), 5);
        let goals = &one(&first)["destinations"];
        assert_eq!((&one(&first)["route"], goals.as_array().unwrap().len()), (&json!("routes[0]"), 2));
        for (goal, folder) in goals.as_array().unwrap().iter().zip(["inbox", "slips"]) {
            let place = goal["place"].as_str().unwrap();
            assert!(place.ends_with(&format!("{folder}{}Durand.pdf", std::path::MAIN_SEPARATOR)), "{goal}");
            assert_eq!((&goal["taken"], &goal["otherwise"]), (&json!(false), &Value::Null), "{goal}");
        }
        // A namesake before it, and a file that is there.
        for (uuid, last) in [(&second, "Durand"), (&third, "Martin")] {
            let goal = &one(uuid)["destinations"][0];
            assert_eq!((&one(uuid)["route"], &goal["taken"]), (&json!("routes[1]"), &json!(true)), "{goal}");
            let otherwise = goal["otherwise"].as_str().unwrap();
            assert!(otherwise.ends_with(&format!("{last}_{}.pdf", short(uuid))), "{goal}");
        }
        assert_eq!((&one(&unrouted)["problem"], &one(&unrouted)["route"]), (&json!("no route takes it"), &Value::Null));
        assert!(one(&unrendered)["problem"].as_str().unwrap().contains("not rendered"));
        let text = practice.docsyncd(args).await;
        assert_eq!((text.code, text.stderr.as_str()), (0, ""), "{text:?}");
        for says in ["5 documents wait", "Durand.pdf", "that name is taken", "no route takes it", "routes[0]"] {
            assert!(text.stdout.contains(says), "{says}: {text:?}");
        }
    }
    assert_eq!(files(practice.dir.path()), before, "not even a ledger was made");
    assert_only_looked(&practice);
    // And what it says is what comes.
    practice.sync().await;
    let shown = practice.show(&third).await;
    let place = shown["deliveries"][0]["place"].as_str().unwrap();
    assert!(place.ends_with(&format!("Martin_{}.pdf", short(&third))), "{shown}");
}

#[tokio::test]
async fn what_is_done_is_left_out_and_a_running_daemon_is_not_disturbed() {
    let practice = Practice::with_documents(3).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    running.wait_for_logs("event=\"reported\"", 3).await;
    let waits = practice.sandbox.add(NewDocument::default()).await.unwrap();
    let waiting = previewed(&practice, &["preview"]).await;
    assert_eq!((waiting.len(), &waiting[0]["uuid"]), (1, &json!(waits)));
    assert_eq!((&waiting[0]["state"], &waiting[0]["destinations"][0]["delivered"]), (&Value::Null, &json!(false)));
    assert_eq!(practice.filed().len(), 3);
    assert!(!running.log().contains("WARN"), "{}", running.log());
    running.kill().await;
    // Failed documents still wait at the API, but not for a delivery.
    let bad = practice.sandbox.add(NewDocument::default()).await.unwrap();
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&bad));
    practice.sync().await;
    practice.sandbox.clear_faults();
    assert!(previewed(&practice, &["preview"]).await.is_empty());
    let text = practice.docsyncd(&["preview"]).await;
    assert!(text.stdout.contains("nothing waits"), "{text:?}");
}

#[tokio::test]
async fn more_than_a_page_is_shown_and_a_limit_says_that_there_are_more() {
    let practice = Practice::with_documents(105).await;
    assert_eq!(previewed(&practice, &["sync", "--dry-run"]).await.len(), 105);
    assert_eq!(previewed(&practice, &["preview", "--limit", "103"]).await.len(), 103);
    let limited = practice.docsyncd(&["preview", "--limit", "2"]).await;
    assert!(
        limited.code == 0 && limited.stderr.contains("there are more") && limited.stderr.contains("--limit 20"),
        "{limited:?}"
    );
    assert!(limited.stdout.contains("\n2 of 105 documents that wait; nothing was filed"), "{limited:?}");
    let usual = practice.docsyncd(&["preview"]).await;
    assert!(usual.stdout.contains("\n100 of 105 documents that wait; "), "{usual:?}");
    let all = practice.docsyncd(&["preview", "--limit", "105"]).await;
    assert!(all.stdout.contains("\n105 documents wait; ") && all.stderr.is_empty(), "{all:?}");
    assert!(!practice.path("state").exists());
}

#[tokio::test]
async fn faults_are_said_and_change_nothing() {
    let practice = Practice::with_documents(2).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    let waiting = previewed(&practice, &["preview"]).await;
    assert!(waiting[0]["destinations"][0]["problem"].as_str().unwrap().contains("does not exist"), "{waiting:#?}");
    practice.sandbox.inject(Fault::once(Route::Document, FaultKind::status(500)));
    let waiting = previewed(&practice, &["preview"]).await;
    let problems = waiting.iter().filter(|one| one["problem"].as_str().is_some_and(|what| what.contains("HTTP 500")));
    assert_eq!(problems.count(), 1, "{waiting:#?}");
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(503)));
    let ended = practice.docsyncd(&["preview"]).await;
    assert!(ended.code == 1 && ended.stderr.contains("account main") && ended.stderr.contains("HTTP 503"), "{ended:?}");
    assert_eq!(ended.stdout, "", "nothing is known of what waits");
    assert!(!practice.path("state").exists());
}

#[tokio::test]
async fn of_an_account_that_cannot_be_read_nothing_is_claimed() {
    let practice = Practice::with_documents(0).await;
    practice.write_secret("key-b", "a-wrong-key");
    practice.configure("[accounts.second]\napi_key_file = 'key-b'");
    let ended = practice.docsyncd(&["sync", "--dry-run"]).await;
    let unknown = "what waits for account second is not known";
    assert!(ended.code == 1 && ended.stderr.contains("account second: "), "{ended:?}");
    assert_eq!(ended.stdout, format!("nothing waits for account main; {unknown}\n"));
    practice.sandbox.add_documents(3).await.unwrap();
    for (limit, says) in [("100", "at least 3 documents wait"), ("2", "2 of at least 3 documents that wait")] {
        let ended = practice.docsyncd(&["preview", "--limit", limit]).await;
        let last = ended.stdout.lines().last().unwrap();
        assert_eq!(last, format!("{says} ({unknown}); nothing was filed or reported"), "{ended:?}");
    }
}

/// As a program of the practice would be called.
#[tokio::test]
async fn a_program_is_shown_with_its_arguments_and_not_started() {
    let practice = Practice::with_documents(1).await;
    let program = crate::harness::program();
    practice.configure_wholly(&format!(
        "{}\n[destinations.scan]\ntype = \"command\"\nprogram = '{}'\nargs = [\"--type\", \"{{{{ document.type }}}}\", \"{{{{ file }}}}\"]\n",
        practice.base_config(),
        program.display()
    ));
    let waiting = previewed(&practice, &["preview"]).await;
    let place = waiting[0]["destinations"][0]["place"].as_str().unwrap();
    let kind = waiting[0]["type"].as_str().unwrap_or("unknown");
    assert_eq!(place, format!("{} --type {kind} FILE", program.display()));
}

#[tokio::test]
async fn a_new_version_is_shown_with_the_name_that_it_will_get() {
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = \"{{ patient.lastName }}.pdf\"");
    let letter = || NewDocument {
        pdf: NewPdf::Bytes(crate::dictated::pdf("old")),
        patient: Some(json!({"firstName": "Zoé", "lastName": "Durand"})),
        ..NewDocument::default()
    };
    let mut uuids = Vec::new();
    for _ in 0..2 {
        uuids.push(practice.sandbox.add(letter()).await.unwrap());
        assert_eq!(practice.sync().await.code, 0);
    }
    for version in [2, 3] {
        for uuid in &uuids {
            practice.sandbox.replace_pdf(uuid, crate::dictated::pdf(&format!("{version}"))).await.unwrap();
            practice.sandbox.set_listed(uuid, true).await.unwrap();
        }
        let place = |letter: &Value| letter["destinations"][0]["place"].as_str().unwrap().to_owned();
        let mut shown: Vec<String> = previewed(&practice, &["preview"]).await.iter().map(place).collect();
        assert_eq!(practice.sync().await.code, 0);
        let suffix = format!("_v{version}.pdf");
        let mut filed: Vec<String> = practice.filed().into_keys().filter(|name| name.ends_with(&suffix)).collect();
        filed = filed.into_iter().map(|name| practice.inbox().join(name).display().to_string()).collect();
        shown.sort();
        filed.sort();
        assert_eq!(shown, filed);
        assert_eq!(shown.len(), 2);
    }
}

/// Names with the patient's number are those that come, and where a person is needed it says why.
#[tokio::test]
async fn the_number_of_each_patient_is_shown_or_why_a_person_is_needed() {
    let practice = Practice::with_documents(0).await;
    std::fs::create_dir(practice.path("archive")).unwrap();
    practice.configure(
        "file_name = \"{{ patient.number }}_{{ document.uuid }}.pdf\"\n[destinations.archive]\ntype = \"folder\"\npath = 'archive'\n\
         [[routes]]\nto = [\"pms\", \"archive\"]\n\
         [patients]\nfile = 'patients.csv'\nnumber = \"Nr\"\nlast_name = \"Name\"\nfirst_name = \"Vorname\"\ndate_of_birth = \"Geb\"",
    );
    let list = "Nr;Name;Vorname;Geb\n0471;Lefèvre;Zoé;31.12.1980\n9;Petit;Ana;01.02.1999\n";
    std::fs::write(practice.path("patients.csv"), list).unwrap();
    let letter = |last: &str, born: Value| NewDocument {
        patient: Some(json!({"firstName": "Zoé", "lastName": last, "dateOfBirth": born})),
        ..NewDocument::default()
    };
    let found = practice.sandbox.add(letter("LEFEVRE", json!("1980-12-31"))).await.unwrap();
    let unknown = practice.sandbox.add(letter("Canary", json!("1980-12-31"))).await.unwrap();
    let undated = practice.sandbox.add(letter("Lefevre", Value::Null)).await.unwrap();
    let waiting = previewed(&practice, &["preview"]).await;
    let of = |waiting: &[Value], uuid: &str| waiting.iter().find(|one| one["uuid"] == uuid).unwrap().clone();
    let place = |one: &Value, at: usize| one["destinations"][at]["place"].as_str().map(str::to_owned);
    let one = of(&waiting, &found);
    assert_eq!((&one["number"], &one["needs_person"]), (&json!("0471"), &Value::Null), "{one}");
    assert!(place(&one, 0).unwrap().ends_with(&format!("0471_{found}.pdf")), "{one}");
    for (uuid, why) in [(&unknown, "nobody"), (&undated, "no_date_of_birth")] {
        let one = of(&waiting, uuid);
        assert_eq!((&one["number"], &one["needs_person"], place(&one, 0)), (&Value::Null, &json!(why), None), "{one}");
        assert!(one["destinations"][0]["problem"].as_str().unwrap().starts_with("needs a person"), "{one}");
        assert!(place(&one, 1).is_some() && one["destinations"][1]["problem"].is_null(), "{one}");
    }
    let text = practice.docsyncd(&["preview"]).await;
    assert!(text.stdout.contains("patient number 0471") && text.stdout.contains("needs a person: nobody"), "{text:?}");
    // What a person said counts, and what came is there.
    practice.sync().await;
    assert_eq!(practice.docsyncd(&["assign", &undated, "0471", "--yes"]).await.code, 0);
    let waiting = previewed(&practice, &["preview"]).await;
    assert_eq!((waiting.len(), &of(&waiting, &undated)["number"]), (2, &json!("0471")), "{waiting:#?}");
    assert_eq!(practice.filed().into_keys().collect::<Vec<_>>(), [format!("0471_{found}.pdf")]);
    // Of a list that may not be whole nothing is claimed, and nobody is assigned by it.
    let cut = list.replace("Geb\n", "Geb\n471;Roy;Zoé;31.12.1980\n");
    std::fs::write(practice.path("patients.csv"), cut.trim_end()).unwrap();
    for command in [&["preview"][..], &["assign", &unknown, "471", "--yes"]] {
        let ended = practice.docsyncd(command).await;
        assert!(ended.code == 1 && ended.stderr.contains("its last row has no line end"), "{ended:?}");
        assert!(!ended.stdout.contains("number 471"), "{ended:?}");
    }
    // Without the list nothing is claimed.
    std::fs::remove_file(practice.path("patients.csv")).unwrap();
    let ended = practice.docsyncd(&["preview"]).await;
    assert!(ended.code == 1 && ended.stderr.matches("patients.csv: it is not there").count() == 1, "{ended:?}");
    assert!(ended.stdout.contains("2 documents wait") && !ended.stdout.contains("needs a person"), "{ended:?}");
}
