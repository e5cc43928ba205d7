//! The errors of a configuration, collected so that a person sees all of them at once.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::system::readers::as_whom;

/// Why there is no configuration. The program ends with exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no such file.
    #[error("{}: there is no such configuration file\n  `docsyncd setup` asks what is needed and writes one, `docsyncd config init` writes a commented one; or name yours with --config FILE.", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{}: this is a folder, not a configuration file\n  Name the file itself with --config FILE; `config init` writes a commented one.", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("{}: the configuration file cannot be read{}: {error}\n  The user that runs docsyncd needs the right to read it.", path.display(), as_whom())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is larger than any configuration.
    #[error("{}: the file is larger than {limit} bytes, so it is no configuration file\n  Name the right file with --config FILE; `config init` writes a commented one.", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
    },
    /// The content is not UTF-8.
    #[error("{}, line {line}: the file is not UTF-8 text\n  Save it as UTF-8: in Windows Notepad with File, Save as, Encoding: UTF-8.", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first line that is not UTF-8, counted from 1.
        line: usize,
    },
    /// The content has errors.
    #[error("{}", Listing(.path, .problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All errors, in the order of the file; never empty.
        problems: Vec<Problem>,
        /// `state.path`, if that much can be read.
        ledger: Option<PathBuf>,
    },
}

impl ConfigError {
    /// What is wrong and the first thing to do, in one sentence: of several mistakes the first, and how many others
    /// there are.
    pub fn in_short(&self) -> String {
        match self {
            Self::Invalid { path, problems, .. } => {
                let first = problems.first().map(|first| {
                    let fix = first.fix.lines().next().and_then(|line| line.split(". ").next()).unwrap_or_default();
                    let mut letters = fix.trim_end_matches('.').chars();
                    let begin = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
                    format!("{}: {}; {begin}{}", Location(path, &first.origin), first.what, letters.as_str())
                });
                let others = match problems.len() {
                    0 | 1 => String::new(),
                    2 => ", and 1 more mistake".to_owned(),
                    several => format!(", and {} more mistakes", several - 1),
                };
                first.unwrap_or_default() + &others
            }
            other => other.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// The origin of a value. The layers carry it as text, because a `config::Value` can only hold that.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Not given.
    Default,
    /// The file, in this line, counted from 1.
    Line(usize),
    /// An environment variable.
    Variable(String),
}

impl Origin {
    /// The inverse of `to_string`.
    pub fn from_text(text: &str) -> Self {
        match text.strip_prefix("line ").map(str::parse) {
            Some(Ok(line)) => Self::Line(line),
            _ if text == "default" => Self::Default,
            _ => Self::Variable(text.to_owned()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The origin of the wrong value; `Default` if it is missing.
    pub origin: Origin,
    /// What is wrong, with the full key.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// An error in a single value, whose place is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Continues a sentence that begins with the key: "is not a duration".
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

impl Complaint {
    /// A complaint.
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Collects errors and warnings.
#[derive(Debug, Default)]
pub struct Report {
    problems: Vec<Problem>,
    warnings: Vec<(Origin, String)>,
    wrong: HashSet<String>,
}

impl Report {
    /// Reports an error.
    pub fn error(&mut self, origin: Origin, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(Problem { origin, what: what.into(), fix: fix.into() });
    }

    /// Rejects the value of `key`, so that its absence is no second error.
    pub fn reject(&mut self, key: &str, origin: Origin, complaint: Complaint) {
        self.wrong.insert(key.to_owned());
        self.error(origin, format!("`{key}` {}", complaint.what), complaint.fix);
    }

    /// Another reported key probably means `key`, so that its absence is no second error.
    pub fn excuse(&mut self, key: &str) {
        self.wrong.insert(key.to_owned());
    }

    /// Whether the value of `key` was rejected, or is given under an unknown name.
    pub fn is_wrong(&self, key: &str) -> bool {
        self.wrong.contains(key)
    }

    /// Warns of something odd that may be intended.
    pub fn warn(&mut self, origin: Origin, what: impl Into<String>) {
        self.warnings.push((origin, what.into()));
    }

    /// Whether there are errors so far.
    pub fn has_errors(&self) -> bool {
        !self.problems.is_empty()
    }

    /// All errors, in the order of the file, then by variable.
    pub fn into_error(self, path: PathBuf, ledger: Option<PathBuf>) -> ConfigError {
        let mut problems = self.problems;
        problems.sort_by(|a, b| a.origin.cmp(&b.origin));
        ConfigError::Invalid { path, problems, ledger }
    }

    /// The warnings, each with its place.
    pub fn into_warnings(self, path: &std::path::Path) -> Vec<String> {
        let mut warnings = self.warnings;
        warnings.sort();
        warnings.into_iter().map(|(origin, what)| format!("{}: {what}", Location(path, &origin))).collect()
    }
}

/// A place in the form in which a person looks for it.
pub struct Location<'a>(pub &'a std::path::Path, pub &'a Origin);

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Origin::Default => write!(f, "{}", self.0.display()),
            Origin::Line(line) => write!(f, "{}, line {line}", self.0.display()),
            Origin::Variable(name) => write!(f, "environment variable {name}"),
        }
    }
}

struct Listing<'a>(&'a std::path::Path, &'a [Problem]);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(path, problems) = self;
        if problems.len() > 1 {
            writeln!(f, "the configuration has {} errors:", problems.len())?;
        }
        for (index, problem) in problems.iter().enumerate() {
            let end = if index + 1 == problems.len() { "" } else { "\n" };
            let fix = problem.fix.replace('\n', "\n  ");
            write!(f, "{}: {}\n  {fix}{end}", Location(path, &problem.origin), problem.what)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_short_it_is_one_sentence_however_much_is_wrong() {
        let mut report = Report::default();
        for line in [3, 1, 2] {
            report.error(Origin::Line(line), format!("`{line}` is wrong"), "Write it.\nOr leave it out.");
        }
        let short = report.into_error("a.toml".into(), None).in_short();
        assert_eq!(short, "a.toml, line 1: `1` is wrong; write it, and 2 more mistakes");
        let missing = ConfigError::Missing { path: "a.toml".into() }.in_short();
        assert_eq!(missing, "a.toml: there is no such configuration file");
    }

    #[test]
    fn an_origin_survives_as_text() {
        for origin in [Origin::Default, Origin::Line(12), Origin::Variable("DOCSYNCD__API__TIMEOUT".into())] {
            assert_eq!(Origin::from_text(&origin.to_string()), origin);
        }
    }
}
