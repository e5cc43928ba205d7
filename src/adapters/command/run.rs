//! One run of a program: started in a process group (on Windows: a job) of its own, fed, listened to, waited for, and
//! stopped whole.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

#[cfg(windows)]
use super::job::{CREATE_SUSPENDED, Job};

/// What is kept of standard output and standard error together, in bytes.
const MAX_TAIL: usize = 64 * 1024;

/// How long after its end a program is listened to: a process that it left behind may hold its outputs open.
const GRACE: Duration = Duration::from_secs(1);

/// How long a killed program is waited for: it ends at once, unless the system itself is stuck.
const KILLED_LIMIT: Duration = Duration::from_secs(10);

/// What is to be run.
pub(in crate::adapters) struct Run {
    pub(in crate::adapters) program: PathBuf,
    pub(in crate::adapters) args: Vec<String>,
    /// All of it: nothing is inherited besides.
    pub(in crate::adapters) environment: Vec<(OsString, OsString)>,
    pub(in crate::adapters) input: Vec<u8>,
    pub(in crate::adapters) limit: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(in crate::adapters) enum Ended {
    NotStarted(io::Error),
    Exited(ExitStatus),
    OutOfTime,
    /// The system would not tell how it ended.
    Lost(io::Error),
}

impl Run {
    /// Runs it; returns how it ended and the end of what it wrote to standard output and standard error. When this
    /// future is dropped, the program and what it started are killed.
    pub(in crate::adapters) async fn until_the_end(self) -> (Ended, Vec<u8>) {
        fault_point!("command.run.before");
        let ended = self.run().await;
        fault_point!("command.run.after");
        ended
    }

    async fn run(self) -> (Ended, Vec<u8>) {
        let mut running = match self.start() {
            Ok(running) => running,
            Err(error) => return (Ended::NotStarted(error), Vec::new()),
        };
        let child = &mut running.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tail = Tail::default();
        let ended = {
            // Fed and listened to at once: a program may do either first, or neither.
            let mut talk =
                pin!(async { tokio::join!(feed(stdin, &self.input), listen(stdout, &tail), listen(stderr, &tail)) });
            let mut talked = false;
            let end = timeout(self.limit, async {
                loop {
                    tokio::select! {
                        status = running.child.wait() => break status,
                        _ = &mut talk, if !talked => talked = true,
                    }
                }
            });
            let ended = match end.await {
                Ok(Ok(status)) => Ended::Exited(status),
                Ok(Err(error)) => Ended::Lost(error),
                Err(_) => {
                    running.kill();
                    // Whether it is gone yet or not: it was out of time.
                    let _ = timeout(KILLED_LIMIT, running.child.wait()).await;
                    Ended::OutOfTime
                }
            };
            if !talked {
                let _ = timeout(GRACE, talk).await;
            }
            ended
        };
        (ended, tail.into_bytes())
    }

    fn start(&self) -> io::Result<Running> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(windows)]
        command.creation_flags(CREATE_SUSPENDED);
        let child = command.spawn()?;
        Ok(Running {
            #[cfg(windows)]
            job: Job::of(&child)?,
            child,
        })
    }
}

/// A program that may still run; dropped while it does, it is killed.
struct Running {
    child: Child,
    #[cfg(windows)]
    job: Job,
}

impl Running {
    /// Kills the program's whole process group, so that nothing it started goes on with half a delivery.
    #[cfg(unix)]
    fn kill(&mut self) {
        // `id` is there as long as the end was not fetched, and as long the system gives the number to nobody else.
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Kills the program and what it started, so that nothing goes on with half a delivery.
    #[cfg(windows)]
    fn kill(&mut self) {
        self.job.end();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.id().is_some() {
            self.kill();
        }
    }
}

/// A program that never reads, or closes its end, is none the worse for it: errors say nothing about the delivery.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

async fn listen(output: Option<impl AsyncRead + Unpin>, tail: &Tail) {
    let Some(mut output) = output else { return };
    let mut buffer = vec![0; 4096];
    while let Ok(read @ 1..) = output.read(&mut buffer).await {
        tail.push(buffer.get(..read).unwrap_or_default());
    }
}

/// The last bytes of both outputs, as they came.
#[derive(Default)]
struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    fn push(&self, more: &[u8]) {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(more);
        let excess = bytes.len().saturating_sub(MAX_TAIL);
        bytes.drain(..excess);
    }

    fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into()
    }
}
