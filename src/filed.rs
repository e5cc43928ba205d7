//! Which files of a destination hold which document. Two documents may have the same content and want the same name: only
//! this tells the file of one from that of the other.
//!
//! Pure. It knows digests only, so what is kept of a file tells neither its name nor what is in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::document::hex;

/// A file with its content: 32 lower-case hexadecimal digits of a SHA-256 over both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileDigest(String);

impl FileDigest {
    /// Of the content's SHA-256 and the file's path, links followed.
    pub fn of(sha256: &str, path: &Path) -> Self {
        let mut text = sha256.to_ascii_lowercase();
        // Writing to a String cannot fail.
        let _ = write!(text, "\0{}", without_case(path));
        let mut digits = hex(&Sha256::digest(text.as_bytes()));
        digits.truncate(32);
        Self(digits)
    }

    /// As it was kept.
    pub fn kept(digits: String) -> Self {
        Self(digits)
    }

    /// To be kept.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The path without letter case, which some file systems ignore, and with `/` on every system.
pub fn without_case(path: &Path) -> String {
    path.to_string_lossy().to_lowercase().replace('\\', "/")
}

/// Where documents with the content of one were filed, as far as it is known: whatever became of the files since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filed {
    own: BTreeSet<FileDigest>,
    others: BTreeSet<FileDigest>,
    /// Whether another document with the content is being delivered: a crash may have left a file of it that nobody knows.
    pub another_waits: bool,
}

impl Filed {
    /// Adds a file of the document itself or of another one.
    pub fn add(&mut self, file: FileDigest, own: bool) {
        if own {
            self.own.insert(file)
        } else {
            self.others.insert(file)
        };
    }

    /// Whether the document itself was filed there.
    pub fn is_own(&self, file: &FileDigest) -> bool {
        self.own.contains(file)
    }

    /// Whether another document was filed there, and not the document itself: names that differ in letter case only are
    /// two files on a disk that minds it.
    pub fn is_anothers(&self, file: &FileDigest) -> bool {
        self.others.contains(file) && !self.own.contains(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_content_and_path_and_not_by_letter_case() {
        let of = |content: &str, path: &str| FileDigest::of(content, Path::new(path));
        // From an independent implementation: the ledger keeps them.
        assert_eq!(of("ab12", "/inbox/Müller.pdf").as_str(), "87fd342183fa915357b7a7851c98b619");
        assert_eq!(of("AB12", "/inbox/MÜLLER.pdf"), of("ab12", "/inbox/Müller.pdf"));
        assert_ne!(of("ab12", "/inbox/a.pdf"), of("ab12", "/inbox/b.pdf"));
        assert_ne!(of("ab12", "/inbox/a.pdf"), of("ab13", "/inbox/a.pdf"));
    }
}
