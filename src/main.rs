//! The program: parse, dispatch, map the error to an exit code. It decides nothing.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    docsyncd::commands::dispatch(docsyncd::commands::cli::Cli::parse())
}
