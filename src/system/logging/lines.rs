//! Log lines for people: time, level, message, and the fields that the message does not mention.
//!
//! JSON, the journal and the Event Log have every field. Nothing is cut, because a terminal wraps long lines.

use std::fmt;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// A first attempt is not mentioned unless it failed.
const FIRST: (&str, &str) = ("attempt", "1");

/// The format.
pub(super) struct Lines;

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
        let line = said.line(level <= Level::WARN);
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

/// The text without control characters, which could begin a line or command the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The content of an event.
#[derive(Debug, Default)]
struct Said {
    message: String,
    /// Name, printed value, and whether the value is text.
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
    /// The line. With `is_trouble`, it also tells which attempt it was.
    fn line(&self, is_trouble: bool) -> String {
        let mut line = plain(&self.message);
        let (mut event, mut rest) = (String::new(), String::new());
        for (name, value, is_text) in &self.fields {
            let value = plain(value);
            if *name == "event" {
                event = format!(" event={value:?}");
            } else if *name == FIRST.0 && value == FIRST.1 && !is_trouble {
                // Most attempts are the first.
            } else if !is_text && !line.contains(&format!("{name} {value}")) {
                rest.push_str(&format!(" {name}={value}"));
            } else if *is_text && !line.contains(value.as_str()) {
                let quoted = if value.contains(char::is_whitespace) { format!("{value:?}") } else { value };
                rest.push_str(&format!(" {name}={quoted}"));
            }
        }
        line.push_str(&event);
        line.push_str(&rest);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str, is_trouble: bool, fields: &[(&'static str, &str, bool)]) -> String {
        let fields = fields.iter().map(|(name, value, is_text)| (*name, (*value).to_owned(), *is_text)).collect();
        Said { message: message.to_owned(), fields }.line(is_trouble)
    }

    #[test]
    fn a_line_says_each_thing_once() {
        let uuid = "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11";
        let line = said(
            &format!("delivered document {uuid} of main to pms"),
            false,
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
        let line = said("it ended", false, &[("reason", "for no reason", true), ("stage", "fetch", true)]);
        assert_eq!(line, "it ended reason=\"for no reason\" stage=fetch");
        assert_eq!(said("a\nb\u{1b}[31m", false, &[]), "a b [31m");
    }

    #[test]
    fn of_trouble_the_attempt_is_named_and_nothing_is_cut_however_long_it_is() {
        let long = "x".repeat(300);
        let fields = |attempt| {
            let text = [("event", "postponed", true), ("account", "main", true), ("reason", long.as_str(), true)];
            [&text[..], &[("attempt", attempt, false), ("retry_in_ms", "950", false)]].concat()
        };
        let line = said(&format!("postponed: {long} (of main)"), true, &fields("1"));
        assert_eq!(line, format!("postponed: {long} (of main) event=\"postponed\" attempt=1 retry_in_ms=950"));
        let line = said(&format!("postponed: {long} (of main, attempt 2)"), true, &fields("2"));
        assert_eq!(line, format!("postponed: {long} (of main, attempt 2) event=\"postponed\" retry_in_ms=950"));
    }
}
