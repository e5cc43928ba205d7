//! `docsyncd backup`, `restore` and `move`, and what a restored ledger does with letters that went on after the backup.

mod refused;

use std::io::Read as _;
use std::path::PathBuf;

use docsyncd_sandbox::{Fault, FaultKind, Route};

use crate::harness::{Ended, Practice};

/// A practice with a passphrase and these documents.
async fn practice(documents: usize) -> Practice {
    let practice = Practice::with_documents(documents).await;
    practice.write_secret("passphrase", "correct horse battery staple\n");
    practice
}

/// `docsyncd WORDS BACKUP --passphrase-file F MORE`
async fn with_backup(practice: &Practice, words: &[&str], more: &[&str]) -> Ended {
    let (file, passphrase) = (backup(practice), practice.path("passphrase"));
    let mut args = words.to_vec();
    args.extend([file.to_str().unwrap(), "--passphrase-file", passphrase.to_str().unwrap()]);
    args.extend(more);
    practice.docsyncd(&args).await
}

fn backup(practice: &Practice) -> PathBuf {
    practice.path("all.backup")
}

/// The names in the practice's folder and in the ledger's.
fn names(practice: &Practice) -> Vec<String> {
    let names = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let all = names(practice.dir.path().to_owned()).chain(names(practice.path("state")));
    let mut all: Vec<String> = all.map(|name| name.into_string().unwrap()).collect();
    all.sort();
    all
}

/// Documents that wait, as their folder is gone; then a backup; then the folder is back.
async fn waiting(documents: usize) -> Practice {
    let practice = practice(documents).await;
    std::fs::rename(practice.inbox(), practice.path("away")).unwrap();
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    std::fs::rename(practice.path("away"), practice.inbox()).unwrap();
    practice
}

async fn restored(practice: &Practice, more: &[&str]) -> Ended {
    let restored = with_backup(practice, &["restore"], &[&["--force"], more].concat()).await;
    assert_eq!(restored.code, 0, "{restored:?}");
    restored
}

fn events(shown: &serde_json::Value) -> Vec<String> {
    let history = shown["history"].as_array().unwrap();
    history.iter().map(|row| row["event"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_backup_beside_a_running_daemon_brings_everything_back() {
    let practice = practice(3).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    let made = with_backup(&practice, &["backup"], &[]).await;
    assert_eq!((made.code, made.stderr.as_str()), (0, ""), "{made:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(backup(&practice)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = with_backup(&practice, &["backup"], &[]).await;
    assert!(again.code == 1 && again.stderr.contains("--force"), "{again:?}");
    assert_eq!(with_backup(&practice, &["backup"], &["--force"]).await.code, 0);
    for own in ["docsyncd.toml", "state/ledger.sqlite3"] {
        let (file, before) = (practice.path(own), std::fs::read(practice.path(own)).unwrap());
        let refused = practice.docsyncd(&["backup", file.to_str().unwrap(), "--force"]).await;
        assert!(refused.code == 1 && refused.stderr.contains("works with"), "{refused:?}");
        assert_eq!(std::fs::read(&file).unwrap(), before, "{own}");
    }
    let refused = with_backup(&practice, &["restore"], &["--force"]).await;
    assert!(refused.code == 1 && refused.stderr.contains("docsyncd runs"), "{refused:?}");
    running.stop().await;
    let (config, before) = (std::fs::read_to_string(practice.config_path()).unwrap(), names(&practice));
    let refused = with_backup(&practice, &["restore"], &[]).await;
    assert!(refused.code == 1 && refused.stderr.contains("--force"), "{refused:?}");
    let file = backup(&practice);
    let refused = practice.docsyncd(&["restore", file.to_str().unwrap(), "--force"]).await;
    assert!(refused.code == 1 && refused.stderr.contains("--passphrase-file"), "{refused:?}");
    assert_eq!(names(&practice), before, "nothing changed");
    // The machine is lost.
    std::fs::remove_dir_all(practice.path("state")).unwrap();
    for lost in ["docsyncd.toml", "api-key"] {
        std::fs::remove_file(practice.path(lost)).unwrap();
    }
    let restored = with_backup(&practice, &["restore"], &[]).await;
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(std::fs::read_to_string(practice.config_path()).unwrap(), config);
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("in all 3 reported"), "{ended:?}");
    practice.assert_all_filed().await;
    let left: Vec<String> = names(&practice).into_iter().filter(|name| name.contains("docsyncd-new")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_letter_that_left_the_list_since_the_backup_is_settled_and_not_filed_again() {
    let practice = waiting(2).await;
    assert_eq!(practice.sync().await.code, 0);
    practice.assert_all_filed().await;
    // The practice software takes them.
    std::fs::remove_dir_all(practice.inbox()).unwrap();
    std::fs::create_dir(practice.inbox()).unwrap();
    let said = restored(&practice, &[]).await;
    assert!(said.stdout.contains("before-restore-"), "{said:?}");
    let posts = practice.sandbox.requests().iter().filter(|request| request.method == "POST").count();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(practice.filed().is_empty(), "{:?}", practice.filed());
    for document in practice.sandbox.documents().await.unwrap() {
        let shown = practice.show(&document.uuid).await;
        assert_eq!(shown["state"], "reported");
        assert_eq!(events(&shown).last().unwrap(), "settled_elsewhere");
    }
    let after = practice.sandbox.requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(after, posts, "nothing is reported again");
    let db = crate::filled::open(&practice);
    assert_eq!(crate::filled::number(&db, "SELECT count(*) FROM history WHERE event = 'restored'"), 1);
}

#[tokio::test]
async fn a_letter_that_was_filed_after_the_backup_and_is_still_listed_is_found_where_it_lies() {
    let practice = waiting(2).await;
    practice.sandbox.inject(Fault::always(Route::Status, FaultKind::status(503)));
    practice.sync().await;
    practice.assert_all_filed().await;
    restored(&practice, &[]).await;
    // An outage is no empty list.
    practice.sandbox.inject(Fault::always(Route::List, FaultKind::status(503)));
    assert_eq!(practice.sync().await.code, 1);
    practice.sandbox.clear_faults();
    let ended = practice.sync().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn where_nobody_can_see_what_arrived_a_person_decides_unless_nothing_ran_since() {
    for (more, waits) in [(&[][..], true), (&["--nothing-since"][..], false)] {
        let practice = practice(1).await;
        practice.configure_wholly(&format!(
            "{}\n[destinations.scan]\ntype = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\nencryption = \"none\"\n\
             from = \"a@b.test\"\nto = \"c@d.test\"\non_lost_reply = \"hold\"\n",
            practice.base_config(),
            crate::harness::unused_address().address.port()
        ));
        assert_eq!(practice.sync().await.code, 3, "nobody answers there");
        assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
        let said = restored(&practice, more).await;
        assert_eq!(said.stdout.contains("1 letter that was under way"), waits, "{said:?}");
        assert_eq!(practice.sync().await.code, 3);
        let uuid = practice.sandbox.documents().await.unwrap()[0].uuid.clone();
        assert_eq!(events(&practice.show(&uuid).await).contains(&"unconfirmed".to_owned()), waits);
    }
}

#[tokio::test]
async fn without_a_passphrase_no_key_is_in_it_and_the_output_says_so() {
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let file = backup(&practice);
    let made = practice.docsyncd(&["backup", file.to_str().unwrap()]).await;
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.stdout.contains("accounts.main.api_key_file"), "{made:?}");
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&file).unwrap()).read_to_end(&mut content).unwrap();
    let key = practice.sandbox.api_key().as_bytes();
    assert!(!content.windows(key.len()).any(|bytes| bytes == key));
    assert!(content.windows(15).any(|bytes| bytes == b"SQLite format 3"));
    // A part of it is none.
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let before = names(&practice);
    let refused = practice.docsyncd(&["restore", file.to_str().unwrap(), "--force"]).await;
    assert!(refused.code == 1 && refused.stderr.contains("damaged"), "{refused:?}");
    assert_eq!(names(&practice), before);
}

#[tokio::test]
async fn a_ledger_that_moved_does_nothing_until_that_is_taken_back() {
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let mut running = practice.run().await;
    let refused = with_backup(&practice, &["move", "--out"], &[]).await;
    assert!(refused.code == 1 && refused.stderr.contains("--stop"), "{refused:?}");
    running.stop().await;
    let moved = with_backup(&practice, &["move", "--out"], &[]).await;
    assert_eq!(moved.code, 0, "{moved:?}");
    let line = practice.docsyncd(&["status", "--health"]).await;
    assert!(line.code == 2 && line.stdout.starts_with("CRITICAL - The ledger moved to another computer"), "{line:?}");
    let status = practice.docsyncd(&["status"]).await;
    assert!(status.code == 4 && status.stdout.starts_with("The ledger moved to another computer"), "{status:?}");
    let checked = practice.docsyncd(&["check"]).await;
    assert!(checked.code == 2 && checked.stdout.contains("moved to another machine"), "{checked:?}");
    for command in ["sync", "run"] {
        let refused = practice.docsyncd(&[command]).await;
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(refused.code == 2 && said.contains("moved") && said.contains("move --undo"), "{refused:?}");
    }
    let undone = practice.docsyncd(&["move", "--undo"]).await;
    assert!(undone.code == 0 && undone.stdout.contains("Another machine"), "{undone:?}");
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(practice.docsyncd(&["move", "--undo"]).await.code, 2);
    practice.assert_all_filed().await;
}

#[tokio::test]
async fn a_kill_leaves_no_backup_and_a_restore_that_was_cut_off_is_completed_by_the_next_start() {
    let mut practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let killed = |practice: &mut Practice, point: &str| {
        practice.env.insert("FAILPOINTS".to_owned(), format!("{point}=return"));
    };
    for point in ["durable.create.after", "durable.sync_file.before", "durable.sync_file.after", "backup.rename.before"]
    {
        killed(&mut practice, point);
        assert_ne!(with_backup(&practice, &["backup"], &[]).await.code, 0, "{point}");
        assert!(!backup(&practice).exists(), "{point}");
    }
    practice.env.remove("FAILPOINTS");
    let clean = |names: &[String]| !names.iter().any(|name| name.contains(".backup-") || name.contains("docsyncd-new"));
    assert!(!clean(&names(&practice)), "what was killed is still there");
    let elsewhere = practice.path("other.backup");
    assert_eq!(practice.docsyncd(&["backup", elsewhere.to_str().unwrap()]).await.code, 0);
    assert!(clean(&names(&practice)), "the next backup removes it: {:?}", names(&practice));
    killed(&mut practice, "backup.rename.before");
    assert_ne!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    practice.env.remove("FAILPOINTS");
    assert_eq!(practice.sync().await.code, 0);
    assert!(clean(&names(&practice)), "and so does a start: {:?}", names(&practice));
    assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    for point in ["restore.place.before", "restore.aside.before", "restore.in_place.before", "restore.in_place.after"] {
        killed(&mut practice, point);
        assert_ne!(with_backup(&practice, &["restore"], &["--force"]).await.code, 0, "{point}");
        practice.env.remove("FAILPOINTS");
        let ended = practice.sync().await;
        assert_eq!(ended.code, 0, "{point}: {ended:?}");
        let db = crate::filled::open(&practice);
        assert_eq!(crate::filled::number(&db, "SELECT count(*) FROM history WHERE event = 'restored'"), 1, "{point}");
        practice.assert_all_filed().await;
    }
}

/// At whatever moment it is killed, there is a whole backup under the name or none, beside a running daemon too.
#[tokio::test]
async fn fifty_kills_at_any_moment_leave_whole_backups_or_none() {
    let practice = practice(3).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(3).await;
    let began = std::time::Instant::now();
    assert_eq!(practice.docsyncd(&["backup", practice.path("first.backup").to_str().unwrap()]).await.code, 0);
    let span = began.elapsed();
    let file = practice.path("killed.backup");
    let mut whole = 0;
    for number in 0..50_u32 {
        let mut killed = practice.command(&["backup", file.to_str().unwrap()]);
        killed.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut killed = killed.spawn().unwrap();
        tokio::time::sleep(span * number / 45).await;
        killed.kill().await.unwrap();
        if !file.exists() {
            continue;
        }
        whole += 1;
        let mut packed = flate2::read::GzDecoder::new(std::fs::File::open(&file).unwrap());
        assert!(packed.read_to_end(&mut Vec::new()).is_ok(), "half a backup was taken for one");
        std::fs::remove_file(&file).unwrap();
    }
    assert!((1..50).contains(&whole), "{whole} of 50 were whole, so the kills did not come in between");
    assert_eq!(practice.docsyncd(&["backup", file.to_str().unwrap()]).await.code, 0);
    let left = names(&practice).into_iter().filter(|name| name.contains(".backup-") || name.contains("docsyncd-new"));
    assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new(), "the next one removes what they left");
    running.end().await;
}

/// Whoever has the passphrase needs no docsyncd to get at what is in it (docs/backup.md).
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_tool_age_opens_an_encrypted_backup() {
    use crate::faults::tools::needs;
    use tokio::io::AsyncWriteExt as _;
    needs!("age", "script", "tar");
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    std::fs::create_dir(practice.path("opened")).unwrap();
    // It asks for the passphrase at its terminal, and says nothing else.
    let mut age = tokio::process::Command::new("script");
    age.args(["-qec", "age --decrypt --output opened.tar.gz all.backup", "/dev/null"]);
    age.current_dir(practice.dir.path()).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = age.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"correct horse battery staple\n").await.unwrap();
    let ended = child.wait_with_output().await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    let mut tar = tokio::process::Command::new("tar");
    tar.args(["-xzf", "opened.tar.gz", "-C", "opened"]).current_dir(practice.dir.path());
    let tar = Ended::of(tar).await;
    assert_eq!(tar.code, 0, "{tar:?}");
    let opened = |name: &str| std::fs::read(practice.path("opened").join(name)).unwrap();
    assert_eq!(opened("docsyncd.toml"), std::fs::read(practice.config_path()).unwrap());
    let ledger = rusqlite::Connection::open(practice.path("opened/ledger.sqlite3")).unwrap();
    let letters: u64 = ledger.query_row("SELECT count(*) FROM document", [], |row| row.get(0)).unwrap();
    assert_eq!(letters, 1);
    let manifest: serde_json::Value = serde_json::from_slice(&opened("manifest.json")).unwrap();
    let parts = manifest["parts"].as_array().unwrap();
    assert!(parts.iter().any(|part| part["of"] == "accounts.main.api_key_file"), "the key as well: {manifest}");
}
