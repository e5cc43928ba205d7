//! Long output through a pager, like git: only on a terminal, and never if a program reads.
//!
//! `DOCSYNCD_PAGER`, otherwise `PAGER`, otherwise `less`; `cat` or an empty value means none. The value is a program
//! with arguments, not a line for a shell. Commands that `less` could start are disabled, because it may run with
//! another user's rights (sudo).

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::harmless::{self, Form, Harmless};

/// Where output goes.
pub(super) enum Out {
    /// The pager, and its standard input.
    Pager(Child, Option<Harmless<ChildStdin>>),
    /// Standard output.
    Plain(Harmless<io::StdoutLock<'static>>),
}

impl Out {
    /// The pager if standard output is a terminal and there is one, otherwise standard output.
    pub(super) fn open() -> Self {
        Self::start(&[])
    }

    /// [`Self::open`], for lines longer than the terminal's width. `less` scrolls sideways instead of wrapping them. It
    /// also stays if there are few lines, because otherwise nobody would see their ends.
    pub(super) fn of_long_lines() -> Self {
        Self::start(&["-S", "-+F"])
    }

    fn start(for_less: &[&str]) -> Self {
        let wanted = io::stdout().is_terminal().then(|| wanted(|name| std::env::var(name).ok())).flatten();
        match wanted.and_then(|words| start(&with(words, for_less))) {
            Some(mut pager) => {
                let into = pager.stdin.take().map(|into| Harmless::new(into, Form::Text));
                Self::Pager(pager, into)
            }
            None => Self::Plain(harmless::output(Form::Text)),
        }
    }

    /// Waits until the person leaves the pager.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn close(self) -> io::Result<()> {
        match self {
            Self::Pager(mut pager, into) => {
                drop(into);
                pager.wait().map(drop)
            }
            Self::Plain(mut out) => out.flush(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pager(_, Some(into)) => into.write(bytes),
            Self::Pager(_, None) => Err(io::ErrorKind::BrokenPipe.into()),
            Self::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Pager(_, into) => into.as_mut().map_or(Ok(()), Write::flush),
            Self::Plain(out) => out.flush(),
        }
    }
}

/// The program and its arguments; `None`: no pager.
fn wanted(variable: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let usual = if cfg!(windows) { "" } else { "less" };
    let chosen = variable("DOCSYNCD_PAGER").or_else(|| variable("PAGER")).unwrap_or_else(|| usual.to_owned());
    let words: Vec<String> = chosen.split_whitespace().map(str::to_owned).collect();
    let dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
    (!dumb && words.first().is_some_and(|program| program != "cat")).then_some(words)
}

/// Adds these arguments for `less`.
fn with(mut words: Vec<String>, for_less: &[&str]) -> Vec<String> {
    if words.first().is_some_and(|program| Path::new(program).file_stem().is_some_and(|name| name == "less")) {
        words.extend(for_less.iter().map(|argument| (*argument).to_owned()));
    }
    words
}

fn start(words: &[String]) -> Option<Child> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).env("LESSSECURE", "1");
    if std::env::var_os("LESS").is_none() {
        // It ends by itself if everything fits, passes on colours, and keeps the screen. This is git's choice, too.
        command.env("LESS", "FRX");
    }
    if std::env::var_os("LESSCHARSET").is_none() {
        // The output is UTF-8, even if a service or sudo has another locale.
        command.env("LESSCHARSET", "utf-8");
    }
    leave_interrupts_to_the_pager();
    command.spawn().ok()
}

/// Ctrl-C reaches both processes, but the terminal is the pager's until it ends.
#[cfg(unix)]
fn leave_interrupts_to_the_pager() {
    let seen = std::sync::Arc::default();
    // Without it, Ctrl-C may leave the terminal in the pager's state. That is no reason to show nothing.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, seen);
}

#[cfg(not(unix))]
fn leave_interrupts_to_the_pager() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_moves_sideways_over_long_lines() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(with(words("/usr/bin/less -R"), &["-S"]), ["/usr/bin/less", "-R", "-S"]);
        assert_eq!(with(words("more"), &["-S"]), ["more"]);
    }

    #[test]
    fn the_pager_is_the_person_s_choice_and_none_where_there_is_none() {
        for (own, general, terminal, expected) in [
            (None, None, "xterm", if cfg!(windows) { None } else { Some("less") }),
            (None, Some("more -s"), "xterm", Some("more -s")),
            (Some("less -S"), Some("more"), "xterm", Some("less -S")),
            (Some(""), Some("more"), "xterm", None),
            (Some("cat"), None, "xterm", None),
            (None, Some("more"), "dumb", None),
        ] {
            let variable = |name: &str| {
                let value = match name {
                    "DOCSYNCD_PAGER" => own,
                    "PAGER" => general,
                    _ => Some(terminal),
                };
                value.map(str::to_owned)
            };
            let words = wanted(variable).map(|words| words.join(" "));
            assert_eq!(words.as_deref(), expected, "{own:?} {general:?} {terminal}");
        }
    }
}
