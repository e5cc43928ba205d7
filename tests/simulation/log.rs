//! The daemon's log as lines of the history, and an eye on it for what must never stand there.

use std::io;

use tracing_subscriber::fmt::MakeWriter;

use super::world::Shared;

/// Where log lines go.
#[derive(Clone)]
pub(super) struct Log {
    pub(super) world: Shared,
}

impl Log {
    /// Everything where the history is kept, else only errors.
    pub(super) fn subscriber(self, everything: bool) -> impl tracing::Subscriber + Send + Sync {
        let level = if everything { tracing::Level::DEBUG } else { tracing::Level::ERROR };
        tracing_subscriber::fmt()
            .with_max_level(level)
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .with_writer(self)
            .finish()
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line).trim().to_owned();
        let mut world = self.world.lock().unwrap();
        if text.contains("internal_error") {
            world.violate(|| text.clone());
        }
        world.tell(|| format!("log: {text}"));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
