//! Promise 8: names that stand nowhere else go in everywhere, everything that can happen happens, and nothing that
//! docsyncd says or keeps has one of them.

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, NewPdf, Options, PdfUrl, Quirks, Route, SingleShape};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::Practice;

const API_KEY: &str = "zqxkey-8d0c2f";

/// Whatever is looked for, in lower case; each says where it comes from.
const CANARIES: [&str; 14] = [
    "zqxfirst",
    "zqxlast",
    "zqxmail",
    "0699887766",
    "1913-02-03",
    "03.02.1913",
    "zqxcode",
    "zqxpdfname",
    "zqxfilename",
    "zqxuserfirst",
    "zqxuserlast",
    "zqxusermail",
    "zqxbody",
    API_KEY,
];

/// The body of every error that the server makes up: it quotes the patient, the key, and itself.
const BODY: &str =
    r#"{"detail": "zqxbody: Zqxfirst ZQXLAST, born 1913-02-03, zqxmail@mail.test, 0699887766, key zqxkey-8d0c2f"}"#;

fn letter(kind: &str) -> NewDocument {
    let user = json!({"firstName": "Zqxuserfirst", "lastName": "Zqxuserlast", "email": "zqxusermail@practice.test"});
    NewDocument {
        document_type: Some(Some(kind.to_owned())),
        patient: Some(json!({
            "firstName": "Zqxfirst", "lastName": "Zqxlast O'Neill", "email": "zqxmail@mail.test", "phone": "0699887766",
            "dateOfBirth": "1913-02-03", "anonymousCode": "ZQXCODE-42",
        })),
        user: user.as_object().cloned(),
        pdf: NewPdf::Bytes(b"%PDF-1.7\n% a letter\n%%EOF\n".to_vec()),
        pdf_name: Some("Zqxpdfname of Zqxlast.pdf".to_owned()),
        file_name: Some("Zqxfilename-Zqxlast.pdf".to_owned()),
        ..NewDocument::default()
    }
}

fn error(code: u16) -> FaultKind {
    FaultKind::Status { code, retry_after: None, body: Some(BODY.to_owned()) }
}

/// The canaries in a text. What a program of the practice says on standard error is cleaned of its patient only, and
/// may name its user.
fn leaks(text: &str) -> Vec<&'static str> {
    let found = |line: &str| {
        let (lower, quoted) = (line.to_lowercase(), line.contains("`sh` "));
        CANARIES.into_iter().filter(move |canary| lower.contains(canary) && !(quoted && canary.starts_with("zqxuser")))
    };
    let mut leaks: Vec<&str> = text.lines().flat_map(|line| found(line).collect::<Vec<_>>()).collect();
    leaks.sort_unstable();
    leaks.dedup();
    leaks
}

fn assert_clean(what: &str, text: &str) {
    let lines: Vec<&str> = text.lines().filter(|line| !leaks(line).is_empty()).collect();
    assert!(lines.is_empty(), "{what} has {:?}:\n{}", leaks(text), lines.join("\n"));
}

/// Every text of the ledger that is not meant for templates or for the person who asks where a document lies.
fn told_by_the_ledger(practice: &Practice) -> String {
    let db = Connection::open(practice.ledger()).unwrap();
    let mut told = String::new();
    for query in [
        "SELECT reason FROM retry_state",
        "SELECT kind FROM document",
        "SELECT reason FROM history",
        "SELECT event FROM history",
        "SELECT to_remove FROM delivery",
        "SELECT scope || ' ' || reason FROM pause",
        "SELECT poll_error FROM account",
        "SELECT key || ' ' || value FROM process",
    ] {
        let mut statement = db.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        rows.for_each(|row| told.push_str(&format!("{query}: {}\n", row.unwrap().unwrap_or_default())));
    }
    told
}

async fn practice() -> Practice {
    let keys = vec![ApiKey::new(API_KEY)];
    let mut practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.env.insert("DOCSYNCD__LOG__LEVEL".into(), "trace".into());
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "500ms".into());
    practice
}

/// Says something with everything that was reported, kept and shown, and fails when a canary is in it.
async fn assert_nothing_leaked(practice: &Practice, uuids: &[String]) {
    for post in practice.sandbox.status_posts() {
        assert_clean("a reported error", &post.error.unwrap_or_default());
    }
    assert_clean("the ledger", &told_by_the_ledger(practice));
    for args in [
        &["check"][..],
        &["status"],
        &["status", "--json"],
        &["list"],
        &["list", "--json"],
        &["retry", "--failed"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["support", "--print"],
    ] {
        let ended = practice.docsyncd(args).await;
        assert_clean(&format!("{args:?}"), &format!("{}{}", ended.stdout, ended.stderr));
    }
    for uuid in uuids {
        let mut shown = practice.show(uuid).await;
        for delivery in shown["deliveries"].as_array_mut().unwrap() {
            delivery["place"] = Value::Null;
        }
        assert_clean("show", &format!("{shown:#}"));
    }
}

/// All destinations that can go wrong, each for a type of its own.
#[cfg(unix)]
fn destinations(practice: &Practice) -> String {
    for folder in ["blocked", "sidecar"] {
        std::fs::create_dir(practice.path(folder)).unwrap();
    }
    // A file stands where the patient's folder should be.
    std::fs::write(practice.path("blocked/Zqxlast O'Neill"), "").unwrap();
    std::fs::write(
        practice.path("shout.sh"),
        "#!/bin/sh\n# Says everything it knows, in several ways, and ends as it is told.\n\
         { echo \"arguments: $*\"; env; cat; echo; echo \"$DOCSYNCD_PATIENT_LAST_NAME\" | tr a-z A-Z; } >&2\n\
         case \"$DOCSYNCD_DOCUMENT_TYPE\" in\n\
           t_env) env | grep -i key >&2; exit 3;;\n\
           t_later) test -e \"$0.later\" && exit 0; : > \"$0.later\"; exit 75;;\n\
           t_killed) test -e \"$0.killed\" && exit 0; : > \"$0.killed\"; kill -9 $$;;\n\
           t_slow) test -e \"$0.slow\" && exit 0; : > \"$0.slow\"; sleep 60;;\n\
           *) exit 3;;\n\
         esac\n",
    )
    .unwrap();
    let shout = |timeout: &str| {
        format!(
            "type = \"command\"\nprogram = \"sh\"\nargs = ['{}', \"{{{{ patient.lastName }}}}, {{{{ patient.firstName }}}}\", \
             \"{{{{ patient.dateOfBirth | date('%d.%m.%Y') }}}}\", \"{{{{ file }}}}\"]\ntimeout = \"{timeout}\"\n",
            practice.path("shout.sh").display()
        )
    };
    let named = "file_name = \"{{ patient.lastName }}/{{ patient.firstName }} {{ patient.dateOfBirth }} {{ document.pdf.name }}.pdf\"";
    let folder = |path: &str, more: &str| format!("type = \"folder\"\npath = '{path}'\n{more}\n");
    let sidecar = "sidecar_name = \"{{ file_stem }}.xml\"\nsidecar = \"<p>{{ patient.lastName }} {{ patient.phone }} {{ patient.email }}</p>\"";
    let too_much = "file_name = \"{{ document.uuid }}.pdf\"\nsidecar_name = \"{{ file_stem }}.txt\"\n\
                    sidecar = \"{% for a in range(9999) %}{% for b in range(9999) %}{{ patient.lastName }}{% endfor %}{% endfor %}\"";
    let wrong_value = "file_name = \"{{ patient.lastName | int }}.pdf\"";
    let own_name = "file_name = \"{{ patient.lastName }}.pdf\"\nsidecar_name = \"{{ patient.lastName }}.{{ document.type | replace('t_own_name', 'pdf') }}\"\nsidecar = \"{{ patient.phone }}\"";
    let tables = [
        ("pms", folder("inbox", &format!("{named}\n{sidecar}"))),
        ("missing", folder("not-mounted", named)),
        ("blocked", folder("blocked", named)),
        ("wrong_value", folder("sidecar", wrong_value)),
        ("too_much", folder("sidecar", too_much)),
        ("own_name", folder("sidecar", own_name)),
        ("shout", shout("1m")),
        ("slow", shout("300ms")),
        (
            "no_program",
            "type = \"command\"\nprogram = \"no-such-program\"\nargs = [\"{{ patient.lastName }}\"]\n".to_owned(),
        ),
    ];
    let mut toml: String = tables.iter().map(|(name, table)| format!("[destinations.{name}]\n{table}")).collect();
    for (kind, to) in [
        ("t_missing", "missing"),
        ("t_blocked", "blocked"),
        ("t_wrong_value", "wrong_value"),
        ("t_too_much", "too_much"),
        ("t_own_name", "own_name"),
        ("t_refused", "shout"),
        ("t_env", "shout"),
        ("t_later", "shout"),
        ("t_killed", "shout"),
        ("t_slow", "slow"),
        ("t_no_program", "no_program"),
        ("t_pms", "pms"),
    ] {
        toml.push_str(&format!("[[routes]]\ntypes = [\"{kind}\"]\nto = [\"{to}\"]\n"));
    }
    toml
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_that_destinations_do_brings_patient_data_into_the_open() {
    let mut practice = practice().await;
    // The key from the environment, which programs must not inherit.
    practice.env.insert("DOCSYNCD__ACCOUNTS__MAIN__API_KEY".into(), API_KEY.into());
    practice.configure_wholly(&format!(
        "{}\n{}",
        practice.base_config().replace("api_key_file = 'api-key'\n", ""),
        destinations(&practice)
    ));
    let mut uuids = Vec::new();
    let kinds = [
        "t_pms",
        "t_pms",
        "t_missing",
        "t_blocked",
        "t_wrong_value",
        "t_too_much",
        "t_own_name",
        "t_refused",
        "t_env",
        "t_later",
        "t_killed",
        "t_slow",
        "t_no_program",
        "t_no_route",
    ];
    for kind in kinds {
        uuids.push(practice.sandbox.add(letter(kind)).await.unwrap());
    }
    // The same patient once more with other content: the name is taken.
    let other = NewDocument { pdf: NewPdf::Bytes(b"%PDF-1.7\n% another\n%%EOF\n".to_vec()), ..letter("t_pms") };
    uuids.push(practice.sandbox.add(other).await.unwrap());

    let ended = practice.sync().await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert_clean("sync's log", &ended.stderr);
    assert_clean("sync's output", &ended.stdout);
    assert_nothing_leaked(&practice, &uuids).await;
    // It was all there to be leaked: files under the patient's name, and a reason for every failure.
    assert!(practice.filed().keys().any(|name| name.starts_with("Zqxlast O'Neill/Zqxfirst")), "{:?}", practice.filed());
    for sign in [
        "exited with 3",
        "exited with 75",
        "signal 9",
        "did not end",
        "does not exist",
        "cannot be filled in",
        "no route",
        "no-such-program",
        "own name",
    ] {
        assert!(ended.stderr.contains(sign), "{sign}: {}", ended.stderr);
    }

    // The daemon, at its most talkative, in the other format.
    practice.env.insert("DOCSYNCD__LOG__FORMAT".into(), "json".into());
    let mut running = practice.run().await;
    let posts = practice.sandbox.status_posts().len();
    practice.docsyncd(&["retry", "--failed"]).await;
    practice.wait_for_posts(posts + 3).await;
    assert_eq!(running.stop().await, 0);
    running.whole_log().await;
    assert_clean("the daemon's log", &running.log());
    assert_nothing_leaked(&practice, &uuids).await;
}

#[tokio::test]
async fn nothing_that_the_server_says_brings_patient_data_or_the_key_into_the_open() {
    let mut practice = practice().await;
    practice.configure("");
    let elsewhere = Practice::with_documents(0).await;
    let mut faults = vec![
        (Route::Document, error(400)),
        (Route::Document, error(403)),
        (Route::Document, error(422)),
        (Route::Document, FaultKind::Bytes(br#"["zqxbody", {"patient": "Zqxfirst"}]"#.to_vec())),
        (Route::Document, FaultKind::Bytes(b"zqxbody {\"uuid\": Zqxfirst".to_vec())),
        (Route::Document, FaultKind::Bytes(b"<html>zqxbody Zqxfirst</html>".to_vec())),
        (Route::Document, FaultKind::Redirect("http://elsewhere.test/zqxbody/Zqxlast".to_owned())),
        (Route::Document, FaultKind::Redirect("zqxbody://Zqxlast@".to_owned())),
        (Route::Pdf, error(401)),
        (Route::Pdf, error(403)),
        (Route::Pdf, error(404)),
        (Route::Pdf, FaultKind::Bytes(BODY.as_bytes().to_vec())),
        (Route::Pdf, FaultKind::CutBody(5)),
        (Route::Pdf, FaultKind::StallBody(5)),
        (Route::Pdf, FaultKind::Redirect(format!("{}/files/Zqxfilename", elsewhere.sandbox.files_url()))),
        (Route::Pdf, FaultKind::WrongSize),
        (Route::Status, error(400)),
        (Route::Status, error(403)),
        (Route::Status, error(404)),
        (Route::Status, error(422)),
        (Route::Status, error(500)),
        (Route::Status, FaultKind::Reset),
        (Route::Status, FaultKind::Redirect("http://elsewhere.test/zqxbody".to_owned())),
    ];
    faults.extend([500, 502, 503, 429, 408].map(|code| (Route::Document, error(code))));
    let mut uuids = Vec::new();
    for (route, kind) in faults {
        let uuid = practice.sandbox.add(letter("referral_letter")).await.unwrap();
        practice.sandbox.inject(Fault::always(route, kind).for_document(&uuid).times(2));
        uuids.push(uuid);
    }
    for round in 0..4 {
        // Every round goes on where the one before was paused by a fault.
        let ended = practice.sync().await;
        assert_clean(&format!("sync {round}: log"), &ended.stderr);
        assert_clean(&format!("sync {round}: output"), &ended.stdout);
    }
    assert_nothing_leaked(&practice, &uuids).await;
    assert!(elsewhere.sandbox.requests().iter().all(|request| request.authorization.is_none()));

    practice.without_patience();
    for fault in [
        error(400),
        error(401),
        error(403),
        error(422),
        error(500),
        FaultKind::Html200,
        FaultKind::Bytes(BODY.as_bytes().to_vec()),
        FaultKind::Redirect("http://elsewhere.test/zqxbody".to_owned()),
    ] {
        practice.sandbox.inject(Fault::always(Route::List, fault));
        let ended = practice.sync().await;
        assert_clean("sync without a list: log", &ended.stderr);
        assert_clean("sync without a list: output", &ended.stdout);
        assert_nothing_leaked(&practice, &uuids[..1]).await;
        practice.sandbox.clear_faults();
    }
}

#[tokio::test]
async fn odd_records_bring_no_patient_data_into_the_open() {
    let practice = practice().await;
    practice.configure("");
    let mut uuids = Vec::new();
    // Identifiers that are none, dates that are none, a name where the type should be.
    let odd = |change: fn(&mut NewDocument)| {
        let mut document = letter("referral_letter");
        change(&mut document);
        document
    };
    for document in [
        odd(|document| document.created_at = Some("the day before".to_owned())),
        odd(|document| document.pdf_uuid = Some("zqxpdfname/..".to_owned())),
        odd(|document| document.declared_size = Some(7)),
        odd(|document| {
            document.patient =
                Some(json!({"firstName": ["Zqxfirst"], "lastName": {"x": "Zqxlast"}, "phone": 699_887_766_u64}))
        }),
    ] {
        uuids.push(practice.sandbox.add(document).await.unwrap());
    }
    practice.sandbox.add(odd(|document| document.uuid = Some("Zqxlast Zqxfirst".to_owned()))).await.unwrap();
    for quirks in [
        Quirks { pdf_url: PdfUrl::Verbatim("http://127.0.0.1:9/Zqxfilename".into()), ..Quirks::default() },
        Quirks { pdf_url: PdfUrl::Verbatim("http://elsewhere.test/Zqxfilename".into()), ..Quirks::default() },
        Quirks { pdf_url: PdfUrl::Verbatim("http://[Zqxfilename".into()), ..Quirks::default() },
        Quirks { pdf_url: PdfUrl::Verbatim("zqxfilename:Zqxlast".into()), ..Quirks::default() },
        Quirks { single_shows: SingleShape::Identifiers, ..Quirks::default() },
    ] {
        practice.sandbox.set_quirks(quirks.clone());
        practice.sandbox.inject(Fault::once(Route::Patient, error(403)));
        practice.sandbox.inject(Fault::once(Route::Patient, error(500)));
        let ended = practice.sync().await;
        assert_clean(&format!("{quirks:?}: log"), &ended.stderr);
        assert_clean(&format!("{quirks:?}: output"), &ended.stdout);
        practice.docsyncd(&["retry", "--failed"]).await;
    }
    practice.sandbox.set_quirks(Quirks::default());
    let ended = practice.sync().await;
    assert_clean("the last sync", &format!("{}{}", ended.stderr, ended.stdout));
    assert_nothing_leaked(&practice, &uuids[1..]).await;
}

#[test]
fn a_leak_would_be_seen() {
    assert_eq!(leaks("Mrs ZQXLAST called from 0699887766"), ["0699887766", "zqxlast"]);
    assert_eq!(leaks("nothing of anybody"), Vec::<&str>::new());
}
