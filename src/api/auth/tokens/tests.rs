//! The token file: its content, who can read it, who may change it.

use super::*;

fn tokens(number: u32) -> Tokens {
    Tokens {
        access_token: SecretString::from(format!("access-{number}")),
        refresh_token: SecretString::from(format!("refresh-{number}")),
        expires_in: Duration::from_secs(3600),
        obtained_at: UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        scopes: vec!["profile".to_owned()],
        user: Some("a@practice.test".to_owned()),
    }
}

fn store(folder: &tempfile::TempDir, account: &str) -> TokenStore {
    TokenStore::new(&folder.path().join("state/ledger.sqlite3"), account)
}

#[test]
fn what_was_saved_is_loaded_and_can_be_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "main");
    assert!(store.load().unwrap().is_none());
    let lock = store.lock().unwrap();
    assert!(!store.forget(&lock).unwrap());
    for number in 1..=2 {
        store.save(&lock, &tokens(number)).unwrap();
        let (saved, found) = (tokens(number), store.load().unwrap().unwrap());
        assert_eq!(found.access_token.expose_secret(), saved.access_token.expose_secret());
        assert_eq!(found.refresh_token.expose_secret(), saved.refresh_token.expose_secret());
        assert_eq!((found.expires_in, found.obtained_at), (saved.expires_in, saved.obtained_at));
        assert_eq!((found.scopes, found.user), (saved.scopes, saved.user));
    }
    let files = fs::read_dir(folder.path().join("state/tokens")).unwrap().count();
    assert_eq!(files, 2, "only the tokens and the lock are left");
    assert!(store.forget(&lock).unwrap());
    assert!(store.load().unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_tokens() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "main");
    store.save(&store.lock().unwrap(), &tokens(1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&store.path()), 0o600);
    assert_eq!(mode(&store.folder), 0o700);
}

#[cfg(windows)]
#[test]
fn nobody_else_can_look_into_the_folder_of_the_tokens_and_what_lies_there_shows_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "main");
    store.save(&store.lock().unwrap(), &tokens(1)).unwrap();
    permissions::effective_acl::assert_closed(store.folder.parent().unwrap());
    permissions::effective_acl::assert_closed(&store.folder);

    let stored = fs::read(store.path()).unwrap();
    let plain = protect::unseal(stored.clone()).unwrap();
    assert_eq!(plain, write(&tokens(1)), "it is what was stored");
    // As UTF-8, and as UTF-16, in which Windows writes text.
    for secret in ["access-1", "refresh-1", "_token", "practice.test"] {
        let wide: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for secret in [secret.as_bytes(), &wide] {
            assert!(!stored.windows(secret.len()).any(|part| part == secret), "{stored:?}");
        }
    }
    println!("{} bytes of tokens lie as {} bytes: {:02x?}…", plain.len(), stored.len(), &stored[..24]);

    let mut changed = stored;
    *changed.last_mut().unwrap() ^= 1;
    fs::write(store.path(), changed).unwrap();
    let error = store.load().unwrap_err().to_string();
    assert!(error.contains("cannot be decrypted") && error.contains("docsyncd login --account main"), "{error}");
}

#[test]
fn one_at_a_time_holds_the_lock_and_accounts_do_not_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "main");
    let held = store.lock().unwrap();
    assert!(matches!(store.lock_within(Duration::ZERO), Err(TokenStoreError::Busy { .. })));
    assert!(self::store(&folder, "second").lock_within(Duration::ZERO).is_ok());
    drop(held);
    assert!(store.lock_within(Duration::ZERO).is_ok());
}

#[test]
fn a_damaged_file_names_the_command_that_mends_it_and_quotes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "dr-martin");
    store.save(&store.lock().unwrap(), &tokens(1)).unwrap();
    let whole = protect::unseal(fs::read(store.path()).unwrap()).unwrap();
    let half = whole.get(..whole.len() / 2).unwrap();
    let long = vec![b' '; usize::try_from(MAX_FILE_BYTES).unwrap() + 1];
    for content in [
        b"".as_slice(),
        b"{}",
        b"\xff\x00",
        b"[1]",
        half,
        b"{\"version\":9}",
        b"{\"version\":1,\"x\":\"refresh-1\"}",
        &long,
    ] {
        fs::write(store.path(), protect::seal(content.to_vec()).unwrap()).unwrap();
        let error = store.load().unwrap_err().to_string();
        assert!(error.contains("run docsyncd login --account dr-martin"), "{error}");
        assert!(!error.contains("refresh-1") && !error.contains("access-1"), "{error}");
    }
    let more = String::from_utf8(whole).unwrap().replace("\"version\"", "\"later\": {}, \"version\"");
    fs::write(store.path(), protect::seal(more.into_bytes()).unwrap()).unwrap();
    assert!(store.load().unwrap().is_some(), "members that are not known do no harm");
}

#[test]
fn no_two_accounts_share_a_file_whatever_the_file_system_makes_of_letter_case() {
    let names = ["a", "A", "aB", "AB", "ab", "con", "Con", "nul", "main", "dr-martin", "dr_martin"];
    let stems: std::collections::HashSet<String> = names.iter().map(|name| file_stem(name).to_lowercase()).collect();
    assert_eq!(stems.len(), names.len());
    assert_eq!(file_stem("dr-martin"), "dr-martin");
    assert!(!is_device(&file_stem("con")));
}

#[test]
fn tokens_do_not_show_in_debug_output() {
    let text = format!("{:?}", tokens(1));
    assert!(!text.contains("access-1") && !text.contains("refresh-1"), "{text}");
}
