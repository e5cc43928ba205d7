//! `docsyncd status --all`: every instance of this machine (`docsyncd@NAME`) with its first sentence, and their sum.

use std::path::{Path, PathBuf};

use super::super::output::{complain, ledger_to_read, say};
use super::super::unconfigured::to_read;
use super::super::{Exit, Outcome, UsageError, language, runtime};
use super::{Status, gather};
use crate::commands::cli::Spoken;
use crate::config;
use crate::destinations::SCHEMA;

/// The most configurations that are read. More are no instances.
const MOST: usize = 200;

/// The files beside this configuration that may belong to instances.
pub(super) fn instances(path: &Path) -> Result<Vec<PathBuf>, UsageError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unreadable = |error: std::io::Error| UsageError(format!("{} cannot be read: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    files.truncate(MOST);
    Ok(files)
}

pub(in crate::commands) fn all(path: &Path, spoken: Spoken) -> Outcome {
    let files = instances(path)?;
    let (mut found, mut exit): (Vec<(String, Status)>, _) = (Vec::new(), Exit::Done);
    // The language of the sum is that of the first instance. One that cannot be read counts as well.
    let (mut of_sum, mut instances) = (None, 0_u64);
    for file in &files {
        if !config::may_be_configuration(file) {
            complain(&format!("docsyncd: {} is no configuration and is left out", file.display()));
            continue;
        }
        // Variables of this shell belong to no instance.
        instances += 1;
        let loaded = SCHEMA.load(file, Vec::<(String, String)>::new());
        if let Err(error) = &loaded {
            complain(&format!("docsyncd: {error}"));
            exit = Exit::Usage;
        }
        let Ok(loaded) = to_read(file, loaded) else { continue };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ledger = ledger_to_read(&loaded)?;
        let own = language::of(spoken, &loaded);
        of_sum.get_or_insert(own);
        found.push((name, runtime()?.block_on(gather(&loaded, ledger.as_ref(), None, own))?));
    }
    let language = of_sum.or(spoken.lang).unwrap_or_else(language::of_system);
    let sum = |of: fn(&Status) -> u64| found.iter().map(|(_, status)| of(status)).sum::<u64>();
    let mut text = language.fill(
        "sum",
        &[
            ("instances", instances.into()),
            ("today", sum(|status| status.today).into()),
            ("waiting", sum(|status| status.summary.waiting).into()),
            ("failed", sum(|status| status.summary.failed).into()),
        ],
    );
    text.push('\n');
    let width = found.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, status) in &found {
        text.push_str(&format!("{name:width$}  {}\n", status.headline));
    }
    say(&text)?;
    Ok(match exit {
        Exit::Done if found.iter().any(|(_, status)| !status.running) => Exit::NotRunning,
        exit => exit,
    })
}
