//! A table of mistakes that people make, and what each is told. Every row is carried out with the real program.

use docsyncd_sandbox::{Fault, FaultKind, Route};

use crate::harness::{Practice, unused_address};

/// What is wrong; the rest of the practice is as it should be.
#[derive(Debug)]
enum Wrong {
    Nothing,
    /// In the configuration this stands in place of that.
    Instead(&'static str, &'static str),
    /// This is added to the configuration.
    Added(&'static str),
    /// This variable is set; `URL` stands for the API's address, `DIR` for the practice's folder.
    Set(&'static str, &'static str),
    /// This is what the key's file holds.
    Key(&'static str),
    /// The same, as `>` of PowerShell writes it.
    KeyInUtf16(&'static str),
    /// This file or folder is missing.
    Missing(&'static str),
    /// This file holds that, in place of whatever was there.
    File(&'static str, &'static str),
    /// Nobody listens at the API's address.
    Nobody,
}
use Wrong::{Added, File, Instead, Key, KeyInUtf16, Missing, Nobody, Nothing, Set};

/// What is typed, and the exit code.
const CHECK_CONFIG: (&[&str], i32) = (&["check"], 2);
const CHECK: (&[&str], i32) = (&["check"], 1);
const CHECK_WARNS: (&[&str], i32) = (&["check"], 0);

/// What is wrong, what is typed and ends how, and words of the message.
type Mistake = (Wrong, (&'static [&'static str], i32), &'static [&'static str]);

/// All of them.
const MISTAKES: &[Mistake] = &[
    // The configuration.
    (
        Instead("poll_interval", "pol_interval"),
        CHECK_CONFIG,
        &["line 7", "`sync.pol_interval`", "`sync.poll_interval`"],
    ),
    (Added("[snyc]\n"), CHECK_CONFIG, &["unknown section `snyc`", "`sync`"]),
    (Instead("\"1h\"", "\"soon\""), CHECK_CONFIG, &["`sync.poll_interval`", "\"30s\""]),
    (Instead("\"1h\"", "60"), CHECK_CONFIG, &["`sync.poll_interval`"]),
    (Instead("[api]", "[api"), CHECK_CONFIG, &["line 1"]),
    (Set("DOCSYNCD__API__BASE_URL", "api.example.test"), CHECK_CONFIG, &["`api.base_url`", "https://"]),
    (Set("DOCSYNCD__API__BASE_URL", "http://api.example.test"), CHECK_CONFIG, &["`api.base_url`", "https"]),
    (Set("DOCSYNCD__SYNC__MAX_CONCURRENCY", "0"), CHECK_CONFIG, &["`sync.max_concurrency`", "1"]),
    (Set("DOCSYNCD__LOG__LEVEL", "loud"), CHECK_CONFIG, &["`log.level`", "debug"]),
    (Set("DOCSYNCD__RETRY__INITIAL", "1h"), CHECK_CONFIG, &["`retry.initial`", "longer than the longest"]),
    (Instead("\"folder\"", "\"floder\""), CHECK_CONFIG, &["`destinations.pms.type`", "folder"]),
    (Instead("path = 'inbox'", ""), CHECK_CONFIG, &["`destinations.pms.path` is missing"]),
    (Added("file_mode = \"0999\""), CHECK_CONFIG, &["`destinations.pms.file_mode`"]),
    (Added("marker = \"/etc/passwd\""), CHECK_CONFIG, &["`destinations.pms.marker`", "below"]),
    (Added("file_name = \"{{ pateint.lastName }}.pdf\""), CHECK_CONFIG, &["did you mean `patient`?"]),
    (Added("file_name = \"{{ patient.lastName\""), CHECK_CONFIG, &["`destinations.pms.file_name`", "double braces"]),
    (
        Added("file_name = \"{{ document.uuid }}.pdf\"\nsidecar = \"x\"\nsidecar_name = \"{{ file_name }}\""),
        CHECK_CONFIG,
        &["gives the PDF's own name"],
    ),
    (Added("[[routes]]\nto = [\"pmss\"]"), CHECK_CONFIG, &["pmss", "pms"]),
    (Added("[destinations.b]\ntype = \"folder\"\npath = 'inbox'"), CHECK_CONFIG, &["routes"]),
    (Added("[accounts.b]\napi_key = \"a-secret\""), CHECK_CONFIG, &["must not stand in the configuration file"]),
    (Missing("docsyncd.toml"), CHECK_CONFIG, &[" setup` asks", "config init"]),
    // Names of files.
    (Added("file_name = \"letter.pdf\""), CHECK_WARNS, &["letters of two patients one name, `letter.pdf`", "appended"]),
    (
        Added("file_name = \"{{ patient.lastName }}_{{ document.createdAt | date }}.pdf\""),
        CHECK_WARNS,
        &["Louise Durand"],
    ),
    (Added("file_name = \"{{ patient.uuid }}.pdf\""), CHECK_WARNS, &["2026-11-20 and 2026-11-21", "createdAt"]),
    (
        Added("file_name = \"{{ patient.lastName }}/{{ document.uuid }}.pdf\""),
        CHECK_WARNS,
        &["into one folder, `Durand`"],
    ),
    (
        Added("file_name = \"{{ patient.lastNam }}_{{ document.uuid }}.pdf\""),
        CHECK_CONFIG,
        &["did you mean `patient.lastName`?"],
    ),
    // The second file.
    (
        Added("sidecar = \"<doc>{{ patient.lastName }}</doc>\"\nsidecar_name = \"{{ file_stem }}.idx\""),
        CHECK_WARNS,
        &["`destinations.pms.sidecar` looks like XML", "sidecar_format = \"xml\""],
    ),
    (
        Added("sidecar = \"80006310\"\nsidecar_format = \"gdt\""),
        CHECK_CONFIG,
        &["`destinations.pms.sidecar_encoding`", "sidecar_encoding = \"windows-1252\""],
    ),
    (
        Added("sidecar = \"{{ visible_file }}\""),
        CHECK_CONFIG,
        &["`destinations.pms.sidecar` uses {{ visible_file }}", "visible_path = "],
    ),
    // Keys.
    (Missing("api-key"), CHECK_CONFIG, &["api_key_file", "cannot be read", "Write the key into that file"]),
    (Key(""), CHECK_CONFIG, &["is empty: write the key into it"]),
    (Key("\"a-key\""), CHECK_CONFIG, &["holds quotation marks beside the key"]),
    (Key("Bearer a-key"), CHECK_CONFIG, &["holds the word Bearer"]),
    (Key("a key"), CHECK_CONFIG, &["does not hold a key: one line of letters, digits and signs"]),
    (KeyInUtf16("a-key"), CHECK_CONFIG, &["api_key_file", "cannot be read: it is UTF-16", "Save it as UTF-8"]),
    (Key("a-wrong-key"), CHECK, &["refuses the credentials (HTTP 401): check the account's key\n"]),
    // The address.
    (Nobody, CHECK, &["cannot be reached: the connection is refused"]),
    (Set("DOCSYNCD__API__BASE_URL", "URL/v9"), CHECK, &["/v9/documents was answered with: HTTP 404", "with its path?"]),
    (Set("DOCSYNCD__API__BASE_URL", "sURL"), CHECK, &["it speaks http, not https"]),
    // What is on this machine.
    (
        Missing("inbox"),
        CHECK,
        &["does not exist", if cfg!(windows) { "is the disk mounted?" } else { "is the share mounted?" }],
    ),
    (File("inbox", ""), CHECK, &["is not a folder", "correct its `path`"]),
    (Added("marker = \".docsyncd\""), CHECK, &["has no file `.docsyncd`", "create an empty file"]),
    (Added("reader = \"nobody-of-that-name\""), CHECK, &["no user and no group nobody-of-that-name"]),
    (
        Instead("type = \"folder\"\npath = 'inbox'", "type = \"command\"\nprogram = \"no-such-program\""),
        CHECK,
        &["not in the service's PATH"],
    ),
    (
        Instead("type = \"folder\"\npath = 'inbox'", "type = \"command\"\nprogram = './api-key'"),
        CHECK,
        &["may not be executed"],
    ),
    (File("state/ledger.sqlite3", "no database"), CHECK, &["ledger"]),
    (Set("DOCSYNCD__LOG__FILE", "DIR/nowhere/log"), CHECK, &["log.file", "nowhere", "cannot be written"]),
    // What is typed.
    (Nothing, (&["snyc"], 2), &["sync"]),
    (Nothing, (&["list", "--state", "faild"], 2), &["failed"]),
    (Nothing, (&["retry"], 2), &["retry --failed", "retry UUID"]),
    (Nothing, (&["find", "?!"], 2), &["a word needs a letter or a digit"]),
    (Nothing, (&["login"], 2), &["no account needs a sign-in: all use an API key"]),
    (Nothing, (&["api", "GET", "https://elsewhere.example.test/me"], 2), &["write only the path"]),
    (Nothing, (&["api", "FETCH IT", "/me"], 2), &["is not an HTTP method"]),
    (Nothing, (&["config", "init"], 1), &["it exists already and was left as it is"]),
    (Nothing, (&["show", "5f0c9f0e"], 1), &["no ledger at", "nothing was synchronized so far"]),
    (Nothing, (&["setup"], 2), &["there is no terminal to ask at", "--answers"]),
    (Nothing, (&["setup", "--answers", "no-such-file"], 2), &["no-such-file", "the answers cannot be read"]),
    (
        File("answers.toml", "alerts = \"a-secret\"\n"),
        (&["setup", "--answers", "ANSWERS"], 2),
        &["`alerts` is a table", "webhook_url_from", "[alerts.mail]"],
    ),
];

impl Wrong {
    /// As tests/README.md has it.
    fn in_words(&self) -> String {
        let code = |text: &str| format!("`{}`", text.trim().replace('\n', "` and `"));
        match self {
            Nothing => "nothing but what is typed".to_owned(),
            Instead(that, "") => format!("{} is missing in the configuration", code(that)),
            Instead(that, this) => format!("{} stands in place of {}", code(this), code(that)),
            Added(text) => format!("{} is added to the configuration", code(text)),
            Set(name, value) => format!("`{name}={value}` is set"),
            Key("") => "the key's file is empty".to_owned(),
            Key(content) => format!("the key's file holds {}", code(content)),
            KeyInUtf16(content) => {
                format!("the key's file holds {} in UTF-16, as PowerShell's `>` writes", code(content))
            }
            Missing(name) => format!("`{name}` is missing"),
            File(name, "") => format!("`{name}` is an empty file"),
            File(name, content) => format!("`{name}` holds {}", code(content)),
            Nobody => "nobody listens at the API's address".to_owned(),
        }
    }
}

/// All that was said, in a cell of a table: without what is well, and with placeholders for what differs from run to
/// run.
fn message(said: &str, dir: &str, code: i32) -> String {
    let is_well = |line: &&str| line.starts_with("ok ") || (code != 0 && line.starts_with("warn "));
    let lines = said.lines().filter(|line| !is_well(line) && !line.trim().is_empty());
    let words: Vec<String> = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let user = std::process::Command::new("id").arg("-un").output().map(|ended| ended.stdout).unwrap_or_default();
    let user = format!(" as {}:", String::from_utf8_lossy(&user).trim());
    let text = words.join("\n").replace(dir, "DIR").replace(&user, " as USER:");
    let is_time = |c: char| c.is_ascii_digit() || c == 'T';
    let is_address = |c: char| c.is_ascii_digit() || c == '.' || c == ':';
    let text = masked(&text, "damaged-ledger-", is_time, "TIME");
    masked(&text, "127.0.", is_address, "0.1:PORT").replace('<', "&lt;").replace('\n', "<br>")
}

/// What follows `before` and is of such letters is replaced, unless it is a bare address, without a port.
fn masked(text: &str, before: &str, letters: fn(char) -> bool, by: &str) -> String {
    let mut parts = text.split(before);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(letters);
        let is_bare = part.len() - rest.len() <= "0.1:".len();
        if is_bare { text + before + part } else { text + before + by + rest }
    })
}

/// The table of tests/README.md is these rows; `DOCSYNCD_TEST_WRITE=1` writes it anew.
fn hold_in_readme(rows: &[String]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(TABLE).expect("the head of the table");
    let (table, after) = rest.split_once("\n\n").unwrap();
    if std::env::var_os("DOCSYNCD_TEST_WRITE").is_some() {
        std::fs::write(path, format!("{before}{TABLE}{}\n\n{after}", rows.join("\n"))).unwrap();
        return;
    }
    let held: Vec<&str> = table.lines().collect();
    assert_eq!(held.len(), rows.len(), "{AGAIN}");
    for (held, row) in held.iter().zip(rows) {
        assert_eq!(held, row, "{AGAIN}");
    }
}

/// The head of the table.
const TABLE: &str = "| What is wrong | Typed | Ends with | What is said |\n|---|---|---|---|\n";
const AGAIN: &str = "`DOCSYNCD_TEST_WRITE=1` before the command of this test writes the rows of tests/README.md anew";

async fn bring_about(wrong: &Wrong, practice: &mut Practice) {
    let (url, dir) =
        (practice.sandbox.url().trim_end_matches('/').to_owned(), practice.dir.path().display().to_string());
    match wrong {
        Nothing => {}
        Instead(that, this) => {
            let text = std::fs::read_to_string(practice.config_path()).unwrap();
            assert!(text.contains(that), "{that}");
            practice.configure_wholly(&text.replace(that, this));
        }
        Added(text) => practice.configure(text),
        Set(name, value) => {
            let value =
                value.replace("sURL", &url.replace("http://", "https://")).replace("URL", &url).replace("DIR", &dir);
            practice.env.insert((*name).to_owned(), value);
        }
        Key(content) => practice.write_secret("api-key", content),
        KeyInUtf16(content) => {
            let bytes: Vec<u8> =
                "\u{feff}".encode_utf16().chain(content.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            std::fs::write(practice.path("api-key"), bytes).unwrap();
        }
        Missing(name) if practice.path(name).is_dir() => std::fs::remove_dir(practice.path(name)).unwrap(),
        Missing(name) => std::fs::remove_file(practice.path(name)).unwrap(),
        File(name, content) => {
            let _ = std::fs::remove_dir(practice.path(name));
            std::fs::create_dir_all(practice.path(name).parent().unwrap()).unwrap();
            std::fs::write(practice.path(name), content).unwrap();
        }
        Nobody => unreachable!("it has an address of its own"),
    }
}

#[tokio::test]
async fn each_mistake_is_told_with_what_to_do() {
    const { assert!(MISTAKES.len() >= 50) };
    let (mut misses, mut rows) = (Vec::new(), Vec::new());
    for (wrong, (args, code), signs) in MISTAKES {
        // Windows asks by the ending of a name whether something is a program, and knows no readers.
        if cfg!(windows) && signs.iter().any(|sign| sign.contains("executed") || sign.contains("no user and")) {
            continue;
        }
        let mut practice = Practice::with_documents(0).await;
        let nobody = matches!(wrong, Nobody).then(unused_address);
        match &nobody {
            Some(nobody) => {
                let address = format!("http://{}", nobody.address);
                practice.env.insert("DOCSYNCD__API__BASE_URL".into(), address);
            }
            None => bring_about(wrong, &mut practice).await,
        }
        let answers = practice.path("answers.toml").display().to_string();
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "ANSWERS" { &*answers } else { *arg }).collect();
        let ended = practice.docsyncd(&args).await;
        let said = format!("{}{}", ended.stdout, ended.stderr);
        if ended.code != *code || signs.iter().any(|sign| !said.contains(sign)) {
            misses.push(format!("{wrong:?} {args:?}: expected {code} and {signs:?}, got {ended:#?}"));
        }
        assert!(!said.contains("a-secret") && !said.contains("a-wrong-key"), "{wrong:?}: {said}");
        let dir = practice.dir.path().display().to_string();
        let typed = args.join(" ").replace(&dir, "DIR");
        let cells = [wrong.in_words(), format!("`{typed}`"), code.to_string(), message(&said, &dir, *code)];
        rows.push(format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")));
    }
    assert!(misses.is_empty(), "{} of {}:\n{}", misses.len(), MISTAKES.len(), misses.join("\n"));
    // The words of other systems are theirs.
    if cfg!(target_os = "linux") {
        hold_in_readme(&rows);
    }
}

/// A hint that is typed as it stands works.
#[tokio::test]
async fn hints_repeat_the_configuration_that_was_given() {
    let mut practice = Practice::with_documents(1).await;
    practice.without_patience();
    let docsyncd = format!("docsyncd --config {} ", practice.config_path().display());
    let ended = practice.docsyncd(&["retry"]).await;
    assert!(ended.stderr.contains(&format!("{docsyncd}retry --failed")), "{ended:?}");
    let failing = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&failing));
    assert_eq!(practice.sync().await.code, 3);
    for language in ["en", "fr"] {
        let ended = practice.docsyncd(&["status", "--lang", language]).await;
        for hint in ["list --state failed", "retry --failed"] {
            assert_eq!(ended.stdout.matches(hint).count(), 2, "the sentence and the table: {ended:?}");
            assert_eq!(ended.stdout.matches(&format!("{docsyncd}{hint}")).count(), 2, "{ended:?}");
        }
    }
}

/// No route takes it: the reason says what to do, and that can be typed.
#[tokio::test]
async fn the_hint_in_a_reason_works_as_it_stands() {
    let practice = Practice::with_documents(1).await;
    practice.configure("[[routes]]\ntypes = [\"no-such-type\"]\nto = [\"pms\"]");
    assert_eq!(practice.sync().await.code, 3);
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    let shown = practice.docsyncd(&["show", &uuid]).await.stdout;
    let docsyncd = format!("run docsyncd --config {} ", practice.config_path().display());
    let (_, hint) = shown.split_once(&docsyncd).unwrap_or_else(|| panic!("{shown}"));
    let words: Vec<&str> = hint.lines().next().unwrap().split_whitespace().collect();
    let retried = practice.docsyncd(&words).await;
    assert!(retried.code == 0 && retried.stdout.contains("1 document to try again"), "{words:?}: {retried:?}");
}

/// What is wrong is said once.
#[tokio::test]
async fn the_same_is_not_said_twice() {
    let practice = Practice::with_documents(1).await;
    practice.write_secret("api-key", "a-wrong-key");
    let ended = practice.sync().await;
    // Besides the log.
    let said = ended.stderr.lines().filter(|line| line.starts_with("docsyncd: ") && line.contains("the account's key"));
    assert!(ended.code == 1 && said.count() == 1, "{ended:?}");
    std::fs::create_dir_all(practice.ledger().parent().unwrap()).unwrap();
    std::fs::write(practice.ledger(), "no database").unwrap();
    let ended = practice.docsyncd(&["run"]).await;
    let said = ended.stderr.matches("is damaged").count();
    assert!(ended.code == 1 && said == 1, "{ended:?}");
}
