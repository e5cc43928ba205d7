//! The configuration changes while the daemon runs.

use std::time::Duration;

use docsyncd_sandbox::{Fault, FaultKind, Route};

#[cfg(unix)]
use crate::harness::Running;
use crate::harness::{PATIENCE, Practice};

/// The usual configuration with this folder as destination.
fn with_folder(practice: &Practice, folder: &str) -> String {
    format!("{}\n[destinations.pms]\ntype = \"folder\"\npath = '{folder}'\n", practice.base_config())
}

fn count(practice: &Practice, folder: &str) -> usize {
    let mut left = vec![practice.path(folder)];
    let mut files = 0;
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { left.push(path) } else { files += 1 }
        }
    }
    files
}

/// Only Unix has a signal for it.
#[cfg(unix)]
async fn poll(practice: &Practice, running: &Running) {
    practice.sandbox.forget_requests();
    running.signal("USR1");
    let polled =
        practice.sandbox.wait_for(|view| view.requests().any(|request| request.path == "/documents"), PATIENCE);
    polled.await.unwrap();
}

#[tokio::test]
async fn an_edited_file_takes_effect_and_so_does_one_that_replaced_it() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    for folder in ["second", "third"] {
        std::fs::create_dir(practice.path(folder)).unwrap();
    }
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;

    practice.configure_wholly(&with_folder(&practice, "second"));
    running.wait_for_logs("event=\"reloaded\"", 1).await;
    practice.sandbox.add_documents(2).await.unwrap();
    practice.wait_for_posts(3).await;

    std::fs::write(practice.path("docsyncd.toml.new"), with_folder(&practice, "third")).unwrap();
    std::fs::rename(practice.path("docsyncd.toml.new"), practice.config_path()).unwrap();
    running.wait_for_logs("event=\"reloaded\"", 2).await;
    practice.sandbox.add_documents(3).await.unwrap();
    practice.wait_for_posts(6).await;

    running.end().await;
    assert_eq!([count(&practice, "inbox"), count(&practice, "second"), count(&practice, "third")], [1, 2, 3]);
}

/// The watch sees the change as well, a moment later: that must not end everything a second time.
#[cfg(unix)]
#[tokio::test]
async fn a_change_that_a_signal_made_known_is_taken_up_once() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    for count in 1..=2 {
        practice.configure_wholly(&format!("{}\n# {count}\n", with_folder(&practice, "inbox")));
        running.signal("HUP");
        running.wait_for_logs("event=\"reloaded\"", count).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(running.log().matches("event=\"reloaded\"").count(), count, "{}", running.log());
    }
    running.end().await;
}

#[tokio::test]
async fn a_new_poll_interval_holds_from_the_reload_on() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    practice.configure_wholly(&with_folder(&practice, "inbox").replace("\"1h\"", "\"100ms\""));
    running.wait_for_log("event=\"reloaded\"").await;
    for round in 1..=2 {
        practice.sandbox.add_documents(1).await.unwrap();
        practice.wait_for_posts(round).await;
    }
    running.end().await;
    practice.assert_all_filed().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_bad_file_is_refused_with_the_reason_and_the_old_one_stays() {
    let practice = Practice::with_documents(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let good = std::fs::read_to_string(practice.config_path()).unwrap();
    let folder = with_folder(&practice, "inbox");
    let mut posts = 1;
    for (index, (bad, signs)) in [
        (folder.replace("poll_interval", "pol_interval"), ["pol_interval", "poll_interval"]),
        (folder.replace("\"1h\"", "\"often\""), ["sync.poll_interval", "not a duration"]),
        ("[api\n".to_owned(), ["docsyncd.toml", "line 1"]),
        (String::new(), ["api.base_url", "is missing"]),
        (folder.replace("'api-key'", "'no-such-key'"), ["account main", "no-such-key"]),
        (folder.replace("ledger.sqlite3", "other.sqlite3"), ["state.path", "restart"]),
    ]
    .into_iter()
    .enumerate()
    {
        assert_ne!(bad, folder, "the case is what it says");
        practice.configure_wholly(&bad);
        running.wait_for_logs("event=\"reload_refused\"", index + 1).await;
        let log = running.log();
        let line = log.lines().rfind(|line| line.contains("event=\"reload_refused\"")).unwrap();
        assert!(line.starts_with("20") && line.contains(" ERROR "), "all of it in one line: {line}");
        assert!(signs.iter().all(|sign| line.contains(sign)), "{signs:?}: {line}");
        let said = line.split(" event=").next().unwrap();
        assert!(!said.contains(". ") && said.ends_with("(docsyncd check says what to do)"), "one sentence: {line}");
        practice.sandbox.add_documents(1).await.unwrap();
        running.signal("USR1");
        posts += 1;
        practice.wait_for_posts(posts).await;
    }
    practice.configure_wholly(&format!("{good}\n# mended\n"));
    running.wait_for_log("event=\"reloaded\"").await;
    running.wait_for_logs("event=\"reported\"", posts).await;
    running.end().await;
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_file_that_was_taken_away_changes_nothing_until_it_is_back() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    std::fs::rename(practice.config_path(), practice.path("aside")).unwrap();
    practice.sandbox.add_documents(1).await.unwrap();
    practice.wait_for_posts(2).await;
    std::fs::create_dir(practice.path("second")).unwrap();
    practice.configure_wholly(&with_folder(&practice, "second"));
    running.wait_for_log("event=\"reloaded\"").await;
    practice.sandbox.add_documents(1).await.unwrap();
    practice.wait_for_posts(3).await;
    running.end().await;
    assert_eq!([count(&practice, "inbox"), count(&practice, "second")], [2, 1]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_level_of_the_log_changes_with_the_file() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    poll(&practice, &running).await;
    practice.configure("[log]\nlevel = \"debug\"");
    running.wait_for_log("event=\"reloaded\"").await;
    running.signal("USR1");
    running.wait_for_log("nothing new").await;
    let before = running.log();
    let (quiet, _) = before.split_once("event=\"reloaded\"").unwrap();
    assert!(!quiet.contains("DEBUG"), "{before}");
    running.end().await;
}

#[tokio::test]
async fn what_a_reload_cannot_change_is_said() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    for (index, setting) in
        ["format = \"json\"", "file = 'log'", "max_size = \"1MiB\"", "max_files = 7"].into_iter().enumerate()
    {
        practice.configure(&format!("[log]\n{setting}\nlevel = \"debug\""));
        running.wait_for_logs("event=\"reloaded\"", index + 1).await;
        running.wait_for_logs("takes effect when docsyncd is started again", index + 1).await;
    }
    practice.configure("[log]\nlevel = \"info\"");
    running.wait_for_logs("event=\"reloaded\"", 5).await;
    running.end().await;
    assert_eq!(running.log().matches("takes effect when").count(), 4, "{}", running.log());
    assert!(!practice.path("log").exists());
}

#[tokio::test]
async fn documents_in_flight_survive_a_reload() {
    let practice = Practice::with_documents(8).await;
    practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Delay(Duration::from_millis(300))).times(8));
    let mut running = practice.run().await;
    practice.sandbox.wait_for(|view| view.requests().count() >= 3, PATIENCE).await.unwrap();
    practice.configure("[log]\nlevel = \"debug\"");
    practice.wait_for_posts(8).await;
    running.wait_for_logs("event=\"reported\"", 8).await;
    running.wait_for_log("event=\"reloaded\"").await;
    running.end().await;
    practice.assert_all_filed().await;
    assert_eq!(practice.sandbox.status_posts().len(), 8);
}

/// A signal that comes while the daemon waits for an editor to finish must not make it forget the change.
#[cfg(unix)]
#[tokio::test]
async fn a_change_is_noticed_also_when_signals_come_in_between() {
    let practice = Practice::with_documents(0).await;
    let mut running = practice.run().await;
    poll(&practice, &running).await;
    practice.configure("[log]\nlevel = \"debug\"");
    for _ in 0..20 {
        poll(&practice, &running).await;
    }
    let began = std::time::Instant::now();
    running.wait_for_log("event=\"reloaded\"").await;
    // Without events of the file system the change would be noticed after half a minute.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    running.end().await;
}

#[tokio::test]
async fn documents_for_a_destination_that_is_no_longer_there_take_the_new_route_and_its_pause_is_forgotten() {
    let practice = Practice::with_documents(2).await;
    practice.configure_wholly(&format!(
        "{}\n[destinations.old]\ntype = \"folder\"\npath = 'not-mounted'\n",
        practice.base_config()
    ));
    let mut running = practice.run().await;
    running.wait_for_log("event=\"paused\"").await;
    practice.configure("");
    practice.wait_for_posts(2).await;
    running.wait_for_logs("event=\"reported\"", 2).await;
    running.end().await;
    practice.assert_all_filed().await;
    let status = practice.docsyncd(&["status"]).await;
    assert!(!status.stdout.contains("PAUSED"), "{status:?}");
}

/// A typo in the name of a field would file letters as `unknown`.
#[tokio::test]
async fn a_field_that_no_letter_has_is_refused_and_the_configuration_before_goes_on() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let good = with_folder(&practice, "inbox");
    practice.configure_wholly(&good);
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    let sidecar = "sidecar = 'x {{ patient.nom }}'\n";
    for (number, wrong) in ["file_name = '{{ patient.lastname }}.pdf'\n", sidecar].iter().enumerate() {
        practice.configure_wholly(&format!("{good}{wrong}"));
        running.wait_for_logs("event=\"reload_refused\"", number + 1).await;
        let check = practice.docsyncd(&["check"]).await;
        assert!(check.code == 2 && check.stderr.contains("there is no field `patient."), "{check:?}");
    }
    practice.sandbox.add_documents(1).await.unwrap();
    practice.wait_for_posts(2).await;
    running.end().await;
    assert_eq!(count(&practice, "inbox"), 2);
    let run = practice.docsyncd(&["run"]).await;
    assert!(run.code == 2 && run.stderr.contains("`patient` has uuid, firstName"), "{run:?}");
}
