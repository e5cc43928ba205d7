//! The last metre: the patient's number in the practice's list, and proof that the practice's software took a letter
//! (docs/patients.md, docs/destinations.md).

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use docsyncd_sandbox::{Fault, FaultKind, NewDocument, Route};
use serde_json::{Value, json};

use crate::dictated::*;
use crate::harness::{PATIENCE, Practice};

mod corrected;

/// A letter of a patient of these names, born then.
async fn letter(practice: &Practice, last: &str, first: &str, born: Option<&str>) -> String {
    let patient = json!({"lastName": last, "firstName": first, "dateOfBirth": born});
    add_of(practice, &format!("{last} {first}"), patient).await
}

async fn add_of(practice: &Practice, text: &str, patient: Value) -> String {
    let document = NewDocument { patient: Some(patient), ..small(text) };
    practice.sandbox.add(document).await.unwrap()
}

/// With a list of these patients, and a folder that needs their numbers beside one that does not.
async fn practice_with_list(rows: &[&str]) -> Practice {
    let practice = Practice::with_documents(0).await;
    fs::create_dir(practice.path("archive")).unwrap();
    practice.configure(
        "file_name = '{{ patient.number }}/{{ document.uuid }}.pdf'
         [destinations.archive]
         type = \"folder\"
         path = 'archive'
         file_name = '{{ document.uuid }}.pdf'
         [[routes]]
         to = [\"pms\", \"archive\"]
         [patients]
         file = 'patients.csv'
         number = \"PatNum\"
         last_name = \"LName\"
         first_name = \"FName\"
         date_of_birth = \"Birthdate\"",
    );
    write_list(&practice, rows);
    practice
}

/// As an export does: all at once.
fn write_list(practice: &Practice, rows: &[&str]) {
    let text = format!("PatNum;LName;FName;Birthdate\n{}\n", rows.join("\n"));
    let exported = practice.path("export.tmp");
    fs::write(&exported, text).unwrap();
    fs::rename(exported, practice.path("patients.csv")).unwrap();
}

/// Waits until `is_so` of what `look` gives.
async fn until<T: std::fmt::Debug>(mut look: impl AsyncFnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    let began = Instant::now();
    loop {
        let seen = look().await;
        if is_so(&seen) {
            return seen;
        }
        assert!(began.elapsed() < PATIENCE, "it does not come to that: {seen:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn wait_for_state(practice: &Practice, uuid: &str, state: &str) {
    let seen = async || practice.docsyncd(&["show", uuid, "--json"]).await.stdout;
    let has_state =
        |shown: &String| serde_json::from_str::<Value>(shown).is_ok_and(|shown| shown["state"].as_str() == Some(state));
    until(seen, has_state).await;
}

fn names(practice: &Practice) -> Vec<String> {
    practice.filed().into_keys().collect()
}

#[tokio::test]
async fn a_letter_is_filed_by_the_number_of_the_practices_list_and_else_waits_for_a_person() {
    let practice = practice_with_list(&["0042;Müller;Jörg;01.02.1980", "43;Weiß;Zoé;31.12.1999"]).await;
    let mueller = letter(&practice, "MUELLER", "Jörg", Some("1980-02-01")).await;
    let unknown = letter(&practice, "Canary", "Zoé", Some("1999-12-31")).await;
    let undated = letter(&practice, "Weiss", "Zoe", None).await;
    let mut running = practice.run().await;
    wait_for_state(&practice, &mueller, "reported").await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(2)).await;
    assert_eq!(names(&practice), [format!("0042/{mueller}.pdf")]);
    // What needs no number got it without delay, and nothing is told of those that wait.
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 3).await;
    assert_eq!(posts_of(&practice.sandbox, &unknown), []);
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().any(|problem| problem["cause"] == "patient-unknown"), "{problems}");
    let shown = practice.docsyncd(&["list", "--wide"]).await.stdout;
    assert!(shown.contains("nobody in the practice's list") && shown.contains("no date of birth"), "{shown}");
    // The patient is entered in the practice: the next export settles it.
    write_list(&practice, &["0042;Müller;Jörg;01.02.1980", "43;Weiß;Zoé;31.12.1999", "44;Canary;Zoé;31.12.1999"]);
    wait_for_state(&practice, &unknown, "reported").await;
    // A person decides about the one without a date of birth.
    let refused = practice.docsyncd(&["assign", &undated, "99", "--yes"]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    let candidates = practice.docsyncd(&["assign", &undated]).await;
    assert!(candidates.code == 0 && candidates.stdout.contains("43"), "{candidates:?}");
    assert_eq!(practice.docsyncd(&["assign", &undated, "43"]).await.code, 2, "nobody is there to be asked");
    let assigned = practice.docsyncd(&["assign", &undated, "43", "--yes"]).await;
    assert_eq!(assigned.code, 0, "{assigned:?}");
    wait_for_state(&practice, &undated, "reported").await;
    assert_eq!(status(&practice).await["needs_person"], 0);
    assert!(names(&practice).contains(&format!("43/{undated}.pdf")));
    let listed = practice.docsyncd(&["assign", "--list"]).await.stdout;
    assert!(listed.contains("43") && listed.contains(&undated), "{listed}");
    assert_eq!(practice.docsyncd(&["assign", "--remove", &undated]).await.code, 0);
    assert_eq!(practice.docsyncd(&["assign", "--remove", &undated]).await.code, 1);
    running.stop().await;
    let log = running.log();
    // A time of the log may have the same digits.
    let is_told = |private: &&str| log.split(|c: char| !c.is_alphanumeric()).any(|word| word == *private);
    assert_eq!(["Canary", "MUELLER", "0042", "1980"].into_iter().find(is_told), None, "{log}");
}

#[tokio::test]
async fn without_a_list_a_template_that_needs_the_number_is_a_mistake() {
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = '{{ patient.number }}.pdf'");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 2 && checked.stderr.contains("[patients]"), "{checked:?}");
}

#[tokio::test]
async fn a_list_that_cannot_be_read_holds_up_what_needs_it_and_nothing_else() {
    let practice = practice_with_list(&["1;Roy;Anne;1970-13-45"]).await;
    let uuid = letter(&practice, "Roy", "Anne", Some("1970-01-05")).await;
    assert_eq!(practice.docsyncd(&["check"]).await.code, 2);
    let mut running = practice.run().await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 1).await;
    let has_cause = |status: &Value| {
        status["problems"].as_array().unwrap().iter().any(|problem| problem["cause"] == "patients-file")
    };
    let seen = until(async || status(&practice).await, has_cause).await;
    assert_eq!(seen["needs_person"], 0, "it is the file's fault, and nobody's decision");
    write_list(&practice, &["1;Roy;Anne;1970-01-05"]);
    wait_for_state(&practice, &uuid, "reported").await;
    assert!(!has_cause(&status(&practice).await));
    running.stop().await;
}

#[tokio::test]
async fn an_assignment_holds_for_the_patient_until_a_name_or_a_date_of_birth_changes() {
    let practice = practice_with_list(&["7;Roy;Anna;25.01.1970"]).await;
    let first = letter(&practice, "Roy", "Anne", Some("1970-01-25")).await;
    let mut running = practice.run().await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    assert_eq!(practice.docsyncd(&["assign", &first, "7", "--yes"]).await.code, 0);
    wait_for_state(&practice, &first, "reported").await;
    // The same patient's next letter needs nobody.
    let mut patient = patient_of(&practice, &first).await;
    let second = add_of(&practice, "second", patient.clone()).await;
    practice.docsyncd(&["poll"]).await;
    wait_for_state(&practice, &second, "reported").await;
    patient["firstName"] = "Annette".into();
    let third = add_of(&practice, "third", patient).await;
    practice.docsyncd(&["poll"]).await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    assert_eq!(practice.state(&third).await, "fetched");
    running.stop().await;
}

#[tokio::test]
async fn a_number_that_a_name_cannot_hold_makes_its_letter_need_a_person_and_no_other() {
    let practice =
        practice_with_list(&["12/345;Müller;Jörg;01.02.1980", "43;Weiß;Zoé;31.12.1999", "44.;Roy;Anne;25.01.1970"])
            .await;
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.stdout.contains("row 2, 4: destination `pms` cannot hold"), "{checked:?}");
    let slash = letter(&practice, "Müller", "Jörg", Some("1980-02-01")).await;
    let usual = letter(&practice, "Weiß", "Zoé", Some("1999-12-31")).await;
    let mut running = practice.run().await;
    wait_for_state(&practice, &usual, "reported").await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 2).await;
    assert_eq!(names(&practice), [format!("43/{usual}.pdf")]);
    let shown = practice.docsyncd(&["show", &slash, "--json"]).await.stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(!shown.to_string().contains("12/345"), "{shown}");
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().any(|problem| problem["cause"] == "patient-unknown"), "{problems}");
    // It is not tried again and again: only when the list gives another number.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let asked = |shown: &Value| {
        let history = shown["history"].as_array().unwrap();
        history.iter().filter(|entry| entry["event"] == "needs_person").count()
    };
    let again: Value = serde_json::from_str(&practice.docsyncd(&["show", &slash, "--json"]).await.stdout).unwrap();
    assert_eq!((asked(&shown), asked(&again)), (1, 1), "{again}");
    let told = practice.docsyncd(&["assign", &slash]).await;
    assert!(told.stdout.contains("this destination cannot keep") && !told.stdout.contains("settles"), "{told:?}");
    write_list(&practice, &["12-345;Müller;Jörg;01.02.1980", "43;Weiß;Zoé;31.12.1999", "44.;Roy;Anne;25.01.1970"]);
    wait_for_state(&practice, &slash, "reported").await;
    assert!(names(&practice).contains(&format!("12-345/{slash}.pdf")));
    running.stop().await;
    assert!(!running.log().contains("12/345"));
}

#[tokio::test]
async fn a_number_that_the_list_gave_to_somebody_else_is_not_used_for_the_second_destination() {
    let practice = practice_with_list(&["7;Roy;Anne;25.01.1970", "43;Weiß;Zoé;31.12.1999"]).await;
    let text = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(
        &text.replace("= '{{ document.uuid }}.pdf'", "= '{{ patient.number }}_{{ document.uuid }}.pdf'"),
    );
    fs::remove_dir(practice.path("archive")).unwrap();
    let uuid = letter(&practice, "Roy", "Anne", Some("1970-01-25")).await;
    let mut running = practice.run().await;
    until(async || names(&practice), |names| *names == [format!("7/{uuid}.pdf")]).await;
    write_list(&practice, &["7;Petit;Luc;04.03.1950", "9;Roy;Anne;25.01.1970", "43;Weiß;Zoé;31.12.1999"]);
    let later = letter(&practice, "Petit", "Luc", Some("1950-03-04")).await;
    practice.docsyncd(&["poll"]).await;
    until(async || names(&practice), |names| names.contains(&format!("7/{later}.pdf"))).await;
    fs::create_dir(practice.path("archive")).unwrap();
    practice.docsyncd(&["retry", "--yes", &uuid]).await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    let archived = || -> Vec<String> {
        fs::read_dir(practice.path("archive"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    assert!(!archived().iter().any(|name| name.contains(&uuid)), "{:?}", archived());
    assert_eq!(practice.docsyncd(&["assign", &uuid, "9", "--yes"]).await.code, 0);
    until(async || archived(), |names| names.contains(&format!("9_{uuid}.pdf"))).await;
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_is_forgotten_leaves_a_persons_word_on_its_patient() {
    let practice = practice_with_list(&["7;Roy;Anna;25.01.1970"]).await;
    let first = letter(&practice, "Roy", "Anne", Some("1970-01-25")).await;
    let mut running = practice.run().await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    assert_eq!(practice.docsyncd(&["assign", &first, "7", "--yes"]).await.code, 0);
    wait_for_state(&practice, &first, "reported").await;
    running.stop().await;
    assert_eq!(practice.docsyncd(&["forget", &first]).await.code, 0);
    let mut running = practice.run().await;
    let patient = patient_of(&practice, &first).await;
    let second = add_of(&practice, "second", patient).await;
    practice.docsyncd(&["poll"]).await;
    wait_for_state(&practice, &second, "reported").await;
    running.stop().await;
}

async fn patient_of(practice: &Practice, uuid: &str) -> Value {
    let answer = practice.docsyncd(&["api", "GET", &format!("/documents/{uuid}")]).await;
    let document: Value = serde_json::from_str(&answer.stdout).unwrap();
    document["patient"].clone()
}

#[tokio::test]
async fn the_service_is_told_each_patients_number_once() {
    let practice = practice_with_list(&["0042;Müller;Jörg;21.02.1980"]).await;
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&format!("{config}\npush = true\n"));
    let first = letter(&practice, "Müller", "Jörg", Some("1980-02-21")).await;
    let mut running = practice.run().await;
    wait_for_state(&practice, &first, "reported").await;
    let told = || {
        let requests = practice.sandbox.requests();
        requests.into_iter().filter(|request| request.method == "PATCH").collect::<Vec<_>>()
    };
    until(async || told().len(), |count| *count == 1).await;
    assert_eq!(told()[0].status, Some(200), "{:?}", told());
    let patient = patient_of(&practice, &first).await;
    let second = add_of(&practice, "second", patient).await;
    practice.docsyncd(&["poll"]).await;
    wait_for_state(&practice, &second, "reported").await;
    assert_eq!(told().len(), 1);
    running.stop().await;
}

/// The delivery and the number are one entry: nothing would write the number a second time.
#[tokio::test]
async fn a_number_that_the_ledger_does_not_take_at_once_is_told_all_the_same() {
    let practice = practice_with_list(&["0042;Müller;Jörg;21.02.1980"]).await;
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&format!("{config}\npush = true\n"));
    assert_eq!(practice.sync().await.code, 0);
    let ledger = rusqlite::Connection::open(practice.ledger()).unwrap();
    ledger.busy_timeout(PATIENCE).unwrap();
    let refuses = "CREATE TRIGGER refuses BEFORE INSERT ON patient_push BEGIN SELECT RAISE(ABORT, 'not now'); END";
    ledger.execute_batch(refuses).unwrap();
    let letter = letter(&practice, "Müller", "Jörg", Some("1980-02-21")).await;
    let mut running = practice.run().await;
    running.wait_for_log("event=\"internal_error\"").await;
    ledger.execute_batch("DROP TRIGGER refuses").unwrap();
    wait_for_state(&practice, &letter, "reported").await;
    let told = || practice.sandbox.requests().iter().filter(|request| request.method == "PATCH").count();
    until(async || told(), |count| *count == 1).await;
    running.stop().await;
}

async fn practice_with_proof(confirm: &str) -> (Practice, String) {
    let practice = Practice::with_documents(0).await;
    practice.configure(&format!("file_name = '{{{{ document.uuid }}}}.pdf'\n{confirm}"));
    let uuid = add_small(&practice, 1, |_, document| document).await.remove(0);
    (practice, uuid)
}

fn inbox(practice: &Practice, name: &str) -> PathBuf {
    practice.inbox().join(name)
}

async fn proof(practice: &Practice, uuid: &str) -> Value {
    practice.show(uuid).await["deliveries"][0]["proof"].clone()
}

#[tokio::test]
async fn a_letter_is_reported_when_the_practices_software_took_it_and_not_before() {
    let (practice, uuid) = practice_with_proof("confirm = \"taken\"").await;
    let mut running = practice.run().await;
    let name = format!("{uuid}.pdf");
    until(async || inbox(&practice, &name).exists(), |is_there| *is_there).await;
    until(async || status(&practice).await["to_confirm"].as_u64(), |count| *count == Some(1)).await;
    // Whatever is tried: it is neither told nor filed again, also after a restart.
    practice.docsyncd(&["poll"]).await;
    practice.docsyncd(&["retry", "--yes", &uuid]).await;
    running.stop().await;
    practice.assert_spool_empty();
    let mut running = practice.run().await;
    let shown = practice.docsyncd(&["show", &uuid]).await.stdout;
    assert!(shown.contains("filed, not yet taken"), "{shown}");
    assert!(practice.docsyncd(&["list", "--wide"]).await.stdout.contains("filed, not yet taken"));
    let counted = practice.docsyncd(&["status"]).await.stdout;
    assert!(counted.contains("0 (0 to fetch, 0 to deliver, 0 to report)"), "it is not to be filed: {counted}");
    assert!(counted.contains("1 filed, not yet taken by the practice's software"), "{counted}");
    assert_eq!(posts_of(&practice.sandbox, &uuid), []);
    assert_eq!(names(&practice), [name.as_str()]);
    fs::remove_file(inbox(&practice, &name)).unwrap();
    wait_for_state(&practice, &uuid, "reported").await;
    assert_eq!(proof(&practice, &uuid).await, "taken");
    assert_eq!(status(&practice).await["to_confirm"], 0);
    assert_each_reported_once(&practice, &[uuid]);
    assert_eq!(names(&practice), [] as [String; 0]);
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_was_moved_is_proved_by_its_content_and_one_that_was_refused_fails() {
    let more = "confirm = \"moved:done\"\nconfirm_failed = \"moved:refused\"";
    let (practice, uuid) = practice_with_proof(more).await;
    for folder in ["done", "refused"] {
        fs::create_dir(inbox(&practice, folder)).unwrap();
    }
    let mut running = practice.run().await;
    let name = format!("{uuid}.pdf");
    until(async || inbox(&practice, &name).exists(), |is_there| *is_there).await;
    fs::rename(inbox(&practice, &name), inbox(&practice, "done/renamed.pdf")).unwrap();
    wait_for_state(&practice, &uuid, "reported").await;
    let shown = practice.show(&uuid).await;
    assert_eq!(shown["deliveries"][0]["proof"], "moved", "{shown}");
    assert!(shown["deliveries"][0]["place"].as_str().unwrap().ends_with("renamed.pdf"), "{shown}");
    let other = add_small(&practice, 1, |_, document| document).await.remove(0);
    practice.docsyncd(&["poll"]).await;
    let name = format!("{other}.pdf");
    until(async || inbox(&practice, &name).exists(), |is_there| *is_there).await;
    fs::rename(inbox(&practice, &name), inbox(&practice, "refused").join(&name)).unwrap();
    wait_for_state(&practice, &other, "failed").await;
    let posts = posts_of(&practice.sandbox, &other);
    assert!(matches!(posts.as_slice(), [(Some(false), Some(error))] if error.contains("pms")), "{posts:?}");
    running.stop().await;
}

fn letters_in(practice: &Practice) -> usize {
    names(practice).iter().filter(|name| name.ends_with(".pdf") && !name.starts_with('.')).count()
}

#[tokio::test]
async fn what_is_half_written_proves_nothing_and_a_sidecars_name_is_one_letters() {
    let sidecar = "sidecar = 'READY=0'\nsidecar_name = 'index.ini'\nconfirm = \"sidecar:READY=1\"\n\
                   confirm_failed = \"sidecar:ERRORLEVEL!=0\"";
    let (practice, first) = practice_with_proof(sidecar).await;
    let mut running = practice.run().await;
    let index = inbox(&practice, "index.ini");
    until(async || letters_in(&practice), |letters| *letters == 1).await;
    fs::write(&index, "READY=1\n").unwrap();
    tokio::time::sleep(Duration::from_millis(800)).await;
    fs::write(&index, "READY=1\nERRORLEVEL=3\n").unwrap();
    wait_for_state(&practice, &first, "failed").await;
    assert!(matches!(posts_of(&practice.sandbox, &first).as_slice(), [(Some(false), Some(_))]));
    // The next one has the name for itself until it is proved.
    fs::remove_file(&index).unwrap();
    let two = add_small(&practice, 2, |_, document| document).await;
    practice.docsyncd(&["poll"]).await;
    until(async || letters_in(&practice), |letters| *letters == 2).await;
    fs::remove_file(&index).unwrap();
    practice.docsyncd(&["retry", "--yes", &two[0], &two[1]]).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(letters_in(&practice), 2, "no second letter has that sidecar");
    fs::write(&index, "READY=1\r\n").unwrap();
    practice.wait_for_posts(2).await;
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_is_away_for_moments_was_not_taken() {
    let (practice, uuid) = practice_with_proof("confirm = \"taken\"").await;
    let mut running = practice.run().await;
    let (letter, away) = (inbox(&practice, &format!("{uuid}.pdf")), practice.path("away"));
    until(async || letter.exists(), |is_there| *is_there).await;
    for _ in 0..6 {
        fs::rename(&letter, &away).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        fs::rename(&away, &letter).unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(status(&practice).await["to_confirm"], 1);
    fs::remove_file(&letter).unwrap();
    wait_for_state(&practice, &uuid, "reported").await;
    running.stop().await;
}

#[tokio::test]
async fn a_person_says_that_it_is_in_the_record() {
    let (practice, uuid) = practice_with_proof("confirm = \"renamed\"\nconfirm_within = \"1s\"").await;
    let mut running = practice.run().await;
    let has_cause =
        |status: &Value| status["problems"].as_array().unwrap().iter().any(|problem| problem["cause"] == "not-taken");
    until(async || status(&practice).await, has_cause).await;
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuid]).await.code, 0);
    wait_for_state(&practice, &uuid, "reported").await;
    assert_eq!(proof(&practice, &uuid).await, "person");
    assert_eq!(names(&practice).len(), 1, "it is never filed a second time");
    running.stop().await;
}

#[tokio::test]
async fn letters_that_wait_for_their_proof_hold_up_no_other() {
    let (practice, first) = practice_with_proof("confirm = \"taken\"").await;
    let rest = add_small(&practice, 60, |_, document| document).await;
    let mut running = practice.run().await;
    until(async || status(&practice).await["to_confirm"].as_u64(), |count| *count == Some(61)).await;
    let late = add_small(&practice, 1, |_, document| document).await.remove(0);
    practice.docsyncd(&["poll"]).await;
    until(async || inbox(&practice, &format!("{late}.pdf")).exists(), |is_there| *is_there).await;
    for uuid in rest.iter().chain([&first, &late]) {
        fs::remove_file(inbox(&practice, &format!("{uuid}.pdf"))).unwrap();
    }
    practice.wait_for_posts(62).await;
    running.stop().await;
}

#[tokio::test]
async fn the_whole_way_by_single_passes() {
    let mut practice = practice_with_list(&["0042;Müller;Jörg;21.02.1980", "43;Weiß;Zoé;31.12.1999"]).await;
    practice.without_patience();
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replacen("path = 'inbox'", "path = 'inbox'\nconfirm = \"moved:taken\"", 1));
    let taken = practice.inbox().join("taken");
    fs::create_dir(&taken).unwrap();
    let known = letter(&practice, "MUELLER", "Jörg", Some("1980-02-21")).await;
    let undated = letter(&practice, "Weiss", "Zoe", None).await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(names(&practice), [format!("0042/{known}.pdf")]);
    assert_eq!(practice.docsyncd(&["assign", &undated, "43", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 3, "both are filed, and none is taken");
    assert_eq!(practice.sandbox.status_posts(), []);
    for (number, uuid) in [("0042", &known), ("43", &undated)] {
        let file = practice.inbox().join(number).join(format!("{uuid}.pdf"));
        fs::rename(file, taken.join(format!("{number}.pdf"))).unwrap();
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &[known.clone(), undated]);
    assert_eq!(proof(&practice, &known).await, "durable", "of the folder that needs no number");
    let reconciled = practice.docsyncd(&["reconcile"]).await;
    assert_eq!(reconciled.code, 0, "{reconciled:?}");
}

/// Whoever broke the settings still says whose a letter is, and what is tried again, in the language of the practice.
#[tokio::test]
async fn a_refused_configuration_locks_nobody_out() {
    let mut practice = practice_with_list(&["44;Canary;Zoé;31.12.1999"]).await;
    practice.env.insert("DOCSYNCD__LANGUAGE".into(), "de".into());
    let twin = letter(&practice, "Canary", "Zora", Some("1999-12-31")).await;
    let good = fs::read_to_string(practice.config_path()).unwrap() + "\n[status_page]\nlisten = \"127.0.0.1:0\"\n";
    practice.configure_wholly(&good);
    let mut running = practice.run().await;
    until(async || status(&practice).await["needs_person"].as_u64(), |count| *count == Some(1)).await;
    practice.env.remove("DOCSYNCD__LANGUAGE");
    practice.configure_wholly(&format!("{good}\n[[[ 'canary'"));
    running.wait_for_log("event=\"reload_refused\"").await;
    let ledger = practice.ledger().display().to_string();
    let says = async |args: &[&str], sign: &str| {
        let ended = practice.docsyncd(args).await;
        let is_told = ended.stderr.contains(&ledger) && ended.stderr.contains("die Konfiguration ist nicht benutzbar");
        assert!(ended.code == 0 && is_told, "{args:?}: {ended:?}");
        assert!(!ended.stderr.contains("the configuration") && ended.stdout.contains(sign), "{args:?}: {ended:?}");
    };
    until(async || practice.docsyncd(&["poll"]).await.code, |code| *code == 0).await;
    says(&["poll"], "docsyncd sieht").await;
    says(&["open", "--print"], "http://127.0.0.1:").await;
    says(&["assign", &twin], "mögliche Patienten").await;
    says(&["retry", &twin], &twin).await;
    until(async || practice.docsyncd(&["assign", &twin]).await.code, |code| *code == 0).await;
    says(&["assign", &twin, " 44 ", "--yes"], "dem Patienten mit der Nummer 44 zugeordnet (Canary Zoé)").await;
    until(async || names(&practice), |names| names.len() == 1).await;
    says(&["show", &twin], "Brief").await;
    // The key was changed at the service: what helps is another key, and no sign-in.
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(401)));
    practice.docsyncd(&["poll"]).await;
    let seen = async || practice.docsyncd(&["status"]).await.stdout;
    let shown = until(seen, |shown| shown.contains("Schlüssel des Kontos main")).await;
    assert!(!shown.contains("docsyncd login"), "{shown}");
    running.kill().await;
}

/// What the command shows to a person at a terminal who types these lines.
#[cfg(target_os = "linux")]
async fn at_a_terminal(practice: &Practice, args: &str, typed: &str) -> (String, bool) {
    use tokio::io::AsyncWriteExt as _;
    let line = format!("stty cols 100; '{}' --config docsyncd.toml {args}", crate::harness::program().display());
    let mut script = tokio::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(practice.dir.path()).envs(&practice.env);
    script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = script.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(typed.as_bytes()).await.unwrap();
    let ended = child.wait_with_output().await.unwrap();
    (String::from_utf8_lossy(&ended.stdout).into_owned(), ended.status.success())
}

/// As on the page.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn at_the_terminal_a_twin_and_a_number_of_another_are_asked_about_once_more() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = practice_with_list(&[]).await;
    let twins = "501;Canary;Zoé;31.12.1999;Arles\n502;Canary;Zoe;31.12.1999;Nantes\n44;Petit;Luc;13.01.1970;Nice\n";
    fs::write(practice.path("patients.csv"), format!("PatNum;LName;FName;Birthdate;Ville\n{twins}")).unwrap();
    let zoe = letter(&practice, "Canary", "Zoé", Some("1999-12-31")).await;
    let luc = letter(&practice, "Petit", "Luc", Some("1970-01-13")).await;
    let lucas = letter(&practice, "Petit", "Lucas", Some("1970-01-13")).await;
    assert_eq!(practice.sync().await.code, 3);
    let candidates = practice.docsyncd(&["assign", &zoe]).await.stdout;
    for sign in ["Ville", "Arles", "Nantes", "cannot tell them apart"] {
        assert!(candidates.contains(sign), "{sign}: {candidates}");
    }
    assert!(!practice.docsyncd(&["assign", &lucas]).await.stdout.contains("Ville"), "nobody is alike");
    let (said, is_good) = at_a_terminal(&practice, &format!("assign {zoe} 501"), "y\nn\n").await;
    assert!(!is_good && said.contains("nothing was assigned"), "{said}");
    for sign in ["Arles", "Nantes", "cannot tell them apart", "Are you sure?"] {
        assert!(said.contains(sign), "{sign}: {said}");
    }
    assert!(names(&practice).iter().any(|name| name == &format!("44/{luc}.pdf")));
    let (said, is_good) = at_a_terminal(&practice, &format!("assign {lucas} 44"), "y\ny\n").await;
    assert!(is_good && said.contains("another patient of the service already go to the number"), "{said}");
    assert!(said.contains("Are you sure?"), "{said}");
}
