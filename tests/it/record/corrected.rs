//! The service corrects the patient of a letter, or a person does: at each moment of its way.

use super::*;

#[tokio::test]
async fn a_patient_who_was_corrected_while_a_letter_waited_is_who_gets_it() {
    let mut practice = practice_with_list(&["471;Durand;Anne;25.01.1970", "472;Martin;Anne;25.01.1970"]).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let away = practice.path("away");
    fs::rename(practice.inbox(), &away).unwrap();
    let uuid = letter(&practice, "Durand", "Anne", Some("1970-01-25")).await;
    let mut running = practice.run().await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 1).await;
    correct(&practice, &uuid, "Martin").await;
    // Longer than a poll's interval: what was read is not fresh any more.
    tokio::time::sleep(Duration::from_secs(2)).await;
    fs::rename(&away, practice.inbox()).unwrap();
    wait_for_state(&practice, &uuid, "reported").await;
    assert_eq!(names(&practice), [format!("472/{uuid}.pdf")]);
    running.stop().await;
}

/// The service corrects the patient of a letter: its last name.
async fn correct(practice: &Practice, uuid: &str, last_name: &str) {
    change(practice, uuid, json!({ "lastName": last_name })).await;
}

async fn change(practice: &Practice, uuid: &str, record: Value) {
    let patient = patient_of(practice, uuid).await;
    let patient = patient["uuid"].as_str().or(patient.as_str()).unwrap().to_owned();
    let body = record.to_string();
    let answer = practice.docsyncd(&["api", "PATCH", &format!("/patients/{patient}"), "--body", &body]).await;
    assert_eq!(answer.code, 0, "{answer:?}");
}

/// The archive has it already, by a record without a date of birth.
#[tokio::test]
async fn a_record_that_is_completed_is_the_same_patients() {
    let mut practice = practice_with_list(&["471;Durand;Anne;25.01.1970"]).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let uuid = letter(&practice, "Durand", "Anne", None).await;
    let mut running = practice.run().await;
    running.wait_for_log("needs_person").await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 1).await;
    change(&practice, &uuid, json!({ "dateOfBirth": "1970-01-25" })).await;
    assert_eq!(practice.docsyncd(&["poll"]).await.code, 0);
    wait_for_state(&practice, &uuid, "reported").await;
    running.end().await;
    assert_eq!(names(&practice), [format!("471/{uuid}.pdf")]);
    assert_eq!(fs::read_dir(practice.path("archive")).unwrap().count(), 1);
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().all(|problem| problem["cause"] != "not-replaced"), "{problems}");
}

#[tokio::test]
async fn a_letter_that_is_listed_again_for_another_patient_is_filed_for_that_one() {
    let practice = practice_with_list(&["471;Durand;Anne;25.01.1970", "472;Martin;Anne;25.01.1970"]).await;
    let uuid = letter(&practice, "Durand", "Anne", Some("1970-01-25")).await;
    assert_eq!(practice.sync().await.code, 0);
    correct(&practice, &uuid, "Martin").await;
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let is_filed = |number: &str| names(&practice).iter().any(|name| name.starts_with(&format!("{number}/{uuid}")));
    assert!(is_filed("471") && is_filed("472"), "{:?}", names(&practice));
    let is_number = |word: &str| word == "471";
    assert!(synced.stderr.contains("corrected"), "{synced:?}");
    assert!(!synced.stderr.split(|letter: char| !letter.is_alphanumeric()).any(is_number), "{synced:?}");
    let shown = practice.show(&uuid).await;
    let told = shown["history"].as_array().unwrap().iter().filter(|row| row["event"] == "filed_for_another");
    let reasons: Vec<&str> = told.map(|row| row["reason"].as_str().unwrap()).collect();
    assert!(reasons.len() == 2 && reasons.iter().any(|reason| reason.contains("471")), "{reasons:?}");
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().any(|problem| problem["cause"] == "not-replaced"), "{problems}");
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuid]).await.code, 0);
    // Listed once more, and the same: nothing is filed.
    let before = names(&practice);
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(names(&practice), before);
}

#[tokio::test]
async fn a_letter_that_cannot_be_read_again_after_a_wait_is_not_filed() {
    let mut practice = practice_with_list(&["471;Durand;Anne;25.01.1970", "472;Martin;Anne;25.01.1970"]).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let away = practice.path("away");
    fs::rename(practice.inbox(), &away).unwrap();
    let uuid = letter(&practice, "Durand", "Anne", Some("1970-01-25")).await;
    let mut running = practice.run().await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 1).await;
    correct(&practice, &uuid, "Martin").await;
    let broken = practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(503)));
    tokio::time::sleep(Duration::from_secs(2)).await;
    fs::rename(&away, practice.inbox()).unwrap();
    let is_asked = |view: &docsyncd_sandbox::View| {
        view.requests().filter(|request| request.path.ends_with(&format!("/documents/{uuid}"))).count() > 2
    };
    practice.sandbox.wait_for(is_asked, PATIENCE).await.unwrap();
    assert_eq!(names(&practice), <[String; 0]>::default());
    practice.sandbox.remove_fault(broken);
    wait_for_state(&practice, &uuid, "reported").await;
    assert_eq!(names(&practice), [format!("472/{uuid}.pdf")]);
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_was_filed_by_a_wrong_number_is_filed_anew_by_the_right_one() {
    let practice = practice_with_list(&["7;Roy;Anna;25.01.1970", "8;Roy;Annika;25.01.1970"]).await;
    let uuid = letter(&practice, "Roy", "Anne", Some("1970-01-25")).await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.docsyncd(&["assign", &uuid, "7", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.docsyncd(&["assign", &uuid, "7", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(names(&practice), [format!("7/{uuid}.pdf")], "it is right");
    let mended = practice.docsyncd(&["assign", &uuid, "8", "--yes"]).await;
    assert!(mended.code == 0 && mended.stdout.contains("filed anew"), "{mended:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert!(names(&practice).iter().any(|name| name.starts_with(&format!("8/{uuid}"))), "{:?}", names(&practice));
    assert_eq!(posts_of(&practice.sandbox, &uuid).len(), 2);
    // What needs no number has the letter already.
    assert_eq!(fs::read_dir(practice.path("archive")).unwrap().count(), 1);
    let shown = practice.show(&uuid).await;
    let told = |row: &&Value| row["event"] == "filed_for_another" && row["reason"].as_str().unwrap().contains("7/");
    assert_eq!(shown["history"].as_array().unwrap().iter().filter(told).count(), 1, "{shown}");
    // The patient's next letter goes by the new decision.
    let patient = patient_of(&practice, &uuid).await;
    let second = add_of(&practice, "second", patient).await;
    assert_eq!(practice.sync().await.code, 0);
    assert!(names(&practice).contains(&format!("8/{second}.pdf")), "{:?}", names(&practice));
    // What has ended stays, and is named.
    let back = practice.docsyncd(&["assign", &uuid, "7", "--yes"]).await;
    assert!(back.code == 0 && back.stdout.contains(&second), "{back:?}");
}

fn filed_by(practice: &Practice, number: &str) -> bool {
    names(practice).iter().any(|name| name.starts_with(&format!("{number}/")))
}

async fn durand(practice: &Practice) -> String {
    letter(practice, "Durand", "Anne", Some("1970-01-25")).await
}

const TWO: [&str; 2] = ["471;Durand;Anne;25.01.1970", "472;Martin;Anne;25.01.1970"];

/// The letter of a patient who is in the list, and whom the first one turns out to be about.
async fn martin(practice: &Practice) -> String {
    letter(practice, "Martin", "Anne", Some("1970-01-25")).await
}

/// Its absence from the list was never seen.
#[tokio::test]
async fn a_letter_that_is_corrected_and_listed_again_right_after_its_report_is_filed_anew() {
    let mut practice = practice_with_list(&TWO).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "4s".into());
    let (uuid, other) = (durand(&practice).await, martin(&practice).await);
    let mut running = practice.run().await;
    wait_for_state(&practice, &uuid, "reported").await;
    wait_for_state(&practice, &other, "reported").await;
    practice.sandbox.set_patient_of(&uuid, &other).await.unwrap();
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    until(async || names(&practice), |names| names.iter().any(|name| name.starts_with(&format!("472/{uuid}")))).await;
    practice.wait_for_posts(3).await;
    running.stop().await;
    // Nothing has changed since, and it is left alone.
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    let before = names(&practice);
    let mut running = practice.run().await;
    practice.docsyncd(&["poll"]).await;
    running.stop().await;
    assert_eq!((names(&practice), posts_of(&practice.sandbox, &uuid).len()), (before, 2));
}

/// The list names the same record, which is somebody else's now.
#[tokio::test]
async fn a_letter_whose_patients_record_is_corrected_right_after_its_report_is_filed_anew_once_it_is_listed_again() {
    let mut practice = practice_with_list(&TWO).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "4s".into());
    let uuid = durand(&practice).await;
    let mut running = practice.run().await;
    wait_for_state(&practice, &uuid, "reported").await;
    correct(&practice, &uuid, "Martin").await;
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    until(async || names(&practice), |names| names.iter().any(|name| name.starts_with(&format!("472/{uuid}")))).await;
    practice.wait_for_posts(2).await;
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_is_corrected_while_it_waits_for_its_proof_is_filed_anew() {
    let mut practice = practice_with_list(&TWO).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replacen("path = 'inbox'", "path = 'inbox'\nconfirm = \"taken\"", 1));
    let (uuid, other) = (durand(&practice).await, martin(&practice).await);
    let mut running = practice.run().await;
    until(async || status(&practice).await["to_confirm"].as_u64(), |count| *count == Some(2)).await;
    practice.sandbox.set_patient_of(&uuid, &other).await.unwrap();
    until(async || names(&practice), |names| names.iter().any(|name| name.starts_with(&format!("472/{uuid}")))).await;
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().any(|problem| problem["cause"] == "not-replaced"), "{problems}");
    assert_eq!(practice.sandbox.status_posts(), []);
    running.stop().await;
}

/// The time between two polls is longer than what was read counts.
#[tokio::test]
async fn a_letter_that_waited_for_seconds_is_read_again_however_seldom_is_polled() {
    let mut practice = practice_with_list(&TWO).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "10m".into());
    let away = practice.path("away");
    fs::rename(practice.inbox(), &away).unwrap();
    let uuid = durand(&practice).await;
    let mut running = practice.run().await;
    until(async || fs::read_dir(practice.path("archive")).unwrap().count(), |count| *count == 1).await;
    correct(&practice, &uuid, "Martin").await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    fs::rename(&away, practice.inbox()).unwrap();
    until(async || !names(&practice).is_empty(), |is_filed| *is_filed).await;
    assert_eq!(names(&practice), [format!("472/{uuid}.pdf")]);
    wait_for_state(&practice, &uuid, "reported").await;
    running.stop().await;
}

#[tokio::test]
async fn what_a_person_asks_for_again_names_the_copy_of_the_patient_before() {
    let practice = practice_with_list(&TWO).await;
    let uuid = durand(&practice).await;
    assert_eq!(practice.sync().await.code, 0);
    correct(&practice, &uuid, "Martin").await;
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert!(filed_by(&practice, "471") && filed_by(&practice, "472"), "{:?}", names(&practice));
    let shown = practice.show(&uuid).await;
    let told = |row: &&Value| row["event"] == "filed_for_another" && row["reason"].as_str().unwrap().contains("471/");
    assert_eq!(shown["history"].as_array().unwrap().iter().filter(told).count(), 1, "{shown}");
    // Once more, and the same: what lies there is taken, and the copy stays named.
    let before = names(&practice);
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(names(&practice), before);
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().any(|problem| problem["cause"] == "not-replaced"), "{problems}");
}

/// A letter that waits for its proof is corrected; a person asks to look again, removes the old copy and says so, and
/// says then that the new one is in the record.
#[tokio::test]
async fn that_the_old_copy_is_gone_proves_nothing_of_the_new_one() {
    let mut practice = practice_with_list(&TWO).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "1s".into());
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replacen("path = 'inbox'", "path = 'inbox'\nconfirm = \"taken\"", 1));
    let uuid = durand(&practice).await;
    let mut running = practice.run().await;
    until(async || filed_by(&practice, "471"), |is_filed| *is_filed).await;
    correct(&practice, &uuid, "Martin").await;
    assert_eq!(practice.docsyncd(&["retry", &uuid]).await.code, 0);
    until(async || filed_by(&practice, "472"), |is_filed| *is_filed).await;
    wait_for_state(&practice, &uuid, "fetched").await;
    let unclear = practice.docsyncd(&["retry", "--arrived", &uuid]).await;
    assert!(unclear.code == 1 && unclear.stderr.contains("--removed"), "{unclear:?}");
    let removed = practice.docsyncd(&["retry", "--removed", &uuid]).await;
    assert!(removed.code == 0 && removed.stdout.contains("no more"), "{removed:?}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(posts_of(&practice.sandbox, &uuid), []);
    assert_eq!(practice.docsyncd(&["retry", "--removed", &uuid]).await.code, 1, "it was said already");
    assert_eq!(practice.docsyncd(&["retry", "--arrived", &uuid]).await.code, 0);
    wait_for_state(&practice, &uuid, "reported").await;
    running.stop().await;
}

/// The person at the keyboard decides about the patient that the service names now.
#[tokio::test]
async fn a_letter_that_waits_for_its_proof_is_read_again_before_a_person_assigns_it() {
    let practice =
        practice_with_list(&["471;Durand;Anne;25.01.1970", "472;Martin;Anne;25.01.1970", "473;Roy;Luc;1.1.1990"]).await;
    let config = fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&config.replacen("path = 'inbox'", "path = 'inbox'\nconfirm = \"taken\"", 1));
    let uuid = durand(&practice).await;
    assert_eq!(practice.sync().await.code, 3);
    correct(&practice, &uuid, "Martin").await;
    let shown = practice.docsyncd(&["assign", &uuid]).await;
    assert!(shown.stdout.contains("in the cloud service: Martin"), "{shown:?}");
    assert_eq!(practice.docsyncd(&["assign", &uuid, "473", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 3);
    assert!(filed_by(&practice, "473"), "{:?}", names(&practice));
    // The word is about Martin; Durand is found in the list as before.
    let other = durand(&practice).await;
    assert_eq!(practice.sync().await.code, 3);
    assert!(names(&practice).contains(&format!("471/{other}.pdf")), "{:?}", names(&practice));
}

/// Nobody else's letter: the practice merges two records of one patient, and corrects the spelling of a name whose
/// number a person had said.
#[tokio::test]
async fn a_merged_record_and_a_corrected_name_of_the_same_number_file_nothing_twice() {
    let practice = practice_with_list(&TWO).await;
    let (uuid, duplicate) = (durand(&practice).await, durand(&practice).await);
    let misspelt = letter(&practice, "Martain", "Anne", Some("1970-01-25")).await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.docsyncd(&["assign", &misspelt, "472", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    let before = names(&practice);
    assert_eq!(before.len(), 3);
    practice.sandbox.set_patient_of(&uuid, &duplicate).await.unwrap();
    correct(&practice, &misspelt, "Martin").await;
    for again in [&uuid, &misspelt] {
        practice.sandbox.set_listed(again, true).await.unwrap();
    }
    // What comes back must be missed twice before, so both ways are tried: seen in the list, and asked for by a person.
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.docsyncd(&["retry", "--yes", &uuid, &misspelt]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(names(&practice), before);
    let problems = status(&practice).await["problems"].clone();
    assert!(problems.as_array().unwrap().iter().all(|problem| problem["cause"] != "not-replaced"), "{problems}");
}

/// Two patients of one name and date of birth are two where the practice's list says so.
#[tokio::test]
async fn a_letter_that_is_corrected_to_a_namesake_waits_for_a_person() {
    let practice = practice_with_list(&["471;Durand;Anne;25.01.1970", "475;Durand;Anne;25.01.1970"]).await;
    let (uuid, namesakes) = (durand(&practice).await, durand(&practice).await);
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.docsyncd(&["assign", &uuid, "471", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(names(&practice), [format!("471/{uuid}.pdf")]);
    practice.sandbox.set_patient_of(&uuid, &namesakes).await.unwrap();
    practice.sandbox.set_listed(&uuid, true).await.unwrap();
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.show(&uuid).await["state"], "fetched");
    assert_eq!(practice.docsyncd(&["assign", &namesakes, "475", "--yes"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert!(names(&practice).iter().any(|name| name.starts_with(&format!("475/{uuid}"))), "{:?}", names(&practice));
}
