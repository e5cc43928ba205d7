//! Writes lines in a thread of their own, so that a slow reader of the log, a disk or a share that hangs never delays
//! the work. A line that cannot be written within [`MOMENT`] is dropped and counted.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

/// How long a line may wait. While the oldest line has waited longer, new lines are dropped.
const MOMENT: Duration = Duration::from_secs(2);
/// The most lines that wait. Only a log of everything has more within [`MOMENT`].
const MAX_WAITING: usize = 10_000;

/// The lines on their way to one output and its thread. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct NonBlocking(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueuedLine>,
    /// Since when the line that is being written has waited.
    writing: Option<Instant>,
    /// The number of lines that were dropped since the last one that was kept.
    lost: u64,
    /// The thread that writes. Its own lines go into `own`.
    writer: Option<ThreadId>,
    own: Vec<u8>,
}

struct QueuedLine {
    text: Vec<u8>,
    since: Instant,
    /// The number of lines that were dropped before this one.
    lost: u64,
}

impl Queue {
    fn hangs(&self) -> bool {
        let oldest = self.writing.or(self.waiting.front().map(|line| line.since));
        oldest.is_some_and(|since| since.elapsed() > MOMENT)
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.writing.is_none() && self.lost == 0
    }
}

impl NonBlocking {
    /// Begins to write to `output`. `tell` logs how many lines were lost.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(super) fn start(output: impl Write + Send + 'static, tell: impl Fn(u64) + Send + 'static) -> io::Result<Self> {
        let lines = Self::default();
        let shared = Arc::clone(&lines.0);
        thread::Builder::new().name("log".to_owned()).spawn(move || shared.write_to(output, tell))?;
        Ok(lines)
    }

    /// Waits until everything is written, if the output takes it.
    pub(super) fn flush(&self) {
        let (until, mut state) = (Instant::now() + MOMENT, self.0.state());
        while !state.is_idle() && !state.hangs() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Queue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, text: &[u8]) {
        let mut state = self.state();
        if state.writer == Some(thread::current().id()) {
            return state.own.extend_from_slice(text);
        }
        if state.hangs() || state.waiting.len() >= MAX_WAITING {
            state.lost += 1;
        } else {
            let lost = mem::take(&mut state.lost);
            state.waiting.push_back(QueuedLine { text: text.to_vec(), since: Instant::now(), lost });
        }
        drop(state);
        self.changed.notify_all();
    }

    fn write_to(&self, mut output: impl Write, tell: impl Fn(u64)) {
        self.state().writer = Some(thread::current().id());
        let mut lost = 0;
        loop {
            let line = self.next();
            lost += line.lost;
            match output.write_all(&line.text) {
                Err(_) => lost += 1,
                // Told only when the output takes lines again.
                Ok(()) if lost > 0 => {
                    tell(lost);
                    let told = mem::take(&mut self.state().own);
                    if output.write_all(&told).is_ok() {
                        lost = 0;
                    }
                }
                Ok(()) => {}
            }
            self.state().writing = None;
            self.changed.notify_all();
        }
    }

    /// Waits for a line. The line is empty if there is only a loss to tell.
    fn next(&self) -> QueuedLine {
        let mut state = self.state();
        loop {
            let next = match state.waiting.pop_front() {
                None if state.lost == 0 => None,
                None => Some(QueuedLine { text: Vec::new(), since: Instant::now(), lost: mem::take(&mut state.lost) }),
                line => line,
            };
            if let Some(line) = next {
                state.writing = Some(line.since);
                return line;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<'w> MakeWriter<'w> for NonBlocking {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl Write for NonBlocking {
    /// Takes whole lines.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// An output that takes or refuses each line when the test says so.
    struct Held {
        let_go: Receiver<io::Result<()>>,
        written: Sender<String>,
    }

    impl Write for Held {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.let_go.recv().map_err(io::Error::other)??;
            self.written.send(String::from_utf8(line.to_vec()).unwrap()).unwrap();
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn say(lines: &NonBlocking, text: &str) {
        lines.make_writer().write_all(text.as_bytes()).unwrap();
    }

    /// Asserts that these calls do not wait. Each wait would last [`MOMENT`].
    fn without_waiting(times: u32, what: impl Fn()) {
        let began = Instant::now();
        (0..times).for_each(|_| what());
        assert!(began.elapsed() < MOMENT * times / 2, "{:?}", began.elapsed());
    }

    #[test]
    fn an_output_that_hangs_or_refuses_costs_nobody_time_and_the_lines_are_counted() {
        let ((go, let_go), (written, read)) = (channel(), channel());
        // Logs through the same writer, as the subscriber does.
        let itself: Arc<OnceLock<NonBlocking>> = Arc::default();
        let tell = Arc::clone(&itself);
        let tell = move |lost| say(tell.get().unwrap(), &format!("{lost} lost"));
        let lines = NonBlocking::start(Held { let_go, written }, tell).unwrap();
        itself.set(lines.clone()).unwrap_or_default();
        let let_go = |results: &[Result<(), io::ErrorKind>]| {
            results.iter().for_each(|result| go.send(result.map_err(io::Error::from)).unwrap());
        };
        say(&lines, "1");
        say(&lines, "2");
        thread::sleep(MOMENT + MOMENT / 4);
        without_waiting(37, || say(&lines, "lost"));
        without_waiting(20, || lines.flush());
        let_go(&[Ok(()); 3]);
        assert_eq!([(); 3].map(|()| read.recv().unwrap()), ["1", "2", "37 lost"], "also when nothing more is said");

        // A disk that is full for a while.
        let full = Err(io::ErrorKind::StorageFull);
        let_go(&[full, full, Ok(()), Ok(()), Ok(())]);
        for text in ["3", "4", "5", "6"] {
            say(&lines, text);
        }
        lines.flush();
        assert_eq!([(); 3].map(|()| read.try_recv().unwrap()), ["5", "2 lost", "6"], "at the end all is written");
    }
}
