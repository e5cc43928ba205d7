//! In which language commands answer: `--lang`, the setting `language`, the system.

use docsyncd_sandbox::{Fault, FaultKind, Route};

use crate::harness::Practice;

const STATUS: [(&str, &str); 3] =
    [("en", "docsyncd is not running: "), ("fr", "docsyncd est arrêté\u{a0}: "), ("de", "docsyncd läuft nicht: ")];

fn begins(language: &str) -> &'static str {
    STATUS.iter().find(|(code, _)| *code == language).unwrap().1
}

/// What `status` says first, with these variables alone.
#[cfg(unix)]
async fn status(practice: &Practice, locale: &[(&str, &str)], setting: Option<&str>, args: &[&str]) -> String {
    let mut command = practice.command(&[&["status"], args].concat());
    for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    command.envs(locale.iter().copied()).envs(setting.map(|language| ("DOCSYNCD__LANGUAGE", language)));
    String::from_utf8(command.output().await.unwrap().stdout).unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn the_system_says_the_language_the_setting_is_above_it_and_the_option_above_both() {
    let practice = Practice::with_documents(0).await;
    for (locale, setting, args, expected) in [
        (&[][..], None, &[][..], "en"),
        (&[("LANG", "C")], None, &[], "en"),
        (&[("LANG", "POSIX")], None, &[], "en"),
        (&[("LANG", "C.UTF-8")], None, &[], "en"),
        (&[("LANG", "es_ES.UTF-8")], None, &[], "en"),
        (&[("LANG", "fr_FR.UTF-8")], None, &[], "fr"),
        (&[("LANG", "fr")], None, &[], "fr"),
        (&[("LANG", "de_DE.UTF-8")], None, &[], "de"),
        (&[("LANG", "de_AT@euro")], None, &[], "de"),
        (&[("LANG", "fr_FR.UTF-8"), ("LC_MESSAGES", "de_DE.UTF-8")], None, &[], "de"),
        (&[("LANG", "fr_FR.UTF-8"), ("LC_MESSAGES", "de_DE.UTF-8"), ("LC_ALL", "C")], None, &[], "en"),
        (&[("LANG", "fr_FR.UTF-8"), ("LC_MESSAGES", ""), ("LC_ALL", "")], None, &[], "fr"),
        (&[("LANG", "fr_FR.UTF-8")], Some("de"), &[], "de"),
        (&[("LANG", "fr_FR.UTF-8")], Some("en"), &[], "en"),
        (&[("LANG", "fr_FR.UTF-8")], Some("de"), &["--lang", "en"], "en"),
        (&[("LANG", "C")], Some("de"), &["--lang", "fr"], "fr"),
    ] {
        let said = status(&practice, locale, setting, args).await;
        assert!(said.starts_with(begins(expected)), "{locale:?} {setting:?} {args:?}: {said}");
    }
    // What a program reads is the same on every machine, unless it asks for a language.
    let json = status(&practice, &[("LANG", "fr_FR.UTF-8")], Some("de"), &["--json"]).await;
    assert!(json.contains(begins("en")), "{json}");
    let asked = status(&practice, &[], None, &["--json", "--lang", "fr"]).await;
    assert!(asked.contains(begins("fr")), "{asked}");
}

/// Also on Windows, where the system's language is not a variable.
#[tokio::test]
async fn every_command_that_shows_letters_speaks_three_languages() {
    let mut practice = Practice::with_documents(2).await;
    practice.without_patience();
    let failing = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(403)).for_document(&failing));
    practice.env.insert("DOCSYNCD__LANGUAGE".into(), "de".into());
    // Nothing there yet.
    for (language, none, no_ledger) in [
        ("en", "no documents\n", "there is no ledger yet at"),
        ("fr", "aucun courrier\n", "il n'y a pas encore de registre dans"),
        ("de", "keine Briefe\n", "gibt es noch keine Datenbank"),
    ] {
        let list = practice.docsyncd(&["list", "--lang", language]).await;
        assert!(list.stdout == none && list.stderr.contains(no_ledger), "{list:?}");
    }
    assert_eq!(practice.sync().await.code, 3);
    for (language, [titles, state, reason, unknown, not_found, created, event]) in [
        (
            "en",
            [
                "patient",
                " failed ",
                "reading the document",
                "no document 000000 is known;",
                "no document is found;",
                "\ncreated ",
                "refused",
            ],
        ),
        (
            "fr",
            [
                "motif",
                " en échec ",
                "Le compte n'en a pas le droit\u{a0}:",
                "aucun courrier 000000 n'est connu\u{a0};",
                "aucun courrier trouvé\u{a0};",
                "\ncréé ",
                "Abandonné\u{a0}; le service est prévenu",
            ],
        ),
        (
            "de",
            [
                "Grund",
                " fehlgeschlagen ",
                "Dem Konto fehlt das Recht dazu:",
                "kein Brief 000000 ist bekannt;",
                "kein Brief gefunden;",
                "\nErstellt ",
                "Aufgegeben; der Dienst erfährt es",
            ],
        ),
    ] {
        let with = |args: &[&str]| {
            let args: Vec<String> = args.iter().copied().chain(["--lang", language]).map(str::to_owned).collect();
            let practice = &practice;
            async move { practice.docsyncd(&args.iter().map(String::as_str).collect::<Vec<_>>()).await }
        };
        let list = with(&["list", "--wide"]).await;
        let (head, lines) = list.stdout.split_once('\n').unwrap();
        assert!(language == "en" || head.contains(titles), "{list:?}");
        assert!(lines.contains(state) && lines.contains(reason), "{list:?}");
        let show = with(&["show", &failing]).await;
        for says in [created, reason, event] {
            assert!(show.stdout.contains(says), "{language}: {says}: {show:?}");
        }
        // The exact words are there for whoever looks after it.
        assert!(show.stdout.contains("HTTP 403"), "{show:?}");
        let found = with(&["find", &failing]).await;
        assert!(found.stdout.contains(state), "{found:?}");
        let nobody = with(&["find", "nobody"]).await;
        assert!(nobody.code == 1 && nobody.stderr.contains(not_found), "{nobody:?}");
        let unknown_one = with(&["show", "000000"]).await;
        assert!(unknown_one.code == 1 && unknown_one.stderr.contains(unknown), "{unknown_one:?}");
        for args in [&["list", "--json"][..], &["show", &failing, "--json"], &["find", &failing, "--json"]] {
            assert_eq!(with(args).await.stdout, practice.docsyncd(args).await.stdout, "{args:?}");
        }
    }
}
