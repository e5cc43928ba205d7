//! A server that means ill, or somebody in its place: what it says costs little, is repeated nowhere, and leads
//! nowhere.

#[cfg(target_os = "linux")]
mod tls;

use std::io::Write as _;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, PdfUrl, Quirks, RequestRecord, Route};
use docsyncd_test_support::scripted::serve;

use crate::dictated::*;
#[cfg(target_os = "linux")]
use crate::harness::PATIENCE;
use crate::harness::{Ended, Practice};

fn is_report(request: &RequestRecord) -> bool {
    request.method == "POST" && request.path.ends_with("/status")
}

#[tokio::test]
async fn a_report_is_repeated_until_the_api_itself_answers() {
    let other = r#"{"uuid": "3f0c8a52-0000-7000-8000-000000000000"}"#;
    for body in ["OK", r#"{"status": "maintenance"}"#, "[]", "null", other] {
        let (practice, uuids) = practice_with_small(1).await;
        practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Bytes(body.into())).times(2));
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{body} {synced:?}");
        assert_each_reported_once(&practice, &uuids);
        assert_eq!(practice.sandbox.requests().iter().filter(|request| is_report(request)).count(), 3, "{body}");
    }
}

#[tokio::test]
async fn an_empty_answer_accepts_a_report() {
    let (practice, _) = practice_with_small(1).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::Bytes(Vec::new())));
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.sandbox.requests().iter().filter(|request| is_report(request)).count(), 1);
}

#[tokio::test]
async fn a_pdf_is_not_fetched_from_inside_the_practice_also_not_by_a_redirect() {
    let inside =
        ["https://169.254.169.254/a", "https://10.0.0.7/a", "https://[::ffff:192.168.0.1]/a", "https://[fe80::1]/a"];
    for (number, url) in inside.into_iter().enumerate() {
        let (practice, uuids) = practice_with_small(1).await;
        if number % 2 == 0 {
            let pdf_url = PdfUrl::Verbatim(url.to_owned());
            practice.sandbox.set_quirks(Quirks { pdf_url, ..Quirks::default() });
        } else {
            practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Redirect(url.to_owned())));
        }
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{url} {synced:?}");
        // Who stands on the way may say so, too: it counts when another document is good, or after an hour.
        let shown = practice.show(&uuids[0]).await;
        assert!(shown["reason"].as_str().unwrap().contains("api.pdf_hosts"), "{url} {shown} {synced:?}");
        assert_eq!(practice.sandbox.status_posts(), []);
    }
}

#[tokio::test]
async fn nothing_that_a_server_says_is_repeated() {
    let canary = "Canary-Dupont";
    let practice = Practice::with_documents(0).await;
    for answer in [
        format!("HTTP/1.1 599 {canary}\r\nX-{canary}: {canary}\r\nContent-Length: 13\r\n\r\n{canary}"),
        format!("HTTP/1.1 200 OK\r\n{canary}\r\n\r\n"),
        format!("{canary}\r\n\r\n"),
        format!("HTTP/1.1 302 Found\r\nLocation: https://{canary}.example.test/{canary}\r\nContent-Length: 0\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 13\r\n\r\n{canary}"),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n\"{canary}\""),
    ] {
        let address = serve(move |_, _| answer.clone().into_bytes());
        let mut command = practice.command(&["check"]);
        command.env("DOCSYNCD__API__BASE_URL", format!("http://{address}"));
        let ended = Ended::of(command).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.to_lowercase().contains("canary"), "{said}");
    }
}

#[tokio::test]
async fn neither_a_type_nor_a_host_that_a_server_invents_is_repeated() {
    let canary = "canary-dupont";
    let practice = Practice::with_documents(0).await;
    let uuids =
        add_small(&practice, 1, |_, document| NewDocument { document_type: Some(Some("lab_slip".into())), ..document })
            .await;
    let kind = NewDocument { document_type: Some(Some(format!("{canary} letter"))), ..small("of no type") };
    let unrouted = practice.sandbox.add(kind).await.unwrap();
    let only_known = "[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\"]\n";
    practice.configure(only_known);
    let mut said = String::new();
    for url in
        [format!("https://{canary}.invalid/a"), format!("http://{canary}.invalid/a"), "https://10.9.8.7/a".into()]
    {
        practice.sandbox.set_quirks(Quirks { pdf_url: PdfUrl::Verbatim(url), ..Quirks::default() });
        let synced = practice.sync().await;
        assert_eq!(synced.code, 3, "{synced:?}");
        practice.docsyncd(&["retry", "--yes", &uuids[0]]).await;
        said += &format!("{synced:?}");
    }
    let told = format!("{:?}", posts_of(&practice.sandbox, &unrouted));
    assert!(told.contains("no route takes this document (an unknown type)"), "{told}");
    assert!(!format!("{said}{told}").contains(canary) && !said.contains("10.9.8.7"), "{said}");
}

/// The type of a document is the server's word.
#[tokio::test]
async fn a_long_type_with_orders_to_the_terminal_is_kept_and_shown_short_and_harmless() {
    let orders = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'];
    let kind = format!("{}[31mred{}", orders.iter().collect::<String>(), "x".repeat(200_000));
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "trace".into());
    practice.configure("[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\"]\n");
    let odd = NewDocument { document_type: Some(Some(kind)), ..small("of no route") };
    let uuid = practice.sandbox.add(odd).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let mut said = synced.stderr;
    for command in [
        &["list", "--wide"][..],
        &["list", "--json"],
        &["show", &uuid],
        &["show", &uuid, "--json"],
        &["find", "red"],
        &["status"],
        &["export", "--from", "2020-01-01", "--to", "2040-01-01"],
    ] {
        let ended = practice.docsyncd(command).await;
        said += &format!("{}{}", ended.stdout, ended.stderr);
    }
    assert!(said.contains(&uuid) && !said.contains(orders), "{said}");
    assert!(said.len() < 100_000, "{} bytes", said.len());
    let ledger = std::fs::metadata(practice.ledger()).unwrap().len();
    assert!(ledger < 400 << 10, "the ledger has {ledger} bytes");
}

/// Commands that print nothing of letters or patients, or that ask, serve or change the machine.
const OF_NO_LETTER: [&str; 13] = [
    "run",
    "setup",
    "login",
    "logout",
    "open",
    "alerts",
    "service",
    "vdds",
    "vdds-export",
    "help",
    "backup",
    "restore",
    "move",
];

/// Whatever a name says, it is a name: it moves no cursor, turns no line around, and begins none.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_command_prints_what_a_terminal_obeys() {
    crate::faults::tools::needs!("script");
    let orders = ['\u{1b}', '\u{7}', '\u{8}', '\u{7f}', '\u{85}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}'];
    let odd: String = orders.iter().collect();
    let mut practice = Practice::with_documents(0).await;
    practice.env.insert("DOCSYNCD_PAGER".into(), "cat".into());
    std::fs::create_dir(practice.path("archive")).unwrap();
    practice.configure(
        "file_name = '{{ patient.number }}/{{ document.uuid }}.pdf'
         [destinations.archive]
         type = \"folder\"
         path = 'archive'
         file_name = '{{ patient.lastName }}.pdf'
         [[routes]]
         to = [\"pms\", \"archive\"]
         [patients]
         file = 'patients.csv'
         number = \"PatNum\"
         last_name = \"LName\"
         first_name = \"FName\"
         date_of_birth = \"Birthdate\"",
    );
    let row = "7;Dupont\u{202e};\"Zoé\nFORGED\";1980-03-12";
    std::fs::write(practice.path("patients.csv"), format!("PatNum;LName;FName;Birthdate\n{row}\n")).unwrap();
    let patient = serde_json::json!({"lastName": format!("Dupont{odd}[31m\r\nFORGED"), "firstName": "Zo",
                                     "dateOfBirth": "1980-03-12"});
    let uuid = practice.sandbox.add(NewDocument { patient: Some(patient), ..small("letter") }).await.unwrap();
    let commands: Vec<Vec<&str>> = [
        "preview",
        "preview --json",
        "sync",
        "list",
        "list --wide",
        "list --json",
        "find dupont",
        "find dupont --json",
        "show UUID",
        "show UUID --json",
        "status",
        "status --json",
        "assign UUID",
        "assign UUID 7 --yes",
        "assign --list",
        "assign --remove UUID",
        "retry",
        "retry UUID --yes",
        "reconcile",
        "check",
        "poll",
        "config show",
        "export --from 2020-01-01 --to 2040-01-01 --names",
        "api GET /patients",
        "api GET /documents/UUID",
        "support --print --document UUID",
        "completions bash",
        "man",
        "forget UUID --yes",
    ]
    .into_iter()
    .map(|line| line.split(' ').map(|word| if word == "UUID" { uuid.as_str() } else { word }).collect())
    .collect();
    let help = practice.docsyncd(&["help"]).await.stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(listed.len() > 15, "{help}");
    for command in listed.into_iter().filter(|command| !command.is_empty()) {
        let is_tried = commands.iter().any(|words| words[0] == command);
        assert!(is_tried || OF_NO_LETTER.contains(&command), "a new command: {command}");
    }
    for words in &commands {
        let mut said = Vec::new();
        // A program gets what the API said.
        if words[0] != "api" {
            let ended = practice.docsyncd(words).await;
            if words.contains(&"--json") {
                let json = serde_json::from_str::<serde_json::Value>(&ended.stdout);
                json.unwrap_or_else(|error| panic!("{error}: {ended:?}"));
            }
            said.push(ended.stdout + &ended.stderr);
        }
        // A bar moves, and asks the terminal for that.
        if !["sync", "reconcile"].contains(&words[0]) {
            said.push(crate::cli::at_a_terminal(&practice, words, "").await.0);
        }
        for said in said {
            assert!(!said.contains(orders), "{words:?}: {said:?}");
            let forged = said.lines().any(|line| line.trim_start().starts_with("FORGED"));
            assert!(!forged, "{words:?}: {said}");
        }
    }
    let shown = practice.docsyncd(&["find", &uuid]).await;
    assert_eq!(shown.code, 0, "{shown:?}");
}

/// The most memory that the process ever had; bytes.
#[cfg(target_os = "linux")]
fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn answers_that_are_made_to_cost_memory_cost_little_and_hold_up_nobody() {
    let (practice, uuids) = practice_with_small(9).await;
    let (bad, good) = uuids.split_at(6);
    let shown = |uuid: &str, more: &str| format!("{{\"uuid\": \"{uuid}\", \"pdf\": null, \"x\": {more}}}").into_bytes();
    let (wide, deep) = (format!("[{}[]]", "[],".repeat(2_700_000)), "[".repeat(4_000_000) + &"]".repeat(4_000_000));
    for (number, uuid) in bad.iter().enumerate() {
        let more = if number % 3 == 2 { &deep } else { &wide };
        practice.sandbox.inject(Fault::always(Route::Document, FaultKind::Bytes(shown(uuid, more))).for_document(uuid));
    }
    let running = practice.run().await;
    let done = |view: &docsyncd_sandbox::View| {
        let asked = |uuid: &String| view.requests().filter(|request| request.path.ends_with(uuid.as_str())).count();
        view.status_posts().filter(|post| post.success == Some(true)).count() == good.len()
            && bad.iter().all(|uuid| asked(uuid) > 0)
    };
    practice.sandbox.wait_for(done, PATIENCE).await.expect("the good ones");
    let peak = peak(running.id());
    assert!(peak < 400 << 20, "{} MiB", peak >> 20);
}

/// Some kilobytes that become megabytes.
#[cfg(target_os = "linux")]
fn packed(body: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(body.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        packed.len()
    );
    [head.as_bytes(), &packed].concat()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_small_answer_that_unpacks_to_a_large_one_costs_little() {
    let nested = "[".repeat(4_000_000) + &"]".repeat(4_000_000);
    let flat = format!("[{}[]]", "[],".repeat(2_700_000));
    let endless = format!("[{}]", " ".repeat(10_000_000));
    let unreadable = "without an identifier that can be used";
    for (body, says) in [(nested, unreadable), (flat, unreadable), (endless, "it has more than 8388608 bytes")] {
        let packed = packed(&body);
        assert!(packed.len() < 200_000, "{}", packed.len());
        let address = serve(move |_, _| packed.clone());
        let mut practice = Practice::with_documents(0).await;
        practice.env.insert("DOCSYNCD__API__BASE_URL".into(), format!("http://{address}"));
        let mut running = practice.run().await;
        running.wait_for_log(says).await;
        let peak = peak(running.id());
        assert!(peak < 200 << 20, "{} MiB", peak >> 20);
    }
}

#[tokio::test]
async fn an_item_of_a_list_that_cannot_be_read_costs_only_itself() {
    let (practice, uuids) = practice_with_small(3).await;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let items =
        uuids.iter().map(|uuid| format!("{{\"uuid\": \"{uuid}\", \"createdAt\": \"2026-01-01T00:00:00+00:00\"}}"));
    let items: Vec<_> = items.chain([format!("{{\"uuid\": {deep}}}"), "{\"uuid\": 1e400}".to_owned()]).collect();
    let page = format!("[{}]", items.join(","));
    practice.sandbox.inject(Fault::once(Route::List, FaultKind::Bytes(page.into_bytes())));
    let synced = practice.sync().await;
    assert_eq!(practice.filed().len(), 3, "{synced:?}");
    // Two are neither reported nor failed.
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(synced.stderr.contains("(2 on one page)"), "{synced:?}");
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "takes minutes: .ci/long runs it"]
async fn sixteen_downloads_that_drip_hold_up_a_good_one_for_less_than_a_minute() {
    use std::time::Duration;
    let practice = Practice::with_documents(0).await;
    let long = "x".repeat(400_000);
    let uuids = add_small(&practice, 16, |number, _| small(&format!("{number}{long}"))).await;
    let drip = FaultKind::Drip { bytes: 1536, every: Duration::from_secs(1) };
    for uuid in &uuids {
        practice.sandbox.inject(Fault::always(Route::Pdf, drip.clone()).for_document(uuid));
    }
    let running = practice.run().await;
    let dripping = |view: &docsyncd_sandbox::View| view.requests().filter(|request| is_download(request)).count() >= 16;
    practice.sandbox.wait_for(dripping, PATIENCE).await.expect("all places are taken");
    let good = practice.sandbox.add(small("a good one")).await.unwrap();
    running.signal("USR1");
    let done = |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == good);
    practice.sandbox.wait_for(done, Duration::from_secs(60)).await.expect("its report, within a minute");
}
