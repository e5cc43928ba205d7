//! What can be typed: the command line as types. No side effects.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Synchronizes the documents of a dental cloud service into practice management systems.
#[derive(Debug, Parser)]
#[command(name = "docsyncd", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done; 1 an error while running; 2 usage or configuration; \
                        3 finished, but documents failed or still wait.")]
pub struct Cli {
    /// The configuration [default: /etc/docsyncd/docsyncd.toml, on Windows %ProgramData%\docsyncd\docsyncd.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the daemon in the foreground; this is what the service runs
    Run {
        /// Answer the service controller of Windows, which has started this process
        #[arg(long, hide = true)]
        service: bool,
    },
    /// Synchronize once, until nothing is due, and exit
    Sync,
    /// Try the configuration, the API, the credentials and every destination; a line each
    Check,
    /// Sign an account in: opens the page of the service in the browser and waits for the answer
    Login {
        /// The account; needed when several use auth = "oauth"
        #[arg(long, value_name = "ACCOUNT")]
        account: Option<String>,
        /// Print the address instead of opening the browser; the address that it returns to can be pasted
        #[arg(long)]
        no_browser: bool,
    },
    /// Forget that an account was signed in
    Logout {
        /// The account; needed when several use auth = "oauth"
        #[arg(long, value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// Is it running, when did it last succeed, what waits, what failed
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the documents that docsyncd knows, the latest change first
    List {
        /// Only those in this state
        #[arg(long, value_name = "STATE")]
        state: Option<StateArg>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the whole history of a document
    Show {
        /// The document
        uuid: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Try documents again; a running daemon takes it up within two seconds
    Retry {
        /// The documents
        #[arg(value_name = "UUID", required_unless_present = "failed")]
        uuids: Vec<String>,
        /// Every document that failed
        #[arg(long, conflicts_with = "uuids")]
        failed: bool,
    },
    /// Make one authenticated call to the API and print the answer
    Api {
        /// GET, POST, PATCH, DELETE …
        method: String,
        /// The path below api.base_url, with its query
        path: String,
        /// The body to send
        #[arg(long, value_name = "JSON")]
        body: Option<String>,
        /// The account to call as; needed when there are several
        #[arg(long, value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// The configuration itself
    Config {
        /// What to do with it
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// The system's service: install, uninstall, start, stop, and whether it runs
    Service {
        /// What to do with it
        #[command(subcommand)]
        command: ServiceCommand,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Write it, and a page for each command, into this folder
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
    },
}

/// `docsyncd config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective values and where each came from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a commented file to begin with; with --config FILE, write it there
    Init,
}

/// `docsyncd service …`
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ServiceCommand {
    /// Install the service: it starts with the system, and again after a failure
    Install {
        /// Start it as well, unless the configuration is not ready yet
        #[arg(long, hide = true)]
        start: bool,
    },
    /// Stop and remove the service; configuration, ledger and logs stay
    Uninstall,
    /// Start the service
    Start,
    /// Stop the service; what is in flight is finished first
    Stop,
    /// Whether the service runs (exit code 0) or not (1)
    Status,
}

/// A state, as `list --state` takes it.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[expect(missing_docs, reason = "the states are documented in crate::state")]
pub enum StateArg {
    Discovered,
    Fetched,
    Delivered,
    Failing,
    Reported,
    Failed,
    Unreported,
    Withdrawn,
}

impl From<StateArg> for crate::state::State {
    fn from(arg: StateArg) -> Self {
        match arg {
            StateArg::Discovered => Self::Discovered,
            StateArg::Fetched => Self::Fetched,
            StateArg::Delivered => Self::Delivered,
            StateArg::Failing => Self::Failing,
            StateArg::Reported => Self::Reported,
            StateArg::Failed => Self::Failed,
            StateArg::Unreported => Self::Unreported,
            StateArg::Withdrawn => Self::Withdrawn,
        }
    }
}
