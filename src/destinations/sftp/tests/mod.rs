//! Tests the adapter against an SSH server of the tests; tests/it/sftp tests it against OpenSSH.

mod busy;
mod peer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use russh::MethodKind;
use russh::keys::PrivateKey;
use russh::keys::ssh_key::LineEnding;

use super::super::contract::{
    CANARY, NamedPlace, Place, RemotePlace, SECRET, Spool, assert_delivered, files_below, keeps_the_confirm_contract,
    keeps_the_contract, keeps_the_remote_contract, keeps_the_sidecar_contract, reason, remote_folder, write_secret,
};
use super::*;
use crate::config::{Confirm, Secret};
use crate::destinations::{SidecarConfig, SshHostKey, SshSignIn};
use crate::domain::failure::Code;
use crate::formats::template::{Template, TemplateKind, TextFormat};
use host_key::fingerprint;
use peer::{Peer, USER, ecdsa, ed25519};

const LETTER: &str = "letters/{{ document.type }}.pdf";

/// A server, and a configuration for it.
struct Lab {
    peer: Peer,
    secrets: tempfile::TempDir,
    config: SftpConfig,
}

/// The files that a person or an importer sees.
fn visible(root: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = files_below(root);
    found.retain(|name, _| !name.split('/').any(|part| part.starts_with('.')));
    found
}

fn compile(kind: TemplateKind, source: &str) -> Arc<Template> {
    Arc::new(Template::compile(kind, source).unwrap())
}

impl Lab {
    fn named(file_name: &str) -> Self {
        Self::with_keys(file_name, vec![ed25519(1)])
    }

    fn with_keys(file_name: &str, keys: Vec<PrivateKey>) -> Self {
        let (peer, secrets) = (Peer::start(keys), tempfile::tempdir().unwrap());
        peer.with(|state| state.password = SECRET.to_owned());
        write_secret(&secrets.path().join("password"), &format!("{SECRET}\n"));
        let folder = remote_folder(file_name);
        let password = Some(Secret::File(secrets.path().join("password")));
        let config = SftpConfig {
            folder,
            host: "127.0.0.1".to_owned(),
            port: peer.port,
            user: USER.to_owned(),
            sign_in: SshSignIn { key: None, passphrase: None, password },
            host_key: Some(SshHostKey::Fingerprint(fingerprint(peer.keys[0].public_key()))),
            timeout: Duration::from_secs(20),
        };
        Self { peer, secrets, config }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.secrets.path().join(name);
        write_secret(&path, text);
        path
    }

    fn sftp(&self) -> SftpAdapter {
        SftpAdapter::new(self.config.clone())
    }

    fn names(&self) -> Vec<String> {
        visible(&self.peer.inbox()).into_keys().collect()
    }
}

impl Place for Lab {
    fn adapter(&self) -> Box<dyn Adapter> {
        Box::new(self.sftp())
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        visible(&self.peer.inbox())
    }

    fn break_down(&self) {
        self.peer.stop();
    }
}

impl RemotePlace for Lab {
    fn lose_next_reply(&self) {
        self.peer.with(|state| state.lose_rename = true);
    }

    fn cut_after(&self, bytes: usize) {
        self.peer.with(|state| state.cut_after = Some(bytes));
    }

    fn occupy(&self, name: &str, content: &[u8]) {
        std::fs::write(self.peer.inbox().join(name), content).unwrap();
    }

    fn revoke_credentials(&self) {
        self.peer.with(|state| state.revoked = true);
    }
}

impl NamedPlace for Lab {
    fn configure(&mut self, file_name: &str, sidecar: Option<SidecarConfig>, confirm: Confirm) {
        let folder = &mut self.config.folder;
        (folder.file_name, folder.sidecar) = (compile(TemplateKind::RemoteName, file_name), sidecar);
        folder.confirm = Some(confirm);
    }

    fn write(&self, path: &str, content: Option<&[u8]>) {
        let path = self.peer.inbox().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content {
            Some(content) => std::fs::write(path, content).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
    }

    fn go_away(&self) {
        std::fs::remove_dir_all(self.peer.inbox()).unwrap();
    }
}

keeps_the_contract!(Lab::named(LETTER));
#[tokio::test]
async fn letters_are_seen_where_they_were_put() {
    crate::destinations::contract::kept::letters_are_seen_where_they_were_put(Lab::named(LETTER)).await;
}
keeps_the_confirm_contract!(Lab::named(LETTER));
keeps_the_sidecar_contract!(Lab::named(LETTER));
keeps_the_remote_contract!(Lab::named("{{ document.type }}.pdf"), "lab_slip.pdf");

fn assert_unavailable<'a>(outcome: &'a Outcome, code: &'static str) -> &'a str {
    assert!(matches!(outcome, Outcome::Unavailable { code: found, .. } if *found == Code::word(code)), "{outcome:?}");
    reason(outcome)
}

#[tokio::test]
async fn a_document_and_its_sidecar_are_filed_in_folders_that_are_made_and_forced_to_the_disk() {
    let mut lab = Lab::named("{{ document.type }}/{{ patient.lastName }}.pdf");
    let content = compile(TemplateKind::Text(TextFormat::Plain), "key={{ key }}");
    lab.config.folder.sidecar =
        Some(SidecarConfig::new(content, compile(TemplateKind::SidecarName, "{{ file_stem }}.txt")));
    let (spool, big) = (Spool::new(), b"%PDF-1.7 ".repeat(90_000));
    let item = spool.item(1, &big);
    let place = assert_delivered(&lab.sftp().deliver(&item).await);
    assert_eq!(place, format!("sftp://{USER}@127.0.0.1:{}/inbox/lab_slip/{CANARY}.pdf", lab.peer.port));
    assert_eq!(lab.names(), [format!("lab_slip/{CANARY}.pdf"), format!("lab_slip/{CANARY}.txt")]);
    assert_eq!(lab.objects()[&format!("lab_slip/{CANARY}.pdf")], big);
    assert_eq!(lab.objects()[&format!("lab_slip/{CANARY}.txt")], format!("key={}", item.key).into_bytes());
    // Two of them are from the test of renames to a taken name.
    lab.peer.with(|state| assert_eq!((state.fsyncs, state.largest_write), (4, 32 * 1024)));
}

#[tokio::test]
async fn a_server_that_shows_another_key_gets_nothing_and_both_fingerprints_are_told() {
    let mut lab = Lab::named(LETTER);
    let expected = fingerprint(ed25519(2).public_key());
    lab.config.host_key = Some(SshHostKey::Fingerprint(expected.clone()));
    let outcome = lab.sftp().deliver(&Spool::new().item(1, b"%PDF one")).await;
    let told = assert_unavailable(&outcome, "host_key");
    assert!(told.contains(&expected) && told.contains(&fingerprint(lab.peer.keys[0].public_key())), "{told}");
    assert!(lab.names().is_empty());
    lab.peer.with(|state| assert_eq!(state.sign_ins, 0, "not even the password"));
}

#[tokio::test]
async fn a_server_of_which_nothing_is_known_is_not_believed_and_its_fingerprint_is_told() {
    let mut lab = Lab::named(LETTER);
    lab.config.host_key = None;
    let shown = fingerprint(lab.peer.keys[0].public_key());
    let told = lab.sftp().check().await.unwrap_err();
    assert!(told.contains(&format!("host_key = \"{shown}\"")), "{told}");
    lab.config.host_key = Some(SshHostKey::KnownHosts(lab.file("known_hosts", "other.test ssh-ed25519 AAAA\n")));
    let told = lab.sftp().check().await.unwrap_err();
    let line = format!("[127.0.0.1]:{} ssh-ed25519 AAAA", lab.peer.port);
    assert!(told.contains(&shown) && told.contains(&line), "{told}");
    lab.peer.with(|state| assert_eq!(state.sign_ins, 0));
}

#[tokio::test]
async fn the_key_that_is_known_is_found_among_several_of_the_servers() {
    let mut lab = Lab::with_keys(LETTER, vec![ed25519(1), ecdsa()]);
    let spool = Spool::new();
    lab.config.host_key = Some(SshHostKey::Fingerprint(fingerprint(ecdsa().public_key())));
    assert_delivered(&lab.sftp().deliver(&spool.item(1, b"%PDF one")).await);
    let line = format!("[127.0.0.1]:{} {}\n", lab.peer.port, ecdsa().public_key().to_openssh().unwrap());
    lab.config.host_key = Some(SshHostKey::KnownHosts(lab.file("known_hosts", &line)));
    assert_delivered(&lab.sftp().deliver(&spool.item(2, b"%PDF two")).await);
    // A kind of key that the server does not have, and a fingerprint of none of its keys.
    let lab = Lab { config: SftpConfig { port: lab.peer.port, ..lab.config }, ..lab };
    let other = Lab::with_keys(LETTER, vec![ed25519(1)]);
    let config = SftpConfig { port: other.peer.port, host_key: lab.config.host_key.clone(), ..other.config.clone() };
    let line = format!("[127.0.0.1]:{} {}\n", other.peer.port, ecdsa().public_key().to_openssh().unwrap());
    lab.file("known_hosts", &line);
    let outcome = SftpAdapter::new(config).deliver(&spool.item(3, b"%PDF three")).await;
    let told = assert_unavailable(&outcome, "host_key");
    assert!(told.contains(&fingerprint(ed25519(1).public_key())), "{told}");
    assert!(told.contains(&fingerprint(ecdsa().public_key())), "{told}");
}

#[tokio::test]
async fn a_key_signs_in_and_so_does_a_password_in_a_dialogue() {
    let mut lab = Lab::named(LETTER);
    let spool = Spool::new();
    lab.peer.with(|state| state.methods = vec![MethodKind::KeyboardInteractive]);
    assert_delivered(&lab.sftp().deliver(&spool.item(1, b"%PDF one")).await);
    lab.peer.with(|state| {
        state.methods = vec![MethodKind::Password, MethodKind::KeyboardInteractive];
        state.only_in_a_dialogue = true;
    });
    assert_delivered(&lab.sftp().deliver(&spool.item(4, b"%PDF four")).await);
    lab.peer.with(|state| {
        state.methods = vec![MethodKind::PublicKey];
        state.allowed_key = Some(ed25519(7).public_key().clone());
    });
    let key = ed25519(7).to_openssh(LineEnding::LF).unwrap();
    let key = Secret::File(lab.file("key", &key));
    lab.config.sign_in = SshSignIn { key: Some(key), passphrase: None, password: None };
    assert_delivered(&lab.sftp().deliver(&spool.item(2, b"%PDF two")).await);
    lab.peer.with(|state| state.methods = vec![MethodKind::Password]);
    let outcome = lab.sftp().deliver(&spool.item(3, b"%PDF three")).await;
    assert!(assert_unavailable(&outcome, "sign_in_refused").contains("another way to sign in"), "{outcome:?}");
}

/// `ssh-keygen -t ed25519`, passphrase "open sesame".
const WITH_PASSPHRASE: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n\
    b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABA0ZHzY8C\n\
    MoWrae2Pc7KkV5AAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIBszZgqUfszKdEDx\n\
    JeWyfmyRPomUWaXZ2CCWf53/VjOdAAAAkNA+Ah/9VD99pfPDbQvPwEIDsEP1P7T0c3DaRD\n\
    mrNRx8eRg2gTwDxW5tkujhwbo7EpwExRUT7moKYdljX/dbvRvNKeqrWLf3uPN9wm3BPzFB\n\
    IqeFq8BRh3N0UMQBWsqy6JChkeEkdntswZwcXh9KbeXz8uhzveT5tgTiLmDHAYFU8GMjfi\n\
    +ovVEFuXo+borsSQ==\n\
    -----END OPENSSH PRIVATE KEY-----\n";

#[tokio::test]
async fn a_key_that_lacks_its_passphrase_or_is_open_to_others_is_told_without_the_network() {
    let mut lab = Lab::named(LETTER);
    let file = lab.file("key", WITH_PASSPHRASE);
    let key = Some(Secret::File(file.clone()));
    lab.config.sign_in = SshSignIn { key: key.clone(), passphrase: None, password: None };
    let told = SftpAdapter::new(lab.config.clone()).unusable().unwrap();
    assert!(told.contains("`key_passphrase_file`") && told.contains("`pms`"), "{told}");
    let wrong = Some(Secret::File(lab.file("wrong", "open says me")));
    lab.config.sign_in = SshSignIn { key: key.clone(), passphrase: wrong, password: None };
    let told = SftpAdapter::new(lab.config.clone()).unusable().unwrap();
    assert!(told.contains("cannot be opened") && !told.contains("open says me"), "{told}");
    let right = Some(Secret::File(lab.file("right", "open sesame\n")));
    lab.config.sign_in = SshSignIn { key, passphrase: right, password: None };
    assert_eq!(SftpAdapter::new(lab.config.clone()).unusable(), None);
    #[cfg(unix)]
    {
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let told = SftpAdapter::new(lab.config.clone()).unusable().unwrap();
        assert!(told.contains("open to others") && told.contains("chmod 600"), "{told}");
    }
}

#[cfg(windows)]
#[tokio::test]
async fn secrets_that_every_user_of_the_computer_can_read_are_warned_of() {
    use crate::system::permissions::{access_list, effective_acl::create_file_with};
    let mut lab = Lab::named(LETTER);
    assert_eq!(lab.sftp().check().await.unwrap().warnings, [""; 0]);
    let open = lab.secrets.path().join("open");
    create_file_with(&open, &format!("{}(A;;FR;;;WD)", access_list(false)));
    let key = ed25519(7);
    lab.peer.with(|state| state.allowed_key = Some(key.public_key().clone()));
    let file = lab.file("open", &key.to_openssh(LineEnding::LF).unwrap());
    lab.config.sign_in = SshSignIn { key: Some(Secret::File(file.clone())), passphrase: None, password: None };
    let warnings = lab.sftp().check().await.unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("Everyone"), "{warnings:?}");
    assert!(warnings[0].contains(&format!("icacls \"{}\"", file.display())), "{warnings:?}");
}

#[tokio::test]
async fn a_password_that_is_replaced_is_read_again() {
    let (lab, spool) = (Lab::named(LETTER), Spool::new());
    let adapter = lab.sftp();
    assert_delivered(&adapter.deliver(&spool.item(1, b"%PDF one")).await);
    lab.peer.with(|state| state.password = "new-7".to_owned());
    lab.peer.hang_up();
    let outcome = adapter.deliver(&spool.item(2, b"%PDF two")).await;
    assert_unavailable(&outcome, "sign_in_refused");
    lab.file("password", "new-7\n");
    assert_delivered(&adapter.deliver(&spool.item(2, b"%PDF two")).await);
}

#[tokio::test]
async fn deliveries_share_a_connection_and_one_that_the_server_ended_is_no_failure() {
    let (lab, spool) = (Lab::named(LETTER), Spool::new());
    let adapter = lab.sftp();
    for number in 1..4 {
        assert_delivered(&adapter.deliver(&spool.item(number, b"%PDF one")).await);
    }
    lab.peer.with(|state| assert_eq!(state.connections, 1));
    lab.peer.hang_up();
    assert_delivered(&adapter.deliver(&spool.item(4, b"%PDF one")).await);
    lab.peer.with(|state| assert_eq!(state.connections, 2));
}

#[tokio::test]
async fn statuses_that_version_3_does_not_know_are_answers_like_others() {
    let (lab, spool) = (Lab::named("{{ document.type }}.pdf"), Spool::new());
    // Somebody takes the name between the look and the rename: ProFTPD answers 11.
    lab.peer.with(|state| (state.status_of_taken, state.overwrites) = (Some(11), false));
    lab.occupy("lab_slip.pdf", b"somebody's");
    assert_delivered(&lab.sftp().deliver(&spool.item(1, b"%PDF one")).await);
    assert_eq!(lab.names(), ["lab_slip.pdf", "lab_slip_00000001.pdf"]);
    assert!(lab.sftp().check().await.is_ok());
    for (status, free) in [(14, u64::MAX / 2), (15, u64::MAX / 2), (4, 3)] {
        lab.peer.with(|state| (state.status_of_write, state.free) = (Some(status), free));
        let outcome = lab.sftp().deliver(&spool.item(2, b"%PDF two")).await;
        assert!(matches!(outcome, Outcome::NoRoom(_)), "{status}: {outcome:?}");
        reason(&outcome);
    }
    lab.peer.with(|state| (state.status_of_write, state.free) = (Some(3), 3 << 30));
    let outcome = lab.sftp().deliver(&spool.item(2, b"%PDF two")).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("does not allow"), "{outcome:?}");
    assert_eq!(lab.names().len(), 2);
    assert_eq!(files_below(&lab.peer.inbox()).len(), 2, "nothing is left");
}

#[tokio::test]
async fn a_file_that_a_server_opens_late_for_an_attempt_before_is_not_emptied() {
    let (lab, spool) = (Lab::named("{{ document.uuid }}.pdf"), Spool::new());
    lab.peer.with(|state| state.open_late = true);
    let item = spool.item(1, b"%PDF one");
    let outcome = lab.sftp().deliver(&item).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert_delivered(&lab.sftp().deliver(&item).await);
    assert_eq!(lab.objects().into_values().collect::<Vec<_>>(), [b"%PDF one"]);
}

#[tokio::test]
async fn where_the_server_overwrites_a_name_has_to_be_one_documents() {
    let (mut lab, spool) = (Lab::named(LETTER), Spool::new());
    lab.peer.with(|state| (state.overwrites, state.no_fsync, state.no_new_files) = (true, true, true));
    let outcome = lab.sftp().deliver(&spool.item(1, b"%PDF one")).await;
    assert!(assert_unavailable(&outcome, "overwrites").contains("{{ key }}"), "{outcome:?}");
    let told = lab.sftp().check().await.unwrap_err();
    assert!(told.contains("{{ document.uuid }}") && told.contains("`file_name`"), "{told}");
    assert!(files_below(&lab.peer.inbox()).is_empty());
    for name in ["{{ key }}.pdf", "{{ document.uuid }}.pdf", "{{ uuid }}.pdf"] {
        lab.config.folder.file_name = compile(TemplateKind::RemoteName, name);
        assert_delivered(&lab.sftp().deliver(&spool.item(1, b"%PDF one")).await);
        let warnings = lab.sftp().check().await.unwrap().warnings;
        assert!(
            warnings.len() == 2 && warnings[0].contains("overwrites") && warnings[1].contains("fsync"),
            "{warnings:?}"
        );
    }
}

#[tokio::test]
async fn a_rename_that_is_refused_for_another_reason_says_nothing_of_overwriting() {
    let (lab, spool) = (Lab::named(LETTER), Spool::new());
    lab.peer.with(|state| (state.overwrites, state.refused_renames) = (true, 2));
    let adapter = lab.sftp();
    let outcome = adapter.deliver(&spool.item(1, b"%PDF one")).await;
    assert!(matches!(outcome, Outcome::Transient { .. }), "{outcome:?}");
    assert_unavailable(&adapter.deliver(&spool.item(1, b"%PDF one")).await, "overwrites");
    assert!(files_below(&lab.peer.inbox()).is_empty());
}

#[tokio::test]
async fn an_answer_that_is_none_costs_no_memory_and_no_document() {
    let (lab, spool) = (Lab::named(LETTER), Spool::new());
    lab.peer.with(|state| state.answers_nonsense = true);
    let outcome = lab.sftp().deliver(&spool.item(1, b"%PDF one")).await;
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(&outcome).contains("no SFTP"), "{outcome:?}");
}

#[tokio::test]
async fn a_check_tells_the_fingerprint_and_that_what_is_filed_is_forced_to_the_disk() {
    let lab = Lab::named(LETTER);
    let checked = lab.sftp().check().await.unwrap();
    assert_eq!(checked.warnings, [""; 0]);
    assert!(checked.notes[0].contains(&fingerprint(lab.peer.keys[0].public_key())), "{checked:?}");
    assert!(checked.notes[1].contains("fsync"), "{checked:?}");
    let left = |name: &str, age: u64| {
        let file = std::fs::File::create(lab.peer.inbox().join(name)).unwrap();
        let at = std::time::SystemTime::now() - Duration::from_secs(age);
        file.set_times(std::fs::FileTimes::new().set_modified(at)).unwrap();
    };
    left(".docsyncd-check-1-0-aa.one.tmp", 3600);
    left(".docsyncd-check-1-1-bb.one.tmp", 5);
    left(".docsyncd-notes.tmp", 3600);
    lab.sftp().check().await.unwrap();
    let there: Vec<String> = files_below(&lab.peer.inbox()).into_keys().collect();
    assert_eq!(
        there,
        [".docsyncd-check-1-1-bb.one.tmp", ".docsyncd-notes.tmp"],
        "what a check left that was cut off is removed"
    );
    let mut elsewhere = lab.config.clone();
    elsewhere.folder.path = "/outbox".to_owned();
    let told = SftpAdapter::new(elsewhere).check().await.unwrap_err();
    assert!(told.contains("`path` is no folder"), "{told}");
}
