//! A program that takes documents, says when it began, and goes on only when it is told to.

use std::path::PathBuf;

use super::{PATIENCE, Practice};

/// The program. Its signs are files: it makes `began` when it begins, and waits for `go-on`, which it takes away.
pub struct Held {
    script: PathBuf,
    began: PathBuf,
    go_on: PathBuf,
    done: PathBuf,
}

#[cfg(unix)]
const PROGRAM: (&str, &str) = ("sh", "held.sh");
// It ends with the test's folder, also when the daemon that called it was killed.
#[cfg(unix)]
const SCRIPT: &str = r#"echo began > "$1"
until [ -e "$2" ]; do [ -e "$0" ] || exit 1; sleep 0.02; done
rm "$2"
echo done >> "$3"
"#;

// `ping` is how a batch file waits; `call` and `choice` want a console.
#[cfg(windows)]
const PROGRAM: (&str, &str) = ("cmd", "held.cmd");
#[cfg(windows)]
const SCRIPT: &str = "@echo off\r\necho began>%1\r\n:wait\r\nif exist %2 goto go\r\n\
    ping -n 1 -w 50 127.0.0.1 >nul\r\ngoto wait\r\n:go\r\ndel %2\r\necho done>>%3\r\n";

impl Held {
    pub fn new(practice: &Practice) -> Self {
        let [script, began, go_on, done] = [PROGRAM.1, "began", "go-on", "done"].map(|name| practice.path(name));
        std::fs::write(&script, SCRIPT).unwrap();
        Self { script, began, go_on, done }
    }

    /// The table of a destination that is this program.
    pub fn destination(&self, name: &str) -> String {
        let [script, began, go_on, done] =
            [&self.script, &self.began, &self.go_on, &self.done].map(|path| path.display());
        let first = if cfg!(windows) { "\"/D\", \"/C\", " } else { "" };
        format!(
            "[destinations.{name}]\ntype = \"command\"\nprogram = \"{}\"\ntimeout = \"10m\"\n\
             args = [{first}'{script}', '{began}', '{go_on}', '{done}']\n",
            PROGRAM.0
        )
    }

    /// Waits until it has begun, and takes the sign away.
    pub async fn until_begun(&self) {
        until(|| std::fs::remove_file(&self.began).is_ok(), "the program begins").await;
    }

    /// Lets it go on, and waits until it has seen that.
    pub async fn go_on(&self) {
        std::fs::write(&self.go_on, "").unwrap();
        until(|| !self.go_on.exists(), "the program goes on").await;
    }

    /// How many documents it has taken.
    pub fn handed_over(&self) -> usize {
        std::fs::read_to_string(&self.done).map_or(0, |text| text.lines().count())
    }
}

async fn until(holds: impl Fn() -> bool, what: &str) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
