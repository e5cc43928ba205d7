//! In which language setup asks, and that a new configuration keeps it.

use super::{answers, config, written};
use crate::harness::{Ended, Practice};

/// A shell's line for a terminal of 80 columns.
#[cfg(target_os = "linux")]
fn typed(args: &str) -> String {
    format!("stty cols 80 rows 50; exec '{}' --config new.toml setup {args}", crate::harness::program().display())
}

/// A person's first setup, answered by Enter but for the address, the folder and the page. Returns what was shown up to
/// `docsyncd check`, and what was written.
#[cfg(target_os = "linux")]
async fn first(practice: &mut Practice, args: &str, signs: [&str; 4]) -> (String, String) {
    let (url, inbox) = (practice.sandbox.url().to_string(), practice.inbox().display().to_string());
    let state = practice.path("ledger.sqlite3").display().to_string();
    practice.env.insert("DOCSYNCD__STATE__PATH".to_owned(), state);
    let [address, folder, page, write] = signs;
    let answers = [(address, url.as_str()), (folder, &inbox), (page, "n"), (write, "")];
    let (said, is_good, _) = super::typed_at_a_terminal(practice, &typed(args), &answers).await;
    let (asked, checked) = said.split_once("ok    ").unwrap_or((&said, ""));
    assert!(is_good && checked.contains(" pms "), "{said}");
    let asked = asked.replace('\r', "");
    // No key of a text, and nothing that is English only.
    let english = ["the", "letters", "which", "that", "answer", "with", "it", "is"];
    let left = asked.split(|c: char| !c.is_alphanumeric() && c != '-').find(|word| english.contains(word));
    assert!(left.is_none() && !asked.contains("setup-"), "{left:?}: {asked}");
    let here = practice.dir.path().display().to_string();
    let long = asked.lines().find(|line| line.chars().count() > 80 && !line.contains(&here));
    assert_eq!(long, None, "{asked}");
    (asked, std::fs::read_to_string(practice.path("new.toml")).unwrap())
}

/// The system's language; alarms and page follow it from then on.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_french_computer_is_set_up_in_french() {
    use crate::faults::tools::needs;
    needs!("script");
    let mut practice = Practice::with_documents(2).await;
    practice.env.insert("LC_ALL".to_owned(), "fr_FR.UTF-8".to_owned());
    let signs = ["Adresse du service", "Dossier pour les courriers", "Afficher l'état de docsyncd", "Écrire "];
    let (said, text) = first(&mut practice, "", signs).await;
    for sign in [
        "Les réponses sont vérifiées au fur et à mesure.",
        "le service répond",
        "2 courriers attendent",
        "1) Un logiciel de cabinet qui surveille un dossier\u{a0}; un sous-dossier par patient",
        "2) Mon logiciel n'est pas nommé ici",
        "_Compte rendu opératoire.pdf",
        "Ce qui attend serait classé sous",
        "[O/n]",
    ] {
        // Lines are folded.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&said).contains(&words(sign)), "{sign}: {said}");
    }
    assert!(text.lines().any(|line| line == "language = \"fr\""), "{text}");
    // How the file is to be read stands above its English comments.
    assert!(text.starts_with("# La configuration de docsyncd. Pour la modifier"), "{text}");
    assert_eq!(text.lines().count(), docsyncd::config::template().lines().count() + 3);
    // The file decides from now on; its language is not asked for again.
    practice.env.insert("LC_ALL".to_owned(), "C".to_owned());
    let (said, is_good, _) = super::typed_at_a_terminal(&practice, &typed(""), &[("Que faut-il changer", "")]).await;
    assert!(is_good && said.contains("sera modifié"), "{said}");
}

/// `--lang`, where the computer speaks another language.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_german_asks_for_german() {
    use crate::faults::tools::needs;
    needs!("script");
    let mut practice = Practice::with_documents(1).await;
    let signs = ["Adresse des Online-Dienstes", "Ordner für die Briefe", "Den Status von docsyncd", "schreiben?"];
    let (said, text) = first(&mut practice, "--lang de", signs).await;
    for sign in [
        "Jede Antwort wird sofort geprüft.",
        "3) Meine Software ist hier nicht genannt",
        "_Operationsbericht.pdf",
        "der Dienst antwortet",
        "1 Brief wartet",
        "Was wartet, würde so abgelegt",
    ] {
        assert!(said.contains(sign), "{sign}: {said}");
    }
    assert!(text.starts_with("# Die Konfiguration von docsyncd. Ändern: docsyncd setup"), "{text}");
    assert!(text.lines().any(|line| line == "language = \"de\""), "{text}");
}

/// What programs read is the same on every computer, unless they ask for a language.
#[tokio::test]
async fn a_file_of_answers_is_answered_in_english_unless_a_language_is_asked_for() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("LC_ALL".to_owned(), "de_DE.UTF-8".to_owned());
    std::fs::write(practice.path("answers.toml"), answers(&practice)).unwrap();
    let (config, file) = (config(&practice), practice.path("answers.toml").display().to_string());
    let set_up = async |more: &[&str]| -> Ended {
        let args: Vec<&str> =
            ["--config", &config, "setup", "--answers", &file].into_iter().chain(more.iter().copied()).collect();
        practice.docsyncd_without_config(&args).await
    };
    let ended = set_up(&[]).await;
    assert!(ended.code == 0 && ended.stdout.contains("the service answers"), "{ended:?}");
    assert!(!written(&practice).contains("\nlanguage = "), "{}", written(&practice));
    std::fs::remove_dir_all(practice.path("etc")).unwrap();
    let ended = set_up(&["--lang", "de"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("der Dienst antwortet"), "{ended:?}");
    assert!(written(&practice).contains("\nlanguage = \"de\"\n"), "{}", written(&practice));
    // What is there already keeps its language.
    let ended = set_up(&["--lang", "fr"]).await;
    assert!(ended.code == 0 && ended.stdout.contains("le service répond"), "{ended:?}");
    assert!(written(&practice).contains("\nlanguage = \"de\"\n"), "{}", written(&practice));
    // What does not work is told in a sentence, and the exact reason stays.
    std::fs::write(practice.path("answers.toml"), "base_url = \"https://127.0.0.1:1\"\n").unwrap();
    let ended = set_up(&["--lang", "fr"]).await;
    assert!(
        ended.code == 2 && ended.stderr.contains("`base_url`: à cette adresse, le service ne répond pas"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("connection is refused"), "{ended:?}");
    // Neither is there an English sentence in what is wrong with the file itself.
    for (text, said) in [
        ("pathh = \"x\"\n", "answers.toml: réponse inconnue `pathh`\u{a0}; la plus proche qui existe est `path`\n"),
        ("key pasted\n", "answers.toml: la ligne 1 n'est pas du TOML valide\n"),
        ("alerts = \"x\"\n", "answers.toml: `alerts` est une section, pas une valeur\u{a0}: écrivez"),
        ("base_url = true\n", "answers.toml: `base_url`: un texte est attendu\n"),
        ("preset = \"x\"\n", "answers.toml: `preset`: une de ces valeurs est attendue\u{a0}: \""),
    ] {
        std::fs::write(practice.path("answers.toml"), text).unwrap();
        let ended = set_up(&["--lang", "fr"]).await;
        assert!(ended.code == 2 && ended.stderr.starts_with("docsyncd: /") && ended.stderr.contains(said), "{ended:?}");
    }
}
