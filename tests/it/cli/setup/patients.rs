//! The practice's list of patients, and proof that letters were taken, in `docsyncd setup`.

use docsyncd_sandbox::NewDocument;
use serde_json::json;

use super::{answers, config, setup_with, written};
use crate::harness::Practice;

const GERMAN: &str = "Pat.-Nr.;Name;Vorname;Geb.-Datum;Geburtsname;Telefon\r\n0042;Müller;Jörg;31.12.1980;;1\r\n\
                      43;Weiß-Groß;Zoé;01.02.1999;Weiß;2\r\n44;Petit;Ana;03.04.1970;;3\r\n";

async fn practice() -> Practice {
    let practice = Practice::with_documents(0).await;
    for (last, first, born) in
        [("MUELLER", "Jörg", "1980-12-31"), ("Weiss", "Zoe", "1999-02-01"), ("Canary", "Ana", "1970-04-03")]
    {
        let patient = Some(json!({"lastName": last, "firstName": first, "dateOfBirth": born}));
        practice.sandbox.add(NewDocument { patient, ..NewDocument::default() }).await.unwrap();
    }
    practice
}

/// As software of Windows exports it.
fn write_list(practice: &Practice, text: &str) {
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    std::fs::write(practice.path("patients.csv"), bytes).unwrap();
}

fn list(practice: &Practice) -> String {
    format!("\n[patients]\nfile = '{}'\n", practice.path("patients.csv").display())
}

#[tokio::test]
async fn the_columns_of_a_list_are_found_and_letters_are_named_by_its_numbers() {
    let practice = practice().await;
    write_list(&practice, GERMAN);
    let named = "file_name = \"{{ patient.number }}_{{ document.type }}.pdf\"\nconfirm = \"taken\"\n";
    let ended = setup_with(&practice, &format!("{}{named}{}", answers(&practice), list(&practice))).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    for sign in [
        "3 patients (windows-1252, `;`, dates as %d.%m.%Y)",
        "letter of MUELLER Jörg → number 0042",
        "letter of Weiss Zoe → number 43",
        "letter of Canary Ana → needs a person: nobody",
        "ok    patients",
    ] {
        let shown: Vec<&str> = ended.stdout.split_whitespace().collect();
        assert!(shown.join(" ").contains(&sign.split_whitespace().collect::<Vec<_>>().join(" ")), "{sign}: {ended:?}");
    }
    let text = written(&practice);
    for line in [
        "number = \"Pat.-Nr.\"",
        "last_name = \"Name\"",
        "date_of_birth = \"Geb.-Datum\"",
        "former_name = \"Geburtsname\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(text.contains("\nconfirm = \"taken\"\n") && text.contains("\n#date_format"), "{text}");
    assert_eq!(text.lines().count(), docsyncd::config::template().lines().count());
    // Run again with nothing new, everything stays.
    let again = setup_with(&practice, "").await;
    assert_eq!((again.code, written(&practice)), (0, text), "{again:?}");
    let again = setup_with(&practice, &list(&practice)).await;
    assert!(again.code == 0 && again.stdout.contains("stays as it is"), "{again:?}");
    let preview = practice.docsyncd_without_config(&["--config", &config(&practice), "preview"]).await;
    assert!(preview.stdout.contains("patient number 0042") && preview.stdout.contains("43_"), "{preview:?}");
}

#[tokio::test]
async fn a_list_that_cannot_be_used_is_said_and_nothing_is_written() {
    let practice = practice().await;
    let list = list(&practice);
    for (text, more, key, sign) in [
        (None, "", "patients.file", "it is not there"),
        (Some(""), "", "patients.file", "it is empty"),
        (Some("0042;Müller;Jörg;31.12.1980\n"), "", "patients.file", "does not hold the names of columns"),
        (Some("Id;Name;Vorname;DOB\n1;a;b;31.12.1980\n"), "", "patients.number", "It has `Id`, `Name`"),
        (Some("Nr;Name;Vorname;DOB\n1;a;b;01.02.1980\n"), "", "patients.file", "can be read in two ways"),
        (Some("Nr;Name;Vorname;DOB\n1;a;b;31.12.80\n"), "", "patients.file", "a year of two digits"),
        (Some("Nr;Name;Vorname;DOB\n"), "", "patients.file", "holds no patients"),
        (Some(GERMAN), "number = \"Nummer\"\n", "patients.file", "no column `Nummer`"),
        (Some(GERMAN), "nummer = \"Nr\"\n", "patients.nummer", "the nearest known one is `patients.number`"),
    ] {
        let _ = std::fs::remove_file(practice.path("patients.csv"));
        if let Some(text) = text {
            write_list(&practice, text);
        }
        let ended = setup_with(&practice, &format!("{}{list}{more}", answers(&practice))).await;
        assert_eq!(ended.code, 2, "{sign}: {ended:?}");
        assert!(ended.stderr.contains(&format!("`{key}`")) && ended.stderr.contains(sign), "{sign}: {ended:?}");
        assert!(!practice.path("etc").exists(), "{sign}");
    }
    // What the file does not show can be said.
    write_list(&practice, "Id;Name;Vorname;DOB\n1;Mueller;Joerg;12.31.1980\n");
    let more = "number = \"Id\"\ndate_format = \"%m.%d.%Y\"\n";
    let ended = setup_with(&practice, &format!("{}{list}{more}", answers(&practice))).await;
    assert!(ended.code == 0 && ended.stdout.contains("1 patients"), "{ended:?}");
}

/// What the file does not show is asked for, and what it is for is offered.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_person_is_asked_for_what_the_file_does_not_show() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = practice().await;
    write_list(&practice, "Telefon;Id;Nom;Prénom;Né le\n1;0042;Mueller;Joerg;01/02/1980\n2;43;Weiss;Zoe;02/01/1999\n");
    std::fs::create_dir(practice.path("inbox/imported")).unwrap();
    let (url, inbox) = (practice.sandbox.url().to_string(), practice.inbox().display().to_string());
    let (key, file) = (practice.sandbox.api_key().to_owned(), practice.path("patients.csv").display().to_string());
    let answers = [
        ("Address of the cloud service", url.as_str()),
        ("Go on with the key", "n"),
        ("API key:", &key),
        ("Folder for the letters", &inbox),
        ("What else is set up", "=own number of each patient"),
        ("List of patients", "/nowhere/patients.csv"),
        ("it is not there", &file),
        ("Which column holds the patient's number", "2"),
        ("can be read in two ways", "1"),
        ("Is that right?", "y"),
        ("Call letters", "y"),
        ("What else is set up", "=Proof that"),
        ("What the practice's software does", "3"),
        ("Into which folder", ""),
    ];
    let (said, is_good, _) = super::at_a_terminal(&practice, &answers).await;
    assert!(is_good, "{said}");
    assert!(said.contains("Call letters 4711_2026-11-21_Referral letter.pdf?"), "an example, no template: {said}");
    assert!(said.contains("letter of Weiss Zoe") && said.contains("ok    patients"), "{said}");
    let text = std::fs::read_to_string(practice.path("new.toml")).unwrap();
    for line in [
        "number = \"Id\"",
        "date_of_birth = \"Né le\"",
        "date_format = \"%d/%m/%Y\"",
        "confirm = \"moved:imported\"",
        "file_name = \"{{ patient.number }}_{{ document.createdAt | date }}_{{ document.type | label }}.pdf\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    // And taken back: nothing shows it any more.
    let typed = format!("'{}' --config new.toml setup", crate::harness::program().display());
    let answers = [("What is to be changed?", "=proof that"), ("What the practice's software does", "1")];
    let (said, is_good, _) = super::typed_at_a_terminal(&practice, &typed, &answers).await;
    assert!(is_good, "{said}");
    let text = std::fs::read_to_string(practice.path("new.toml")).unwrap();
    assert!(text.contains("\n#confirm = \"moved:imported\"\n"), "{text}");
}
