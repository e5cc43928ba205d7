//! The command line: options in, the first line out, signals to shutdown.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;
use docsyncd_sandbox::{ApiKey, Options, Sandbox, SandboxError};

use arguments::Cli;
use ready::{announce, ready, write_ready_file};

mod arguments;
mod ready;
mod values;

/// An error while running.
const FAILED: u8 = 1;
/// Usage: options that cannot be followed.
const USAGE: u8 = 2;

/// Parses the arguments and runs until a signal; clap itself ends with 2 on bad ones.
pub(crate) fn main() -> ExitCode {
    let mut cli = Cli::parse();
    let ready_file = cli.ready_file.take();
    let options = Options::from(cli);
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(FAILED, &format!("cannot start the runtime: {error}")),
    };
    match runtime.block_on(run(options, ready_file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Sandbox(error @ (SandboxError::PdfDir { .. } | SandboxError::RedirectUri { .. }))) => {
            fail(USAGE, &error.to_string())
        }
        Err(error) => fail(FAILED, &error.to_string()),
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot write to standard output or wait for signals: {0}")]
    Io(#[from] io::Error),
    #[error("cannot write {}: {error}", path.display())]
    ReadyFile { path: PathBuf, error: io::Error },
}

fn fail(code: u8, message: &str) -> ExitCode {
    // If even standard error is closed, the exit code has to suffice.
    let _ = writeln!(io::stderr(), "docsyncd-sandbox: {message}");
    ExitCode::from(code)
}

async fn run(options: Options, ready_file: Option<PathBuf>) -> Result<(), Failure> {
    // Before the first line, because its reader may send a signal at once.
    let mut signals = signals::Signals::listen()?;
    let files_elsewhere = options.files_listen.is_some();
    let default_key = options.api_keys.is_empty();
    let app_elsewhere = options.app_listen.is_some();
    let keys: Vec<ApiKey> = options.api_keys.clone();
    let sandbox = Sandbox::start(options).await?;
    if let Some(path) = ready_file {
        write_ready_file(&path, &ready(&sandbox, &keys).await?)
            .map_err(|error| Failure::ReadyFile { path: path.clone(), error })?;
    }
    announce(&sandbox, files_elsewhere, app_elsewhere, default_key).await?;
    signals.wait().await;
    sandbox.shutdown().await;
    Ok(())
}

#[cfg(unix)]
mod signals {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// Ctrl-C and SIGTERM.
    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
    }

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
        }

        pub(super) async fn wait(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            }
        }
    }
}

#[cfg(windows)]
mod signals {
    use std::io;

    use tokio::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};

    /// Ctrl-C and Ctrl-Break.
    pub(super) struct Signals {
        interrupt: CtrlC,
        stop: CtrlBreak,
    }

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()? })
        }

        pub(super) async fn wait(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.stop.recv() => {}
            }
        }
    }
}
