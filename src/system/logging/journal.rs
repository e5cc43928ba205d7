//! systemd's journal in its own protocol (systemd.io, "Native Journal Protocol"), with `PRIORITY` for `journalctl -p`
//! and docsyncd's fields as filters, such as `journalctl DOCSYNCD_DOCUMENT=…`.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::lines::plain;

const SOCKET: &str = "/run/systemd/journal/socket";

/// The journal's socket. Each line is a datagram.
pub(super) struct Journal(UnixDatagram);

impl Journal {
    /// The journal, if systemd collects this process's standard error in it.
    pub(super) fn that_collects() -> Option<Self> {
        if !collects(&io::stderr(), &std::env::var("JOURNAL_STREAM").ok()?) {
            return None;
        }
        let socket = UnixDatagram::unbound().ok()?;
        // The journal ignores an empty datagram. If it has no room just now, it is still there.
        socket.set_nonblocking(true).ok()?;
        match socket.send_to(&[], SOCKET) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return None,
            _ => {}
        }
        socket.set_nonblocking(false).ok()?;
        Some(Self(socket))
    }
}

impl io::Write for Journal {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.send_to(line, SOCKET)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether `stream`, in systemd's form `DEVICE:INODE`, is this output (systemd.exec, "$JOURNAL_STREAM"). A program
/// inherits the variable even if its output goes elsewhere.
fn collects(output: &impl AsFd, stream: &str) -> bool {
    let Ok(found) = rustix::fs::fstat(output) else { return false };
    stream == format!("{}:{}", found.st_dev, found.st_ino)
}

/// The format: one field in each line.
pub(super) struct Fields;

impl<S, N> FormatEvent<S, N> for Fields
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let of = event.metadata();
        // syslog(3)
        let priority = match *of.level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        };
        write!(writer, "PRIORITY={priority}\nSYSLOG_IDENTIFIER=docsyncd\nTARGET={}\n", of.target())?;
        if let (Some(file), Some(line)) = (of.file(), of.line()) {
            write!(writer, "CODE_FILE={file}\nCODE_LINE={line}\n")?;
        }
        let mut fields = Visitor { writer, written: Ok(()) };
        event.record(&mut fields);
        fields.written
    }
}

struct Visitor<'w> {
    writer: Writer<'w>,
    written: fmt::Result,
}

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let name = match field.name() {
            "message" => "MESSAGE".to_owned(),
            // The prefix separates docsyncd's fields from the journal's own.
            name => {
                format!("DOCSYNCD_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_ascii_uppercase())
            }
        };
        // A line break would begin another field.
        self.written = self.written.and_then(|()| writeln!(self.writer, "{name}={}", plain(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_collects_an_output_when_its_variable_names_that_very_output() {
        let file = tempfile::tempfile().unwrap();
        let found = rustix::fs::fstat(&file).unwrap();
        assert!(collects(&file, &format!("{}:{}", found.st_dev, found.st_ino)));
        assert!(!collects(&file, &format!("{}:{}", found.st_dev, found.st_ino + 1)));
        assert!(!collects(&file, ""));
    }
}
