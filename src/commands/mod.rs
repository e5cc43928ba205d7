//! One file for each command. Errors end here: as a message on standard error, and an exit code of the contract.

mod account;
mod alerts;
mod api;
mod as_root;
mod assign;
mod backup;
mod browser;
mod check;
pub mod cli;
mod config_file;
mod export;
mod find;
mod forget;
mod harmless;
mod language;
mod list;
mod login;
mod logout;
mod mistyped;
mod moved;
mod named;
mod open;
mod output;
mod pager;
#[cfg(windows)]
mod planted;
mod poll;
mod preview;
mod reconcile;
mod record;
mod restore;
mod retry;
mod run;
mod service;
mod setup;
mod show;
mod status;
mod support;
mod sync;
pub(crate) mod times;
mod told;
mod unconfigured;
mod vdds;
mod webhooks;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use clap_complete::Shell;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::api::{Client, Transport};
use crate::commands::cli::{AlertsCommand, Cli, Command, ConfigCommand, Spoken};
use crate::config::{self, Config, ConfigError, Loaded};
use crate::daemon::memory;
use crate::daemon::{self, DaemonError};
use crate::destinations::SCHEMA;
use crate::formats::language::Language;
use crate::ledger::LedgerError;
use crate::system::logging;
use crate::system::service::Request;
use output::{complain, print};
use unconfigured::by_ledger;

/// How a command ended. The numbers belong to the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Unfinished = 3,
    NotRunning = 4,
}

type Outcome = anyhow::Result<Exit>;

/// A mistake in how the command was called.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Reads the command line. Errors in it are reported in the user's language.
///
/// # Errors
/// The exit code.
pub fn parsed() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|wrong| {
        // Help and version are no mistakes.
        let told = mistyped::told(&wrong, std::env::args_os()).filter(|_| wrong.use_stderr());
        if let Some(told) = &told {
            complain(told);
        }
        if told.is_none() || wrong.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            // If this fails, nobody is left to tell.
            let _ = wrong.print();
        }
        ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(Exit::Usage as u8))
    })
}

/// Runs a command. Returns the exit code of the process.
pub fn dispatch(cli: Cli) -> ExitCode {
    #[cfg(feature = "failpoints")]
    let _points = fail::FailScenario::setup();
    output::repeat_config(cli.config.as_deref());
    let outcome = carry_out(cli);
    let exit = match outcome {
        Ok(exit) => exit,
        Err(error) => {
            complain(&format!("docsyncd: {error:#}"));
            exit_of(&error)
        }
    };
    logging::flush();
    ExitCode::from(exit as u8)
}

/// The exit code for this error.
fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(told) = error.downcast_ref::<told::Told>() {
        return told.exit;
    }
    let configuration = error.is::<ConfigError>()
        || error.is::<UsageError>()
        || matches!(error.downcast_ref(), Some(LedgerError::Moved { .. }))
        || error.downcast_ref::<DaemonError>().is_some_and(DaemonError::is_configuration);
    if configuration { Exit::Usage } else { Exit::Failed }
}

fn carry_out(cli: Cli) -> Outcome {
    let path = cli.config.clone().unwrap_or_else(config::default_path);
    #[cfg(windows)]
    planted::refuse_for(&cli.command, &path)?;
    let load = || Ok::<Loaded, anyhow::Error>(SCHEMA.load_default_env(&path)?);
    let speaking =
        |spoken, json, command: &dyn Fn(&Loaded, Language) -> Outcome| speaking(&path, spoken, json, command);
    match cli.command {
        Command::Run { service: false } => run::run(&path),
        Command::Run { service: true } => run::as_service(&path),
        Command::Service { command, spoken } => service::service(&path, command, spoken),
        Command::Sync { dry_run: true, json, spoken } => {
            speaking(spoken, json, &|loaded, language| preview::preview(loaded, usize::MAX, json, language))
        }
        Command::Preview { limit, spoken, json } => {
            speaking(spoken, json, &|loaded, language| preview::preview(loaded, limit, json, language))
        }
        Command::Sync { dry_run: false, spoken, .. } => speaking(spoken, false, &sync::at_a_terminal),
        Command::Check { spoken, json } => check::check(&path, json, spoken),
        Command::Setup { answers, dry_run, json, spoken } => {
            setup::setup(&path, answers.as_deref(), setup::How { dry_run, json }, spoken)
        }
        Command::Login { account, no_browser, spoken } => speaking(spoken, false, &|loaded, language| {
            as_root::warned(loaded, language, || login::login(loaded, account.as_deref(), no_browser, language))
        }),
        Command::Logout { account, spoken } => {
            speaking(spoken, false, &|loaded, language| logout::logout(loaded, account.as_deref(), language))
        }
        Command::Status(args) => status::status(&path, &args),
        Command::Alerts { command: AlertsCommand::Test { spoken } } => speaking(spoken, false, &alerts::test),
        Command::List(args) => by_ledger(&path, args.spoken, args.account.as_deref(), |loaded, language| {
            list::list(loaded, &args, language)
        }),
        Command::Show { uuid, spoken, json } => {
            by_ledger(&path, spoken, None, |loaded, language| show::show(loaded, &uuid, json, language))
        }
        Command::Retry(args) => {
            by_ledger(&path, args.spoken, None, |loaded, language| retry::retry(loaded, &args, language))
        }
        Command::Export(args) => export::export(&path, &args),
        Command::Find(args) => by_ledger(&path, args.spoken, args.account.as_deref(), |loaded, language| {
            find::find(loaded, &args, language)
        }),
        Command::Forget { uuids, yes, spoken } => {
            by_ledger(&path, spoken, None, |loaded, language| forget::forget(loaded, &uuids, yes, language))
        }
        Command::Assign(args) => {
            by_ledger(&path, args.spoken, None, |loaded, language| assign::assign(loaded, &args, language))
        }
        Command::Reconcile(args) => {
            speaking(args.spoken, args.json, &|loaded, language| reconcile::reconcile(loaded, &args, language))
        }
        Command::Backup(args) => backup::backup(&path, &load()?, &args),
        Command::Restore(args) => restore::restore(&path, &args),
        Command::Move(args) => moved::moved(&path, &load()?, &args),
        Command::Poll { spoken } => by_ledger(&path, spoken, None, poll::poll),
        Command::Support(args) => support::support(&path, args),
        Command::Open(args) => {
            by_ledger(&path, args.spoken, None, |loaded, language| open::open(loaded, &args, language))
        }
        Command::Api { method, path, body, account } => api::api(&load()?, &method, &path, body, account.as_deref()),
        Command::Config { command: ConfigCommand::Show { json } } => config_file::show(&path, &load()?, json),
        Command::Config { command: ConfigCommand::Init } => config_file::init(cli.config),
        Command::Vdds { command } => vdds::vdds(&load()?, &path, command),
        Command::VddsExport { file } => vdds::export(&load()?, &file),
        Command::Completions { shell } => completions(shell),
        Command::Man { to } => manual(to.as_deref()),
    }
}

/// Carries out a command by the configuration. Errors are in the command's language.
fn speaking(path: &Path, spoken: Spoken, json: bool, command: &dyn Fn(&Loaded, Language) -> Outcome) -> Outcome {
    let loaded = SCHEMA.load_default_env(path);
    let language = language::of_answer(spoken, json, &loaded);
    let outcome = loaded.map_err(anyhow::Error::from).and_then(|loaded| command(&loaded, language));
    told::ended(language, outcome)
}

/// The script for a shell that completes what is typed.
fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "docsyncd", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The manual: its page, or a page for each command in this folder.
fn manual(to: Option<&Path>) -> Outcome {
    if let Some(folder) = to {
        clap_mangen::generate_to(Cli::command(), folder)
            .with_context(|| format!("cannot write the manual pages into {}", folder.display()))?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).context("cannot render the manual page")?;
    print(&String::from_utf8_lossy(&page))
}

/// The daemon's runtime. Two workers are as fast as many for work that waits for network and disk, and use little at
/// rest.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    memory::keep_cheap();
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// The client of each account, by its name.
fn clients(config: &Config) -> Result<Vec<(&str, Client)>, UsageError> {
    let transport = Transport::new(&config.api).map_err(UsageError)?;
    let accounts = config.accounts.iter();
    Ok(accounts.map(|(name, account)| (name.as_str(), daemon::client(&transport, config, account))).collect())
}

/// [`clients`], if each account has its key or secret.
fn ready_clients(config: &Config) -> anyhow::Result<Vec<(&str, Client)>> {
    let clients = clients(config)?;
    for (_, client) in &clients {
        client.credentials().configured().map_err(DaemonError::Credential)?;
    }
    Ok(clients)
}

/// Calls of these clients that a person may interrupt. A renewal of tokens is not interrupted, because that would lose
/// them.
async fn interruptible<'a, T, E: Into<anyhow::Error>>(
    clients: impl IntoIterator<Item = &'a Client>,
    calls: impl Future<Output = Result<T, E>>,
) -> anyhow::Result<T> {
    let mut requests = crate::system::service::requests().context("cannot listen for signals")?;
    tokio::select! {
        answer = calls => answer.map_err(Into::into),
        () = asked_to_stop(&mut requests) => {
            for client in clients {
                client.credentials().settle().await;
            }
            anyhow::bail!("interrupted")
        }
    }
}

/// Returns when the system or a person tells this process to end.
async fn asked_to_stop(requests: &mut UnboundedReceiver<Request>) {
    while let Some(request) = requests.recv().await {
        if request == Request::Stop {
            return;
        }
    }
    std::future::pending::<()>().await;
}
