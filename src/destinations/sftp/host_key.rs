//! Whether a server is the right one. There is no trust on first use: an unknown key is never believed, nor a changed
//! one.

use std::path::Path;

use ring::hmac;
use russh::keys::ssh_key::known_hosts::{Entry, HostPatterns, KnownHosts, Marker};
use russh::keys::{Algorithm, HashAlg, PublicKey};

use crate::destinations::SshHostKey;

/// The longest known_hosts file, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// What is known about a server.
#[derive(Debug, Clone)]
pub(super) enum Trust {
    /// Nothing is configured.
    Nothing,
    /// The fingerprint of its key.
    Fingerprint(String),
    /// The keys that a file lists for it, and those that it calls revoked.
    Keys { good: Vec<PublicKey>, revoked: Vec<PublicKey> },
}

/// How the key that a server shows compares with what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server's key.
    Known,
    /// Another key than those with these fingerprints.
    Changed(Vec<String>),
    /// The file has no key for this server.
    Unknown,
    /// Nothing is configured.
    Unconfigured,
    /// The file calls it revoked.
    Revoked,
}

/// A key that a server showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenKey {
    pub(super) fingerprint: String,
    /// As in `ssh-ed25519`.
    pub(super) algorithm: String,
    /// The line for a known_hosts file.
    pub(super) line: String,
    pub(super) verdict: Verdict,
}

/// The fingerprint of a key as `ssh-keygen -l` prints it.
pub(super) fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}

impl Trust {
    /// What the configuration says about this server.
    ///
    /// # Errors
    /// The known_hosts file cannot be read; in words that may be logged.
    pub(super) fn of(configured: Option<&SshHostKey>, host: &str, port: u16) -> Result<Self, String> {
        match configured {
            None => Ok(Self::Nothing),
            Some(SshHostKey::Fingerprint(text)) => Ok(Self::Fingerprint(text.clone())),
            Some(SshHostKey::KnownHosts(path)) => Ok(Self::of_lines(&read(path)?, host, port)),
        }
    }

    /// Reads the lines of a known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). Invalid lines and certificate
    /// authorities count for nothing.
    fn of_lines(text: &str, host: &str, port: u16) -> Self {
        let host = host.to_ascii_lowercase();
        let name = if port == 22 { host } else { format!("[{host}]:{port}") };
        let (mut good, mut revoked) = (Vec::new(), Vec::new());
        for entry in KnownHosts::new(text).flatten().filter(|entry| is_of(entry, &name)) {
            match entry.marker() {
                None => good.push(entry.public_key().clone()),
                Some(Marker::Revoked) => revoked.push(entry.public_key().clone()),
                Some(Marker::CertAuthority) => {}
            }
        }
        Self::Keys { good, revoked }
    }

    /// Compares this key.
    pub(super) fn judge(&self, key: &PublicKey) -> Verdict {
        let is = |known: &PublicKey| known.key_data() == key.key_data();
        match self {
            Self::Nothing => Verdict::Unconfigured,
            Self::Fingerprint(known) if *known == fingerprint(key) => Verdict::Known,
            Self::Fingerprint(known) => Verdict::Changed(vec![known.clone()]),
            Self::Keys { revoked, .. } if revoked.iter().any(is) => Verdict::Revoked,
            Self::Keys { good, .. } if good.iter().any(is) => Verdict::Known,
            Self::Keys { good, .. } if good.is_empty() => Verdict::Unknown,
            Self::Keys { good, .. } => Verdict::Changed(good.iter().map(fingerprint).collect()),
        }
    }

    /// The kinds of keys to request: those that are known for the server, or else all.
    pub(super) fn algorithms(&self) -> Vec<Algorithm> {
        let mut all = russh::Preferred::DEFAULT.key.to_vec();
        // A signature over SHA-1 proves nothing.
        all.retain(|algorithm| !matches!(algorithm, Algorithm::Rsa { hash: None }));
        if let Self::Keys { good, .. } = self
            && !good.is_empty()
        {
            all.retain(|algorithm| good.iter().any(|key| is_of_kind(algorithm, &key.algorithm())));
        }
        all
    }
}

/// Whether two algorithms sign with the same kind of key.
pub(super) fn is_of_kind(one: &Algorithm, other: &Algorithm) -> bool {
    one == other || matches!((one, other), (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }))
}

fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| {
        format!("known_hosts_file {shown} cannot be read: {error}. Make it with ssh-keyscan, and compare what it says")
    };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_FILE {
        return Err(format!("known_hosts_file {shown} is larger than {MAX_FILE} bytes: is it that file?"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_of(entry: &Entry, name: &str) -> bool {
    match entry.host_patterns() {
        HostPatterns::HashedName { salt, hash } => {
            let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, salt);
            hmac::verify(&key, name.as_bytes(), hash).is_ok()
        }
        HostPatterns::Patterns(patterns) => {
            let matches = |pattern: &str| is_like(pattern.to_ascii_lowercase().as_bytes(), name.as_bytes());
            let denied = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(matches);
            !denied && patterns.iter().filter(|pattern| !pattern.starts_with('!')).any(|pattern| matches(pattern))
        }
    }
}

/// `*` stands for any characters, `?` for one (ssh_config(5), "PATTERNS").
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), None) => is_like(rest, name),
        (Some((b'*', rest)), Some((_, shorter))) => is_like(rest, name) || is_like(pattern, shorter),
        (Some((letter, rest)), Some((wanted, behind))) => [*wanted, b'?'].contains(letter) && is_like(rest, behind),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

impl SeenKey {
    pub(super) fn of(key: &PublicKey, verdict: Verdict) -> Self {
        // Without its comment, which is free text.
        let plain = PublicKey::from(key.key_data().clone());
        Self {
            fingerprint: fingerprint(key),
            algorithm: key.algorithm().to_string(),
            line: plain.to_openssh().unwrap_or_default(),
            verdict,
        }
    }

    /// What a person must know and do; `None` if the key is the server's. `server` is its name with its port.
    pub(super) fn complaint(&self, server: &str) -> Option<String> {
        let Self { fingerprint, algorithm, line, verdict } = self;
        Some(match verdict {
            Verdict::Known => return None,
            Verdict::Unconfigured => format!(
                "it has neither `host_key` nor `known_hosts_file`. {server} shows {fingerprint} ({algorithm}): ask its operator \
                 whether that is right, and write host_key = \"{fingerprint}\""
            ),
            Verdict::Unknown => format!(
                "its `known_hosts_file` has no key of {server}, which shows {fingerprint} ({algorithm}): ask its operator whether \
                 that is right, and add the line: {server} {line}"
            ),
            Verdict::Changed(known) => format!(
                "the key of {server} is not the one that is known: it shows {fingerprint} ({algorithm}), and {} is expected. \
                 Somebody may have put a machine in between: nothing is sent. Ask its operator; only if the key was changed \
                 there, write the new one",
                known.join(" or ")
            ),
            Verdict::Revoked => format!(
                "the key of {server}, {fingerprint} ({algorithm}), is revoked by its `known_hosts_file`: nothing is sent. Ask its \
                 operator for the new one"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKhzQnTtglHBhuHmRgEr52dk4sM2HHlBqmh3UI8mlIgf";
    const OTHER: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBhzIPHY06aDxsI2Dj5CUyRhEeTja9nz1EjnSTIpirqt";
    const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHx4gjlBQJ8uTGQaXRDifjSdXJm2bPGodvKXJPesGmXGWEvMmof1p/chNPyg5eGN28Poby2LSAlacTooZSayzSI=";
    /// `ssh-keygen -H` of `[sftp.lab.test]:2222` with the first key.
    const HASHED: &str = "|1|0Jl4TOHHT7GplypHWaJs+5/E7t4=|1VbQX90jymSlGX8FqF+g5u8mJi8= ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKhzQnTtglHBhuHmRgEr52dk4sM2HHlBqmh3UI8mlIgf";

    fn key(text: &str) -> PublicKey {
        PublicKey::from_openssh(text).unwrap()
    }

    fn judge(lines: &str, host: &str, port: u16, shown: &str) -> Verdict {
        Trust::of_lines(lines, host, port).judge(&key(shown))
    }

    #[test]
    fn a_file_of_known_servers_is_read_as_openssh_reads_it() {
        let line = |hosts: &str| format!("# a remark\n\nnonsense\n{hosts} {ONE}\n");
        let changed = Verdict::Changed(vec![fingerprint(&key(ONE))]);
        for (hosts, host, port, shown, expected) in [
            ("sftp.lab.test", "sftp.lab.test", 22, ONE, Verdict::Known),
            ("sftp.lab.test", "SFTP.lab.test", 22, ONE, Verdict::Known),
            ("a.test,sftp.lab.test", "sftp.lab.test", 22, ONE, Verdict::Known),
            ("sftp.lab.test", "sftp.lab.test", 22, OTHER, changed.clone()),
            ("sftp.lab.test", "sftp.lab.test", 22, ECDSA, changed),
            ("sftp.lab.test", "sftp.lab.test", 2222, ONE, Verdict::Unknown),
            ("[sftp.lab.test]:2222", "sftp.lab.test", 2222, ONE, Verdict::Known),
            ("*.lab.test", "sftp.lab.test", 22, ONE, Verdict::Known),
            ("sftp?.lab.*", "sftp1.lab.test", 22, ONE, Verdict::Known),
            ("*.lab.test,!sftp.lab.test", "sftp.lab.test", 22, ONE, Verdict::Unknown),
            ("@revoked *", "sftp.lab.test", 22, ONE, Verdict::Revoked),
            ("@cert-authority *", "sftp.lab.test", 22, ONE, Verdict::Unknown),
        ] {
            assert_eq!(judge(&line(hosts), host, port, shown), expected, "{hosts} for {host}:{port}");
        }
        assert_eq!(judge(HASHED, "sftp.lab.test", 2222, ONE), Verdict::Known);
        assert_eq!(judge(HASHED, "sftp.lab.test", 22, ONE), Verdict::Unknown);
        let revoked = format!("h {ONE}\n@revoked * {ONE}\n");
        assert_eq!(judge(&revoked, "h", 22, ONE), Verdict::Revoked);
    }

    #[test]
    fn only_the_kinds_of_keys_that_are_known_are_asked_for() {
        let of = |text: &str| {
            Trust::of_lines(text, "h", 22).algorithms().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(&format!("h {ONE}")), ["ssh-ed25519"]);
        assert_eq!(of(&format!("h {ECDSA}")), ["ecdsa-sha2-nistp256"]);
        let all = of("");
        assert!(all.len() > 4 && !all.contains(&"ssh-rsa".to_owned()), "{all:?}");
    }

    #[test]
    fn a_person_is_told_both_fingerprints_and_what_to_do() {
        let verdict = Trust::Fingerprint(fingerprint(&key(OTHER))).judge(&key(ONE));
        let told = SeenKey::of(&key(ONE), verdict).complaint("h:22").unwrap();
        assert!(told.contains(&fingerprint(&key(ONE))) && told.contains(&fingerprint(&key(OTHER))), "{told}");
        let told = SeenKey::of(&key(ONE), Trust::Nothing.judge(&key(ONE))).complaint("h:22").unwrap();
        assert!(told.contains(&format!("host_key = \"{}\"", fingerprint(&key(ONE)))), "{told}");
        let right = Trust::Fingerprint(fingerprint(&key(ONE))).judge(&key(ONE));
        assert_eq!(SeenKey::of(&key(ONE), right).complaint("h:22"), None);
    }
}
