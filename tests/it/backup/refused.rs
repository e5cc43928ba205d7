//! What a backup, a restore or a move refuses, in the person's language, and that nothing is left or changed then.

use std::io::{Read, Write as _};

use rusqlite::Connection;
use secrecy::ExposeSecret as _;

use super::{backup, names, practice, with_backup};
use crate::harness::{Ended, Practice, sha256};

/// A plain backup of this practice.
async fn plain(practice: &Practice) {
    let made = practice.docsyncd(&["backup", backup(practice).to_str().unwrap()]).await;
    assert_eq!(made.code, 0, "{made:?}");
}

/// The entries of what gzip has packed.
fn entries(packed: impl Read) -> Vec<(String, Vec<u8>)> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(packed));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let (name, mut bytes) = (entry.path().unwrap().to_str().unwrap().to_owned(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    tar.entries().unwrap().map(read).collect()
}

/// The same backup with another ledger, whole by its manifest.
fn with_ledger(practice: &Practice, change: impl FnOnce(&mut Vec<u8>)) {
    let mut all = entries(std::fs::File::open(backup(practice)).unwrap());
    let ledger = all.iter_mut().find(|(name, _)| name == "ledger.sqlite3").unwrap();
    change(&mut ledger.1);
    let (size, digest) = (ledger.1.len(), sha256(&ledger.1));
    let mut manifest: serde_json::Value = serde_json::from_slice(&all[0].1).unwrap();
    let part = manifest["parts"].as_array_mut().unwrap().iter_mut().find(|part| part["name"] == "ledger.sqlite3");
    let part = part.unwrap();
    (part["size"], part["sha256"]) = (size.into(), digest.into());
    all[0].1 = serde_json::to_vec(&manifest).unwrap();
    let file = std::fs::File::create(backup(practice)).unwrap();
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    for (name, bytes) in &all {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap().flush().unwrap();
}

/// Restores the plain backup in each language: refused with these words, and nothing has changed.
async fn refused(practice: &Practice, more: &[&str], words: [&str; 3]) {
    let file = backup(practice);
    let (before, ledger) = (names(practice), std::fs::read(practice.ledger()).unwrap());
    for (language, word) in ["en", "fr", "de"].into_iter().zip(words) {
        let args = [&["restore", file.to_str().unwrap(), "--lang", language], more].concat();
        let Ended { code, stderr, .. } = practice.docsyncd(&args).await;
        assert!(code == 1 && stderr.contains(word), "{language}, {word}: {code} {stderr}");
        assert!(!stderr.contains("restore-"), "{stderr}");
    }
    assert_eq!(names(practice), before);
    assert!(std::fs::read(practice.ledger()).unwrap() == ledger);
}

#[tokio::test]
async fn what_is_no_backup_of_this_version_is_refused_in_three_languages_and_changes_nothing() {
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let passphrase = practice.path("passphrase");
    plain(&practice).await;
    refused(&practice, &[], ["is there already", "existe déjà", "gibt es schon"]).await;
    with_ledger(&practice, |ledger| ledger[60..64].copy_from_slice(&99_u32.to_be_bytes()));
    refused(&practice, &["--force"], ["newer docsyncd", "plus récent", "neueren docsyncd"]).await;
    with_ledger(&practice, |ledger| ledger.truncate(5000));
    refused(&practice, &["--force"], ["is damaged", "est endommagé", "ist beschädigt"]).await;
    with_ledger(&practice, |ledger| *ledger = b"no ledger".to_vec());
    refused(&practice, &["--force"], ["is damaged", "est endommagé", "ist beschädigt"]).await;
    std::fs::write(backup(&practice), "%PDF-1.7 a letter").unwrap();
    refused(&practice, &["--force"], ["is no backup", "n'est pas une sauvegarde", "keine Sicherung"]).await;
    std::fs::remove_file(backup(&practice)).unwrap();
    assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    refused(&practice, &["--force"], ["is encrypted", "est chiffré", "ist verschlüsselt"]).await;
    practice.write_secret("passphrase", "another one\n");
    let other = ["--force", "--passphrase-file", passphrase.to_str().unwrap()];
    refused(&practice, &other, ["with this passphrase", "avec cette phrase secrète", "mit dieser Passphrase"]).await;
}

#[tokio::test]
async fn force_moves_the_old_aside_as_it_was() {
    let practice = practice(2).await;
    assert_eq!(practice.sync().await.code, 0);
    plain(&practice).await;
    let before = std::fs::read_to_string(practice.config_path()).unwrap();
    let changed = format!("{before}# changed since\n");
    practice.configure_wholly(&changed);
    Connection::open(practice.ledger()).unwrap().execute_batch("CREATE TABLE since (a)").unwrap();
    let restored = practice.docsyncd(&["restore", backup(&practice).to_str().unwrap(), "--force"]).await;
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(std::fs::read_to_string(practice.config_path()).unwrap(), before);
    let aside = |folder: std::path::PathBuf, start: &str| {
        let mut found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        found.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start)).unwrap()
    };
    let config = aside(practice.dir.path().to_owned(), "docsyncd.toml.before-restore-");
    let ledger = aside(practice.path("state"), "before-restore-");
    for place in [&config, &ledger] {
        assert!(restored.stdout.contains(place.to_str().unwrap()), "{restored:?}");
    }
    assert_eq!(std::fs::read_to_string(config).unwrap(), changed);
    let old = Connection::open(ledger.join("ledger.sqlite3")).unwrap();
    assert_eq!(crate::filled::number(&old, "SELECT count(*) FROM sqlite_master WHERE name = 'since'"), 1);
}

/// The crate as others use it, and nothing of docsyncd.
#[cfg(feature = "age")]
#[tokio::test]
async fn other_tools_open_an_encrypted_backup_and_see_nothing_of_it_before() {
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    assert_eq!(with_backup(&practice, &["backup"], &[]).await.code, 0);
    let file = std::fs::read(backup(&practice)).unwrap();
    assert!(file.starts_with(b"age-encryption.org/v1\n"));
    let has = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    let key = practice.sandbox.api_key().as_bytes();
    assert!(!has(&file, key) && !has(&file, b"ledger.sqlite3"));
    let identity = age::scrypt::Identity::new("correct horse battery staple".to_owned().into());
    let decryptor = age::Decryptor::new(&file[..]).unwrap();
    let opened = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity)).unwrap();
    let all = entries(opened);
    let found: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(found, ["manifest.json", "docsyncd.toml", "secrets/0", "ledger.sqlite3"]);
    assert_eq!(all[2].1.trim_ascii(), key);
    assert!(all[3].1.starts_with(b"SQLite format 3\0"));
}

#[tokio::test]
async fn no_secret_of_any_kind_is_in_a_backup_without_a_passphrase() {
    let practice = practice(1).await;
    let canaries = ["https://hooks.test/canary-webhook", "whsec_Y2FuYXJ5LXNpZ25hdHVyZS1jYW5hcnktMDA=", "canary-mail"];
    for (name, canary) in ["hook", "hook-secret", "mail-password"].into_iter().zip(canaries) {
        practice.write_secret(name, canary);
    }
    practice.configure(
        "[alerts]\nwebhook_url_file = 'hook'\nwebhook_secret_file = 'hook-secret'\nheartbeat_url_file = 'hook'\n\
         [alerts.mail]\nhost = 'smtp.test'\nuser = 'u'\npassword_file = 'mail-password'\nfrom = 'a@b.test'\nto = ['a@b.test']\n",
    );
    assert_eq!(practice.sync().await.code, 0);
    let made = practice.docsyncd(&["backup", backup(&practice).to_str().unwrap()]).await;
    assert_eq!(made.code, 0, "{made:?}");
    for setting in
        ["main.api_key_file", "webhook_url_file", "webhook_secret_file", "heartbeat_url_file", "mail.password"]
    {
        assert!(made.stdout.contains(setting), "what is missing is named: {setting}: {made:?}");
    }
    let all = entries(std::fs::File::open(backup(&practice)).unwrap());
    for canary in canaries.iter().copied().chain([practice.sandbox.api_key()]) {
        let has = |bytes: &[u8]| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!made.stdout.contains(canary));
        all.iter().for_each(|(name, bytes)| assert!(!has(bytes), "{canary} in {name}"));
    }
}

/// A sign-in comes along only encrypted, and works on the other machine; the practice's list of patients never does.
#[tokio::test]
async fn sign_ins_come_along_only_encrypted_and_a_list_of_patients_never() {
    let practice = crate::signed_in::practice(docsyncd_sandbox::Options { documents: 1, ..Default::default() }).await;
    practice.write_secret("passphrase", "correct horse battery staple\n");
    practice.write_secret("patients.csv", "Nr;Nachname;Vorname;Geburtsdatum\n1;Kanarienvogel;Zoe;01.02.1980\n");
    let before = std::fs::read_to_string(practice.config_path()).unwrap();
    practice.configure_wholly(&format!(
        "{before}[patients]\nfile = 'patients.csv'\nnumber = 'Nr'\nlast_name = 'Nachname'\nfirst_name = 'Vorname'\n\
         date_of_birth = 'Geburtsdatum'\n"
    ));
    assert_eq!(practice.sync().await.code, 0);
    let made = practice.docsyncd(&["backup", backup(&practice).to_str().unwrap()]).await;
    assert!(made.code == 0 && made.stdout.contains("login --account main"), "{made:?}");
    let tokens = crate::signed_in::store(&practice, "main").load().unwrap().unwrap();
    let canaries = [tokens.access_token, tokens.refresh_token].map(|token| token.expose_secret().to_owned());
    let all = entries(std::fs::File::open(backup(&practice)).unwrap());
    for canary in canaries.iter().map(String::as_str).chain([crate::signed_in::SECRET, "Kanarienvogel"]) {
        let has = |bytes: &[u8]| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        all.iter().for_each(|(name, bytes)| assert!(!has(bytes), "{canary} in {name}"));
    }
    assert_eq!(with_backup(&practice, &["backup"], &["--force"]).await.code, 0);
    std::fs::remove_dir_all(practice.path("state")).unwrap();
    for lost in ["docsyncd.toml", "client-secret", "patients.csv"] {
        std::fs::remove_file(practice.path(lost)).unwrap();
    }
    let restored = with_backup(&practice, &["restore"], &[]).await;
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(!practice.path("patients.csv").exists());
    practice.configure_wholly(&before);
    assert_eq!(practice.sync().await.code, 0, "it is still signed in");
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_not_backed_up_and_nothing_is_left() {
    let practice = practice(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let before = names(&practice);
    let refused = async |word: &str| {
        let made = with_backup(&practice, &["backup"], &[]).await;
        assert!(made.code == 1 && made.stderr.contains(word), "{word}: {made:?}");
        assert!(!backup(&practice).exists());
    };
    let other = Connection::open(practice.ledger()).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    refused("locked").await;
    other.execute_batch("ROLLBACK; PRAGMA locking_mode = NORMAL; BEGIN; ROLLBACK").unwrap();
    drop(other);
    let db = Connection::open(practice.ledger()).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    refused("newer docsyncd").await;
    std::fs::write(practice.ledger(), "this is no ledger at all").unwrap();
    refused("damaged").await;
    std::fs::remove_file(practice.ledger()).unwrap();
    refused("there is no ledger").await;
    let ours = |names: Vec<String>| names.into_iter().filter(|name| !name.starts_with("ledger.")).collect::<Vec<_>>();
    assert_eq!(ours(names(&practice)), ours(before));
}

#[tokio::test]
async fn move_with_stop_changes_nothing_where_no_service_can_be_stopped() {
    let practice = practice(1).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    for (language, word) in [("en", "--stop stops"), ("fr", "--stop arrête"), ("de", "--stop hält")] {
        let refused = with_backup(&practice, &["move", "--lang", language, "--out"], &[]).await;
        assert!(refused.code == 1 && refused.stderr.contains(word), "{refused:?}");
    }
    let refused = with_backup(&practice, &["move", "--out"], &["--stop"]).await;
    assert!([1, 2].contains(&refused.code) && !backup(&practice).exists(), "{refused:?}");
    assert_eq!(practice.docsyncd(&["status", "--json"]).await.code, 0, "it still runs");
    running.stop().await;
    assert_eq!(practice.sync().await.code, 0, "and has not moved");
}

/// Nothing is left under FILE, nor beside it; a restore that has no room changes nothing.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_leaves_no_part_of_a_backup_and_none_of_a_restore() {
    use crate::faults::disk::is_root;
    use crate::faults::tools::namespaces;
    if !namespaces() {
        return;
    }
    let practice = practice(3).await;
    assert_eq!(practice.sync().await.code, 0);
    plain(&practice).await;
    let on_full_disk = async |folder: &str, args: &str| {
        let place = practice.path(folder);
        std::fs::create_dir_all(&place).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=16k none '{0}'; chmod 700 '{0}'; cat /dev/zero > '{0}/filler' 2> /dev/null || true\n\
             truncate -s 4096 '{0}/filler'\n\"$0\" --config \"$1\" {args} || echo \"code $?\"\nls -A '{0}'",
            place.display()
        );
        let mut command = tokio::process::Command::new("unshare");
        command.arg("--mount");
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["sh", "-ec", &script]).arg(env!("CARGO_BIN_EXE_docsyncd")).arg(practice.config_path());
        command.envs(&practice.env);
        Ended::of(command).await
    };
    let before = names(&practice);
    let file = practice.path("disk/all.backup");
    let ended = on_full_disk("disk", &format!("backup '{}'", file.display())).await;
    assert_eq!(ended.stdout, "code 1\nfiller\n", "{ended:?}");
    assert!(ended.stderr.contains("cannot be written, and nothing is left of it"), "{ended:?}");
    std::fs::remove_dir(practice.path("disk")).unwrap();
    let ended = on_full_disk("state", &format!("restore '{}' --force", backup(&practice).display())).await;
    let mut lines: Vec<&str> = ended.stdout.lines().collect();
    lines.retain(|name| !name.ends_with(".lock"));
    assert_eq!(lines, ["code 1", "filler"], "{ended:?}");
    assert!(ended.stderr.contains("nothing was changed"), "{ended:?}");
    assert_eq!(names(&practice), before);
}
