//! The program: parse, dispatch, map the error to an exit code. It decides nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    docsyncd::commands::parsed().map_or_else(|exit| exit, docsyncd::commands::dispatch)
}
