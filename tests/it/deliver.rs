//! deliver: routes decide, every required destination has to hold the document, and none delays another.

use std::collections::BTreeMap;
use std::path::Path;

use docsyncd_sandbox::NewDocument;
use serde_json::json;

use crate::dictated::*;
use crate::harness::{Practice, sha256};

mod away;
#[cfg(unix)]
mod command;
mod sidecars;
mod twins;

fn two_folders(practice: &Practice, routes: &str) {
    practice.configure(&format!("[destinations.archive]\ntype = \"folder\"\npath = 'archive'\n{routes}"));
}

fn files_in(folder: &Path) -> usize {
    walk(folder).len()
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn success_is_reported_only_when_every_destination_holds_the_document() {
    let (mut practice, uuids) = practice_with_small(6).await;
    practice.without_patience();
    two_folders(&practice, "[[routes]]\nto = [\"pms\", \"archive\"]");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(files_in(&practice.inbox()), 6, "the other destination has them already");
    assert_eq!(practice.sandbox.status_posts(), []);
    assert_eq!(paused(&practice).await, ["destination:archive"]);
    assert_eq!(practice.state(&uuids[0]).await, "fetched");

    std::fs::create_dir(practice.path("archive")).unwrap();
    practice.sandbox.forget_requests();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(files_in(&practice.path("archive")), 6);
    practice.assert_all_filed().await;
    assert!(!practice.sandbox.requests().iter().any(is_download), "what lies in the spool is not fetched again");
}

#[tokio::test]
async fn a_missing_destination_never_delays_documents_of_another() {
    let mut practice = Practice::with_documents(0).await;
    two_folders(&practice, "[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"archive\"]\n[[routes]]\nto = [\"pms\"]");
    let kind = |number, document| NewDocument {
        document_type: Some(Some(if number % 2 == 0 { "lab_slip" } else { "prescription" }.to_owned())),
        ..document
    };
    let uuids = add_small(&practice, 60, kind).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(30).await;
    running.wait_for_log("destination:archive is paused").await;
    // Those that come later pass by as well.
    let late = NewDocument { document_type: Some(Some("prescription".into())), ..small("late") };
    let late = practice.sandbox.add(late).await.unwrap();
    practice.wait_for_posts(31).await;
    assert_eq!((files_in(&practice.inbox()), files_in(&practice.path("archive"))), (31, 0));
    std::fs::create_dir(practice.path("archive")).unwrap();
    practice.wait_for_posts(61).await;
    assert_each_reported_once(&practice, &[uuids, vec![late]].concat());
    assert_eq!((files_in(&practice.inbox()), files_in(&practice.path("archive"))), (31, 30));
}

#[tokio::test]
async fn routes_go_by_type_user_visibility_and_anonymity_and_the_first_match_wins() {
    let practice = Practice::with_documents(0).await;
    let names = ["lab", "anne", "private", "anonymous", "rest"];
    let mut toml = practice.base_config();
    for name in names {
        std::fs::create_dir(practice.path(name)).unwrap();
        toml += &format!(
            "[destinations.{name}]\ntype = \"folder\"\npath = '{name}'\nfile_name = \"{{{{ document.uuid }}}}.pdf\"\n"
        );
    }
    toml += "[[routes]]\ntypes = [\"lab_slip\", \"prescription\"]\nto = [\"lab\"]\n\
             [[routes]]\nusers = [\"Anne@practice.test\"]\nto = [\"anne\", \"rest\"]\n\
             [[routes]]\nvisibility = \"private\"\nto = [\"private\"]\n\
             [[routes]]\nanonymized = true\nto = [\"anonymous\"]\n\
             [[routes]]\nto = [\"rest\"]\n";
    practice.configure_wholly(&toml);
    let plain = || NewDocument {
        document_type: Some(Some("patient_letter".into())),
        patient: Some(json!({"visibilityOption": "shared"})),
        ..small("letter")
    };
    let anne = || json!({"email": "anne@practice.test"}).as_object().cloned();
    let private = || Some(json!({"visibilityOption": "private"}));
    let cases: [(&[&str], NewDocument); 8] = [
        (&["lab"], NewDocument { document_type: Some(Some("lab_slip".into())), ..plain() }),
        (&["lab"], NewDocument { document_type: Some(Some("prescription".into())), user: anne(), ..plain() }),
        (&["anne", "rest"], NewDocument { user: anne(), ..plain() }),
        (&["anne", "rest"], NewDocument { user: anne(), patient: private(), ..plain() }),
        (&["private"], NewDocument { patient: private(), is_anonymized: true, ..plain() }),
        (&["anonymous"], NewDocument { is_anonymized: true, ..plain() }),
        (&["rest"], NewDocument { document_type: Some(None), ..plain() }),
        (&["rest"], NewDocument { document_type: Some(Some("of_the_future".into())), ..plain() }),
    ];
    let mut expected: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (to, document) in cases {
        expected.insert(practice.sandbox.add(document).await.unwrap(), to.to_vec());
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    for (uuid, to) in &expected {
        let found: Vec<&str> =
            names.into_iter().filter(|name| practice.path(name).join(format!("{uuid}.pdf")).exists()).collect();
        assert_eq!(&found, to, "{uuid}");
    }
    assert_eq!(names.map(|name| files_in(&practice.path(name))).iter().sum::<usize>(), 10);
}

#[tokio::test]
async fn documents_that_no_route_takes_fail_with_an_error_that_says_so_and_hold_nobody_back() {
    let practice = Practice::with_documents(0).await;
    practice.configure("[[routes]]\ntypes = [\"lab_slip\"]\nto = [\"pms\"]");
    let kind = |number, document| NewDocument {
        document_type: Some(Some(if number < 12 { "prescription" } else { "lab_slip" }.to_owned())),
        ..document
    };
    let uuids = add_small(&practice, 15, kind).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    for uuid in &uuids[..12] {
        let posts = posts_of(&practice.sandbox, uuid);
        let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
        assert!(error.contains("no route") && error.contains("prescription"), "{error}");
        assert_eq!(practice.state(uuid).await, "failed");
    }
    assert_eq!(practice.filed().len(), 3);
    assert!(paused(&practice).await.is_empty());

    practice.configure("[[routes]]\nto = [\"pms\"]");
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_missing_folder_is_not_created_and_nothing_is_reported_until_it_is_there() {
    let (mut practice, uuids) = practice_with_small(20).await;
    practice.without_patience();
    std::fs::remove_dir(practice.inbox()).unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert!(!practice.inbox().exists());
    assert_eq!(paused(&practice).await, ["destination:pms"]);
    assert_eq!(practice.sandbox.status_posts(), []);
    assert_eq!(synced.stderr.matches("ERROR").count(), 1, "{synced:?}");

    std::fs::create_dir(practice.inbox()).unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    practice.assert_all_filed().await;
    for uuid in &uuids {
        assert_eq!(practice.show(uuid).await["deliveries"][0]["attempts"], 0, "a pause spends no attempts");
    }
}

#[tokio::test]
async fn other_content_of_the_same_name_gets_the_short_uuid_and_a_sidecar_stands_beside_each() {
    let practice = Practice::with_documents(0).await;
    practice.configure(
        "file_name = \"letters/{{ document.type }}.pdf\"\n\
         sidecar = \"{{ document.uuid }} {{ patient.lastName }}\"\nsidecar_name = \"{{ file_stem }}.idx\"",
    );
    let kind = |_, document| NewDocument {
        document_type: Some(Some("lab_slip".into())),
        patient: Some(json!({"lastName": "Müller"})),
        ..document
    };
    let uuids = add_small(&practice, 5, kind).await;
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    let folder = practice.inbox().join("letters");
    let mut plain = 0;
    for (number, uuid) in uuids.iter().enumerate() {
        let shown = practice.show(uuid).await;
        let place = Path::new(shown["deliveries"][0]["place"].as_str().unwrap());
        assert_eq!(place.parent(), Some(folder.as_path()));
        assert_eq!(sha256(&std::fs::read(place).unwrap()), sha256(&pdf(&format!("letter {number}"))));
        assert_eq!(std::fs::read_to_string(place.with_extension("idx")).unwrap(), format!("{uuid} Müller"));
        let stem = place.file_stem().unwrap().to_str().unwrap();
        plain += usize::from(stem == "lab_slip");
        assert!(stem == "lab_slip" || stem == format!("lab_slip_{}", short(uuid)), "{stem}");
    }
    assert_eq!(plain, 1);
    assert_eq!(files_in(&practice.inbox()), 10);
}

/// A share that is not mounted looks like an empty folder.
#[tokio::test]
async fn without_its_marker_a_destination_is_paused_and_nothing_is_written() {
    let (mut practice, uuids) = practice_with_small(4).await;
    practice.without_patience();
    practice.configure("marker = \".docsyncd\"");
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    assert_eq!(std::fs::read_dir(practice.inbox()).unwrap().count(), 0);
    assert_eq!(paused(&practice).await, ["destination:pms"]);
    assert_eq!(practice.sandbox.status_posts(), []);
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 1 && format!("{checked:?}").contains("create an empty file"), "{checked:?}");

    std::fs::write(practice.inbox().join(".docsyncd"), "").unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    assert_each_reported_once(&practice, &uuids);
    assert_eq!(practice.docsyncd(&["check"]).await.code, 0);
    assert_eq!(files_in(&practice.inbox()), 5);
}

#[tokio::test]
async fn two_spellings_of_a_name_are_one_folder_and_namesakes_are_two() {
    let practice = Practice::with_documents(0).await;
    practice.configure("");
    let patients = [("Zoe\u{308}", "1980-03-12"), ("Zo\u{eb}", "1980-03-12"), ("Zo\u{eb}", "1981-03-12")];
    for (number, (first, born)) in patients.into_iter().enumerate() {
        let patient = json!({"lastName": "Dupont", "firstName": first, "dateOfBirth": born});
        let document = NewDocument { patient: Some(patient), ..small(&format!("letter {number}")) };
        practice.sandbox.add(document).await.unwrap();
    }
    let synced = practice.sync().await;
    assert_eq!(synced.code, 0, "{synced:?}");
    let mut folders: Vec<_> =
        std::fs::read_dir(practice.inbox()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(folders, ["Dupont_Zo\u{eb}_1980-03-12", "Dupont_Zo\u{eb}_1981-03-12"]);
    assert_eq!(files_in(&practice.inbox()), 3);
}

/// A named pipe, which nobody writes to, answers as little as a file on a share that is away.
#[cfg(unix)]
#[tokio::test]
async fn a_secret_whose_file_does_not_answer_holds_up_neither_the_start_nor_other_destinations() {
    let mut practice = Practice::with_documents(0).await;
    let pipe = practice.path("token");
    assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap().success());
    practice.configure(&format!(
        "[destinations.engine]\ntype = \"http\"\nurl = \"http://127.0.0.1:9/\"\nbearer_token_file = '{}'\n\
         [[routes]]\ntypes = [\"lab_slip\"]\nto = [\"engine\"]\n[[routes]]\nto = [\"pms\"]",
        pipe.display()
    ));
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "50ms".into());
    let kind = |number, document| NewDocument {
        document_type: Some(Some(if number % 2 == 0 { "lab_slip" } else { "prescription" }.to_owned())),
        ..document
    };
    // More than the processor has cores.
    add_small(&practice, 40, kind).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(20).await;
    assert_eq!(practice.filed().len(), 20);
    running.wait_for_log("destination:engine is paused").await;
    assert!(running.log().contains("bearer_token_file"), "{}", running.log());
    add_small(&practice, 1, |_, document| document).await;
    practice.wait_for_posts(21).await;
    assert_eq!(running.stop().await, 0, "{}", running.log());
}
