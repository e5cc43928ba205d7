//! docsyncd's own folder, `%ProgramData%\docsyncd`. Every user may create folders there, so somebody else may have been
//! first.

use std::io;
use std::path::Path;

use anyhow::Context as _;

use super::UsageError;
use super::cli::Command;
use crate::config::default_path;
use crate::system::permissions::planted::{suspicion, suspicion_within};

/// [`refuse`], but for commands that do nothing with the folder, or look closer. The service looks itself, where it is
/// heard; a monitor hears of it in its own words.
pub(super) fn refuse_for(command: &Command, config: &Path) -> anyhow::Result<()> {
    match command {
        Command::Status(args) if args.health => Ok(()),
        Command::Run { service: true }
        | Command::Service { .. }
        | Command::Completions { .. }
        | Command::Man { .. } => Ok(()),
        _ => refuse(config),
    }
}

/// Refuses the configuration, keys and ledger in docsyncd's own folder if somebody else may have put them there. A
/// configuration in another folder is the choice of the person who named it.
pub(super) fn refuse(config: &Path) -> anyhow::Result<()> {
    let default = default_path();
    let (Some(ours), Ok(config)) = (default.parent(), std::path::absolute(config)) else { return Ok(()) };
    if config.parent() == Some(ours) { refused(ours, suspicion(ours)) } else { Ok(()) }
}

/// Refuses to give docsyncd's own folder to the service if it, or anything in it, belongs to somebody else.
pub(super) fn refuse_within() -> anyhow::Result<()> {
    let default = default_path();
    default.parent().map_or(Ok(()), |ours| refused(ours, suspicion_within(ours)))
}

fn refused(folder: &Path, found: io::Result<Option<String>>) -> anyhow::Result<()> {
    let folder = folder.display();
    let Some(what) = found.with_context(|| format!("cannot find out whose {folder} is"))? else { return Ok(()) };
    Err(UsageError(format!(
        "{what}. docsyncd trusts nothing in {folder} that others could have put there: look what it is, and take the \
         folder away. If it is yours, make it the administrators' own in a console opened as administrator: \
         takeown /F \"{folder}\" /A /R, then icacls \"{folder}\" /reset /T, then docsyncd service install"
    ))
    .into())
}
