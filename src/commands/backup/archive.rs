//! The form of a backup: a tar file, compressed with gzip. Its first entry is a manifest with the length and the
//! SHA-256 of each other entry. With a passphrase, all of it is encrypted like the tool `age` does
//! (age-encryption.org/v1). So `tar xzf`, or `age -d` and `tar xz`, can read it without docsyncd.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::domain::document::hex;
use crate::ledger::Millis;

/// The name of the first entry.
const MANIFEST: &str = "manifest.json";
/// The ledger's entry.
pub(in crate::commands) const LEDGER: &str = "ledger.sqlite3";
/// The configuration's entry.
pub(in crate::commands) const CONFIG: &str = "docsyncd.toml";
/// The format, as the manifest names it.
const FORMAT: &str = "docsyncd backup";
/// The version of the format that this program writes, and the newest that it reads.
const VERSION: u32 = 1;
/// The longest entry except the ledger; bytes. Configurations, keys and certificate lists are shorter.
pub(in crate::commands) const MAX_PART: u64 = 4 << 20;
/// The most entries.
const MAX_PARTS: usize = 10_000;
/// The first bytes of a gzip file (RFC 1952, 2.3.1), and of an age file.
const GZIP: &[u8] = &[0x1f, 0x8b];
const AGE: &[u8] = b"age-encryption.org/";

/// The manifest: what a backup is and contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::commands) struct Manifest {
    format: String,
    version: u32,
    /// The version of docsyncd that wrote it.
    pub(in crate::commands) docsyncd: String,
    /// The time of the ledger's copy; milliseconds since 1970.
    pub(in crate::commands) at: Millis,
    /// The other entries, in their order.
    pub(in crate::commands) parts: Vec<Part>,
    /// The secrets and sign-ins that are not in it.
    pub(in crate::commands) missing: Vec<String>,
}

/// An entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::commands) struct Part {
    /// The name of the entry.
    pub(in crate::commands) name: String,
    /// The setting that names the file, or the account of a sign-in; empty for ledger and configuration.
    pub(in crate::commands) of: String,
    size: u64,
    sha256: String,
}

/// The content of an entry to write.
pub(in crate::commands) struct NewEntry {
    pub(in crate::commands) name: String,
    pub(in crate::commands) of: String,
    pub(in crate::commands) bytes: Bytes,
}

/// The bytes of an entry: in memory, because they may be a secret, or in a file.
pub(in crate::commands) enum Bytes {
    Here(Vec<u8>),
    In(PathBuf),
}

impl Bytes {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Bytes::Here(bytes) => Ok(Box::new(&bytes[..])),
            Bytes::In(path) => Ok(Box::new(File::open(path)?)),
        }
    }
}

impl Manifest {
    pub(in crate::commands) fn of(at: Millis, contents: &[NewEntry], missing: Vec<String>) -> io::Result<Self> {
        let part = |content: &NewEntry| {
            let (size, sha256) = digest(&mut content.bytes.open()?)?;
            Ok(Part { name: content.name.clone(), of: content.of.clone(), size, sha256 })
        };
        let parts = contents.iter().map(part).collect::<io::Result<Vec<Part>>>()?;
        let (format, docsyncd) = (FORMAT.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Ok(Self { format, version: VERSION, docsyncd, at, parts, missing })
    }
}

fn digest(from: &mut dyn Read) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let size = io::copy(from, &mut HashWriter(&mut hash))?;
    Ok((size, hex(&hash.finalize())))
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the backup.
///
/// # Errors
/// Any error of the file system, or a part that is no longer as the manifest says.
pub(in crate::commands) fn write(
    to: &mut dyn Write,
    manifest: &Manifest,
    contents: &[NewEntry],
    passphrase: Option<SecretString>,
) -> io::Result<()> {
    match passphrase {
        None => pack(to, manifest, contents).map(drop),
        Some(passphrase) => encrypt(to, passphrase, |to| pack(to, manifest, contents).map(drop)),
    }
}

fn pack<W: Write>(to: W, manifest: &Manifest, contents: &[NewEntry]) -> io::Result<W> {
    let mut tar = tar::Builder::new(GzEncoder::new(to, Compression::fast()));
    let mtime = u64::try_from(manifest.at / 1000).unwrap_or(0);
    let mut append = |name: &str, size: u64, content: &mut dyn Read| {
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(mtime);
        tar.append_data(&mut header, name, content)
    };
    let text = serde_json::to_vec_pretty(manifest)?;
    append(MANIFEST, text.len() as u64, &mut &text[..])?;
    for (content, part) in contents.iter().zip(&manifest.parts) {
        append(&part.name, part.size, &mut content.bytes.open()?)?;
    }
    tar.into_inner()?.finish()
}

#[cfg(feature = "age")]
fn encrypt(
    to: &mut dyn Write,
    passphrase: SecretString,
    pack: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut encrypted = age::Encryptor::with_user_passphrase(passphrase).wrap_output(to)?;
    pack(&mut encrypted)?;
    encrypted.finish().map(drop)
}

#[cfg(not(feature = "age"))]
fn encrypt(_: &mut dyn Write, _: SecretString, _: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    Err(io::Error::other(NO_AGE))
}

#[cfg(not(feature = "age"))]
const NO_AGE: &str = "this docsyncd was built without encryption (the feature `age`)";

/// Why a backup cannot be read.
#[derive(Debug)]
pub(in crate::commands) enum Unreadable {
    /// The system's error.
    Io(io::Error),
    /// Its content cannot be written here.
    Unwritable(io::Error),
    /// The file is no backup.
    Foreign,
    /// It has a later version of the format.
    Newer(String),
    /// It is encrypted.
    Encrypted,
    /// The passphrase is wrong.
    #[cfg(feature = "age")]
    Passphrase,
    /// This program cannot decrypt it.
    #[cfg(not(feature = "age"))]
    NoAge,
    /// It is cut off or changed.
    Damaged(String),
}

impl Unreadable {
    /// The key of the text, and further details.
    pub(in crate::commands) fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Io(error) => ("restore-unreadable", error.to_string()),
            Self::Unwritable(error) => ("restore-unpacked", error.to_string()),
            Self::Foreign => ("restore-foreign", String::new()),
            Self::Newer(version) => ("restore-newer", version.clone()),
            Self::Encrypted => ("restore-encrypted", String::new()),
            #[cfg(feature = "age")]
            Self::Passphrase => ("restore-passphrase", String::new()),
            #[cfg(not(feature = "age"))]
            Self::NoAge => ("restore-no-age", String::new()),
            Self::Damaged(what) => ("restore-damaged", what.clone()),
        }
    }
}

/// Reads the whole backup, and compares each entry with the manifest. Returns the small entries, and writes the
/// ledger's bytes to `ledger`.
///
/// # Errors
/// [`Unreadable`]. What `ledger` got must be discarded then.
pub(in crate::commands) fn read(
    file: &Path,
    passphrase: Option<&SecretString>,
    ledger: &mut dyn Write,
) -> Result<(Manifest, BTreeMap<String, Vec<u8>>), Unreadable> {
    let mut packed = BufReader::new(File::open(file).map_err(Unreadable::Io)?);
    let start = packed.fill_buf().map_err(Unreadable::Io)?;
    if start.starts_with(AGE) {
        let Some(passphrase) = passphrase else { return Err(Unreadable::Encrypted) };
        return unpack(decrypt(packed, passphrase)?, ledger);
    }
    if start.starts_with(GZIP) { unpack(packed, ledger) } else { Err(Unreadable::Foreign) }
}

#[cfg(feature = "age")]
fn decrypt(packed: BufReader<File>, passphrase: &SecretString) -> Result<impl Read, Unreadable> {
    use age::DecryptError;
    /// The greatest cost of a passphrase, as a power of two: some seconds, and 4 GiB of memory.
    const MAX_WORK: u8 = 22;
    let wrong = |error: DecryptError| match error {
        DecryptError::Io(error) => Unreadable::Damaged(error.to_string()),
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => Unreadable::Passphrase,
        DecryptError::NoMatchingKeys => Unreadable::Foreign,
        DecryptError::ExcessiveWork { .. } => Unreadable::Damaged("its passphrase is too dear".to_owned()),
        _ => Unreadable::Damaged("its header".to_owned()),
    };
    let mut identity = age::scrypt::Identity::new(passphrase.clone());
    identity.set_max_work_factor(MAX_WORK);
    let decryptor = age::Decryptor::new_buffered(packed).map_err(wrong)?;
    decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity)).map_err(wrong)
}

#[cfg(not(feature = "age"))]
fn decrypt(_: BufReader<File>, _: &SecretString) -> Result<io::Empty, Unreadable> {
    Err(Unreadable::NoAge)
}

fn unpack(packed: impl Read, ledger: &mut dyn Write) -> Result<(Manifest, BTreeMap<String, Vec<u8>>), Unreadable> {
    let damaged = |error: io::Error| Unreadable::Damaged(error.to_string());
    let mut tar = tar::Archive::new(GzDecoder::new(packed));
    let mut entries = tar.entries().map_err(damaged)?;
    let first = entries.next().ok_or(Unreadable::Foreign)?.map_err(damaged)?;
    let manifest = manifest(first)?;
    let mut small = BTreeMap::new();
    for part in &manifest.parts {
        let broken = || Unreadable::Damaged(part.name.clone());
        let mut entry = entries.next().ok_or_else(broken)?.map_err(damaged)?;
        if entry.path_bytes() != part.name.as_bytes() || entry.size() != part.size {
            return Err(broken());
        }
        let mut hash = Sha256::new();
        if part.name == LEDGER {
            let mut both = Tee { hash: HashWriter(&mut hash), to: ledger, refused: None };
            let copied = io::copy(&mut entry, &mut both);
            if let Some(refused) = both.refused {
                return Err(Unreadable::Unwritable(refused));
            }
            copied.map_err(damaged)?;
        } else {
            let mut bytes = Vec::new();
            entry.take(MAX_PART + 1).read_to_end(&mut bytes).map_err(damaged)?;
            hash.update(&bytes);
            small.insert(part.name.clone(), bytes);
        }
        if hex(&hash.finalize()) != part.sha256 {
            return Err(broken());
        }
    }
    if entries.next().is_some() {
        return Err(Unreadable::Damaged("it has further entries".to_owned()));
    }
    // Reads to the end, because only the end shows whether gzip and age are complete.
    io::copy(&mut tar.into_inner(), &mut io::sink()).map_err(damaged)?;
    Ok((manifest, small))
}

fn manifest(mut entry: tar::Entry<'_, impl Read>) -> Result<Manifest, Unreadable> {
    if entry.path_bytes() != MANIFEST.as_bytes() {
        return Err(Unreadable::Foreign);
    }
    let mut text = Vec::new();
    entry.by_ref().take(MAX_PART).read_to_end(&mut text).map_err(|error| Unreadable::Damaged(error.to_string()))?;
    let manifest: Manifest = match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(json) if json.get("format").and_then(|format| format.as_str()) != Some(FORMAT) => {
            return Err(Unreadable::Foreign);
        }
        Ok(json) if json.get("version").and_then(serde_json::Value::as_u64) > Some(u64::from(VERSION)) => {
            let version = json.get("docsyncd").and_then(|version| version.as_str()).unwrap_or("?");
            return Err(Unreadable::Newer(version.chars().filter(|c| c.is_ascii_graphic()).take(20).collect()));
        }
        Ok(json) => serde_json::from_value(json).map_err(|_| Unreadable::Damaged(MANIFEST.to_owned()))?,
        Err(_) => return Err(Unreadable::Damaged(MANIFEST.to_owned())),
    };
    let has = |name: &str| manifest.parts.iter().any(|part| part.name == name);
    let too_large = manifest.parts.iter().any(|part| part.name != LEDGER && part.size > MAX_PART);
    if manifest.parts.len() > MAX_PARTS || too_large || !has(LEDGER) || !has(CONFIG) {
        return Err(Unreadable::Damaged(MANIFEST.to_owned()));
    }
    Ok(manifest)
}

/// Writes to both, and distinguishes an error of the second from one of the reader.
struct Tee<'a> {
    hash: HashWriter<'a>,
    to: &'a mut dyn Write,
    refused: Option<io::Error>,
}

impl Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.to.write_all(bytes) {
            self.refused = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        self.hash.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(size: usize) -> Vec<NewEntry> {
        let content = |name: &str, of: &str, bytes: &[u8]| NewEntry {
            name: name.to_owned(),
            of: of.to_owned(),
            bytes: Bytes::Here(bytes.to_vec()),
        };
        let ledger: Vec<u8> = (0..=250u8).cycle().take(size).collect();
        vec![content(CONFIG, "", b"[api]\n"), content("secrets/0", "a.b", b"key"), content(LEDGER, "", &ledger)]
    }

    fn backup(folder: &Path, passphrase: Option<&str>) -> PathBuf {
        let (contents, path) = (contents(40_000), folder.join("backup"));
        let manifest = Manifest::of(5, &contents, vec!["x".to_owned()]).unwrap();
        let mut file = Vec::new();
        write(&mut file, &manifest, &contents, passphrase.map(SecretString::from)).unwrap();
        std::fs::write(&path, file).unwrap();
        path
    }

    #[test]
    fn what_was_written_is_read_and_nothing_of_it_when_a_byte_is_missing_or_another() {
        for passphrase in [None, Some("a long one")] {
            let folder = tempfile::tempdir().unwrap();
            let (path, secret) = (backup(folder.path(), passphrase), passphrase.map(SecretString::from));
            let mut ledger = Vec::new();
            let (manifest, small) = read(&path, secret.as_ref(), &mut ledger).unwrap();
            let Bytes::Here(expected) = &contents(40_000)[2].bytes else { unreachable!() };
            assert!(ledger == *expected && manifest.at == 5 && manifest.missing == ["x"]);
            assert_eq!((small[CONFIG].as_slice(), small["secrets/0"].as_slice()), (&b"[api]\n"[..], &b"key"[..]));
            let whole = std::fs::read(&path).unwrap();
            let steps = if passphrase.is_some() { 4 } else { 60 };
            for at in (0..whole.len()).step_by(whole.len() / steps + 1).chain([whole.len() - 1]) {
                std::fs::write(&path, &whole[..at]).unwrap();
                assert!(read(&path, secret.as_ref(), &mut io::sink()).is_err(), "cut off at {at}");
                let mut other = whole.clone();
                other[at] ^= 0x10;
                std::fs::write(&path, &other).unwrap();
                // The time and the system in gzip's header do not matter.
                let is_read = read(&path, secret.as_ref(), &mut io::sink()).is_ok();
                assert!(!is_read || passphrase.is_none() && (3..10).contains(&at), "changed at {at}");
            }
        }
    }

    #[test]
    fn an_encrypted_one_asks_for_its_passphrase_and_shows_nothing_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = backup(folder.path(), Some("right"));
        let wrong = SecretString::from("wrong");
        assert!(matches!(read(&path, None, &mut io::sink()), Err(Unreadable::Encrypted)));
        assert!(matches!(read(&path, Some(&wrong), &mut io::sink()), Err(Unreadable::Passphrase)));
        std::fs::write(&path, b"%PDF-1.7 a letter").unwrap();
        assert!(matches!(read(&path, None, &mut io::sink()), Err(Unreadable::Foreign)));
    }

    #[test]
    fn a_ledger_that_has_no_room_is_no_damage() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = backup(folder.path(), None);
        assert!(matches!(read(&path, None, &mut Full), Err(Unreadable::Unwritable(_))));
    }
}
