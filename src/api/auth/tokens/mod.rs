//! The tokens of accounts that signed in: one file each, in the folder `tokens` beside the ledger.
//!
//! Using a refresh token invalidates it, so a new one counts only once it is on disk. It is written to a temporary
//! file, synced, and renamed over the old file. To change a file a process holds its lock; reading needs none.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use thiserror::Error;

use super::endpoint::LONGEST_LIFETIME;
use super::protect;
use super::secret::{MAX_SECRET_BYTES, is_plausible};
use crate::domain::name::is_device;
use crate::system::durable::{self, Temporary};
use crate::system::permissions;
use crate::system::readers::as_whom;

/// The version of the file format. A file of a later version is left alone.
const VERSION: u64 = 1;
/// The longest file that is read, in bytes: two tokens and a little more.
const MAX_FILE_BYTES: u64 = 4 * MAX_SECRET_BYTES as u64;
/// How long [`TokenStore::lock`] waits. The holder of the lock makes calls to the token endpoint meanwhile.
const LOCK_LIMIT: Duration = Duration::from_secs(120);
/// The pause between two attempts to lock.
const LOCK_PAUSE: Duration = Duration::from_millis(15);

/// The result of a sign-in or a refresh.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// Authorizes every call.
    pub access_token: SecretString,
    /// Can be exchanged for the next tokens, once.
    pub refresh_token: SecretString,
    /// How long the access token works, from the time of issue.
    pub expires_in: Duration,
    /// When the access token was issued, by this machine's clock.
    pub obtained_at: SystemTime,
    /// The scopes of the access token; empty if unknown.
    pub scopes: Vec<String>,
    /// The e-mail address of the signed-in user, if known.
    pub user: Option<String>,
}

/// Why tokens could not be read or written.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum TokenStoreError {
    /// The file system refuses access.
    #[error("the sign-in of account {account} cannot be {doing} ({path}): {what}")]
    Access {
        /// NAME of the account.
        account: String,
        /// The file or folder.
        path: PathBuf,
        /// `read`, `stored`, `locked`, `removed`
        doing: &'static str,
        /// What the system said.
        what: String,
    },
    /// The file's content is damaged.
    #[error("the sign-in of account {account} is damaged ({path}: {what}): run docsyncd login --account {account}")]
    Damaged {
        /// NAME of the account.
        account: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process held the lock for the whole wait.
    #[error(
        "the sign-in of account {account} is being changed by another docsyncd, which does not come to an end: look for \
         one that hangs"
    )]
    Busy {
        /// NAME of the account.
        account: String,
    },
}

/// The right to change an account's tokens. The lock ends when this is dropped, or when the process dies.
#[derive(Debug)]
pub struct TokenLock {
    _file: File,
    store: PathBuf,
}

/// The tokens of one account.
#[derive(Debug, Clone)]
pub struct TokenStore {
    account: String,
    folder: PathBuf,
    stem: String,
}

impl TokenStore {
    /// The tokens of the account of this NAME, beside this ledger. Looks up and creates nothing yet.
    pub fn new(ledger: &Path, account: &str) -> Self {
        let folder = ledger.parent().unwrap_or(Path::new(".")).join("tokens");
        Self { account: account.to_owned(), folder, stem: file_stem(account) }
    }

    /// The path of the file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.stem))
    }

    /// Whether somebody has signed the account in, or begun to, since the ledger exists.
    pub fn was_used(&self) -> bool {
        self.path().exists() || self.lock_path().exists()
    }

    fn lock_path(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.stem))
    }

    /// Waits for the right to change the tokens. Blocks the thread for at most two minutes.
    ///
    /// # Errors
    /// [`TokenStoreError::Busy`] after that time; [`TokenStoreError::Access`] if the file system refuses.
    pub fn lock(&self) -> Result<TokenLock, TokenStoreError> {
        self.lock_within(LOCK_LIMIT)
    }

    /// As [`Self::lock`], but waits for at most `limit`.
    ///
    /// # Errors
    /// As [`Self::lock`].
    pub fn lock_within(&self, limit: Duration) -> Result<TokenLock, TokenStoreError> {
        let path = self.lock_path();
        let wrong = |error: io::Error| self.access(&path, "locked", &error);
        self.make_folder()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = durable::open_with_mode(&mut options, &path, 0o600).map_err(wrong)?;
        self.hand_over(&file);
        let until = Instant::now() + limit;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let lock = TokenLock { _file: file, store: self.path() };
                    self.complete(&lock)?;
                    return Ok(lock);
                }
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    return Err(TokenStoreError::Busy { account: self.account.clone() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            }
        }
    }

    /// The tokens; `None` if nobody signed in.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn load(&self) -> Result<Option<Tokens>, TokenStoreError> {
        self.load_from(self.path())
    }

    /// The tokens in a form for another machine; `None` if nobody signed in. A secret.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn export(&self) -> Result<Option<Vec<u8>>, TokenStoreError> {
        Ok(self.load()?.map(|tokens| write(&tokens)))
    }

    /// The content for [`Self::path`] that restores the result of [`Self::export`].
    ///
    /// # Errors
    /// They are no tokens, or the system cannot seal them.
    pub fn import(&self, exported: &[u8]) -> Result<Vec<u8>, TokenStoreError> {
        let damaged = |what| TokenStoreError::Damaged { account: self.account.clone(), path: self.path(), what };
        let tokens = read(exported).map_err(damaged)?;
        protect::seal(write(&tokens)).map_err(|error| self.access(&self.path(), "stored", &error))
    }

    /// Whether the account has the tokens that [`Self::export`] returned, or later ones of the same user, which make
    /// the earlier ones invalid.
    pub fn has_later_than(&self, exported: &[u8]) -> bool {
        let is_later = |old: &Tokens, new: &Tokens| old.user == new.user && old.obtained_at <= new.obtained_at;
        matches!((read(exported), self.load()), (Ok(old), Ok(Some(new))) if is_later(&old, &new))
    }

    fn load_from(&self, path: PathBuf) -> Result<Option<Tokens>, TokenStoreError> {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.access(&path, "read", &error)),
        };
        let mut stored = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut stored).map_err(|error| self.access(&path, "read", &error))?;
        let damaged =
            |what: String| TokenStoreError::Damaged { account: self.account.clone(), path: path.clone(), what };
        if stored.len() as u64 > MAX_FILE_BYTES {
            return Err(damaged("it is too long".to_owned()));
        }
        let plain = protect::unseal(stored).map_err(|error| damaged(format!("it cannot be decrypted: {error}")))?;
        read(&plain).map(Some).map_err(damaged)
    }

    /// Completes an interrupted save, which may have left the whole file under its temporary name, with the only
    /// refresh token that still works. A torn file, or one of a sign-in that was not completed, is left to the next
    /// save.
    fn complete(&self, _: &TokenLock) -> Result<(), TokenStoreError> {
        let (left, path) = (self.temporary(), self.path());
        let (Ok(Some(new)), Ok(Some(old))) = (self.load_from(left.clone()), self.load()) else { return Ok(()) };
        if new.user != old.user {
            return Ok(());
        }
        let wrong = |error: io::Error| self.access(&path, "stored", &error);
        let file = OpenOptions::new().write(true).open(&left).map_err(wrong)?;
        file.sync_all().map_err(wrong)?;
        drop(file);
        durable::replace(&left, &path).map_err(wrong)?;
        durable::sync_folder(&self.folder).map_err(wrong)
    }

    /// Checks that the disk can take these tokens. Called before the request to the server, whose answer invalidates
    /// the old ones.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn rehearse(&self, _: &TokenLock, tokens: &Tokens) -> Result<(), TokenStoreError> {
        let path = self.path();
        let wrong = |error: io::Error| self.access(&path, "stored", &error);
        let sealed = protect::seal(write(tokens)).map_err(wrong)?;
        let mut trial = Temporary::create(self.folder.join(format!(".{}.try", self.stem)), 0o600).map_err(wrong)?;
        trial.writer().write_all(&sealed).map_err(wrong)?;
        trial.sync().map_err(wrong)
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join(format!(".{}.tmp", self.stem))
    }

    /// Stores the tokens. On success they are on disk. After an error the file holds the old tokens, or the new ones if
    /// only the sync of the folder failed.
    ///
    /// # Errors
    /// [`TokenStoreError::Access`] if the file system refuses.
    pub fn save(&self, lock: &TokenLock, tokens: &Tokens) -> Result<(), TokenStoreError> {
        debug_assert_eq!(lock.store, self.path(), "the lock of another account");
        let path = self.path();
        let wrong = |error: io::Error| self.access(&path, "stored", &error);
        let sealed = protect::seal(write(tokens)).map_err(wrong)?;
        fault_point!("tokens.write.before");
        let mut temporary = Temporary::create(self.temporary(), 0o600).map_err(wrong)?;
        if let Some(file) = temporary.file() {
            self.hand_over(file);
        }
        temporary.writer().write_all(&sealed).map_err(wrong)?;
        fault_point!("tokens.write.after");
        fault_point!("tokens.sync.before");
        temporary.sync().map_err(wrong)?;
        fault_point!("tokens.sync.after");
        temporary.replace(&path).map_err(wrong)?;
        fault_point!("tokens.rename.after");
        durable::sync_folder(&self.folder).map_err(wrong)?;
        fault_point!("tokens.sync_folder.after");
        Ok(())
    }

    /// Forces the file's name to disk: the process that renamed the file may have died before that, or got an error.
    ///
    /// # Errors
    /// [`TokenStoreError::Access`] if the file system refuses.
    pub fn settle(&self) -> Result<(), TokenStoreError> {
        durable::sync_folder(&self.folder).map_err(|error| self.access(&self.folder, "stored", &error))
    }

    /// Removes the tokens; false if there were none.
    ///
    /// # Errors
    /// [`TokenStoreError::Access`] if the file system refuses.
    pub fn forget(&self, lock: &TokenLock) -> Result<bool, TokenStoreError> {
        debug_assert_eq!(lock.store, self.path(), "the lock of another account");
        let path = self.path();
        let wrong = |error: io::Error| self.access(&path, "removed", &error);
        durable::remove_if_there(&self.temporary()).map_err(wrong)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            removed => removed.map_err(wrong)?,
        }
        durable::sync_folder(&self.folder).map_err(wrong)?;
        Ok(true)
    }

    /// Creates the folder, and the ledger's folder when a person signs in before the first run.
    ///
    /// # Errors
    /// [`TokenStoreError::Access`] if the file system refuses.
    pub fn make_folder(&self) -> Result<(), TokenStoreError> {
        if self.folder.is_dir() {
            return Ok(());
        }
        let wrong = |error: io::Error| self.access(&self.folder, "stored", &error);
        let above = self.folder.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above.filter(|above| !above.is_dir()) {
            permissions::create_folders(above).map_err(wrong)?;
        }
        permissions::create_folder(&self.folder).map_err(wrong)?;
        // Opened without following a link, so that root does not hand over another user's folder.
        if let Ok(folder) = durable::open_with_mode(OpenOptions::new().read(true), &self.folder, 0o700) {
            self.hand_over(&folder);
        }
        durable::sync_folder(above.unwrap_or(Path::new("."))).map_err(wrong)
    }

    /// Gives the file to the owner of the ledger's folder, for when root signs in and the service runs as another user.
    fn hand_over(&self, file: &File) {
        durable::hand_over(file, self.folder.parent().unwrap_or(Path::new(".")));
    }

    fn access(&self, path: &Path, doing: &'static str, error: &io::Error) -> TokenStoreError {
        let what = if error.kind() == ErrorKind::PermissionDenied {
            format!("{error}; this ran{}. Run docsyncd as the user that the service runs as", as_whom())
        } else {
            error.to_string()
        };
        TokenStoreError::Access { account: self.account.clone(), path: path.to_path_buf(), doing, what }
    }
}

/// A file name that is unique to the account, also on file systems that ignore letter case, and that is no device name
/// on Windows. `+` cannot occur in an account's name.
fn file_stem(account: &str) -> String {
    let mut stem = String::with_capacity(account.len());
    for c in account.chars() {
        if c.is_uppercase() {
            stem.push('+');
        }
        stem.extend(c.to_lowercase());
    }
    if is_device(&stem) {
        stem.push('+');
    }
    stem
}

fn write(tokens: &Tokens) -> Vec<u8> {
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let document = json!({
        "version": VERSION,
        "access_token": tokens.access_token.expose_secret(),
        "refresh_token": tokens.refresh_token.expose_secret(),
        "expires_in": tokens.expires_in.as_secs(),
        "obtained_at": seconds(tokens.obtained_at),
        "scopes": tokens.scopes,
        "user": tokens.user,
    });
    format!("{document:#}\n").into_bytes()
}

/// Unknown members are ignored: a later version added them and stayed compatible.
fn read(plain: &[u8]) -> Result<Tokens, String> {
    // The parser's message could quote a token.
    let document: Value = serde_json::from_slice(plain).map_err(|_| "it is not JSON".to_owned())?;
    match document.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(format!("it has version {other}, this docsyncd knows {VERSION}")),
        None => return Err("it has no version".to_owned()),
    }
    let token = |name: &str| {
        let text = document.get(name).and_then(Value::as_str).filter(|text| is_plausible(text));
        text.map(SecretString::from).ok_or_else(|| format!("it has no usable {name}"))
    };
    let number = |name: &str| document.get(name).and_then(Value::as_u64).ok_or_else(|| format!("it has no {name}"));
    let scopes = document.get("scopes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(Tokens {
        access_token: token("access_token")?,
        refresh_token: token("refresh_token")?,
        expires_in: Duration::from_secs(number("expires_in")?).min(LONGEST_LIFETIME),
        obtained_at: UNIX_EPOCH
            .checked_add(Duration::from_secs(number("obtained_at")?))
            .ok_or_else(|| "its obtained_at is no time".to_owned())?,
        scopes: scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        user: document.get("user").and_then(Value::as_str).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
