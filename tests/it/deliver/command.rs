//! A program as the destination: how it ends decides, and what it writes is kept from everybody else.

use super::*;
use crate::harness::PATIENCE;

/// A practice whose only destination is this shell script, which gets the PDF as its argument.
async fn practice_with_script(script: &str) -> Practice {
    use std::os::unix::fs::PermissionsExt as _;
    let practice = Practice::with_documents(0).await;
    let program = practice.path("import-letter");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    practice.configure_wholly(&format!(
        "{}[destinations.scan]\ntype = \"command\"\nprogram = '{}'\nargs = [\"{{{{ file }}}}\", \"{}\"]\n",
        practice.base_config(),
        program.display(),
        practice.inbox().display(),
    ));
    practice
}

#[tokio::test]
async fn a_program_that_ends_well_has_the_document_also_when_it_asked_to_be_called_later() {
    let well = "cp \"$1\" \"$2/$DOCSYNCD_DOCUMENT_UUID.pdf\"";
    let later = "if mkdir \"$2/../seen-$DOCSYNCD_KEY\" 2>/dev/null; then echo 'the peer is busy' >&2; exit 75; fi";
    for script in [well.to_owned(), format!("{later}\n{well}")] {
        let practice = practice_with_script(&script).await;
        let uuids = add_small(&practice, 8, |_, document| document).await;
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_each_reported_once(&practice, &uuids);
        practice.assert_all_filed().await;
    }
}

#[tokio::test]
async fn a_program_that_puts_everything_off_in_ever_new_words_is_paused_as_a_whole() {
    let practice =
        practice_with_script("echo \"no connection (ticket $$)\" > \"$DOCSYNCD_REASON_FILE\"; exit 75").await;
    let uuids = add_small(&practice, 12, |_, document| document).await;
    let mut running = practice.run().await;
    running.wait_for_log("destination:scan is paused").await;
    running.kill().await;
    let mut attempts = 0;
    for uuid in &uuids {
        attempts += practice.show(uuid).await["deliveries"][0]["attempts"].as_u64().unwrap_or(0);
    }
    assert!(attempts <= 3, "{attempts}");
    assert_eq!(practice.sandbox.status_posts(), []);
}

/// A program that cannot work at all says so in other words each time: it names the file, or the time.
#[tokio::test]
async fn a_program_that_refuses_everything_in_ever_new_words_is_paused_as_a_whole() {
    let script = "echo \"cannot read $DOCSYNCD_KEY (call $$)\" > \"$DOCSYNCD_REASON_FILE\"; exit 1";
    let mut practice = practice_with_script(script).await;
    // As by default: what fails is kept from the API for as long as others can show that they share it.
    practice.env.insert("DOCSYNCD__RETRY__MAX".into(), "15m".into());
    let uuids = add_small(&practice, 40, |_, document| document).await;
    let mut running = practice.run().await;
    running.wait_for_log("destination:scan is paused").await;
    assert_eq!(running.stop().await, 0, "{}", running.log());
    for uuid in &uuids {
        let state = practice.state(uuid).await;
        assert!(state == "fetched" || state == "discovered", "{state}: {}", running.log());
    }
    assert_eq!(practice.sandbox.status_posts(), []);
}

/// Those that the program will never take look like an outage. What passes in between shows each time that it is none.
#[tokio::test]
async fn many_documents_that_a_program_refuses_are_told_when_others_pass() {
    let mut practice = practice_with_script("grep -q 'a good one' \"$1\"").await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let bad = add_small(&practice, 8, |_, document| document).await;
    let _running = practice.run().await;
    let failed = || bad.iter().filter(|uuid| !posts_of(&practice.sandbox, uuid).is_empty()).count();
    for number in 0.. {
        assert!(number < 300, "{} of the bad ones have failed", failed());
        let good = practice.sandbox.add(small(&format!("a good one {number}"))).await.unwrap();
        let done = |view: &docsyncd_sandbox::View| view.status_posts().any(|post| post.document == good);
        practice.sandbox.wait_for(done, PATIENCE).await.expect("its report");
        assert_eq!(posts_of(&practice.sandbox, &good), [(Some(true), None)]);
        if failed() == bad.len() {
            break;
        }
    }
    for uuid in &bad {
        let posts = posts_of(&practice.sandbox, uuid);
        assert!(
            matches!(posts.as_slice(), [(Some(false), Some(error))] if error.contains("exited with 1")),
            "{posts:?}"
        );
    }
}

/// The practice system goes away while eight long calls are under way. That these end well, one after the other, says
/// nothing of those that it refuses meanwhile.
#[tokio::test]
async fn what_was_under_way_when_a_program_began_to_refuse_all_is_no_sign_that_others_pass() {
    let script = "if [ -e \"$2/../away\" ]; then exit 1; fi; touch \"$2/../began-$DOCSYNCD_DOCUMENT_UUID\"\n\
                  grep -q 'a long one' \"$1\" && sleep \"$(grep -o 'takes [0-9.]*' \"$1\" | cut -c 7-)\"\nexit 0";
    let mut practice = practice_with_script(script).await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "12".into());
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "20ms".into());
    let mut uuids = Vec::new();
    for half_seconds in 2..10 {
        let text = format!("a long one takes {}.{}", half_seconds / 2, half_seconds % 2 * 5);
        uuids.push(practice.sandbox.add(small(&text)).await.unwrap());
    }
    let _running = practice.run().await;
    while uuids.iter().any(|uuid| !practice.path(&format!("began-{uuid}")).exists()) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    std::fs::write(practice.path("away"), "").unwrap();
    uuids.extend(add_small(&practice, 12, |_, document| document).await);
    practice.wait_for_posts(8).await;
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    std::fs::remove_file(practice.path("away")).unwrap();
    practice.wait_for_posts(20).await;
    assert_each_reported_once(&practice, &uuids);
}

/// Each failure is kept from the API until the next document can have shown that it shares it.
#[tokio::test]
async fn a_slow_program_that_refuses_everything_is_paused_and_no_failure_is_told() {
    let mut practice = practice_with_script("sleep 1.3; exit 1").await;
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "1".into());
    add_small(&practice, 8, |_, document| document).await;
    let mut running = practice.run().await;
    running.wait_for_log("destination:scan is paused").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(practice.sandbox.status_posts(), []);
    running.kill().await;
}

/// Neither in another writing nor in a form of its own does a value leave the machine: nothing is quoted.
#[tokio::test]
async fn what_a_program_writes_is_neither_logged_nor_reported_and_show_names_its_file() {
    let script = "echo \"no record of $DOCSYNCD_PATIENT_LAST_NAME, DUPOND Zoe (03/02/90)\" | tee /dev/stderr\n\
                  echo 'no such record' > \"$DOCSYNCD_REASON_FILE\"\nexit 1";
    let practice = practice_with_script(script).await;
    let patient = json!({"firstName": "Zoé", "lastName": "Dupont", "dateOfBirth": "1990-02-03"});
    let uuid = practice.sandbox.add(NewDocument { patient: Some(patient), ..small("letter") }).await.unwrap();
    let synced = practice.sync().await;
    assert_eq!(synced.code, 3, "{synced:?}");
    let posts = posts_of(&practice.sandbox, &uuid);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("`import-letter` exited with 1: no such record"), "{error}");
    let shown = practice.docsyncd(&["show", &uuid]).await.stdout;
    let everything = format!("{error}{}{}{shown}", synced.stderr, synced.stdout).to_lowercase();
    for secret in ["dupon", "zoe", "1990", "03/02"] {
        assert!(!everything.contains(secret), "{everything}");
    }
    assert_eq!(practice.state(&uuid).await, "failed");
    let named = shown.lines().find_map(|line| line.split_once("what the program wrote: ")).expect("the file");
    let said = "no record of Dupont, DUPOND Zoe (03/02/90)\n";
    assert_eq!(std::fs::read_to_string(named.1).unwrap(), said.repeat(2));
}

#[tokio::test]
async fn a_refused_document_among_good_ones_fails_alone() {
    let script = "case \"$DOCSYNCD_DOCUMENT_TYPE\" in lab_slip) echo 'not wanted' > \"$DOCSYNCD_REASON_FILE\"; exit 3;; esac\n\
                  cp \"$1\" \"$2/$DOCSYNCD_KEY.pdf\"";
    let practice = practice_with_script(script).await;
    let kind = |number, document| NewDocument {
        document_type: Some(Some(if number == 2 { "lab_slip" } else { "prescription" }.to_owned())),
        ..document
    };
    let uuids = add_small(&practice, 8, kind).await;
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(practice.filed().len(), 7);
    let posts = posts_of(&practice.sandbox, &uuids[2]);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("exited with 3") && error.contains("not wanted"), "{error}");
    practice.assert_spool_empty();
}

#[tokio::test]
async fn one_destination_that_refuses_does_not_keep_the_other_from_holding_the_document() {
    let practice = practice_with_script("exit 1").await;
    let program = practice.path("import-letter");
    practice.configure(&format!(
        "[destinations.scan]\ntype = \"command\"\nprogram = '{}'\n[[routes]]\nto = [\"scan\", \"pms\"]",
        program.display()
    ));
    let uuids = add_small(&practice, 2, |_, document| document).await;
    assert_eq!(practice.sync().await.code, 3);
    practice.assert_all_filed().await;
    for uuid in &uuids {
        let posts = posts_of(&practice.sandbox, uuid);
        let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
        assert!(error.contains("scan") && !error.contains("pms"), "{error}");
    }
    // After a retry only the one that refused is asked again.
    std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    let names = practice.filed();
    assert_eq!(practice.docsyncd(&["retry", "--failed"]).await.code, 0);
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.filed(), names);
    assert!(uuids.iter().all(|uuid| posts_of(&practice.sandbox, uuid).last() == Some(&(Some(true), None))));
}

#[tokio::test]
async fn a_destination_that_hangs_delays_no_other() {
    let mut practice = practice_with_script("while kill -0 $PPID 2>/dev/null; do sleep 0.1; done").await;
    practice.configure(&format!(
        "[destinations.scan]\ntype = \"command\"\nprogram = '{}'\ntimeout = \"1h\"\n\
         [[routes]]\ntypes = [\"lab_slip\"]\nto = [\"scan\"]\n[[routes]]\nto = [\"pms\"]",
        practice.path("import-letter").display()
    ));
    practice.env.insert("DOCSYNCD__SYNC__MAX_CONCURRENCY".into(), "3".into());
    let kind = |number, document| NewDocument {
        document_type: Some(Some(if number % 2 == 0 { "lab_slip" } else { "prescription" }.to_owned())),
        ..document
    };
    add_small(&practice, 30, kind).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(15).await;
    assert_eq!(practice.filed().len(), 15);
    running.kill().await;
}
