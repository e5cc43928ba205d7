//! `docsyncd move`: makes a backup for another machine, after which nothing works with this ledger any more; or takes
//! that back.

use std::path::Path;

use anyhow::bail;

use super::backup::{self, passphrase, refuse_existing, refuse_own};
use super::output::{docsyncd, local_with_zone, say};
use super::restore::{blind, lock, owner, unseen_line};
use super::{Exit, Outcome, UsageError, language, service};
use crate::commands::cli::{MoveArgs, ServiceCommand};
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::ledger::backup::in_ledger;
use crate::ledger::restored::{self, Restored};
use crate::ledger::{self, is_locked};
use crate::system::readers::person;

pub(super) fn moved(path: &Path, loaded: &Loaded, args: &MoveArgs) -> Outcome {
    let (ledger, language) = (&loaded.config.state.path, language::of(args.spoken, loaded));
    let Some(out) = args.out.as_deref().filter(|_| !args.undo) else { return undo(path, loaded, language) };
    let passphrase = passphrase(args.passphrase_file.as_deref())?;
    refuse_existing(out, args.force, language)?;
    refuse_own(path, loaded, out, language)?;
    // Without a ledger, no folder is created.
    if !ledger.exists() {
        return Err(ledger::LedgerError::Missing(ledger.clone()).into());
    }
    if is_locked(ledger) {
        if !args.stop {
            bail!(language.text("move-runs"));
        }
        if service::service_in(path, ServiceCommand::Stop, language)? != Exit::Done {
            bail!(language.text("move-not-stopped"));
        }
    }
    let _lock = lock(ledger, owner(path, ledger), language)?;
    if let Some(at) = in_ledger(ledger, restored::moved_at)? {
        let back = docsyncd("move --undo");
        let time = local_with_zone(at);
        bail!(language.fill("move-moved", &[("time", (&time).into()), ("back", (&back).into())]));
    }
    let made = backup::make(path, loaded, out, passphrase, args.force, language)?;
    if made != Exit::Done {
        return Ok(made);
    }
    fault_point!("move.mark.before");
    in_ledger(ledger, |db| restored::set_moved(db, person().as_deref(), ledger::now()))?;
    let (there, back) = (docsyncd("restore FILE"), docsyncd("move --undo"));
    let values = [("there", (&there).into()), ("back", (&back).into())];
    say(&(language.fill("move-done", &values) + "\n"))
}

fn undo(path: &Path, loaded: &Loaded, language: Language) -> Outcome {
    let ledger = &loaded.config.state.path;
    if !ledger.exists() {
        return Err(ledger::LedgerError::Missing(ledger.clone()).into());
    }
    let _lock = lock(ledger, owner(path, ledger), language)?;
    let blind = blind(&loaded.config);
    let undone = in_ledger(ledger, |db| {
        let Some(at) = restored::moved_at(db)? else { return Ok(None) };
        restored::begin(db, Restored { at, in_doubt: true }, person().as_deref(), ledger::now())?;
        Ok(Some((at, restored::unseen(db, &blind)?)))
    })?;
    let Some((at, unseen)) = undone else {
        return Err(UsageError(language.text("move-not-moved")).into());
    };
    let time = local_with_zone(at);
    let text = language.fill("move-undone", &[("time", (&time).into())]);
    say(&format!("{text}\n{}", unseen_line(unseen, &blind, language)))
}
