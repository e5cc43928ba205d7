//! Where log lines go, and in which form.

#[cfg(windows)]
mod event_log;
#[cfg(target_os = "linux")]
mod journal;
mod lines;
mod non_blocking;
mod rotating;

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{Layer, Registry, filter, fmt, reload};

use crate::system::readers::as_whom;
#[cfg(windows)]
pub use event_log::EventLog;
use non_blocking::NonBlocking;
use rotating::RotatingFile;

/// The lines of this process that still have to be written.
static LINES: OnceLock<NonBlocking> = OnceLock::new();

/// `log.format`
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object in each line.
    Json,
}

/// `log.file` and its rotation.
#[derive(Debug, Clone, Copy)]
pub struct LogFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// The size at which the file is rotated; bytes.
    pub max_size: u64,
    /// The number of rotated files to keep.
    pub max_files: usize,
}

/// Changes the level when the configuration is reloaded.
#[derive(Clone)]
pub struct LevelHandle(reload::Handle<filter::Targets, Registry>);

impl LevelHandle {
    /// Sets the level.
    pub fn set(&self, level: LevelFilter) {
        // This fails only if the subscriber is gone, and then nothing is logged.
        let _ = self.0.reload(targets(level));
    }
}

/// Lines of other crates below `warn` are left out. They are about sockets and headers, and could contain an address or
/// a token.
fn targets(level: LevelFilter) -> filter::Targets {
    filter::Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("docsyncd", level)
}

/// Begins to write log lines: to `log.file`; without it to the journal, if systemd collects this process's output there
/// and `log.format` is not JSON; otherwise to `stderr`.
///
/// # Errors
/// `log.file` cannot be written.
pub fn start(
    level: LevelFilter,
    format: LogFormat,
    to: Option<LogFile<'_>>,
    stderr: impl io::Write + Send + 'static,
) -> io::Result<LevelHandle> {
    let (filter, handle) = reload::Layer::new(targets(level));
    let registry = tracing_subscriber::registry().with(filter);
    let started = match to.map(file).transpose()? {
        Some(file) => registry.with(lines(format, false, file)?).try_init(),
        #[cfg(target_os = "linux")]
        None if format == LogFormat::Text
            && let Some(journal) = journal::Journal::that_collects() =>
        {
            let layer = fmt::layer().event_format(journal::Fields).with_ansi(false);
            registry.with(layer.with_writer(written_to(journal)?)).try_init()
        }
        None => {
            let on_terminal = io::IsTerminal::is_terminal(&io::stderr());
            registry.with(lines(format, on_terminal, stderr)?).try_init()
        }
    };
    // A second start in the same process (a test) keeps the first subscriber.
    let _: Result<(), TryInitError> = started;
    Ok(LevelHandle(handle))
}

/// Waits until all lines are written. Does not wait for an output that hangs.
pub fn flush() {
    if let Some(lines) = LINES.get() {
        lines.flush();
    }
}

/// A writer to this output that never blocks the caller.
fn written_to(output: impl io::Write + Send + 'static) -> io::Result<NonBlocking> {
    let writer = NonBlocking::start(output, |lost| {
        let what = if lost == 1 { "1 line was lost" } else { &*format!("{lost} lines were lost") };
        tracing::error!(event = "lines_lost", lost, "{what}: the log could not be written, or nobody read it")
    })?;
    Ok(LINES.get_or_init(|| writer).clone())
}

/// Whether the user wants colours (no-color.org) and the terminal has them.
fn wants_colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// [`start`], for a service: to the file, and important events to the Event Log.
///
/// # Errors
/// The file cannot be written.
#[cfg(windows)]
pub fn start_service(
    level: LevelFilter,
    format: LogFormat,
    to: Option<LogFile<'_>>,
    events: &EventLog,
) -> io::Result<LevelHandle> {
    let (filter, handle) = reload::Layer::new(targets(level));
    let lines = to.map(|to| lines(format, false, file(to)?)).transpose()?;
    let _: Result<(), TryInitError> =
        tracing_subscriber::registry().with(filter).with(lines).with(events.clone()).try_init();
    Ok(LevelHandle(handle))
}

/// `log.file`, rotated by size so that it cannot fill the disk.
fn file(to: LogFile<'_>) -> io::Result<RotatingFile> {
    RotatingFile::open(to.path, to.max_size, to.max_files)
        .map_err(|error| io::Error::new(error.kind(), cannot_write(to.path, &error)))
}

/// Why `log.file` cannot be written, and what to do.
pub fn cannot_write(file: &Path, error: &io::Error) -> String {
    let what = format!("log.file {} cannot be written{}", file.display(), as_whom());
    match file.parent() {
        // The folder is not created, because the path may be a mistake.
        Some(folder) if error.kind() == io::ErrorKind::NotFound && !folder.is_dir() => {
            format!("{what}: there is no folder {}: create it, or change log.file", folder.display())
        }
        Some(folder) if error.kind() == io::ErrorKind::PermissionDenied => {
            format!("{what}: {error}: let this user write in {}, or change log.file", folder.display())
        }
        _ => format!("{what}: {error}"),
    }
}

/// The error for a `log.file` that is no regular file. Rotation would rename a device or a pipe. Lines into it are seen
/// by somebody or lost, so a check cannot try it.
pub fn no_file() -> io::Error {
    io::Error::other("it is no regular file; leave log.file out to log to the system's log or to standard error")
}

fn lines<S>(
    format: LogFormat,
    on_terminal: bool,
    output: impl io::Write + Send + 'static,
) -> io::Result<Box<dyn Layer<S> + Send + Sync>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let colours = on_terminal && wants_colours();
    let layer = fmt::layer().with_target(false).with_ansi(colours).with_writer(written_to(output)?);
    Ok(match format {
        LogFormat::Text => layer.event_format(lines::Lines).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed(),
    })
}
