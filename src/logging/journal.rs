//! The journal of systemd, written natively: `PRIORITY` for `journalctl -p`, and our fields to filter on, such as
//! `journalctl DOCSYNCD_DOCUMENT=…`.

use std::io;
use std::os::fd::AsFd;

use tracing_journald::{Layer, Priority, PriorityMappings};

/// The prefix of our fields, so that none takes the name of one of the journal's own.
const PREFIX: &str = "DOCSYNCD";

/// A layer, when systemd collects our standard error in the journal.
pub(super) fn layer() -> Option<Layer> {
    if !collects(&io::stderr(), &std::env::var("JOURNAL_STREAM").ok()?) {
        return None;
    }
    let priorities = PriorityMappings {
        error: Priority::Error,
        warn: Priority::Warning,
        info: Priority::Informational,
        debug: Priority::Debug,
        trace: Priority::Debug,
    };
    let layer = Layer::new().ok()?.with_field_prefix(Some(PREFIX.to_owned()));
    Some(layer.with_priority_mappings(priorities).with_syslog_identifier("docsyncd".to_owned()))
}

/// Whether `stream`, systemd's `DEVICE:INODE`, names this output (systemd.exec, "$JOURNAL_STREAM"). The variable is handed
/// down to programs whose output goes elsewhere.
fn collects(output: &impl AsFd, stream: &str) -> bool {
    let Ok(found) = rustix::fs::fstat(output) else { return false };
    stream == format!("{}:{}", found.st_dev, found.st_ino)
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
