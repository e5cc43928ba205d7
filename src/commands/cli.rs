//! What can be typed: the command line as types. No side effects.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::commands::times::Moment;
use crate::domain::state::{STATES, State};
use crate::formats::language::Language;

/// Synchronizes the documents of a dental cloud service into practice management systems.
#[derive(Debug, Parser)]
#[command(name = "docsyncd", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done; 1 an error while running; 2 usage or configuration; \
                        3 finished, but documents failed or still wait; 4 (status only) not running.")]
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
    Sync {
        /// Only show what would be done: as preview, of everything that waits
        #[arg(long)]
        dry_run: bool,
        /// Print JSON; with --dry-run
        #[arg(long, requires = "dry_run")]
        json: bool,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Show what waits at the API, and the name and place that each document would get; files and reports nothing
    Preview {
        /// At most so many documents
        #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
        limit: usize,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask what is needed, try each answer at once, and write the configuration and the key; then check
    Setup {
        /// Take the answers from a TOML file instead of asking, or from a folder: its answers.toml, and over it the
        /// file that is named after this computer; docs/first-hour.md
        #[arg(long, value_name = "FILE")]
        answers: Option<PathBuf>,
        /// Write nothing, and say what would be written
        #[arg(long, requires = "answers")]
        dry_run: bool,
        /// Print as JSON which files were written, and nothing else
        #[arg(long, requires = "answers")]
        json: bool,
        /// The language of the questions
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Try the configuration, the API, the credentials, every destination and who is told; a line each
    Check {
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Who is told when docsyncd needs a person
    Alerts {
        /// What to do
        #[command(subcommand)]
        command: AlertsCommand,
    },
    /// Sign an account in: opens the page of the service in the browser and waits for the answer
    Login {
        /// The account; needed when several use auth = "oauth"
        #[arg(long, value_name = "ACCOUNT")]
        account: Option<String>,
        /// Print the address instead of opening the browser; the address that it returns to can be pasted
        #[arg(long)]
        no_browser: bool,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Forget that an account was signed in
    Logout {
        /// The account; needed when several use auth = "oauth"
        #[arg(long, value_name = "ACCOUNT")]
        account: Option<String>,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Is it running, when did it last succeed, what waits, what failed
    Status(StatusArgs),
    /// List the documents that docsyncd knows, the latest change first
    List(ListArgs),
    /// Show the whole history of a document
    Show {
        /// The document: its uuid, or any part of it of 6 characters or more that fits no other
        uuid: String,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find documents: where is my letter
    Find(FindArgs),
    /// Print what became of every document: each event of a time, each line with the hash of the one before
    Export(ExportArgs),
    /// Erase the names and places that are kept of documents; that they were delivered, and their digests, stay
    Forget {
        /// The documents: uuids, or parts of them of 6 characters or more
        #[arg(value_name = "UUID", required = true)]
        uuids: Vec<String>,
        /// Do not ask whether it is meant
        #[arg(long)]
        yes: bool,
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Try documents again; a running daemon takes it up within two seconds
    Retry(RetryArgs),
    /// Say who a letter's patient is in the practice's own list of patients; without a number: whom it could be
    Assign(AssignArgs),
    /// Compare what the API, the ledger and the destinations say of each letter; changes nothing without --repair
    Reconcile(ReconcileArgs),
    /// Write the ledger, the configuration, sign-ins and keys into one file, also beside a running daemon
    Backup(BackupArgs),
    /// Bring back what a backup holds; docsyncd must not run
    Restore(RestoreArgs),
    /// Move to another machine: make a backup, and let nothing work with this ledger any more
    Move(MoveArgs),
    /// Look for new documents now, in a running daemon; within two seconds
    Poll {
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// Write one file for whoever helps: what docsyncd did and how it is set up, and nobody's name
    Support(SupportArgs),
    /// Open the status page in the browser, with the key to names and buttons; needs the rights on the ledger
    Open(OpenArgs),
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
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
    /// VDDS-media: let the archive of the practice software find docsyncd, for a destination of the type vdds
    Vdds {
        /// What to do
        #[command(subcommand)]
        command: VddsCommand,
    },
    /// VDDS-media: answer the archive that asks for PDFs; the archive calls this, not a person
    VddsExport {
        /// The INI file that it asks with, in which it gets the answer
        file: PathBuf,
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

/// `docsyncd status …`
#[derive(Debug, Clone, clap::Args)]
pub struct StatusArgs {
    /// Show it again every 2 s; into a file or pipe, a line each time that something changes
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
    /// Only the letters and the sign-in of this account
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all", "health"])]
    pub account: Option<String>,
    /// A line for each instance, that is for each configuration in the folder of this one, and their sum
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    pub all: bool,
    /// One line for a monitor, within a second; exit code 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. With --all that
    /// of the worst instance
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    pub health: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `docsyncd list …`
#[derive(Debug, Clone, clap::Args)]
pub struct ListArgs {
    /// Only those of this account
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = state())]
    pub state: Option<State>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub limit: Option<usize>,
    /// All columns, and nothing cut to the width of the terminal
    #[arg(long)]
    pub wide: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `docsyncd find …`
#[derive(Debug, Clone, clap::Args)]
pub struct FindArgs {
    /// All must match: beginnings of words in the patient's name, the type, a file's name or the uuid; where none
    /// begins so, any part of them
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,
    /// Only those of this account
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Only those that docsyncd first saw since then: a day such as 2026-11-21, or how long ago such as 30d
    #[arg(long, value_name = "D")]
    pub since: Option<Moment>,
    /// At most so many documents, the newest
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    pub limit: usize,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `docsyncd export …`
#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    /// Only those of this account
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// The first day, such as 2026-11-01; or a time, or how long ago
    #[arg(long, value_name = "D", default_value = "30d")]
    pub from: Moment,
    /// The last day; without it, up to now
    #[arg(long, value_name = "D")]
    pub to: Option<Moment>,
    /// How lines look
    #[arg(long, value_enum, default_value = "csv")]
    pub format: ExportFormat,
    /// With the names of patients and the places of files, as far as they are kept
    #[arg(long)]
    pub names: bool,
    /// Look whether an export is as it was written, no line changed, missing or moved; without FILE, the ledger's
    /// history
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["from", "to", "names", "account"])]
    pub verify: Option<Option<PathBuf>>,
}

/// `docsyncd retry …`
#[derive(Debug, Clone, clap::Args)]
pub struct RetryArgs {
    /// The documents: uuids, or parts of them of 6 characters or more
    #[arg(value_name = "UUID")]
    pub uuids: Vec<String>,
    /// Every document that failed; look first for those that may have arrived, and name them instead
    #[arg(long, conflicts_with = "uuids")]
    pub failed: bool,
    /// Send nothing: what may have arrived of these documents is there, as somebody has seen
    #[arg(long, requires = "uuids")]
    pub arrived: bool,
    /// Send nothing: the old copies of these documents are there no more, as somebody has seen
    #[arg(long, requires = "uuids", conflicts_with = "arrived")]
    pub removed: bool,
    /// Do not ask about documents that are reported already
    #[arg(long)]
    pub yes: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd open …`
#[derive(Debug, Clone, clap::Args)]
pub struct OpenArgs {
    /// Print the link instead of opening the browser; it counts once, for two minutes
    #[arg(long)]
    pub print: bool,
    /// Make a link for a browser of one more computer, which then is known for 90 days; it counts once, for an hour
    #[arg(long)]
    pub for_another: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd assign …`
#[derive(Debug, clap::Args)]
pub struct AssignArgs {
    /// The letter: its uuid, or any part of it of 6 characters or more that fits no other
    pub uuid: Option<String>,
    /// The patient's number in the list
    #[arg(requires = "uuid")]
    pub number: Option<String>,
    /// Show what was assigned
    #[arg(long, conflicts_with_all = ["uuid", "number", "remove", "yes", "not_listed"])]
    pub list: bool,
    /// Take back what was said of the letter's patient, for what comes
    #[arg(long, requires = "uuid", conflicts_with_all = ["number", "yes", "not_listed"])]
    pub remove: bool,
    /// Do not ask whether it is right
    #[arg(long, requires = "number")]
    pub yes: bool,
    /// The number need not be in the list: the patient is new there
    #[arg(long, requires = "number")]
    pub not_listed: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd support …`
#[derive(Debug, clap::Args)]
pub struct SupportArgs {
    /// The file [default: docsyncd-support-YYYYMMDD-HHMM.zip in this folder]; - is standard output
    #[arg(long, value_name = "FILE.zip")]
    pub out: Option<PathBuf>,
    /// With the history of this document: its uuid, or any part of it of 6 characters or more that fits no other
    #[arg(long = "document", value_name = "UUID")]
    pub documents: Vec<String>,
    /// The log since then: a day such as 2026-11-21, or how long ago
    #[arg(long, value_name = "D", default_value = "7d")]
    pub since: Moment,
    /// Show what would be in the file, and write none
    #[arg(long, conflicts_with = "out")]
    pub print: bool,
    /// Replace the documents' uuids as well
    #[arg(long)]
    pub no_uuids: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd reconcile …`
#[derive(Debug, clap::Args)]
pub struct ReconcileArgs {
    /// Only letters that docsyncd first saw since then: a day such as 2026-11-21, or how long ago such as 30d
    #[arg(long, value_name = "D")]
    pub since: Option<Moment>,
    /// Do what is safe: report again what the service did not hear, and file again what is missing, after asking
    #[arg(long)]
    pub repair: bool,
    /// Do not ask before something is filed again
    #[arg(long, requires = "repair")]
    pub yes: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `docsyncd backup …`
#[derive(Debug, clap::Args)]
pub struct BackupArgs {
    /// The backup
    pub file: PathBuf,
    /// The file with the passphrase that encrypts it; without one, no key and no sign-in is in it
    #[arg(long, value_name = "F")]
    pub passphrase_file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd restore …`
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    /// The backup
    pub file: PathBuf,
    /// The file with the passphrase that encrypted it
    #[arg(long, value_name = "F")]
    pub passphrase_file: Option<PathBuf>,
    /// Move aside what is there: a ledger with letters, a configuration
    #[arg(long)]
    pub force: bool,
    /// Nothing was filed after the backup, so that no letter needs to be looked for
    #[arg(long)]
    pub nothing_since: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// `docsyncd move …`
#[derive(Debug, clap::Args)]
pub struct MoveArgs {
    /// The backup to carry to the other machine
    #[arg(long, value_name = "FILE", required_unless_present = "undo")]
    pub out: Option<PathBuf>,
    /// The file with the passphrase that encrypts it; without one, no key and no sign-in is in it
    #[arg(long, value_name = "F", requires = "out")]
    pub passphrase_file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Stop the service first
    #[arg(long, requires = "out")]
    pub stop: bool,
    /// Take the move back: this machine works with its ledger again
    #[arg(long, conflicts_with = "out")]
    pub undo: bool,
    /// The language of the answer
    #[command(flatten)]
    pub spoken: Spoken,
}

/// A number of documents to show.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a number from 1".to_owned()),
        Ok(number) => Ok(number),
    }
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

/// `docsyncd vdds …`
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum VddsCommand {
    /// Enter docsyncd in VDDS_MMI.INI; the archive then fetches PDFs by starting it
    Install,
    /// Take it out of VDDS_MMI.INI again
    Uninstall,
}

/// `docsyncd alerts …`
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum AlertsCommand {
    /// Send one real message to everybody who would be told, and say what each answered
    Test {
        /// The language of the answer
        #[command(flatten)]
        spoken: Spoken,
    },
}

/// The language that a command speaks.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Spoken {
    /// The language of the answer; without it the setting `language`, else that of the system
    #[arg(long, value_name = "LANG", value_parser = language())]
    pub lang: Option<Language>,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A table (RFC 4180), for table programs
    Csv,
    /// A JSON object a line
    Jsonl,
}

/// `docsyncd service …`
#[derive(Debug, Clone, Subcommand)]
pub enum ServiceCommand {
    /// Install the service: it starts with the system, and again after a failure
    Install {
        /// Start it as well, unless the configuration is not ready yet
        #[arg(long, hide = true)]
        start: bool,
        /// First set docsyncd up by these answers, as `setup --answers` does; where an account is configured already,
        /// nothing is done at all
        #[arg(long, value_name = "FILE")]
        answers: Option<PathBuf>,
        /// Without the answers nothing is done
        #[arg(long, hide = true, requires = "answers")]
        if_there: bool,
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

/// A state for `list --state`.
fn state() -> impl TypedValueParser<Value = State> {
    PossibleValuesParser::new(STATES.map(State::as_str)).try_map(|word| State::parse(&word).ok_or("is no state"))
}

/// A language for `--lang`.
fn language() -> impl TypedValueParser<Value = Language> {
    let names = [("en", "English"), ("fr", "French"), ("de", "German")];
    let words = PossibleValuesParser::new(names.map(|(word, name)| PossibleValue::new(word).help(name)));
    words.try_map(|word| Language::parse(&word).ok_or("is no language"))
}
