//! All output of commands passes through here. Text from outside (a patient's name, a server's words) can then not move
//! the cursor, colour a line, or reverse it.
//!
//! This file does not know which text is a name. Whoever writes a name into a line calls [`in_line`], so that the name
//! does not begin a line of its own.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use crate::domain::name;

/// What is printed, which decides about characters that a terminal obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text for people. The characters are left out.
    Text,
    /// JSON. The characters are escaped (RFC 8259, section 7), so that programs read the exact value.
    Json,
    /// Output for programs. The characters stay, except on a terminal.
    Exact,
}

/// Whether a terminal obeys the character: control characters (ECMA-48, also those of eight bits), and characters that
/// change the direction of text or end a line (Unicode Standard Annexes 9 and 14). docsyncd's own texts contain line
/// ends and tabs.
fn is_obeyed(c: char) -> bool {
    !matches!(c, '\n' | '\t') && (c.is_control() || name::is_bidirectional(c) || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// The text without the characters that a terminal obeys.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) { text.replace(is_obeyed, "").into() } else { text.into() }
}

/// A value from outside for one line of text, so without line ends, too.
pub(super) fn in_line(value: &str) -> Cow<'_, str> {
    if value.contains(['\n', '\r', '\t']) {
        harmless(&value.replace(['\n', '\r', '\t'], " ")).into_owned().into()
    } else {
        harmless(value)
    }
}

/// JSON for printing. Only its strings can contain characters that are not harmless.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return json.into();
    }
    let each = json.chars().map(|c| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() });
    each.collect::<String>().into()
}

/// A writer that passes on only harmless text. Each write must consist of whole characters.
pub(super) struct Harmless<W> {
    to: W,
    form: Form,
}

impl<W: Write> Harmless<W> {
    pub(super) fn new(to: W, form: Form) -> Self {
        Self { to, form }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = || String::from_utf8_lossy(bytes);
        match self.form {
            Form::Text => self.to.write_all(harmless(&text()).as_bytes()),
            Form::Json => self.to.write_all(escaped(&text()).as_bytes()),
            Form::Exact => self.to.write_all(bytes),
        }?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Standard output.
pub(super) fn output(form: Form) -> Harmless<io::StdoutLock<'static>> {
    let form = if form == Form::Exact && io::stdout().is_terminal() { Form::Text } else { form };
    Harmless::new(io::stdout().lock(), form)
}

/// Clears the screen and begins at its top (ECMA-48, ED and CUP).
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Draws the whole screen of the terminal anew.
pub(super) fn redraw(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{CLEAR}{}", harmless(text)).as_bytes()).and_then(|()| out.flush())
}

/// Standard error.
pub(super) fn error() -> Harmless<io::StderrLock<'static>> {
    Harmless::new(io::stderr().lock(), Form::Text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// ESC, BEL, CSI and NEL of eight bits, DEL, directions, separators.
    const ORDERS: &str = "\u{1b}\u{7}\u{8}\r\u{9b}\u{85}\u{7f}\u{202e}\u{2066}\u{61c}\u{2028}\u{2029}";

    fn written(text: &str, form: Form) -> String {
        let mut out = Vec::new();
        Harmless::new(&mut out, form).write_all(text.as_bytes()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_obeys_and_a_program_gets_what_was_meant() {
        let name = format!("Zoé{ORDERS}\nDupont\t—");
        assert_eq!(written(&name, Form::Text), "Zoé\nDupont\t—");
        assert_eq!(in_line(&name), "Zoé  Dupont —", "a line end of two characters is two spaces");
        assert_eq!(in_line("Zoé Dupont"), "Zoé Dupont");
        assert_eq!(written(&name, Form::Exact), name);
        let json = serde_json::to_string_pretty(&[&name]).unwrap();
        let shown = written(&json, Form::Json);
        assert!(!shown.contains(is_obeyed), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [name]);
    }

    /// A command that writes to a stream directly would bypass this, so the sources are searched for such calls.
    #[test]
    fn every_command_prints_through_here() {
        // `logging` cleans log lines. The questions of `setup` draw with escapes, and clean what they draw.
        let may = ["harmless.rs", "run.rs", "sync.rs", "line.rs"];
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands")];
        let (mut around, mut seen) = (Vec::new(), 0);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                seen += 1;
                let source = std::fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap();
                let lines = source.lines().filter(|line| {
                    let streams = ["io::stdout()", "io::stderr()"].iter().any(|name| line.contains(name));
                    (streams && !line.contains("is_terminal()"))
                        || line.contains("print!(")
                        || line.contains("println!(")
                });
                let is_free = may.iter().any(|name| path.ends_with(name));
                around.extend(lines.filter(|_| !is_free).map(|line| format!("{}: {line}", path.display())));
            }
        }
        assert!(seen > 40 && around.is_empty(), "{around:#?}");
    }
}
