//! Why something waits or failed. docsyncd's own reasons are exact and English, for the API, the log and the
//! administrator. The people of a practice get a sentence for the reason as data: the failure's call, kind and code
//! (`crate::domain::failure`), or the word of a wait. A code without a sentence gets that of its kind, so that nobody
//! reads a foreign one. A program's own words stay.

use serde::{Serialize, Serializer};

use super::{Language, Value};
use crate::domain::failure::{Call, Code, Failure, Kind, SIGN_IN};

/// A reason, as the ledger keeps it. Its JSON is its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The text, in docsyncd's own English words or as a program wrote it.
    pub text: String,
    /// The reason as data: a failure, or the word of a wait.
    pub code: Option<String>,
    /// The destination or account.
    pub name: String,
    /// Whether it ended the document.
    pub ended: bool,
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Language {
    /// The reason in a sentence for the people of a practice.
    pub fn reason(self, reason: &Reason) -> String {
        // A person who can read English gets the exact reason rather than none.
        let unknown = || match self {
            Language::English if !reason.text.is_empty() => reason.text.clone(),
            _ => self.text("reason-unknown"),
        };
        let Some(code) = reason.code.as_deref() else { return unknown() };
        let Some(failure) = Failure::parse(code) else {
            let key = format!("reason-{}", code.replace('_', "-"));
            let place = reason.text.split_once(": ").map(|(_, place)| place);
            let places = Value::Count(u64::from(place.is_some()));
            let values = [("places", places), ("place", place.unwrap_or_default().into())];
            return if self.has(&key) { self.fill(&key, &values) } else { unknown() };
        };
        let (key, number) = key(&failure);
        // A refused access token is not a refused key.
        let key = if key == "service-key" && reason.text.contains(SIGN_IN) { "service-signed-out" } else { key };
        let name = Value::Text(&reason.name);
        let place = place(&failure, &reason.text);
        let (places, place) = (Value::Count(u64::from(place.is_some())), Value::Text(place.unwrap_or_default()));
        let values = [("name", name), ("code", Value::Count(number)), ("place", place), ("places", places)];
        let why = self.fill(&format!("reason-{key}"), &values);
        let quoted = quote(&failure, &reason.text);
        let why = quoted.map_or_else(
            || why.clone(),
            |line| self.fill("reason-quote", &[("why", Value::Text(&why)), ("line", Value::Text(line))]),
        );
        match failure.kind {
            Kind::Unconfirmed(_) => self.fill("reason-unconfirmed", &[("why", Value::Text(&why))]),
            Kind::Down(_) | Kind::Passing(_) | Kind::NoRoom if reason.ended => {
                self.fill("reason-gave-up", &[("why", Value::Text(&why))])
            }
            _ => why,
        }
    }
}

/// The sentence of a failure, and the number of its code.
fn key(failure: &Failure) -> (&'static str, u64) {
    let at_destination = failure.call == Call::Deliver;
    let Some(code) = failure.code() else { return (if at_destination { "no-room" } else { "spool" }, 0) };
    let permanent = matches!(failure.kind, Kind::Permanent(_) | Kind::Own(_));
    match code {
        Code::Exit(exit) => ("exit", u64::from(exit.unsigned_abs())),
        Code::Signal(signal) => ("signal", u64::from(signal.unsigned_abs())),
        Code::Status(status) => {
            let key = match at_destination {
                // A mail server's 5xx is a refusal (RFC 5321, section 4.2.1), but a web server's is a fault.
                true if permanent && *status >= 500 => "destination-status",
                true => of_destination_status(*status),
                false => of_service_status(failure, *status),
            };
            (key, u64::from(*status))
        }
        Code::Word(word) => {
            let known = if at_destination { of_destination(word) } else { of_service(word) };
            let general = match (at_destination, permanent) {
                (true, true) => "destination-refuses",
                (true, false) => "destination-fails",
                (false, true) => "service-refuses",
                (false, false) => "service-fails",
            };
            (known.unwrap_or(general), 0)
        }
    }
}

fn of_destination_status(status: u16) -> &'static str {
    match status {
        401 => "destination-sign-in",
        403 => "destination-not-allowed",
        413 => "destination-too-large",
        429 => "destination-busy",
        500..=599 => "destination-fault",
        _ => "destination-status",
    }
}

fn of_service_status(failure: &Failure, status: u16) -> &'static str {
    match status {
        401 => "service-key",
        403 => "service-not-allowed",
        404 | 410 if failure.call == Call::Download => "service-no-pdf",
        404 | 410 => "service-not-found",
        429 => "service-busy",
        500..=599 => "service-fault",
        _ if failure.call == Call::Report => "service-report",
        _ => "service-status",
    }
}

/// The sentence of an adapter's word; `None` for that of the kind.
fn of_destination(word: &str) -> Option<&'static str> {
    Some(match word {
        "not_found" | "no_folder" | "folder_unusable" => "destination-no-folder",
        "another_folder" => "destination-another-folder",
        "not_allowed" => "destination-not-allowed",
        "read_only" => "destination-read-only",
        "in_the_way" | "sidecar_in_the_way" | "link_leads_out" | "folder_moved" => "destination-in-the-way",
        "name_refused" | "no_name_left" | "name_taken" | "sidecar_name" => "destination-name",
        "not_filled_in" | "arguments" | "not_in_gdt" => "destination-template",
        "not_in_encoding" => "destination-encoding",
        "no_patient" | "several_patients" | "patient_unknown" => "destination-patient",
        "too_large" => "destination-too-large",
        "other_content" => "destination-other-content",
        "not_written" => "destination-not-written",
        "no_answer" | "unreachable" | "refused" | "no_such_host" | "no_connection" | "no_greeting" => {
            "destination-unreachable"
        }
        "busy" => "destination-crowded",
        "broken_off" | "cut" | "cut_off" | "not_there" | "not_as_sent" | "vanished" | "unsure" => {
            "destination-broken-off"
        }
        "not_understood"
        | "no_look"
        | "refused_there"
        | "not_seen"
        | "not_known_there"
        | "web_page"
        | "no_list"
        | "no_sftp"
        | "contradicts_itself"
        | "overwrites"
        | "destination_header"
        | "condition"
        | "taken"
        | "not_renamed"
        | "put_elsewhere"
        | "no_common_algorithm"
        | "configured"
        | "bucket"
        | "no_bucket"
        | "probe_url"
        | "dicom_0122"
        | "dicom_0124" => "destination-unsuited",
        "says_error" => "destination-says-error",
        "unclear_answer" => "destination-unclear-answer",
        "not_yet" => "destination-not-yet",
        "full" => "no-room",
        "host_key" | "known_hosts" => "destination-host-key",
        "credentials" | "secret_file" | "sign_in_refused" => "destination-sign-in",
        "tls" => "destination-tls",
        "program_unusable" | "not_started" | "no_reason_file" => "program",
        "out_of_time" => "out-of-time",
        "crashed" | "lost" => "crashed",
        "check" => "destination-check",
        "spool_unreadable" | "no_memory" | "no_chance" | "internal_fault" => "internal",
        _ => return None,
    })
}

/// The sentence of a word for a failed call to the service.
fn of_service(word: &str) -> Option<&'static str> {
    Some(match word {
        "unreachable" => "service-unreachable",
        "broken_off" => "service-broken-off",
        "http_401" => "service-key",
        "signed_out" => "service-signed-out",
        "credentials" => "service-credentials",
        "refresh" => "service-renewal",
        "scope" => "service-not-allowed",
        "shape" | "other_document" | "no_url" | "redirect" => "service-not-understood",
        "insecure" => "service-insecure",
        "refused_address" => "service-address",
        "not_a_pdf" => "not-a-pdf",
        "too_large" => "too-large",
        "too_much" => "record-too-large",
        "no_route" => "no-route",
        "wrong_size" => "wrong-size",
        "no_end" => "no-end",
        "spool" | "spool_file_limit" | "spool_damaged" => "spool",
        "cut_off" => "cut-off",
        "internal_fault" => "internal",
        "slow" => "slow",
        "other_patient" => "other-patient",
        "two_versions" => "two-versions",
        _ => return None,
    })
}

/// Whether a failure's word is one of docsyncd's own that has a sentence.
pub fn is_word_of_failures(word: &str) -> bool {
    of_destination(word).is_some() || of_service(word).is_some()
}

/// The text before the configured folder, at the end of each reason about a full disk of this machine.
pub const ON_DISK: &str = "on the disk that holds ";

/// The folder whose disk is full.
fn place<'a>(failure: &Failure, text: &'a str) -> Option<&'a str> {
    let is_full = match &failure.kind {
        Kind::NoRoom => true,
        Kind::Down(Code::Word(word)) => word == "spool" || word == "full",
        _ => false,
    };
    text.split_once(ON_DISK).filter(|_| is_full).map(|(_, folder)| folder)
}

/// The line that a program wanted to be quoted: the end of the command adapter's reason.
fn quote<'a>(failure: &Failure, text: &'a str) -> Option<&'a str> {
    let (Kind::Passing(code) | Kind::Permanent(code)) = &failure.kind else { return None };
    let ends_with = match code {
        Code::Exit(_) | Code::Signal(_) => ": ",
        Code::Word(word) if word == "out_of_time" => ": ",
        // The system's own text comes before, in brackets.
        Code::Word(word) if word == "crashed" || word == "lost" => "): ",
        Code::Word(_) | Code::Status(_) => return None,
    };
    let (_, said) = text.split_once("` ").filter(|_| failure.call == Call::Deliver)?;
    said.split_once(ends_with).map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn reason(code: &str, text: &str) -> Reason {
        Reason { text: text.to_owned(), code: Some(code.to_owned()), name: "pms".to_owned(), ended: false }
    }

    fn french(code: &str, text: &str) -> String {
        Language::French.reason(&reason(code, text))
    }

    #[test]
    fn a_reason_is_said_in_the_language_of_the_reader() {
        let english =
            "destination `pms`: cannot create a file (permission denied): grant the service's user write access";
        let one = reason("deliver passing not_allowed", english);
        assert_eq!(
            Language::English.reason(&one),
            "The destination pms does not let docsyncd write: give the service's user the right to."
        );
        assert_eq!(
            Language::German.reason(&one),
            "Das Ziel pms lässt docsyncd nicht schreiben: Geben Sie dem Benutzer des Dienstes das Recht dazu."
        );
        let no_pdf = reason("download passing not_a_pdf", "it does not begin with %PDF-, 3 times");
        assert!(Language::English.reason(&no_pdf).starts_with("What the service sent is no PDF;"));
        assert!(Language::German.reason(&no_pdf).starts_with("Was der Dienst gesendet hat, ist kein PDF;"));
        // The reason belongs to a wait that is over, or to a later version.
        let unknown = Reason { code: None, ..one.clone() };
        assert_eq!(Language::English.reason(&unknown), english);
        assert_eq!(
            Language::French.reason(&one),
            "La destination pms ne laisse pas docsyncd écrire\u{a0}: donnez-en le droit à l'utilisateur du service."
        );
        assert_eq!(
            french("deliver permanent status_550", "x"),
            "La destination pms a répondu par une erreur (code 550)."
        );
        assert_eq!(french("report permanent status_422", "x"), "Le service n'accepte pas la confirmation (code 422).");
        let gave_up = Language::French.reason(&Reason { ended: true, ..one });
        assert!(gave_up.starts_with("docsyncd y a renoncé après de nombreux essais. La destination pms"), "{gave_up}");
        assert_eq!(french("not_rendered", "the PDF is not rendered yet"), "Son PDF n'est pas encore prêt.");
    }

    #[test]
    fn a_refused_account_is_told_what_its_own_kind_of_sign_in_needs() {
        let refused = "the API refuses the credentials (HTTP 401): ";
        for (code, text, said) in [
            ("list passing status_401", format!("{refused}check the account's key"), "refuse la clé du compte pms"),
            ("list passing status_401", format!("{refused}{SIGN_IN}pms"), "pms doit se reconnecter"),
            ("list passing signed_out", format!("account pms is signed out (revoked): {SIGN_IN}pms"), "se reconnecter"),
            ("list passing credentials", "the key file cannot be read".to_owned(), "ne peut pas utiliser"),
            ("list passing refresh", "the access token cannot be renewed now".to_owned(), "réessaie tout seul"),
        ] {
            let told = french(code, &text);
            assert!(told.contains(said) && told.contains("pms"), "{code}: {told}");
        }
    }

    #[test]
    fn a_full_disk_is_named_by_the_folder_on_it_in_every_language() {
        let room = "La destination pms n'a plus de place\u{a0}: libérez";
        assert_eq!(
            french("deliver no_room", "destination `pms`: it has no room left"),
            format!("{room}-y de la place.")
        );
        for (code, text, said) in [
            ("deliver no_room", "destination `pms`: cannot write a file (full): free space ", room),
            (
                "download down spool",
                "the spool cannot be written: full. Free space ",
                "docsyncd ne peut pas garder le PDF sur son disque\u{a0}: libérez",
            ),
        ] {
            let text = format!("gave up: {text}{ON_DISK}/srv/import, 1");
            let expected = format!("{said} de la place sur le disque qui contient /srv/import, 1.");
            assert_eq!(french(code, &text), expected);
        }
    }

    #[test]
    fn what_a_program_says_of_itself_stays_as_it_is() {
        for (code, text) in [
            ("deliver permanent exit_3", "`import.sh` exited with 3: dossier fermé: voir M. X"),
            ("deliver passing exit_75", "`import.sh` exited with 75 (try again later): dossier fermé: voir M. X"),
            ("deliver passing signal_9", "`import.sh` was ended by signal 9: dossier fermé: voir M. X"),
            (
                "deliver passing out_of_time",
                "`import.sh` did not end within 5 s and was stopped: dossier fermé: voir M. X",
            ),
            ("deliver passing crashed", "`i.exe` crashed (exit code: 0xc0000005): dossier fermé: voir M. X"),
        ] {
            let said = french(code, text);
            assert!(
                said.ends_with("«\u{a0}dossier fermé: voir M. X\u{a0}»") && !said.contains("exit"),
                "{code}: {said}"
            );
        }
        for (code, text) in [
            ("deliver permanent exit_3", "`import.sh` exited with 3"),
            ("deliver passing crashed", "`i.exe` crashed (exit code: 0xc0000005)"),
            ("deliver passing lost", "`i.exe` cannot be waited for (no child: gone)"),
            ("deliver permanent status_422", "destination `pms` answers with status 422: it does not accept it"),
        ] {
            assert!(!french(code, text).contains('«'), "{code}");
        }
    }

    /// Text of an earlier or later version.
    #[test]
    fn no_reason_is_ever_told_in_english() {
        for language in [Language::French, Language::German] {
            let said = |code: &str| language.reason(&reason(code, "The exact reason"));
            let is_foreign = |said: &str| said.contains("exact") || said.contains("reason-") || !said.ends_with('.');
            for call in ["list", "read", "download", "deliver", "report"] {
                for kind in ["down", "passing", "doubtful", "permanent", "unconfirmed", "own"] {
                    for code in ["a_new_word", "status_999", "status_500", "exit_1", "signal_9"] {
                        let said = said(&format!("{call} {kind} {code}"));
                        assert!(!is_foreign(&said), "{said}");
                    }
                }
            }
            for code in ["deliver no_room", "read own", "download own", "another word", ""] {
                assert!(!is_foreign(&said(code)), "{code}: {}", said(code));
            }
            let unknown = Reason { code: None, ..reason("", "The exact reason") };
            assert!(!is_foreign(&language.reason(&unknown)));
        }
    }

    /// The words with which the sources create failures of `call`.
    fn words(folder: &str, starts: &[&str]) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let source = std::fs::read_to_string(&path).unwrap_or_default();
                let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let is_tests = path.ends_with("tests.rs")
                    || path.ends_with("tests/mod.rs")
                    || path.to_string_lossy().contains("contract");
                for start in starts.iter().filter(|_| !is_tests) {
                    for (at, _) in source.match_indices(start) {
                        words.extend(source[at + start.len()..].split('"').next().map(str::to_owned));
                    }
                }
            }
        }
        words
    }

    /// A word without a sentence gets that of its kind, which says too little.
    #[test]
    fn every_word_of_a_failure_has_a_sentence() {
        let starts = [
            "Code::word(\"",
            "unavailable(\"",
            "unavailable(\n                \"",
            "permanent(\"",
            "Refusal::Other(\"",
            "Fault::Down(\"",
            "Fault::Lost(\"",
            "unseen(\"",
        ];
        let mut of_adapters = words("src/destinations", &starts);
        assert!(of_adapters.len() > 35, "{of_adapters:?}");
        // From the table in src/destinations/sftp/connection.rs, from fault.rs, and from src/pipeline/deliver.rs.
        let others =
            ["refused", "no_answer", "unreachable", "no_such_host", "check", "not_found", "not_allowed", "read_only"];
        of_adapters.extend(others.map(str::to_owned));
        let missing: Vec<_> = of_adapters.iter().filter(|word| of_destination(word).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let of_pipeline = words("src/pipeline", &["Code::word(\""]);
        assert!(of_pipeline.len() > 6, "{of_pipeline:?}");
        let missing: Vec<_> =
            of_pipeline.iter().filter(|word| of_service(word).or(of_destination(word)).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for word in ["unreachable", "broken_off", "signed_out", "credentials", "refresh", "scope", "shape", "redirect"]
        {
            assert!(of_service(word).is_some(), "{word}");
        }
    }
}
