//! The Event Log of Windows, where an administrator looks first. It gets warnings and errors, starts and stops, and
//! pauses with their ends. Everything else is in the log file.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::EventLog::{
    DeregisterEventSource, EVENTLOG_ERROR_TYPE, EVENTLOG_INFORMATION_TYPE, EVENTLOG_WARNING_TYPE, REPORT_EVENT_TYPE,
    RegisterEventSourceW, ReportEventW,
};

/// The longest text; characters. ReportEvent takes 31,839, but nobody reads that much.
const MAX_TEXT: usize = 8_000;

/// Numbers by which an administrator can filter. The names are those of `event` in the log file.
const NUMBERS: [(&str, u32); 10] = [
    ("started", 1),
    ("stopped", 2),
    ("ended", 3),
    ("reloaded", 4),
    ("reload_refused", 5),
    ("answers_failed", 6),
    ("paused", 10),
    ("resumed", 11),
    ("refused", 20),
    ("drain_timeout", 21),
];
/// The number of every other warning or error.
const OTHER: u32 = 100;

/// The events that are written although they are no warning or error.
const NEWS: [&str; 4] = ["started", "stopped", "reloaded", "resumed"];

/// The source `docsyncd` in the log "Application". If it cannot be opened, nothing is written.
#[derive(Clone)]
pub struct EventLog(Option<Arc<Source>>);

struct Source(HANDLE);

// SAFETY: the handle is a number that every thread of the process may use at any time.
unsafe impl Send for Source {}
// SAFETY: as above; the system orders what is reported at the same time.
unsafe impl Sync for Source {}

impl EventLog {
    /// Opens the source.
    pub fn open() -> Self {
        let name: Vec<u16> = "docsyncd".encode_utf16().chain(Some(0)).collect();
        // SAFETY: the name ends in NUL and outlives the call.
        let handle = unsafe { RegisterEventSourceW(std::ptr::null(), name.as_ptr()) };
        Self((!handle.is_null()).then(|| Arc::new(Source(handle))))
    }

    /// Says why the service ended, also when nothing else of it worked.
    pub fn ended(&self, why: &str) {
        self.report(EVENTLOG_ERROR_TYPE, number("ended"), why);
    }

    /// Reports why the answers of an installation were not applied.
    pub fn answers_failed(&self, why: &str) {
        self.report(EVENTLOG_ERROR_TYPE, number("answers_failed"), why);
    }

    /// Reports a text. Returns whether the system took it.
    fn report(&self, kind: REPORT_EVENT_TYPE, number: u32, text: &str) -> bool {
        let Some(source) = &self.0 else { return false };
        let text: Vec<u16> = text
            .chars()
            .filter(|c| *c != '\0')
            .take(MAX_TEXT)
            .collect::<String>()
            .encode_utf16()
            .chain(Some(0))
            .collect();
        let strings = [text.as_ptr()];
        // SAFETY: the one string ends in NUL; it and the array outlive the call; user and data are left out.
        let taken = unsafe {
            ReportEventW(source.0, kind, 0, number, std::ptr::null_mut(), 1, 0, strings.as_ptr(), std::ptr::null())
        };
        taken != 0
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // SAFETY: opened by `open`, and used no more.
        unsafe { DeregisterEventSource(self.0) };
    }
}

fn number(event: &str) -> u32 {
    NUMBERS.iter().find(|(name, _)| *name == event).map_or(OTHER, |(_, number)| *number)
}

impl<S: Subscriber> Layer<S> for EventLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = EventText::default();
        event.record(&mut line);
        let level = *event.metadata().level();
        // `ended` is reported separately, because it must be reported even without a log.
        if line.event == "ended" || (level > Level::WARN && !NEWS.contains(&line.event.as_str())) {
            return;
        }
        let kind = match level {
            Level::ERROR => EVENTLOG_ERROR_TYPE,
            Level::WARN => EVENTLOG_WARNING_TYPE,
            _ => EVENTLOG_INFORMATION_TYPE,
        };
        self.report(kind, number(&line.event), &format!("{}{}", line.message, line.fields));
    }
}

/// An event as one text: the message, then one line for each field.
#[derive(Default)]
struct EventText {
    event: String,
    message: String,
    fields: String,
}

impl Visit for EventText {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "event" => self.event = value.to_owned(),
            "message" => self.message = value.to_owned(),
            name => drop(write!(self.fields, "\r\n{name}: {value}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn the_system_takes_a_text_of_any_length() {
        let log = EventLog::open();
        assert!(log.0.is_some(), "the source can be opened");
        for text in ["", "a\0b", &"é𝄞".repeat(20_000)] {
            assert!(log.report(EVENTLOG_INFORMATION_TYPE, 1, text));
        }
    }

    #[test]
    fn an_event_becomes_its_message_and_its_fields() {
        #[derive(Clone, Default)]
        struct Kept(Arc<std::sync::Mutex<Vec<(String, String, String)>>>);
        impl<S: Subscriber> Layer<S> for Kept {
            fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
                let mut line = EventText::default();
                event.record(&mut line);
                self.0.lock().unwrap().push((line.event, line.message, line.fields));
            }
        }
        let kept = Kept::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(kept.clone()), || {
            tracing::warn!(event = "paused", scope = "destination:pms", count = 3, "is {}", "paused");
        });
        let wanted = ("paused".into(), "is paused".into(), "\r\nscope: destination:pms\r\ncount: 3".into());
        assert_eq!(*kept.0.lock().unwrap(), [wanted]);
        assert_eq!((number("paused"), number("whatever")), (10, OTHER));
    }
}
