//! The sandbox as a program: parse, run, map the error to an exit code.

use std::process::ExitCode;

mod cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
