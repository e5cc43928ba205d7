//! What proves that a destination's software took a letter (docs/destinations.md).

use std::time::Duration;

use crate::formats::sidecar::Charset;

/// `confirm`, `confirm_failed`, `confirm_within`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    /// The software took the letter if this is seen.
    pub success: Evidence,
    /// It refused the letter if this is seen, whatever else is: [`Evidence::Moved`] or [`Evidence::Sidecar`].
    pub failed: Option<Evidence>,
    /// Somebody gets an alert if no evidence was seen for so long.
    pub within: Duration,
    /// The sidecar's encoding.
    pub charset: Charset,
}

impl Confirm {
    /// Whether another file than the one that was put there shows what became of it.
    pub fn is_in_another_file(&self) -> bool {
        self.success == Evidence::Renamed || self.folders().next().is_some()
    }

    /// The folders that letters are moved to, below the destination's own.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        [Some(&self.success), self.failed.as_ref()].into_iter().flatten().filter_map(|evidence| match evidence {
            Evidence::Moved(folder) => Some(folder.as_str()),
            _ => None,
        })
    }
}

/// What the software of a destination does with a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// It takes the file away.
    Taken,
    /// It moves the file into this folder below the destination's own; with `/`.
    Moved(String),
    /// It renames the file in the same folder.
    Renamed,
    /// It writes this into the sidecar.
    Sidecar(SidecarLine),
    /// It shows the letter at `probe_url`.
    Probe,
    /// A query shows the letter.
    Query,
}

/// `KEY=VALUE` or `KEY!=VALUE`, as a line of a sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SidecarLine {
    key: String,
    value: String,
    /// Whether the key has the value, or another one.
    is: bool,
}

impl SidecarLine {
    /// Parses a line; `None` if it has no key.
    pub fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once('=')?;
        let (key, is) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        let key = plain(key);
        (!key.is_empty()).then(|| Self { key, value: value.trim().to_owned(), is })
    }

    /// Whether it requires that the key has another value.
    pub fn is_negative(&self) -> bool {
        !self.is
    }

    /// Whether a line of the text matches. A missing key matches nothing.
    pub fn holds_in(&self, text: &str) -> bool {
        let said = text.trim_start_matches('\u{feff}').lines().filter_map(|line| line.split_once('='));
        said.into_iter().any(|(key, value)| plain(key) == self.key && (value.trim() == self.value) == self.is)
    }
}

/// The key without white space, in lower case: neither counts.
fn plain(key: &str) -> String {
    key.split_whitespace().collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_whatever_the_white_space_and_the_letter_case_of_its_key() {
        for (line, text, expected) in [
            ("READY=1", "READY=1", true),
            ("READY=1", "\u{feff}[PATID]\r\n ready = 1 \r\nERRORLEVEL=0\r\n", true),
            ("ready = 1", "READY\t=1", true),
            ("READY=1", "READY=0\nREADY=1\n", true),
            ("READY=1", "READY=10\nREADY=\nNOTREADY=1\n; READY\n", false),
            ("READY=1", "", false),
            ("state=Done", "STATE=done", false),
            ("state=", "state=", true),
            ("text=a=b", "text=a=b", true),
            ("ERRORLEVEL!=0", "ERRORLEVEL=12", true),
            ("ERRORLEVEL!=0", "ErrorLevel = 0", false),
            ("ERRORLEVEL!=0", "ERRORLEVEL=", true),
            ("ERRORLEVEL!=0", "READY=1", false),
        ] {
            assert_eq!(SidecarLine::parse(line).unwrap().holds_in(text), expected, "{line} in {text:?}");
        }
        for none in ["", "READY", "=1", " =1", "!=1"] {
            assert_eq!(SidecarLine::parse(none), None, "{none}");
        }
    }
}
