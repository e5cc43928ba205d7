//! One run of a program: started in a process group of its own (on Windows: a job), fed, listened to, waited for, and
//! stopped with all its processes.

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

/// Bytes of standard output and standard error together that are kept.
const MAX_TAIL: usize = 64 * 1024;

/// How long the outputs are read after the program's end: a process that it left behind may hold them open.
const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for a killed program: it ends at once, unless the system itself is stuck.
const KILLED_LIMIT: Duration = Duration::from_secs(10);

/// The program to run.
pub(in crate::destinations) struct Run {
    pub(in crate::destinations) program: PathBuf,
    pub(in crate::destinations) args: Vec<String>,
    /// The whole environment: nothing else is inherited.
    pub(in crate::destinations) environment: Vec<(OsString, OsString)>,
    pub(in crate::destinations) input: Vec<u8>,
    pub(in crate::destinations) limit: Duration,
}

/// How the run ended.
#[derive(Debug)]
pub(in crate::destinations) enum Ended {
    NotStarted(io::Error),
    Exited(ExitStatus),
    OutOfTime,
    /// The system did not tell how it ended.
    Lost(io::Error),
}

impl Run {
    /// Runs the program; returns how it ended and the end of its standard output and standard error. Dropping this
    /// future kills the program and what it started.
    pub(in crate::destinations) async fn until_the_end(self) -> (Ended, Vec<u8>) {
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
            // Feeds and listens at the same time: a program may do either first, or neither.
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
                    // Whether it has ended by now or not, it was out of time.
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

/// A program that may still run. Dropping this kills it.
struct Running {
    child: Child,
    #[cfg(windows)]
    job: Job,
}

impl Running {
    /// Kills the program's whole process group, so that no child goes on with half a delivery.
    #[cfg(unix)]
    fn kill(&mut self) {
        // `id` is there until the exit status is collected, and until then the system reuses the number for no other
        // process.
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Kills the program and what it started, so that no child goes on with half a delivery.
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

/// Errors say nothing about the delivery: a program may never read, or may close its end.
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

/// The last bytes of both outputs, in order of arrival.
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
