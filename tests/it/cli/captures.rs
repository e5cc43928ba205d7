//! Every table that a command prints, as a terminal of 80 and of 120 columns shows it. Digits stand as 0, since times
//! and ports differ; nothing else does, but where paths are folded: captures are compared where the test's folder is in
//! /tmp. `INSTA_UPDATE=always` (CONTRIBUTING.md) writes the captures anew.

use std::process::Stdio;

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
use tokio::process::Command;

use crate::harness::{Practice, program};

/// The commands. All but `list --wide` fit the terminal.
const TABLES: &[&[&str]] = &[
    &["preview"],
    &["list"],
    &["list", "--wide"],
    &["show", "UUID"],
    &["find", "fairbairn"],
    &["status"],
    &["check"],
    &["retry"],
    &["config", "show"],
    &["alerts", "test"],
];

/// A configuration of places that are as long on every machine, to be shown only.
const PLACES: &str = "places.toml";

/// What the command writes to a terminal of this width. `script` (of every Debian's bsdutils) is the terminal.
async fn capture(practice: &Practice, args: &[&str], width: usize) -> String {
    let config = if args[0] == "config" { PLACES } else { "docsyncd.toml" };
    let quoted = |text: &str| format!("'{text}'");
    let command: Vec<String> = std::iter::once(program().display().to_string())
        .chain(["--config".into(), config.into()])
        .chain(args.iter().map(|arg| (*arg).to_owned()))
        .map(|word| quoted(&word))
        .collect();
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty cols {width} rows 50; exec {}", command.join(" ")), "/dev/null"]);
    script.current_dir(practice.dir.path()).envs(&practice.env).stdin(Stdio::null());
    script.env("PAGER", "cat").env("NO_COLOR", "1").env("TZ", afternoon()).env_remove("DOCSYNCD_PAGER");
    let output = script.output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
    // A bar that moves, and lines for a program, are no table.
    if !["sync", "export"].contains(&args[0]) && args != ["list", "--wide"] {
        text.lines().for_each(|line| assert!(line.chars().count() <= width, "{args:?} at {width}: {line}"));
    }
    let dir = practice.dir.path().display().to_string();
    text.replace(&dir, "DIR").lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A time zone where it is the afternoon now, since French writes an hour before ten with one digit. It is called UTC.
fn afternoon() -> String {
    format!("UTC{:+}", jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).hour() - 14)
}

/// Whether paths are folded as in the captures.
fn is_usual(practice: &Practice) -> bool {
    practice.dir.path().as_os_str().len() == "/tmp/.tmp123456".len()
}

fn masked(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect()
}

/// A practice with one letter that failed, one that waits, and one that is filed.
async fn practice() -> (Practice, String) {
    let mut practice = Practice::with_documents(3).await;
    practice.without_patience();
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "1".into());
    let places = "[api]\nbase_url = \"https://api.example.test\"\n[accounts.main]\napi_key_file = '/etc/docsyncd/api-key'\n\
                  [destinations.pms]\ntype = \"folder\"\npath = '/srv/practice/import'\n";
    practice.write_secret(PLACES, places);
    let failing = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&failing));
    practice.sync().await;
    practice.sandbox.add(NewDocument::default()).await.unwrap();
    (practice, failing)
}

#[tokio::test]
async fn every_table_is_captured_at_80_and_at_120_columns() {
    let (practice, failing) = practice().await;
    for (width, tables) in [(40, &TABLES[3..4]), (80, TABLES), (120, TABLES)] {
        for args in tables {
            let args: Vec<&str> = args.iter().map(|arg| if *arg == "UUID" { &*failing } else { *arg }).collect();
            let shown = capture(&practice, &args, width).await;
            let name = format!(
                "{}_{width}",
                args.first().zip(args.get(1)).map_or(args[0].to_owned(), |(command, more)| {
                    let more = more.trim_start_matches('-');
                    if more == failing { (*command).to_owned() } else { format!("{command}_{more}") }
                })
            );
            if is_usual(&practice) {
                insta::assert_snapshot!(name, masked(&shown));
            }
        }
    }
}

/// The same in French and German, where words are longer.
#[tokio::test]
async fn what_shows_letters_is_captured_in_every_language() {
    let (practice, failing) = practice().await;
    let keys: Vec<&str> = include_str!("../../../src/formats/language/en.ftl")
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, _)| key)
        .filter(|key| key.contains('-'))
        .collect();
    assert!(keys.contains(&"table-no-ledger"), "{keys:?}");
    for (width, language) in [(80, "fr"), (80, "de"), (120, "fr"), (120, "de")] {
        for args in [&["status"][..], &["list"], &["find", "fairbairn"], &["show", &failing]] {
            let args: Vec<&str> = args.iter().copied().chain(["--lang", language]).collect();
            let shown = capture(&practice, &args, width).await;
            let is_key = |word: &str| keys.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()));
            let key = shown.split_whitespace().find(|word| is_key(word));
            assert_eq!(key, None, "{shown}");
            if is_usual(&practice) {
                insta::assert_snapshot!(format!("{}_{width}_{language}", args[0]), masked(&shown));
            }
        }
    }
}

/// What changes something, or depends on the machine. Of a bar that moves only its end is captured.
#[tokio::test]
async fn what_is_done_is_captured_as_well() {
    let (practice, _) = practice().await;
    let end_of_sync = async |practice: &Practice, args: &[&str], width| {
        let shown = capture(practice, args, width).await;
        let shown: String =
            shown.lines().map(|line| line.rsplit("\u{1b}[2K").next().unwrap_or_default().to_owned() + "\n").collect();
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        masked(&shown)
    };
    for width in [80, 120] {
        practice.sandbox.add(NewDocument::default()).await.unwrap();
        insta::assert_snapshot!(format!("sync_{width}"), end_of_sync(&practice, &["sync"], width).await);
    }
    // What goes wrong is said in the reader's language as well.
    let refused = practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(401)));
    for language in ["en", "fr", "de"] {
        let shown = end_of_sync(&practice, &["sync", "--lang", language], 80).await;
        // The log is English, and says how long it took.
        let told: String = shown.split_inclusive('\n').filter(|line| !line.contains("event=")).collect();
        insta::assert_snapshot!(format!("sync_refused_80_{language}"), told);
    }
    practice.sandbox.remove_fault(refused);
    for width in [80, 120] {
        let shown = capture(&practice, &["export", "--from", "2020-01-01", "--to", "2100-01-01"], width).await;
        // Stages work side by side: in which order two events came is not the same each time, and so no hash is.
        let is_hash = |word: &str| word.len() == 64 && word.chars().all(|letter| letter.is_ascii_hexdigit());
        let plain = |line: &str| {
            let parts = line.split_inclusive([',', ' ', '"']);
            let parts = parts.map(|part| {
                let word = part.trim_end_matches([',', ' ', '"']);
                if is_hash(word) { part.replace(word, "HASH") } else { part.to_owned() }
            });
            // The first column is the line's number.
            let line = masked(&parts.collect::<String>());
            line.trim_start_matches('0').to_owned()
        };
        let mut lines: Vec<String> = shown.lines().map(plain).collect();
        let head = lines.remove(0);
        lines.sort_unstable();
        insta::assert_snapshot!(format!("export_{width}"), format!("{head}\n{}\n", lines.join("\n")));
    }
    // Where systemd runs, it has its own words.
    for width in [80, 120].into_iter().filter(|_| !std::path::Path::new("/run/systemd/system").exists()) {
        let shown = capture(&practice, &["service", "status"], width).await;
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
        insta::assert_snapshot!(format!("service_status_{width}"), masked(&shown));
    }
}
