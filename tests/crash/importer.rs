//! The practice's program of the destination `scan`: this very binary, started by docsyncd. It takes each key once.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The first argument that makes this binary the importer; the folder follows.
pub const FLAG: &str = "--import-into";

/// EX_TEMPFAIL (sysexits.h): "try again later".
const TRY_AGAIN: u8 = 75;

/// Imports when it was started for that.
pub fn when_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != FLAG {
        return None;
    }
    let folder = PathBuf::from(arguments.next()?);
    Some(match import(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(TRY_AGAIN)
        }
    })
}

fn import(folder: &Path) -> io::Result<()> {
    let variable = |name: &str| std::env::var(name).map_err(io::Error::other);
    let target = folder.join(variable("DOCSYNCD_KEY")?);
    if !target.exists() {
        // An import of an earlier life may still be under way: each has a temporary name of its own.
        let temporary = folder.join(format!(".{}", std::process::id()));
        let mut file = File::create(&temporary)?;
        file.write_all(&fs::read(variable("DOCSYNCD_FILE")?)?)?;
        file.sync_all()?;
        fs::rename(&temporary, &target)?;
    }
    // Also what an earlier life put there.
    File::open(folder)?.sync_all()
}
