//! Log lines for people: the time, the level, the message, and those fields that the message does not say already.
//!
//! JSON, the journal and the Event Log have every field; a person reads each thing once. A line about a document or a
//! pause that would be wider than [`COLUMNS`] loses its figures, from the last one on. On a terminal it then loses its
//! event, and is cut in its middle, since what happened stands at its begin and what to do at its end; `docsyncd show`
//! and `docsyncd status` have it whole. No words that go into a file or a pipe are cut.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The widest line that can be cut; characters.
const COLUMNS: usize = 160;
/// An attempt that is not worth a word.
const FIRST: (&str, &str) = ("attempt", "1");
/// Fields whose lines can be read whole elsewhere.
const KEPT_ELSEWHERE: [&str; 3] = ["document", "scope", "account"];

/// The format.
pub(super) struct Lines {
    /// Whether a terminal shows the lines.
    pub(super) on_terminal: bool,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut said = Said::default();
        event.record(&mut said);
        let level = *event.metadata().level();
        let head = format!("{:.6} {level:>5} ", jiff::Timestamp::now());
        let line = said.line(COLUMNS.saturating_sub(head.chars().count()), self.on_terminal);
        match colour(level).filter(|_| writer.has_ansi_escapes()) {
            Some(colour) => writeln!(writer, "\u{1b}[{colour}m{head}\u{1b}[0m{line}"),
            None => writeln!(writer, "{head}{line}"),
        }
    }
}

fn colour(level: Level) -> Option<u8> {
    match level {
        Level::ERROR => Some(31),
        Level::WARN => Some(33),
        Level::INFO => Some(32),
        _ => None,
    }
}

/// Without control characters, which would begin a line of their own, or command the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What an event says.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Name, value as it is printed, and whether it is text.
    fields: Vec<(&'static str, String, bool)>,
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.fields.push((name, value.to_owned(), true)),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            name => {
                let is_text = text.parse::<f64>().is_err();
                self.fields.push((name, text, is_text));
            }
        }
    }
}

impl Said {
    /// One line of at most `width` characters, where what it says fits or may be cut.
    fn line(&self, width: usize, may_be_cut: bool) -> String {
        let mut line = plain(&self.message);
        let mut event = String::new();
        let mut rest = Vec::new();
        for (name, value, is_text) in &self.fields {
            let value = plain(value);
            if *name == "event" {
                event = format!(" event={value:?}");
            } else if *name == FIRST.0 && value == FIRST.1 {
                // Most are the first.
            } else if !is_text {
                rest.push((format!(" {name}={value}"), true));
            } else if !line.contains(value.as_str()) {
                let quoted = if value.contains(char::is_whitespace) { format!("{value:?}") } else { value };
                rest.push((format!(" {name}={quoted}"), false));
            }
        }
        let length = |texts: &[(String, bool)]| texts.iter().map(|(text, _)| text.chars().count()).sum::<usize>();
        let can_be_cut = self.fields.iter().any(|(name, ..)| KEPT_ELSEWHERE.contains(name));
        if can_be_cut {
            // Figures go first, then the middle of the message.
            let said = line.chars().count() + event.chars().count();
            while rest.last().is_some_and(|(_, is_figure)| may_be_cut || *is_figure) && said + length(&rest) > width {
                rest.pop();
            }
        }
        if can_be_cut && may_be_cut && line.chars().count() + event.chars().count() > width {
            // What happened stands at its begin, in words.
            event.clear();
            line = cut(&line, width);
        }
        let rest: String = rest.into_iter().map(|(text, _)| text).collect();
        // Writing to a String cannot fail.
        let _ = write!(line, "{event}{rest}");
        line
    }
}

/// At most so many characters, without the middle.
fn cut(line: &str, room: usize) -> String {
    let length = line.chars().count();
    if length <= room {
        return line.to_owned();
    }
    let (begin, end) = (room / 2, room.saturating_sub(room / 2 + 1));
    line.chars().take(begin).chain(Some('…')).chain(line.chars().skip(length - end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time and level, as they stand before each line.
    const HEAD: usize = 34;

    fn said(message: &str, fields: &[(&'static str, &str, bool)]) -> String {
        let fields = fields.iter().map(|(name, value, is_text)| (*name, (*value).to_owned(), *is_text)).collect();
        Said { message: message.to_owned(), fields }.line(COLUMNS, true)
    }

    #[test]
    fn a_line_says_each_thing_once() {
        let uuid = "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11";
        let line = said(
            &format!("delivered document {uuid} of main to pms"),
            &[
                ("event", "delivered", true),
                ("account", "main", true),
                ("document", uuid, true),
                ("destination", "pms", true),
                ("attempt", "1", false),
                ("bytes", "61440", false),
            ],
        );
        assert_eq!(line, format!("delivered document {uuid} of main to pms event=\"delivered\" bytes=61440"));
        let line = said("it ended", &[("reason", "for no reason", true), ("stage", "fetch", true)]);
        assert_eq!(line, "it ended reason=\"for no reason\" stage=fetch");
        assert_eq!(said("a\nb\u{1b}[31m", &[]), "a b [31m");
    }

    #[test]
    fn a_line_about_a_document_or_a_pause_fits_and_no_other_is_cut() {
        let long = "x".repeat(300);
        let cut = said(
            &format!("paused: {long}: run docsyncd login"),
            &[("event", "paused", true), ("scope", "destination:pms", true), ("attempt", "1", false)],
        );
        assert_eq!(cut.chars().count(), COLUMNS);
        assert!(cut.starts_with("paused: x") && cut.contains('…') && cut.ends_with(": run docsyncd login"), "{cut}");
        let whole = said(&format!("ended: {long}"), &[("event", "ended", true)]);
        assert!(whole.contains(&long));
    }

    #[test]
    fn in_a_file_figures_give_way_before_a_line_is_too_wide_and_words_never_do() {
        let uuid = "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11";
        let fields = |destination| {
            let text =
                [("event", "delivered"), ("account", "praxis-mitte"), ("document", uuid), ("destination", destination)];
            let figures = [("attempt", "1"), ("bytes", "65790"), ("elapsed_ms", "20")];
            let all = text.map(|(name, value)| (name, value, true)).into_iter();
            all.chain(figures.map(|(name, value)| (name, value, false))).collect::<Vec<_>>()
        };
        let in_file = |message: &str, fields: &[(&'static str, &str, bool)]| {
            let fields = fields.iter().map(|(name, value, is_text)| (*name, (*value).to_owned(), *is_text)).collect();
            Said { message: message.to_owned(), fields }.line(COLUMNS - HEAD, false)
        };
        let message = format!("delivered document {uuid} of praxis-mitte to pms");
        assert_eq!(
            in_file(&message, &fields("pms")),
            format!("{message} event=\"delivered\" bytes=65790 elapsed_ms=20")
        );
        let message = format!("delivered document {uuid} of praxis-mitte to practice-import");
        assert_eq!(in_file(&message, &fields("practice-import")), format!("{message} event=\"delivered\" bytes=65790"));
        let long = "x".repeat(300);
        let line = in_file(
            &format!("refused: {long}"),
            &[("event", "refused", true), ("account", "main", true), ("attempt", "2", false)],
        );
        assert_eq!(line, format!("refused: {long} event=\"refused\" account=main"));
    }
}
