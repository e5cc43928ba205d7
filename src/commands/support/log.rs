//! `log.txt`: docsyncd's own lines. Each is built again from those fields that can name nobody. Message and reason are
//! never used, because they contain paths and addresses.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::words::{Alias, Document, Names, Scope, Word};
use super::{Lack, within};
use crate::domain::health::Cause;
use crate::ledger::Millis;
use crate::system::durable::open_regular;

/// The most lines, the newest ones.
const MOST_LINES: usize = 5000;
/// The most bytes that are read of the end of each file.
const TAIL: u64 = 8 * 1024 * 1024;
/// The most rotated files that are read.
const MOST_FILES: usize = 20;
/// How long reading the file, or asking the journal, may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The numeric fields, in the order of the output.
const NUMBERS: [&str; 20] = [
    "attempt",
    "bytes",
    "elapsed_ms",
    "retry_in_ms",
    "probe_in_ms",
    "paused_ms",
    "gap_ms",
    "found",
    "count",
    "lost",
    "removed",
    "skipped",
    "unreadable",
    "looked_at",
    "not_looked_at",
    "missing",
    "other_content",
    "not_synchronized",
    "ended_at_api",
    "documents",
];

/// A line.
struct LogLine {
    at: Millis,
    level: Option<Word>,
    event: Word,
    stage: Option<Word>,
    cause: Option<Word>,
    scope: Option<Scope>,
    account: Option<Alias>,
    destination: Option<Alias>,
    document: Option<Document>,
    numbers: Vec<(&'static str, i64)>,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.map_or("-", |level| level.0);
        write!(f, "{} {level:>5} {}", crate::views::time(Some(self.at)).unwrap_or_default(), self.event.0)?;
        for (name, word) in [("stage", self.stage), ("cause", self.cause)] {
            word.map_or(Ok(()), |word| write!(f, " {name}={}", word.0))?;
        }
        self.scope.map_or(Ok(()), |scope| write!(f, " scope={scope}"))?;
        self.account.map_or(Ok(()), |account| write!(f, " account={account}"))?;
        self.destination.map_or(Ok(()), |destination| write!(f, " destination={destination}"))?;
        self.document.map_or(Ok(()), |document| write!(f, " document={document}"))?;
        self.numbers.iter().try_for_each(|(name, number)| write!(f, " {name}={number}"))
    }
}

/// The newest lines since then, from `log.file`; without it, from the journal.
pub(super) fn lines(file: Option<&Path>, since: Millis, names: &mut Names) -> Result<String, Lack> {
    // Whoever starts docsyncd in a shell has its lines there.
    let nothing = if file.is_some() { Lack::NoLines } else { Lack::NoLog };
    let file = file.map(Path::to_owned);
    let raw = within(LIMIT * 2, move || match file {
        Some(file) => of_files(&file),
        None => of_journal(since),
    })??;
    let mut newest = VecDeque::new();
    for line in raw.iter().flat_map(|text| text.lines()) {
        if let Some(line) = of_json(line, names).or_else(|| of_text(line, names)).filter(|line| line.at >= since) {
            newest.push_back(line);
            if newest.len() > MOST_LINES {
                newest.pop_front();
            }
        }
    }
    let text: String = newest.iter().map(|line| format!("{line}\n")).collect();
    if text.is_empty() { Err(nothing) } else { Ok(text) }
}

/// The ends of the file and of the rotated ones, the oldest first.
fn of_files(file: &Path) -> Result<Vec<String>, Lack> {
    let rotated = (1..=MOST_FILES).rev().map(|number| {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let found: Vec<_> = rotated.chain([file.to_owned()]).filter_map(|path| open_regular(&path).ok()).collect();
    let read = found.into_iter().map(tail).collect::<std::io::Result<Vec<_>>>().map_err(|_| Lack::Unreadable)?;
    if read.is_empty() { Err(Lack::NoLog) } else { Ok(read) }
}

fn tail(mut file: File) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The entries of this program in systemd's journal, one JSON object in each line (journalctl(1), "--output").
#[cfg(target_os = "linux")]
fn of_journal(since: Millis) -> Result<Vec<String>, Lack> {
    use std::process::{Command, Stdio};
    let mut journal = Command::new("journalctl");
    journal.args(["--quiet", "--no-pager", "--output=json", "SYSLOG_IDENTIFIER=docsyncd"]);
    journal.args([format!("--since=@{}", since.max(0) / 1000), format!("--lines={MOST_LINES}")]);
    let output = journal.stdin(Stdio::null()).stderr(Stdio::null()).output().map_err(|_| Lack::NoLog)?;
    Ok(vec![String::from_utf8_lossy(&output.stdout).into_owned()])
}

#[cfg(not(target_os = "linux"))]
fn of_journal(_since: Millis) -> Result<Vec<String>, Lack> {
    Err(Lack::NoLog)
}

/// A line of `log.format = "json"`, or an entry of the journal. An entry has docsyncd's fields, or contains such a line
/// as its message.
fn of_json(line: &str, names: &mut Names) -> Option<LogLine> {
    let object: Map<String, Value> = serde_json::from_str(line).ok()?;
    let text = |name: &str| match object.get(name)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let Some(at) = text("__REALTIME_TIMESTAMP") else {
        let at = text("timestamp")?.parse::<jiff::Timestamp>().ok()?;
        return of_fields(at.as_millisecond(), text("level").as_deref(), text, names);
    };
    let at = at.parse::<Millis>().ok()? / 1000;
    let level = match text("PRIORITY").as_deref() {
        Some("3") => "ERROR",
        Some("4") => "WARN",
        Some("6") => "INFO",
        _ => "DEBUG",
    };
    let field = |name: &str| text(&format!("DOCSYNCD_{}", name.to_uppercase()));
    match field("event") {
        Some(_) => of_fields(at, Some(level), field, names),
        None => text("MESSAGE")
            .filter(|message| !message.contains("__REALTIME"))
            .and_then(|message| of_json(&message, names).or_else(|| of_text(&message, names))),
    }
}

/// A line for people: time, level, message, ` event="…"`, and the fields that the message does not mention. Quoted
/// values have escaped quotes, so the last such event is the line's own.
fn of_text(line: &str, names: &mut Names) -> Option<LogLine> {
    let mut words = line.split_ascii_whitespace();
    let at = words.next()?.parse::<jiff::Timestamp>().ok()?.as_millisecond();
    let level = words.next();
    let (_, fields) = line.rsplit_once(" event=\"")?;
    let (event, fields) = fields.split_once('"')?;
    // After the first quoted value there may be anything.
    let fields = fields.split('"').next()?;
    let field = |name: &str| match name {
        "event" => Some(event.to_owned()),
        name => fields.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned),
    };
    of_fields(at, level, field, names)
}

fn of_fields(
    at: Millis,
    level: Option<&str>,
    field: impl Fn(&str) -> Option<String>,
    names: &mut Names,
) -> Option<LogLine> {
    let number = |name: &'static str| Some((name, field(name)?.parse().ok()?));
    Some(LogLine {
        at,
        level: level.and_then(Word::other),
        event: Word::event(&field("event")?)?,
        stage: field("stage").and_then(|stage| Word::other(&stage)),
        cause: field("cause").and_then(|cause| Cause::parse(&cause)).map(|cause| Word(cause.as_str())),
        scope: field("scope").and_then(|scope| names.scope(&scope)),
        account: field("account").map(|account| names.account(&account)),
        destination: field("destination").map(|destination| names.destination(&destination)),
        document: field("document").map(|document| names.document(&document)),
        numbers: NUMBERS.into_iter().filter_map(number).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "3f0c9f0e-5a43-4c1e-9d53-6f3f2f0f9a11";

    #[test]
    fn a_line_is_built_anew_from_its_fields_and_never_from_its_message_or_reason() {
        let mut names = Names::new(false);
        let line = format!(
            "{{\"timestamp\":\"2026-11-21T20:39:12.5Z\",\"level\":\"WARN\",\"message\":\"Durand\",\
             \"event\":\"postponed\",\"account\":\"north\",\"document\":\"{UUID}\",\"destination\":\"pms\",\
             \"attempt\":2,\"reason\":\"/srv/Durand\",\"patient\":\"{UUID}\",\"elapsed_ms\":\"Durand\"}}"
        );
        let expected = format!(
            "2026-11-21T20:39:12.500Z  WARN postponed account=account-1 destination=destination-1 document={UUID} \
             attempt=2"
        );
        assert_eq!(of_json(&line, &mut names).unwrap().to_string(), expected);
        let journal = format!(
            "{{\"__REALTIME_TIMESTAMP\":\"1795293552500000\",\"PRIORITY\":\"4\",\"MESSAGE\":\"Durand\",\
             \"_HOSTNAME\":\"durand\",\"DOCSYNCD_EVENT\":\"postponed\",\"DOCSYNCD_ACCOUNT\":\"north\",\
             \"DOCSYNCD_DESTINATION\":\"pms\",\
             \"DOCSYNCD_DOCUMENT\":\"{UUID}\",\"DOCSYNCD_ATTEMPT\":\"2\",\"DOCSYNCD_REASON\":\"Durand\"}}"
        );
        assert_eq!(of_json(&journal, &mut names).unwrap().to_string(), expected);
        let text = "2026-11-21T20:39:12.500000Z  WARN postponed: Durand event=\"x\" attempt=7 (of Durand) \
                    event=\"postponed\" retry_in_ms=950 reason=\"said event=\\\"Durand\\\" \
                    count=3 bytes=4 times\"";
        let told = of_text(text, &mut names).unwrap().to_string();
        assert_eq!(told, "2026-11-21T20:39:12.500Z  WARN postponed retry_in_ms=950");
        for foreign in ["Durand", "{\"event\":\"Durand\"}", "2026-11-21T20:39:12Z WARN Durand event=\"durand\""] {
            assert!(of_json(foreign, &mut names).is_none() && of_text(foreign, &mut names).is_none(), "{foreign}");
        }
    }

    #[test]
    fn of_files_that_were_rotated_the_newest_lines_are_kept_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let line = |second: usize| format!("2026-11-21T20:39:{second:02}Z  INFO x event=\"polled\" found={second}\n");
        std::fs::write(folder.path().join("log.1"), line(1) + &line(2)).unwrap();
        std::fs::write(&file, line(3)).unwrap();
        let since: jiff::Timestamp = "2026-11-21T20:39:02Z".parse().unwrap();
        let text = lines(Some(&file), since.as_millisecond(), &mut Names::new(false)).unwrap();
        let found: Vec<&str> = text.lines().filter_map(|line| line.rsplit('=').next()).collect();
        assert_eq!(found, ["2", "3"]);
        assert_eq!(lines(Some(&folder.path().join("none")), 0, &mut Names::new(false)), Err(Lack::NoLog));
    }
}
