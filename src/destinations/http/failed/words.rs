//! Words of success and failure, in the languages that practice software speaks, and what a text says with them.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::Says;

/// A text that begins so tells of a failure.
const FAILURES: [&str; 15] = [
    "error",
    "err",
    "exception",
    "fail",
    "failure",
    "fault",
    "invalid",
    "ko",
    "nok",
    "fehler",
    "fehlerhaft",
    "ungultig",
    "erreur",
    "echec",
    "invalide",
];

/// What may follow a name: "Import failed".
const FAILED: [&str; 22] = [
    "aborted",
    "declined",
    "denied",
    "failed",
    "forbidden",
    "refused",
    "rejected",
    "unauthorized",
    "unsuccessful",
    "abgelehnt",
    "abgewiesen",
    "fehlgeschlagen",
    "gescheitert",
    "verweigert",
    "zuruckgewiesen",
    "echoue",
    "echouee",
    "refuse",
    "refusee",
    "rejete",
    "rejetee",
    "abandonne",
];

const TAKEN: [&str; 31] = [
    "accepted",
    "added",
    "completed",
    "created",
    "done",
    "imported",
    "ok",
    "queued",
    "received",
    "saved",
    "stored",
    "updated",
    "uploaded",
    "success",
    "successful",
    "successfully",
    "angenommen",
    "empfangen",
    "erfolgreich",
    "gespeichert",
    "hochgeladen",
    "abgelegt",
    "importiert",
    "accepte",
    "acceptee",
    "enregistre",
    "enregistree",
    "importe",
    "recu",
    "transmis",
    "succes",
];

/// What is not found is not taken.
const FOUND: [&str; 8] = ["allowed", "authorized", "found", "valid", "gefunden", "gultig", "trouve", "trouvee"];

/// Who was not found, or is not known, if the text speaks of a patient.
const PATIENT: [&str; 5] = ["patient", "patienten", "patientin", "patiente", "patients"];
const UNKNOWN: [&str; 8] =
    ["missing", "such", "unknown", "unmatched", "unbekannt", "unbekannter", "inconnu", "introuvable"];

/// What is shown of a document that is not there yet.
pub(super) const WAITING: [&str; 26] = [
    "being",
    "deferred",
    "delayed",
    "importing",
    "incomplete",
    "open",
    "pending",
    "processing",
    "progress",
    "queue",
    "queued",
    "running",
    "scheduled",
    "unprocessed",
    "uploading",
    "waiting",
    "ausstehend",
    "bearbeitung",
    "offen",
    "wartend",
    "wartet",
    "warteschlange",
    "wird",
    "attente",
    "cours",
    "traiter",
];
/// Words that turn a whole status round.
const NOT_YET: [&str; 7] = ["never", "not", "yet", "nicht", "nie", "noch", "pas"];

/// Before one of the words above, these turn it round.
const NOT: [&str; 20] = [
    "0", "no", "not", "never", "none", "without", "cannot", "kein", "keine", "keinen", "nicht", "nie", "ohne", "aucun",
    "aucune", "n", "non", "pas", "sans", "zero",
];

/// How far before.
const REACH: usize = 3;
/// A longer text is a page or a report, of which single words tell nothing.
const SHORT: usize = 12;

/// In lower case, without accents.
pub(super) fn folded(text: &str) -> String {
    text.trim().nfd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)).collect::<String>().to_lowercase()
}

pub(super) fn is_failing(folded: &str) -> bool {
    FAILURES.contains(&folded) || FAILED.contains(&folded)
}

/// A whole number, also as a text.
pub(super) fn code(field: &Value) -> Option<i64> {
    field.as_i64().or_else(|| field.as_str()?.trim().parse().ok())
}

/// The words of a folded text.
fn words(folded: &str) -> Vec<&str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// The words of the table in a text: whether each is turned round.
fn in_table<'a>(words: &'a [&str], table: &'a [&str]) -> impl Iterator<Item = bool> + 'a {
    let found = words.iter().enumerate().filter(|(_, word)| table.contains(*word));
    found.map(|(at, _)| words.iter().take(at).rev().take(REACH).any(|before| NOT.contains(before)))
}

/// Whether the words say that the patient is not there.
fn is_nobody(words: &[&str]) -> bool {
    let is_found = in_table(words, &FOUND).all(|is_turned| !is_turned);
    words.iter().any(|word| PATIENT.contains(word)) && (!is_found || words.iter().any(|word| UNKNOWN.contains(word)))
}

/// What the value of a status says.
pub(super) fn in_status(text: &str) -> Says {
    let text = folded(text);
    let words = words(&text);
    let (first, second) = (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let has = |table: &[&str], is_turned: bool| in_table(&words, table).any(|turned| turned == is_turned);
    let is_status = first.parse().is_ok_and(|status: u16| (400..600).contains(&status));
    let is_not = NOT.contains(&first) && (TAKEN.contains(&second) || FOUND.contains(&second));
    match () {
        () if is_failing(first) || is_status || is_not || first == "false" => Says::No(None),
        () if TAKEN.contains(&first) => Says::Yes,
        () if has(&FAILURES, false) || has(&FAILED, false) || has(&TAKEN, true) || has(&FOUND, true) => Says::Doubt,
        () if is_nobody(&words) => Says::Doubt,
        () => Says::Nothing,
    }
}

/// Whether a status, or a text in its place, says that something has not happened, or may not have: "in progress", "not
/// imported yet". What begins with its success is one: "imported, OCR pending".
pub(super) fn is_not_yet(text: &str) -> bool {
    let folded = folded(text);
    let words = words(&folded);
    let is_done = words.first().is_some_and(|first| TAKEN.contains(first) && !WAITING.contains(first));
    let is_waiting = |word: &&str| WAITING.contains(word) || NOT_YET.contains(word);
    words.len() <= SHORT
        && !is_done
        && (matches!(in_status(text), Says::No(_) | Says::Doubt) || words.iter().any(is_waiting))
}

/// What a text for people says. "Error" alone within a sentence says nothing, and a patient may be called Fehler or Ko.
pub(super) fn in_words(text: &str) -> Says {
    let is_pair = text.split_once([':', '=']).is_some_and(|(name, _)| !name.trim().contains(char::is_whitespace));
    let line = folded(text);
    // The beginning of a file's name is no word.
    let whole = |word: &&str| {
        line.split_whitespace().any(|part| part.trim_matches(['.', '!', ',', '-', ':', '"', '(', ')']) == *word)
    };
    let words: Vec<&str> = words(&line);
    let first = words.first().copied().unwrap_or_default();
    let has = |table: &[&str], is_turned: bool| in_table(&words, table).any(|turned| turned == is_turned);
    let is_taken = has(&TAKEN, false);
    let is_first = whole(&first) && !is_pair;
    match () {
        () if words.len() == 1 && is_first && matches!(first, "false" | "no" | "nein" | "non") => Says::No(None),
        () if is_first && matches!(first, "error" | "exception" | "fail" | "failed" | "failure") => Says::No(None),
        () if is_first && is_failing(first) && !is_taken => Says::No(None),
        () if words.len() > SHORT || is_taken => Says::Nothing,
        () if has(&TAKEN, true) || is_nobody(&words) => Says::Doubt,
        () if FAILED.iter().any(whole) && has(&FAILED, false) => Says::Doubt,
        () => Says::Nothing,
    }
}
