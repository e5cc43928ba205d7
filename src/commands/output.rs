//! Output for people: standard output, standard error, and tables.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use clap::CommandFactory as _;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::harmless::{self, Form};
use super::pager::Out;
use super::{Exit, Outcome};
use crate::commands::cli::Cli;
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::{Ledger, LedgerError, Millis};
use crate::system::logging;

/// Whether standard output belongs to one JSON value alone.
static ONLY_JSON: AtomicBool = AtomicBool::new(false);

/// From now on only [`print_json`] writes to standard output.
pub(super) fn only_json() {
    ONLY_JSON.store(true, Ordering::Relaxed);
}

/// Whether only [`print_json`] writes to standard output.
pub(super) fn is_only_json() -> bool {
    ONLY_JSON.load(Ordering::Relaxed)
}

/// Writes to standard output.
pub(super) fn print(text: &str) -> Outcome {
    if is_only_json() {
        return Ok(Exit::Done);
    }
    print_as(text, Form::Text)
}

/// [`print`], in this form.
pub(super) fn print_as(text: &str, form: Form) -> Outcome {
    let mut out = harmless::output(form);
    ended(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// [`print`], for a person: its commands are complete, and its lines fit the terminal.
pub(super) fn say(text: &str) -> Outcome {
    print(&folded(&completed(text), terminal_width()))
}

/// [`print`], through a pager if a person reads at a terminal.
pub(super) fn show_table(text: &str) -> Outcome {
    let mut out = Out::open();
    let written = out.write_all(text.as_bytes());
    ended(written.and_then(|()| out.close()))
}

/// The result of writing to standard output. It is no error if the reader went away (`docsyncd list | head`).
pub(super) fn ended(written: io::Result<()>) -> Outcome {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        other => other.map(|()| Exit::Done).context("cannot write to standard output"),
    }
}

/// Writes a line to standard error, after the log lines. If that fails, nobody is left to tell.
pub(super) fn complain(line: &str) {
    logging::flush();
    let width = known(Table::new().use_stderr().width());
    let _ = writeln!(harmless::error(), "{}", folded(&completed(line), width));
}

/// The width of the terminal at standard output; `None` without a terminal.
pub(super) fn terminal_width() -> Option<usize> {
    known(Table::new().width())
}

/// A terminal that was never told its width reports 0.
fn known(width: Option<u16>) -> Option<usize> {
    width.map(usize::from).filter(|width| *width > 0)
}

/// Whether a person can be asked, and answers.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks whether the person at the terminal agrees. Not on standard output, which a program may read.
pub(super) fn agreed(question: &str, language: Language) -> anyhow::Result<bool> {
    logging::flush();
    let mut error = harmless::error();
    let question = folded(question, known(Table::new().use_stderr().width()));
    write!(error, "{question} [{}] ", language.text("setup-usual-no"))?;
    error.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "o" | "oui" | "j" | "ja"))
}

/// Wraps lines to fit the terminal. A long line continues below the begin of its text. A word that does not fit, such
/// as a path, stays whole.
pub(super) fn folded(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let folded: Vec<String> = text.split('\n').map(|line| folded_line(line, width)).collect();
    folded.join("\n")
}

fn folded_line(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let begins = line.len() - text.len();
    // A label stands before the text, with two spaces after it.
    let label = line.char_indices().zip(line.chars().skip(1)).enumerate();
    let columns = label.filter(|(_, ((at, letter), next))| {
        *letter == ' ' && *next != ' ' && *at > begins && line[..*at].ends_with(' ')
    });
    let indent =
        columns.map(|(column, _)| column + 1).take_while(|column| *column <= width / 2).last().unwrap_or(begins + 2);
    let (mut done, mut room) = (String::new(), width);
    for word in line.split_inclusive(' ') {
        let length = word.trim_end_matches(' ').chars().count();
        if length > room && !done.trim().is_empty() {
            done.truncate(done.trim_end_matches(' ').len());
            let indent = if length + indent > width { begins + 2 } else { indent };
            done.push('\n');
            done.push_str(&" ".repeat(indent));
            room = width.saturating_sub(indent);
        }
        done.push_str(word);
        room = room.saturating_sub(word.chars().count());
    }
    done
}

/// A place below its words, for a terminal. A long place continues on the next line, after one of its folders.
pub(super) fn place_lines(words: &str, place: &str, after: &str, width: Option<usize>) -> String {
    let line = format!("{words}{place}{after}");
    let Some(width) = width.filter(|width| line.chars().count() > *width) else { return line + "\n" };
    let indent = " ".repeat(words.len() - words.trim_start().len() + 4);
    let (mut lines, mut last) = (String::new(), words.to_owned());
    for part in place.split_inclusive(['/', '\\']).chain([after]) {
        if last.chars().count() + part.chars().count() > width && !last.trim().is_empty() {
            lines.push_str(last.trim_end());
            lines.push('\n');
            last.clone_from(&indent);
        }
        last.push_str(part);
    }
    lines + last.trim_end() + "\n"
}

/// Completes every `docsyncd COMMAND` in a text of the lower layers, which know no command line, so that it works as it
/// is typed. Complete commands stay, and so does the name in a sentence (`docsyncd is not running`).
pub(super) fn completed(text: &str) -> String {
    completed_by(text, &docsyncd(""))
}

/// `program` replaces `docsyncd `.
fn completed_by(text: &str, program: &str) -> String {
    const NAME: &str = "docsyncd ";
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(NAME) {
        done.push_str(before);
        done.push_str(if is_hint(&done, after) { program } else { NAME });
        rest = after;
    }
    done + rest
}

/// Whether `docsyncd ` between these two texts is a command that is not complete yet.
fn is_hint(before: &str, after: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let command = after.split(|c| !is_word(c)).next().unwrap_or_default();
    let mut words = before.split_whitespace().rev();
    let (last, one_before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let begins = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "`(\"'“„«".contains(c));
    // `sudo docsyncd`, `sudo -u USER docsyncd`, and "another docsyncd login".
    let is_more = last == "sudo" || one_before == "-u" || ["a", "another"].contains(&last);
    begins && !is_more && Cli::command().find_subcommand(command).is_some()
}

/// The `--config` of this process.
static CONFIG: OnceLock<PathBuf> = OnceLock::new();

/// Makes the hints repeat the `--config` that was given.
pub(super) fn repeat_config(config: Option<&Path>) {
    if let Some(config) = config {
        // Set once in a process.
        let _ = CONFIG.set(config.to_path_buf());
    }
}

/// The command line for this configuration: `docsyncd --config FILE retry --failed`.
pub(super) fn docsyncd(arguments: &str) -> String {
    let user = std::env::var("SUDO_USER").ok().and_then(|_| crate::system::readers::current_user());
    docsyncd_as(user.as_deref(), arguments)
}

/// [`docsyncd`], as this user.
pub(super) fn docsyncd_as(user: Option<&str>, arguments: &str) -> String {
    let program = by_sudo(user);
    match CONFIG.get() {
        Some(config) => format!("{program} --config {} {arguments}", quoted(&config.display().to_string())),
        None => format!("{program} {arguments}"),
    }
}

/// How to call this program: by `sudo` as root or as the service's user, or directly.
fn by_sudo(user: Option<&str>) -> String {
    match user {
        Some("root") => "sudo docsyncd".to_owned(),
        Some(user) => format!("sudo -u {} docsyncd", quoted(user)),
        None => "docsyncd".to_owned(),
    }
}

/// A path for a command line: in quotes if a shell would split it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/\\:._-+,@%~".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false if cfg!(windows) => format!("\"{path}\""),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Prints one JSON document.
pub(super) fn print_json<T: Serialize>(value: &T) -> Outcome {
    let mut text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    text.push('\n');
    print_as(&text, Form::Json)
}

/// A table without lines. It is cut to the terminal's width; in a file or pipe nothing is cut.
pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(header.to_vec());
    table
}

/// A time of the ledger's views as a person at this machine reads it.
pub(super) fn local(at: impl Into<Option<Millis>>) -> String {
    in_format(at.into(), "%Y-%m-%d %H:%M:%S")
}

/// [`local`], with the time zone.
pub(super) fn local_with_zone(at: impl Into<Option<Millis>>) -> String {
    in_format(at.into(), "%Y-%m-%d %H:%M:%S %Z")
}

fn in_format(at: Option<Millis>, format: &str) -> String {
    let at = at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| "-".to_owned(), |at| at.to_zoned(jiff::tz::TimeZone::system()).strftime(format).to_string())
}

/// A progress bar, if standard error is a terminal. `what` is counted.
pub(super) fn progress_bar(what: &str) -> Option<ProgressBar> {
    io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = format!("{{spinner}} {{bar:30}} {{pos}}/{{len}} {what}  {{elapsed}}  {{msg}}");
        let style = ProgressStyle::with_template(&template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    })
}

/// [`ledger_to_read`]. Says if there is none, because the output is the same as for an empty one.
pub(super) fn ledger_to_list(loaded: &Loaded, language: Language) -> anyhow::Result<Option<Ledger>> {
    let ledger = ledger_to_read(loaded)?;
    if ledger.is_none() {
        let path = loaded.config.state.path.display().to_string();
        complain(&format!("docsyncd: {}", language.fill("list-no-ledger", &[("path", (&path).into())])));
    }
    Ok(ledger)
}

/// Opens the ledger for reading beside a daemon; `None` if there is none yet.
pub(super) fn ledger_to_read(loaded: &Loaded) -> anyhow::Result<Option<Ledger>> {
    match Ledger::open_beside(&loaded.config.state.path) {
        Ok(ledger) => Ok(Some(ledger)),
        Err(LedgerError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_goes_on_below_where_its_text_began() {
        let check = "ok    account main  the API answers, and says so in many words\nfine\n";
        let below = "ok    account main  the API answers, and\n                    says so in many\n                    words\nfine\n";
        assert_eq!(folded(check, Some(40)), below);
        let path = "  What to do: call /a/path/without/room whoever";
        assert_eq!(folded(path, Some(16)), "  What to do:\n    call\n    /a/path/without/room\n    whoever");
        assert_eq!(folded(check, None), check);
    }

    #[test]
    fn every_command_in_a_hint_is_completed_once_and_a_sentence_stays_as_it_is() {
        let program = "sudo -u docsyncd docsyncd --config '/etc/my docsyncd/north.toml' ";
        for hint in [
            "Run: {}login",
            "add one to [[routes]], then run {}retry --failed",
            "See why: {}list --state failed. When that is mended, try again: {}retry --failed",
            "Look there; if it is missing, `{}retry UUID` sends it again",
            "„{}status“ sagt es",
            "« {}status » et le journal disent pourquoi; relancez\u{a0}{}login.",
            "({}config show)\n{}service start",
        ] {
            let done = completed_by(&hint.replace("{}", "docsyncd "), program);
            assert_eq!(done, hint.replace("{}", program));
            assert_eq!(completed_by(&done, program), done, "once");
        }
        for sentence in [
            "docsyncd is not running: it runs no more",
            "docsyncd: the user that runs docsyncd needs the right to read it",
            "sudo docsyncd check",
            "sudo -u docsyncd docsyncd check",
            "/usr/bin/docsyncd run",
            "maybe another docsyncd login: end that",
            "docsyncd runs, docsyncd checks",
            "docsyncd ",
        ] {
            assert_eq!(completed_by(sentence, program), sentence);
        }
    }

    #[test]
    fn a_hint_repeats_whom_sudo_was_asked_for_and_quotes_what_a_shell_would_take_apart() {
        assert_eq!(by_sudo(Some("docsyncd")), "sudo -u docsyncd docsyncd");
        assert_eq!(by_sudo(Some("root")), "sudo docsyncd");
        assert_eq!(by_sudo(None), "docsyncd");
        assert_eq!(quoted("/etc/docsyncd/north.toml"), "/etc/docsyncd/north.toml");
        assert_eq!(quoted("/tmp/it's here"), if cfg!(windows) { "\"/tmp/it's here\"" } else { r"'/tmp/it'\''s here'" });
    }
}
