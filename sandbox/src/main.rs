//! The sandbox as a program: parse, run, map the error to an exit code.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::main()
}
