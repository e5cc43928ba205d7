//! The dialogues of setup as a terminal of 80 columns shows them, in each language: a first setup with all that goes
//! wrong in one, and what is asked of a configured machine; and that commands speak the language. Digits stand as 0.
//! `INSTA_UPDATE=always` (CONTRIBUTING.md) writes the captures anew.

use super::typed_at_a_terminal;
use crate::harness::{Practice, program};

/// What a person answers, by a sign of each question.
struct Tongue {
    language: &'static str,
    address: &'static str,
    key: &'static str,
    keep: &'static str,
    preset: [&'static str; 2],
    folder: &'static str,
    reader: &'static str,
    more: &'static str,
    list: [&'static str; 2],
    mail: [&'static str; 2],
    sender: [&'static str; 2],
    again: &'static str,
    page: &'static str,
    change: &'static str,
}

const TONGUES: [Tongue; 3] = [
    Tongue {
        language: "en",
        address: "Address of the cloud service",
        key: "API key:",
        keep: "Go on with",
        preset: ["Letters go to", "=My software is not named"],
        folder: "Folder for the letters",
        reader: "Who reads the letters",
        more: "What else is set up",
        list: ["=own number of each", "List of patients"],
        mail: ["=Alarms by mail", "Mail server:"],
        sender: ["Sender of the mails", "Who gets them"],
        again: "Try again?",
        page: "Show in the browser",
        change: "What is to be changed?",
    },
    Tongue {
        language: "fr",
        address: "Adresse du service",
        key: "Clé d'API",
        keep: "Continuer avec",
        preset: ["Où vont les courriers", "=Mon logiciel n'est pas"],
        folder: "Dossier pour les courriers",
        reader: "Qui y lit les courriers",
        more: "Autres réglages\u{a0}:",
        list: ["=Le numéro de chaque", "Liste des patients"],
        mail: ["=Alertes par e-mail", "Serveur de messagerie"],
        sender: ["Expéditeur des e-mails", "Destinataires"],
        again: "Réessayer",
        page: "Afficher l'état",
        change: "Que faut-il changer",
    },
    Tongue {
        language: "de",
        address: "Adresse des Online-Dienstes",
        key: "API-Schlüssel:",
        keep: "Weiter verwenden",
        preset: ["Wohin die Briefe gehen", "=Meine Software ist hier"],
        folder: "Ordner für die Briefe",
        reader: "Wer die Briefe dort liest",
        more: "Weitere Einstellungen:",
        list: ["=Die Nummer jedes", "Patientenliste"],
        mail: ["=Benachrichtigung per E-Mail", "Mailserver:"],
        sender: ["Absender der E-Mails", "Empfänger"],
        again: "Noch einmal versuchen",
        page: "Den Status von docsyncd",
        change: "Was soll geändert werden?",
    },
];

/// The text without what stands in brackets, also in brackets of those.
fn outside_of_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let kept = text.chars().filter(|c| {
        depth += usize::from(*c == '(');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(usize::from(*c == ')'));
        is_outside
    });
    kept.collect()
}

/// What is said is in the language; only the exact reason is English.
fn assert_no_english(language: &str, shown: &str) {
    const ENGLISH: [&str; 13] =
        ["the", "letters", "which", "that", "answer", "with", "it", "is", "cannot", "not", "does", "has", "be"];
    // The answer that a person typed wrong, and the sign of a number that begins a line.
    let numbered = shown.lines().map(|line| match line.trim().split_once(") ") {
        Some((number, rest)) if number.chars().all(|c| c.is_ascii_digit()) => rest,
        _ => line,
    });
    let left = outside_of_brackets(&numbered.collect::<Vec<_>>().join("\n"));
    let word = left.split(|c: char| !c.is_alphanumeric()).find(|word| ENGLISH.contains(word));
    assert!(language == "en" || word.is_none(), "{word:?}: {left}");
    assert!(!shown.contains("setup-") && !shown.contains("told-") && !shown.contains("check-"), "{shown}");
}

fn plain(practice: &Practice, said: &str) -> String {
    let dir = practice.dir.path().display().to_string();
    let program = program().display().to_string();
    let said = said.replace('\r', "").replace(&dir, "DIR").replace(&program, "docsyncd");
    let lines = said.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect::<String>().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

#[tokio::test]
async fn the_dialogues_are_captured_in_every_language() {
    use crate::faults::tools::needs;
    needs!("script");
    for tongue in TONGUES {
        let mut practice = Practice::with_documents(2).await;
        let state = practice.path("state/ledger.sqlite3").display().to_string();
        practice.env.insert("DOCSYNCD__STATE__PATH".to_owned(), state);
        let language = tongue.language;
        let program = program().display().to_string();
        let typed = format!("stty cols 80 rows 50; exec '{program}' --config new.toml setup --lang {language}");
        let (url, key) = (practice.sandbox.url().to_string(), practice.sandbox.api_key().to_owned());
        std::fs::write(practice.path("patients.xlsx"), b"PK\x03\x04").unwrap();
        let (inbox, wrong) = (practice.inbox().display().to_string(), format!("{}/wrong", url.trim_end_matches('/')));
        let (missing, book) = (practice.path("missing"), practice.path("patients.xlsx"));
        let (missing, book) = (missing.display().to_string(), book.display().to_string());
        let answers = [
            (tongue.address, "https://127.0.0.1:1"),
            (tongue.address, "x y"),
            (tongue.address, &wrong),
            (tongue.address, &url),
            (tongue.keep, "n"),
            (tongue.key, "\"quoted\""),
            (tongue.key, "wrong"),
            (tongue.key, &key),
            (tongue.preset[0], tongue.preset[1]),
            (tongue.folder, &missing),
            (tongue.folder, r"\\server\share"),
            (tongue.folder, &inbox),
            (tongue.reader, "nobody-of-that-name"),
            (tongue.more, tongue.list[0]),
            (tongue.list[1], &missing),
            (tongue.list[1], &book),
            (tongue.list[1], "<"),
            (tongue.more, tongue.mail[0]),
            (tongue.mail[1], "127.0.0.1:1"),
            (tongue.sender[0], "d@practice.test"),
            (tongue.sender[1], "desk@practice.test"),
            (tongue.again, "n"),
            (tongue.page, "n"),
        ];
        let (said, is_good, _) = typed_at_a_terminal(&practice, &typed, &answers).await;
        let shown = plain(&practice, &said);
        assert!(is_good, "{shown}");
        assert_no_english(language, &shown.replace("nobody-of-that-name", "NAME"));
        let (said, is_good, _) = typed_at_a_terminal(&practice, &typed, &[(tongue.change, "")]).await;
        let changed = plain(&practice, &said);
        assert!(is_good && changed.contains(tongue.change), "{changed}");
        assert_no_english(language, &changed);
        // What is folded depends on how long the test's folder is.
        if practice.dir.path().as_os_str().len() == "/tmp/.tmp123456".len() {
            insta::assert_snapshot!(format!("setup_first_{language}"), shown);
            insta::assert_snapshot!(format!("setup_change_{language}"), changed);
        }
    }
}

/// The commands that a person types, and what they say where something is wrong.
#[tokio::test]
async fn commands_and_their_errors_are_in_the_language() {
    let practice = Practice::with_documents(1).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    for (language, folder, key, nothing, list, ledger) in [
        (
            "fr",
            "est introuvable",
            "le service refuse",
            "docsyncd est arrêté",
            "pas de liste de patients",
            "le registre",
        ),
        ("de", "gibt es nicht", "der Dienst lehnt", "docsyncd läuft nicht", "keine Patientenliste", "die Datenbank"),
    ] {
        practice.write_secret("api-key", practice.sandbox.api_key());
        let says = async |args: &[&str], sign: &str| {
            let args: Vec<&str> = args.iter().copied().chain(["--lang", language]).collect();
            let ended = practice.docsyncd(&args).await;
            let all = format!("{}{}", ended.stdout, ended.stderr);
            assert!(all.contains(sign), "{args:?}: {ended:?}");
            assert_no_english(language, &all);
            ended.code
        };
        assert_eq!(says(&["check"], folder).await, 1);
        assert_eq!(says(&["poll"], nothing).await, 1);
        assert_eq!(says(&["assign", "000000"], list).await, 2);
        assert_eq!(says(&["open"], "[status_page]").await, 2);
        assert_eq!(says(&["alerts", "test"], "[alerts.mail]").await, 2);
        assert_eq!(says(&["preview"], "pms").await, 0);
        practice.write_secret("api-key", "wrong");
        assert_eq!(says(&["check"], key).await, 1);
        // A ledger that is none.
        std::fs::create_dir_all(practice.path("state")).unwrap();
        std::fs::write(practice.ledger(), "no database, but a text that is long enough to be looked at").unwrap();
        for args in [&["retry", "000000"][..], &["poll"], &["reconcile"]] {
            assert_eq!(says(args, ledger).await, 1);
        }
        std::fs::remove_file(practice.ledger()).unwrap();
        let in_english = practice.docsyncd(&["check", "--json"]).await;
        assert!(!in_english.stdout.contains(folder), "programs read the same everywhere: {in_english:?}");
    }
}
