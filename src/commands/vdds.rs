//! `docsyncd vdds …` and `docsyncd vdds-export`: the archive of a practice software finds docsyncd and fetches PDFs
//! (VDDS-media).

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::output::print;
use super::{Exit, Outcome};
use crate::commands::cli::VddsCommand;
use crate::config::Loaded;
use crate::destinations::{exchange, exported_pdf, mmi_file, read_ini, read_ini_bytes};
use crate::formats::vdds::{bytes, exported, registered, unregistered};
use crate::system::durable::{Temporary, open_with_mode, remove_if_there, sync_folder};
use crate::system::permissions;

/// How often to try a file that the archive has locked: ten seconds in total.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(250);

/// Answers the archive in the archive's own file.
pub(super) fn export(loaded: &Loaded, file: &Path) -> Outcome {
    let folder = exchange(&loaded.config.state.path);
    let path =
        |id: &str| exported_pdf(&folder, id)?.into_os_string().into_string().ok().filter(|path| bytes(path).is_ok());
    let asked = patiently(|| read_ini(file)).with_context(|| format!("cannot read {}", file.display()))?;
    let Some([unready, ready]) = exported(&asked, path) else {
        bail!("{} is no file in which an archive asks for PDFs: it has no section [MMOIDS]", file.display());
    };
    let answer = || {
        let mut open = OpenOptions::new().write(true).open(file)?;
        write(&mut open, &unready)?;
        write(&mut open, &ready)
    };
    patiently(answer).with_context(|| format!("cannot write the answer into {}", file.display()))?;
    let is_all = ready.contains("\nERRORLEVEL=0\n");
    Ok(if is_all { Exit::Done } else { Exit::Failed })
}

/// Replaces the text in the same file, because the archive may have it open.
fn write(file: &mut File, text: &str) -> io::Result<()> {
    let bytes = bytes(text).map_err(|_| io::ErrorKind::InvalidData)?;
    file.rewind()?;
    file.write_all(&bytes)?;
    file.set_len(u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
    file.sync_all()
}

/// Tries again while the archive has the file locked.
fn patiently<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut tries = 0;
    loop {
        match work() {
            Err(error) if tries < TRIES && is_in_use(&error) => tries += 1,
            done => return done,
        }
        std::thread::sleep(PAUSE);
    }
}

/// ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION
fn is_in_use(error: &io::Error) -> bool {
    cfg!(windows) && matches!(error.raw_os_error(), Some(32 | 33))
}

pub(super) fn vdds(loaded: &Loaded, config: &Path, command: VddsCommand) -> Outcome {
    let Some(mmi) = mmi_file() else {
        bail!("VDDS_MMI.INI is looked for in the folder of Windows (WINDIR), which this system does not have");
    };
    let script = loaded.config.state.path.with_file_name(if cfg!(windows) { "vdds-export.cmd" } else { "vdds-export" });
    let script = std::path::absolute(script)?;
    let shown = mmi.display();
    let old = read_ini_bytes(&mmi)
        .with_context(|| format!("cannot read {shown}: is the archive installed on this computer?"))?;
    if encoding_rs::Encoding::for_bom(&old).is_some() {
        bail!("{shown} is written in UTF-16 or UTF-8, which VDDS-media does not know: save it as ANSI");
    }
    let (new, said) = match command {
        VddsCommand::Install => {
            let program = script.to_str().filter(|path| path.is_ascii() && !path.contains(' '));
            let program = program.with_context(|| {
                format!(
                    "an archive may not find {}: let `state.path` have neither spaces nor letters with accents",
                    script.display()
                )
            })?;
            write_script(&script, config)?;
            (
                registered(&old, program.as_bytes()),
                format!("docsyncd is entered in {shown}: archives fetch PDFs by {program}\n"),
            )
        }
        VddsCommand::Uninstall => {
            remove_if_there(&script).with_context(|| format!("cannot remove {}", script.display()))?;
            (unregistered(&old), format!("docsyncd is not in {shown} any more\n"))
        }
    };
    if new != old {
        rewrite(&mmi, &old, &new).with_context(|| {
            let advice = if cfg!(windows) { ": run this in a console opened as administrator" } else { "" };
            format!("cannot write {shown}{advice}")
        })?;
    }
    print(&said)
}

/// Writes into the existing file, so that it keeps its owner and rights: the practice software writes into it, too.
/// Meanwhile its earlier content is in a file beside it, for a person, in case the machine stops.
fn rewrite(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let before = path.with_file_name("VDDS_MMI.INI.before-docsyncd");
    let mut kept = Temporary::create(path.with_file_name(".VDDS_MMI.INI.docsyncd.tmp"), 0o600)?;
    kept.writer().write_all(old)?;
    kept.sync()?;
    kept.replace(&before)?;
    sync_folder(folder)?;
    patiently(|| {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.write_all(new)?;
        file.set_len(u64::try_from(new.len()).unwrap_or(u64::MAX))?;
        file.sync_all()
    })?;
    remove_if_there(&before)
}

/// The script that archives start, because an entry of VDDS_MMI.INI is a program without arguments.
fn write_script(script: &Path, config: &Path) -> anyhow::Result<()> {
    let (program, config) = (std::env::current_exe()?, std::path::absolute(config)?);
    let [program, config] = [program, config].map(PathBuf::into_os_string).map(|path| path.into_string().ok());
    let (Some(program), Some(config)) = (program, config) else { bail!("the path of the configuration is not UTF-8") };
    let text = if cfg!(windows) {
        let [program, config] = [program, config].map(|path| path.replace('%', "%%"));
        format!("@chcp 65001 >nul\r\n@\"{program}\" --config \"{config}\" vdds-export %*\r\n")
    } else {
        let [program, config] = [program, config].map(|path| path.replace('\'', r"'\''"));
        format!("#!/bin/sh\nexec '{program}' --config '{config}' vdds-export \"$@\"\n")
    };
    permissions::create_folders(script.parent().unwrap_or(Path::new(".")))?;
    remove_if_there(script)?;
    let mut file = open_with_mode(OpenOptions::new().write(true).create_new(true), script, 0o700)
        .with_context(|| format!("cannot write {}", script.display()))?;
    Ok(file.write_all(text.as_bytes())?)
}
