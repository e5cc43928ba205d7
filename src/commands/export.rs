//! `docsyncd export`: what happened to every document, as evidence. Each line has the hash of the previous line and its
//! own, so that `--verify` finds a line that was changed, removed or moved. The end line says that it is the last. It
//! also names the newest row of the ledger's own chain of hashes, so that the ledger can be compared with it later.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, StdoutLock, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::harmless::{self, Form, Harmless, harmless};
use super::output::{complain, ended, ledger_to_list, print};
use super::unconfigured::by_ledger;
use super::{Exit, Outcome, UsageError, runtime};
use crate::commands::cli::{ExportArgs, ExportFormat, Spoken};
use crate::config::Loaded;
use crate::destinations::SCHEMA;
use crate::domain::document::hex;
use crate::formats::language::Language;
use crate::ledger::{Ledger, LedgerError, now};
use crate::views::chain::{self, Anchor};
use crate::views::events::{self, EventView};

/// The columns of every line. Those of the hashes follow.
const COLUMNS: [&str; 13] = [
    "line",
    "at",
    "document",
    "account",
    "type",
    "event",
    "state",
    "attempt",
    "destination",
    "reason",
    "who",
    "sha256",
    "proof",
];
/// The columns with patient data, only with `--names`.
const NAMES: [&str; 2] = ["name", "place"];

fn columns(names: bool) -> impl Iterator<Item = &'static str> {
    COLUMNS.into_iter().chain(NAMES.into_iter().filter(move |_| names))
}

/// The text between the content of a JSON line and its hash.
const JSON_HASH: &str = ",\"hash\":\"";
/// The start of all hashes.
const BEGINNING: &str = "with an end line";
/// The event of the end line.
const END: &str = "end";
/// The text before the number and the hash of the newest row of the ledger's history.
const NEWEST: &str = "the ledger's newest row is ";
/// The longest line of an export; bytes.
const LONGEST_LINE: u64 = 1024 * 1024;
/// Digits of a SHA-256.
const HASH: usize = 64;

/// The hash of a line's content, which includes the hash of the previous line.
fn hash(content: &str) -> String {
    hex(&Sha256::digest(content.as_bytes()))
}

/// The substitute for the previous hash in the first line.
fn first_hash(header: &str) -> String {
    hash(&format!("{header}\n{BEGINNING}"))
}

pub(super) fn export(path: &Path, args: &ExportArgs) -> Outcome {
    if let Some(file) = &args.verify {
        return verify(file.as_deref(), || Ok(SCHEMA.load_default_env(path)?));
    }
    let account = args.account.as_deref();
    by_ledger(path, Spoken { lang: None }, account, |loaded, _| of_ledger(loaded, args))
}

/// Exports the events of one account or all, from the first moment to the second; `None` is now.
fn of_ledger(loaded: &Loaded, args: &ExportArgs) -> Outcome {
    let ExportArgs { account, from, to, format, names, .. } = args.clone();
    let (from, to) = (from.begins, to.map_or_else(now, |to| to.ends));
    if from > to {
        return Err(UsageError("--from is later than --to".to_owned()).into());
    }
    let written = match ledger_to_list(loaded, Language::English)? {
        Some(ledger) => {
            let write = move |db: &rusqlite::Connection| {
                let mut lines = ExportWriter::begin(format, names);
                let is_other = |event: &EventView| account.as_ref().is_some_and(|name| *name != event.account);
                events::events(db, from, to, |event| {
                    if is_other(&event) { ControlFlow::Continue(()) } else { lines.write(&event) }
                })?;
                Ok(lines.end(chain::newest(db)?))
            };
            runtime()?.block_on(ledger.read(write))?
        }
        None => ExportWriter::begin(format, names).end(None),
    };
    if let Ok((lines, last)) = &written {
        // A person who keeps the last hash notices if the end is cut off.
        complain(&format!("docsyncd: {lines} events; the last hash is {last}"));
    }
    ended(written.map(drop))
}

struct ExportWriter {
    out: BufWriter<Harmless<StdoutLock<'static>>>,
    format: ExportFormat,
    names: bool,
    written: io::Result<()>,
    count: u64,
    previous: String,
}

impl ExportWriter {
    fn begin(format: ExportFormat, names: bool) -> Self {
        let mut out = BufWriter::new(harmless::output(Form::Exact));
        let (header, written) = match format {
            ExportFormat::Jsonl => (String::new(), Ok(())),
            ExportFormat::Csv => {
                let header = columns(names).chain(["previous", "hash"]).collect::<Vec<_>>().join(",");
                let written = write!(out, "{header}\r\n");
                (header, written)
            }
        };
        Self { out, format, names, written, count: 0, previous: first_hash(&header) }
    }

    fn write(&mut self, event: &EventView) -> ControlFlow<()> {
        self.count += 1;
        let text = |value: &Option<String>| value.as_deref().map_or(Value::Null, |text| json!(one_line(text)));
        let mut values = vec![
            json!(self.count),
            text(&event.at),
            json!(event.uuid),
            json!(event.account),
            text(&event.kind),
            json!(event.event),
            json!(event.state),
            json!(event.attempt),
            text(&event.destination),
            text(&event.reason),
            text(&event.who),
            text(&event.sha256),
            text(&event.proof),
        ];
        if self.names {
            values.extend([text(&event.name), text(&event.place)]);
        }
        self.line(values);
        if self.written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Writes a line with these values and the hashes.
    fn line(&mut self, mut values: Vec<Value>) {
        values.push(json!(self.previous));
        let line = match self.format {
            ExportFormat::Jsonl => {
                let columns = columns(self.names).chain(["previous"]).map(str::to_owned);
                let object: Map<String, Value> = columns.zip(values).collect();
                let content = Value::Object(object).to_string();
                self.previous = hash(&content);
                format!("{}{JSON_HASH}{}\"}}\n", content.trim_end_matches('}'), self.previous)
            }
            ExportFormat::Csv => {
                let content = values.iter().map(csv).collect::<Vec<_>>().join(",");
                self.previous = hash(&content);
                format!("{content},{}\r\n", self.previous)
            }
        };
        self.written = self.out.write_all(line.as_bytes());
    }

    /// Writes the end line, with the number of events and the newest row of the ledger. It contains the hash of the
    /// last event, like every line.
    fn end(mut self, newest: Option<(i64, String)>) -> io::Result<(u64, String)> {
        let (count, last) = (self.count, self.previous.clone());
        let newest = newest.map_or_else(String::new, |(row, hash)| format!("; {NEWEST}{row} {hash}"));
        let value = |column| match column {
            "line" => json!(count + 1),
            "document" | "account" | "state" => json!(""),
            "event" => json!(END),
            "attempt" => json!(0),
            "reason" => json!(format!("{count} events{newest}")),
            _ => Value::Null,
        };
        let values = columns(self.names).map(value).collect();
        if self.written.is_ok() {
            self.line(values);
        }
        self.written?;
        self.out.flush()?;
        Ok((count, last))
    }
}

/// The text in one line, without characters that a terminal obeys.
fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    harmless(&line).into_owned()
}

/// A field of CSV (RFC 4180). A spreadsheet must not take it for a formula (OWASP, "CSV Injection").
fn csv(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => text.clone(),
        other => return other.to_string(),
    };
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    let text = format!("{guard}{text}");
    if text.contains(['"', ',', '\n', '\r', '\'']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// The parts of a line of an export.
struct ExportedLine<'a> {
    content: String,
    previous: &'a str,
    hash: &'a str,
}

fn of_json(line: &str) -> Option<ExportedLine<'_>> {
    let (content, rest) = line.rsplit_once(JSON_HASH)?;
    let hash = rest.strip_suffix("\"}").filter(|hash| hash.len() == HASH)?;
    let previous = content.strip_suffix('"')?.rsplit_once("\"previous\":\"")?.1;
    Some(ExportedLine { content: format!("{content}}}"), previous, hash })
}

fn of_csv(line: &str) -> Option<ExportedLine<'_>> {
    let (content, hash) = line.rsplit_once(',')?;
    let previous = content.rsplit_once(',')?.1;
    (hash.len() == HASH).then(|| ExportedLine { content: content.to_owned(), previous, hash })
}

/// Whether this is the end line after this many events. Every event has a document.
fn is_end(content: &str, events: u64) -> bool {
    let line = events + 1;
    content.starts_with(&format!("{line},,,,,{END},"))
        || content.starts_with(&format!(
            "{{\"line\":{line},\"at\":null,\"document\":\"\",\"account\":\"\",\"type\":null,\"event\":\"{END}\","
        ))
}

/// Checks that an export is as it was written, or, without a file, the ledger's history.
fn verify(file: Option<&Path>, load: impl FnOnce() -> anyhow::Result<Loaded>) -> Outcome {
    match file {
        Some(file) => verify_file(file, load().ok().as_ref()),
        None => verify_ledger(&load()?),
    }
}

fn verify_ledger(loaded: &Loaded) -> Outcome {
    let path = loaded.config.state.path.display();
    let Some(ledger) = ledger_to_list(loaded, Language::English)? else { return Ok(Exit::Failed) };
    let sound = runtime()?.block_on(ledger.read(chain::verify))?;
    let sound = sound.map_err(|wrong| anyhow::anyhow!("{path}: {wrong}. Somebody has changed this file"))?;
    let newest = sound.newest.map_or_else(String::new, |(row, hash)| format!("; {NEWEST}{row} {hash}"));
    print(&format!("{path}: {} rows of history as they were written{newest}\n", sound.rows))
}

/// Whether the ledger of this computer still has the row that was its newest at the export. `None`: the end line names
/// no row, or there is no ledger here.
fn held(end: &str, loaded: Option<&Loaded>) -> Result<Option<Anchor>, LedgerError> {
    let Some((row, rest)) = end.split_once(NEWEST).and_then(|(_, newest)| newest.split_once(' ')) else {
        return Ok(None);
    };
    let (Ok(row), Some(hash), Some(loaded)) = (row.parse(), rest.get(..HASH), loaded) else { return Ok(None) };
    let hash = hash.to_owned();
    let ledger = match Ledger::open_beside(&loaded.config.state.path) {
        Err(LedgerError::Missing(_)) => return Ok(None),
        opened => opened?,
    };
    let Ok(runtime) = runtime() else { return Ok(None) };
    runtime.block_on(ledger.read(move |db| chain::anchor(db, row, &hash))).map(Some)
}

fn verify_file(path: &Path, loaded: Option<&Loaded>) -> Outcome {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(cannot)?);
    let (mut number, mut events, mut expected, mut is_csv) = (0_u64, 0_u64, first_hash(""), false);
    let mut end: Option<String> = None;
    loop {
        let mut line = Vec::new();
        let read = io::Read::take(&mut file, LONGEST_LINE).read_until(b'\n', &mut line).with_context(cannot)?;
        if read == 0 {
            break;
        }
        number += 1;
        let wrong = |what: &str| Err(anyhow::anyhow!("{}, line {number}: {what}", path.display()));
        let Ok(text) = std::str::from_utf8(&line) else { return wrong("was changed: it is no text") };
        let text = text.trim_end_matches(['\r', '\n']);
        if number == 1 && !text.starts_with('{') {
            if !text.starts_with("line,at,document,") {
                return wrong("this is no export of docsyncd");
            }
            (is_csv, expected) = (true, first_hash(text));
            continue;
        }
        let Some(parts) = (if is_csv { of_csv(text) } else { of_json(text) }) else {
            return wrong("was changed: it has no hash");
        };
        if hash(&parts.content) != parts.hash {
            return wrong("was changed: its hash is another");
        }
        if end.is_some() {
            return wrong("it stands after the end");
        }
        if parts.previous != expected {
            return wrong("what stood before it is missing, or was moved or changed");
        }
        if is_end(&parts.content, events) {
            end = Some(parts.content);
            continue;
        }
        expected = parts.hash.to_owned();
        events += 1;
    }
    if number == 0 {
        return Err(anyhow::anyhow!("{} is empty: nothing is left of the export", path.display()));
    }
    let Some(end) = end else {
        return Err(anyhow::anyhow!("{}: its end is missing: it was cut off after line {number}", path.display()));
    };
    let ledger = match held(&end, loaded)? {
        None => "",
        Some(Anchor::There) => "; the ledger of this computer goes on from there",
        Some(Anchor::Removed) => "; the row that the ledger ended with then has been removed since",
        Some(Anchor::Gone) => {
            return Err(anyhow::anyhow!(
                "{} is as it was written, but the ledger of this computer does not hold what it ended with then: it is \
                 another ledger or an older copy of it, or somebody has changed it",
                path.display()
            ));
        }
    };
    print(&format!("{events} events as they were written; the last hash is {expected}{ledger}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_csv_are_quoted_and_no_formulas() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"no\"", "\"say \"\"no\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-", "\"'-\""),
            ("l'heure", "\"l'heure\""),
        ] {
            assert_eq!(csv(&json!(text)), field, "{text}");
        }
        assert_eq!((csv(&Value::Null), csv(&json!(7))), (String::new(), "7".to_owned()));
        assert_eq!(one_line("a\r\nb\u{b}"), "a  b ");
    }
}
